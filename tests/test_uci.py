"""`athenan uci`: variants, positions, thinking, clocks; driven by python-chess; junk."""

from __future__ import annotations

import random
import re
import sys
import time
from typing import Any

import pytest
from protocols import Program, cpu_seconds, fuzzed, heard_all, made

import athenan
from athenan.lines import LongLine
from athenan.translators import PLAYED
from athenan.uci import Uci, centipawns, numbers_of

chess = pytest.importorskip("chess", reason="python-chess is not installed (pip: chess)")


class Spoken:
    def __init__(self, *words: str) -> None:
        self.uci, self.said = made("uci", Uci, *words)

    def ask(self, line: str) -> str:
        self.said.clear()
        assert self.uci.hear(line)
        return "".join(self.said)

    def best(self, line: str) -> str:
        """The move of a `go` that ends by itself."""
        self.said.clear()
        assert self.uci.hear(line)
        end = time.monotonic() + 60
        while "bestmove" not in "".join(self.said):
            assert time.monotonic() < end
            time.sleep(0.002)
        found = re.findall(r"^bestmove (.*)$", "".join(self.said), re.MULTILINE)
        assert len(found) == 1
        return str(found[0])


@pytest.fixture(scope="module")
def spoken() -> Spoken:
    return Spoken("game=chess")


@pytest.fixture
def uci(spoken: Spoken) -> Spoken:
    for option in ("UCI_Variant value chess", "MultiPV value 1", "UCI_ShowWDL value false"):
        spoken.ask(f"setoption name {option}")
    spoken.ask("position startpos")
    return spoken


def test_who_it_is(uci: Spoken) -> None:
    lines = uci.ask("uci").splitlines()
    assert lines[0].startswith("id name athenan")
    assert lines[-1] == "uciok"
    assert "option name UCI_ShowWDL type check default false" in lines
    variants = re.findall(r"var (\S+)", next(line for line in lines if "UCI_Variant" in line))
    assert {"chess", "xiangqi", "breakthrough", "ataxx", "amazons", "flipello"} <= set(variants)
    assert len(variants) == len(set(variants))
    assert uci.ask("isready") == "readyok\n"


def test_every_variant_plays(uci: Spoken) -> None:
    played = set()
    for variant, game in uci.uci.variants.items():
        said = uci.ask(f"setoption name UCI_Variant value {variant}")
        assert re.match(
            rf"info string variant {variant} files \d+ ranks \d+ startpos \S+ [wb]", said
        )
        fen = said.partition("startpos ")[2].strip()
        moves: list[str] = []
        for number in range(6):
            start = "startpos" if number % 2 else f"fen {fen}"
            assert uci.ask(f"position {start} moves {' '.join(moves)}") == ""
            move = uci.best("go nodes 3").split()[0]
            moves.append(move)
        assert uci.ask(f"position startpos moves {' '.join(moves)}") == ""
        assert f"Fen: {uci.uci.translator.write_position(uci.uci.engine.state)}" in uci.ask("d")
        played.add(game["name"])
    assert played == set(PLAYED["uci"])


def test_a_wrong_position_changes_nothing(uci: Spoken) -> None:
    uci.ask("position startpos moves e2e4 e7e5")
    state = uci.uci.engine.state
    for wrong in (
        "startpos moves e2e5", "fen 8/8 w - -", "fen", "", "moves e2e4", "startpos e2e4",
        "startpos moves e2e4 0000", "fen 9/8/8/8/8/8/8/8 w - - 0 1",
    ):  # fmt: skip
        assert uci.ask(f"position {wrong}").startswith("info string ")
        assert uci.uci.engine.state == state
    for wrong in ("UCI_Variant value chess960", "MultiPV value 0", "MultiPV", "Ponder value x"):
        assert uci.ask(f"setoption name {wrong}").startswith("info string ")
    assert uci.ask("nonsense").startswith("info string unknown command")


def test_mates_and_ends(uci: Spoken) -> None:
    uci.ask("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    assert uci.best("go nodes 20000").startswith("a1a8")
    assert re.search(r"score mate 1 nodes \d+ nps \d+ time \d+ pv a1a8$", "".join(uci.said), re.M)
    uci.ask("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1 moves a1a8")
    assert uci.best("go nodes 10") == "(none)"


def test_lines_and_wdl(uci: Spoken) -> None:
    uci.ask("setoption name MultiPV value 4")
    uci.ask("setoption name UCI_ShowWDL value true")
    best = uci.best("go nodes 400").split()[0]
    last = "".join(uci.said).splitlines()[-5:-1]
    assert [re.search(r"multipv (\d)", line)[1] for line in last] == list("1234")  # type: ignore[index]
    assert f" pv {best}" in last[0]
    assert all(re.search(r"score cp -?\d+ wdl \d+ 0 \d+ ", line) for line in last)


def test_infinite_waits_for_stop(uci: Spoken) -> None:
    uci.ask("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    uci.ask("go infinite")
    time.sleep(0.1)
    assert "bestmove" not in "".join(uci.said)
    assert uci.ask("isready") == "readyok\n", "while it thinks"
    assert uci.ask("stop").count("bestmove ") == 1
    assert uci.ask("stop") == ""


def test_pondering(uci: Spoken) -> None:
    uci.ask("position startpos moves e2e4")
    uci.ask("go ponder wtime 1000 btime 1000")
    assert "bestmove" not in "".join(uci.said)
    assert uci.best("ponderhit")
    uci.ask("go ponder wtime 1000 btime 1000")
    assert uci.ask("stop").count("bestmove ") == 1
    assert uci.ask("ponderhit") == ""


def test_numbers() -> None:
    words = ["ponder", "wtime", "100", "btime", "x", "winc", "-5", "nodes", "7", "depth"]
    assert numbers_of(words) == {"wtime": 100, "winc": 0, "nodes": 7}
    assert centipawns(0) == 0
    assert 80 < centipawns(0.5) < 120
    assert centipawns(1.0) == -centipawns(-1.0) > 10_000


# ---- python-chess --------------------------------------------------------------------------------


@pytest.fixture
def driven() -> Any:
    import chess.engine

    words = ["uci", "evaluator=zero", "seconds=1"]
    engine = chess.engine.SimpleEngine.popen_uci([sys.executable, "-m", "athenan.command", *words])
    yield engine
    engine.quit()


@pytest.mark.slow
def test_python_chess_plays_and_analyses(driven: Any) -> None:
    import chess.engine

    board = chess.Board()
    for _ in range(12):
        played = driven.play(board, chess.engine.Limit(nodes=200), ponder=False)
        assert played.move in board.legal_moves
        board.push(played.move)
    found = driven.analyse(board, chess.engine.Limit(nodes=500), multipv=3)
    assert len(found) == 3
    for each in found:
        line = board.copy()
        for move in each["pv"]:
            line.push(move)  # legal, or it raises
    with driven.analysis(board) as analysis:
        for info in analysis:
            if info.get("nodes", 0) > 100:
                break
    assert analysis.wait().move in board.legal_moves
    mate = chess.Board("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    info = driven.analyse(mate, chess.engine.Limit(time=1))
    assert info["score"].white() == chess.engine.Mate(1)


@pytest.mark.slow
def test_python_chess_keeps_our_clock(driven: Any) -> None:
    """1 s and 0.1 s a move: no loss on time, of the processor's as the machine may be busy."""
    import chess.engine

    chance = random.Random(5)
    board, left = chess.Board(), 1.0
    for _ in range(25):
        if board.is_game_over():
            break
        started = cpu_seconds(driven.transport.get_pid())
        limit = chess.engine.Limit(white_clock=left, black_clock=1, white_inc=0.1, black_inc=0.1)
        board.push(driven.play(board, limit).move)
        left += 0.1 - (cpu_seconds(driven.transport.get_pid()) - started)
        assert left > 0.1, "lost on time"
        if not board.is_game_over():
            board.push(chance.choice(list(board.legal_moves)))


# ---- Junk ------------------------------------------------------------------------------------

PIECES = [
    "uci", "isready", "ucinewgame", "position", "startpos", "fen", "moves", "go", "stop",
    "ponderhit", "setoption", "name", "value", "UCI_Variant", "MultiPV", "UCI_ShowWDL", "Ponder",
    "Clear Hash", "chess", "breakthrough6", "ataxx5", "e2e4", "e7e5", "0000", "a2a3", "P@a1",
    "wtime 100", "btime 100", "winc 10", "movestogo 3", "nodes 3", "depth 3", "movetime 2", "mate",
    "infinite", "ponder", "searchmoves", "1", "0", "-5", "99999999999999999999", "true", "false",
    "position startpos", "position startpos moves e2e4", "go nodes 2", "d", "debug on", "register",
    "8/8/8/8/8/8/8/8 w - - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1",
]  # fmt: skip


def fuzz(lines: int, seed: int) -> None:
    at = Spoken("game=chess")

    def hear(line: str) -> bool:
        goes_on = line.split()[:1] == ["quit"] or at.uci.hear(line)
        if len(at.said) > 10_000:
            at.said.clear()
        return goes_on

    heard_all(hear, fuzzed(PIECES, lines, seed))
    at.uci.hear(LongLine())
    at.uci.close()
    text = "".join(at.said)
    assert all(line.strip() for line in text.splitlines())
    assert "readyok" in at.ask("isready")
    assert athenan.make_game("chess")


def test_junk_is_answered() -> None:
    fuzz(3000, 1)


@pytest.mark.long
def test_much_junk_is_answered() -> None:
    fuzz(100_000, 2)


@pytest.mark.slow
def test_the_program() -> None:
    with Program("uci", "evaluator=zero") as at:
        at.say("uci")
        at.wait_for("uciok")
        at.say("go infinite")
        at.wait_for("info depth")
        at.say("quit")
        assert at.end("") == 0
