"""Replay: whole games, as bits; what each learning step takes from them.

`stratified`: the last µ games; after each new game every game in memory gives a δ/µ share of its
states, without replacement, so that each state is used δ times while its game stays. What a step
takes depends on the seed and the games' numbers only, so there is no state to save but the games.
`plain`: as many states, drawn anew from all of memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from athenan.checkpoint import Part
from athenan.errors import InputError
from athenan.records import AnySamples, Array, GameRecord, Samples, SamplesOfChildren
from athenan.replay_files import ReplayFiles, files_of
from athenan.settings import ReplaySettings

UNKNOWN = -1  # order of no pass


class _Game(NamedTuple):
    number: int
    steps: int  # learning steps since it came


class _Rows:
    """Arrays of equally many rows, which come at the end and go at the front. What comes is written
    behind what is there; only when no room is left all that is there moves to the front."""

    def __init__(self) -> None:
        self._first = self._last = 0
        self.gone = 0  # rows that were there
        self._arrays: list[Array] = []  # with room for more

    def __len__(self) -> int:
        return self._last - self._first

    def arrays(self) -> list[Array]:
        """As they are now, not copied."""
        return [array[self._first : self._last] for array in self._arrays]

    def append(self, *rows: Array) -> None:
        if not self._arrays:
            self._arrays = [array[:0] for array in rows]
        size = len(rows[0])
        if self._last + size > len(self._arrays[0]):
            self._make_room(size)
        for array, given in zip(self._arrays, rows, strict=True):
            array[self._last : self._last + size] = given
        self._last += size

    def _make_room(self, size: int) -> None:
        """Half as much again as is needed, so that a row moves twice in its life at most."""
        room = (len(self) + size) * 3 // 2
        for i, array in enumerate(self.arrays()):
            self._arrays[i] = np.empty((room, *array.shape[1:]), array.dtype)
            self._arrays[i][: len(array)] = array
        self._first, self._last = 0, len(self)

    def drop(self, number: int) -> None:
        self._first += number
        self.gone += number


class Replay:
    """The games in memory, and in the run's folder those that its checkpoints need."""

    def __init__(self, config: ReplaySettings, seed: int, run: Path) -> None:
        self.name = config.name
        self.most_games = config.games  # µ
        self.uses = config.uses  # δ
        self.most_states = config.states
        self.seed = seed
        self.steps = 0
        self.files = ReplayFiles(run)
        # Of each game: number, states, steps since it came, and the pass over its states (one of δ)
        # whose order is known. Of each state: planes, values, and which one of its game is taken in
        # its place. So a draw costs what it takes, and nothing for each game in memory.
        # Where labels are of children: instead of values the number of the state's first label,
        # counted from the first there ever was, and how many it has; of a label value and action.
        self._games = _Rows()
        self._states = _Rows()
        self._labels = _Rows()
        self._of_children = False

    def __len__(self) -> int:
        return len(self._states)

    @property
    def games(self) -> list[_Game]:
        """Oldest first."""
        if not len(self._games):
            return []
        numbers, _, steps, _ = self._games.arrays()
        return [_Game(*game) for game in zip(numbers.tolist(), steps.tolist(), strict=True)]

    @property
    def bytes(self) -> int:
        """Of states and labels."""
        columns = self._states.arrays()[:2] + self._labels.arrays()
        return sum(array.nbytes for array in columns)

    @property
    def age(self) -> float:
        """Learning steps since the states in memory came, on average."""
        if not len(self._games):
            return 0.0
        _, sizes, steps, _ = self._games.arrays()
        return float(np.average(steps, weights=np.maximum(sizes, 1)))

    def add(self, record: GameRecord) -> None:
        self.files.add(record)
        self._keep(record.number, record.samples, steps=0)

    def _keep(self, number: int, samples: AnySamples, steps: int) -> None:
        size, values = len(samples.planes), samples.values
        if isinstance(samples, SamplesOfChildren):
            self._of_children = True
            ends = self._labels.gone + len(self._labels) + np.cumsum(samples.labels, dtype=np.int64)
            self._labels.append(values, samples.actions)
            values = np.stack([ends - samples.labels, samples.labels], axis=1)
        self._games.append(*np.array([number, size, steps, UNKNOWN], np.int64)[:, None])
        self._states.append(samples.planes, values, np.zeros(size, np.int32))
        while len(self._games) > self.most_games or (
            len(self._games) > 1 and len(self) > self.most_states
        ):
            states = int(self._games.arrays()[1][0])
            if self._of_children:
                self._labels.drop(int(self._states.arrays()[1][:states, 1].sum()))
            self._states.drop(states)
            self._games.drop(1)

    def draw(self) -> AnySamples:
        """What the learning step after a new game trains on."""
        self.steps += 1
        rows = self._plain_rows() if self.name == "plain" else self._stratified_rows()
        # Mixed, so that a batch is not one game's.
        rows = rows[np.random.default_rng([self.seed, 1, self.steps]).permutation(len(rows))]
        planes, values, _ = self._states.arrays()
        if self._of_children:
            return self._with_labels(planes[rows], *values[rows].T)
        return Samples(planes[rows], values[rows])

    def _with_labels(self, planes: Array, firsts: Array, numbers: Array) -> SamplesOfChildren:
        values, actions = self._labels.arrays()
        ends = np.cumsum(numbers)
        rows = np.repeat(firsts - self._labels.gone - (ends - numbers), numbers)
        rows += np.arange(len(rows))
        return SamplesOfChildren(planes, values[rows], numbers.astype(np.int32), actions[rows])

    def _stratified_rows(self) -> Array:
        """The next share of every game, game by game."""
        _, sizes, steps, passes = self._games.arrays()
        order = self._states.arrays()[2]
        starts = np.cumsum(sizes) - sizes
        first = (sizes * self.uses * steps / self.most_games).astype(np.int64)
        steps += 1
        last = (sizes * self.uses * steps / self.most_games).astype(np.int64)
        counts = last - first
        ends = np.cumsum(counts)
        turning = np.flatnonzero((counts > 0) & ((last - 1) // np.maximum(sizes, 1) != passes))
        turned = {int(i): self._turn(int(i), int(first[i]), int(last[i])) for i in turning}
        game = np.repeat(np.arange(len(sizes)), counts)
        taken = np.arange(len(game)) - (ends - counts - first)[game]
        rows: Array = order[starts[game] + taken % sizes[game]].astype(np.int64)
        for i, chosen in turned.items():
            rows[ends[i] - counts[i] : ends[i]] = chosen
        rows += starts[game]
        return rows

    def _turn(self, i: int, first: int, last: int) -> Array:
        """The states `first` to `last` of all that a game gives where its states come around, each
        pass in an order of its own; notes the order of the last pass."""
        numbers, sizes, _, passes = self._games.arrays()
        size, start = int(sizes[i]), int(sizes[:i].sum())
        order = self._states.arrays()[2][start : start + size]
        chosen = []
        for turn in range(first // size, (last - 1) // size + 1):
            if turn != passes[i]:
                random = np.random.default_rng([self.seed, 2, int(numbers[i]), turn])
                order[:], passes[i] = random.permutation(size), turn
            chosen.append(order[max(first - turn * size, 0) : last - turn * size].copy())
        return np.concatenate(chosen)

    def _plain_rows(self) -> Array:
        random = np.random.default_rng([self.seed, 3, self.steps])
        number = max(1, int(len(self) * self.uses / self.most_games))
        return np.sort(random.integers(0, len(self), number))

    def some(self, number: int) -> Array:
        """Packed planes of so many states, or of all where there are fewer: others after each step,
        the same for the same games."""
        states = len(self)
        random = np.random.default_rng([self.seed, 7, self.steps])
        rows = random.choice(states, min(number, states), replace=False)
        planes: Array = self._states.arrays()[0][rows] if states else np.zeros((0, 1), np.uint8)
        return planes

    def saved(self) -> Part:
        """Writes the new games to the run's folder; what a checkpoint says of all of them."""
        self.files.write()
        return Part({
            "replay_steps": self.steps,
            "replay": [list(game) for game in self.games],
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
                (number, found[number].samples, Part({"steps": age}).count("steps"))
                for number, age in listed
            ]
        except (KeyError, TypeError, ValueError):
            raise InputError("The replay files do not have the games of the replay.") from None
        self.steps = steps
        for game in games:
            self._keep(*game)
