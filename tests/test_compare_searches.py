"""The script that compares searches: each match once, and a kill loses one."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "compare_searches.py"


def compare(folder: Path, *words: str) -> str:
    told = [sys.executable, SCRIPT, "tictactoe=hash", "--games", "4", "--opening-plies", "1"]
    done = subprocess.run(
        [*told, "--evaluations", "20", "--out", "found.jsonl", *words],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_matches_are_lines_and_are_played_once(tmp_path: Path) -> None:
    path = tmp_path / "found.jsonl"
    out = compare(tmp_path, "--searches", "puct", "descent")
    lines = path.read_text().splitlines()
    assert [json.loads(line)["search"] for line in lines] == ["puct", "descent"]
    assert out.splitlines()[-3].split() == ["search", "tictactoe,", "20"]
    assert "puct on tictactoe: " in out
    path.write_text(lines[0] + "\n" + lines[1][:40])  # killed while it wrote
    out = compare(tmp_path, "--searches", "puct", "descent", "umb")
    assert "puct on tictactoe: " not in out
    found = path.read_text().splitlines()
    assert (found[0], found[2]) == (lines[0], lines[1])
    assert len(found) == 4
    table = out.splitlines()[-3:]
    assert [line.split()[0] for line in table] == ["puct", "descent", "umb"]
    assert all("%" in line for line in table)
