"""Plain renderings of the searches by windows, as the papers print them but for their errata.

Figures are those of the paper on informed trees, algorithms those of the paper on rollouts. Each
notes what it visits in `visits`, as the core's trace does.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from trees import INFINITE, Node

Visits = list[tuple[int, str, float, float]]


def minimax_leaves(node: Node) -> list[int]:
    if node.is_leaf:
        return [node.number]
    return [leaf for child in node.children for leaf in minimax_leaves(child)]


def alphabeta_informed(node: Node, alpha: float, beta: float, visits: Visits) -> float:
    """Figure 3."""
    assert alpha < beta
    visits.append((node.number, "call", alpha, beta))
    if node.is_leaf:
        visits.append((node.number, "leaf", node.value, node.value))
    if alpha >= node.upper or node.lower >= beta or node.upper == node.lower:
        return node.lower if node.lower >= beta else node.upper
    if node.is_max:
        best, low = -INFINITE, max(alpha, node.lower)
        for child in node.children:
            best = max(best, value := alphabeta_informed(child, low, beta, visits))
            low = max(low, value)
            if value >= min(beta, node.upper):
                break
        return best
    best, high = INFINITE, min(beta, node.upper)
    for child in node.children:
        best = min(best, value := alphabeta_informed(child, alpha, high, visits))
        high = min(high, value)
        if value <= max(alpha, node.lower):
            break
    return best


Shape = tuple[int, tuple[object, ...]]  # of a solution tree: number of its root, children's shapes


@dataclass
class Solution:
    """A solution tree: all children of a max node, one of a min node, none of a tip."""

    root: Node
    value: float  # g
    children: list[Solution] = field(default_factory=list)

    def shape(self) -> Shape:
        return self.root.number, tuple(child.shape() for child in self.children)

    def tips(self) -> list[Solution]:
        return [tip for c in self.children for tip in c.tips()] if self.children else [self]


class Sss2:
    """Figures 4 to 6, with their pre- and postconditions."""

    def __init__(self) -> None:
        self.visits: Visits = []
        self.diminished: set[tuple[int, float, Shape]] = set()

    def run(self, root: Node) -> float:
        value, tree = self.expand(root, INFINITE)
        assert tree is not None
        self.tree = tree
        while True:
            before, value = value, self.diminish(tree, value)
            assert value == tree.value
            if value == before:
                return value

    def expand(self, node: Node, limit: float) -> tuple[float, Solution | None]:
        self.visits.append((node.number, "expand", limit, 0))
        if node.is_leaf:
            self.visits.append((node.number, "leaf", node.value, node.value))
        if node.upper < limit:
            return node.upper, Solution(node, node.upper)
        if node.lower >= limit:
            return node.lower, None
        value, tree = self.expand_tip(node, limit)
        if tree is None:  # Theorem 6.1
            assert node.value >= value >= limit
        else:
            assert node.value <= value == tree.value < limit
        return value, tree

    def expand_tip(self, node: Node, limit: float) -> tuple[float, Solution | None]:
        if node.is_max:
            grown: list[Solution] = []
            for child in node.children:
                value, tree = self.expand(child, limit)
                if tree is None:
                    return value, None
                grown.append(tree)
            best = max(tree.value for tree in grown)
            return best, Solution(node, best, grown)
        for child in node.children:
            value, tree = self.expand(child, limit)
            if tree is not None:
                return value, Solution(node, value, [tree])
        return limit, None

    def diminish(self, tree: Solution, limit: float) -> float:
        node = tree.root
        assert tree.value == limit
        self.visits.append((node.number, "diminish", limit, 0))
        self.diminished.add((node.number, limit, tree.shape()))
        value = self.diminished_value(tree, limit)
        assert value <= limit
        assert (value == limit) == (node.value >= limit)  # Theorem 6.2
        tree.value = value
        return value

    def diminished_value(self, tree: Solution, limit: float) -> float:
        node = tree.root
        if node.lower >= limit:
            return limit
        if not tree.children:
            _, grown = self.expand_tip(node, limit)
            if grown is None:
                return limit
            tree.children = grown.children
            return grown.value
        if node.is_max:
            for child in tree.children:
                if child.value == limit and self.diminish(child, limit) == limit:
                    break
            return max(child.value for child in tree.children)
        (child,) = tree.children
        value = self.diminish(child, limit)
        if value < limit:
            return value
        for brother in node.children[node.children.index(child.root) + 1 :]:
            value, grown = self.expand(brother, limit)
            if grown is not None:
                tree.children = [grown]
                return value
        return limit


class Sss2ByList(Sss2):
    """Figure 8: the same by the list of the solution tree's tips; L must be -∞ above leaves."""

    def run(self, root: Node) -> float:
        value, tree = self.expand(root, INFINITE)
        assert tree is not None
        tips = [tip.root for tip in tree.tips()]
        while True:
            before = value
            while worst := next((tip for tip in tips if tip.upper == before), None):
                if not self.lower_tip(tips, worst, before):
                    return before
            value = max(tip.upper for tip in tips)

    def lower_tip(self, tips: list[Node], tip: Node, limit: float) -> bool:
        if not tip.is_leaf:
            _, grown = self.expand_tip(tip, limit)
            if grown is not None:
                return self.replace(tips, tip, grown)
        line = [*tip.ancestors, tip]
        for above, below in reversed(list(itertools.pairwise(line))):
            if above.is_max:
                continue
            for brother in above.children[above.children.index(below) + 1 :]:
                _, grown = self.expand(brother, limit)
                if grown is not None:
                    return self.replace(tips, above, grown)
        return False

    def replace(self, tips: list[Node], below: Node, grown: Solution) -> bool:
        places = [i for i, tip in enumerate(tips) if tip is below or below in tip.ancestors]
        tips[places[0] : places[-1] + 1] = [tip.root for tip in grown.tips()]
        return True


# ---- The storage and the rollouts ----------------------------------------------------------

Range = tuple[float, float]
Storage = dict[int, Range]


def empty_storage(nodes: list[Node]) -> Storage:
    return {node.number: (-INFINITE, INFINITE) for node in nodes}


def alphabeta_storage(
    node: Node, alpha: float, beta: float, storage: Storage, leaves: list[int], exact: bool = True
) -> float:
    """Algorithm 1; with `exact` a leaf is stored with both bounds (as printed it is not)."""
    low, high = storage[node.number]
    if low >= beta:
        return low
    if high <= alpha:
        return high
    if node.is_leaf:
        leaves.append(node.number)
        value = node.value
        if exact:
            storage[node.number] = value, value
            return value
    else:
        a, b = alpha, beta
        value = -INFINITE if node.is_max else INFINITE
        for child in node.children:
            found = alphabeta_storage(child, a, b, storage, leaves, exact)
            if node.is_max:
                value = max(value, found)
                a = max(a, value)
                if value >= beta:
                    break
            else:
                value = min(value, found)
                b = min(b, value)
                if value <= alpha:
                    break
    if value < beta:
        high = value
    if value > alpha:
        low = value
    storage[node.number] = low, high
    return value


def alphabeta_augmented(
    node: Node, alpha: float, beta: float, storage: Storage, leaves: list[int]
) -> Range:
    """Algorithm 5."""
    low, high = storage[node.number]
    a, b = max(alpha, low), min(beta, high)
    if a >= b:
        return low, high
    if node.is_leaf:
        leaves.append(node.number)
        storage[node.number] = node.value, node.value
        return storage[node.number]
    choose = max if node.is_max else min
    found = []
    for child in node.children:
        found.append(alphabeta_augmented(child, a, b, storage, leaves))
        if node.is_max:
            a = max(a, found[-1][0])
        else:
            b = min(b, found[-1][1])
    storage[node.number] = choose(low for low, _ in found), choose(high for _, high in found)
    return storage[node.number]


def mt_sss(root: Node, storage: Storage, leaves: list[int], augmented: bool) -> float:
    """Algorithm 2; values are whole numbers, so that nothing is between -∞ and the least."""
    while storage[root.number][0] < (beta := storage[root.number][1]):
        alpha = beta - 1 if beta < INFINITE else 1e6
        if augmented:
            alphabeta_augmented(root, alpha, beta, storage, leaves)
        else:
            alphabeta_storage(root, alpha, beta, storage, leaves)
    return storage[root.number][0]


@dataclass
class Open:
    """A child to which a rollout may go down."""

    node: Node
    alpha: float
    beta: float


Policy = Callable[[Node, list[Open]], Open]


def leftmost(_: Node, open_children: list[Open]) -> Open:
    return open_children[0]


def max_beta(_: Node, open_children: list[Open]) -> Open:
    return max(open_children, key=lambda child: child.beta)


class Means:
    """n and μ of each state, and the policy of Algorithm 12."""

    def __init__(self, exploration: float, mirror_min: bool) -> None:
        self.exploration, self.mirror_min = exploration, mirror_min
        self.visits: dict[int, int] = {}
        self.mean: dict[int, float] = {}

    def policy(self, parent: Node, open_children: list[Open]) -> Open:
        largest = max(child.beta for child in open_children)
        likely = [child for child in open_children if child.beta == largest]
        return max(likely, key=lambda child: self.score(parent, child.node))

    def score(self, parent: Node, child: Node) -> float:
        if not self.visits.get(child.number):
            return INFINITE
        log = math.log(max(1, self.visits[parent.number]))
        more = self.exploration * math.sqrt(log / self.visits[child.number])
        sign = -1 if self.mirror_min and not parent.is_max else 1
        return sign * self.mean[child.number] + more

    def learn(self, node: Node, reward: float) -> None:
        visits = self.visits[node.number] = self.visits.get(node.number, 0) + 1
        mean = self.mean.get(node.number, 0.0)
        self.mean[node.number] = mean + (reward - mean) / visits


def rollout(
    node: Node, alpha: float, beta: float, storage: Storage, policy: Policy, leaves: list[int]
) -> list[Node]:
    """Algorithm 4; the states that it passed, the leaf last."""
    if node.is_leaf:
        leaves.append(node.number)
        storage[node.number] = node.value, node.value
        return [node]
    windows = [
        Open(child, max(alpha, storage[child.number][0]), min(beta, storage[child.number][1]))
        for child in node.children
    ]
    chosen = policy(node, [window for window in windows if window.alpha < window.beta])
    line = rollout(chosen.node, chosen.alpha, chosen.beta, storage, policy, leaves)
    choose = max if node.is_max else min
    ranges = [storage[child.number] for child in node.children]
    storage[node.number] = choose(low for low, _ in ranges), choose(high for _, high in ranges)
    return [node, *line]


def rollouts(
    root: Node,
    storage: Storage,
    policy: Policy,
    leaves: list[int],
    most: int | None = None,
    means: Means | None = None,
) -> float:
    done = 0
    while storage[root.number][0] < storage[root.number][1] and (most is None or done < most):
        line = rollout(root, *storage[root.number], storage, policy, leaves)
        done += 1
        for node in line if means else []:
            means.learn(node, line[-1].value)  # type: ignore[union-attr]
    return storage[root.number][0]
