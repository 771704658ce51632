"""How long a turn may take, by the clock of the player."""

from __future__ import annotations

from dataclasses import dataclass

from athenan import _core

LEAST_SECONDS = 1e-3  # of a thought: the least that gives an action
LEAST_TURNS, MOST_TURNS = 12, 40  # that are planned for
RESERVE_SECONDS, RESERVE_SHARE = 0.06, 0.05  # of what is left: for all that is not thought


@dataclass(frozen=True)
class TimeLeft:
    """Of the player whose turn begins."""

    seconds: float
    increment: float = 0.0  # after each turn
    turns: int | None = None  # within these seconds; None: all that come

    def seconds_for_turn(self, turns_to_go: int) -> float:
        """An even share of what is left with a reserve, and most of the increment; never more than
        half of what is left but for the last turn before there is more."""
        usable = self.seconds - max(RESERVE_SECONDS, RESERVE_SHARE * self.seconds)
        turns = max(1, turns_to_go if self.turns is None else min(self.turns, turns_to_go))
        share = usable / turns + 0.8 * self.increment
        most = usable if self.turns == 1 else usable / 2
        return max(LEAST_SECONDS, min(share, most))


def turns_to_go(state: _core.State, typical_plies: int) -> int:
    """Of each player, roughly; in games whose turns have several actions too many, so that time is
    kept for them."""
    left = (typical_plies - state.ply) // state.game.num_players
    return max(LEAST_TURNS, min(MOST_TURNS, left))


def typical_plies(game: _core.Game, games: int = 4) -> int:
    """Of a few random games, which are rather long."""
    return game.longest_playout(games)


class TurnClock:
    """Of one player as Go programs are told: main time, and then periods for so many turns each,
    which begin anew when their turns are played. Without main time and period there is no limit
    where `main` is None, and no time where it is 0."""

    def __init__(self, main: float | None = None, period: float = 0.0, turns: int = 0) -> None:
        self.main, self.period, self.turns = main, period, turns
        self.restart()

    def restart(self) -> None:
        self.left = self.main or 0.0
        self.turns_left = 0  # of a period; 0 in the main time
        if self.main is not None and not self.left and self.turns:
            self.left, self.turns_left = self.period, self.turns

    def told(self, seconds: float, turns: int) -> None:
        """What is left by who keeps the time; `turns` is 0 in the main time."""
        self.main = self.main or 0.0
        self.left, self.turns_left = seconds, turns

    def time_left(self) -> TimeLeft | None:
        if self.main is None:
            return None
        if self.turns_left:
            return TimeLeft(self.left, turns=self.turns_left)
        if not self.turns:
            return TimeLeft(self.left)
        if self.left < self.period:  # the period begins within the turn
            return TimeLeft(self.left + self.period, turns=self.turns)
        return TimeLeft(self.left, self.period / self.turns)

    def spend(self, seconds: float) -> None:
        """A turn."""
        self.left -= seconds
        if self.turns_left:
            self.turns_left -= 1
            if not self.turns_left:
                self.left, self.turns_left = self.period, self.turns
        elif self.left <= 0 and self.turns:
            self.left, self.turns_left = max(0.0, self.left + self.period), self.turns
