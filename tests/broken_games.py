"""Games in Python, each with one fault: what the contract must find, and by which name."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import athenan


@dataclass(frozen=True)
class Race(athenan.PythonState):
    """Right: each player goes 1 or 2 steps; who reaches 5 first wins."""

    places: tuple[int, int] = (0, 0)
    to_move: int = 0
    ply: int = 0

    @property
    def outcomes(self) -> tuple[int, ...] | None:
        if max(self.places) < 5:
            return None
        return (1, -1) if self.places[0] >= 5 else (-1, 1)

    def legal_actions(self) -> list[int]:
        return [] if self.is_terminal else [1, 2]

    def play(self, action: int) -> Race:
        if action not in self.legal_actions():
            raise ValueError(f"Action {action} is not legal here.")
        places = list(self.places)
        places[self.to_move] += action
        first, second = places
        return replace(self, places=(first, second), to_move=1 - self.to_move, ply=self.ply + 1)

    def planes(self) -> np.ndarray[Any, Any]:
        planes = np.zeros((2, 7, 2), np.uint8)
        for player, place in enumerate(self.places):
            planes[player, place, 0] = 1
        planes[:, :, 1] = self.to_move
        return planes


class RaceGame(athenan.PythonGame):
    max_plies = 9
    plane_shape = (2, 7, 2)
    state: type[Race] = Race

    def initial_state(self) -> Any:
        return self.state()


class AddressKey(athenan.PythonGame):
    """Its state keeps Python's own repr."""

    max_plies, plane_shape = 9, (2, 7, 2)

    class State(athenan.PythonState):
        def __init__(self, race: Race) -> None:
            self.race = race

        to_move = property(lambda self: self.race.to_move)  # type: ignore[assignment]
        ply = property(lambda self: self.race.ply)  # type: ignore[assignment]
        outcomes = property(lambda self: self.race.outcomes)  # type: ignore[assignment]

        def legal_actions(self) -> list[int]:
            return self.race.legal_actions()

        def play(self, action: int) -> AddressKey.State:
            return type(self)(self.race.play(action))

        def planes(self) -> np.ndarray[Any, Any]:
            return self.race.planes()

    def initial_state(self) -> AddressKey.State:
        return self.State(Race())


class HashedKey(RaceGame):
    """Python hashes texts in another way in every process."""

    class state(Race):
        key = property(lambda self: hash(repr(self)) % 2**128)  # type: ignore[assignment]


class CounterKey(RaceGame):
    """Each object has a key of its own."""

    numbers = itertools.count()

    @dataclass(frozen=True)
    class state(Race):
        number: int = 0

        def play(self, action: int) -> Race:
            following: Any = super().play(action)
            return replace(following, number=next(CounterKey.numbers))


class ForgetfulKey(RaceGame):
    """The key leaves out who is to move."""

    class state(Race):
        key = property(lambda self: 10 * self.places[0] + self.places[1])  # type: ignore[assignment]


class CountedByPly(RaceGame):
    """It ends at a ply that the key does not hold."""

    max_plies = 7

    class state(Race):
        key = property(  # type: ignore[assignment]
            lambda self: 100 * self.places[0] + 10 * self.places[1] + self.to_move
        )

        @property
        def outcomes(self) -> tuple[int, ...] | None:
            return (0, 0) if self.ply >= 5 else super().outcomes


class Changing(athenan.PythonGame):
    """play changes the state and returns it."""

    max_plies, plane_shape = 3, (1, 4, 1)

    class State(athenan.PythonState):
        to_move, ply = 0, 0  # type: ignore[assignment]
        outcomes = property(lambda self: (1, -1) if self.ply == 3 else None)  # type: ignore[assignment]
        key = property(lambda self: self.ply)  # type: ignore[assignment]

        def legal_actions(self) -> list[int]:
            return [] if self.is_terminal else [0]

        def play(self, action: int) -> Changing.State:
            if action not in self.legal_actions():
                raise ValueError(f"Action {action} is not legal here.")
            self.ply += 1  # type: ignore[misc]
            return self

        def planes(self) -> np.ndarray[Any, Any]:
            return (np.arange(4) == self.ply).astype(np.uint8).reshape(1, 4, 1)

    def initial_state(self) -> Changing.State:
        return self.State()


class Endless(RaceGame):
    class state(Race):
        outcomes = None  # type: ignore[assignment]

        def planes(self) -> np.ndarray[Any, Any]:
            planes = np.zeros((2, 7, 2), np.uint8)
            planes[0, self.ply % 7, 0] = planes[1, self.ply // 7, 0] = 1
            planes[:, :, 1] = self.to_move
            return planes


class Circular(RaceGame):
    """The board comes again, and the key does not say how often."""

    max_plies = 6

    class state(Race):
        key = property(lambda self: self.ply % 2)  # type: ignore[assignment]
        outcomes = property(lambda self: (0, 0) if self.ply == 6 else None)  # type: ignore[assignment]


class TransposedPlanes(RaceGame):
    class state(Race):
        def planes(self) -> np.ndarray[Any, Any]:
            return super().planes().transpose(1, 0, 2)


class FloatPlanes(RaceGame):
    class state(Race):
        def planes(self) -> np.ndarray[Any, Any]:
            return super().planes().astype(np.float32)


class LargePlanes(RaceGame):
    class state(Race):
        def planes(self) -> np.ndarray[Any, Any]:
            return super().planes() * np.uint8(3)


class BlindPlanes(RaceGame):
    """They do not say who is to move."""

    class state(Race):
        def planes(self) -> np.ndarray[Any, Any]:
            planes = super().planes()
            planes[:, :, 1] = 0
            return planes


class UnsortedActions(RaceGame):
    class state(Race):
        def legal_actions(self) -> list[int]:
            return super().legal_actions()[::-1]


class ActionsAtTheEnd(RaceGame):
    class state(Race):
        def legal_actions(self) -> list[int]:
            return [1, 2]


class NoActions(RaceGame):
    class state(Race):
        def legal_actions(self) -> list[int]:
            return [] if self.ply == 3 else super().legal_actions()


class BothWin(RaceGame):
    class state(Race):
        outcomes = property(lambda self: (1, 1) if max(self.places) >= 5 else None)  # type: ignore[assignment]


class LargeOutcomes(RaceGame):
    class state(Race):
        outcomes = property(lambda self: (5, -5) if max(self.places) >= 5 else None)  # type: ignore[assignment]


class StandingPly(RaceGame):
    class state(Race):
        def play(self, action: int) -> Race:
            return replace(super().play(action), ply=0)


class ThirdPlayer(RaceGame):
    class state(Race):
        def play(self, action: int) -> Race:
            return replace(super().play(action), to_move=2 * self.ply)


class AnyAction(RaceGame):
    """Whatever is played is legal."""

    class state(Race):
        def play(self, action: int) -> Race:
            return super().play(action if action in self.legal_actions() else 1)


class OtherError(RaceGame):
    class state(Race):
        def play(self, action: int) -> Race:
            return super().play({1: 1, 2: 2}[action])


class OneText(RaceGame):
    class state(Race):
        def action_to_string(self, action: int) -> str:  # noqa: ARG002
            return "go"


class Unreadable(RaceGame):
    """It says that it reads its states, and reads another."""

    def state_from_string(self, text: str) -> Race:  # noqa: ARG002
        return Race()


class Scores(RaceGame):
    max_score = 1.0

    class state(Race):
        score = property(lambda self: float(self.places[0] - self.places[1]))  # type: ignore[assignment]


class WrongSymmetry(RaceGame):
    """The rows are the players' own: to swap them is no symmetry without the mover's channel."""

    symmetries = [athenan.Symmetry([*range(7, 14), *range(7)], [0, 1])]  # noqa: RUF012


class NoSymmetry(RaceGame):
    symmetries = [athenan.Symmetry([0] * 14, [0, 1])]  # noqa: RUF012


class NoLength(athenan.PythonGame):
    plane_shape = (2, 7, 2)

    def initial_state(self) -> Race:
        return Race()


class Failing(RaceGame):
    """The rules raise an error of their own."""

    class state(Race):
        def legal_actions(self) -> list[int]:
            return [1, 2][self.ply // 3 :] if self.ply < 3 else [{}["nothing"]]


# The promise that each breaks.
FAULTS = {
    AddressKey: "keys",
    HashedKey: "elsewhere",
    CounterKey: "again",
    ForgetfulKey: "keys",
    CountedByPly: "keys",
    Changing: "unchanged",
    Endless: "length",
    Circular: "keys",
    TransposedPlanes: "planes",
    FloatPlanes: "planes",
    LargePlanes: "planes",
    BlindPlanes: "seen",
    UnsortedActions: "actions",
    ActionsAtTheEnd: "actions",
    NoActions: "actions",
    BothWin: "zero-sum",
    LargeOutcomes: "outcomes",
    StandingPly: "turns",
    ThirdPlayer: "turns",
    AnyAction: "refusals",
    OtherError: "refusals",
    OneText: "action texts",
    Unreadable: "state texts",
    Scores: "scores",
    WrongSymmetry: "symmetries",
    NoSymmetry: "symmetries",
    NoLength: "facts",
    Failing: "actions",
}
