"""`athenan check`: built-in games keep the contract, broken ones are found by the fault's name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import broken_games
import pytest
from broken_games import FAULTS

import athenan
from athenan.check import Findings, check_game
from athenan.command import main
from athenan.config import compose
from athenan.errors import InputError
from athenan.games import configs_folder, make_game
from athenan.promises import PROMISES

CONFIGS = sorted(path.stem for path in (configs_folder() / "game").glob("*.yaml"))


def findings(*words: str) -> Findings:
    return check_game(compose("check", list(words)), lambda _: None)


def figures(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["check", "--json", *words])
    return code, json.loads(capsys.readouterr().out.splitlines()[-1])


# ---- Games that are right ------------------------------------------------------------------------


@pytest.mark.parametrize("name", CONFIGS)
def test_built_in_games_keep_the_contract(name: str) -> None:
    found = findings(f"game={name}", "games=1")
    assert found.wrong == {}
    assert found.states > 5
    # Of one game some promises may have nothing to look at.
    assert PROMISES.keys() - found.looked_at <= {"elsewhere", "scores", "zero-sum", "symmetries"}


@pytest.mark.slow
@pytest.mark.parametrize("name", CONFIGS)
def test_built_in_games_keep_the_contract_for_longer(name: str) -> None:
    assert findings(f"game={name}", "games=6", "seed=1").wrong == {}


def test_games_in_python_keep_it() -> None:
    for words in (["game=nim:Nim"], ["game=nim:Nim", "game.heaps=[1,2]"]):
        found = findings(*words, "games=8")
        assert found.wrong == {}
        assert PROMISES.keys() - found.looked_at == {"scores", "symmetries"}
    assert findings("game=broken_games:RaceGame").wrong == {}


def test_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "game=connect_four", "games=2"]) == 0
    out = capsys.readouterr().out
    assert "✓  keys" in out
    assert "✗" not in out
    assert "2 games" in out
    assert main(["check", "game=broken_games:Endless"]) == 1
    out, err = capsys.readouterr()
    assert "✗  length" in out
    assert "after: " in out
    assert "to mend it: end it there" in out
    assert err == "athenan: Game 'broken_games:Endless' breaks 1 of its promises.\n"


def test_it_tells_how_far_it_is() -> None:
    """Within a game, too: one may be long."""
    told: list[list[str]] = []
    check_game(compose("check", ["game=broken_games:Endless", "games=3"]), told.append)
    assert told[1] == ["0/3 games", "2 states"]
    games, left, broken, _ = told[-1]
    assert (games, broken) == ("2/3 games", "1 broken")
    assert left.endswith(" left")


def test_seconds_are_an_end() -> None:
    found = findings("game=go", "games=1000000", "seconds=0.2")
    assert 1 <= found.games < 100
    assert found.wrong == {}


def test_seeds_are_games(capsys: pytest.CaptureFixture[str]) -> None:
    one = figures(capsys, "game=hex", "game.size=4", "games=2")[1]
    same = figures(capsys, "game=hex", "game.size=4", "games=2")[1]
    other = figures(capsys, "game=hex", "game.size=4", "games=2", "seed=5")[1]
    assert one["states"] == same["states"] != other["states"]


# ---- Games that are wrong ------------------------------------------------------------------------


@pytest.mark.parametrize("game", FAULTS, ids=lambda game: game.__name__)
def test_each_fault_is_found(game: type[athenan.PythonGame]) -> None:
    found = findings(f"game=broken_games:{game.__name__}")
    assert next(iter(found.wrong)) == FAULTS[game]
    for fault in found.wrong.values():
        assert fault.wrong
        assert fault.mend


def test_the_actions_that_show_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = figures(capsys, "game=broken_games:NoActions")
    assert (code, found["right"], list(found["broken"])) == (1, False, ["actions"])
    fault = found["broken"]["actions"]
    assert "no legal actions, but the game is not over" in fault["wrong"]
    assert len(fault["actions"]) == 3
    state = broken_games.NoActions().initial_state()
    for text in fault["actions"]:
        state = state.play(state.string_to_action(text))
    assert (state.legal_actions(), state.is_terminal) == ([], False)


def test_errors_of_the_game_have_their_place() -> None:
    fault = findings("game=broken_games:Failing").wrong["actions"]
    assert "KeyError: 'nothing' (broken_games.py, line " in fault.wrong
    assert ", in legal_actions)" in fault.wrong


# ---- The template --------------------------------------------------------------------------------


def test_the_template_is_right_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["check", "--template", "mygame.py"]) == 0
    assert "athenan check game=./mygame.py:MyGame" in capsys.readouterr().out
    assert "athenan check game=./mygame.py:MyGame" in Path("mygame.py").read_text()
    code, found = figures(capsys, "game=./mygame.py:MyGame")
    assert (code, found["broken"]) == (0, {})
    assert set(found["kept"]) == PROMISES.keys() - {"scores"}
    assert main(["check", "game=mygame.py:MyGame", "game.size=4", "games=3"]) == 0
    assert main(["solve", "game=./mygame.py:MyGame"]) == 0
    assert capsys.readouterr().out.splitlines()[-3].startswith("a draw")


def test_the_template_writes_over_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("precious")
    for words, sentence in (
        (["mine.py"], "'mine.py' exists"),
        (["nowhere/mine.py"], "no folder for 'nowhere/mine.py'"),
        (["mine.txt"], "does not end in '.py'"),
        (["other.py", "game=hex"], "takes no settings"),
    ):
        assert main(["check", "--template", *words]) == 2
        assert sentence in capsys.readouterr().err
    assert Path("mine.py").read_text() == "precious"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.py"]


def test_a_template_of_any_size() -> None:
    template = "athenan.template:MyGame"
    assert make_game(template, size=4).plane_shape == (4, 4, 3)
    assert findings(f"game={template}", "game.size=2", "games=3").wrong == {}
    with pytest.raises(InputError, match="does not take these options: size is from 2 to 9"):
        make_game(template, size=1)
