"""`athenan uci`: the Universal Chess Interface with UCI_Variant, for chess, xiangqi and others.

What cannot be understood is ignored, as the protocol wants it, with a line `info string`. One
thread reads; the engine thinks in another.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from athenan.config import read_values
from athenan.engine import ENDLESS, Budget, Engine
from athenan.errors import InputError
from athenan.games import configs_folder, game_configs, make_game, own_fault
from athenan.lines import LongLine, Out, talk
from athenan.opponent import Opponent, make_opponent
from athenan.search import Child
from athenan.settings import ProtocolSettings
from athenan.thoughts import Thought
from athenan.time_control import TimeLeft
from athenan.translators import PLAYED, Translator, make_translator, uci_variant
from athenan.turns import Turns

MOST_LINES = 500  # of MultiPV
EVERY_SECONDS = 0.5  # between two `info`s
FARTHEST = 15_000  # centipawns, short of a mate
# What a value near ±1 is worth in centipawns: a steep curve, so that 0.5 is about a pawn.
PAWNS, STEEPNESS = 90.0, 1.5637541897
NUMBERS = (
    "wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime",
)  # fmt: skip


def run_uci(config: ProtocolSettings) -> None:
    uci = Uci(config, Out())
    talk(uci.hear, uci.close)


class Uci:
    def __init__(self, config: ProtocolSettings, out: Callable[[str], object]) -> None:
        self.config, self._out = config, out
        self.opponent: Opponent
        self.translator: Translator
        self.lines = 1  # MultiPV
        self.shows_wdl = False
        self.turns = Turns(self.answer)
        self.ponders: dict[str, int] | None = None  # what `ponderhit` goes on with
        self.set_up(config.game)
        self.variants = variants(config.game)
        self.commands: dict[str, Callable[[list[str]], None]] = {
            "uci": self.uci,
            "isready": self.isready,
            "ucinewgame": self.ucinewgame,
            "position": self.position,
            "go": self.go,
            "stop": lambda _: self.turns.stop(),
            "ponderhit": self.ponderhit,
            "setoption": self.setoption,
            "d": self.show,
            "debug": lambda _: None,
            "register": lambda _: None,
        }

    @property
    def engine(self) -> Engine:
        return self.opponent.engine

    # ---- Lines ---------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        self._out(text + "\n")

    def hear(self, line: str) -> bool:
        """One line; false after `quit`."""
        if isinstance(line, LongLine):
            self.say("info string this line is too long")
            return True
        words = line.split()
        if not words:
            return True
        if words[0] == "quit":
            return False
        command = self.commands.get(words[0])
        if command is None:
            self.say(f"info string unknown command: {printable(words[0])}")
            return True
        try:
            command(words[1:])
        except InputError as error:
            self.say(f"info string {printable(str(error))}")
        except Exception as error:
            fault = own_fault(error) or f"{type(error).__name__}: {error}"
            self.say(f"info string {printable(fault)}")
        return True

    def close(self) -> None:
        self.turns.stop()

    # ---- Who we are ----------------------------------------------------------------------------

    def uci(self, _: list[str]) -> None:
        from athenan import __version__

        names = " ".join(f"var {name}" for name in self.variants)
        usual = uci_variant(self.engine.game)
        for line in (
            f"id name athenan {__version__}",
            "id author the athenan authors",
            f"option name UCI_Variant type combo default {usual} {names}",
            f"option name MultiPV type spin default 1 min 1 max {MOST_LINES}",
            "option name UCI_ShowWDL type check default false",
            "option name Ponder type check default false",
            "option name Clear Hash type button",
            "uciok",
        ):
            self.say(line)

    def isready(self, _: list[str]) -> None:
        if not self.engine.thinking:
            self.engine.warm_up()
        self.say("readyok")

    def ucinewgame(self, _: list[str]) -> None:
        self.turns.stop()
        self.engine.clear()
        self.engine.set_line()

    def setoption(self, words: list[str]) -> None:
        found = re.fullmatch(r"name (.+?)(?: value(?: (.*))?)?", " ".join(words))
        if not found:
            raise InputError("setoption takes name and value")
        name, value = found[1].casefold(), (found[2] or "").strip()
        self.turns.stop()
        if name == "uci_variant":
            if value not in self.variants:
                raise InputError(f"there is no variant {value}")
            self.set_up(self.variants[value])
            game = self.engine.game
            rows, columns, _ = game.plane_shape
            start = self.translator.write_position(game.initial_state())
            self.say(f"info string variant {value} files {columns} ranks {rows} startpos {start}")
        elif name == "multipv":
            self.lines = bounded(value, 1, MOST_LINES)
        elif name == "uci_showwdl":
            self.shows_wdl = yes_or_no(value)
        elif name == "ponder":
            yes_or_no(value)  # whoever asks us to ponder is heard in any case
        elif name == "clear hash":
            self.engine.clear()
        else:
            raise InputError(f"no such option: {name}")

    def set_up(self, settings: dict[str, Any]) -> None:
        """What cannot be leaves all as it was."""
        game = make_game(**settings)
        translator = make_translator("uci", game)
        opponent = make_opponent(game, replace(self.config, game=settings))
        self.config = replace(self.config, game=settings)
        self.opponent, self.translator = opponent, translator

    # ---- The position --------------------------------------------------------------------------

    def position(self, words: list[str]) -> None:
        """All or nothing: an illegal move leaves what was there before."""
        self.turns.stop()
        if not words:
            raise InputError("position takes startpos or fen")
        at = words.index("moves") if "moves" in words else len(words)
        if words[0] == "startpos" and at == 1:
            state = self.engine.game.initial_state()
        elif words[0] == "fen" and at > 1:
            state = self.translator.read_position(" ".join(words[1:at]))
        else:
            raise InputError("position takes startpos or fen")
        start, actions = state, list[int]()
        for word in words[at + 1 :]:
            for action in self.translator.read(state, word):
                actions.append(action)
                state = state.play(action)
        if start == self.engine.game.initial_state():
            self.engine.set_line(None, actions)
        else:
            self.engine.set_line(start, actions)

    def show(self, _: list[str]) -> None:
        state = self.engine.state
        text = [*str(state).splitlines(), f"Fen: {self.translator.write_position(state)}"]
        self.say("\n".join(text))

    # ---- Thinking ------------------------------------------------------------------------------

    def go(self, words: list[str]) -> None:
        self.turns.stop()
        asked = numbers_of(words)
        if self.engine.state.is_terminal:
            self.say("bestmove (none)")
            return
        self.ponders = asked if "ponder" in words else None
        waits = "ponder" in words or "infinite" in words
        self.begin(self.budget_of({}, True) if waits else self.budget_of(asked), waits)

    def begin(self, budget: Budget, waits: bool) -> None:
        self.turns.begin(self.engine, budget, self.tell, EVERY_SECONDS, waits)

    def budget_of(self, asked: dict[str, int], endless: bool = False) -> Budget:
        if endless:
            return replace(ENDLESS, seconds=self.config.analysis_seconds)
        mover = "wb"[self.engine.state.to_move]
        evaluations = asked.get("nodes") or None
        if "movetime" in asked:
            return Budget(evaluations=evaluations, seconds=max(1, asked["movetime"]) / 1000)
        if f"{mover}time" in asked:
            left = TimeLeft(
                asked[f"{mover}time"] / 1000,
                asked.get(f"{mover}inc", 0) / 1000,
                asked.get("movestogo") or None,
            )
            return self.engine.budget_by_clock(left, Budget(evaluations=evaluations))
        if evaluations:
            return Budget(evaluations=evaluations)
        return self.engine.budget

    def ponderhit(self, _: list[str]) -> None:
        """The move that was expected was played: from now on time is ours."""
        if self.ponders is None or not self.turns.waits:
            return
        asked, self.ponders = self.ponders, None
        self.turns.drop()
        self.begin(self.budget_of(asked), False)

    def answer(self, thought: Thought | None, error: BaseException | None) -> None:
        if error is not None:
            self.say(f"info string {printable(str(error))}")
        if thought is None or not thought.turn:
            self.say("bestmove (none)")
            return
        text = self.translator.write(thought.state, list(thought.turn))
        ponder = self.moves(thought.state, thought.line)[1:2]
        self.say(f"bestmove {text}" + (f" ponder {ponder[0]}" if ponder else ""))

    # ---- What is told --------------------------------------------------------------------------

    def tell(self, thought: Thought) -> None:
        result = thought.result
        if result is None or not result.children:
            return
        milliseconds = max(1, round(1000 * thought.seconds))
        depth = max(1, len(self.moves(thought.state, thought.line)))
        for number, child in enumerate(thought.candidates()[: self.lines]):
            line = self.moves(thought.state, thought.line_of(child.action))
            self.say(
                f"info depth {depth} seldepth {max(depth, len(line))} multipv {number + 1} "
                f"score {self.score(thought, child)} nodes {result.evaluations} "
                f"nps {1000 * result.evaluations // milliseconds} time {milliseconds} "
                f"pv {' '.join(line)}"
            )

    def score(self, thought: Thought, child: Child) -> str:
        """Of the player who moves: centipawns of a value, or moves to the end of a proven line."""
        value = thought.own(child.value) / self.engine.search.core.bound
        if child.resolved:
            value = thought.own(child.completion)
        plies = thought.plies_to_end(child.action)
        if child.resolved and value and plies is not None:
            moves = len(self.moves(thought.state, thought.line_of(child.action)))
            score = f"mate {(moves + 1) // 2 if value > 0 else -(moves // 2)}"
        else:
            score = f"cp {centipawns(value)}"
        if self.shows_wdl:
            won = round(1000 * (value + 1) / 2)
            score += f" wdl {won} 0 {1000 - won}"
        return score

    def moves(self, state: Any, actions: list[int]) -> list[str]:
        """As far as they are whole."""
        words, before, move = list[str](), state, list[int]()
        for action in actions:
            move.append(action)
            state = state.play(action)
            if self.translator.is_whole(before, state):
                words.append(self.translator.write(before, move))
                before, move = state, []
        if not words and actions:  # a move whose rest is not thought of yet
            with suppress(InputError, ValueError, IndexError):
                words = [self.any_whole(before, move, state)]
        return words

    def any_whole(self, before: Any, move: list[int], state: Any) -> str:
        while not self.translator.is_whole(before, state):
            move.append(state.legal_actions()[0])
            state = state.play(move[-1])
        return self.translator.write(before, move)


def variants(given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By their names: every config of these games, and the game that was asked for."""
    found: dict[str, dict[str, Any]] = {}
    for name in PLAYED["uci"]:
        for config in sorted(game_configs(name), key=lambda other: other != name):
            game = read_values(configs_folder() / "game" / f"{config}.yaml")
            found.setdefault(uci_variant(make_game(**game)), game)
    found[uci_variant(make_game(**given))] = given
    return found


def numbers_of(words: list[str]) -> dict[str, int]:
    """Those of `go`; one that is none is left out."""
    found = {}
    for name, value in itertools.pairwise(words):
        if name in NUMBERS and re.fullmatch(r"-?[0-9]{1,15}", value):
            found[name] = max(0, int(value))
    return found


def bounded(text: str, low: int, high: int) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or not low <= int(text) <= high:
        raise InputError(f"a number between {low} and {high} is wanted")
    return int(text)


def yes_or_no(text: str) -> bool:
    if text not in ("true", "false"):
        raise InputError("true or false is wanted")
    return text == "true"


def centipawns(value: float) -> int:
    found = PAWNS * math.tan(STEEPNESS * max(-1.0, min(1.0, value)))
    return max(-FARTHEST, min(FARTHEST, round(found)))


def printable(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:400]
