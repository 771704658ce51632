"""The core agrees node for node with the plain rendering of the pseudo-code."""

from __future__ import annotations

import zlib
from random import Random
from typing import Any

import numpy as np
import pytest
from cases import (
    SMALL_GAMES,
    VARIANTS,
    TableEvaluator,
    random_game,
    random_member,
    reference_tree,
    tree_of,
)
from reference import GameGraph, GraphState, Reference, hash_value

import athenan

every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)
every_kind = pytest.mark.parametrize("kind", ["tree", "dag"])
every_small_game = pytest.mark.parametrize("options", SMALL_GAMES.values(), ids=SMALL_GAMES)
RANDOM_GAMES = 150  # for each variant and kind
HEURISTICS = ["gain", "score", "additive_depth", "multiplicative_depth", "mobility"]


def compare(search: athenan.Search, reference: Reference, state: GraphState, **budget: int) -> Any:
    """Both go on by the same budget from the same state."""
    result = search.run(state.state, **budget)
    reference.run(state, **budget)
    assert tree_of(search.core) == reference_tree(reference)
    assert (result.iterations, result.evaluations) == (reference.iterations, reference.evaluations)
    assert result.states == len(reference.value)
    assert (result.value, result.completion, result.resolved) == (
        reference.value[state.key],
        reference.completion[state.key],
        reference.resolved[state.key],
    )
    return result


@every_kind
@every_variant
def test_random_games(variant: dict[str, Any], kind: str) -> None:
    """After each of several counts of iterations, and to the end where there is one."""
    for number in range(RANDOM_GAMES):
        random = Random(f"{kind} {number}")
        game = random_game(random, kind)
        heuristic = random.choice(HEURISTICS)
        settings = {**variant, "seed": random.getrandbits(64)}
        graph = GameGraph(game, heuristic)
        evaluator, of_state = ("hash", hash_value)
        if number % 2:
            table = TableEvaluator(random)
            evaluator, of_state = table, table.of_state
        search = athenan.make_search("umb", game, evaluator, heuristic=heuristic, **settings)
        reference = Reference(graph, of_state, **settings)
        for iterations in (1, 2, 5, 12, 60):
            if compare(search, reference, graph.root, iterations=iterations).resolved:
                break


@every_kind
def test_evaluations_budget(kind: str) -> None:
    for number in range(RANDOM_GAMES):
        random = Random(f"budget {kind} {number}")
        game = random_game(random, kind)
        settings = random_member(random) | {"completion": random.random() < 0.8}
        table = TableEvaluator(random)
        graph = GameGraph(game)
        search = athenan.make_search("umb", game, table, **settings)
        reference = Reference(graph, table.of_state, **settings)
        for _ in range(8):
            budget = {"evaluations": random.randint(1, 6)}
            if random.random() < 0.3:
                budget["iterations"] = random.randint(1, 3)
            compare(search, reference, graph.root, **budget)


@every_kind
def test_decisions_and_kept_trees(kind: str) -> None:
    """A game is played out; each state finds the tree of the searches before."""
    for number in range(RANDOM_GAMES):
        random = Random(f"decision {kind} {number}")
        game = random_game(random, kind)
        decision = random.choice(["best", "safest", "safest_printed"])
        heuristic = random.choice(HEURISTICS)
        settings = random_member(random)
        graph = GameGraph(game, heuristic)
        state = graph.root
        search = athenan.make_search(
            "umb", game, "hash", heuristic=heuristic, decision=decision, **settings
        )
        reference = Reference(graph, **settings)
        while not state.is_terminal:
            result = compare(search, reference, state, iterations=random.randint(1, 6))
            assert result.action == reference.decision(state, decision)
            assert [(c.action, c.value, c.completion, c.resolved) for c in result.children] == [
                (a, reference.value[c.key], reference.completion[c.key], reference.resolved[c.key])
                for a, c in state.children
            ]
            line, following = state, []
            while line.key in reference.explored and not line.is_terminal:
                following.append(reference.decision(line, "best"))
                line = dict(line.children)[following[-1]]
            assert result.principal_variation == following
            state = dict(state.children)[result.action]
        compare(search, reference, state, iterations=1)


@every_kind
@pytest.mark.parametrize("name", ["ubfm", "descent"])
def test_algorithms_1_and_2(name: str, kind: str) -> None:
    """The two algorithms as printed are members of Algorithm 4, and are the searches of that
    name."""
    for number in range(RANDOM_GAMES):
        random = Random(f"{name} {kind} {number}")
        game = random_game(random, kind)
        seed, completion = random.getrandbits(64), random.random() < 0.7
        graph = GameGraph(game, "score")
        rule = VARIANTS[name]["continue_rule"]
        printed = Reference(graph, completion=completion, seed=seed)
        member = Reference(graph, completion=completion, seed=seed, continue_rule=rule)
        search = athenan.make_search(
            name, game, "hash", heuristic="score", completion=completion, seed=seed
        )
        iteration = {"ubfm": printed.ubfm_iteration, "descent": printed.descent_iteration}[name]
        for budget in ({"iterations": 1}, {"evaluations": 5}, {"iterations": 40}):
            printed.run(graph.root, iteration, **budget)
            compare(search, member, graph.root, **budget)
            assert reference_tree(printed) == reference_tree(member)


def planes_value(planes: np.ndarray) -> float:
    """Nine values, so that states tie."""
    return (zlib.crc32(planes.tobytes()) % 9 - 4) / 4


def planes_values(planes: np.ndarray) -> np.ndarray:
    return np.array([planes_value(state) for state in planes])


@pytest.fixture(scope="module")
def graphs() -> dict[Any, GameGraph]:
    """Games whose states are known from one test to the next."""
    return {}


@every_small_game
@every_variant
def test_small_games(
    variant: dict[str, Any], options: dict[str, Any], graphs: dict[Any, GameGraph]
) -> None:
    random = Random(f"{variant} {options}")
    for external in (False, True):
        heuristics = [name for name in HEURISTICS if name != "score"]
        heuristics += {"othello": ["score"], "breakthrough": ["presence"]}.get(options["name"], [])
        heuristic = random.choice(heuristics)
        graph = graphs.setdefault(
            (*options.values(), heuristic), GameGraph(athenan.make_game(**options), heuristic)
        )
        settings = {**variant, "seed": random.getrandbits(64)}
        evaluator = planes_values if external else "hash"
        search = athenan.make_search("umb", graph.game, evaluator, heuristic=heuristic, **settings)
        of_state = (lambda state: planes_value(state.state.planes())) if external else hash_value
        reference = Reference(graph, of_state, **settings)
        state = graph.root
        for budget in ({"iterations": 1}, {"iterations": 20}, {"evaluations": 60}):
            result = compare(search, reference, state, **budget)
        state = dict(state.children)[result.action]
        compare(search, reference, state, iterations=20)


@every_variant
@pytest.mark.parametrize("heuristic", ["mobility", "presence", "multiplicative_depth"])
def test_heuristics_of_men(
    variant: dict[str, Any], heuristic: str, graphs: dict[Any, GameGraph]
) -> None:
    """In breakthrough men are captured, and the players have different numbers of actions."""
    options = SMALL_GAMES["breakthrough 4x3"]
    graph = graphs.setdefault(
        (*options.values(), heuristic), GameGraph(athenan.make_game(**options), heuristic)
    )
    search = athenan.make_search("umb", graph.game, "hash", heuristic=heuristic, **variant)
    reference = Reference(graph, **variant)
    for iterations in (1, 30, 100):
        compare(search, reference, graph.root, iterations=iterations)


def test_states_of_other_turns_are_others() -> None:
    """Node 4 is reached after as many actions of the first player in two turns or in three."""
    children = [[1, 2], [4, 5], [3], [4], [6, 7], [], [], []]
    game = athenan.TreeGame(children, [0, 0, 0, 0, 0, -1, 1, 1], [0] * 8)
    graph = GameGraph(game, "mobility")
    search = athenan.make_search("umb", game, "hash", heuristic="mobility", strong=True)
    result = compare(search, Reference(graph, strong=True), graph.root, iterations=100)
    assert (result.resolved, result.value) == (True, 2)  # 6 actions in 3 turns, not in 4


def test_a_tree_of_draws_has_a_score() -> None:
    game = athenan.TreeGame.nested([[0, 0], 0])
    result = athenan.make_search("ubfm", game, "hash", heuristic="score").run(game.initial_state())
    assert (result.value, result.completion, result.resolved) == (0, 0, True)
