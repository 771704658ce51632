"""Actors of the learner's own process that play while it learns: in a thread, a block of games
ahead.

While the learner has block k, block k + 1 is played with the weights after block k - 1. Blocks are
counted in games, and no block is begun while the run holds its actors for a checkpoint of its
schedule: so the run is deterministic. Asked to stop in the middle of a block, it is saved as it is.
"""

from __future__ import annotations

import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress

from athenan import _core
from athenan.actors import InlineActors
from athenan.checkpoint import Part
from athenan.records import Array, GameRecord
from athenan.settings import TrainSettings

TURN = 0.2  # seconds that a turn of the loop waits for a block at most
BLOCKS = 32  # in as many games as are in step


class OverlappedActors(InlineActors):
    """`ahead` is the block under way, or one that is whole and has not been collected."""

    overlapped = True

    def __init__(self, config: TrainSettings, game: _core.Game) -> None:
        super().__init__(config, game)
        self.least = max(1, len(self.self_play.games) // BLOCKS)  # games of a block
        self.playing_seconds = 0.0
        self._facts = super().facts()
        self._thread = ThreadPoolExecutor(1)
        self._under_way: Future[None] | None = None
        self._begun = False  # a block; it ends by being collected
        self._holding = self._pausing = self._full = False
        self._next: tuple[list[Array], float] | None = None  # weights and progress, published
        self._now: tuple[list[Array], float] | None = None  # of the block

    # ---- A block, from its beginning to its end ---------------------------------------------

    def collect(self) -> list[GameRecord]:
        if self._under_way is None and self._begun and not self._whole:
            self._go_on()  # it was saved in its middle
        if self._under_way is not None and not self._ended(TURN):
            return []
        if self._begun:
            records, self.ahead, self._begun = self.ahead, [], False
        elif self._holding:
            self.self_play.hold(True)
            records = self.play()  # the searches under way come to their end
        else:
            records = []
        if not self._holding:
            self._begin()
        self.games += len(records)
        return records

    @property
    def _whole(self) -> bool:
        return len(self.ahead) >= self.least

    def _begin(self) -> None:
        self._begun = True
        if self._next is not None:
            self._now, self._next = self._next, None
            super().publish(*self._now)
        self.self_play.hold(False)
        self._go_on()

    def _go_on(self) -> None:
        self._pausing = False
        self._under_way = self._thread.submit(self._play_block)

    def _play_block(self) -> None:
        began = time.perf_counter()
        while not (self._whole or self._pausing):
            self.ahead += self.play()
        self.playing_seconds += time.perf_counter() - began
        self._facts = super().facts()
        if self._whole:
            self._full = super().full

    def _ended(self, seconds: float | None) -> bool:
        """Whether the thread has stopped playing, within so many seconds; raises its error."""
        under_way = self._under_way
        if under_way is None:
            return True
        if not wait([under_way], seconds).done:
            return False
        self._under_way = None
        under_way.result()
        return True

    def _pause(self) -> None:
        """At the end of a turn, in the middle of a block or at its end."""
        self._pausing = True
        self._ended(None)

    # ---- What the loop asks for --------------------------------------------------------------

    def publish(self, weights: list[Array], progress: float, _steps: int = 0) -> None:
        """For the block that follows the one under way."""
        self._next = (weights, progress)

    def hold(self, holding: bool, ending: bool = False) -> None:  # noqa: ARG002
        self._holding = holding

    @property
    def idle(self) -> bool:
        return self._under_way is None and not self._begun and super().idle

    @property
    def can_be_saved(self) -> bool:
        return self.in_core or (self.repeatable and not self._holding)

    @property
    def full(self) -> bool:
        return self._full

    def saved(self) -> Part:
        self._pause()
        part = super().saved()
        self._full = super().full
        if not self._begun or self._now is None:
            return part
        weights, progress = self._now
        facts = {"block": {"whole": self._whole, "progress": progress}}
        return Part(part.facts | facts, part.arrays | {"weights_of_block": weights})

    def restore(self, part: Part) -> None:
        super().restore(part)
        self._facts = super().facts()
        block = part.facts.get("block")
        self._begun = block is not None
        if block is not None:
            self._now = (part.arrays["weights_of_block"], float(block["progress"]))
            super().publish(*self._now)

    def facts(self) -> dict[str, float]:
        return self._facts | {"playing_seconds": self.playing_seconds}

    def close(self) -> None:
        """The thread ends at once, whatever its searches were at."""
        self._pausing = True
        while not self._stopped():
            for search in self.self_play.searches:
                search.stop()
        self._thread.shutdown()

    def _stopped(self) -> bool:
        with suppress(Exception):  # of searches that were stopped
            return self._ended(0.01)
        return True
