"""The theorems of the paper on informed game trees, on random ones.

Numbers are those of the paper. Sets and orders of visited nodes are those of the core, by its
trace; a plain rendering of the figures says the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from interval_reference import (
    Shape,
    Sss2,
    Sss2ByList,
    alphabeta_informed,
    alphabeta_storage,
    empty_storage,
    mt_sss,
)
from trees import (
    INFINITE,
    Node,
    Traced,
    Tree,
    beta_ancestor,
    inform,
    quantities,
    random_tree,
)

import athenan

TREES = 1200


def informed_trees(name: str, count: int = TREES, most: int | None = None) -> Iterator[Tree]:
    for number in range(count):
        random = Random(f"{name} {number}")
        tree = random_tree(random, most)
        if random.random() < 0.75:
            inform(tree, random)
        yield tree


def plain_sss2(tree: Tree) -> Sss2:
    search = Sss2()
    assert search.run(tree.root) == tree.root.value
    return search


def called(traced: Traced) -> list[int]:
    return traced.of_kind("call")


def test_theorem_2_1_values_within_and_beyond_the_window() -> None:
    """Of the plain rendering, which the core agrees with in all that it visits."""
    for tree in informed_trees("2.1"):
        random = Random(len(tree.nodes))
        exact = tree.root.value
        for _ in range(3):
            alpha = random.uniform(-22, 22)
            beta = alpha + random.choice([0.5, 1, 5])
            found = alphabeta_informed(tree.root, alpha, beta, [])
            assert found == exact or not alpha < found < beta
            assert found > alpha or exact <= found
            assert found < beta or exact >= found


def test_alphabeta_visits_as_printed() -> None:
    """Figure 3: the same calls with the same windows in the same order."""
    for tree in informed_trees("figure 3"):
        traced, visits = tree.searched("alphabeta_informed"), []
        value = alphabeta_informed(tree.root, -INFINITE, INFINITE, visits)
        assert (traced.result.value, traced.result.resolved) == (tree.root.value, True)
        assert value == tree.root.value
        assert traced.visits == visits


def test_theorem_3_1_windows_of_calls() -> None:
    for tree in informed_trees("3.1"):
        for number, kind, alpha, beta in tree.searched("alphabeta_informed").visits:
            q = quantities(tree.nodes[number])
            if kind == "call":
                assert alpha == max(q.alpha, q.lower_of_max)
                assert beta == min(q.beta, q.upper_of_min)


def test_theorem_3_2_which_nodes_are_called() -> None:
    for tree in informed_trees("3.2"):
        found = called(tree.searched("alphabeta_informed"))
        expected = {
            node.number for node in tree.nodes if quantities(node).low < quantities(node).high
        }
        assert (len(found), set(found)) == (len(expected), expected)


def test_corollary_3_1_and_theorem_7_3_better_bounds() -> None:
    """With bounds that are nowhere wider alpha-beta visits a subset, and SSS-2 a subset of what
    alpha-beta visits with the wider ones."""
    fewer = 0
    for number in range(TREES):
        random = Random(f"3.1 {number}")
        tree = random_tree(random)
        if random.random() < 0.5:
            inform(tree, random)
        wide = set(called(tree.searched("alphabeta_informed")))
        inform(tree, random)
        assert set(called(tree.searched("alphabeta_informed"))) <= wide
        best_first = set(tree.searched("sss2").of_kind("expand"))
        assert best_first <= wide
        fewer += best_first < wide
    assert fewer > TREES / 10


def solution_trees(node: Node) -> list[tuple[Shape, float]]:
    """(shape, g) of all, the oldest first."""
    found: list[tuple[Shape, float]] = [((node.number, ()), node.upper)]
    if node.is_max and node.children:
        for parts in itertools.product(*map(solution_trees, node.children)):
            shape = node.number, tuple(part for part, _ in parts)
            found.append((shape, max(value for _, value in parts)))
    elif node.children:
        for child in node.children:
            found += [((node.number, (s,)), value) for s, value in solution_trees(child)]
    return found


def test_theorem_4_1_the_least_solution_tree() -> None:
    for tree in informed_trees("4.1", most=12):
        assert min(value for _, value in solution_trees(tree.root)) == tree.root.value


def test_theorems_5_1_6_1_6_2_sss2_is_right() -> None:
    """The pre- and postconditions of expand and diminish are asserted in the plain rendering; the
    core visits the same in the same order."""
    for tree in informed_trees("sss2"):
        traced = tree.searched("sss2")
        assert (traced.result.value, traced.result.resolved) == (tree.root.value, True)
        assert traced.visits == plain_sss2(tree).visits
        line = tree.of_path(tuple(traced.result.principal_variation))
        assert line.value == tree.root.value


def test_theorem_7_1_which_trees_are_diminished() -> None:
    """The milestones: the oldest tree of a node that is worth so little, older ones being worth
    more. (As printed, the oldest that is worth just that, it fails.)"""
    for tree in informed_trees("7.1", most=12):
        expected = set()
        for node in tree.nodes:
            q, least = quantities(node), INFINITE
            for shape, value in solution_trees(node):
                if value < least:
                    least = value
                    if q.high > value > q.low and value >= q.best:
                        expected.add((node.number, value, shape))
        search = plain_sss2(tree)
        assert search.diminished == expected
        core = {(n, a) for n, kind, a, _ in tree.searched("sss2").visits if kind == "diminish"}
        assert core == {(number, value) for number, value, _ in expected}


def test_theorem_7_2_which_nodes_are_expanded() -> None:
    for tree in informed_trees("7.2"):
        expected = {(0, INFINITE)}
        for node in tree.nodes[1:]:
            q, ancestor = quantities(node), beta_ancestor(node)
            if q.high > q.low and ancestor and q.high >= quantities(ancestor).best:
                expected.add((node.number, q.high))
        found = [(n, a) for n, kind, a, _ in tree.searched("sss2").visits if kind == "expand"]
        assert len(found) == len(set(found)), "each at most once"
        assert set(found) == expected


def test_sss2_is_not_monotone() -> None:
    """A tighter bound can make it visit more, which alpha-beta never does (corollary 3.1)."""
    children = [[1], [2, 3, 4], [5, 6], [], [], [7, 8], [], [], []]
    visited = []
    for bound in (3, 0):  # U of node 1, whose value is 0
        nodes = [Node(number, number in (0, 2), None) for number in range(9)]
        for node, below in zip(nodes, children, strict=True):
            node.children = [nodes[child] for child in below]
            for child in node.children:
                child.parent = node
        for leaf, value in {3: 0, 4: 2, 6: 3, 7: 0, 8: 0}.items():
            nodes[leaf].value = value
        tree = Tree(nodes)
        tree.evaluate()
        tree.without_bounds()
        for number, upper in {1: bound, 2: 5, 5: 0}.items():
            nodes[number].upper = upper
        visited.append(set(tree.searched("sss2").of_kind("expand")))
    assert visited[1] - visited[0] == {7, 8}


def test_figure_8_the_list_of_tips_calls_the_same() -> None:
    for tree in informed_trees("figure 8"):
        for node in tree.nodes:
            if not node.is_leaf:
                node.lower = -INFINITE
        by_list = Sss2ByList()
        assert by_list.run(tree.root) == tree.root.value
        visits = tree.searched("sss2").visits
        assert by_list.visits == [visit for visit in visits if visit[1] != "diminish"]


def test_without_bounds_they_are_the_searches_of_the_rollout_paper() -> None:
    for number in range(TREES):
        tree = random_tree(Random(f"uninformed {number}"))
        leaves: list[int] = []
        alphabeta_storage(tree.root, -INFINITE, INFINITE, empty_storage(tree.nodes), leaves)
        assert tree.searched("alphabeta_informed").leaves == leaves
        leaves = []
        mt_sss(tree.root, empty_storage(tree.nodes), leaves, augmented=False)
        assert tree.searched("sss2").leaves == leaves


@pytest.mark.parametrize(
    ("bounds", "sentence"),
    [
        ({"upper": [9, 1, 9, 9]}, "The bounds of node 1 do not hold its value."),
        ({"lower": [-9, 4, -9, -9]}, "The bounds of node 1 do not hold its value."),
        ({"upper": [5, 7, 9, 9]}, "upper bound of node 1 is wider than that of node 0"),
        ({"upper": [float("nan"), 9, 9, 9]}, "The bounds of node 0 do not hold its value."),
    ],
)
def test_bounds_that_are_wrong_are_refused(bounds: dict[str, list[float]], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        athenan.TreeGame([[1, 2], [3], [], []], [0, 0, 1, 3], **bounds)


@pytest.mark.parametrize(
    ("name", "options"),
    [("othello", {}), ("rolit", {"players": 2}), ("rolit", {"players": 2, "without_line": "pass"})],
)
def test_bounds_of_games_hold_whatever_is_played(name: str, options: dict[str, Any]) -> None:
    """And are never wider than before; at the end they may be known long before it."""
    game = athenan.make_game(name, size=4, **options)
    plain, informed = (
        athenan.make_search(name, game, "zero", depth=100, heuristic="score")
        for name in ("alphabeta", "alphabeta_informed")
    )
    informed.core.tracing = True
    random, fewer = Random(4), 0
    for _ in range(60):
        state = game.initial_state()
        for _ in range(random.randint(4, 9)):
            if not state.is_terminal:
                state = state.play(random.choice(state.legal_actions()))
        expected, found = plain.run(state), informed.run(state)
        assert (found.value, found.resolved) == (expected.value, True)
        if state.is_terminal:
            continue
        calls = sum(kind == "call" for _, kind, _, _ in informed.core.trace)
        fewer += calls > 0
    assert fewer


@pytest.mark.parametrize("name", ["alphabeta_informed", "sss2"])
def test_estimates_at_the_horizon_give_way_to_bounds(name: str) -> None:
    """Of the state above, whose value lies between them whatever f_θ says of its children."""
    wide = [[1, 2], [3, 4], [5, 6], [7], [8], [9], [10], [], [], [], []]
    upper, lower = [INFINITE] * 11, [-INFINITE] * 11
    values = [0, 0, 0, 2, 2, 2, 2, 2, 2, -5, -5]  # estimates are in [-5, 5]
    upper[1], lower[1], lower[3], lower[4] = 4, 2, 2, 2
    game = athenan.TreeGame(wide, values, None, upper, lower)
    search = athenan.make_search(name, game, lambda planes: -np.ones(len(planes), np.float32),
                                 heuristic="score", depth=2)  # fmt: skip
    result = search.run(game.initial_state())
    assert (result.action, result.value) == (0, 2)
