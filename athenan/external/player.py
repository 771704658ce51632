"""A player of matches that is another program.

What a program does wrong (it crashes, is silent, talks nonsense, plays what is not legal) gives its
game away, with a sentence: no loss by play, and counted apart from losses.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from athenan import _core
from athenan.errors import InputError
from athenan.external.asking import DIALOGUES, Dialogue, Line, Resigns, Wishes
from athenan.external.program import Fault, command_of
from athenan.games import replayed_state
from athenan.settings import PlayerSettings
from athenan.translators import make_translator
from athenan.translators import protocol_of as usual_protocol

MOST_FAULTS = 5  # in a row, without a move between: its other games are not begun any more


@dataclass(frozen=True)
class GivesUp:
    """Instead of an action: the game is over."""

    sentence: str
    resigns: bool = False  # a loss like any other


@dataclass
class Known:
    """Of one game: what was told, and what is left of the move that was answered."""

    line: Line
    actions: list[int]  # that the line is made of
    left: list[int]
    expected: int | None = None  # key of the state that the next of them is for


class ExternalPlayer:
    """Each process plays every n-th game; one that breaks is started again."""

    def __init__(self, game: _core.Game, settings: PlayerSettings) -> None:
        assert settings.engine is not None
        self.game, self.settings = game, settings
        self.command = command_of(settings.engine, settings.install)
        self.protocol = protocol_of(settings, game)
        self.translator = make_translator(self.protocol, game)
        self.wishes = Wishes(
            settings.options, settings.seconds, settings.evaluations or settings.iterations,
            settings.go, settings.patience_seconds,
        )  # fmt: skip
        if self.protocol in ("uci", "hub") and self.wishes.has_no_limit:
            raise InputError(
                f"Engine '{settings.engine}' needs a budget: seconds, evaluations or go."
            )
        self.processes: list[Dialogue | None] = [None] * settings.processes
        self.threads = ThreadPoolExecutor(settings.processes) if settings.processes > 1 else None
        self.known: dict[int, Known] = {}
        self.begun = [False] * settings.processes
        self.faults, self.last_fault = 0, ""
        self.closed = False
        try:
            first = self._start(0)
        except Fault as fault:
            hint = f" ({settings.install})" if settings.install else ""
            raise InputError(
                f"Engine '{settings.engine}', asked by {self.protocol}, {fault}{hint}."
            ) from None
        self.name, self.version = first.name or settings.engine, first.version
        self.text = self._text()

    def _text(self) -> str:
        """Such as `GNU Go 3.8 (gnugo --mode gtp)`."""
        words = [" ".join(part for part in (self.name, self.version) if part)]
        words[0] += f" ({self.settings.engine})"
        words += [f"{name} {value}" for name, value in self.settings.options.items()]
        wishes = self.wishes
        if wishes.go is not None:
            words.append(wishes.go)
        else:
            words += [f"{wishes.nodes:,} nodes a move"] if wishes.nodes else []
            words += [f"{wishes.seconds:g} seconds a move"] if wishes.seconds else []
        return ", ".join(words)

    @property
    def facts(self) -> dict[str, Any]:
        wishes = self.wishes
        asked = {"go": wishes.go, "seconds": wishes.seconds, "nodes": wishes.nodes}
        options: dict[str, Any] = {"engine": self.settings.engine, "protocol": self.protocol}
        options |= {name: value for name, value in asked.items() if value is not None}
        return {
            "version": f"{self.name} {self.version}".strip(),
            "options": options | {"options": self.settings.options},
        }

    def another(self, number: int) -> ExternalPlayer:
        assert number  # it has no seed
        return ExternalPlayer(self.game, self.settings)

    def forget(self) -> None:
        self.known.clear()
        self.begun = [False] * len(self.processes)

    def close(self) -> None:
        """Its processes end; its threads, which wait for them, hear of that."""
        self.closed = True
        for dialogue in self.processes:
            if dialogue is not None:
                dialogue.program.kill()
        if self.threads is not None:
            self.threads.shutdown()
        for dialogue in self.processes:
            if dialogue is not None:
                dialogue.program.end()
        self.processes = [None] * len(self.processes)

    def choose(
        self, games: list[int], states: list[_core.State], seconds: float | None = None
    ) -> list[int | GivesUp]:
        ends = None if seconds is None else time.monotonic() + seconds
        chosen: dict[int, int | GivesUp] = {}
        asked: dict[int, list[tuple[int, _core.State]]] = {}
        for number, state in zip(games, states, strict=True):
            action = self._without_asking(number, state)
            if action is None:
                asked.setdefault(number % len(self.processes), []).append((number, state))
            else:
                chosen[number] = action

        def ask(place: int) -> dict[int, int | GivesUp]:
            return {
                number: state.legal_actions()[0]  # the time is up, and the game does not count
                if ends is not None and time.monotonic() > ends
                else self._ask(place, number, state)
                for number, state in asked[place]
            }

        run = map if self.threads is None else self.threads.map
        try:
            for answers in run(ask, asked):
                chosen |= answers
        except BaseException:  # such as Ctrl-C: nobody will read what they still answer
            self.close()
            raise
        return [chosen[number] for number in games]

    def _without_asking(self, number: int, state: _core.State) -> int | None:
        """The rest of its last move; a pass that has to be; the rest of a turn that an opening
        began, of which protocols cannot speak, at random as it began."""
        known = self.known.get(number)
        if known is not None and known.left and known.expected == state.key:
            action = known.left.pop(0)
            known.expected = state.play(action).key
            return action
        known = self.known[number] = self._told(number, state)
        actions = state.legal_actions()
        if len(actions) == 1 and state.action_to_string(actions[0]) == "pass":
            return actions[0]
        if known.line.state.key != state.key:
            return actions[state.key % len(actions)]
        return None

    def _told(self, number: int, state: _core.State) -> Known:
        """The line that leads to the state, as far as its moves are whole."""
        start, actions = state.history
        known = self.known.get(number)
        if known is None or actions[: len(known.actions)] != known.actions:
            begin = replayed_state(self.game, start, [])
            known = Known(Line(begin, begin), [], [])
        line, move = known.line, list[int]()
        before = at = line.state
        for action in actions[len(known.actions) :]:
            move.append(action)
            at = at.play(action)
            if self.translator.is_whole(before, at):
                line.moves.append((before.to_move, self.translator.write(before, move)))
                line.state = before = at
                known.actions += move
                move = []
        return known

    def _ask(self, place: int, number: int, state: _core.State) -> int | GivesUp:
        if self.faults >= MOST_FAULTS:
            return GivesUp(f"{self.name} is not asked any more: it {self.last_fault}")
        known = self.known[number]
        try:
            actions = self._answer(place, known.line)
        except Resigns:
            return GivesUp(f"{self.name} resigns", resigns=True)
        except Fault as fault:
            # What it has on its board, or still says, nobody knows.
            self.faults, self.last_fault = self.faults + 1, str(fault)
            if (dialogue := self.processes[place]) is not None:
                dialogue.program.end()
            self.processes[place] = None
            return GivesUp(f"{self.name} {fault}")
        self.faults = 0
        known.left = actions[1:]
        known.expected = state.play(actions[0]).key
        return actions[0]

    def _answer(self, place: int, line: Line) -> list[int]:
        """Of a process that ended before it was asked for this move another one is asked."""
        dialogue = self._dialogue(place)
        try:
            return dialogue.ask(line)
        except Fault:
            if dialogue.asked or dialogue.program.is_alive():
                raise
        return self._dialogue(place).ask(line)

    def _dialogue(self, place: int) -> Dialogue:
        if self.closed:
            raise Fault("was ended")
        dialogue = self.processes[place]
        if dialogue is not None and not dialogue.program.is_alive():
            dialogue.program.end()
            dialogue = None
        if dialogue is None:
            try:
                dialogue = self._start(place)
            except InputError as error:
                raise Fault(f"cannot be started again: {error}") from None
        if not self.begun[place]:
            self.begun[place] = True
            dialogue.begin()
        return dialogue

    def _start(self, place: int) -> Dialogue:
        self.begun[place] = False
        self.processes[place] = None
        dialogue = DIALOGUES[self.protocol](self.command, self.translator, self.wishes)
        self.processes[place] = dialogue
        return dialogue


def protocol_of(settings: PlayerSettings, game: _core.Game) -> str:
    """As it is said, or as the command line or the game lets one guess."""
    if settings.protocol != "auto":
        return settings.protocol
    command = str(settings.engine).casefold()
    if "stockfish" in command:
        return "uci"
    guessed = next((name for name in DIALOGUES if name in command), None)
    return guessed or usual_protocol(game) or "gtp"
