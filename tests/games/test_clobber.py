"""Clobber: its end and its small boards."""

import json
from pathlib import Path
from typing import Any

import pytest
from brute_force import solve, winning_actions

import athenan

SOLVED = json.loads(Path(__file__).with_name("solved_small.json").read_text())["solved"]
BOARDS = [case for case in SOLVED if case["make"]["name"] == "clobber"]


@pytest.mark.parametrize("case", BOARDS, ids=lambda case: str(list(case["make"].values())[1:]))
def test_small_boards(case: dict[str, Any]) -> None:
    """By brute force; test_solved.py has the search."""
    state = athenan.make_game(**case["make"]).initial_state()
    assert solve(state) == case["value"]
    assert winning_actions(state) == set(case["winning"])


def test_who_cannot_move_loses_however_many_stones_he_has() -> None:
    game = athenan.make_game("clobber", rows=3, columns=4)
    state = game.state_from_string("""\
          a b c d
        3 o o . .
        2 o . x o
        1 . . . x
        ply 5, x to move""")
    # Diagonal neighbours and empty cells are no targets, and rows do not wrap round.
    assert [state.action_to_string(a) for a in state.legal_actions()] == ["d1d2", "c2d2"]
    end = state.play(state.string_to_action("c2d2"))
    assert end.is_terminal
    assert end.outcomes == (1, -1)
    assert str(end).endswith("x won (o next)")
