"""Players of matches: a search with its evaluator and a budget.

A player plays many games at once: `choose(games, states)` answers for all of them in step.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from athenan import _core
from athenan.evaluators import find_checkpoint, find_evaluator
from athenan.search import Evaluate, drive, make_core_search, make_group, refusals
from athenan.settings import PlayerSettings

BATCH_SIZES = [64, 256, 1024, 4096]


class Player(Protocol):
    def choose(
        self, games: list[int], states: list[_core.State], seconds: float | None = None
    ) -> list[int]:
        """The actions for the states of the games with these numbers. After so many seconds any
        will do: the games do not count any more."""

    def forget(self) -> None:
        """The games are over."""


class SearchPlayer:
    """Each game keeps what its search knows from move to move."""

    def __init__(
        self,
        game: _core.Game,
        evaluator: str | Evaluate,
        search: dict[str, Any],
        budget: dict[str, Any],
        threads: int,
        seed: int = 0,
        **heuristic: Any,
    ) -> None:
        self.game, self.evaluator, self.search = game, evaluator, search
        self.budget, self.threads, self.seed, self.heuristic = budget, threads, seed, heuristic
        self.searches: dict[int, _core.Search] = {}
        self._new_search(0)  # what is wrong with it is better said now

    def _new_search(self, number: int) -> _core.Search:
        return make_core_search(
            self.search, self.game, self.evaluator, seed=self.seed + number, **self.heuristic
        )

    def choose(
        self, games: list[int], states: list[_core.State], seconds: float | None = None
    ) -> list[int]:
        budget = self.budget
        if seconds is not None:
            budget = budget | {"seconds": max(1e-3, min(seconds, budget.get("seconds", seconds)))}
        for number in games:
            if number not in self.searches:
                self.searches[number] = self._new_search(number)
        chosen = [self.searches[number] for number in games]
        group = make_group(chosen, BATCH_SIZES, self.threads)
        with refusals():
            for i, state in enumerate(states):
                group.start(i, state, **budget)
        drive(group, self.evaluator)
        actions = [search.result().action for search in chosen]
        assert all(action is not None for action in actions)
        return [action for action in actions if action is not None]

    def forget(self) -> None:
        self.searches.clear()


def make_player(
    game: _core.Game,
    settings: PlayerSettings,
    runs: Path,
    seed: int,
    threads: int,
    trust: bool = False,
) -> Player:
    """From a player's settings; `runs` is the folder of the game's runs, `trust` as for
    find_evaluator."""
    budget = {
        name: value
        for name in ("iterations", "evaluations", "seconds")
        if (value := getattr(settings, name)) is not None
    }
    evaluator: str | Evaluate
    if settings.checkpoint is not None:
        evaluator = find_checkpoint(settings.checkpoint, game, runs, trust)
    else:
        evaluator = find_evaluator(settings.evaluator, game, runs, trust=trust)
    return SearchPlayer(game, evaluator, settings.search, budget, threads, seed)
