"""Strength during training: small matches at checkpoints against fixed references."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from athenan import checkpoint
from athenan.config import plain
from athenan.evaluators import CheckpointEvaluator
from athenan.match import make_openings, play_match
from athenan.players import Player, SearchPlayer, make_player
from athenan.reports import Reports
from athenan.search import SEARCHES, search_settings


class Strength:
    """Plays the matches and knows the best checkpoint; training does not depend on either."""

    def __init__(self, config: Any, game: Any, run: Path) -> None:
        self.config, self.game, self.run = config, game, run
        self.best: dict[str, Any] | None = None
        self.cost = 0.0  # seconds, of the last matches
        self._references()  # what is wrong with them is better said now than after hours

    def due(self, games: int, elapsed: float, spent: float, last: bool) -> bool:
        """Whether this checkpoint is measured; spent: seconds of matches among those elapsed."""
        config = self.config.strength
        if not config.every_checkpoints or not config.games:
            return False
        if spent and not last and spent + self.cost > config.most_share * elapsed:
            return False
        number = games // self.config.checkpoint.every_games
        return last or number % config.every_checkpoints == 0

    def measure(self, evaluator: Any, games: int, reports: Reports) -> None:
        config = self.config.strength
        openings = make_openings(self.game, max(1, config.games // 2), config.opening_plies, seed=0)
        ours = self._player(evaluator)
        for name, player in self._references().items():
            result = play_match((ours, player), openings)
            reports.match(name, games, result)
            if name == config.best_by:
                self._note_best(games, result.interval[0], name)
        steps = checkpoint.steps_of(self.run)
        if config.earlier and len(steps) > 1:
            earlier = self._player(CheckpointEvaluator(steps[-2]))
            reports.match("earlier", games, play_match((ours, earlier), openings))

    def _references(self) -> dict[str, Player]:
        runs = checkpoint.runs_of(Path(self.config.checkpoints), self.config.game.name)
        threads = self.config.self_play.threads
        return {
            name: make_player(self.game, settings, runs, seed=1, threads=threads)
            for name, settings in self.config.strength.references.items()
        }

    def _player(self, evaluator: Any) -> SearchPlayer:
        settings = search_settings(self.config) | SEARCHES["ubfm"] | {"memory_mb": 64}
        budget = {"evaluations": self.config.strength.evaluations}
        return SearchPlayer(self.game, evaluator, settings, budget, self.config.self_play.threads)

    def _note_best(self, games: int, low: float, name: str) -> None:
        if self.best is None or low >= self.best["low"]:
            self.best = {"step": games, "low": low, "against": name}
            text = OmegaConf.to_yaml(OmegaConf.create(self.best))
            (self.run / "best.yaml").write_text(text)

    def restore(self, best: dict[str, Any] | None) -> None:
        """The best as a checkpoint has it; a note beside it may know of a match after it."""
        noted = self.run / "best.yaml"
        self.best = plain(OmegaConf.load(noted)) if noted.exists() else best
