"""Random trees of max and min nodes with bounds, for the theorems about searches by windows.

Nodes are numbered, parents first; `of_path` finds the one that a search's trace names.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from random import Random
from typing import Any

import athenan

INFINITE = math.inf


@dataclass(eq=False)
class Node:
    number: int
    is_max: bool
    parent: Node | None
    children: list[Node] = field(default_factory=list)
    value: float = 0  # f
    upper: float = INFINITE  # U
    lower: float = -INFINITE  # L

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @property
    def ancestors(self) -> list[Node]:
        """Proper ones, the root first."""
        above: list[Node] = []
        node = self.parent
        while node is not None:
            above.insert(0, node)
            node = node.parent
        return above

    def left_brothers(self) -> list[Node]:
        assert self.parent is not None
        return self.parent.children[: self.parent.children.index(self)]


@dataclass(eq=False)
class Tree:
    nodes: list[Node]

    @property
    def root(self) -> Node:
        return self.nodes[0]

    @property
    def leaves(self) -> list[int]:
        return [node.number for node in self.nodes if node.is_leaf]

    def of_path(self, path: tuple[int, ...]) -> Node:
        node = self.root
        for action in path:
            node = node.children[action]
        return node

    def game(self) -> athenan.Game:
        return athenan.TreeGame(
            [[child.number for child in node.children] for node in self.nodes],
            [node.value if node.is_leaf else 0 for node in self.nodes],
            [0 if node.is_max else 1 for node in self.nodes],
            [node.upper for node in self.nodes],
            [node.lower for node in self.nodes],
        )

    def searched(self, name: str, **options: Any) -> Traced:
        """By a search of the core, to the tree's end."""
        return Traced(self, name, **options)

    def evaluate(self) -> None:
        """f of inner nodes by that of the leaves."""
        for node in reversed(self.nodes):
            if node.children:
                choose = max if node.is_max else min
                node.value = choose(child.value for child in node.children)

    def without_bounds(self) -> None:
        for node in self.nodes:
            node.upper, node.lower = INFINITE, -INFINITE
            if node.is_leaf:
                node.upper = node.lower = node.value


class Traced:
    """A search of the core with what it visited, by the numbers of nodes."""

    def __init__(self, tree: Tree, name: str, **options: Any) -> None:
        options = {"depth": 1000, "child_batching": False, "heuristic": "score", **options}
        if name == "minimax":
            options.pop("memory_mb", None)
        game = tree.game()
        self.search = athenan.make_search(name, game, "zero", **options)
        self.search.core.tracing = True
        self.result = self.search.run(game.initial_state())
        self.visits = [
            (tree.of_path(path).number, kind, a, b) for path, kind, a, b in self.search.core.trace
        ]

    def of_kind(self, kind: str) -> list[int]:
        return [node for node, what, _, _ in self.visits if what == kind]

    @property
    def leaves(self) -> list[int]:
        return self.of_kind("leaf")


def random_tree(random: Random, most: int | None = None, root_is_max: bool | None = None) -> Tree:
    """Alternating types or any, ties frequent or rare."""
    most = most or random.choice([6, 12, 40])
    alternating = random.random() < 0.6
    first = random.random() < 0.7 if root_is_max is None else root_is_max
    nodes = [Node(0, first, None)]
    frontier, target = [nodes[0]], random.randint(2, most)
    while len(nodes) < target:
        parent = frontier.pop(random.randrange(len(frontier)))
        for _ in range(random.randint(1, 4)):
            is_max = not parent.is_max if alternating else random.random() < 0.5
            child = Node(len(nodes), is_max, parent)
            nodes.append(child)
            parent.children.append(child)
            frontier.append(child)
    tree = Tree(nodes)
    largest = random.choice([1, 2, 6, 20])
    for node in nodes:
        if node.is_leaf:
            node.value = random.randint(-largest, largest)
    tree.evaluate()
    tree.without_bounds()
    return tree


def largest_value(tree: Tree) -> float:
    return max(1, *(abs(node.value) for node in tree.nodes if node.is_leaf))


def inform(tree: Tree, random: Random) -> None:
    """Draws consistent bounds within those there are; the root's stay infinite, as searches do not
    use them. Beyond the largest value a bound says no more than it."""
    share, spread = random.choice([0, 0.4, 0.8]), random.choice([0, 1, 3, 10])
    most = largest_value(tree)
    for node in tree.nodes[1:]:
        if node.is_leaf:
            continue
        if random.random() >= share:
            node.upper = min(node.upper, node.value + random.randint(0, spread), most)
        if random.random() >= share:
            node.lower = max(node.lower, node.value - random.randint(0, spread), -most)
        assert node.parent is not None
        if node.parent.is_max:
            node.upper = min(node.upper, node.parent.upper)
        else:
            node.lower = max(node.lower, node.parent.lower)


@dataclass
class Quantities:
    """Of a node, by its proper ancestors and their children to the left (definitions 1.1)."""

    alpha: float  # α: the best that first players have to the left
    beta: float  # β
    lower: float  # L̂ of all ancestors
    upper: float  # Û
    lower_of_max: float  # L̄ of the max ancestors
    upper_of_min: float  # Ū of the min ancestors
    best: float  # f̂ of all ancestors

    @property
    def low(self) -> float:
        return max(self.alpha, self.lower)

    @property
    def high(self) -> float:
        return min(self.beta, self.upper)


def quantities(node: Node) -> Quantities:
    above = node.ancestors
    line = [*above[1:], node] if above else []
    alphas = [b.value for n in line for b in n.left_brothers() if n.parent and n.parent.is_max]
    betas = [b.value for n in line for b in n.left_brothers() if n.parent and not n.parent.is_max]
    return Quantities(
        alpha=max(alphas, default=-INFINITE),
        beta=min(betas, default=INFINITE),
        lower=max((n.lower for n in above), default=-INFINITE),
        upper=min((n.upper for n in above), default=INFINITE),
        lower_of_max=max((n.lower for n in above if n.is_max), default=-INFINITE),
        upper_of_min=min((n.upper for n in above if not n.is_max), default=INFINITE),
        best=max((n.value for n in above), default=-INFINITE),
    )


def beta_ancestor(node: Node) -> Node | None:
    """The one closest to the root whose U is min(β, Û), or a min node with such a child to the
    left."""
    limit = quantities(node).high
    line = [*node.ancestors, node]
    for above, below in itertools.pairwise(line):
        if above.upper == limit:
            return above
        if not above.is_max and any(b.value == limit for b in below.left_brothers()):
            return above
    return None


def is_subsequence(part: list[int], whole: list[int]) -> bool:
    rest = iter(whole)
    return all(item in rest for item in part)
