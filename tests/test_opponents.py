"""The script that plays against other people's programs: each match once, and a kill loses one."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from athenan.external.program import PLACES
from athenan.saved_games import read_games

SCRIPT = Path(__file__).parents[1] / "scripts" / "opponents.py"


def opponents(folder: Path, *words: str) -> str:
    told = [sys.executable, SCRIPT, *words, "--games", "2", "--evaluations", "5"]
    done = subprocess.run(
        [*told, "--out", "found.jsonl"], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_that_is_absent_says_how_to_get_it(tmp_path: Path) -> None:
    out = opponents(tmp_path, "ataxx=hash", "--only", "skill 20")
    assert "hash against fairy_wasm skill 20 in ataxx: " in out
    assert "npm install fairy-stockfish-nnue.wasm" in out
    assert out.splitlines()[-1].split()[:2] == ["ataxx", "uct"]
    assert not (tmp_path / "found.jsonl").exists()


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("gtp-rhino", path=PLACES), reason="apt install grhino")
def test_matches_are_lines_and_are_played_once(tmp_path: Path) -> None:
    words = ("othello=hash", "--only", "level 1")
    assert "uct against grhino level 1 in othello: " in opponents(tmp_path, *words)
    path = tmp_path / "found.jsonl"
    lines = path.read_text().splitlines()
    assert [json.loads(line)["player"] for line in lines] == ["hash", "uct"]
    assert len(list(read_games(tmp_path / "found.games.jsonl"))) == 4
    path.write_text(lines[0] + "\n" + lines[1][:40])  # killed while it wrote
    out = opponents(tmp_path, *words)
    assert "hash against grhino level 1 in othello: " not in out
    assert len(path.read_text().splitlines()) == 3
    assert [line.count("%") for line in out.splitlines()[-2:]] == [3, 3]
