"""Lines of Action: the events that random games hardly reach."""

import itertools
import random
from collections import Counter
from typing import Any

import pytest
from playing import play, texts

import athenan

OLYMPIAD = athenan.make_game("lines_of_action")
WITHOUT = athenan.make_game("lines_of_action", draw_rules="none")
OPENSPIEL = athenan.make_game("lines_of_action", draw_rules="openspiel")


# Each man in a corner stands on lines of two, three and four men, and on each an enemy is next to
# him. Both sides are in two groups, so the game is open.
STUCK = """\
  a b c d e f g h
8 . . . . . . o x
7 . . . . . . o o
6 . . . . . . o o
5 . . . . . . . .
4 . . . . . . . .
3 o o . . . . . .
2 o o . . . . . .
1 x o . . . . . .
ply 40, x to move"""


def test_who_has_no_action_passes() -> None:
    for game in (OLYMPIAD, WITHOUT):
        state = game.state_from_string(STUCK)
        assert texts(state) == {"pass"}
        after = play(state, "pass")
        assert after.to_move == 1
        assert not after.is_terminal
        assert "pass" not in texts(after)
        assert (after.planes()[:, :, :2] == state.planes()[:, :, :2]).all()


def test_in_openspiel_who_has_no_action_loses() -> None:
    state = OPENSPIEL.state_from_string(STUCK)
    assert state.is_terminal
    assert state.outcomes == (-1, 1)


# d4 goes two cells along its diagonal and takes f2, which leaves white one man, that is one group;
# black's own men f2 and f6 do not touch.
ONE = """\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . . . x . .
5 . . . . . . . .
4 . . . x . . . .
3 . . . . . . . .
2 . . . . . o . .
1 . o . . . . . .
ply 60, x to move"""


# The same, but black's other man is next to f2.
BOTH = """\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . . . . . .
5 . . . . . . . .
4 . . . x . . . .
3 . . . . . . x .
2 . . . . . o . .
1 . o . . . . . .
ply 60, x to move"""


def test_a_capture_connects_the_enemy() -> None:
    for game in (OLYMPIAD, WITHOUT, OPENSPIEL):
        assert play(game.state_from_string(ONE), "d4f2").outcomes == (-1, 1)


def test_one_action_connects_both_sides() -> None:
    state = play(OLYMPIAD.state_from_string(BOTH), "d4f2")
    assert state.is_terminal
    assert state.outcomes == (0, 0)
    assert play(WITHOUT.state_from_string(BOTH), "d4f2").outcomes == (0, 0)
    assert play(OPENSPIEL.state_from_string(BOTH), "d4f2").outcomes == (1, -1)


def test_distance_is_the_number_of_men_on_the_line() -> None:
    state = OLYMPIAD.state_from_string("""\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 x . . . . . . .
5 . . . . . . . o
4 x . x . o . . .
3 . . . . . . . .
2 . . . . . . . .
1 o . . . . . . .
ply 10, x to move""")
    # Row 4 has three men: a4 lands on d4 over the own man on c4; c4 must not jump over e4.
    # Column a has three men: a4 lands on the enemy on a1, or on a7 over the own man on a6.
    assert {text for text in texts(state) if text.startswith("a4")} == {
        "a4d4",
        "a4a1",
        "a4a7",
        "a4b5",
        "a4b3",
    }
    assert "c4f4" not in texts(state)


REPEATED = ("b1b3", "a2c2", "b3b1", "c2a2")
START = """\
  a b c d e f g h
8 . x x x x x x .
7 o . . . . . . o
6 o . . . . . . o
5 o . . . . . . o
4 o . . . . . . o
3 o . . . . . . o
2 o . . . . . . o
1 . x x x x x x .
ply 0, x to move"""


def test_third_occurrence_with_the_same_mover_is_a_draw() -> None:
    start = OLYMPIAD.state_from_string(START)
    assert start.key == OLYMPIAD.initial_state().key
    once = play(start, *REPEATED)
    assert (once.planes() == start.planes()).all()
    assert not once.is_terminal
    assert once.key != start.key
    for i in range(4):
        assert not play(once, *REPEATED[:i]).is_terminal
    twice = play(once, *REPEATED)
    assert twice.is_terminal
    assert twice.outcomes == (0, 0)
    assert not play(WITHOUT.state_from_string(START), *REPEATED, *REPEATED).is_terminal
    assert play(OPENSPIEL.state_from_string(START), *REPEATED).outcomes == (0, 0)


# a5 and h6 wander while a1 and h3 stay.
FEW = """\
  a b c d e f g h
8 . . . . . . . .
7 . . . . . . . .
6 . . . . . . . o
5 x . . . . . . .
4 . . . . . . . .
3 . . . . . . . o
2 . . . . . . . .
1 x . . . . . . .
ply 0, x to move"""


def wandering(state: Any) -> list[Any]:
    """The states after the actions that capture nothing and leave a1 and h3 alone."""
    children = (state.play(action) for action in state.legal_actions())
    return [
        child
        for child in children
        if not child.is_terminal
        and (planes := child.planes())[0, 0, 0]
        and planes[2, 7, 1]
        and planes[:, :, :2].sum() == 4
    ]


def way_back(state: Any, goal: bytes, seen: Counter[bytes]) -> list[Any]:
    """The shortest, over positions seen once at most."""
    ways, found = [[state]], {state.planes().tobytes()}
    for way in ways:
        for child in wandering(way[-1]):
            if (position := child.planes().tobytes()) == goal:
                return [*way[1:], child]
            if position not in found and seen[position] < 2:
                found.add(position)
                ways.append([*way, child])
    raise AssertionError("no way back")


def test_positions_are_remembered_for_as_long_as_they_matter() -> None:
    """The third occurrence counts also when the others are more than 512 plies ago."""
    game = athenan.make_game("lines_of_action", max_plies=1024)
    free = athenan.make_game("lines_of_action", draw_rules="none", max_plies=1024)
    start = free.state_from_string(FEW)
    states = [start]
    for text in ("a5b5", "h6g6", "b5a5", "g6h6"):
        states.append(play(states[-1], text))
    home = start.planes().tobytes()
    seen = Counter(state.planes().tobytes() for state in states)
    assert seen[home] == 2
    rng = random.Random(2)
    while len(states) < 540:
        states.append(min(wandering(states[-1]), key=lambda child: (
            seen[child.planes().tobytes()], rng.random())))  # fmt: skip
        seen[states[-1].planes().tobytes()] += 1
    assert max(seen.values()) == 2
    states += way_back(states[-1], home, seen)
    counted = game.state_from_string(FEW)
    for before, after in itertools.pairwise(states):
        assert not counted.is_terminal
        action = next(a for a in before.legal_actions() if before.play(a) == after)
        counted = counted.play(action)
    assert counted.ply > 540
    assert counted.is_terminal
    assert counted.outcomes == (0, 0)


def test_no_longer_games_than_are_remembered() -> None:
    for draw_rules in ("olympiad", "openspiel"):
        with pytest.raises(ValueError, match="at most 1024"):
            athenan.make_game("lines_of_action", draw_rules=draw_rules, max_plies=1025)
    assert athenan.make_game("lines_of_action", draw_rules="none", max_plies=9999).max_plies == 9999


def test_a_capture_forgets_the_repetitions() -> None:
    state = play(OLYMPIAD.initial_state(), *REPEATED, "b1b3", "a2c2")
    assert not state.is_terminal
    key_with_history = state.key
    assert OLYMPIAD.state_from_string(str(state)).key != key_with_history
    capture = next(
        action
        for action in state.legal_actions()
        if state.play(action).planes()[:, :, 1].sum() < 12
    )
    assert OLYMPIAD.state_from_string(str(state.play(capture))).key == state.play(capture).key


@pytest.mark.parametrize("draw_rules", ["olympiad", "none", "openspiel"])
def test_the_longest_game_is_a_draw(draw_rules: str) -> None:
    game = athenan.make_game("lines_of_action", draw_rules=draw_rules, max_plies=3)
    state = play(game.initial_state(), *REPEATED[:3])
    assert state.is_terminal
    assert state.outcomes == (0, 0)
