"""The value network f_θ and its evaluator."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from athenan.backend import keras, tensorflow
from athenan.errors import InputError
from athenan.settings import NetworkSettings

MOST_WEIGHTS = 2**28  # the learner needs sixteen bytes for each


def weights_of(config: NetworkSettings, plane_shape: tuple[int, int, int]) -> int:
    """Of the kernels, which are nearly all there are."""
    rows, columns, channels = plane_shape
    hidden = 2 * config.layers if config.kind == "residual" else config.layers - 1
    convolutions = 9 * config.filters * (channels + hidden * config.filters)
    return convolutions + rows * columns * config.filters * config.dense


def make_model(
    config: NetworkSettings, plane_shape: tuple[int, int, int], num_players: int, seed: int
) -> Any:
    """A Keras model from planes to values in [-1, 1]: one for two players, else one for each."""
    weights = weights_of(config, plane_shape)
    if weights > MOST_WEIGHTS:
        raise InputError(
            f"A network of {weights:.2g} weights is too large; lower network.filters, "
            "network.layers or network.dense."
        )
    k = keras()
    seeds = iter(range(seed * 1000, seed * 1000 + 1000))

    def start() -> Any:
        return k.initializers.HeNormal(seed=next(seeds))

    def convolution(x: Any) -> Any:
        return k.layers.Conv2D(
            config.filters, 3, padding="same", activation="relu", kernel_initializer=start()
        )(x)

    planes = k.Input(plane_shape, dtype="float32", name="planes")
    x = convolution(planes)
    if config.kind == "conv":
        for _ in range(config.layers - 1):
            x = convolution(x)
    else:
        for _ in range(config.layers):
            y = convolution(x)
            # Each block starts as the identity: sums of random ones would saturate the tanh.
            y = k.layers.Conv2D(config.filters, 3, padding="same", kernel_initializer="zeros")(y)
            x = k.layers.ReLU()(k.layers.Add()([x, y]))
    x = k.layers.Flatten()(x)
    x = k.layers.Dense(config.dense, activation="relu", kernel_initializer=start())(x)
    value = k.layers.Dense(
        1 if num_players == 2 else num_players,
        activation="tanh",
        name="value",
        dtype="float32",
        kernel_initializer=k.initializers.GlorotUniform(seed=next(seeds)),
    )(x)
    return k.Model(planes, value)


class Values:
    """Of a batch that a device may still be working on."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def result(self) -> np.ndarray[Any, Any]:
        values: np.ndarray[Any, Any] = self._tensor.numpy()
        return values


class NetworkEvaluator:
    """Planes to values by one compiled call; the batch size is free, so nothing is traced twice."""

    def __init__(self, model: Any) -> None:
        tf = tensorflow()
        self.model = model
        self.traces = 0
        shape = (None, *model.input_shape[1:])

        def evaluate(planes: Any) -> Any:
            self.traces += 1
            values = model(tf.cast(planes, tf.float32), training=False)
            return values[:, 0] if values.shape[1] == 1 else values

        self._call = tf.function(
            evaluate, input_signature=[tf.TensorSpec(shape, tf.uint8)], reduce_retracing=True
        )
        self._to_tensor = tf.convert_to_tensor

        def assign(weights: Any) -> None:
            for variable, weight in zip(model.weights, weights, strict=True):
                variable.assign(weight)

        # One call for all of them; traced when it is first used, which most evaluators never do.
        specs = [tf.TensorSpec(v.shape, v.dtype) for v in model.weights]
        self._assign = tf.function(assign, input_signature=[specs])

    def start(self, planes: np.ndarray[Any, Any]) -> Values:
        """A device works on while the call returns; planes stay as they are until the result."""
        return Values(self._call(self._to_tensor(planes)))

    def __call__(self, planes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return self.start(planes).result()

    def assign(self, weights: list[np.ndarray[Any, Any]]) -> None:
        """Other weights for the same network."""
        self._assign([self._to_tensor(weight) for weight in weights])


def best_rate(
    evaluator: Any, plane_shape: tuple[int, int, int], sizes: list[int], seconds: float = 0.3
) -> float:
    """States a second of the evaluator alone, over the batch sizes: what self-play could reach."""
    best = 0.0
    random = np.random.default_rng(0)
    for size in sizes:
        planes = random.integers(0, 2, (size, *plane_shape), np.uint8)
        evaluator(planes)
        done, started = 0, time.perf_counter()
        while time.perf_counter() - started < seconds:
            evaluator(planes)
            done += size
        best = max(best, done / (time.perf_counter() - started))
    return best
