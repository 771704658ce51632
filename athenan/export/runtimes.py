"""The formats of an exported network, each loaded in its own runtime.

A loaded network takes uint8 planes [batch, rows, columns, channels] and answers float32 values:
[batch] for two players, [batch, players] otherwise, and [batch, places] where they are of all
children of a state.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from athenan.backend import cores, device_line, keras, quiet, tensorflow
from athenan.errors import InputError, nearest
from athenan.files import read_bytes

Array = np.ndarray[Any, Any]
Network = Callable[[Array], Array]


class LiteNetwork:
    """LiteRT. An interpreter is set up once for each of a few batch sizes (powers of two): larger
    batches go through in pieces, others are padded to the next size."""

    LARGEST = 1024  # states

    def __init__(self, content: bytes, threads: int) -> None:
        from ai_edge_litert.interpreter import Interpreter

        self.make: Any = Interpreter
        self.content = content
        self.threads = threads
        self.interpreters: dict[int, Any] = {}
        self.interpreter(1)

    def __call__(self, planes: Array) -> Array:
        if not len(planes):
            return self.run(np.zeros((1, *planes.shape[1:]), np.uint8))[:0]
        pieces = [
            self.run(planes[first : first + self.LARGEST])
            for first in range(0, len(planes), self.LARGEST)
        ]
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def run(self, planes: Array) -> Array:
        rows = len(planes)
        size = 1 << (rows - 1).bit_length()
        if size > rows:
            planes = np.concatenate([planes, np.zeros((size - rows, *planes.shape[1:]), np.uint8)])
        interpreter, source, target = self.interpreter(size)
        interpreter.set_tensor(source, planes)
        interpreter.invoke()
        values: Array = interpreter.get_tensor(target)
        return values[:rows]

    def interpreter(self, size: int) -> Any:
        if size not in self.interpreters:
            with quiet():
                made = self.make(model_content=self.content, num_threads=self.threads)
                planes = made.get_input_details()[0]
                made.resize_tensor_input(planes["index"], [size, *planes["shape"][1:]])
                made.allocate_tensors()
            values = made.get_output_details()[0]
            self.interpreters[size] = made, planes["index"], values["index"]
        return self.interpreters[size]


def load_lite(path: Path, threads: int) -> Network:
    return LiteNetwork(read_bytes(path), threads)


def load_onnx(path: Path, threads: int) -> Network:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        read_bytes(path), options, providers=["CPUExecutionProvider"]
    )

    def network(planes: Array) -> Array:
        values: Array = session.run(["values"], {"planes": planes})[0]
        return values

    return network


def load_saved_model(path: Path, threads: int) -> Network:  # noqa: ARG001
    tf = tensorflow()
    loaded = tf.saved_model.load(str(path))
    signature = loaded.signatures["serving_default"]

    def network(planes: Array) -> Array:
        assert loaded is not None  # TensorFlow drops the variables with it
        values: Array = signature(planes=tf.convert_to_tensor(planes))["values"].numpy()
        return values

    return network


def load_keras(path: Path, threads: int) -> Network:  # noqa: ARG001
    from athenan.network import NetworkEvaluator

    return NetworkEvaluator(keras().models.load_model(path, compile=False))


@dataclass(frozen=True)
class Format:
    file: str  # or folder, in the bundle
    runs_with: str  # the module of its runtime
    written_with: tuple[str, ...]
    load: Callable[[Path, int], Network]
    runs_code: bool = False  # whether a file of it can do more than answer


RUNTIMES = {
    "ai_edge_litert": "LiteRT",
    "onnxruntime": "ONNX Runtime",
    "tensorflow": "TensorFlow",
}

# The best first: exact ones by their speed on a processor, then the one that rounds.
FORMATS = {
    "tflite": Format("network.tflite", "ai_edge_litert", ("flatbuffers",), load_lite),
    "onnx": Format("network.onnx", "onnxruntime", ("onnx",), load_onnx),
    "saved_model": Format("saved_model", "tensorflow", (), load_saved_model, runs_code=True),
    "keras": Format("network.keras", "tensorflow", (), load_keras, runs_code=True),
    "tflite_int8": Format("network_int8.tflite", "ai_edge_litert", ("flatbuffers",), load_lite),
}


def check_format(name: str) -> None:
    if name not in FORMATS:
        raise InputError(f"There is no format '{name}'{nearest(name, FORMATS)}")


def missing_package(modules: Iterable[str]) -> str | None:
    return next((name for name in modules if importlib.util.find_spec(name) is None), None)


def computing(name: str, threads: int | None) -> str:
    """What computes a network of this format, in words."""
    precision = "int8" if name == "tflite_int8" else "float32"
    return device_line(RUNTIMES[FORMATS[name].runs_with], precision, threads or usual_threads())


def require(name: str, writing: bool = False) -> None:
    """Says which extra to install where a format's packages are missing."""
    form = FORMATS[name]
    missing = missing_package((form.runs_with, *(form.written_with if writing else ())))
    if missing:
        raise InputError(
            f"Format '{name}' needs the package '{missing.replace('_', '-')}': "
            "pip install athenan[export]."
        )


def usual_threads() -> int:
    """The cores, as far as small networks gain from them."""
    return min(8, cores())


def load_network(name: str, folder: Path, threads: int | None = None) -> Network:
    """The network of a bundle's folder in this format; `threads` where the runtime lets one say,
    by default usual_threads()."""
    require(name)
    path = folder / FORMATS[name].file
    try:
        return FORMATS[name].load(path, threads or usual_threads())
    except Exception as error:  # every runtime has its own
        reason = (str(error).strip().splitlines() or ["it cannot be read"])[0].rstrip(".")
        raise InputError(f"'{path}' cannot be loaded: {reason}.") from None
