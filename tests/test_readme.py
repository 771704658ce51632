"""The README's commands: every one is understood, the quick ones run, the Python example works."""

import re
import shlex
from pathlib import Path

import pytest

from athenan.command import COMMANDS, main, parse
from athenan.config import compose, sweep

README = (Path(__file__).parents[1] / "README.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, re.DOTALL)


def commands() -> list[list[str]]:
    """The words of every `athenan …` line in a block without a language."""
    found = []
    for language, text in BLOCKS:
        if language:
            continue
        for line in text.replace("\\\n", " ").splitlines():
            for part in re.split(r" && ", line.split("  #")[0].split(" # ")[0]):
                words = shlex.split(part) if part.lstrip().startswith("athenan ") else []
                if len(words) > 1 and words[1] in COMMANDS:
                    found.append(words[1:])
    return found


def test_there_are_commands() -> None:
    assert {words[0] for words in commands()} >= {"train", "match", "play", "solve", "bench"}


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_commands_are_understood(words: list[str]) -> None:
    name, rest = words[0], words[1:]
    if name == "games":
        assert main(words) == 0
        return
    if name == "bench":
        rest = rest[1:]
    arguments = parse(rest, ("--out", "--check", "--multirun"), valueless=("--multirun",))
    jobs = sweep(arguments.settings) if "--multirun" in arguments.flags else [arguments.settings]
    for settings in jobs:
        settings = [s for s in settings if s != "game=all"]
        assert compose(name, settings) is not None


@pytest.mark.slow
def test_solve_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    quick = [w for w in commands() if w[0] == "solve" and "connect_four" not in " ".join(w)]
    ran = [main(words) for words in quick if "game.size=4" not in words]
    assert ran
    assert set(ran) == {0}


def test_python_example(capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = [text for language, text in BLOCKS if language == "python"]
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out
