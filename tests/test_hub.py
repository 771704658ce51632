"""`athenan hub`: positions, levels, variants; driven by pydraughts; junk."""

from __future__ import annotations

import random
import re
import sys
import time
from pathlib import Path

import pytest
from protocols import fuzzed, heard_all, made

from athenan.hub import Hub, arguments_of
from athenan.lines import LongLine


class Spoken:
    def __init__(self, *words: str) -> None:
        self.hub, self.said = made("hub", Hub, *words)

    def ask(self, line: str) -> str:
        self.said.clear()
        assert self.hub.hear(line)
        return "".join(self.said)

    def done(self, line: str) -> str:
        self.said.clear()
        assert self.hub.hear(line)
        end = time.monotonic() + 60
        while "done" not in "".join(self.said):
            assert time.monotonic() < end, self.said
            time.sleep(0.002)
        found = re.findall(r"^done move=(\S+)", "".join(self.said), re.MULTILINE)
        assert len(found) == 1
        return str(found[0])


@pytest.fixture
def hub() -> Spoken:
    return Spoken("game=draughts")


def test_who_it_is(hub: Spoken) -> None:
    lines = hub.ask("hub").splitlines()
    assert lines[0].startswith("id name=athenan version=")
    assert lines[-1] == "wait"
    assert hub.ask("init") == "ready\n"
    assert hub.ask("ping") == "pong\n"
    assert arguments_of('a=1 b="2 3" c d = 4') == {"a": "1", "b": "2 3", "c": "", "d": "4"}


@pytest.mark.parametrize("variant", ["normal", "brazilian", "canadian"])
def test_games_by_positions_and_moves(hub: Spoken, variant: str) -> None:
    assert hub.ask(f"set-param name=variant value={variant}") == ""
    hub.ask("level nodes=20")
    moves: list[str] = []
    chance = random.Random(3)
    for _ in range(30):
        start = hub.hub.engine.game.initial_state()
        text = hub.hub.translator.write_position(start)
        assert hub.ask(f'pos pos={text} moves="{" ".join(moves)}"') == ""
        state = hub.hub.engine.state
        if state.is_terminal:
            break
        if chance.random() < 0.5:
            moves.append(hub.done("go think"))
        else:
            action = chance.choice(state.legal_actions())
            moves.append(hub.hub.translator.write(state, [action]))
    assert len(moves) > 10


def test_levels(hub: Spoken) -> None:
    for level, most in [
        ("time=1 inc=0.1", 0.6), ("time=1 moves=1", 1.0), ("move-time=0.2", 0.2), ("time=0", 0.01),
    ]:  # fmt: skip
        assert hub.ask(f"level {level}") == ""
        assert 0 < (hub.hub.budget().seconds or 0) <= most
    hub.ask("level infinite")
    hub.ask("go think")
    time.sleep(0.05)
    assert "done" not in "".join(hub.said)
    assert hub.ask("stop").count("done ") == 1
    hub.ask("level nodes=9")
    hub.ask("go ponder")
    assert "done" not in "".join(hub.said)
    assert hub.done("ponder-hit")


def test_what_is_wrong_is_an_error(hub: Spoken) -> None:
    state = hub.hub.engine.state
    for wrong in (
        "nonsense", "pos pos=W", 'pos moves="1-2"', "level time=x", "set-param name=x value=1",
        "set-param name=variant value=frisian", "set-param",
    ):  # fmt: skip
        assert re.fullmatch(r'error message="[^"\n]+"\n', hub.ask(wrong))
        assert hub.hub.engine.state == state


@pytest.mark.slow
def test_pydraughts_plays() -> None:
    engines = pytest.importorskip("draughts.engine", reason="pydraughts is not installed")
    import draughts

    program = Path(sys.executable).parent / "athenan"
    engine = engines.HubEngine([str(program), "hub", "evaluator=zero", "evaluations=200"])
    try:
        engine.init()
        board = draughts.Board()
        left = 30.0
        for _ in range(10):
            started = time.monotonic()
            limit = engines.Limit(time=left, inc=0.1)
            played = engine.play(board, limit, False)
            left += 0.1 - (time.monotonic() - started)
            assert left > 0.1
            board.push(played.move)
        assert len(board.move_stack) == 10
        assert engine.info["nodes"] > 0
        engine.quit()
        assert engine.p.wait(20) == 0
    finally:
        engine.p.kill()


PIECES = [
    "hub", "init", "ping", "pos", "level", "go", "think", "analyze", "ponder", "ponder-hit", "stop",
    "new-game", "set-param", "name=variant", "value=normal", "value=brazilian", "depth=3",
    "nodes=3", "time=1", "time=0", "inc=0.1", "moves=3", "move-time=0.01", "infinite", "pos=W",
    'moves="32-28"', 'moves="32-28 19-23"', '"', "=",
    "pos=Wbbbbbbbbbbbbbbbbbbbbeeeeeeeeeewwwwwwwwwwwwwwwwwwww",
    "go think", "level nodes=2", "99999999999999999999", "-1", "nan",
]  # fmt: skip


def fuzz(lines: int, seed: int) -> None:
    at = Spoken("game=draughts")

    def hear(line: str) -> bool:
        return line.split()[:1] == ["quit"] or at.hub.hear(line)

    heard_all(hear, fuzzed(PIECES, lines, seed))
    at.hub.hear(LongLine())
    at.hub.close()
    starts = ("id ", "param ", "wait", "ready", "pong", "info ", "done ", "error ")
    assert all(line.startswith(starts) for line in "".join(at.said).splitlines())
    assert at.ask("ping") == "pong\n"


def test_junk_is_answered() -> None:
    fuzz(3000, 1)


@pytest.mark.long
def test_much_junk_is_answered() -> None:
    fuzz(100_000, 2)
