"""An evaluator brings its game and its heuristic along."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from nim import Nim

import athenan
from athenan.errors import InputError


class Zero:
    """Knows its game and what its values mean, as the network of a checkpoint does."""

    def __init__(self, game: athenan.Game, heuristic: str = "gain", longest: int = 0) -> None:
        self.game = game
        self.heuristic: dict[str, Any] = {"heuristic": heuristic, "longest": longest}

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        return np.zeros(len(planes), np.float32)


@pytest.mark.parametrize(
    ("own", "other", "sentence"),
    [
        (("hex", {"size": 5}), ("hex", {"size": 7}), "'hex size=5', the search of 'hex size=7'"),
        (
            ("hex", {"size": 5}),
            ("hex", {"size": 5, "swap": True}),
            "'hex size=5', the search of 'hex size=5 swap=true'",
        ),
        (("tictactoe", {}), ("connect_four", {}), "'tictactoe', the search of 'connect_four'"),
        (
            ("nim:Nim", {"heaps": [1, 2]}),
            ("nim:Nim", {"heaps": [1, 2, 3]}),
            r"'nim with planes \(2, 7, 2\)', the search of 'nim with planes \(3, 7, 2\)'",
        ),
        (("nim:Nim", {}), ("tictactoe", {}), "'nim', the search of 'tictactoe'"),
    ],
    ids=str,
)
def test_another_game_is_refused(own: Any, other: Any, sentence: str) -> None:
    mine, game = (athenan.make_game(name, **options) for name, options in (own, other))
    for name in ("ubfm", "descent"):
        with pytest.raises(InputError, match=sentence):
            athenan.make_search(name, game, Zero(mine))


def test_the_same_game_made_twice_is_taken() -> None:
    evaluator = Zero(athenan.make_game("hex", size=5))
    game = athenan.make_game("hex", size=5)
    assert athenan.make_search("ubfm", game, evaluator).run(game.initial_state(), iterations=3)
    evaluator = Zero(athenan.make_game(Nim()))
    assert athenan.make_search("ubfm", Nim(), evaluator).run(Nim().initial_state(), iterations=3)


class Cached(Nim):
    """Holds what does not compare, as games of one's own may."""

    def __init__(self) -> None:
        super().__init__()
        self.table = np.zeros(3)


def test_what_does_not_compare_is_taken_for_the_same() -> None:
    evaluator = Zero(athenan.make_game(Cached()))
    assert athenan.make_search("ubfm", Cached(), evaluator).run(Nim().initial_state(), iterations=3)


def test_the_heuristic_comes_along() -> None:
    """A win at once is worth more the more plies are left."""
    game = athenan.TreeGame.nested([1, 0])
    root = game.initial_state()
    plain = athenan.make_search("ubfm", game, Zero(game)).run(root)
    depth = athenan.make_search("ubfm", game, Zero(game, "additive_depth", 9)).run(root)
    assert (plain.value, depth.value) == (1, 9)
    given = athenan.make_search(
        "ubfm", game, Zero(game, "additive_depth", 9), heuristic="gain"
    )  # who says another gets it
    assert given.run(root).value == 1


def test_features_of_tictactoe() -> None:
    """The lecture's example, and the states after it (one of its numbers is printed wrong: after
    (3, 2) it is 9)."""
    game = athenan.make_game("mnk", rows=3, columns=3, k=3)
    search = athenan.make_search("minimax", game, "tictactoe_features", depth=1)
    state = game.initial_state()
    for cell in (0, 1, 4):
        state = state.play(cell)
    points = {child.action: round(26 * child.value) for child in search.run(state).children}
    assert points[5] == 9
    result = search.run(state.play(5))
    assert (result.action, result.completion, result.resolved) == (8, 1, True)
    points = {child.action: round(26 * child.value) for child in result.children}
    assert points == {2: 10, 3: 11, 6: 13, 7: 9, 8: 26}


def test_features_are_of_tictactoe_alone() -> None:
    for name, options in (("hex", {"size": 3}), ("mnk", {"rows": 4, "columns": 3, "k": 3})):
        with pytest.raises(ValueError, match="is for tic-tac-toe"):
            athenan.make_search("minimax", athenan.make_game(name, **options), "tictactoe_features")
