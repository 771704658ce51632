"""How a program is asked for a move, in each protocol."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from athenan import _core
from athenan.errors import InputError, nearest
from athenan.external.program import Fault, Program
from athenan.translators import Translator, gtp_colour


def shown(text: str) -> str:
    """What a program said, fit for a line on a terminal."""
    text = "".join(letter if letter.isprintable() else "?" for letter in text)
    return text if len(text) <= 60 else text[:60] + "…"


SECONDS_TO_START = 30.0  # that a program has at least: it may load much


class Resigns(Exception):
    """The program gives the game up, as it may."""


@dataclass
class Line:
    """A game so far, in the program's words."""

    start: _core.State
    state: _core.State
    moves: list[tuple[int, str]] = field(default_factory=list)  # each with who made it

    @property
    def from_the_start(self) -> bool:
        return self.start.history == (None, [])

    @property
    def texts(self) -> list[str]:
        return [text for _, text in self.moves]


@dataclass(frozen=True)
class Wishes:
    """What the user wants of the program."""

    options: dict[str, Any] = field(default_factory=dict)
    seconds: float | None = None  # a move
    nodes: int | None = None  # a move
    go: str | None = None  # instead of both, in the program's words
    patience: float = 60.0  # seconds for any answer

    @property
    def has_no_limit(self) -> bool:
        return self.seconds is None and self.nodes is None and self.go is None


class Dialogue(ABC):
    """With one process of a program."""

    farewell: ClassVar[str] = "quit"

    def __init__(self, command: list[str], translator: Translator, wishes: Wishes) -> None:
        self.translator, self.wishes, self.game = translator, wishes, translator.game
        self.name, self.version = "", ""
        self.asked = False  # for a move, which is not answered yet
        self.deadline = time.monotonic() + max(wishes.patience, SECONDS_TO_START)
        self.program = Program(command, self.farewell)
        try:
            self.greet()
            self.name, self.version = shown(self.name), shown(self.version)
        except BaseException:
            self.program.end()
            raise

    @abstractmethod
    def greet(self) -> None:
        """Asks who it is and says what game is played: a Fault where it has no answer, an
        InputError where it does not know the game or an option."""

    @abstractmethod
    def new_game(self) -> None:
        """What follows has nothing to do with what was before."""

    @abstractmethod
    def move(self, line: Line) -> str:
        """Its move."""

    def begin(self) -> None:
        self.deadline = time.monotonic() + self.wishes.patience
        self.new_game()

    def ask(self, line: Line) -> list[int]:
        """The actions of its move; a Fault where it makes none that is legal."""
        self.deadline = time.monotonic() + self.wishes.patience
        self.asked = False
        text = self.move(line)
        try:
            return self.translator.read(line.state, text)
        except InputError:
            raise Fault(f"plays '{shown(text)}', which is not legal") from None

    def tell(self, text: str) -> None:
        self.program.tell(text, self.deadline)

    def hear(self, *first: str) -> str:
        """The next line that begins with one of these words; others are passed over."""
        while True:
            line = self.program.line(self.deadline).strip()
            if line.split(" ", 1)[0] in first:
                return line

    def hear_until(self, last: str) -> list[str]:
        lines = []
        while (line := self.program.line(self.deadline).strip()).split(" ", 1)[0] != last:
            lines.append(line)
        return lines


# ---- GTP ---------------------------------------------------------------------------------------


class GtpDialogue(Dialogue):
    def greet(self) -> None:
        self.number = 0
        self.played: list[tuple[int, str]] = []
        self.name, self.version = self.answer("name"), self.answer("version")
        rows, columns, _ = self.game.plane_shape
        if rows != columns:
            raise InputError("GTP has no words for a board that is not square.")
        self.set_up("boardsize", rows, f"a board of size {rows}")
        if self.game.name == "go":
            self.set_up("komi", float(self.game.values["komi"]), "this komi")
        for name, value in self.wishes.options.items():
            self.set_up(name, value, f"'{name} {value}'")
        if self.wishes.seconds is not None:
            self.accepts(f"time_settings 0 {self.wishes.seconds:g} 1")

    def set_up(self, name: str, value: Any, what: str) -> None:
        if not self.accepts(f"{name} {value}"):
            raise InputError(f"{self.name} refuses {what}.")

    def new_game(self) -> None:
        self.answer("clear_board")
        self.played = []

    def move(self, line: Line) -> str:
        if not line.from_the_start:
            raise InputError("GTP has no words for a game that begins elsewhere than usual.")
        if line.moves[: len(self.played)] != self.played:
            self.new_game()
        for player, text in line.moves[len(self.played) :]:
            # In Othello nobody chooses to pass, and GRhino refuses to hear of it.
            unsaid = text == "pass" and self.game.name == "othello"
            if not unsaid and not self.accepts(f"play {gtp_colour(player)} {text}"):
                raise Fault(f"refuses '{text}', which is legal")
        self.played = list(line.moves)
        mover = line.state.to_move
        self.asked = True
        text = self.answer(f"genmove {gtp_colour(mover)}")
        if text.casefold() == "resign":
            raise Resigns
        try:
            action = self.translator.read(line.state, text)
            self.played.append((mover, self.translator.write(line.state, action)))
        except InputError:
            self.played = [(-1, "")]  # nobody knows what it has on its board
        return text

    def answer(self, command: str) -> str:
        accepted, text = self.response(command)
        if not accepted:
            raise Fault(f"refuses '{command}'")
        return text

    def accepts(self, command: str) -> bool:
        return self.response(command)[0]

    def response(self, command: str) -> tuple[bool, str]:
        """Whether it is no refusal, and its text."""
        self.number += 1
        self.tell(f"{self.number} {command}")
        while True:
            line = self.program.line(self.deadline)
            if found := re.match(rf"([=?]){self.number}(?:\s|$)", line):
                break
        lines = [line[found.end() :].strip()]
        while line := self.program.line(self.deadline).strip():
            lines.append(line)
        return found[1] == "=", "\n".join(lines).strip()


# ---- UCI ---------------------------------------------------------------------------------------


class UciDialogue(Dialogue):
    def greet(self) -> None:
        self.offered: dict[str, tuple[str, str]] = {}  # options, and all that was said of them
        self.introduce()
        for name, value in self.wishes.options.items():
            self.set_option(name, value)
        if "VariantPath" in self.wishes.options:  # there are more variants now
            self.introduce()
        self.choose_variant(getattr(self.translator, "variant", "chess"))
        self.synchronise()

    def introduce(self) -> None:
        self.tell("uci")
        for line in self.hear_until("uciok"):
            if line.startswith("id name "):
                self.name, self.version = parted(line.removeprefix("id name "))
            if found := re.match(r"option name (.+?) type (.*)", line):
                self.offered[found[1].casefold().replace(" ", "_")] = found[1], found[2]

    def choose_variant(self, variant: str) -> None:
        if "uci_variant" not in self.offered and variant == "chess":
            return
        variants = re.findall(r"\bvar (\S+)", self.offered.get("uci_variant", ("", ""))[1])
        if variant not in variants:
            raise InputError(f"{self.name or 'The engine'} does not know the variant '{variant}'.")
        self.tell(f"setoption name UCI_Variant value {variant}")

    def set_option(self, name: str, value: Any) -> None:
        offered = self.offered.get(name.casefold().replace(" ", "_"))
        if offered is None:
            near = nearest(name, (one for one, _ in self.offered.values()))
            raise InputError(f"{self.name or 'The engine'} has no option '{name}'{near}")
        said = str(value).lower() if isinstance(value, bool) else value
        self.tell(f"setoption name {offered[0]} value {said}")

    def synchronise(self) -> None:
        """What it said before is over; also a late answer to an earlier question."""
        self.tell("isready")
        self.hear_until("readyok")

    def new_game(self) -> None:
        self.tell("ucinewgame")
        self.synchronise()

    def move(self, line: Line) -> str:
        self.synchronise()
        position = "startpos"
        if not line.from_the_start:
            position = f"fen {self.translator.write_position(line.start)}"
        moves = f" moves {' '.join(line.texts)}" if line.moves else ""
        self.tell(f"position {position}{moves}")
        self.asked = True
        self.tell(f"go {self.limits()}")
        words = self.hear("bestmove").split()
        return words[1] if len(words) > 1 else ""

    def limits(self) -> str:
        wishes = self.wishes
        if wishes.go is not None:
            return wishes.go
        limits = [f"nodes {wishes.nodes}"] if wishes.nodes else []
        if wishes.seconds:
            limits.append(f"movetime {max(1, round(1000 * wishes.seconds))}")
        return " ".join(limits)


# ---- Hub ---------------------------------------------------------------------------------------


class HubDialogue(Dialogue):
    def greet(self) -> None:
        self.tell("hub")
        offered = []
        for line in self.hear_until("wait"):
            said = dict(re.findall(r'(\S+?)=("[^"]*"|\S+)', line))
            if line.startswith("id "):
                self.name = said.get("name", "").strip('"')
                self.version = said.get("version", "").strip('"')
            if line.startswith("param "):
                offered.append(said.get("name", ""))
        wishes = {"variant": getattr(self.translator, "variant", "normal")} | self.wishes.options
        for name, value in wishes.items():
            if name in offered:
                self.tell(f"set-param name={name} value={quoted(str(value))}")
            elif name != "variant" or value != "normal":
                raise InputError(
                    f"{self.name or 'The engine'} has no option '{name}'{nearest(name, offered)}"
                )
        self.tell("init")
        self.hear("ready")

    def new_game(self) -> None:
        self.tell("new-game")
        self.synchronise()

    def synchronise(self) -> None:
        self.tell("ping")
        self.hear_until("pong")

    def move(self, line: Line) -> str:
        self.synchronise()
        wishes, position = self.wishes, self.translator.write_position(line.start)
        moves = f" moves={quoted(' '.join(line.texts))}" if line.moves else ""
        self.tell(f"pos pos={position}{moves}")
        limits = [f"move-time={wishes.seconds:g}"] if wishes.seconds else []
        limits += [f"nodes={wishes.nodes}"] if wishes.nodes else []
        self.tell(f"level {wishes.go or ' '.join(limits)}")
        self.asked = True
        self.tell("go think")
        found = re.search(r'\bmove="?([^\s"]+)', self.hear("done"))
        return found[1] if found else ""


def quoted(text: str) -> str:
    return f'"{text}"' if not text or " " in text else text


# ---- AEI ---------------------------------------------------------------------------------------


class AeiDialogue(Dialogue):
    def greet(self) -> None:
        self.tell("aei")
        self.played: list[tuple[int, str]] = []
        for line in self.hear_until("aeiok"):
            for key in ("name", "version"):
                if line.startswith(f"id {key} "):
                    setattr(self, key, line.removeprefix(f"id {key} "))
        if self.wishes.seconds is not None:
            self.tell(f"setoption name tcmove value {self.wishes.seconds:g}")
        for name, value in self.wishes.options.items():
            self.tell(f"setoption name {name} value {value}")
        self.synchronise()

    def synchronise(self) -> None:
        self.tell("isready")
        self.hear_until("readyok")

    def new_game(self) -> None:
        self.tell("newgame")
        self.synchronise()
        self.played = []

    def move(self, line: Line) -> str:
        if not self.played or line.moves[: len(self.played)] != self.played:
            self.new_game()
            if not line.from_the_start:
                self.tell(f"setposition {self.translator.write_position(line.start)}")
        for move in line.moves[len(self.played) :]:
            self.tell(f"makemove {move[1]}")
        self.played = list(line.moves)
        self.synchronise()
        self.asked = True
        self.tell("go")
        text = self.hear("bestmove").removeprefix("bestmove").strip()
        if text.casefold() == "resign":
            raise Resigns
        return text


def parted(name: str) -> tuple[str, str]:
    """A name and the version at its end."""
    found = re.fullmatch(r"(.*?\S)\s+(\d\S*.*)", name.strip())
    return (found[1], found[2]) if found else (name.strip(), "")


DIALOGUES: dict[str, Callable[[list[str], Translator, Wishes], Dialogue]] = {
    "gtp": GtpDialogue, "uci": UciDialogue, "hub": HubDialogue, "aei": AeiDialogue,
}  # fmt: skip
