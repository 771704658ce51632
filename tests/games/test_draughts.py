"""Draughts: what random playouts hardly reach, draws, and texts."""

import itertools
import random
from typing import Any

import pytest
from playing import board_lines, boards, play, play_beside, texts

import athenan

# The events look alike on the three boards; the smallest one is the easiest to read.
GAME = athenan.make_game("draughts", variant="brazilian")
PLAIN = athenan.make_game("draughts", variant="brazilian", draw_rules="none", max_plies=1000)


def test_most_pieces_must_be_taken_and_a_king_counts_one() -> None:
    state = PLAIN.state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . B . . . b . .
5 w . . . . . . .
4 . . . b . . . .
3 . . w . . . . .
2 . . . . . . . .
1 . . . . . . . .
ply 0, w to move""")
    assert texts(state) == {"22x8x11x18"}


def test_captures_of_equally_many_are_all_legal() -> None:
    state = PLAIN.state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 . . . . . . . .
4 . . . b . B . .
3 . . w . . . w .
2 . . . . . . . .
1 . . . . . . . .
ply 0, w to move""")
    assert texts(state) == {"22x15x18", "24x15x19"}


def test_men_capture_backwards_and_step_forwards_only() -> None:
    state = PLAIN.state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 . . . . w . . .
4 . . . b . . . .
3 . . . . . . . .
2 . . . . . . . w
1 . . . . . . . .
ply 0, w to move""")
    assert texts(state) == {"15x22x18"}
    assert play(state, "15x22x18").outcomes == (1, -1)
    assert texts(PLAIN.state_from_string("W:W15:B1")) == {"15-10", "15-11"}
    assert texts(PLAIN.state_from_string("B:W29:B15")) == {"15-18", "15-19"}


def test_no_promotion_in_passing() -> None:
    state = PLAIN.state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 . . b . b . . .
6 . w . . . . . .
5 . . . . . . . .
4 . . . . . . . .
3 b . . . . . . .
2 . . . . . . . .
1 . . . . . . . .
ply 0, w to move""")
    assert texts(state) == {"9x11x6x7"}
    assert "6 . . . . .[w]. ." in str(play(state, "9x11x6x7"))
    assert "8 . . .[W]. . . ." in str(play(PLAIN.state_from_string("W:W9:B6,21"), "9x2x6"))
    assert "8 . . .[W]. . . ." in str(play(PLAIN.state_from_string("W:W6:B21"), "6-2"))


def test_captured_pieces_block_until_the_end() -> None:
    """The king takes d4, e7 and c7; c5 would be next, but d4 still stands behind it."""
    state = PLAIN.state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 . . b . b . . .
6 . . . . . . . .
5 . . b . . . . .
4 . . . b . . . .
3 . . . . . . . .
2 . . . . . . . .
1 W . . . . . . .
ply 0, w to move""")
    assert texts(state) == {"29x9x6x7x18", "29x13x6x7x18"}
    assert texts(play(state, "29x9x6x7x18")) == {"14x5x9"}


def test_jumped_once_and_two_routes_are_one_action() -> None:
    """Round the square either way, back to the start, and not round again."""
    state = PLAIN.state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . b . b . .
5 . . . . . . . .
4 . . . b . b . .
3 . . . . w . . .
2 . . . . . . . .
1 . . . . . . . .
ply 0, w to move""")
    assert texts(state) == {"23x23x10x11x18x19"}
    assert play(state, "23x23x10x11x18x19").outcomes == (1, -1)


# The king takes b4, d4 and c7, or b4, e3 and c7, and comes to b8 either way.
TWO_WAYS = """\
  a b c d e f g h
8 . . . . . . . .
7 . . b . . . . .
6 . . . . . . . .
5 W . . . . . . .
4 . b . b . . . .
3 . . . . b . . .
2 . . . . . . . .
1 . . . . . . . .
ply 0, w to move"""


def test_equal_cells_with_other_captures_are_other_actions() -> None:
    """From a5 over b4 to c3 or d2, then over d4 or e3, and over c7 to b8."""
    state = PLAIN.state_from_string(TWO_WAYS)
    assert texts(state) == {"13x1x6x17x18", "13x1x6x17x23"}
    assert texts(play(state, "13x1x6x17x18")) == {"23-26", "23-27"}
    assert texts(play(state, "13x1x6x17x23")) == {"18-22", "18-23"}


def test_a_blocked_player_has_lost() -> None:
    state = PLAIN.state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 b . . . . . . .
4 . w . . . . . .
3 w . w . . . . .
2 . . . . . . . .
1 . . . . . . . .
ply 7, b to move""")
    assert state.is_terminal
    assert state.outcomes == (1, -1)


# ---- Draws -------------------------------------------------------------------------------

WHITE_TO_AND_FRO, BLACK_TO_AND_FRO = ("21-17", "17-21"), ("4-8", "8-4")


def plies_until_drawn(state: Any) -> int:
    """With the white king of cell 21 and the black one of 4 going to and fro."""
    for ply in itertools.count():
        if state.is_terminal:
            assert state.outcomes == (0, 0)
            assert state.ply == ply
            return ply
        state = play(state, (WHITE_TO_AND_FRO, BLACK_TO_AND_FRO)[ply % 2][ply // 2 % 2])
    raise AssertionError


def drawn(board: str) -> str:
    """The text of a board of `boards`, white to move."""
    rows = board.replace("1", ".").split("/")
    lines = [f"{8 - i} {' '.join(row)}" for i, row in enumerate(rows)]
    return "\n".join(["  a b c d e f g h", *lines, "ply 0, w to move"])


NAMES = ("2-2", "3-1", "man and king", "1-1", "2-1", "4-1", "1-3", "man and 2 kings")
PICTURE = """
    .......B   .......B   .......B   .......B   .......B   .......B   .b.b...B   .......B
    W.......   W.......   w.......   ........   W.......   W.......   ........   w.......
    .......B   ........   ........   ........   ........   .W......   ........   ........
    ........   W.......   ........   ........   ........   W.......   ........   W.......
    ........   ........   ........   ........   ........   ........   ........   ........
    W.......   W.......   W.......   W.......   W.......   W.......   W.......   W.......
    ........   ........   ........   ........   ........   ........   ........   ........
    ........   ........   ........   ........   ........   ........   ........   ........"""
ENDINGS = {name: drawn(board) for name, board in zip(NAMES, boards(PICTURE), strict=True)}
MANY_KINGS = {"draw_rules": "many_kings", "three_to_one_plies": 30, "repetitions": 99}


@pytest.mark.parametrize(
    ("ending", "options", "plies"),
    [
        ("2-2", {}, 8),  # third repetition
        ("2-2", {"repetitions": 2}, 4),
        ("2-2", {"repetitions": 99}, 50),
        ("2-2", {"repetitions": 99, "king_plies": 30}, 30),
        ("3-1", {"repetitions": 99}, 32),
        ("3-1", {"repetitions": 99, "three_to_one_plies": 20}, 20),
        ("3-1", {"repetitions": 99, "three_to_one_plies": 999}, 50),
        ("man and king", {"repetitions": 99}, 10),
        ("1-1", {"repetitions": 99}, 10),
        ("2-1", {"two_to_one_plies": 6}, 6),
        ("2-1", {"two_to_one_plies": 0}, 0),
        ("4-1", {"repetitions": 99}, 50),  # four against one: no ending's rule
        ("4-1", MANY_KINGS, 30),
        ("3-1", MANY_KINGS, 30),
        ("man and 2 kings", MANY_KINGS, 50),  # kings only
        ("2-1", MANY_KINGS, 10),
        ("1-3", {"repetitions": 99}, 32),  # black may be the stronger side
        ("2-1", {"draw_rules": "none", "max_plies": 70}, 70),
    ],
)
def test_draw_counters(ending: str, options: dict[str, Any], plies: int) -> None:
    game = athenan.make_game("draughts", variant="brazilian", **options)
    assert plies_until_drawn(game.state_from_string(ENDINGS[ending])) == plies


def test_a_step_of_a_man_starts_the_kings_count_anew_but_not_the_endings() -> None:
    game = athenan.make_game("draughts", variant="brazilian", king_plies=12, repetitions=99)
    to_and_fro = ("21-17", "4-8", "17-21", "8-4")
    many, few = boards("""
        .......B   .......B
        W.......   ........
        .......B   ........
        ........   ........
        ........   ........
        W.......   W.......
        .......w   .......w
        ........   ........""")
    state = play(game.state_from_string(drawn(many)), *to_and_fro, *to_and_fro)
    state = play(state, "28-24", "4-8", "21-17", "8-4", "17-21", "4-8", "21-17", "8-4", "17-21")
    assert not state.is_terminal
    state = play(state, "4-8", "21-17", "8-4")
    assert not state.is_terminal
    assert play(state, "17-21").outcomes == (0, 0)
    ending = play(GAME.state_from_string(drawn(few)), *to_and_fro, "28-24", "4-8", "24-20")
    assert not play(ending, "8-4", "20-16").is_terminal
    assert play(ending, "8-4", "20-16", "4-8").outcomes == (0, 0)


def test_another_ending_starts_its_own_count() -> None:
    game = athenan.make_game("draughts", variant="brazilian", repetitions=99)
    to_and_fro = ("21-17", "4-8", "17-21", "8-4")
    [board] = boards("""
        .......B
        ........
        ........
        W.......
        ........
        W.......
        ........
        ..W.....""")
    state = play(game.state_from_string(drawn(board)), *(4 * to_and_fro))
    state = play(state, "30-25", "4x29x25")  # two are left: ten plies from here
    for i in range(10):
        assert not state.is_terminal
        state = play(state, ("21-17", "29-25", "17-21", "25-29")[i % 4])
    assert state.outcomes == (0, 0)


def test_losing_comes_before_any_draw() -> None:
    game = athenan.make_game("draughts", variant="brazilian", king_plies=1)
    state = game.state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 b . . . . . . .
4 . . . . . . . .
3 W . w . . . . .
2 . . . . . . . .
1 . . . . . . . .
ply 0, w to move""")
    assert play(state, "21-17").outcomes == (1, -1)  # black is shut in
    assert play(state, "21-25").outcomes == (0, 0)  # one ply of a king


def test_draws_equal_their_recount() -> None:
    """Random endings, with the counters kept by the test."""
    options = {"king_plies": 5, "three_to_one_plies": 7, "two_to_one_plies": 6, "repetitions": 2}
    game = athenan.make_game("draughts", variant="brazilian", **options)
    chance = random.Random(0)
    found = set()
    for _ in range(300):
        cells = [str(n) for n in chance.sample(range(5, 29), chance.randint(2, 6))]
        white = ["K" + cells[0], *cells[2::2]]
        black = ["K" + cells[1], *["K" * chance.randint(0, 1) + n for n in cells[3::2]]]
        text = f"W:W{','.join(white)}:B{','.join(black)}"
        start, plain_start = game.state_from_string(text), PLAIN.state_from_string(text)
        seen, kings, ending = [start.planes().tobytes()], 0, 0
        for state, plain, before, after in play_beside(start, plain_start, chance):
            seen.append(after.tobytes())
            changed = (after[..., :2] != before[..., :2]).any() or after.sum() != before.sum()
            kings = 0 if changed else kings + 1
            kind = kind_of_ending(after)
            ending = ending + 1 if kind and kind == kind_of_ending(before) else 0
            if plain.is_terminal:
                assert state.outcomes == plain.outcomes
                found.add("lost")
                break
            ends = {
                "kings": kings >= 5,
                "repetition": seen.count(seen[-1]) >= 2,
                "three": kind == 3 and ending >= 7,
                "two": kind == 2 and ending >= 6,
            }
            assert state.is_terminal == any(ends.values()), f"{ends}\n{state}"
            assert state.outcomes == ((0, 0) if state.is_terminal else None)
            found |= {name for name, true in ends.items() if true}
    assert found == {"lost", "kings", "repetition", "three", "two"}


def kind_of_ending(planes: Any) -> int:
    """3 or 2 for that many pieces, or fewer than two, with a king against a king; 0 for none."""
    men, kings = planes[..., :2].sum((0, 1)), planes[..., 2:4].sum((0, 1))
    fewer, more = sorted(int(n) for n in men + kings)
    return (3 if more == 3 else 2) if kings.all() and fewer == 1 and more <= 3 else 0


def test_counters_and_history_are_in_the_key() -> None:
    start = GAME.state_from_string("W:WK5,K21:BK4,K12")
    again = play(start, "21-17", "4-8", "17-21", "8-4")
    assert str(again).split("ply")[0].replace("[", " ").replace("]", " ").split() == (
        str(start).split("ply")[0].split()
    )
    assert again.key != start.key
    other_order = play(start, "5-1", "4-8", "21-17", "12-16")
    assert other_order.key != play(start, "21-17", "4-8", "5-1", "12-16").key, "other states passed"
    # Once a man has stepped, how it came about no longer matters.
    start = GAME.state_from_string("W:WK5,K21,28:BK4,K12")
    a = play(start, "21-17", "4-8", "5-1", "8-4", "28-24")
    b = play(start, "5-1", "4-8", "21-17", "8-4", "28-24")
    assert a.key == b.key


@pytest.mark.parametrize(
    "wrong",
    [
        *("X:W1:B2", "W:W51:B2", "W:1:B2", "W:W0:B3", "W", "", "W:W31", "W:W31:W1", "W:H0:W1:B2"),
        *("W:Wa3,Kb2:Bf8", "W:W5-:B9", "W:W9-5:B1", "W:W31:B31", "W:W1-5,3:B9", "W:Wfoo31,zz:B1"),
        *("W:W31K:B1", "W:W31,:B1", "W:W31:B1:H", "W:W31:B1:F0", "W:W31:B1:X2", "W:W31:B1:H0:H0"),
        *("W:W31:B1 and more", "W:W31:B1..", "W:W1-2-3:B9", "W:W-1:B9", '[FEN "W:W31:B1"'),
    ],
)
def test_numbered_cells_are_checked(wrong: str) -> None:
    with pytest.raises(ValueError, match="This is not a state of the game: "):
        athenan.make_game("draughts").state_from_string(wrong)


def test_options_and_texts_are_checked() -> None:
    with pytest.raises(ValueError, match="max_plies"):
        athenan.make_game("draughts", draw_rules="none")
    with pytest.raises(ValueError, match="light"):
        PLAIN.state_from_string(str(PLAIN.initial_state()).replace("8 . b", "8 b b"))


def test_short_captures_are_read() -> None:
    """As in PDN: the cells alone, where they tell the capture."""
    state = PLAIN.state_from_string("W:W22:BK9,11,18")
    assert state.string_to_action("22x8") == state.string_to_action("22x8x11x18")
    two = PLAIN.state_from_string("W:WK13:B6,17,18,23")
    for wrong in ("13", "22x", "13x1x6x17"):
        with pytest.raises(ValueError, match=f"No legal action here is written '{wrong}'"):
            two.string_to_action(wrong)
    with pytest.raises(ValueError, match="several actions here: 13x1x6x17x18, 13x1x6x17x23"):
        two.string_to_action("13x1")


def test_captures_are_read_by_their_way() -> None:
    """As in PDN, too: all cells that the piece lands on."""
    state = PLAIN.state_from_string(TWO_WAYS)
    over_d4, over_e3 = (state.string_to_action(text) for text in sorted(texts(state)))
    assert state.string_to_action("13x22x15x1") == over_d4
    assert state.string_to_action("13x26x19x1") != over_d4
    assert state.string_to_action("13x26x19x1") == over_e3
    for wrong in ("13x22x19x1", "13x15x1", "13x22x15x22x1", "13x22x15", "13x17x15x1"):
        with pytest.raises(ValueError, match=f"No legal action here is written '{wrong}'"):
            state.string_to_action(wrong)
    man = PLAIN.state_from_string("W:W22:BK9,11,18")
    assert texts(man) == {"22x8x11x18"}
    assert man.string_to_action("22x15x8") == man.legal_actions()[0]


def test_numbered_cells_are_read() -> None:
    for variant, black, white in (
        ("brazilian", "1-12", "21-32"),
        ("international", "1-20", "31-50"),
        ("canadian", "1-30", "43-72"),
    ):
        game = athenan.make_game("draughts", variant=variant)
        assert str(game.state_from_string(f"W:W{white}:B{black}")) == str(game.initial_state())
    plain = GAME.state_from_string("B:W32:BK1,2,3,K4")
    assert "8 . B . b . b . B\n" in str(plain)
    for same in ("B:BK1,2-3,K4:W32.", "B:W32:BK1,2,3,K4:H0:F1", '[FEN "B:W32:BK1,2,3,K4"]'):
        assert board_lines(GAME.state_from_string(same)) == board_lines(plain)
    counted = GAME.state_from_string("B:W32,31:BK1,2,3,K4:H7:F20")
    assert "ply 39, b to move, king plies: 7\n" in str(counted)
    assert GAME.state_from_string(str(counted)).identical(counted)
