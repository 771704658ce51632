"""A person against the program, in the terminal."""

from __future__ import annotations

import sys
import textwrap
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from athenan import _core
from athenan.errors import InputError
from athenan.games import game_types, make_game
from athenan.notation import example, read_actions
from athenan.opponent import Opponent, make_opponent
from athenan.progress import Progress, duration
from athenan.search import SearchResult, own
from athenan.settings import PlaySettings

HELP = "an action, or: values (what the search sees) · hint · undo · actions · help · quit"
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
        self.states: list[Any] = [game.initial_state()]

    @property
    def state(self) -> Any:
        return self.states[-1]

    def play(self) -> None:
        print("\n".join(self.introduction()))
        shown = None
        while True:
            if self.state is not shown:
                print(f"\n{self.state}")
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
        self.states = list(states)

    # ---- What the person says ----------------------------------------------------------------

    def answer(self, word: str) -> bool:
        """Does what the person asks; false to quit."""
        state = self.state
        if word == "quit":
            return False
        if word == "undo":
            self.undo()
        elif word == "values":
            self.show_values(self.think())
        elif word == "hint":
            result = self.think()
            print(f"{state.action_to_string(result.action)}  {self.summary(result)}")
        elif word == "actions":
            print(" ".join(state.action_to_string(a) for a in state.legal_actions()))
        elif word in ("help", ""):
            print(f"{HELP}; an action is written like {example(state)}")
        else:
            try:
                for action in read_actions(state, word):
                    self.states.append(self.state.play(action))
            except InputError as error:
                print(error)
        return True

    def undo(self) -> None:
        while len(self.states) > 1:
            self.states.pop()
            if self.state.to_move == self.person:
                break

    # ---- What the program does ---------------------------------------------------------------

    def think(self) -> SearchResult:
        with thinking():
            return self.opponent.think(self.state)

    def let_it_play(self) -> None:
        result = self.think()
        assert result.action is not None
        text = self.state.action_to_string(result.action)
        mark = f" {mark_of(self.game, self.state.to_move)}" if self.game.num_players > 2 else ""
        print(f"program{mark}: {text}  {self.summary(result)}")
        self.states.append(self.state.play(result.action))

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

    def summary(self, result: SearchResult) -> str:
        if result.resolved:
            return f"(proven: {self.known(result.completion)})"
        value = f"value {self.own(result.value):+.2f} for you"
        return f"({value}, {result.evaluations:,} evaluations)"

    def known(self, completion: Any) -> str:
        """A proven result in words."""
        return {1: "you win", 0: "a draw", -1: "you lose"}[round(self.own(completion))]

    def show_values(self, result: SearchResult) -> None:
        """The children best first, then the principal variation."""
        ranked = sorted(
            result.children,
            key=lambda c: (self.own(c.completion), self.own(c.value)),
            reverse=True,
        )
        state = self.state
        print("action    value for you  proven    selections")
        for child in ranked[:SHOWN]:
            proven = self.known(child.completion) if child.resolved else "-"
            action = state.action_to_string(child.action)
            print(f"{action:8} {self.own(child.value):+14.3f}  {proven:8}  {child.selections:10}")
        if len(ranked) > SHOWN:
            print(f"… and {len(ranked) - SHOWN} more")
        words = []
        for action in result.principal_variation[:SHOWN]:
            words.append(state.action_to_string(action))
            state = state.play(action)
        print("line:", " ".join(words))


def title_of(game: _core.Game) -> str:
    return next((kind["title"] for kind in game_types() if kind["name"] == game.name), game.name)


def goal_of(game: _core.Game, player: int) -> str:
    """How the player wins; nothing is known of games of one's own."""
    goals: list[str] = next((k["goals"] for k in game_types() if k["name"] == game.name), [])
    return goals[min(player, len(goals) - 1)] if goals else ""


def mark_of(game: _core.Game, player: int) -> str:
    """The player as boards are drawn: `x` of the plane `x to move`."""
    suffix = " to move"
    marks = [c.removesuffix(suffix) for c in game.channels if c.endswith(suffix)]
    return marks[player] if len(marks) == game.num_players else PLACES[player]


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
