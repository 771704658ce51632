"""Surakarta: captures round the loops, and how games end without the last capture."""

from typing import Any

import pytest
from playing import play, texts

import athenan

OLYMPIAD = athenan.make_game("surakarta")
WITHOUT = athenan.make_game("surakarta", draw_rules="none")


def board(rows: str, status: str = "ply 60, x to move") -> str:
    """The text of a state from six rows, the highest first."""
    lines = [f"{6 - i} {' '.join(row)}" for i, row in enumerate(rows.split())]
    return "\n".join(["  a b c d e f", *lines, status])


def captures(rows: str) -> set[str]:
    state = WITHOUT.state_from_string(board(rows))
    men = state.planes()[:, :, 1].sum()
    return {text for text in texts(state) if play(state, text).planes()[:, :, 1].sum() < men}


def test_round_one_arc_of_the_inner_loop() -> None:
    # To the left from a2, round the corner a1, up column b.
    assert captures("...... .o.... ...... ...... x..... ......") == {"a2b5"}


def test_round_one_arc_of_the_outer_loop() -> None:
    # To the left from c3 over b3 and a3, round the corner, up column c over c3 again: the point he
    # came from counts as empty. d3 closes the way to the right.
    assert "c3c5" in captures("...... ..o... ...... ..xx.. ...... ......")
    # Without d3 he also comes to the same man round three arcs, down column c: the same action.
    assert captures("...... ..o... ...... ..x... ...... ......") == {"c3c5"}
    # The corner man is on no loop, and nothing else can reach him.
    assert captures("o..... ...... ...... ..x... ...... .....o") == set()


def test_round_two_three_and_four_arcs() -> None:
    # b1 closes the other ways. Right along row 2, up column e, left along row 5 to a5: two arcs.
    assert "b2a5" in captures("...... o..... ...... ...... .x.... .x....")
    # The same way on, down column b: three arcs.
    assert captures("...... ...... .o.... ...... .x.... .x....") == {"b2b4"}
    # Right along row 2 and all round the loop to the near end of the same row: four arcs.
    assert captures("...... ...... ...... ...... o.x... ......") == {"c2a2"}


# Round each corner an arc of either loop joins two points, marked by *; beside each of them an own
# man closes the line, so that the arc is the only way.
@pytest.mark.parametrize(
    ("one", "other", "rows"),
    [
        ("b6", "a5", ".*.... *x.... ...... ...... ...... ......"),
        ("e6", "f5", "....*. ....x* ...... ...... ...... ......"),
        ("a2", "b1", "...... ...... ...... ...... *x.... .*...."),
        ("f2", "e1", "...... ...... ...... ...... ....x* ....*."),
        ("c6", "a4", "..*... ..x... *x.... ...... ...... ......"),
        ("d6", "f4", "...*.. ...x.. ....x* ...... ...... ......"),
        ("a3", "c1", "...... ...... ...... *x.... ..x... ..*..."),
        ("f3", "d1", "...... ...... ...... ....x* ...x.. ...*.."),
    ],
)
def test_every_arc_both_ways(one: str, other: str, rows: str) -> None:
    assert one + other in captures(rows.replace("*", "x", 1).replace("*", "o"))
    assert other + one in captures(rows.replace("*", "o", 1).replace("*", "x"))


def test_round_two_three_and_four_arcs_of_the_outer_loop() -> None:
    # c1 closes the way to the left. Right along row 3, up column d, left along row 4: two arcs;
    # from c1 up column c it is one.
    assert captures("...... ...... .o.... x..... ...... ..x...") == {"a3b4", "c1b4"}
    # The same way on, down column c: three arcs; a man on d5 closes it, who has two to go.
    assert captures("...... ..o... ...... x..... ...... ..x...") == {"a3c5"}
    assert captures("...... ..ox.. ...... x..... ...... ..x...") == {"d5c5"}
    # All round to the near end of the same row: four arcs.
    assert captures("...... ...... ...... ox.... ...... ......") == {"b3a3"}


def test_no_capture_without_an_arc() -> None:
    # Along row 2 and column b the enemy is next, and the ways round the corner meet own men.
    assert captures("...... ...... ...... ...... xo.... .x....") == set()


def test_a_man_in_the_way() -> None:
    # a2 is shut in by b1 and c2; c2 goes right, up column e and left along row 5.
    assert captures("...... .o.... ...... ...... x.x... .x....") == {"c2b5"}
    # The nearer man is met going up column b, the farther one coming along row 5.
    assert captures("...... .o.... .o.... ...... x..... ......") == {"a2b4", "a2b5"}


def test_capturing_every_enemy_wins() -> None:
    for game in (OLYMPIAD, WITHOUT):
        state = play(
            game.state_from_string(board("...... .o.... ...... ...... x..... ......")), "a2b5"
        )
        assert state.is_terminal
        assert state.outcomes == (1, -1)


FEW = "o....o ...... ...... ...... ...... x....."
BACK_AND_FORTH = ("a1a2", "a6a5", "a2a1", "a5a6")


def test_any_repetition_ends_the_game_and_more_men_win() -> None:
    state = OLYMPIAD.state_from_string(board(FEW))
    for i in range(4):
        assert not play(state, *BACK_AND_FORTH[:i]).is_terminal
    assert play(state, *BACK_AND_FORTH).outcomes == (-1, 1)
    equal = OLYMPIAD.state_from_string(board(FEW.replace("o....o", "o.....")))
    assert play(equal, *BACK_AND_FORTH).outcomes == (0, 0)
    assert not play(WITHOUT.state_from_string(board(FEW)), *BACK_AND_FORTH).is_terminal


def quiet_game(game: Any, rows: str, plies: int) -> Any:
    """Each side walks its only free man over the corners and edges, which never repeats so soon."""
    state = game.state_from_string(board(rows))
    seen = {state.planes().tobytes()}
    men = state.planes()[:, :, :2].sum()
    for _ in range(plies):
        for action in state.legal_actions():
            child = state.play(action)
            planes = child.planes()
            if planes[:, :, :2].sum() == men and planes.tobytes() not in seen:
                break
        state = child
        seen.add(planes.tobytes())
    return state


def test_fifty_plies_without_capture_end_the_game() -> None:
    before = quiet_game(OLYMPIAD, FEW, 49)
    assert not before.is_terminal
    after = quiet_game(OLYMPIAD, FEW, 50)
    assert after.is_terminal
    assert after.outcomes == (-1, 1)
    assert quiet_game(OLYMPIAD, FEW.replace("o....o", "o....."), 50).outcomes == (0, 0)
    assert not quiet_game(WITHOUT, FEW, 50).is_terminal


def test_a_capture_starts_the_count_again() -> None:
    rows = "o....o .o.... ...... ...... x..... x....."
    state = play(OLYMPIAD.state_from_string(board(rows)), "a2b5")
    assert state.key == OLYMPIAD.state_from_string(str(state)).key
    quiet = play(OLYMPIAD.state_from_string(board(rows)), "a2a3")
    assert quiet.key != OLYMPIAD.state_from_string(str(quiet)).key


def test_the_count_is_in_the_text() -> None:
    before = quiet_game(OLYMPIAD, FEW, 49)
    assert str(before).endswith(" to move, plies without capture: 49")
    read = OLYMPIAD.state_from_string(str(before))
    assert not read.is_terminal
    assert read.key != OLYMPIAD.state_from_string(str(before).replace("49", "48")).key
    quiet = next(a for a in read.legal_actions() if read.play(a).planes()[:, :, :2].sum() == 3)
    assert read.play(quiet).outcomes == (-1, 1)
    assert OLYMPIAD.state_from_string(str(read.play(quiet))).outcomes == (-1, 1)
    with pytest.raises(ValueError, match="plies without capture: 50"):
        OLYMPIAD.state_from_string(str(before).replace("49", "51"))


def test_who_has_no_action_ends_the_game() -> None:
    state = WITHOUT.state_from_string(board("...... ...... ...... ...... oo.... xo...."))
    assert state.is_terminal
    assert state.outcomes == (-1, 1)


def test_the_ply_matters_to_no_olympiad_game() -> None:
    """The other rules end it first, so that equal boards at any ply have one key and future."""
    early, late = (
        OLYMPIAD.state_from_string(board(FEW, f"ply {ply}, x to move")) for ply in (10, 1199)
    )
    assert early.key == late.key
    assert not play(early, "a1a2").is_terminal
    assert not play(late, "a1a2").is_terminal


def test_the_longest_game_is_a_draw() -> None:
    game = athenan.make_game("surakarta", draw_rules="none", max_plies=3)
    state = play(game.initial_state(), "a2a3", "a5a4", "b2b3")
    assert state.is_terminal
    assert state.outcomes == (0, 0)
