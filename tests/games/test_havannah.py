"""Havannah: every shape that wins, by hand, against a plain checker, and on solved boards."""

from typing import Any

import numpy as np
import pytest
from playing import play, texts

import athenan

Cells = set[tuple[int, int]]
STEPS = ((0, 1), (1, 1), (1, 0), (0, -1), (-1, -1), (-1, 0))


def hexagon(rows: str, status: str, swap: bool = False) -> Any:
    """A state of base 4 from its seven rows, the top first; read like the text of a state."""
    lines = [f"{i + 1} {' '.join(row)}" for i, row in enumerate(rows.split())]
    text = "\n".join(["a b c d e f g", *lines, status])
    return athenan.make_game("havannah", base=4, swap=swap).state_from_string(text)


@pytest.mark.parametrize("inside", ".xo")
def test_ring_around_an_empty_an_own_and_an_enemy_cell(inside: str) -> None:
    rows = f".... ..... ..xx.. ..x{inside}x.. ..x... ..... ...."
    state = hexagon(rows, "ply 20, x to move")
    assert not state.is_terminal
    # e5 is the last of the six around d4.
    won = play(state, "e5")
    assert won.is_terminal
    assert won.outcomes == (1, -1)
    assert not play(state, "d6").is_terminal


def test_a_larger_ring_around_mixed_cells() -> None:
    state = hexagon(".... .xxx. .x..xx .x.o..x .xx..x ..xxx ....", "ply 30, x to move")
    assert state.is_terminal
    open_ring = hexagon(".... .xxx. .x..xx .x.o..x .xx..x ..x.x ....", "ply 30, x to move")
    assert not open_ring.is_terminal
    assert play(open_ring, "f6").outcomes == (1, -1)
    assert not play(open_ring, "c3").is_terminal, "a stone inside closes nothing"


def test_six_stones_in_a_heap_are_no_ring() -> None:
    assert not hexagon(
        ".... ..... ..xx.. ..xx... ..xx.. ..... ....", "ply 20, o to move"
    ).is_terminal


def test_bridge() -> None:
    state = hexagon("x... x.... x..... ....... ...... ..... ....", "ply 9, x to move")
    assert play(state, "a4").outcomes == (1, -1)
    # Two cells of one side are no two corners.
    assert not hexagon(
        ".xx. ..... ...... ....... ...... ..... ....", "ply 9, o to move"
    ).is_terminal


def test_fork() -> None:
    # b3 is joined to the top and the upper left side, d3 to the upper right one.
    state = hexagon(".x.. .x..x xx.xx. ....... ...... ..... ....", "ply 9, x to move")
    assert not state.is_terminal
    assert play(state, "c3").outcomes == (1, -1)
    assert not play(state, "f3").is_terminal
    # Corners belong to no side: a1 and its two sides add nothing to the lowest side.
    chain = "x... .x... ..x... ..x.... ..x... ..x.. .x.."
    assert not hexagon(chain, "ply 9, o to move").is_terminal
    # With cells of those two sides instead it is a fork.
    fork = ".x.. xx... ..x... ..x.... ..x... ..x.. .x.."
    assert hexagon(fork, "ply 9, o to move").outcomes == (1, -1)


def test_swap_takes_over_the_first_stone() -> None:
    rows = ".... ..... ...... .{}..... ...... ..... ...."
    first = hexagon(rows.format("x"), "ply 1, o to move", swap=True)
    swapped = play(first, "swap")
    assert swapped.key == hexagon(rows.format("o"), "ply 2, x to move", swap=True).key
    start = hexagon(rows.format("."), "ply 0, x to move", swap=True)
    for state in (swapped, play(first, "a1"), start):
        assert "swap" not in texts(state)
    with pytest.raises(ValueError, match="swap"):
        play(hexagon(rows.format("x"), "ply 1, o to move"), "swap")


@pytest.mark.parametrize("stones", ["..", "xx", "xo", "o."])
def test_no_swap_unless_the_enemy_has_the_only_stone(stones: str) -> None:
    """A text may say ply 1 of any board."""
    rows = f".... ..... ...... {stones}..... ...... ..... ...."
    assert "swap" not in texts(hexagon(rows, "ply 1, o to move", swap=True))


# ---- A plain checker of the winning shapes ----------------------------------------------------


def plain_shapes(stones: Cells, base: int) -> bool:
    """Whether the stones hold a ring, a bridge or a fork; each found by filling."""
    board = {(r, c) for r in range(2 * base - 1) for c in range(2 * base - 1) if abs(r - c) < base}

    def beside(cell: tuple[int, int]) -> list[tuple[int, int]]:
        return [(cell[0] + down, cell[1] + right) for down, right in STEPS]

    def filled(starts: Cells, within: Cells) -> Cells:
        found, waiting = set(starts), list(starts)
        while waiting:
            for cell in beside(waiting.pop()):
                if cell in within and cell not in found:
                    found.add(cell)
                    waiting.append(cell)
        return found

    def sides(cell: tuple[int, int]) -> set[int]:
        row, column = cell
        last = 2 * base - 2
        tests = (row == 0, column == 0, row == last, column == last,
                 row - column == base - 1, column - row == base - 1)  # fmt: skip
        return {i for i, touches in enumerate(tests) if touches}

    corners = {cell for cell in board if len(sides(cell)) == 2}
    for stone in stones:
        if all(cell in stones for cell in beside(stone)):
            return True
        group = filled({stone}, stones)
        if len(group & corners) >= 2:
            return True
        if len(set().union(*(sides(cell) for cell in group - corners))) >= 3:
            return True
        others = board - group
        if others - filled({cell for cell in others if sides(cell)}, others):
            return True
    return False


@pytest.mark.parametrize("base", [3, 4, 5])
def test_random_games_end_when_the_plain_checker_says(base: int) -> None:
    game = athenan.make_game("havannah", base=base)
    random = np.random.default_rng(base)
    for _ in range(15):
        state = game.initial_state()
        while not state.is_terminal:
            mover = state.to_move
            state = state.play(int(random.choice(state.legal_actions())))
            stones = {(int(r), int(c)) for r, c in np.argwhere(state.planes()[:, :, mover])}
            won = state.is_terminal and state.outcomes[mover] == 1
            assert won == plain_shapes(stones, base), f"\n{state}"


# ---- Solved boards ----------------------------------------------------------------------------


def value(state: Any, memo: dict[int, int]) -> int:
    """For the mover, by brute force."""
    if state.is_terminal:
        return state.outcomes[state.to_move]
    if state.key not in memo:
        memo[state.key] = -1
        children = [state.play(action) for action in state.legal_actions()]
        for child in sorted(children, key=lambda child: not child.is_terminal):
            memo[state.key] = max(memo[state.key], -value(child, memo))
            if memo[state.key] == 1:
                break
    return memo[state.key]


def test_base_2_is_won_by_every_first_stone_but_the_middle() -> None:
    start = athenan.make_game("havannah", base=2).initial_state()
    winning = {
        start.action_to_string(action)
        for action in start.legal_actions()
        if value(start.play(action), {}) == -1
    }
    assert winning == {"a1", "b1", "a2", "c2", "b3", "c3"}


def test_base_2_with_swap_is_lost_for_the_first_player() -> None:
    """Every stone but the middle is taken over, and the middle one loses by itself."""
    start = athenan.make_game("havannah", base=2, swap=True).initial_state()
    assert value(start, {}) == -1
    assert value(play(start, "a1", "swap"), {}) == -1
    assert value(play(start, "b2", "swap"), {}) == 1


@pytest.mark.parametrize(
    ("opening", "wins"),
    [
        ("c3", False),
        ("b2", False),
        pytest.param("b1", False, marks=pytest.mark.long),
        pytest.param("a1", True, marks=pytest.mark.long),
    ],
)
def test_base_3_is_won_by_a_corner(opening: str, wins: bool) -> None:
    """The openings but for symmetry; OpenSpiel's rules give c3 and b2 the same value."""
    start = athenan.make_game("havannah", base=3).initial_state()
    assert value(play(start, opening), {}) == (-1 if wins else 1)
