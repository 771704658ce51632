"""The READMEs of all rooms: every command is understood, what they name is there, examples run."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from athenan.command import COMMANDS, main, parse
from athenan.config import compose, sweep
from athenan.implied import completed

TOP = Path(__file__).parents[1]
READMES = {
    str(path.relative_to(TOP)): path.read_text()
    for path in [TOP / "README.md", *sorted(TOP.glob("*/README.md"))]
}
ROOMS = ("athenan", "checkpoints", "configs", "games", "scripts", "tests")
OTHERS = ("pip", "tensorboard")  # programs that are not ours
PROGRAM = re.compile(r"(athenan|\./scripts/\w+|python \S+\.py)\b(?![./:])")
PLACEHOLDER = re.compile(r"…|<\w+>")


def blocks(text: str) -> list[tuple[str, str]]:
    """The language and text of each; one without a language fits no test, so there is none."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    assert all(language in ("python", "sh", "text", "yaml", "cpp") for language, _ in found)
    return found


def lines(text: str) -> list[str]:
    """What one would type: lines of shell, and code within sentences that starts with a program."""
    found = []
    for language, block in blocks(text):
        if language == "sh":
            found += re.sub(r"\s*\\\n\s*", " ", block).splitlines()
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    for code in re.findall(r"`([^`]+)`", prose):
        placeholder = "…" in code or re.search(r"<\w+>", code)
        if (
            re.match(r"(athenan|\./scripts/\w+|python \S+\.py)\b(?![./:])", code)
            and not placeholder
        ):
            found.append(" ".join(code.split()))
    return found


def commands(text: str) -> list[list[str]]:
    """The words of each command, comments left out."""
    typed = [re.split(r"\s#", line)[0] for line in lines(text)]
    parts = [part for line in typed for part in line.split(" && ")]
    return [words for part in parts if (words := shlex.split(part))]


ALL = {
    f"{name}: {' '.join(words)}": words
    for name, text in READMES.items()
    for words in commands(text)
}


def check(words: list[str]) -> None:
    """Fails where the words are no command of ours, no script, or no program that others made."""
    while re.fullmatch(r"[A-Z_]+=\S+", words[0]):  # of the environment
        words = words[1:]
    program, *rest = words
    if program == "athenan":
        check_athenan(rest)
        return
    if program == "sbatch":
        program, _run, *settings = [word for word in rest if not word.startswith("--")]
        check_athenan(["train", "--multirun", *settings])
    if program == "python":
        program = rest[0]
    assert program in OTHERS or (TOP / program).is_file(), f"there is no '{program}'"
    if program == "./scripts/train":
        check_athenan(["train", *rest])


def check_athenan(words: list[str]) -> None:
    if not words:
        return
    name, *rest = words
    assert name in COMMANDS, f"there is no command '{name}'"
    if name == "bench":
        rest = rest[1:]
    arguments = parse(name, rest)
    if name == "games":
        assert not arguments.settings
        return
    jobs = sweep(arguments.settings) if "--multirun" in arguments.flags else [arguments.settings]
    for settings in jobs:
        words = [s for s in settings if s != "game=all"]
        # A fork's source has to be there.
        words = words if "fork=RUN" in words else completed(name, words)
        assert compose(name, words) is not None


def test_every_room_has_one() -> None:
    assert {f"{room}/README.md" for room in ROOMS} <= READMES.keys()
    assert READMES["README.md"].count("\n") <= 260, "the top README is for a newcomer"


@pytest.mark.parametrize("words", ALL.values(), ids=ALL)
def test_commands_are_understood(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(TOP)
    check(words)


def test_there_are_commands() -> None:
    ours = {words[1] for words in ALL.values() if words[0] == "athenan" and len(words) > 1}
    assert ours == COMMANDS.keys()


@pytest.mark.parametrize(
    "line",
    [
        "athenan trian game=hex",
        "athenan train game=hxe",
        "athenan train self_play.evaluation=3",
        "athena train",
        "./scripts/tset --fast",
        "python scripts/bords.py",
        "./scripts/train experment=hex7",
    ],
)
def test_a_misspelt_command_is_found(line: str) -> None:
    (words,) = commands(f"```sh\n{line}\n```\n")
    with pytest.raises((AssertionError, ValueError)):
        check(words)


@pytest.mark.parametrize("name", READMES)
def test_links_and_paths_are_there(name: str) -> None:
    """Links from where the README is; paths in code from the top or from there."""
    text, here = READMES[name], (TOP / name).parent
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (here / link).exists(), link
    for path in re.findall(r"`((?:\w+/)+[\w.]*\.(?:cpp|h|py|txt|json|yaml))`", text):
        assert (here / path).exists() or (TOP / path).exists(), path


@pytest.mark.slow
def test_solve_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    quick = [w[1:] for w in commands(READMES["README.md"]) if w[:2] == ["athenan", "solve"]]
    quick = [words for words in quick if "game.size=4" not in words and "game.rows=4" not in words]
    assert len(quick) >= 2
    assert {main(words) for words in quick} == {0}


def test_python_examples(capsys: pytest.CaptureFixture[str]) -> None:
    examples = [t for text in READMES.values() for kind, t in blocks(text) if kind == "python"]
    assert examples
    for example in examples:
        exec(compile(example, "README.md", "exec"), {})
        assert capsys.readouterr().out


@pytest.mark.slow
def test_python_examples_have_right_types(tmp_path: Path) -> None:
    """As a user's own type checker sees them, from outside the repository."""
    paths = []
    for name, text in READMES.items():
        for number, (kind, example) in enumerate(blocks(text)):
            if kind == "python":
                paths.append(tmp_path / f"{name.replace('/', '_').removesuffix('.md')}_{number}.py")
                paths[-1].write_text(example)
    assert paths
    command = [sys.executable, "-m", "mypy", "--strict", *(path.name for path in paths)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
