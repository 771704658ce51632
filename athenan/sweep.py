"""Many runs of one command: each a process of its own, side by side where there are cores."""

from __future__ import annotations

import itertools
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from athenan.checkpoint import find_step, runs_of
from athenan.config import USUAL, Sources, compose, sweep
from athenan.errors import InputError
from athenan.implied import completed
from athenan.progress import count, tell
from athenan.run import read_figures
from athenan.settings import TrainSettings
from athenan.table import table

# The exit codes of a run that was stopped: by Ctrl-C, or by whoever manages the machine.
INTERRUPTED, ASKED_TO_END = 130, 75
STOPPED = {
    INTERRUPTED: signal.SIGINT,
    ASKED_TO_END: signal.SIGTERM,
    -signal.SIGINT: signal.SIGINT,
    -signal.SIGTERM: signal.SIGTERM,
    -signal.SIGUSR1: signal.SIGUSR1,
}
LONGEST_NAME = 150  # characters
PROGRAM = [sys.executable, "-m", "athenan.command"]


@dataclass
class Job:
    """One run of the sweep."""

    settings: list[str]
    differing: dict[str, str]  # from the other jobs, by the name of the setting
    config: TrainSettings
    run: Path
    code: int | None = None  # how it ended
    started: float | None = None
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self.differing.items())


def make_jobs(overrides: list[str], sources: Sources = USUAL) -> list[Job]:
    """Every combination, with a name for its run; all of them are checked before one begins."""
    combinations = sweep(overrides)
    swept = [
        place for place, words in enumerate(zip(*combinations, strict=True)) if len(set(words)) > 1
    ]
    jobs: list[Job] = []
    taken: set[Path] = set()
    for words in combinations:
        differing = dict(words[place].split("=", 1) for place in swept)
        config = compose("train", completed("train", words, sources), sources)
        if config.resume and config.resume != "auto":
            run = find_step(config.resume, Path(config.checkpoints)).parent
        elif config.run:
            run = runs_of(Path(config.checkpoints), config.game["name"]) / config.run
        else:
            run = free_place(config, differing, taken)
            words = [*words, f"run='{run.name}'"]
        if run in taken:
            raise InputError(
                f"Several jobs would write run '{run}': leave its name out, or let it say what "
                "differs, as in run='s${seed}'."
            )
        taken.add(run)
        jobs.append(Job(words, differing, config, run))
    return jobs


def free_place(config: TrainSettings, differing: dict[str, str], taken: set[Path]) -> Path:
    """A folder whose name says what differs, in letters that need no quotes on a command line."""
    words = "+".join(f"{key}-{value}" for key, value in differing.items())
    name = re.sub(r"[^A-Za-z0-9_.+-]+", "_", words)[:LONGEST_NAME]
    runs = runs_of(Path(config.checkpoints), config.game["name"])
    places = itertools.chain([runs / name], (runs / f"{name}_{n}" for n in itertools.count(2)))
    return next(place for place in places if place not in taken and not place.exists())


def cores() -> list[int]:
    """That this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


class Sweep:
    """Runs jobs, so many at once. A job that is stopped by a signal stops the sweep; one that
    fails does not."""

    def __init__(
        self, jobs: list[Job], at_once: int | None = None, flags: Sequence[str] = ()
    ) -> None:
        self.jobs, self.flags = jobs, flags
        threads = max(job.config.self_play.threads for job in jobs)
        self.at_once = min(len(jobs), at_once or max(1, len(cores()) // threads))
        self.stopped: int | None = None  # exit code, once it is to end
        self._ended: queue.Queue[int] = queue.Queue()
        self._running: dict[int, subprocess.Popen[str]] = {}  # by place

    def run(self) -> None:
        """Until all jobs have ended, or it was stopped and those under way have."""
        places = list(range(self.at_once))
        waiting = list(enumerate(self.jobs))
        doing: dict[int, Job] = {}
        with self._signals():
            while doing or (waiting and self.stopped is None):
                while waiting and places and self.stopped is None:
                    number, job = waiting.pop(0)
                    place = places.pop(0)
                    doing[place] = job
                    tell(f"[{number + 1}/{len(self.jobs)}] {job.name}: {job.run}\n", sys.stdout)
                    self._start(place, job)
                place = self._ended.get()
                self._end(place, doing.pop(place))
                places.append(place)

    def _start(self, place: int, job: Job) -> None:
        job.started = time.time()
        process = subprocess.Popen(
            [*PROGRAM, "train", *job.settings, *self.flags],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="backslashreplace",
            process_group=0,  # Ctrl-C reaches it once, from here
        )
        self._running[place] = process
        self._pin(place, process.pid)
        if self.stopped is not None:  # while it was started
            process.send_signal(STOPPED[self.stopped])
        threading.Thread(target=self._listen, args=(place, job, process), daemon=True).start()

    def _pin(self, place: int, pid: int) -> None:
        """Jobs side by side have cores of their own: TensorFlow would start threads for all."""
        each = len(cores()) // self.at_once
        if self.at_once > 1 and each and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(pid, cores()[place * each : (place + 1) * each])

    def _listen(self, place: int, job: Job, process: subprocess.Popen[str]) -> None:
        """Passes on what the job prints, and says when it has ended."""
        assert process.stdout is not None
        for line in process.stdout:
            if line.strip():
                tell(f"{job.name} | {line.rstrip()}\n", sys.stdout)
        process.wait()
        self._ended.put(place)

    def _end(self, place: int, job: Job) -> None:
        job.code = self._running.pop(place).returncode
        job.figures = read_figures(job.run, since=job.started)
        if job.code in STOPPED and self.stopped is None:
            self._stop(STOPPED[job.code])

    def _stop(self, number: int) -> None:
        self.stopped = INTERRUPTED if number == signal.SIGINT else ASKED_TO_END
        for process in list(self._running.values()):
            process.send_signal(number)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        """Whoever stops the sweep stops its jobs, which then save what they have."""

        def stop(number: int, _: FrameType | None) -> None:
            if number != signal.SIGHUP:  # a terminal that is closed ends nothing
                self._stop(number)

        kinds = (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)
        heard = [kind for kind in kinds if signal.getsignal(kind) != signal.SIG_IGN]  # nohup
        before = {kind: signal.signal(kind, stop) for kind in heard}
        try:
            yield
        finally:
            for kind, handler in before.items():
                signal.signal(kind, handler)

    def wrong(self) -> str:
        """What did not go well, as one sentence, or nothing."""
        jobs = [job for job in self.jobs if job.code not in (None, 0, *STOPPED)]
        text = "; ".join(f"{job.name} ({ending(job.code)})" for job in jobs)
        words = [f"{len(jobs)} of {len(self.jobs)} jobs did not go well: {text}"] if jobs else []
        if self.stopped is not None:
            left = sum(job.code is None for job in self.jobs)
            words.append(f"stopped, with {left} of {len(self.jobs)} jobs not started")
        return f"{'; '.join(words)}." if words else ""


def closing_table(jobs: list[Job]) -> list[str]:
    """What differs between the jobs, and what came of it."""
    rows = [[*jobs[0].differing, "games", "samples", "strength", "held-out error", "run"]]
    for job in jobs:
        found = job.figures
        error = found.get("held_out_error")
        rows.append(
            [
                *job.differing.values(),
                str(found.get("games", "-")),
                count(found["samples"]) if "samples" in found else "-",
                strength_text(found.get("strength", {}), job.config.strength.best_by),
                "-" if error is None else f"{error:.4f}",
                f"{job.run}{'' if job.code == 0 else f' ({ending(job.code)})'}",
            ]
        )
    return table(rows)


def strength_text(strength: dict[str, Any], name: str) -> str:
    if name not in strength:
        return "-"
    last = strength[name]
    return f"{name} {last['score']:.0%} [{last['low']:.0%}, {last['high']:.0%}]"


def ending(code: int | None) -> str:
    """How a job ended that did not end well."""
    if code is None:
        return "not started"
    if code in STOPPED:
        return "stopped"
    return f"failed, exit code {code}" if code >= 0 else f"killed by signal {-code}"


def figures_of(jobs: list[Job]) -> dict[str, Any]:
    return {
        "jobs": [
            {"settings": job.differing, "run": str(job.run), "exit_code": job.code} | job.figures
            for job in jobs
        ]
    }
