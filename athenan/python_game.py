"""Games written in Python.

Subclass `PythonState` (best as a frozen dataclass) and `PythonGame`; the result has the surface of
the built-in games and works with every search and command, only slower.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from athenan.errors import InputError

if TYPE_CHECKING:
    from athenan import _core


class PythonState(ABC):
    """A state; never changed, `play` makes a new one. Players count from 0."""

    @property
    @abstractmethod
    def to_move(self) -> int: ...

    @property
    @abstractmethod
    def ply(self) -> int: ...

    @property
    @abstractmethod
    def outcomes(self) -> tuple[int, ...] | None:
        """None before the end, then -1, 0 or 1 for each player."""

    @abstractmethod
    def legal_actions(self) -> list[int]:
        """Ascending; empty at the end."""

    @abstractmethod
    def play(self, action: int) -> PythonState:
        """The state after the action; ValueError that names an action that is not legal."""

    @abstractmethod
    def planes(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """rows × columns × channels of zeros and ones that determine board and mover."""

    @property
    def is_terminal(self) -> bool:
        return self.outcomes is not None

    @property
    def score(self) -> float | None:
        """Of two players, the difference in the first one's view."""
        return None

    @property
    def key(self) -> int:
        """128 bits of everything the future depends on; by default of the state's repr."""
        text = repr(self)
        if wrong := unfit_for_key(text):
            raise InputError(
                f"The key of a '{type(self).__name__}' is made of its repr, which {wrong}: make "
                "the state a frozen dataclass of numbers, texts and tuples, or write its __repr__ "
                "or key."
            )
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=16).digest(), "big")

    def action_to_string(self, action: int) -> str:
        return str(action)

    def string_to_action(self, text: str) -> int:
        for action in self.legal_actions():
            if self.action_to_string(action) == text:
                return action
        raise ValueError(f"No legal action here is written '{text}'.")


def unfit_for_key(text: str) -> str:
    """Why a repr cannot tell states apart: Python's own is an address, another one for each object,
    and numpy leaves out the middle of large arrays."""
    if " at 0x" in text:
        return "holds an address in memory"
    return "leaves out parts of an array" if "array(" in text and "..." in text else ""


class PythonGame(ABC):
    """The rules: facts as attributes, and the initial state."""

    name: str
    max_plies: int
    plane_shape: tuple[int, int, int]
    num_players: int = 2
    zero_sum: bool = True  # of two players: what one gains the other loses
    max_score: float = 0.0  # bound of |score|; 0 without a score
    has_history: bool = False  # whether the key holds what the text does not show
    symmetries: list[_core.Symmetry]
    # Of each cell of the planes, row by row: its name in the texts of actions, where it is in half
    # cells from the left, its row from the top. With planes called `piece x` the board is drawn.
    places: Sequence[tuple[str, int, int]] = ()
    # Where an action is a cell: the cell (row * columns + column) that each is, and the names of
    # those that are none (pass, swap), which come after the others.
    action_cells: Sequence[int] = ()
    other_actions: Sequence[str] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not hasattr(cls, "name"):
            cls.name = cls.__name__.lower()
        if not hasattr(cls, "symmetries"):
            cls.symmetries = []

    @property
    def channels(self) -> list[str]:
        """What each plane means."""
        return [f"channel {i}" for i in range(self.plane_shape[2])]

    @abstractmethod
    def initial_state(self) -> PythonState: ...

    def state_from_string(self, text: str) -> PythonState:
        """By default the texts of the actions from the start, separated by blanks."""
        state = self.initial_state()
        for word in text.split():
            state = state.play(state.string_to_action(word))
        return state

    def perft(self, depth: int) -> int:
        def leaves(state: PythonState, depth: int) -> int:
            if depth == 0:
                return 1
            return sum(leaves(state.play(a), depth - 1) for a in state.legal_actions())

        return leaves(self.initial_state(), depth)
