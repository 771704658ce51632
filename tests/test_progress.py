"""The line about long work: it fits any terminal, and what matters most is what is seen."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from terminal import Terminal, terminal

from athenan.progress import Progress, columns, fitted

PARTS = ["1:05", "8:55 left", "1234 games", "uct 85%", "loss 0.0312", "75k states/s",
         "1.21M samples", "checkpoint in 266 games"]  # fmt: skip


@pytest.fixture(autouse=True)
def _a_usual_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")


def progress(screen: Terminal) -> Progress:
    made = Progress(out=screen.out)
    made.interval = 0.0
    return made


@pytest.fixture(params=[20, 60, 80, 200])
def screen(request: pytest.FixtureRequest) -> Iterator[Terminal]:
    with terminal(request.param) as made:
        yield made


def test_columns() -> None:
    assert columns("abc é") == 5
    assert columns("e\u0301") == 1, "an accent that joins its letter takes no place"
    assert columns("囲碁") == 4
    assert columns("█ …") == 3


def test_the_last_parts_are_left_out_first() -> None:
    assert fitted(["a", "bb", "ccc"], 10) == "a  bb  ccc"
    assert fitted(["a", "bb", "ccc"], 9) == "a  bb"
    assert fitted(["a", "囲碁"], 7) == "a  囲碁"
    assert fitted(["a", "囲碁"], 6) == "a"
    assert fitted(["abcdef", "g"], 4) == "abcd"
    assert fitted(["囲碁"], 3) == "囲"
    assert fitted(["a\nb\x1b[2J"], 20) == "a?b?[2J", "a name cannot move the cursor"
    assert fitted([], 9) == fitted(["a"], 0) == ""


@given(st.lists(st.text()), st.integers(0, 50))
def test_a_line_is_never_too_long(parts: list[str], width: int) -> None:
    assert columns(fitted(parts, width)) <= width


def test_one_line_at_any_width(screen: Terminal) -> None:
    with progress(screen) as shown:
        for number in range(50):
            shown.show([f"{number} s", *PARTS, "囲碁 e\u0301"])
            (line,) = screen.lines()
            assert line.startswith(f"{number} s  1:05")
            assert screen.most_rows == 1
            assert columns(line) < screen.columns
        assert ("checkpoint in" in line) == (screen.columns == 200)
        assert ("uct 85%" in line) == (screen.columns >= 60)
        shown.show(["short"])
        assert screen.lines() == ["short"], "nothing of a longer one stays"
    assert screen.lines() == []


def test_it_follows_the_terminal_when_it_is_made_narrower_or_wider() -> None:
    with terminal(120) as screen, progress(screen) as shown:
        print("before", file=screen.out, flush=True)
        for width in (120, 60, 30, 100):
            screen.resize(width)
            shown.show(PARTS)
            before, line = screen.lines()
            assert before == "before"
            assert line == fitted(PARTS, width - 1)


def test_other_lines_stand_above_it(screen: Terminal) -> None:
    with progress(screen) as shown:
        for number in range(3):
            shown.show(PARTS)
            shown.clear()
            print(f"line {number}", file=screen.out, flush=True)
        shown.show(PARTS)
        *above, line = screen.lines()
        assert above == ["line 0", "line 1", "line 2"]
        assert line.startswith("1:05")


def test_after_other_lines_it_comes_at_once() -> None:
    with terminal(80) as screen, Progress(out=screen.out) as shown:
        shown.show(["first"])
        shown.show(["too soon"])
        assert screen.lines() == ["first"]
        shown.clear()
        shown.show(["second"])
        assert screen.lines() == ["second"]


def test_plain_lines_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "out").open("w") as out, Progress(0.0, out) as shown:
        shown.show(PARTS)
        shown.clear()
    assert (tmp_path / "out").read_text() == "  ".join(PARTS) + "\n"
    monkeypatch.setenv("TERM", "dumb")
    with terminal(40) as screen, Progress(0.0, screen.out) as shown:
        assert not shown.live, "a terminal that knows no codes gets none"


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        ("solve game=hex seconds=2.5", "states"),
        ("match game=hex games=400 first.search=uct first.iterations=400 "
         "second.search=uct second.iterations=400", "/400 games"),
    ],
)  # fmt: skip
def test_commands_keep_to_one_line(words: str, seen: str, tmp_path: Path) -> None:
    """Also while somebody makes the terminal narrower."""
    with terminal(100) as screen:
        command = [sys.executable, "-m", "athenan.command", *words.split()]
        run = subprocess.Popen(
            command, stdin=screen.slave, stdout=screen.slave, stderr=screen.slave, cwd=tmp_path
        )
        try:
            for width in (100, 50, 24):
                screen.resize(width)
                ends = time.monotonic() + 20
                before = screen.lines()
                while (
                    screen.lines() in (before, []) or seen not in screen.lines()[-1]
                ) and time.monotonic() < ends:
                    screen.read(0.1)
                *_, line = screen.lines()
                assert seen in line
                assert columns(line) < width
        finally:
            run.kill()
            run.wait()
