"""Progress of long work: a line that renews itself on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
import unicodedata
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TextIO

NARROW = 80  # columns of a terminal that does not tell
ERASE_LINE, ERASE_BELOW = "\x1b[K", "\x1b[J"  # from the cursor to the end of the row, or the screen


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


def columns(text: str) -> int:
    """Of a terminal that it takes: wide letters two, accents that join another letter none."""
    return sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
        if unicodedata.category(letter) not in ("Mn", "Me")
    )


def fitted(parts: Sequence[str], width: int) -> str:
    """The first parts that fit into a line, side by side; of the first as much as fits."""
    kept = ["".join(letter if letter.isprintable() else "?" for letter in part) for part in parts]
    while len(kept) > 1 and columns("  ".join(kept)) > width:
        kept.pop()
    line = "  ".join(kept)
    while columns(line) > width:
        line = line[:-1]
    return line


class Progress:
    """`show(parts)` as often as you like; it writes at most a few times a second (terminal) or once
    in `quiet_seconds` (elsewhere). What matters most comes first: a terminal that is too narrow for
    all parts shows those that fit."""

    def __init__(self, quiet_seconds: float = 10.0, out: TextIO | None = None) -> None:
        self.out = out or sys.stderr
        self.live = self.out.isatty() and os.environ.get("TERM") != "dumb"
        self.interval = 0.2 if self.live else quiet_seconds
        self.started = time.monotonic()
        self._last = self.started if not self.live else 0.0
        self._shown = 0  # columns of the terminal when a line was, if one is there

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def show(self, parts: Sequence[str]) -> None:
        now = time.monotonic()
        if now - self._last < self.interval:
            return
        self._last = now
        if self.live:
            # The cursor rests at the start of the line: where a narrower terminal has wrapped it,
            # the next one still begins there and erases all of it. The last column stays free,
            # since some terminals go on to the next line as soon as it is written.
            width, erase = self._width(), self._erase()
            tell("\r" + fitted(parts, width - 1) + erase + "\r", self.out)
            self._shown = width
        else:
            tell("  ".join(parts) + "\n", self.out)

    def clear(self) -> None:
        """Makes room for other lines; what is shown next comes at once."""
        if self._shown:
            tell("\r" + self._erase(), self.out)
            self._shown, self._last = 0, 0.0

    def _erase(self) -> str:
        """What takes away the line that is there, also where it was wrapped since."""
        return ERASE_BELOW if self._width() < self._shown else ERASE_LINE

    def _width(self) -> int:
        """Of the terminal as it is now."""
        try:
            return os.get_terminal_size(self.out.fileno()).columns or NARROW
        except (OSError, ValueError):
            return NARROW

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()


def resident_megabytes() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
