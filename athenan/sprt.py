"""The sequential probability ratio test of a match: which of two strengths do its pairs speak for?

Generalised (each hypothesis is the likeliest distribution of pairs that has its strength) and
pentanomial (the two games of an opening are one sample), with strengths in normalised Elo: the mean
of a game's score above one half, in units of its standard deviation, times 800 / ln 10. M. Van den
Bergh derives it in "A practical introduction to the GSPRT" and "Normalized Elo".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from athenan import _core
from athenan.errors import InputError
from athenan.settings import MatchSettings

Array = np.ndarray[Any, Any]
SCORES = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # of a pair
NORMALISED_ELO = 800 / math.log(10)  # of one standard deviation of a game
MOST_ELO = 200  # of a hypothesis
UNSEEN = 1e-3  # pairs: a score that was not seen may be seen yet
Z95 = 1.959964


@dataclass(frozen=True)
class Sprt:
    """Two strengths of the first player in normalised Elo, and how often each may be accepted
    where the other one is true."""

    low: float
    high: float
    alpha: float = 0.05  # the higher where the lower is true
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not -MOST_ELO <= self.low < self.high <= MOST_ELO:
            raise InputError(
                "An SPRT has two strengths in normalised Elo, the lower one first, from "
                f"{-MOST_ELO} to {MOST_ELO}; not {self.low:g} and {self.high:g}."
            )
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise InputError("The errors of an SPRT, alpha and beta, lie between 0 and 0.5.")

    @property
    def bounds(self) -> tuple[float, float]:
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def look(self, pair_scores: Sequence[float]) -> SprtResult:
        counts = counts_of(pair_scores)
        ratio = log_likelihood_ratio(counts, self.low, self.high)
        elo, half = normalised_elo(counts)
        return SprtResult(self, ratio, elo, half)


def sprt_of(config: MatchSettings, game: _core.Game) -> Sprt | None:
    """The one that a match asks for."""
    if config.sprt is None:
        return None
    if game.num_players != 2:
        raise InputError(f"An SPRT is for two players; game '{game.name}' has {game.num_players}.")
    if len(config.sprt) != 2:
        raise InputError(f"Setting 'sprt' has two strengths, as [0,5], not {config.sprt}.")
    low, high = config.sprt
    return Sprt(low, high, config.alpha, config.beta)


@dataclass(frozen=True)
class SprtResult:
    test: Sprt
    ratio: float  # logarithm of the likelihoods'
    elo: float  # normalised
    half: float  # of its 95 % interval, right for players that are nearly equal

    @property
    def accepted(self) -> float | None:
        """The strength; none as long as both may be."""
        lower, upper = self.test.bounds
        if lower < self.ratio < upper:
            return None
        return self.test.high if self.ratio >= upper else self.test.low

    def figures(self) -> dict[str, Any]:
        lower, upper = self.test.bounds
        verdicts = {None: "inconclusive", self.test.low: "H0", self.test.high: "H1"}
        return {
            "accepted": verdicts[self.accepted],
            "llr": round(self.ratio, 4),
            "llr_bounds": [round(lower, 4), round(upper, 4)],
            "elo_bounds": [self.test.low, self.test.high],
            "normalised_elo": round(self.elo, 2),
            "normalised_elo_half": round(self.half, 2) if math.isfinite(self.half) else None,
        }

    def __str__(self) -> str:
        lower, upper = self.test.bounds
        test = f"{self.test.low:g} against {self.test.high:g} normalised Elo"
        found = "inconclusive" if self.accepted is None else f"{self.accepted:g} is accepted"
        ratio = f"LLR {self.ratio:.2f} of [{lower:.2f}, {upper:.2f}]"
        return f"SPRT, {test}: {found}; {ratio}, {self.elo:+.2f} ± {self.half:.2f}"


def counts_of(pair_scores: Sequence[float]) -> Array:
    """How many pairs scored 0, ¼, ½, ¾ and 1."""
    return np.bincount(np.rint(np.array(pair_scores) * 4).astype(int), minlength=5)


def normalised_elo(counts: Array) -> tuple[float, float]:
    """It and half its 95 % interval, which takes the standard deviation for known."""
    pairs = int(np.sum(counts))
    if not pairs:
        return 0.0, math.inf
    mean, deviation = moments(shares_of(counts))
    of_game = deviation * math.sqrt(2)
    half = Z95 / math.sqrt(2 * pairs)
    return NORMALISED_ELO * (mean - 0.5) / of_game, NORMALISED_ELO * half


def log_likelihood_ratio(counts: Array, low: float, high: float) -> float:
    if not np.sum(counts):
        return 0.0
    seen = shares_of(counts)
    # A pair's score has its mean from two games, whose variances add up to four times its own.
    pulls = [math.sqrt(2) * elo / NORMALISED_ELO for elo in (low, high)]
    likeliest = [likeliest_shares(seen, pull) for pull in pulls]
    return float(np.sum(counts) * np.sum(seen * np.log(likeliest[1] / likeliest[0])))


def shares_of(counts: Array) -> Array:
    filled = np.where(counts > 0, counts, UNSEEN)
    return np.asarray(filled / filled.sum())


def moments(shares: Array) -> tuple[float, float]:
    """Mean and standard deviation of a pair's score."""
    mean = float(np.sum(shares * SCORES))
    return mean, math.sqrt(float(np.sum(shares * (SCORES - mean) ** 2)))


def likeliest_shares(seen: Array, pull: float) -> Array:
    """Of all distributions whose mean lies `pull` standard deviations above one half, the one that
    gives what was seen the largest likelihood.

    With multipliers for the sum and for mean - ½ - pull · deviation = 0, a share is what was seen
    of it divided by 1 + θ · slope, where the slope of that constraint depends on mean and deviation
    of the distribution itself: so it is found by repetition.
    """
    found = np.full(len(SCORES), 1 / len(SCORES))  # from here all strengths to MOST_ELO are reached
    for _ in range(100):
        mean, deviation = moments(found)
        away = (SCORES - mean) / deviation
        slope = SCORES - 0.5 - pull * deviation * (1 + away**2) / 2
        before, found = found, seen / (1 + multiplier(seen, slope) * slope)
        found /= found.sum()
        if np.max(np.abs(found - before)) < 1e-10:
            break
    return found


def multiplier(seen: Array, slope: Array) -> float:
    """θ with Σ seen · slope / (1 + θ · slope) = 0, which falls in θ; all shares stay positive."""
    low, high = -1 / float(np.max(slope)), -1 / float(np.min(slope))
    for _ in range(60):
        middle = (low + high) / 2
        if float(np.sum(seen * slope / (1 + middle * slope))) > 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
