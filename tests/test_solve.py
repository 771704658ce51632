"""athenan solve: known results, and proofs that the rules alone confirm or reject."""

import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import answer, figures, run

import athenan
from athenan import _core
from athenan.command import main
from athenan.proofs import check


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


def test_depth_counts_from_where_training_counts(capsys: pytest.CaptureFixture[str]) -> None:
    """Twice the nine plies of a random game: a win after the fifth is worth 18 - 5 + 1."""
    words = ["solve", "heuristic=additive_depth", "strong=true", "start=a1 b1 a2 b2"]
    assert figures(capsys, words)["value"] == 14
    assert figures(capsys, [*words, "heuristic.longest=9"])["value"] == 5


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


def test_strays_and_disorder_are_named() -> None:
    game = athenan.make_game("tictactoe")
    root = game.initial_state()
    search = athenan.make_search("descent", game, "hash")
    search.run(root)
    keys, outcomes = _core.make_proof(search.core, False)
    assert _core.check_proof(root, keys, outcomes, False) == ""
    stray = np.concatenate([keys, keys[-1:] + np.uint64(1)]), np.append(outcomes, outcomes[-1:])
    assert "1 of its states are not part" in _core.check_proof(root, *stray, False)
    backwards = keys[::-1].copy(), outcomes[::-1].copy()
    assert _core.check_proof(root, *backwards, False) == "its keys do not ascend"


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


def write(name: str, states: dict[int, int], **about: Any) -> None:
    """A proof file of these keys and outcomes."""
    keys = np.array([[key & (2**64 - 1), key >> 64] for key in sorted(states)], np.uint64)
    outcomes = np.array([states[key] for key in sorted(states)], np.int8)
    said = {"athenan_proof": 1, "start": "", "strong": False, "outcome": 1, **about}
    np.savez(name, about=json.dumps(said), keys=keys.reshape(-1, 2), outcomes=outcomes)


OVER = "a1 a2 b1 b2 c1"  # tic-tac-toe, won by the first player


@pytest.mark.parametrize("outcome", [1, 0, -1, 2, True, 1.0, "x", None, [1]])
def test_a_start_that_is_over_has_its_own_outcome(
    outcome: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    write("over.npz", {}, game={"name": "tictactoe"}, start=OVER, outcome=outcome)
    code, out, err = run(capsys, "solve --check over.npz")
    assert code == (0 if outcome == 1 and type(outcome) is int else 2)
    assert code == 0 or (out, err.count("\n")) == ("", 1)


def test_a_proof_of_three_players_has_values(capsys: pytest.CaptureFixture[str]) -> None:
    game = {"name": "mnk", "rows": 1, "columns": 3, "k": 3, "players": 3}
    state = athenan.make_game(**game).initial_state()
    states = {}
    while not state.is_terminal:
        states |= {state.play(action).key: 0 for action in state.legal_actions()} | {state.key: 0}
        state = state.play(state.legal_actions()[0])
    for proof in (states, {}):
        write("three.npz", proof, game=game, outcome=0)
        code, _, err = run(capsys, "solve --check three.npz")
        assert (code, "is wrong: it " in err) == (2, True)


# ---- Three players and more ------------------------------------------------------------

MAXN_PROOFS = {
    "tic-tac-mo 3x3x3": "solve game=tic_tac_mo game.columns=3",
    "every state": "solve game=tic_tac_mo game.columns=3 strong=true",
    "a win": "solve game=mnk game.players=3 game.rows=2 game.columns=3 game.k=2",
    "by depth": "solve game=tic_tac_mo game.columns=3 heuristic=additive_depth",
    "four players": "solve game=mnk game.players=4 game.rows=3 game.columns=3 game.k=2",
}


def test_three_players_are_solved(capsys: pytest.CaptureFixture[str]) -> None:
    """The search is the one whose values are vectors, without being asked for."""
    found = figures(capsys, "solve game=tic_tac_mo game.columns=3")
    assert (found["resolved"], found["outcome"]) == (True, [0, 0, 0])
    text = answer(capsys, "solve game=mnk game.players=3 game.rows=2 game.columns=3 game.k=2")
    assert "player wins, value " in text
    code, _, err = run(capsys, "solve game=tic_tac_mo search=descent")
    assert (code, err.count("\n")) == (2, 1)
    assert "'mnk' has 3: take 'maxn_descent' or 'maxn_ubfm'." in err


@pytest.mark.parametrize("words", MAXN_PROOFS.values(), ids=MAXN_PROOFS)
def test_proofs_of_vectors_are_checked(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    made = figures(capsys, f"{words} --out proof.npz")
    found = figures(capsys, "solve --check proof.npz")
    assert (found["states"], found["outcome"]) == (made["proof_states"], made["outcome"])
    assert found["value"] == made["value"]

    with np.load("proof.npz") as file:
        arrays = dict(file)
    random = np.random.default_rng(0)
    size, players = arrays["outcomes"].shape
    for name, change in (("outcomes", 1), ("values", 0.5)):
        for at in random.choice(size, 15):
            wrong = arrays[name].copy()
            player = random.integers(players)
            wrong[at, player] += -change if wrong[at, player] > 0 else change
            np.savez("wrong.npz", **{**arrays, name: wrong})
            code, out, err = run(capsys, "solve --check wrong.npz")
            assert (code, out) == (2, "")
            assert err.startswith("athenan: The proof 'wrong.npz' is wrong: ")
    for at in random.choice(size, 5):
        names = ("keys", "outcomes", "values")
        without = {name: np.delete(arrays[name], at, axis=0) for name in names}
        np.savez("wrong.npz", **{**arrays, **without})
        assert run(capsys, "solve --check wrong.npz")[0] == 2
    about = json.loads(str(arrays["about"]))
    for wrong_about in ({"value": [7, 7, 7]}, {"outcome": [1] * players}, {"heuristic": "none"}):
        np.savez("wrong.npz", **{**arrays, "about": json.dumps({**about, **wrong_about})})
        code, _, err = run(capsys, "solve --check wrong.npz")
        assert (code, "is wrong: " in err) == (2, True)
    for damaged in ({"value": 0}, {"longest": -1}, {"longest": "x"}, {"outcome": 0}):
        np.savez("wrong.npz", **{**arrays, "about": json.dumps({**about, **damaged})})
        code, _, err = run(capsys, "solve --check wrong.npz")
        assert (code, "is not a whole proof file" in err) == (2, True)


def test_any_win_proves_no_value(capsys: pytest.CaptureFixture[str]) -> None:
    words = "solve game=tic_tac_mo game.columns=3 search.wins_enough=any --out proof.npz"
    code, _, err = run(capsys, words)
    assert (code, "proves no value of Max^n" in err) == (2, True)


BOARDS = {  # rows, columns, how many in a row, players
    "three by three": (3, 3, 3, 3),
    "a win in two": (2, 3, 2, 3),
    "four players": (3, 3, 2, 4),
    "four players, three in a row": (3, 3, 3, 4),
    "four by three": (4, 3, 3, 3),
}


@pytest.fixture(scope="module")
def brute_force(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler on the PATH")
    program = tmp_path_factory.mktemp("brute") / "brute_maxn"
    source = Path(__file__).with_name("search") / "brute_maxn.cpp"
    subprocess.run([compiler, "-std=c++20", "-O2", str(source), "-o", str(program)], check=True)
    return program


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_several_players_end_as_brute_force_allows(
    board: tuple[int, int, int, int], brute_force: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program that shares nothing with ours gives all outcomes that ties allow."""
    rows, columns, line, players = board
    told = subprocess.run([brute_force, *map(str, board)], capture_output=True, text=True)
    possible = [
        [0] * players if word == "draw" else [1 if p == int(word) else -1 for p in range(players)]
        for word in told.stdout.split()
    ]
    assert possible
    words = f"solve game=mnk game.rows={rows} game.columns={columns} game.k={line}"
    for wins in ("global", "local"):
        found = figures(capsys, f"{words} game.players={players} search.wins_enough={wins}")
        assert found["resolved"]
        assert found["outcome"] in possible


# ---- Games of one's own ----------------------------------------------------------------


@dataclass(frozen=True)
class RingState(athenan.PythonState):
    """Two states round and round, from either of which one may also give up; the keys repeat."""

    at: int = 0
    ply: int = 0

    @property
    def to_move(self) -> int:
        return 0

    @property
    def outcomes(self) -> tuple[int, int] | None:
        return (-1, 1) if self.at == 2 else None

    def legal_actions(self) -> list[int]:
        return [] if self.at == 2 else [0, 1]

    def play(self, action: int) -> "RingState":
        return RingState(1 - self.at if action == 0 else 2, self.ply + 1)

    @property
    def key(self) -> int:
        return self.at + 1

    def planes(self) -> np.ndarray[Any, Any]:
        return np.full((1, 1, 1), self.at % 2, np.uint8)


class Ring(athenan.PythonGame):
    max_plies = 100
    plane_shape = (1, 1, 1)

    def initial_state(self) -> RingState:
        return RingState()


def test_states_that_support_one_another_prove_nothing() -> None:
    name = f"{__name__}:Ring"
    for outcome in (1, 0):
        write("ring.npz", {1: outcome, 2: outcome}, game={"name": name}, outcome=outcome)
        with pytest.raises(athenan.InputError, match="support one another in a circle"):
            check(Path("ring.npz"), name)


def test_a_file_imports_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """A proof of a game of one's own is checked when the user names the game, too."""
    path = Path("own_nim.py")
    path.write_text("from nim import Nim\nopen('ran', 'w')\n")
    words = ["solve", "game=own_nim:Nim", "game.heaps=[1,2]", "--out", "proof.npz"]
    made = figures(capsys, words)
    assert made["resolved"]
    Path("ran").unlink()
    del sys.modules["own_nim"]
    code, _, err = run(capsys, "solve --check proof.npz")
    assert (code, err.count("\n")) == (2, 1)
    assert "'proof.npz' is of game 'own_nim:Nim', whose code would run: name the game" in err
    code, _, err = run(capsys, "solve --check proof.npz game=nim:Nim")
    assert (code, "is a proof of game 'own_nim:Nim', not of 'nim:Nim'" in err) == (2, True)
    assert not Path("ran").exists()
    found = figures(capsys, "solve --check proof.npz game=own_nim:Nim")
    assert found["outcome"] == made["outcome"]
