"""The rules against independent programs: perft counts and recorded playouts (vectors/*.json).

Each file names its game and options under "make" and the program it came from under "oracle".
"""

import json
import zlib
from pathlib import Path
from typing import Any

import pytest

import athenan

FILES = sorted(Path(__file__).with_name("vectors").glob("*.json"))
QUICK_LEAVES = 7_000_000
LONG_LEAVES = 300_000_000


def load(path: Path) -> tuple[Any, dict[str, Any]]:
    vectors = json.loads(path.read_text())
    return athenan.make_game(**vectors["make"]), vectors


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_perft(path: Path) -> None:
    game, vectors = load(path)
    counts = {int(d): n for d, n in vectors.get("perft", {}).items() if n <= QUICK_LEAVES}
    assert {depth: game.perft(depth) for depth in counts} == counts


@pytest.mark.long
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_deep_perft(path: Path) -> None:
    game, vectors = load(path)
    for depth, leaves in vectors.get("perft", {}).items():
        if QUICK_LEAVES < leaves <= LONG_LEAVES:
            assert game.perft(int(depth)) == leaves


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_playouts(path: Path) -> None:
    game, vectors = load(path)
    assert vectors["playouts"]
    for playout in vectors["playouts"]:
        state = game.initial_state()
        moves, crcs = playout["moves"].split(), playout["crc"].split()
        players = playout.get("players") or "01" * len(moves)
        for i, move in enumerate(moves):
            texts = sorted(state.action_to_string(a) for a in state.legal_actions())
            assert len(texts) == playout["nlegal"][i], f"ply {i}\n{state}"
            assert f"{zlib.crc32(' '.join(texts).encode()):08x}" == crcs[i], f"{texts}\n{state}"
            assert state.to_move == int(players[i])
            assert not state.is_terminal
            state = state.play(state.string_to_action(move))
        assert state.is_terminal == playout["terminal"], f"{playout['moves']}\n{state}"
        if playout["terminal"]:
            assert list(state.outcomes) == playout["result"], f"{playout['moves']}\n{state}"
