"""A saved game in the terminal, action by action; whoever likes plays on from any of its states."""

from __future__ import annotations

import sys
import textwrap
from contextlib import suppress
from pathlib import Path
from typing import Any

from athenan.errors import InputError
from athenan.games import make_game, settings_of
from athenan.opponent import make_opponent
from athenan.play import PLACES, WIDTH, Table, seat_of, title_of
from athenan.saved_games import SavedGame, read_games
from athenan.screen import board, has_colours
from athenan.settings import PlaySettings

HELP = "Enter: the next · back · go N · values (what the search sees) · play (from here) · quit"


def replay(config: PlaySettings) -> None:
    """The game of the file that has the number of `game_number`."""
    path = Path(str(config.replay))
    game = nth_game(path, config.game_number)
    states = game.states(path, config.trust)
    if not make_game(**config.game).same_as(states[0].game):
        name = settings_of(states[0].game)["name"]
        raise InputError(f"'{path}' has a game of {name}, not of {config.game['name']}.")
    if sys.stdin.isatty():
        with suppress(ImportError):
            import readline  # noqa: F401  # input() then edits lines and has a history
    Replay(config, game, states).show()


def nth_game(path: Path, number: int) -> SavedGame:
    count = 0
    for count, game in enumerate(read_games(path), 1):
        if count == number:
            return game
    raise InputError(f"'{path}' has {count} games; there is no game {number}.")


class Replay:
    """A saved game and how much of it is played."""

    def __init__(self, config: PlaySettings, game: SavedGame, states: list[Any]) -> None:
        self.config, self.game, self.states = config, game, states
        self.at = 0
        self._table: Table | None = None

    def show(self) -> None:
        print("\n".join(self.introduction()))
        shown = -1
        while True:
            if self.at != shown:
                print("\n".join(self.page()))
                shown = self.at
            try:
                word = input("replay: ").strip()
            except EOFError:
                print()
                return
            if word == "quit":
                return
            if word == "play":
                self.table().play()
                return
            self.answer(word)

    def answer(self, word: str) -> None:
        name, _, rest = word.partition(" ")
        last = len(self.states) - 1
        if word == "":
            if self.at == last:
                print("That was the last action.")
            self.at = min(last, self.at + 1)
        elif word == "back":
            self.at = max(0, self.at - 1)
        elif name == "go" and rest.isdecimal() and len(rest) < 10 and int(rest) <= last:
            self.at = int(rest)
        elif name == "go":
            print(f"Say after how many actions, from 0 to {last}: go {last}")
        elif word == "values":
            if self.states[self.at].is_terminal:
                print("The game is over.")
            else:
                self.table().answer("values")
        else:
            print(HELP)

    def table(self) -> Table:
        """Where a person plays from the present state: the mover, unless a seat is chosen. The
        search is made once, when it is first asked for."""
        state = self.states[self.at]
        if self._table is None:
            self._table = Table(state.game, make_opponent(state.game, self.config), 0)
        chosen = self.config.seat is not None or self.config.first != PlaySettings.first
        self._table.person = seat_of(self.config, state.game) if chosen else max(0, state.to_move)
        self._table.set_line(self.states[: self.at + 1])
        return self._table

    # ---- What is shown -----------------------------------------------------------------------

    def introduction(self) -> list[str]:
        game, core = self.game, self.states[0].game
        options = f" {core.options}" if core.options else ""
        lines = [f"{title_of(core)}{options}, {len(game.actions)} actions, {self.result()}."]
        for place, player in zip(PLACES, game.players, strict=False):
            seed = "" if player.seed is None else f", seed {player.seed}"
            version = f" ({player.version}{seed})" if player.version else ""
            lines.append(f"{place}: {player.text}{version}")
        lines.append(f"game {game.number} of {game.event or '?'}, {game.date or '?'}")
        lines.append(HELP)
        return [part for line in lines for part in textwrap.wrap(line, WIDTH)]

    def page(self) -> list[str]:
        """The present state, and what led there."""
        lines = [f"\n{board(self.states[self.at], has_colours())}"]
        if self.at:
            who = PLACES[self.states[self.at - 1].to_move]
            chosen = " (opening)" if self.at <= self.game.opening else ""
            action = self.game.actions[self.at - 1]
            lines.append(f"{self.at} of {len(self.game.actions)}: {who}, {action}{chosen}")
        if self.at == len(self.states) - 1:
            lines.append(f"The end: {self.result()}.")
        return lines

    def result(self) -> str:
        outcomes, forfeit = self.game.outcomes, self.game.forfeit
        if outcomes is None:
            return "not ended"
        if forfeit is not None:
            return f"the {PLACES[forfeit.seat]} gave it up: {forfeit.sentence.rstrip('.')}"
        best = max(outcomes)
        winners = [PLACES[seat] for seat, outcome in enumerate(outcomes) if outcome == best]
        if best < 1 or len(winners) == len(outcomes):
            return "a draw"
        return f"won by the {' and the '.join(winners)}"
