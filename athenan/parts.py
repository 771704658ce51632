"""The parts of a training run, made for a new run, a fork or a resumed one."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import IO

from athenan import checkpoint
from athenan.actors import make_actors
from athenan.backend import device_line, keep_messages, keras, tensorflow
from athenan.checkpoint import STEP, Damaged, Part, Saved
from athenan.clock import Clock
from athenan.config import split_own_game
from athenan.errors import InputError
from athenan.evaluators import set_weights
from athenan.games import make_game, make_game_of
from athenan.learner import Learner
from athenan.network import make_model
from athenan.replay import Replay
from athenan.reports import Reports
from athenan.run import fit_to_game, lock_run, new_run, resumed_config, write_config
from athenan.settings import TrainSettings
from athenan.strength import Strength

# What a part may raise that is given what it has not written.
DAMAGED = (OSError, ValueError, LookupError, EOFError, RuntimeError, TypeError, AttributeError,
           StopIteration)  # fmt: skip


class Parts:
    """Who works in a run, in its folder; a checkpoint is what `saved()` gives."""

    def __init__(self, config: TrainSettings, run: Path, lock: IO[str]) -> None:
        keep_messages(run / "tensorflow.txt")
        set_up_tensorflow(config)
        self.config, self.run, self.lock = config, run, lock
        self.game = make_game(**config.game)
        if self.game.num_players != 2:
            raise InputError(
                f"Training is for two players; game '{self.game.name}' has {self.game.num_players}."
            )
        model = make_model(
            config.network, self.game.plane_shape, self.game.num_players, config.seed
        )
        self.learner = Learner(model, config.learn, self.game.symmetries, config.seed)
        self.replay = Replay(config.replay, config.seed, run)
        self.clock = Clock(config)
        self.strength = Strength(config, self.game, run)
        self.actors = make_actors(config, self.game)
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


def new_parts(config: TrainSettings) -> Parts:
    """Of a new run, or of one that starts from the weights of another."""
    source = None
    if config.fork:
        source = checkpoint.find_step(config.fork, Path(config.checkpoints))
        checkpoint.read_state(source)
        weights = checkpoint.load_arrays(source / "weights.npz")
    fit_to_game(config)
    run = new_run(config)
    try:
        lock = lock_run(run)
        write_config(config, run)
        parts = Parts(config, run, lock)
        if source is not None:
            set_weights(parts.learner.model, weights, source)
            parts.reports.say(f"weights of {source}")
    except BaseException:
        shutil.rmtree(run)  # made a moment ago
        raise
    return parts


def resumed_parts(config: TrainSettings, overrides: list[str]) -> Parts:
    """Of a run that goes on from its newest whole checkpoint, or from the one that is named."""
    run, named = find_resumed(config, overrides)
    own_game, overrides = split_own_game(overrides)
    if config.resume == "latest":  # the game only told which run it is
        overrides = [o for o in overrides if not o.startswith("game=")]
    lock = lock_run(run)
    try:
        checkpoint.recover(run)
        steps = [named] if named else checkpoint.steps_of(run)[::-1]
        if not steps:
            raise InputError(f"Run '{run}' has no checkpoint yet.")
        return restored_parts(run, steps, overrides, lock, own_game, config.trust)
    except BaseException:
        lock.close()
        raise


def find_resumed(config: TrainSettings, overrides: list[str]) -> tuple[Path, Path | None]:
    """The run, and its checkpoint where one is named."""
    assert config.resume is not None
    path = Path(config.resume)
    if STEP.fullmatch(path.name) and path.is_dir():
        return checkpoint.find_run(str(path.parent), Path(config.checkpoints)), path
    game = config.game["name"] if any(o.startswith("game=") for o in overrides) else None
    return checkpoint.find_run(config.resume, Path(config.checkpoints), game), None


def restored_parts(
    run: Path,
    steps: list[Path],
    overrides: list[str],
    lock: IO[str],
    own_game: str | None,
    trust: bool,
) -> Parts:
    """From the first of these checkpoints that is whole. A game of one's own is code: the user has
    named it, or trusts the run."""
    damaged: list[Damaged] = []
    parts = None
    for step in steps:
        try:
            saved = checkpoint.read_parts(step)
            if parts is None:
                config, said = resumed_config(run, step, overrides)
                name = config.game["name"]
                if own_game and name != own_game:
                    raise InputError(f"Run '{run}' is of game '{name}', not of '{own_game}'.")
                make_game_of(run, config.game, trust or own_game is not None)
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
        parts.reports.say(f"going on from {step}")
        for line in said:
            parts.reports.say(line)
        if said:
            write_config(config, run)
        return parts
    raise damaged[0]


def set_up_tensorflow(config: TrainSettings) -> None:
    tf = tensorflow()
    if config.deterministic:
        tf.config.experimental.enable_op_determinism()
    keras().utils.set_random_seed(config.seed)
    half = config.learn.mixed_precision and bool(tf.config.list_physical_devices("GPU"))
    keras().mixed_precision.set_global_policy("mixed_float16" if half else "float32")
