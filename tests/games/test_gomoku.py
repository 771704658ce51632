"""Gomoku: the opening, lines, full boards, and small boards against a naive solver."""

import random
from functools import cache

import pytest
from brute_force import proved, solve, winning_actions
from playing import texts

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


def naive_value(board: str, mover: str) -> int:
    """Of gomoku on 5 × 5, where a line is a whole row, column or diagonal."""
    indices = [range(5 * i, 5 * i + 5) for i in range(5)] + [range(i, 25, 5) for i in range(5)]
    indices += [range(0, 25, 6), range(4, 21, 4)]

    @cache
    def value(board: str, mover: str) -> int:
        lines = {"".join(board[i] for i in line) for line in indices}
        if "xxxxx" in lines or "ooooo" in lines:
            return 1 if "xxxxx" in lines else -1
        other = "o" if mover == "x" else "x"
        children = [
            value(board[:i] + mover + board[i + 1 :], other) for i in range(25) if board[i] == "."
        ]
        return (max if mover == "x" else min)(children, default=0)

    return value(board, mover)


@pytest.mark.parametrize(("mover", "value"), [("x", 1), ("o", -1)])
def test_a_fork_that_closes_a_line(mover: str, value: int) -> None:
    """Who takes c3 wins: o has five, or x closes o's diagonal and has two fours."""
    game = athenan.make_game("gomoku", size=5)
    rows = ["o.xo.", ".oxxo", "xx..x", "o.xo.", "xo..o"]
    drawn = "\n".join(f"{i + 1} {' '.join(row)}" for i, row in enumerate(rows))
    state = game.state_from_string(f"  a b c d e\n{drawn}\nply 16, {mover} to move")
    assert solve(state) == proved(game, state) == naive_value("".join(rows), mover) == value
    assert winning_actions(state) == {"c3"}


def test_small_boards_against_a_naive_solver() -> None:
    rng = random.Random(5)
    game = athenan.make_game("gomoku", size=5)
    values = []
    for _ in range(150):
        # Rows that mostly belong to one player, so that all three values occur.
        cells = [rng.choice("xxxo" if i // 5 % 2 else "ooox") for i in range(25)]
        for i in rng.sample(range(25), 7):
            cells[i] = "."
        rows = [f"{r + 1} {' '.join(cells[5 * r : 5 * r + 5])}\n" for r in range(5)]
        mover = rng.choice("xo")
        state = game.state_from_string(f"a b c d e\n{''.join(rows)}ply 18, {mover} to move")
        if state.is_terminal:
            continue
        values.append(solve(state))
        assert values[-1] == proved(game, state) == naive_value("".join(cells), mover), str(state)
    assert set(values) == {-1, 0, 1}
