"""Replay: whole games, as bits; what each learning step takes from them.

`stratified`: the last µ games; after each new game every game in memory gives a δ/µ share of its
states, without replacement, so that each state is used δ times while its game stays. What a step
takes depends on the seed and the games' numbers only, so there is no state to save but the games.
`plain`: as many states, drawn anew from all of memory.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from athenan.errors import InputError, nearest

Arrays = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]  # packed planes, values
NAMES = ("stratified", "plain")


@dataclass
class _Game:
    number: int
    planes: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any]
    steps: int = 0  # learning steps since it came


class Replay:
    def __init__(self, config: Any, seed: int) -> None:
        if config.name not in NAMES:
            raise InputError(f"There is no replay '{config.name}'{nearest(config.name, NAMES)}")
        if config.games < 1 or not config.uses > 0 or config.states < 1:
            raise InputError("Settings 'replay.games', 'replay.uses' and 'replay.states' "
                             "must be positive.")  # fmt: skip
        self.name = config.name
        self.most_games = config.games  # µ
        self.uses = config.uses  # δ
        self.most_states = config.states
        self.seed = seed
        self.games: deque[_Game] = deque()
        self.steps = 0

    def __len__(self) -> int:
        return sum(len(game.values) for game in self.games)

    @property
    def bytes(self) -> int:
        return sum(game.planes.nbytes + game.values.nbytes for game in self.games)

    def add(self, number: int, planes: np.ndarray[Any, Any], values: np.ndarray[Any, Any]) -> None:
        self.games.append(_Game(number, planes, values))
        while len(self.games) > self.most_games or (
            len(self.games) > 1 and len(self) > self.most_states
        ):
            self.games.popleft()

    def draw(self) -> Arrays:
        """What the learning step after a new game trains on."""
        self.steps += 1
        if self.name == "plain":
            parts = [self._plain_part()]
        else:
            parts = [self._next_part(game) for game in self.games]
        planes = np.concatenate([p for p, _ in parts])
        values = np.concatenate([v for _, v in parts])
        # Mixed, so that a batch is not one game's.
        order = np.random.default_rng([self.seed, 1, self.steps]).permutation(len(values))
        return planes[order], values[order]

    def _next_part(self, game: _Game) -> Arrays:
        size = len(game.values)
        first = int(size * self.uses * game.steps / self.most_games)
        game.steps += 1
        last = int(size * self.uses * game.steps / self.most_games)
        chosen = []
        for turn in range(first // size, (last - 1) // size + 1) if last > first else ():
            order = np.random.default_rng([self.seed, 2, game.number, turn]).permutation(size)
            chosen.append(order[max(first - turn * size, 0) : last - turn * size])
        rows = np.concatenate(chosen) if chosen else np.empty(0, np.int64)
        return game.planes[rows], game.values[rows]

    def _plain_part(self) -> Arrays:
        random = np.random.default_rng([self.seed, 3, self.steps])
        sizes = np.array([len(game.values) for game in self.games])
        number = max(1, int(sizes.sum() * self.uses / self.most_games))
        ends = np.cumsum(sizes)
        rows = np.sort(random.integers(0, ends[-1], number))
        where = np.searchsorted(ends, rows, side="right")
        planes, values = [], []
        for i in np.unique(where):
            chosen = rows[where == i] - (ends[i] - sizes[i])
            planes.append(self.games[i].planes[chosen])
            values.append(self.games[i].values[chosen])
        return np.concatenate(planes), np.concatenate(values)
