"""Runs and checkpoints on disk.

checkpoints/<game>/<run>/   config.yaml  log.txt  events…  best.yaml  lock  tensorflow.txt
    step_<n>/               after n games: state.json (facts of each part, checksums)  config.yaml
                            weights.npz  optimizer.npz  resolved.npz  trees.npz (of the games under
                            way)
    replay/<first>-<last>.npz   blocks of games (records.py)
    aside/                  checkpoints that the run did not go on from: damaged ones, or newer ones
                            than a step that was named

A checkpoint is the dictionary of a run's parts, as their `saved()` gave them. It is written beside
its place and renamed, so a kill at any instant leaves the last one whole. Replay files are only
ever added; a checkpoint names those it needs. What begins with a dot is unfinished:
.step_<n>.tmp is being written, .step_<n>.old is being replaced, .step_<n>.gone is being deleted.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import yaml

from athenan.errors import InputError, nearest
from athenan.files import (
    checksum,
    has_checksum,
    read_arrays,
    read_bytes,
    read_json,
    sync_folder,
    write_synced,
)

VERSION = 3  # weights of older ones can be read, too
STEP = re.compile(r"step_(0|[1-9]\d{0,17})")
LEFT_OVER = re.compile(r"\.(step_\d+|config\.yaml|best\.yaml|report\.txt)\.(tmp|old|gone)")
LEARNED = ("weights", "optimizer")  # arrays that must be finite to go on from


class Damaged(InputError):
    """A checkpoint that is not what was written; an earlier one may be whole."""


@dataclass
class Part:
    """What a part of a run needs to go on. Names of facts and of arrays are unique in a run."""

    facts: dict[str, Any]  # plain, as JSON has it
    arrays: dict[str, list[np.ndarray[Any, Any]]] = field(default_factory=dict)  # <name>.npz

    def count(self, name: str) -> int:
        """A fact that counts something."""
        value = self.facts.get(name)
        if type(value) is not int or not 0 <= value < 2**48:
            raise InputError(f"Fact '{name}' is not a count.")
        return value


class Saved(Protocol):
    """Who has something to save."""

    def saved(self) -> Part: ...

    def restore(self, part: Part) -> None: ...


def runs_of(folder: Path, game: str) -> Path:
    """Where the runs of a game are; one's own, `module:Class`, has both names, and one by its file
    goes without the folders that lead there."""
    return folder / Path(game).name.replace(".py:", ".").replace(":", ".")


def runs_in(folder: Path, game: str | None, name: str = "*") -> list[Path]:
    """The runs of the game, or of all, that have this name; newest first."""
    games = [runs_of(folder, game)] if game else [p for p in folder.glob("*") if p.is_dir()]
    runs = [run for g in games for run in g.glob(name) if (run / "config.yaml").exists()]
    return sorted(runs, key=written_at, reverse=True)


def written_at(run: Path) -> float:
    """When the run's newest checkpoint was written, or the run was begun."""
    newest = steps_of(run)[-1:]
    return max(path.stat().st_mtime for path in (run / "config.yaml", *newest))


def newest_run(folder: Path, game: str | None) -> Path:
    """`latest`: the newest run of the game, or of all; one that has learned before one that has
    not."""
    runs = runs_in(folder, game)
    if not runs:
        of = f" of game '{game}'" if game else ""
        raise InputError(f"There is no run{of} in '{folder}' yet.")
    return next((run for run in runs if is_trained(run)), runs[0])


def is_trained(run: Path) -> bool:
    return any(step_number(step) for step in steps_of(run))


def find_run(text: str, folder: Path, game: str | None = None) -> Path:
    """A run's folder by its path, its name alone, or `latest`."""
    if text == "latest":
        return newest_run(folder, game)
    run = Path(text)
    if not run.exists() and text and not set(text) & set("/\\*?["):
        named = runs_in(folder, game, text)
        if len(named) > 1:
            there = " and ".join(f"'{run}'" for run in named[:2])
            raise InputError(f"Several games have a run '{text}': {there}; say which.")
        if named:
            return named[0]
    if not run.exists():
        names = [run.name for run in runs_in(folder, game)]
        raise InputError(f"There is no run '{text}'{nearest(text, ['latest', 'best', *names])}")
    if not (run / "config.yaml").exists():
        raise InputError(f"'{text}' is not a run: it has no config.yaml.")
    return run


def names_step(text: str) -> bool:
    """Whether a text names one checkpoint of a run rather than the run."""
    name = Path(text).name
    return name == "best" or STEP.fullmatch(name) is not None


def step_number(step: Path) -> int:
    return int(step.name.removeprefix("step_"))


def steps_of(run: Path) -> list[Path]:
    """The checkpoints of a run, oldest first; unfinished ones do not count."""
    found = [p for p in run.glob("step_*") if STEP.fullmatch(p.name)]
    return sorted(found, key=step_number)


def find_step(text: str, folder: Path, game: str | None = None) -> Path:
    """A checkpoint: its own folder; the newest of a run, or of the `latest`; `best` of the latest
    run, or RUN/best."""
    path = Path(text)
    if names_step(text) and not (path / "config.yaml").exists():
        of_run = str(path.parent) if path.parent.name else "latest"
        run = find_run(of_run, folder, game)
        step = best_step(run) if path.name == "best" else run / path.name
        if not step.exists():
            raise InputError(f"Run '{run}' has no checkpoint '{path.name}'.")
        return step
    if path.name.startswith("step_") and path.exists():
        return path
    run = find_run(text, folder, game)
    steps = steps_of(run)
    if not steps:
        raise InputError(f"Run '{run}' has no checkpoint yet.")
    return steps[-1]


def best_step(run: Path) -> Path:
    """The checkpoint that did best in the matches of its run."""
    try:
        number = yaml.safe_load(read_bytes(run / "best.yaml"))["step"]
    except (OSError, ValueError, TypeError, LookupError, yaml.YAMLError):
        raise InputError(f"Run '{run}' has no best checkpoint: no match has measured it.") from None
    return run / f"step_{number}"


def save_arrays(path: Path, arrays: list[np.ndarray[Any, Any]]) -> None:
    write_synced(path, packed({f"{i:06}": array for i, array in enumerate(arrays)}))


def packed(arrays: dict[str, np.ndarray[Any, Any]]) -> bytes:
    """As an .npz file. Made in memory: a full disk in the middle of an archive is an error that
    zipfile hides behind others."""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def load_arrays(path: Path) -> list[np.ndarray[Any, Any]]:
    try:
        return [array for _, array in sorted(read_arrays(path).items())]
    except (OSError, ValueError):
        raise InputError(f"'{path}' is damaged or not of athenan.") from None


def write_checkpoint(run: Path, number: int, parts: dict[str, Part]) -> Path:
    """Writes step_<number> whole or not at all."""
    recover(run)
    place = run / f"step_{number}"
    beside, old = run / f".step_{number}.tmp", run / f".step_{number}.old"
    try:
        beside.mkdir()
        write_synced(beside / "config.yaml", read_bytes(run / "config.yaml"))
        for part in parts.values():
            for name, arrays in part.arrays.items():
                save_arrays(beside / f"{name}.npz", arrays)
        state = {
            "version": VERSION,
            "parts": {name: part.facts for name, part in parts.items()},
            "arrays": {name: list(part.arrays) for name, part in parts.items()},
            "checksums": {p.name: checksum(p) for p in sorted(beside.iterdir())},
        }
        text = json.dumps({**state, "checksum": own_checksum(state)}, indent=1)
        write_synced(beside / "state.json", text.encode())
        sync_folder(beside)
        # One that is renewed goes only when the new one is in its place.
        if place.exists():
            os.replace(place, old)
        os.replace(beside, place)
    except OSError:
        with suppress(OSError):
            recover(run)
        raise
    sync_folder(run)
    shutil.rmtree(old, ignore_errors=True)
    return place


def recover(run: Path) -> None:
    """Clears what a kill has left unfinished; a checkpoint that was being replaced comes back."""
    for path in list(run.iterdir()):
        found = LEFT_OVER.fullmatch(path.name)
        if found is None:
            continue
        place = run / found[1]
        if found[2] == "old" and not place.exists() and is_whole(path, place):
            os.replace(path, place)
        elif path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def is_whole(step: Path, place: Path | None = None) -> bool:
    """Whether the checkpoint is what was written for that place."""
    try:
        read_state(step, place)
    except InputError:
        return False
    return True


def own_checksum(state: dict[str, Any]) -> str:
    """Of all that state.json says, whatever its spaces."""
    text = json.dumps({k: v for k, v in state.items() if k != "checksum"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def read_facts(step: Path) -> dict[str, Any]:
    """The checkpoint's state.json; facts stand by their names, too, as in older versions."""
    try:
        state: dict[str, Any] = read_json(step / "state.json")
        version = state["version"]
        if type(version) is not int or not all(
            is_file_entry(e) for e in state["checksums"].items()
        ):
            raise ValueError
        whole = version != VERSION or is_sound(state)
        for facts in state["parts"].values() if version >= 3 else ():
            state |= facts
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise Damaged(f"'{step}' is not a checkpoint of athenan.") from None
    if version > VERSION:
        raise InputError(
            f"Checkpoint '{step}' is of version {version}; this athenan reads up to {VERSION}."
        )
    if not whole:
        raise Damaged(f"Checkpoint '{step}' is damaged: state.json is not what was written.")
    return state


def is_file_entry(entry: tuple[Any, Any]) -> bool:
    """A plain name and a checksum: nothing leads out of the checkpoint's folder."""
    name, expected = entry
    return Path(name).name == name and isinstance(expected, str)


def is_sound(state: dict[str, Any]) -> bool:
    """Whether state.json is as it was written; those of before it had a checksum have none."""
    known = {"version", "parts", "arrays", "checksums"}
    if state.keys() - known == {"checksum"}:
        if state["checksum"] != own_checksum(state):
            return False
    elif state.keys() != known:
        return False
    arrays = [name for names in state["arrays"].values() for name in names]
    return (
        state["arrays"].keys() == state["parts"].keys()
        and all(isinstance(facts, dict) for facts in state["parts"].values())
        and all(f"{name}.npz" in state["checksums"] for name in arrays)
    )


def read_state(step: Path, place: Path | None = None) -> dict[str, Any]:
    """The facts, after all files of the checkpoint have been found whole and in their place."""
    state = read_facts(step)
    for name, expected in state["checksums"].items():
        if not has_checksum(step / name, expected):
            raise Damaged(f"Checkpoint '{step}' is damaged: {name} is not what was written.")
    name = (place or step.absolute()).name
    if "games" in state and name != f"step_{state['games']}":
        raise Damaged(f"Checkpoint '{step}' is not in its place: it is step_{state['games']}.")
    return state


def read_parts(step: Path) -> dict[str, Part]:
    """The parts that a run goes on from."""
    state = read_state(step)
    if state["version"] != VERSION:
        raise InputError(
            f"Checkpoint '{step}' is of an older version; a new run takes its weights by "
            f"fork={step}."
        )
    parts = {
        name: Part(facts, {n: load_arrays(step / f"{n}.npz") for n in state["arrays"][name]})
        for name, facts in state["parts"].items()
    }
    for part in parts.values():
        for name in LEARNED:
            if not all(map(is_finite, part.arrays.get(name, []))):
                raise Damaged(f"Checkpoint '{step}' has {name} that are no numbers.")
    return parts


def is_finite(array: np.ndarray[Any, Any]) -> bool:
    return array.dtype.kind in "biuf" and bool(np.isfinite(array).all())


def set_aside(run: Path, step: Path) -> Path | None:
    """Moves the checkpoints after this one away, where nothing deletes them; they would pass for
    the newest of a run that goes on from here."""
    newer = [other for other in steps_of(run) if step_number(other) > step_number(step)]
    if not newer:
        return None
    names = ("aside", *(f"aside_{n}" for n in range(2, 1000)))
    aside = next(run / name for name in names if not (run / name).exists())
    aside.mkdir()
    for other in newer:
        os.replace(other, aside / other.name)
    sync_folder(run)
    return aside


def keep_newest(run: Path, keep: int, best: int | None) -> None:
    """Deletes all but the newest checkpoints and the best one."""
    for step in steps_of(run)[: -max(1, keep)]:
        if step_number(step) != best:
            delete_whole(step)


def delete_whole(step: Path) -> None:
    """Out of sight at once, so that a kill never leaves half a checkpoint."""
    gone = step.with_name(f".{step.name}.gone")
    shutil.rmtree(gone, ignore_errors=True)
    os.replace(step, gone)
    shutil.rmtree(gone, ignore_errors=True)
