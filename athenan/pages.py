"""TensorBoard pages of a run, by meaning: loss, games, search, speed, strength, …"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from athenan.backend import tensorflow
from athenan.files import read_text, write_whole
from athenan.judge import EXACT
from athenan.match import MatchResult
from athenan.records import Array, GameRecord

OPENING_PLIES = 6
METRICS = "metrics.jsonl"  # every page of the run, a line each
STAGES = ("early", "middle", "late")  # thirds of a game


class Pages:
    """Steps are counted in games. TensorBoard opens on the groups that are first in the alphabet:
    `at_a_glance` repeats what matters most."""

    def __init__(
        self, run: Path, references: list[str], progress: Callable[[], dict[str, float]]
    ) -> None:
        """`progress()` is where the run stands: the first figures of a line of metrics.jsonl."""
        self.progress, self.metrics = progress, run / METRICS
        self._unwritten = ""  # lines that the disk has not taken yet
        self.tf = tensorflow()
        self.writer = self.tf.summary.create_file_writer(str(run))
        config = (run / "config.yaml").read_text()
        with self.writer.as_default(step=0):
            self.tf.summary.text("config", f"```\n{config}\n```")
        self._write(layout(references))

    def _write(self, summary: Any) -> None:
        """What no function of TensorFlow writes."""
        with self.writer.as_default(step=0):
            self.tf.summary.experimental.write_raw_pb(summary.SerializeToString(), step=0)

    def settings(self, own: dict[str, Any]) -> None:
        """As hyper-parameters, so that TensorBoard can compare runs by them."""
        from tensorboard.plugins.hparams import api

        with self.writer.as_default(step=0):
            api.hparams(own)

    def match(self, name: str, games: int, result: MatchResult) -> None:
        low, high = result.interval
        tags = {f"strength/{name}": result.score, f"strength/{name}_low": low}
        self.page(games, tags | {f"strength/{name}_high": high}, {}, {})

    def page(
        self,
        games: int,
        scalars: dict[str, float],
        histograms: dict[str, Array],
        images: dict[str, Array],
    ) -> None:
        """Figures after so many games; images [height, width, 3]."""
        summary = self.tf.summary
        with self.writer.as_default(step=games):
            for name, value in scalars.items():
                summary.scalar(name, value, description=about(name))
            for name, array in histograms.items():
                summary.histogram(name, array, description=about(name))
            for name, image in images.items():
                summary.image(name, image[None], description=about(name))
        self.writer.flush()
        if scalars:
            self._append(games, scalars)

    def _append(self, games: int, scalars: dict[str, float]) -> None:
        """The scalars of a page as a line of JSON, where numbers that are none are null."""
        named = {"games": games, **self.progress(), **scalars}
        line = {name: finite(value) for name, value in named.items()}
        self._unwritten += json.dumps(line) + "\n"
        with suppress(OSError), self.metrics.open("a") as file:
            file.write(self._unwritten)
            file.flush()
            self._unwritten = ""

    def close(self) -> None:
        from tensorboard.plugins.hparams import api_pb2
        from tensorboard.plugins.hparams.summary import session_end_pb

        self._write(session_end_pb(api_pb2.STATUS_SUCCESS))
        self.writer.close()


def finite(value: Any) -> float | int | None:
    number = value if isinstance(value, int) else float(value)
    return number if math.isfinite(number) else None


def cut_metrics(path: Path, games: int) -> int:
    """Takes away what a run that goes on after so many games will tell again, and a line that a
    kill cut off; returns how many lines those were."""
    try:
        lines = read_text(path).splitlines()
    except (OSError, ValueError):
        return 0
    kept = [line for line in lines if games_of_line(line) <= games]
    if kept != lines:
        write_whole(path, "".join(f"{line}\n" for line in kept).encode())
    return len(lines) - len(kept)


def games_of_line(line: str) -> float:
    """After how many games of the run; never, for a line that is none."""
    try:
        return float(json.loads(line)["games"])
    except (ValueError, TypeError, LookupError, RecursionError):
        return math.inf


def layout(references: list[str]) -> Any:
    """The page of custom scalars: strength with its interval, error and speed."""
    from tensorboard.plugins.custom_scalar import layout_pb2, summary

    def strength(name: str) -> Any:
        tags = {"value": "", "lower": "_low", "upper": "_high"}
        series = {part: f"strength/{name}{end}" for part, end in tags.items()}
        margin = layout_pb2.MarginChartContent(
            series=[layout_pb2.MarginChartContent.Series(**series)]
        )
        title = "outcome kept in solved positions" if name == EXACT else f"score against {name}"
        return layout_pb2.Chart(title=title, margin=margin)

    def lines(title: str, *tags: str) -> Any:
        multiline = layout_pb2.MultilineChartContent(tag=[f"^{tag}$" for tag in tags])
        return layout_pb2.Chart(title=title, multiline=multiline)

    categories = {
        "strength, with 95 % intervals": [strength(name) for name in references],
        "error": [lines("of held-out and learned games", "loss/held_out", "loss/error")],
        "speed": [lines("states a second, of self-play and of the network alone",
                        "speed/self_play_states_per_second",
                        "speed/network_best_states_per_second")],
    }  # fmt: skip
    return summary.pb(
        layout_pb2.Layout(
            category=[layout_pb2.Category(title=t, chart=c) for t, c in categories.items()]
        )
    )


# What the figures mean, by tag, or by group where its tags are alike.
ABOUT = {
    "at_a_glance/against_references": "Scores against the references, with their 95 % intervals.",
    "at_a_glance/error_on_held_out_games": "As loss/held_out.",
    "at_a_glance/outcome_kept": "As strength/exact.",
    "at_a_glance/states_per_second": "As speed/self_play_states_per_second.",
    "at_a_glance": "Score against the reference that makes the best checkpoint: 1 wins every game.",
    "calibration": "Values of the search against the outcomes of recent games, by thirds of a "
    "game: the squared difference, and the slope of outcomes over values: with heuristic gain 1 is "
    "right, less is too sure.",
    "exploration/exploitation": "ε' on average: 1 always plays the best action, 0 any.",
    "games/draws": "Share of recent games.",
    "games/distinct_openings": f"Share of recent games whose first {OPENING_PLIES} actions differ.",
    "games/first_player_losses": "Share of recent games.",
    "games/first_player_score": "Mean outcome of recent games: 1 the first player wins all.",
    "games/first_player_wins": "Share of recent games.",
    "games/length": "Plies of recent games, on average.",
    "games/openings": f"Number of different first {OPENING_PLIES} actions of recent games.",
    "games/recent": "The last game: its end, and the search's value at each of its plies.",
    "games/samples_per_game": "Labelled states that a recent game gives, on average.",
    "layout/actor": "Of an actor process: states it evaluates, resident memory.",
    "layout/actors": "That play now.",
    "layout/actors_wait": "Share of the actors' time without a call: the learner is too slow.",
    "layout/blocks_waiting": "Games that have arrived in parcels and are not learned from yet.",
    "layout/bytes_per_second": "Of games that arrive.",
    "layout/deaths": "Of actors, since the run began.",
    "layout/games_abandoned": "Under way when their actor was lost, or the run was killed.",
    "layout/games_arrived": "Each counted once.",
    "layout/games_missing": "Lost between an actor and the learner.",
    "layout/games_repeated": "That arrived twice; the second is dropped.",
    "layout/learner_waits": "Share of the learner's time without games.",
    "layout/network": "Share of the actors' playing in which they wait for the network.",
    "layout/replaced": "Actors that took the place of a dead one.",
    "layout/stale": "Age of the weights that recent games ended with, when they arrived.",
    "loss/error": "Squared error on the states learned from; at 0 games that of the first fit.",
    "loss/gradient_norm": "Of all weights, in one step.",
    "loss/held_out": "Squared error on games that were not learned from: what to trust.",
    "loss/l2": "What the squared kernels add to the loss.",
    "loss/learning_rate": "Of Adam.",
    "loss/total": "Error and l2.",
    "loss/update_to_weight": "Length of one step over that of all weights.",
    "progress/games": "Of self-play.",
    "progress/minutes": "Of work, resumed parts included.",
    "progress/samples": "Learned from, each use counted.",
    "progress/steps": "Of the optimiser.",
    "replay/age": "Games learned from since the states in memory came, on average.",
    "replay/megabytes": "That the games in memory take.",
    "replay/states": "Of the games in memory.",
    "search/depth": "States expanded by an iteration of the search, on average.",
    "search/evaluations_per_action": "States valued by the network, on average.",
    "search/out_of_memory": "Searches that ended for want of memory.",
    "search/remembered_proofs": "Resolved states kept across games.",
    "search/resolved_roots": "Share of the actions before which the search knew the outcome.",
    "search/resolved_states": "Share of the labels that are proven.",
    "speed/network_best_states_per_second": "What the network answers alone, at its best batch.",
    "speed/resident_megabytes": "Memory of the process.",
    "speed/self_play_states_per_second": "That the network answers in self-play.",
    "speed/self_play_to_network_ratio": "1: self-play is as fast as the network lets it be.",
    "strength/exact": "Share of solved positions in which the player keeps the outcome.",
    "strength": "Score in small matches, draws a half; low and high are its 95 % interval.",
    "time_share": "Of the time of this process.",
    "values/predictions": "What the network said of the last states learned from.",
    "values/targets": "Labels of the last states learned from.",
}


def about(tag: str) -> str | None:
    if tag.startswith("layout/"):
        return ABOUT.get(tag) or ABOUT[f"layout/{tag[7:].partition('_')[0]}"]
    return ABOUT.get(tag) or ABOUT.get(tag.partition("/")[0])


def averages(games: list[GameRecord]) -> dict[str, float]:
    """Scalars over some games."""
    labels = sum(len(g.values) for g in games)
    plies = sum(g.plies for g in games)
    openings = {tuple(g.actions[:OPENING_PLIES].tolist()) for g in games}
    iterations = sum(g.iterations for g in games)
    first = np.array([g.outcomes[0] for g in games])
    by_colour = {"first_player_wins": 1, "draws": 0, "first_player_losses": -1}
    return {
        "games/length": plies / len(games),
        **{f"games/{name}": float(np.mean(first == one)) for name, one in by_colour.items()},
        **calibration(games),
        "games/first_player_score": float(np.mean(first)),
        **{
            f"games/player_{player + 1}_score": float(np.mean([g.outcomes[player] for g in games]))
            for player in range(1, len(games[0].outcomes))
            if len(games[0].outcomes) > 2
        },
        "games/samples_per_game": labels / len(games),
        "games/distinct_openings": len(openings) / len(games),
        "games/openings": float(len(openings)),
        "search/depth": sum(g.expanded for g in games) / max(1, iterations),
        "search/evaluations_per_action": sum(g.evaluations for g in games) / plies,
        "search/resolved_states": sum(g.resolved for g in games) / max(1, labels),
        "search/resolved_roots": sum(g.resolved_roots for g in games) / plies,
    }


def calibration(games: list[GameRecord]) -> dict[str, float]:
    """Values of the searches that played against the outcomes, by thirds of a game: their squared
    difference, and the slope of outcomes over values where values differ at all."""
    values: list[list[Array]] = [[] for _ in STAGES]
    outcomes: list[list[Array]] = [[] for _ in STAGES]
    for game in games:
        width = game.root_values.shape[1]
        outcome = np.array(game.outcomes[:width], np.float64)  # width 1: the first player's
        for place, rows in enumerate(np.array_split(game.root_values, len(STAGES))):
            values[place].append(rows.ravel())
            outcomes[place].append(np.tile(outcome, len(rows)))
    found = {}
    for place, stage in enumerate(STAGES):
        told, came = np.concatenate(values[place]).astype(float), np.concatenate(outcomes[place])
        if not len(told):
            continue
        found[f"calibration/{stage}_error"] = float(np.mean((told - came) ** 2))
        spread = float(np.var(told))
        if spread > 1e-6:
            slope = float(np.mean((told - told.mean()) * (came - came.mean()))) / spread
            found[f"calibration/{stage}_slope"] = slope
    return found
