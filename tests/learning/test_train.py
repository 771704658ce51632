"""Training runs: repeatable, resumable bit for bit, and clear about what cannot be."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from runs import SMALL, contents, differences, newest, resume, train

import athenan
from athenan.checkpoint import load_arrays, read_state, save_arrays, steps_of
from athenan.command import main
from athenan.config import compose
from athenan.run import fit_to_game

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def cut_back(run: Path, to: Path) -> None:
    """The run as a kill soon after the checkpoint `to` would have left it."""
    for step in steps_of(run):
        if int(step.name[5:]) > int(to.name[5:]):
            shutil.rmtree(step)


def test_the_seed_determines_the_run() -> None:
    a, b, c = (
        train(name, "games=40", f"seed={seed}") for name, seed in zip("abc", (0, 0, 1), strict=True)
    )
    assert differences(a, b) == []
    assert "weights" in differences(a, c)
    assert read_state(newest(a))["games"] >= 40


@pytest.mark.parametrize(
    ("words", "longest"),
    [
        ([], 18),  # a random game fills the nine cells
        (["heuristic=multiplicative_depth"], 18),
        (["heuristic.longest=9"], 9),
        (["heuristic=gain"], 0),
    ],
)
def test_what_depth_heuristics_count_from(words: list[str], longest: int) -> None:
    config = compose("train", [*SMALL, *words])
    fit_to_game(config)
    assert config.heuristic.longest == longest


@pytest.mark.parametrize(
    ("words", "budget"),
    [
        ("game=connect_four", (None, 100, None)),
        ("game=hex13", (None, 4 * 169, None)),
        ("game=hex13 network=children", (None, 169, None)),
        ("game=tictactoe network=children", (None, 32, None)),
        ("game=hex13 self_play.evaluations=50", (None, 50, None)),
        ("game=hex13 self_play.evaluations=0 self_play.iterations=2", (2, 0, None)),
        ("game=hex13 self_play.iterations=3", (3, None, None)),
        ("game=hex13 self_play.seconds=0.5", (None, None, 0.5)),
    ],
)
def test_the_budget_of_self_play_fits_the_game(words: str, budget: tuple[Any, ...]) -> None:
    config = compose("train", words.split())
    fit_to_game(config)
    found = config.self_play
    assert (found.iterations, found.evaluations, found.seconds) == budget


@pytest.mark.timeout(120)
def test_a_solved_game_goes_on_to_its_limit() -> None:
    """The first game proves tic-tac-toe; the searches of later ones never ask the network."""
    run = train("solved", "games=40", "self_play.evaluations=20000", "checkpoint.every_games=20")
    assert read_state(newest(run))["games"] >= 40


def test_stopped_and_resumed_is_as_uninterrupted(capsys: pytest.CaptureFixture[str]) -> None:
    whole = train("whole", "games=160", "checkpoint.every_games=40")
    parts = train("parts", "games=80", "checkpoint.every_games=40")
    capsys.readouterr()
    resume(parts, "games=160")
    out = capsys.readouterr().out
    assert "going on from" in out
    assert "changed games: 80 -> 160" in out
    assert differences(whole, parts) == []


@pytest.mark.parametrize(
    "words",
    [
        ["exploration.schedule=annealed", "learn.schedule=cosine"],
        ["exploration.schedule=annealed", "learn.held_out_every=1"],
        ["heuristic=mobility", "replay=plain", "resolved.states=50"],
        ["self_play.target=root", "exploration=epsilon_greedy", "heuristic=gain"],
        ["search.memory_mb=0.06", "self_play.evaluations=60", "resolved.states=0"],
        ["self_play.groups=2"],
        ["network=nnue", "network.filters=16", "self_play.groups=2"],
        ["network=children", "network.filters=8", "self_play.groups=2"],
        [
            "network=children",
            "network.filters=8",
            "layout.overlap=false",
            "search.memory_mb=0.06",
            "self_play.evaluations=60",
            "resolved.states=0",
        ],
    ],
    ids=[
        "schedules",
        "all games held out",
        "mobility and plain",
        "root and epsilon",
        "no memory",
        "two groups",
        "in the core",
        "children",
        "children in turn",
    ],
)
def test_every_checkpoint_leads_to_the_same_end(words: list[str]) -> None:
    """Also the first, written before any game."""
    words = ["games=30", "checkpoint.every_games=10", *words]
    whole = train("whole", *words)
    steps = [step.name for step in steps_of(whole)]
    assert len(steps) == 4
    assert steps[0] == "step_0"
    trees = [load_arrays(step / "trees.npz") for step in steps_of(whole)]
    each = 7 if "network=children" in words else 5  # arrays of a game
    dropped = sum(len(values) for arrays in trees for values in arrays[4::each])
    assert (dropped > 0) == ("search.memory_mb=0.06" in words), "memory is short in one case only"
    for name in (steps[0], steps[-2]):
        part = Path("checkpoints/tictactoe") / f"from_{name}"
        shutil.copytree(whole, part)
        cut_back(part, part / name)
        resume(part)
        assert differences(whole, part) == [], f"from {name}"


def test_strength_changes_nothing_but_the_best_checkpoint() -> None:
    words = ["checkpoint.every_games=20", "strength.evaluations=10", "strength.games=4"]
    run = train("measured", *words, "strength.every_checkpoints=1", "games=20")
    quiet = train("quiet", *words, "games=20")
    assert differences(run, quiet) == []
    # The match comes after its checkpoint, which does not know of it yet.
    best = yaml.safe_load((run / "best.yaml").read_text())
    assert best["step"] == int(newest(run).name[5:])
    resume(run, "games=40", "strength.every_checkpoints=0", "checkpoint.keep=1")
    assert read_state(newest(run))["best"] == best
    assert run / f"step_{best['step']}" in steps_of(run)
    resume(quiet, "games=40")
    assert differences(run, quiet) == ["best"]


def test_a_fork_starts_from_weights_alone(capsys: pytest.CaptureFixture[str]) -> None:
    source = train("source", "games=20")
    capsys.readouterr()
    fork = train("fork", f"fork={source}", "games=20", "learn.first_fit_states=0", "seed=3")
    assert f"weights of {newest(source)}" in capsys.readouterr().out
    weights = [load_arrays(step / "weights.npz") for step in (newest(source), fork / "step_0")]
    assert all((a == b).all() for a, b in zip(*weights, strict=True))
    assert read_state(fork / "step_0")["steps"] == 0
    train("other", f"fork={source}", "network.filters=8", code=2)
    assert "are of another network or game" in capsys.readouterr().err
    state = newest(source) / "state.json"
    state.write_text(state.read_text().replace('"version": 3', '"version": 9'))
    train("future", f"fork={source}", code=2)
    assert "is of version 9" in capsys.readouterr().err
    assert not Path("checkpoints/tictactoe/future").exists()


def test_what_a_resumed_run_may_change(capsys: pytest.CaptureFixture[str]) -> None:
    run = train("run", "games=20")
    before, config = contents(newest(run)), (run / "config.yaml").read_text()
    for words, text in (
        ("network.filters=4", "cannot change 'network.filters' (it is 16)"),
        ("seed=5", "cannot change 'seed'"),
        ("game=hex", "cannot change 'game'"),
        ("self_play.evaluations=7", "cannot change 'self_play.evaluations'"),
        ("learn.batch_size=7", "cannot change 'learn.batch_size'"),
        ("netwrok=conv", "no setting 'netwrok'"),
    ):
        capsys.readouterr()
        resume(run, words, code=2)
        err = capsys.readouterr().err
        assert text in err
        assert err.count("\n") == 1
    assert contents(newest(run)) == before, "what is refused leaves the run as it was"
    assert (run / "config.yaml").read_text() == config
    resume(run, "games=30", "learn.learning_rate=0.0005", "checkpoint.every_games=10")
    out = capsys.readouterr().out
    assert "changed learn.learning_rate: 0.001 -> 0.0005" in out
    config = (run / "config.yaml").read_text()
    assert "learning_rate: 0.0005" in config
    assert config.startswith("# athenan "), "the version stays with the config"
    assert athenan.load_checkpoint(run).config.games == 30
    rates = [a for a in load_arrays(newest(run) / "optimizer.npz") if a.ndim == 0]
    assert any(np.isclose(float(a), 0.0005) for a in rates), "the new rate is really used"


def test_latest(capsys: pytest.CaptureFixture[str]) -> None:
    train("old", "games=10")
    train("new", "games=10")
    capsys.readouterr()
    for words in ([], ["game=tictactoe"]):
        resume(Path("latest"), *words)
        assert "going on from checkpoints/tictactoe/new/step_" in capsys.readouterr().out
    resume(Path("latest"), "game=hex", code=2)
    assert "no run of game 'hex'" in capsys.readouterr().err
    train("new", code=2)
    assert "exists; go on with it by resume=" in capsys.readouterr().err


def test_a_checkpoint_that_is_not_whole_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    run = train("run", "games=10", "checkpoint.keep=1")
    path = newest(run) / "weights.npz"
    path.write_bytes(path.read_bytes()[:-100])
    capsys.readouterr()
    resume(run, "games=20", code=2)
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert f"Checkpoint '{newest(run)}' is damaged: weights.npz" in err


def as_version_2(step: Path) -> None:
    """Rewrites a checkpoint as the version before would have written it, its replay too."""
    state = json.loads((step / "state.json").read_text())
    old: dict[str, Any] = {"version": 2, "checksums": state["checksums"]}
    for facts in state["parts"].values():
        old |= facts
    (step / "state.json").write_text(json.dumps(old))
    for name, _ in old["replay_files"]:
        path = step.parent / "replay" / name
        block = np.load(path)
        arrays = [block[key] for key in ("numbers", "states", "planes")]
        save_arrays(path, [*arrays, block["values"][:, 0]])


def test_an_older_checkpoint_gives_its_weights_alone(capsys: pytest.CaptureFixture[str]) -> None:
    run = train("run", "games=10")
    as_version_2(newest(run))
    capsys.readouterr()
    resume(run, "games=20", code=2)
    assert f"takes its weights by fork={newest(run)}" in capsys.readouterr().err
    train("fork", f"fork={newest(run)}", "games=10")
    evaluator = athenan.load_checkpoint(run)
    assert evaluator.state["games"] >= 10
    words = f"match game=tictactoe games=2 first.checkpoint={run} first.evaluations=5"
    assert main([*words.split(), "second.search=random"]) == 0
    words = f"export checkpoint={run} formats=[tflite_int8] vectors=9 calibration_states=50 out=old"
    assert main(words.split()) == 0
    facts = json.loads(Path("old/evaluator.json").read_text())
    assert facts["training"]["games"] == evaluator.state["games"]
    assert facts["calibration"] == "50 states of the run's replay"


def test_a_game_of_ones_own() -> None:
    words = [*SMALL, "game=nim:Nim", "game.heaps=[1,2,3]", "games=24", "checkpoint.every_games=12"]
    assert main(["train", *words, "run=own"]) == 0
    run = Path("checkpoints/nim.Nim/own")
    assert read_state(newest(run))["games"] >= 24
    evaluator = athenan.load_checkpoint(run)
    assert evaluator.game.initial_state().ply == 0
    resume(Path("latest"), "games=36")
    assert read_state(newest(run))["games"] >= 36
    match = ["match", "game=nim:Nim", "game.heaps=[1,2,3]", f"first.checkpoint={run}"]
    assert main([*match, "first.evaluations=10", "second.search=random", "games=4"]) == 0
    resume(Path("latest"), "game=nim:Nim")
    match[-1] = "first.checkpoint=latest"
    assert main([*match, "first.evaluations=10", "second.search=random", "games=4"]) == 0
    assert main(["export", "formats=[tflite]", "vectors=9", "out=nim"]) == 0
    exported = athenan.load_evaluator("nim")
    assert exported(evaluator.game.initial_state().planes()[None]).shape == (1,)
    match[-1] = "first.evaluator=nim:tflite"
    assert main([*match, "first.evaluations=10", "second.search=random", "games=4"]) == 0
    match[2] = "game.heaps=[1,2,2]"
    assert main(match) == 2


def test_learning_that_diverges_stops_with_the_last_good_checkpoint(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = [*SMALL, "run=bad", "learn.learning_rate=1e9", "learn.first_fit_states=0"]
    assert main(["train", *words]) == 1
    captured = capsys.readouterr()
    run = Path("checkpoints/tictactoe/bad")
    assert "The last good checkpoint is" in captured.out
    assert str(run / "step_") in captured.out
    assert captured.err.startswith("athenan: ")
    assert captured.err.count("\n") == 1
    assert "The loss became" in captured.err
    assert "The last good checkpoint is" in (run / "log.txt").read_text()
    weights = load_arrays(newest(run) / "weights.npz")
    assert all(np.isfinite(a).all() for a in weights)


def test_many_runs_of_one_command(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--multirun", "games=10", "seed=0,1", "run=s${seed}"]
    assert main(["train", *SMALL, *words, "--json"]) == 0
    out = capsys.readouterr().out
    assert "[2/2]" in out
    assert [run.name for run in sorted(Path("checkpoints/tictactoe").iterdir())] == ["s0", "s1"]


@pytest.fixture
def evaluator() -> Any:
    return athenan.load_checkpoint(train("source", "games=10"))


def test_a_checkpoint_is_an_evaluator_for_any_search(
    evaluator: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    game = evaluator.game
    for name in ("ubfm", "descent"):
        search = athenan.make_search(name, game, evaluator, **evaluator.heuristic)
        result = search.run(game.initial_state(), evaluations=60)
        assert result.evaluations >= 60
        assert abs(result.value) <= search.core.bound
    assert evaluator.traces == evaluator.parts  # of batches of one size: nothing is traced twice
    words = "match game=tictactoe games=4 first.checkpoint=latest first.evaluations=5"
    assert main([*words.split(), "second.search=random"]) == 0
    capsys.readouterr()
    words = words.replace("tictactoe", "hex").replace("latest", str(evaluator.step))
    assert main(words.split()) == 2
    assert "another game" in capsys.readouterr().err
