"""Proofs as knowledge of a game's ends: any search that takes them answers right from them."""

from pathlib import Path

import numpy as np
import pytest
from commands import answer, figures, run

import athenan
from athenan.players import player_of
from athenan.proofs import Proof, load_proof
from athenan.search import search_types

TAKING = [entry["name"] for entry in search_types() if entry["consults"]]
SMALL = "game=connect_four game.rows=4 game.columns=4"  # a draw


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def game() -> athenan.Game:
    return athenan.make_game("connect_four", rows=4, columns=4)


@pytest.fixture
def proof(capsys: pytest.CaptureFixture[str], game: athenan.Game) -> Proof:
    figures(capsys, f"solve {SMALL} --out proof.npz")
    return load_proof("proof.npz", game)


def test_what_takes_proofs() -> None:
    assert {"ubfm", "descent", "umb", "puct"} <= set(TAKING)
    assert not {"uct", "random"} & set(TAKING)


@pytest.mark.parametrize("name", TAKING)
def test_with_a_proof_the_start_is_known_at_once(
    name: str, proof: Proof, game: athenan.Game
) -> None:
    """And after every action by either side that the proof has an answer to."""
    alone = athenan.make_search(name, game, "hash").run(game.initial_state(), evaluations=500)
    assert not alone.resolved
    search = athenan.make_search(name, game, "hash", resolved=proof)
    result = search.run(game.initial_state(), evaluations=500)
    assert (result.resolved, result.completion, result.value) == (True, 0, 0)
    assert result.iterations <= 1
    exact = {}
    for action in game.initial_state().legal_actions():
        child = game.initial_state().play(action)
        exact[action] = athenan.make_search("descent", game, "hash").run(child).completion
    assert {c.action: c.completion for c in result.children} == exact
    assert exact[result.action] == 0


@pytest.mark.parametrize("name", ["ubfm", "puct"])
def test_a_strong_proof_plays_without_fault(
    name: str, capsys: pytest.CaptureFixture[str], game: athenan.Game
) -> None:
    figures(capsys, f"solve {SMALL} strong=true --out strong.npz")
    proof = load_proof("strong.npz", game)
    random = np.random.default_rng(0)
    for player in (0, 1):
        for _ in range(10):
            state = game.initial_state()
            search = athenan.make_search(name, game, "hash", resolved=proof)
            while not state.is_terminal:
                own = state.to_move == player
                if own:
                    result = search.run(state, iterations=2)
                    assert result.resolved
                    before = result.completion
                state = state.play(
                    result.action if own else int(random.choice(state.legal_actions()))
                )
                if own:
                    after = search.run(state, iterations=2)
                    assert after.completion == before
            assert state.outcomes is not None
            assert state.outcomes[player] >= 0


def test_files_are_given_by_name_everywhere(
    proof: Proof, capsys: pytest.CaptureFixture[str], game: athenan.Game
) -> None:
    found = figures(capsys, f"solve {SMALL} resolved=proof.npz")
    assert (found["resolved"], found["outcome"], found["iterations"]) == (True, 0, 1)
    words = f"match {SMALL} games=2 opening_plies=0 first.resolved=proof.npz first.evaluations=5"
    assert "proven states of proof.npz" in answer(capsys, f"{words} second.search=random")
    player = player_of(game, {"resolved": "proof.npz", "evaluations": 5})
    assert player.text == player_of(game, {"resolved": proof, "evaluations": 5}).text
    search = athenan.make_search("ubfm", game, "hash", resolved="proof.npz")
    assert search.run(game.initial_state()).resolved


def test_what_does_not_fit_is_refused(
    proof: Proof, capsys: pytest.CaptureFixture[str], game: athenan.Game
) -> None:
    other = athenan.make_game("connect_four", rows=4, columns=5)
    with pytest.raises(athenan.InputError, match=r"'proof.npz' is a proof of game 'connect_four"):
        load_proof("proof.npz", other)
    with pytest.raises(athenan.InputError, match="is a proof of another game"):
        athenan.make_search("ubfm", other, resolved=proof)
    with pytest.raises(athenan.InputError, match="'uct' takes no proofs"):
        athenan.make_search("uct", game, resolved=proof)
    with pytest.raises(athenan.InputError, match="it is for heuristic 'gain', not 'additive_d"):
        athenan.make_search("ubfm", game, resolved=proof, heuristic="additive_depth")
    for words, told in {
        "resolved=none.npz": "no file 'none.npz'",
        "resolved=proof.npz game=hex7": "is a proof of game 'connect_four",
        f"{SMALL} resolved=proof.npz strong=true": "'strong' wants every state",
        f"{SMALL} resolved=proof.npz --out again.npz": "A proof is written whole",
        f"{SMALL} resolved=proof.npz heuristic=additive_depth": "for heuristic 'gain'",
    }.items():
        code, _, err = run(capsys, f"solve {words}")
        assert (code, err.count("\n")) == (2, 1), words
        assert told in err


@pytest.mark.parametrize("heuristic", ["gain", "additive_depth"])
def test_a_proof_of_three_players_is_of_its_heuristic(
    heuristic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    three = athenan.make_game("mnk", players=3, rows=2, columns=3, k=2)
    words = "solve game=mnk game.players=3 game.rows=2 game.columns=3 game.k=2"
    made = figures(capsys, f"{words} heuristic={heuristic} --out three.npz")
    proof = load_proof("three.npz", three)
    for name in ("maxn_descent", "maxn_ubfm"):
        search = athenan.make_search(name, three, "hash", resolved=proof, **proof.scale)
        result = search.run(three.initial_state(), iterations=1)
        assert result.resolved
        assert (list(result.completion), list(result.value)) == (made["outcome"], made["value"])
        other = "gain" if heuristic != "gain" else "additive_depth"
        with pytest.raises(athenan.InputError, match=f"proves values of heuristic '{heuristic}'"):
            athenan.make_search(name, three, "hash", resolved=proof, heuristic=other)
    with pytest.raises(athenan.InputError, match="'puct' is for two players"):
        athenan.make_search("puct", three, "hash", resolved=proof)
    if heuristic != "gain":
        with pytest.raises(athenan.InputError, match="for the same heuristic alone"):
            athenan.make_search("maxn_ubfm", three, resolved=proof, heuristic=heuristic, longest=99)


@pytest.mark.usefixtures("proof")
def test_a_damaged_or_wrong_file_is_refused(game: athenan.Game) -> None:
    whole = Path("proof.npz").read_bytes()
    for at in range(200, len(whole) - 200, len(whole) // 40):
        Path("damaged.npz").write_bytes(whole[:at] + bytes([whole[at] ^ 0x5D]) + whole[at + 1 :])
        with pytest.raises(athenan.InputError, match=r"'damaged.npz' is"):
            load_proof("damaged.npz", game)
    arrays = dict(np.load("proof.npz"))
    arrays["outcomes"][3] = 1 if arrays["outcomes"][3] != 1 else -1
    np.savez("wrong.npz", **arrays)
    with pytest.raises(athenan.InputError, match=r"The proof 'wrong.npz' is wrong"):
        athenan.make_search("ubfm", game, resolved="wrong.npz")


def test_a_game_of_ones_own_is_looked_at_by_its_rules(capsys: pytest.CaptureFixture[str]) -> None:
    """The file names its class, which is not imported: the game at hand says whether it fits."""
    from games.examples.nim import Nim

    figures(capsys, ["solve", "game=games.examples.nim:Nim", "game.heaps=[1,2]", "--out", "n.npz"])
    game = Nim([1, 2])
    result = athenan.make_search("ubfm", game, "hash", resolved="n.npz").run(
        athenan.make_game(game).initial_state(), iterations=1
    )
    assert result.resolved
    with pytest.raises(athenan.InputError, match=r"The proof 'n.npz' is wrong"):
        load_proof("n.npz", Nim([3, 3]))
