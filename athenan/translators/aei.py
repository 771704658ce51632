"""AEI: Arimaa."""

from __future__ import annotations

import re

import numpy as np

from athenan import _core
from athenan.errors import InputError
from athenan.translators.moves import Translator


class Aei(Translator):
    """Arimaa: a whole setup, or the steps of a turn with the pieces that fall into traps."""

    protocol = "AEI"

    def __init__(self, game: _core.Game) -> None:
        super().__init__(game)
        if game.name != "arimaa":
            raise InputError(f"AEI has no words for {game.name}: it is for arimaa.")

    def write(self, state: _core.State, actions: list[int]) -> str:
        words = []
        for action in actions:
            word = state.action_to_string(action)
            after = state.play(action)
            if word != "pass":  # a turn just ends
                words += [word, *fallen(state, after, word)]
            setting_up = state.part_of_turn == "set up a piece"
            state = after
        return " ".join(words + (rabbits(state, words[0]) if setting_up else []))

    def read(self, state: _core.State, text: str) -> list[int]:
        words = [word for word in text.split() if not re.fullmatch(r"[A-Za-z][a-h][1-8]x", word)]
        actions, player, before = list[int](), state.to_move, state
        rest: list[str] = []
        if state.part_of_turn == "set up a piece":
            words = sorted(words, key=lambda word: SETUP_ORDER.find(word[:1].lower()))
            words, rest = words[:8], words[8:]
        for word in words:
            if state.is_terminal:
                return actions  # at the longest game's last ply, which AEI does not know of
            if state.to_move != player:
                raise InputError(f"'{text}' goes on after the end of the turn.")
            try:
                actions.append(state.string_to_action(word))
            except ValueError:
                raise InputError(f"'{word}' of '{text}' is no legal step here.") from None
            state = state.play(actions[-1])
        if not self.is_whole(before, state):
            try:
                actions.append(state.string_to_action("pass"))
            except ValueError:
                raise InputError(f"'{text}' is no whole turn.") from None
        elif rest and sorted(rest) != rabbits(state, words[0]):
            raise InputError(f"'{text}' is no setup: eight rabbits stand beside the others.")
        return actions

    def write_position(self, state: _core.State) -> str:
        if state.part_of_turn not in ("step 1 of 4", "set up a piece"):
            raise InputError("AEI has no words for a turn that is not over.")
        lines = str(state).splitlines()[1:9]
        rows = [re.sub(r"[\s\[\]]", "", line)[1:].replace(".", " ") for line in lines]
        return f"{'gs'[state.to_move]} [{''.join(rows)}]"

    def read_position(self, text: str) -> _core.State:
        found = re.fullmatch(r"([gswb]) \[(.{64})\]", text)
        if found is None:
            raise InputError(f"'{text}' is no position of AEI.")
        side = 0 if found[1] in "gw" else 1
        board = re.sub("[ xX]", ".", found[2])
        setting_up = sum(piece.isupper() == (side == 0) for piece in board if piece != ".") == 0
        rows = [f"{8 - i} {' '.join(board[8 * i : 8 * i + 8])}" for i in range(8)]
        ply = 8 * (side if setting_up else 2)
        phase = "setting up" if setting_up else "steps left: 4"
        lines = ["  a b c d e f g h", *rows, f"ply {ply}, {'Ee'[side]} to move, {phase}"]
        try:
            return self.game.state_from_string("\n".join(lines))
        except ValueError as error:
            raise InputError(f"'{text}' is no position: {error}") from None


SETUP_ORDER = "emhdcr"  # as we put the pieces up; rabbits fill what is left


def fallen(before: _core.State, after: _core.State, word: str) -> list[str]:
    """What fell into traps by a step, as AEI says it: `rc3x`."""
    planes = before.planes()[:, :, :12], after.planes()[:, :, :12]
    gone = planes[0].sum(axis=(0, 1)).astype(int) - planes[1].sum(axis=(0, 1))
    found = []
    for channel in np.flatnonzero(gone):
        for row, column in ((2, 2), (2, 5), (5, 2), (5, 5)):
            name = f"{'abcdefgh'[column]}{row + 1}"
            piece = before.game.channels[channel].removeprefix("piece ")
            arrived = word[0] == piece and step_target(word) == name
            if (planes[0][row, column, channel] or arrived) and not planes[1][row, column].any():
                found.append(f"{piece}{name}x")
                break
    return found


def step_target(step: str) -> str:
    """`d3` of `Ed2n`; of a setup its cell."""
    if len(step) < 4:
        return step[1:]
    right, up = {"n": (0, 1), "e": (1, 0), "s": (0, -1), "w": (-1, 0)}[step[3]]
    return f"{chr(ord(step[1]) + right)}{int(step[2]) + up}"


def rabbits(state: _core.State, word: str) -> list[str]:
    """Those that a setup put on the cells that were left, as AEI says it; with one word of it."""
    name = "R" if word[0].isupper() else "r"
    rows, columns = np.nonzero(state.planes()[:, :, state.game.channels.index(f"piece {name}")])
    cells = zip(columns, rows, strict=True)
    return sorted(f"{name}{'abcdefgh'[column]}{row + 1}" for column, row in cells)
