"""Matches during a run: when they are due, how long they may take, and what they tell."""

import time
from pathlib import Path
from typing import Any

import pytest
from runs import newest, train

from athenan.checkpoint import Part, read_state
from athenan.clock import Clock
from athenan.config import compose
from athenan.games import make_game
from athenan.match import MatchResult
from athenan.strength import LAST_SECONDS, POINTS, SECONDS, Strength


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def parts(*words: str) -> tuple[Strength, Clock]:
    """Of a run in this folder; `hash` is evaluator enough."""
    preset = "experiment=tictactoe_smoke"
    config: Any = compose("train", [preset, "checkpoint.every_games=40", *words])
    return Strength(config, make_game(**config.game), Path()), Clock(config)


class Heard:
    """What the matches told."""

    def __init__(self) -> None:
        self.results: dict[str, MatchResult] = {}
        self.too_short: list[str] = []
        self.lines: list[tuple[str, int, int, float | None]] = []

    def playing(
        self, name: str, done: int, total: int, result: MatchResult, left: float | None
    ) -> None:
        assert result.games <= done <= total
        self.lines.append((name, done, total, left))

    def match(self, name: str, games: int, result: MatchResult) -> None:
        assert games >= 0
        self.results[name] = result

    def unplayed(self, name: str, seconds: float) -> None:
        assert seconds >= 0
        self.too_short.append(name)


def test_a_run_of_games_is_measured_at_its_checkpoints() -> None:
    strength, clock = parts("strength.every_checkpoints=2", "games=1000")
    clock.seconds = {"self_play": 1000.0}
    due = [
        strength.due(games, clock, at, False)
        for games, at in ((0, True), (20, False), (40, True), (80, True), (160, False))
    ]
    assert due == [True, False, False, True, False]
    assert strength.due(170, clock, True, True)
    clock.seconds["matches"] = 1000.0
    assert not strength.due(240, clock, True, False), "matches have had more than their share"
    assert strength.due(240, clock, True, True)


def test_the_first_checkpoint_is_measured_whatever_the_start_took() -> None:
    strength, clock = parts("games=1000")
    assert strength.due(0, clock, True, False)
    clock.seconds = {"self_play": 1.0, "matches": 5.0}
    assert strength.due(40, clock, True, False)
    clock.seconds = {"self_play": 2.0, "matches": 9.0}
    assert not strength.due(80, clock, True, False)
    clock.seconds = {"self_play": 80.0, "matches": 9.0}
    assert strength.due(120, clock, True, False), "4 of 89 seconds, and 4 more"


def test_a_run_of_minutes_has_enough_points_between_checkpoints_too() -> None:
    strength, clock = parts("minutes=10", "games=null", "checkpoint.every_games=1000000")
    points = [strength.due(0, clock, True, False)]
    for second in range(1, 601):
        matches = 5.0 * sum(points)
        clock.seconds = {"self_play": second - matches, "matches": matches}
        points.append(strength.due(second, clock, False, False))
    assert 5 <= sum(points) <= POINTS + 1, "and the start"
    assert 5.0 * sum(points) <= 0.1 * 600
    assert not strength.due(600, clock, False, False), "no game has ended since"


def test_a_resumed_run_is_not_measured_at_once() -> None:
    strength, clock = parts("minutes=10", "games=null")
    clock.restore(Part({"seconds": 300.0}))
    assert not strength.due(40, clock, False, False)
    clock.seconds = {"self_play": 600 / POINTS}
    assert strength.due(41, clock, False, False)


def test_without_matches_nothing_is_due() -> None:
    for words in ("strength.every_checkpoints=0", "strength.games=0"):
        strength, clock = parts(words, "minutes=1")
        assert not strength.due(40, clock, True, True)


def test_how_long_matches_may_take() -> None:
    strength, clock = parts("minutes=10", "games=null")
    assert strength.seconds(0, clock, False) == LAST_SECONDS
    assert strength.seconds(500, clock, False) == 60 / POINTS
    assert strength.seconds(500, clock, True) == 120
    clock.seconds = {"matches": 50.0}
    assert strength.seconds(500, clock, True) == 70
    strength, clock = parts("minutes=0.1", "games=null")
    assert strength.seconds(0, clock, False) == strength.seconds(9, clock, False) == SECONDS
    assert strength.seconds(9, clock, True) == LAST_SECONDS
    strength, clock = parts("games=1000")
    assert strength.seconds(40, clock, False) is None, "results do not depend on the time it takes"
    assert strength.seconds(40, clock, True) is None
    assert strength.seconds(0, clock, False) == LAST_SECONDS


def test_what_there_is_no_time_for_is_told_and_leaves_its_time_to_others() -> None:
    words = "game=hex minutes=1 strength.evaluations=20000 strength.games=2"
    slow = "strength.references.slow={search:uct,iterations:1000000}"
    strength, _ = parts(*words.split(), "~strength.references.uct", slow, "strength.best_by=slow")
    heard = Heard()
    strength.measure("hash", 5, heard, 0.1)
    assert (heard.too_short, heard.results) == (["random", "slow"], {})
    strength.config.strength.evaluations = 20
    started = time.monotonic()
    strength.measure("hash", 6, heard, 8.0)
    assert heard.results.keys() == {"random"}
    assert heard.too_short == ["random", "slow", "slow"]
    assert ("random", 0, 2) in {line[:3] for line in heard.lines}
    assert time.monotonic() - started < 40, "a match whose every action takes a minute"


def test_matches_with_and_without_a_limit() -> None:
    strength, _ = parts("strength.games=6")
    for seconds in (None, 30.0):
        heard = Heard()
        strength.measure("hash", 5, heard, seconds)
        assert [result.games for result in heard.results.values()] == [6, 6]
        name, done, total, left = heard.lines[-1]
        assert (name, done, total) == ("uct", 6, 6)
        assert left == 0
    assert heard.lines[0][3] is not None


def test_the_best_is_a_checkpoint_of_a_network_that_has_learned() -> None:
    strength, _ = parts("strength.games=4")
    heard = Heard()
    for folder, games, best in (("step_0", 0, None), ("step_40", 40, 40), ("none", 50, 40)):
        Path(folder).mkdir()
        strength.config.strength.earlier = False
        strength.best = strength.best and strength.best | {"low": 0.0}
        strength.measure("hash", games, heard, None)
        assert (strength.best["step"] if strength.best else None) == best


@pytest.mark.slow
def test_minutes_are_kept_with_matches_that_would_take_hours(
    capsys: pytest.CaptureFixture[str],
) -> None:
    started = time.monotonic()
    slow = ["strength.every_checkpoints=1", "strength.evaluations=3000", "strength.games=4000"]
    run = train("r", "game=hex7", "minutes=0.1", "games=null", *slow).parent.parent / "hex" / "r"
    assert time.monotonic() - started < 150
    log = (run / "log.txt").read_text()
    assert "against random" in log
    assert "go on with:" in capsys.readouterr().out
    assert read_state(newest(run))["games"] >= 0


@pytest.mark.slow
def test_the_untrained_network_is_a_point_of_the_curve() -> None:
    run = train("r", "games=10", "strength.every_checkpoints=1", "strength.games=2")
    report = (run / "report.txt").read_text()
    assert report.count("after      0 games") == 2
    assert "step: 0\n" not in (run / "best.yaml").read_text()
