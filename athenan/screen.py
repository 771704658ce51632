"""Boards and tables in a terminal: colours where it has them, and lines that renew themselves."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from typing import Any

from athenan import _core
from athenan.progress import ERASE_BELOW, NARROW, fitted, tell

OF_PLAYERS = ("1;36", "1;33", "1;35", "1;32", "1;31", "1;34")  # bright, on dark and on light
DIM, REVERSE = "2", "7"
ROW = re.compile(r"(\s*\d+)(?=[\s\[])")  # the number that a row of a board begins with
LOW = 24  # rows of a terminal that does not tell


def has_colours() -> bool:
    return (
        sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")
    )


def marks_of(game: _core.Game) -> list[str]:
    """Of each player, as boards are drawn: `x` of the plane `x to move`. None are known of some
    games of one's own."""
    suffix = " to move"
    marks = [c.removesuffix(suffix) for c in game.channels if c.endswith(suffix)]
    return marks if len(marks) == game.num_players else []


def owner_of(letter: str, marks: list[str]) -> int | None:
    """Whose piece it is. Where two players' marks differ in case alone (K and k) all large letters
    are the first one's."""
    if not letter.isalpha() or not marks:
        return None
    if len(marks) == 2 and marks[0].casefold() == marks[1].casefold():
        return int(letter.isupper() != marks[0].isupper())
    same = [mark.casefold() == letter.casefold() for mark in marks]
    return same.index(True) if any(same) else None


def painted(text: str, style: str) -> str:
    return f"\x1b[{style}m{text}\x1b[0m"


def board(state: Any, colours: bool) -> str:
    """As the game draws it, each player's pieces in a colour, the last action in reverse."""
    text = str(state)
    if not colours:
        return text
    marks, lines = marks_of(state.game), []
    for line in text.splitlines():
        row = ROW.match(line)
        lines.append(
            line if row is None else painted(row[1], DIM) + cells(line[row.end() :], marks)
        )
    return "\n".join(lines)


def cells(text: str, marks: list[str]) -> str:
    found, last = [], False
    for letter in text:
        last = letter == "[" or (last and letter != "]")
        owner = owner_of(letter, marks)
        if letter in "[]" or last:
            style = REVERSE if owner is None else f"{OF_PLAYERS[owner % len(OF_PLAYERS)]};{REVERSE}"
        elif owner is not None:
            style = OF_PLAYERS[owner % len(OF_PLAYERS)]
        else:
            style = DIM
        found.append(letter if letter == " " else painted(letter, style))
    return "".join(found)


def counters(state: Any) -> str:
    """How many pieces each player has, in games where that changes; else nothing."""
    game, marks = state.game, marks_of(state.game)
    if not game.max_pieces or not marks:
        return ""
    planes, found = state.planes(), [0] * len(marks)
    for channel, name in enumerate(game.channels):
        owner = owner_of(name.removeprefix("piece "), marks) if name.startswith("piece ") else None
        if owner is not None:
            found[owner] += int(planes[:, :, channel].sum())
    return "pieces: " + ", ".join(f"{m} {n}" for m, n in zip(marks, found, strict=True))


class Lines:
    """Some lines that take the place of those before them, on a terminal; elsewhere only the last
    ones are shown."""

    def __init__(self) -> None:
        self.live = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
        self._shown: list[str] = []

    def show(self, lines: list[str]) -> None:
        if not self.live:
            self._shown = lines
            return
        width = height = 0
        with suppress(OSError, ValueError):
            width, height = os.get_terminal_size(sys.stdout.fileno())
        width, height = width or NARROW, height or LOW  # some terminals do not tell
        kept = [fitted([line], width - 1) for line in lines][: max(1, height - 1)]
        up = f"\x1b[{len(self._shown)}A" if self._shown else ""
        tell(f"\r{up}{ERASE_BELOW}" + "".join(f"{line}\n" for line in kept), sys.stdout)
        self._shown = kept

    def end(self) -> None:
        if not self.live and self._shown:
            print("\n".join(self._shown))


def wait_for_key() -> None:
    """Any key on a terminal; elsewhere a line, or the end of input."""
    if not sys.stdin.isatty():
        sys.stdin.readline()
        return
    import termios
    import tty

    descriptor = sys.stdin.fileno()
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        os.read(descriptor, 64)  # an arrow is several letters
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
