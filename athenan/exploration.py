"""Which action self-play plays after a search: the best one, but not always."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from athenan.search import Child, own
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
        values = [own(child.value, player) for child in children]
        completions = [own(child.completion, player) for child in children]
        resolved = [child.resolved for child in children]
        ties = random.random(len(children)).tolist()
        order = sorted(
            range(len(children)), key=lambda i: (completions[i], values[i], ties[i]), reverse=True
        )
        # Where all is known, or enough of it to win, there is nothing to explore.
        best = order[0]
        if (resolved[best] and completions[best] == 1) or all(resolved):
            return children[best].action
        # A proven loss is never played while there is anything else.
        order = [i for i in order if not (resolved[i] and completions[i] == -1)]
        if schedule == "uniform":
            exploitation = random.random()
        elif schedule == "annealed":
            exploitation = progress
        else:
            exploitation = fixed
        if name == "softmax":
            probabilities = softmax(np.array([values[i] / bound for i in order]), temperature)
        elif name == "ordinal":
            probabilities = ordinal(len(order), exploitation)
        else:
            probabilities = epsilon_greedy(len(order), exploitation)
        at = int(np.searchsorted(np.cumsum(probabilities), random.random()))
        return children[order[min(at, len(order) - 1)]].action

    return choose
