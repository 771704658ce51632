"""The time of a run and its limits: what a run's progress and end are measured by."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from athenan.checkpoint import Part
from athenan.errors import InputError
from athenan.settings import TrainSettings


class Clock:
    """Counts the seconds of work by stage: self_play, learning, checkpoints, matches."""

    def __init__(self, config: TrainSettings) -> None:
        self.config = config
        self.seconds: dict[str, float] = {}  # by stage, of this process
        self.earlier_seconds = 0.0  # of the run, before this process
        self.checkpoint_at = time.monotonic()  # the last one

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        started = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = self.spent(name) + time.monotonic() - started

    def spent(self, stage: str) -> float:
        return self.seconds.get(stage, 0.0)

    def shares(self) -> dict[str, float]:
        """Of each stage in the time of this process."""
        total = sum(self.seconds.values()) or 1.0
        return {name: seconds / total for name, seconds in sorted(self.seconds.items())}

    @property
    def elapsed(self) -> float:
        """Seconds of the run, resumed parts included."""
        return self.earlier_seconds + sum(self.seconds.values())

    def finished(self, games: int) -> bool:
        config = self.config
        return bool(
            (config.games and games >= config.games)
            or (config.minutes and self.elapsed >= 60 * config.minutes)
        )

    def progress(self, games: int) -> float:
        """0 to 1, by the limit that is nearer."""
        config = self.config
        by_games = games / config.games if config.games else 0.0
        by_time = self.elapsed / (60 * config.minutes) if config.minutes else 0.0
        return min(1.0, max(by_games, by_time))

    def left(self, games: int) -> float | None:
        """Seconds to the end, where anything is known of it."""
        config, progress = self.config, self.progress(games)
        if config.minutes and (not config.games or progress == 0):
            return max(0.0, 60 * config.minutes - self.elapsed)
        return self.elapsed / progress - self.elapsed if progress > 0 else None

    def next_checkpoint(self, games: int) -> int:
        """After how many games of the run it is written."""
        every = self.config.checkpoint.every_games
        following = (games // every + 1) * every
        return min(following, self.config.games) if self.config.games else following

    def note_checkpoint(self) -> None:
        self.checkpoint_at = time.monotonic()

    @property
    def checkpoint_due(self) -> bool:
        """By the minutes since the last one."""
        every = self.config.checkpoint.every_minutes
        return every is not None and time.monotonic() - self.checkpoint_at >= 60 * every

    def saved(self) -> Part:
        return Part({"seconds": self.elapsed})

    def restore(self, part: Part) -> None:
        seconds = part.facts["seconds"]
        if type(seconds) not in (float, int) or not 0 <= seconds < 1e12:
            raise InputError("Fact 'seconds' is not a time.")
        self.earlier_seconds = float(seconds)
