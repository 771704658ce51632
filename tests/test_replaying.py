"""Saved games in the terminal: step by step, from any state on, and files that are none."""

import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import answer, run

from athenan.games import make_game
from athenan.saved_games import Forfeit, SavedGame, SavedPlayer, append_game, saved_game

ACTIONS = ["c3", "b2", "a1", "c1", "a3", "b3", "a2"]


class Someone:
    def __init__(self, text: str) -> None:
        self.text = text
        self.facts = {"version": "athenan 0.1.0", "options": {}, "seed": 7}


def game_of(name: str, actions: list[str], **options: Any) -> SavedGame:
    state: Any = make_game(name, **options).initial_state()
    for text in actions:
        state = state.play(state.string_to_action(text))
    players = [Someone("ubfm, latest"), Someone("uct")]
    return saved_game(state, 2, players, event="match", number=4)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Of three games: tic-tac-toe, hex, and hex that was given up."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "games.jsonl"
    append_game(path, game_of("tictactoe", ACTIONS))
    hex_game = game_of("hex", ["a1", "b1", "a2", "b2", "a3"], size=3)
    append_game(path, hex_game)
    forfeit = Forfeit(1, "it crashed.")
    append_game(path, replace(hex_game, actions=["a1"], opening=0, forfeit=forfeit))
    return path


@pytest.fixture
def shown(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    def show(settings: str, *lines: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return answer(capsys, f"play seconds=null evaluations=60 {settings}")

    return show


def test_enter_goes_on_and_back_goes_back(file: Path, shown: Any) -> None:
    text = shown(f"replay={file}", "", "", "", "back", "go 7", "", "go 8", "go on", "what", "quit")
    assert text.startswith("Tic-tac-toe, 7 actions, won by the first.\n")
    assert "first: ubfm, latest (athenan 0.1.0, seed 7)" in text
    assert "game 4 of match, 20" in text
    pages = [line for line in text.splitlines() if " of 7: " in line]
    assert pages == [
        "1 of 7: first, c3 (opening)",
        "2 of 7: second, b2 (opening)",
        "3 of 7: first, a1",
        "2 of 7: second, b2 (opening)",
        "7 of 7: first, a2",
    ]
    assert "The end: won by the first." in text
    assert "That was the last action." in text
    assert text.count("Say after how many actions, from 0 to 7: go 7") == 2
    assert text.count("Enter: the next · back · go N") == 2


def test_the_game_is_that_of_the_file(file: Path, shown: Any) -> None:
    text = shown(f"replay={file} game_number=2", "go 5", "values", "quit")
    assert text.startswith("Hex size=3, 5 actions, won by the first.\n")
    assert "The game is over." in text
    text = shown(f"replay={file} game_number=3", "", "quit")
    assert "1 actions, the second gave it up: it crashed." in text


def test_values_are_of_the_state_that_is_shown(file: Path, shown: Any) -> None:
    text = shown(f"replay={file}", "go 6", "values", "quit")
    lines = text.splitlines()
    (place,) = [i for i, line in enumerate(lines) if "value for you" in line]
    assert lines[place + 1].split()[0] == "a2", "the first wins by it, in its own view"
    assert "you win" in lines[place + 1]


def test_somebody_plays_on_from_there(file: Path, shown: Any) -> None:
    text = shown(f"replay={file}", "go 6", "play", "a2")
    assert text.count("You win.") == 1
    text = shown(f"replay={file} seat=2", "go 6", "play")
    assert "program: a2" in text
    assert "The program wins." in text


def test_files_that_are_no_games(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file.parent / "other.jsonl").write_text("{}\n")
    own = replace(game_of("tictactoe", ACTIONS), game={"name": "other:Game"})
    append_game(file, own)
    strange = replace(game_of("tictactoe", ACTIONS), game={"name": "hex", "size": 10**9})
    append_game(file, strange)
    for words, said in (
        (f"replay={file} game_number=9", "has 5 games; there is no game 9"),
        ("replay=none.jsonl", "'none.jsonl' cannot be read"),
        ("replay=other.jsonl", "'other.jsonl', line 1: It is no saved game."),
        (f"replay={file} game=hex", "has a game of tictactoe, not of hex"),
        (f"replay={file} game_number=4", "whose code would run"),
        (f"replay={file} game_number=5", "must be from 2 to 19"),
    ):
        code, out, err = run(capsys, f"play {words}")
        assert (code, out) == (2, ""), words
        assert said in err


def test_a_draw_and_more_players() -> None:
    from athenan.replaying import Replay

    game = game_of("tictactoe", ACTIONS)
    for outcomes, said in (
        ([0, 0], "a draw"),
        (None, "not ended"),
        ([-1, 1], "won by the second"),
        ([1, -1, 1], "won by the first and the third"),
    ):
        players = [SavedPlayer("x")] * len(outcomes or [0, 0])
        told: Any = replace(game, outcomes=outcomes, players=players)
        state: Any = game.states()
        assert Replay(None, told, state).result() == said  # type: ignore[arg-type]
