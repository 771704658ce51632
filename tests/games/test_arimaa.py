"""Arimaa: vectors of an independent program (steps, whole turns, ends), and the rare events."""

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from playing import play, texts

import athenan

VECTORS = json.loads(Path(__file__).with_name("vectors").joinpath("arimaa/arimaa.json").read_text())


def make(**options: Any) -> Any:
    return athenan.make_game("arimaa", **options)


def cells(state: Any) -> str:
    """All cells in one line from a8 to h1, a blank for an empty one."""
    lines = str(state).replace("[", " ").replace("]", " ").splitlines()[1:9]
    return "".join("".join(line.split()[1:]) for line in lines).replace(".", " ")


def board(position: str, last_line: str) -> str:
    rows = [position[i : i + 8].replace(" ", ".") for i in range(0, 64, 8)]
    lines = [f"{8 - i} {' '.join(row)}" for i, row in enumerate(rows)]
    return "\n".join(["  a b c d e f g h", *lines, last_line])


def set_up(state: Any, *sides: str) -> Any:
    """Places the pieces in our order, the strongest first; rabbits fill the rest."""
    for side in sides:
        officers = [text for text in side.split() if text[0] not in "Rr"]
        state = play(state, *sorted(officers, key=lambda t: ("EMHDC".index(t[0].upper()), t)))
    return state


def test_playouts() -> None:
    """A step that restores the board of the turn's start counts in the vectors, while it ends no
    turn of ours; a state made anew from its text has forgotten that board and counts it too."""
    game = athenan.make_game(**VECTORS["make"])
    for playout in VECTORS["playouts"]:
        state = set_up(game.initial_state(), playout["gold"], playout["silver"])
        for turn, counts in zip(playout["turns"], playout["nsteps"], strict=True):
            assert not state.is_terminal
            start = cells(state)
            for step, count in zip(turn.split(), counts, strict=True):
                anew = game.state_from_string(str(state)) if "left: 1" in str(state) else state
                assert len(anew.legal_actions()) == count, str(state)
                forbidden = set(anew.legal_actions()) - set(state.legal_actions())
                assert all(cells(anew.play(action)) == start for action in forbidden)
                state = play(state, step)
        assert cells(state) == playout["final"][1:-1]
        if playout["end"] is not None:
            assert state.outcomes == (playout["end"], -playout["end"])
        else:
            # Cut after 60 turns, where four times the last one ends the game.
            assert len(playout["turns"]) == 60
            assert not state.is_terminal or state.outcomes == (-1, 1)


def whole_turns(state: Any) -> set[str]:
    """The boards that can stand at the end of the turn."""
    mover, results, known, waiting = state.to_move, set(), {state.key}, [state]
    while waiting:
        current = waiting.pop()
        for action in current.legal_actions():
            child = current.play(action)
            if "left: 4" in str(child) and child.to_move != mover:
                results.add(cells(child))
            elif child.key not in known:
                known.add(child.key)
                waiting.append(child)
    return results


def check_turns(entries: list[dict[str, Any]]) -> None:
    game = athenan.make_game(**VECTORS["make"])
    for entry in entries:
        mover = "E" if entry["side"] == "g" else "e"
        state = game.state_from_string(board(entry["position"][1:-1], f"ply 40, {mover} to move"))
        assert len(whole_turns(state)) == entry["unique_results"], str(state)


def test_whole_turns() -> None:
    entries = sorted(VECTORS["turn_level"], key=lambda entry: entry["unique_results"])
    check_turns(entries[:80:10])


@pytest.mark.long
def test_all_whole_turns() -> None:
    check_turns(VECTORS["turn_level"])


@given(seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_a_state_equals_its_recomputation_between_turns(seed: int) -> None:
    """Within a turn a text does not tell the turn's first board, so only there they differ."""
    random = np.random.default_rng(seed)
    game = make(draw_rules="none", max_plies=300)
    state = game.initial_state()
    while not state.is_terminal:
        if "setting up" in str(state) or "left: 4" in str(state):
            assert game.state_from_string(str(state)).identical(state)
            assert game.state_from_planes(state.planes(), state.ply).identical(state)
        state = state.play(int(random.choice(state.legal_actions())))


# ---- What random playouts hardly reach ----------------------------------------------------


def test_setup() -> None:
    game = make()
    state = game.initial_state()
    assert texts(state) == {f"E{column}{row}" for column in "abcdefgh" for row in "12"}
    state = play(state, "Ed2", "Me2", "Hb2", "Hg2", "Dc2", "Df2", "Ca2")
    assert state.to_move == 0
    state = play(state, "Ch2")
    assert cells(state)[48:] == "CHDEMDHC" + "R" * 8, "rabbits fill the rest"
    assert state.to_move == 1
    assert texts(state) == {f"e{column}{row}" for column in "abcdefgh" for row in "78"}
    state = play(state, *["ed7", "me7", "hb7", "hg7", "dc7", "df7", "ca7", "ch7"])
    assert (state.to_move, state.ply) == (0, 16)
    assert "steps left: 4" in str(state)
    one, other = ["Hb2", "Hg2"], ["Hg2", "Hb2"]
    start = play(game.initial_state(), "Ed2", "Me2")
    assert play(start, *one).key == play(start, *other).key


PUSH = """\
  a b c d e f g h
8 r . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 . . . . . . . .
4 . . c E r . . .
3 . . . . . . . .
2 . . . . . . . .
1 R . . . . . . .
ply 40, E to move, steps left: {}"""


def test_push() -> None:
    state = make().state_from_string(PUSH.format(4))
    assert {"re4n", "re4e", "re4s", "cc4n", "cc4w", "cc4s"} <= texts(state)
    pushed = play(state, "re4n")
    assert texts(pushed) == {"Ed4e"}, "the push must be completed, and no pass before"
    done = play(pushed, "Ed4e")
    assert done.to_move == 0
    assert "pass" in texts(done)
    assert "cc4e" not in texts(done), "the step that completes a push does not pull"
    last = make().state_from_string(PUSH.format(1))
    assert not {text for text in texts(last) if text[0] in "rc"}, "a push takes two steps"


def test_pull() -> None:
    state = play(make().state_from_string(PUSH.format(4)), "Ed4s")
    assert {"re4w", "cc4e", "pass"} <= texts(state)
    pulled = play(state, "re4w")
    assert cells(pulled)[32:48] == "  cr       E    "
    assert "pass" in texts(pulled), "nothing is left to complete"
    assert "cc4e" not in texts(pulled), "one piece only"
    later = play(state, "Ed3s")
    assert "re4w" not in texts(later), "a pull follows at once"


def test_frozen_pieces() -> None:
    frozen = """\
  a b c d e f g h
8 r . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 . . . d . . . .
4 . . {} C r . . .
3 . . . . . . . .
2 . . . . . . . .
1 R . . . . . . .
ply 40, E to move"""
    state = make().state_from_string(frozen.format("."))
    assert texts(state) == {"Ra1n", "Ra1e"}, "nor can the frozen cat push the rabbit"
    state = make().state_from_string(frozen.format("R"))
    assert {"Cd4s", "re4n", "Rc4w"} <= texts(state), "a friend frees it"
    assert "Rc4s" not in texts(state), "rabbits do not step back"


TRAPS = """\
  a b c d e f g h
8 r . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 . . r . . . . .
4 . . H . . r E .
3 . . . . . . . .
2 . . . . . D . .
1 R . . . . . . .
ply 40, E to move"""


def test_traps() -> None:
    state = make().state_from_string(TRAPS)
    gone = play(state, "Hc4s")
    assert "H" not in cells(gone), "alone on a trap"
    assert "rc5s" in texts(gone), "yet it pulls"
    assert cells(play(gone, "rc5s"))[32:40] == "  r  rE "
    pushed = play(state, "rf4s")
    assert cells(pushed).count("r") == 2, "pushed onto a trap"
    assert texts(pushed) == {"Eg4w"}
    safe = play(pushed, "Eg4w", "Ef4s")
    assert "E" in cells(safe), "the dog stands beside"
    assert "E" not in cells(play(safe, "Df2e")), "and leaves"


REPETITION = """\
  a b c d e f g h
8 r . c D . . . .
7 R R D . . . . .
6 . . . . . . . .
5 . . . . . . . .
4 . . . . . . . .
3 . . . . . . . .
2 . . . . . . . .
1 . . . . E . . .
ply 40, E to move"""
TURNS = ["Ee1n", "pass", "ra8e", "pass", "Ee2s", "pass", "rb8w", "pass"]


def test_a_third_repetition_is_illegal() -> None:
    state = play(make().state_from_string(REPETITION), *TURNS, *TURNS[:-1])
    assert cells(state) == cells(make().state_from_string(REPETITION))
    assert "pass" not in texts(state), "the first position, gold to move, would stand again"
    free = play(make(draw_rules="none").state_from_string(REPETITION), *TURNS, *TURNS[:-1])
    assert "pass" in texts(free)


def test_who_has_only_third_repetitions_loses() -> None:
    """Silver's rabbit can only go to and fro; no number of steps ends the turn lawfully."""
    state = play(make().state_from_string(REPETITION), *TURNS, *TURNS[:-1])
    state = play(state, "ra8e")
    assert "pass" not in texts(state), "the board of the turn's start"
    state = play(state, "rb8w")
    assert state.is_terminal
    assert state.outcomes == (1, -1)


def test_third_repetitions_equal_their_recount() -> None:
    """Random games of a few pieces: what the rule forbids is just what makes a third time."""
    game, plain = make(), make(draw_rules="none")
    chance = random.Random(0)
    forbidden = lost = 0
    for _ in range(60):
        state, free = (g.state_from_string(REPETITION) for g in (game, plain))
        seen = [(cells(state), 0)]
        while not state.is_terminal and state.ply < 400:
            legal, mover = [], state.to_move
            for action in free.legal_actions():
                after = free.play(action)
                if after.to_move == mover or seen.count((cells(after), after.to_move)) < 2:
                    legal.append(action)
                else:
                    forbidden += 1
            assert state.legal_actions() == legal, str(state)
            # Short turns, and back rather than on, so that positions recur.
            boards = {board for board, _ in seen}
            back = [a for a in legal if state.action_to_string(a) == "pass"]
            back = back or [a for a in legal if cells(state.play(a)) in boards]
            action = chance.choice(back if back and chance.random() < 0.8 else legal)
            state, free = state.play(action), free.play(action)
            if state.to_move != mover:
                seen.append((cells(state), state.to_move))
            if free.is_terminal:
                assert state.outcomes == free.outcomes
        lost += state.is_terminal and not free.is_terminal
    assert forbidden > 0
    assert lost > 0, "a turn that only third repetitions could end"


def test_a_turn_changes_the_board() -> None:
    state = play(make().state_from_string(REPETITION), "Ee1n", "Ee2s")
    assert "pass" not in texts(state)
    state = play(state, "Ee1w")
    assert "Ed1e" not in texts(state)
    assert "pass" in texts(state)


def test_immobilisation() -> None:
    state = make().state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . r . . . .
5 . . . . . . . .
4 . . . E . . . .
3 . . . . . . . .
2 . . . . . . . .
1 R . . . . . . .
ply 40, E to move""")
    state = play(state, "Ed4n")
    assert not state.is_terminal, "only after the turn"
    state = play(state, "pass")
    assert state.is_terminal
    assert state.outcomes == (1, -1)


GOALS = """\
  a b c d e f g h
8 . . . . . . . c
7 R . . . . . . .
6 . . . . . . . .
5 . . . . . . . .
4 . . . . . . . .
3 . . . E . . . .
2 . . . r . . . .
1 . . . . . . . .
ply 40, E to move"""


def test_goals_count_at_the_end_of_a_turn() -> None:
    state = play(make().state_from_string(GOALS), "rd2s", "Ed3s")
    assert not state.is_terminal
    assert play(state, "pass").outcomes == (-1, 1), "gold pushed silver's rabbit home"
    taken_off = play(state, "Ed2e", "rd1n")
    assert not taken_off.is_terminal
    assert taken_off.to_move == 1
    both = play(make().state_from_string(GOALS), "Ra7n", "rd2s", "Ed3s", "pass")
    assert both.outcomes == (1, -1), "who has just moved comes first"


LAST_RABBITS = """\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 . . . . . r . .
4 . . . . . E . .
3 . . R . . . . .
2 . . D . . . . .
1 . . . . . . . .
ply 40, E to move"""


def test_who_loses_his_last_rabbit_loses() -> None:
    state = make().state_from_string(LAST_RABBITS)
    assert play(state, "rf5n", "Ef4n", "pass").outcomes == (1, -1)
    assert play(state, "Dc2e", "pass").outcomes == (-1, 1)
    both = play(state, "Dc2e", "rf5n", "Ef4n", "pass")
    assert "r" not in cells(both).lower()
    assert both.outcomes == (1, -1), "the player who did not move is looked at first"


IMMOBILE = """\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . r . . . .
5 . . . . . . . .
4 . . . E . . . .
3 . . R . . . . .
2 . . D . . . . .
1 . . . . . . . .
ply 40, E to move"""


def test_rabbits_come_before_immobilisation() -> None:
    """Silver's only piece is frozen, yet gold has just given up his own last rabbit."""
    state = make().state_from_string(IMMOBILE)
    assert play(state, "Ed4n", "pass").outcomes == (1, -1), "silver cannot move"
    both = play(state, "Ed4n", "Dc2e", "pass")
    assert "R" not in cells(both)
    assert both.outcomes == (-1, 1), "gold without rabbits is looked at before"


def test_a_goal_comes_before_immobilisation() -> None:
    """Silver is left with one piece, a rabbit that gold pushed home and that is frozen there."""
    state = make().state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 . . . . . . . .
4 . . . . . . . .
3 . . . E . . . .
2 . . . r . . . .
1 R . . . . . . .
ply 40, E to move""")
    home = play(state, "rd2s", "Ed3s")
    assert not home.is_terminal
    end = play(home, "pass")
    assert end.outcomes == (-1, 1)
    away = play(state, "rd2e", "Ed3s", "pass")
    assert away.outcomes == (1, -1), "elsewhere the same rabbit cannot move"


def test_a_goal_comes_before_the_last_rabbit() -> None:
    pushed = play(make().state_from_string(GOALS), "rd2s", "Ed3s", "Ra7n", "pass")
    assert pushed.outcomes == (1, -1), "gold's goal, then silver's"
    last = make().state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 R . . . . . . .
6 . . . . . . . .
5 . . . . . r . .
4 . . . . . E . .
3 . . . . . . . .
2 . . . . . . . .
1 . . . . . . . .
ply 40, E to move""")
    assert play(last, "Ra7n", "rf5n", "Ef4n", "pass").outcomes == (1, -1)


def test_steps_in_any_order_are_one_state() -> None:
    state = make().state_from_string(TRAPS)
    assert play(state, "Df2e", "Ra1n").key == play(state, "Ra1n", "Df2e").key
    assert play(state, "Eg4n", "Ra1n").key != play(state, "Ra1n", "Eg4n").key, "a pull is open"


FULL = ["RRRRRRRR", "EMHHDDCC"]
EMPTY = ["........"] * 8


def drawn(rows: list[str], last_line: str) -> str:
    return board("".join(rows).replace(".", " "), last_line)


@pytest.mark.parametrize(
    ("rows", "last_line"),
    [
        # Pieces in the wrong number, of the wrong kind, on the wrong rows.
        ([*EMPTY[:5], "EEEEEEEE", "........", "EEEEEEEE"], "ply 3, E to move, setting up"),
        ([*EMPTY[:6], *FULL], "ply 8, E to move, setting up"),
        ([*EMPTY[:6], "EMHHDDCC", "........"], "ply 8, E to move, setting up"),
        ([*EMPTY[:7], "M......."], "ply 1, E to move, setting up"),
        ([*EMPTY[:5], "E.......", *EMPTY[:2]], "ply 1, E to move, setting up"),
        (["........", ".r......", *EMPTY[:6]], "ply 0, E to move, setting up"),
        (["EE......", *EMPTY[:6], "R......r"], "ply 20, E to move"),
        (["........", *EMPTY[:4], "..D.....", "........", "R......."], "ply 20, E to move"),
        # Steps that are none of 1 to 4, or no number.
        *(
            (["r.......", *EMPTY[:6], "RE......"], f"ply 20, E to move, steps left: {steps}")
            for steps in ("9", "x", "", "0", "260")
        ),
        # Nothing can have left the cell: it is full, its partners are missing or not beside it,
        # of both sides, too strong to be pulled or too weak to push; at the start of a turn.
        *(
            (
                [
                    "r.......",
                    "........",
                    "........",
                    "...ch...",
                    "..rD....",
                    "...E....",
                    "........",
                    "R.......",
                ],
                f"ply 20, E to move, steps left: {note}",
            )
            for note in (
                "3, to d4 from d5",
                "3, to d6 from d7",
                "3, to zz from qq",
                "3, to d6",
                "3, to d6 from",
                "3, to e6 from d5",
                "3, to c5 from d5 c4 d4",
                "3, to e4 from e5 d4",
                "3, to d2 from d4",
                "4, to d2 from d3",
                "3, to d2 from d3 junk",
            )
        ),
    ],
)
def test_texts_are_checked(rows: list[str], last_line: str) -> None:
    with pytest.raises(ValueError, match="This is not a state of the game: "):
        make().state_from_string(drawn(rows, last_line))


def test_planes_are_checked() -> None:
    planes = make().initial_state().planes()
    planes[5, :, 0] = 1  # eight elephants
    with pytest.raises(ValueError, match="more pieces of a kind"):
        make().state_from_planes(planes)
    with pytest.raises(ValueError, match="at most 1000 plies"):
        make().state_from_planes(make().initial_state().planes(), 65536)


def test_the_longest_game() -> None:
    state = play(
        make(max_plies=17).initial_state(),
        *["Ed2", "Me2", "Hb2", "Hg2", "Dc2", "Df2", "Ca2", "Ch2"],
    )
    state = play(state, *["ed7", "me7", "hb7", "hg7", "dc7", "df7", "ca7", "ch7", "Ed2n"])
    assert state.outcomes == (0, 0)
