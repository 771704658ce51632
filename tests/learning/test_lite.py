"""A checkpoint through LiteRT: the same values as TensorFlow's, without TensorFlow."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import newest, train

import athenan
from athenan import opponent
from athenan.checkpoint import load_arrays, own_checksum, save_arrays
from athenan.command import main
from athenan.config import compose
from athenan.evaluators import CheckpointEvaluator, LiteEvaluator
from athenan.export.operations import operations_of, planned_operations
from athenan.export.writing import played_states
from athenan.files import checksum
from athenan.network import make_model
from athenan.opponent import find_network, load_checkpoint, make_opponent
from athenan.settings import ExportSettings, NetworkSettings

pytest.importorskip("ai_edge_litert")
NETWORKS = {
    "conv": NetworkSettings(kind="conv", filters=4, layers=3, dense=8),
    "conv of one layer": NetworkSettings(kind="conv", filters=5, layers=1, dense=3),
    "residual": NetworkSettings(kind="residual", filters=4, layers=2, dense=8),
    "nnue": NetworkSettings(kind="nnue", filters=16, layers=2, dense=8),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        made = train("one", "games=4")
        train("two", "games=4", "network.kind=residual", "network.layers=2")
    return folder / made.parent


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("name", NETWORKS)
def test_operations_are_planned_as_keras_makes_them(name: str, players: int) -> None:
    config, shape = NETWORKS[name], (3, 5, 4)
    model = make_model(config, shape, players, seed=1)
    made = operations_of(model)
    planned = planned_operations(config, shape, players, [w.numpy() for w in model.weights])
    assert len(made) == len(planned)
    for one, other in zip(made, planned, strict=True):
        for fact in ("kind", "inputs", "shape", "activation"):
            assert getattr(one, fact) == getattr(other, fact)
        assert np.array_equal(one.kernel, other.kernel)
        assert np.array_equal(one.bias, other.bias)


def test_other_weights_are_refused(run: Path, tmp_path: Path) -> None:
    weights = load_arrays(newest(run / "one") / "weights.npz")
    for wrong in (weights[:-1], [*weights, weights[0]], [weights[1], *weights[1:]]):
        step = tmp_path / newest(run / "one").name
        shutil.copytree(newest(run / "one"), step)
        save_arrays(step / "weights.npz", wrong)
        state = json.loads((step / "state.json").read_text())
        state["checksums"]["weights.npz"] = checksum(step / "weights.npz")
        state["checksum"] = own_checksum(state)
        (step / "state.json").write_text(json.dumps(state))
        for kind in (LiteEvaluator, CheckpointEvaluator):
            with pytest.raises(athenan.InputError, match="are of another network or game"):
                kind(step)
        shutil.rmtree(step)


@pytest.mark.parametrize("name", ["one", "two"])
def test_values_are_those_of_tensorflow(run: Path, name: str) -> None:
    step = newest(run / name)
    exact, lite = CheckpointEvaluator(step), LiteEvaluator(step)
    random = np.random.default_rng(0)
    for rows in (1, 5, 16, 64, 1500):
        planes = random.integers(0, 2, (rows, *exact.game.plane_shape), np.uint8)
        assert lite(planes).shape == (rows,)
        assert np.abs(lite(planes) - exact(planes)).max() < 1e-5
    assert (lite.heuristic, lite.game.name) == (exact.heuristic, exact.game.name)
    rounded = load_checkpoint(step, "tflite_int8", False)
    planes, _ = played_states(exact.game, exact, 200, seed=3)
    difference = np.abs(rounded(planes) - exact(planes))
    assert 0 < difference.max() < ExportSettings().int8_tolerance
    assert difference.mean() < 0.02
    assert "LiteRT" in lite.computing
    assert ", int8, " in rounded.computing
    assert exact.computing.startswith("TensorFlow ")


def test_auto_takes_the_small_runtime_on_a_processor(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opponent, "gpu_driver", lambda: None)
    config = compose("play", ["game=tictactoe", f"checkpoint={run / 'one'}"])
    game = athenan.make_game("tictactoe")
    assert isinstance(find_network(game, config), LiteEvaluator)
    config.checkpoint, config.evaluator = None, str(run / "one")
    assert isinstance(find_network(game, config), LiteEvaluator), "a checkpoint by its other name"
    config.runtime = "tensorflow"
    assert isinstance(find_network(game, config), CheckpointEvaluator)
    config.runtime = "auto"
    monkeypatch.setattr(opponent, "missing_package", lambda _: "ai_edge_litert")
    assert isinstance(find_network(game, config), CheckpointEvaluator)
    monkeypatch.undo()
    monkeypatch.setattr(opponent, "gpu_driver", lambda: "NVIDIA")
    monkeypatch.setattr(opponent, "gpu_names", lambda: ["GPU A100"])
    assert opponent.best_runtime() == "tensorflow"
    monkeypatch.setattr(opponent, "gpu_names", list)
    assert opponent.best_runtime() == "tflite", "a driver without a GPU that TensorFlow uses"


def test_what_plays_is_said(run: Path) -> None:
    words = ["game=tictactoe", f"checkpoint={run / 'one'}", "runtime=tensorflow"]
    about = make_opponent(athenan.make_game("tictactoe"), compose("play", words)).about
    assert about[0] == "search: ubfm, 2 s an action"
    step = newest(run / "one").name
    assert about[1] == f"evaluator: run one, {step}: after {step.removeprefix('step_')} games"
    assert about[2].startswith("computed by TensorFlow ")


@pytest.mark.slow
def test_playing_does_not_start_tensorflow(run: Path) -> None:
    program = """
import io, sys
from athenan import opponent
opponent.gpu_driver = lambda: None
from athenan.command import main
sys.stdin = io.StringIO("b2\\nquit\\n")
code = main(sys.argv[1:])
assert "tensorflow" not in sys.modules and "keras" not in sys.modules
sys.exit(code)
"""
    words = ["play", "game=tictactoe", f"checkpoint={run / 'one'}", "seconds=0.1"]
    command = [sys.executable, "-c", program, *words]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "\n  computed by LiteRT " in ran.stdout


def test_another_game_is_refused(
    run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert main(["play", "game=hex", f"checkpoint={run / 'one'}"]) == 2
    assert "another game" in capsys.readouterr().err


def test_a_run_says_what_computes_and_so_does_a_match(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "computed by TensorFlow " in (run / "one" / "log.txt").read_text()
    words = ["match", "game=tictactoe", "games=2", f"first.checkpoint={run / 'one'}"]
    assert main([*words, "first.evaluations=10", "second.iterations=5"]) == 0
    line: Any = capsys.readouterr().out.splitlines()[2]
    assert line.startswith("computed by TensorFlow ")
    assert line.endswith(" · the CPU, without a network")
