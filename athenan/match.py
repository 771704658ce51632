"""Matches: both colours of every opening, or every seat of it in turn, many games in step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from athenan import _core
from athenan.errors import InputError
from athenan.external.player import GivesUp
from athenan.players import Player
from athenan.progress import duration
from athenan.saved_games import Forfeit, SavedGame, saved_game

MOST_SENTENCES = 10  # that a result tells of forfeits


@dataclass
class MatchResult:
    """In the view of the first of the players. A game is a point, which those who do best share: a
    win is to have it alone, a draw to share it."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    pair_scores: list[float] = field(default_factory=list)  # 0 to 1, of the games of an opening
    players: int = 2
    # Games that a player gave away by no action of it are neither wins nor losses, and no scores.
    own_forfeits: int = 0  # by the first
    their_forfeits: int = 0  # by the others
    sentences: list[str] = field(default_factory=list)  # how, each once

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses + self.own_forfeits + self.their_forfeits

    @property
    def score(self) -> float:
        return float(np.mean(self.pair_scores)) if self.pair_scores else 1 / self.players

    @property
    def interval(self) -> tuple[float, float]:
        return interval(self.pair_scores)

    @property
    def elo(self) -> tuple[float, float, float] | None:
        """The difference of two players, and its 95 % interval; infinite where all is won."""
        if self.players > 2:
            return None
        low, high = self.interval
        return elo_of(self.score), elo_of(low), elo_of(high)

    def figures(self) -> dict[str, Any]:
        low, high = self.interval
        return (
            {
                "games": self.games,
                "wins": self.wins,
                "draws": self.draws,
                "losses": self.losses,
                "score": round(self.score, 4),
                "low": round(low, 4),
                "high": round(high, 4),
            }
            | ({"equal": round(1 / self.players, 4)} if self.players > 2 else self._elo_figures())
            | self._forfeits()
        )

    def _without_score(self) -> str:
        forfeits = self.own_forfeits + self.their_forfeits
        return f", {forfeits} of them forfeited" if forfeits else ""

    def _forfeits(self) -> dict[str, Any]:
        if not self.own_forfeits + self.their_forfeits:
            return {}
        own, theirs = self.own_forfeits, self.their_forfeits
        return {"forfeits": own, "forfeits_of_others": theirs, "how": self.sentences}

    def forfeits_text(self) -> list[str]:
        """Lines about forfeits; none where there are none."""
        if not self.own_forfeits + self.their_forfeits:
            return []
        counts = f"{self.own_forfeits} by the first player, {self.their_forfeits} by the other"
        how = [f"  {sentence}" for sentence in self.sentences]
        return [f"forfeited, and in no score: {counts}", *how]

    def _elo_figures(self) -> dict[str, Any]:
        values = self.elo or ()
        rounded = [round(value, 1) if math.isfinite(value) else None for value in values]
        return dict(zip(("elo", "elo_low", "elo_high"), rounded, strict=True))

    def elo_text(self) -> str:
        """Such as `+35 [-12, +83] Elo`; a score of all or nothing has no end there."""
        elo, low, high = (
            f"{value:+.0f}" if math.isfinite(value) else f"{value:+}" for value in self.elo or ()
        )
        return f"{elo} [{low}, {high}] Elo"

    def __str__(self) -> str:
        low, high = self.interval
        return (
            (
                f"{self.score:.1%} [{low:.1%}, {high:.1%}]  "
                f"+{self.wins} ={self.draws} -{self.losses} of {self.games} games"
            )
            + self._without_score()
            + (f"  ({1 / self.players:.1%} among equals)" if self.players > 2 else "")
        )


def interval(pair_scores: list[float]) -> tuple[float, float]:
    """95 % Wilson interval over pairs, whose scores lie in [0, 1].

    Wilson's assumes the variance p(1 - p) of pairs that are won or lost whole; split and drawn
    pairs have less, which is worth as many more pairs. Both variances are taken together with z²
    pairs of the worst kind, so that a few equal pairs do not pass for certainty.
    """
    n = len(pair_scores)
    if n == 0:
        return 0.0, 1.0
    p, z = float(np.mean(pair_scores)), 1.959964
    centre = (n * p + z * z / 2) / (n + z * z)
    worst = z * z * centre * (1 - centre)
    share = (float(np.sum((np.array(pair_scores) - p) ** 2)) + worst) / (n * p * (1 - p) + worst)
    worth = n / share  # pairs that are won or lost whole
    centre = (p + z * z / (2 * worth)) / (1 + z * z / worth)
    half = z / (1 + z * z / worth) * math.sqrt(p * (1 - p) / worth + (z / (2 * worth)) ** 2)
    return max(0.0, centre - half), min(1.0, centre + half)


def elo_of(score: float) -> float:
    """The difference in strength where an expected score is 1 / (1 + 10^(-difference / 400))."""
    if not 0 < score < 1:
        return math.copysign(math.inf, score - 0.5)
    return 400 * math.log10(score / (1 - score)) + 0.0


def progress_parts(done: int, total: int, result: MatchResult, left: float | None) -> list[str]:
    """Of a match under way, with the seconds that are left where they are known; the result is of
    fewer games than are done."""
    parts = [f"{done}/{total} games", f"{'?' if left is None else duration(left)} left"]
    if not result.games:
        return parts
    low, high = result.interval
    parts[1:1] = [f"{result.score:.1%}"]
    return [*parts, f"[{low:.1%}, {high:.1%}]", f"+{result.wins} ={result.draws} -{result.losses}"]


def make_openings(game: _core.Game, number: int, plies: int, seed: int) -> list[_core.State]:
    """Different states after `plies` random actions, none of them over; more plies where a game
    has too few of them."""
    random = np.random.default_rng([seed, 5])
    found: dict[int, _core.State] = {}
    tries = 0
    while len(found) < number:
        tries += 1
        if tries % (50 * number) == 0:
            plies += 1
        if plies > game.max_plies:
            raise InputError(f"Game '{game.name}' does not have {number} different openings.")
        state = game.initial_state()
        for _ in range(plies):
            if state.is_terminal:
                break
            state = state.play(int(random.choice(state.legal_actions())))
        if not state.is_terminal:
            found.setdefault(state.key, state)
    return list(found.values())


class Pace:
    """How many games of a wave are played, so that it ends in time.

    The first pair plays two rounds alone: at worst, n pairs take n times as long, and two rounds of
    those that join may take a quarter of the time. Their pace then tells how many would end in half
    of the time left, since games may be longer than a few random ones; when they are not over then,
    half of them go on, and so on. Which pairs those are does not depend on how they stand. A wave
    that its time was too short for is dropped whole: its short games would have ended first, and
    they are not like the others.
    """

    def __init__(
        self, games: int, seconds: float, plies: int, first: int = 2, players: int = 2
    ) -> None:
        self.all, self.playing = games, min(games, first)
        self.players, self.rounds = players, plies / players
        self.ends = time.monotonic() + seconds
        self._alone = self.playing < self.all
        self._halve_at: float | None = None  # seconds before the end, once the pace is known
        self._turns: list[float] = []

    @property
    def left(self) -> float:
        return self.ends - time.monotonic()

    def turn(self) -> int:
        """Before each turn of a player: how many games go on; 0 when the time is spent."""
        self._turns.append(time.monotonic())
        turns, left = len(self._turns) - 1, self.left
        if left <= 0:
            self.playing = 0
        elif self._halve_at is None and turns and turns % (2 * self.players) == 0:
            one_round = max(1e-6, self._turns[-1] - self._turns[-1 - self.players])
            rounds_left = max(1.0, self.rounds - turns / self.players)
            fitting = self.playing * left / (one_round * rounds_left)
            if fitting < self.players:
                self.playing = 0
            elif self._alone:
                joined = self.playing * left / 4 / (2 * one_round)
                self.playing = max(self.playing, self.whole(min(joined, self.all)))
                self._alone = False
            else:
                self.playing = min(self.playing, max(self.players, self.whole(fitting / 2)))
                self._halve_at = left / 2
        elif self._halve_at is not None and left < self._halve_at:
            fewer = max(self.players, self.whole(self.playing / 2))
            self.playing, self._halve_at = fewer, left / 2
        return self.playing

    def whole(self, number: float) -> int:
        """Games of whole openings."""
        return self.players * int(number / self.players)


Openings = Sequence[_core.State]
GivenUp = dict[int, tuple[int, GivesUp]]  # games, each with the place of who gave it up
Turn = tuple[int, float | None]  # how many games go on, and the seconds that are left


def seats(game: _core.Game, first: Player, second: Player) -> list[Player]:
    """Who plays a game, from the two of a match: the second has all seats but one."""
    if game.num_players < 2:
        raise InputError(f"A match is for two players or more; game '{game.name}' has one.")
    others = [second.another(number) for number in range(1, game.num_players - 1)]
    return [first, second, *others]


def longest_plies(openings: list[_core.State]) -> int:
    """Of a few random games from here: those that players win are seldom longer."""
    random = np.random.default_rng(0)
    lengths = []
    for state in openings[:4]:
        first = state.ply
        while not state.is_terminal:
            state = state.play(int(random.choice(state.legal_actions())))
        lengths.append(state.ply - first)
    return max(lengths)


def play_match(
    players: Sequence[Player],
    openings: list[_core.State],
    games_in_step: int = 128,
    on_progress: Callable[[int, MatchResult], object] | None = None,
    seconds: float | None = None,
    on_game: Callable[[SavedGame], object] | None = None,
    event: str = "match",
    first_number: int = 0,
    enough: Callable[[MatchResult], bool] | None = None,
) -> MatchResult:
    """Each opening once for every player, who changes seats, in waves of games in step; in so many
    seconds, if there is a limit. `on_progress(games done, result so far)` hears of every turn; the
    result is of whole waves. `on_game` hears of each game when it ends, also of those whose wave is
    then dropped for want of seconds; game n * i + r, counted from the first number, is opening i
    with the first of n players in seat r. After each whole wave `enough(result)` may end it."""
    each = len(players)
    result = MatchResult(players=each)
    ends = None if seconds is None else time.monotonic() + seconds
    plies = 0 if ends is None else longest_plies(openings)
    first, took = each, 0.0
    while openings:
        # Of n players, game n * i + r of opening i: the first of them has seat r.
        wave = openings[: max(1, games_in_step // each)]
        states = [state for state in wave for _ in range(each)]
        started = time.monotonic()
        pace = None
        if ends is not None:
            if ends - started < took:
                break
            pace = Pace(len(states), ends - started, plies, first, each)

        def turn(over: int, pace: Pace | None = pace, games: int = len(states)) -> Turn:
            if on_progress:
                on_progress(result.games + over, result)
            return (games, None) if pace is None else (pace.turn(), pace.left)

        given_up: dict[int, tuple[int, GivesUp]] = {}

        def ended(
            i: int, state: _core.State, wave: Openings = wave, given_up: GivenUp = given_up
        ) -> None:
            if on_game:
                seated = [players[(seat - i) % each] for seat in range(each)]
                number, opening = first_number + result.games + i, len(wave[i // each].history[1])
                forfeit = forfeit_of(given_up[i], i, each) if i in given_up else None
                on_game(
                    saved_game(state, opening, seated, forfeit=forfeit, event=event, number=number)
                )

        try:
            played = play_wave(players, states, turn, ended, given_up)
        finally:
            for player in players:
                player.forget()
        if not played:
            break
        add_wave(result, states[:played], given_up)
        openings = openings[played // each :]
        took = time.monotonic() - started
        if pace is not None:
            first = max(each, pace.whole(played * pace.left / 2 / max(1e-6, took)))
        if on_progress:
            on_progress(result.games, result)
        if enough and enough(result):
            break
    return result


def add_wave(
    result: MatchResult, states: list[_core.State], given_up: GivenUp | None = None
) -> None:
    """Counts finished games, opening by opening. The score of an opening is of its games that were
    played; who resigns has lost one."""
    each, given_up = result.players, given_up or {}
    for i in range(0, len(states), each):
        shares = []
        for game, seat in zip(range(i, i + each), range(each), strict=True):
            if game not in given_up:
                shares.append(share(states[game], seat))
                continue
            who, how = given_up[game]
            if how.resigns:
                shares.append(0.0 if who == 0 else 1 / (each - 1))
                continue
            result.own_forfeits += who == 0
            result.their_forfeits += who != 0
            if how.sentence not in result.sentences and len(result.sentences) < MOST_SENTENCES:
                result.sentences.append(how.sentence)
        result.wins += sum(s == 1 for s in shares)
        result.draws += sum(0 < s < 1 for s in shares)
        result.losses += sum(s == 0 for s in shares)
        if shares:
            result.pair_scores.append(sum(shares) / len(shares))


def forfeit_of(given_up: tuple[int, GivesUp], game: int, players: int) -> Forfeit:
    """As a saved game has it: in game n * i + r the first of n players has seat r."""
    who, how = given_up
    return Forfeit((who + game) % players, how.sentence)


def share(state: _core.State, seat: int) -> float:
    """Of the point of a finished game: it is divided among those with the best outcome."""
    outcomes = state.outcomes
    assert outcomes is not None
    best = max(outcomes)
    return 1 / outcomes.count(best) if outcomes[seat] == best else 0.0


def play_wave(
    players: Sequence[Player],
    states: list[_core.State],
    turn: Callable[[int], Turn],
    ended: Callable[[int, _core.State], object],
    given_up: GivenUp,
) -> int:
    """Plays the states to their end, in place; at each turn one player answers all its games.
    Before it `turn(games over)` says how many of them, from the first, go on; returns how many did
    to the end. `ended(game, state)` hears of each that does. Games that a player gives up are over,
    too, and noted with the player's place."""
    playing, left = turn(0)

    def is_over(i: int) -> bool:
        return states[i].is_terminal or i in given_up

    while (over := sum(is_over(i) for i in range(playing))) < playing:
        for who, player in enumerate(players):
            own = [
                i
                for i, state in enumerate(states[:playing])
                if not is_over(i) and (state.to_move - i) % len(players) == who
            ]
            if not own:
                continue
            actions = player.choose(own, [states[i] for i in own], left)
            for i, action in zip(own, actions, strict=True):
                if isinstance(action, GivesUp):
                    given_up[i] = who, action
                else:
                    states[i] = states[i].play(action)
                if is_over(i):
                    ended(i, states[i])
            playing, left = turn(over)
    return playing
