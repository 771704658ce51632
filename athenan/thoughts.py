"""What a search thinks of a state at one moment, and why it would play what it would."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from athenan import _core
from athenan.search import Child, SearchResult, own, search_type

MOST_LINE = 40  # actions of a line that is told
MOST_LINES = 16  # children whose lines are
# By which order the action was chosen, in words.
REASONS = {
    "only": "it is the only action",
    "completion": "more is proven for it than for any other",
    "selections": "it was selected most often",
    "value": "it has the best value",
    "known": "it is the best by value and known to the end, so that selections say nothing",
    "tie": "others are its equals: the seed chose",
    "own": "by the search's own rule",
    "none": "nothing is known yet",
}


@dataclass(frozen=True)
class Reason:
    """`decision` is the search's setting; `order` a key of REASONS."""

    decision: str
    order: str

    def __str__(self) -> str:
        return REASONS[self.order]


@dataclass(frozen=True)
class Below:
    """What the tree holds of a child."""

    line: list[int]  # from the child's action on
    plies_to_end: int | None  # from the parent, where it is known to the end


@dataclass(frozen=True)
class Thought:
    """Of one state. `result` is None while the search has no answer yet."""

    state: Any
    result: SearchResult | None
    seconds: float = 0.0
    over: bool = True  # false while it goes on
    decision: str = "best"  # the search's setting
    variant: int = 0  # … of n players
    below: dict[int, Below] = field(default_factory=dict)  # of the better children
    turn: tuple[int, ...] = ()  # all actions of the turn, where they were asked for

    @property
    def player(self) -> int:
        """Who moves; at the end, who would."""
        return int(self.state.to_move)

    @property
    def action(self) -> int | None:
        return self.result.action if self.result else None

    @property
    def evaluations(self) -> int:
        return self.result.evaluations if self.result else 0

    @property
    def line(self) -> list[int]:
        """The principal variation, from the action that is chosen."""
        if self.result is None or self.action is None:
            return []
        line = self.result.principal_variation
        if line[:1] == [self.action]:
            return line
        return self.below[self.action].line if self.action in self.below else [self.action]

    def line_of(self, action: int) -> list[int]:
        """The best line that begins with a child's action."""
        if action == self.action:
            return self.line
        return self.below[action].line if action in self.below else [action]

    def plies_to_end(self, action: int) -> int | None:
        """Of a child that is known to the end, along its line, from here."""
        return self.below[action].plies_to_end if action in self.below else None

    def own(self, value: Any, player: int | None = None) -> float:
        """A value or completion in the view of a player, by default of who moves."""
        return float(own(value, self.player if player is None else player)) + 0.0  # never -0

    def candidates(self) -> list[Child]:
        """The children in the order of the decision, the chosen one first."""
        if self.result is None:
            return []
        by_value = self.decision in ("best", "best_alt")
        return sorted(
            self.result.children,
            key=lambda child: (child.action == self.action, *self.rank(child, by_value)),
            reverse=True,
        )

    def rank(self, child: Child, by_value: bool) -> tuple[float, float, float]:
        """What is proven; then value and selections, in this order or the other."""
        proven = self.own(child.completion)
        if self.variant == 2 and child.resolved:
            proven *= 4  # what is resolved counts before what only may come
        value, selections = self.own(child.value), float(child.selections)
        return (proven, value, selections) if by_value else (proven, selections, value)

    def why(self) -> Reason:
        """Which order chose the action: the first in which it differs from the next best."""
        children = self.result.children if self.result else []
        chosen = next((child for child in children if child.action == self.action), None)
        if self.action is None or chosen is None:
            return Reason(self.decision, "none" if self.action is None else "own")
        others = [child for child in children if child is not chosen]
        if not others:
            return Reason(self.decision, "only")
        by_value = self.decision in ("best", "best_alt")
        if self.decision == "safest":
            best = max(self.rank(child, True) for child in children)
            known = chosen.resolved and self.rank(chosen, True) == best
            if known and self.rank(chosen, False) < max(self.rank(o, False) for o in others):
                return Reason(self.decision, "known")
        names = ("completion", "value", "selections")
        if not by_value:
            names = ("completion", "selections", "value")
        mine, next_best = self.rank(chosen, by_value), max(self.rank(o, by_value) for o in others)
        if mine < next_best:
            return Reason(self.decision, "own")
        for name, one, other in zip(names, mine, next_best, strict=True):
            if one != other:
                return Reason(self.decision, name)
        return Reason(self.decision, "tie")

    # ---- For programs --------------------------------------------------------------------------

    def texts(self, actions: list[int]) -> list[str]:
        """A line as the game writes it."""
        state, words = self.state, []
        for action in actions[:MOST_LINE]:
            words.append(state.action_to_string(action))
            state = state.play(action)
        return words

    def figures(self, most: int | None = None) -> dict[str, Any]:
        """All of it as JSON has it, with so many candidates. Values are the first player's, or one
        for each player, as everywhere."""
        result = self.result
        found: dict[str, Any] = {
            "ply": self.state.ply,
            "to_move": self.player,
            "over": self.over,
            "seconds": round(self.seconds, 4),
        }
        if result is None:
            return found
        found |= {
            "value": result.value,
            "completion": result.completion,
            "resolved": result.resolved,
            "plies_to_end": result.plies_to_end,
            "evaluations": result.evaluations,
            "iterations": result.iterations,
            "states": result.states,
            "out_of_memory": result.out_of_memory,
            "action": None if self.action is None else self.state.action_to_string(self.action),
            "line": self.texts(result.principal_variation),
            "decision": self.decision,
            "why": self.why().order,
        }
        found["children"] = [
            {
                "action": self.state.action_to_string(child.action),
                "value": child.value,
                "completion": child.completion,
                "resolved": child.resolved,
                "selections": child.selections,
                "plies_to_end": self.plies_to_end(child.action),
                "line": self.texts(self.line_of(child.action)),
            }
            for child in self.candidates()[:most]
        ]
        return found


def decision_of(settings: dict[str, Any]) -> tuple[str, int]:
    """The decision and variant of a search by its settings; others choose by what they selected."""
    if "name" not in settings:
        return "best", 0
    usual = {
        option["name"]: option["default"] for option in search_type(settings["name"])["options"]
    }
    decision = settings.get("decision", usual.get("decision", "own"))
    return str(decision), int(settings.get("variant", usual.get("variant", 0)))


def below(core: _core.Search, state: Any, result: SearchResult) -> dict[int, Below]:
    """Of the children that were selected most, and of all that are known to the end."""
    if not isinstance(core, _core.UnboundedSearch):
        return {}
    most = sorted(result.children, key=lambda child: -child.selections)[:MOST_LINES]
    first = [child for child in result.children if child.action == result.action]
    found = {}
    for child in (*first, *most, *(child for child in result.children if child.resolved)):
        if child.action in found:
            continue
        known = core.look(state.play(child.action))
        if known is not None:
            ends = known.plies_to_end
            line = [child.action, *known.principal_variation]
            found[child.action] = Below(line, None if ends is None else ends + 1)
    return found
