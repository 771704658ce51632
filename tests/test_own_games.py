"""Games of one's own: kind refusals where they break the contract, and games by their files."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import broken_games
import numpy as np
import pytest

import athenan
from athenan.checkpoint import runs_of
from athenan.command import main
from athenan.errors import InputError
from athenan.games import own_name

EXAMPLE = Path(__file__).parents[1] / "games" / "examples" / "nim.py"
SMALL = [
    "network.filters=4", "network.layers=1", "network.dense=4", "learn.first_fit_states=64",
    "self_play.games_in_step=4", "self_play.batch_sizes=[16]", "strength.every_checkpoints=0",
    "games=4",
]  # fmt: skip


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == 2
    return capsys.readouterr().err


# ---- Refusals ------------------------------------------------------------------------------------

COMMANDS = {
    "solve": ["seconds=1"],
    "train": SMALL,
    "match": ["games=2", "first.search=random", "second.search=uct"],
    "bench rules": ["seconds=0.01", "repeats=1"],
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        ("TransposedPlanes", r"planes\(\) has shape \(7, 2, 2\).*plane_shape is \(2, 7, 2\)"),
        ("FloatPlanes", r"planes\(\) is not an array of uint8; make it by np.zeros"),
        ("LargePlanes", "other values than 0 and 1; give each value its own channel"),
        ("NoLength", "has no 'max_plies'; it is a whole number"),
        ("NoSymmetry", "A symmetry has each cell"),
        ("UnsortedActions", "has 1 after 2; actions ascend"),
    ],
)
def test_a_broken_game_is_refused_by_every_command(
    here: Path, capsys: pytest.CaptureFixture[str], command: str, game: str, sentence: str
) -> None:
    err = refused(capsys, *command.split(), f"game=broken_games:{game}", *COMMANDS[command])
    assert re.search(sentence, err)
    assert "Traceback" not in err
    assert not list(here.glob("checkpoints/*/*"))


@pytest.mark.parametrize("search", ["descent", "ubfm", "uct"])
def test_an_address_is_no_key(search: str) -> None:
    """Another object of the same state would be another state, and the tree without end."""
    game = broken_games.AddressKey()
    found = athenan.make_search(search, game, "zero")
    with pytest.raises(
        InputError, match=r"'State' is made of its repr, which holds an address.*fro"
    ):
        found.run(game.initial_state(), iterations=10)


def test_a_repr_that_leaves_parts_out_is_no_key() -> None:
    class Wide(broken_games.Race):
        def __repr__(self) -> str:
            return f"Wide({np.zeros(2000)!r})"

    with pytest.raises(InputError, match="leaves out parts of an array"):
        _ = Wide().key


@pytest.mark.parametrize("search", ["descent", "ubfm", "uct"])
@pytest.mark.parametrize("evaluator", ["zero", "rollout"])
def test_a_game_without_end_stops(search: str, evaluator: str) -> None:
    class Longer(broken_games.Endless):
        max_plies = 900_000

    for game in (broken_games.Endless(), Longer()):
        found = athenan.make_search(search, game, evaluator)
        started = time.monotonic()
        if evaluator == "zero" and search != "uct" and game.max_plies > 9:
            found.run(game.initial_state(), seconds=0.2)
            assert time.monotonic() - started < 5
        elif game.max_plies == 9:
            with pytest.raises(InputError, match="max_plies, 9"):
                found.run(game.initial_state(), seconds=2)


def test_a_length_without_bound_is_refused() -> None:
    class Longest(broken_games.Endless):
        max_plies = 10**9

    with pytest.raises(InputError, match=r"max_plies is 1000000000; .* at most 1000000"):
        athenan.make_game(Longest())


def test_self_play_without_end_stops(capsys: pytest.CaptureFixture[str]) -> None:
    """A search that looks a ply ahead meets no end; the game itself does."""
    words = ["train", "game=broken_games:Endless", "search=ubfm", *SMALL, "self_play.iterations=1"]
    assert "for more than its max_plies, 9: end it there" in refused(
        capsys, *words, "learn.first_fit_states=0"
    )
    state = athenan.make_game(broken_games.Endless()).initial_state()
    for _ in range(9):
        state = state.play(1)
    with pytest.raises(ValueError, match="for more than its max_plies, 9"):
        state.play(1)


def last_state(game: athenan.PythonGame) -> athenan.State:
    state = athenan.make_game(game).initial_state()
    while not state.is_terminal:
        state = state.play(state.legal_actions()[-1])
    return state


def test_play_is_watched() -> None:
    with pytest.raises(ValueError, match="ply 0 is followed by one of ply 0; each action adds 1"):
        last_state(broken_games.StandingPly())
    with pytest.raises(ValueError, match="score is beyond the game's max_score"):
        _ = last_state(broken_games.Scores()).score


@pytest.mark.parametrize("search", ["descent", "ubfm"])
def test_keys_that_are_mixed_up_are_told_from_wrong_actions(search: str) -> None:
    class OneKey(broken_games.RaceGame):
        class state(broken_games.Race):
            key = 0  # type: ignore[assignment]

    found = athenan.make_search(search, OneKey(), "zero")
    with pytest.raises(InputError, match="so the key leaves something out"):
        found.run(OneKey().initial_state(), iterations=9)


def test_an_error_of_the_game_has_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    err = refused(capsys, "solve", "game=broken_games:Failing")
    assert "Game 'broken_games:Failing' failed: KeyError: 'nothing' ('" in err
    assert "broken_games.py', line " in err
    assert "'athenan check game=broken_games:Failing' shows which actions lead there" in err


def test_proofs_of_the_example_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    words = [f"game={EXAMPLE}:Nim", "game.heaps=[1,2,3]"]
    assert main(["solve", *words, "--out", "proof.npz"]) == 0
    capsys.readouterr()
    assert main(["solve", "--check", "proof.npz", words[0]]) == 0
    assert "right: the second player wins" in capsys.readouterr().out


# ---- By their files ------------------------------------------------------------------------------


def test_one_name_for_one_file(here: Path) -> None:
    for text in (
        "mine.py:M",
        "./mine.py:M",
        f"{here}/mine.py:M",
        f"../{here.name}/mine.py:M",
    ):
        assert own_name(text) == "mine.py:M"
    assert own_name("./a/b.py:M") == "a/b.py:M"
    assert own_name("/a/b.py:M") == "/a/b.py:M"
    assert own_name("a.b:M") == "a.b:M"
    for name in ("mine.py:M", "/far/mine.py:M"):
        assert runs_of(Path("runs"), name) == Path("runs/mine.M")
    assert runs_of(Path("runs"), "a.b:M") == Path("runs/a.b.M")


def test_wrong_files_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.py").write_text("def (:\n")
    Path("fails.py").write_text("import athenan\n\nathenan.nothing\n")
    Path("text.txt").write_text("")
    Path("empty.py").write_text("Game = 3\n")
    for name, sentence in (
        ("./none.py:G", "There is no file '"),
        ("./bad.py:G", "is no Python: invalid syntax, '"),
        ("./fails.py:G", "cannot be loaded: AttributeError: module 'athenan' has no attribute"),
        ("./text.txt:G", "does not end in '.py'"),
        ("./empty.py:Game", "'Game' in file './empty.py' is not an athenan.PythonGame"),
        ("./empty.py", "'./empty.py' names no class: write game=./empty.py:Class"),
    ):
        err = refused(capsys, "solve", f"game={name}")
        assert sentence.replace("'./", "'") in err.replace("'./", "'")
        assert "Traceback" not in err


def test_what_lies_beside_a_file_is_found() -> None:
    Path("sub").mkdir()
    Path("sub/beside_it.py").write_text(EXAMPLE.read_text())
    Path("sub/own.py").write_text("from beside_it import Nim\n")
    assert athenan.make_game("./sub/own.py:Nim", heaps=[1, 2]).max_plies == 3
    # A file of the same name elsewhere is another game.
    Path("own.py").write_text(EXAMPLE.read_text().replace("sum(heaps)", "99"))
    assert athenan.make_game("own.py:Nim").max_plies == 99


@pytest.mark.slow
def test_a_run_of_a_file() -> None:
    """From training to matches; what only a file names does not run."""
    Path("mine.py").write_text(EXAMPLE.read_text() + "\nopen('ran', 'a').write('x')\n")
    game = ["game=./mine.py:Nim", "game.heaps=[1,2]"]
    run = "checkpoints/mine.Nim/one"
    program = [sys.executable, "-m", "athenan.command"]

    def called(*words: str) -> subprocess.CompletedProcess[str]:
        Path("ran").unlink(missing_ok=True)
        done = subprocess.run([*program, *words], capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr
        return done

    done = called("train", *game, *SMALL, "run=one")
    assert done.returncode == 0, done.stderr
    assert "name: mine.py:Nim" in Path(run, "config.yaml").read_text()
    few = ["games=2", "opening_plies=1", "first.evaluations=20", "second.iterations=20"]
    assert called("match", *game, f"first.checkpoint={run}", *few).returncode == 0
    assert called("match", *game, "first.checkpoint=latest", *few).returncode == 0
    # Not named by the user, it is refused before it runs.
    for words in (
        ["train", f"resume={run}", "games=6"],
        ["match", "game=tictactoe", f"first.checkpoint={run}", *few],
    ):
        done = called(*words)
        assert (done.returncode, Path("ran").exists()) == (2, False)
        assert "is of game 'mine.py:Nim', whose code would run" in done.stderr
    assert called("train", f"resume={run}", "games=6", "trust=true").returncode == 0
    assert called("train", "resume=latest", "games=8", game[0]).returncode == 0
    Path("elsewhere").mkdir()
    Path("mine.py").rename("elsewhere/mine.py")
    moved = "game=elsewhere/mine.py:Nim"
    assert called("train", f"resume={run}", "games=10", moved).returncode == 0
    done = called("match", moved, "game.heaps=[1,2]", f"first.checkpoint={run}", *few)
    assert done.returncode == 0, done.stderr
    done = called("train", f"resume={run}", "games=12", "game=./other.py:Nim")
    assert "is of game 'mine.py:Nim', not of 'other.py:Nim'" in done.stderr.replace(
        "elsewhere/", ""
    )


def test_every_command_takes_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine.py").write_text(EXAMPLE.read_text())
    game: list[Any] = ["game=./mine.py:Nim", "game.heaps=[1,2]"]
    monkeypatch.setattr("builtins.input", lambda _: "quit")
    assert main(["solve", *game]) == 0
    assert main(["check", *game, "games=2"]) == 0
    assert main(["bench", "rules", *game, "seconds=0.01", "repeats=1"]) == 0
    assert main(["play", *game, "evaluations=20", "seconds=null"]) == 0
    match = ["games=2", "opening_plies=1", "first.evaluations=20", "second.iterations=20"]
    assert main(["match", *game, *match]) == 0
    assert "--cfg" not in capsys.readouterr().err
    assert main(["match", *game, "--cfg", "job"]) == 0
    assert "name: mine.py:Nim" in capsys.readouterr().out
