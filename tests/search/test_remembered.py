"""States proven in other games: what a search makes of them is right, won, lost or drawn."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from cases import minimax_of_all, random_game, random_member, tree_of
from reference import GameGraph

import athenan
from athenan import _core

GAMES = 150  # of each kind
every_kind = pytest.mark.parametrize("kind", ["tree", "dag"])


def remembered(memory: _core.ResolvedMemory) -> dict[int, tuple[float, int]]:
    """Value and completion by key."""
    keys, values, completions = (array.tolist() for array in memory.arrays())
    return {
        low | high << 64: (value, completion)
        for (low, high), value, completion in zip(keys, values, completions, strict=True)
    }


def cases(kind: str) -> Iterator[tuple[GameGraph, athenan.Search, _core.ResolvedMemory]]:
    """A search of the root, and what one from a state below has proven."""
    for number in range(GAMES):
        random = Random(f"remembered {kind} {number}")
        game = random_game(random, kind)
        heuristic = random.choice(["gain", "score", "additive_depth"])
        graph = GameGraph(game, heuristic)
        minimax_of_all(graph)  # makes all states
        memory = _core.ResolvedMemory(10**6)
        for _ in range(3):
            start = random.choice(list(graph.states.values()))
            other = athenan.make_search(
                "umb", game, "hash", heuristic=heuristic, **random_member(random)
            )
            other.run(start.state, iterations=random.choice([3, 30, 300]))
            memory.add_all(other.core)
        search = athenan.make_search(
            "umb", game, "hash", heuristic=heuristic, **random_member(random)
        )
        search.core.consult(memory)
        yield graph, search, memory


@every_kind
def test_proofs_with_a_memory_are_right(kind: str) -> None:
    met: dict[int, int] = {-1: 0, 0: 0, 1: 0}
    for graph, search, memory in cases(kind):
        exact = minimax_of_all(graph)
        known = remembered(memory)
        result: Any = None
        while result is None or not result.resolved:
            result = search.run(graph.root.state, iterations=1)
            for key, (value, completion, resolved, expanded) in tree_of(search.core)[0].items():
                assert not resolved or completion == exact[key]
                if key in known and not expanded:
                    assert (value, completion, resolved) == (*known[key], True)
                    met[completion] += 1
        assert result.completion == exact[graph.root.key]
        if result.action is not None:
            best = dict(graph.root.children)[result.action]
            assert exact[best.key] == exact[graph.root.key]
    assert all(times > 20 for times in met.values()), met


@pytest.mark.parametrize("value", [1, -1])
def test_a_remembered_win_or_loss_is_one(value: int) -> None:
    """The start has a remembered child; with it the game is known after one expansion."""
    game = athenan.TreeGame.nested([[[value, value]], [[value, value]]])
    root = game.initial_state()
    memory = _core.ResolvedMemory(100)
    for action in (0, 1):
        other = athenan.make_search("descent", game, "hash")
        other.run(root.play(action))
        memory.add_all(other.core)
    search = athenan.make_search("descent", game, "hash")
    search.core.consult(memory)
    result = search.run(root)
    assert (result.completion, result.value, result.resolved) == (value, value, True)
    assert (result.iterations, result.evaluations, result.states) == (1, 0, 3)
    assert [(c.completion, c.resolved) for c in result.children] == [(value, True)] * 2


BY_WINDOWS: list[dict[str, Any]] = [
    {"name": "minimax"},
    {"name": "alphabeta", "transpositions": False},
    {"name": "pvs"},
    {"name": "mtdf"},
    {"name": "alphabeta_storage"},
    {"name": "mt_sss"},
    {"name": "rollout", "policy": "uct_hybrid"},
    {"name": "iterative_deepening", "inner": "alphabeta_augmented"},
]
BY_BOUNDS: list[dict[str, Any]] = [
    {"name": "alphabeta_informed"},
    {"name": "sss2"},
    {"name": "rollout", "policy": "max_beta", "informed": True},
]


@every_kind
@pytest.mark.parametrize("search", BY_WINDOWS + BY_BOUNDS, ids=lambda search: search["name"])
def test_searches_by_windows_take_proofs(kind: str, search: dict[str, Any]) -> None:
    """They are won, lost or drawn as without; where bounds are used the values are the same, too,
    since a win that is known is at least as good as it says."""
    fewer = 0
    for graph, other, memory in cases(kind):
        game, heuristic = graph.game, graph.heuristic
        made = [
            athenan.make_search(**search, game=game, evaluator="hash", heuristic=heuristic,
                                depth=100)
            for _ in range(2)
        ]  # fmt: skip
        made[1].core.consult(memory)
        for one in made:
            one.core.tracing = True
        alone, found = (one.run(graph.root.state) for one in made)
        for result in (alone, found):
            state = graph.root.state
            for action in result.principal_variation:
                state = state.play(action)  # legal, or it raises
        assert (found.resolved, found.completion) == (alone.resolved, alone.completion) == (
            True, minimax_of_all(graph)[graph.root.key]
        )  # fmt: skip
        if search in BY_BOUNDS:
            assert found.value == alone.value
        fewer += len(made[1].core.trace) < len(made[0].core.trace)
        assert other
    assert fewer > GAMES / 10


@pytest.mark.parametrize("search", BY_WINDOWS[:-1] + BY_BOUNDS, ids=lambda search: search["name"])
def test_a_win_that_is_known_may_not_be_the_best(search: dict[str, Any]) -> None:
    """To searches that use bounds it is one: they find the better win behind it. (One that deepens
    ends with the first win.)"""
    game = athenan.TreeGame.nested([[[1, 5]], [[3, 2]]])
    remembered = game.initial_state().play(0).play(0)
    heuristic = {"heuristic": "score"}
    other = athenan.make_search("ubfm", game, "zero", **heuristic)
    other.run(remembered, iterations=1)
    keys, values, completions = _memory_of(other).arrays()
    memory = _core.ResolvedMemory(10)
    memory.fill(keys, np.ones_like(values), completions)
    made = athenan.make_search(**search, game=game, evaluator="zero", depth=100, **heuristic)
    made.core.consult(memory)
    result = made.run(game.initial_state())
    best = 5 if search in BY_BOUNDS else 3
    assert (result.value, result.completion, result.resolved) == (best, 1, True)
    assert result.action == (0 if search in BY_BOUNDS else 1)


def _memory_of(search: athenan.Search) -> _core.ResolvedMemory:
    memory = _core.ResolvedMemory(10)
    memory.add_all(search.core)
    assert len(memory) == 1
    return memory
