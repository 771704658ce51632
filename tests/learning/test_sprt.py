"""The SPRT of matches: published results, error rates, and the intervals of scores and Elo."""

import math

import numpy as np
import pytest

from athenan.errors import InputError
from athenan.match import interval
from athenan.sprt import (
    NORMALISED_ELO,
    SCORES,
    Sprt,
    counts_of,
    likeliest_shares,
    log_likelihood_ratio,
    moments,
    normalised_elo,
    shares_of,
)


@pytest.mark.parametrize(
    ("counts", "bounds", "ratio", "digits", "elo", "half"),
    [
        # fastchess 783. A root that is off by 1e-3 changes this ratio by 7.4e-4.
        ([379, 10170, 21828, 10640, 343], (0, 2), 2.94598, 7.5e-4, 3.05, 2.31),
        ([46, 496, 1073, 640, 79], (0, 3), 2.89, 0.005, 26.56, 9.97),  # brunocodutra/cinder 778
        ([363, 3205, 5861, 3376, 414], (0, 3), 2.91, 0.005, 5.93, 4.19),  # … and 802
        ([365, 16618, 36229, 16974, 390], (0, 2), 2.25, 0.005, None, None),  # fastchess 426
    ],
)
def test_published_results(
    counts: list[int],
    bounds: tuple[float, float],
    ratio: float,
    digits: float,
    elo: float | None,
    half: float | None,
) -> None:
    found = log_likelihood_ratio(np.array(counts), *bounds)
    assert found == pytest.approx(ratio, abs=digits)
    if elo is not None:
        assert tuple(round(x, 2) for x in normalised_elo(np.array(counts))) == (elo, half)
    mirrored = log_likelihood_ratio(np.array(counts[::-1]), -bounds[1], -bounds[0])
    assert mirrored == pytest.approx(-found, abs=1e-6)


def test_pairs_are_counted() -> None:
    assert counts_of([0.0, 1.0, 0.5, 0.5, 0.75, 0.25, 0.25]).tolist() == [1, 2, 2, 1, 1]
    assert log_likelihood_ratio(counts_of([]), 0, 5) == 0
    assert normalised_elo(counts_of([])) == (0, math.inf)


def test_every_hypothesis_has_its_strength_and_the_largest_likelihood() -> None:
    chance = np.random.default_rng(0)
    for _ in range(60):
        counts = np.zeros(5, int)
        for i in chance.choice(5, chance.integers(1, 6), replace=False):
            counts[i] = int(10 ** chance.uniform(0, 4))
        seen = shares_of(counts)
        for elo in (-200, -20, 0, 5, 200):
            pull = math.sqrt(2) * elo / NORMALISED_ELO
            likeliest = likeliest_shares(seen, pull)
            mean, deviation = moments(likeliest)
            assert mean - 0.5 == pytest.approx(pull * deviation, abs=1e-6)
            assert np.sum(likeliest) == pytest.approx(1)
            for _ in range(20):  # others of the same strength, nearly: none is likelier
                other = likeliest * np.exp(chance.normal(0, 0.02, 5))
                other = moved_to(other / other.sum(), elo)
                assert np.sum(seen * np.log(other)) <= np.sum(seen * np.log(likeliest)) + 1e-6


def moved_to(shares: np.ndarray, elo: float) -> np.ndarray:
    """The same distribution, tilted to a strength in normalised Elo."""
    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        tilted = shares * np.exp(middle * SCORES)
        tilted /= tilted.sum()
        mean, deviation = moments(tilted)
        if NORMALISED_ELO * (mean - 0.5) / (math.sqrt(2) * deviation) < elo:
            low = middle
        else:
            high = middle
    return np.asarray(tilted)


def pairs_of(elo: float, draws: float, alike: float) -> np.ndarray:
    """Shares of pairs whose games end alike so often, and otherwise by themselves."""
    game = np.array([(1 - draws) / 2, draws, (1 - draws) / 2])
    pair = np.zeros(5)
    for i in range(3):
        pair[2 * i] += alike * game[i]
        for j in range(3):
            pair[i + j] += (1 - alike) * game[i] * game[j]
    return moved_to(pair, elo)


@pytest.mark.parametrize(("draws", "alike"), [(0.0, 0.0), (0.3, 0.6)])
@pytest.mark.parametrize("truth", [0, 100])
def test_errors_are_rarer_than_told(truth: int, draws: float, alike: float) -> None:
    """Looks come after whole waves, so that a test goes past its bound and errs less often."""
    test, chance = Sprt(0, 100), np.random.default_rng(1)
    shares = pairs_of(truth, draws, alike)
    accepted = []
    for _ in range(150):
        counts = np.zeros(5, int)
        result = None
        while result is None:
            counts += chance.multinomial(16, shares)
            result = test.look(np.repeat(SCORES, counts).tolist()).accepted
        accepted.append(result)
    wrong = sum(result != truth for result in accepted)
    assert wrong <= 13  # 7.5 where an error has its chance of 5 %: 13 and more come once in 25


@pytest.mark.parametrize("strength", [0.0, 0.8, 1.6])  # of the first player
@pytest.mark.parametrize("spread", [0.0, 1.5])  # of openings, which both games of a pair share
def test_intervals_cover_what_they_say(strength: float, spread: float) -> None:
    chance = np.random.default_rng(2)

    def pairs(number: int) -> np.ndarray:
        colour = 0.7 + spread * chance.normal(0, 1, number)
        fit = spread / 2 * chance.normal(0, 1, number)
        wins = [
            chance.random(number) < 1 / (1 + np.exp(-(strength + fit + sign * colour)))
            for sign in (1, -1)
        ]
        return np.asarray((wins[0].astype(float) + wins[1]) / 2)

    truth = pairs(1_000_000).mean()
    covered = 0
    for _ in range(2000):
        low, high = interval(pairs(120).tolist())
        covered += low <= truth <= high
    assert 0.93 < covered / 2000 < 0.97


def test_normalised_elo_has_its_interval() -> None:
    chance = np.random.default_rng(3)
    covered = 0
    for _ in range(2000):
        elo, half = normalised_elo(chance.multinomial(300, pairs_of_30))
        covered += abs(elo - 30) <= half
    assert 0.93 < covered / 2000 < 0.97


pairs_of_30 = pairs_of(30, 0.3, 0.3)


@pytest.mark.parametrize(
    ("low", "high", "alpha"), [(5, 0, 0.05), (0, 0, 0.05), (0, 300, 0.05), (0, 5, 0.5), (0, 5, 0)]
)
def test_what_no_test_can_be(low: float, high: float, alpha: float) -> None:
    with pytest.raises(InputError):
        Sprt(low, high, alpha)


def test_the_result_says_what_is_accepted() -> None:
    result = Sprt(0, 50).look([1.0] * 20 + [0.75] * 40 + [0.5] * 30)
    assert result.accepted == 50
    assert result.figures()["accepted"] == "H1"
    assert str(result).startswith("SPRT, 0 against 50 normalised Elo: 50 is accepted; LLR ")
    assert Sprt(0, 50).look([0.5] * 3 + [0.75]).figures()["accepted"] == "inconclusive"
    assert Sprt(0, 50).look([0.0] * 50).figures()["accepted"] == "H0"
