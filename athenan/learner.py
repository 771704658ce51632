"""Learning: the network is fitted to the labels of self-play."""

from __future__ import annotations

import math
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from athenan import _core
from athenan.backend import cut, keras, parts, tensorflow
from athenan.checkpoint import Part, is_finite
from athenan.errors import Failed, InputError
from athenan.network import DenseEvaluator, NetworkEvaluator, make_evaluator
from athenan.placement import Placement
from athenan.records import Array, Samples, unpack
from athenan.settings import HeuristicSettings, LearnSettings


class Diverged(Failed):
    """The loss is no number any more, or far beyond what labels in [-1, 1] can give."""


def who_is_who(symmetry: Any, width: int) -> list[int]:
    """Whose value each player has in a symmetry, where each has one."""
    if symmetry.players:
        return list(symmetry.players)
    return [1, 0] if symmetry.sign == -1 and width == 2 else list(range(width))


def parts_of_batch(size: int, placement: Placement, xla: bool) -> int:
    """That are computed at the same time on one CPU; all of the same size."""
    number = 1 if xla or placement.number > 1 else parts()
    return max(n for n in range(1, number + 1) if size % n == 0)


def flattened(variables: list[Any]) -> Array:
    """All numbers in one row."""
    return np.concatenate([variable.numpy().astype(np.float64).ravel() for variable in variables])


class Learner:
    """Fits a model in batches of one size; what does not fill a batch waits for the next call."""

    def __init__(
        self,
        model: Any,
        config: LearnSettings,
        symmetries: list[Any],
        seed: int,
        placement: Placement | None = None,
        kind: str = "conv",  # of the network
    ) -> None:
        """The model was made in the scope of the placement."""
        tf = tensorflow()
        self.model = model
        self.placement = placement or Placement()
        self._evaluator = make_evaluator(kind, model)
        self.config = config
        self.seed = seed
        self._beside = ThreadPoolExecutor(1)
        self.steps = 0
        self.samples = 0
        self.plane_shape = model.input_shape[1:]
        width = model.output_shape[1]
        bits = int(np.prod(self.plane_shape))
        self._symmetries = symmetries if config.symmetries and symmetries else []
        self._tables = self._symmetry_tables()
        self._signs = np.array([s.sign for s in self._symmetries] or [1], np.float32)
        same = list(range(width))
        self._players = np.array([who_is_who(s, width) for s in self._symmetries] or [same])
        with self.placement.scope():
            self.optimizer = keras().optimizers.Adam(config.learning_rate)
            self.optimizer.build(model.trainable_variables)
        self._kernels = [v for v in model.trainable_variables if v.shape.rank and v.shape.rank > 1]
        self._planes = np.empty((0, (bits + 7) // 8), np.uint8)
        self._values = np.empty((0, width), np.float32)
        self.traces = 0
        self.watched = False  # whether the next step is looked at for the reports
        size = config.batch_size
        self.parts = parts_of_batch(size, self.placement, config.xla)
        share = 1 / (self.placement.number * self.parts)  # of the loss, for each device and part

        def gradients(planes: Any, values: Any) -> Any:
            with tf.GradientTape() as tape:
                predicted = model(tf.cast(planes, tf.float32), training=True)
                error = share * tf.reduce_mean(tf.square(predicted - values))
                decay = [tf.reduce_sum(tf.square(kernel)) for kernel in self._kernels]
                decay = share * config.l2 * tf.add_n(decay)
                loss = error + decay
            return tape.gradient(loss, model.trainable_variables), error, decay, predicted

        def step(planes: Any, values: Any) -> Any:
            self.traces += 1
            cuts = zip(cut(planes, self.parts), cut(values, self.parts), strict=True)
            found, errors, decays, predicted = zip(*(gradients(*c) for c in cuts), strict=True)
            sums = [tf.add_n(list(of)) for of in zip(*found, strict=True)]
            self.optimizer.apply_gradients(zip(sums, model.trainable_variables, strict=True))
            return tf.add_n(list(errors)), tf.add_n(list(decays)), tf.concat(predicted, 0)

        signature = [
            tf.TensorSpec((size, *self.plane_shape), tf.uint8),
            tf.TensorSpec((size, width), tf.float32),
        ]
        self._step = self.placement.compiled(step, signature, config.xla)

    def _symmetry_tables(self) -> Array:
        """For each symmetry, where each plane bit comes from."""
        channels = self.plane_shape[2]
        tables = [
            (np.array(s.cells)[:, None] * channels + np.array(s.channels)[None, :]).reshape(-1)
            for s in self._symmetries
        ]
        plain = [np.arange(np.prod(self.plane_shape))]
        return np.stack(tables or plain).astype(np.uint32)

    def set_progress(self, progress: float) -> None:
        """0 to 1 over the run, for the learning-rate schedule."""
        if self.config.schedule == "cosine":
            share = 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
            floor = self.config.final_share
            self.optimizer.learning_rate.assign(
                self.config.learning_rate * (floor + (1 - floor) * share)
            )

    def learn(self, samples: Samples) -> dict[str, Any]:
        """The mean losses of the steps that were made, if any."""
        self._planes = np.concatenate([self._planes, samples.planes])
        self._values = np.concatenate([self._values, samples.values])
        size = self.config.batch_size
        number = len(self._values) // size
        errors, decays, predicted = [], [], None
        seen: dict[str, float] = {}
        following = self._prepared(0) if number else None
        for place in range(number):
            assert following is not None
            batch, labels = following.result()
            following = self._prepared(place + 1) if place + 1 < number else None
            before = self._kept() if self.watched else None
            with self.placement.scope():
                error, decay, predicted = self._step(batch, labels)
            if before is not None:
                seen, self.watched = self._seen(*before), False
            errors.append(error)
            decays.append(decay)
        self._planes, self._values = self._planes[number * size :], self._values[number * size :]
        self.steps += number
        self.samples += number * size
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
            "seen": seen,
        }

    def _kept(self) -> tuple[Array, Array]:
        """Weights and Adam's first moments before a step that is looked at."""
        moments = [v for v in self.optimizer.variables if v.path.endswith("momentum")]
        return flattened(self.model.trainable_variables), flattened(moments)

    def _seen(self, weights: Array, moments: Array) -> dict[str, float]:
        """Of a step, by what it left: the compiled step is the same whether anybody looks or not.
        A moment is m' = β m + (1 - β) g, so that the gradient g is known from both."""
        after, moved = self._kept()
        beta = float(self.optimizer.beta_1)
        norm = float(np.linalg.norm(weights)) or 1.0
        return {
            "gradient_norm": float(np.linalg.norm((moved - beta * moments) / (1 - beta))),
            "update_to_weight": float(np.linalg.norm(after - weights)) / norm,
        }

    def drop_waiting(self) -> None:
        """Forgets what has not filled a batch, so that a checkpoint needs not hold it."""
        self._planes, self._values = self._planes[:0], self._values[:0]

    def _prepared(self, place: int) -> Future[tuple[Array, Array]]:
        """The batch at this place of those that are waiting, made while another one is learned."""
        rows = slice(place * self.config.batch_size, (place + 1) * self.config.batch_size)
        batch = self._planes[rows], self._values[rows], self.steps + place
        return self._beside.submit(self._batch, *batch)

    def _batch(self, packed: Array, values: Array, step: int = 0) -> tuple[Array, Array]:
        """Planes and labels [n, width], each state in a random one of its symmetries."""
        random = np.random.default_rng([self.seed, 4, step])
        chosen = random.integers(0, len(self._tables), len(values))
        bits = _core.unpack_planes(packed, self._tables, chosen)
        if values.shape[1] == 1:
            labels = values * self._signs[chosen, None]
        else:
            labels = np.take_along_axis(values, self._players[chosen], axis=1)
        return bits.reshape(-1, *self.plane_shape), labels

    @property
    def evaluator(self) -> NetworkEvaluator | DenseEvaluator:
        """Of the weights as they are now."""
        if isinstance(self._evaluator, DenseEvaluator):
            self._evaluator.assign(self.weights())
        return self._evaluator

    def error(self, samples: Samples, evaluator: Any = None) -> float:
        """Mean squared error on states that are not learned from, of this network or another."""
        size = self.config.batch_size
        own = self.evaluator
        total = 0.0
        for first in range(0, len(samples.values), size):
            packed, labels = (array[first : first + size] for array in samples)
            planes = np.zeros((size, *self.plane_shape), np.uint8)
            planes[: len(labels)] = unpack(packed, self.plane_shape)
            predicted = self._predict(planes, own) if evaluator is None else evaluator(planes)
            predicted = predicted[: len(labels)]
            total += float(np.sum((predicted.reshape(labels.shape) - labels) ** 2))
        return total / max(1, samples.values.size)

    def _predict(self, planes: Array, own: NetworkEvaluator | DenseEvaluator) -> Array:
        with self.placement.scope():
            return own(planes)

    def first_fit(self, game: _core.Game, heuristic: HeuristicSettings) -> dict[str, Any]:
        """On the last states of random games, so that f_θ knows what an end looks like."""
        states = self.config.first_fit_states
        if not states:
            return {}
        planes, values = _core.ending_samples(
            game, states, heuristic.name, heuristic.longest, self.seed
        )
        learned: dict[str, Any] = {}
        for _ in range(self.config.first_fit_epochs):
            learned = self.learn(Samples(planes, values.reshape(len(values), -1))) or learned
        self.drop_waiting()
        return learned

    def weights(self) -> list[Array]:
        """As they are now, for whoever plays with them."""
        return self._finite(self.model.weights)

    def _finite(self, variables: list[Any]) -> list[Array]:
        arrays = [variable.numpy() for variable in variables]
        if not all(map(is_finite, arrays)):
            raise Diverged(f"The weights are no numbers after {self.steps} steps.")
        return arrays

    def saved(self) -> Part:
        weights, optimizer = self.weights(), self._finite(self.optimizer.variables)
        arrays = {"weights": weights, "optimizer": optimizer}
        if len(self._values):
            arrays["waiting"] = [self._planes, self._values]
        return Part({"steps": self.steps, "samples": self.samples}, arrays)

    def restore(self, part: Part) -> None:
        self.steps, self.samples = part.count("steps"), part.count("samples")
        if "waiting" in part.arrays:
            planes, values = part.arrays["waiting"]
            fits = planes.dtype == np.uint8 and planes.shape == (len(values), self._planes.shape[1])
            if not (fits and values.shape[1:] == self._values.shape[1:] and is_finite(values)):
                raise InputError("The samples that wait for a batch are not this game's.")
            self._planes, self._values = planes, values.astype(np.float32)
        for variables, name in ((self.model.weights, "weights"),
                                (self.optimizer.variables, "optimizer")):  # fmt: skip
            for variable, array in zip(variables, part.arrays[name], strict=True):
                variable.assign(array)
        self.optimizer.learning_rate.assign(self.config.learning_rate)  # which may be a new one
