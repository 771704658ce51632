"""Runs as programs of their own, and the processes that they start."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from runs import newest

from athenan.checkpoint import read_state

RUN = Path("checkpoints/tictactoe/mine")
LONG = ["games=100000", "checkpoint.every_games=100000", "checkpoint.every_minutes=0.01"]


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "athenan.command", "train", *words]


@contextmanager
def running(*words: str, plays: int = 1) -> Iterator[subprocess.Popen[str]]:
    """A run from when that many actors play and a checkpoint after the first is there."""
    before, games = log().count(" plays\n"), last_step()
    process = subprocess.Popen(
        command(*words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        until(process, lambda: log().count(" plays\n") >= before + plays and last_step() > games)
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def until(
    process: subprocess.Popen[str], condition: Callable[[], bool], seconds: float = 120
) -> None:
    """The run is waited for, and may not end before."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < deadline, log()
        time.sleep(0.05)


def stop(process: subprocess.Popen[str]) -> None:
    """By a signal, after which the run is saved."""
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 75, process.stdout and process.stdout.read()


def last_step() -> int:
    """Games of the newest checkpoint, at least 0."""
    return max((int(step.name.partition("_")[2]) for step in RUN.glob("step_*")), default=0)


def log() -> str:
    path = RUN / "log.txt"
    return path.read_text() if path.exists() else ""


def offspring(pid: int) -> set[int]:
    """Processes that this one has started, and theirs."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        parents[int(head.split()[0])] = int(rest.split()[1])
    found, size = {pid}, 0
    while len(found) > size:
        size = len(found)
        found |= {child for child, parent in parents.items() if parent in found}
    return found - {pid}


def names(pids: set[int]) -> dict[int, str]:
    found = {}
    for pid in pids:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            continue
        head, _, rest = stat.rpartition(")")
        if rest.split()[0] not in "ZX":
            found[pid] = head.partition("(")[2]
    return found


def none_left(pids: set[int], seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while names(pids) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert names(pids) == {}


def facts(run: Path) -> dict[str, Any]:
    return read_state(newest(run))


def played(run: Path) -> list[int]:
    """Numbers of the games that the newest checkpoint's replay files hold."""
    return [number for _, numbers in facts(run)["replay_files"] for number in numbers]
