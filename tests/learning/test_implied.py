"""What a checkpoint tells: the game, a player's search and budget, the network of a fork."""

import os
import shutil
from pathlib import Path

import pytest
import yaml
from runs import SMALL, newest, train

from athenan.checkpoint import find_run, find_step, steps_of
from athenan.command import main
from athenan.config import compose
from athenan.errors import InputError
from athenan.implied import completed


@pytest.fixture(scope="module")
def _runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs `one` and `two` of tic-tac-toe, the second with other sizes and a best checkpoint."""
    folder, before = tmp_path_factory.mktemp("runs"), Path.cwd()
    os.chdir(folder)
    train("one", "games=10")
    two = train("two", "games=20", "checkpoint.every_games=10", "network.filters=5",
                "heuristic=gain")  # fmt: skip
    (two / "best.yaml").write_text(yaml.safe_dump({"step": int(steps_of(two)[1].name[5:])}))
    os.chdir(before)
    return folder


@pytest.fixture(autouse=True)
def _in_their_folder(_runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(_runs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    for place in (Path("one"), Path("two")):
        newest_step = newest(Path("checkpoints/tictactoe") / place)
        os.utime(newest_step, (1e9, 1e9) if place.name == "one" else (2e9, 2e9))
        os.utime(newest_step.parent / "config.yaml", (1e9, 1e9))


def match_figures(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    code = main(["match", "games=2", "threads=1", *words])
    captured = capsys.readouterr()
    assert (code, captured.err) == (0, "")
    return captured.out


def test_a_match_of_two_checkpoints_is_one(capsys: pytest.CaptureFixture[str]) -> None:
    """Its second player is not uct, and both are named in full; the game is theirs."""
    words = ["first.checkpoint=one", "second.checkpoint=two", "first.evaluations=7"]
    lines = match_figures(capsys, *words).splitlines()
    one, two = (newest(Path("checkpoints/tictactoe") / name) for name in ("one", "two"))
    assert lines[0] == f"first: ubfm safest, {one}, 7 evaluations an action"
    assert lines[1] == f"second: ubfm safest, {two}, 7 evaluations an action"
    assert lines[2].startswith("computed by TensorFlow")
    assert "of 2 games" in lines[3]


@pytest.mark.parametrize(
    ("words", "second"),
    [
        ("", "uct, 1,000 iterations"),
        ("second.search=random", "random"),
        ("second.search=ubfm", "ubfm safest, rollout, 9 evaluations"),
        ("second.evaluator=zero", "ubfm safest, zero, 9 evaluations"),
        ("second.evaluator=zero second.iterations=3", "ubfm safest, zero, 3 iterations"),
        ("second.evaluator=hash second.search=descent", "descent safest, hash, 9 evaluations"),
        ("second.search=uct second.iterations=5", "uct, 5 iterations"),
        ("second.checkpoint=two/best second.search.decision=best", "ubfm best, "),
    ],
)
def test_the_second_player(words: str, second: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["first.evaluator=hash", "first.evaluations=9", "game=tictactoe", *words.split()]
    line = match_figures(capsys, *given).splitlines()[1]
    assert line.startswith(f"second: {second}")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("second.checkpoint=one second.search=uct", "Search 'uct' of player 'second' uses no"),
        ("first.evaluator=zero first.search=random", "leave 'first.evaluator' out"),
        ("second.checkpoint=no_such", "There is no run 'no_such'"),
        ("second.checkpoint=onee", "did you mean 'one'?"),
        ("second.checkpoint=one/step_7", "has no checkpoint 'step_7'"),
        ("second.checkpoint=one/best", "no match has measured it"),
        ("second.evaluator=on", "There is no evaluator 'on'; did you mean 'one'?"),
        ("game=hex second.checkpoint=one", "There is no run 'one'"),
        ("game=hex second.checkpoint=checkpoints/tictactoe/one", "another game"),
    ],
)
def test_what_a_player_is_refused_for(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["game=tictactoe", "first.evaluator=hash", "first.evaluations=9", *words.split()]
    assert main(["match", "games=2", *given]) == 2
    assert said in capsys.readouterr().err


def test_names_of_checkpoints() -> None:
    runs = Path("checkpoints")
    one, two = (runs / "tictactoe" / name for name in ("one", "two"))
    best = steps_of(two)[1]
    for text, step in {
        "latest": newest(two),
        "best": best,
        "one": newest(one),
        "two/best": best,
        f"two/{best.name}": best,
        str(two / "best"): best,
        str(one): newest(one),
        str(best): best,
    }.items():
        assert find_step(text, runs) == step, text
        assert find_step(text, runs, "tictactoe") == step, text
    assert find_run("one", runs) == one
    shutil.copytree(one, runs / "hex" / "one")
    with pytest.raises(InputError, match="Several games have a run 'one'"):
        find_run("one", runs)
    assert find_run("one", runs, "tictactoe") == one


def test_latest_is_a_run_that_has_learned() -> None:
    new = Path("checkpoints/tictactoe/new")
    shutil.copytree("checkpoints/tictactoe/one", new)
    for step in steps_of(new)[1:]:
        shutil.rmtree(step)
    assert find_run("latest", Path("checkpoints")).name == "two"
    for name in ("one", "two"):
        shutil.rmtree(f"checkpoints/tictactoe/{name}")
    assert find_run("latest", Path("checkpoints")) == new, "there is no other"


@pytest.mark.parametrize("command", ["play", "solve", "match"])
def test_the_game_of_a_checkpoint(command: str) -> None:
    key = {"play": "checkpoint", "solve": "evaluator", "match": "first.checkpoint"}[command]
    config = compose(command, completed(command, [f"{key}=one"]))
    assert config.game["name"] == "tictactoe"
    config = compose(command, completed(command, [f"{key}=one", "game=hex7"]))
    assert config.game["name"] == "hex"


def test_a_fork_inherits(capsys: pytest.CaptureFixture[str]) -> None:
    config = compose("train", completed("train", ["fork=two"]))
    assert (config.game["name"], config.network.filters) == ("tictactoe", 5)
    assert config.heuristic.name == "gain"
    assert config.experiment_name == "tictactoe_smoke"
    config = compose("train", completed("train", ["fork=two", "network.filters=6"]))
    assert config.network.filters == 6
    small = [word for word in SMALL if not word.startswith(("experiment", "network"))]
    assert main(["train", *small, "fork=two", "run=forked", "games=10"]) == 0
    capsys.readouterr()
    assert main(["train", *small, "fork=two", "run=other", "network.filters=6"]) == 2
    said = capsys.readouterr().err
    assert "network.filters" in said, "it says what it cannot take"
    assert not Path("checkpoints/tictactoe/other").exists()
