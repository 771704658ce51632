"""Runs whose actors are other processes, as programs: their ends, kills, and moves from one layout
to another."""

import hashlib
import json
import os
import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from programs import (
    LONG,
    RUN,
    command,
    facts,
    log,
    names,
    none_left,
    offspring,
    played,
    running,
    stop,
)
from runs import SMALL, newest, resume, train

from athenan.checkpoint import load_arrays
from athenan.command import main

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
]

RAY = ["layout=cpu", "layout.actors=1", "layout.call_seconds=0.2", "replay.games=20"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def digest(run: Path) -> str:
    arrays = load_arrays(newest(run) / "weights.npz")
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


ONE = ["layout.name=ray", "layout.actors=1", "layout.calls_under_way=1", "layout.call_batches=1",
       "layout.publish_seconds=0"]  # fmt: skip


@pytest.mark.parametrize(
    "words",
    [
        ["experiment=tictactoe_smoke", "games=100", "checkpoint.every_games=1000"],
        ["experiment=tictactoe_smoke", "game=tic_tac_mo", "game.columns=3", "games=60",
         "checkpoint.every_games=1000"],
        pytest.param(
            ["experiment=connect_four", "minutes=null", "games=80", "self_play.games_in_step=32",
             "self_play.batch_sizes=[64,256]", "network.filters=8", "replay.games=50"],
            marks=pytest.mark.long,
        ),
    ],
    ids=["tictactoe", "three players", "connect_four"],
)  # fmt: skip
def test_one_actor_learns_what_one_process_does(words: list[str]) -> None:
    """Bit for bit, the memory of resolved states included."""
    usual = [*words, "strength.every_checkpoints=0", "layout.learner_threads=1"]
    for name, layout in (("inline", ["layout.overlap=false"]), ("ray", ONE)):
        subprocess.run(command(*usual, *layout, f"run={name}"), check=True, capture_output=True)
    inline, ray = (next(Path("checkpoints").glob(f"*/{name}")) for name in ("inline", "ray"))
    assert newest(inline).name == newest(ray).name
    assert digest(inline) == digest(ray)


def test_a_run_moves_from_one_layout_to_another_and_stops_by_a_signal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Inline, Ray, inline: the games under way go along, and no game counts twice."""
    run = train("mine", "games=30", "checkpoint.every_games=30")
    under_way = [game["number"] for game in facts(run)["games_under_way"] if game]
    assert under_way
    with running(f"resume={run}", *RAY, *LONG) as process:
        theirs = offspring(process.pid)
        stop(process)
        none_left(theirs, 5)
    state = facts(run)
    assert state["games"] > 30
    numbers = played(run)
    assert len(set(numbers)) == len(numbers)
    assert any(number >= 2**32 for number in numbers), "those that an actor has begun"
    assert state["left_behind"] == state["abandoned"] == 0
    returned = [game["number"] for game in state["games_under_way"]]
    assert len(returned) > 8, "the layout brings more games at once"
    assert "actor 0 (process" in log()
    resume(run, "layout=inline", f"games={state['games'] + 30}", "checkpoint.every_games=10")
    assert facts(run)["games"] >= state["games"] + 30
    later = played(run)
    assert len(set(later)) == len(later)
    assert set(later) & set(returned), "games that were under way have been played to their end"
    assert "changed layout.name: ray -> inline" in capsys.readouterr().out


@pytest.mark.long
def test_the_learner_is_killed_and_later_its_ray() -> None:
    """Nothing outlives the one for long; the other ends the run by 75. What is lost is told."""
    with running(*SMALL, "run=mine", *RAY, *LONG) as process:
        theirs = offspring(process.pid)
        assert len(theirs) > 4
        process.kill()
        process.wait()
        none_left(theirs, 10)
    killed = facts(RUN)
    assert killed["left_behind"] > 0
    with running(f"resume={RUN}") as process:
        theirs = offspring(process.pid)
        server = next(pid for pid, name in names(theirs).items() if name == "gcs_server")
        os.kill(server, signal.SIGKILL)
        assert process.wait(60) == 75
        none_left(theirs, 10)
    assert "gcs_server has died" in log()
    state = facts(RUN)
    assert state["games"] > killed["games"]
    assert state["abandoned"] == killed["left_behind"]
    numbers = played(RUN)
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGINT])
@pytest.mark.long
def test_other_signals_save_too(number: signal.Signals) -> None:
    with running(*SMALL, "run=mine", *RAY, *LONG) as process:
        process.send_signal(number)
        assert process.wait(60) == {signal.SIGUSR1: 75, signal.SIGINT: 130}[number]
    assert facts(RUN)["left_behind"] == 0


@pytest.mark.long
def test_an_actor_of_a_run_is_killed_again_and_again() -> None:
    """With matches beside the training; the run comes to its end."""
    words = ["layout.actors=2", "games=null", "minutes=0.6", "checkpoint.every_games=1000"]
    matches = ["strength.every_checkpoints=2", "strength.games=4", "strength.evaluations=10"]
    with running(*SMALL, "run=mine", *RAY, *words, *matches, plays=2) as process:
        for kill in range(3):
            ours = names(offspring(process.pid))
            os.kill(next(pid for pid, name in ours.items() if "Actor" in name), signal.SIGKILL)
            deadline = time.monotonic() + 90
            while log().count(" plays\n") < 3 + kill and time.monotonic() < deadline:
                assert process.poll() is None or kill
                time.sleep(0.1)
        assert process.wait(300) == 0
    numbers = played(RUN)
    assert len(set(numbers)) == len(numbers)
    assert (facts(RUN)["repeated"], facts(RUN)["missing"]) == (0, 0)
    assert "against random" in log()


@pytest.mark.parametrize(
    ("game", "more"),
    [("tictactoe", "games=80 games_in_step=4 sprt=[-100,100]"), ("tic_tac_mo", "games_in_step=8")],
)
def test_a_match_has_the_same_result(
    game: str, more: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where it ends early: waves that were played meanwhile do not count."""
    words = f"match game={game} first.evaluator=hash first.evaluations=20 second.iterations=20"
    words += f" games=24 opening_plies=3 seed=3 {more} --json"
    found = []
    for layout in ([], ["layout=cpu", "layout.actors=2"]):
        assert main([*words.split(), *layout]) == 0
        found.append(json.loads(capsys.readouterr().out.splitlines()[-1]))
    inline, by_ray = found
    assert {**inline, "seconds": 0} == {**by_ray, "seconds": 0}


def test_a_tournament_and_a_study_have_the_same_results(capsys: pytest.CaptureFixture[str]) -> None:
    players = ["players.a={search: uct, iterations: 20}", "players.b={search: random}"]
    tournament = ["tournament", "game=tictactoe", *players, "games=24", "games_in_step=4"]
    study = ["experiment", "games=[tictactoe]", "sets=['hash,zero']", "games_in_step=2"]
    study += ["first.evaluations=20", "second.evaluations=20"]
    for words, name in ((tournament, "name"), (study, "study_name")):
        found = []
        for layout in ("inline", "cpu"):
            own = [f"layout={layout}", "layout.actors=2", f"{name}={layout}", "--json"]
            assert main([*words, *own]) == 0
            found.append(json.loads(capsys.readouterr().out.splitlines()[-1]))
        inline, by_ray = found
        assert {**inline, "folder": ""} == {**by_ray, "folder": ""}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("layout=cpu layout.address=127.0.0.1:1", "No Ray cluster answers at '127.0.0.1:1'"),
        ("layout=node_adastra", "TensorFlow sees no GPU"),
        (
            "layout=cluster layout.learner_gpus=0 layout.address=nowhere",
            "is neither auto nor host:port",
        ),
    ],
)
def test_wrong_layouts_are_refused(
    words: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *SMALL, *words.split(), "run=wrong"]) == 2
    assert sentence in capsys.readouterr().err
    assert not list(Path().glob("checkpoints/*/*"))
