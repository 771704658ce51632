"""Checkpoints on disk: whole or not at all, and refused by name when they are not right."""

import json
import os
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from athenan import checkpoint
from athenan.checkpoint import (
    Part,
    find_run,
    find_step,
    read_facts,
    read_parts,
    read_state,
    steps_of,
    write_checkpoint,
)
from athenan.errors import InputError

ARRAYS = {
    "weights": [np.arange(60, dtype=np.float32).reshape(3, 20), np.ones(4, np.float32)],
    "optimizer": [np.array(7), np.zeros(3)],
}


def parts(games: int) -> dict[str, Part]:
    return {
        "learner": Part({"steps": 3}, ARRAYS),
        "actors": Part({"games": games}),
        "strength": Part({"best": None}),
    }


def make_run(folder: Path, numbers: tuple[int, ...] = (40,)) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text("game: {name: tictactoe}\n")
    for number in numbers:
        write_checkpoint(folder, number, parts(number))
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return make_run(tmp_path / "tictactoe" / "a")


def refusal(call: Any, *arguments: Any) -> str:
    """The one sentence of a refusal."""
    with pytest.raises(InputError) as caught:
        call(*arguments)
    text = str(caught.value)
    assert "\n" not in text
    assert text.endswith((".", "?"))
    return text


def test_what_is_written_is_read(run: Path) -> None:
    step = run / "step_40"
    state = read_state(step)
    assert (state["games"], state["best"], state["version"]) == (40, None, checkpoint.VERSION)
    assert set(state["checksums"]) == {"config.yaml", "weights.npz", "optimizer.npz"}
    written = json.loads((step / "state.json").read_text())
    keys = {"version", "parts", "arrays", "checksums", "checksum"}
    assert set(written) == keys, "each fact stands once"
    found_parts = read_parts(step)
    assert {name: part.facts for name, part in found_parts.items()} == {
        name: part.facts for name, part in parts(40).items()
    }
    assert found_parts["learner"].arrays.keys() == ARRAYS.keys()
    for name, arrays in ARRAYS.items():
        found = checkpoint.load_arrays(step / f"{name}.npz")
        assert len(found) == len(arrays)
        for a, b in zip(found, arrays, strict=True):
            assert a.dtype == b.dtype
            assert a.tobytes() == b.tobytes()
    assert sorted(p.name for p in run.iterdir()) == ["config.yaml", "step_40"]


def test_many_arrays_keep_their_order(tmp_path: Path) -> None:
    arrays = [np.array([i]) for i in range(300)]
    checkpoint.save_arrays(tmp_path / "many.npz", arrays)
    assert [int(a[0]) for a in checkpoint.load_arrays(tmp_path / "many.npz")] == list(range(300))


@pytest.mark.parametrize("name", ["weights.npz", "optimizer.npz", "config.yaml"])
def test_a_truncated_file_is_refused(run: Path, name: str) -> None:
    path = run / "step_40" / name
    whole = path.read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        text = refusal(read_state, run / "step_40")
        assert str(run / "step_40") in text
        assert name in text
    path.write_bytes(whole)
    read_state(run / "step_40")


def test_a_changed_byte_is_refused(run: Path) -> None:
    path = run / "step_40" / "weights.npz"
    whole = bytearray(path.read_bytes())
    for at in range(0, len(whole), 37):
        whole[at] ^= 1
        path.write_bytes(bytes(whole))
        assert "weights.npz" in refusal(read_state, run / "step_40")
        whole[at] ^= 1


def test_a_missing_file_is_refused(run: Path) -> None:
    (run / "step_40" / "optimizer.npz").unlink()
    assert "optimizer.npz" in refusal(read_state, run / "step_40")


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"version": 1}', '{"checksums": {}}', "\0"])
def test_a_foreign_folder_is_refused(tmp_path: Path, text: str) -> None:
    step = tmp_path / "step_3"
    step.mkdir()
    assert refusal(read_state, step) == f"'{step}' is not a checkpoint of athenan."
    (step / "state.json").write_text(text)
    assert refusal(read_state, step) == f"'{step}' is not a checkpoint of athenan."


@pytest.mark.parametrize(
    "state",
    [
        {"version": "one", "checksums": {}},
        {"version": 1, "checksums": 3},
        {"version": 3, "checksums": {}},
        {"version": 3, "checksums": {}, "parts": [1]},
        {"version": 3, "checksums": {}, "parts": {"actors": 3}},
    ],
)
def test_a_state_of_wrong_types_is_refused(tmp_path: Path, state: dict[str, Any]) -> None:
    step = tmp_path / "step_3"
    step.mkdir()
    (step / "state.json").write_text(json.dumps(state))
    assert refusal(read_state, step) == f"'{step}' is not a checkpoint of athenan."


def test_a_future_version_is_refused(run: Path) -> None:
    path = run / "step_40" / "state.json"
    state = json.loads(path.read_text())
    path.write_text(json.dumps({**state, "version": 99}))
    text = refusal(read_state, run / "step_40")
    assert re.search(r"step_40' is of version 99; this athenan reads up to 3\.$", text)


def test_an_older_version_can_be_read_but_not_gone_on_from(run: Path) -> None:
    path = run / "step_40" / "state.json"
    sums = json.loads(path.read_text())["checksums"]
    path.write_text(json.dumps({"version": 2, "games": 40, "steps": 3, "checksums": sums}))
    assert read_state(run / "step_40")["games"] == 40
    text = refusal(read_parts, run / "step_40")
    assert text.endswith(f"a new run takes its weights by fork={run / 'step_40'}.")


def test_facts_are_read_without_looking_at_the_arrays(run: Path) -> None:
    (run / "step_40" / "weights.npz").write_bytes(b"")
    assert read_facts(run / "step_40")["games"] == 40
    refusal(read_state, run / "step_40")


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 nonsense"])
def test_arrays_of_something_else_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.npz"
    assert str(path) in refusal(checkpoint.load_arrays, path)
    path.write_bytes(content)
    assert str(path) in refusal(checkpoint.load_arrays, path)


def test_a_kill_before_the_last_rename_leaves_the_earlier_one(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is interrupted, the checkpoints that count are whole; also when one is renewed."""

    class Killed(BaseException):
        pass

    calls = {"fsync": os.fsync, "replace": os.replace, "unlink": os.unlink, "rmdir": os.rmdir}
    for name in calls:
        for survived in range(4):
            count = 0

            def stop(
                *arguments: Any, name: str = name, survived: int = survived, **named: Any
            ) -> None:
                nonlocal count
                count += 1
                if count > survived:
                    raise Killed
                calls[name](*arguments, **named)

            with monkeypatch.context() as patch:
                patch.setattr(os, name, stop)
                with suppress(Killed):
                    write_checkpoint(run, 80, parts(80))
            for step in steps_of(run):
                assert read_state(step)["games"] == checkpoint.step_number(step)
            assert run / "step_40" in steps_of(run)
            shutil.rmtree(run / "step_80", ignore_errors=True)
            if survived % 2:
                write_checkpoint(run, 80, parts(80))
    write_checkpoint(run, 80, parts(80))
    assert read_state(run / "step_80")["games"] == 80
    assert not list(run.glob(".*"))


def test_unfinished_checkpoints_do_not_count(run: Path) -> None:
    shutil.copytree(run / "step_40", run / ".step_80.tmp")
    shutil.copytree(run / "step_40", run / ".step_20.old")
    (run / "step_of_mine").mkdir()
    assert steps_of(run) == [run / "step_40"]
    assert find_step(str(run), run.parent.parent) == run / "step_40"


def test_steps_are_ordered_as_numbers(tmp_path: Path) -> None:
    run = make_run(tmp_path / "r", (1000, 20, 3))
    assert [checkpoint.step_number(s) for s in steps_of(run)] == [3, 20, 1000]
    assert find_step(str(run), tmp_path).name == "step_1000"
    assert find_step(str(run / "step_20"), tmp_path).name == "step_20"


def test_the_newest_and_the_best_are_kept(tmp_path: Path) -> None:
    run = make_run(tmp_path / "r", (10, 20, 30, 40, 50))
    checkpoint.keep_newest(run, 2, best=20)
    assert [s.name for s in steps_of(run)] == ["step_20", "step_40", "step_50"]
    checkpoint.keep_newest(run, 0, best=None)
    assert [s.name for s in steps_of(run)] == ["step_50"], "one always stays"
    assert sorted(p.name for p in run.iterdir()) == ["config.yaml", "step_50"]


def test_latest_is_the_newest_run_of_the_game_or_of_all(tmp_path: Path) -> None:
    runs = [
        make_run(tmp_path / game / name) for game, name in (("hex", "b"), ("hex", "a"), ("go", "c"))
    ]
    for age, run in enumerate(reversed(runs)):
        at = time.time() - 100 * age
        os.utime(run / "config.yaml", (at, at))
    (tmp_path / "hex" / "not a run").mkdir()
    assert find_run("latest", tmp_path) == runs[2]
    assert find_run("latest", tmp_path, "hex") == runs[1]
    assert find_step("latest", tmp_path, "hex") == runs[1] / "step_40"


def test_runs_that_are_not_there(tmp_path: Path, run: Path) -> None:
    assert refusal(find_run, "/no/such", tmp_path) == "There is no run '/no/such'."
    assert "is not a run: it has no config.yaml" in refusal(find_run, str(run.parent), tmp_path)
    assert "no run of game 'go'" in refusal(find_run, "latest", tmp_path, "go")
    assert "There is no run in" in refusal(find_run, "latest", tmp_path / "empty")
    shutil.rmtree(run / "step_40")
    assert refusal(find_step, str(run), tmp_path) == f"Run '{run}' has no checkpoint yet."
    assert "has no checkpoint 'step_99'" in refusal(find_step, str(run / "step_99"), tmp_path)
