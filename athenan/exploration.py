"""Which action self-play plays after a search: the best one, but not always."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from athenan.search import Child
from athenan.settings import ExplorationSettings


def ordinal(rank_count: int, exploitation: float) -> np.ndarray[Any, Any]:
    """P(i) of the i-th best of n: walking down the list, with k left take the first with
    probability ε' + (1 - ε') / k. ε' = 1 always takes the best, ε' = 0 any."""
    left = np.arange(rank_count, 0, -1)
    take = exploitation + (1 - exploitation) / left
    passed = np.concatenate([[1.0], np.cumprod(1 - take[:-1])])
    probabilities: np.ndarray[Any, Any] = take * passed
    return probabilities


def epsilon_greedy(rank_count: int, exploitation: float) -> np.ndarray[Any, Any]:
    """The best with probability ε', otherwise any."""
    probabilities = np.full(rank_count, (1 - exploitation) / rank_count)
    probabilities[0] += exploitation
    return probabilities


def softmax(values: np.ndarray[Any, Any], temperature: float) -> np.ndarray[Any, Any]:
    """By e^(value / temperature), values in [-1, 1] in the mover's view."""
    weights = np.exp((values - values.max()) / max(temperature, 1e-6))
    probabilities: np.ndarray[Any, Any] = weights / weights.sum()
    return probabilities


def expected_exploitation(config: ExplorationSettings, progress: float) -> float:
    """ε' on average at this progress of a run."""
    if config.schedule == "annealed":
        return progress
    return 0.5 if config.schedule == "uniform" else config.exploitation


def make_chooser(config: ExplorationSettings) -> Callable[..., int]:
    """chooser(children, player, bound, random, progress) -> action; progress is 0 to 1."""
    name, schedule = config.name, config.schedule
    fixed, temperature = config.exploitation, config.temperature

    def choose(
        children: list[Child], player: int, bound: float, random: Any, progress: float
    ) -> int:
        sign = 1 if player == 0 else -1
        # Shuffled first, so that equal ones stand in any order.
        ranked: list[Child] = sorted(
            (children[i] for i in random.permutation(len(children))),
            key=lambda child: (sign * child.completion, sign * child.value),
            reverse=True,
        )
        # Where all is known, or enough of it to win, there is nothing to explore.
        proven = [sign * child.completion if child.resolved else 0 for child in ranked]
        if 1 in proven or all(child.resolved for child in ranked):
            return ranked[0].action
        # A proven loss is never played while there is anything else.
        ranked = [child for child, known in zip(ranked, proven, strict=True) if known != -1]
        if schedule == "uniform":
            exploitation = random.random()
        elif schedule == "annealed":
            exploitation = progress
        else:
            exploitation = fixed
        if name == "softmax":
            probabilities = softmax(
                np.array([sign * child.value / bound for child in ranked]), temperature
            )
        elif name == "ordinal":
            probabilities = ordinal(len(ranked), exploitation)
        else:
            probabilities = epsilon_greedy(len(ranked), exploitation)
        at = int(np.searchsorted(np.cumsum(probabilities), random.random()))
        return ranked[min(at, len(ranked) - 1)].action

    return choose
