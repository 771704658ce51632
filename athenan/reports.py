"""What a run tells: TensorBoard pages by meaning, a log file, a progress line, a final report."""

from __future__ import annotations

import time
from collections import defaultdict, deque
from pathlib import Path
from typing import Any

import numpy as np

from athenan.backend import tensorflow
from athenan.match import MatchResult
from athenan.progress import Progress, count, duration
from athenan.self_play import GameRecord

RECENT = 200  # games that averages go over
OPENING_PLIES = 6


class Reports:
    """Collects what happens and writes it every few seconds."""

    def __init__(self, folder: Path, config_text: str, every_seconds: float = 10.0) -> None:
        tf = tensorflow()
        self.tf = tf
        self.folder = folder
        self.writer = tf.summary.create_file_writer(str(folder))
        self.every_seconds = every_seconds
        self.progress = Progress(quiet_seconds=15.0)
        self.log = (folder / "log.txt").open("a")
        self.seconds: defaultdict[str, float] = defaultdict(
            float
        )  # by what the time went into, of this process
        self.recent: deque[GameRecord] = deque(maxlen=RECENT)
        self.losses: deque[tuple[float, float]] = deque(maxlen=RECENT)
        self.held_out_errors: deque[float] = deque(maxlen=20)
        self.strength: dict[str, list[tuple[int, MatchResult]]] = {}
        self.targets: np.ndarray[Any, Any] | None = None
        self.predicted: np.ndarray[Any, Any] | None = None
        self.network_rate = 0.0  # states a second of the network alone
        self.playing_rate = 0.0
        self.rates: list[tuple[float, float]] = []  # of self-play and the network, page by page
        self._written = time.monotonic()
        self._since = (0, 0.0)  # rows and self-play seconds at the last page
        with self.writer.as_default(step=0):
            tf.summary.text("config", f"```\n{config_text}\n```")

    def say(self, text: str) -> None:
        """A line for people and the log."""
        line = f"{time.strftime('%H:%M:%S')}  {text}"
        self.log.write(line + "\n")
        self.log.flush()
        if self.progress.live:
            self.progress.out.write("\r" + " " * 110 + "\r")
        print(line, flush=True)

    def hparams(self, values: dict[str, Any]) -> None:
        """The settings as hyper-parameters, so that TensorBoard can compare runs by them."""
        from tensorboard.plugins.hparams import api

        flat: dict[str, Any] = {}

        def walk(prefix: str, node: Any) -> None:
            if isinstance(node, dict):
                for key, value in node.items():
                    walk(f"{prefix}.{key}" if prefix else str(key), value)
            elif isinstance(node, bool | int | float | str):
                flat[prefix] = node

        walk("", values)
        with self.writer.as_default(step=0):
            api.hparams(flat)

    def game(self, record: GameRecord, learned: dict[str, Any]) -> None:
        self.recent.append(record)
        if learned:
            self.losses.append((learned["error"], learned["decay"]))
            self.targets, self.predicted = learned["targets"], learned["predicted"]

    def held_out(self, record: GameRecord, error: float) -> None:
        """A game that is not learned from."""
        self.recent.append(record)
        self.held_out_errors.append(error)

    def match(self, name: str, games: int, result: MatchResult) -> None:
        self.strength.setdefault(name, []).append((games, result))
        low, high = result.interval
        with self.writer.as_default(step=games):
            scalar = self.tf.summary.scalar
            scalar(f"strength/{name}", result.score)
            scalar(f"strength/{name}_low", low)
            scalar(f"strength/{name}_high", high)
        self.say(f"against {name}: {result}")

    def due(self) -> bool:
        return time.monotonic() - self._written >= self.every_seconds

    def shares(self) -> dict[str, float]:
        total = sum(self.seconds.values()) or 1.0
        return {name: value / total for name, value in sorted(self.seconds.items())}

    def rate(self, rows: int) -> float:
        """States a second of self-play since the last page, in the time self-play had."""
        row_count, seconds = rows - self._since[0], self.seconds["self_play"] - self._since[1]
        if seconds > 0.5:
            self.playing_rate = row_count / seconds
            self._since = (rows, self.seconds["self_play"])
        return self.playing_rate

    def page(self, games: int, facts: dict[str, float], rows: int, image: Any | None) -> None:
        """One TensorBoard step."""
        self._written = time.monotonic()
        tf, recent = self.tf, list(self.recent)
        rate = self.rate(rows)
        scalars: dict[str, float] = dict(facts)
        if self.network_rate:
            scalars["speed/network_best_states_per_second"] = self.network_rate
            scalars["speed/self_play_to_network_ratio"] = rate / self.network_rate
            self.rates.append((rate, self.network_rate))
        scalars["speed/self_play_states_per_second"] = rate
        for name, share in self.shares().items():
            scalars[f"time_share/{name}"] = share
        if self.losses:
            error, decay = np.mean(self.losses, axis=0)
            scalars |= {"loss/error": error, "loss/l2": decay, "loss/total": error + decay}
        if self.held_out_errors:
            scalars["loss/held_out"] = float(np.mean(self.held_out_errors))
        if recent:
            states = sum(len(r.values) for r in recent)
            plies = sum(r.plies for r in recent)
            openings = {tuple(r.actions[:OPENING_PLIES]) for r in recent}
            scalars |= {
                "games/length": plies / len(recent),
                "games/first_player_score": float(np.mean([r.outcome for r in recent])),
                "games/samples_per_game": states / len(recent),
                "games/distinct_openings": len(openings) / len(recent),
                "search/depth": sum(r.expanded for r in recent)
                / max(1, sum(r.iterations for r in recent)),
                "search/evaluations_per_action": sum(r.evaluations for r in recent) / plies,
                "search/resolved_states": sum(r.resolved for r in recent) / max(1, states),
                "search/resolved_roots": sum(r.resolved_roots for r in recent) / plies,
            }
        with self.writer.as_default(step=games):
            for name, value in scalars.items():
                tf.summary.scalar(name, value)
            if self.targets is not None and self.predicted is not None:
                tf.summary.histogram("values/targets", self.targets)
                tf.summary.histogram("values/predictions", self.predicted)
            if image is not None:
                tf.summary.image("games/recent", image[None])
        self.writer.flush()

    def live_line(self, games: int, samples: int, left: str, next_checkpoint: int) -> str:
        loss = f"{self.losses[-1][0]:.4f}" if self.losses else "-"
        strength = ""
        if self.strength:
            name, results = list(self.strength.items())[-1]
            strength = f"  {name} {results[-1][1].score:.0%}"
        return (
            f"{duration(sum(self.seconds.values()))}  {games} games  {count(samples)} samples"
            f"  {count(self.playing_rate)} states/s  loss {loss}{strength}"
            f"  checkpoint in {next_checkpoint} games  {left} left"
        )

    def close(self) -> None:
        self.writer.close()
        self.log.close()


def strength_table(strength: dict[str, list[tuple[int, MatchResult]]]) -> list[str]:
    """The curve as text: one row a checkpoint, a bar for the score."""
    lines = []
    for name, results in strength.items():
        lines.append(f"against {name}:")
        for games, result in results:
            low, high = result.interval
            bar = "█" * round(20 * result.score)
            lines.append(
                f"  after {games:6} games  {bar:<20} {result.score:4.0%} [{low:.0%}, {high:.0%}]"
            )
    return lines
