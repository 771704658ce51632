"""Faults on purpose: kills, damage, full disks, two writers. Nothing is lost, no traceback."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import SMALL, differences, newest, resume, train

from athenan import checkpoint
from athenan import train as training
from athenan.checkpoint import (
    Part,
    read_parts,
    read_state,
    recover,
    set_aside,
    steps_of,
    write_checkpoint,
)
from athenan.command import main
from athenan.errors import InputError
from athenan.learner import Learner
from athenan.replay_files import ReplayFiles
from athenan.run import lock_run

RUNS = Path("checkpoints/tictactoe")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def make_run(run: Path, numbers: tuple[int, ...] = (10, 20, 30)) -> Path:
    """A run of checkpoints without a network."""
    run.mkdir(parents=True)
    (run / "config.yaml").write_text("game: {name: tictactoe}\n")
    for number in numbers:
        weights = [np.full((5, 5), number, np.float32)]
        parts = {
            "learner": Part({"steps": 3}, {"weights": weights}),
            "actors": Part({"games": number}),
            "replay": Part({"replay_files": [[f"{number:08}-{number:08}.npz", [number]]]}),
        }
        write_checkpoint(run, number, parts)
    return run


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def sentence(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The refusal of a command: exit code 2 and one line."""
    capsys.readouterr()
    assert main(list(words)) == 2
    err = capsys.readouterr().err
    assert err.startswith("athenan: ")
    assert err.count("\n") == 1
    return err


# ---- Folders -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [".", "..", "../x", "a/b", "/tmp/athenan_x", "a\\\\b", ".hidden", "step_3", '"a\\tb"']
)
def test_a_name_that_leads_elsewhere_is_refused(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for run in ("first", "second"):
        make_run(RUNS / run)
    before = contents(Path.cwd())
    assert "is no name of a run" in sentence(capsys, "train", *SMALL, f"run={name}")
    assert contents(Path.cwd()) == before
    sentence(capsys, "train", *SMALL, f"run={name}", "strength.references.uct.checkpoint=none")
    assert contents(Path.cwd()) == before


def test_a_folder_that_was_there_is_refused_and_stays(capsys: pytest.CaptureFixture[str]) -> None:
    (RUNS / "photos").mkdir(parents=True)
    (RUNS / "photos" / "a.jpg").write_bytes(b"jpg")
    (RUNS / "file").write_bytes(b"file")
    for name in ("photos", "file"):
        assert "exists and is no run" in sentence(capsys, "train", *SMALL, f"run={name}")
    make_run(RUNS / "old")
    assert "go on with it by resume=" in sentence(capsys, "train", *SMALL, "run=old")
    assert (RUNS / "photos" / "a.jpg").read_bytes() == b"jpg"
    assert (RUNS / "file").read_bytes() == b"file"


def test_a_run_that_fails_to_start_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    make_run(RUNS / "other")
    before = contents(Path.cwd())
    wrong = "strength.references.other={search: ubfm, checkpoint: none, evaluations: 3}"
    assert "none" in sentence(capsys, "train", *SMALL, "run=new", wrong)
    assert contents(Path.cwd()) == before
    assert [p.name for p in RUNS.iterdir()] == ["other"]


def test_two_starts_in_one_second_have_folders_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from athenan import run as runs
    from athenan.config import compose

    monkeypatch.setattr(runs.time, "strftime", lambda _: "now")
    made = [runs.new_run(compose("train", SMALL))[0].name for _ in range(3)]
    assert made == [f"now-tictactoe_smoke{end}" for end in ("", "_2", "_3")]


# ---- Two writers ---------------------------------------------------------------------------------

HOLD = "import sys, athenan.run as r, pathlib; lock = r.lock_run(pathlib.Path(sys.argv[1])); "


def test_a_run_has_one_writer_and_a_dead_one_does_not_count(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = make_run(RUNS / "a")
    before = contents(run)
    words = [sys.executable, "-c", HOLD + "print('held', flush=True); input()", str(run)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        text = sentence(capsys, "train", f"resume={run}")
        assert text == f"athenan: Run '{run}' is being written by another process.\n"
        assert contents(run) == before | {str(run / "lock"): b""}
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    lock_run(run).close()


def test_a_file_system_without_locks_has_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    lock_run(make_run(RUNS / "a")).close()


# ---- Kills ---------------------------------------------------------------------------------------


def test_a_kill_at_every_operation_of_a_save_loses_nothing(tmp_path: Path) -> None:
    words = [sys.executable, str(Path(__file__).with_name("killing.py")), str(tmp_path)]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    result = json.loads(found.stdout)
    assert result["lost"] == {}
    assert result["kills"] > 50


def test_what_a_kill_leaves_is_recovered_or_cleared() -> None:
    run = make_run(RUNS / "a", (10, 20))
    whole = contents(run)
    os.replace(run / "step_20", run / ".step_20.old")  # between the two renames of a renewal
    shutil.copytree(run / "step_10", run / ".step_20.tmp")
    shutil.copytree(run / "step_10", run / ".step_5.gone")
    shutil.copytree(run / "step_10", run / ".step_10.old")  # the new one is in its place
    (run / ".config.yaml.tmp").write_text("half")
    (run / ".mine").write_text("kept")
    recover(run)
    assert contents(run) == whole | {str(run / ".mine"): b"kept"}
    os.replace(run / "step_20", run / ".step_20.old")
    (run / ".step_20.old" / "weights.npz").unlink()  # half deleted by an older athenan
    recover(run)
    assert [step.name for step in steps_of(run)] == ["step_10"]


# ---- Damage --------------------------------------------------------------------------------------


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(bytes(data))


def removed(path: Path) -> None:
    path.unlink()


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGES = (emptied, truncated, flipped, removed, a_folder, a_pipe)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("damage", DAMAGES)
def test_any_damage_of_a_checkpoint_is_one_sentence(damage: Callable[[Path], None]) -> None:
    for name in ("state.json", "weights.npz", "config.yaml"):
        run = make_run(RUNS / name, (10,))
        damage(run / "step_10" / name)
        with pytest.raises(InputError) as caught:
            read_parts(run / "step_10")
        assert str(run / "step_10") in str(caught.value)
        assert "\n" not in str(caught.value)


def test_no_flipped_bit_of_the_state_changes_what_it_says() -> None:
    step = make_run(RUNS / "a", (10,)) / "step_10"
    path, facts = step / "state.json", read_state(step)
    whole = path.read_bytes()
    refused = 0
    for bit in range(0, 8 * len(whole), 3):
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(data))
        try:
            assert read_state(step) == facts
        except InputError:
            refused += 1
    assert refused > len(whole)


def test_a_renamed_checkpoint_is_refused() -> None:
    run = make_run(RUNS / "a", (10,))
    for name in ("step_11", "step_of_mine"):
        shutil.copytree(run / "step_10", run / name)
        with pytest.raises(InputError, match=r"is not in its place: it is step_10\.$"):
            read_state(run / name)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_nothing_to_go_on_from(value: float) -> None:
    run = make_run(RUNS / "a", (10,))
    weights = [np.array([1, value], np.float32)]
    write_checkpoint(run, 20, {"learner": Part({}, {"weights": weights})})
    with pytest.raises(checkpoint.Damaged, match="no numbers"):
        read_parts(run / "step_20")


def test_only_replay_files_of_the_run_are_deleted() -> None:
    run = make_run(RUNS / "a")
    replay = run / "replay"
    replay.mkdir()
    own = [f"{n:08}-{n:08}.npz" for n in (10, 20, 30)]
    for name in (*own, "mine.npz", "00000001-00000002.npz"):
        (replay / name).write_bytes(b"x")
    files = ReplayFiles(run)
    files.delete_unneeded()
    assert len(list(replay.iterdir())) == 5
    shutil.rmtree(run / "step_10")
    flipped(run / "step_20" / "state.json")  # what it named before is still its own
    files.delete_unneeded()
    left = {*own[1:], "mine.npz", "00000001-00000002.npz"}
    assert {path.name for path in replay.iterdir()} == left


def test_what_is_set_aside_stays() -> None:
    run = make_run(RUNS / "a")
    assert set_aside(run, run / "step_30") is None
    assert set_aside(run, run / "step_20") == run / "aside"
    assert set_aside(run, run / "step_10") == run / "aside_2"
    assert [read_state(run / name)["games"] for name in ("aside/step_30", "aside_2/step_20")] == [
        30,
        20,
    ]
    assert steps_of(run) == [run / "step_10"]


# ---- Whole runs ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with a best checkpoint; tests take copies of it."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = ["checkpoint.every_games=10", "strength.games=2", "strength.evaluations=4"]
        always = ["strength.every_checkpoints=2", "strength.most_share=1"]  # whatever the time
        train("r", "games=30", *words, *always)
    return folder / RUNS / "r"


def copied(whole: Path) -> Path:
    run = RUNS / "r"
    shutil.copytree(whole, run)
    return run


@pytest.mark.slow
def test_damaged_checkpoints_are_followed_by_the_newest_whole_one(
    whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copied(whole)
    steps = steps_of(run)
    assert len(steps) == 4
    flipped(steps[-1] / "trees.npz")
    only = set(checkpoint.read_facts(steps[-2])["replay_files"][-1][0:1])
    only -= {name for name, _ in checkpoint.read_facts(steps[-3])["replay_files"]}
    for name in only:
        truncated(run / "replay" / name)  # the second newest needs it, the third does not
    resume(run)
    out = capsys.readouterr().out
    assert f"Checkpoint '{steps[-1]}' is damaged: trees.npz is not what was written." in out
    assert f"Checkpoint '{steps[-2]}' cannot be gone on from: " in out
    assert f"going on from {steps[-3]}\n" in out
    assert {p.name for p in (run / "aside").iterdir()} == {step.name for step in steps[-2:]}
    assert differences(run, whole) == []


@pytest.mark.slow
def test_a_step_can_be_named_to_go_on_from(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = copied(whole)
    step = steps_of(run)[1]
    resume(step)
    out = capsys.readouterr().out
    assert f"the checkpoints after {step} are set aside in {run / 'aside'}" in out
    assert f"going on from {step}\n" in out
    assert differences(run, whole) == []
    emptied(step / "weights.npz")
    assert "weights.npz" in sentence(capsys, "train", f"resume={step}")


@pytest.mark.slow
def test_no_side_file_stops_a_run(whole: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run's config and notes, an old and the best checkpoint, all damaged at once."""
    run = copied(whole)
    flipped(steps_of(run)[0] / "state.json")
    flipped(steps_of(run)[-2] / "weights.npz")  # of the match against an earlier one
    truncated(run / "config.yaml")
    emptied(run / "best.yaml")
    a_folder(run / "log.txt")
    a_folder(run / "report.txt")
    resume(run, "games=50", "checkpoint.keep=2")
    out = capsys.readouterr().out
    assert f"the config of {run}/step_" in out
    assert "Traceback" not in out
    assert read_state(newest(run))["games"] >= 50
    assert "games: 50" in (run / "config.yaml").read_text()


@pytest.mark.slow
def test_a_setting_that_changed_in_the_config_alone_is_not_taken(
    whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copied(whole)
    text = (run / "config.yaml").read_text()
    (run / "config.yaml").write_text(text.replace("\nseed: 0\n", "\nseed: 1\n"))
    assert text != (run / "config.yaml").read_text()
    resume(run, "games=40")
    assert "config.yaml' has another one" in capsys.readouterr().out
    assert "\nseed: 0\n" in (run / "config.yaml").read_text()


def resealed(step: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """A checkpoint that was changed by someone who knows how checksums are made."""
    state = json.loads((step / "state.json").read_text())
    change(state["parts"])
    state["checksum"] = checkpoint.own_checksum(state)
    (step / "state.json").write_text(json.dumps(state))


@pytest.mark.slow
def test_facts_of_wrong_types_are_one_sentence(
    whole: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from athenan.parts import Parts

    run = copied(whole)
    step = newest(run)
    parts: list[Parts] = []
    monkeypatch.setattr(training, "run", lambda made, _: parts.append(made) or True)
    (run / "report.txt").unlink()
    resume(run)
    facts = json.loads((step / "state.json").read_text())["parts"]
    tried, accepted, texts = 0, list[Any](), set[str]()
    for part, its in facts.items():
        for name in its:
            for value in (None, -1, 2**63, "x", 1.5, [], {}, [[]], [None, 3], True):
                saved = read_parts(step)
                if saved[part].facts[name] == value:
                    continue
                saved[part].facts[name] = value
                tried += 1
                try:
                    parts[0].restore(step, saved)
                    accepted.append((name, value))
                except InputError as error:
                    texts.add(str(error))
    assert accepted == [("replay", []), ("seconds", 1.5), ("best", None)]
    assert all(text.count("\n") == 0 and str(step) in text for text in texts)
    assert tried > 80

    def set_games(parts: dict[str, Any]) -> None:
        parts["actors"]["next_game"] = "many"

    resealed(step, set_games)
    assert "cannot be gone on from" in sentence(capsys, "train", f"resume={run}")


# ---- Disks and pipes -----------------------------------------------------------------------------


@pytest.mark.slow
def test_a_disk_that_is_full_for_a_while_costs_nothing(
    whole: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two checkpoints cannot be written; the run goes on, and the next one has everything."""
    saves, real, fsync = 0, training.save, os.fsync

    def full(descriptor: int) -> None:
        if saves in (2, 3):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    def save(parts: Any) -> None:
        nonlocal saves
        saves += 1
        real(parts)
        assert not list(parts.run.rglob(".*")), "nothing half written stays on a full disk"

    monkeypatch.setattr(training, "save", save)
    monkeypatch.setattr(os, "fsync", full)
    words = ["checkpoint.every_games=10", "strength.games=2", "strength.evaluations=4"]
    run = train("full", "games=30", *words)
    out = capsys.readouterr().out
    assert out.count("no checkpoint now (") == 2
    assert "No space left on device" in out
    assert "no checkpoint now (" in (run / "log.txt").read_text()
    assert steps_of(run)[0].name == "step_0"
    assert set(differences(run, whole)) <= {"best", "replay_files"}
    resume(run, "games=40")


@pytest.mark.slow
def test_a_run_whose_folder_vanishes_ends_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = training.save

    def save(parts: Any) -> None:
        if parts.actors.games:
            shutil.rmtree(parts.run, ignore_errors=True)
        real(parts)

    monkeypatch.setattr(training, "save", save)
    train("gone", "games=20", "checkpoint.every_games=10", code=1)
    captured = capsys.readouterr()
    assert captured.out.count("no checkpoint now (") == 2
    assert captured.err.startswith("athenan: The last checkpoint was not written: ")
    assert captured.err.count("\n") == 1


@pytest.mark.slow
def test_weights_that_are_no_numbers_are_never_written(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = Learner.drop_waiting

    def spoil(self: Learner) -> None:
        real(self)
        if self.steps > 5:
            self.model.weights[0].assign(self.model.weights[0] * np.nan)

    monkeypatch.setattr(Learner, "drop_waiting", spoil)
    run = train("bad", "games=60", "checkpoint.every_games=10", code=1)
    captured = capsys.readouterr()
    assert f"The last good checkpoint is {newest(run)}." in captured.out
    assert "no numbers" in captured.err
    read_parts(newest(run))


@pytest.mark.slow
def test_a_closed_pipe_does_not_end_training() -> None:
    words = [sys.executable, "-m", "athenan.command", "train", *SMALL, "run=piped", "games=20"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # as `| head` does
    errors = process.stderr.read()
    assert process.wait() == 0, errors
    assert "Error" not in errors
    assert read_state(newest(RUNS / "piped"))["games"] >= 20
    assert (RUNS / "piped" / "report.txt").exists()
