"""Santorini on 3 × 3 cells: the second player wins, wherever the workers are placed.

Every turn builds a level, so that plain rules written here solve all boards backwards, from the
highest to the empty one, many at once. Along random games the core's actions confirm the values.
"""

import itertools
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

import athenan

Cells = tuple[int, ...]
CELLS = range(9)
NEAR = [
    [b for b in CELLS if b != a and max(abs(a // 3 - b // 3), abs(a % 3 - b % 3)) == 1]
    for a in CELLS
]
PAIRS = list(itertools.combinations(CELLS, 2))
# Where each cell goes when the board is turned and mirrored.
TURNS = [[0, 1, 2, 3, 4, 5, 6, 7, 8]]
for _ in range(3):
    TURNS.append([3 * (cell % 3) + 2 - cell // 3 for cell in TURNS[-1]])
TURNS += [[3 * (cell // 3) + 2 - cell % 3 for cell in turn] for turn in TURNS]
# The levels of all cells are the digits of a number to the base 5.
LEVELS = np.arange(5**9)[:, None] // 5 ** np.arange(9) % 5
TURNED = [LEVELS @ (5 ** np.array(turn)) for turn in TURNS]


def turned(workers: Cells, turn: list[int]) -> Cells:
    return tuple(sorted(turn[cell] for cell in workers))


class Solution:
    """Whether the mover wins, for all levels and places of workers but for symmetry."""

    def __init__(self) -> None:
        self.standard = {
            (own, enemy): min(
                (turned(own, turn), turned(enemy, turn), i) for i, turn in enumerate(TURNS)
            )
            for own in PAIRS
            for enemy in PAIRS
            if not set(own) & set(enemy)
        }
        places = {place[:2] for place in self.standard.values()}
        self.won = {place: np.zeros(5**9, bool) for place in places}
        sums = LEVELS.sum(axis=1)
        for height in range(36, -1, -1):
            layer = np.flatnonzero(sums == height)
            for own, enemy in places:
                boards = layer[(LEVELS[layer][:, own + enemy] < 3).all(axis=1)]
                self.won[own, enemy][boards] = self.wins_by_a_turn(boards, own, enemy)

    def wins(self, boards: Any, own: Cells, enemy: Cells) -> Any:
        *place, turn = self.standard[own, enemy]
        return self.won[tuple(place)][TURNED[turn][boards]]

    def wins_by_a_turn(self, boards: Any, own: Cells, enemy: Cells) -> Any:
        won = np.zeros(len(boards), bool)
        for start, other in (own, own[::-1]):
            for target in set(NEAR[start]) - {*own, *enemy}:
                level = LEVELS[boards, target]
                climbs = level <= np.minimum(LEVELS[boards, start] + 1, 3)
                won |= climbs & (level == 3)
                for site in set(NEAR[target]) - {other, *enemy}:
                    at = np.flatnonzero(~won & climbs & (LEVELS[boards, site] < 4))
                    moved = tuple(sorted((other, target)))
                    won[at] = ~self.wins(boards[at] + 5**site, enemy, moved)
        return won

    def mover_wins(self, state: Any) -> bool:
        """Of a state between two turns."""
        planes = state.planes().reshape(9, -1)
        board = int((planes[:, 6:] @ np.arange(1, 5)) @ 5 ** np.arange(9))
        workers = [tuple(np.flatnonzero(planes[:, p]).tolist()) for p in (0, 1)]
        return bool(self.wins(board, workers[state.to_move], workers[1 - state.to_move]))


def wins_by_a_turn(solution: Solution, state: Any) -> bool:
    """As the core's actions say, from the solution's values after the turn."""
    for moved in map(state.play, state.legal_actions()):
        if moved.is_terminal:
            return True
        for after in map(moved.play, moved.legal_actions()):
            if after.is_terminal or not solution.mover_wins(after):
                return True
    return False


@pytest.mark.long
def test_the_second_player_wins_from_every_placement() -> None:
    solution = Solution()
    assert len(solution.standard) == 756
    assert not any(solution.wins(0, own, enemy) for own, enemy in solution.standard)

    rng, seen = random.Random(3), Counter[bool]()
    for _ in range(1000):
        state = athenan.make_game("santorini", size=3).initial_state()
        while not state.is_terminal:
            if state.ply >= 4 and state.ply % 2 == 0:
                seen[solution.mover_wins(state)] += 1
                assert solution.mover_wins(state) == wins_by_a_turn(solution, state), str(state)
            state = state.play(rng.choice(state.legal_actions()))
    assert min(seen.values()) > 1000
