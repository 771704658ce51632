"""Evaluators by text: networks of checkpoints, exports, and those of the core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from athenan import _core
from athenan.backend import device_line
from athenan.checkpoint import find_step, load_arrays, names_step, read_state, runs_in
from athenan.checks import read
from athenan.config import load_config, read_values
from athenan.errors import InputError, nearest
from athenan.export.bundle import is_bundle, load_bundle
from athenan.export.lite import write_lite
from athenan.export.operations import Operation, Range, planned_operations
from athenan.export.runtimes import LiteNetwork, computing, require, usual_threads
from athenan.games import make_game_of
from athenan.network import DenseEvaluator, NetworkEvaluator, model_for
from athenan.search import CORE_EVALUATORS, Evaluate, Evaluator
from athenan.settings import HeuristicSettings, NetworkSettings, TrainSettings

OTHER_WEIGHTS = "The weights in '{}' are of another network or game."
FIRST_VERSION = 3  # of checkpoints whose config this athenan reads whole


class CheckpointFacts:
    """What a checkpoint says of its network: its game, and the heuristic that its values mean."""

    def __init__(self, step: Path, trust: bool = False) -> None:
        self.step = step
        self.state = read_state(step)
        self.config = config_of(step, self.state["version"])
        self.game = make_game_of(step, self.config.game, trust)
        # Whether the network values all children of a state at once.
        self.of_children = self.config.network.kind == "children"

    def load_weights(self) -> list[np.ndarray[Any, Any]]:
        return load_arrays(self.step / "weights.npz")

    def operations(self) -> list[Operation]:
        """Of the network, with its weights."""
        game, config = self.game, self.config.network
        try:
            return planned_operations(
                config, game.plane_shape, game.num_players, self.load_weights(), game.zero_sum,
                len(game.other_actions),
            )  # fmt: skip
        except LookupError:
            raise InputError(OTHER_WEIGHTS.format(self.step)) from None

    def __str__(self) -> str:
        return str(self.step)

    @property
    def heuristic(self) -> dict[str, Any]:
        """Settings of a search whose values are on the scale of this network."""
        return {"heuristic": self.config.heuristic.name, "longest": self.config.heuristic.longest}


class CheckpointEvaluator(CheckpointFacts, NetworkEvaluator):
    """The network of a checkpoint, by TensorFlow."""

    def __init__(self, step: Path, trust: bool = False) -> None:
        CheckpointFacts.__init__(self, step, trust)
        game = self.game
        model = model_for(self.config.network, game, 0)
        set_weights(model, self.load_weights(), step)
        NetworkEvaluator.__init__(self, model, of_children=self.of_children)

    @property
    def computing(self) -> str:
        return device_line()


class DenseCheckpoint(CheckpointFacts, DenseEvaluator):
    """The network of a checkpoint in the core, where it is of kind nnue; without TensorFlow."""

    def __init__(self, step: Path, trust: bool = False) -> None:
        CheckpointFacts.__init__(self, step, trust)
        self.operations()  # which compares the weights with what the network needs
        game = self.game
        DenseEvaluator.__init__(self, game.plane_shape, game.value_width, self.load_weights())


class LiteEvaluator(CheckpointFacts):
    """The network of a checkpoint by LiteRT, which answers small batches several times as fast on a
    processor; TensorFlow is not imported. In int8 where `ranges` are given (export.lite)."""

    def __init__(self, step: Path, trust: bool = False, ranges: list[Range] | None = None) -> None:
        super().__init__(step, trust)
        self.format = "tflite" if ranges is None else "tflite_int8"
        require(self.format, writing=True)
        self._network = LiteNetwork(write_lite(self.operations(), ranges), usual_threads())

    def __call__(self, planes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return self._network(planes)

    @property
    def computing(self) -> str:
        return computing(self.format, None)


def config_of(step: Path, version: int) -> TrainSettings:
    """Of an older checkpoint what its network needs: other settings may have changed."""
    if version >= FIRST_VERSION:
        return load_config(step / "config.yaml")
    values = read_values(step / "config.yaml")
    if not {"game", "heuristic", "network"} <= values.keys():
        raise InputError(f"'{step / 'config.yaml'}' is not the config of a run.")
    return TrainSettings(
        game=values["game"],
        heuristic=read(HeuristicSettings, values["heuristic"]),
        network=read(NetworkSettings, values["network"]),
    )


def set_weights(model: Any, arrays: list[np.ndarray[Any, Any]], source: Path) -> None:
    if [a.shape for a in arrays] != [tuple(v.shape) for v in model.weights]:
        raise InputError(OTHER_WEIGHTS.format(source))
    for variable, array in zip(model.weights, arrays, strict=True):
        variable.assign(array)


def find_evaluator(
    text: str | Path,
    game: _core.Game | None = None,
    runs: Path | None = None,
    threads: int | None = None,
    trust: bool = False,
) -> str | Evaluator:
    """Any evaluator: `rollout`, `zero` or `hash` of the core, an export as PATH or PATH:FORMAT, or
    a checkpoint as for find_checkpoint. `runs`: the folder of the game's runs. `trust`: what is
    loaded may run code."""
    name = str(text)
    if name in CORE_EVALUATORS:
        return name
    if is_checkpoint(name, runs):
        return find_checkpoint(name, game, runs, trust)
    if is_bundle(name):
        return load_bundle(name, game, threads, trust)
    known = [*CORE_EVALUATORS, "latest", "best", *run_names(runs)]
    raise InputError(f"There is no evaluator '{name}'{nearest(name, known)}")


def places(runs: Path | None) -> tuple[Path, str | None]:
    """The folder of all runs, and whose runs these are."""
    return (runs.parent, runs.name) if runs else (Path("checkpoints"), None)


def is_checkpoint(text: str, runs: Path | None) -> bool:
    """Whether an `evaluator` setting means a run or one of its checkpoints."""
    is_run = text == "latest" or (Path(text) / "config.yaml").exists()
    return is_run or names_step(text) or text in run_names(runs)


def run_names(runs: Path | None) -> list[str]:
    return [run.name for run in runs_in(*places(runs))]


def find_checkpoint(
    text: str | Path,
    game: _core.Game | None = None,
    runs: Path | None = None,
    trust: bool = False,
) -> CheckpointEvaluator | DenseCheckpoint:
    """Of this game: a step's folder, a run's folder or name (its newest checkpoint), `latest`,
    `best`, or RUN/best."""
    evaluator = evaluator_of(find_step_of(text, runs), trust)
    check_game(evaluator, game)
    return evaluator


def evaluator_of(step: Path, trust: bool = False) -> CheckpointEvaluator | DenseCheckpoint:
    """By what its kind of network is best computed by."""
    facts = CheckpointFacts(step, trust)
    kind = DenseCheckpoint if facts.config.network.kind == "nnue" else CheckpointEvaluator
    return kind(step, trust)


def find_step_of(text: str | Path, runs: Path | None) -> Path:
    return find_step(str(text), *places(runs))


def check_game(facts: CheckpointFacts, game: _core.Game | None) -> None:
    own = facts.game
    if game and (own.plane_shape, own.name) != (game.plane_shape, game.name):
        raise InputError(f"Checkpoint '{facts.step}' is of {facts.config.game}, another game.")


def what_computes(evaluator: str | Evaluate) -> str:
    """Runtime, precision and device of an evaluator, in words."""
    if isinstance(evaluator, str):
        return "the CPU, without a network"
    return getattr(evaluator, "computing", "a function of one's own")
