"""kill -9 at random instants: what is on disk is always whole, and little is ever lost."""

import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from runs import differences

from athenan.checkpoint import read_state, steps_of

KILLS = 10
EVERY = 10  # games between checkpoints
IN_STEP = 8  # games


def start(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "athenan.command", "train", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.long
def test_a_killed_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = Path("checkpoints/tictactoe/killed")
    settings = [
        "experiment=tictactoe_smoke",
        "run=killed",
        "games=100000",
        f"checkpoint.every_games={EVERY}",
        f"self_play.games_in_step={IN_STEP}",
        "strength.every_checkpoints=0",
    ]
    random = np.random.default_rng(0)
    games, summary = 0, []
    for kill in range(KILLS):
        process = start(*(settings if kill == 0 else [f"resume={run}"]))
        # At a random instant once the run is under way; never before it could have been.
        assert process.stdout is not None
        while not steps_of(run) or (kill and "going on from" not in process.stdout.readline()):
            assert process.poll() is None, process.stdout.read()
            time.sleep(0.02)
        time.sleep(random.uniform(0.0, 4.0))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        steps = steps_of(run)
        states = [read_state(step) for step in steps]  # refuses what is not whole
        reached = states[-1]["games"]
        assert reached >= games, "a checkpoint was lost"
        for before, after in pairwise(states):
            assert after["games"] - before["games"] < EVERY + IN_STEP
        summary.append(f"kill {kill + 1}: {steps[-1].name}, {reached - games} games further")
        games = reached
    print("\n".join(summary))
    assert games > 0
    # And it ends as if nothing had happened.
    limit = f"games={games + 20}"
    finished = start(f"resume={run}", limit)
    out, _ = finished.communicate(timeout=300)
    assert finished.returncode == 0, out
    assert f"going on from {run}/step_{games}\n" in out
    whole = start(*settings, "run=whole", limit)
    out, _ = whole.communicate(timeout=300)
    assert whole.returncode == 0, out
    assert differences(run, run.with_name("whole")) == []
