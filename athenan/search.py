"""Searches by name, and what a search answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from athenan import _core
from athenan.errors import InputError, nearest
from athenan.python_game import PythonGame, PythonState

# Planes [batch, rows, columns, channels] to values [batch] in [-1, 1], in the first player's view.
Evaluator = Callable[[np.ndarray[Any, Any]], Any]
CORE_EVALUATORS = ("hash", "zero", "rollout")

# A search is a set of values for the one iteration of the core.
SEARCHES: dict[str, dict[str, Any]] = {
    "ubfm": {"continue_rule": "never", "order": "best"},
    "descent": {"continue_rule": "always", "order": "best"},
    "umb": {},
}
DEFAULTS: dict[str, Any] = {
    "continue_rule": "always",  # never | always | at_most (new_states) | chance (stop_probability)
    "new_states": 1,
    "stop_probability": 0.5,
    "order": "best",  # best | random | least_selected
    "completion": True,
    "strong": False,
    "decision": "safest",  # best | safest
    "rollouts": 1,  # playouts a state, of the rollout evaluator
    "heuristic": "gain",
    "longest": 0,  # plies that depth heuristics count from; 0: the game's own bound
    "seed": 0,
    "memory_mb": 1024,  # 10^6 bytes for the tree
}
BATCH_SIZES = (16, 64, 256, 1024)


def search_types() -> list[dict[str, Any]]:
    """Name, sentence and options of every search, as games have them."""

    def option(
        name: str,
        default: Any,
        about: str,
        low: float = 0,
        high: float = 0,
        choices: tuple[str, ...] = (),
    ) -> dict[str, Any]:
        return {
            "name": name, "default": default, "low": low, "high": high, "choices": list(choices),
            "about": about,
        }  # fmt: skip

    def entry(
        name: str, about: str, options: list[dict[str, Any]], budget: bool = True
    ) -> dict[str, Any]:
        evaluator = name in SEARCHES
        return {
            "name": name, "about": about, "options": options, "needs_budget": budget,
            "uses_evaluator": evaluator,
        }  # fmt: skip

    common = [
        option("completion", True, "states are resolved, and what is resolved is searched no more"),
        option(
            "decision", "safest", "the action played: of the best value, or the most selected",
            choices=("best", "safest"),
        ),
        option("memory_mb", 1024.0, "10^6 bytes for the tree", 0.01, 1e9),
        option("strong", False, "go on until every reachable state is resolved"),
    ]  # fmt: skip
    rules = [
        option(
            "continue_rule", "always", "after a new state an iteration stops, goes on to the end, "
            "stops after new_states, or by chance",
            choices=("never", "always", "at_most", "chance"),
        ),
        option("new_states", 1, "of an iteration, with at_most", 1, 1e9),
        option("stop_probability", 0.5, "after a new state, with chance", 0, 1),
        option(
            "order", "best", "which unresolved child goes first",
            choices=("best", "random", "least_selected"),
        ),
    ]  # fmt: skip
    return [
        entry("ubfm", "unbounded best-first minimax: one new state an iteration", common),
        entry("descent", "each iteration goes on to a terminal or resolved state", common),
        entry("umb", "the class that holds both, its rules given", rules + common),
        entry(
            "uct", "random rollouts, the actions chosen by upper bounds",
            [option("exploration", 1.0, "λ, for outcomes in [-1, 1]", 0, 1e6)],
        ),
        entry("random", "any action", [], budget=False),
    ]  # fmt: skip


@dataclass(frozen=True)
class Child:
    """What the search knows of a root action."""

    action: int
    value: float
    completion: int
    resolved: bool
    selections: int


@dataclass(frozen=True)
class SearchResult:
    """Values are in the first player's view, on the scale of the heuristic."""

    action: int | None  # None at a terminal state
    value: float
    completion: int  # -1, 0, 1; 0 means drawn when resolved and unknown when not
    resolved: bool
    iterations: int
    evaluations: int
    states: int  # in the tree
    principal_variation: list[int]
    children: list[Child]
    out_of_memory: bool = False


def make_search(
    name: str,
    game: _core.Game | PythonGame,
    evaluator: str | Evaluator = "rollout",
    *,
    threads: int = 1,
    batch_sizes: Iterable[int] = BATCH_SIZES,
    **settings: Any,
) -> Search:
    """A search by name; the settings are those of DEFAULTS."""
    complete = complete_settings(name, settings)
    return Search(game, evaluator, complete, threads, tuple(batch_sizes))


def complete_settings(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The settings given, with what makes it this search, and the defaults of the others."""
    if name not in SEARCHES:
        raise InputError(f"There is no search '{name}'{nearest(name, SEARCHES)}")
    for key in settings:
        if key not in DEFAULTS:
            raise InputError(f"Searches have no setting '{key}'{nearest(key, DEFAULTS)}")
        if key in SEARCHES[name] and settings[key] != SEARCHES[name][key]:
            raise InputError(f"Search '{name}' has its own {key}; take search 'umb' to choose it.")
    return {**DEFAULTS, **settings, **SEARCHES[name]}


def search_settings(config: Any) -> dict[str, Any]:
    """The settings of a config with groups `search` and `heuristic`, for make_core_search."""
    chosen = {name: config.search[name] for name in config.search if name != "name"}
    heuristic = {"heuristic": config.heuristic.name, "longest": config.heuristic.longest}
    return complete_settings(config.search["name"], chosen | heuristic)


def core_game(game: _core.Game | PythonGame) -> _core.Game:
    return _core.wrap_python_game(game) if isinstance(game, PythonGame) else game


def make_core_search(
    game: _core.Game, evaluator: str | Evaluator, settings: dict[str, Any]
) -> _core.Search:
    if isinstance(evaluator, str) and evaluator not in CORE_EVALUATORS:
        raise InputError(
            f"There is no evaluator '{evaluator}'{nearest(evaluator, CORE_EVALUATORS)}"
        )
    memory_mb = settings["memory_mb"]
    if not memory_mb > 0:
        raise InputError(f"memory_mb must be positive, not {memory_mb}.")
    try:
        return _core.Search(
            game,
            evaluator=evaluator if isinstance(evaluator, str) else "external",
            memory_bytes=int(memory_mb * 1_000_000),
            **{key: value for key, value in settings.items() if key != "memory_mb"},
        )
    except ValueError as error:
        raise InputError(str(error)) from None


def make_group(
    searches: list[_core.Search], batch_sizes: Iterable[int], threads: int
) -> _core.SearchGroup:
    try:
        return _core.SearchGroup(searches, list(batch_sizes), threads)
    except (ValueError, TypeError) as error:
        raise InputError(
            str(error) if isinstance(error, ValueError) else "Batch sizes must be positive."
        ) from None


class Search:
    """One game's search. The tree is kept from run to run; `clear` forgets it."""

    def __init__(
        self,
        game: _core.Game | PythonGame,
        evaluator: str | Evaluator,
        settings: dict[str, Any],
        threads: int = 1,
        batch_sizes: tuple[int, ...] = BATCH_SIZES,
    ) -> None:
        self.game = core_game(game)
        self.evaluator = evaluator
        self.core = make_core_search(self.game, evaluator, settings)
        self._group = make_group([self.core], batch_sizes, threads)

    def run(
        self,
        state: _core.State | PythonState,
        *,
        iterations: int | None = None,
        evaluations: int | None = None,
        seconds: float | None = None,
    ) -> SearchResult:
        """Searches until a budget is spent or the state is resolved."""
        for what, budget in (
            ("iterations", iterations),
            ("evaluations", evaluations),
            ("seconds", seconds),
        ):
            if budget is not None and not budget > 0:
                raise InputError(f"A budget of {what} must be positive, not {budget}.")
        if isinstance(state, PythonState):
            state = _core.wrap_python_state(self.game, state)
        self.core.start(state, iterations or 0, evaluations or 0, seconds or 0.0)
        self._group.started(0)
        drive(self._group, self.evaluator)
        return self.result()

    def result(self) -> SearchResult:
        counts = self.core.counts
        return SearchResult(
            action=self.core.action,
            value=self.core.value,
            completion=self.core.completion,
            resolved=self.core.resolved,
            iterations=counts["iterations"],
            evaluations=counts["evaluations"],
            states=counts["states"],
            principal_variation=self.core.principal_variation,
            children=[Child(*entry) for entry in self.core.children],
            out_of_memory=bool(counts["out_of_memory"]),
        )

    def clear(self) -> None:
        self.core.clear()


def drive(group: _core.SearchGroup, evaluator: str | Evaluator) -> None:
    """Advances a group until every search in it is done."""
    group.advance()
    if isinstance(evaluator, str):
        return
    while (batch := group.batch()) is not None:
        planes, rows = batch
        group.resume(np.ascontiguousarray(evaluator(planes), np.float32).reshape(-1)[:rows])
        group.advance()
