"""Santorini: climbing, being stuck, and small endings against plain brute force."""

import itertools
from typing import Any

import pytest
from playing import play, texts

import athenan

GAME = athenan.make_game("santorini")


def test_a_turn_is_a_move_and_a_build_of_the_same_worker() -> None:
    state = play(GAME.initial_state(), "a1", "b1")
    assert state.to_move == 1
    assert play(GAME.initial_state(), "b1", "a1") == state, "workers of a player are alike"
    state = play(state, "e5", "d5")
    assert state.to_move == 0
    moved = play(state, "a1a2")
    assert moved.to_move == 0
    assert "0X" in str(moved)
    assert texts(moved) == {"a1", "a3", "b2", "b3"}, "not b1, where the other worker stands"
    assert moved != play(state, "b1a2"), "the other worker stands elsewhere"
    assert play(moved, "a1").to_move == 1


CLIMB = """\
   a  b  c  d  e
5 0. 0. 0. 0. 0.
4 0. 3. 4. 0. 0.
3 1. 2x 3. 0. 0.
2 0. 0. 1. 0x 1.
1 0o 0o 0. 2. 3.
ply 60, x to move"""


def test_climbing_to_the_third_level_wins_at_once() -> None:
    state = GAME.state_from_string(CLIMB)
    # From level 2: up to 3 and down to 0, never onto a dome.
    assert {text for text in texts(state) if text.startswith("b3")} == {
        "b3a2", "b3b2", "b3c2", "b3a3", "b3c3", "b3a4", "b3b4",
    }  # fmt: skip
    # From level 0 to level 1 at most.
    assert {text for text in texts(state) if text.startswith("d2")} == {
        "d2c1", "d2c2", "d2d3", "d2e2", "d2e3",
    }  # fmt: skip
    for action in ("b3c3", "b3b4"):
        won = play(state, action)
        assert won.is_terminal
        assert won.outcomes == (1, -1)
        assert GAME.state_from_string(str(won)).outcomes == (1, -1)
    assert not play(state, "b3a3").is_terminal


# o on a1 is walled in; o on d1 can go up to e1, which x, about to build with c2, cannot reach.
ALMOST_STUCK = """\
   a  b  c  d  e
5 0. 0. 0. 0. 0.
4 0. 0. 0. 0. 0.
3 0. 0. 0. 0. 0x
2 2. 2. 2X 3. 3.
1 0o 2. 3. 1o 2.
ply 61, x to move"""


def test_who_cannot_move_loses() -> None:
    state = GAME.state_from_string(ALMOST_STUCK)
    assert texts(state) == {"b1", "b2", "b3", "c1", "c3", "d2", "d3"}
    assert texts(play(state, "c3")) == {"d1e1"}
    stuck = play(GAME.state_from_string(ALMOST_STUCK.replace("1o 2.", "1o 3.")), "c3")
    assert stuck.is_terminal
    assert stuck.to_move == 1
    assert stuck.outcomes == (1, -1)


def test_a_dome_closes_a_cell() -> None:
    state = play(GAME.state_from_string(CLIMB), "b3a3", "b4")
    assert "0.[4.]4." in str(state)
    state = GAME.state_from_string(CLIMB.replace("3. 4.", "4. 4."))
    assert "b3b4" not in texts(state)
    assert "b4" not in texts(play(state, "b3a3"))


def test_bad_levels_are_refused() -> None:
    with pytest.raises(ValueError, match="level"):
        GAME.state_from_string(CLIMB.replace("5 0.", "5 ."))


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ("0. 0. 0. / 0x 0x 0x / 0. 0o 0o", "two workers"),
        ("0. 0. 0. / 0x 0x 0. / 0. 4o 0o", "on a dome"),
        ("0. 0. 0. / 0X 0X 0. / 0. 0o 0o", "only one worker"),
        ("0. 0. 0. / 0x 0x 0. / 0. 0o 0O", "of the player to move"),
        ("4. 4. 4. / 0x 0X 4. / 4. 0o 0o", "can always build"),
        ("0. 0. 1. / 0x 0. 0. / 0. 0. 0.", "before every worker"),
        ("0. 0. 0. / 0x 0x 0. / 0. 0. 0.", "before every worker"),
    ],
)
def test_impossible_boards_are_refused(rows: str, match: str) -> None:
    lines = [f"{3 - i} {row.strip()}" for i, row in enumerate(rows.split("/"))]
    text = "\n".join(["   a  b  c", *lines, "ply 8, x to move"])
    with pytest.raises(ValueError, match=match):
        athenan.make_game("santorini", size=3).state_from_string(text)


def test_impossible_planes_are_refused() -> None:
    state = GAME.state_from_string(CLIMB)
    planes = state.planes()
    assert GAME.state_from_planes(planes, state.ply) == state
    planes[0, 0, 6:] = [0, 0, 0, 1]  # a dome under the worker on a1
    with pytest.raises(ValueError, match="on a dome"):
        GAME.state_from_planes(planes, state.ply)


# ---- Small endings: the core against rules written plainly here -----------------------------


def plain_winner(
    size: int, levels: tuple[int, ...], workers: tuple[frozenset[int], ...], mover: int, memo: dict
) -> int:
    """Who wins when `mover` begins a turn; a turn is a move and a build."""
    position = (levels, workers, mover)
    if position not in memo:
        memo[position] = 1 - mover
        for turn in plain_turns(size, levels, workers, mover):
            if turn is None or plain_winner(size, *turn, 1 - mover, memo) == mover:
                memo[position] = mover
                break
    return memo[position]


def plain_turns(
    size: int, levels: tuple[int, ...], workers: tuple[frozenset[int], ...], mover: int
) -> Any:
    def free_neighbours(cell: int, taken: frozenset[int]) -> list[int]:
        row, column = divmod(cell, size)
        around = itertools.product((row - 1, row, row + 1), (column - 1, column, column + 1))
        cells = [r * size + c for r, c in around if 0 <= r < size and 0 <= c < size]
        return [c for c in cells if c != cell and c not in taken and levels[c] < 4]

    taken = workers[0] | workers[1]
    for start in workers[mover]:
        for target in free_neighbours(start, taken):
            if levels[target] > levels[start] + 1:
                continue
            if levels[target] == 3:
                yield None  # climbed
                continue
            own = workers[mover] - {start} | {target}
            moved = (own, workers[1]) if mover == 0 else (workers[0], own)
            for site in free_neighbours(target, moved[0] | moved[1]):
                higher = tuple(level + (c == site) for c, level in enumerate(levels))
                yield higher, moved


def winner(state: Any, memo: dict[int, int]) -> int:
    if state.is_terminal:
        return state.outcomes.index(1)
    if state.key not in memo:
        children = (state.play(action) for action in state.legal_actions())
        mover = state.to_move
        memo[state.key] = mover if any(winner(c, memo) == mover for c in children) else 1 - mover
    return memo[state.key]


@pytest.mark.parametrize("seed", range(5))
def test_small_endings_are_solved_as_by_plain_rules(seed: int) -> None:
    game = athenan.make_game("santorini", size=3)
    state = game.initial_state()
    for i in itertools.count():
        if state.is_terminal or state.ply >= 24:
            break
        actions = state.legal_actions()
        # Rather not the actions that end the game, so that the board grows high.
        quiet = [a for a in actions if not state.play(a).is_terminal] or actions
        state = state.play(quiet[(7 * i + 13 * seed * i * i + seed) % len(quiet)])
    cells = [cell for line in str(state).replace("[", " ").replace("]", " ").splitlines()[3:0:-1]
             for cell in line.split()[1:]]  # fmt: skip
    levels = tuple(int(cell[0]) for cell in cells)
    workers = tuple(
        frozenset(i for i, cell in enumerate(cells) if cell[1] == symbol) for symbol in "xo"
    )
    assert winner(state, {}) == plain_winner(3, levels, workers, state.to_move, {})
