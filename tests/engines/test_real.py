"""Games with programs that a distribution offers: at every ply they have our position. Where one is
not installed its tests are skipped."""

import random
import re
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import athenan
from athenan import InputError, State
from athenan.config import compose
from athenan.external.asking import Dialogue, GtpDialogue, Line, UciDialogue, Wishes
from athenan.external.player import ExternalPlayer
from athenan.external.program import command_of
from athenan.match import make_openings, play_match
from athenan.players import player_of
from athenan.translators import Translator, make_translator

pytestmark = pytest.mark.slow
WASM = Path(__file__).parents[2] / "node_modules" / "fairy-stockfish-nnue.wasm" / "uci.js"


def dialogue(command: str, protocol: str, name: str, options: dict[str, Any], go: str) -> Dialogue:
    try:
        words = command_of(command)
    except InputError as error:
        pytest.skip(str(error))
    translator = make_translator(protocol, athenan.make_game(name, **options))
    wishes = Wishes(go=go) if protocol == "uci" else Wishes()
    kinds = {"uci": UciDialogue, "gtp": GtpDialogue}
    return kinds[protocol](words, translator, wishes)


def played(engine: Dialogue, seed: int, plies: int, both: bool = False) -> tuple[Line, int]:
    """A game of the engine, with itself or with random moves, and how often its position was
    compared with ours."""
    game, chooser = engine.game, random.Random(seed)
    engine.begin()
    line = Line(game.initial_state(), game.initial_state())
    compared = 0
    while not line.state.is_terminal and len(line.moves) < plies:
        before = state = line.state
        actions: list[int] = []
        only = state.legal_actions()
        forced = len(only) == 1 and state.action_to_string(only[0]) == "pass"
        if not forced and (both or len(line.moves) % 2 == seed % 2):
            actions = engine.ask(line)
            for action in actions:
                state = state.play(action)
        else:
            while not actions or not engine.translator.is_whole(before, state):
                actions.append(chooser.choice(state.legal_actions()))
                state = state.play(actions[-1])
        line.moves.append((before.to_move, engine.translator.write(before, actions)))
        line.state = state
        compared += is_compared(engine, line)
    return line, compared


def is_compared(engine: Dialogue, line: Line) -> bool:
    """The engine's position with ours; by GTP it knows it after its own moves."""
    engine.deadline = time.monotonic() + 60
    if isinstance(engine, UciDialogue):
        engine.tell(f"position startpos moves {' '.join(line.texts)}")
        engine.tell("d")
        fen = engine.hear("Fen:").removeprefix("Fen: ")
        ours = engine.translator.write_position(line.state)
        assert fields(engine.translator, fen) == fields(engine.translator, ours)
        return True
    assert isinstance(engine, GtpDialogue)
    if engine.played != line.moves:
        return False
    assert shown_board(engine) == own_board(line.state), line.texts
    return True


def fields(translator: Translator, fen: str) -> list[str]:
    words = re.sub(r"\[.*\]", "", fen).split()
    return words[:4] if translator.game.name == "chess" else words[:2]


def own_board(state: State) -> list[str]:
    planes = state.planes()
    board = np.full(planes.shape[:2], ".")
    board[planes[:, :, 0] == 1] = "x"
    board[planes[:, :, 1] == 1] = "o"
    return ["".join(row) for row in board]


def shown_board(engine: GtpDialogue) -> list[str]:
    if engine.game.name == "othello":
        rows = engine.answer("showboard").splitlines()[-8:]
        return ["".join(row.split()[1:]).replace("X", "x").replace("O", "o") for row in rows]
    board = np.full(engine.game.plane_shape[:2], ".")
    for colour, piece in (("black", "x"), ("white", "o")):
        for vertex in engine.answer(f"list_stones {colour}").split():
            board[int(vertex[1:]) - 1, "ABCDEFGHJ".index(vertex[0])] = piece
    return ["".join(row) for row in board]


FAIRY = [
    ("breakthrough", {}), ("clobber", {}), ("clobber", {"rows": 6, "columns": 5}),
    ("xiangqi", {}), ("chess", {}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), FAIRY, ids=str)
def test_fairy_stockfish_has_our_position_at_every_ply(name: str, options: dict[str, Any]) -> None:
    engine = dialogue("fairy-stockfish", "uci", name, options, "nodes 200")
    for seed in range(4):
        assert played(engine, seed, 80)[1] > 10
    engine.program.end()


@pytest.mark.parametrize(
    ("name", "options"),
    [("ataxx", {}), ("othello", {}), ("othello", {"size": 10}), ("amazons", {})],
    ids=str,
)
def test_fairy_stockfish_of_node_has_our_position(name: str, options: dict[str, Any]) -> None:
    if not WASM.exists():
        pytest.skip("npm install fairy-stockfish-nnue.wasm@1.1.12 beside this folder brings it")
    command = f"node --no-experimental-fetch {WASM}"
    engine = dialogue(command, "uci", name, options, "nodes 200")
    for seed in range(2):
        assert played(engine, seed, 60)[1] > 4
    engine.program.end()


def test_stockfish_has_our_position_at_every_ply() -> None:
    engine = dialogue("stockfish", "uci", "chess", {}, "nodes 200")
    for seed in range(2):
        assert played(engine, seed, 60)[1] > 4
    engine.program.end()


def test_grhino_has_our_board_at_every_ply() -> None:
    engine = dialogue("gtp-rhino -l 1", "gtp", "othello", {}, "")
    passes = 0
    for seed in range(6):
        line, compared = played(engine, seed, 80)
        assert line.state.is_terminal
        assert compared > 20
        passes += "pass" in line.texts
    assert passes, "some of the games had a pass"
    engine.program.end()


GNUGO = (
    "gnugo --mode gtp --level 0 --chinese-rules --capture-all-dead --positional-superko "
    "--never-resign --seed 1"
)


def test_gnu_go_has_our_stones_and_our_score() -> None:
    """It plays itself, so that the board is divided at the end."""
    engine = dialogue(GNUGO, "gtp", "go", {"size": 7}, "")
    assert isinstance(engine, GtpDialogue)
    divided = 0
    for seed in range(4):
        engine.accepts(f"set_random_seed {seed}")
        line, compared = played(engine, seed, 140, both=True)
        assert line.state.is_terminal
        assert compared == len(line.moves)
        score = engine.answer("final_score")
        assert score_of(score) == line.state.score, (score, str(line.state))
        ours = line.state.planes()
        divided += bool(ours[:, :, 0].any() and ours[:, :, 1].any())
    assert divided
    engine.program.end()


def score_of(text: str) -> float:
    """In the first player's view: `W+3.5` is -3.5."""
    winner, _, points = text.partition("+")
    return 0.0 if winner == "0" else (1 if winner == "B" else -1) * float(points)


@pytest.mark.parametrize(
    "words",
    [
        ["game=go5", "second=gnugo"],
        ["game=othello", "second=grhino"],
        ["game=breakthrough", "second=fairy", "second.options.Skill_Level=-20"],
        ["game=chess", "second=stockfish", "second.seconds=0.01"],
    ],
    ids=lambda words: words[1].partition("=")[2],
)
def test_matches_by_the_configs(words: list[str]) -> None:
    config = compose("match", words)
    game = athenan.make_game(**config.game)
    assert config.second.engine is not None
    try:
        command_of(config.second.engine, config.second.install)
    except InputError as error:
        pytest.skip(str(error))
    opponent = ExternalPlayer(game, config.second)
    ours = player_of(game, {"search": "random"})
    result = play_match([ours, opponent], make_openings(game, 2, 4, 0), games_in_step=4)
    opponent.close()
    assert (result.games, result.own_forfeits + result.their_forfeits) == (4, 0)


def test_an_arimaa_program_plays() -> None:
    pytest.importorskip("pyrimaa", reason="the AEI tools are not installed: pip install AEI")
    from athenan.settings import PlayerSettings

    game = athenan.make_game("arimaa", max_plies=160)
    engine = f"{sys.executable} -m pyrimaa.simple_engine"
    opponent = ExternalPlayer(game, PlayerSettings(engine=engine, protocol="aei"))
    ours = player_of(game, {"search": "random"})
    result = play_match([ours, opponent], make_openings(game, 1, 0, 0), games_in_step=2)
    opponent.close()
    assert (result.games, result.own_forfeits + result.their_forfeits) == (2, 0)
