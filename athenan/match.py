"""Matches of two players: both colours of every opening, many games in step."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from athenan import _core
from athenan.errors import InputError
from athenan.players import Player
from athenan.progress import duration


@dataclass
class MatchResult:
    """In the view of the first of the two players."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    pair_scores: list[float] = field(default_factory=list)  # 0 to 1, a pair of games each

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        return float(np.mean(self.pair_scores)) if self.pair_scores else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        return interval(self.pair_scores)

    def figures(self) -> dict[str, Any]:
        low, high = self.interval
        return {
            "games": self.games,
            "wins": self.wins,
            "draws": self.draws,
            "losses": self.losses,
            "score": round(self.score, 4),
            "low": round(low, 4),
            "high": round(high, 4),
        }

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.score:.1%} [{low:.1%}, {high:.1%}]  "
            f"+{self.wins} ={self.draws} -{self.losses} of {self.games} games"
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


def play_match(
    players: tuple[Player, Player],
    openings: list[_core.State],
    games_in_step: int = 128,
    on_progress: Callable[[int, MatchResult], None] | None = None,
    seconds: float | None = None,
) -> MatchResult:
    """Each opening twice, colours exchanged. `on_progress(games done, result so far)` hears of
    every turn; the result is of whole waves.

    With a budget of seconds the first wave is one pair, and tells how many fit into half of the
    time left, and so on. A wave that its time is too short for is dropped whole: its short games
    would have ended first, and they are not like the others.
    """
    result = MatchResult()
    pairs_in_step = max(1, games_in_step // 2)
    ends = math.inf if seconds is None else time.monotonic() + seconds
    pairs = pairs_in_step if seconds is None else 1

    def go_on(over: int) -> bool:
        if on_progress:
            on_progress(result.games + over, result)
        return time.monotonic() < ends

    while openings and pairs:
        wave, openings = openings[:pairs], openings[pairs:]
        # Game 2i: the first of the players has the first colour; 2i + 1: the second has.
        states = [state for state in wave for _ in range(2)]
        started = time.monotonic()
        try:
            if not play_wave(players, states, go_on):
                break
        finally:
            for player in players:
                player.forget()
        add_wave(result, states)
        go_on(0)
        if seconds is not None:
            now = time.monotonic()
            pace = max(1e-6, (now - started) / len(wave))
            pairs = min(pairs_in_step, int(max(0.0, ends - now) / 2 / pace))
    return result


def add_wave(result: MatchResult, states: list[_core.State]) -> None:
    """Counts finished games, pair by pair."""
    for i in range(0, len(states), 2):
        scores = []
        for game, colour in ((i, 0), (i + 1, 1)):
            outcomes = states[game].outcomes
            assert outcomes is not None
            scores.append(outcomes[colour])
        result.wins += sum(s > 0 for s in scores)
        result.draws += sum(s == 0 for s in scores)
        result.losses += sum(s < 0 for s in scores)
        result.pair_scores.append(sum(scores) / 4 + 0.5)


def play_wave(
    players: tuple[Player, Player], states: list[_core.State], go_on: Callable[[int], bool]
) -> bool:
    """Plays all states to their end, in place; at each turn one player answers all its games.
    Before it `go_on(games over)` says whether there is time for it; returns whether there was."""
    while (over := sum(state.is_terminal for state in states)) < len(states):
        for who, player in enumerate(players):
            turn = [
                i
                for i, state in enumerate(states)
                if not state.is_terminal and (state.to_move ^ (i % 2)) == who
            ]
            if not turn:
                continue
            if not go_on(over):
                return False
            actions = player.choose(turn, [states[i] for i in turn])
            for i, action in zip(turn, actions, strict=True):
                states[i] = states[i].play(action)
    return True
