"""Who plays a list of games (worklist.py): this process, or those that Ray runs, each its share."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, Protocol

from athenan.backend import set_threads
from athenan.cluster import Cluster
from athenan.errors import Failed, InputError
from athenan.fixtures import Fixture
from athenan.placement import see_only
from athenan.progress import Progress, duration
from athenan.settings import ExperimentSettings, LayoutSettings, TournamentSettings
from athenan.worklist import WorkList

SECONDS = 0.5  # between looks


class Listed(Protocol):
    """A tournament or a study."""

    fixtures: list[Fixture]

    @property
    def config(self) -> TournamentSettings | ExperimentSettings: ...

    def work(self) -> WorkList: ...

    def play(self, work: WorkList, on_progress: Callable[[WorkList], object]) -> None: ...

    def played(self, work: WorkList) -> int: ...


def play_all(games: Listed, play_share: Callable[[Any], object]) -> None:
    """Plays them, and shows how many are over."""
    keys = {fixture.key for fixture in games.fixtures}
    with Progress() as progress, games.work() as seen:
        before = done = games.played(seen)
        counted = len(seen.done)

        def show(work: WorkList) -> None:
            nonlocal done, counted
            done += sum(key in keys for key in itertools.islice(work.done, counted, None))
            counted = len(work.done)
            new, rest = done - before, len(keys) - done
            left = duration(progress.seconds / new * rest) if new else "?"
            progress.show([f"{done}/{len(keys)} games", f"{left} left"])

        def look() -> None:
            seen.read()
            show(seen)

        if games.config.layout.name == "inline":
            games.play(seen, show)
        else:
            play_by_ray(games.config.layout, play_share, games.config, look)


def unplayed(games: Listed, work: WorkList) -> list[str]:
    """What is said where games are missing, or other processes are at them."""
    rest = len(games.fixtures) - games.played(work)
    return [f"{rest} games are not over yet."] if rest else []


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
