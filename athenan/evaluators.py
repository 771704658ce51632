"""Evaluators by text: networks of checkpoints, exports, and those of the core."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from athenan import _core
from athenan.checkpoint import find_step, load_arrays, names_step, read_state, runs_in
from athenan.checks import read
from athenan.config import load_config, read_values
from athenan.errors import InputError, nearest
from athenan.export.bundle import is_bundle, load_bundle
from athenan.games import make_game_of
from athenan.network import NetworkEvaluator, make_model
from athenan.search import CORE_EVALUATORS, Evaluator
from athenan.settings import HeuristicSettings, NetworkSettings, TrainSettings

FIRST_VERSION = 3  # of checkpoints whose config this athenan reads whole


class CheckpointEvaluator(NetworkEvaluator):
    """The network of a checkpoint; knows its game, and the heuristic that its values mean."""

    def __init__(self, step: Path, trust: bool = False) -> None:
        self.step = step
        self.state = read_state(step)
        self.config = config_of(step, self.state["version"])
        self.game = make_game_of(step, self.config.game, trust)
        model = make_model(self.config.network, self.game.plane_shape, self.game.num_players, 0)
        set_weights(model, load_arrays(step / "weights.npz"), step)
        super().__init__(model)

    def __str__(self) -> str:
        return str(self.step)

    @property
    def heuristic(self) -> dict[str, Any]:
        """Settings of a search whose values are on the scale of this network."""
        return {"heuristic": self.config.heuristic.name, "longest": self.config.heuristic.longest}


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
        raise InputError(f"The weights in '{source}' are of another network or game.")
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
    folder, of_game = places(runs)
    names = [run.name for run in runs_in(folder, of_game)]
    is_run = name == "latest" or name in names or (Path(name) / "config.yaml").exists()
    if is_run or names_step(name):
        return find_checkpoint(name, game, runs, trust)
    if is_bundle(name):
        return load_bundle(name, game, threads, trust)
    known = [*CORE_EVALUATORS, "latest", "best", *names]
    raise InputError(f"There is no evaluator '{name}'{nearest(name, known)}")


def places(runs: Path | None) -> tuple[Path, str | None]:
    """The folder of all runs, and whose runs these are."""
    return (runs.parent, runs.name) if runs else (Path("checkpoints"), None)


def find_checkpoint(
    text: str | Path,
    game: _core.Game | None = None,
    runs: Path | None = None,
    trust: bool = False,
) -> CheckpointEvaluator:
    """Of this game: a step's folder, a run's folder or name (its newest checkpoint), `latest`,
    `best`, or RUN/best."""
    evaluator = CheckpointEvaluator(find_step(str(text), *places(runs)), trust)
    own = evaluator.game
    if game and (own.plane_shape, own.name) != (game.plane_shape, game.name):
        raise InputError(
            f"Checkpoint '{evaluator.step}' is of {evaluator.config.game}, another game."
        )
    return evaluator
