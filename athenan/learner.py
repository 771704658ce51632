"""Learning: the network is fitted to the labels of self-play."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from athenan import _core
from athenan.backend import cut, keras, parts, tensorflow
from athenan.checkpoint import Part, is_finite
from athenan.errors import Failed, InputError
from athenan.network import DenseEvaluator, NetworkEvaluator, make_evaluator
from athenan.placement import Placement
from athenan.records import AnySamples, Array, Samples, SamplesOfChildren, joined, unpack
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
        places: Sequence[int] = (),  # of the game's actions, for a network of kind children
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
        self.of_children = kind == "children"
        players = [] if self.of_children else [who_is_who(s, width) for s in self._symmetries]
        self._players = np.array(players or [same])
        self._places = np.array(places, np.int64)
        self._moved = self._moved_places(width)
        with self.placement.scope():
            self.optimizer = keras().optimizers.Adam(config.learning_rate)
            self.optimizer.build(model.trainable_variables)
        self._kernels = [v for v in model.trainable_variables if v.shape.rank and v.shape.rank > 1]
        columns = np.empty((0, (bits + 7) // 8), np.uint8), np.empty((0, 1), np.float32)
        self._none: AnySamples = Samples(columns[0], np.empty((0, width), np.float32))
        if self.of_children:
            none = np.empty(0, np.int32), np.empty(0, np.uint32)
            self._none = SamplesOfChildren(*columns, *none)
        self._waiting = self._none
        self.traces = 0
        self.watched = False  # whether the next step is looked at for the reports
        size = config.batch_size
        self.parts = parts_of_batch(size, self.placement, config.xla)
        share = 1 / (self.placement.number * self.parts)  # of the loss, for each device and part

        def gradients(planes: Any, values: Any, *weights: Any) -> Any:
            with tf.GradientTape() as tape:
                predicted = model(tf.cast(planes, tf.float32), training=True)
                squares = tf.square(predicted - values)
                if weights:  # of labels that there are, as shares of the whole batch's
                    error = tf.reduce_sum(weights[0] * squares)
                else:
                    error = share * tf.reduce_mean(squares)
                decay = [tf.reduce_sum(tf.square(kernel)) for kernel in self._kernels]
                decay = share * config.l2 * tf.add_n(decay)
                loss = error + decay
            return tape.gradient(loss, model.trainable_variables), error, decay, predicted

        def step(*batch: Any) -> Any:
            self.traces += 1
            cuts = zip(*(cut(tensor, self.parts) for tensor in batch), strict=True)
            found, errors, decays, predicted = zip(*(gradients(*c) for c in cuts), strict=True)
            sums = [tf.add_n(list(of)) for of in zip(*found, strict=True)]
            self.optimizer.apply_gradients(zip(sums, model.trainable_variables, strict=True))
            return tf.add_n(list(errors)), tf.add_n(list(decays)), tf.concat(predicted, 0)

        signature = [
            tf.TensorSpec((size, *self.plane_shape), tf.uint8),
            *[tf.TensorSpec((size, width), tf.float32)] * (2 if self.of_children else 1),
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

    def _moved_places(self, width: int) -> Array:
        """For each symmetry, where the answer of each place of children goes."""
        plain = np.arange(width)
        if not self.of_children:
            return plain[None]
        moved = []
        for symmetry in self._symmetries:
            to = plain.copy()
            to[np.array(symmetry.cells)] = np.arange(len(symmetry.cells))
            moved.append(to)
        return np.stack(moved or [plain])

    def set_progress(self, progress: float) -> None:
        """0 to 1 over the run, for the learning-rate schedule."""
        if self.config.schedule == "cosine":
            share = 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
            floor = self.config.final_share
            self.optimizer.learning_rate.assign(
                self.config.learning_rate * (floor + (1 - floor) * share)
            )

    def learn(self, samples: AnySamples) -> dict[str, Any]:
        """The mean losses of the steps that were made, if any."""
        pieces = joined([self._waiting, samples]).pieces(self.config.batch_size)
        self._waiting = self._none
        if pieces and len(pieces[-1].planes) < self.config.batch_size:
            self._waiting = pieces.pop()
        errors, decays, predicted = [], [], None
        seen: dict[str, float] = {}
        following = self._prepared(pieces, 0)
        for place in range(len(pieces)):
            assert following is not None
            batch = following.result()
            following = self._prepared(pieces, place + 1)
            before = self._kept() if self.watched else None
            with self.placement.scope():
                error, decay, predicted = self._step(*batch)
            if before is not None:
                seen, self.watched = self._seen(*before), False
            errors.append(error)
            decays.append(decay)
        self.steps += len(pieces)
        self.samples += len(pieces) * self.config.batch_size
        if not errors:
            return {}
        error, decay = float(np.mean(errors)), float(np.mean(decays))
        if not math.isfinite(error + decay) or error > 4.0 or decay > 1e3:
            raise Diverged(f"The loss became {error + decay:g} after {self.steps} steps.")
        assert predicted is not None
        labelled = batch[2] > 0 if self.of_children else ...
        return {
            "error": error,
            "decay": decay,
            "steps": len(errors),
            "predicted": predicted.numpy()[labelled],
            "targets": batch[1][labelled],
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
        self._waiting = self._none

    def _prepared(
        self, pieces: Sequence[AnySamples], place: int
    ) -> Future[tuple[Array, ...]] | None:
        """The batch of this piece, if there is one, made while another one is learned."""
        if place >= len(pieces):
            return None
        return self._beside.submit(self._batch, pieces[place], self.steps + place)

    def _batch(self, samples: AnySamples, step: int = 0) -> tuple[Array, ...]:
        """Planes and labels [n, width], each state in a random one of its symmetries; of children
        also the weights of the labels, which are 0 where there is none."""
        random = np.random.default_rng([self.seed, 4, step])
        chosen = random.integers(0, len(self._tables), len(samples.planes))
        bits = _core.unpack_planes(samples.planes, self._tables, chosen)
        planes, values = bits.reshape(-1, *self.plane_shape), samples.values
        if isinstance(samples, SamplesOfChildren):
            rows = np.repeat(np.arange(len(chosen)), samples.labels)
            places = self._moved[chosen[rows], self._places[samples.actions]]
            labels, weights = np.zeros((2, len(chosen), self._moved.shape[1]), np.float32)
            labels[rows, places] = values[:, 0] * self._signs[chosen[rows]]
            weights[rows, places] = 1 / max(1, len(rows))
            return planes, labels, weights
        if values.shape[1] == 1:
            return planes, values * self._signs[chosen, None]
        return planes, np.take_along_axis(values, self._players[chosen], axis=1)

    @property
    def evaluator(self) -> NetworkEvaluator | DenseEvaluator:
        """Of the weights as they are now."""
        if isinstance(self._evaluator, DenseEvaluator):
            self._evaluator.assign(self.weights())
        return self._evaluator

    def error(self, samples: AnySamples, evaluator: Any = None) -> float:
        """Mean squared error on states that are not learned from, of this network or another."""
        size = self.config.batch_size
        own = self.evaluator
        total = 0.0
        for piece in samples.pieces(size):
            number = len(piece.planes)
            planes = np.zeros((size, *self.plane_shape), np.uint8)
            planes[:number] = unpack(piece.planes, self.plane_shape)
            predicted = self._predict(planes, own) if evaluator is None else evaluator(planes)
            predicted = predicted[:number]
            if isinstance(piece, SamplesOfChildren):
                rows = np.repeat(np.arange(number), piece.labels)
                predicted = predicted[rows, self._places[piece.actions]]
            total += float(np.sum((predicted.reshape(piece.values.shape) - piece.values) ** 2))
        return total / max(1, samples.values.size)

    def _predict(self, planes: Array, own: NetworkEvaluator | DenseEvaluator) -> Array:
        with self.placement.scope():
            return own(planes)

    def first_fit(self, game: _core.Game, heuristic: HeuristicSettings) -> dict[str, Any]:
        """On the last states of random games, so that f_θ knows what an end looks like."""
        states = self.config.first_fit_states
        if not states:
            return {}
        planes, values, *which = _core.ending_samples(
            game, states, heuristic.name, heuristic.longest, self.seed, self.of_children
        )
        samples = type(self._none)(planes, values.reshape(len(values), -1), *which)
        learned: dict[str, Any] = {}
        for _ in range(self.config.first_fit_epochs):
            learned = self.learn(samples) or learned
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
        if len(self._waiting.planes):
            arrays["waiting"] = list(self._waiting)
        return Part({"steps": self.steps, "samples": self.samples}, arrays)

    def _fitting(self, columns: list[Array]) -> AnySamples:
        """Samples that were waiting for a batch, if they are this network's."""
        fits = [(c.dtype, c.shape[1:]) for c in columns] == [
            (none.dtype, none.shape[1:]) for none in self._none
        ]
        if fits:
            found = type(self._none)(*columns)
            states, labels = len(found.planes), len(found.values)
            fits = is_finite(found.values)
            if isinstance(found, SamplesOfChildren):
                fits &= (len(found.labels), len(found.actions)) == (states, labels)
                fits &= found.labels.min(initial=0) >= 0 and found.labels.sum() == labels
                fits &= found.actions.max(initial=0) < len(self._places)
            else:
                fits &= states == labels
        if not fits:
            raise InputError("The samples that wait for a batch are not this game's.")
        return found

    def restore(self, part: Part) -> None:
        self.steps, self.samples = part.count("steps"), part.count("samples")
        if "waiting" in part.arrays:
            self._waiting = self._fitting(part.arrays["waiting"])
        for variables, name in ((self.model.weights, "weights"),
                                (self.optimizer.variables, "optimizer")):  # fmt: skip
            for variable, array in zip(variables, part.arrays[name], strict=True):
                variable.assign(array)
        self.optimizer.learning_rate.assign(self.config.learning_rate)  # which may be a new one
