"""The judge: what a player does in solved positions."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import answer, figures, run

import athenan
from athenan.config import compose
from athenan.errors import InputError
from athenan.games import make_game
from athenan.judge import accuracy, judge
from athenan.match import MatchResult
from athenan.players import SearchPlayer
from athenan.positions import (
    Position,
    facts_line,
    load_positions,
    position_line,
    positions_file,
)
from athenan.strength import Strength

GAME = make_game("connect_four")


def player(evaluator: Any = "hash", search: str = "ubfm", **budget: int) -> SearchPlayer:
    options = {} if search == "random" else {"memory_mb": 64.0}
    return SearchPlayer(GAME, evaluator, {"name": search, **options}, budget, threads=1)


# ---- The judge -----------------------------------------------------------------------------


def late(number: int = 60) -> list[Position]:
    found = positions_file(GAME)
    assert found is not None
    return [p for p in load_positions(found, GAME) if p.state.ply >= 27][:number]


def test_who_sees_the_end_keeps_every_outcome() -> None:
    verdict = judge(player("zero", "mtdf"), [])
    assert verdict.share.positions == 0
    solver = SearchPlayer(GAME, "zero", {"name": "mtdf", "depth": 15}, {}, threads=1)
    verdict = judge(solver, late(), in_step=25)
    assert verdict.kept == [True] * 60
    assert (verdict.share.share, verdict.share.high) == (1.0, 1.0)


def test_what_is_kept_is_counted_by_hand() -> None:
    positions = late()
    verdict = judge(player(evaluations=8), positions, in_step=16)
    expected = []
    for position in positions:
        search = athenan.make_search("ubfm", GAME, "hash", seed=0, memory_mb=64)
        action = search.run(position.state, evaluations=8).action
        best = max(position.outcomes.values())
        expected.append(action is not None and position.outcomes[action] == best)
    assert sum(verdict.kept) == pytest.approx(sum(expected), abs=12), "seeds differ by place"
    stages = verdict.stages()
    assert sum(share.positions for _, share in stages) == len(positions)
    assert 0 < verdict.share.low < verdict.share.share < verdict.share.high < 1
    kept = sum(round(share.share * share.positions) for _, share in stages)
    assert kept == sum(verdict.kept)


def test_an_action_at_random_keeps_what_its_chance_is() -> None:
    found = positions_file(GAME)
    assert found is not None
    positions = load_positions(found, GAME)
    chance = np.mean([np.mean([p.keeps(a) for a in p.outcomes]) for p in positions])
    share = judge(player(search="random"), positions).share
    assert share.low - 0.01 < chance < share.high + 0.01


def test_positions_where_nothing_can_be_lost_are_told_apart() -> None:
    same = [Position(p.state, dict.fromkeys(p.outcomes, 1)) for p in late(10)]
    verdict = judge(player(search="random"), same + late(20)[10:])
    assert verdict.where_one_can_err.positions == 10
    assert any("where an action loses something" in line for line in verdict.lines())
    assert not any("where" in line for line in judge(player(search="random"), late(9)).lines())


def test_a_limit_leaves_positions_out_and_changes_none() -> None:
    positions = late()
    assert judge(player(evaluations=8), positions, seconds=1e-9).kept == []
    limited = judge(player(evaluations=8), positions, in_step=5, seconds=3600)
    assert limited.kept == judge(player(evaluations=8), positions, in_step=5).kept


def test_an_evaluator_is_measured_against_exact_outcomes() -> None:
    positions = late(20)
    exact: dict[bytes, float] = {}
    for p in positions:
        for action, outcome in p.outcomes.items():
            sign = 1 if p.state.to_move == 0 else -1
            exact[p.state.play(action).planes().tobytes()] = sign * outcome

    def right(planes: Any) -> Any:
        return np.array([exact[one.tobytes()] for one in planes], np.float32)

    best = accuracy(right, positions)
    assert (best.kept.share, best.error, best.wrong_side) == (1.0, 0.0, 0.0)
    worst = accuracy(lambda planes: -0.5 * right(planes), positions)
    assert worst.wrong_side == 1.0
    assert worst.kept.share < 0.7, "an end is known for what it is, the rest is turned round"
    assert best.states == worst.states > 20


# ---- The command ---------------------------------------------------------------------------


def test_the_command_tells_shares_and_figures(capsys: pytest.CaptureFixture[str]) -> None:
    words = "judge first.evaluator=hash first.evaluations=1"
    text = answer(capsys, words)
    assert "player: ubfm safest, hash, 1 evaluations an action" in text
    found = figures(capsys, words)
    assert found["positions"] >= 1500
    assert 0 < found["low"] < found["kept"] < found["high"] < 1
    assert f"keeps the outcome in {found['kept']:.1%}" in text
    assert len(found["by_plies"]) == 3
    assert found["evaluator"] is None


def test_positions_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "own.jsonl"
    lines = [facts_line({"name": "tictactoe"}), position_line(0, [0, 1], [0] * 6 + [1])]
    own.write_text("\n".join(lines) + "\n")
    words = ["judge", "game=tictactoe", f"positions={own}", "first.search=random", "seed=1"]
    assert figures(capsys, words)["positions"] == 1
    for text, sentence in (
        ("", "has no positions"),
        ("{", "has no positions"),
        (facts_line({"name": "hex"}), "are of {'name': 'hex'}, another game"),
        ("\n".join([lines[0], "[]"]), "line 2: this is no position of game 'tictactoe'"),
        ("\n".join([lines[0], position_line(0, [0, 0], [0])]), "line 2: this is no position"),
        ("\n".join([lines[0], position_line(0, [0], [0])]), "line 2: this is no position"),
    ):
        own.write_text(text)
        code, _, err = run(capsys, words)
        assert code == 2
        assert sentence in err
    assert "There is no file" in run(capsys, "judge positions=missing.jsonl")[2]
    assert "There are no solved positions of game 'go" in run(capsys, "judge game=go")[2]


# ---- In a run ------------------------------------------------------------------------------


class Heard:
    def __init__(self) -> None:
        self.results: dict[str, MatchResult] = {}

    def playing(self, *_: Any) -> None: ...

    def match(self, name: str, _games: int, result: MatchResult) -> None:
        self.results[name] = result

    def unplayed(self, *_: Any) -> None: ...


def measured(folder: Path, *words: str) -> dict[str, MatchResult]:
    settings = ["strength.evaluations=8", "strength.games=2", "~strength.references.uct", *words]
    config = compose("train", ["strength.best_by=exact", *settings])
    heard, here = Heard(), os.getcwd()
    os.chdir(folder)
    try:
        strength = Strength(config, make_game(**config.game), folder)
        strength.measure("hash", 0, heard, None)
    finally:
        os.chdir(here)
    return heard.results


def test_a_run_is_judged_with_its_matches(tmp_path: Path) -> None:
    results = measured(tmp_path, "strength.exact=50")
    assert list(results) == ["exact", "random"]
    assert results["exact"].games == 50
    assert 0.3 < results["exact"].score < 1
    assert measured(tmp_path, "strength.exact=50")["exact"] == results["exact"]
    assert list(measured(tmp_path, "game=clobber5x6", "strength.exact=50")) == ["random"]


def test_the_best_checkpoint_can_be_the_exact_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert compose("train", ["strength.best_by=exact"]).strength.best_by == "exact"
    with pytest.raises(InputError, match="names no reference"):
        compose("train", ["strength.best_by=exact", "strength.exact=0"])
    code, _, err = run(capsys, "train strength.references.exact={search:random}")
    assert (code, "cannot be called 'exact'" in err) == (2, True)
