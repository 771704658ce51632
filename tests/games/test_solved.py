"""Small boards solved by the search, as independent programs, books and plain minimax say.

solved_small.json has values for the first player and his winning first actions.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from brute_force import proved, solve

import athenan

SOLVED = json.loads(Path(__file__).with_name("solved_small.json").read_text())["solved"]


def title(options: dict[str, Any]) -> str:
    return " ".join(str(value) for value in options.values())


LONG = ("connect_four 4 5", "breakthrough 5 4", "breakthrough 6 3")  # more than a million states


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=name, marks=pytest.mark.long if name in LONG else ())
        for case in SOLVED
        if (name := title(case["make"]))
    ],
)
def test_values_and_winning_first_actions(case: dict[str, Any]) -> None:
    game = athenan.make_game(**case["make"])
    start = game.initial_state()
    assert proved(game, start) == case["value"]
    winning = {
        start.action_to_string(action)
        for action in start.legal_actions()
        if proved(game, start.play(action)) == 1
    }
    assert winning == set(case["winning"])


BRUTE_FORCE: list[dict[str, Any]] = [
    {"name": "amazons", "size": 4},
    {"name": "ataxx", "size": 3, "jump_limit": 4},
    {"name": "ataxx", "size": 3, "draw_rules": "none", "max_plies": 9},
    {"name": "havannah", "base": 2},
    {"name": "havannah", "base": 2, "swap": True},
    {"name": "clobber", "rows": 1, "columns": 9},
    {"name": "rolit", "players": 2, "size": 4},
    {"name": "rolit", "players": 2, "size": 4, "without_line": "pass", "start": "four_colours"},
]


@pytest.mark.parametrize("options", BRUTE_FORCE, ids=title)
def test_values_by_brute_force(options: dict[str, Any]) -> None:
    game = athenan.make_game(**options)
    assert proved(game, game.initial_state()) == solve(game.initial_state())


# From the corners two bridges of three stones threaten; the others are lost to the second player.
CELLS_OF_3 = {"a1": 1, "e5": 1, "b1": -1, "b2": -1, "c3": -1}


@pytest.mark.long
def test_havannah_3_is_won_by_the_first_player() -> None:
    game = athenan.make_game("havannah", base=3)
    start = game.initial_state()
    assert proved(game, start) == 1
    found = {cell: proved(game, start.play(start.string_to_action(cell))) for cell in CELLS_OF_3}
    assert found == CELLS_OF_3


def test_ataxx_4_is_won_in_three_plies() -> None:
    """Two jumps take all stones of the second player, wherever he jumps or clones between."""
    game = athenan.make_game("ataxx", size=4)
    start = game.initial_state()
    assert proved(game, start) == 1
    children = (start.play(action) for action in start.legal_actions())
    assert any(
        all(won_at_once(child.play(reply)) for reply in child.legal_actions()) for child in children
    )


def won_at_once(state: Any) -> bool:
    ends = (state.play(action).outcomes for action in state.legal_actions())
    return any(outcomes and outcomes[0] == 1 for outcomes in ends)
