"""Nim in Python: take any number from one heap; who takes the last one wins.

athenan train game=games.examples.nim:Nim game.heaps=[1,2,3]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import athenan

WIDEST = 7  # of a heap
STRIDE = WIDEST + 1  # an action is its heap times this, and how many it takes


@dataclass(frozen=True)
class NimState(athenan.PythonState):
    heaps: tuple[int, ...]
    to_move: int = 0
    ply: int = 0

    @property
    def outcomes(self) -> tuple[int, int] | None:
        if any(self.heaps):
            return None
        return (-1, 1) if self.to_move == 0 else (1, -1)

    def legal_actions(self) -> list[int]:
        return [STRIDE * i + n for i, size in enumerate(self.heaps) for n in range(1, size + 1)]

    def play(self, action: int) -> NimState:
        if action not in self.legal_actions():
            raise ValueError(f"Action {action} is not legal here.")
        heaps = list(self.heaps)
        heaps[action // STRIDE] -= action % STRIDE
        return NimState(tuple(heaps), 1 - self.to_move, self.ply + 1)

    def planes(self) -> np.ndarray[Any, Any]:
        planes = np.zeros((len(self.heaps), WIDEST, 2), np.uint8)
        for row, size in enumerate(self.heaps):
            planes[row, :size, 0] = 1
        planes[:, :, 1] = self.to_move
        return planes


class Nim(athenan.PythonGame):
    def __init__(self, heaps: Sequence[int] = (3, 4, 5)) -> None:
        self.heaps = tuple(heaps)
        self.max_plies = sum(heaps)
        self.plane_shape = (len(heaps), WIDEST, 2)

    def initial_state(self) -> NimState:
        return NimState(self.heaps)
