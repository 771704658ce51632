"""Replay on disk: games are appended at each checkpoint, files that none names are deleted."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from athenan import checkpoint
from athenan.errors import InputError
from athenan.files import read_arrays
from athenan.records import Array, Block, GameRecord


class ReplayFiles:
    """The games of a run's replay in its folder `replay/`, a block of them in each file."""

    def __init__(self, run: Path) -> None:
        self.run, self.folder = run, run / "replay"
        self.files: list[list[Any]] = []  # [name, numbers of its games]
        self.new_games: list[GameRecord] = []  # not written yet

    def add(self, record: GameRecord) -> None:
        self.new_games.append(record)

    def write(self) -> None:
        """Writes the games that came since the last time."""
        if not self.new_games:
            return
        self.folder.mkdir(exist_ok=True)
        numbers = [record.number for record in self.new_games]
        name = f"{min(numbers):08}-{max(numbers):08}.npz"  # no other file has either game
        beside = self.folder / f".{name}.tmp"
        with beside.open("wb") as file:
            np.savez(file, **Block.of(self.new_games).to_arrays())  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self.folder / name)
        self.files.append([name, numbers])
        self.new_games = []

    def needed(self, numbers: set[int]) -> list[list[Any]]:
        """The files with these games; the others are no longer told of."""
        self.files = [file for file in self.files if numbers & set(file[1])]
        return self.files

    def read(self, files: list[list[Any]]) -> Iterator[GameRecord]:
        """The games of these files, which the next checkpoint may need again."""
        self.files = files
        for name, numbers in files:
            games = read_block(self.folder / name).games()
            if [game.number for game in games] != numbers:
                raise InputError(f"'{self.folder / name}' has other games than its run needs.")
            yield from games

    def delete_unneeded(self) -> None:
        """Those that no checkpoint on disk names any more."""
        steps = map(checkpoint.read_facts, checkpoint.steps_of(self.run))
        named = {name for facts in steps for name, _ in facts["replay_files"]}
        for path in self.folder.glob("*.npz"):
            if path.name not in named:
                path.unlink()


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
