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
KINDS = {"Conv2D": "convolution", "Dense": "dense", "Add": "add", "Flatten": "flatten"}
ACTIVATIONS = ("linear", "relu", "relu6", "tanh")


@dataclass(frozen=True)
class Operation:
    """`inputs` are numbers of operations; number 0 is the planes."""

    kind: str  # planes | convolution | dense | add | flatten
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
) -> list[Operation]:
    """What operations_of gives of the network that make_model makes of these settings, from its
    weights alone: TensorFlow, which takes seconds to start, is not needed. LookupError where the
    weights are of another network."""
    found = [Operation("planes", (), plane_shape, None)]
    left = list(weights)

    def add(kind: str, inputs: tuple[int, ...], outputs: int, activation: str = "linear") -> int:
        given = found[inputs[0]].shape
        shape = (outputs,) if kind in ("flatten", "dense") else (*given[:-1], outputs)
        arrays: list[Array] = []
        if kind in ("convolution", "dense"):
            window = (3, 3) if kind == "convolution" else ()
            arrays = [array.astype(np.float32) for array in (left.pop(0), left.pop(0))]
            if [a.shape for a in arrays] != [(*window, given[-1], outputs), (outputs,)]:
                raise LookupError
        found.append(Operation(kind, inputs, shape, None, activation, *arrays))
        return len(found) - 1

    filters, residual = config.filters, config.kind == "residual"
    rows, columns, channels = plane_shape
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
    if left:
        raise LookupError
    return found


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
