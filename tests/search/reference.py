"""Unbounded minimax with completion in plain Python, to be read beside the pseudo-code of
"Completeness of Unbounded Best-First Minimax and Descent Minimax" (Algorithms 1 to 4).

Departures from the page, the same as in the core:
* Ties are broken by a stateless hash, so that two implementations agree.
* On an acyclic graph a state can find all its children resolved by way of other parents while it
  is not yet; it is then backed up without going on (only Algorithm 1 guards this as printed).
* A budget of evaluations is looked at before each expansion; an iteration that meets a spent
  budget backs up from where it is.
* Without completion nothing counts as resolved on the way down, and c is 0 everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

WORD = 2**64 - 1
STOP_COIN = 0xFFFFFFFF


def float32(x: float) -> float:
    return float(np.float32(x))


def mix(x: int) -> int:
    """The finaliser of splitmix64."""
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def hash_value(state: GraphState) -> float:
    """The `hash` evaluator: 24 bits of the key as a number in [-1, 1)."""
    low, high = state.key & WORD, state.key >> 64
    return ((mix(low ^ mix(high)) >> 40) - 2**23) / 2**23


def count_key(tag: int, count: int) -> int:
    """128 bits that a count adds to a state's key."""
    low = mix(2 * ((tag << 40) + count + 0x5EED00000000) + 1)
    return low | mix(low ^ 0xD1B54A32D192ED03) << 64


# Legal actions so far and turns so far, each of the first and the second player.
Mobility = tuple[int, int, int, int]


class GraphState:
    """A state of a GameGraph: what the pseudo-code asks about s."""

    def __init__(self, graph: GameGraph, state: Any, key: int, mobility: Mobility) -> None:
        self.graph, self.state, self.key, self.mobility = graph, state, key, mobility
        self.is_terminal: bool = state.is_terminal  # t(s)
        self.to_move: int = state.to_move  # j(s)
        self.outcome: int = state.outcomes[0] if self.is_terminal else 0  # f_b(s)

    @cached_property
    def children(self) -> list[tuple[int, GraphState]]:
        """A(s), each child with the action that leads to it."""
        actions = self.state.legal_actions()
        counts = list(self.mobility)
        counts[self.to_move] += len(actions)
        counts[2 + self.to_move] += 1
        mobility = (counts[0], counts[1], counts[2], counts[3])
        return [(a, self.graph.state(self.state.play(a), mobility)) for a in actions]

    @cached_property
    def terminal_evaluation(self) -> float:
        """f_t(s): the outcome times a strength in [1, bound]."""
        longest = self.graph.game.max_plies
        left = longest - self.state.ply + 1
        strength = {
            "gain": lambda: 1,
            "score": lambda: abs(self.state.score),
            "additive_depth": lambda: left,
            "multiplicative_depth": lambda: longest ** (left / longest),
            "mobility": lambda: (self.mean_mobility(0) / self.mean_mobility(1)) ** self.outcome,
            "presence": lambda: self.outcome * (self.pieces(0) - self.pieces(1)),
        }[self.graph.heuristic]()
        return float32(self.outcome * min(max(strength, 1), self.graph.bound))

    def mean_mobility(self, player: int) -> float:
        actions, turns = self.mobility[player], self.mobility[2 + player]
        return actions / turns if turns else 1

    def pieces(self, player: int) -> int:
        """Of games whose first two planes are the men of the two players."""
        return int(self.state.planes()[..., player].sum())


class GameGraph:
    """The states of a game, each made once however many ways lead to it."""

    def __init__(self, game: Any, heuristic: str = "gain") -> None:
        self.game, self.heuristic = game, heuristic
        self.bound: float = {
            "gain": 1.0,
            "score": max(1.0, game.max_score),
            "additive_depth": float(game.max_plies),
            "multiplicative_depth": float(game.max_plies),
            "mobility": 10.0,
            "presence": float(game.max_pieces),
        }[heuristic]
        self.states: dict[int, GraphState] = {}

    def state(self, state: Any, mobility: Mobility = (0, 0, 0, 0)) -> GraphState:
        """What the value depends on besides the state is part of the key."""
        key = state.key
        if self.heuristic.endswith("_depth"):
            key ^= count_key(1, state.ply)
        if self.heuristic == "mobility":
            for tag, count in enumerate(mobility, start=2):
                key ^= count_key(tag, count)
        if key not in self.states:
            self.states[key] = GraphState(self, state, key, mobility)
        return self.states[key]

    @property
    def root(self) -> GraphState:
        return self.state(self.game.initial_state())


class Reference:
    """v, c, r by state and n by edge, and the iterations that change them."""

    def __init__(
        self,
        graph: GameGraph,
        evaluator: Callable[[GraphState], float] = hash_value,  # f_θ, in [-1, 1]
        *,
        continue_rule: str = "always",
        new_states: int = 1,
        stop_probability: float = 0.5,
        order: str = "best",
        completion: bool = True,
        strong: bool = False,
        seed: int = 0,
    ) -> None:
        self.graph, self.evaluator = graph, evaluator
        self.continue_rule, self.order = continue_rule, order
        self.new_states, self.stop_probability = new_states, stop_probability
        self.with_completion, self.strong, self.seed = completion, strong, seed
        self.explored: set[int] = set()  # S_p
        self.value: dict[int, float] = {}  # v
        self.completion: dict[int, int] = {}  # c
        self.resolved: dict[int, bool] = {}  # r
        self.selections: Counter[tuple[int, int]] = Counter()  # n, by (parent's key, action)
        self.iterations = self.evaluations = self.charged = 0
        self.most_charged: int | None = None
        self.new_in_iteration = 0

    def run(
        self,
        state: GraphState,
        iteration: Callable[[GraphState], None] | None = None,
        *,
        iterations: int | None = None,
        evaluations: int | None = None,
    ) -> None:
        """Iterates until a budget is spent or the state is resolved."""
        self.iterations = self.evaluations = self.charged = 0
        self.most_charged = evaluations
        if state.is_terminal:
            self.settle(state)
        while not self.resolved.get(state.key) and not self.budget_is_spent():
            if iterations is not None and self.iterations >= iterations:
                break
            charged_before = self.charged
            self.new_in_iteration = 0
            (iteration or self.umb_iteration)(state)
            self.iterations += 1
            if self.charged == charged_before:
                self.charged += 1

    # ---- Algorithm 1: unbounded best-first minimax -----------------------------------------

    def ubfm_iteration(self, state: GraphState) -> None:
        if state.is_terminal:
            self.settle(state)
        else:
            if state.key not in self.explored:
                if self.budget_is_spent():
                    return
                self.expand(state)
            else:
                edges = self.edges_to_explore(state)
                if len(edges) > 0:
                    action, child = self.child_to_explore(state, edges)
                    self.selections[state.key, action] += 1
                    self.ubfm_iteration(child)
            self.back_up(state)

    # ---- Algorithm 2: descent --------------------------------------------------------------

    def descent_iteration(self, state: GraphState) -> None:
        if state.is_terminal:
            self.settle(state)
        else:
            if state.key not in self.explored:
                if self.budget_is_spent():
                    return
                self.expand(state)
                self.back_up(state)
            if not self.resolved[state.key]:
                edges = self.edges_to_explore(state)
                if len(edges) > 0:
                    action, child = self.child_to_explore(state, edges)
                    self.selections[state.key, action] += 1
                    self.descent_iteration(child)
                self.back_up(state)

    # ---- Algorithm 3: the best child, and whether a state is resolved -----------------------

    def best_child(self, state: GraphState) -> tuple[int, GraphState]:
        """For the value: ties to the most selected."""
        sign = 1 if state.to_move == 0 else -1
        return max(
            state.children,
            key=lambda edge: (
                sign * self.completion[edge[1].key],
                sign * self.value[edge[1].key],
                self.selections[state.key, edge[0]],
            ),
        )

    def best_child_dual(
        self, state: GraphState, edges: list[tuple[int, GraphState]]
    ) -> tuple[int, GraphState]:
        """For going down: ties to the least selected, then to the larger hash."""
        sign = 1 if state.to_move == 0 else -1
        visits = self.visits(state)
        return max(
            edges,
            key=lambda edge: (
                sign * self.completion[edge[1].key],
                sign * self.value[edge[1].key],
                -self.selections[state.key, edge[0]],
                self.tie_break(state, edge[0], visits),
            ),
        )

    def backup_resolution(self, state: GraphState) -> bool:
        if not self.with_completion:
            return False
        if abs(self.completion[state.key]) == 1 and not self.strong:
            return True
        return all(self.resolved[child.key] for _, child in state.children)

    # ---- Algorithm 4: the whole class ------------------------------------------------------

    def umb_iteration(self, state: GraphState) -> None:
        if state.is_terminal:
            self.settle(state)
        else:
            just_expanded = False
            if state.key not in self.explored:
                if self.budget_is_spent():
                    return
                just_expanded = True
                self.expand(state)
                self.back_up(state)
            if (not just_expanded or self.goes_on(state)) and not self.resolved[state.key]:
                edges = self.edges_to_explore(state)
                if len(edges) > 0:
                    action, child = self.child_to_explore(state, edges)
                    self.selections[state.key, action] += 1
                    self.umb_iteration(child)
                self.back_up(state)

    def goes_on(self, state: GraphState) -> bool:
        """continue(s)"""
        if self.continue_rule == "chance":
            coin = self.tie_break(state, STOP_COIN, 0)
            return (coin >> 11) * 2.0**-53 >= self.stop_probability
        if self.continue_rule == "at_most":
            return self.new_in_iteration < self.new_states
        return {"never": False, "always": True}[self.continue_rule]

    def child_to_explore(
        self, state: GraphState, edges: list[tuple[int, GraphState]]
    ) -> tuple[int, GraphState]:
        """calculate_priority_child(s, A)"""
        visits = self.visits(state)
        if self.order == "random":
            return max(edges, key=lambda edge: self.tie_break(state, edge[0], visits))
        if self.order == "least_selected":
            return max(
                edges,
                key=lambda edge: (
                    -self.selections[state.key, edge[0]],
                    self.tie_break(state, edge[0], visits),
                ),
            )
        return self.best_child_dual(state, edges)

    # ---- What the algorithms have in common -------------------------------------------------

    def settle(self, state: GraphState) -> None:
        self.explored.add(state.key)
        self.resolved[state.key] = True
        self.completion[state.key] = state.outcome if self.with_completion else 0
        self.value[state.key] = state.terminal_evaluation

    def expand(self, state: GraphState) -> None:
        self.explored.add(state.key)
        self.new_in_iteration += 1
        for _, child in state.children:
            if child.is_terminal:
                self.settle(child)
            elif child.key not in self.value:
                self.resolved[child.key] = False
                self.completion[child.key] = 0
                # In two roundings, as a network's float32 answer is scaled.
                self.value[child.key] = float32(self.graph.bound * float32(self.evaluator(child)))
                self.evaluations += 1
                self.charged += 1

    def back_up(self, state: GraphState) -> None:
        _, child = self.best_child(state)
        self.completion[state.key] = self.completion[child.key]
        self.value[state.key] = self.value[child.key]
        self.resolved[state.key] = self.backup_resolution(state)

    def edges_to_explore(self, state: GraphState) -> list[tuple[int, GraphState]]:
        return [
            (action, child)
            for action, child in state.children
            if not (self.with_completion and self.resolved[child.key])
        ]

    def budget_is_spent(self) -> bool:
        return self.most_charged is not None and self.charged >= self.most_charged

    def visits(self, state: GraphState) -> int:
        return sum(self.selections[state.key, action] for action, _ in state.children)

    def tie_break(self, state: GraphState, action: int, visits: int) -> int:
        low = state.key & WORD
        return mix(mix(mix(self.seed) ^ low) ^ mix(((visits << 32) & WORD) ^ action))

    def decision(self, state: GraphState, decision: str) -> int:
        """The action to play: best by (c, v, n), safest_printed by (c, n, v), and safest like the
        latter unless the best is resolved, whose selections do not grow any more."""
        if decision == "safest":
            best = self.decision(state, "best")
            if self.with_completion and self.resolved[dict(state.children)[best].key]:
                return best
        sign = 1 if state.to_move == 0 else -1

        def rank(edge: tuple[int, GraphState]) -> tuple[float, float, float, int]:
            action, child = edge
            value, selections = sign * self.value[child.key], self.selections[state.key, action]
            first, second = (value, selections) if decision == "best" else (selections, value)
            tie = self.tie_break(state, action, 0)
            return sign * self.completion[child.key], first, second, tie

        return max(state.children, key=rank)[0]
