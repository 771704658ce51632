"""Records of finished games: what actors give, what learning takes, what replay files hold.

The arrays of a record, for s states of the game's tree, l labels, p plies and n players; width is 1
for two players (values are in the first player's view) and n otherwise:

planes             uint8   [s, bytes]  each state's planes, bits packed, the last byte padded with 0
values             float32 [l, width]  labels in [-1, 1]
labels             int32   [s]         labels of each state, which stand one after the other in
                                       `values`; without it each state has one
actions_of_labels  uint32  [l]         the action whose child a label values; without it labels
                                       value the states themselves
actions            uint32  [p]         the game as it was played
root_values        float32 [p, width]  the search's value of each state it was played from

A Block has several games as columns: each array of all games one after the other, and for g games

numbers            int64   [g]
states, label_counts, plies  int32 [g] rows that each game has in the columns
outcomes           int8    [g, n]
counters           int64   [g, COUNTERS]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np

from athenan.errors import InputError

Array = np.ndarray[Any, Any]
VERSION = 1  # of blocks
COUNTERS = ("evaluations", "iterations", "expanded", "resolved", "resolved_roots")


def pack(planes: Array) -> Array:
    """Planes uint8 [states, rows, columns, channels] of 0 and 1 as bits, [states, bytes]."""
    return np.packbits(planes.reshape(len(planes), int(np.prod(planes.shape[1:]))), axis=1)


def unpack(packed: Array, plane_shape: tuple[int, ...]) -> Array:
    """Bits [states, bytes] as planes uint8 [states, rows, columns, channels]."""
    bits = np.unpackbits(packed, axis=1, count=int(np.prod(plane_shape)))
    return bits.reshape(-1, *plane_shape)


class Samples(NamedTuple):
    """Labelled states: planes uint8 [n, bytes], values float32 [n, width]."""

    planes: Array
    values: Array

    def pieces(self, size: int) -> list[Samples]:
        """Of so many states each, in their order; the last may have fewer."""
        firsts = range(0, len(self.planes), size)
        return [Samples(*(column[i : i + size] for column in self)) for i in firsts]


class SamplesOfChildren(NamedTuple):
    """States with labels of some of their children: planes uint8 [n, bytes], values float32 [l, 1],
    how many of them each state has, int32 [n], and the actions that they are of, uint32 [l]."""

    planes: Array
    values: Array
    labels: Array
    actions: Array

    def pieces(self, size: int) -> list[SamplesOfChildren]:
        """Of so many states each, in their order; the last may have fewer."""
        ends = np.concatenate([[0], np.cumsum(self.labels, dtype=np.int64)])
        found = []
        for first in range(0, len(self.planes), size):
            states = slice(first, first + size)
            labels = slice(ends[first], ends[min(first + size, len(self.planes))])
            own = self.planes[states], self.values[labels], self.labels[states]
            found.append(SamplesOfChildren(*own, self.actions[labels]))
        return found


AnySamples = Samples | SamplesOfChildren


def joined(several: Sequence[AnySamples]) -> AnySamples:
    """One behind the other: at least one, all of the same kind."""
    return type(several[0])(*map(np.concatenate, zip(*several, strict=True)))


@dataclass
class GameRecord:
    """A finished game: what learning takes from it, and what the reports say of it."""

    number: int
    planes: Array
    values: Array
    actions: Array
    root_values: Array
    outcomes: tuple[int, ...]  # of each player
    labels: Array | None = None
    actions_of_labels: Array | None = None
    evaluations: int = 0
    iterations: int = 0
    expanded: int = 0
    resolved: int = 0  # of the labels
    resolved_roots: int = 0  # of the states it was played from

    @property
    def plies(self) -> int:
        return len(self.actions)

    @property
    def samples(self) -> AnySamples:
        if self.labels is None or self.actions_of_labels is None:
            assert self.labels is self.actions_of_labels, "several labels of a state have actions"
            return Samples(self.planes, self.values)
        return SamplesOfChildren(self.planes, self.values, self.labels, self.actions_of_labels)


@dataclass
class Block:
    """Games as columns; `games()` are views of them."""

    numbers: Array
    states: Array
    label_counts: Array
    plies: Array
    planes: Array
    values: Array
    actions: Array
    root_values: Array
    outcomes: Array
    counters: Array
    labels: Array | None = None
    actions_of_labels: Array | None = None

    @classmethod
    def of(cls, records: Iterable[GameRecord]) -> Block:
        """At least one game; all of one game's rules and with the same kind of labels."""
        games = list(records)

        def optional(name: str) -> Array | None:
            found = [getattr(game, name) for game in games]
            absent = [array is None for array in found]
            if any(absent) and not all(absent):
                raise ValueError(f"All games of a block have {name}, or none.")
            return None if absent[0] else np.concatenate(found)

        return cls(
            numbers=np.array([game.number for game in games], np.int64),
            states=np.array([len(game.planes) for game in games], np.int32),
            label_counts=np.array([len(game.values) for game in games], np.int32),
            plies=np.array([game.plies for game in games], np.int32),
            planes=np.concatenate([game.planes for game in games]),
            values=np.concatenate([game.values for game in games]),
            actions=np.concatenate([game.actions for game in games]),
            root_values=np.concatenate([game.root_values for game in games]),
            outcomes=np.array([game.outcomes for game in games], np.int8),
            counters=np.array([[getattr(game, c) for c in COUNTERS] for game in games], np.int64),
            labels=optional("labels"),
            actions_of_labels=optional("actions_of_labels"),
        )

    def games(self) -> list[GameRecord]:
        def cut(column: Array | None, sizes: Array) -> list[Any]:
            if column is None:
                return [None] * len(sizes)
            return np.split(column, np.cumsum(sizes)[:-1])

        columns = zip(
            self.numbers.tolist(),
            cut(self.planes, self.states),
            cut(self.values, self.label_counts),
            cut(self.actions, self.plies),
            cut(self.root_values, self.plies),
            map(tuple, self.outcomes.tolist()),
            cut(self.labels, self.states),
            cut(self.actions_of_labels, self.label_counts),
            strict=True,
        )
        counters = [dict(zip(COUNTERS, row, strict=True)) for row in self.counters.tolist()]
        return [GameRecord(*game, **c) for game, c in zip(columns, counters, strict=True)]

    def to_arrays(self) -> dict[str, Array]:
        """By name, for an .npz file or another process."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        arrays = {name: array for name, array in found.items() if array is not None}
        return {"version": np.array(VERSION, np.int32), **arrays}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Array]) -> Block:
        """Refuses what `to_arrays` cannot have given."""
        told = arrays["version"] if "version" in arrays else np.array(0)
        version = int(told) if told.shape == () else 0
        if version != VERSION:
            raise InputError(
                f"These games are of version {version}; this athenan reads version {VERSION}."
            )
        found = {f.name: arrays[f.name] for f in fields(cls) if f.name in arrays}
        needed = {f.name for f in fields(cls)} - {"labels", "actions_of_labels"}
        if not needed <= found.keys():
            raise InputError(f"These games have no {', '.join(sorted(needed - found.keys()))}.")
        block = cls(**found)
        block.check()
        return block

    def check(self) -> None:
        """The columns have the types, dimensions and lengths that they must have."""

        def columns(array: Array) -> int:
            return array.shape[1] if array.ndim == 2 else 1

        width = columns(self.values)
        rows = {
            "games": self.numbers.size,
            "states": int(self.states.sum()),
            "labels": int(self.label_counts.sum()),
            "plies": int(self.plies.sum()),
        }
        for name, kind, length, others in (
            ("numbers", np.int64, "games", ()),
            ("states", np.int32, "games", ()),
            ("label_counts", np.int32, "games", ()),
            ("plies", np.int32, "games", ()),
            ("planes", np.uint8, "states", (columns(self.planes),)),
            ("values", np.float32, "labels", (width,)),
            ("actions", np.uint32, "plies", ()),
            ("root_values", np.float32, "plies", (width,)),
            ("outcomes", np.int8, "games", (columns(self.outcomes),)),
            ("counters", np.int64, "games", (len(COUNTERS),)),
            ("labels", np.int32, "states", ()),
            ("actions_of_labels", np.uint32, "labels", ()),
        ):
            array = getattr(self, name)
            if array is None:
                continue
            if array.dtype != kind or array.shape != (rows[length], *others):
                raise InputError(
                    f"Games have {name} of {array.dtype} {list(array.shape)} where "
                    f"{np.dtype(kind)} {[rows[length], *others]} is needed."
                )
        each = self.states.sum() if self.labels is None else self.labels.sum()
        if self.labels is not None and self.labels.min(initial=0) < 0:
            raise InputError("Games have states with fewer labels than none.")
        if each != rows["labels"]:
            raise InputError(f"Games have {rows['labels']} labels where {each} are needed.")
