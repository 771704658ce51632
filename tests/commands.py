"""Commands run in this process, for the tests of the program."""

import json
from typing import Any

import pytest

from athenan.command import main


def run(capsys: pytest.CaptureFixture[str], words: str | list[str]) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    code = main(words.split() if isinstance(words, str) else words)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def answer(capsys: pytest.CaptureFixture[str], words: str | list[str]) -> str:
    code, out, err = run(capsys, words)
    assert (code, err) == (0, "")
    return out


def figures(capsys: pytest.CaptureFixture[str], words: str | list[str]) -> dict[str, Any]:
    words = words.split() if isinstance(words, str) else words
    found: dict[str, Any] = json.loads(answer(capsys, [*words, "--json"]).splitlines()[-1])
    return found
