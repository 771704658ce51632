"""My game: two players put stones on a board in turn; a full line of one's own stones wins.

A game to start from. Change the rules below, then see what is still to mend by

    athenan check game=./my_game.py:MyGame

and use it as any other game:

    athenan solve game=./my_game.py:MyGame
    athenan train game=./my_game.py:MyGame game.size=4 minutes=5
    athenan play game=./my_game.py:MyGame checkpoint=latest
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import athenan

EMPTY = -1  # a cell that no player has a stone on


# Frozen, and of numbers and tuples only: a state never changes, and its repr, of which the key is
# made, tells all that the rest of the game depends on.
@dataclass(frozen=True)
class MyState(athenan.PythonState):
    size: int
    cells: tuple[int, ...]  # row by row: a player, or EMPTY
    to_move: int = 0  # players count from 0
    ply: int = 0  # actions so far

    @property
    def outcomes(self) -> tuple[int, int] | None:
        """None before the end, then -1 (lost), 0 (drawn) or 1 (won) for each player."""
        for line in lines(self.size):
            owners = {self.cells[cell] for cell in line}
            if len(owners) == 1 and EMPTY not in owners:
                return (1, -1) if owners == {0} else (-1, 1)
        return None if EMPTY in self.cells else (0, 0)

    def legal_actions(self) -> list[int]:
        """Whole numbers, ascending; none at the end. Here an action is the cell it fills."""
        if self.is_terminal:
            return []
        return [cell for cell, owner in enumerate(self.cells) if owner == EMPTY]

    def play(self, action: int) -> MyState:
        """A new state; this one stays as it is."""
        if action not in self.legal_actions():
            raise ValueError(f"Action {action} is not legal here.")
        cells = list(self.cells)
        cells[action] = self.to_move
        return MyState(self.size, tuple(cells), 1 - self.to_move, self.ply + 1)

    def planes(self) -> np.ndarray[Any, np.dtype[np.uint8]]:
        """What the network sees: zeros and ones that tell the board and who moves."""
        cells = np.array(self.cells).reshape(self.size, self.size)
        planes = np.zeros((self.size, self.size, 3), np.uint8)
        planes[:, :, 0] = cells == 0
        planes[:, :, 1] = cells == 1
        planes[:, :, 2] = self.to_move
        return planes

    # The rest can be left out; it makes the game pleasant to read and play.

    def action_to_string(self, action: int) -> str:
        """Column and row, as b3; read back by string_to_action, which needs no writing."""
        row, column = divmod(action, self.size)
        return f"{chr(ord('a') + column)}{row + 1}"

    def __str__(self) -> str:
        """The board that `athenan play` shows."""
        letters = " ".join(chr(ord("a") + column) for column in range(self.size))
        rows = [f"  {letters}"]
        for row in range(self.size):
            owners = self.cells[row * self.size : (row + 1) * self.size]
            rows.append(f"{row + 1} " + " ".join("xo."[owner] for owner in owners))
        return "\n".join(rows)


def lines(size: int) -> list[list[int]]:
    """The cells of each row, column and diagonal."""
    rows = [[row * size + column for column in range(size)] for row in range(size)]
    columns = [list(column) for column in zip(*rows, strict=True)]
    diagonals = [
        [i * size + i for i in range(size)],
        [i * size + size - 1 - i for i in range(size)],
    ]
    return [*rows, *columns, *diagonals]


class MyGame(athenan.PythonGame):
    """Its arguments are the game's options: game.size=4."""

    def __init__(self, size: int = 3) -> None:
        if not 2 <= size <= 9:
            raise ValueError(f"size is from 2 to 9, not {size}")
        self.size = size
        self.max_plies = size * size  # of the longest game; no game may be longer
        self.plane_shape = (size, size, 3)
        # Learning sees each state in all of these; they can be left out, too.
        cells = np.arange(size * size).reshape(size, size)
        self.symmetries = [
            athenan.Symmetry(image.ravel().tolist(), [0, 1, 2])
            for turns in range(4)
            for image in (np.rot90(cells, turns), np.rot90(cells, turns).T)
        ]

    def initial_state(self) -> MyState:
        return MyState(self.size, (EMPTY,) * self.size**2)
