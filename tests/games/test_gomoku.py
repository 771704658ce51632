"""Gomoku: the opening, lines, full boards, and small boards against a naive solver."""

import pytest
from brute_force import proved, solve, winning_actions
from playing import texts
from whole_lines import check_random_boards, drawn, naive_value

import athenan


def test_outer_open_first_stone() -> None:
    state = athenan.make_game("gomoku").initial_state()
    first = texts(state)
    assert len(first) == 104
    assert {"a1", "b2", "b14", "n8", "o15", "h2", "h14"} <= first
    assert first.isdisjoint({"c3", "h8", "c13", "m3", "m13", "h3"})
    second = state.play(state.string_to_action("b2"))
    assert len(second.legal_actions()) == 224, "only the first stone is restricted"
    assert "h8" in texts(second)


def test_free_first_stone() -> None:
    assert len(athenan.make_game("gomoku", opening="free").initial_state().legal_actions()) == 225


LINES = """\
          a b c d e f g h
        1 . o . . . . . .
        2 . . o . . . . x
        3 x x x . x x x .
        4 . . . . o . x .
        5 . . . . . o . .
        6 . . . . x . . .
        7 o o . o . . . x
        8 o o . o x x x .
        ply 18, {} to move"""


@pytest.mark.parametrize(
    ("mover", "action", "wins"),
    [
        ("x", "d3", True),  # seven in a row
        ("x", "h3", False),  # four, and the row does not go on round the edge
        ("x", "h8", False),  # four
        ("o", "d3", True),  # five in a diagonal
        ("o", "c7", False),  # four
        ("o", "c8", False),  # four, broken by an enemy
    ],
)
def test_lines(mover: str, action: str, wins: bool) -> None:
    state = athenan.make_game("gomoku", size=8).state_from_string(LINES.format(mover))
    end = state.play(state.string_to_action(action))
    assert end.is_terminal == wins
    if wins:
        assert end.outcomes == ((1, -1) if mover == "x" else (-1, 1))


def test_full_board_is_a_draw() -> None:
    state = athenan.make_game("gomoku", size=5).state_from_string("""\
          a b c d e
        1 x o x o x
        2 x o x o x
        3 o x o x o
        4 x o x o x
        5 x o x o .
        ply 24, x to move""")
    assert texts(state) == {"e5"}
    assert state.play(state.string_to_action("e5")).outcomes == (0, 0)


@pytest.mark.parametrize(("mover", "value"), [("x", 1), ("o", -1)])
def test_a_fork_that_closes_a_line(mover: str, value: int) -> None:
    """Who takes c3 wins: o has five, or x closes o's diagonal and has two fours."""
    game = athenan.make_game("gomoku", size=5)
    board = "o.xo..oxxoxx..xo.xo.xo..o"
    state = drawn(game, board, 16, mover)
    assert solve(state) == proved(game, state) == naive_value(board, mover, pairs=False) == value
    assert winning_actions(state) == {"c3"}


def test_small_boards_against_a_naive_solver() -> None:
    check_random_boards(athenan.make_game("gomoku", size=5), 5, [7], ply=18, pairs=False)
