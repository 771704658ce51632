"""Players of matches: a search with an evaluator and a budget, UCT, or random.

A player plays many games at once: `choose(games, states)` answers for all of them in step.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from athenan import _core
from athenan.config import plain
from athenan.errors import InputError, nearest
from athenan.export import is_bundle, load_evaluator
from athenan.search import CORE_EVALUATORS, DEFAULTS, SEARCHES, drive, make_core_search

BATCH_SIZES = [64, 256, 1024, 4096]


class Player(Protocol):
    def choose(self, games: list[int], states: list[_core.State]) -> list[int]:
        """The actions for the states of the games with these numbers."""

    def forget(self) -> None:
        """The games are over."""


class RandomPlayer:
    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def choose(self, games: list[int], states: list[_core.State]) -> list[int]:  # noqa: ARG002
        return [int(self.random.choice(state.legal_actions())) for state in states]

    def forget(self) -> None:
        pass


class UctPlayer:
    """Random rollouts; nothing is kept from move to move."""

    def __init__(self, rollouts: int, exploration: float, seed: int, threads: int) -> None:
        self.rollouts, self.exploration, self.threads = rollouts, exploration, threads
        self.seed = seed

    def choose(self, games: list[int], states: list[_core.State]) -> list[int]:
        seeds = [
            (self.seed * 1_000_003 + g * 1009 + s.ply) % 2**63
            for g, s in zip(games, states, strict=True)
        ]
        answers = _core.run_uct(states, seeds, self.rollouts, self.exploration, self.threads)
        return [answer[0] for answer in answers]

    def forget(self) -> None:
        pass


class SearchPlayer:
    """Unbounded minimax; each game keeps its tree from move to move."""

    def __init__(
        self,
        game: _core.Game,
        evaluator: Any,
        settings: dict[str, Any],
        budget: dict[str, Any],
        threads: int,
    ) -> None:
        self.game, self.evaluator, self.settings = game, evaluator, settings
        self.budget, self.threads = budget, threads
        self.searches: dict[int, _core.Search] = {}

    def choose(self, games: list[int], states: list[_core.State]) -> list[int]:
        chosen = []
        for number in games:
            if number not in self.searches:
                settings = self.settings | {"seed": self.settings["seed"] + number}
                self.searches[number] = make_core_search(self.game, self.evaluator, settings)
            chosen.append(self.searches[number])
        group = _core.SearchGroup(chosen, BATCH_SIZES, self.threads)
        for i, state in enumerate(states):
            chosen[i].start(state, **self.budget)
            group.started(i)
        drive(group, self.evaluator)
        actions = [search.action for search in chosen]
        assert all(action is not None for action in actions)
        return [int(action) for action in actions if action is not None]

    def forget(self) -> None:
        self.searches.clear()


def make_player(game: _core.Game, config: Any, runs: Path, seed: int, threads: int) -> Player:
    """From a player's settings: search, checkpoint or evaluator, budget, decision. `runs` is the
    folder that has the game's runs."""
    search = config.search["name"]
    options = {name: value for name, value in config.search.items() if name != "name"}
    if search == "random":
        return RandomPlayer(seed)
    names = ("iterations", "evaluations", "seconds")
    budget = {name: getattr(config, name) for name in names if getattr(config, name)}
    if search == "uct":
        if set(budget) != {"iterations"}:
            raise InputError("The budget of search 'uct' is iterations: its rollouts an action.")
        return UctPlayer(budget["iterations"], options["exploration"], seed, threads)
    evaluator, heuristic = make_evaluator(game, config, runs)
    settings = {**DEFAULTS, **SEARCHES[search], **heuristic, **options, "seed": seed}
    return SearchPlayer(game, evaluator, settings, budget, threads)


def make_evaluator(game: _core.Game, config: Any, runs: Path) -> tuple[Any, dict[str, Any]]:
    """(evaluator, the heuristic its values mean) of a checkpoint, of an export or of the core."""
    if config.checkpoint is None:
        if is_bundle(config.evaluator):
            bundle = load_evaluator(config.evaluator, game)
            return bundle, bundle.heuristic
        if config.evaluator not in CORE_EVALUATORS:
            raise InputError(
                f"There is no evaluator '{config.evaluator}'"
                f"{nearest(config.evaluator, CORE_EVALUATORS)}"
            )
        return config.evaluator, {}
    from athenan.checkpoint import find_step
    from athenan.evaluators import CheckpointEvaluator

    evaluator = CheckpointEvaluator(find_step(config.checkpoint, runs.parent, runs.name))
    if evaluator.game.plane_shape != game.plane_shape or evaluator.game.name != game.name:
        raise InputError(
            f"Checkpoint '{evaluator.step}' is of {plain(evaluator.config.game)}, another game."
        )
    return evaluator, evaluator.heuristic
