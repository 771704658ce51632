"""The parts of a training run, made for a new run, a fork or a resumed one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import IO

from athenan import checkpoint
from athenan.actors import make_actors
from athenan.backend import device_line, keep_messages, keras
from athenan.checkpoint import Damaged, Part, Saved
from athenan.clock import Clock
from athenan.config import load_config, plain, split_own_game
from athenan.errors import InputError
from athenan.evaluators import set_weights
from athenan.export.runtimes import computing
from athenan.games import is_same_name, make_game, make_game_of
from athenan.learner import Learner
from athenan.network import model_for, set_up_tensorflow
from athenan.placement import Placement, learner_devices
from athenan.playing_network import CALIBRATION_STATES, Ranges, needs_ranges
from athenan.records import Array, unpack
from athenan.replay import Replay
from athenan.reports import Reports
from athenan.run import (
    check_name,
    differing,
    fit_to_game,
    flat,
    is_unbegun,
    lock_run,
    new_run,
    resumed_config,
    write_config,
)
from athenan.settings import TrainSettings
from athenan.strength import Strength

# What a part may raise that is given what it has not written.
DAMAGED = (OSError, ValueError, LookupError, EOFError, RuntimeError, TypeError, AttributeError,
           StopIteration)  # fmt: skip


class Parts:
    """Who works in a run, in its folder; a checkpoint is what `saved()` gives."""

    def __init__(self, config: TrainSettings, run: Path, lock: IO[str]) -> None:
        keep_messages(run / "tensorflow.txt")
        devices = learner_devices(config.layout)
        set_up_tensorflow(config, config.layout.learner_threads)
        self.config, self.run, self.lock = config, run, lock
        self.game = make_game(**config.game)
        placement = Placement(devices)
        with placement.scope():
            model = model_for(config.network, self.game, config.seed)
        self.learner = Learner(
            model, config.learn, self.game.symmetries, config.seed, placement, config.network.kind,
            self.game.action_places,
        )  # fmt: skip
        self.replay = Replay(config.replay, config.seed, run)
        self.clock = Clock(config)
        self.strength = Strength(config, self.game, run)
        self.actors = make_actors(config, self.game, run)
        self.ranges = Ranges(model, self.game) if needs_ranges(config.self_play) else None
        self.step: Path | None = None  # the newest checkpoint
        self.unsaved: str | None = None  # why there is none of now
        self.reports = Reports(
            run,
            config,
            self.game,
            actors=self.actors,
            learner=self.learner,
            replay=self.replay,
            clock=self.clock,
        )
        precision = keras().mixed_precision.global_policy().name
        self.reports.say(f"computed by {device_line(precision=precision)}")
        runtime = config.self_play.runtime
        if runtime != "tensorflow":
            self.reports.say(f"self-play computed by {computing(runtime, None)}")

    def weights(self) -> list[Array]:
        """What self-play is given: those learned so far, and what int8 needs beside them."""
        weights = self.learner.weights()
        if self.ranges is None:
            return weights
        states = unpack(self.replay.some(CALIBRATION_STATES), self.game.plane_shape)
        return [*weights, self.ranges(states)]

    def _by_name(self) -> dict[str, Saved]:
        names = ("actors", "learner", "replay", "clock", "strength")
        return {name: getattr(self, name) for name in names}

    def saved(self) -> dict[str, Part]:
        return {name: part.saved() for name, part in self._by_name().items()}

    def restore(self, step: Path, saved: dict[str, Part]) -> None:
        """Takes up where the checkpoint was written. Replay files are the only ones it has not
        been checked with: they come first, so that nothing is changed where they are damaged."""
        parts = self._by_name()
        for name in sorted(parts, key=lambda name: name != "replay"):
            try:
                parts[name].restore(saved[name])
            except DAMAGED as error:
                kind = Damaged if name == "replay" else InputError
                text = error if isinstance(error, InputError) else f"its {name} is damaged."
                raise kind(f"Checkpoint '{step}' cannot be gone on from: {text}") from error
        self.step = step

    def close(self) -> None:
        self.actors.close()
        self.lock.close()


def make_parts(config: TrainSettings, overrides: list[str]) -> Parts:
    """Of a new run, a fork, or a run that goes on."""
    if config.resume == "auto":
        return parts_of_named(config)
    return resumed_parts(config, overrides) if config.resume else new_parts(config)


def new_parts(config: TrainSettings) -> Parts:
    """Of a new run, or of one that starts from the weights of another."""
    source = None
    if config.fork:
        source = checkpoint.find_step(config.fork, Path(config.checkpoints))
        checkpoint.read_state(source)
        weights = checkpoint.load_arrays(source / "weights.npz")
    fit_to_game(config)
    run, created = new_run(config)
    try:
        lock = lock_run(run)
        write_config(config, run)
        parts = Parts(config, run, lock)
        if source is not None:
            take_weights(parts, weights, source)
            parts.reports.say(f"weights of {source}")
    except BaseException:
        if created:
            shutil.rmtree(run)  # made a moment ago
        raise
    return parts


def take_weights(parts: Parts, weights: list[Array], source: Path) -> None:
    """Of the source of a fork; where they do not fit, what is another one there."""
    try:
        set_weights(parts.learner.model, weights, source)
    except InputError as error:
        theirs, ours = (flat(plain(c)) for c in (load_config(source / "config.yaml"), parts.config))
        differ = [
            f"{key} is {theirs.get(key)} there and {ours[key]} here"
            for key in ours
            if key.startswith(("game.", "network.")) and theirs.get(key) != ours[key]
        ]
        raise InputError(f"{error} ({'; '.join(differ)})" if differ else str(error)) from None


def parts_of_named(config: TrainSettings) -> Parts:
    """The same words begin a run and go on with it, however often they are given."""
    if config.run is None:
        raise InputError("resume=auto goes on with the run that run=NAME names.")
    check_name(config.run)
    run = checkpoint.runs_of(Path(config.checkpoints), config.game["name"]) / config.run
    if is_unbegun(run) or not run.exists():
        config.resume = None
        return new_parts(config)
    config.resume = str(run)
    fit_to_game(config)
    own_game = config.game["name"] if ":" in config.game["name"] else None
    return resumed_parts(config, differing(config, run), own_game)


def resumed_parts(
    config: TrainSettings, overrides: list[str], own_game: str | None = None
) -> Parts:
    """Of a run that goes on from its newest whole checkpoint, or from the one that is named."""
    run, named = find_resumed(config, overrides)
    given, overrides = split_own_game(overrides)
    if config.resume == "latest":  # the game only told which run it is
        overrides = [o for o in overrides if not o.startswith("game=")]
    lock = lock_run(run)
    try:
        checkpoint.recover(run)
        steps = [named] if named else checkpoint.steps_of(run)[::-1]
        if not steps:
            raise InputError(f"Run '{run}' has no checkpoint yet.")
        engines = engines_of(config)
        return restored_parts(run, steps, overrides, lock, given or own_game, config.trust, engines)
    except BaseException:
        lock.close()
        raise


def engines_of(config: TrainSettings) -> set[str]:
    """The command lines of programs that the run has matches against."""
    return {player.engine for player in config.strength.references.values() if player.engine}


def find_resumed(config: TrainSettings, overrides: list[str]) -> tuple[Path, Path | None]:
    """The run, and its checkpoint where one is named."""
    assert config.resume is not None
    folder = Path(config.checkpoints)
    game = config.game["name"] if any(o.startswith("game=") for o in overrides) else None
    if checkpoint.names_step(config.resume):
        step = checkpoint.find_step(config.resume, folder, game)
        return step.parent, step
    return checkpoint.find_run(config.resume, folder, game), None


def restored_parts(
    run: Path,
    steps: list[Path],
    overrides: list[str],
    lock: IO[str],
    own_game: str | None,
    trust: bool,
    engines: set[str],
) -> Parts:
    """From the first of these checkpoints that is whole. A game of one's own is code, and so is an
    engine: the user has named it, or trusts the run."""
    damaged: list[Damaged] = []
    parts = None
    for step in steps:
        try:
            saved = checkpoint.read_parts(step)
            if parts is None:
                config, said = resumed_config(run, step, overrides)
                name = config.game["name"]
                if own_game and not is_same_name(name, own_game):
                    raise InputError(f"Run '{run}' is of game '{name}', not of '{own_game}'.")
                config.game["name"] = own_game or name
                make_game_of(run, config.game, trust or own_game is not None)
                if unnamed := [] if trust else sorted(engines_of(config) - engines):
                    raise InputError(
                        f"Run '{run}' has matches against '{unnamed[0]}', a program that would "
                        "run: say trust=true if you know where the run comes from."
                    )
                config.trust = trust  # whatever the run's own config says
                parts = Parts(config, run, lock)
            parts.restore(step, saved)
        except Damaged as error:
            damaged.append(error)
            continue
        for text in damaged:
            parts.reports.say(str(text))
        aside = checkpoint.set_aside(run, step)
        if aside:
            parts.strength.forget_after(checkpoint.step_number(step))
            parts.reports.say(f"the checkpoints after {step} are set aside in {aside}")
        parts.reports.resumed(parts.actors.games)
        parts.reports.say(f"going on from {step}")
        for line in said:
            parts.reports.say(line)
        if said:
            write_config(config, run)
        return parts
    raise damaged[0]
