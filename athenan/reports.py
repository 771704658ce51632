"""What a run tells: a log file, a progress line, TensorBoard pages and a final report.

Reports listen to the loop and look at the parts of the run; nothing depends on them.
"""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from athenan import _core
from athenan.actors import Actors
from athenan.clock import Clock
from athenan.exploration import expected_exploitation
from athenan.files import write_whole
from athenan.games import make_game
from athenan.judge import EXACT
from athenan.learner import Learner
from athenan.match import MatchResult, progress_parts
from athenan.matches import PlayedMatch, append_match, read_matches
from athenan.network import rate_alone
from athenan.pages import METRICS, Pages, averages, cut_metrics
from athenan.picture import picture_of, strength_image
from athenan.positions import positions_file
from athenan.progress import Progress, count, duration, resident_megabytes, tell
from athenan.records import GameRecord
from athenan.replay import Replay
from athenan.run import own_settings
from athenan.search import Evaluate
from athenan.settings import COMMANDS, TrainSettings
from athenan.translators import protocol_of

MATCHES = "matches.jsonl"  # every match of the run, a line each
RECENT = 200  # games that averages go over
SECONDS = 10.0  # between pages


def nobody(*_: Any) -> None:
    """Listens to nothing."""


@dataclass
class Callbacks:
    """What a program that trains wants to hear of."""

    on_game: Callable[[GameRecord], object] = nobody  # finished and learned from, or held out
    on_checkpoint: Callable[[Path], object] = nobody  # written
    on_match: Callable[[str, int, MatchResult], object] = nobody  # opponent, games of the run


class Reports:
    """Collects what happens and writes it every few seconds."""

    def __init__(
        self,
        run: Path,
        config: TrainSettings,
        game: _core.Game,
        *,
        actors: Actors,
        learner: Learner,
        replay: Replay,
        clock: Clock,
    ) -> None:
        self.run, self.config, self.game = run, config, game
        self.actors, self.learner, self.replay, self.clock = actors, learner, replay, clock
        solved = [EXACT] if config.strength.exact and positions_file(game) else []
        charts = [*config.strength.references, "earlier", *solved]
        self.pages = Pages(run, charts, self._standing)
        self.progress = Progress(quiet_seconds=15.0)
        self._unlogged = ""  # lines that the disk has not taken yet
        self.recent: deque[GameRecord] = deque(maxlen=RECENT)
        self.losses: deque[tuple[float, float]] = deque(maxlen=RECENT)
        self.seen: dict[str, float] = {}  # of the last step that was looked at
        self.held_out_errors: deque[float] = deque(maxlen=20)
        self.strength: dict[str, list[tuple[int, MatchResult]]] = {}
        self.callbacks = Callbacks()
        self.learner.watched = True
        self.values: dict[str, np.ndarray[Any, Any]] = {}  # of the last step
        self.network_rate = 0.0  # states a second of the network alone
        self.playing_rate = 0.0
        self.rates: list[
            tuple[float, float]
        ] = []  # of self-play and the network (0: not known), page by page
        self._written = time.monotonic()
        self._told_of_memory = False
        self._since = (0.0, 0.0)  # rows and self-play seconds at the last page

    # ---- What the loop tells ----------------------------------------------------------

    def say(self, text: str) -> None:
        """A line for people and the log."""
        line = f"{time.strftime('%H:%M:%S')}  {text}\n"
        self._write_log(line)
        self.progress.clear()
        tell(line, sys.stdout)

    def _write_log(self, text: str) -> None:
        """Now, or with a later line: a disk that is full does not stop the run."""
        self._unlogged += text
        with suppress(OSError), (self.run / "log.txt").open("a") as log:
            log.write(self._unlogged)
            log.flush()
            self._unlogged = ""

    def begin(self) -> None:
        """A new run."""
        if self.config.learn.first_fit_states:
            self.progress.show(["first fit on ends of random games"])
        self.pages.settings(own_settings(self.config))

    def first_fit(self, learned: dict[str, Any]) -> None:
        if learned:
            states = self.config.learn.first_fit_states
            self.say(f"first fit on {states} ends of random games, error {learned['error']:.4f}")
            seen = {f"loss/{name}": value for name, value in learned["seen"].items()}
            self.pages.page(0, self._facts() | {"loss/error": learned["error"]} | seen, {}, {})
            self.learner.watched = True

    def resumed(self, games: int) -> None:
        """The run goes on after so many games: what it has been told of before."""
        for row in read_matches(self.run / MATCHES):
            if row.games_of_run <= games:
                rows = self.strength.setdefault(row.against, [])
                rows[:] = [known for known in rows if known[0] != row.games_of_run]
                rows.append((row.games_of_run, row.result))
        try:
            cut = cut_metrics(self.run / METRICS, games)
        except OSError:  # programs that read it can see that it goes back
            return
        if cut:
            self.say(f"{cut} lines of {METRICS} after {games} games are taken away")

    def _standing(self) -> dict[str, float]:
        """Of a line of metrics.jsonl, after its games."""
        return {"step": self.learner.steps, "seconds": round(self.clock.elapsed, 3)}

    def checkpoint(self, step: Path) -> None:
        self.callbacks.on_checkpoint(step)

    def learned(self, record: GameRecord, learned: dict[str, Any]) -> None:
        self.recent.append(record)
        self.callbacks.on_game(record)
        if learned:
            self.losses.append((learned["error"], learned["decay"]))
            self.seen = learned["seen"] or self.seen
            self.values = {
                "values/targets": learned["targets"],
                "values/predictions": learned["predicted"],
            }

    def held_out(self, record: GameRecord, error: float) -> None:
        """A game that is not learned from."""
        self.recent.append(record)
        self.held_out_errors.append(error)
        self.callbacks.on_game(record)

    def playing(
        self, name: str, done: int, total: int, result: MatchResult, left: float | None
    ) -> None:
        self.progress.show([f"against {name}", *progress_parts(done, total, result, left)])

    def unplayed(self, name: str, seconds: float) -> None:
        self.say(f"against {name}: {duration(seconds)} are too short for a pair of games")

    def match(self, name: str, games: int, result: MatchResult) -> None:
        self.strength.setdefault(name, []).append((games, result))
        with suppress(OSError):  # it is on the pages, too
            append_match(self.run / MATCHES, PlayedMatch(name, games, result))
        self.callbacks.on_match(name, games, result)
        self.pages.match(name, games, result)
        self._glance(name, games)
        said = f"{about_match(name)}: {in_words(name, result)}"
        for line in (said, *result.forfeits_text()):
            self.say(line)

    def time_network(self, evaluator: Evaluate) -> None:
        """What self-play's rate is compared with; takes a second."""
        sizes = list(self.config.self_play.batch_sizes)
        self.network_rate = rate_alone(evaluator, self.game, sizes, seconds=0.15)

    def tell_news(self) -> None:
        """Of the actors."""
        for line in self.actors.news():
            self.say(line)

    def tick(self, next_checkpoint: int) -> None:
        """A turn of the loop is over."""
        self.tell_news()
        if not self._told_of_memory and self.actors.facts()["out_of_memory"]:
            self._told_of_memory = True
            self.say("searches end for want of memory: search.memory_mb is too small")
        self.progress.show(self._live_parts(next_checkpoint))
        if time.monotonic() - self._written >= SECONDS:
            self._page()

    def told_the_end(self, step: Path | None) -> bool:
        """Whether the run has come to its limits before, and has been told of; says so again."""
        games = self.actors.games
        if step is None or not self.clock.finished(games) or not (self.run / "report.txt").exists():
            return False
        self.say(f"the run is finished: {games} games, {duration(self.clock.elapsed)}")
        further = f"{word('resume', self.run)} {more(self.config, self.clock)}"
        self.say(f"go on with: athenan train {further}")
        self.pages.close()
        return True

    def end(self, step: Path | None, ended: bool = True) -> None:
        """The last page, the only one of a short run, and the final report; of a run that was
        stopped, how to go on with it."""
        self._page()
        self.pages.close()
        if not ended:
            self.say(f"stopped; the last checkpoint is {step}")
            if step is not None:
                self.say(f"go on with: athenan train {word('resume', self.run)}")
            return
        text = "\n".join(["", *self._final_report(step), ""])
        with suppress(OSError):  # it is printed and logged as well
            write_whole(self.run / "report.txt", text.lstrip().encode())
            write_whole(self.run / "report.json", json.dumps(self._figures(step)).encode())
        self._write_log(text)
        tell(text, sys.stdout)

    # ---- What is made of it -----------------------------------------------------------

    def _live_parts(self, next_checkpoint: int) -> list[str]:
        """What matters most first."""
        games, left = self.actors.games, self.clock.left(self.actors.games)
        parts = [
            duration(sum(self.clock.seconds.values())),
            f"{'?' if left is None else duration(left)} left",
            f"{games} games",
        ]
        if self.strength:
            name, results = list(self.strength.items())[-1]
            parts.append(f"{name} {results[-1][1].score:.0%}")
        if starving := self.actors.starving():
            parts.append(starving)
        return [
            *parts,
            f"loss {self.losses[-1][0]:.4f}" if self.losses else "loss -",
            f"{count(self.playing_rate)} states/s",
            f"{count(self.learner.samples)} samples",
            f"checkpoint in {max(0, next_checkpoint - games)} games",
        ]

    def _glance(self, name: str, games: int) -> None:
        """The scores against the references so far, on the page that TensorBoard opens."""
        references, best_by = self.config.strength.references, self.config.strength.best_by
        if name == EXACT:
            share = self.strength[name][-1][1].score
            self.pages.page(games, {"at_a_glance/outcome_kept": share}, {}, {})
        if name in references:
            results = {n: curve for n, curve in self.strength.items() if n in references}
            curves = {
                n: [(at, one.score, *one.interval) for at, one in curve]
                for n, curve in results.items()
            }
            score = self.strength[name][-1][1].score
            scalars = {f"at_a_glance/against_{name}": score} if name == best_by else {}
            images = {"at_a_glance/against_references": strength_image(curves)}
            self.pages.page(games, scalars, {}, images)

    def _page(self) -> None:
        self._written = time.monotonic()
        scalars = self._facts() | self._speed() | self.actors.pages()
        if self.losses:
            error, decay = np.mean(self.losses, axis=0)
            scalars |= {"loss/error": error, "loss/l2": decay, "loss/total": error + decay}
        if self.held_out_errors:
            scalars["loss/held_out"] = float(np.mean(self.held_out_errors))
            scalars["at_a_glance/error_on_held_out_games"] = scalars["loss/held_out"]
        scalars |= {f"loss/{name}": value for name, value in self.seen.items()}
        self.learner.watched = True  # a step that the next page tells of
        images = {}
        if self.recent:
            scalars |= averages(list(self.recent))
            images["games/recent"] = picture_of(self.game, self.recent[-1])
        self.pages.page(self.actors.games, scalars, self.values, images)

    def _facts(self) -> dict[str, float]:
        games, learner, clock = self.actors.games, self.learner, self.clock
        return {
            "progress/games": float(games),
            "progress/steps": float(learner.steps),
            "progress/samples": float(learner.samples),
            "progress/minutes": clock.elapsed / 60,
            "replay/age": self.replay.age,
            "replay/states": float(len(self.replay)),
            "replay/megabytes": self.replay.bytes / 1e6,
            "search/remembered_proofs": self.actors.facts()["remembered_proofs"],
            "search/out_of_memory": self.actors.facts()["out_of_memory"],
            "exploration/exploitation": expected_exploitation(
                self.config.exploration, clock.progress(games)
            ),
            "loss/learning_rate": float(learner.optimizer.learning_rate.numpy()),
            "speed/resident_megabytes": resident_megabytes(),
        }

    def _speed(self) -> dict[str, float]:
        """States a second of self-play since the last page, in the time self-play had."""
        facts, clock = self.actors.facts(), self.clock
        rows = facts["rows"]
        own = facts.get("playing_seconds", clock.spent("self_play"))
        seconds = sum(clock.seconds.values()) if self.actors.beside else own
        if seconds - self._since[1] > 0.5:
            self.playing_rate = (rows - self._since[0]) / (seconds - self._since[1])
            self._since = (rows, seconds)
        scalars = dict.fromkeys(
            ("speed/self_play_states_per_second", "at_a_glance/states_per_second"),
            self.playing_rate,
        )
        self.rates.append((self.playing_rate, self.network_rate))
        if self.network_rate:
            scalars["speed/network_best_states_per_second"] = self.network_rate
            if not self.actors.overlapped:  # otherwise learning takes of the same cores
                scalars["speed/self_play_to_network_ratio"] = self.playing_rate / self.network_rate
        shares = self.clock.shares()
        return scalars | {f"time_share/{name}": share for name, share in shares.items()}

    def _final_report(self, step: Path | None) -> list[str]:
        config, run = self.config, self.run
        shares = ", ".join(f"{name} {share:.0%}" for name, share in self.clock.shares().items())
        lines = [
            f"{self.actors.games} games, {self.learner.samples:,} samples learned, "
            f"{duration(self.clock.elapsed)}; time: {shares}",
        ]
        compared = [both for both in self.rates if both[1]]
        if compared:
            rate, best = np.mean(compared, axis=0)
            ratio = np.mean([playing / network for playing, network in compared])
            said = f"{ratio:.2f} of the network's best ({best:,.0f})"
            if self.actors.overlapped:
                said = f"while learning took of the same cores (the network alone: {best:,.0f})"
            lines.append(f"self-play evaluated {rate:,.0f} states/s on average, {said}")
        return [
            *lines,
            *strength_table(self.strength),
            f"checkpoint: {step}",
            "go on with:",
            f"  athenan train {word('resume', run)} {more(config, self.clock)}",
            f"  tensorboard --logdir {shlex.quote(str(run))}",
            f"  athenan match {own_game(config)}{word('first.checkpoint', run)}",
            *(
                f"  athenan {use} {own_game(config)}{word('checkpoint', run)}"
                for use in uses(config)
            ),
        ]

    def _figures(self, step: Path | None) -> dict[str, Any]:
        """The report for programs."""
        errors = self.held_out_errors
        return {
            "games": self.actors.games,
            "samples": self.learner.samples,
            "seconds": round(self.clock.elapsed, 1),
            "states_per_second": float(np.mean([rate for rate, _ in self.rates] or [0.0])),
            "held_out_error": float(np.mean(errors)) if errors else None,
            "strength": {
                name: {"after": results[-1][0]} | results[-1][1].figures()
                for name, results in self.strength.items()
            },
            "checkpoint": str(step),
        }


def strength_table(strength: dict[str, list[tuple[int, MatchResult]]]) -> list[str]:
    """The curve as text: one row a checkpoint, a bar for the score."""
    lines = []
    for name, results in strength.items():
        lines.append(f"{about_match(name)}:")
        for games, result in results:
            low, high = result.interval
            bar = "█" * round(20 * result.score)
            lines.append(
                f"  after {games:6} games  {bar:<20} {result.score:4.0%} [{low:.0%}, {high:.0%}]"
            )
    return lines


def about_match(name: str) -> str:
    return "outcome kept in solved positions" if name == EXACT else f"against {name}"


def in_words(name: str, result: MatchResult) -> str:
    if name != EXACT:
        return str(result)
    low, high = result.interval
    return f"{result.score:.1%} [{low:.1%}, {high:.1%}] of {result.games}"


def word(setting: str, value: Any) -> str:
    """`setting=value` for a shell."""
    return shlex.quote(f"{setting}={value}")


def more(config: TrainSettings, clock: Clock) -> str:
    """The limit that ended the run, twice as far."""
    if config.games and not (config.minutes and clock.elapsed >= 60 * config.minutes):
        return f"games={2 * config.games}"
    return f"minutes={2 * (config.minutes or 10):g}"


def uses(config: TrainSettings) -> list[str]:
    """The commands that play with a checkpoint of this game."""
    protocol = protocol_of(make_game(**config.game))
    return [use for use in ("play", "serve", protocol) if use in COMMANDS]


def own_game(config: TrainSettings) -> str:
    """A checkpoint tells its game, but not the code of a game of one's own."""
    name = config.game["name"]
    return f"{word('game', name)} " if ":" in name else ""
