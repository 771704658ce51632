"""Games that several processes play together: each is played once, by whoever comes first.

Two files are all they share. A finished game is a line (saved_games.py), whose `event` is its key.
A game that is being played is a lock of one byte of the file beside it, at an offset made of the
key: the system takes it away when its process ends, however that ends, so that nobody waits for the
dead. Locks are of the kind that network file systems know (fcntl); where a file system has none, a
game may be played twice, and its first line counts.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from athenan.errors import InputError
from athenan.saved_games import Forfeit, SavedGame, append_game

OFFSETS = 2**62  # of locks; a file has as many without having any bytes
HELD = (errno.EACCES, errno.EAGAIN)


@dataclass(frozen=True)
class Played:
    """What is kept of a game that is over: there may be very many."""

    outcomes: tuple[int, ...] | None  # of each seat
    forfeit: Forfeit | None
    texts: tuple[str, ...]  # who sat where
    way: int  # of its actions: games that differ have other ones

    @classmethod
    def of(cls, game: SavedGame) -> Played:
        texts = tuple(sys.intern(player.text) for player in game.players)
        outcomes = None if game.outcomes is None else tuple(game.outcomes)
        return cls(outcomes, game.forfeit, texts, number_of(" ".join(game.actions)))


class WorkList:
    """One for a process and a file: the system's locks are a process's, and closing any of its
    descriptors of the file of claims would end them all."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.done: dict[str, Played] = {}  # by keys, in the order of the file
        self._read_to = 0
        self._held: set[str] = set()
        self._claims = os.open(
            path.with_suffix(".claims"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666
        )
        self.read()

    def close(self) -> None:
        os.close(self._claims)

    def __enter__(self) -> WorkList:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def read(self) -> None:
        """What has been played since; a line that is cut, or is no game, does not count."""
        try:
            file = self.path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self._read_to)
            content = file.read()
        whole = content.rfind(b"\n") + 1
        self._read_to += whole
        for text in content[:whole].splitlines():
            try:
                game = SavedGame.from_json(text.decode())
            except ValueError:
                continue
            self.done.setdefault(game.event, Played.of(game))

    def take(self, keys: Iterable[str], most: int) -> list[str]:
        """Of these, at most so many that nobody has played or is playing; they are this process's
        until they are played or given back."""
        taken: list[str] = []
        for key in keys:
            if len(taken) == most:
                break
            if key not in self.done and key not in self._held and self._claim(key):
                taken.append(key)
        # Whoever had one of them until now has written its line before he let go of it.
        self.read()
        self.give_back([key for key in taken if key in self.done])
        return [key for key in taken if key not in self.done]

    def add(self, game: SavedGame) -> None:
        """It is over, and what it was claimed by is its event."""
        append_game(self.path, game)
        self.read()
        self.give_back([game.event])

    def give_back(self, keys: Iterable[str] | None = None) -> None:
        """All, where none are named."""
        for key in list(self._held if keys is None else keys):
            if key in self._held:
                self._held.discard(key)
                self._lock(fcntl.LOCK_UN, key)

    def _claim(self, key: str) -> bool:
        if not self._lock(fcntl.LOCK_EX | fcntl.LOCK_NB, key):
            return False
        self._held.add(key)
        return True

    def _lock(self, what: int, key: str) -> bool:
        try:
            fcntl.lockf(self._claims, what, 1, offset_of(key))
        except OSError as error:
            # A file system without locks: better a game that is played twice than none.
            return error.errno not in HELD
        return True


def offset_of(key: str) -> int:
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % OFFSETS


def number_of(text: str) -> int:
    """For seeds: no two texts have the same."""
    return offset_of(text) % 2**48


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Alone with the folder that the file is in."""
    with path.open("a") as file:
        with suppress(OSError):  # of a file system without locks
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def check_folder(name: str, of: str) -> None:
    if not name or name.startswith(".") or set(name) & set("/\\") or not name.isprintable():
        raise InputError(f"'{name}' is no name of {of}: it is one folder, without separators.")
