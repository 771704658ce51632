"""Setting up: what is missing is said in one sentence, before anything is downloaded."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

from athenan import backend

TOP = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"CXX": "no-such-compiler"}, "athenan needs a C++20 compiler"),
        ({"PYTHON": "no-such-python"}, "athenan needs Python 3.11 or newer"),
    ],
)
def test_what_is_missing_is_said_first(setting: dict[str, str], said: str, tmp_path: Path) -> None:
    for name in ("scripts", "athenan", "games"):
        shutil.copytree(TOP / name, tmp_path / name)
    shutil.copy(TOP / "pyproject.toml", tmp_path)
    environment = {**os.environ, "PYTHON": sys.executable, **setting}
    environment.pop("VENV", None)
    ran = subprocess.run(
        [tmp_path / "scripts" / "train"], env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith(said)
    assert ran.stderr.count("\n") == 1
    assert not (tmp_path / ".venv").exists()


def test_tensorflow_can_be_left_out() -> None:
    """A build for another device takes its place; pip would put the usual one over it."""
    always = [line for line in requires("athenan") or [] if "extra ==" not in line]
    assert always
    assert not any(line.startswith("tensorflow") for line in always)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("games", 0),
        ("solve", 0),
        ("match game=tictactoe games=2 first.evaluations=5", 0),
        ("check game=tictactoe games=1", 0),
        ("train experiment=tictactoe_smoke", 2),
        ("bench selfplay game=tictactoe", 2),
    ],
)
def test_without_tensorflow(command: str, code: int, tmp_path: Path) -> None:
    """What needs none works; what does says so, and leaves no run behind."""
    program = """
import sys
class Without:
    def find_spec(self, name, path=None, target=None):
        if name == "tensorflow":
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Without())
from athenan.command import main
sys.exit(main(sys.argv[1:]))
"""
    words = [sys.executable, "-c", program, *command.split()]
    ran = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == code, ran.stderr
    if code:
        assert ran.stderr == f"athenan: {backend.NO_TENSORFLOW}\n"
        assert not list(tmp_path.glob("checkpoints/*/*"))


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_an_environment_without_tensorflow(tmp_path: Path) -> None:
    """An empty one, and what follows in it: nothing brings the usual build back."""
    place = tmp_path / "environment"
    setting = {**os.environ, "VENV": str(place), "PYTHON": sys.executable}
    for words in (["own-tensorflow"], []):
        subprocess.run([TOP / "scripts" / "setup", *words], env=setting, check=True)
        code = "import importlib.util as u, sys; sys.exit(u.find_spec('tensorflow') is not None)"
        subprocess.run([place / "bin" / "python", "-c", code], check=True)
    ran = subprocess.run(
        [place / "bin" / "athenan", "doctor"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert "! TensorFlow is not installed" in ran.stdout
