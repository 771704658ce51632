"""Means with intervals by the bootstrap of blocks, stratum by stratum.

A block is a few matches whose outer influences cancel: the networks i and j, each in both hands and
in both colours. Blocks are drawn again within their stratum (a set of networks in a game), so that
what differs between strata is no noise. A game's figure is the mean of its sets, the overall one
the mean of the games, all of the same draws.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
CHUNK = 2**22  # numbers in the largest array


@dataclass(frozen=True)
class Mean:
    value: float
    low: float  # 95 %
    high: float
    matches: int


@dataclass(frozen=True)
class Means:
    """Scores in [-1, 1]."""

    games: dict[str, Mean]
    of_games: Mean  # every game counts as much
    of_matches: Mean  # every match counts as much


Block = Sequence[float]  # scores of its matches
Blocks = Mapping[str, Mapping[str, Sequence[Block]]]  # game -> set -> blocks


def bootstrap(blocks: Blocks, resamples: int = 10_000, seed: int = 0) -> Means:
    """Intervals hold the middle 95 % of the means of so many resamples."""
    random = np.random.default_rng(seed)
    found: dict[str, Mean] = {}
    values: list[float] = []
    drawn_values: list[Array] = []
    total, matches = 0.0, 0
    drawn_total, drawn_matches = np.zeros(resamples), np.zeros(resamples)
    for game, sets in blocks.items():
        means, drawn_means, number = [], [], 0
        for own in sets.values():
            sums = np.array([sum(block) for block in own], float)
            sizes = np.array([len(block) for block in own], float)
            drawn_sums, drawn_sizes = drawn(sums, sizes, resamples, random)
            means.append(float(sums.sum() / sizes.sum()))
            drawn_means.append(drawn_sums / drawn_sizes)
            number += int(sizes.sum())
            total += float(sums.sum())
            drawn_total += drawn_sums
            drawn_matches += drawn_sizes
        values.append(float(np.mean(means)))
        drawn_values.append(np.mean(drawn_means, axis=0))
        found[game] = mean_of(values[-1], drawn_values[-1], number)
        matches += number
    return Means(
        found,
        mean_of(float(np.mean(values)), np.mean(drawn_values, axis=0), matches),
        mean_of(total / matches, drawn_total / drawn_matches, matches),
    )


def drawn(
    sums: Array, sizes: Array, resamples: int, random: np.random.Generator
) -> tuple[Array, Array]:
    """Of each resample the sum of its scores and how many they are. Blocks are drawn with return,
    one fewer than there are, and counted as if they were all: with as many, the variance of the
    mean of n blocks would come out too small by 1/n, which matters where sets are small."""
    number = len(sums)
    draws = max(1, number - 1)
    found = np.empty((2, resamples))
    for start in range(0, resamples, max(1, CHUNK // draws)):
        part = slice(start, min(resamples, start + max(1, CHUNK // draws)))
        chosen = random.integers(number, size=(part.stop - part.start, draws))
        found[:, part] = sums[chosen].sum(axis=1), sizes[chosen].sum(axis=1)
    return found[0] * number / draws, found[1] * number / draws


def mean_of(value: float, resampled: Array, matches: int) -> Mean:
    low, high = np.quantile(resampled, [0.025, 0.975])
    return Mean(value, float(low), float(high), matches)
