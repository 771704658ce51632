"""network=nnue from training to use: learned by Keras, played by the core's integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import newest, train

import athenan
from athenan import _core
from athenan.actors import InlineActors
from athenan.command import main
from athenan.config import compose
from athenan.errors import InputError
from athenan.evaluators import CheckpointEvaluator, DenseCheckpoint, LiteEvaluator, find_evaluator
from athenan.export.runtimes import FORMATS
from athenan.export.writing import played_states
from athenan.learner import Learner
from athenan.network import (
    DenseEvaluator,
    NetworkEvaluator,
    make_evaluator,
    make_model,
    rate_alone,
)
from athenan.opponent import find_network
from athenan.records import Samples
from athenan.settings import ExportSettings, NetworkSettings

NNUE = ["network=nnue", "network.filters=32", "network.dense=8"]
NEAR = 0.01  # the largest difference between the core's integers and Keras


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned a little."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = ["self_play.evaluations=40", "learn.first_fit_states=2000", "games=60"]
        return folder / train("one", *NNUE, *words)


def model_of(game: Any, players: int = 2) -> Any:
    return make_model(NetworkSettings("nnue", 256, 2, 32), tuple(game.plane_shape), players, 3)


@pytest.mark.parametrize("name", ["connect_four", "hex", "othello", "breakthrough", "chess"])
def test_the_core_answers_as_keras_does(name: str) -> None:
    game: Any = athenan.make_game(name)
    model = model_of(game)
    inside = make_evaluator("nnue", model)
    assert isinstance(inside, DenseEvaluator)
    planes, _ = played_states(game, inside, 200, seed=0)
    floats = np.asarray(model(planes.astype(np.float32)))[:, 0]
    assert floats.std() > 0.05, "values that hardly differ would show nothing"
    assert 0 < np.abs(inside(planes) - floats).max() < NEAR


def test_a_value_for_each_player() -> None:
    game: Any = athenan.make_game("rolit", players=3)
    model = model_of(game, 3)
    inside = make_evaluator("nnue", model)
    planes = np.random.default_rng(0).integers(0, 2, (20, *game.plane_shape), np.uint8)
    floats = np.asarray(model(planes.astype(np.float32)))
    assert inside(planes).shape == (20, 3)
    assert np.abs(inside(planes) - floats).max() < NEAR


def test_a_search_of_three_players_asks_it_within_the_core() -> None:
    game: Any = athenan.make_game("rolit", players=3, size=4)
    inside = make_evaluator("nnue", model_of(game, 3))
    state = game.initial_state()
    found = athenan.make_search("maxn_ubfm", game, inside).run(state, evaluations=300)
    outside = athenan.make_search("maxn_ubfm", game, lambda planes: inside(planes))
    assert found == outside.run(state, evaluations=300)
    assert len(set(found.value)) == 3


def test_too_many_units_are_refused() -> None:
    with pytest.raises(InputError, match=r"'network.dense' of a network=nnue is at most 4096"):
        make_model(NetworkSettings("nnue", 256, 2, 5000), (3, 3, 4), 2, 0)
    with pytest.raises(InputError, match="too large"):
        make_model(NetworkSettings("nnue", 4096, 1, 8), (300, 300, 4), 2, 0)


def test_a_trained_checkpoint_without_tensorflow(run: Path) -> None:
    step = newest(run)
    found = athenan.load_checkpoint(step)
    assert isinstance(found, DenseCheckpoint)
    assert found.computing.startswith("the core, int16 on ")
    exact, lite = CheckpointEvaluator(step), LiteEvaluator(step)
    planes, _ = played_states(exact.game, exact, 300, seed=3)
    values = exact(planes)
    assert values.std() > 0.1
    assert np.abs(found(planes) - values).max() < NEAR
    assert np.abs(lite(planes) - values).max() < 1e-5
    state = exact.game.initial_state()
    inside = athenan.make_search("ubfm", exact.game, found).run(state, evaluations=300)
    outside = athenan.make_search("ubfm", exact.game, lambda p: found(p), **found.heuristic)
    assert inside == outside.run(state, evaluations=300)


def test_other_weights_are_refused(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weights = DenseCheckpoint(newest(run)).load_weights()
    for wrong in (weights[:-1], [*weights, weights[0]], [weights[2], *weights[1:]]):
        monkeypatch.setattr(DenseCheckpoint, "load_weights", lambda _, wrong=wrong: wrong)
        with pytest.raises(InputError, match="are of another network or game"):
            DenseCheckpoint(newest(run))


@pytest.mark.slow
def test_every_format_answers_as_keras(run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert main(["export", f"checkpoint={run}", f"out={out}", "vectors=100"]) == 0
    vectors = np.load(out / "vectors.npz")
    inside = athenan.load_checkpoint(run)
    assert np.abs(inside(vectors["planes"]) - vectors["values"]).max() < NEAR
    for name in FORMATS:
        answers = athenan.load_evaluator(f"{out}:{name}", trust=True)(vectors["planes"])
        tolerance = ExportSettings.int8_tolerance if name == "tflite_int8" else 1e-5
        assert np.abs(answers - vectors["values"]).max() < tolerance


def test_every_command_takes_it(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert isinstance(find_evaluator(newest(run)), DenseCheckpoint)
    players = [f"first.checkpoint={run}", "first.evaluations=20", "second.iterations=5"]
    assert main(["match", "game=tictactoe", "games=4", *players]) == 0
    assert "computed by the core, int16 on " in capsys.readouterr().out
    assert main(["solve", "game=tictactoe", f"evaluator={run}"]) == 0
    bench = ["seconds=0.05", "repeats=1", "peers=false"]
    for kind, words in {
        "search": [f"evaluator={run}", "games=2", "threads=1"],
        "selfplay": [f"evaluator={run}", "games=4"],
    }.items():
        assert main(["bench", kind, "game=tictactoe", *bench, *words]) == 0
    assert main(["bench", "selfplay", "game=hex7", "network=nnue", *bench, "games=4"]) == 0
    assert "self-play " in capsys.readouterr().out
    words = [*bench, "formats=[tflite]", "batches=[1]", "threads=1", f"checkpoint={run}"]
    assert main(["bench", "evaluator", *words]) == 0
    assert "in the core, 1 thread, children of states: " in capsys.readouterr().out
    config = compose("play", ["game=tictactoe", f"checkpoint={run}"])
    game: Any = athenan.make_game("tictactoe")
    assert isinstance(find_network(game, config), DenseCheckpoint)
    config.runtime = "tensorflow"
    assert isinstance(find_network(game, config), CheckpointEvaluator)


def test_the_learners_evaluator_has_what_was_learned() -> None:
    game: Any = athenan.make_game("tictactoe")
    config = compose("train", ["experiment=tictactoe_smoke", *NNUE])
    learner = Learner(
        make_model(config.network, tuple(game.plane_shape), 2, 0), config.learn, game.symmetries,
        0, kind="nnue",
    )  # fmt: skip
    planes, values = _core.ending_samples(game, 256, "gain", 0, 0)
    before = learner.error(Samples(planes, values[:, None]))
    for _ in range(20):
        learner.learn(Samples(planes, values[:, None]))
    error = learner.error(Samples(planes, values[:, None]))
    assert error < before / 3
    floats = learner.error(Samples(planes, values[:, None]), NetworkEvaluator(learner.model))
    assert error == pytest.approx(floats, abs=NEAR)


# ---- Self-play -----------------------------------------------------------------------------


def actors(*words: str) -> InlineActors:
    settings = ["experiment=tictactoe_smoke", "self_play.evaluations=10", *NNUE, *words]
    return InlineActors(compose("train", settings), athenan.make_game("tictactoe"))


def test_no_search_is_under_way_between_turns() -> None:
    playing = actors("self_play.groups=2")
    games, evaluations = [], 0
    while len(games) < 40:
        games += playing.collect()
        assert playing.idle
        assert playing.can_be_saved
        assert not playing.full
    assert len(playing.self_play.groups) == 1
    evaluations = sum(game.evaluations for game in games)
    assert playing.facts()["rows"] >= evaluations > 0


@pytest.mark.parametrize("threads", [1, 3])
def test_games_do_not_depend_on_threads(threads: int) -> None:
    """Without the memory of proofs, a game is its number's and its weights'."""
    found = []
    for playing in (
        actors("resolved.states=0"),
        actors("resolved.states=0", f"self_play.threads={threads}"),
    ):
        games: dict[int, Any] = {}
        while len(games) < 30:
            games |= {game.number: game for game in playing.collect()}
        found.append(games)
    common = found[0].keys() & found[1].keys()
    assert len(common) >= 20
    for number in common:
        one, other = found[0][number], found[1][number]
        for name in ("actions", "values", "planes", "root_values"):
            assert np.array_equal(getattr(one, name), getattr(other, name))


def test_published_weights_are_played_with() -> None:
    usual, other = actors(), actors()
    config = compose("train", ["experiment=tictactoe_smoke", *NNUE])
    shape = athenan.make_game("tictactoe").plane_shape
    model = make_model(config.network, tuple(shape), 2, 1)
    other.publish([variable.numpy() for variable in model.weights], 0.0)
    values = []
    for playing in (usual, other):
        games: list[Any] = []
        while len(games) < 10:
            games += playing.collect()
        values.append(np.concatenate([game.root_values for game in games]))
    assert not np.array_equal(*values)


def test_its_rate_is_of_what_a_search_asks() -> None:
    game: Any = athenan.make_game("connect_four")
    inside = make_evaluator("nnue", model_of(game))
    assert rate_alone(inside, game, [64], 0.05) > 1000
