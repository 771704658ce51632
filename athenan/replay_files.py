"""Replay on disk: games are appended at each checkpoint, files that none names are deleted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from athenan import checkpoint
from athenan.replay import Replay
from athenan.self_play import GameRecord


class ReplayFiles:
    """The games of a run's replay in its folder `replay/`."""

    def __init__(self, run: Path) -> None:
        self.run, self.folder = run, run / "replay"
        self.files: list[list[Any]] = []  # [name, numbers of its games]
        self.new_games: list[GameRecord] = []  # not written yet

    def write(self, replay: Replay, games: int) -> list[list[Any]]:
        """Writes the new ones of so many games; the files that the replay now needs."""
        if self.new_games:
            self._write_new(games)
        kept = {game.number for game in replay.games}
        self.files = [f for f in self.files if kept & set(f[1])]
        return self.files

    def _write_new(self, games: int) -> None:
        self.folder.mkdir(exist_ok=True)
        numbers = [record.number for record in self.new_games]
        name = f"{games - len(numbers):08}-{games:08}.npz"
        sizes = [len(record.values) for record in self.new_games]
        arrays = [
            np.array(numbers, np.int64),
            np.array(sizes, np.int64),
            np.concatenate([record.planes for record in self.new_games]),
            np.concatenate([record.values for record in self.new_games]),
        ]
        checkpoint.save_arrays(self.folder / f".{name}.tmp", arrays)
        os.replace(self.folder / f".{name}.tmp", self.folder / name)
        self.files.append([name, numbers])
        self.new_games = []

    def read(self, replay: Replay, files: list[list[Any]], steps: dict[int, int]) -> None:
        """Fills the replay with the games of these files; steps: how often each was drawn from."""
        self.files = files
        found: dict[int, Any] = {}
        for name, _ in files:
            numbers, sizes, planes, values = checkpoint.load_arrays(self.folder / name)
            ends = np.cumsum(sizes)
            for number, size, end in zip(numbers, sizes, ends, strict=True):
                found[int(number)] = (planes[end - size : end], values[end - size : end])
        for number, used in steps.items():
            replay.add(number, *found[number])
            replay.games[-1].steps = used

    def delete_old(self) -> None:
        """Those that no checkpoint on disk names any more."""
        needed: set[str] = set()
        for step in checkpoint.steps_of(self.run):
            needed |= {entry[0] for entry in checkpoint.read_state(step)["replay_files"]}
        for path in self.folder.glob("*.npz"):
            if path.name not in needed:
                path.unlink()
