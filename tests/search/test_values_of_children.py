"""Evaluators that value all children of a state in one row: any search finds the same as with one
that values the children themselves."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import athenan
from athenan import _core
from athenan.errors import InputError
from athenan.search import drive, make_core_search, make_group, num_places

GAMES: dict[str, dict[str, Any]] = {
    "tictactoe": {"name": "tictactoe"},
    "hex 4": {"name": "hex", "size": 4},
    "hex 3 swap": {"name": "hex", "size": 3, "swap": True},
    "othello 4": {"name": "othello", "size": 4},
    "havannah 3 swap": {"name": "havannah", "base": 3, "swap": True},
    "gomoku 6": {"name": "gomoku", "size": 6},
    "connect6 4": {"name": "connect6", "size": 4},
    "go 3": {"name": "go", "size": 3, "draw_rules": "none"},
}
SEARCHES: dict[str, dict[str, Any]] = {
    "ubfm": {"name": "ubfm"},
    "descent": {"name": "descent"},
    "descent one by one": {"name": "descent", "child_batching": False},
    "no exact ends": {"name": "ubfm", "exact_ends": False},
    "no transpositions": {"name": "ubfm", "transpositions": False},
    "umb": {"name": "umb", "continue_rule": "at_most", "new_states": 3, "order": "random"},
    "maxn": {"name": "maxn_ubfm"},
    "puct": {"name": "puct"},
    "alphabeta": {"name": "alphabeta", "depth": 3, "order": "evaluation"},
    "leaves one by one": {"name": "minimax", "depth": 2, "child_batching": False},
    "deepening": {"name": "iterative_deepening", "depth": 3},
    "rollout": {"name": "rollout", "depth": 3},
}


class Singly:
    """A number made of a state's planes."""

    def __init__(self, game: Any) -> None:
        self.game, self.rows = game, 0
        random = np.random.default_rng(5)
        self.weights = random.integers(1, 2**40, int(np.prod(game.plane_shape)), np.int64)

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        self.rows += int(planes.any(axis=(1, 2, 3)).sum())  # but for padding
        sums = planes.reshape(len(planes), -1).astype(np.int64) @ self.weights
        return ((sums % 2001 - 1000) / 1000).astype(np.float32)


class OfChildren(Singly):
    """The same number of each child, at its place; others are nothing that anybody should use."""

    of_children = True

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        self.rows += int(planes.any(axis=(1, 2, 3)).sum())
        answers = np.full((len(planes), num_places(self.game)), 9.0, np.float32)
        for row, of in zip(answers, planes, strict=True):
            if not of.any():  # padding
                continue
            state = self.game.state_from_planes(of, int(of[:, :, :2].sum()))
            for action in state.legal_actions():
                child = state.play(action).planes()[None]
                row[self.game.action_places[action]] = Singly.__call__(self, child)[0]
                self.rows -= 1
        return answers


def some_state(game: Any, plies: int, seed: int) -> Any:
    """From its planes, so that there is no history that they do not tell."""
    random = np.random.default_rng(seed)
    state = game.initial_state()
    for _ in range(plies):
        child = state.play(int(random.choice(state.legal_actions())))
        if child.is_terminal:
            break
        state = child
    return state


def facts(found: Any) -> tuple[Any, ...]:
    return (found.action, found.value, found.completion, found.resolved, found.iterations,
            found.states, found.children, found.principal_variation)  # fmt: skip


@pytest.mark.parametrize("settings", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("name", GAMES)
def test_the_same_search_as_with_values_of_states(name: str, settings: dict[str, Any]) -> None:
    game: Any = athenan.make_game(**GAMES[name])
    for plies, seed in ((0, 0), (3, 1)):
        if name == "hex 3 swap" and plies == 0:
            plies = 1
        state = some_state(game, plies, seed)
        found, trees = [], []
        for evaluator in (Singly(game), OfChildren(game)):
            search = athenan.make_search(evaluator=evaluator, game=game, **settings)
            budget: dict[str, Any] = {} if search.core.has_horizon else {"iterations": 40}
            found.append(search.run(state, **budget))
            if isinstance(search.core, _core.UnboundedSearch):
                trees.append(search.core.dump())
            assert found[-1].evaluations == evaluator.rows
        assert facts(found[0]) == facts(found[1])
        if trees:
            assert all(np.array_equal(trees[0][key], trees[1][key]) for key in trees[0])


def test_a_row_is_an_evaluation() -> None:
    """What a budget counts; how many children were valued is known besides."""
    game: Any = athenan.make_game("hex", size=5)
    evaluator = OfChildren(game)
    search = athenan.make_search("ubfm", game, evaluator)
    found = search.run(game.initial_state(), evaluations=20)
    counts = search.core.counts
    assert found.evaluations == 20 == counts["expanded"]
    assert counts["valued"] > 20 * 20
    assert search.run(game.initial_state(), evaluations=10).states > found.states
    singly = athenan.make_search("ubfm", game, Singly(game))
    singly.run(game.initial_state(), evaluations=200)
    assert singly.core.counts["valued"] == singly.core.counts["evaluations"]


def test_states_of_many_games_make_one_batch() -> None:
    """Whatever the sizes of batches, which pad them."""
    game: Any = athenan.make_game("othello", size=4)
    results = []
    for sizes in ([1], [8, 64]):
        evaluator = OfChildren(game)
        searches = [
            make_core_search({"name": "descent"}, game, evaluator, seed=seed) for seed in range(5)
        ]
        group = make_group(searches, sizes, 2)
        for i in range(5):
            group.start(i, game.initial_state(), evaluations=12)
        drive(group, evaluator)
        results.append([facts(search.result()) for search in searches])
    assert results[0] == results[1]


def test_given_up_children_are_asked_for_again() -> None:
    game: Any = athenan.make_game("hex", size=4)

    class Failing(OfChildren):
        left = 7

        def __call__(self, planes: np.ndarray) -> np.ndarray:
            self.left -= 1
            if self.left == 0:
                raise OSError("no answer")
            return super().__call__(planes)

    search = athenan.make_search("ubfm", game, Failing(game))
    with pytest.raises(OSError, match="no answer"):
        search.run(game.initial_state(), iterations=40)
    assert search.result().evaluations == 6
    assert search.core.counts["valued"] == 16 + 5 * 15
    search.run(game.initial_state(), iterations=34)
    whole = athenan.make_search("ubfm", game, Singly(game))
    whole.run(game.initial_state(), iterations=40)
    for one, other in zip(search.result().children, whole.result().children, strict=True):
        assert (one.action, one.value, one.resolved) == (other.action, other.value, other.resolved)


def test_who_cannot_have_one_is_told_so() -> None:
    chess: Any = athenan.make_game("breakthrough")
    with pytest.raises(InputError, match="an action of game 'breakthrough' is more than a cell"):
        athenan.make_search("ubfm", chess, OfChildren(chess))
    three: Any = athenan.make_game("rolit", players=3)
    with pytest.raises(InputError, match="is for two players whose gains"):
        athenan.make_search("maxn_ubfm", three, OfChildren(three))


@pytest.mark.parametrize("wrong", [1, 17])
def test_answers_of_another_width_are_refused(wrong: int) -> None:
    game: Any = athenan.make_game("hex", size=4)

    class Wrong(OfChildren):
        def __call__(self, planes: np.ndarray) -> np.ndarray:
            return np.zeros((len(planes), wrong), np.float32)

    with pytest.raises(InputError, match=f"answered {wrong} values a state where 16 are asked"):
        athenan.make_search("ubfm", game, Wrong(game)).run(game.initial_state(), iterations=2)


@dataclass(frozen=True)
class Row(athenan.PythonState):
    """Cells in a row, of which each player takes one in turn, or passes as the second action of the
    game; who has the leftmost of the longest run of own cells wins."""

    cells: tuple[int, ...]
    to_move: int = 0
    ply: int = 0

    @property
    def outcomes(self) -> tuple[int, int] | None:
        if 0 in self.cells:
            return None
        lengths = [(len(list(run)), player) for player, run in itertools.groupby(self.cells)]
        best = max(lengths, key=lambda run: run[0])[1]
        return (1, -1) if best == 1 else (-1, 1)

    def legal_actions(self) -> list[int]:
        if self.is_terminal:
            return []
        free = [i for i, owner in enumerate(self.cells) if not owner]
        return [*free, len(self.cells)] if self.ply == 1 else free

    def play(self, action: int) -> Row:
        if action not in self.legal_actions():
            raise ValueError(f"Action {action} is not legal here.")
        cells = list(self.cells)
        if action < len(cells):
            cells[action] = self.to_move + 1
        return Row(tuple(cells), 1 - self.to_move, self.ply + 1)

    def planes(self) -> np.ndarray:
        planes = np.zeros((1, len(self.cells), 3), np.uint8)
        for i, owner in enumerate(self.cells):
            if owner:
                planes[0, i, owner - 1] = 1
        planes[:, :, 2] = self.to_move
        return planes


class Rows(athenan.PythonGame):
    plane_shape = (1, 5, 3)
    max_plies = 6
    action_cells = range(5)
    other_actions = ("pass",)

    def initial_state(self) -> Row:
        return Row((0,) * 5)


def test_a_game_in_python_names_its_cells() -> None:
    game: Any = athenan.make_game(Rows())
    assert (game.action_places, list(game.other_actions)) == ([0, 1, 2, 3, 4, 5], ["pass"])
    singly = Singly(game)
    places = np.array(game.action_places)

    class Children(Singly):
        """It can be asked for the root alone: there is no way from planes to a state."""

        of_children = True

        def __call__(self, planes: np.ndarray) -> np.ndarray:
            row = np.full((len(planes), 6), 9.0, np.float32)
            for action in root.legal_actions():
                row[:, places[action]] = singly(root.play(action).planes()[None])[0]
            return row

    root = game.initial_state().play(2)
    one, other = (
        athenan.make_search("ubfm", game, evaluator).run(root, iterations=1)
        for evaluator in (singly, Children(game))
    )
    assert len(one.children) == 5
    assert facts(one) == facts(other)


@pytest.mark.parametrize(
    ("cells", "others", "match"),
    [
        ([0, 0, 1], [], "action_cells has 0; it is the cell"),
        ([0, 1, 5], [], "action_cells has 5; it is the cell"),
        ("abc", [], "action_cells"),
        ([0, 1], 3, "other_actions"),
    ],
)
def test_wrong_cells_of_a_game_in_python(cells: Any, others: Any, match: str) -> None:
    game = Rows()
    game.action_cells, game.other_actions = cells, others
    with pytest.raises(InputError, match=match):
        athenan.make_game(game)


def test_actions_beyond_the_named_ones() -> None:
    game = Rows()
    game.action_cells, game.other_actions = range(4), ()
    made: Any = athenan.make_game(game)
    with pytest.raises(ValueError, match="are 4 actions; give each its cell or its name"):
        made.initial_state().legal_actions()
