"""The network as self-play asks it: by TensorFlow, by LiteRT, or in the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from athenan import _core
from athenan.backend import compiled, keras, tensorflow
from athenan.errors import InputError
from athenan.export.lite import write_lite
from athenan.export.operations import Array, operations_of, planned_operations
from athenan.export.runtimes import LiteNetwork, computing, require, usual_threads
from athenan.network import DenseEvaluator, NetworkEvaluator, make_evaluator, model_for
from athenan.settings import NetworkSettings, SelfPlaySettings

CALIBRATION_STATES = 256


class LitePlayer:
    """By LiteRT, which is given a file in memory for each weights; TensorFlow computes nothing."""

    def __init__(
        self, config: NetworkSettings, game: _core.Game, runtime: str, threads: int | None
    ) -> None:
        require(runtime, writing=True)
        self.config, self.game, self.runtime = config, game, runtime
        self.threads = threads or usual_threads()
        self._network: LiteNetwork | None = None

    @property
    def computing(self) -> str:
        return computing(self.runtime, self.threads)

    def assign(self, weights: list[Array]) -> None:
        """In int8 the last array is the ranges of the operations' answers, as Ranges gives them."""
        ranges = None
        if self.runtime == "tflite_int8":
            *weights, found = weights
            ranges = [(float(low), float(high)) for low, high in found]
        game = self.game
        operations = planned_operations(
            self.config, game.plane_shape, game.num_players, weights, game.zero_sum
        )
        self._network = LiteNetwork(write_lite(operations, ranges), self.threads)

    def __call__(self, planes: Array) -> Array:
        assert self._network is not None, "weights come before states"
        return self._network(planes)


class Ranges:
    """Least and greatest answers of a model's operations, [operations, 2], by one compiled call:
    what int8 is calibrated by."""

    def __init__(self, model: Any, game: _core.Game) -> None:
        tf = tensorflow()
        outputs = [operation.tensor for operation in operations_of(model)[1:]]
        every = keras().Model(model.inputs, outputs)
        self.usual = random_planes(game, CALIBRATION_STATES)  # while no game has ended

        def ranges(planes: Any) -> Any:
            answers = every([tf.cast(planes, tf.float32)], training=False)
            found = [(tf.reduce_min(one), tf.reduce_max(one)) for one in answers]
            return tf.cast(tf.stack([tf.stack(pair) for pair in found]), tf.float32)

        signature = [tf.TensorSpec((CALIBRATION_STATES, *game.plane_shape), tf.uint8)]
        self._call = compiled(ranges, signature)

    def __call__(self, planes: Array) -> Array:
        """Of so many states, if there are as many."""
        if len(planes) < CALIBRATION_STATES:
            planes = self.usual
        found = self._call(tensorflow().convert_to_tensor(planes)).numpy()
        return np.concatenate([[[0.0, 1.0]], found]).astype(np.float32)  # the planes first


def random_planes(game: _core.Game, number: int) -> Array:
    """Of states of random games."""
    random = np.random.default_rng(0)
    planes: list[Array] = []
    while len(planes) < number:
        state = game.initial_state()
        while not state.is_terminal and len(planes) < number:
            planes.append(state.planes())
            state = state.play(int(random.choice(state.legal_actions())))
    return np.stack(planes)


def needs_ranges(config: SelfPlaySettings) -> bool:
    return config.runtime == "tflite_int8"


def make_playing(
    network: NetworkSettings,
    config: SelfPlaySettings,
    game: _core.Game,
    seed: int,
    threads: int | None = None,
) -> NetworkEvaluator | DenseEvaluator | LitePlayer:
    """An evaluator for self-play; `threads` of LiteRT."""
    if config.runtime == "tensorflow":
        return make_evaluator(network.kind, model_for(network, game, seed))
    if network.kind not in ("conv", "residual"):
        raise InputError(
            f"Setting 'self_play.runtime' is for convolutions; network={network.kind} has a "
            "runtime of its own: leave it out."
        )
    return LitePlayer(network, game, config.runtime, threads)
