"""What the searches are without one of their parts: transpositions, back-up to the root, exact
values of ends, batches of children."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from cases import TableEvaluator, minimax_of_all, random_game, random_member, tree_of
from reference import GameGraph, GraphState, Reference, hash_value
from test_reference import compare

import athenan
from athenan import _core

RANDOM_GAMES = 100  # for each ablation and kind
ABLATIONS: dict[str, dict[str, bool]] = {
    "lines": {"transpositions": False},
    "stop unchanged": {"stop_unchanged": True},
    "learned ends": {"exact_ends": False},
    "one by one": {"child_batching": False},
    "all": {
        "transpositions": False,
        "stop_unchanged": True,
        "exact_ends": False,
        "child_batching": False,
    },
}
every_ablation = pytest.mark.parametrize("ablation", ABLATIONS.values(), ids=ABLATIONS)
every_kind = pytest.mark.parametrize("kind", ["tree", "dag"])


def of_reference(settings: dict[str, Any]) -> dict[str, Any]:
    """Those that are not the graph's, and change trees at all."""
    return {k: v for k, v in settings.items() if k not in ("transpositions", "child_batching")}


@every_kind
@every_ablation
def test_node_for_node(ablation: dict[str, bool], kind: str) -> None:
    """Also with a budget of evaluations, and from the next state of the game on."""
    for number in range(RANDOM_GAMES):
        random = Random(f"ablation {kind} {number}")
        game = random_game(random, kind, most_states=40)
        settings = random_member(random) | {"completion": random.random() < 0.8, **ablation}
        heuristic = random.choice(["gain", "score", "additive_depth"])
        graph = GameGraph(game, heuristic, ablation.get("transpositions", True))
        table = TableEvaluator(random)
        evaluator, of_state = (table, table.of_state) if number % 2 else ("hash", hash_value)
        search = athenan.make_search("umb", game, evaluator, heuristic=heuristic, **settings)
        reference = Reference(graph, of_state, **of_reference(settings))
        state = graph.root
        for budget in ({"iterations": 1}, {"iterations": 5}, {"evaluations": 7}, {"iterations": 9}):
            result = compare(search, reference, state, **budget)
            if result.action is not None and random.random() < 0.5:
                played = dict(state.children)[result.action]
                same = [c for _, c in state.children if c.state.key == played.state.key]
                state = same[0]


def lines_of(state: GraphState) -> int:
    """How many lines of the game begin here, this one's first state included."""
    return 1 + sum(lines_of(child) for _, child in state.children)


def test_without_transpositions_a_graph_is_its_unfolding() -> None:
    """Every line has a node of its own; where all is resolved there are as many as lines."""
    shared = 0
    for number in range(RANDOM_GAMES):
        random = Random(f"lines {number}")
        game = random_game(random, "dag", most_states=16)
        settings = random_member(random) | {"strong": True, "transpositions": False}
        search = athenan.make_search("umb", game, "hash", **settings)
        while not search.run(game.initial_state(), iterations=3).resolved:
            dump = search.core.dump()
            assert sorted(dump["child"].tolist()) == list(range(1, len(dump["value"])))
        graph = GameGraph(game)
        exact = minimax_of_all(graph)
        assert search.result().states == lines_of(graph.root)
        assert search.result().completion == exact[graph.root.key]
        shared += lines_of(graph.root) > len(exact)
    assert shared > RANDOM_GAMES // 3


def test_the_unfolding_of_a_game() -> None:
    """A small one, by brute force."""
    game = athenan.make_game("mnk", rows=2, columns=3, k=2)
    graph = GameGraph(game)
    exact = minimax_of_all(graph)
    search = athenan.make_search("descent", game, "hash", strong=True, transpositions=False)
    result = search.run(game.initial_state())
    assert result.states == lines_of(graph.root) > 2 * len(exact)
    assert athenan.make_search("descent", game, "hash", strong=True).run(
        game.initial_state()
    ).states == len(exact)


def test_of_a_tree_no_value_changes_further_up() -> None:
    """Korf and Chickering: where each state has one parent, backing up further changes nothing."""
    for number in range(RANDOM_GAMES):
        random = Random(f"unchanged {number}")
        game = random_game(random, "tree")
        settings = random_member(random) | {"completion": random.random() < 0.8}
        whole = athenan.make_search("umb", game, "hash", **settings)
        early = athenan.make_search("umb", game, "hash", stop_unchanged=True, **settings)
        for iterations in (1, 4, 20):
            results = [s.run(game.initial_state(), iterations=iterations) for s in (whole, early)]
            assert tree_of(whole.core) == tree_of(early.core)
            assert results[0] == results[1]


@every_kind
@every_ablation
def test_theorem_9_completeness_holds_without_them(ablation: dict[str, bool], kind: str) -> None:
    """c and r do not depend on what was left out; the action is a best one."""
    for number in range(RANDOM_GAMES):
        random = Random(f"complete {kind} {number}")
        game = random_game(random, kind, most_states=30)
        settings = random_member(random) | ablation
        graph = GameGraph(game)
        exact = minimax_of_all(graph)
        search = athenan.make_search("umb", game, TableEvaluator(random), **settings)
        for state in list(graph.states.values()):
            search.clear()
            result = search.run(state.state)
            assert (result.resolved, result.completion) == (True, exact[state.key])
            if not state.is_terminal:
                assert exact[dict(state.children)[result.action].key] == exact[state.key]


def test_learned_ends_have_learned_values_and_exact_labels() -> None:
    game = athenan.make_game("tictactoe")
    evaluations = {"exact": 0, "learned": 0}
    for name in evaluations:
        search = athenan.make_search(
            "descent", game, lambda planes: [0.25] * len(planes), exact_ends=name == "exact"
        )
        labels = _core.Labels(search.core)
        result = search.run(game.initial_state(), iterations=200)
        evaluations[name] = result.evaluations
        dump = search.core.dump()
        ends = dump["terminal"] == 1
        assert set(np.abs(dump["value"][ends])) <= ({0, 1} if name == "exact" else {0.25})
        assert set(np.abs(dump["completion"][ends])) == {0, 1}
        planes, values, _ = labels.samples()
        assert {-1, 1} & set(values.tolist())
        assert len(planes) == len(values)
    assert evaluations["learned"] > evaluations["exact"]
    with pytest.raises(athenan.InputError, match="'exact_ends' must be true with heuristic 'mob"):
        athenan.make_search("ubfm", game, "hash", exact_ends=False, heuristic="mobility")


def test_one_by_one_each_state_is_a_batch() -> None:
    game = athenan.make_game("connect_four")
    results, calls = [], []
    for together in (True, False):
        rows: list[int] = []

        def count(planes: Any, rows: list[int] = rows) -> Any:
            rows.append(len(planes))
            return planes.reshape(len(planes), -1).astype(float).mean(axis=1)

        search = athenan.make_search(
            "ubfm", game, count, child_batching=together, batch_sizes=[1, 2, 4, 8]
        )
        results.append(search.run(game.initial_state(), iterations=30))
        calls.append(rows)
    assert results[0] == results[1]
    assert calls[1] == [1] * results[1].evaluations
    assert len(calls[0]) < len(calls[1]) / 2


@pytest.mark.parametrize("evaluator", ["hash", "rollout"])
def test_what_is_not_valued_when_it_is_stopped_leaves_the_tree(evaluator: str) -> None:
    game = athenan.make_game("go", size=9)
    search = athenan.make_search(
        "descent", game, evaluator, child_batching=False, rollouts=50 if evaluator != "hash" else 1
    )
    result = search.run(game.initial_state(), seconds=0.05)
    assert result.action is not None
    search.core.give_up()
    again = search.run(game.initial_state(), iterations=1)
    assert again.iterations == 1


# ---- Lines, and what is made of states ---------------------------------------------------------


def test_a_tree_of_lines_goes_to_arrays_and_back() -> None:
    """Between the states of a game, whose search then goes on in the same way."""
    game = athenan.make_game("connect_four")
    search = athenan.make_search("descent", game, "hash", transpositions=False)
    state = game.initial_state()
    labels = _core.Labels(search.core)
    for _ in range(3):
        origin = state
        state = state.play(search.run(state, iterations=20).action)
    other = athenan.make_search("descent", game, "hash", transpositions=False)
    other_labels = _core.Labels(other.core)
    other.core.restore_tree(*search.core.save_tree(), origin)
    other_labels.restore(*labels.saved())
    for _ in range(3):
        found, expected = (s.run(state, iterations=20) for s in (other, search))
        assert found == expected
        state = state.play(found.action)
    for mine, its in zip(labels.samples(), other_labels.samples(), strict=True):
        assert np.array_equal(mine, its)
    nodes, edges, facts = search.core.save_tree()
    broken = nodes.copy().reshape(-1, 28)
    broken[-1, 0] ^= 1  # a key
    with pytest.raises(ValueError, match="not a saved tree"):
        athenan.make_search("descent", game, "hash", transpositions=False).core.restore_tree(
            broken.reshape(-1), edges, facts, state
        )


def test_a_game_has_its_labels_also_without_transpositions() -> None:
    """Every expanded state of every line, however the game went on."""
    game = athenan.make_game("tictactoe")
    search = athenan.make_search("ubfm", game, "hash", transpositions=False)
    labels = _core.Labels(search.core)
    state, expanded = game.initial_state(), 0
    while not state.is_terminal:
        result = search.run(state, iterations=10)
        expanded += search.core.counts["expanded"]
        state = state.play(result.action)
    search.run(state, iterations=1)
    assert search.core.counts["collections"] == 0
    assert len(labels.samples()[1]) >= expanded > 20
    elsewhere = game.initial_state().play(8).play(7)  # which no line has led to
    assert search.run(elsewhere, iterations=1).states == 8
    assert len(labels.samples()[1]) >= expanded + 1


def test_lines_prove_nothing_for_states() -> None:
    game = athenan.make_game("mnk", rows=2, columns=2, k=2)
    search = athenan.make_search("ubfm", game, "hash", transpositions=False)
    assert search.run(game.initial_state()).resolved
    with pytest.raises(ValueError, match="needs transpositions=true"):
        _core.make_proof(search.core, False)
    memory = _core.ResolvedMemory(100)
    memory.add_all(search.core)
    assert len(memory) == 0
    known = athenan.make_search("ubfm", game, "hash")
    known.run(game.initial_state().play(0))
    memory.add_all(known.core)
    search.clear()
    search.core.consult(memory)
    assert search.run(game.initial_state(), iterations=1).resolved
    assert search.core.dump()["remembered"].sum() == 1
