"""Strength during training: small matches at checkpoints against fixed references."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from omegaconf import OmegaConf

from athenan import _core, checkpoint
from athenan.actors import Task
from athenan.checkpoint import Part, load_arrays
from athenan.clock import Clock
from athenan.config import read_values
from athenan.errors import Failed, InputError
from athenan.evaluators import evaluator_of
from athenan.files import write_whole
from athenan.games import make_game
from athenan.judge import EXACT, judge
from athenan.match import MatchResult, make_openings, play_match, seats
from athenan.network import make_evaluator, model_for, set_up_tensorflow
from athenan.placement import see_only
from athenan.players import Player, SearchPlayer, make_player
from athenan.positions import Position, load_positions, positions_file
from athenan.records import Array
from athenan.search import search_for
from athenan.settings import TrainSettings

POINTS = 8  # of the curve, at least, in a run of minutes where matches have time for them
SECONDS = 2.0  # that a measurement has at least
LAST_SECONDS = 5.0  # … at the end of a run, whatever share of it that is
POSITIONS_IN_STEP = 100


class Listener(Protocol):
    """Who hears of the matches."""

    def playing(
        self, name: str, done: int, total: int, result: MatchResult, left: float | None
    ) -> None:
        """A turn of a match against `name` is over; `left` are its seconds."""

    def match(self, name: str, games: int, result: MatchResult) -> None:
        """It is over, after so many games of the run."""

    def unplayed(self, name: str, seconds: float) -> None:
        """So many seconds were too short for the games of an opening."""


class Strength:
    """Plays the matches and knows the best checkpoint; training does not depend on either."""

    def __init__(self, config: TrainSettings, game: _core.Game, run: Path) -> None:
        self.config, self.game, self.run = config, game, run
        self.best: dict[str, Any] | None = None
        self._saved_best: dict[str, Any] | None = None  # in the checkpoint that was restored
        self._spent_before = 0.0  # seconds of matches before the last ones
        self._at_start = 0.0  # seconds of those of the untrained network
        self._measured: tuple[int, float] | None = None  # games and seconds of the run then
        self.aside: tuple[int, Task] | None = None  # matches of another process, after these games
        self.aside_seconds = 0.0  # that those took
        self._references()  # what is wrong with them is better said now than after hours
        self.solved = solved_positions(game, config.strength.exact)

    def due(self, games: int, clock: Clock, at_checkpoint: bool, last: bool) -> bool:
        """Whether the run is measured now: at the turn of a checkpoint, or when a part of its
        minutes is over; while matches have time left."""
        config = self.config.strength
        if not config.every_checkpoints or not config.games:
            return False
        number = games // self.config.checkpoint.every_games
        turn = at_checkpoint and number % config.every_checkpoints == 0
        if not (last or turn or self._overdue(games, clock)):
            return False
        if self._measured is not None and self._measured[0] == 0:
            self._at_start = clock.spent("matches") + self.aside_seconds  # beside the share
        spent = clock.spent("matches") + self.aside_seconds - self._at_start
        cost = spent - self._spent_before
        if spent and not last and spent + cost > config.most_share * clock.elapsed:
            return False
        self._spent_before, self._measured = spent, (games, clock.elapsed)
        return True

    def _overdue(self, games: int, clock: Clock) -> bool:
        """Whether the curve wants a point between checkpoints, after some games more."""
        if not self.config.minutes:
            return False
        if self._measured is None:  # a run that was just resumed
            self._measured = games, clock.elapsed
        before, then = self._measured
        return games > before and clock.elapsed - then >= 60 * self.config.minutes / POINTS

    def seconds(self, games: int, clock: Clock, last: bool) -> float | None:
        """That the matches may take. A run of minutes keeps to them: its matches have their share
        of it, and at the end as much again with what is left."""
        if not self.config.minutes:
            return None if games else LAST_SECONDS
        share = self.config.strength.most_share * 60 * self.config.minutes
        if last:
            return max(LAST_SECONDS, 2 * share - clock.spent("matches"))
        return max(SECONDS, share / POINTS if games else min(LAST_SECONDS, share))

    def measure(
        self, evaluator: Any, games: int, listener: Listener, seconds: float | None
    ) -> None:
        """Plays the matches, in so many seconds if there is a limit; the listener hears of them."""
        ours = self._player(evaluator)
        for name, result in self.play(ours, self._opponents(games), listener, seconds):
            self.note(name, games, result, listener)

    def play(
        self,
        ours: Player,
        opponents: list[tuple[str, Player | Path]],
        listener: Listener,
        seconds: float | None,
    ) -> Iterator[tuple[str, MatchResult]]:
        """Names of the opponents, and results; nothing is noted."""
        config = self.config.strength
        ends = None if seconds is None else time.monotonic() + seconds
        number = max(1, config.games // self.game.num_players)
        openings = make_openings(self.game, number, config.opening_plies, seed=0)
        if self.solved:
            left = None if seconds is None else seconds / (len(opponents) + 1)
            result = self._judged(ours, left)
            if result.games:
                yield EXACT, result
        for number, (name, opponent) in enumerate(opponents):
            player = opponent
            if isinstance(player, Path):
                player = self._player(evaluator_of(player))
            left = None if ends is None else max(0.0, ends - time.monotonic())
            own = None if left is None else left / (len(opponents) - number)
            players = seats(self.game, ours, player)
            result = self._match(name, players, openings, listener, own)
            if result.games:
                yield name, result

    def _judged(self, ours: Player, seconds: float | None) -> MatchResult:
        """On solved positions: a win is an action that keeps the outcome."""
        kept = judge(ours, self.solved, POSITIONS_IN_STEP, seconds=seconds).kept
        marks = [float(one) for one in kept]
        return MatchResult(wins=sum(kept), losses=len(kept) - sum(kept), pair_scores=marks)

    def note(self, name: str, games: int, result: MatchResult, listener: Listener) -> None:
        """A match is over, after so many games of the run."""
        listener.match(name, games, result)
        if name == self.config.strength.best_by and games and self._is_checkpoint(games):
            self._note_best(games, result.interval[0], name)

    # ---- In another process -------------------------------------------------------------------

    def begin(
        self,
        run_aside: Callable[..., Task | None],
        weights: list[Array],
        games: int,
        seconds: float | None,
    ) -> None:
        """As `measure`, but by another process; all weights go with the call, since a checkpoint
        may be gone before it is played."""
        earlier = dict(self._opponents(games)).get("earlier")
        before = load_arrays(earlier / "weights.npz") if isinstance(earlier, Path) else None
        task = run_aside(play_aside, self.config, self.run.absolute(), weights, before, seconds)
        self.aside = None if task is None else (games, task)

    def take(self, listener: Listener, wait: bool = False) -> None:
        """Notes what the other process has played, if it is over."""
        if self.aside is None:
            return
        games, task = self.aside
        try:
            found = task.result(wait)
        except (InputError, Failed):
            self.aside = None
            raise
        if found is None:
            return
        self.aside = None
        results, seconds = found
        self.aside_seconds += seconds
        for name, result in results:
            self.note(name, games, result, listener)

    def _match(
        self,
        name: str,
        players: list[Player],
        openings: list[_core.State],
        listener: Listener,
        seconds: float | None,
    ) -> MatchResult:
        """Without games where its seconds are too few."""
        started, total = time.monotonic(), len(players) * len(openings)

        def show(done: int, result: MatchResult) -> None:
            passed = time.monotonic() - started
            left = passed / done * (total - done) if done else seconds
            if left is not None and seconds is not None:
                left = max(0.0, min(left, seconds - passed))
            listener.playing(name, done, total, result, left)

        result = play_match(players, openings, on_progress=show, seconds=seconds)
        if seconds is not None and not result.games:
            listener.unplayed(name, seconds)
        return result

    def _is_checkpoint(self, games: int) -> bool:
        return (self.run / f"step_{games}").exists()

    def _opponents(self, games: int) -> list[tuple[str, Player | Path]]:
        """The references and, at a checkpoint, the one before, which is loaded when it plays."""
        found: list[tuple[str, Player | Path]] = [*self._references().items()]
        steps = checkpoint.steps_of(self.run)
        if self.config.strength.earlier and len(steps) > 1 and self._is_checkpoint(games):
            found.append(("earlier", steps[-2]))
        return found

    def _references(self) -> dict[str, Player]:
        runs = checkpoint.runs_of(Path(self.config.checkpoints), self.config.game["name"])
        threads, trust = self.config.self_play.threads, self.config.trust
        return {
            name: make_player(self.game, settings, runs, 1, threads, trust)
            for name, settings in self.config.strength.references.items()
        }

    def _player(self, evaluator: Any) -> SearchPlayer:
        """By ubfm with the options that it shares with the search of self-play."""
        config = self.config
        shared = {name: config.search[name] for name in ("completion", "decision")}
        search = {"name": search_for(self.game, "ubfm"), **shared, "memory_mb": 64}
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


def solved_positions(game: _core.Game, most: int) -> list[Position]:
    """Those that come with the game, in an order of which every part is of all stages."""
    path = positions_file(game) if most else None
    if path is None:
        return []
    positions = load_positions(path, game)
    order = np.random.default_rng(0).permutation(len(positions))[:most]
    return [positions[i] for i in order]


class Nobody:
    """Hears of nothing."""

    def playing(self, *_: Any) -> None: ...

    def match(self, *_: Any) -> None: ...

    def unplayed(self, *_: Any) -> None: ...


def play_aside(
    config: TrainSettings,
    run: Path,
    weights: list[Array],
    earlier: list[Array] | None,
    seconds: float | None,
) -> tuple[list[tuple[str, MatchResult]], float]:
    """The results of all matches of a network with these weights, and the seconds they took."""
    started = time.monotonic()
    see_only([])  # devices are the learner's and the actors'
    set_up_tensorflow(config, config.layout.cpus)
    game = make_game(**config.game)
    strength = Strength(config, game, run)

    def player(own: list[Array]) -> Player:
        model = model_for(config.network, game, config.seed)
        evaluator = make_evaluator(config.network.kind, model)
        evaluator.assign(own)
        return strength._player(evaluator)

    opponents: list[tuple[str, Player | Path]] = [*strength._references().items()]
    if earlier is not None:
        opponents.append(("earlier", player(earlier)))
    results = list(strength.play(player(weights), opponents, Nobody(), seconds))
    return results, time.monotonic() - started


def is_best(value: Any) -> bool:
    """Whether it is a note of the best checkpoint, whole."""
    return (
        isinstance(value, dict)
        and value.keys() == {"step", "low", "against"}
        and type(value["step"]) is int
        and isinstance(value["low"], float | int)
        and 0 <= value["low"] <= 1
    )
