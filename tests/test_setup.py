"""Setting up: what is missing is said in one sentence, before anything is downloaded."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
