"""Files that are damaged, foreign or hostile: one sentence and exit code 2, no hang, no traceback.

Every file of an export, a checkpoint, a replay and a proof in turn, and settings that are too much.
"""

import io
import json
import os
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run

import athenan
from athenan.checkpoint import steps_of
from athenan.command import main
from athenan.config import load_config
from athenan.replay_files import read_block

pytestmark = pytest.mark.timeout(120)  # a hang is a failure, not a wait


def replaced(content: bytes) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.write_bytes(content)

    return damage


def cut(share: float) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        content = path.read_bytes()
        path.write_bytes(content[: int(share * (len(content) - 1))])

    return damage


def remove(path: Path) -> None:
    path.unlink()


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_device(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def arrays(shape: str, dtype: str = "<f4", name: str = "000000") -> bytes:
    """An .npz file of one array whose header promises this and which has eight bytes."""
    header = f"{{'descr': {dtype!r}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + b"\0" * 8
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{name}.npy", content)
    return file.getvalue()


def bomb() -> bytes:
    """A thousand zeros for each byte of the file."""
    file = io.BytesIO()
    np.savez_compressed(file, **{"000000": np.zeros(2**26, np.uint8)})
    return file.getvalue()


DAMAGES: dict[str, Callable[[Path], None]] = {
    "missing": remove,
    "empty": replaced(b""),
    "cut in half": cut(0.5),
    "cut at its end": cut(1),
    "foreign": replaced(b"\xff\xfe\x00 nothing of athenan \x80"),
    "nested": replaced(b"[" * 200_000),
    "referring to itself": replaced(
        b"a: &a [x]\n" + b"".join(b"%c: &%c [*%c, *%c]\n" % (i + 1, i + 1, i, i)
                                  for i in range(97, 121))
    ),
    "a folder": make_folder,
    "a pipe": make_pipe,
    "endless": make_device,
    "a huge array": replaced(arrays("(1099511627776, 1048576)")),
    "a negative array": replaced(arrays("(-2,)")),
    "an array of objects": replaced(arrays("(1,)", "|O")),
    "an unreadable header": replaced(arrays("((((((((")),
    "a bomb": replaced(bomb()),
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run, its export in two formats, and a proof."""
    folder = tmp_path_factory.mktemp("whole")
    words = ["experiment=tictactoe_smoke", "strength.every_checkpoints=0", "network.layers=1"]
    words += ["learn.first_fit_states=128", "self_play.evaluations=8", "games=4", "run=run"]
    assert main(["train", *words, f"checkpoints={folder}"]) == 0
    (folder / "tictactoe" / "run").rename(folder / "run")
    words = ["formats=[tflite,onnx]", "vectors=5", f"out={folder / 'out'}"]
    assert main(["export", f"checkpoint={folder / 'run'}", *words]) == 0
    assert main(["solve", "--out", str(folder / "proof.npz")]) == 0
    return folder


EXPORT = ["README.md", "evaluator.json", "network.onnx", "network.tflite", "states.json",
          "vectors.npz"]  # fmt: skip
STEP = ["config.yaml", "optimizer.npz", "resolved.npz", "state.json", "trees.npz", "weights.npz"]
FILES = {
    **{f"out/{name}": ["solve", "iterations=1", "evaluator=out"] for name in EXPORT},
    **{f"step/{name}": ["solve", "iterations=1", "evaluator=step"] for name in STEP},
    "out.zip": ["solve", "iterations=1", "evaluator=out.zip"],
    "proof.npz": ["solve", "--check", "proof.npz"],
}
# What has no checksum beside it, so that a bit may go unnoticed where it says nothing.
OPEN = {"out/evaluator.json", "out.zip", "proof.npz"}


@pytest.fixture
def copy(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in whole.iterdir():
        if path.is_dir():
            shutil.copytree(path, tmp_path / path.name)
        else:
            shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def place_of(folder: Path, name: str) -> tuple[Path, list[str]]:
    """A file by its name in FILES, and the command that reads it."""
    step = steps_of(folder / "run")[-1]
    words = [word.replace("=step", f"={step}") for word in FILES[name]]
    return (step / name.removeprefix("step/") if name.startswith("step/") else folder / name), words


def restore(path: Path, content: bytes) -> None:
    if path.is_dir():
        path.rmdir()
    else:
        path.unlink(missing_ok=True)
    path.write_bytes(content)


def refused(capsys: pytest.CaptureFixture[str], words: list[str]) -> str:
    """The one sentence that a command ends with."""
    code, out, err = run(capsys, words)
    assert (code, out) == (2, ""), err
    assert err.startswith("athenan: ")
    assert err.count("\n") == 1, err
    return err


def test_every_file_is_tried(whole: Path) -> None:
    for folder, files in ((whole / "out", EXPORT), (steps_of(whole / "run")[-1], STEP)):
        assert sorted(path.name for path in folder.iterdir()) == files


@pytest.mark.parametrize("name", FILES)
def test_any_damage_is_damage(name: str, copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, words = place_of(copy, name)
    whole = path.read_bytes()
    for what, damage in DAMAGES.items():
        damage(path)
        assert name.partition("/")[0] in refused(capsys, words), what
        restore(path, whole)
    random = np.random.default_rng(0)
    for at in random.integers(0, len(whole), 12):
        bit = 1 << int(random.integers(8))
        path.write_bytes(whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1 :])
        if name in OPEN:
            code, _, err = run(capsys, words)
            assert code == 0 or (code == 2 and err.startswith("athenan: ")), err
        else:
            refused(capsys, words)


def test_configs_and_replays_alone(copy: Path) -> None:
    replay = next((copy / "run" / "replay").glob("*.npz"))
    config = copy / "run" / "config.yaml"
    readers: list[tuple[Path, Callable[[Path], Any]]] = [
        (replay, read_block),
        (config, load_config),
    ]
    for path, read in readers:
        whole = path.read_bytes()
        for what, damage in DAMAGES.items():
            if path == config and what == "cut at its end":
                continue  # a newline
            damage(path)
            with pytest.raises(athenan.InputError, match=path.stem):
                read(path)
            restore(path, whole)
        read(path)


# Facts of an export that are of a wrong type or too much, each with right checksums.
FACTS: dict[str, Any] = {
    "version": [None, "x", [], 1e400, -(2**70)],
    "game": [None, "tictactoe", {}, {"name": None}, {"name": ["hex"]}, {"name": "hex", "size": {}},
             {"name": ":"}, {"name": "..:x"}, {"name": "hex", "size": 10**30}],
    "rules": [None, {}, {"name": "tictactoe", "fingerprint": None}],
    "planes": [{"shape": [3, 3]}, {"shape": [3, 3, 1e300]}, {"shape": None}],
    "values": [{"heuristic": {"name": 3, "longest": 0}}, {"heuristic": []}],
    "formats": [{}, {"unknown": {}}, [], ["tflite"], None],
    "files": [None, [], {"../proof.npz": "0"}, {"/dev/zero": "0"}, {"network.tflite": None}],
}  # fmt: skip


@pytest.mark.parametrize("fact", FACTS)
def test_wrong_facts_of_an_export(
    fact: str, copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = copy / "out" / "evaluator.json"
    facts = json.loads(path.read_text())
    for value in FACTS[fact]:
        path.write_text(json.dumps({**facts, fact: value}))
        with pytest.raises(athenan.InputError):
            athenan.load_evaluator("out")
    del facts[fact]
    path.write_text(json.dumps(facts))
    refused(capsys, FILES["out/evaluator.json"])


@pytest.mark.parametrize(
    "words",
    [
        "network.filters=100000",
        "network.layers=5000",
        "network.filters=4096 network.layers=200",
        "network.kind=residual network.filters=2048 network.layers=10",
        "game=go19 network.filters=256 network.dense=65536",
        "minutes=inf",
        "minutes=nan",
        "self_play.evaluations=18446744073709551616",
        "self_play.games_in_step=1e12",
        "learn.batch_size=-1",
    ],
)
def test_too_much_is_refused_before_anything_starts(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(capsys, ["train", *words.split()])
    assert list(tmp_path.rglob("*.yaml")) == []


def test_texts_that_are_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Names of files may be bytes of no encoding; what is printed is UTF-8 all the same."""
    monkeypatch.chdir(tmp_path)
    with (
        open(os.dup(1), "w", encoding="utf-8") as out,
        open(os.dup(2), "w", encoding="utf-8") as err,
    ):
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        assert main(["solve", "--check", "no\udcffthing.npz"]) == 2
        assert main(["solve", "--out", "\udcff.npz"]) == 0
        assert main(["solve", "start=\udcff"]) == 2
        assert main(["solve", "evaluator=\udcff"]) == 2
    captured = capfdbinary.readouterr()
    assert "no\\udcffthing.npz" in captured.err.decode()
    assert "\\udcff.npz" in captured.out.decode()
