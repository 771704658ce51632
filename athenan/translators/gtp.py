"""GTP: the vertices of boards with stones."""

from __future__ import annotations

import string
from typing import ClassVar

from athenan import _core
from athenan.errors import InputError
from athenan.translators.moves import CELL, Translator

COLUMNS_WITHOUT_I = string.ascii_lowercase.replace("i", "")


class Gtp(Translator):
    """Vertices. Two moves of one colour can follow each other, so every action is a move."""

    protocol = "GTP"
    action_by_action = True
    # Games whose rows GTP counts from the bottom, and those whose columns skip i. Go is written so
    # by its players; Hex and Havannah are written in GTP as by theirs.
    from_the_bottom: ClassVar[set[str]] = {"gomoku", "connect6", "mnk", "tictactoe"}
    without_i: ClassVar[set[str]] = {*from_the_bottom, "othello"}
    swap = "swap-pieces"

    def words(self, state: _core.State, action: int) -> list[str]:
        text, name = state.action_to_string(action), self.game.name
        if text == "swap":
            return [self.swap, text]
        if name in self.without_i and (cell := CELL.fullmatch(text)):
            column, row = string.ascii_lowercase.index(cell[1]), int(cell[2])
            if name in self.from_the_bottom:
                row = self.game.plane_shape[0] + 1 - row
            text = f"{COLUMNS_WITHOUT_I[column]}{row}"
        upper = CELL.fullmatch(text) and (name == "go" or name in self.without_i)
        return [text.upper() if upper else text]


def gtp_colour(player: int) -> str:
    """The first player is black."""
    return "bw"[player]


def player_of_colour(text: str) -> int:
    colours = {"b": 0, "black": 0, "w": 1, "white": 1}
    if text.casefold() not in colours:
        raise InputError(f"'{text}' is no colour; say black or white.")
    return colours[text.casefold()]
