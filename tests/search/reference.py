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
    low, high = state.state_key & WORD, state.state_key >> 64
    return ((mix(low ^ mix(high)) >> 40) - 2**23) / 2**23


def count_key(tag: int, count: int) -> int:
    """128 bits that a count adds to a state's key."""
    low = mix(2 * ((tag << 40) + count + 0x5EED00000000) + 1)
    return low | mix(low ^ 0xD1B54A32D192ED03) << 64


def line_key(so_far: int, action: int, child: int) -> int:
    """Of a child where a node is not a state but a line to it."""
    low = mix(2 * action + 1)
    high = mix(low ^ 0xD1B54A32D192ED03)
    return child ^ (mix(so_far & WORD ^ low) | mix(so_far >> 64 ^ high) << 64)


# Legal actions so far of each player, then turns so far of each.
Mobility = tuple[int, ...]


class GraphState:
    """A state of a GameGraph: what the pseudo-code asks about s."""

    def __init__(
        self, graph: GameGraph, state: Any, key: int, state_key: int, mobility: Mobility
    ) -> None:
        self.graph, self.state, self.key, self.mobility = graph, state, key, mobility
        self.state_key = state_key  # the same with transpositions
        self.is_terminal: bool = state.is_terminal  # t(s)
        self.to_move: int = state.to_move  # j(s)
        self.outcomes: tuple[int, ...] = state.outcomes or (0,) * graph.players  # f_b(s)
        self.outcome = self.outcomes[0]  # in the first of two players' view

    @cached_property
    def children(self) -> list[tuple[int, GraphState]]:
        """A(s), each child with the action that leads to it."""
        actions = self.state.legal_actions()
        counts = list(self.mobility)
        counts[self.to_move] += len(actions)
        counts[self.graph.players + self.to_move] += 1
        mobility = tuple(counts)
        return [(a, self.graph.state(self.state.play(a), mobility, (self, a))) for a in actions]

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
        actions, turns = self.mobility[player], self.mobility[self.graph.players + player]
        return actions / turns if turns else 1

    def pieces(self, player: int) -> int:
        """Of games whose first two planes are the men of the two players."""
        return int(self.state.planes()[..., player].sum())


class GameGraph:
    """The states of a game, each made once however many ways lead to it; without transpositions
    once for each of them."""

    def __init__(self, game: Any, heuristic: str = "gain", transpositions: bool = True) -> None:
        self.game, self.heuristic, self.transpositions = game, heuristic, transpositions
        self.players = game.num_players
        self.bound: float = {
            "gain": 1.0,
            "score": max(1.0, game.max_score),
            "additive_depth": float(game.max_plies),
            "multiplicative_depth": float(game.max_plies),
            "mobility": 10.0,
            "presence": float(game.max_pieces),
        }[heuristic]
        self.states: dict[int, GraphState] = {}

    def state(
        self,
        state: Any,
        mobility: Mobility | None = None,
        edge: tuple[GraphState, int] | None = None,
    ) -> GraphState:
        """What the value depends on besides the state is part of the key."""
        key = state.key
        mobility = mobility or (0,) * (2 * self.players)
        if self.heuristic.endswith("_depth"):
            key ^= count_key(1, state.ply)
        if self.heuristic == "mobility":
            for tag, count in enumerate(mobility, start=2):
                key ^= count_key(tag, count)
        state_key = key
        if edge is not None and not self.transpositions:
            key = line_key(edge[0].key, edge[1], state_key)
        if key not in self.states:
            self.states[key] = GraphState(self, state, key, state_key, mobility)
        return self.states[key]

    @property
    def root(self) -> GraphState:
        return self.state(self.game.initial_state())


class Reference:
    """v, c, r by state and n by edge, and the iterations that change them."""

    unknown: Any = 0  # c of what is not resolved

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
        stop_unchanged: bool = False,
        exact_ends: bool = True,
        seed: int = 0,
    ) -> None:
        self.graph, self.evaluator = graph, evaluator
        self.continue_rule, self.order = continue_rule, order
        self.new_states, self.stop_probability = new_states, stop_probability
        self.with_completion, self.strong, self.seed = completion, strong, seed
        self.stop_unchanged, self.exact_ends = stop_unchanged, exact_ends
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
        iteration: Callable[[GraphState], object] | None = None,
        *,
        iterations: int | None = None,
        evaluations: int | None = None,
    ) -> None:
        """Iterates until a budget is spent or the state is resolved."""
        self.iterations = self.evaluations = self.charged = 0
        self.most_charged = evaluations
        if state.is_terminal:
            self.settle(state)
            self.value[state.key] = self.terminal_value(state)  # what was searched is over
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

    def umb_iteration(self, state: GraphState) -> bool:
        """Whether the state is part of the line, and not only where it ended."""
        if state.is_terminal:
            self.settle(state)
            return False
        just_expanded = False
        if state.key not in self.explored:
            if self.budget_is_spent():
                return False
            just_expanded = True
            self.expand(state)
            self.back_up(state)
        if (not just_expanded or self.goes_on(state)) and not self.resolved[state.key]:
            edges = self.edges_to_explore(state)
            if len(edges) > 0:
                action, child = self.child_to_explore(state, edges)
                self.selections[state.key, action] += 1
                before = self.known(child)
                entered = self.umb_iteration(child)
                if self.stop_unchanged and entered and self.known(child) == before:
                    return True
            self.back_up(state)
        return True

    def known(self, state: GraphState) -> tuple[float, int, bool]:
        return self.value[state.key], self.completion[state.key], self.resolved[state.key]

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
        self.completion[state.key] = self.outcome(state) if self.with_completion else self.unknown
        if self.exact_ends or state.key not in self.value:
            self.value[state.key] = self.terminal_value(state)

    def outcome(self, state: GraphState) -> Any:
        return state.outcome

    def terminal_value(self, state: GraphState) -> Any:
        return state.terminal_evaluation

    def expand(self, state: GraphState) -> None:
        self.explored.add(state.key)
        self.new_in_iteration += 1
        for _, child in state.children:
            if not child.is_terminal and child.key not in self.value:
                self.resolved[child.key] = False
                self.completion[child.key] = self.unknown
                self.evaluate(child)
            elif child.is_terminal:
                if not self.exact_ends and child.key not in self.value:
                    self.evaluate(child)
                self.settle(child)

    def evaluate(self, state: GraphState) -> None:
        # In two roundings, as a network's float32 answer is scaled.
        self.value[state.key] = float32(self.graph.bound * float32(self.evaluator(state)))
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
