"""Games that are settled beforehand: who sits where, from which opening. Any of them are played in
step, whoever plays them, and each counts when it is over."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from athenan import _core
from athenan.players import Player
from athenan.saved_games import Forfeit, SavedGame, saved_game
from athenan.worklist import Played, WorkList


@dataclass(frozen=True)
class Fixture:
    key: str  # which no other one has
    seats: tuple[str, ...]  # names of the players
    opening: _core.State
    number: int  # of the searches' seeds


def play_fixtures(
    fixtures: Sequence[Fixture],
    players: Mapping[str, Player],
    on_game: Callable[[SavedGame], object],
    on_turn: Callable[[], object] = lambda: None,
) -> None:
    """At each turn one player answers all its games. How a game goes depends on its number and its
    players alone, not on the games beside it."""
    playing = {number: fixture.opening for number, fixture in enumerate(fixtures)}
    named = list(dict.fromkeys(name for fixture in fixtures for name in fixture.seats))
    try:
        while playing:
            for name in named:
                own = [i for i, s in playing.items() if fixtures[i].seats[s.to_move] == name]
                if not own:
                    continue
                numbers = [fixtures[i].number for i in own]
                actions = players[name].choose(numbers, [playing[i] for i in own])
                for i, action in zip(own, actions, strict=True):
                    forfeit = None
                    if isinstance(action, int):
                        playing[i] = playing[i].play(action)
                    else:  # a player that gives the game up says how
                        forfeit = Forfeit(playing[i].to_move, action.sentence, action.resigns)
                    if forfeit or playing[i].is_terminal:
                        on_game(saved(fixtures[i], playing.pop(i), players, forfeit))
                on_turn()
    finally:
        for name in named:
            players[name].forget()


def saved(
    fixture: Fixture, end: _core.State, players: Mapping[str, Player], forfeit: Forfeit | None
) -> SavedGame:
    seated = [players[name] for name in fixture.seats]
    return saved_game(
        end, len(fixture.opening.history[1]), seated,
        forfeit=forfeit, event=fixture.key, number=fixture.number,
    )  # fmt: skip


def counts(game: Played) -> bool:
    """Whether it is one of strength: who resigns has lost, but a game that a player gave away by
    no action of it is neither won nor lost."""
    return game.outcomes is not None and (game.forfeit is None or game.forfeit.resigned)


def play_list(
    fixtures: Sequence[Fixture],
    work: WorkList,
    players_for: Callable[[Sequence[Fixture]], Mapping[str, Player]],
    games_in_step: int,
    on_progress: Callable[[], object] = lambda: None,
) -> None:
    """Plays what nobody else has played or is playing. `players_for` makes those of some games."""
    by_key = {fixture.key: fixture for fixture in fixtures}
    try:
        while keys := work.take(by_key, games_in_step):
            taken = [by_key[key] for key in keys]
            play_fixtures(taken, players_for(taken), work.add, on_progress)
            on_progress()
    finally:
        work.give_back()
