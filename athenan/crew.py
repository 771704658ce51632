"""Processes that Ray runs, each of which plays its share of a list of games (worklist.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from athenan.backend import set_threads
from athenan.cluster import Cluster
from athenan.errors import Failed, InputError
from athenan.placement import see_only
from athenan.settings import LayoutSettings

SECONDS = 0.5  # between looks


def play_by_ray(
    layout: LayoutSettings,
    play_share: Callable[[Any], object],
    config: Any,
    on_progress: Callable[[], object],
) -> None:
    """As many processes as there is room for call `play_share(config)`. One that dies is begun
    again by Ray; what it was playing is then played by whoever comes first."""
    cluster = Cluster(layout)
    try:
        ray = cluster.ray
        task = ray.remote(
            num_cpus=layout.cpus, num_gpus=layout.gpus, max_retries=layout.most_deaths
        )(share)
        number = layout.actors or cluster.room(layout)
        waiting = [task.remote(layout, play_share, config) for _ in range(number)]
        while waiting:
            done, waiting = ray.wait(waiting, timeout=SECONDS)
            for ref in done:
                ray.get(ref)
            on_progress()
    except Exception as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, InputError | OSError):
            raise cause from None
        if type(error).__module__.startswith("ray."):
            raise Failed(f"The games cannot go on: {str(error).splitlines()[0]}") from error
        raise
    finally:
        cluster.close()


def share(layout: LayoutSettings, play_share: Callable[[Any], object], config: Any) -> None:
    if not layout.gpus:
        see_only([])
    set_threads(layout.cpus)
    play_share(config)
