"""Learning for three players: labels are vectors, and runs are as exact as those of two."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import SMALL, differences, newest, resume

import athenan
from athenan import _core
from athenan.checkpoint import load_arrays, steps_of
from athenan.command import main
from athenan.config import compose
from athenan.learner import Learner
from athenan.network import make_model
from athenan.picture import picture_of
from athenan.records import GameRecord, Samples, pack, unpack
from athenan.replay_files import read_block
from athenan.search import make_terminal_evaluation
from athenan.self_play import SelfPlay
from athenan.settings import ExplorationSettings, HeuristicSettings, SelfPlaySettings

THREE = ["game=tic_tac_mo", "game.columns=3"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def train(name: str, *words: str) -> Path:
    game = [] if any(word.startswith("game=") for word in words) else THREE
    assert main(["train", *SMALL, *game, f"run={name}", *words]) == 0
    (run,) = Path("checkpoints").glob(f"*/{name}")
    return run


def vectors(planes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Three numbers of the planes, as a network could answer them."""
    sums = planes.reshape(len(planes), -1) @ np.arange(1, planes[0].size + 1)
    return (np.stack([sums % 7, sums % 5, sums % 3], axis=1) - 3) / 4


def play_games(number: int, **settings: Any) -> list[GameRecord]:
    """Records of finished games of tic-tac-mo on 3 × 3 cells."""
    game = athenan.make_game("mnk", rows=3, columns=3, k=3, players=3)
    heuristic = HeuristicSettings("additive_depth", 9)
    config = SelfPlaySettings(games_in_step=4, evaluations=15, batch_sizes=[64], **settings)
    search = {"name": "maxn_descent", "memory_mb": 10.0}
    playing = SelfPlay(
        game, vectors, search, heuristic, config, ExplorationSettings(), seed=1,
        memory=_core.ResolvedMemory(1000),
    )  # fmt: skip
    records: list[GameRecord] = []
    while len(records) < number:
        records += playing.play_batch()
    return records


@pytest.mark.parametrize("target", ["tree", "root", "terminal"])
def test_labels_are_vectors(target: str) -> None:
    game = athenan.make_game("mnk", rows=3, columns=3, k=3, players=3)
    evaluation = make_terminal_evaluation(game, "additive_depth", 9)
    ends = 0
    for record in play_games(12, target=target):
        assert record.values.shape == (len(record.planes), 3)
        assert record.root_values.shape == (record.plies, 3)
        assert (np.abs(record.values) <= 1).all()
        end = game.initial_state()
        for action in record.actions.tolist():
            end = end.play(action)
        assert record.outcomes == end.outcomes
        final = np.array(evaluation(end), np.float32) / np.float32(evaluation.bound)
        for planes, label in zip(
            unpack(record.planes, game.plane_shape), record.values, strict=True
        ):
            if np.array_equal(planes, end.planes()):
                assert label == pytest.approx(final, abs=1e-6)
                ends += 1
        if target == "terminal":
            assert record.values == pytest.approx(np.tile(final, (len(record.values), 1)), abs=1e-6)
        if target == "root":
            assert np.array_equal(record.values[:-1], record.root_values)
    assert ends >= 12


def test_tree_labels_are_the_values_of_its_states() -> None:
    game = athenan.make_game("mnk", rows=3, columns=4, k=3, players=3)
    search = athenan.make_search("maxn_descent", game, vectors, heuristic="additive_depth")
    labels = _core.Labels(search.core)
    search.run(game.initial_state(), evaluations=300)
    planes, values, resolved = labels.samples()
    dump = search.core.dump()
    labelled = (dump["expanded"] | dump["terminal"]) == 1
    assert values.shape == (labelled.sum(), 3)
    assert resolved == dump["resolved"][labelled].sum()
    scaled = dump["value"][labelled] * np.float32(1 / np.float32(search.core.bound))
    assert sorted(map(tuple, values.tolist())) == sorted(map(tuple, scaled.tolist()))
    saved = labels.saved()
    labels.restore(*saved)
    with pytest.raises(ValueError, match="saved labels"):
        labels.restore(planes, values[:, :2].copy(), 0)


def test_saved_trees_of_vectors_go_on_alike() -> None:
    game = athenan.make_game("mnk", rows=3, columns=5, k=3, players=3)
    start = game.initial_state()
    for memory_mb in (1000, 0.05):
        searches = [
            athenan.make_search("maxn_descent", game, "hash", memory_mb=memory_mb, variant=2)
            for _ in range(2)
        ]
        searches[0].run(start, iterations=300)
        searches[1].core.restore_tree(*searches[0].core.save_tree(), start)
        for search in searches:
            search.run(start, iterations=100)
            counts = search.core.counts
            assert counts["bytes"] <= counts["budget"]
        assert (searches[0].core.counts["collections"] > 0) == (memory_mb < 1)
        saved = [search.core.save_tree() for search in searches]
        assert all((a == b).all() for a, b in zip(*saved, strict=True))


def test_remembered_vectors() -> None:
    """What another search has proven is taken over as it is, also from arrays."""
    game = athenan.make_game("mnk", rows=3, columns=3, k=3, players=3)
    first = athenan.make_search("maxn_ubfm", game, "hash", heuristic="additive_depth")
    found = first.run(game.initial_state())
    memory, copy = _core.ResolvedMemory(10**6), _core.ResolvedMemory(10**6)
    memory.add_all(first.core)
    copy.fill(*memory.arrays())
    assert all((a == b).all() for a, b in zip(memory.arrays(), copy.arrays(), strict=True))
    second = athenan.make_search("maxn_descent", game, "hash", heuristic="additive_depth")
    second.core.consult(copy)
    result = second.run(game.initial_state())
    assert (result.value, result.evaluations) == (found.value, 0)
    two = athenan.make_game("tictactoe")
    other = athenan.make_search("descent", two, "hash")
    other.core.consult(copy)
    with pytest.raises(athenan.InputError, match="another number of players"):
        other.run(two.initial_state())


def test_players_in_turn_is_a_symmetry_that_moves_the_labels() -> None:
    """Of a state where the stones of x, o and z are all different."""
    game = athenan.make_game("mnk", rows=3, columns=3, k=3, players=3)
    symmetries = game.symmetries
    assert len(symmetries) == 24
    assert {tuple(s.players) for s in symmetries} == {(), (1, 2, 0), (2, 0, 1)}
    config = compose("train", ["learn.batch_size=512", "network=small"])
    model = make_model(config.network, game.plane_shape, 3, 0)
    learner = Learner(model, config.learn, symmetries, seed=0)
    state = game.initial_state().play(0).play(4).play(5).play(1)
    packed = np.repeat(pack(state.planes()[None]), 512, axis=0)
    planes, labels = learner._batch(Samples(packed, np.tile(np.float32([1, 2, 3]), (512, 1))))
    seen = set()
    for image, label in zip(planes, labels, strict=True):
        # Who has two stones, x before, has the value of x.
        stones = image[..., :3].sum(axis=(0, 1)).tolist()
        assert label[stones.index(2)] == 1
        seen.add(tuple(label.tolist()))
    assert seen == {(1, 2, 3), (2, 3, 1), (3, 1, 2)}


def test_a_picture_has_a_curve_for_each_player() -> None:
    game = athenan.make_game("mnk", rows=3, columns=3, k=3, players=3)
    (record, *_) = play_games(1)
    image = picture_of(game, record)
    colours = {tuple(pixel) for pixel in image.reshape(-1, 3).tolist()}
    assert {(70, 130, 180), (255, 140, 0), (46, 139, 87)} <= colours


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        [],
        ["self_play.target=root", "search.variant=2", "heuristic=score"],
        ["heuristic=mobility"],
        ["network=nnue", "network.filters=16", "network.dense=8"],
    ],
    ids=["tree", "root", "mobility", "nnue"],
)
def test_every_checkpoint_leads_to_the_same_end(words: list[str]) -> None:
    if "heuristic=score" in words:
        words = [*words, "game=rolit3", "game.size=4"]
    words = ["games=30", "checkpoint.every_games=10", *words]
    whole = train("whole", *words)
    steps = [step.name for step in steps_of(whole)]
    assert any(values.ndim == 2 and values.shape[1] == 3 for values in load_arrays(
        newest(whole) / "resolved.npz"))  # fmt: skip
    for step in (steps[0], steps[-2]):
        part = whole.parent / f"from_{step}"
        shutil.copytree(whole, part)
        for later in steps_of(part):
            if int(later.name[5:]) > int(step[5:]):
                shutil.rmtree(later)
        resume(part)
        assert differences(whole, part) == [], f"from {step}"


@pytest.mark.slow
def test_a_run_is_measured_played_and_exported(capsys: pytest.CaptureFixture[str]) -> None:
    """From training to a match of its exports, which answer as the checkpoint."""
    matches = ["strength.every_checkpoints=1", "strength.games=6", "strength.evaluations=10"]
    run = train("three", "games=24", "checkpoint.every_games=12", *matches)
    told = [json.loads(line) for line in (run / "matches.jsonl").read_text().splitlines()]
    assert {row["against"] for row in told} == {"random", "uct", "earlier"}
    assert all(row["result"]["players"] == 3 for row in told)
    assert (run / "best.yaml").exists()
    blocks = [read_block(path) for path in sorted((run / "replay").glob("*.npz"))]
    assert all(block.values.shape[1] == block.outcomes.shape[1] == 3 for block in blocks)
    capsys.readouterr()
    assert main(["export", f"checkpoint={run}", "out=bundle", "vectors=32"]) == 0
    out = capsys.readouterr().out
    assert "tflite_int8" in out
    game = athenan.make_game("mnk", rows=3, columns=3, k=3, players=3)
    planes = np.stack([game.initial_state().play(a).planes() for a in range(9)])
    expected = athenan.load_checkpoint(run)(planes)
    assert expected.shape == (9, 3)
    for form in ("tflite", "onnx"):
        found = athenan.load_evaluator(f"bundle:{form}", game)(planes)
        assert found == pytest.approx(expected, abs=1e-4)
    words = ["match", f"first.checkpoint={run}", "first.evaluations=20", "second.search=random"]
    assert main([*words, "games=6", "--json"]) == 0
    figures = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (figures["games"], figures["equal"]) == (6, 0.3333)
    search = athenan.make_search("maxn_ubfm", game, athenan.load_evaluator("bundle:tflite"))
    assert len(search.run(game.initial_state(), evaluations=50).value) == 3


def test_held_out_error_is_over_all_players() -> None:
    config = compose("train", ["learn.batch_size=16", "network=small"])
    game = athenan.make_game("mnk", rows=3, columns=3, k=3, players=3)
    model = make_model(config.network, game.plane_shape, 3, 0)
    learner = Learner(model, config.learn, game.symmetries, seed=0)
    states = np.stack([game.initial_state().play(a).planes() for a in range(9)])
    labels = np.float32(np.random.default_rng(0).uniform(-1, 1, (9, 3)))
    error = learner.error(Samples(pack(states), labels))
    assert error == pytest.approx(float(np.mean((learner.evaluator(states) - labels) ** 2)))
