"""TensorFlow, imported late and quietly: only where a network is built, trained or run. And what
computes: which runtime, on which device."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from athenan.errors import InputError

MESSAGES = "ATHENAN_TENSORFLOW_LOG"  # names a file for what libraries would write to stderr
PACKAGES = {"TensorFlow": "tensorflow", "LiteRT": "ai-edge-litert", "ONNX Runtime": "onnxruntime"}
DRIVERS = {"NVIDIA": ("/proc/driver/nvidia/version", "/dev/nvidiactl"), "AMD": ("/dev/kfd",)}
BUILT_FOR = {"NVIDIA": "CUDA", "AMD": "ROCm"}  # the TensorFlow that would use it
NO_TENSORFLOW = (
    "TensorFlow is not installed: ./scripts/setup or pip install 'athenan[tensorflow]' does it, "
    "and the README tells of builds for other devices; games, check, solve and rollouts need none."
)
_kept_in: Path | None = None
_xla = False
_parts = 1  # of a batch on the CPU


def keep_messages(path: Path) -> None:
    """What libraries write from now on goes to this file, unless the environment names another."""
    global _kept_in
    _kept_in = path


def messages_file() -> Path | None:
    name = os.environ.get(MESSAGES)
    return Path(name) if name else _kept_in


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps what libraries write to stderr below Python off the terminal: it goes to the file of
    messages, if there is one. Exceptions still say what is wrong."""
    sys.stderr.flush()
    kept = os.dup(2)
    silence = open_messages()
    try:
        os.dup2(silence, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(silence)
        drop_if_empty(messages_file())


def drop_if_empty(path: Path | None) -> None:
    with suppress(OSError):
        if path is not None and path.is_file() and path.stat().st_size == 0:
            path.unlink()


def open_messages() -> int:
    path = messages_file()
    if path is not None:
        with suppress(OSError):  # of a full disk, say
            return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    return os.open(os.devnull, os.O_WRONLY)


@cache
def tensorflow() -> Any:
    """The module, without its start-up chatter."""
    if "tensorflow" in sys.modules:
        return sys.modules["tensorflow"]
    # Warnings say why a GPU is not used; nobody wants them but in a file.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1" if messages_file() else "2")
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    with quiet():
        try:
            import tensorflow
        except ModuleNotFoundError as error:
            if error.name != "tensorflow":
                raise
            raise InputError(NO_TENSORFLOW) from None

        for device in tensorflow.config.list_physical_devices("GPU"):
            tensorflow.config.experimental.set_memory_growth(device, True)
    return tensorflow


def keras() -> Any:
    tensorflow()
    import keras

    return keras


def use_xla(wanted: bool) -> None:
    """For what is compiled from now on in this process, as Keras has its policy of precision."""
    global _xla
    _xla = wanted


def compiled(function: Callable[..., Any], signature: list[Any], xla: bool | None = None) -> Any:
    """By TensorFlow, for these shapes; XLA makes code of the device's own for each batch size."""
    wanted = _xla if xla is None else xla
    return tensorflow().function(
        function, input_signature=signature, reduce_retracing=True, jit_compile=wanted or None
    )


MOST_PARTS = 4  # of a batch: more of them are smaller, and each costs as much again to begin


def set_threads(threads: int) -> None:
    """Of networks on the CPU, in this process; in vain where one has computed. Batches are cut
    into parts that are computed at the same time, each by few threads: that takes two thirds of the
    time of all threads together on the whole."""
    global _parts
    tf = tensorflow()
    _parts = 1 if tf.config.get_visible_devices("GPU") else min(threads, MOST_PARTS)
    with suppress(RuntimeError):
        tf.config.threading.set_intra_op_parallelism_threads(max(1, threads // _parts))
        tf.config.threading.set_inter_op_parallelism_threads(_parts)


def parts() -> int:
    """Of a batch, of whatever is compiled from now on; XLA has threads of its own."""
    return 1 if _xla else _parts


def cut(array: Any, number: int) -> list[Any]:
    """A tensor's rows in so many parts of the same size; the last may have more."""
    if number == 1:
        return [array]
    rows = tensorflow().shape(array)[0]
    cuts = [rows // number * i for i in range(number)] + [rows]
    return [array[cuts[i] : cuts[i + 1]] for i in range(number)]


# ---- What computes -----------------------------------------------------------------------------


def device_line(
    runtime: str = "TensorFlow", precision: str = "float32", threads: int | None = None
) -> str:
    """What computes, in one line: runtime, precision and device, and why a GPU that is here is not
    used. `threads` where the runtime was told how many."""
    gpus = gpu_names() if runtime == "TensorFlow" else []
    if gpus:
        return f"{with_version(runtime)}, {precision}, {' and '.join(gpus)}"
    number = threads or cores()
    where = f"CPU, {number} thread{'' if number == 1 else 's'}"
    return f"{with_version(runtime)}, {precision}, {where}{unused_gpu(runtime)}"


def with_version(runtime: str) -> str:
    try:
        return f"{runtime} {version(PACKAGES[runtime])}"
    except KeyError:
        return runtime
    except PackageNotFoundError:  # a build for other devices is a package of another name
        return f"{runtime} {tensorflow().__version__}" if runtime == "TensorFlow" else runtime


def cores() -> int:
    """That this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def gpu_names() -> list[str]:
    """Of the GPUs that TensorFlow uses."""
    tf = tensorflow()
    names = []
    for device in tf.config.get_visible_devices("GPU"):
        details = tf.config.experimental.get_device_details(device)
        names.append(f"GPU {details.get('device_name', device.name)}")
    return names


def gpu_driver() -> str | None:
    """The maker of a GPU whose driver shows itself, seen without TensorFlow."""
    for maker, places in DRIVERS.items():
        if any(os.path.exists(place) for place in places):
            return maker
    return "NVIDIA" if shutil.which("nvidia-smi") else None


def unused_gpu(runtime: str) -> str:
    """A clause that says why the GPU that is here does not compute, or nothing without one."""
    maker = gpu_driver()
    if maker is None:
        return ""
    if runtime != "TensorFlow":
        why = f"{runtime} computes on the CPU"
    elif os.environ.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1"):
        why = "CUDA_VISIBLE_DEVICES hides it"
    elif not getattr(tensorflow().test, f"is_built_with_{BUILT_FOR[maker].lower()}")():
        why = f"this TensorFlow is built without {BUILT_FOR[maker]}"
    else:
        told = messages_file()
        where = str(told) if told else f"what it says goes to the file that {MESSAGES} names"
        why = f"TensorFlow cannot use its driver or libraries (see {where})"
    return f"; an {maker} GPU is here but unused: {why}"
