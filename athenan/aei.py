"""`athenan aei`: the Arimaa Engine Interface."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from athenan.engine import ENDLESS, Budget, Engine
from athenan.errors import InputError
from athenan.games import make_game, own_fault
from athenan.lines import LongLine, Out, number_of, talk
from athenan.opponent import make_opponent
from athenan.settings import ProtocolSettings
from athenan.thoughts import Thought
from athenan.time_control import TimeLeft
from athenan.translators import make_translator
from athenan.turns import Turns

EVERY_SECONDS = 0.5  # between two `info`s
SHARE_OF_RESERVE = 20  # turns that the reserve is for
# Options of time: seconds, but for percent and turns. The rest is known and of no use.
TIMES = (
    "tcmove", "tcreserve", "tcpercent", "tcmax", "tctotal", "tcturns", "tcturntime", "greserve",
    "sreserve", "gused", "sused", "lastmoveused", "moveused",
)  # fmt: skip
IGNORED = ("opponent", "opponent_rating", "rating", "rated", "event", "depth", "hash")


def run_aei(config: ProtocolSettings) -> None:
    aei = Aei(config, Out())
    talk(aei.hear, aei.close)


class Aei:
    def __init__(self, config: ProtocolSettings, out: Callable[[str], object]) -> None:
        self.config, self._out = config, out
        game = make_game(**config.game)
        self.translator = make_translator("aei", game)
        self.engine: Engine = make_opponent(game, config).engine
        self.turns = Turns(self.answer)
        self.times: dict[str, float] = {}
        self.commands: dict[str, Callable[[str], None]] = {
            "aei": self.aei,
            "isready": self.isready,
            "newgame": self.newgame,
            "setposition": self.setposition,
            "makemove": self.makemove,
            "setoption": self.setoption,
            "go": self.go,
            "stop": lambda _: self.turns.stop(),
        }

    def say(self, text: str) -> None:
        self._out(text + "\n")

    def hear(self, line: str) -> bool:
        """One line; false after `quit`."""
        name, _, rest = line.strip().partition(" ")
        if name == "quit":
            return False
        try:
            if isinstance(line, LongLine):
                raise InputError("this line is too long")
            if name:
                command = self.commands.get(name)
                if command is None:
                    raise InputError(f"unknown command {name}")
                command(rest)
        except InputError as error:
            self.wrong(str(error))
        except Exception as error:
            self.wrong(own_fault(error) or f"{type(error).__name__}: {error}")
        return True

    def wrong(self, sentence: str) -> None:
        kept = "".join(c if c.isprintable() else " " for c in sentence)
        self.say(f"log Error: {' '.join(kept.split())[:400]}")

    def close(self) -> None:
        self.turns.stop()

    def aei(self, _: str) -> None:
        from athenan import __version__

        self.say("protocol-version 1")
        self.say("id name athenan")
        self.say("id author the athenan authors")
        self.say(f"id version {__version__}")
        self.say("aeiok")

    def isready(self, _: str) -> None:
        if not self.engine.thinking:
            self.engine.warm_up()
        self.say("readyok")

    # ---- The game ------------------------------------------------------------------------------

    def newgame(self, _: str) -> None:
        self.turns.stop()
        self.engine.clear()
        self.engine.set_line()

    def setposition(self, text: str) -> None:
        self.turns.stop()
        self.engine.set_line(self.translator.read_position(text.strip("\r\n")))

    def makemove(self, text: str) -> None:
        self.turns.stop()
        for action in self.translator.read(self.engine.state, text):
            self.engine.play(action)

    def setoption(self, text: str) -> None:
        found = re.fullmatch(r"name (\S+)(?: value(?: (.*))?)?", text.strip())
        if not found:
            raise InputError("setoption takes name and value")
        name, value = found[1], (found[2] or "").strip()
        if name in IGNORED:
            return
        if name not in TIMES:
            raise InputError(f"there is no option {name}")
        number = number_of(value)
        if number is None:
            raise InputError(f"{name} is a number")
        self.times[name] = max(0.0, number)

    # ---- Thinking ------------------------------------------------------------------------------

    def go(self, text: str) -> None:
        self.turns.stop()
        if self.engine.state.is_terminal:
            raise InputError("the game is over")
        waits = bool({"ponder", "infinite"} & set(text.split()))
        endless = replace(ENDLESS, seconds=self.config.analysis_seconds)
        budget = endless if waits else self.budget()
        self.turns.begin(self.engine, budget, self.tell, EVERY_SECONDS, waits)

    def budget(self) -> Budget:
        """The seconds of a turn, and a share of the reserve."""
        times, usual = self.times, self.engine.budget
        if not times.get("tcmove"):
            return usual
        reserve = times.get("gs"[self.engine.state.to_move] + "reserve", times.get("tcreserve", 0))
        used = times.get("moveused", 0.0)
        left = TimeLeft(max(0.0, times["tcmove"] - used + reserve / SHARE_OF_RESERVE), turns=1)
        seconds = left.seconds_for_turn(1)
        if times.get("tcturntime"):
            seconds = min(seconds, 0.9 * times["tcturntime"])
        return replace(usual, seconds=seconds)

    def tell(self, thought: Thought) -> None:
        result = thought.result
        if result is None or thought.action is None:
            return
        value = thought.own(result.value) / self.engine.search.core.bound
        line = " ".join(thought.texts(thought.line))
        self.say(f"info score {round(100 * value)}")
        self.say(f"info nodes {result.evaluations}")
        self.say(f"info time {thought.seconds:.2f}")
        self.say(f"info pv {line}")

    def answer(self, thought: Thought | None, error: BaseException | None) -> None:
        if thought is None or not thought.turn:
            self.wrong(str(error) if error else "there is no move")
            return
        self.say(f"bestmove {self.translator.write(thought.state, list(thought.turn))}")
