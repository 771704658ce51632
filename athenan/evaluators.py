"""Evaluators from checkpoints, for any search."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf

from athenan.checkpoint import find_step, load_arrays, read_state
from athenan.errors import InputError
from athenan.games import make_game
from athenan.network import NetworkEvaluator, make_model
from athenan.search import core_game


class CheckpointEvaluator(NetworkEvaluator):
    """The network of a checkpoint; knows its game, and the heuristic that its values mean."""

    def __init__(self, step: Path) -> None:
        self.step = step
        self.state = read_state(step)
        self.config: Any = OmegaConf.load(step / "config.yaml")
        self.game = core_game(make_game(**self.config.game))
        model = make_model(self.config.network, self.game.plane_shape, self.game.num_players, 0)
        set_weights(model, load_arrays(step / "weights.npz"), step)
        super().__init__(model)

    @property
    def heuristic(self) -> dict[str, Any]:
        """Settings of a search whose values are on the scale of this network."""
        return {"heuristic": self.config.heuristic.name, "longest": self.config.heuristic.longest}


def set_weights(model: Any, arrays: list[np.ndarray[Any, Any]], source: Path) -> None:
    if [a.shape for a in arrays] != [tuple(v.shape) for v in model.weights]:
        raise InputError(f"The weights in '{source}' are of another network or game.")
    for variable, array in zip(model.weights, arrays, strict=True):
        variable.assign(array)


def load_checkpoint(path: str | Path) -> CheckpointEvaluator:
    """The evaluator of a checkpoint: a step folder, a run folder (its newest), or `latest`."""
    return CheckpointEvaluator(find_step(str(path), Path("checkpoints")))
