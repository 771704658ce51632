"""The search signature: what a fixed number of iterations makes of fixed games.

A refactoring must keep every figure. A change that is meant to alter the search prints the table
anew: python tests/search/test_signature.py > tests/search/signature.json
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cases import VARIANTS

import athenan

GAMES: dict[str, dict[str, Any]] = {
    "tictactoe": {"name": "tictactoe"},
    "connect_four": {"name": "connect_four"},
    "hex 5": {"name": "hex", "size": 5},
    "hex 11": {"name": "hex", "size": 11},
    "breakthrough 6x6": {"name": "breakthrough", "rows": 6, "columns": 6},
    "othello 6": {"name": "othello", "size": 6},
}
ITERATIONS = dict.fromkeys(GAMES, 300) | {"tictactoe": 5000}  # the latter is resolved
TABLE = Path(__file__).with_name("signature.json")


def signature(game_name: str, variant: str) -> dict[str, Any]:
    game = athenan.make_game(**GAMES[game_name])
    search = athenan.make_search("umb", game, "hash", seed=1, **VARIANTS[variant])
    result = search.run(game.initial_state(), iterations=ITERATIONS[game_name])
    return {
        "states": result.states,
        "value": result.value,
        "iterations": result.iterations,
        "resolved": result.resolved,
    }


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("game", GAMES)
def test_signature(game: str, variant: str) -> None:
    expected = json.loads(TABLE.read_text())[game][variant]
    assert signature(game, variant) == expected


def print_table() -> None:
    """A line for each variant, so that a difference is easy to read."""
    games = []
    for game in GAMES:
        lines = [
            f"    {json.dumps(variant)}: {json.dumps(signature(game, variant))}"
            for variant in VARIANTS
        ]
        games.append(f"  {json.dumps(game)}: {{\n" + ",\n".join(lines) + "\n  }")
    print("{\n" + ",\n".join(games) + "\n}")


if __name__ == "__main__":
    print_table()
