"""The parts of a training run, made for a new run, a fork or a resumed one."""

from __future__ import annotations

import shutil
from pathlib import Path

from athenan import checkpoint
from athenan.actors import make_actors
from athenan.backend import keras, tensorflow
from athenan.checkpoint import Part, Saved
from athenan.clock import Clock
from athenan.config import split_own_game
from athenan.errors import InputError
from athenan.evaluators import set_weights
from athenan.games import make_game, make_game_of
from athenan.learner import Learner
from athenan.network import make_model
from athenan.replay import Replay
from athenan.reports import Reports
from athenan.run import new_run, resumed_config, write_config
from athenan.settings import TrainSettings
from athenan.strength import Strength


class Parts:
    """Who works in a run, in its folder; a checkpoint is what `saved()` gives."""

    def __init__(self, config: TrainSettings, run: Path) -> None:
        set_up_tensorflow(config)
        self.config, self.run = config, run
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
        self.reports = Reports(
            run,
            config,
            self.game,
            actors=self.actors,
            learner=self.learner,
            replay=self.replay,
            clock=self.clock,
        )

    def _by_name(self) -> dict[str, Saved]:
        names = ("actors", "learner", "replay", "clock", "strength")
        return {name: getattr(self, name) for name in names}

    def saved(self) -> dict[str, Part]:
        return {name: part.saved() for name, part in self._by_name().items()}

    def restore(self, step: Path) -> None:
        """Takes up where the checkpoint was written."""
        self.step = step
        saved = checkpoint.read_parts(step)
        for name, part in self._by_name().items():
            part.restore(saved[name])


def new_parts(config: TrainSettings) -> Parts:
    """Of a new run, or of one that starts from the weights of another."""
    source = None
    if config.fork:
        source = checkpoint.find_step(config.fork, Path(config.checkpoints))
        checkpoint.read_state(source)
        weights = checkpoint.load_arrays(source / "weights.npz")
    run = new_run(config)
    try:
        parts = Parts(config, run)
        if source is not None:
            set_weights(parts.learner.model, weights, source)
            parts.reports.say(f"weights of {source}")
    except InputError:
        shutil.rmtree(run)
        raise
    return parts


def resumed_parts(config: TrainSettings, overrides: list[str]) -> Parts:
    """Of a run that goes on from its newest checkpoint."""
    assert config.resume is not None
    game = config.game["name"] if any(o.startswith("game=") for o in overrides) else None
    run = checkpoint.find_run(config.resume, Path(config.checkpoints), game)
    steps = checkpoint.steps_of(run)
    if not steps:
        raise InputError(f"Run '{run}' has no checkpoint yet.")
    named, overrides = split_own_game(overrides)
    if config.resume == "latest":  # the game only told which run it is
        overrides = [o for o in overrides if not o.startswith("game=")]
    trust = config.trust
    config, changed = resumed_config(run, overrides)
    if named and config.game["name"] != named:
        raise InputError(f"Run '{run}' is of game '{config.game['name']}', not of '{named}'.")
    make_game_of(run, config.game, trust or named is not None)
    config.trust = trust  # whatever the run's own config says
    parts = Parts(config, run)
    parts.restore(steps[-1])
    parts.reports.say(f"going on from {steps[-1]}")
    for text in changed:
        parts.reports.say(f"changed {text}")
    if changed:
        write_config(config, run)
    return parts


def set_up_tensorflow(config: TrainSettings) -> None:
    tf = tensorflow()
    if config.deterministic:
        tf.config.experimental.enable_op_determinism()
    keras().utils.set_random_seed(config.seed)
    half = config.learn.mixed_precision and bool(tf.config.list_physical_devices("GPU"))
    keras().mixed_precision.set_global_policy("mixed_float16" if half else "float32")
