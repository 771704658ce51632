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
