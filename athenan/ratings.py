"""Ratings in Elo from the results of games, by maximum likelihood, with intervals.

Of two players: Bradley and Terry's model with draws as Davidson has them and a term for who moves
first. Of more: Plackett and Luce's, in which the order of a game's players is chosen from the best
down, with a term for each seat. Both are models of choices: alternative k is chosen with a chance
proportional to exp(u_k), where u_k is linear in the parameters. So the log-likelihood is concave,
Newton's method finds its maximum, and its exact Hessian there gives the intervals.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from athenan.errors import InputError, nearest

Array = np.ndarray[Any, Any]
ELO = 400 / math.log(10)  # of one unit of log-strength
PRIOR_ELO = 1000.0  # how far ratings lie from each other before any game: so weak that it decides
# only where games do not
Z95 = 1.959964
FIXED, NEVER = 1e-6, -40.0  # spread and utility of what is not fitted, and never happens
CHUNK = 2**22  # numbers in the largest array
Game = tuple[
    tuple[str, ...], tuple[float, ...]
]  # names and outcomes, seat by seat; higher is better


@dataclass(frozen=True)
class Estimate:
    value: float
    low: float  # 95 %
    high: float


@dataclass(frozen=True)
class Rated:
    """A player with its rating in Elo: above the mean of all, or above the anchor."""

    name: str
    elo: Estimate
    games: int
    score: float  # points a game; those who do best share one


@dataclass(frozen=True)
class Ratings:
    players: list[Rated]  # the best first
    seats: list[Estimate]  # what it is worth to have each seat, above the mean of all; in Elo
    draws: float | None  # the share of draws among equals, of two players
    remarks: list[str]  # what the games leave open

    @property
    def first_player(self) -> Estimate:
        """What moving first is worth between two: the difference of the two seats."""
        first = self.seats[0]
        return Estimate(2 * first.value, 2 * first.low, 2 * first.high)


def rate(
    games: Iterable[Game],
    names: Sequence[str] = (),
    anchor: str | None = None,
    seats: bool = True,
    prior_elo: float = PRIOR_ELO,
) -> Ratings:
    """Of all who have played, and `names`. The anchor's rating is 0; without one the mean is.
    `seats=False`: no seat is better than another."""
    counted = Counter((tuple(who), tuple(outcomes)) for who, outcomes in games)
    found = list(dict.fromkeys([*names, *(name for who, _ in counted for name in who)]))
    if len(found) < 2:
        raise InputError("Ratings compare players: there must be two at least.")
    if anchor is not None and anchor not in found:
        raise InputError(
            f"There is no player '{anchor}' to rate the others by{nearest(anchor, found)}"
        )
    table = max((len(who) for who, _ in counted), default=2)
    if any(len(who) != table for who, _ in counted):
        raise InputError("Ratings are of games with the same number of players.")
    place = {name: number for number, name in enumerate(found)}
    columns = Columns(len(found), table)
    choices = [
        choice
        for (who, outcomes), number in counted.items()
        for choice in (davidson if table == 2 else plackett_luce)(
            columns, [place[name] for name in who], outcomes, number
        )
    ]
    drawn = any(len(set(outcomes)) == 1 for _, outcomes in counted)
    centre, precision = columns.prior(prior_elo, seats, drawn)
    best, covariance = maximum(choices, centre, precision)
    shown = columns.shown(place[anchor] if anchor else None)
    values, errors = (
        ELO * shown @ best,
        ELO * np.sqrt(np.maximum(0.0, np.einsum("ij,jk,ik->i", shown, covariance, shown))),
    )
    estimates = [
        Estimate(float(value), float(value - Z95 * error), float(value + Z95 * error))
        for value, error in zip(values, errors, strict=True)
    ]
    played, points = totals(counted)
    players = [
        Rated(name, estimate, played[name], points[name] / max(1, played[name]))
        for name, estimate in zip(found, estimates, strict=False)
    ]
    draws = None
    if table == 2:
        tie = math.exp(best[columns.draw])
        draws = tie / (2 + tie)
    return Ratings(
        sorted(players, key=lambda player: -player.elo.value),
        estimates[len(found) :],
        draws,
        remarks(counted, found),
    )


def points_of(outcomes: Sequence[float]) -> list[float]:
    """Of a game: one, which those who do best share."""
    best = max(outcomes)
    return [1 / list(outcomes).count(best) if one == best else 0.0 for one in outcomes]


def totals(counted: Counter[Game]) -> tuple[Counter[str], defaultdict[str, float]]:
    """Games and points of each player."""
    played: Counter[str] = Counter()
    points: defaultdict[str, float] = defaultdict(float)
    for (who, outcomes), number in counted.items():
        for name, share in zip(who, points_of(outcomes), strict=True):
            played[name] += number
            points[name] += number * share
    return played, points


# ---- The models ----------------------------------------------------------------------------------


@dataclass
class Choice:
    """One alternative of several is chosen, some of them more than once."""

    features: Array  # [alternatives, parameters]: utilities are these times the parameters
    counts: Array  # [alternatives]


@dataclass(frozen=True)
class Columns:
    """Which parameter is which: log-strengths, what seats add to them, and the draw's utility."""

    players: int
    seats: int

    @property
    def draw(self) -> int:
        return self.players + self.seats

    @property
    def number(self) -> int:
        return self.draw + 1

    def sitting(self, player: int, seat: int) -> Array:
        found = np.zeros(self.number)
        found[[player, self.players + seat]] = 1
        return found

    def prior(self, elo: float, seats: bool, draws: bool) -> tuple[Array, Array]:
        """Mean and precision of each: nothing is known of strengths and seats but their order of
        size; a draw is as likely as a win, give or take a factor of e^3, where there are draws."""
        spread, centre = np.full(self.number, elo / ELO), np.zeros(self.number)
        spread[self.players : self.draw] = elo / ELO if seats else FIXED
        spread[self.draw] = 3.0 if draws else FIXED
        centre[self.draw] = 0.0 if draws else NEVER
        return centre, 1 / spread**2

    def shown(self, anchor: int | None) -> Array:
        """Rows that make ratings and seats of the parameters: differences from the anchor or the
        mean, and from the mean of the seats."""
        rows = np.eye(self.number)[: self.draw]
        rows[: self.players, : self.players] -= (
            1 / self.players if anchor is None else np.eye(self.players)[anchor]
        )
        rows[self.players :, self.players : self.draw] -= 1 / self.seats
        return rows


def davidson(
    columns: Columns, who: Sequence[int], outcomes: Sequence[float], number: int
) -> list[Choice]:
    """A game of two is won by one, by the other, or drawn; equals draw as often as the draw's
    utility says."""
    one, other = (columns.sitting(player, seat) for seat, player in enumerate(who))
    half, draw = (one - other) / 2, np.zeros(columns.number)
    draw[columns.draw] = 1
    which = 1 if outcomes[0] == outcomes[1] else 0 if outcomes[0] > outcomes[1] else 2
    return [Choice(np.array([half, draw, -half]), number * np.eye(3)[which])]


def plackett_luce(
    columns: Columns, who: Sequence[int], outcomes: Sequence[float], number: int
) -> list[Choice]:
    """The players of a game are chosen one after the other, from the best down. Those who do
    equally well share: each order of them counts as much. Of those who all do worst the order is
    not known, and says nothing; where all do equally well it is a draw among all."""
    seated = [columns.sitting(player, seat) for seat, player in enumerate(who)]
    ranks = sorted(set(outcomes), reverse=True)
    found, left = [], list(range(len(who)))
    for rank in ranks if len(ranks) == 1 else ranks[:-1]:
        tied = [seat for seat in left if outcomes[seat] == rank]
        orders = list(itertools.permutations(tied))
        for order in orders:
            rest = list(left)
            for seat in order:
                if len(rest) > 1:
                    counts = np.array([float(other == seat) for other in rest])
                    features = np.array([seated[other] for other in rest])
                    found.append(Choice(features, number / len(orders) * counts))
                rest.remove(seat)
        left = [seat for seat in left if seat not in tied]
    return found


# ---- The maximum ---------------------------------------------------------------------------------


def maximum(choices: list[Choice], centre: Array, precision: Array) -> tuple[Array, Array]:
    """The parameters of the largest posterior, by Newton's method, and their covariance by the
    exact Hessian there. `centre` and `precision` are the prior's."""
    stacks = stacked(choices, len(centre))
    at = centre.copy()
    value, gradient, information = posterior(stacks, at, centre, precision)
    for _ in range(200):
        step = np.linalg.solve(information, gradient)
        share = 1.0
        while True:
            found = posterior(stacks, at + share * step, centre, precision)
            if found[0] >= value - 1e-12 * (1 + abs(value)) or share < 1e-9:
                break
            share /= 2
        at = at + share * step
        value, gradient, information = found
        if np.abs(step).max() < 1e-9:
            break
    return at, np.linalg.inv(information)


def stacked(choices: list[Choice], parameters: int) -> list[tuple[Array, Array]]:
    """Choices of as many alternatives together: [choices, alternatives, parameters] and counts."""
    found = []
    by_size: dict[int, list[Choice]] = {}
    for choice in choices:
        by_size.setdefault(len(choice.counts), []).append(choice)
    for size, group in by_size.items():
        most = max(1, CHUNK // (size * parameters))
        for start in range(0, len(group), most):
            part = group[start : start + most]
            found.append((np.array([c.features for c in part]), np.array([c.counts for c in part])))
    return found


def posterior(
    stacks: list[tuple[Array, Array]], at: Array, centre: Array, precision: Array
) -> tuple[float, Array, Array]:
    """Its logarithm, the gradient of that, and the Hessian with the sign changed."""
    away = at - centre
    value = -0.5 * float(precision @ away**2)
    gradient, information = -precision * away, np.diag(precision)
    for features, counts in stacks:
        utilities = features @ at
        top = utilities.max(axis=1, keepdims=True)
        weights = np.exp(utilities - top)
        chances = weights / weights.sum(axis=1, keepdims=True)
        times = counts.sum(axis=1)
        value += float(np.sum(counts * (utilities - top - np.log(weights.sum(1, keepdims=True)))))
        expected = np.einsum("ca,cap->cp", chances, features)
        gradient = gradient + np.einsum("ca,cap->p", counts, features) - times @ expected
        spread = features - expected[:, None]
        scaled = spread * (times[:, None] * chances)[..., None]
        information = information + np.einsum("cap,caq->pq", scaled, spread, optimize=True)
    return value, gradient, information


# ---- What the games leave open -------------------------------------------------------------------


def remarks(counted: Counter[Game], names: Sequence[str]) -> list[str]:
    """Sentences about differences that only the prior bounds."""
    met: dict[str, set[str]] = {name: set() for name in names}
    beaten: dict[str, set[str]] = {name: set() for name in names}  # or drawn with
    for who, outcomes in counted:
        for (one, mine), (other, its) in itertools.permutations(zip(who, outcomes, strict=True), 2):
            met[one].add(other)
            if mine >= its and (mine > min(outcomes) or mine == max(outcomes)):
                beaten[one].add(other)
    found = []
    groups = sorted(components(met), key=min)
    if len(groups) > 1:
        told = "; ".join(shortened(sorted(group)) for group in groups)
        found.append(f"No games join these groups, so that ratings do not compare them: {told}.")
    for group in groups:
        told_apart: list[set[str]] = []
        for part in strong_components(beaten, group):
            others = group - part
            if not others or others in told_apart:
                continue
            won = not any(beaten[other] & part for other in others)
            if won or not any(beaten[one] & others for one in part):
                told_apart.append(part)
                found.append(
                    f"{shortened(sorted(part))} {'won' if won else 'lost'} every game against the "
                    "others, so that the games bound the distance from below only."
                )
    return found


def shortened(names: Sequence[str], most: int = 6) -> str:
    kept = ", ".join(names[:most])
    return kept if len(names) <= most else f"{kept} and {len(names) - most} more"


def reached(edges: dict[str, set[str]], start: str) -> set[str]:
    found, waiting = {start}, [start]
    while waiting:
        for other in edges[waiting.pop()] - found:
            found.add(other)
            waiting.append(other)
    return found


def components(met: dict[str, set[str]]) -> list[set[str]]:
    found: list[set[str]] = []
    for name in met:
        if not any(name in group for group in found):
            found.append(reached(met, name))
    return found


def strong_components(edges: dict[str, set[str]], within: set[str]) -> list[set[str]]:
    """Those in which everyone leads to everyone."""
    reach = {name: reached(edges, name) for name in sorted(within)}
    found: list[set[str]] = []
    for name, its in reach.items():
        if not any(name in group for group in found):
            found.append({other for other in its if name in reach[other]})
    return found
