"""Strength during training: small matches at checkpoints against fixed references."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from athenan import _core, checkpoint
from athenan.checkpoint import Part
from athenan.clock import Clock
from athenan.config import read_values
from athenan.errors import InputError
from athenan.evaluators import CheckpointEvaluator
from athenan.files import write_whole
from athenan.match import MatchResult, make_openings, play_match
from athenan.players import Player, SearchPlayer, make_player
from athenan.settings import TrainSettings


class Strength:
    """Plays the matches and knows the best checkpoint; training does not depend on either."""

    def __init__(self, config: TrainSettings, game: _core.Game, run: Path) -> None:
        self.config, self.game, self.run = config, game, run
        self.best: dict[str, Any] | None = None
        self._saved_best: dict[str, Any] | None = None  # in the checkpoint that was restored
        self._spent_before = 0.0  # seconds of matches before the last ones
        self._references()  # what is wrong with them is better said now than after hours

    def due(self, games: int, clock: Clock, last: bool) -> bool:
        """Whether this checkpoint is measured: by its turn, and while matches have time left."""
        config = self.config.strength
        if not config.every_checkpoints or not config.games:
            return False
        number = games // self.config.checkpoint.every_games
        if not last and number % config.every_checkpoints:
            return False
        spent = clock.spent("matches")
        cost = spent - self._spent_before
        if spent and not last and spent + cost > config.most_share * clock.elapsed:
            return False
        self._spent_before = spent
        return True

    def measure(
        self, evaluator: Any, games: int, report: Callable[[str, int, MatchResult], None]
    ) -> None:
        """Plays the matches; each is told to report(opponent, games, result)."""
        config = self.config.strength
        openings = make_openings(self.game, max(1, config.games // 2), config.opening_plies, seed=0)
        ours = self._player(evaluator)
        for name, player in self._references().items():
            result = play_match((ours, player), openings)
            report(name, games, result)
            if name == config.best_by:
                self._note_best(games, result.interval[0], name)
        steps = checkpoint.steps_of(self.run)
        if config.earlier and len(steps) > 1:
            earlier = self._player(CheckpointEvaluator(steps[-2]))
            report("earlier", games, play_match((ours, earlier), openings))

    def _references(self) -> dict[str, Player]:
        runs = checkpoint.runs_of(Path(self.config.checkpoints), self.config.game["name"])
        threads, trust = self.config.self_play.threads, self.config.trust
        return {
            name: make_player(self.game, settings, runs, 1, threads, trust)
            for name, settings in self.config.strength.references.items()
        }

    def _player(self, evaluator: Any) -> SearchPlayer:
        """ubfm with the options that it shares with the search of self-play."""
        config = self.config
        shared = {name: config.search[name] for name in ("completion", "decision")}
        search = {"name": "ubfm", **shared, "memory_mb": 64}
        heuristic: dict[str, Any] = {
            "heuristic": config.heuristic.name,
            "longest": config.heuristic.longest,
        }
        budget = {"evaluations": config.strength.evaluations}
        threads = config.self_play.threads
        return SearchPlayer(self.game, evaluator, search, budget, threads, **heuristic)

    def _note_best(self, games: int, low: float, name: str) -> None:
        if self.best is None or low >= self.best["low"]:
            self.best = {"step": games, "low": low, "against": name}
            self._write_best()

    def _write_best(self) -> None:
        if self.best is None:
            (self.run / "best.yaml").unlink(missing_ok=True)
        else:
            text = OmegaConf.to_yaml(OmegaConf.create(self.best))
            write_whole(self.run / "best.yaml", text.encode())

    def forget_after(self, games: int) -> None:
        """The run goes on from here again: a best checkpoint after it is no longer its own."""
        if self.best and self.best["step"] > games:
            self.best = self._saved_best
            self._write_best()

    def saved(self) -> Part:
        return Part({"best": self.best})

    def restore(self, part: Part) -> None:
        """The best as a checkpoint has it; a note beside it may know of a match after it."""
        saved = part.facts["best"]
        if saved is not None and not is_best(saved):
            raise InputError("Fact 'best' is not a checkpoint and its strength.")
        try:
            noted = read_values(self.run / "best.yaml")
        except (OSError, InputError):
            noted = None
        self.best, self._saved_best = noted if is_best(noted) else saved, saved


def is_best(value: Any) -> bool:
    """Whether it is a note of the best checkpoint, whole."""
    return (
        isinstance(value, dict)
        and value.keys() == {"step", "low", "against"}
        and type(value["step"]) is int
        and isinstance(value["low"], float | int)
        and 0 <= value["low"] <= 1
    )
