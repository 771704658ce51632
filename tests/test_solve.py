"""athenan solve: known results, and proofs that the rules alone confirm or reject."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import answer, figures, run

from athenan.command import main


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_solve(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures(capsys, "solve")
    assert (found["resolved"], found["outcome"], found["value"]) == (True, 0, 0)
    assert len(found["principal_variation"]) == 9
    found = figures(capsys, "solve strong=true")
    assert (found["outcome"], found["states"], found["resolved_share"]) == (0, 5478, 1)
    found = figures(capsys, "solve game=connect_four game.rows=4 game.columns=4")
    assert (found["resolved"], found["outcome"]) == (True, 0)
    found = figures(capsys, "solve game=breakthrough game.rows=4 game.columns=4")
    assert (found["resolved"], found["outcome"]) == (True, 1)
    found = figures(capsys, "solve game=othello game.size=4 strong=true heuristic=score")
    assert (found["resolved"], found["outcome"], found["value"]) == (True, -1, -8)


def test_the_winning_openings_of_hex_3(capsys: pytest.CaptureFixture[str]) -> None:
    winning = {
        cell
        for cell in ("a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3")
        if figures(capsys, f"solve game=hex game.size=3 start={cell}")["outcome"] == 1
    }
    assert winning == {"c1", "a2", "b2", "c2", "a3"}


def test_a_budget_ends_solving(capsys: pytest.CaptureFixture[str]) -> None:
    found = figures(capsys, "solve game=hex iterations=10")
    assert (found["resolved"], found["outcome"], found["iterations"]) == (False, None, 10)
    assert figures(capsys, "solve game=hex seconds=0.2")["resolved"] is False
    assert "not resolved" in answer(capsys, "solve game=hex iterations=10")
    code, _, err = run(capsys, "solve game=hex iterations=10 --out proof.npz")
    assert (code, err) == (
        2,
        "athenan: There is no proof: the search has not resolved its root.\n",
    )
    assert not list(Path().iterdir())


PROOFS = {
    "a draw": "solve",
    "every state": "solve strong=true",
    "a win": "solve game=breakthrough game.rows=4 game.columns=4",
    "a loss": "solve game=othello game.size=4",
    "from a start": ["solve", "game=hex", "game.size=3", "start=b2 a1"],
}


@pytest.mark.parametrize("words", PROOFS.values(), ids=PROOFS)
def test_proofs_are_checked(words: str | list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path = Path("proof.npz")
    words = words.split() if isinstance(words, str) else words
    made = figures(capsys, [*words, "--out", str(path)])
    found = figures(capsys, ["solve", "--check", str(path)])
    assert (found["states"], found["outcome"]) == (made["proof_states"], made["outcome"])
    assert "right: " in answer(capsys, ["solve", "--check", str(path)])
    assert [p.name for p in Path().iterdir()] == ["proof.npz"], "nothing is left beside it"

    with np.load(path) as file:
        arrays = dict(file)
    random = np.random.default_rng(0)
    for at in random.choice(len(arrays["outcomes"]), 12):
        for wrong in {-1, 0, 1} - {int(arrays["outcomes"][at])}:
            outcomes = arrays["outcomes"].copy()
            outcomes[at] = wrong
            np.savez("wrong.npz", **{**arrays, "outcomes": outcomes})
            code, out, err = run(capsys, "solve --check wrong.npz")
            assert (code, out) == (2, "")
            assert err.startswith("athenan: The proof 'wrong.npz' is wrong: ")
    for at in random.choice(len(arrays["outcomes"]), 5):
        without = {name: np.delete(arrays[name], at, axis=0) for name in ("keys", "outcomes")}
        np.savez("wrong.npz", **{**arrays, **without})
        assert run(capsys, "solve --check wrong.npz")[0] == 2


def test_damaged_proofs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "--out", "proof.npz"]) == 0
    capsys.readouterr()
    whole = Path("proof.npz").read_bytes()
    size = len(whole)
    damaged = [whole[:end] for end in (0, 1, 30, size // 2, size - 1)]
    for at in [*range(0, 300, 2), *range(300, size - 300, size // 60), *range(size - 300, size, 2)]:
        damaged.append(whole[:at] + bytes([whole[at] ^ 0x5D]) + whole[at + 1 :])
    for content in damaged:
        Path("damaged.npz").write_bytes(content)
        code, out, err = run(capsys, "solve --check damaged.npz")
        if code == 0:  # a byte that says nothing, such as a date
            assert out.startswith("right: a draw")
            continue
        assert code == 2
        assert "'damaged.npz' is" in err


@pytest.mark.parametrize(
    "about",
    [
        {"athenan_proof": 99},
        {"athenan_proof": 1},
        {"athenan_proof": 1, "game": {"name": "nogame"}, "start": "", "strong": False},
        [],
        "text",
    ],
)
def test_foreign_proofs_are_refused(about: Any, capsys: pytest.CaptureFixture[str]) -> None:
    keys, outcomes = np.zeros((1, 2), np.uint64), np.zeros(1, np.int8)
    np.savez("foreign.npz", about=json.dumps(about), keys=keys, outcomes=outcomes)
    code, _, err = run(capsys, "solve --check foreign.npz")
    assert code == 2
    assert err.count("\n") == 1
