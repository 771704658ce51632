"""TensorFlow, imported late and quietly: only where a network is built, trained or run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def quiet() -> Iterator[None]:
    """Drops what libraries write to stderr below Python; exceptions still say what is wrong."""
    sys.stderr.flush()
    kept = os.dup(2)
    silence = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(silence, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(silence)


@cache
def tensorflow() -> Any:
    """The module, without its start-up chatter."""
    if "tensorflow" in sys.modules:
        return sys.modules["tensorflow"]
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ.setdefault("KERAS_BACKEND", "tensorflow")
    with quiet():
        import tensorflow

        for device in tensorflow.config.list_physical_devices("GPU"):
            tensorflow.config.experimental.set_memory_growth(device, True)
    return tensorflow


def keras() -> Any:
    tensorflow()
    import keras

    return keras
