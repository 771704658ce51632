"""`athenan gtp`: answers as the protocol has them, every game's boards, clocks, analysis, junk."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from gnugo_games import GNUGO, play_games
from protocols import Program, fuzzed, heard_all, made

from athenan.gtp import Gtp, words_of
from athenan.lines import LongLine
from athenan.time_control import TurnClock
from athenan.translators import PLAYED


class Spoken:
    """A GTP program, asked and answered."""

    def __init__(self, *words: str) -> None:
        self.gtp, self.said = made("gtp", Gtp, *words)

    def ask(self, line: str) -> str:
        """The answer without its mark, which must be `=`."""
        answer = self.raw(line)
        assert answer.startswith("="), answer
        return answer[1:].strip()

    def refused(self, line: str) -> str:
        answer = self.raw(line)
        assert answer.startswith("?"), answer
        return answer[1:].strip()

    def raw(self, line: str) -> str:
        self.said.clear()
        self.gtp.hear(line)
        answer = "".join(self.said)
        assert answer.endswith("\n\n")
        assert "\n\n" not in answer[:-2]
        return answer


@pytest.fixture
def go() -> Spoken:
    return Spoken("game=go5")


# ---- The protocol ----------------------------------------------------------------------------


def test_ids_and_marks(go: Spoken) -> None:
    assert go.raw("12 protocol_version") == "=12 2\n\n"
    assert go.raw("7 nonsense") == "?7 unknown command\n\n"
    assert go.raw("name") == "= athenan\n\n"
    assert go.raw("\t 3\tknown_command   genmove # as all know\r") == "=3 true\n\n"
    assert go.raw("known_command nothing") == "= false\n\n"
    assert go.refused("5").startswith("5 there is no command")
    go.said.clear()
    for line in ("", "   ", "# a comment", "\t", "\x07\x01"):
        assert go.gtp.hear(line)
    assert go.said == []
    assert words_of("play\tb  c3 # x") == ["play", "b", "c3"]


def test_the_commands_that_are_listed_are_known(go: Spoken) -> None:
    listed = go.ask("list_commands").split("\n")
    assert len(listed) > 25
    assert all(go.ask(f"known_command {name}") == "true" for name in listed)
    go.said.clear()
    assert not go.gtp.hear("9 quit")
    assert go.said == ["=9\n\n"] or go.said == ["=9 \n\n"]


def test_stones_and_undo(go: Spoken) -> None:
    go.ask("play B C3")
    go.ask("play black d4")  # white has passed
    assert go.gtp.engine.state.ply == 3
    assert re.search(r"^4 . . .\[x\]", go.ask("showboard"), re.MULTILINE)
    assert go.refused("play w c3") == "illegal move"
    assert go.refused("play green c2")
    assert go.refused("play w i9") == "illegal move"
    assert go.refused("play w")
    go.ask("undo")
    assert go.gtp.engine.state.ply == 1
    go.ask("undo")
    assert go.refused("undo") == "cannot undo"
    vertex = go.ask("genmove b")
    assert vertex.casefold() == "pass" or re.fullmatch(r"[A-HJ][1-5]", vertex)
    assert go.ask("reg_genmove w")
    assert go.gtp.engine.state.ply == 1
    assert go.ask("play w resign") == ""


def test_boards_and_komi(go: Spoken) -> None:
    go.ask("play b c3")
    assert go.ask("komi 0.5") == ""
    assert go.gtp.engine.state.ply == 1, "komi leaves the stones"
    assert go.ask("get_komi") == "0.5"
    assert go.refused("komi 1e9")
    go.ask("boardsize 7")
    assert go.gtp.game.plane_shape[:2] == (7, 7)
    assert go.ask("get_komi") == "0.5"
    assert go.refused("boardsize 50") == "unacceptable size"
    assert go.refused("boardsize x") == "boardsize not an integer"
    assert go.gtp.game.plane_shape[:2] == (7, 7)
    go.ask("play b pass")
    go.ask("play w pass")
    assert go.ask("final_score") == "W+0.5"
    assert go.ask("genmove b") == "PASS", "the game is over, and nobody is refused"


@pytest.mark.parametrize("name", PLAYED["gtp"])
def test_every_game_is_played_to_its_end(name: str) -> None:
    at = Spoken("game=tictactoe")
    at.ask(f"set_game {name}")
    small = {"go": 4, "hex": 4, "gomoku": 5, "havannah": 3, "connect6": 6, "othello": 4}
    if name in small:
        at.ask(f"boardsize {small[name]}")
    assert at.ask("gogui-rules_game_id") == name
    chance = random.Random(1)
    for _ in range(150):
        legal = at.ask("gogui-rules_legal_moves").split()
        board = at.ask("gogui-rules_board").split("\n")
        assert len(board) == at.gtp.game.plane_shape[0]
        if not legal:
            break
        assert at.ask("gogui-rules_final_result") == ""
        colour = at.ask("gogui-rules_side_to_move")
        before = " ".join(board).count("X") + " ".join(board).count("O")
        if chance.random() < 0.5:
            move = chance.choice(legal)
            at.ask(f"play {colour} {move}")
        else:
            move = at.ask(f"genmove {colour}")
            assert move in legal
        after = " ".join(at.ask("gogui-rules_board").split())
        stands_at(at, move, "XO"[colour == "white"])
        if name not in ("go", "havannah", "hex") and move.casefold() != "pass":
            assert after.count("X") + after.count("O") == before + 1
    assert re.fullmatch(r"[BW]\+[\d.]*|0", at.ask("gogui-rules_final_result"))
    assert re.fullmatch(r"[BW]\+[\d.]*|0", at.ask("final_score"))
    while at.gtp.moves:
        at.ask("undo")
    assert at.gtp.engine.state.ply == 0


def stands_at(at: Spoken, move: str, mark: str) -> None:
    """The stone is where a desktop board shows the vertex: rows count from the bottom."""
    found = re.fullmatch(r"([A-Za-z])(\d+)", move)
    if not found:
        return
    columns = "abcdefghijklmnopqrst"
    if at.gtp.game.name not in ("hex", "havannah"):
        columns = columns.replace("i", "")
    rows = at.ask("gogui-rules_board").split("\n")
    assert rows[-int(found[2])].split()[columns.index(found[1].lower())] == mark


def test_turns_of_the_other_colour_are_refused_without_a_pass() -> None:
    at = Spoken("game=hex")
    assert at.refused("play w a1") == "illegal move: it is black's turn"
    at.ask("play b a1")
    assert at.refused("genmove b").endswith("it is white's turn")
    assert at.refused("komi 5") == "hex has no komi"
    assert at.refused("set_game chess") == "unknown game"
    assert at.refused("final_score").startswith("cannot score")


# ---- Analysis --------------------------------------------------------------------------------


INFO = re.compile(
    r"info move (\S+) visits (\d+) (?:utility \S+ scoreMean 0 scoreLead 0 )?winrate (\S+) prior 0 "
    r"lcb \S+ order (\d+) pv (\S+(?: \S+)*?)(?= info|$)"
)


def wait_until(true: Any) -> None:
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize(("kind", "most"), [("lz", 10000), ("kata", 1)])
@pytest.mark.parametrize("words", ["b 2", "2", "b interval 2", "", "B 2 ownership true"])
def test_analysis_runs_until_the_next_line(kind: str, most: float, words: str, go: Spoken) -> None:
    go.ask("boardsize 9")
    go.said.clear()
    assert go.gtp.hear(f"4 {kind}-analyze {words}")
    wait_until(lambda: len(go.said) > 1)
    assert go.gtp.hear("")  # even a bare newline
    text = "".join(go.said)
    assert text.startswith("=4\ninfo move ")
    assert text.endswith("\n\n")
    for line in text.strip().split("\n")[1:]:
        found = INFO.findall(line)
        assert len(found) == line.count("info move")
        assert [int(order) for *_, order, _ in found] == list(range(len(found)))
        for move, _, rate, _, line_of in found:
            assert 0 <= float(rate) <= most
            assert line_of.split()[0] == move
    assert not go.gtp.engine.thinking
    said = len(go.said)
    assert go.ask("name") == "athenan"
    assert said > 0


def test_genmove_analyze(go: Spoken) -> None:
    go.said.clear()
    go.gtp.hear("2 lz-genmove_analyze b 1")
    text = "".join(go.said)
    assert re.fullmatch(r"=2\n(info move .*\n)*play \S+\n\n", text)
    assert go.gtp.engine.state.ply == 1


def test_an_analysis_has_an_end() -> None:
    at = Spoken("game=go", "analysis_seconds=0.05")
    at.gtp.hear("lz-analyze 1")
    wait_until(lambda: not at.gtp.engine.thinking)
    at.gtp.hear("")
    assert "".join(at.said).endswith("\n\n")
    assert at.refused("lz-analyze w 10") == "it is black's turn"


# ---- Clocks ----------------------------------------------------------------------------------


def test_clocks() -> None:
    clock = TurnClock(10.0)
    clock.spend(4)
    assert clock.time_left().seconds == 6  # type: ignore[union-attr]
    assert TurnClock().time_left() is None
    canadian = TurnClock(0, 20, 5)
    assert (canadian.time_left().seconds, canadian.time_left().turns) == (20, 5)  # type: ignore[union-attr]
    for _ in range(5):
        canadian.spend(3)
    assert canadian.time_left().seconds == 20, "a new period"  # type: ignore[union-attr]
    main = TurnClock(10, 5, 1)
    main.spend(8)
    assert main.time_left().seconds == 7, "what is left and a period"  # type: ignore[union-attr]
    main.spend(3)
    assert (main.left, main.turns_left) == (4, 1)
    main.told(2.0, 0)
    assert main.time_left().turns == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("settings", "most"),
    [
        ("time_settings 1 0 0", 0.5), ("time_settings 0 1 10", 0.5), ("time_settings 0 1 0", None),
        ("kgs-time_settings absolute 1", 0.5), ("kgs-time_settings byoyomi 0 1 3", 1.0),
        ("kgs-time_settings canadian 5 3 10", 2.5), ("kgs-time_settings none", None),
    ],
)  # fmt: skip
def test_budgets_by_the_clock(go: Spoken, settings: str, most: float | None) -> None:
    go.ask(settings)
    budget = go.gtp.budget_of(0)
    if most is None:
        assert budget == go.gtp.engine.budget
    else:
        assert 0 < budget.seconds < most
        assert budget.evaluations == 3
    go.ask("time_left b 0 0")
    go.ask("genmove b")
    for wrong in ("time_settings 1", "time_left b x 0", "time_left b -1 0", "kgs-time_settings"):
        assert go.refused(wrong)


def games_by_the_clock(games: int, seed: int) -> None:
    """1 s and 0.1 s a move: a fake opponent answers at once. What counts is the processor's time,
    since on a busy machine others take of the wall's."""
    chance = random.Random(seed)
    at = Spoken("game=othello", "evaluations=null", "seconds=30", "evaluator=rollout")
    at.gtp.engine.warm_up()
    for _ in range(games):
        at.ask("clear_board")
        ours, left = chance.choice("bw"), 1.0
        while legal := at.ask("gogui-rules_legal_moves").split():
            colour = at.ask("gogui-rules_side_to_move")[0]
            if colour != ours:
                at.ask(f"play {colour} {chance.choice(legal)}")
                continue
            at.gtp.clocks["bw".index(ours)] = clock = TurnClock(left)
            clock.told(left, 0)
            started = time.process_time()
            at.ask(f"genmove {colour}")
            left += 0.1 - (time.process_time() - started)
            assert left > 0.1, "lost on time"


@pytest.mark.slow
def test_games_are_not_lost_on_time() -> None:
    games_by_the_clock(2, 1)


@pytest.mark.long
def test_a_hundred_games_are_not_lost_on_time() -> None:
    games_by_the_clock(100, 2)


# ---- Junk ------------------------------------------------------------------------------------

PIECES = [
    "protocol_version", "name", "version", "known_command", "list_commands", "boardsize", "play",
    "clear_board", "komi", "get_komi", "genmove", "reg_genmove", "undo", "showboard", "final_score",
    "time_settings", "kgs-time_settings", "time_left", "list_games", "set_game", "lz-analyze",
    "kata-analyze", "lz-genmove_analyze", "gogui-rules_board", "gogui-rules_legal_moves", "b", "w",
    "black", "white", "a1", "c3", "D4", "pass", "resign", "swap", "3", "4", "5", "7", "0", "-1",
    "1e5", "99999999999999999999", "hex", "go", "tictactoe", "byoyomi", "canadian", "interval",
    "play b a1", "play w b2", "genmove b", "genmove w", "boardsize 4", "12", "#", "\t", "nan",
]  # fmt: skip


def fuzz(lines: int, seed: int) -> None:
    at = Spoken("game=go5")

    def hear(line: str) -> bool:
        at.said.clear()
        before = len(words_of(line)) > 0
        goes_on = at.gtp.hear(line)
        analysing = at.gtp._analyses
        text = re.sub(r"\A(info .*\n)*\n?", "", "".join(at.said))  # the end of an analysis
        if text and not analysing:
            assert re.match(r"[=?][0-9]{0,20}[ \n]", text), text
            assert text.endswith("\n\n")
            assert before
        return goes_on

    heard_all(hear, fuzzed(PIECES, lines, seed))
    heard_all(at.gtp.hear, [LongLine(), "name"])
    at.gtp.close()
    assert at.ask("protocol_version") == "2"


def test_junk_is_answered() -> None:
    fuzz(3000, 1)


@pytest.mark.long
def test_much_junk_is_answered() -> None:
    fuzz(100_000, 2)


# ---- In a process ----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_program() -> None:
    with Program("gtp", "game=hex", "game.size=5", "evaluations=50", "seconds=null") as at:
        at.say("1 genmove b")
        assert re.match(r"=1 [a-e][1-5]", at.wait_for("=")[-1])
        at.say("lz-analyze w 5")
        at.wait_for("info move")
        at.say("")
        at.say("x" * 2_000_000)
        at.wait_for("?")
        at.say("4 name")
        assert at.wait_for("=4")[-1] == "=4 athenan"
        assert at.end("quit") == 0


def sabaki() -> str | None:
    """Where npm has put @sabaki/gtp, for NODE_PATH."""
    if not shutil.which("node") or not shutil.which("npm"):
        return None
    places = [os.environ.get("NODE_PATH", "")]
    done = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True, check=False)
    places.append(done.stdout.strip())
    found = [place for place in places if place and (Path(place) / "@sabaki" / "gtp").is_dir()]
    return found[0] if found else None


@pytest.mark.slow
def test_sabaki_plays_and_analyses() -> None:
    place = sabaki()
    if place is None:
        pytest.skip("@sabaki/gtp is not installed (npm install -g @sabaki/gtp, or NODE_PATH)")
    words = [sys.executable, "-m", "athenan.command", "gtp", "evaluations=50", "seconds=null"]
    done = subprocess.run(
        ["node", str(Path(__file__).parent / "sabaki.js"), *words],
        env={**os.environ, "NODE_PATH": place},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["moves"]) == 6
    assert found["analysed"] >= 3
    assert found["first"].startswith("info move ")


@pytest.mark.slow
@pytest.mark.skipif(not GNUGO, reason="gnugo is not installed (apt: gnugo)")
def test_games_with_gnugo_have_equal_scores() -> None:
    assert play_games(games=2, seed=1) == 2
