"""`athenan gtp`: the Go Text Protocol, version 2, for games of stones on points.

Besides its own commands those of Leela Zero and KataGo for analysis, GoGui's for boards of any
game, and `list_games`, `set_game`. What is refused is answered by `?` and a sentence.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

from athenan.engine import ENDLESS, Budget, Engine
from athenan.errors import InputError
from athenan.games import make_game, own_fault, settings_of
from athenan.lines import LongLine, Out, number_of, talk
from athenan.opponent import Opponent, make_opponent
from athenan.search import search_for
from athenan.settings import ProtocolSettings
from athenan.thoughts import Thought
from athenan.time_control import TurnClock
from athenan.translators import (
    PLAYED,
    Translator,
    gtp_colour,
    make_translator,
    player_of_colour,
)
from athenan.translators.gtp import Gtp as GtpWords

SIZES = ("size", "base")  # options of games that `boardsize` sets
ANALYSES = ("lz", "kata")
LEAST_INTERVAL = 0.02  # seconds between two lines of an analysis
LONGEST_NUMBER = 20  # digits of a command's number
COLOURS = ("black", "white")


def run_gtp(config: ProtocolSettings) -> None:
    gtp = Gtp(config, Out())
    gtp.opponent.engine.warm_up()
    talk(gtp.hear, gtp.close)


def refuse(sentence: str) -> NoReturn:
    raise InputError(sentence)


class Gtp:
    def __init__(self, config: ProtocolSettings, out: Callable[[str], object]) -> None:
        self.config, self._out = config, out
        self.opponent: Opponent
        self.translator: Translator
        self.moves: list[int] = []  # actions of each move, of which `undo` takes the last away
        self.clocks = [TurnClock(), TurnClock()]
        self._number = ""  # of the command that is answered
        self._analyses = False
        self._ends = False
        self.set_up(config.game)
        self.commands: dict[str, Callable[[list[str]], str | None]] = {
            "protocol_version": lambda _: "2",
            "name": lambda _: "athenan",
            "version": self.version,
            "known_command": lambda words: str(one(words) in self.commands).lower(),
            "list_commands": lambda _: "\n".join(sorted(self.commands)),
            "quit": self.quit,
            "boardsize": self.boardsize,
            "clear_board": self.clear_board,
            "komi": self.komi,
            "get_komi": lambda _: f"{self.option('komi'):g}",
            "play": self.play,
            "genmove": self.genmove,
            "reg_genmove": self.reg_genmove,
            "undo": self.undo,
            "showboard": lambda _: f"\n{self.engine.state}",
            "final_score": self.final_score,
            "time_settings": self.time_settings,
            "kgs-time_settings": self.kgs_time_settings,
            "time_left": self.time_left,
            "list_games": lambda _: "\n".join(PLAYED["gtp"]),
            "set_game": self.set_game,
            "gogui-rules_game_id": lambda _: self.game.name,
            "gogui-rules_board": lambda _: self.board(),
            "gogui-rules_board_size": lambda _: str(max(self.game.plane_shape[:2])),
            "gogui-rules_legal_moves": lambda _: " ".join(self.legal_moves()),
            "gogui-rules_side_to_move": lambda _: COLOURS[self.engine.state.to_move],
            "gogui-rules_final_result": lambda _: self.result(),
        }
        for kind in ANALYSES:
            self.commands[f"{kind}-analyze"] = partial(self.analyze, kind)
            self.commands[f"{kind}-genmove_analyze"] = partial(self.genmove_analyze, kind)

    @property
    def engine(self) -> Engine:
        return self.opponent.engine

    @property
    def game(self) -> Any:
        return self.engine.game

    # ---- Lines ---------------------------------------------------------------------------------

    def hear(self, line: str) -> bool:
        """One line; false after `quit`. Any line, an empty one too, ends an analysis."""
        self.end_analysis()
        if isinstance(line, LongLine):
            self._out("? this line is too long\n\n")
            return True
        words = words_of(line)
        self._number = ""
        if words and re.fullmatch(r"[0-9]+", words[0]):
            self._number = words.pop(0)[:LONGEST_NUMBER]
            if not words:
                self.answer("?", "there is no command behind the number")
        if not words:
            return True
        try:
            command = self.commands.get(words[0])
            if command is None:
                refuse("unknown command")
            said = command(words[1:])
        except InputError as error:
            self.answer("?", sentence_of(str(error)))
        except Exception as error:
            fault = own_fault(error) or f"{type(error).__name__}: {error}"
            self.answer("?", sentence_of(fault))
        else:
            if said is not None:
                self.answer("=", said)
        return not self._ends

    def answer(self, mark: str, text: str) -> None:
        """No empty line stands within, as two ends of line end it."""
        lines = [line.rstrip() for line in text.split("\n")]
        kept = [lines[0], *(line for line in lines[1:] if line)]
        self._out(f"{mark}{self._number} " + "\n".join(kept).rstrip() + "\n\n")

    def close(self) -> None:
        self.end_analysis()

    def quit(self, _: list[str]) -> str:
        self._ends = True
        return ""

    def version(self, _: list[str]) -> str:
        from athenan import __version__

        return __version__

    # ---- The game ------------------------------------------------------------------------------

    def set_up(self, settings: dict[str, Any]) -> None:
        """A game with its options, at its start. What cannot be leaves all as it was."""
        game = make_game(**settings)
        translator = make_translator("gtp", game)
        search = {**self.config.search, "name": search_for(game, self.config.search["name"])}
        opponent = make_opponent(game, replace(self.config, game=settings, search=search))
        self.config = replace(self.config, game=settings)
        self.opponent, self.translator, self.moves = opponent, translator, []

    def set_game(self, words: list[str]) -> str:
        name = " ".join(words).casefold().replace(" ", "_")
        if name == self.game.name:
            return self.clear_board([])
        if name not in PLAYED["gtp"]:
            refuse("unknown game")
        self.set_up({"name": name})
        return ""

    def option(self, name: str) -> Any:
        values = self.game.values
        if name not in values:
            refuse(f"{self.game.name} has no {name}")
        return values[name]

    def boardsize(self, words: list[str]) -> str:
        sizes = {whole(word) for word in words}
        if len(words) not in (1, 2) or len(sizes) != 1:
            refuse("boardsize not an integer" if len(words) < 3 else "boardsize takes a number")
        size = sizes.pop()
        name = next((name for name in SIZES if name in self.game.values), None)
        if name is None or self.game.values[name] == size:
            if name is None and size not in self.game.plane_shape[:2]:
                refuse("unacceptable size")
            return self.clear_board([])
        try:
            self.set_up({**settings_of(self.game), name: size})
        except InputError:
            refuse("unacceptable size")
        return ""

    def clear_board(self, _: list[str]) -> str:
        self.engine.set_line()
        self.engine.clear()
        self.moves = []
        for clock in self.clocks:
            clock.restart()
        return ""

    def komi(self, words: list[str]) -> str:
        komi = real(one(words))
        if komi == self.option("komi"):
            return ""
        actions, moves = list(self.engine.actions), self.moves
        try:
            self.set_up({**settings_of(self.game), "komi": komi})
        except InputError as error:
            refuse(f"komi not acceptable: {error}")
        self.engine.set_line(None, actions)
        self.moves = moves
        return ""

    # ---- Moves ---------------------------------------------------------------------------------

    def play(self, words: list[str]) -> str:
        if len(words) != 2:
            refuse("play takes a colour and a vertex")
        player = player_of_colour(words[0])
        if words[1].casefold() == "resign":
            return ""
        with_turn = self.turn_of(player)
        try:
            actions = self.translator.read(self.engine.state, words[1])
        except InputError:
            self.engine.undo(with_turn)
            refuse("illegal move")
        for action in actions:
            self.engine.play(action)
        self.moves.append(with_turn + len(actions))
        return ""

    def turn_of(self, player: int) -> int:
        """Two moves of one colour may follow each other, where the other one can pass. How many
        actions that took."""
        state = self.engine.state
        if state.is_terminal:
            refuse("illegal move: the game is over")
        if state.to_move == player:
            return 0
        try:
            action = state.string_to_action("pass")
        except ValueError:
            refuse(f"illegal move: it is {COLOURS[state.to_move]}'s turn")
        self.engine.play(action)
        if self.engine.state.is_terminal:
            self.engine.undo()
            refuse("illegal move: the game would be over")
        return 1

    def undo(self, _: list[str]) -> str:
        if not self.moves:
            refuse("cannot undo")
        self.engine.undo(self.moves.pop())
        return ""

    def genmove(self, words: list[str], hear: Callable[[Thought], object] | None = None) -> str:
        return self.found(words, hear, True, LEAST_INTERVAL)

    def reg_genmove(self, words: list[str]) -> str:
        return self.found(words, None, False, LEAST_INTERVAL)

    def found(
        self,
        words: list[str],
        hear: Callable[[Thought], object] | None,
        plays: bool,
        every: float,
    ) -> str:
        player = player_of_colour(one(words))
        if self.engine.state.is_terminal and self.game.name == "go":
            return "PASS"
        with_turn = self.turn_of(player)
        started = time.monotonic()
        thought = self.engine.think(self.budget_of(player), hear, every)
        assert thought.action is not None
        text = self.translator.write(thought.state, [thought.action])
        if plays:
            self.clocks[player].spend(time.monotonic() - started)
            self.engine.play(thought.action)
            self.moves.append(with_turn + 1)
        else:
            self.engine.undo(with_turn)
        return text

    def budget_of(self, player: int) -> Budget:
        left = self.clocks[player].time_left()
        usual = self.engine.budget
        if left is None:
            return usual
        return self.engine.budget_by_clock(left, replace(usual, seconds=None))

    # ---- Ends ----------------------------------------------------------------------------------

    def final_score(self, _: list[str]) -> str:
        state = self.engine.state
        if state.score is None and not state.is_terminal:
            refuse("cannot score: the game is not over")
        return self.result() if state.is_terminal else margin(state.score)

    def result(self) -> str:
        """Nothing before the end."""
        state = self.engine.state
        if not state.is_terminal:
            return ""
        if state.score is not None:
            return margin(state.score)
        return {1: "B+", 0: "0", -1: "W+"}[state.outcomes[0]]

    def legal_moves(self) -> list[str]:
        state = self.engine.state
        return [self.translator.write(state, [action]) for action in state.legal_actions()]

    def board(self) -> str:
        """X of the first player, O of the second; the last line is the row that GTP calls 1."""
        planes, channels = self.engine.state.planes(), self.game.channels
        marks = [("X", "piece x"), ("O", "piece o")]
        if any(name not in channels for _, name in marks):
            refuse(f"{self.game.name} is not played with stones of two colours")
        lines = []
        for row in planes if self.game.name in GtpWords.from_the_bottom else planes[::-1]:
            cells = [
                next((mark for mark, name in marks if cell[channels.index(name)]), ".")
                for cell in row
            ]
            lines.append(" ".join(cells))
        return "\n" + "\n".join(lines)

    # ---- Time ----------------------------------------------------------------------------------

    def time_settings(self, words: list[str]) -> str:
        """Main time, then a period for so many stones; a period without stones is no limit."""
        if len(words) != 3:
            refuse("time_settings takes three numbers")
        main, period, stones = (seconds(word) for word in words)
        if period and not stones:
            self.clocks = [TurnClock(), TurnClock()]
        else:
            self.clocks = [TurnClock(main, period, int(stones)) for _ in COLOURS]
        return ""

    def kgs_time_settings(self, words: list[str]) -> str:
        kinds = {"none": 0, "absolute": 1, "byoyomi": 3, "canadian": 3}
        if not words or kinds.get(words[0]) != len(words) - 1:
            refuse("kgs-time_settings takes none, absolute, byoyomi or canadian and their numbers")
        kind, numbers = words[0], [seconds(word) for word in words[1:]]
        if kind == "none":
            self.clocks = [TurnClock(), TurnClock()]
        elif kind == "absolute":
            self.clocks = [TurnClock(numbers[0]) for _ in COLOURS]
        elif kind == "byoyomi":  # periods of one turn, which begin anew; the last must be kept
            self.clocks = [TurnClock(numbers[0], numbers[1], 1) for _ in COLOURS]
        else:
            self.clocks = [TurnClock(numbers[0], numbers[1], int(numbers[2])) for _ in COLOURS]
        return ""

    def time_left(self, words: list[str]) -> str:
        if len(words) != 3:
            refuse("time_left takes a colour, seconds and stones")
        self.clocks[player_of_colour(words[0])].told(seconds(words[1]), int(seconds(words[2])))
        return ""

    # ---- Analysis ------------------------------------------------------------------------------

    def analyze(self, kind: str, words: list[str]) -> None:
        """Until the next line. The colour may be left out."""
        colour, every = colour_and_interval(words)
        state = self.engine.state
        if colour is not None and player_of_colour(colour) != state.to_move:
            refuse(f"it is {COLOURS[state.to_move]}'s turn")
        self._out(f"={self._number}\n")
        self._analyses = True
        limited = replace(ENDLESS, seconds=self.config.analysis_seconds)
        self.engine.start(limited, lambda thought: self.tell(kind, thought), every)

    def end_analysis(self) -> None:
        if self._analyses:
            self._analyses = False
            self.engine.stop()
            self._out("\n")

    def genmove_analyze(self, kind: str, words: list[str]) -> None:
        colour, every = colour_and_interval(words)
        if colour is None:
            colour = gtp_colour(self.engine.state.to_move)
        player_of_colour(colour)
        begun = False

        def hear(thought: Thought) -> None:
            nonlocal begun
            if not begun:
                self._out(f"={self._number}\n")
            begun = True
            self.tell(kind, thought)

        text = self.found([colour], hear, True, every)
        self._out(("" if begun else f"={self._number}\n") + f"play {text}\n\n")

    def tell(self, kind: str, thought: Thought) -> None:
        """All candidates that were looked at, in one line."""
        candidates = thought.candidates()
        seen = [child for child in candidates if child.selections or child.resolved]
        bound, parts = self.engine.search.core.bound, []
        for order, child in enumerate(seen or candidates[:1]):
            value = thought.own(child.value) / bound
            if child.resolved:
                value = thought.own(child.completion)
            line = " ".join(self.vertices(thought.state, thought.line_of(child.action)))
            rate = (value + 1) / 2
            shown = f"{round(10000 * rate)}" if kind == "lz" else f"{rate:.4f}"
            extra = "" if kind == "lz" else f"utility {value:.4f} scoreMean 0 scoreLead 0 "
            move = line.partition(" ")[0]
            parts.append(
                f"info move {move} visits {child.selections} {extra}winrate {shown} prior 0 "
                f"lcb {shown} order {order} pv {line}"
            )
        if parts:
            self._out(" ".join(parts) + "\n")

    def vertices(self, state: Any, actions: list[int]) -> list[str]:
        words = []
        for action in actions:
            words.append(self.translator.write(state, [action]))
            state = state.play(action)
        return words


# ---- Words ---------------------------------------------------------------------------------------


def words_of(line: str) -> list[str]:
    """Without comments and control characters; a tab is a blank."""
    line = line.replace("\t", " ").partition("#")[0]
    return "".join(letter for letter in line if letter >= " " and letter != "\x7f").split()


def sentence_of(text: str) -> str:
    """In one line."""
    return " ".join(text.split())[:400] or "this failed"


def one(words: list[str]) -> str:
    if len(words) != 1:
        refuse("this command takes one word")
    return words[0]


def whole(word: str) -> int:
    if not re.fullmatch(r"[0-9]{1,6}", word):
        refuse("boardsize not an integer")
    return int(word)


def real(word: str) -> float:
    found = number_of(word)
    if found is None:
        refuse(f"'{word}' is no number")
    return found


def seconds(word: str) -> float:
    found = real(word)
    if found < 0:
        refuse("a time is not below 0")
    return found


def colour_and_interval(words: list[str]) -> tuple[str | None, float]:
    """`b 50`, `50`, `b`, `b interval 50 …`, in hundredths of a second; other pairs are for engines
    that know them."""
    colour = None
    if words and not re.match(r"[0-9]", words[0]) and words[0] in ("b", "w", *COLOURS, "B", "W"):
        colour = words[0]
        words = words[1:]
    if words[:1] == ["interval"]:
        words = words[1:]
    hundredths = 50.0
    if words:
        hundredths = seconds(words[0])
    return colour, max(LEAST_INTERVAL, hundredths / 100)


def margin(score: float) -> str:
    """`B+3.5`, in the view of black, the first player."""
    return "0" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"
