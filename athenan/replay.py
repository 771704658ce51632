"""Replay: whole games, as bits; what each learning step takes from them.

`stratified`: the last µ games; after each new game every game in memory gives a δ/µ share of its
states, without replacement, so that each state is used δ times while its game stays. What a step
takes depends on the seed and the games' numbers only, so there is no state to save but the games.
`plain`: as many states, drawn anew from all of memory.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from athenan.checkpoint import Part
from athenan.errors import InputError
from athenan.records import GameRecord, Samples
from athenan.replay_files import ReplayFiles, files_of
from athenan.settings import ReplaySettings


@dataclass
class _Game:
    number: int
    samples: Samples
    steps: int = 0  # learning steps since it came

    def __len__(self) -> int:
        return len(self.samples.values)

    def rows(self, chosen: np.ndarray[Any, Any]) -> Samples:
        return Samples(*(array[chosen] for array in self.samples))


class Replay:
    """The games in memory, and in the run's folder those that its checkpoints need."""

    def __init__(self, config: ReplaySettings, seed: int, run: Path) -> None:
        self.name = config.name
        self.most_games = config.games  # µ
        self.uses = config.uses  # δ
        self.most_states = config.states
        self.seed = seed
        self.games: deque[_Game] = deque()
        self.steps = 0
        self.files = ReplayFiles(run)

    def __len__(self) -> int:
        return sum(map(len, self.games))

    @property
    def bytes(self) -> int:
        return sum(array.nbytes for game in self.games for array in game.samples)

    def add(self, record: GameRecord) -> None:
        self.files.add(record)
        self._keep(_Game(record.number, record.samples))

    def _keep(self, game: _Game) -> None:
        self.games.append(game)
        while len(self.games) > self.most_games or (
            len(self.games) > 1 and len(self) > self.most_states
        ):
            self.games.popleft()

    def draw(self) -> Samples:
        """What the learning step after a new game trains on."""
        self.steps += 1
        if self.name == "plain":
            parts = [self._plain_part()]
        else:
            parts = [self._next_part(game) for game in self.games]
        planes, values = joined(parts)
        # Mixed, so that a batch is not one game's.
        order = np.random.default_rng([self.seed, 1, self.steps]).permutation(len(values))
        return Samples(planes[order], values[order])

    def _next_part(self, game: _Game) -> Samples:
        size = len(game)
        first = int(size * self.uses * game.steps / self.most_games)
        game.steps += 1
        last = int(size * self.uses * game.steps / self.most_games)
        chosen = []
        for turn in range(first // size, (last - 1) // size + 1) if last > first else ():
            order = np.random.default_rng([self.seed, 2, game.number, turn]).permutation(size)
            chosen.append(order[max(first - turn * size, 0) : last - turn * size])
        rows = np.concatenate(chosen) if chosen else np.empty(0, np.int64)
        return game.rows(rows)

    def _plain_part(self) -> Samples:
        random = np.random.default_rng([self.seed, 3, self.steps])
        sizes = np.array([len(game) for game in self.games])
        number = max(1, int(sizes.sum() * self.uses / self.most_games))
        ends = np.cumsum(sizes)
        rows = np.sort(random.integers(0, ends[-1], number))
        where = np.searchsorted(ends, rows, side="right")
        return joined(
            [self.games[i].rows(rows[where == i] - (ends[i] - sizes[i])) for i in np.unique(where)]
        )

    def saved(self) -> Part:
        """Writes the new games to the run's folder; what a checkpoint says of all of them."""
        self.files.write()
        return Part({
            "replay_steps": self.steps,
            "replay": [[game.number, game.steps] for game in self.games],
            "replay_files": self.files.needed({game.number for game in self.games}),
        })  # fmt: skip

    def restore(self, part: Part) -> None:
        """All or nothing: files that cannot be read leave the replay as it was."""
        steps = part.count("replay_steps")
        found = {record.number: record for record in self.files.read(files_of(part.facts))}
        listed = part.facts.get("replay")
        if not isinstance(listed, list):
            raise InputError("Fact 'replay' is not a list of games.")
        try:
            games = [
                _Game(number, found[number].samples, Part({"steps": age}).count("steps"))
                for number, age in listed
            ]
        except (KeyError, TypeError, ValueError):
            raise InputError("The replay files do not have the games of the replay.") from None
        self.steps = steps
        for game in games:
            self._keep(game)


def joined(parts: list[Samples]) -> Samples:
    return Samples(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
