"""Chinese checkers: chains of hops, passes, and goals that others block."""

from typing import Any

import pytest
from playing import play, texts

import athenan

LENGTHS = (1, 2, 3, 4, 13, 12, 11, 10, 9, 10, 11, 12, 13, 4, 3, 2, 1)


def star(game: Any, pieces: dict[str, set[int]], mover: str) -> Any:
    """A state with these cells, drawn as its text."""
    symbols = {cell: symbol for symbol, cells in pieces.items() for cell in cells}
    lines, cell = ["each row after the number of its first cell"], 0
    for length in LENGTHS:
        row = [symbols.get(cell + k, ".") for k in range(length)]
        lines.append(f"{cell} {' '.join(row)}")
        cell += length
    return game.state_from_string("\n".join([*lines, f"ply 30, {mover} to move"]))


TWO = athenan.make_game("chinese_checkers", players=2)
TWO_BLOCKING = athenan.make_game("chinese_checkers", players=2, blocking=True)
BOTTOM = set(range(111, 121))


def test_the_start_for_each_number_of_players() -> None:
    for players in (2, 3, 4, 6):
        game = athenan.make_game("chinese_checkers", players=players)
        planes = game.initial_state().planes()
        assert [int(planes[:, :, p].sum()) for p in range(players)] == [10] * players
        assert game.perft(1) == 14, "eight steps of the front row and six hops over it"
    with pytest.raises(ValueError, match="2, 3, 4 or 6"):
        athenan.make_game("chinese_checkers", players=5)


def test_hops_go_on_with_the_same_piece_until_pass() -> None:
    # All are on row 9, cells 56 to 64: x hops over o, then over his own piece.
    state = star(TWO, {"x": {56, 59}, "o": {57, 120}}, "x")
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
    others = {49, 50, 59, 120}
    hopped = play(star(TWO, {"x": {58}, "o": others}, "x"), "58=>60")
    assert "*" in str(hopped)
    assert texts(hopped) == {"60=>39", "Pass"}
    assert play(hopped, "60=>39").to_move == 1, "58 is closed, so the turn is over"
    assert "39=>58" in texts(star(TWO, {"x": {39}, "o": others}, "x"))


def test_only_one_piece_of_the_mover_hops() -> None:
    for row in ("O", "X X", "*", "* x"):
        rest = " ".join("." * (9 - len(row.split())))
        text = str(TWO.initial_state()).replace("56 . . . . . . . . .", f"56 {row} {rest}")
        assert row in text
        with pytest.raises(ValueError, match="hopping"):
            TWO.state_from_string(text)


def test_who_has_no_action_passes() -> None:
    for game in (TWO, TWO_BLOCKING):
        state = star(game, {"x": {0}, "o": {1, 2, 3, 5, 60}}, "x")
        assert texts(state) == {"Pass"}
        after = play(state, "Pass")
        assert after.to_move == 1
        assert not after.is_terminal
        assert "Pass" not in texts(after)


def test_filling_the_goal_wins() -> None:
    for game in (TWO, TWO_BLOCKING):
        state = star(game, {"x": BOTTOM - {111} | {102}, "o": {60}}, "x")
        assert not state.is_terminal
        won = play(state, "102->111")
        assert won.is_terminal
        assert won.outcomes == (1, -1)


def test_a_goal_is_won_at_the_end_of_the_turn() -> None:
    state = star(TWO, {"x": BOTTOM - {112} | {90}, "o": {103, 60}}, "x")
    assert play(state, "90=>112").outcomes == (1, -1)
    # With a piece on 104 x might hop on, so the turn lasts until he passes.
    state = star(TWO, {"x": BOTTOM - {112} | {90}, "o": {103, 104, 60}}, "x")
    filled = play(state, "90=>112")
    assert not filled.is_terminal
    assert texts(filled) == {"112=>92", "Pass"}
    assert play(filled, "Pass").outcomes == (1, -1)
    assert not play(filled, "112=>92").is_terminal


def test_a_piece_that_stays_at_home() -> None:
    """x has nine of his ten in the goal, and o keeps the tenth cell."""
    pieces = {"x": BOTTOM - {120, 111} | {102}, "o": {120, 60}}
    filled = play(star(TWO, pieces, "x"), "102->111")
    assert filled.is_terminal
    assert filled.outcomes == (1, -1)
    blocked = play(star(TWO_BLOCKING, pieces, "x"), "102->111")
    assert not blocked.is_terminal
    # Nobody wins by the pieces of others alone: the start fills both goals.
    assert not TWO.initial_state().is_terminal
    assert not play(TWO.initial_state(), "6->14").is_terminal


def test_a_piece_of_a_third_player_in_the_goal() -> None:
    """z keeps a cell of x's goal, where he only passes through."""
    pieces = {"x": BOTTOM - {120, 111} | {102}, "o": {60}, "z": {120}}
    for blocking in (False, True):
        game = athenan.make_game("chinese_checkers", players=3, blocking=blocking)
        after = play(star(game, pieces, "x"), "102->111")
        assert after.is_terminal != blocking
        assert after.outcomes == (None if blocking else (1, -1, -1))


def test_the_winner_is_who_has_just_moved() -> None:
    game = athenan.make_game("chinese_checkers", players=3)
    # z starts at the lower left and goes to the upper right: cells 19 to 22, 32 to 34, 44, 45, 55.
    goal = {19, 20, 21, 22, 32, 33, 34, 44, 45, 55}
    state = star(game, {"x": {60}, "o": {70}, "z": goal - {19} | {18}}, "z")
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
    state = star(game, {"x": {119}, "o": {12}, "z": {20}}, "z")
    assert play(state, "20->19").outcomes == (1, -1, -1)
    assert play(state, "20->21").outcomes == (0, 0, 0), "x and z have one step left"
    state = star(game, {"x": {60}, "o": {10}, "z": {20}}, "z")
    assert play(state, "20->21").outcomes == (-1, 1, -1)


def test_the_longest_game_is_a_draw() -> None:
    game = athenan.make_game("chinese_checkers", players=3, max_plies=2)
    state = play(game.initial_state(), "6->14", "84->73")
    assert state.is_terminal
    assert state.outcomes == (0, 0, 0)
