"""Where a process computes: the learner wherever TensorFlow puts it, on one device, or on several
in step; an actor on the device that it is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any

from athenan.backend import compiled, tensorflow, unused_gpu
from athenan.errors import InputError
from athenan.settings import LayoutSettings

VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")  # what libraries and Ray look at


def learner_devices(layout: LayoutSettings) -> list[str]:
    """Names of its GPUs, the first ones, or of the CPU for 0; none where it is left to TensorFlow.
    The others, which actors may have, are hidden: TensorFlow takes hold of all that it sees."""
    number = layout.learner_gpus
    found = tensorflow().config.list_physical_devices("GPU")
    if number is not None and number > len(found):
        there = f"{len(found)} GPU{'s' * (len(found) > 1)}" if found else "no GPU"
        raise InputError(
            f"Setting 'layout.learner_gpus' is {number}, but TensorFlow sees "
            f"{there}{unused_gpu('TensorFlow')}."
        )
    own = gpus_of_learner(layout)
    see_only(found[: own if layout.name == "ray" else max(1, own)])  # inline, self-play has it too
    if number is None:
        return []
    return [f"GPU:{i}" for i in range(number)] or ["CPU:0"]


def gpus_of_learner(layout: LayoutSettings) -> int:
    """How many, where there are so many."""
    return 1 if layout.learner_gpus is None else layout.learner_gpus


def see_only(devices: list[Any]) -> None:
    """No other GPU is this process's; in vain where one has computed before."""
    with suppress(RuntimeError):
        tensorflow().config.set_visible_devices(devices, "GPU")


class Placement:
    """Devices that each take an equal part of every batch; variables are the same on all."""

    def __init__(self, devices: Sequence[str] = ()) -> None:
        self.devices = list(devices)
        tf = tensorflow()
        self.strategy = tf.distribute.MirroredStrategy(self.devices) if len(devices) > 1 else None

    @property
    def number(self) -> int:
        return max(1, len(self.devices))

    def scope(self) -> AbstractContextManager[Any]:
        """Variables that are made here live on the devices, and what is called here runs there."""
        if self.strategy is not None:
            scope: AbstractContextManager[Any] = self.strategy.scope()
            return scope
        return tensorflow().device(self.devices[0]) if self.devices else nullcontext()

    def compiled(self, step: Callable[..., Any], signature: list[Any], xla: bool) -> Any:
        """A step from the arrays of a batch (planes, values, …) to (error, decay, predicted); the
        first two are sums over the devices, each of which is given its part."""
        if self.strategy is None:
            return compiled(step, signature, xla)
        if xla:
            raise InputError("Setting 'learn.xla' is for one device, not layout.learner_gpus > 1.")
        tf, strategy = tensorflow(), self.strategy
        each, rest = divmod(signature[0].shape[0], self.number)
        if rest:
            raise InputError(
                f"Setting 'learn.batch_size' is {signature[0].shape[0]}; it must be a multiple of "
                f"the {self.number} devices of the learner."
            )

        def part(*batch: Any) -> Any:
            first = tf.distribute.get_replica_context().replica_id_in_sync_group * each
            return step(*(tensor[first : first + each] for tensor in batch))

        def everywhere(*batch: Any) -> Any:
            error, decay, predicted = strategy.run(part, batch)
            parts = strategy.experimental_local_results(predicted)
            sums = [strategy.reduce("SUM", of, axis=None) for of in (error, decay)]
            return *sums, tf.concat(parts, 0)

        return compiled(everywhere, signature, xla=False)
