"""UBFM^n and Descent^n in plain Python, to be read beside the pseudo-code of "Completeness of
Unbounded Best-First Game Algorithms" for n players (Algorithms 4 to 15), and Max^n by brute force.

c and v are vectors. Departures from the page, the same as in the core:
* Ties are broken by a stateless hash, in backing up too: two children that are equal to the mover
  may differ to the others, so that the tie decides a value.
* The guard of Algorithm 14, a state all of whose children are resolved, holds in all of them.
* The maximum over terminal states below s includes terminal children of s.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

from reference import WORD, GameGraph, GraphState, Reference, float32, mix

Vector = tuple[float, ...]
MaxN = tuple[tuple[int, ...], Vector]  # (c, v): f_b and f_t of the end that is reached


def hash_vector(state: GraphState) -> Vector:
    """The `hash` evaluator, a number for each player."""
    low, high = state.state_key & WORD, state.state_key >> 64
    return tuple(
        ((mix(((low + player) & WORD) ^ mix(high)) >> 40) - 2**23) / 2**23
        for player in range(state.graph.players)
    )


class VectorGraph(GameGraph):
    """The states of a game for n players, with f_t as plain formulas."""

    def __init__(
        self,
        game: Any,
        heuristic: str = "gain",
        vectors: list[Any] | None = None,
        transpositions: bool = True,
    ) -> None:
        """vectors: of an explicit tree, f_t of each node as it was given."""
        super().__init__(game, heuristic, transpositions)
        self.vectors = vectors
        self._most: dict[int, Vector] = {}

    def terminal_values(self, state: GraphState) -> Vector:
        """f_t(s)"""
        if self.vectors is not None and self.heuristic == "score":
            number = int(str(state.state).split()[1])
            return tuple(float32(value) for value in self.vectors[number])
        return tuple(
            float32(outcome * min(max(self.strength(state, player, outcome), 1), self.bound))
            for player, outcome in enumerate(state.outcomes)
        )

    def strength(self, state: GraphState, player: int, outcome: int) -> float:
        longest = self.game.max_plies
        left = longest - state.state.ply + 1
        if self.heuristic == "additive_depth":
            return left
        if self.heuristic == "multiplicative_depth":
            return float(longest ** (left / longest))
        others = [other for other in range(self.players) if other != player]
        if self.heuristic == "score":
            scores = state.state.score
            return float(outcome * (scores[player] - max(scores[other] for other in others)))
        if self.heuristic == "mobility":
            ratio = state.mean_mobility(player) / max(state.mean_mobility(o) for o in others)
            return float(ratio**outcome)
        return 1

    def most(self, state: GraphState) -> Vector:
        """The most that each player can have at an end below the state."""
        if state.key not in self._most:
            if self.vectors is None or self.heuristic != "score":
                left = self.game.max_plies - state.state.ply
                best = {
                    "additive_depth": left,
                    "multiplicative_depth": self.game.max_plies ** (left / self.game.max_plies),
                }.get(self.heuristic, self.bound)
                self._most[state.key] = (float32(best),) * self.players
            elif state.is_terminal:
                self._most[state.key] = self.terminal_values(state)
            else:
                below = [self.most(child) for _, child in state.children]
                self._most[state.key] = tuple(map(max, zip(*below, strict=True)))
        return self._most[state.key]


def maxn(graph: VectorGraph, root: GraphState | None = None) -> dict[int, set[MaxN]]:
    """M(s) of every state below the root: all that it may be, depending on how ties are broken."""
    known: dict[int, set[MaxN]] = {}

    def look_at(state: GraphState) -> set[MaxN]:
        if state.key not in known:
            if state.is_terminal:
                known[state.key] = {(state.outcomes, graph.terminal_values(state))}
                return known[state.key]
            j = state.to_move
            options = [look_at(child) for _, child in state.children]
            # A child's value can be the best if each of the others has one that is no better.
            least = [min((c[j], v[j]) for c, v in option) for option in options]
            known[state.key] = {
                (c, v)
                for i, option in enumerate(options)
                for c, v in option
                if all((c[j], v[j]) >= low for k, low in enumerate(least) if k != i)
            }
        return known[state.key]

    look_at(root or graph.root)
    return known


class VectorReference(Reference):
    """v and c by state are vectors here."""

    graph: VectorGraph

    def __init__(
        self,
        graph: VectorGraph,
        evaluator: Callable[[GraphState], Vector] = hash_vector,
        *,
        variant: int = 1,
        wins_enough: str = "local",
        stop_on_draw: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(graph, evaluator, **settings)  # type: ignore[arg-type]
        self.variant, self.wins_enough, self.stop_on_draw = variant, wins_enough, stop_on_draw
        self.unknown = (0,) * graph.players
        self.value: dict[int, Vector] = {}  # type: ignore[assignment]
        self.completion: dict[int, tuple[int, ...]] = {}  # type: ignore[assignment]

    # ---- Algorithms 4 and 11: the order of children -------------------------------------------

    def worth(self, state: GraphState, child: GraphState) -> tuple[float, ...]:
        """(c, v), or in variant 2 (r c, c, v), for the mover of the state."""
        j = state.to_move
        c, v = self.completion[child.key][j], self.value[child.key][j]
        return (c, v) if self.variant == 1 else (self.resolved[child.key] * c, c, v)

    def best_child(self, state: GraphState) -> tuple[int, GraphState]:
        visits = self.visits(state)
        return max(
            state.children,
            key=lambda edge: (
                *self.worth(state, edge[1]),
                self.selections[state.key, edge[0]],
                self.tie_break(state, edge[0], visits),
            ),
        )

    def best_child_dual(
        self, state: GraphState, edges: list[tuple[int, GraphState]]
    ) -> tuple[int, GraphState]:
        visits = self.visits(state)
        return max(
            edges,
            key=lambda edge: (
                *self.worth(state, edge[1]),
                -self.selections[state.key, edge[0]],
                self.tie_break(state, edge[0], visits),
            ),
        )

    # ---- Algorithms 5 and 12: whether a state is resolved -------------------------------------

    def is_enough(self, state: GraphState) -> bool:
        """Of a win: no end below the state (or in the game) is worth more to its mover."""
        if self.wins_enough == "any":
            return True
        top = state if self.wins_enough == "local" else self.graph.root
        return self.value[state.key][state.to_move] >= self.graph.most(top)[state.to_move]

    def back_up(self, state: GraphState) -> None:
        _, best = self.best_child(state)
        c = self.completion[best.key]  # c'(s)
        self.value[state.key] = self.value[best.key]
        won = c[state.to_move] == 1 and self.is_enough(state) and not self.strong
        if self.variant == 2:
            won = won and any(
                self.resolved[child.key]
                and self.completion[child.key] == c
                and self.value[child.key] == self.value[state.key]
                for _, child in state.children
            )
        everything = all(self.resolved[child.key] for _, child in state.children)
        self.resolved[state.key] = self.with_completion and (won or everything)
        keeps = self.resolved[state.key] or self.variant == 2
        self.completion[state.key] = c if keeps else (0,) * self.graph.players

    # ---- Algorithms 6 to 15 -------------------------------------------------------------------

    def umb_iteration(self, state: GraphState) -> bool:
        """With the second variant of Remark 10: a resolved best child ends the iteration."""
        if state.is_terminal or not self.stop_on_draw:
            return super().umb_iteration(state)
        just_expanded = state.key not in self.explored
        if just_expanded:
            if self.budget_is_spent():
                return False
            self.expand(state)
            self.back_up(state)
        if (not just_expanded or self.goes_on(state)) and not self.resolved[state.key]:
            action, child = self.child_to_explore(state, state.children)
            self.selections[state.key, action] += 1
            if not self.resolved[child.key]:
                before = self.known(child)
                entered = self.umb_iteration(child)
                if self.stop_unchanged and entered and self.known(child) == before:
                    return True
            self.back_up(state)
        return True

    def outcome(self, state: GraphState) -> tuple[int, ...]:
        return state.outcomes

    def terminal_value(self, state: GraphState) -> Vector:
        return self.graph.terminal_values(state)

    def evaluate(self, state: GraphState) -> None:
        answer: Any = self.evaluator(state)
        self.value[state.key] = tuple(float32(self.graph.bound * float32(x)) for x in answer)
        self.evaluations += 1
        self.charged += 1

    # ---- Decisions: Algorithms 8 and 13, Remark 10 --------------------------------------------

    def kept_back(self, state: GraphState, child: GraphState) -> int:
        """c'(s') for the mover of s: the completion of the best child of s', resolved or not."""
        source = child
        if child.key in self.explored and not child.is_terminal:
            source = dict(child.children)[self.decision(child, "best")]
        return self.completion[source.key][state.to_move]

    def decision(self, state: GraphState, decision: str) -> int:
        if decision == "safest":
            best = self.decision(state, "best")
            if self.with_completion and self.resolved[dict(state.children)[best].key]:
                return best

        def rank(edge: tuple[int, GraphState]) -> tuple[float, ...]:
            action, child = edge
            *completion, value = self.worth(state, child)
            selections = self.selections[state.key, action]
            by_value = decision.startswith("best")
            return (
                *completion,
                self.kept_back(state, child) if decision.endswith("alt") else 0,
                *((value, selections) if by_value else (selections, value)),
                self.tie_break(state, action, 0),
            )

        return max(state.children, key=rank)[0]


def all_settings() -> list[dict[str, Any]]:
    """UBFM^n and Descent^n in both variants, by both maxima that keep them complete."""
    names, variants, wins = ("maxn_ubfm", "maxn_descent"), (1, 2), ("local", "global")
    return [
        {"name": name, "variant": variant, "wins_enough": enough}
        for name, variant, enough in product(names, variants, wins)
    ]
