"""Plays a tournament or a study in processes that are killed at random instants, two at a time.

python killed_games.py KILLS tournament|experiment WORD…: prints as JSON how many were killed while
they played, how many games were lost by it, and how many there were to play, of those that meet. A
tournament has more games after each kill, so that there is always something to play. Processes are
forks of this one, which has no thread and no TensorFlow, so that they start at once.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from athenan.config import compose
from athenan.experiment import Experiment
from athenan.tournament import Tournament

KINDS: dict[str, Any] = {"tournament": Tournament, "experiment": Experiment}


def begin(list_: Any) -> int:
    child = os.fork()
    if child == 0:
        try:
            with list_.work() as work:
                list_.play(work)
        finally:
            os._exit(0)
    return child


def lines(path: Path) -> list[bytes]:
    """Those that are whole."""
    return [line for line in path.read_bytes().splitlines(True) if line.endswith(b"\n")]


def killed(child: int) -> bool:
    """Kills it; whether it was still playing."""
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def main(kills: int, kind: str, words: list[str]) -> None:
    chance, found, lost, games = random.Random(0), 0, 0, 0
    playing: list[int] = []
    for number in range(1, 10 * kills):
        games = 4 * number
        growing = [f"games={games}"] if kind == "tournament" else []
        list_ = KINDS[kind](compose(kind, [*words, *growing]))
        list_.note()
        path = list_.folder / "games.jsonl"
        path.touch()
        playing += [begin(list_) for _ in range(2 - len(playing))]
        before = lines(path)
        patience = time.monotonic() + 0.2 * chance.random()
        wanted = len(before) + chance.randint(0, 4)
        while len(lines(path)) < wanted and time.monotonic() < patience:
            time.sleep(0.001)
        found += killed(playing.pop(chance.randrange(2)))
        after = lines(path)
        lost += sum(line not in after for line in before)
        if found == kills:
            break
    playing.append(begin(list_))
    for child in playing:
        os.waitpid(child, 0)
    total = len(list_.fixtures)
    print(json.dumps({"kills": found, "lost": lost, "total": total, "games": games}))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
