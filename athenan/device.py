"""A device by its timing alone: how well self-play would keep a GPU busy, measured without one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from athenan.search import Array


@dataclass
class TimedValues:
    """Of a batch that is done at an instant."""

    done: float
    values: Array

    def result(self) -> Array:
        # A wait that sleeps comes back too late by more than a batch takes.
        while time.perf_counter() < self.done:
            pass
        return self.values


class TimedDevice:
    """An evaluator that takes so long a batch and a state, one batch after the other, on a clock of
    its own: it uses no processor. Its values are random and say nothing of the states."""

    def __init__(self, batch_microseconds: float, state_microseconds: float) -> None:
        self._batch, self._state = batch_microseconds / 1e6, state_microseconds / 1e6
        self._free = 0.0  # the instant when all batches are done
        self._worked = 0.0  # seconds of all batches
        self.batches = 0
        self.states = 0
        self._values = np.random.default_rng(0).uniform(-1, 1, 2**16).astype(np.float32)

    def start(self, planes: Array) -> TimedValues:
        size = len(planes)
        takes = self._batch + size * self._state
        self._free = max(self._free, time.perf_counter()) + takes
        self._worked += takes
        self.batches += 1
        self.states += size
        first = self.states * 7919 % (len(self._values) - size)
        return TimedValues(self._free, self._values[first : first + size])

    def __call__(self, planes: Array) -> Array:
        return self.start(planes).result()

    def worked(self) -> float:
        """Seconds up to now; batches that are not done yet count as far as they are."""
        return self._worked - max(0.0, self._free - time.perf_counter())


def busy_share(self_play: Any, device: TimedDevice, seconds: float) -> float:
    """Of the device while self-play goes on."""
    for _ in range(50):
        self_play.play_batch()
    worked, started = device.worked(), time.perf_counter()
    while time.perf_counter() - started < seconds:
        self_play.play_batch()
    return (device.worked() - worked) / (time.perf_counter() - started)
