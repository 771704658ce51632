"""Draughts: random positions and small endings against a second set of rules."""

import functools
import itertools
import random
from typing import Any

import pytest
from playing import board_lines, play, texts

import athenan

GAME = athenan.make_game("draughts", variant="brazilian")
PLAIN = athenan.make_game("draughts", variant="brazilian", draw_rules="none", max_plies=1000)

# A piece is (player, is king); a position maps (row from the top, column) to pieces.
Position = dict[tuple[int, int], tuple[int, bool]]


def number(cell: tuple[int, int], size: int) -> int:
    return cell[0] * size // 2 + cell[1] // 2 + 1


def cell_of(number: int, size: int) -> tuple[int, int]:
    row, place = divmod(number - 1, size // 2)
    return row, 2 * place + (row + 1) % 2


@functools.cache
def rays(cell: tuple[int, int], size: int) -> list[list[tuple[int, int]]]:
    """The cells that follow in each of the four directions."""
    return [
        [(row, column) for row, column in line if 0 <= row < size and 0 <= column < size]
        for line in (
            [(cell[0] + i * down, cell[1] + i * right) for i in range(1, size)]
            for down, right in ((-1, -1), (-1, 1), (1, -1), (1, 1))
        )
    ]


def reference(position: Position, mover: int, size: int) -> dict[str, Position]:
    """All actions of the mover and the positions they lead to, by the slowest honest way."""
    captures: dict[str, tuple[int, Position]] = {}
    steps: dict[str, Position] = {}

    def landed(origin: Any, to: Any, taken: Any, piece: tuple[int, bool]) -> Position:
        left = {c: p for c, p in position.items() if c != origin and c not in taken}
        promoted = to[0] == (0 if mover == 0 else size - 1)
        return left | {to: (mover, piece[1] or promoted)}

    def jump(origin: Any, at: Any, taken: tuple[Any, ...], piece: tuple[int, bool]) -> None:
        if taken:
            numbers = sorted(number(c, size) for c in taken)
            text = "x".join(str(n) for n in (number(origin, size), number(at, size), *numbers))
            captures[text] = (len(taken), landed(origin, at, taken, piece))
        for cells in rays(at, size):
            full = [c for c in cells if c in position and c != origin]
            if not full or position[full[0]][0] == mover or full[0] in taken:
                continue
            where = cells.index(full[0])
            if where > 0 and not piece[1]:
                continue
            for to in cells[where + 1 :]:
                if to in position and to != origin:
                    break
                jump(origin, to, (*taken, full[0]), piece)
                if not piece[1]:
                    break

    for origin, piece in position.items():
        if piece[0] != mover:
            continue
        jump(origin, origin, (), piece)
        ways = rays(origin, size)
        for way in ways if piece[1] else ways[:2] if mover == 0 else ways[2:]:
            for to in way[: None if piece[1] else 1]:
                if to in position:
                    break
                text = f"{number(origin, size)}-{number(to, size)}"
                steps[text] = landed(origin, to, (), piece)
    most = max((count for count, _ in captures.values()), default=0)
    longest = {text: after for text, (count, after) in captures.items() if count == most}
    return longest or steps


def numbered(position: Position, mover: int, size: int) -> str:
    def side(player: int) -> str:
        return ",".join(
            "K" * king + str(number(cell, size))
            for cell, (owner, king) in sorted(position.items())
            if owner == player
        )

    return f"{'WB'[mover]}:W{side(0)}:B{side(1)}"


def assert_agrees(game: Any, position: Position, mover: int, size: int) -> None:
    state = game.state_from_string(numbered(position, mover, size))
    expected = reference(position, mover, size)
    assert texts(state) == set(expected), str(state)
    for text, after in expected.items():
        fresh = game.state_from_string(numbered(after, 1 - mover, size))
        assert board_lines(play(state, text)).split() == board_lines(fresh).split()


@pytest.mark.parametrize(
    ("variant", "size"), [("brazilian", 8), ("international", 10), ("canadian", 12)]
)
def test_random_positions_against_the_reference(variant: str, size: int) -> None:
    """Positions full of kings, where playouts hardly come."""
    game = athenan.make_game("draughts", variant=variant, draw_rules="none", max_plies=1000)
    chance = random.Random(size)
    for _ in range(400):
        cells = chance.sample(range(1, size * size // 2 + 1), chance.randint(2, size + 4))
        position: Position = {}
        for n in cells:
            cell, player = cell_of(n, size), chance.randint(0, 1)
            last = cell[0] == (0 if player == 0 else size - 1)
            position[cell] = (player, last or chance.random() < 0.4)
        assert_agrees(game, position, chance.randint(0, 1), size)


def two_kings_against_one() -> list[tuple[Position, int]]:
    """All positions of one or two white kings against a black one, with either side to move."""
    cells = [cell_of(n, 8) for n in range(1, 33)]
    return [
        (dict.fromkeys(whites, (0, True)) | {black: (1, True)}, mover)
        for white in (1, 2)
        for whites in itertools.combinations(cells, white)
        for black in cells
        if black not in whites
        for mover in (0, 1)
    ]


def plies_to_win(places: list[tuple[Position, int]], limit: int) -> list[int | None]:
    """In how many plies the mover wins (odd) or loses (even), where that is within the limit."""
    index = {(frozenset(p.items()), mover): i for i, (p, mover) in enumerate(places)}
    lost = len(places)  # what is not in the table: the mover has no piece
    children = [
        [index.get((frozenset(after.items()), 1 - mover), lost) for after in actions.values()]
        for actions, mover in ((reference(p, mover, 8), mover) for p, mover in places)
    ]
    plies: list[int | None] = [None] * len(places) + [0]
    for depth in range(limit + 1):
        reached = {i for i, p in enumerate(plies) if p is not None and p % 2 != depth % 2}
        for i in range(len(places)):
            if plies[i] is None and (
                not reached.isdisjoint(children[i])
                if depth % 2
                else reached.issuperset(children[i])
            ):
                plies[i] = depth
    return plies[:-1]


def value(state: Any, values: dict[int, int]) -> int:
    """For the mover, by searching everything the rules allow."""
    if state.is_terminal:
        return state.outcomes[state.to_move]
    if state.key not in values:
        best = -1
        for action in state.legal_actions():
            best = max(best, -value(state.play(action), values))
            if best == 1:
                break
        values[state.key] = best
    return values[state.key]


def test_two_kings_against_one() -> None:
    """The whole ending by the reference; our rules agree, also on what the counter cuts off."""
    places = two_kings_against_one()
    plies = plies_to_win(places, 10)
    assert max(p for p in plies if p is not None) == 8, "the counter's ten plies cut nothing off"
    chance = random.Random(0)
    for position, mover in chance.sample(places, 1500):
        assert_agrees(PLAIN, position, mover, 8)
    for depth in (1, 2, 3, 4):
        of_depth = [place for place, p in zip(places, plies, strict=True) if p == depth]
        for position, mover in chance.sample(of_depth, 6):
            text = numbered(position, mover, 8)
            for limit, expected in ((depth, 1 if depth % 2 else -1), (depth - 1, 0)):
                game = athenan.make_game("draughts", variant="brazilian", two_to_one_plies=limit)
                state = game.state_from_string(text)
                if limit == 0:
                    assert state.outcomes == (0, 0)
                else:
                    assert value(state, {}) == expected, f"{state}\nwithin {limit}"
                    result = athenan.make_search("descent", game, "zero").run(state, seconds=60)
                    assert result.resolved
                    assert result.completion * (1 - 2 * state.to_move) == expected
