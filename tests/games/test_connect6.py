"""Connect6: turns of two stones, wins within a pair, overlines, and a naive solver."""

from brute_force import proved, solve, winning_actions
from playing import play, texts
from whole_lines import check_random_boards, drawn, naive_value

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


def test_a_pair_that_makes_four_lines_of_four() -> None:
    """b1 and e4 each give x a row and a column; two stones of o close three of them at most."""
    game = athenan.make_game("connect6", size=6)
    board = "x.x.x.oxoo.ooxooxxx.xx..o.ooxooxox.o"
    state = drawn(game, board, 27, "x")
    assert solve(state) == proved(game, state) == naive_value(board, "x", pairs=True) == 1
    winning = {
        "abcdef"[i % 6] + str(i // 6 + 1)
        for i in range(36)
        if board[i] == "." and naive_value(board[:i] + "x" + board[i + 1 :], "x", pairs=True) == 1
    }
    assert winning_actions(state) == winning
    assert {"b1", "e4"} < winning < texts(state), "not b5, nor f4"


def test_small_boards_against_a_naive_solver() -> None:
    check_random_boards(athenan.make_game("connect6", size=6), 6, [6, 7], ply=29, pairs=True)
