"""The value network f_θ and its evaluator."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from athenan import _core
from athenan.backend import compiled, cores, cut, keras, parts, set_threads, tensorflow, use_xla
from athenan.errors import InputError
from athenan.settings import NetworkSettings, TrainSettings

MOST_WEIGHTS = 2**28  # the learner needs sixteen bytes for each
MOST_UNITS = 4096  # of a layer whose integers the core computes
RATED_STATES = 300
LEAST_IN_PARTS = 16  # states


def set_up_tensorflow(config: TrainSettings, threads: int | None = None) -> None:
    """As the config wants it, in this process; `threads` of a network on the CPU."""
    set_threads(threads or cores())
    tf = tensorflow()
    if config.deterministic:
        tf.config.experimental.enable_op_determinism()
    keras().utils.set_random_seed(config.seed)
    half = config.learn.mixed_precision and bool(tf.config.get_visible_devices("GPU"))
    keras().mixed_precision.set_global_policy("mixed_float16" if half else "float32")
    use_xla(config.learn.xla)


def weights_of(config: NetworkSettings, plane_shape: tuple[int, int, int]) -> int:
    """Of the kernels, which are nearly all there are."""
    rows, columns, channels = plane_shape
    if config.kind == "nnue":
        small = config.filters + (config.layers - 1) * config.dense
        return rows * columns * channels * config.filters + small * config.dense
    if config.kind == "children":
        block = 2 * (9 * config.filters + config.filters) * config.filters
        return 9 * config.filters * channels + config.layers * block
    hidden = 2 * config.layers if config.kind == "residual" else config.layers - 1
    convolutions = 9 * config.filters * (channels + hidden * config.filters)
    return convolutions + rows * columns * config.filters * config.dense


def make_model(
    config: NetworkSettings,
    plane_shape: tuple[int, int, int],
    num_players: int,
    seed: int,
    zero_sum: bool = True,
    other_actions: int = 0,
) -> Any:
    """A Keras model from planes to values in [-1, 1]: one for two players whose gains are each
    other's losses, else one for each; of children one for each cell and each of the actions that
    are none."""
    weights = weights_of(config, plane_shape)
    if weights > MOST_WEIGHTS:
        raise InputError(
            f"A network of {weights:.2g} weights is too large; lower network.filters, "
            "network.layers or network.dense."
        )
    if config.kind == "nnue" and config.dense > MOST_UNITS:
        raise InputError(f"Setting 'network.dense' of a network=nnue is at most {MOST_UNITS}.")
    k = keras()
    seeds = iter(range(seed * 1000, seed * 1000 + 1000))
    if config.kind == "children":
        return children_model(config, k.Input(plane_shape, name="planes"), other_actions, seeds)

    def start() -> Any:
        return k.initializers.HeNormal(seed=next(seeds))

    def convolution(x: Any) -> Any:
        return k.layers.Conv2D(
            config.filters, 3, padding="same", activation="relu", kernel_initializer=start()
        )(x)

    def dense(x: Any, units: int, activation: str = "relu") -> Any:
        return k.layers.Dense(units, activation=activation, kernel_initializer=start())(x)

    planes = k.Input(plane_shape, dtype="float32", name="planes")
    if config.kind == "nnue":
        # ReLU6: what has a bound can be had in integers.
        x = dense(k.layers.Flatten()(planes), config.filters, "relu6")
        for _ in range(config.layers):
            x = dense(x, config.dense, "relu6")
    elif config.kind == "conv":
        x = planes
        for _ in range(config.layers):
            x = convolution(x)
    else:
        x = convolution(planes)
        for _ in range(config.layers):
            y = convolution(x)
            # Each block starts as the identity: sums of random ones would saturate the tanh.
            y = k.layers.Conv2D(config.filters, 3, padding="same", kernel_initializer="zeros")(y)
            x = k.layers.ReLU()(k.layers.Add()([x, y]))
    if config.kind != "nnue":
        x = dense(k.layers.Flatten()(x), config.dense)
    value = k.layers.Dense(
        1 if num_players == 2 and zero_sum else num_players,
        activation="tanh",
        name="value",
        dtype="float32",
        kernel_initializer=k.initializers.GlorotUniform(seed=next(seeds)),
    )(x)
    return k.Model(planes, value)


def children_model(
    config: NetworkSettings, planes: Any, other_actions: int, seeds: Iterator[int]
) -> Any:
    """Convolutions alone, so that its weights fit a board of any size. What there is anywhere on
    the board reaches every cell as a bias, from the mean and the largest of each channel."""
    k = keras()

    def convolution(x: Any, units: int, window: int, **others: Any) -> Any:
        start = others.pop("start", None) or k.initializers.HeNormal(seed=next(seeds))
        return k.layers.Conv2D(units, window, padding="same", kernel_initializer=start, **others)(x)

    def pooled(x: Any) -> list[Any]:
        pools = (k.layers.GlobalAveragePooling2D, k.layers.GlobalMaxPooling2D)
        return [pool(keepdims=True)(x) for pool in pools]

    def of_board(board: list[Any], units: int, **start: Any) -> Any:
        return k.layers.Add()([convolution(x, units, 1, **start) for x in board])

    def with_board(y: Any, board: list[Any], units: int) -> Any:
        return k.layers.ReLU()(k.layers.Add()([y, of_board(board, units, start="zeros")]))

    def values(x: Any, units: int) -> Any:
        start = k.initializers.GlorotUniform(seed=next(seeds))
        made = convolution(x, units, 1, start=start, activation="tanh", dtype="float32")
        return k.layers.Flatten(dtype="float32")(made)

    filters = config.filters
    x = convolution(planes, filters, 3, activation="relu")
    for _ in range(config.layers):
        y = with_board(convolution(x, filters, 3), pooled(x), filters)
        y = convolution(y, filters, 3, start="zeros")  # as in a residual network
        x = k.layers.ReLU()(k.layers.Add()([x, y]))
    board = pooled(x)
    found = values(with_board(convolution(x, config.dense, 1), board, config.dense), 1)
    if other_actions:
        others = values(k.layers.ReLU()(of_board(board, config.dense)), other_actions)
        found = k.layers.Concatenate(dtype="float32")([found, others])
    return k.Model(planes, found)


def model_for(config: NetworkSettings, game: _core.Game, seed: int) -> Any:
    """A new one for a game."""
    if config.kind == "children":
        check_children(game)
    return make_model(
        config, game.plane_shape, game.num_players, seed, game.zero_sum, len(game.other_actions)
    )


def check_children(game: _core.Game) -> None:
    """Whether a network of kind children can be of the game."""
    if not game.action_places:
        raise InputError(
            "network=children is for games whose action is a cell; in game "
            f"'{game.name}' it is more than one."
        )
    if game.value_width != 1:
        raise InputError(
            "network=children is for two players whose gains are each other's losses, which those "
            f"of game '{game.name}' are not."
        )


class Values:
    """Of a batch that a device may still be working on."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def result(self) -> np.ndarray[Any, Any]:
        values: np.ndarray[Any, Any] = self._tensor.numpy()
        return values


class NetworkEvaluator:
    """Planes to values by one compiled call; the batch size is free, so nothing is traced twice.
    Large batches are cut into parts that are computed at the same time."""

    def __init__(self, model: Any, xla: bool | None = None, of_children: bool = False) -> None:
        tf = tensorflow()
        self.model = model
        self.of_children = of_children  # values of each state's children, by their places
        self.traces = 0
        shape = (None, *model.input_shape[1:])

        def evaluate(planes: Any) -> Any:
            self.traces += 1
            values = model(tf.cast(planes, tf.float32), training=False)
            return values[:, 0] if values.shape[1] == 1 else values

        self.parts = 1 if xla else parts()
        signature = [tf.TensorSpec(shape, tf.uint8)]
        self._call = compiled(evaluate, signature, xla)
        self._call_in_parts = compiled(
            lambda planes: tf.concat([evaluate(part) for part in cut(planes, self.parts)], 0),
            signature,
            xla,
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
        in_parts = self.parts > 1 and len(planes) >= LEAST_IN_PARTS
        call = self._call_in_parts if in_parts else self._call
        return Values(call(self._to_tensor(planes)))

    def __call__(self, planes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return self.start(planes).result()

    def assign(self, weights: list[np.ndarray[Any, Any]]) -> None:
        """Other weights for the same network."""
        self._assign([self._to_tensor(weight) for weight in weights])


class DenseEvaluator:
    """A network of kind nnue in the core's integers. A search that is given one asks it without
    leaving the core; here it takes planes as any other evaluator."""

    def __init__(
        self,
        plane_shape: tuple[int, int, int],
        outputs: int,
        weights: list[np.ndarray[Any, Any]],
    ) -> None:
        self.network = _core.DenseNetwork(plane_shape, outputs)
        self.assign(weights)

    @property
    def computing(self) -> str:
        return f"the core, int16 on {self.network.vectors} vectors"

    def __call__(self, planes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return self.network.answer(planes)

    def assign(self, weights: list[np.ndarray[Any, Any]]) -> None:
        """Other weights for the same network; not while a search runs."""
        try:
            self.network.assign(weights)
        except ValueError as error:
            raise InputError(str(error)) from None


def make_evaluator(kind: str, model: Any) -> NetworkEvaluator | DenseEvaluator:
    """Of a model that make_model has made of this kind; one in the core has its weights as they
    are now."""
    if kind != "nnue":
        return NetworkEvaluator(model, of_children=kind == "children")
    weights = [variable.numpy() for variable in model.weights]
    return DenseEvaluator(model.input_shape[1:], model.output_shape[1], weights)


def rate_alone(evaluator: Any, game: _core.Game, sizes: list[int], seconds: float = 0.3) -> float:
    """States a second of the evaluator alone: what self-play could reach. One in the core gets
    what a search would ask, the children of states of random games."""
    if not isinstance(evaluator, DenseEvaluator):
        return best_rate(evaluator, game.plane_shape, sizes, seconds)
    random = np.random.default_rng(0)
    states: list[_core.State] = []
    while len(states) < RATED_STATES:
        state = game.initial_state()
        while not state.is_terminal and len(states) < RATED_STATES:
            states.append(state)
            state = state.play(int(random.choice(state.legal_actions())))
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        done += len(evaluator.network.answer_children(states))
    return done / (time.perf_counter() - started)


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
