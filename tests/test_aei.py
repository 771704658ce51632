"""`athenan aei`: setups, turns, clocks; in a round robin of AEI's own tools; junk."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from protocols import fuzzed, heard_all, made

from athenan.aei import Aei
from athenan.lines import LongLine

BIN = Path(sys.executable).parent


class Spoken:
    def __init__(self, *words: str) -> None:
        self.aei, self.said = made("aei", Aei, *words)

    def ask(self, line: str) -> str:
        self.said.clear()
        assert self.aei.hear(line)
        return "".join(self.said)

    def best(self, line: str) -> str:
        self.said.clear()
        assert self.aei.hear(line)
        end = time.monotonic() + 60
        while "bestmove" not in "".join(self.said):
            assert time.monotonic() < end, self.said
            time.sleep(0.002)
        found = re.findall(r"^bestmove (.*)$", "".join(self.said), re.MULTILINE)
        assert len(found) == 1
        return str(found[0])


@pytest.fixture
def aei() -> Spoken:
    return Spoken()


def test_turns(aei: Spoken) -> None:
    lines = aei.ask("aei").splitlines()
    assert lines[0] == "protocol-version 1"
    assert lines[-1] == "aeiok"
    assert aei.ask("isready") == "readyok\n"
    aei.ask("newgame")
    for number in range(8):
        move = aei.best("go")
        words = move.split()
        assert len(words) == 16 if number < 2 else 1 <= len(words) <= 12
        assert aei.ask(f"makemove {move}") == ""
    text = aei.aei.translator.write_position(aei.aei.engine.state)
    assert aei.ask(f"setposition {text}") == ""
    assert aei.best("go")
    aei.ask("go infinite")
    time.sleep(0.05)
    assert "bestmove" not in "".join(aei.said)
    assert aei.ask("stop").count("bestmove ") == 1


def test_clocks(aei: Spoken) -> None:
    assert aei.aei.budget() == aei.aei.engine.budget
    for name, value in (("tcmove", 2), ("tcreserve", 20), ("greserve", 10), ("moveused", 0)):
        assert aei.ask(f"setoption name {name} value {value}") == ""
    assert 2 < (aei.aei.budget().seconds or 0) < 2.5
    aei.ask("setoption name tcturntime value 1")
    assert (aei.aei.budget().seconds or 0) < 1
    assert aei.ask("setoption name opponent value somebody") == ""
    started = time.monotonic()
    aei.aei.engine.budget = type(aei.aei.engine.budget)()
    assert aei.best("go")
    assert time.monotonic() - started < 1.5


def test_what_is_wrong_is_logged(aei: Spoken) -> None:
    state = aei.aei.engine.state
    for wrong in (
        "nonsense", "makemove Ra1", "makemove", "setposition g", "setposition g [x]",
        "setoption x", "setoption name tcmove value x", "setoption name hashh value 5",
    ):  # fmt: skip
        assert aei.ask(wrong).startswith("log Error: ")
        assert aei.aei.engine.state == state


@pytest.mark.slow
@pytest.mark.skipif(not (BIN / "roundrobin").exists(), reason="AEI is not installed (pip: AEI)")
def test_a_round_robin_against_the_simple_engine(tmp_path: Path) -> None:
    (tmp_path / "roundrobin.cfg").write_text(
        "[global]\nbots = ours simple\nrounds = 1\ntimecontrol = 1s/5s/100/0/30\n\n"
        f"[ours]\ncmdline = {sys.executable} -m athenan.command aei evaluator=rollout "
        "evaluations=20\n\n"
        f"[simple]\ncmdline = {BIN / 'simple_engine'}\n"
    )
    assert shutil.which(str(BIN / "roundrobin"))
    done = subprocess.run(
        [BIN / "roundrobin", "--config", "roundrobin.cfg"],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = re.search(r"^(ours|simple) beat (ours|simple) because of (\w)", done.stdout, re.M)
    assert found, done.stdout
    assert found[3] in "gmere", "by the rules: neither time nor an illegal move"
    assert "ours has 1 wins" in done.stdout or found[1] == "simple"


PIECES = [
    "aei", "isready", "newgame", "setposition", "makemove", "setoption", "go", "ponder", "infinite",
    "stop", "name", "value", "tcmove", "tcreserve", "greserve", "opponent", "5", "-1", "nan", "g",
    "Ra1", "Ra1 Rb1 Rc1 Rd1 Re1 Rf1 Rg1 Rh1 Ea2 Mb2 Hc2 Hd2 De2 Df2 Cg2 Ch2", "Ee2n", "rc3x",
    "[rrrrrrrrhdcemcdh                                HDCMECDHRRRRRRRR]", "pass", "go",
]  # fmt: skip


def fuzz(lines: int, seed: int) -> None:
    at = Spoken()
    chance = random.Random(seed)

    def hear(line: str) -> bool:
        if chance.random() < 0.02:
            at.aei.times.clear()  # or each thought takes as long as it may
        return line.split()[:1] == ["quit"] or at.aei.hear(line)

    heard_all(hear, fuzzed(PIECES, lines, seed))
    at.aei.hear(LongLine())
    at.aei.close()
    starts = ("protocol-version", "id ", "aeiok", "readyok", "info ", "bestmove ", "log ")
    assert all(line.startswith(starts) for line in "".join(at.said).splitlines())
    assert at.ask("isready") == "readyok\n"


def test_junk_is_answered() -> None:
    fuzz(2000, 1)


@pytest.mark.long
def test_much_junk_is_answered() -> None:
    fuzz(100_000, 2)
