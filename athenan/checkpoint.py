"""Runs and checkpoints on disk.

checkpoints/<game>/<run>/   config.yaml  log.txt  events…  best.yaml
    step_<n>/               after n games: state.json (facts of each part, checksums)  config.yaml
                            weights.npz  optimizer.npz  resolved.npz  trees.npz (of the games under
                            way)
    replay/<first>-<last>.npz   blocks of games (records.py)

A checkpoint is the dictionary of a run's parts, as their `saved()` gave them. It is written beside
its place and renamed, so a kill at any instant leaves the last one whole. Replay files are only
ever added; a checkpoint names those it needs.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from athenan.errors import InputError
from athenan.files import checksum, is_whole, read_arrays, read_json

VERSION = 3  # weights of older ones can be read, too


@dataclass
class Part:
    """What a part of a run needs to go on. Names of facts and of arrays are unique in a run."""

    facts: dict[str, Any]  # plain, as JSON has it
    arrays: dict[str, list[np.ndarray[Any, Any]]] = field(default_factory=dict)  # <name>.npz


class Saved(Protocol):
    """Who has something to save."""

    def saved(self) -> Part: ...

    def restore(self, part: Part) -> None: ...


def runs_of(folder: Path, game: str) -> Path:
    """Where the runs of a game are; a game of one's own is named `module:Class`."""
    return folder / game.replace(":", ".")


def newest_run(folder: Path, game: str | None) -> Path:
    """`latest`: the newest run of the game, or of all."""
    games = [runs_of(folder, game)] if game else [p for p in folder.glob("*") if p.is_dir()]
    runs = [run for g in games for run in g.glob("*") if (run / "config.yaml").exists()]
    if not runs:
        of = f" of game '{game}'" if game else ""
        raise InputError(f"There is no run{of} in '{folder}' yet.")
    return max(runs, key=lambda run: (run / "config.yaml").stat().st_mtime)


def find_run(text: str, folder: Path, game: str | None = None) -> Path:
    """A run folder by its path, or `latest`."""
    if text == "latest":
        return newest_run(folder, game)
    run = Path(text)
    if not run.exists():
        raise InputError(f"There is no run '{text}'.")
    if not (run / "config.yaml").exists():
        raise InputError(f"'{text}' is not a run: it has no config.yaml.")
    return run


def step_number(step: Path) -> int:
    return int(step.name.removeprefix("step_"))


def steps_of(run: Path) -> list[Path]:
    """The checkpoints of a run, oldest first; unfinished ones do not count."""
    found = [p for p in run.glob("step_*") if p.name.removeprefix("step_").isdigit()]
    return sorted(found, key=step_number)


def find_step(text: str, folder: Path, game: str | None = None) -> Path:
    """A checkpoint: its own folder, the newest of a run, or `latest`."""
    path = Path(text)
    if text != "latest" and path.name.startswith("step_") and path.exists():
        return path
    run = find_run(text, folder, game)
    steps = steps_of(run)
    if not steps:
        raise InputError(f"Run '{run}' has no checkpoint yet.")
    return steps[-1]


def save_arrays(path: Path, arrays: list[np.ndarray[Any, Any]]) -> None:
    with path.open("wb") as file:
        named: dict[str, Any] = {f"{i:06}": array for i, array in enumerate(arrays)}
        np.savez(file, **named)
        file.flush()
        os.fsync(file.fileno())


def load_arrays(path: Path) -> list[np.ndarray[Any, Any]]:
    try:
        return [array for _, array in sorted(read_arrays(path).items())]
    except (OSError, ValueError):
        raise InputError(f"'{path}' is damaged or not of athenan.") from None


def write_checkpoint(run: Path, number: int, parts: dict[str, Part]) -> Path:
    """Writes step_<number> whole or not at all."""
    place = run / f"step_{number}"
    beside = run / f".step_{number}.tmp"
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir()
    shutil.copy(run / "config.yaml", beside / "config.yaml")
    for part in parts.values():
        for name, arrays in part.arrays.items():
            save_arrays(beside / f"{name}.npz", arrays)
    state = {
        "version": VERSION,
        "parts": {name: part.facts for name, part in parts.items()},
        "arrays": {name: list(part.arrays) for name, part in parts.items()},
        "checksums": {p.name: checksum(p) for p in sorted(beside.iterdir())},
    }
    with (beside / "state.json").open("w") as file:
        file.write(json.dumps(state, indent=1))
        file.flush()
        os.fsync(file.fileno())
    if place.exists():
        delete_whole(place)
    os.replace(beside, place)
    descriptor = os.open(run, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    return place


def read_facts(step: Path) -> dict[str, Any]:
    """The checkpoint's state.json; facts stand by their names, too, as in older versions."""
    try:
        state: dict[str, Any] = read_json(step / "state.json")
        version, _ = int(state["version"]), dict(state["checksums"])
        for facts in state["parts"].values() if version >= 3 else ():
            state |= facts
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise InputError(f"'{step}' is not a checkpoint of athenan.") from None
    if version > VERSION:
        raise InputError(
            f"Checkpoint '{step}' is of version {version}; this athenan reads up to {VERSION}."
        )
    return state


def read_state(step: Path) -> dict[str, Any]:
    """The facts, after all files of the checkpoint have been found whole."""
    state = read_facts(step)
    for name, expected in state["checksums"].items():
        if Path(name).name != name or not is_whole(step / name, expected):
            raise InputError(f"Checkpoint '{step}' is damaged: {name} is not what was written.")
    return state


def read_parts(step: Path) -> dict[str, Part]:
    """The parts that a run goes on from."""
    state = read_state(step)
    if state["version"] != VERSION:
        raise InputError(
            f"Checkpoint '{step}' is of an older version; a new run takes its weights by "
            f"fork={step}."
        )
    return {
        name: Part(facts, {n: load_arrays(step / f"{n}.npz") for n in state["arrays"][name]})
        for name, facts in state["parts"].items()
    }


def keep_newest(run: Path, keep: int, best: int | None) -> None:
    """Deletes all but the newest checkpoints and the best one."""
    for step in steps_of(run)[: -max(1, keep)]:
        if step_number(step) != best:
            delete_whole(step)


def delete_whole(step: Path) -> None:
    """Out of sight at once, so that a kill never leaves half a checkpoint."""
    gone = step.with_name(f".{step.name}.old")
    shutil.rmtree(gone, ignore_errors=True)
    os.replace(step, gone)
    shutil.rmtree(gone, ignore_errors=True)
