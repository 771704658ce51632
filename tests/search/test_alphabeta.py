"""Searches to a horizon: all of them answer what minimax answers, each by as little as it promises.

What is compared exactly is copied on the way up and never computed anew.
"""

from __future__ import annotations

import itertools
import time
from random import Random
from typing import Any

import numpy as np
import pytest
from cases import SMALL_GAMES, TableEvaluator, random_game
from interval_reference import minimax_leaves
from trees import INFINITE, Node, Tree, random_tree

import athenan

# Each finds the value of minimax at the same horizon.
EQUAL: dict[str, tuple[str, dict[str, Any]]] = {
    "alphabeta": ("alphabeta", {}),
    "alphabeta without storage": ("alphabeta", {"transpositions": False}),
    "alphabeta in order of evaluation": ("alphabeta", {"order": "evaluation"}),
    "alphabeta in any order": ("alphabeta", {"order": "random", "seed": 5}),
    "alphabeta one by one": ("alphabeta", {"child_batching": False}),
    "alphabeta with little memory": ("alphabeta", {"memory_mb": 0.002}),
    "storage": ("alphabeta_storage", {}),
    "augmented": ("alphabeta_augmented", {}),
    "augmented one by one": ("alphabeta_augmented", {"child_batching": False}),
    "informed": ("alphabeta_informed", {}),
    "sss2": ("sss2", {}),
    "pvs": ("pvs", {}),
    "pvs without storage": ("pvs", {"transpositions": False}),
    "mtdf": ("mtdf", {}),
    "mt_sss": ("mt_sss", {}),
    "mt_sss not augmented": ("mt_sss", {"augmented": False}),
    "kbest with all": ("kbest_alphabeta", {"width": 1000}),
    "leftmost": ("rollout", {"policy": "leftmost"}),
    "max_beta": ("rollout", {"policy": "max_beta"}),
    "random": ("rollout", {"policy": "random"}),
    "uct_hybrid": ("rollout", {"policy": "uct_hybrid"}),
    "uct_hybrid one by one": ("rollout", {"policy": "uct_hybrid", "child_batching": False}),
    **{
        f"deepening {inner}": ("iterative_deepening", {"inner": inner, "order": "previous"})
        for inner in ("minimax", "alphabeta", "pvs", "mtdf", "mt_sss", "sss2", "rollout")
    },
}
every_search = pytest.mark.parametrize("case", EQUAL)
# The first child that is strictly better is played; not so in other orders or with a choice of
# their own among equals.
FIRST = ["alphabeta", "alphabeta without storage", "alphabeta one by one", "storage", "augmented",
         "informed", "sss2", "pvs", "pvs without storage", "mtdf",
         "mt_sss not augmented"]  # fmt: skip


def make(case: str, game: Any, evaluator: Any, **options: Any) -> athenan.Search:
    name, own = EQUAL[case]
    return athenan.make_search(name, game, evaluator, **{**own, **options})


def check(case: str, game: Any, state: Any, evaluator: Any, **options: Any) -> None:
    exact = athenan.make_search("minimax", game, evaluator, **options).run(state)
    found = make(case, game, evaluator, **options).run(state, iterations=10**6)
    assert found.completion == exact.completion
    assert not exact.resolved or found.resolved
    best = {child.action: child for child in exact.children}[found.action]
    if case.startswith("deepening") and exact.completion:
        assert best.completion == exact.completion  # a nearer horizon has proven as much
        return
    assert found.value == exact.value == best.value
    if case in FIRST:
        assert found.action == exact.action
    asks_more = EQUAL[case][0] in ("kbest_alphabeta", "iterative_deepening", "pvs")
    if not asks_more and "order" not in case:
        assert found.evaluations <= exact.evaluations


@every_search
@pytest.mark.parametrize("options", SMALL_GAMES.values(), ids=SMALL_GAMES)
def test_the_value_of_minimax_on_games(case: str, options: dict[str, Any]) -> None:
    game, random = athenan.make_game(**options), Random(case)
    for number in range(8):
        state = game.initial_state()
        for _ in range(random.randint(0, 4)):
            after = state.play(random.choice(state.legal_actions()))
            state = state if after.is_terminal else after
        heuristic = "score" if options["name"] == "othello" else "additive_depth"
        check(case, game, state, "hash", depth=1 + number % 4, heuristic=heuristic)


@every_search
@pytest.mark.parametrize("kind", ["tree", "dag"])
def test_the_value_of_minimax_on_trees(case: str, kind: str) -> None:
    """Ties, draws and estimates of one scale; turns of any length."""
    for number in range(80):
        random = Random(f"{case} {kind} {number}")
        game = random_game(random, kind)
        evaluator = TableEvaluator(random, random.choice([1, 3, 50]))
        heuristic = random.choice(["gain", "score", "additive_depth"])
        check(
            case, game, game.initial_state(), evaluator,
            depth=random.choice([1, 2, 3, 5, 1000]), heuristic=heuristic,
        )  # fmt: skip


@every_search
def test_to_the_end_it_is_a_proof(case: str) -> None:
    """The outcome is that of UBFM's proof, and the action keeps it."""
    for name in ("tictactoe", "breakthrough 4x3"):
        if name == "tictactoe" and "minimax" in case:
            continue
        game, random = athenan.make_game(**SMALL_GAMES[name]), Random(name)
        state = game.initial_state()
        for _ in range(2):
            state = state.play(random.choice(state.legal_actions()))
        proof = athenan.make_search("ubfm", game, "hash", strong=True).run(state)
        found = make(case, game, "hash", depth=1000).run(state, iterations=10**6)
        assert (found.resolved, found.completion) == (True, proof.completion)
        completions = {child.action: child.completion for child in proof.children}
        assert completions[found.action] == proof.completion


def test_wins_are_proven_at_the_horizon_and_estimates_are_not() -> None:
    """A late win is worth 1 by its depth while an estimate says 9: the win is better, and known."""
    game = athenan.TreeGame.nested([[[1, 2], [1, 3]], [[[1, 1]], [[1, 1]]]])
    search = athenan.make_search(
        "alphabeta", game, lambda planes: np.full(len(planes), 0.9), depth=3, heuristic="score"
    )
    result = search.run(game.initial_state())
    assert (result.action, result.completion, result.resolved) == (0, 1, True)
    shallow = athenan.make_search(
        "alphabeta", game, lambda planes: np.full(len(planes), 5.0), depth=2, heuristic="score"
    ).run(game.initial_state())
    assert (shallow.value, shallow.completion, shallow.resolved) == (3, 0, False)


def test_a_draw_at_the_horizon_is_not_proven() -> None:
    game = athenan.TreeGame.nested([0, [[1, 1], -1]])
    near, whole = (
        athenan.make_search("alphabeta", game, "zero", depth=d).run(game.initial_state())
        for d in (2, 3)
    )
    assert (near.value, near.resolved) == (0, False)
    assert (whole.value, whole.resolved) == (0, True)


def uniform_tree(branching: int, height: int, random: Random | None) -> Tree:
    """With random leaves, or in perfect order: the first child is always a best one."""
    nodes = [Node(0, True, None)]
    for node in nodes:
        if len(node.ancestors) < height:
            for _ in range(branching):
                child = Node(len(nodes), not node.is_max, node)
                nodes.append(child)
                node.children.append(child)
        elif random:
            node.value = random.randint(-50, 50)
    tree = Tree(nodes)
    if not random:
        order(tree.root, 0.0)
    tree.evaluate()
    tree.without_bounds()
    return tree


def order(node: Node, value: float) -> None:
    """Gives the node this value; its first child has it, too, and the others are worse."""
    node.value = value
    for number, child in enumerate(node.children):
        order(child, value + (-number if node.is_max else number))


@pytest.mark.parametrize(("branching", "height"), [(2, 8), (3, 5), (4, 4), (5, 3), (6, 2), (7, 1)])
def test_perfect_order_visits_the_critical_tree(branching: int, height: int) -> None:
    tree = uniform_tree(branching, height, None)
    least = branching ** (height // 2) + branching ** ((height + 1) // 2) - 1
    for name in ("alphabeta", "alphabeta_storage", "alphabeta_augmented", "alphabeta_informed"):
        assert len(tree.searched(name).leaves) == least
    assert len(tree.searched("minimax").leaves) == branching**height
    assert tree.searched("sss2").result.value == tree.root.value


def test_leaves_of_alphabeta_are_some_of_minimax() -> None:
    fewer = 0
    for number in range(300):
        tree = random_tree(Random(f"leaves {number}"))
        whole = tree.searched("minimax")
        assert whole.leaves == minimax_leaves(tree.root)
        for name in ("alphabeta", "pvs", "sss2", "alphabeta_augmented"):
            found = tree.searched(name)
            assert set(found.leaves) <= set(whole.leaves)
            fewer += len(found.leaves) < len(whole.leaves)
    assert fewer > 300


def test_the_trace_tells_windows_and_leaves() -> None:
    """What pictures are made of; off unless it is asked for."""
    game = athenan.TreeGame.nested([[3, 5], [2, 9]])
    search = athenan.make_search("alphabeta", game, "zero", heuristic="score")
    search.run(game.initial_state())
    assert search.core.trace == []
    search.core.tracing = True
    search.clear()
    search.run(game.initial_state())
    assert search.core.trace == [
        ((), "call", -INFINITE, INFINITE),
        ((0,), "call", -INFINITE, INFINITE),
        ((0, 0), "call", -INFINITE, INFINITE),
        ((0, 0), "leaf", 3, 3),
        ((0, 1), "call", -INFINITE, 3),
        ((0, 1), "leaf", 5, 5),
        ((1,), "call", 3, INFINITE),
        ((1, 0), "call", 3, INFINITE),
        ((1, 0), "leaf", 2, 2),
    ]


# ---- Budgets and requests ------------------------------------------------------------------


class Counting:
    """f_θ that counts what it is asked."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        self.batches.append(int(planes.any(axis=(1, 2, 3)).sum()))
        return np.zeros(len(planes))


def test_families_at_the_horizon_are_one_request() -> None:
    game = athenan.make_game("hex", size=4)
    batches = {}
    for together in (True, False):
        evaluator = Counting()
        search = athenan.make_search(
            "minimax", game, evaluator, depth=2, child_batching=together, batch_sizes=[16]
        )
        result = search.run(game.initial_state())
        assert result.evaluations == sum(evaluator.batches) == 16 * 15
        batches[together] = evaluator.batches
    assert batches == {True: [15] * 16, False: [1] * 240}


@pytest.mark.parametrize("inner", ["alphabeta", "minimax", "mt_sss", "sss2", "rollout"])
def test_deepening_spends_a_budget_of_evaluations(inner: str) -> None:
    """And answers what the last horizon that it finished says."""
    game = athenan.make_game("connect_four")
    search = athenan.make_search("iterative_deepening", game, "hash", inner=inner)
    result = search.run(game.initial_state(), evaluations=2000)
    assert 2000 <= result.evaluations < 2007
    depths = [
        athenan.make_search("minimax", game, "hash", depth=d).run(game.initial_state())
        for d in (1, 2, 3, 4)
    ]
    assert result.value in [found.value for found in depths]
    assert result.principal_variation[0] == result.action


@pytest.mark.parametrize("name", ["alphabeta", "sss2", "rollout", "mt_sss", "minimax"])
def test_whoever_is_stopped_has_an_action(name: str) -> None:
    game = athenan.make_game("go", size=9)
    search = athenan.make_search(name, game, "rollout", depth=30)
    for budget in ({"evaluations": 1}, {"evaluations": 300}, {"seconds": 0.05}):
        started = time.perf_counter()
        result = search.run(game.initial_state(), **budget)
        assert time.perf_counter() - started < 3
        assert result.action in game.initial_state().legal_actions()
        assert not result.resolved


def test_searches_that_meet_only_ends_are_charged_for_them() -> None:
    """A budget of evaluations ends them, too."""
    game = athenan.make_game("hex", size=4)
    for name in ("minimax", "alphabeta", "rollout"):
        result = athenan.make_search(name, game, "hash", depth=1000).run(
            game.initial_state(), evaluations=500
        )
        assert (result.evaluations, result.resolved) == (0, False)


@pytest.mark.parametrize("name", ["rollout", "sss2", "alphabeta", "mt_sss"])
def test_memory_has_a_bound(name: str) -> None:
    """Alpha-beta forgets and goes on; the others stop and say so."""
    game = athenan.make_game("connect_four")
    search = athenan.make_search(name, game, "hash", depth=6, memory_mb=0.05)
    for _ in range(2):
        result = search.run(game.initial_state())
        counts = search.core.counts
        assert counts["bytes"] <= 50_000 * 1.1 + 20_000
        if name in ("alphabeta", "mt_sss"):
            assert counts["collections"] > 0
            exact = athenan.make_search("minimax", game, "hash", depth=6)
            assert result.value == exact.run(game.initial_state()).value
        else:
            assert result.out_of_memory
            assert result.action in game.initial_state().legal_actions()


def test_many_in_step_are_as_one() -> None:
    from athenan import _core
    from athenan.search import drive, make_core_search

    game = athenan.make_game("connect_four")
    names = ["alphabeta", "sss2", "rollout", "mtdf", "minimax"]
    states = [game.initial_state().play(i % 7) for i in range(20)]
    cores = [
        make_core_search({"name": names[i % 5], "depth": 3}, game, evaluator_of_planes)
        for i in range(20)
    ]
    group = _core.SearchGroup(cores, [16, 64, 256], 2)
    for i, state in enumerate(states):
        group.start(i, state)
    drive(group, evaluator_of_planes)
    for i, state in enumerate(states):
        alone = athenan.make_search(names[i % 5], game, evaluator_of_planes, depth=3)
        assert cores[i].result() == alone.run(state)


def evaluator_of_planes(planes: np.ndarray) -> np.ndarray:
    weights = np.sin(np.arange(planes[0].size) + 1.0)
    return np.tanh(planes.reshape(len(planes), -1) @ weights)


# ---- Refusals ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["minimax", "sss2", "rollout", "iterative_deepening"])
def test_what_makes_no_sense_is_refused(name: str) -> None:
    game = athenan.make_game("tictactoe")
    with pytest.raises(ValueError, match="depth"):
        athenan.make_search(name, game, depth=0)
    with pytest.raises(ValueError, match="for two players; game 'rolit' has 3"):
        athenan.make_search(name, athenan.make_game("rolit", players=3))


def test_uct_has_no_deeper_horizon() -> None:
    with pytest.raises(ValueError, match="no deeper horizon"):
        athenan.make_search(
            "iterative_deepening", athenan.make_game("tictactoe"), inner="rollout", policy="uct"
        )


def test_kbest_proves_nothing_that_it_left_out() -> None:
    """The first player wins by the child that seems worst; with the others alone he loses."""
    game = athenan.TreeGame.nested([[-1, -1], [-1, -1], [1, 1]])

    def seems(planes: np.ndarray) -> np.ndarray:
        numbers = planes.reshape(len(planes), 32) @ (1 << np.arange(32))
        return np.where(numbers == 7, -0.9, 0.0)

    for width, value, resolved in ((1, -1, False), (2, -1, False), (3, 1, True)):
        search = athenan.make_search("kbest_alphabeta", game, seems, depth=2, width=width)
        result = search.run(game.initial_state())
        assert (result.value, result.resolved) == (value, resolved)
        assert result.completion == (value if resolved else 0)


def test_values_beyond_their_range_pass_for_no_proof() -> None:
    game = athenan.make_game("hex", size=3)
    search = athenan.make_search("alphabeta", game, lambda planes: [100.0] * len(planes), depth=2)
    result = search.run(game.initial_state())
    assert (result.value, result.completion, result.resolved) == (1, 0, False)


def test_every_order_of_children_of_a_small_tree() -> None:
    """Cost changes with it, the value never."""
    costs = set()
    for leaves in itertools.permutations([[3, 1], [4, 1], [5, 9]]):
        game = athenan.TreeGame.nested([list(part) for part in leaves])
        search = athenan.make_search("alphabeta", game, "zero", heuristic="score", depth=9)
        search.core.tracing = True
        assert search.run(game.initial_state()).value == 5
        costs.add(sum(kind == "leaf" for _, kind, _, _ in search.core.trace))
    assert len(costs) > 1


@pytest.mark.parametrize("name", ["minimax", "alphabeta", "pvs", "alphabeta_augmented", "mt_sss"])
def test_a_search_that_is_stopped_proves_nothing_of_the_root(name: str) -> None:
    """The only child that was searched loses; another one wins."""
    game = athenan.TreeGame.nested([[-1, -1], [1, 1]])
    search = athenan.make_search(name, game, "zero", depth=100)
    result = search.run(game.initial_state(), evaluations=1)
    assert (result.resolved, result.completion) == (False, 0)
    result = search.run(game.initial_state())
    assert (result.resolved, result.completion, result.action) == (True, 1, 1)
