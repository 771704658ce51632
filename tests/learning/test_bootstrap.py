"""The bootstrap of blocks: it covers the truth, and others find the same interval."""

import itertools

import numpy as np
import pytest
from scipy import stats

from athenan.bootstrap import Blocks, bootstrap

EFFECT = 0.3  # that the first player's chance of a win is larger by, whoever has which network


def simulated(
    random: np.random.Generator, sets: int, networks: int, same: bool = True
) -> tuple[Blocks, float]:
    """Blocks of ±1 of networks with very different strengths, and their true mean."""
    blocks: dict[str, list[list[float]]] = {}
    truth = []
    for number in range(sets):
        strengths = random.normal(0, 2.0, networks)
        own, chances = [], []
        for i, j in itertools.combinations_with_replacement(range(networks), 2):
            if i == j and not same:
                continue
            block = []
            for one, other in {(i, j), (j, i)}:
                for colour in (0.4, -0.4):
                    equal = 1 / (1 + np.exp(strengths[other] - strengths[one] - colour))
                    chance = (1 - EFFECT) * equal + EFFECT
                    chances.append(chance)
                    block.append(1.0 if random.random() < chance else -1.0)
            own.append(block)
        blocks[f"set {number}"] = own
        truth.append(2 * np.mean(chances) - 1)
    return blocks, float(np.mean(truth))


@pytest.mark.parametrize(("sets", "networks", "rounds"), [(3, 5, 1000), (6, 5, 700)])
def test_the_interval_covers_the_truth(sets: int, networks: int, rounds: int) -> None:
    random = np.random.default_rng(1)
    covered, width, independent = [], 0.0, 0.0
    for seed in range(rounds):
        blocks, truth = simulated(random, sets, networks)
        mean = bootstrap({"game": blocks}, 800, seed).games["game"]
        covered.append(mean.low <= truth <= mean.high)
        width += mean.high - mean.low
        if seed < 50:  # the same matches as if each stood for itself
            alone = {name: [[score] for block in own for score in block]
                     for name, own in blocks.items()}  # fmt: skip
            each = bootstrap({"game": alone}, 800, seed).games["game"]
            independent += (each.high - each.low) * rounds / 50
    assert 0.93 <= np.mean(covered) <= 0.97
    assert width < 0.9 * independent


def test_the_overall_means_cover_the_truth() -> None:
    random, covered = np.random.default_rng(2), []
    for seed in range(300):
        made = {game: simulated(random, sets, 4) for game, sets in (("a", 2), ("b", 4))}
        found = bootstrap({game: blocks for game, (blocks, _) in made.items()}, 800, seed)
        truth = np.mean([true for _, true in made.values()])
        covered.append(found.of_games.low <= truth <= found.of_games.high)
        assert found.of_games.value == pytest.approx(
            np.mean([mean.value for mean in found.games.values()])
        )
    assert 0.93 <= np.mean(covered) <= 0.97


def test_scipy_finds_the_same_interval() -> None:
    """Of one stratum, whose blocks are all as large."""
    random = np.random.default_rng(3)
    blocks, _ = simulated(random, 1, 15, same=False)
    found = bootstrap({"game": blocks}, 10_000, 0).games["game"]
    (own,) = blocks.values()
    means = np.array([np.mean(block) for block in own])
    theirs = stats.bootstrap(
        (means,), np.mean, n_resamples=10_000, method="percentile", rng=random
    ).confidence_interval
    assert found.value == pytest.approx(means.mean())
    assert (found.low, found.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_matches_and_games_are_weighed_as_they_say() -> None:
    blocks = {"few": {"one": [[1.0, 1.0]]}, "many": {"one": [[-1.0] * 4] * 3, "two": [[1.0] * 4]}}
    found = bootstrap(blocks, 200)
    assert found.games["few"].value == 1
    assert found.games["many"].value == 0, "sets count as much"
    assert found.of_games.value == 0.5
    assert found.of_matches.value == pytest.approx((2 - 12 + 4) / 18)
    assert [found.games["many"].matches, found.of_games.matches] == [16, 18]


def test_unfinished_blocks_count_by_their_matches() -> None:
    found = bootstrap({"game": {"one": [[1.0, 1.0, 1.0, 1.0], [-1.0]]}}, 500).games["game"]
    assert found.value == pytest.approx(0.6)
    assert (found.low, found.high) == (-1, 1)
