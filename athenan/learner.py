"""Learning: the network is fitted to the labels of self-play."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from athenan.backend import keras, tensorflow
from athenan.errors import Failed, InputError


class Diverged(Failed):
    """The loss is no number any more, or far beyond what labels in [-1, 1] can give."""


class Learner:
    """Fits a model in batches of one size; what does not fill a batch waits for the next call."""

    def __init__(self, model: Any, config: Any, symmetries: list[Any], seed: int) -> None:
        if config.batch_size < 1 or not config.learning_rate > 0 or config.l2 < 0:
            raise InputError("Settings 'learn.batch_size' and 'learn.learning_rate' must be "
                             "positive and 'learn.l2' not negative.")  # fmt: skip
        if config.schedule not in ("constant", "cosine"):
            raise InputError(
                f"Setting 'learn.schedule' must be constant or cosine, not '{config.schedule}'."
            )
        tf = tensorflow()
        self.model = model
        self.config = config
        self.seed = seed
        self.steps = 0
        self.samples = 0
        self.plane_shape = model.input_shape[1:]
        self._bits = int(np.prod(self.plane_shape))
        self._symmetries = symmetries if config.symmetries and symmetries else []
        self._tables = self._symmetry_tables()
        self._signs = np.array([s.sign for s in self._symmetries] or [1], np.float32)
        self.optimizer = keras().optimizers.Adam(config.learning_rate)
        self.optimizer.build(model.trainable_variables)
        self._kernels = [v for v in model.trainable_variables if v.shape.rank and v.shape.rank > 1]
        self._planes = np.empty((0, (self._bits + 7) // 8), np.uint8)
        self._values = np.empty(0, np.float32)
        self.traces = 0

        def step(planes: Any, values: Any) -> Any:
            self.traces += 1
            with tf.GradientTape() as tape:
                predicted = model(tf.cast(planes, tf.float32), training=True)[:, 0]
                error = tf.reduce_mean(tf.square(predicted - values))
                decay = config.l2 * tf.add_n([tf.reduce_sum(tf.square(k)) for k in self._kernels])
                loss = error + decay
            gradients = tape.gradient(loss, model.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return error, decay, predicted

        size = config.batch_size
        self._step = tf.function(
            step,
            input_signature=[
                tf.TensorSpec((size, *self.plane_shape), tf.uint8),
                tf.TensorSpec((size,), tf.float32),
            ],
        )

    def _symmetry_tables(self) -> np.ndarray[Any, Any]:
        """For each symmetry, where each plane bit comes from."""
        channels = self.plane_shape[2]
        tables = [
            (np.array(s.cells)[:, None] * channels + np.array(s.channels)[None, :]).reshape(-1)
            for s in self._symmetries
        ]
        return np.stack(tables) if tables else np.arange(self._bits)[None, :]

    def set_progress(self, progress: float) -> None:
        """0 to 1 over the run, for the learning-rate schedule."""
        if self.config.schedule == "cosine":
            share = 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
            floor = self.config.final_share
            self.optimizer.learning_rate.assign(
                self.config.learning_rate * (floor + (1 - floor) * share)
            )

    def learn(self, planes: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> dict[str, Any]:
        """Packed planes and labels; the mean losses of the steps that were made, if any."""
        self._planes = np.concatenate([self._planes, planes])
        self._values = np.concatenate([self._values, values.astype(np.float32)])
        size = self.config.batch_size
        errors, decays, predicted = [], [], None
        while len(self._values) >= size:
            batch, labels = self._batch(self._planes[:size], self._values[:size])
            self._planes, self._values = self._planes[size:], self._values[size:]
            error, decay, predicted = self._step(batch, labels)
            errors.append(error)
            decays.append(decay)
            self.steps += 1
            self.samples += size
        if not errors:
            return {}
        error, decay = float(np.mean(errors)), float(np.mean(decays))
        if not math.isfinite(error + decay) or error > 4.0 or decay > 1e3:
            raise Diverged(f"The loss became {error + decay:g} after {self.steps} steps.")
        assert predicted is not None
        return {
            "error": error,
            "decay": decay,
            "steps": len(errors),
            "predicted": predicted.numpy(),
            "targets": labels,
        }

    def drop_waiting(self) -> None:
        """Forgets what has not filled a batch, so that a checkpoint needs not hold it."""
        self._planes, self._values = self._planes[:0], self._values[:0]

    def _batch(self, packed: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> Any:
        bits = np.unpackbits(packed, axis=1, count=self._bits)
        random = np.random.default_rng([self.seed, 4, self.steps])
        chosen = random.integers(0, len(self._tables), len(values))
        bits = np.take_along_axis(bits, self._tables[chosen], axis=1)
        return bits.reshape(-1, *self.plane_shape), values * self._signs[chosen]

    def error(
        self, planes: np.ndarray[Any, Any], values: np.ndarray[Any, Any], evaluator: Any
    ) -> float:
        """Mean squared error on packed states that are not learned from."""
        size = self.config.batch_size
        total = 0.0
        for first in range(0, len(values), size):
            packed, labels = planes[first : first + size], values[first : first + size]
            bits = np.zeros((size, self._bits), np.uint8)
            bits[: len(labels)] = np.unpackbits(packed, axis=1, count=self._bits)
            predicted = evaluator(bits.reshape(size, *self.plane_shape))[: len(labels)]
            total += float(np.sum((predicted - labels) ** 2))
        return total / max(1, len(values))
