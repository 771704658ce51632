"""Runs that are asked to stop: what was played is saved, and the end is as without."""

import itertools
import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from runs import SMALL, contents, differences, newest, resume, train

from athenan.checkpoint import (
    Part,
    load_arrays,
    own_checksum,
    read_state,
    save_arrays,
    steps_of,
    write_checkpoint,
)
from athenan.clock import Clock
from athenan.command import main
from athenan.files import checksum

pytestmark = pytest.mark.slow

LONG = ["games=100000", "checkpoint.every_games=100000"]  # longer than any test


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@contextmanager
def sent(run: Path, *numbers: signal.Signals, games: int = 30) -> Iterator[None]:
    """Signals to this process once the run has learned from so many games and is being written."""

    def send() -> None:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            steps = steps_of(run)
            if steps and int(steps[-1].name[5:]) >= games:
                break
            time.sleep(0.01)
        for number in numbers:
            os.kill(os.getpid(), number)
            time.sleep(0.05)

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield
    finally:
        sender.join()


def unlike(a: Path, b: Path) -> list[str]:
    """Differences, but for which file a game of the replay is in."""
    return [name for name in differences(a, b) if name != "replay_files"]


@contextmanager
def checkpoints_due(every: int) -> Iterator[None]:
    """One outside the schedule after every so many turns of the loop."""
    turns = itertools.count(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Clock, "checkpoint_due", property(lambda _: next(turns) % every == 0))
        yield


@pytest.mark.parametrize(
    "words",
    [
        ["exploration.schedule=annealed", "learn.schedule=cosine", "resolved.clear_every_games=15"],
        ["heuristic=mobility", "replay=plain", "resolved.states=50"],
        ["search.memory_mb=0.06", "self_play.evaluations=60", "resolved.states=0"],
        ["self_play.groups=2"],
        ["network=nnue", "network.filters=16", "exploration.schedule=annealed"],
    ],
    ids=["schedules", "mobility and plain", "no memory", "two groups", "in the core"],
)
def test_checkpoints_outside_the_schedule_change_nothing(words: list[str]) -> None:
    """A run with them ends as one without; and so does one that was stopped at one of them, and
    then again at one that was reached by repeating what the network had answered."""
    words = ["games=50", "checkpoint.every_games=30", "checkpoint.keep=1000", *words]
    whole = train("whole", *words)
    with checkpoints_due(every=3):
        often = train("often", *words)
    assert unlike(whole, often) == []
    scheduled = {step.name for step in steps_of(whole)}
    others = [step.name for step in steps_of(often) if step.name not in scheduled]
    assert len(others) > 5
    in_core = "network=nnue" in words  # then no search is under way between turns
    assert all(("answers" in arrays_of(often / name)) != in_core for name in others)
    for games in (10, 40):
        part = cut_after(often, games, f"part_{games}")
        with checkpoints_due(every=4):
            resume(part)
        twice = cut_after(part, games + 3, f"twice_{games}")
        resume(twice)
        assert unlike(whole, twice) == [], f"from {games}"


def arrays_of(step: Path) -> set[str]:
    return {path.stem for path in step.glob("*.npz")}


def cut_after(run: Path, games: int, name: str) -> Path:
    """The run as a stop at the first checkpoint after so many games would have left it."""
    part = run.parent / name
    shutil.copytree(run, part)
    (part / "report.txt").unlink()
    numbers = [int(step.name[5:]) for step in steps_of(part)]
    last = min(number for number in numbers if number >= games)
    for number in numbers:
        if number > last:
            shutil.rmtree(part / f"step_{number}")
    return part


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 75), (signal.SIGUSR1, 75)]
)
def test_a_signal_saves_and_tells_by_the_exit_code(
    number: signal.Signals, code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Path("checkpoints/tictactoe/stopped")
    before = signal.getsignal(number)
    with sent(run, number):
        train("stopped", *LONG, "checkpoint.every_minutes=0.005", code=code)
    assert signal.getsignal(number) is before
    out = capsys.readouterr().out
    assert f"stopped; the last checkpoint is {newest(run)}" in out
    assert f"go on with: athenan train resume={run}" in out
    assert not (run / "report.txt").exists()
    games = read_state(newest(run))["games"]
    assert games >= 30
    resume(run, f"games={games + 10}")
    assert read_state(newest(run))["games"] >= games + 10
    assert (run / "report.txt").exists()


def test_the_second_ctrl_c_leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where saving takes long; the checkpoint before is whole."""
    run = Path("checkpoints/tictactoe/twice")
    saving = threading.Event()
    sent_at: list[float] = []

    def slow(folder: Path, number: int, parts: dict[str, Part]) -> Path:
        if number >= 30:
            saving.set()
            time.sleep(120)
        return write_checkpoint(folder, number, parts)

    monkeypatch.setattr("athenan.train.write_checkpoint", slow)

    def send() -> None:
        saving.wait(60)
        for _ in range(2):
            time.sleep(0.5)  # it sleeps by now, and hears both
            os.kill(os.getpid(), signal.SIGINT)
            sent_at.append(time.monotonic())

    sender = threading.Thread(target=send)
    sender.start()
    train("twice", *LONG, "checkpoint.every_minutes=0.005", code=130)
    sender.join()
    assert time.monotonic() - sent_at[-1] < 60
    assert read_state(newest(run))["games"] < 30


def test_a_terminal_that_is_closed_ends_nothing() -> None:
    with sent(Path("checkpoints/tictactoe/alone"), signal.SIGHUP, games=10):
        run = train("alone", "games=80", "checkpoint.every_games=10")
    assert read_state(newest(run))["games"] >= 80


def test_time_as_budget_is_saved_between_searches() -> None:
    """Searches by time cannot be repeated: those under way end first."""
    run = Path("checkpoints/tictactoe/timed")
    timed = ["self_play.evaluations=0", "self_play.seconds=0.001", "self_play.games_in_step=4"]
    with sent(run, signal.SIGTERM, games=5):
        train("timed", *LONG, *timed, "checkpoint.every_minutes=0.001", code=75)
    assert "answers" not in arrays_of(newest(run))
    resume(run, f"games={read_state(newest(run))['games'] + 5}")


def test_a_damaged_record_of_answers_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Self-play that does not ask for what was answered is not the one that was saved."""
    with checkpoints_due(every=5):
        run = train("often", "games=10", "checkpoint.every_games=100")
    at = next(step for step in steps_of(run) if "answers" in arrays_of(step))
    answers = load_arrays(at / "answers.npz")
    for name, changed in {"fewer": answers[:-1], "shorter": [a[:1] for a in answers]}.items():
        part = Path("checkpoints/tictactoe") / name
        shutil.copytree(run, part)
        step = part / at.name
        save_arrays(step / "answers.npz", changed)
        state = json.loads((step / "state.json").read_text())
        state["checksums"]["answers.npz"] = checksum(step / "answers.npz")
        state["checksum"] = own_checksum(state)
        (step / "state.json").write_text(json.dumps(state))
        capsys.readouterr()
        resume(step, "games=40", code=2)
        assert "cannot be gone on from" in capsys.readouterr().err


# ---- resume=auto -----------------------------------------------------------------------------


def test_the_same_words_begin_a_run_and_go_on_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = [*SMALL, "run=mine", "resume=auto", "games=40"]
    run = Path("checkpoints/tictactoe/mine")
    assert main(["train", *words]) == 0
    assert "going on" not in capsys.readouterr().out
    games = read_state(newest(run))["games"]
    assert main(["train", *words]) == 0, "it is finished, which is no fault"
    out = capsys.readouterr().out
    assert "the run is finished" in out
    assert f"athenan train resume={run} games=80" in out
    assert main(["train", *words, "games=60", "strength.games=8"]) == 0
    out = capsys.readouterr().out
    assert "going on from" in out
    assert "changed games: 40 -> 60" in out
    assert read_state(newest(run))["games"] >= 60 > games
    assert main(["train", *words, "network.filters=3"]) == 2
    assert "cannot change 'network.filters'" in capsys.readouterr().err
    assert main(["train", *SMALL, "resume=auto"]) == 2
    assert "run=NAME" in capsys.readouterr().err


def test_a_run_that_was_killed_before_its_first_checkpoint_begins_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = Path("checkpoints/tictactoe/early")
    for words in (["resume=auto"], []):
        train("early", "games=20")
        for path in run.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif not path.name.startswith(("config.yaml", "log.txt", "lock", "events.")):
                path.unlink()
        assert main(["train", *SMALL, "run=early", "games=20", *words]) == 0
        assert read_state(newest(run))["games"] >= 20
        shutil.rmtree(run)
    run.mkdir()
    (run / "notes.txt").write_text("not a run's own")
    train("early", "games=20", code=2)
    assert "is no run; take another name" in capsys.readouterr().err
    assert arrays_of(run) == set()


def test_a_finished_run_whose_last_matches_were_cut_off_plays_them() -> None:
    words = ["strength.every_checkpoints=1", "strength.games=2", "strength.evaluations=10"]
    run = train("cut", "games=20", *words)
    before = contents(newest(run))
    (run / "report.txt").unlink()
    (run / "best.yaml").unlink()
    resume(run)
    assert (run / "report.txt").exists()
    assert (run / "best.yaml").exists()
    assert contents(newest(run)) == before
