"""The value network as a list of plain operations: what the writers of file formats work from."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from athenan.backend import keras
from athenan.errors import InputError
from athenan.settings import NetworkSettings

Array = np.ndarray[Any, Any]
Range = tuple[float, float]
KINDS = {
    "Conv2D": "convolution",
    "Dense": "dense",
    "Add": "add",
    "Flatten": "flatten",
    "GlobalAveragePooling2D": "mean",
    "GlobalMaxPooling2D": "maximum",
    "Concatenate": "concatenation",
}
ACTIVATIONS = ("linear", "relu", "relu6", "tanh")


@dataclass(frozen=True)
class Operation:
    """`inputs` are numbers of operations; number 0 is the planes."""

    kind: str  # planes | convolution | dense | add | flatten | mean | maximum | concatenation
    inputs: tuple[int, ...]
    shape: tuple[int, ...]  # of the output, without the batch
    tensor: Any  # the same output in the Keras model, if it is made of one
    activation: str = "linear"
    kernel: Array = field(default_factory=lambda: np.zeros(0))  # [rows, columns, in, out]|[in, out]
    bias: Array = field(default_factory=lambda: np.zeros(0))


def operations_of(model: Any) -> list[Operation]:
    """In an order in which they can be computed; a ReLU is part of what it follows."""
    planes = model.inputs[0]
    found = [Operation("planes", (), tuple(planes.shape[1:]), planes)]
    numbers = {id(planes): 0}
    layers = [layer for layer in model.layers if type(layer).__name__ != "InputLayer"]
    uses = Counter(id(tensor) for layer in layers for tensor in inputs_of(layer))
    for layer in layers:
        inputs = tuple(numbers[id(tensor)] for tensor in inputs_of(layer))
        name = type(layer).__name__
        if name == "ReLU" and uses[id(layer.input)] == 1:
            before = found[inputs[0]]
            found[inputs[0]] = replace(before, activation="relu", tensor=layer.output)
            numbers[id(layer.output)] = inputs[0]
            continue
        activation = getattr(getattr(layer, "activation", None), "__name__", "linear")
        if name not in KINDS or activation not in ACTIVATIONS or not is_plain(layer):
            raise InputError(
                f"Layer '{layer.name}' ({name}) can be exported as saved_model or keras only."
            )
        weights = [weight.numpy().astype(np.float32) for weight in layer.weights]
        if len(weights) == 1:
            weights.append(np.zeros(weights[0].shape[-1], np.float32))
        numbers[id(layer.output)] = len(found)
        shape = tuple(layer.output.shape[1:])
        found.append(Operation(KINDS[name], inputs, shape, layer.output, activation, *weights))
    return found


def planned_operations(
    config: NetworkSettings,
    plane_shape: tuple[int, int, int],
    num_players: int,
    weights: list[Array],
    zero_sum: bool = True,
    other_actions: int = 0,
) -> list[Operation]:
    """What operations_of gives of the network that make_model makes of these settings, from its
    weights alone: TensorFlow, which takes seconds to start, is not needed. LookupError where the
    weights are of another network."""
    plan = _Plan(plane_shape, weights)
    found, add = plan.found, plan.add
    filters, residual = config.filters, config.kind == "residual"
    rows, columns, channels = plane_shape
    if config.kind == "children":
        return plan.of_children(config, other_actions)
    if config.kind == "nnue":
        x = add("flatten", (0,), rows * columns * channels)
        for units in (filters, *[config.dense] * config.layers):
            x = add("dense", (x,), units, "relu6")
    else:
        x = add("convolution", (0,), filters, "relu")
        for _ in range(config.layers if residual else config.layers - 1):
            y = add("convolution", (x,), filters, "relu")
            if residual:
                y = add("add", (x, add("convolution", (y,), filters)), filters, "relu")
            x = y
        x = add("flatten", (x,), rows * columns * filters)
        x = add("dense", (x,), config.dense, "relu")
    add("dense", (x,), 1 if num_players == 2 and zero_sum else num_players, "tanh")
    if plan.left:
        raise LookupError
    return found


class _Plan:
    """Operations so far, and the weights that are left for others."""

    def __init__(self, plane_shape: tuple[int, int, int], weights: list[Array]) -> None:
        self.found = [Operation("planes", (), plane_shape, None)]
        self.left = list(weights)

    def add(
        self,
        kind: str,
        inputs: tuple[int, ...],
        outputs: int,
        activation: str = "linear",
        window: int = 3,  # of a convolution
    ) -> int:
        given = self.found[inputs[0]].shape
        shape: tuple[int, ...] = (*given[:-1], outputs)
        if kind in ("flatten", "dense", "concatenation"):
            shape = (outputs,)
        elif kind in ("mean", "maximum"):
            shape = (1, 1, outputs)
        arrays: list[Array] = []
        if kind in ("convolution", "dense"):
            windows = (window, window) if kind == "convolution" else ()
            arrays = [array.astype(np.float32) for array in (self.left.pop(0), self.left.pop(0))]
            if [a.shape for a in arrays] != [(*windows, given[-1], outputs), (outputs,)]:
                raise LookupError
        self.found.append(Operation(kind, inputs, shape, None, activation, *arrays))
        return len(self.found) - 1

    def of_children(self, config: NetworkSettings, other_actions: int) -> list[Operation]:
        """As children_model in network.py: Keras has the weights in the order of the layers'
        depth, which is that in which they are computed."""
        filters, add = config.filters, self.add

        def pooled(x: int) -> list[int]:
            return [add(kind, (x,), filters) for kind in ("mean", "maximum")]

        def of_board(board: list[int], units: int, activation: str = "linear") -> int:
            parts = [add("convolution", (x,), units, window=1) for x in board]
            return add("add", (parts[0], parts[1]), units, activation)

        def values(x: int, units: int) -> int:
            made = add("convolution", (x,), units, "tanh", window=1)
            return add("flatten", (made,), int(np.prod(self.found[made].shape)))

        x = add("convolution", (0,), filters, "relu")
        for _ in range(config.layers):
            bias = of_board(pooled(x), filters)
            y = add("add", (add("convolution", (x,), filters), bias), filters, "relu")
            x = add("add", (x, add("convolution", (y,), filters)), filters, "relu")
        board = pooled(x)
        bias = of_board(board, config.dense)
        cells = add("convolution", (x,), config.dense, window=1)
        cells = add("add", (cells, bias), config.dense, "relu")
        others = of_board(board, config.dense, "relu") if other_actions else 0
        answers = values(cells, 1)
        if other_actions:
            number = self.found[answers].shape[0] + other_actions
            add("concatenation", (answers, values(others, other_actions)), number)
        if self.left:
            raise LookupError
        return self.found


def is_plain(layer: Any) -> bool:
    """What the writers take for granted of a convolution."""
    return (
        tuple(getattr(layer, "strides", (1, 1))) == (1, 1)
        and tuple(getattr(layer, "dilation_rate", (1, 1))) == (1, 1)
        and getattr(layer, "padding", "same") == "same"
    )


def inputs_of(layer: Any) -> list[Any]:
    return layer.input if isinstance(layer.input, list) else [layer.input]


def ranges_of(model: Any, operations: list[Operation], planes: Array) -> list[Range]:
    """(least, greatest) answer of each operation on the planes, 256 states at a time."""
    every = keras().Model(model.inputs, [operation.tensor for operation in operations[1:]])
    lows, highs = np.zeros((2, len(operations)))
    highs[0] = 1.0
    for first in range(0, len(planes), 256):
        piece = planes[first : first + 256].astype(np.float32)
        for number, answer in enumerate(every([piece], training=False), 1):
            lows[number] = min(lows[number], float(np.min(answer)))
            highs[number] = max(highs[number], float(np.max(answer)))
    return list(zip(lows.tolist(), highs.tolist(), strict=True))
