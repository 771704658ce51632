"""Xiangqi: what random playouts hardly reach."""

import random
import re
from typing import Any

import pytest
from playing import boards, play

import athenan


def make(**options: Any) -> Any:
    return athenan.make_game("xiangqi", **options)


def targets(state: Any, cell: str) -> set[str]:
    """Where the piece on the cell can go."""
    texts = [state.action_to_string(action) for action in state.legal_actions()]
    pairs = [re.findall(r"[a-i]\d+", text) for text in texts]
    return {to for start, to in pairs if start == cell}


def test_generals_may_not_face_each_other() -> None:
    state = make().state_from_string("""\
   a b c d e f g h i
10 . . . . k . . . .
 9 . . . . . . . . .
 8 . . . . . . . . .
 7 . . . . . . . . .
 6 . . . . . . . . .
 5 . . . . N . . . .
 4 . . . . . . . . .
 3 . . . . . . . . .
 2 . . . . . . . . .
 1 . . . K . . . . .
ply 0, K to move""")
    assert targets(state, "d1") == {"e1", "d2"}, "the horse stands between"
    away = play(state, "e5c6")
    assert targets(away, "e10") == {"e9", "f10"}, "d10 is in the red general's sight"
    bound = play(state, "d1e1", "e10e9")
    assert targets(bound, "e5") == set(), "leaving the column would open it"


def test_horse_leg_and_elephant_eye() -> None:
    state = make().state_from_string("""\
   a b c d e f g h i
10 . . . k . . . . .
 9 . . . . . . . . .
 8 . . . . . . . . .
 7 . . . . . . . . .
 6 . . . . p . . . .
 5 . . . . N p . . .
 4 . . . . . . . . .
 3 . . . . B . . . .
 2 . . . p . . . . .
 1 . . . . . K . . .
ply 0, K to move""")
    assert targets(state, "e5") == {"c4", "c6", "d3", "f3"}, "legs blocked at e6 and f5"
    assert targets(state, "e3") == {"c5", "g5", "g1"}, "eye blocked at d2; the river is not crossed"


def test_a_piece_on_the_leg_of_a_horse_is_bound() -> None:
    state = make().state_from_string("""\
   a b c d e f g h i
10 . . . . k . . . .
 9 . . . r . . . . .
 8 . . . N . . . . .
 7 . . . . . . . . .
 6 . . . . . . . . .
 5 . . . . . . . . .
 4 . . . . . . . . .
 3 . . . . . . . . .
 2 . . . . . . . . .
 1 . . . . . K . . .
ply 1, k to move""")
    assert targets(state, "d9") == {"d8"}, "it may take the horse but not open its way"


def test_cannon_jumps_exactly_one_piece_to_capture() -> None:
    state = make().state_from_string("""\
   a b c d e f g h i
10 . . . k . . . . .
 9 . . . . . . . . .
 8 . r . . . . . . .
 7 . n . . . . . . .
 6 . c . . . . . . .
 5 . . . . . . . . .
 4 . . . . . . . . .
 3 . C . N . p . p .
 2 . . . . . . . . .
 1 . . . . . K . . .
ply 0, K to move""")
    assert targets(state, "b3") == {"a3", "c3", "f3", "b1", "b2", "b4", "b5", "b7"}


def test_soldiers_step_sideways_beyond_the_river_only() -> None:
    river, last_rows = boards("""
        ....k....   ....k....
        .........   P........
        .........   .........
        .........   .........
        P........   .........
        ........P   .........
        .........   .........
        .........   .........
        .........   .........
        ...K.....   ...K.....""")
    state = make().state_from_string(river + " w")
    assert targets(state, "a6") == {"a7", "b6"}
    assert targets(state, "i5") == {"i6"}
    assert targets(make().state_from_string(last_rows + " w"), "a9") == {"a10", "b9"}


def test_general_and_advisors_stay_in_the_palace() -> None:
    [board] = boards("""
        ....k....
        .........
        .........
        .........
        .........
        .........
        .........
        ...K.....
        ....A....
        .........""")
    state = make().state_from_string(board + " w")
    assert targets(state, "d3") == {"d2"}, "c3 is outside, e3 before the other general"
    assert targets(state, "e2") == {"d1", "f1", "f3"}


def test_who_cannot_move_loses_in_check_or_not() -> None:
    mating, stalemating = boards("""
        ...k.....   ...k.....
        ........R   .........
        .........   .........
        .........   .........
        .........   .........
        .........   .........
        .........   .........
        .........   .........
        R........   ....R....
        ....K....   .....K...""")
    mate = play(make().state_from_string(mating + " w"), "a2a10")
    assert mate.outcomes == (1, -1)
    stalemate = play(make().state_from_string(stalemating + " w"), "e2e9")
    assert "in check" not in str(stalemate)
    assert stalemate.outcomes == (1, -1)


PERPETUAL = """\
   a b c d e f g h i
10 . . . k . . . . .
 9 . . . . . . . . .
 8 . . . . . . . . .
 7 . . . . . . . . .
 6 . . . . R . . . .
 5 . . . . . . . . .
 4 . . . . . . . . .
 3 . . . . . . . . .
 2 . . . . . . . . .
 1 . . . . . K . . .
ply 10, K to move"""


def test_perpetual_check_loses() -> None:
    cycle = ["e6d6", "d10e10", "d6e6", "e10d10"]
    state = play(make().state_from_string(PERPETUAL), *cycle, *cycle[:3])
    assert not state.is_terminal
    state = play(state, cycle[3])
    assert state.is_terminal
    assert state.outcomes == (-1, 1), "red gave check with every action"
    for draw_rules in ("openspiel", "none"):
        free = make(draw_rules=draw_rules).state_from_string(PERPETUAL)
        assert not play(free, *cycle * 4).is_terminal


def test_perpetual_check_by_black_loses() -> None:
    [board] = boards("""
        .....k...
        .........
        .........
        .........
        ....r....
        .........
        .........
        .........
        .........
        ...K.....""")
    state = make().state_from_string(board + " b")
    assert play(state, *["e6d6", "d1e1", "d6e6", "e1d1"] * 2).outcomes == (1, -1)


# Each of red's actions gives check; the first position stands again at the end, no other twice.
LONG_CYCLE = """
    b8c6 d8d9 c6e7 d9d8 e7f9 d8d9 f10d10 d9e9 d10e10 e9d9 e10e9 d9d8 e9e1 d8d9 f9e7 d9e9 e7c6
    e9d9 e1d1 d9e9 d1d9 e9e8 d9d8 e8e9 d8e8 e9d9 e8e9 d9d10 e9e10 d10d9 c6b8 d9d8 e10d10 d8e8
    d10d8 e8e9 d8d9 e9e10 d9d10 e10e9 b8d7 e9e8 d7f6 e8f8 d10d8 f8f9 d8d9 f9f10 d9f9 f10e10
    f9e9 e10d10 e9d9 d10e10 d9d10 e10e9 d10e10 e9d9 e10e9 d9d8 e9e8 d8d9 e8d8 d9e9 d8e8 e9f9
    e8f8 f9e9 f6d7 e9d9 f8d8 d9e9 d8i8 e9d9 d7f8 d9e9 i8i9 e9e8 i9e9 e8d8 e9e8 d8d9 e8a8 d9e9
    f8d7 e9e10 d7f8 e10f10 a8a10 f10f9 a10a9 f9f10 a9f9 f10e10 f9c9 e10f10 c9c10 f10f9 c10f10
    f9e9 f8d7 e9e8 d7f6 e8e9 f6g8 e9e8 f10f8 e8e9 f8f3 e9e8 g8f6 e8e9 f6d7 e9d9 f3f9 d9d10
    f9f10 d10d9 d7b8 d9d8"""


def test_perpetual_check_as_long_as_the_quiet_counter_allows() -> None:
    """The first position must still be remembered at the 240th ply, where the counter draws."""
    [board] = boards("""
        .....R...
        .........
        .N.k.....
        .........
        .........
        .........
        .........
        .........
        .........
        .....K...""")
    *actions, last = LONG_CYCLE.split()
    state = make(quiet_plies=240).state_from_string(board + " w")
    state = play(state, LONG_CYCLE, *actions)
    assert not state.is_terminal
    assert play(state, last).outcomes == (-1, 1)


def test_plain_repetition_is_a_draw() -> None:
    cycle = ["a1a2", "a10a9", "a2a1", "a9a10"]
    state = play(make().initial_state(), *cycle, *cycle[:3])
    assert not state.is_terminal
    state = play(state, cycle[3])
    assert state.is_terminal
    assert state.outcomes == (0, 0)


def test_a_check_now_and_then_is_no_perpetual() -> None:
    state = make().state_from_string(PERPETUAL)
    cycle = ["e6d6", "d10e10", "d6d5", "e10e9", "d5e5", "e9d9", "e5e6", "d9d10"]
    state = play(state, *cycle * 2)
    assert state.is_terminal
    assert state.outcomes == (0, 0)


def test_draws_equal_their_recount() -> None:
    """Random endings: repetitions, who gave check, and plies without a capture, counted anew."""
    game, plain = make(quiet_plies=60), make(draw_rules="none", max_plies=4000)
    chance = random.Random(0)
    found = []
    for fen in (
        "3k5/9/9/9/4R4/9/9/9/9/5K3 w",
        "3k5/9/9/9/9/9/4r4/9/9/5K3 w",
        "4k4/4a4/9/9/4P4/9/9/9/4A4/3K1A3 b",
        "3k5/9/9/9/9/9/9/9/9/4KC3 w",
    ):
        for _ in range(40):
            state, free = game.state_from_string(fen), plain.state_from_string(fen)
            seen, checks, quiet = [state.planes().tobytes()], ["in check" in str(state)], 0
            while not state.is_terminal:
                pieces = state.planes()[..., :14].sum()
                legal = state.legal_actions()
                checking = [a for a in legal if "in check" in str(state.play(a))]
                action = chance.choice(checking if chance.random() < 0.9 and checking else legal)
                state, free = state.play(action), free.play(action)
                quiet = 0 if state.planes()[..., :14].sum() < pieces else quiet + 1
                seen.append(state.planes().tobytes())
                checks.append("in check" in str(state))
                if free.is_terminal:
                    assert state.outcomes == free.outcomes
                elif seen.count(seen[-1]) == 3:
                    since = checks[seen.index(seen[-1]) + 1 :][::-1]
                    last, first = all(since[::2]), all(since[1::2])  # the last mover's checks
                    sign = (first - last) * (1 if state.to_move == 1 else -1)
                    assert state.outcomes == (sign, -sign), str(state)
                    found.append("perpetual" if sign else "repetition")
                else:
                    assert state.is_terminal == (quiet >= 60), str(state)
                    assert state.outcomes == ((0, 0) if quiet >= 60 else None)
    assert {"perpetual", "repetition"} <= set(found), found


CHASE = """\
   a b c d e f g h i
10 . . . . k . . . .
 9 . . . . . . . . .
 8 . . . . . . . . .
 7 . . . . . . . . .
 6 {} n . . . . . . .
 5 . . . . P . . . .
 4 . . . . . . . . .
 3 . . . R . . . . .
 2 . . . . . . . . .
 1 . . . . K . . . .
ply 0, K to move"""


def test_perpetual_chase_is_an_option() -> None:
    """The chariot attacks the horse anew with every action."""
    twice = ["d3b3", "b6d7", "b3d3", "d7b6"] * 2
    unprotected, protected = CHASE.format("."), CHASE.format("r")
    assert play(make(chase=True).state_from_string(unprotected), *twice).outcomes == (-1, 1)
    assert play(make(chase=False).state_from_string(unprotected), *twice).outcomes == (0, 0)
    assert play(make(chase=True).state_from_string(protected), *twice).outcomes == (0, 0)


def test_order_of_the_history_is_part_of_the_key() -> None:
    one = play(make().initial_state(), "a1a2", "a10a9", "i1i2", "i10i9")
    other = play(make().initial_state(), "i1i2", "i10i9", "a1a2", "a10a9")
    assert one.key != other.key
    captured = ["b3b10", "a10b10"]
    free = make(draw_rules="none").initial_state()
    assert play(free, *captured, "a1a2").key != play(free, *captured, "i1i2").key


def test_the_quiet_counter_and_the_longest_game() -> None:
    game = make(quiet_plies=10)
    [board] = boards("""
        ...k.....
        .........
        .........
        .........
        ....R....
        .........
        .........
        .........
        .........
        .....K...""")
    state = game.state_from_string(board + " w - - 8 30")
    assert state.ply == 58
    state = play(state, "e6e7")
    assert not state.is_terminal
    assert play(state, "d10d9").outcomes == (0, 0)
    short = play(make(max_plies=2).initial_state(), "a1a2", "a10a9")
    assert short.outcomes == (0, 0)


def test_fen() -> None:
    game = make()
    start = game.state_from_string(
        "rheakaehr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RHEAKAEHR w - - 0 1"
    )
    assert start == game.initial_state()
    black = game.state_from_string("4k4/9/9/9/9/9/9/9/9/3K5 b - - 0 3")
    assert (black.to_move, black.ply) == (1, 5)
    text = str(play(start, "h3e3", "h10g8"))
    fen = "rnbakab1r/9/1c4nc1/p1p1p1p1p/9/9/P1P1P1P1P/1C2C4/9/RNBAKABNR w - - 2 2"
    assert text.endswith("\nFEN " + fen)
    assert str(game.state_from_string(fen)) == text.replace("[n]", " n ")


START = "rnbakabnr/9/1c5c1/p1p1p1p1p/9/9/P1P1P1P1P/1C5C1/9/RNBAKABNR"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("4k4/9/9 w", "incomplete"),
        ("4k4/9/9/9/9/9/9/9/9/9 w", "one general"),
        ("4k4/9/9/9/9/9/9/9/9/3K1K3 w", "too many K"),
        ("4k5/9/9/9/9/9/9/9/9/3K5 w", "rows"),
        ("x/", "fields"),
        ("3k5/9/9/9/9/9/9/9/9/4K4 w KQ - 0 1", "- twice"),
        ("3k5/9/9/9/9/9/9/9/9/4K4", "fields"),
        ("3k5/9/9/9/9/9/9/9/3R5/4K4 w", "in check"),
        ("4k4/9/9/9/9/9/9/9/9/4K4 w", "face each other"),
        ("4k4/9/9/9/9/9/9/9/9/4K4 b", "face each other"),
        ("3k5/9/9/9/9/9/4K4/9/9/9 w", "K cannot stand on e4"),
        ("2k6/9/9/9/9/9/9/9/9/4K4 w", "k cannot stand on c10"),
        ("3k5/9/9/9/9/9/9/9/3A5/4K4 w", "A cannot stand on d2"),
        ("3k5/9/9/9/2B6/9/9/9/9/4K4 w", "B cannot stand on c6"),
        ("3k5/9/9/9/9/1B7/9/9/9/4K4 w", "B cannot stand on b5"),
        ("3k5/9/9/9/9/9/9/P8/9/4K4 w", "P cannot stand on a3"),
        ("3k5/9/9/9/9/9/1P7/9/9/4K4 w", "P cannot stand on b4"),
        (START + " w - - 0 252", "ply 502 of a game of at most 500 plies"),
        (START + " w - - 0 40000", "ply 79998"),
    ],
)
def test_texts_are_checked(wrong: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        make().state_from_string(wrong)
