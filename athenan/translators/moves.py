"""What all protocols have: one game's moves and positions in the words of another program.

A *move* is what a protocol says at once. It is one or several of our actions: in UCI's Amazons a
queen's move and its arrow, in AEI a setup or up to four steps; in GTP always one. `write` and
`read` turn actions into a move's text and back, each from the state that the move begins in.
"""

from __future__ import annotations

import re
from typing import ClassVar

from athenan import _core
from athenan.errors import InputError

CELL = re.compile(r"([a-z])(\d+)")


class Translator:
    """One game's words in one protocol. The text of a move that is no legal one here, and of a
    position that is none, is an InputError."""

    protocol: ClassVar[str]
    action_by_action: ClassVar[bool] = False

    def __init__(self, game: _core.Game) -> None:
        self.game = game

    def is_whole(self, before: _core.State, after: _core.State) -> bool:
        """Whether the actions from one state to the other are a whole move."""
        over = after.is_terminal or after.to_move != before.to_move
        return self.action_by_action or over

    def write(self, state: _core.State, actions: list[int]) -> str:
        """The move's text."""
        assert len(actions) == 1
        return self.word(state, actions[0])

    def read(self, state: _core.State, text: str) -> list[int]:
        """The actions of a move."""
        return [self.action(state, text.strip())]

    def moves(self, start: _core.State, actions: list[int]) -> list[str]:
        """The texts of a line's moves. A last one that is not whole yet is an InputError."""
        written: list[str] = []
        before, state, move = start, start, list[int]()
        for action in actions:
            move.append(action)
            state = state.play(action)
            if self.is_whole(before, state):
                written.append(self.write(before, move))
                before, move = state, []
        if move:
            raise InputError(f"{self.protocol} has no words for a turn that is not over.")
        return written

    def write_position(self, state: _core.State) -> str:
        raise InputError(f"{self.protocol} has no text for a position of {state.game.name}.")

    def read_position(self, text: str) -> _core.State:
        raise InputError(f"'{text}' cannot be read: {self.protocol} has no text for a position.")

    def words(self, state: _core.State, action: int) -> list[str]:
        """One action as the protocol writes it, then as some programs do."""
        return [state.action_to_string(action)]

    def word(self, state: _core.State, action: int) -> str:
        return self.words(state, action)[0]

    def action(self, state: _core.State, text: str) -> int:
        """The legal action of this text, in any case of its letters where that is clear."""
        wanted, folded = text, list[int]()
        for action in state.legal_actions():
            words = self.words(state, action)
            if wanted in words:
                return action
            if wanted.casefold() in (word.casefold() for word in words):
                folded.append(action)
        if len(folded) == 1:
            return folded[0]
        raise InputError(f"'{text}' is no legal move here.")
