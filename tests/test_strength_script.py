"""The script that measures strength at equal time: a run is a line, and a kill loses one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "strength.py"


def strength(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, SCRIPT, *words], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_is_known_is_a_table(tmp_path: Path) -> None:
    known = {
        "study": "arms", "config": "hex7", "name": "conv", "minutes": 5,
        "trained": {"games": 1200, "samples": 34567},
        "matches": {"uct": {"score": 0.5, "low": 0.43, "high": 0.57}},
    }  # fmt: skip
    results = tmp_path / "checkpoints" / "strength.jsonl"
    results.parent.mkdir()
    results.write_text(json.dumps(known) + '\n{"study": "arms", "conf')  # killed while it wrote
    lines = strength(tmp_path, "arms", "hex7", "--names", "conv", "nnue", "--table").splitlines()
    assert lines[0].split() == ["game", "run", "minutes", "games", "samples", "uct"]
    assert lines[1].split() == [
        "hex7",
        "conv",
        "5",
        "1,200",
        "34,567",
        "50.0%",
        "[43.0%,",
        "57.0%]",
    ]
    assert lines[2].split() == ["hex7", "nnue", "-", "-", "-", "-"]


@pytest.mark.slow
def test_a_run_is_made_once(tmp_path: Path) -> None:
    quick = (
        "import runpy\n"
        f"own = runpy.run_path({str(SCRIPT)!r})\n"
        "words = 'experiment=tictactoe_smoke games=20'\n"
        "one = own['Run']('games', 'tictactoe', 'quick', words, 1,\n"
        "    {'uct': 'second.search=uct second.iterations=20 first.evaluations=20'}, 4)\n"
        "own['main'].__globals__['studies'] = lambda: {'games': [one]}\n"
        "own['main'](['games'])\n"
    )
    done = [
        subprocess.run([sys.executable, "-c", quick], cwd=tmp_path, capture_output=True, text=True)
        for _ in range(2)
    ]
    assert [one.returncode for one in done] == [0, 0], done[0].stderr + done[1].stderr
    assert "athenan train" in done[0].stdout
    assert "athenan train" not in done[1].stdout
    assert done[0].stdout.splitlines()[-1] == done[1].stdout.splitlines()[-1]
    assert len((tmp_path / "checkpoints" / "strength.jsonl").read_text().splitlines()) == 1
