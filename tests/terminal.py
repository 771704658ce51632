"""A terminal for tests: a real pty, and a screen that shows what was written to it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import termios
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

TOKENS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|.", re.DOTALL)


class Terminal:
    """What a program writes to `out`; `lines()` is what one sees. A line that is too long for the
    screen goes on in the next row, and is broken anew when the screen becomes narrower, with the
    cursor staying at its letter: as terminals with a memory of lines do."""

    def __init__(self, columns: int) -> None:
        self._master, self.slave = pty.openpty()
        self.out: TextIO = os.fdopen(os.dup(self.slave), "w")
        self._lines: list[list[str]] = [[]]  # before they are broken into rows; a cell each
        self._at = 0  # cell of the last line, where the cursor is
        self._unread = b""
        self.most_rows = 1  # that the last line has ever taken
        self.resize(columns)

    def resize(self, columns: int) -> None:
        self.read()
        self.columns = columns
        size = struct.pack("HHHH", 24, columns, 0, 0)
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, size)

    def read(self, seconds: float = 0.0) -> bool:
        """Takes in what has been written; whether there was anything."""
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        try:
            self._unread += os.read(self._master, 65536)
        except OSError:  # nobody writes any more
            return False
        text = self._unread.decode(errors="ignore")
        self._unread = self._unread[len(text.encode()) :]
        for token in TOKENS.findall(text):
            self._take(token)
        self.read()
        return True

    def _take(self, token: str) -> None:
        line = self._lines[-1]
        if token == "\r":
            # The start of the row, not of the line: what the program believes to be one line.
            self._at -= self._at % self.columns
        elif token == "\n":
            self._lines.append([])
            self._at = 0
        elif token == "\x1b[J":
            del line[self._at :]
        elif token == "\x1b[K":
            end = self._at - self._at % self.columns + self.columns
            line[self._at : end] = [" "] * len(line[self._at : end])
            while line and line[-1] == " ":
                line.pop()
        elif unicodedata.combining(token):
            line[self._at - 1] += token
        else:
            wide = unicodedata.east_asian_width(token) in "WF"
            cells = [token, ""] if wide else [token]
            line.extend([" "] * (self._at - len(line)))
            line[self._at : self._at + len(cells)] = cells
            self._at += len(cells)
        self.most_rows = max(self.most_rows, self._rows(self._lines[-1]))

    def _rows(self, line: list[str]) -> int:
        return max(1, -(-len(line) // self.columns))

    def lines(self) -> list[str]:
        """Without those that are empty."""
        self.read()
        texts = ["".join(line).rstrip() for line in self._lines]
        return [text for text in texts if text]

    def close(self) -> None:
        self.out.close()
        os.close(self.slave)
        os.close(self._master)


@contextmanager
def terminal(columns: int) -> Iterator[Terminal]:
    made = Terminal(columns)
    try:
        yield made
    finally:
        made.close()
