"""`athenan hub`: the protocol of draughts programs."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from athenan.engine import ENDLESS, Budget, Engine
from athenan.errors import InputError
from athenan.games import make_game, own_fault
from athenan.lines import LongLine, Out, number_of, talk
from athenan.opponent import Opponent, make_opponent
from athenan.settings import ProtocolSettings
from athenan.thoughts import Thought
from athenan.time_control import TimeLeft
from athenan.translators import Translator, make_translator
from athenan.turns import Turns

EVERY_SECONDS = 0.5  # between two `info`s
VARIANTS = {"normal": "international", "brazilian": "brazilian", "canadian": "canadian"}
ARGUMENT = re.compile(r'([a-z-]+)(?:\s*=\s*(?:"([^"]*)"|(\S+)))?', re.IGNORECASE)


def run_hub(config: ProtocolSettings) -> None:
    hub = Hub(config, Out())
    talk(hub.hear, hub.close)


class Hub:
    def __init__(self, config: ProtocolSettings, out: Callable[[str], object]) -> None:
        self.config, self._out = config, out
        self.opponent: Opponent
        self.translator: Translator
        self.turns = Turns(self.answer)
        self.level: dict[str, float] = {}
        self.ponders = False
        self.set_up(config.game)
        self.commands: dict[str, Callable[[dict[str, str]], None]] = {
            "hub": self.hub,
            "init": self.init,
            "ping": lambda _: self.say("pong"),
            "new-game": self.new_game,
            "pos": self.pos,
            "level": self.set_level,
            "go": self.go,
            "ponder-hit": self.ponder_hit,
            "stop": lambda _: self.turns.stop(),
            "set-param": self.set_param,
        }

    @property
    def engine(self) -> Engine:
        return self.opponent.engine

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
                command(arguments_of(rest))
        except InputError as error:
            self.wrong(str(error))
        except Exception as error:
            self.wrong(own_fault(error) or f"{type(error).__name__}: {error}")
        return True

    def wrong(self, sentence: str) -> None:
        kept = "".join(c if c.isprintable() and c != '"' else " " for c in sentence)
        self.say(f'error message="{" ".join(kept.split())[:400]}"')

    def close(self) -> None:
        self.turns.stop()

    # ---- Who we are ----------------------------------------------------------------------------

    def hub(self, _: dict[str, str]) -> None:
        from athenan import __version__

        variant = next(key for key, value in VARIANTS.items() if value == self.variant)
        values = " ".join(VARIANTS)
        self.say(f'id name=athenan version={__version__} author="the athenan authors"')
        self.say(f'param name=variant value={variant} type=enum values="{values}"')
        self.say("wait")

    @property
    def variant(self) -> str:
        return str(self.engine.game.values["variant"])

    def init(self, _: dict[str, str]) -> None:
        self.engine.warm_up()
        self.say("ready")

    def set_up(self, settings: dict[str, Any]) -> None:
        game = make_game(**settings)
        translator = make_translator("hub", game)
        opponent = make_opponent(game, replace(self.config, game=settings))
        self.opponent, self.translator = opponent, translator

    def set_param(self, given: dict[str, str]) -> None:
        if given.get("name") != "variant":
            raise InputError(f"there is no parameter {given.get('name', '')}")
        value = given.get("value", "")
        if value not in VARIANTS:
            raise InputError(f"there is no variant {value}")
        self.turns.stop()
        if VARIANTS[value] != self.variant:
            self.set_up({"name": "draughts", "variant": VARIANTS[value]})

    # ---- Games ---------------------------------------------------------------------------------

    def new_game(self, _: dict[str, str]) -> None:
        self.turns.stop()
        self.engine.clear()
        self.engine.set_line()

    def pos(self, given: dict[str, str]) -> None:
        """All or nothing. Without a position it is the start."""
        self.turns.stop()
        start = None
        if given.get("start", "") == "" and "pos" in given:
            start = self.translator.read_position(given["pos"])
        state, actions = start or self.engine.game.initial_state(), list[int]()
        for word in given.get("moves", "").split():
            for action in self.translator.read(state, word):
                actions.append(action)
                state = state.play(action)
        self.engine.set_line(start, actions)

    def set_level(self, given: dict[str, str]) -> None:
        """Holds until the next one."""
        level: dict[str, float] = {}
        for name in ("depth", "nodes", "time", "moves", "inc", "move-time"):
            if name in given:
                value = number_of(given[name])
                if value is None:
                    raise InputError(f"{name} is a number")
                level[name] = max(0.0, value)
        level |= {"infinite": 1.0} if "infinite" in given else {}
        self.level = level

    def go(self, given: dict[str, str]) -> None:
        self.turns.stop()
        if self.engine.state.is_terminal:
            raise InputError("the game is over")
        self.ponders = "ponder" in given
        waits = self.ponders or "analyze" in given or "infinite" in self.level
        budget = replace(ENDLESS, seconds=self.config.analysis_seconds)
        self.begin(budget if waits else self.budget(), waits)

    def begin(self, budget: Budget, waits: bool) -> None:
        self.turns.begin(self.engine, budget, self.tell, EVERY_SECONDS, waits)

    def ponder_hit(self, _: dict[str, str]) -> None:
        if self.ponders and self.turns.waits:
            self.ponders = False
            self.turns.drop()
            self.begin(self.budget(), False)

    def budget(self) -> Budget:
        level, nodes = self.level, int(self.level.get("nodes", 0)) or None
        if level.get("move-time"):
            return Budget(evaluations=nodes, seconds=level["move-time"])
        if "time" in level:
            moves = int(level.get("moves", 0)) or None
            increment = level.get("inc", 0.0)  # which comes before the turn
            left = TimeLeft(level["time"] + increment, increment, moves)
            return self.engine.budget_by_clock(left, Budget(evaluations=nodes))
        return Budget(evaluations=nodes) if nodes else self.engine.budget

    # ---- What is told --------------------------------------------------------------------------

    def tell(self, thought: Thought) -> None:
        result = thought.result
        if result is None or not thought.line:
            return
        line = self.translator.moves(thought.state, thought.line)
        value = thought.own(result.value) / self.engine.search.core.bound
        if result.resolved:  # 100 less a hundredth for each ply
            value = thought.own(result.completion) * (100 - (result.plies_to_end or 0) / 100)
        seconds = max(1e-3, thought.seconds)
        self.say(
            f"info depth={len(line)} mean-depth={len(line)} score={value:.2f} "
            f"nodes={result.evaluations} time={seconds:.3f} "
            f'nps={result.evaluations / seconds / 1e6:.4f} pv="{" ".join(line)}"'
        )

    def answer(self, thought: Thought | None, error: BaseException | None) -> None:
        if thought is None or not thought.turn:
            self.wrong(str(error) if error else "there is no move")
            return
        line = self.translator.moves(thought.state, thought.line)
        ponder = f" ponder={line[1]}" if len(line) > 1 else ""
        move = self.translator.write(thought.state, list(thought.turn))
        self.say(f"done move={move}{ponder}")


def arguments_of(text: str) -> dict[str, str]:
    """`name=value`, `name="some values"`, or a name alone."""
    found = {}
    for match in ARGUMENT.finditer(text):
        found[match[1]] = match[2] if match[2] is not None else match[3] or ""
    return found
