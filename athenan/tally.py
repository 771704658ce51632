"""What the games of a match add up to besides its score: games that differ, seats, forfeits."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from athenan.saved_games import SavedGame

PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")


@dataclass
class Tally:
    """Hears of every game; those whose wave did not count in the end are left out by number."""

    players: int
    games: dict[int, tuple[int, float, int | None]] = field(default_factory=dict)

    def add(self, game: SavedGame) -> None:
        """Its number is that of its opening times the players, and the seat of the first one."""
        seat = game.number % self.players
        line = hash((game.start, *game.actions))
        assert game.outcomes is not None
        best = max(game.outcomes)
        share = 1 / game.outcomes.count(best) if game.outcomes[seat] == best else 0.0
        forfeit = None
        if game.forfeit is not None:
            forfeit = 0 if game.forfeit.seat == seat else 1
        self.games[game.number] = line, share, forfeit

    def figures(self, counted: int) -> dict[str, Any]:
        """Of so many games from the first."""
        games = {number: row for number, row in self.games.items() if number < counted}
        seats = []
        for seat in range(self.players):
            shares = [row[1] for number, row in games.items() if number % self.players == seat]
            wins, losses = shares.count(1.0), shares.count(0.0)
            draws = len(shares) - wins - losses
            score = round(sum(shares) / len(shares), 4) if shares else None
            seats.append({"wins": wins, "draws": draws, "losses": losses, "score": score})
        forfeits = Counter(row[2] for row in games.values())
        return {
            "distinct_games": len({row[0] for row in games.values()}),
            "by_seat": seats,
            "forfeits": [forfeits[0], forfeits[1]],
        }

    def lines(self, counted: int) -> list[str]:
        figures = self.figures(counted)
        told = [f"{figures['distinct_games']} of {counted} games are distinct"]
        for place, seat in zip(PLACES, figures["by_seat"], strict=False):
            if seat["score"] is not None:
                told.append(
                    f"as {place}: {seat['score']:.1%}  "
                    f"+{seat['wins']} ={seat['draws']} -{seat['losses']}"
                )
        if any(figures["forfeits"]):
            told.append(
                "forfeits: {} of the first player, {} of others".format(*figures["forfeits"])
            )
        return told
