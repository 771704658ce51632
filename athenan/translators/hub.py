"""Hub: draughts."""

from __future__ import annotations

import re

import numpy as np

from athenan import _core
from athenan.errors import InputError
from athenan.translators.moves import Translator


class Hub(Translator):
    """Draughts as Scan writes it: `32-28`, `28x19x23` with all that is captured, in any order."""

    protocol = "Hub"
    order = "wbWB"  # men and kings, of our channels

    def __init__(self, game: _core.Game) -> None:
        super().__init__(game)
        if game.name != "draughts":
            raise InputError(f"Hub has no words for {game.name}: it is for draughts.")
        variant = str(game.values["variant"])
        self.variant = "normal" if variant == "international" else variant
        rows, columns, _ = game.plane_shape
        # Cell 1 is the first dark one of the last rank; a1 is dark.
        self.cells = [
            (row, column)
            for row in range(rows - 1, -1, -1)
            for column in range(columns)
            if (row + column) % 2 == 0
        ]

    def action(self, state: _core.State, text: str) -> int:
        from_to, captured = as_in_hub(text)
        for action in state.legal_actions():
            if as_in_hub(self.word(state, action)) == (from_to, captured):
                return action
        raise InputError(f"'{text}' is no legal move here.")

    def write_position(self, state: _core.State) -> str:
        planes = state.planes()
        pieces = [
            next((self.order[i] for i in range(4) if planes[row, column, i]), "e")
            for row, column in self.cells
        ]
        return "WB"[state.to_move] + "".join(pieces)

    def read_position(self, text: str) -> _core.State:
        if len(text) != len(self.cells) + 1 or text[0] not in "WB" or set(text[1:]) - set("wbWBe"):
            raise InputError(f"'{text}' is no position of {len(self.cells)} cells.")
        planes = np.zeros(self.game.plane_shape, np.uint8)
        for (row, column), piece in zip(self.cells, text[1:], strict=True):
            if piece != "e":
                planes[row, column, self.order.index(piece)] = 1
        to_move = "WB".index(text[0])
        planes[:, :, 4 + to_move] = 1
        try:
            return self.game.state_from_planes(planes, to_move)
        except ValueError as error:
            raise InputError(f"'{text}' is no position: {error}") from None


def as_in_hub(text: str) -> tuple[list[str], list[str]]:
    """From and to, and what is captured in order."""
    cells = re.split("[-x]", text)
    return cells[:2], sorted(cells[2:])
