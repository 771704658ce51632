"""What the games of a match add up to besides its score: how many differ, and results by seat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from athenan.saved_games import SavedGame

PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")


@dataclass
class Tally:
    """Hears of every game; those whose wave did not count in the end are left out by number, and
    forfeits are in no score."""

    players: int
    games: dict[int, tuple[int, float | None]] = field(default_factory=dict)

    def add(self, game: SavedGame) -> None:
        """Its number is that of its opening times the players, and the seat of the first one."""
        seat = game.number % self.players
        line = hash((game.start, *game.actions))
        assert game.outcomes is not None
        best = max(game.outcomes)
        share = 1 / game.outcomes.count(best) if game.outcomes[seat] == best else 0.0
        counts = game.forfeit is None or game.forfeit.resigned
        self.games[game.number] = line, share if counts else None

    def figures(self, counted: int) -> dict[str, Any]:
        """Of so many games from the first."""
        games = {number: row for number, row in self.games.items() if number < counted}
        seats = []
        for seat in range(self.players):
            of_seat = [row for number, row in games.items() if number % self.players == seat]
            shares = [share for _, share in of_seat if share is not None]
            wins, losses = shares.count(1.0), shares.count(0.0)
            draws = len(shares) - wins - losses
            score = round(sum(shares) / len(shares), 4) if shares else None
            seats.append({"wins": wins, "draws": draws, "losses": losses, "score": score})
        return {"distinct_games": len({line for line, _ in games.values()}), "by_seat": seats}

    def lines(self, counted: int) -> list[str]:
        figures = self.figures(counted)
        told = [f"{figures['distinct_games']} of {counted} games are distinct"]
        for place, seat in zip(PLACES, figures["by_seat"], strict=False):
            if seat["score"] is not None:
                told.append(
                    f"as {place}: {seat['score']:.1%}  "
                    f"+{seat['wins']} ={seat['draws']} -{seat['losses']}"
                )
        return told
