"""Connect6: turns of two stones, wins within a pair, overlines, and a naive solver."""

import itertools
import random
from functools import cache

from brute_force import proved, solve, winning_actions
from playing import play, texts

import athenan


def test_one_stone_then_two_each() -> None:
    state = athenan.make_game("connect6").initial_state()
    movers = []
    for text in ["j10", "a1", "a2", "b1", "b2", "c1", "c2", "d1"]:
        movers.append(state.to_move)
        state = play(state, text)
    assert movers == [0, 1, 1, 0, 0, 1, 1, 0]


def test_the_order_within_a_pair_does_not_matter() -> None:
    start = athenan.make_game("connect6", size=7).initial_state()
    one, two = play(start, "d4 a1 b1"), play(start, "d4 b1 a1")
    assert one.key == two.key
    assert one.identical(two)
    assert play(start, "d4 a1").planes()[0, 0, 4] == 1, "one stone left"
    assert one.planes()[0, 0, 4] == 0


def test_second_turns() -> None:
    """360 × 359 / 2 states, by either order; after each of 361 first stones, 23,327,820 in all."""
    state = play(athenan.make_game("connect6").initial_state(), "j10")
    middles = [state.play(action) for action in state.legal_actions()]
    assert len({middle.play(a).key for middle in middles for a in middle.legal_actions()}) == 64620


def test_the_first_stone_of_a_pair_wins_at_once() -> None:
    state = athenan.make_game("connect6", size=8).state_from_string("""\
          a b c d e f g h
        1 . . . . . . . .
        2 . o o o o o . .
        3 . . . . . . . .
        4 x x x . x x . .
        5 . . . . . . . .
        6 . . . . . . . .
        7 . . . . x . x .
        8 . . . . . . . o
        ply 13, o to move""")
    assert play(state, "h1").to_move == 1, "two stones to put"
    assert play(state, "h1 a1").to_move == 0
    for text in ("g2", "a2"):
        end = play(state, text)
        assert end.is_terminal
        assert end.outcomes == (-1, 1)
    assert play(state, "d4 g2").outcomes == (-1, 1)


def test_overline_by_the_second_stone_of_a_pair() -> None:
    state = athenan.make_game("connect6", size=8).state_from_string("""\
          a b c d e f g h
        1 o . . . . . . .
        2 o o . . . . . .
        3 o . . . . . . .
        4 x x . x . x x .
        5 . . . . . . . .
        6 . . . o . o . .
        7 . . . . x . x .
        8 . . . . . o . o
        ply 15, x to move""")
    middle = play(state, "c4")
    assert not middle.is_terminal, "four in a row"
    assert middle.to_move == 0
    assert play(middle, "e4").outcomes == (1, -1)


def test_a_full_board_is_a_draw_also_within_a_pair() -> None:
    state = athenan.make_game("connect6", size=4).state_from_string("""\
          a b c d
        1 x x x x
        2 o o o o
        3 x x o o
        4 x o x .
        ply 15, x to move""")
    assert state.play(state.string_to_action("d4")).outcomes == (0, 0)


@cache
def naive_value(board: str, mover: str) -> int:
    """Of Connect6 on 6 × 6, where a line is a whole row, column or diagonal."""
    indices = [range(6 * i, 6 * i + 6) for i in range(6)] + [range(i, 36, 6) for i in range(6)]
    indices += [range(0, 36, 7), range(5, 31, 5)]
    lines = {"".join(board[i] for i in line) for line in indices}
    if "xxxxxx" in lines or "oooooo" in lines:
        return 1 if "xxxxxx" in lines else -1
    stones = 36 - board.count(".")
    turn_ends = stones % 2 == 0
    other = ("o" if mover == "x" else "x") if turn_ends else mover
    children = [
        naive_value(board[:i] + mover + board[i + 1 :], other) for i in range(36) if board[i] == "."
    ]
    return (max if mover == "x" else min)(children, default=0)


def test_a_pair_that_makes_four_lines_of_four() -> None:
    """b1 and e4 each give x a row and a column; two stones of o close three of them at most."""
    game = athenan.make_game("connect6", size=6)
    rows = ["x.x.x.", "oxoo.o", "oxooxx", "x.xx..", "o.ooxo", "oxox.o"]
    drawn = "\n".join(f"{i + 1} {' '.join(row)}" for i, row in enumerate(rows))
    state = game.state_from_string(f"  a b c d e f\n{drawn}\nply 27, x to move")
    assert solve(state) == proved(game, state) == naive_value("".join(rows), "x") == 1
    winning = {
        "abcdef"[c] + str(r + 1)
        for r, c in itertools.product(range(6), range(6))
        if rows[r][c] == "."
        and naive_value("".join(rows)[: 6 * r + c] + "x" + "".join(rows)[6 * r + c + 1 :], "x") == 1
    }
    assert winning_actions(state) == winning
    assert {"b1", "e4"} < winning < texts(state), "not b5, nor f4"


def test_small_boards_against_a_naive_solver() -> None:
    rng = random.Random(6)
    game = athenan.make_game("connect6", size=6)
    values = []
    for _ in range(150):
        # Rows that mostly belong to one player, so that all three values occur.
        cells = [rng.choice("xxxxo" if i // 6 % 2 else "oooox") for i in range(36)]
        for i in rng.sample(range(36), rng.choice([6, 7])):
            cells[i] = "."
        rows = [f"{r + 1} {' '.join(cells[6 * r : 6 * r + 6])}\n" for r in range(6)]
        mover = rng.choice("xo")
        state = game.state_from_string(f"a b c d e f\n{''.join(rows)}ply 29, {mover} to move")
        if state.is_terminal:
            continue
        values.append(solve(state))
        assert values[-1] == proved(game, state) == naive_value("".join(cells), mover), str(state)
    assert set(values) == {-1, 0, 1}
