"""Ataxx: passes, ends and limits, and small boards against a naive solver."""

import random
import re
from collections.abc import Callable
from functools import cache

import pytest
from brute_force import solve
from playing import play, texts

import athenan


def test_clones_jumps_and_turned_stones() -> None:
    state = athenan.make_game("ataxx", size=5).state_from_string("""\
          a b c d e
        5 . . . . .
        4 . . o . .
        3 x . . o .
        2 . . o . .
        1 . . . . .
        ply 6, x to move""")
    clones = ["a4", "b4", "b3", "b2", "a2"]
    jumps = ["a3a5", "a3b5", "a3c5", "a3c3", "a3a1", "a3b1", "a3c1"]
    assert texts(state) == set(clones + jumps), "jumps go over stones, not onto them"
    end = play(state, "a3c3")
    assert end.is_terminal, "every enemy is turned"
    assert end.outcomes == (1, -1)
    assert end.score == 4
    still = play(state, "b3")
    assert str(still).splitlines()[1:6] == [
        "5 . . . . .",
        "4 . . x . .",
        "3 x[x]. o .",
        "2 . . x . .",
        "1 . . . . .",
    ]


def test_pass_only_without_another_action() -> None:
    game = athenan.make_game("ataxx", size=5)
    state = game.state_from_string("""\
          a b c d e
        5 x o o . .
        4 o o o . .
        3 o o o . .
        2 . . . . .
        1 . . . . .
        ply 9, x to move""")
    assert texts(state) == {"pass"}
    after = play(state, "pass")
    assert after.to_move == 1
    assert after.ply == 10
    assert "pass" not in texts(after)
    assert play(after, "d2").to_move == 0
    # A gap two cells from the corner lets x move again.
    assert texts(play(after, "a3a1")) == {"a5a3"}


def test_full_board() -> None:
    state = athenan.make_game("ataxx", size=3).state_from_string("""\
          a b c
        3 x o o
        2 x x o
        1 x o .
        ply 9, o to move""")
    end = play(state, "c1")
    assert end.is_terminal
    assert end.outcomes == (-1, 1)
    assert end.score == 3 - 6


def test_draw_by_jumps() -> None:
    game = athenan.make_game("ataxx", size=5, jump_limit=4)
    state = play(game.initial_state(), "a5a3 e5e3 a3a5")
    assert not state.is_terminal
    drawn = play(state, "e3e5")
    assert drawn.is_terminal
    assert drawn.outcomes == (0, 0)
    assert drawn.score == 0
    again = play(state, "e4")
    assert not again.is_terminal, "a clone starts the count anew"
    assert not play(again, "a5a3 a1c1 a3a5").is_terminal
    assert play(again, "a5a3 a1c1 a3a5 c1a1").is_terminal


def test_the_count_is_part_of_the_key() -> None:
    limited = athenan.make_game("ataxx", size=5)
    start, cycle = limited.initial_state(), "a5a3 e5e3 a3a5 e3e5"
    assert play(start, cycle).key != start.key
    unlimited = athenan.make_game("ataxx", size=5, draw_rules="none", max_plies=20)
    start = unlimited.initial_state()
    assert play(start, cycle).key != start.key, "the end by max_plies is nearer"


def test_the_count_is_in_the_text() -> None:
    game = athenan.make_game("ataxx", size=5, jump_limit=4)
    state = play(game.initial_state(), "a5a3")
    assert str(state).endswith("plies without a clone: 1")
    again = game.state_from_string(str(state))
    assert again.key == state.key
    with pytest.raises(ValueError, match="plies without a clone"):
        game.state_from_string(str(state).replace("clone: 1", "clone: 5"))


def test_an_end_by_stones_comes_before_the_limit() -> None:
    state = athenan.make_game("ataxx", size=5, jump_limit=1).state_from_string("""\
          a b c d e
        5 x . . o .
        4 . . . . .
        3 . . . . .
        2 . . . . .
        1 . . . . .
        ply 9, x to move""")
    assert play(state, "a5c5").outcomes == (1, -1)
    assert play(state, "a5a3").outcomes == (0, 0)


@pytest.mark.parametrize("draw_rules", ["olympiad", "none"])
def test_draw_by_max_plies(draw_rules: str) -> None:
    game = athenan.make_game("ataxx", size=5, draw_rules=draw_rules, max_plies=3)
    assert game.max_plies == 3
    end = play(game.initial_state(), "a4 b1 b4")
    assert end.is_terminal
    assert end.outcomes == (0, 0)
    assert end.score == 0


def naive_solver(size: int, limit: int) -> Callable[[str, str, int], int]:
    """The value for the first player, from strings and dictionaries of stones."""
    cells = [(r, c) for r in range(size) for c in range(size)]
    distance = {(a, b): max(abs(a[0] - b[0]), abs(a[1] - b[1])) for a in cells for b in cells}

    @cache
    def value(board: str, mover: str, quiet: int) -> int:
        at = dict(zip(cells, board, strict=True))
        if "." not in board or "x" not in board or "o" not in board:
            lead = board.count("x") - board.count("o")
            return (lead > 0) - (lead < 0)
        if quiet == limit:
            return 0
        other = "o" if mover == "x" else "x"
        children = set()
        for (a, b), steps in distance.items():
            if at[a] == mover and at[b] == "." and steps <= 2:
                after = {
                    c: mover if at[c] == other and distance[b, c] == 1 else at[c] for c in cells
                }
                after |= {a: "." if steps == 2 else mover, b: mover}
                children.add(("".join(after.values()), other, quiet + 1 if steps == 2 else 0))
        if not children:
            children.add((board, other, quiet + 1))
        return (max if mover == "x" else min)(value(*child) for child in children)

    return value


@pytest.mark.parametrize(("size", "limit", "start"), [(3, 3, 0), (3, 6, 0), (4, 2, 9)])
def test_small_boards_against_a_naive_solver(size: int, limit: int, start: int) -> None:
    """Every state of random games, from ply `start` on."""
    rng = random.Random(7)
    game = athenan.make_game("ataxx", size=size, jump_limit=limit)
    naive, values = naive_solver(size, limit), {}
    seen = set()
    for _ in range(60):
        state, quiet = game.initial_state(), 0
        while not state.is_terminal:
            if state.ply >= start:
                rows = [line.split()[1:] for line in re.sub(r"[][]", " ", str(state)).splitlines()]
                board = "".join("".join(row) for row in reversed(rows[1 : size + 1]))
                seen.add(solve(state, values))
                assert solve(state, values) == naive(board, "xo"[state.to_move], quiet), str(state)
            actions = state.legal_actions()
            if start and state.ply < start:  # clones first, or the limit ends the game
                actions = [a for a in actions if a < size * size] or actions
            action = rng.choice(actions)
            quiet = 0 if action < size * size else quiet + 1
            state = state.play(action)
    assert seen >= {-1, 1}
