"""Replay on disk: games are appended at each checkpoint; of the files that the run wrote, those
that no checkpoint names any more are deleted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from athenan import checkpoint
from athenan.checkpoint import packed
from athenan.errors import InputError
from athenan.files import read_arrays, write_whole
from athenan.records import Array, Block, GameRecord

NAME = re.compile(r"\d{8,}-\d{8,}\.npz")


class ReplayFiles:
    """The games of a run's replay in its folder `replay/`, a block of them in each file."""

    def __init__(self, run: Path) -> None:
        self.run, self.folder = run, run / "replay"
        self.files: list[list[Any]] = []  # [name, numbers of its games]
        self.new_games: list[GameRecord] = []  # not written yet
        self.named: dict[str, set[str]] = {}  # files by the checkpoint that names them
        self.own: set[str] = set()  # all that the run is known to have written

    def add(self, record: GameRecord) -> None:
        self.new_games.append(record)

    def write(self) -> None:
        """Writes the games that came since the last time."""
        if not self.new_games:
            return
        self.folder.mkdir(exist_ok=True)
        numbers = [record.number for record in self.new_games]
        name = f"{min(numbers):08}-{max(numbers):08}.npz"  # no other file has either game
        write_whole(self.folder / name, packed(Block.of(self.new_games).to_arrays()))
        self.own.add(name)
        self.files.append([name, numbers])
        self.new_games = []

    def needed(self, numbers: set[int]) -> list[list[Any]]:
        """The files with these games; the others are no longer told of."""
        self.files = [file for file in self.files if numbers & set(file[1])]
        return self.files

    def read(self, files: list[list[Any]]) -> Iterator[GameRecord]:
        """The games of these files, which the next checkpoint may need again."""
        self.files = files
        self._look()
        for path in self.folder.glob(".*.npz.tmp"):
            if NAME.fullmatch(path.name[1:-4]):  # a kill has left it
                path.unlink()
        for name, numbers in files:
            games = read_block(self.folder / name).games()
            if [game.number for game in games] != numbers:
                raise InputError(f"'{self.folder / name}' has other games than its run needs.")
            yield from games

    def _look(self) -> None:
        """Learns which files the checkpoints name. One that cannot be read (any more) names what
        it did before; one that never could is nothing to go on from."""
        for step in checkpoint.steps_of(self.run):
            try:
                names = {name for name, _ in files_of(checkpoint.read_facts(step))}
            except InputError:
                continue
            self.named[step.name] = names
            self.own |= names

    def delete_unneeded(self) -> None:
        """Those of the run that no checkpoint on disk names any more."""
        self._look()
        there = {step.name for step in checkpoint.steps_of(self.run)}
        self.named = {step: names for step, names in self.named.items() if step in there}
        for name in self.own - set().union(*self.named.values()):
            (self.folder / name).unlink(missing_ok=True)
            self.own.discard(name)


def files_of(facts: dict[str, Any]) -> list[list[Any]]:
    """The replay files of a checkpoint's facts: names, and numbers of their games."""
    files: Any = facts.get("replay_files")
    try:
        right = all(
            NAME.fullmatch(name) and all(type(number) is int for number in numbers)
            for name, numbers in files
        )
    except (TypeError, ValueError):
        right = False
    if not right:
        raise InputError("Fact 'replay_files' is not a list of names and games.")
    return list(files)


def load_named(path: Path) -> dict[str, Array]:
    try:
        return read_arrays(path)
    except (OSError, ValueError):
        raise InputError(f"'{path}' is damaged or not of athenan.") from None


def read_block(path: Path) -> Block:
    arrays = load_named(path)
    try:
        return Block.from_arrays(arrays)
    except InputError as error:
        raise InputError(f"Replay file '{path}' cannot be read: {error}") from None


def planes_of(path: Path) -> Array:
    """Packed planes of all states in a replay file, also of one from before there were blocks."""
    arrays = load_named(path)
    return arrays["000002"] if "000002" in arrays else read_block(path).planes
