"""TensorBoard pages of a run, by meaning: loss, games, search, speed, strength, …"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import yaml

from athenan.backend import tensorflow
from athenan.match import MatchResult
from athenan.records import Array, GameRecord

OPENING_PLIES = 6


class Pages:
    """Steps are counted in games."""

    def __init__(self, run: Path) -> None:
        self.tf = tensorflow()
        self.writer = self.tf.summary.create_file_writer(str(run))
        self.config = (run / "config.yaml").read_text()
        with self.writer.as_default(step=0):
            self.tf.summary.text("config", f"```\n{self.config}\n```")

    def settings(self) -> None:
        """As hyper-parameters, so that TensorBoard can compare runs by them."""
        from tensorboard.plugins.hparams import api

        flat: dict[str, Any] = {}

        def walk(prefix: str, node: Any) -> None:
            if isinstance(node, dict):
                for key, value in node.items():
                    walk(f"{prefix}.{key}" if prefix else str(key), value)
            elif isinstance(node, bool | int | float | str):
                flat[prefix] = node

        walk("", yaml.safe_load(self.config))
        with self.writer.as_default(step=0):
            api.hparams(flat)

    def match(self, name: str, games: int, result: MatchResult) -> None:
        low, high = result.interval
        with self.writer.as_default(step=games):
            scalar = self.tf.summary.scalar
            scalar(f"strength/{name}", result.score)
            scalar(f"strength/{name}_low", low)
            scalar(f"strength/{name}_high", high)

    def page(
        self,
        games: int,
        scalars: dict[str, float],
        histograms: dict[str, Array],
        images: dict[str, Array],
    ) -> None:
        """One step of everything that is not a match; images [height, width, 3]."""
        summary = self.tf.summary
        with self.writer.as_default(step=games):
            for name, value in scalars.items():
                summary.scalar(name, value)
            for name, array in histograms.items():
                summary.histogram(name, array)
            for name, image in images.items():
                summary.image(name, image[None])
        self.writer.flush()

    def close(self) -> None:
        self.writer.close()


def averages(games: list[GameRecord]) -> dict[str, float]:
    """Scalars over some games."""
    labels = sum(len(g.values) for g in games)
    plies = sum(g.plies for g in games)
    openings = {tuple(g.actions[:OPENING_PLIES].tolist()) for g in games}
    iterations = sum(g.iterations for g in games)
    return {
        "games/length": plies / len(games),
        "games/first_player_score": float(np.mean([g.outcomes[0] for g in games])),
        "games/samples_per_game": labels / len(games),
        "games/distinct_openings": len(openings) / len(games),
        "search/depth": sum(g.expanded for g in games) / max(1, iterations),
        "search/evaluations_per_action": sum(g.evaluations for g in games) / plies,
        "search/resolved_states": sum(g.resolved for g in games) / max(1, labels),
        "search/resolved_roots": sum(g.resolved_roots for g in games) / plies,
    }
