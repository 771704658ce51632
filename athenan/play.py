"""A person against the program, in the terminal."""

from __future__ import annotations

import sys
import textwrap
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from athenan import _core
from athenan.engine import ENDLESS, Budget
from athenan.errors import InputError
from athenan.games import game_types, make_game, settings_of
from athenan.lines import number_of
from athenan.notation import example, read_actions
from athenan.opponent import Opponent, make_opponent
from athenan.progress import Progress, duration
from athenan.saved_games import append_game, read_games, saved_game
from athenan.screen import Lines, board, counters, has_colours, marks_of, wait_for_key
from athenan.search import own
from athenan.settings import LARGEST, PlaySettings
from athenan.thoughts import Thought

HELP = (
    "an action, or: values (what the search sees) · hint · go on (watch it think, until a key) · "
    "undo · actions · save FILE · load FILE · evaluations N · seconds N · help · quit"
)
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")
WIDTH = 79
SHOWN = 12  # children of `values`, and actions of its line


def play(config: PlaySettings) -> None:
    game = make_game(**config.game)
    person = seat_of(config, game)
    opponent = make_opponent(game, config)
    if sys.stdin.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401  # input() then edits lines and has a history
    Table(game, opponent, person).play()


def seat_of(config: PlaySettings, game: _core.Game) -> int:
    if config.seat is None:
        return 0 if config.first == "me" else 1
    if config.seat > game.num_players:
        raise InputError(
            f"Game '{game.name}' has {game.num_players} players, no seat {config.seat}."
        )
    return config.seat - 1


class Table:
    """A game under way: its states so far, who sits where, and what is said."""

    def __init__(self, game: _core.Game, opponent: Opponent, person: int) -> None:
        self.game, self.opponent, self.person = game, opponent, person
        self.engine, self.colours = opponent.engine, has_colours()
        self.asked: dict[str, Callable[[str], None]] = {
            "save": self.save,
            "load": self.load,
            "evaluations": self.set_evaluations,
            "seconds": self.set_seconds,
        }

    @property
    def state(self) -> Any:
        return self.engine.state

    def play(self) -> None:
        print("\n".join(self.introduction()))
        shown = None
        while True:
            if self.state is not shown:
                self.show_board()
                shown = self.state
            if self.state.is_terminal:
                print(self.ending())
                return
            if self.state.to_move != self.person:
                self.let_it_play()
                continue
            try:
                word = input(self.prompt()).strip()
            except EOFError:
                print()
                return
            if not self.answer(word):
                return

    def set_line(self, states: list[Any]) -> None:
        """As if these had been played."""
        actions = states[-1].history[1]
        self.engine.set_line(states[0], actions[len(actions) - len(states) + 1 :])

    # ---- What the person says ----------------------------------------------------------------

    def answer(self, word: str) -> bool:
        """Does what the person asks; false to quit."""
        state = self.state
        name, _, rest = word.partition(" ")
        if word == "quit":
            return False
        if name in self.asked and (rest or name in ("save", "load")):
            try:
                self.asked[name](rest.strip())
            except InputError as error:
                print(error)
            except OSError as error:
                print(f"'{error.filename}': {error.strerror}.")
        elif word == "undo":
            self.undo()
        elif word in ("go on", "go-on"):
            self.go_on()
        elif word == "values":
            print("\n".join(self.values(self.think())))
        elif word == "hint":
            thought = self.think()
            assert thought.action is not None
            text = state.action_to_string(thought.action)
            print(f"{text}  {self.summary(thought)}: {thought.why()}")
        elif word == "actions":
            print(" ".join(state.action_to_string(a) for a in state.legal_actions()))
        elif word in ("help", ""):
            print(f"{HELP}; an action is written like {example(state)}")
        else:
            try:
                for action in read_actions(state, word):
                    self.engine.play(action)
            except InputError as error:
                print(error)
        return True

    def undo(self) -> None:
        while self.engine.undo():
            if self.state.to_move == self.person:
                break

    # ---- What the program does ---------------------------------------------------------------

    def think(self) -> Thought:
        """What the search knows when its budget is spent, or when Ctrl-C stops it."""
        with thinking():
            try:
                return self.engine.think()
            except KeyboardInterrupt:
                return self.engine.think_no_more()

    def let_it_play(self) -> None:
        thought = self.think()
        assert thought.action is not None
        text = self.state.action_to_string(thought.action)
        mark = f" {mark_of(self.game, self.state.to_move)}" if self.game.num_players > 2 else ""
        print(f"program{mark}: {text}  {self.summary(thought)}")
        self.engine.play(thought.action)

    def go_on(self) -> None:
        """Thinks until a key is pressed, and shows what is known meanwhile."""
        lines = Lines()
        if lines.live:
            print("any key ends it")
        try:
            ended = self.engine.start(ENDLESS, lambda thought: lines.show(self.values(thought)))
            with suppress(KeyboardInterrupt):
                wait_for_key()
        finally:
            self.engine.stop()
        lines.show(self.values(ended.result()))
        lines.end()

    # ---- Settings and files ------------------------------------------------------------------

    def set_evaluations(self, text: str) -> None:
        if not text.isdecimal() or not 0 < int(text) < LARGEST:
            raise InputError("Say how many, for example: evaluations 1000")
        self.engine.budget = Budget(evaluations=int(text))
        print(f"the program thinks for {int(text):,} evaluations an action")

    def set_seconds(self, text: str) -> None:
        seconds = number_of(text)
        if seconds is None or not 0 < seconds <= 1e9:
            raise InputError("Say how many, for example: seconds 5")
        self.engine.budget = Budget(seconds=seconds)
        print(f"the program thinks for {seconds:g} s an action")

    def save(self, text: str) -> None:
        """Appends the game so far to a file of games."""
        if not text:
            raise InputError("Say where, for example: save games.jsonl")
        seats = [
            Seat("you" if player == self.person else "; ".join(self.opponent.about) or "program")
            for player in range(self.game.num_players)
        ]
        append_game(Path(text), saved_game(self.state, 0, seats, event="play"))
        print(f"saved in '{text}' ({len(self.engine.actions)} actions)")

    def load(self, text: str) -> None:
        """The last game of the file goes on."""
        if not text:
            raise InputError("Say what, for example: load games.jsonl")
        games = deque(read_games(Path(text)), maxlen=1)
        if not games:
            raise InputError(f"'{text}' has no games.")
        last = games[0]
        states = last.states(text, trust=last.game.get("name") == settings_of(self.game)["name"])
        if not states[0].game.same_as(self.game):
            raise InputError(f"'{text}' is of another game: {last.game}.")
        self.set_line(states)
        print(f"loaded: {len(last.actions)} actions")

    # ---- What is shown -----------------------------------------------------------------------

    def introduction(self) -> list[str]:
        """Who plays whom, with what, and what the figures mean."""
        game, opponent = self.game, self.opponent
        options = f" {game.options}" if game.options else ""
        lines = [f"{title_of(game)}{options}. You are {PLACES[self.person]}.", *self.sides()]
        lines += [f"  {line}" for line in opponent.about]
        lines += [opponent.meaning, f"At the prompt: {HELP}."]
        return [part for line in lines for part in textwrap.wrap(line, WIDTH)]

    def sides(self) -> list[str]:
        """Whose marks are whose, and how each player wins."""
        game, person = self.game, self.person
        others = [player for player in range(game.num_players) if player != person]
        goals = [goal_of(game, player) for player in range(game.num_players)]
        if len(set(goals)) == 1:
            marks = " and ".join(mark_of(game, player) for player in others)
            all_play = f"You play {mark_of(game, person)}, the program {marks}"
            return [f"{all_play}: {goals[0]}." if goals[0] else f"{all_play}."]
        told = [("You play", person), *(("The program plays", player) for player in others)]
        return [
            # Some goals begin with the name of the colour: `black: the larger area wins`.
            f"{who} {mark_of(game, player)}{',' if ': ' in goals[player] else ':'} {goals[player]}."
            for who, player in told
        ]

    def prompt(self) -> str:
        part = self.state.part_of_turn
        return f"you ({part}): " if part else "you: "

    def ending(self) -> str:
        outcomes = self.state.outcomes
        text = {1: "You win.", 0: "A draw.", -1: "The program wins."}[outcomes[self.person]]
        if self.state.score is None:
            return text
        margin = self.own(self.state.score)
        return f"{text} Your score is {margin:g}." if self.game.num_players > 2 else (
            f"{text} The margin is {margin:+g} for you."
        )  # fmt: skip

    def own(self, value: Any) -> float:
        """A value or completion in the view of the person."""
        return float(own(value, self.person)) + 0.0  # never -0

    def show_board(self) -> None:
        print(f"\n{board(self.state, self.colours)}")
        if counted := counters(self.state):
            print(counted)

    def summary(self, thought: Thought) -> str:
        result = thought.result
        assert result is not None
        if result.resolved:
            return f"(proven: {self.known(result.completion, result.plies_to_end)})"
        value = f"value {self.own(result.value):+.2f} for you"
        return f"({value}, {result.evaluations:,} evaluations)"

    def known(self, completion: Any, plies: int | None = None) -> str:
        """A proven result in words, with its distance along the line that is seen."""
        words = {1: "you win", 0: "a draw", -1: "you lose"}[round(self.own(completion))]
        return words if plies is None else f"{words} in {plies}"

    def values(self, thought: Thought) -> list[str]:
        """The children best first, then the principal variation and the reason of the choice."""
        result, state = thought.result, thought.state
        if result is None:
            return ["nothing is known yet"]
        ranked = sorted(
            result.children,
            key=lambda c: (self.own(c.completion), self.own(c.value), c.action == result.action),
            reverse=True,
        )
        shown = ranked[:SHOWN]
        shown += [child for child in ranked[SHOWN:] if child.action == result.action]
        lines = ["action    value for you  proven          selections"]
        for child in shown:
            proven = "-"
            if child.resolved:
                proven = self.known(child.completion, thought.plies_to_end(child.action))
            action = state.action_to_string(child.action)
            mark = "*" if child.action == result.action else " "
            lines.append(
                f"{action:8}{mark}{self.own(child.value):+14.3f}  {proven:14}  "
                f"{child.selections:10,}"
            )
        if len(ranked) > len(shown):
            lines.append(f"… and {len(ranked) - len(shown)} more")
        lines.append(f"line: {' '.join(thought.texts(thought.line[:SHOWN]))}")
        if thought.action is not None:
            text = state.action_to_string(thought.action)
            lines.append(f"* {text} would be played: {thought.why()}")
        lines.append(f"{self.summary(thought)[1:-1]}, {duration(thought.seconds)}")
        return lines


@dataclass(frozen=True)
class Seat:
    """Of a saved game."""

    text: str
    facts: dict[str, Any] = field(default_factory=dict)


def title_of(game: _core.Game) -> str:
    return next((kind["title"] for kind in game_types() if kind["name"] == game.name), game.name)


def goal_of(game: _core.Game, player: int) -> str:
    """How the player wins; nothing is known of games of one's own."""
    goals: list[str] = next((k["goals"] for k in game_types() if k["name"] == game.name), [])
    return goals[min(player, len(goals) - 1)] if goals else ""


def mark_of(game: _core.Game, player: int) -> str:
    """The player as boards are drawn."""
    marks = marks_of(game)
    return marks[player] if marks else PLACES[player]


@contextmanager
def thinking() -> Iterator[None]:
    """A line that counts the seconds, on a terminal, until the thought is over."""
    over = threading.Event()
    with Progress() as progress:
        if not progress.live:
            yield
            return

        def tick() -> None:
            while not over.wait(progress.interval):
                progress.show([f"thinking … {duration(progress.seconds)}", "(Ctrl-C: play now)"])

        clock = threading.Thread(target=tick, daemon=True)
        clock.start()
        try:
            yield
        finally:
            over.set()
            clock.join()
