"""Programs that are spoken to in lines: what comes in, and what goes out from any thread."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO, TextIO

from athenan.progress import tell

LONGEST = 2**20  # bytes of a line


NUMBER = re.compile(r"[-+]?[0-9]{1,15}(\.[0-9]{0,30})?(e[-+]?[0-9]{1,2})?", re.IGNORECASE)


def number_of(text: str) -> float | None:
    """As programs write them; neither nan nor infinity."""
    return float(text) if NUMBER.fullmatch(text) else None


class LongLine(str):
    """What stands for a line that is too long to be read."""


def lines_of(source: BinaryIO) -> Iterator[str]:
    """Without their ends. What is no UTF-8 is marked; a line that never ends takes no memory."""
    while raw := source.readline(LONGEST + 1):
        if len(raw) > LONGEST:
            while raw and not raw.endswith(b"\n"):
                raw = source.readline(LONGEST)
            yield LongLine()
            continue
        yield raw.decode("utf-8", errors="replace").rstrip("\r\n")


class Out:
    """Whole texts, one after the other. Where nobody listens any more they go nowhere."""

    def __init__(self, file: TextIO | None = None) -> None:
        self.file = file or sys.stdout
        self._lock = threading.Lock()

    def __call__(self, text: str) -> None:
        with self._lock:
            tell(text, self.file)


def talk(hear: Callable[[str], bool], close: Callable[[], object]) -> None:
    """Gives standard input line by line, until that ends or `hear` says so by false."""
    try:
        for line in lines_of(sys.stdin.buffer):
            if not hear(line):
                break
    finally:
        close()
