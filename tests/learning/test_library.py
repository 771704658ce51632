"""Training and matches from Python: callbacks, names, and what a run remembers of its matches."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import SMALL, resume, steps_of, train

import athenan
from athenan.matches import read_matches

WORDS = [*SMALL, "strength.every_checkpoints=1", "strength.games=2", "strength.evaluations=5"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_training_tells_its_callbacks() -> None:
    games: list[int] = []
    steps: list[Path] = []
    matches: list[tuple[str, int, int]] = []
    run = athenan.run_training(
        *WORDS, "games=20", "run=mine",
        on_game=lambda game: games.append(game.plies),
        on_checkpoint=steps.append,
        on_match=lambda name, after, result: matches.append((name, after, result.games)),
    )  # fmt: skip
    assert run == Path("checkpoints/tictactoe/mine")
    assert len(games) >= 20
    assert all(5 <= plies <= 9 for plies in games)
    assert steps == steps_of(run)
    assert {"random", "uct", "earlier"} <= {name for name, _, _ in matches}
    assert all(played == 2 for _, _, played in matches)


def test_an_error_of_a_callback_is_the_callers() -> None:
    def refuse(_: Path) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        athenan.run_training(*SMALL, "games=5", "run=refused", on_checkpoint=refuse)
    athenan.run_training("resume=refused", "checkpoint.keep=5")


def test_a_match_from_python() -> None:
    game = athenan.make_game("tictactoe")
    told: list[int] = []
    result = athenan.run_match(
        game,
        {"evaluator": lambda planes: np.zeros(len(planes), np.float32), "evaluations": 50},
        {"search": "random"},
        games=10,
        on_progress=lambda done, _: told.append(done),
    )
    assert result.games == 10
    assert result.score > 0.5
    assert told[-1] == 10
    again = athenan.run_match(
        game, {"search": {"name": "ubfm", "decision": "best"}, "evaluations": 9},
        {"search": "uct", "iterations": 9}, games=4,
    )  # fmt: skip
    assert again.games == 4


@pytest.mark.parametrize(
    ("player", "said"),
    [
        ({"serch": "uct"}, "A player has no 'serch'; did you mean 'search'?"),
        ({"search": "ubfm"}, "needs a budget"),
        ({"search": "ubmf", "iterations": 3}, "There is no search 'ubmf'"),
        ({"evaluations": 0}, "must be positive"),
        ({"evaluations": 5, "evaluator": "nothing"}, "There is no evaluator 'nothing'"),
    ],
)
def test_players_that_are_refused(player: dict[str, Any], said: str) -> None:
    game = athenan.make_game("tictactoe")
    with pytest.raises(athenan.InputError, match=said):
        athenan.run_match(game, player, {"search": "random"}, games=2)


def test_a_resumed_run_reports_its_earlier_matches() -> None:
    words = ["strength.every_checkpoints=1", "strength.games=2", "strength.evaluations=5"]
    run = train("long", *words, "games=20", "checkpoint.every_games=10")
    rows = list(read_matches(run / "matches.jsonl"))
    assert len({row.games_of_run for row in rows}) > 1
    with (run / "matches.jsonl").open("a") as file:
        file.write('{"against": "uct", "games_of_run": 4, "resu')
    resume(run, "games=30")
    report = (run / "report.txt").read_text()
    for row in rows:
        assert f"after {row.games_of_run:6} games" in report


@pytest.mark.parametrize(
    "line", ["", "{}", "[]", "[" * 9999, '{"result": 3}', json.dumps({
        "against": "x", "games_of_run": -1,
        "result": {"wins": 1, "draws": 0, "losses": 1, "pair_scores": [0.5]}})],
)  # fmt: skip
def test_lines_that_are_no_matches_are_passed_over(line: str) -> None:
    Path("matches.jsonl").write_text(f"{line}\n")
    assert list(read_matches(Path("matches.jsonl"))) == []
    shutil.rmtree("nothing", ignore_errors=True)
    assert list(read_matches(Path("nothing"))) == []
