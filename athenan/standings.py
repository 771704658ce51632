"""What the games of a tournament say: ratings, scores against each other, tables, pictures."""

from __future__ import annotations

import csv
import io
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from athenan.charts import Curve, Point, curves
from athenan.errors import InputError
from athenan.fixtures import counts
from athenan.ratings import Estimate, Game, Ratings, points_of, rate
from athenan.tournament import Entrant, Tournament, names_of
from athenan.worklist import Played, WorkList


@dataclass
class Standings:
    """Of all games that have been played so far."""

    ratings: Ratings
    scores: dict[tuple[str, str], float]  # points of one in games against the other …
    met: Counter[tuple[str, str]]  # … and how many games those were
    games: int
    forfeits: Counter[str]
    different: int  # games, by their actions
    texts: dict[str, str]  # who they are, in full
    entrants: Mapping[str, Entrant]


def standings(tournament: Tournament, work: WorkList) -> Standings:
    """InputError where nothing has been played."""
    # In an order of their own, so that figures do not depend on who played what first.
    games = [(names_of(key), game) for key, game in sorted(work.done.items())]
    games = [(names, game) for names, game in games if is_of(names, game)]
    if not games:
        raise InputError("No game has been played yet.")
    scores: defaultdict[tuple[str, str], float] = defaultdict(float)
    met: Counter[tuple[str, str]] = Counter()
    forfeits: Counter[str] = Counter()
    results: list[Game] = []
    texts: dict[str, str] = {}
    for names, game in games:
        texts.update(zip(names, game.texts, strict=True))
        if not counts(game):
            assert game.forfeit is not None
            forfeits[names[game.forfeit.seat]] += 1
            continue
        outcomes = game.outcomes or ()
        results.append((names, outcomes))
        for name, points in zip(names, points_of(outcomes), strict=True):
            for other in names:
                if other != name:
                    scores[name, other] += points
                    met[name, other] += 1
    return Standings(
        rate(results, list(tournament.entrants), tournament.config.anchor),
        dict(scores),
        met,
        len(results),
        forfeits,
        len({game.way for _, game in games}),
        texts,
        tournament.entrants,
    )


def is_of(names: tuple[str, ...], game: Played) -> bool:
    """Whether it ended, and its key is one of a tournament."""
    return game.outcomes is not None and len(names) == len(game.outcomes)


# ---- In words ------------------------------------------------------------------------------------


def rating_rows(found: Standings) -> list[list[str]]:
    rows = [["", "player", "Elo", "95 %", "games", "score"]]
    forfeited = bool(found.forfeits)
    if forfeited:
        rows[0].append("forfeits")
    for place, rated in enumerate(found.ratings.players, 1):
        row = [str(place), rated.name, *elo_text(rated.elo), str(rated.games), f"{rated.score:.1%}"]
        rows.append(row + ([str(found.forfeits[rated.name])] if forfeited else []))
    return rows


def elo_text(estimate: Estimate) -> tuple[str, str]:
    return f"{estimate.value:+.0f}", f"[{estimate.low:+.0f}, {estimate.high:+.0f}]"


def cross_rows(found: Standings) -> list[list[str]]:
    """Shares of the points of each against each, in percent; the best first."""
    names = [rated.name for rated in found.ratings.players]
    rows = [["", *(str(place) for place in range(1, len(names) + 1))]]
    for place, name in enumerate(names, 1):
        rows.append([f"{place} {name}", *(cross_cell(found, name, other) for other in names)])
    return rows


def cross_cell(found: Standings, name: str, other: str) -> str:
    met = found.met[name, other]
    return f"{100 * found.scores[name, other] / met:.0f}" if met else "·"


def facts(found: Standings) -> list[str]:
    """Sentences about the whole."""
    ratings = found.ratings
    told = [f"{found.games} games, {found.different} of them different"]
    if len(ratings.seats) == 2:
        value, interval = elo_text(ratings.first_player)
        told.append(f"to move first is worth {value} Elo {interval}")
    else:
        told += [
            f"seat {seat} is worth {' '.join(elo_text(estimate))} Elo"
            for seat, estimate in enumerate(ratings.seats, 1)
        ]
    if ratings.draws is not None:
        told.append(f"equals draw {ratings.draws:.1%} of their games")
    if found.forfeits:
        told.append(f"{found.forfeits.total()} more were forfeited, and are in no score")
    return ["; ".join(told) + ".", *ratings.remarks]


# ---- Figures -------------------------------------------------------------------------------------


def figures(found: Standings) -> dict[str, Any]:
    ratings = found.ratings
    players = []
    for rated in ratings.players:
        entrant = found.entrants.get(rated.name)
        its = {"games": rated.games, "score": round(rated.score, 4)}
        about = asdict(entrant) if entrant else {}
        about.pop("games", None)
        learned = {"self_play_games": entrant.games if entrant else None}
        players.append(
            {"name": rated.name, **rounded(rated.elo, "elo"), **its, **about, **learned}
            | {"forfeits": found.forfeits[rated.name]}
        )
    return {
        "games": found.games,
        "different": found.different,
        "players": players,
        "first_player": rounded(ratings.first_player, "elo") if len(ratings.seats) == 2 else None,
        "seats": [rounded(seat, "elo") for seat in ratings.seats],
        "draws_among_equals": ratings.draws,
        "cross": [
            {"player": one, "against": other, "games": met, "points": found.scores[one, other]}
            for (one, other), met in found.met.items()
        ],
        "remarks": ratings.remarks,
    }


def rounded(estimate: Estimate, name: str) -> dict[str, float]:
    return {
        name: round(estimate.value, 1),
        "low": round(estimate.low, 1),
        "high": round(estimate.high, 1),
    }


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def rating_csv(found: Standings) -> str:
    head = ["player", "elo", "low", "high", "games", "score", "forfeits", "run", "self_play_games"]
    rows: list[list[object]] = [[*head, "minutes", "evaluations"]]
    for told in figures(found)["players"]:
        learned = [told.get(name) for name in ("run", "self_play_games", "minutes", "budget")]
        own = [told[name] for name in ("name", "elo", "low", "high", "games", "score", "forfeits")]
        rows.append([*own, *("" if value is None else value for value in learned)])
    return csv_text(rows)


# ---- Pictures ------------------------------------------------------------------------------------


def pictures(found: Standings) -> dict[str, str]:
    """Rating over training and over budgets, where there is something to draw."""
    drawn = {}
    by_run: defaultdict[str, list[Point]] = defaultdict(list)
    by_base: defaultdict[str, list[Point]] = defaultdict(list)
    for rated in found.ratings.players:
        entrant, elo = found.entrants.get(rated.name), rated.elo
        if entrant is None:
            continue
        if entrant.run is not None and entrant.minutes is not None:
            name = entrant.run + ("" if entrant.budget is None else f"@{entrant.budget}")
            by_run[name].append(Point(entrant.minutes, elo.value, elo.low, elo.high))
        if entrant.base is not None and entrant.budget is not None:
            by_base[entrant.base].append(Point(entrant.budget, elo.value, elo.low, elo.high))
    if any(len(points) > 1 for points in by_run.values()):
        drawn["training"] = curves(
            "Rating against training time, with 95 % intervals", "minutes of training", "Elo",
            [Curve(*item) for item in by_run.items()],
        )  # fmt: skip
    if any(len(points) > 1 for points in by_base.values()):
        drawn["budgets"] = curves(
            "Rating against budget, with 95 % intervals", "evaluations an action", "Elo",
            [Curve(*item) for item in by_base.items()], logarithmic=True,
        )  # fmt: skip
    return drawn
