"""An actor: self-play with a model of its own, in a process of its own. It knows nothing of Ray."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import athenan
from athenan import _core
from athenan.backend import keep_messages, tensorflow, unused_gpu
from athenan.checkpoint import Part
from athenan.errors import Failed, InputError
from athenan.games import make_game
from athenan.ledger import Delivery
from athenan.network import set_up_tensorflow
from athenan.placement import VISIBLE, see_only
from athenan.playing_network import make_playing
from athenan.progress import resident_megabytes
from athenan.records import Array, Block
from athenan.search import Pending, asked, core_network, values_children
from athenan.self_play import INCARNATION, SelfPlay
from athenan.settings import TrainSettings

TOLERANCE = 0.05  # of values in [-1, 1]: half precision has its own rounding


@dataclass(frozen=True)
class Commission:
    """What an actor needs to know before it plays."""

    config: TrainSettings
    version: str  # of athenan, where the learner is
    folder: str  # the command is run in
    run: str
    incarnation: int
    games: Part | None = None  # under way, to go on with


@dataclass(frozen=True)
class Ready:
    """Who an actor is."""

    pid: int
    node: str
    device: str | None  # where it has one


@dataclass(frozen=True)
class Order:
    """One call: what to play with, and for how long."""

    version: int  # of the weights
    progress: float  # of the run
    clearings: int  # of the memory of resolved states, so far
    holding: bool  # searches end, none begins


class Timed:
    """An evaluator, and the time that self-play spends on it."""

    def __init__(self, evaluator: Any) -> None:
        self.evaluator = evaluator
        self.of_children = values_children(evaluator)
        self.seconds = 0.0

    def __call__(self, planes: Array) -> Array:
        values: Array = self.start(planes).result()
        return values

    def start(self, planes: Array) -> Pending:
        began = time.perf_counter()
        pending = asked(self.evaluator, planes)
        self.seconds += time.perf_counter() - began
        return TimedPending(pending, self)


class TimedPending:
    def __init__(self, pending: Pending, timed: Timed) -> None:
        self._pending, self._timed = pending, timed

    def result(self) -> Any:
        began = time.perf_counter()
        values = self._pending.result()
        self._timed.seconds += time.perf_counter() - began
        return values


class Actor:
    """Plays inside calls only, so that nothing piles up where nobody takes it."""

    def prepare(self, commission: Commission) -> Ready:
        """Before the first call. What is wrong is said by a sentence."""
        config = commission.config
        node = socket.gethostname()
        if commission.version != athenan.__version__:
            raise InputError(
                f"The actor on {node} is of athenan {athenan.__version__}, the learner of "
                f"{commission.version}; install one version on all nodes."
            )
        with suppress(OSError):  # of a node that does not have it
            os.chdir(commission.folder)
        device = device_of_process(config)
        bind_to_cores(config.layout.cores_of_device, device)
        keep_messages(Path(commission.run) / "tensorflow.txt")
        if not config.layout.gpus:
            see_only([])  # Ray hides none from who has asked for none
        set_up_tensorflow(config, config.layout.cpus)
        game = make_game(**config.game)
        self.evaluator: Any = make_playing(
            config.network, config.self_play, game, config.seed, config.layout.cpus
        )
        if device is not None:
            check_device(self.evaluator, game.plane_shape, f"Device {device} of {node}")
        self._timed = Timed(self.evaluator)
        self.layout = config.layout
        self.incarnation = commission.incarnation
        self.memory = _core.ResolvedMemory(config.resolved.states)
        self.self_play = SelfPlay(
            game,
            self._timed if core_network(self.evaluator) is None else self.evaluator,
            config.search,
            config.heuristic,
            config.self_play,
            config.exploration,
            config.seed,
            self.memory if config.resolved.states else None,
        )
        if commission.games is not None:
            self.self_play.restore(commission.games)
        self.self_play.next_game = self.incarnation * INCARNATION
        self.given = 0  # games
        self.version = 0  # of the weights
        self._clearings = 0
        self._playing = self._idle = 0.0
        self._ended = time.perf_counter()  # the last call
        return Ready(os.getpid(), node, device)

    def play(self, weights: list[Array], order: Order) -> Delivery:
        """For a while; what has ended meanwhile. Weights [of each variable] are the learner's."""
        began = time.perf_counter()
        self._idle += began - self._ended
        play = self.self_play
        if order.version != self.version:
            play.wait()
            self.evaluator.assign(weights)
            self.version = order.version
        if order.clearings > self._clearings:
            self.memory.clear()
            self._clearings = order.clearings
        play.progress = order.progress
        play.hold(order.holding)
        records = []
        for batch in range(1, 2**31):
            records += play.play_batch()
            if order.holding and not play.searching:
                break
            if batch == self.layout.call_batches:
                break
            late = time.perf_counter() - began >= self.layout.call_seconds
            many = len(records) >= len(play.games)  # of a game that is all but solved
            if self.layout.call_batches is None and (late or many):
                break
        self._ended = time.perf_counter()
        self._playing += self._ended - began
        first, self.given = self.given, self.given + len(records)
        return Delivery(
            incarnation=self.incarnation,
            first=first,
            number=len(records),
            block=Block.of(records).to_arrays() if records else None,
            version=self.version,
            searching=play.searching,
            under_way=sum(game is not None for game in play.games),
            rows=play.rows,
            out_of_memory=play.out_of_memory,
            proofs=len(self.memory),
            playing_seconds=self._playing,
            evaluating_seconds=self._timed.seconds,
            idle_seconds=self._idle,
            resident_mb=resident_megabytes(),
        )

    def give_back(self) -> Part:
        """The games under way with their trees, once no search is running."""
        return self.self_play.saved()


# ---- Its device --------------------------------------------------------------------------------


def device_of_process(config: TrainSettings) -> str | None:
    """The number of the device that this process was given, if any."""
    if not config.layout.gpus:
        return None
    found = [os.environ[name].split(",") for name in VISIBLE if os.environ.get(name)]
    return min(found, key=len)[0] if found else None  # the other may be of the whole node


def bind_to_cores(cores_of_device: list[str], device: str | None) -> None:
    """To those next to its device; where that cannot be, the system chooses."""
    if device is None or not device.isdigit() or int(device) >= len(cores_of_device):
        return
    with suppress(OSError, AttributeError):
        os.sched_setaffinity(0, cores_in(cores_of_device[int(device)]))


def cores_in(text: str) -> set[int]:
    """Such as 0-7 or 0-3+8."""
    found: set[int] = set()
    for part in text.split("+"):
        first, _, last = part.partition("-")
        try:
            found |= set(range(int(first), int(last or first) + 1))
        except ValueError:
            raise InputError(
                f"Setting 'layout.cores_of_device': '{text}' names no cores; write 0-7 or 0-3+8."
            ) from None
    return found


def check_device(evaluator: Any, plane_shape: tuple[int, ...], name: str) -> None:
    """One batch against the CPU's values: a broken device is better found before a game is."""
    tf = tensorflow()
    if not tf.config.get_visible_devices("GPU"):
        raise Failed(f"TensorFlow does not see {name}{unused_gpu('TensorFlow')}.")
    planes = np.random.default_rng(0).integers(0, 2, (64, *plane_shape), np.uint8)
    values = np.asarray(evaluator(planes))
    with tf.device("CPU:0"):
        expected = evaluator.model(tf.cast(planes, tf.float32), training=False).numpy()
    difference = float(np.max(np.abs(values.reshape(expected.shape) - expected)))
    if not difference <= TOLERANCE:
        raise Failed(f"{name} is broken: its values differ from the CPU's by {difference:.2g}.")
