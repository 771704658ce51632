"""The theorems of the paper that sees alpha-beta, MT-SSS* and UCT as one family of rollouts.

Numbers are those of the paper; the leaves of the core are taken from its trace, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from cases import random_game
from interval_reference import (
    Means,
    Storage,
    alphabeta_augmented,
    alphabeta_storage,
    empty_storage,
    leftmost,
    max_beta,
    mt_sss,
    rollouts,
)
from trees import INFINITE, Tree, is_subsequence, random_tree

import athenan

TREES = 1200
POLICIES = ["leftmost", "max_beta", "random", "uct_hybrid"]


def random_trees(name: str, count: int = TREES) -> Iterator[tuple[Tree, Random]]:
    for number in range(count):
        random = Random(f"{name} {number}")
        yield random_tree(random), random


def some_storage(tree: Tree, random: Random) -> Storage:
    """What random rollouts leave."""
    storage = empty_storage(tree.nodes)
    rollouts(
        tree.root, storage, lambda _, those: random.choice(those), [], most=random.randint(0, 6)
    )
    return storage


@pytest.mark.parametrize("policy", POLICIES)
def test_theorem_1_any_policy_finds_the_value_and_no_leaf_twice(policy: str) -> None:
    for tree, random in random_trees(f"1 {policy}"):
        traced = tree.searched(
            "rollout", policy=policy, seed=random.getrandbits(32), mirror_min=random.random() < 0.5
        )
        assert (traced.result.value, traced.result.resolved) == (tree.root.value, True)
        assert len(set(traced.leaves)) == len(traced.leaves)
        assert set(traced.leaves) <= set(tree.leaves)
        chosen = tree.root.children[traced.result.action]
        assert chosen.value == tree.root.value


@pytest.mark.parametrize("policy", POLICIES)
def test_lemmas_2_and_3_on_the_way(policy: str) -> None:
    """Ranges only shrink and hold the value; on trees a rollout always ends at a leaf."""
    for tree, random in random_trees(f"2 {policy}", 200):
        game = tree.game()
        search = athenan.make_search(
            "rollout", game, "zero", depth=1000, child_batching=False, heuristic="score",
            policy=policy, seed=random.getrandbits(32),
        )  # fmt: skip
        search.core.tracing = True
        windows: dict[tuple[int, ...], tuple[float, float]] = {}
        resolved = False
        while not resolved:
            resolved = search.run(game.initial_state(), iterations=1).resolved
            trace = search.core.trace
            if resolved and not trace:
                break
            assert [kind for _, kind, _, _ in trace].count("leaf") == 1
            assert trace[-1][1] == "leaf"
            for path, kind, alpha, beta in trace:
                assert alpha < beta or kind == "leaf"
                if kind == "call":
                    low, high = windows.get(path, (-INFINITE, INFINITE))
                    assert low <= alpha < beta <= high
                    windows[path] = alpha, beta


def test_theorem_2_leftmost_is_alphabeta() -> None:
    """The same leaves in the same order; from any storage that rollouts leave also the same storage
    in the end."""
    for tree, random in random_trees("2"):
        first = tree.searched("rollout", policy="leftmost")
        assert first.leaves == tree.searched("alphabeta_augmented").leaves
        for storage in (empty_storage(tree.nodes), some_storage(tree, random)):
            other, leaves, others = dict(storage), [], []
            rollouts(tree.root, storage, leftmost, leaves)
            alphabeta_augmented(tree.root, -INFINITE, INFINITE, other, others)
            assert (leaves, storage) == (others, other)


def test_theorem_3_max_beta_is_mt_sss() -> None:
    for tree, random in random_trees("3"):
        first = tree.searched("rollout", policy="max_beta")
        assert first.leaves == tree.searched("mt_sss", augmented=True).leaves
        for storage in (empty_storage(tree.nodes), some_storage(tree, random)):
            other, leaves, others = dict(storage), [], []
            rollouts(tree.root, storage, max_beta, leaves)
            mt_sss(tree.root, other, others, augmented=True)
            assert (leaves, storage) == (others, other)


def test_theorem_4_augmented_mt_sss_evaluates_no_more() -> None:
    fewer = 0
    for tree, _ in random_trees("4"):
        plain, augmented = (
            tree.searched("mt_sss", augmented=augmented).leaves for augmented in (False, True)
        )
        assert is_subsequence(augmented, plain)
        fewer += len(augmented) < len(plain)
    assert fewer > TREES / 30


def test_one_pass_on_an_empty_storage() -> None:
    """Algorithms 1 and 5 look at the same leaves, MT-SSS* at some of them."""
    for tree, _ in random_trees("one pass"):
        plain = tree.searched("alphabeta_storage").leaves
        assert tree.searched("alphabeta_augmented").leaves == plain
        assert set(tree.searched("mt_sss", augmented=False).leaves) <= set(plain)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("alphabeta_storage", {}),
        ("alphabeta_augmented", {}),
        ("mt_sss", {"augmented": False}),
        ("mt_sss", {"augmented": True}),
        ("rollout", {"policy": "leftmost"}),
        ("rollout", {"policy": "max_beta"}),
        ("rollout", {"policy": "uct_hybrid", "lambda": 5.0, "mirror_min": False}),
        ("rollout", {"policy": "uct_hybrid", "lambda": 0.5, "mirror_min": True}),
    ],
)
def test_the_core_is_the_papers(name: str, options: dict[str, Any]) -> None:
    """Leaves in order, as a plain rendering of the algorithms."""
    for tree, _ in random_trees("reference"):
        storage, leaves, root = empty_storage(tree.nodes), [], tree.root
        if name == "alphabeta_storage":
            alphabeta_storage(root, -INFINITE, INFINITE, storage, leaves)
        elif name == "alphabeta_augmented":
            alphabeta_augmented(root, -INFINITE, INFINITE, storage, leaves)
        elif name == "mt_sss":
            mt_sss(root, storage, leaves, options["augmented"])
        elif options["policy"] == "uct_hybrid":
            means = Means(options["lambda"], options["mirror_min"])
            rollouts(root, storage, means.policy, leaves, means=means)
        else:
            rollouts(root, storage, {"leftmost": leftmost, "max_beta": max_beta}[options["policy"]],
                     leaves)  # fmt: skip
        traced = tree.searched(name, **options)
        assert traced.leaves == leaves
        assert (traced.result.value, traced.result.resolved) == (tree.root.value, True)


def test_stored_bounds_of_algorithm_1_may_loosen_no_more() -> None:
    """They hold the value after any windows (definition 1)."""
    for tree, random in random_trees("windows", 300):
        storage = empty_storage(tree.nodes)
        for _ in range(8):
            alpha = random.randint(-20, 20) + 0.5
            before = dict(storage)
            alphabeta_storage(tree.root, alpha, alpha + random.choice([1, 3]), storage, [])
            for node in tree.nodes:
                low, high = storage[node.number]
                assert low <= node.value <= high
                assert before[node.number][0] <= low
                assert high <= before[node.number][1]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("child_batching", [False, True])
def test_graphs_are_no_trap(policy: str, child_batching: bool) -> None:
    """A state's children can all be closed by way of other parents: it is backed up and no more."""
    for number in range(300):
        random = Random(f"graph {number}")
        game = random_game(random, "dag", 40)
        common = {"depth": 1000, "heuristic": "score"}
        exact = athenan.make_search("minimax", game, "zero", **common).run(game.initial_state())
        search = athenan.make_search(
            "rollout", game, "zero", policy=policy, child_batching=child_batching, seed=number,
            **common,
        )  # fmt: skip
        found = search.run(game.initial_state(), iterations=40 * 40)
        assert (found.value, found.resolved) == (exact.value, True)
        assert found.iterations <= max(1, found.states)


def test_uct_comes_near_the_value() -> None:
    """Algorithm 3 on small trees: μ of the root, and the best child."""
    right = 0
    for number in range(30):
        random = Random(f"uct {number}")
        best, other = random.choice([(2, -1), (3, 1), (1, -2)])
        leaves = [[best, best + 1], [other, best + 2], [other, other]]
        random.shuffle(leaves)
        game = athenan.TreeGame.nested(leaves)
        search = athenan.make_search(
            "rollout", game, "zero", policy="uct", heuristic="score", depth=10, **{"lambda": 2.0}
        )
        result = search.run(game.initial_state(), iterations=20_000)
        assert abs(result.value - best) < 0.2
        right += min(leaves[result.action]) == best
    assert right == 30
    with pytest.raises(ValueError, match="need a budget"):
        search.run(game.initial_state())


@pytest.mark.parametrize("policy", POLICIES)
def test_bounds_of_the_game_to_begin_with(policy: str) -> None:
    """The paper's outlook: the same value, by no more leaves in all."""
    from trees import inform

    informed_leaves = plain_leaves = 0
    for tree, random in random_trees("informed", 400):
        inform(tree, random)
        plain = tree.searched("rollout", policy=policy)
        informed = tree.searched("rollout", policy=policy, informed=True)
        assert informed.result.value == plain.result.value == tree.root.value
        assert informed.result.resolved
        informed_leaves += len(informed.leaves)
        plain_leaves += len(plain.leaves)
    assert informed_leaves < plain_leaves


@pytest.mark.parametrize("policy", ["leftmost", "max_beta", "random", "uct_hybrid"])
def test_what_rests_on_estimates_is_not_resolved(policy: str) -> None:
    """Though its range is closed."""
    game = athenan.make_game("connect_four", rows=4, columns=4)
    search = athenan.make_search("rollout", game, "hash", depth=3, policy=policy)
    result = search.run(game.initial_state())
    plain = athenan.make_search("minimax", game, "hash", depth=3).run(game.initial_state())
    assert (result.value, result.resolved) == (plain.value, False)
    assert not any(child.resolved for child in result.children)
