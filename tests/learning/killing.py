"""Kills a save at each of its operations on the disk, in a process of its own without TensorFlow.

python killing.py FOLDER: prints as JSON how many kills there were and what was lost in each.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np

from athenan.checkpoint import Part, keep_newest, read_parts, recover, steps_of, write_checkpoint
from athenan.files import write_whole
from athenan.records import GameRecord
from athenan.replay_files import ReplayFiles, files_of

CHANGES = ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


def record(number: int) -> GameRecord:
    return GameRecord(
        number,
        np.full((3, 2), number, np.uint8),
        np.zeros((3, 1), np.float32),
        np.zeros(2, np.uint32),
        np.zeros((2, 1), np.float32),
        (1, -1),
    )


def save(run: Path, files: ReplayFiles, games: int) -> None:
    """All that a checkpoint of training does on the disk: one game is new, the last two count."""
    files.add(record(games))
    files.write()
    needed = [list(file) for file in files.needed({games - 1, games})]
    weights = [np.full((40, 40), games, np.float32)]
    parts = {
        "learner": Part({"steps": games}, {"weights": weights}),
        "actors": Part({"games": games}),
        "replay": Part({"replay_files": needed}),
    }
    write_checkpoint(run, games, parts)
    keep_newest(run, 1, best=None)
    files.delete_unneeded()
    write_whole(run / "best.yaml", f"step: {games}\n".encode())


def make_run(run: Path) -> ReplayFiles:
    run.mkdir()
    write_whole(run / "config.yaml", b"seed: 0\n")
    (run / "replay").mkdir()
    (run / "replay" / "mine.npz").write_bytes(b"mine")
    files = ReplayFiles(run)
    for games in (1, 2):
        save(run, files, games)
    return files


def change(run: Path, files: ReplayFiles) -> None:
    """A checkpoint is renewed, the config changed, another checkpoint written."""
    files.files.pop()
    save(run, files, 2)
    write_whole(run / "config.yaml", b"seed: 1\n")
    save(run, files, 3)


def die_at(operation: int, torn: bool, run: Path) -> None:
    """Ends this process before its n-th operation; torn: in the middle of the last file."""
    seen, last = 0, ""

    def inside(path: str) -> bool:
        return path.startswith(str(run)) or not Path(path).is_absolute()  # a tree being removed

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal seen, last
        writes = event == "open" and bool(arguments[2] & WRITES)
        if not (event in CHANGES or writes) or not inside(str(arguments[0])):
            return
        seen += 1
        if seen == operation:
            if torn and last and Path(last).is_file():
                os.truncate(last, Path(last).stat().st_size // 2)
            os._exit(9)
        last = str(arguments[0]) if writes else ""

    sys.addaudithook(look)


def losses(run: Path) -> list[str]:
    """What is not as it was before the change or after it."""
    recover(run)
    found = []
    steps = steps_of(run)
    if not steps:
        return ["no checkpoint"]
    for step in steps:
        parts = read_parts(step)  # raises where it is not whole
        games = parts["actors"].facts["games"]
        if int(parts["learner"].arrays["weights"][0][0, 0]) != games:
            found.append(f"{step.name} is mixed")
    files = ReplayFiles(run)
    numbers = [game.number for game in files.read(files_of(parts["replay"].facts))]
    if not {games - 1, games} <= set(numbers):
        found.append(f"games {numbers} after {games}")
    if (run / "config.yaml").read_text() not in ("seed: 0\n", "seed: 1\n"):
        found.append("config.yaml")
    if (run / "best.yaml").read_text() not in ("step: 2\n", "step: 3\n"):
        found.append("best.yaml")
    if (run / "replay" / "mine.npz").read_bytes() != b"mine":
        found.append("a file of the user's own")
    found += [f"left over: {p.name}" for p in run.rglob(".*")]
    return found


def main(folder: Path) -> None:
    kills, lost = 0, {}
    os.fsync = lambda _: None  # it is for a loss of power, and slow
    for torn in (False, True):
        for operation in range(1, 1000):
            run = folder / "run"
            shutil.rmtree(run, ignore_errors=True)
            files = make_run(run)
            child = os.fork()
            if child == 0:
                die_at(operation, torn, run)
                change(run, files)
                os._exit(0)
            _, status = os.waitpid(child, 0)
            if losses(run):
                lost[f"{operation} {torn}"] = losses(run)
            if os.waitstatus_to_exitcode(status) == 0:
                break
            kills += 1
    print(json.dumps({"kills": kills, "lost": lost}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
