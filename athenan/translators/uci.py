"""UCI, with the variants, moves and positions of Fairy-Stockfish."""

from __future__ import annotations

import re
import string

import numpy as np

from athenan import _core
from athenan.errors import InputError
from athenan.translators.moves import CELL, Translator

# How Forsyth-Edwards notation of the variants writes our pieces; a row is a rank from the last.
FEN_PIECES = {
    "breakthrough": {"x": "P", "o": "p"},
    "clobber": {"x": "P", "o": "p"},
    "ataxx": {"x": "P", "o": "p"},
    "othello": {"x": "P", "o": "p"},
    "amazons": {"x": "Q", "o": "q", "#": "*"},
}
OWN_FEN = ("chess", "xiangqi")  # their own text has it


class Uci(Translator):
    """Moves and FEN as Fairy-Stockfish writes them."""

    protocol = "UCI"

    def __init__(self, game: _core.Game) -> None:
        super().__init__(game)
        self.rows, self.columns, _ = game.plane_shape
        self.variant = uci_variant(game)
        self.actions_a_move = 2 if game.name == "amazons" else 1
        # Othello counts its rows from the top, UCI from the bottom.
        self.from_the_top = game.name == "othello"

    def write(self, state: _core.State, actions: list[int]) -> str:
        if self.actions_a_move == 2:
            move, arrow = actions
            after = state.play(move)
            cells = self.word(state, move), self.word(after, arrow)
            return f"{cells[0]},{target(cells[0])}{cells[1]}"
        return super().write(state, actions)

    def read(self, state: _core.State, text: str) -> list[int]:
        if self.actions_a_move == 1:
            return super().read(state, text)
        first, _, second = text.strip().partition(",")
        move = self.action(state, first)
        after, to = state.play(move), target(self.word(state, move))
        if not second.casefold().startswith(to):
            raise InputError(f"'{text}' is no legal move here.")
        return [move, self.action(after, second[len(to) :])]

    def words(self, state: _core.State, action: int) -> list[str]:
        text = state.action_to_string(action)
        if text == "pass":  # from a cell to itself: the first own one, as Fairy-Stockfish does
            return [*(2 * cell for cell in self.own_cells(state)), "0000", text]
        cell = CELL.fullmatch(text)
        if cell is None or self.game.name not in ("ataxx", "othello"):
            return [text]
        row = int(cell[2])
        square = f"{cell[1]}{self.rows + 1 - row if self.from_the_top else row}"
        return [f"P@{square}", square]

    def own_cells(self, state: _core.State) -> list[str]:
        """From the first rank on."""
        board = self.board(state)
        own = "P" if state.to_move == 0 else "p"
        return [
            f"{string.ascii_lowercase[column]}{rank + 1}"
            for rank, row in enumerate(reversed(board))
            for column, piece in enumerate(row)
            if piece == own
        ]

    def write_position(self, state: _core.State) -> str:
        if self.game.name in OWN_FEN:
            return str(state).rpartition("FEN ")[2].strip()
        if state.part_of_turn.startswith("shoot"):
            raise InputError("UCI has no words for a turn that is not over.")
        ranks = "/".join(
            re.sub(r"\.+", lambda gap: str(len(gap[0])), row) for row in self.board(state)
        )
        if self.game.name == "othello":  # discs that fall from the hand; there are always enough
            hand = self.rows * self.columns - 2
            ranks += f"[{'P' * hand}{'p' * hand}]"
        quiet = re.search(r"plies without a clone: (\d+)", str(state))
        turn = state.ply // (2 * self.actions_a_move) + 1
        return f"{ranks} {'wb'[state.to_move]} - - {quiet[1] if quiet else 0} {turn}"

    def read_position(self, text: str) -> _core.State:
        fields = text.split()
        if len(fields) < 2 or fields[1] not in ("w", "b"):
            raise InputError(f"'{text}' is no FEN.")
        try:
            if self.game.name in OWN_FEN:
                return self.game.state_from_string(text)
            counters = [int(field) for field in fields[2:] if field.isdecimal()]
            quiet, turn = counters if len(counters) == 2 else (0, 1)
            to_move = "wb".index(fields[1])
            turn = min(turn, self.game.max_plies)
            ply = self.actions_a_move * (2 * max(0, turn - 1) + to_move)
            planes = self.planes(re.sub(r"\[.*\]", "", fields[0]), to_move)
            state = self.game.state_from_planes(planes, ply)
            if quiet and self.game.name == "ataxx":
                state = self.game.state_from_string(f"{state}, plies without a clone: {quiet}")
        except InputError:
            raise
        except ValueError as error:
            raise InputError(f"'{text}' is no FEN: {error}") from None
        return state

    def board(self, state: _core.State) -> list[str]:
        """Ranks from the last to the first, pieces as in FEN, a point where there is none."""
        planes, names = state.planes(), self.piece_names()
        cells = np.full((self.rows, self.columns), ".")
        for channel, piece in names.items():
            cells[planes[:, :, channel] == 1] = piece
        ranks = ["".join(row) for row in cells]
        return ranks if self.from_the_top else ranks[::-1]

    def planes(self, placement: str, to_move: int) -> np.ndarray:
        ranks = placement.split("/")
        # A gap that is wider than the board stays as it is, and is too long or no piece.
        rows = [re.sub(r"\d{1,2}", lambda gap: "." * int(gap[0]), rank) for rank in ranks]
        if len(rows) != self.rows or any(len(row) != self.columns for row in rows):
            raise InputError(f"'{placement}' is no board of {self.rows} × {self.columns} cells.")
        if not self.from_the_top:
            rows.reverse()
        planes = np.zeros(self.game.plane_shape, np.uint8)
        channels = {piece: channel for channel, piece in self.piece_names().items()}
        for r, row in enumerate(rows):
            for c, piece in enumerate(row):
                if piece != ".":
                    if piece not in channels:
                        raise InputError(f"'{piece}' is no piece of {self.game.name}.")
                    planes[r, c, channels[piece]] = 1
        planes[:, :, len(self.game.channels) - 2 + to_move] = 1
        return planes

    def piece_names(self) -> dict[int, str]:
        """Channel to piece."""
        pieces = FEN_PIECES[self.game.name]
        named = [name.removeprefix("piece ") for name in self.game.channels]
        return {i: pieces[name] for i, name in enumerate(named) if name in pieces}


def target(move: str) -> str:
    """Where a piece goes: `a10` of `d7a10`."""
    cells = ["".join(cell) for cell in CELL.findall(move)]
    return cells[1]


def uci_variant(game: _core.Game) -> str:
    """The UCI_Variant. Where no program knows our board by a name it has one of the same kind."""
    name, (rows, columns, _) = game.name, game.plane_shape
    size = str(rows) if rows == columns else f"{columns}x{rows}"
    usual = {
        "chess": "8", "xiangqi": "9x10", "breakthrough": "8", "ataxx": "7", "amazons": "10",
        "clobber": "5x6", "othello": "8",
    }  # fmt: skip
    if name not in usual:
        raise InputError(f"UCI has no words for {name}: it is for {', '.join(sorted(usual))}.")
    variant = "flipello" if name == "othello" else name
    return variant if size == usual[name] else f"{variant}{size}"
