"""Runs of the trainer for tests: small ones, and what their checkpoints hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from athenan.checkpoint import load_arrays, steps_of
from athenan.command import main

# A few seconds: no matches, small batches.
SMALL = [
    "experiment=tictactoe_smoke",
    "strength.every_checkpoints=0",
    "checkpoint.keep=20",
    "learn.first_fit_states=128",
    "self_play.evaluations=8",
    "network.layers=1",
]


def train(name: str, *words: str, code: int = 0) -> Path:
    """Runs `athenan train run=<name>` in this process; the run's folder."""
    assert main(["train", *SMALL, f"run={name}", *words]) == code
    return Path("checkpoints/tictactoe") / name


def resume(run: Path, *words: str, code: int = 0) -> None:
    assert main(["train", f"resume={run}", *words]) == code


def newest(run: Path) -> Path:
    return steps_of(run)[-1]


def contents(step: Path) -> dict[str, Any]:
    """All that a checkpoint holds, but for the time it took."""
    state = json.loads((step / "state.json").read_text())
    found: dict[str, Any] = {"version": state["version"]}
    for facts in state["parts"].values():
        assert not found.keys() & facts.keys(), "a fact stands once"
        found |= facts
    del found["seconds"]
    names = [name for names in state["arrays"].values() for name in names]
    assert sorted(names) == ["optimizer", "resolved", "trees", "weights"]
    for name in names:
        found[name] = [(a.dtype, a.shape, a.tobytes()) for a in load_arrays(step / f"{name}.npz")]
    return found


def differences(a: Path, b: Path) -> list[str]:
    """What the newest checkpoints of two runs do not agree in."""
    first, second = contents(newest(a)), contents(newest(b))
    return [key for key in first.keys() | second.keys() if first.get(key) != second.get(key)]
