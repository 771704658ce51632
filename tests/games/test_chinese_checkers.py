"""Chinese checkers: chains of hops, passes, and goals that others block."""

import re
from typing import Any

import pytest
from playing import play, texts

import athenan


def star(game: Any, rows: str, mover: str) -> Any:
    """A state from the rows that are not empty, each after the number of its first cell."""
    empty = re.sub("[a-z]", ".", "\n".join(str(game.initial_state()).splitlines()[1:-1]))
    lines = {line.split()[0]: line for line in empty.splitlines()}
    drawn = {line.split()[0]: line for line in rows.strip().splitlines()}
    assert drawn.keys() <= lines.keys()
    text = "\n".join(["each row after the number of its first cell", *(lines | drawn).values()])
    return game.state_from_string(f"{text}\nply 30, {mover} to move")


TWO = athenan.make_game("chinese_checkers", players=2)
TWO_BLOCKING = athenan.make_game("chinese_checkers", players=2, blocking=True)


def test_the_start_for_each_number_of_players() -> None:
    for players in (2, 3, 4, 6):
        game = athenan.make_game("chinese_checkers", players=players)
        planes = game.initial_state().planes()
        assert [int(planes[:, :, p].sum()) for p in range(players)] == [10] * players
        assert game.perft(1) == 14, "eight steps of the front row and six hops over it"
    with pytest.raises(ValueError, match="2, 3, 4 or 6"):
        athenan.make_game("chinese_checkers", players=5)


def test_hops_go_on_with_the_same_piece_until_pass() -> None:
    # x hops over o, then over his own piece.
    state = star(TWO, "56 x o . x . . . . .", "x")
    assert "56=>58" in texts(state)
    hopped = play(state, "56=>58")
    assert hopped.to_move == 0
    assert "X" in str(hopped)
    assert texts(hopped) == {"58=>60", "Pass"}, "not back to 56, and no other piece"
    assert play(hopped, "Pass").to_move == 1
    # Behind 60 nothing is left to hop over: the turn ends by itself.
    assert play(hopped, "58=>60").to_move == 1


def test_a_piece_comes_to_no_cell_twice_in_a_turn() -> None:
    # 58, 60 and 39 are the corners of a triangle, with a piece to hop over on each of its sides.
    triangle = """
        35 . . . . {} . . . . . .
         46 . . . o o . . . . .
          56 . . {} o . . . . ."""
    hopped = play(star(TWO, triangle.format(".", "x"), "x"), "58=>60")
    assert "*" in str(hopped)
    assert texts(hopped) == {"60=>39", "Pass"}
    assert play(hopped, "60=>39").to_move == 1, "58 is closed, so the turn is over"
    assert "39=>58" in texts(star(TWO, triangle.format("x", "."), "x"))


def test_only_one_piece_of_the_mover_hops() -> None:
    for cells in ("O . .", "X X .", "* . .", "* x ."):
        with pytest.raises(ValueError, match="hopping"):
            star(TWO, f"56 {cells} . . . . . .", "x")


def test_who_has_no_action_passes() -> None:
    for game in (TWO, TWO_BLOCKING):
        state = star(
            game,
            """
               0 x
              1 o o
             3 o . o
            56 . . . . o . . . .""",
            "x",
        )
        assert texts(state) == {"Pass"}
        after = play(state, "Pass")
        assert after.to_move == 1
        assert not after.is_terminal
        assert "Pass" not in texts(after)


def test_filling_the_goal_wins() -> None:
    for game in (TWO, TWO_BLOCKING):
        state = star(
            game,
            """
            98 . . . . x . . . . . . . .
                     111 . x x x
                      115 x x x
                       118 x x
                        120 x""",
            "x",
        )
        assert not state.is_terminal
        won = play(state, "102->111")
        assert won.is_terminal
        assert won.outcomes == (1, -1)


def test_a_goal_is_won_at_the_end_of_the_turn() -> None:
    rows = """
             86 . . . . x . . . . . . .
            98 . . . . . o {} . . . . . .
                     111 x . x x
                      115 x x x
                       118 x x
                        120 x"""
    assert play(star(TWO, rows.format("."), "x"), "90=>112").outcomes == (1, -1)
    # With a piece on 104 x might hop on, so the turn lasts until he passes.
    filled = play(star(TWO, rows.format("o"), "x"), "90=>112")
    assert not filled.is_terminal
    assert texts(filled) == {"112=>92", "Pass"}
    assert play(filled, "Pass").outcomes == (1, -1)
    assert not play(filled, "112=>92").is_terminal


# x comes to have nine of his ten in the goal, and another keeps the tenth cell.
KEPT = """
            98 . . . . x . . . . . . . .
                     111 . x x x
                      115 x x x
                       118 x x
                        120 {}"""


def test_a_piece_that_stays_at_home() -> None:
    filled = play(star(TWO, KEPT.format("o"), "x"), "102->111")
    assert filled.is_terminal
    assert filled.outcomes == (1, -1)
    blocked = play(star(TWO_BLOCKING, KEPT.format("o"), "x"), "102->111")
    assert not blocked.is_terminal
    # Nobody wins by the pieces of others alone: the start fills both goals.
    assert not TWO.initial_state().is_terminal
    assert not play(TWO.initial_state(), "6->14").is_terminal


def test_a_piece_of_a_third_player_in_the_goal() -> None:
    """z keeps a cell of x's goal, where he only passes through."""
    for blocking in (False, True):
        game = athenan.make_game("chinese_checkers", players=3, blocking=blocking)
        after = play(star(game, KEPT.format("z"), "x"), "102->111")
        assert after.is_terminal != blocking
        assert after.outcomes == (None if blocking else (1, -1, -1))


def test_the_winner_is_who_has_just_moved() -> None:
    game = athenan.make_game("chinese_checkers", players=3)
    # z starts at the lower left and goes to the upper right.
    state = star(
        game,
        """
        10 . . . . . . . . z . z z z
         23 . . . . . . . . . z z z
          35 . . . . . . . . . z z
           46 . . . . . . . . . z""",
        "z",
    )
    assert play(state, "18->19").outcomes == (-1, -1, 1)


def test_the_nearest_wins_where_the_game_is_cut() -> None:
    options = {"players": 3, "cut": "nearest"}
    game = athenan.make_game("chinese_checkers", max_plies=1, **options)
    assert play(game.initial_state(), "6->14").outcomes == (1, -1, -1)
    assert play(game.initial_state(), "3=>14").outcomes == (1, -1, -1), "a hop"
    assert play(game.initial_state(), "6->15").outcomes == (1, -1, -1)
    game = athenan.make_game("chinese_checkers", max_plies=2, **options)
    assert play(game.initial_state(), "6->14", "84->73").outcomes == (0, 0, 0), "one step each"
    game = athenan.make_game("chinese_checkers", max_plies=31, **options)
    # x wants to 120, o at the lower right to the upper left, 10, z to the upper right, 22.
    state = star(game, "10 . . o . . . . . . . z . .\n118 . x", "z")
    assert play(state, "20->19").outcomes == (1, -1, -1)
    assert play(state, "20->21").outcomes == (0, 0, 0), "x and z have one step left"
    state = star(game, "10 o . . . . . . . . . z . .\n56 . . . . x . . . .", "z")
    assert play(state, "20->21").outcomes == (-1, 1, -1)


def test_the_longest_game_is_a_draw() -> None:
    game = athenan.make_game("chinese_checkers", players=3, max_plies=2)
    state = play(game.initial_state(), "6->14", "84->73")
    assert state.is_terminal
    assert state.outcomes == (0, 0, 0)
