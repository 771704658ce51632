"""Nim in Python: take any number from one heap; who takes the last one wins."""

from dataclasses import dataclass

import numpy as np

import athenan


@dataclass(frozen=True)
class NimState(athenan.PythonState):
    heaps: tuple[int, ...]
    to_move: int = 0
    ply: int = 0

    @property
    def outcomes(self):
        if any(self.heaps):
            return None
        return (-1, 1) if self.to_move == 0 else (1, -1)

    def legal_actions(self):
        return [8 * i + n for i, size in enumerate(self.heaps) for n in range(1, size + 1)]

    def play(self, action):
        if action not in self.legal_actions():
            raise ValueError(f"Action {action} is not legal here.")
        heaps = list(self.heaps)
        heaps[action // 8] -= action % 8
        return NimState(tuple(heaps), 1 - self.to_move, self.ply + 1)

    def planes(self):
        planes = np.zeros((len(self.heaps), 7, 2), np.uint8)
        for row, size in enumerate(self.heaps):
            planes[row, :size, 0] = 1
        planes[:, :, 1] = self.to_move
        return planes


class Nim(athenan.PythonGame):
    def __init__(self, heaps=(3, 4, 5)):
        self.heaps = tuple(heaps)
        self.max_plies = sum(heaps)
        self.plane_shape = (len(heaps), 7, 2)

    def initial_state(self):
        return NimState(self.heaps)
