"""Self-play through LiteRT: values of the weights that were given last, without TensorFlow."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run
from runs import contents, differences, newest, resume, train

from athenan import playing_network
from athenan.checkpoint import steps_of
from athenan.export.operations import operations_of, ranges_of
from athenan.games import make_game
from athenan.network import NetworkEvaluator, model_for
from athenan.playing_network import LitePlayer, Ranges, make_playing, random_planes
from athenan.settings import NetworkSettings, SelfPlaySettings

pytest.importorskip("ai_edge_litert")
GAME = make_game("connect_four")
SETTINGS = NetworkSettings(kind="conv", filters=6, layers=2, dense=8)
INT8 = ["self_play.runtime=tflite_int8", "network.kind=residual"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def weights(model: Any) -> list[Any]:
    return [variable.numpy() for variable in model.weights]


@pytest.mark.parametrize(("runtime", "difference"), [("tflite", 1e-5), ("tflite_int8", 0.06)])
def test_values_are_those_of_the_last_weights(
    runtime: str, difference: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = [model_for(SETTINGS, GAME, seed) for seed in (1, 2)]
    planes = random_planes(GAME, 300)
    expected = [NetworkEvaluator(model)(planes) for model in models]
    assert np.abs(expected[0] - expected[1]).max() > 0.2
    given = []
    for model in models:
        ranges = [Ranges(model, GAME)(planes[:256])] if runtime == "tflite_int8" else []
        given.append([*weights(model), *ranges])
    config = SelfPlaySettings(runtime=runtime)
    player = make_playing(SETTINGS, config, GAME, 0)
    assert isinstance(player, LitePlayer)

    def nothing() -> None:
        raise AssertionError("TensorFlow is asked")

    monkeypatch.setattr(playing_network, "tensorflow", nothing)
    monkeypatch.setattr(playing_network, "keras", nothing)
    for of, values in zip(given, expected, strict=True):
        player.assign(of)
        found = player(planes)
        assert np.abs(found - values).max() < difference
        assert np.array_equal(found, player(planes))


def test_ranges_are_those_of_an_export() -> None:
    model, planes = model_for(SETTINGS, GAME, 1), random_planes(GAME, 256)
    ranges = Ranges(model, GAME)
    assert ranges(planes) == pytest.approx(
        np.array(ranges_of(model, operations_of(model), planes)), abs=1e-5
    )
    model.set_weights([2 * array for array in weights(model)])
    assert ranges(planes) == pytest.approx(
        np.array(ranges_of(model, operations_of(model), planes)), abs=1e-5
    ), "of the weights as they are now"
    assert np.array_equal(ranges(planes[:9]), ranges(random_planes(GAME, 256)))


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["true", "false"])
def test_stop_and_resume_are_exact_in_int8(overlap: str) -> None:
    words = [*INT8, "checkpoint.every_games=16", f"layout.overlap={overlap}"]
    whole = train("whole", *words, "games=48")
    parts = train("parts", *words, "games=16")
    for games in (32, 48):
        resume(parts, f"games={games}")
    assert differences(whole, parts) == []
    assert "self-play computed by LiteRT" in (whole / "log.txt").read_text()
    assert "int8" in (whole / "log.txt").read_text()
    usual = train("usual", *words, "games=48", "self_play.runtime=tensorflow")
    assert contents(newest(usual))["weights"] != contents(newest(whole))["weights"]
    assert len(steps_of(whole)) > 2


def test_what_has_a_runtime_of_its_own_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "train network=nnue self_play.runtime=tflite")
    assert (code, "nnue is computed in the core" in err) == (2, True)
    code, _, err = run(capsys, "train layout=gpu layout.gpus=1 self_play.runtime=tflite")
    assert (code, "'self_play.runtime' is for processors" in err) == (2, True)
    code, _, err = run(capsys, "bench selfplay network=nnue self_play.runtime=tflite_int8")
    assert (code, "nnue is computed in the core" in err) == (2, True)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from athenan.errors import InputError
    from athenan.export import runtimes

    monkeypatch.setattr(runtimes, "missing_package", lambda _: "ai_edge_litert")
    with pytest.raises(InputError, match=r"pip install athenan\[export\]"):
        LitePlayer(SETTINGS, GAME, "tflite", 1)


@pytest.mark.slow
def test_bench_takes_the_runtime(capsys: pytest.CaptureFixture[str]) -> None:
    words = "bench selfplay game=connect_four games=8 seconds=0.1 repeats=1 threads=1"
    code, out, _ = run(capsys, f"{words} self_play.runtime=tflite_int8")
    assert code == 0
    assert "weights, tflite_int8" in out
