"""What tests of the protocols share: a program spoken to in lines, in this process or another."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from athenan.config import compose
from athenan.progress import resident_megabytes

QUICK = ["evaluator=zero", "seconds=null", "evaluations=3"]  # thoughts that take no time
MOST_MEGABYTES = 500  # that a program may grow by: the trees of its searches
JUNK = "abcdefghijklmnopqrstuvwxyz0123456789 \t\r#\\\"'{}[]:,.-+=?!%\x00\x07\x1b\x7fäé漢🙂"


def made(command: str, kind: Any, *words: str) -> tuple[Any, list[str]]:
    """The program of a command in this process, and what it writes."""
    said: list[str] = []
    return kind(compose(command, [*QUICK, *words]), said.append), said


def fuzzed(pieces: list[str], lines: int, seed: int) -> Iterable[str]:
    """Commands, right and wrong ones, changed ones and junk."""
    chance = random.Random(seed)
    for _ in range(lines):
        kind = chance.random()
        words = [chance.choice(pieces) for _ in range(chance.choice((1, 1, 2, 2, 3, 3, 4, 6)))]
        line = " ".join(words)
        if kind < 0.15:
            line = "".join(chance.choice(JUNK) for _ in range(chance.randrange(40)))
        elif kind < 0.35 and line:
            letters = list(line)
            for _ in range(chance.randrange(1, 4)):
                at = chance.randrange(len(letters))
                letters[at] = chance.choice(JUNK) * chance.randrange(3)
            line = "".join(letters)
        elif kind < 0.36:
            line *= 500
        yield line


def heard_all(hear: Callable[[str], bool], lines: Iterable[str], seconds: float = 5.0) -> None:
    """Nothing raises, ends the program, takes long, or leaves threads or memory behind."""
    threads, megabytes = threading.active_count(), 0.0
    for number, line in enumerate(lines):
        if number == 1000:  # what is made once is there
            megabytes = resident_megabytes()
        started = time.monotonic()
        assert hear(line), f"{line!r} has ended it"
        took = time.monotonic() - started
        assert took < seconds, f"{line!r} took {took:.1f} s"
    assert threading.active_count() <= threads + 1  # an analysis may be under way
    assert not megabytes or resident_megabytes() < megabytes + MOST_MEGABYTES


def cpu_seconds(process: int) -> float:
    """What a process has used of the processor, by Linux."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Program:
    """`athenan COMMAND` in a process of its own."""

    def __init__(self, *words: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "athenan.command", *words],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip
        self.lines: Queue[str] = Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")

    def wait_for(self, start: str, seconds: float = 60) -> list[str]:
        """The lines until one that begins so, that one too."""
        found: list[str] = []
        end = time.monotonic() + seconds
        while not (found and found[-1].startswith(start)):
            try:
                found.append(self.lines.get(timeout=max(0.01, end - time.monotonic())))
            except Empty:
                raise AssertionError(f"no '{start}' after {found[-3:]}") from None
        return found

    def end(self, word: str = "quit", seconds: float = 20) -> int:
        if word:
            self.say(word)
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(seconds)

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
