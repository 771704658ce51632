"""Progress of long work: a line that renews itself on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from types import TracebackType
from typing import TextIO


def duration(seconds: float) -> str:
    """'7 s', '3:05', '2:10:00'."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def count(number: float) -> str:
    """'950', '12.3k', '4.56M'."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(number) >= size:
            return f"{number / (1e3 if unit == 'k' else size):.3g}{unit}"
    return f"{number:.0f}"


def tell(text: str, out: TextIO) -> None:
    """Writes at once. Where nobody listens any more (`| head`, a closed terminal) work goes on, and
    what is written from now on goes nowhere."""
    try:
        out.write(text)
        out.flush()
    except OSError:
        with suppress(OSError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, out.fileno())
            os.close(nowhere)


class Progress:
    """`show(text)` as often as you like; it writes at most a few times a second (terminal) or once
    in `quiet_seconds` (elsewhere)."""

    def __init__(self, quiet_seconds: float = 10.0, out: TextIO | None = None) -> None:
        self.out = out or sys.stderr
        self.live = self.out.isatty()
        self.interval = 0.2 if self.live else quiet_seconds
        self.started = time.monotonic()
        self._last = self.started if not self.live else 0.0
        self._width = 0

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def show(self, text: str) -> None:
        now = time.monotonic()
        if now - self._last < self.interval:
            return
        self._last = now
        if self.live:
            tell("\r" + text.ljust(self._width), self.out)
            self._width = len(text)
        else:
            tell(text + "\n", self.out)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.live and self._width:
            tell("\r" + " " * self._width + "\r", self.out)
