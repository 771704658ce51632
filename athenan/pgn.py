"""Games of two as lists of moves under tags: PGN of chess (in SAN) and xiangqi, PDN of draughts."""

from __future__ import annotations

import itertools
import re
import textwrap
from typing import Any

from athenan.errors import InputError
from athenan.notation import pieces_of
from athenan.saved_games import SavedGame

GAMES = ("chess", "xiangqi")
WIDTH = 80
# Number of the variant, who begins, columns, rows, how cells are named: by numbers from the upper
# left, or by letters and numbers from the lower left.
GAME_TYPES = {
    "international": "20,W,10,10,N2,0",
    "brazilian": "26,W,8,8,A0,0",
    "canadian": "27,W,12,12,N2,0",
}
KNIGHT = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]
STRAIGHT = [(1, 0), (0, 1), (-1, 0), (0, -1)]
DIAGONAL = [(1, 1), (1, -1), (-1, -1), (-1, 1)]


def to_pgn(game: SavedGame, states: list[Any]) -> str:
    name = game.game["name"]
    if name == "chess":
        moves = [san(*pair, text) for pair, text in zip(pairs(states), game.actions, strict=True)]
        return record(game, {}, moves, None if game.start is None else fen_of(str(states[0])))
    if game.start is not None:
        raise InputError("PGN of xiangqi is written of games from the initial state alone.")
    moves = [iccs(action) for action in game.actions]
    tags = {"Game": "Chinese Chess", "Format": "ICCS", "Red": game.players[0].text}
    return record(game, tags, moves)


def to_pdn(game: SavedGame, states: list[Any]) -> str:
    if game.start is not None:
        raise InputError("PDN is written of games from the initial state alone.")
    moves = [of_draughts(state, text) for state, text in zip(states, game.actions, strict=False)]
    variant = str(game.game["variant"])
    if variant == "brazilian":
        moves = [re.sub(r"\d+", lambda cell: letters_of(int(cell[0])), move) for move in moves]
    return record(game, {"GameType": GAME_TYPES[variant]}, moves)


def record(game: SavedGame, more: dict[str, str], moves: list[str], fen: str | None = None) -> str:
    """Tags, moves with their numbers, result."""
    first = None if game.outcomes is None else game.outcomes[0]
    result = {None: "*", 1: "1-0", 0: "1/2-1/2", -1: "0-1"}[first]
    white, black = game.players
    tags = {
        "Event": game.event or "?",
        "Site": "?",
        "Date": game.date[:10].replace("-", ".") or "????.??.??",
        "Round": str(game.number),
        "White": white.text,
        "Black": black.text,
        "Result": result,
        **more,
        **({"SetUp": "1", "FEN": fen} if fen is not None else {}),
        "WhiteVersion": version_of(white),
        "BlackVersion": version_of(black),
        "Rules": ", ".join(f"{key}={value}" for key, value in game.game.items() if key != "name"),
        "Opening": f"{game.opening} plies",
        "Annotator": f"athenan {game.athenan}",
        "Termination": "normal" if game.forfeit is None else f"forfeit: {game.forfeit.sentence}",
    }
    lines = [f'[{key} "{quoted(text)}"]' for key, text in tags.items() if text]
    # From another position black may begin, and the count goes on from its own.
    number, black_moves = 1, False
    if fen is not None:
        fields = fen.split()
        number, black_moves = int(fields[5]), fields[1] == "b"
    words = [f"{number}..."] if black_moves and moves else []
    for move in moves:
        words += [move] if black_moves else [f"{number}.", move]
        number += black_moves
        black_moves = not black_moves
    text = textwrap.fill(
        " ".join([*words, result]), WIDTH, break_on_hyphens=False, break_long_words=False
    )
    return "\n".join([*lines, "", text, "", ""])


def version_of(player: Any) -> str:
    seed = f", seed {player.seed}" if player.seed is not None else ""
    return f"{player.version or '?'}{seed}"


def quoted(text: str) -> str:
    return text.replace("\n", " ").replace("\\", "\\\\").replace('"', '\\"')


def pairs(states: list[Any]) -> list[tuple[Any, Any]]:
    return list(itertools.pairwise(states))


# ---- Chess ---------------------------------------------------------------------------------------


def fen_of(text: str) -> str:
    found = re.search(r"^(?:FEN )?(\S+/\S+ [wb] \S+ \S+ \d+ \d+)$", text, re.MULTILINE)
    if not found:
        raise InputError(f"This is no position of chess as FEN: {text}.")
    return found[1]


def san(state: Any, after: Any, action: str) -> str:
    """The action, such as `e7e8q`, in standard algebraic notation."""
    pieces = pieces_of(fen_of(str(state)).split()[0])
    origin, to = action[:2], action[2:4]
    kind = pieces[origin].upper()
    takes = pieces[to] != " " or (kind == "P" and origin[0] != to[0])
    if kind == "K" and abs(ord(origin[0]) - ord(to[0])) == 2:
        text = "O-O" if to[0] == "g" else "O-O-O"
    elif kind == "P":
        text = (
            (f"{origin[0]}x" if takes else "") + to + (f"={action[4:].upper()}" * (action[4:] > ""))
        )
    else:
        text = f"{kind}{distinction(state, pieces, origin, to)}{'x' * takes}{to}"
    if not is_check(pieces_of(fen_of(str(after)).split()[0]), "Kk"[after.to_move]):
        return text
    return text + ("#" if after.is_terminal and any(after.outcomes) else "+")


def distinction(state: Any, pieces: dict[str, str], origin: str, to: str) -> str:
    """What tells this piece from others of its kind that may go there: column, row, or both."""
    texts = [state.action_to_string(action) for action in state.legal_actions()]
    others = {t[:2] for t in texts if t[2:4] == to and pieces[t[:2]] == pieces[origin]} - {origin}
    if not others:
        return ""
    if all(other[0] != origin[0] for other in others):
        return origin[0]
    return origin[1] if all(other[1] != origin[1] for other in others) else origin


def is_check(pieces: dict[str, str], king: str) -> bool:
    """Whether that king is attacked."""
    cell = next(cell for cell, piece in pieces.items() if piece == king)
    column, row = "abcdefgh".index(cell[0]), int(cell[1])

    def enemy(across: int, up: int) -> str:
        """The kind of the other side's piece there, a blank, or `-` for anything else."""
        place = f"{'abcdefgh'[column + across]}{row + up}" if 0 <= column + across < 8 else ""
        piece = pieces.get(place, "-")
        if piece == " ":
            return piece
        return piece.upper() if piece.isalpha() and piece.isupper() != king.isupper() else "-"

    def slides(steps: list[tuple[int, int]], kinds: str) -> bool:
        for across, up in steps:
            far = 1
            while (found := enemy(far * across, far * up)) == " ":
                far += 1
            if found in kinds or (found == "K" and far == 1):
                return True
        return False

    forward = 1 if king == "K" else -1
    return (
        any(enemy(*step) == "N" for step in KNIGHT)
        or any(enemy(side, forward) == "P" for side in (-1, 1))
        or slides(STRAIGHT, "RQ")
        or slides(DIAGONAL, "BQ")
    )


def iccs(action: str) -> str:
    """`b8b10` of xiangqi with rows from 0: `B7-B9`."""
    found = re.fullmatch(r"([a-i])(\d+)([a-i])(\d+)", action)
    assert found is not None
    from_column, from_row, to_column, to_row = found.groups()
    return f"{from_column}{int(from_row) - 1}-{to_column}{int(to_row) - 1}".upper()


# ---- Draughts ------------------------------------------------------------------------------------


def of_draughts(state: Any, action: str) -> str:
    """`21x32x27`, from 21 to 32 over 27, as `21x32`; where another capture has the same ends, with
    all cells between where it stands in turn."""
    if "x" not in action:
        return action
    ends = action.split("x")[:2]
    texts = [state.action_to_string(a) for a in state.legal_actions()]
    if sum(text.split("x")[:2] == ends for text in texts) == 1:
        return "x".join(ends)
    return "x".join(str(cell) for cell in landings(state, [int(n) for n in action.split("x")]))


def letters_of(number: int) -> str:
    """The cell of a board of 8 x 8 that has this number."""
    row, place = divmod(number - 1, 4)
    return f"{'abcdefgh'[2 * place + (row + 1) % 2]}{8 - row}"


def landings(state: Any, numbers: list[int]) -> list[int]:
    """Where the piece stands after each of its jumps; a king may be far before and behind them."""
    rows, columns = state.game.plane_shape[:2]
    planes = state.planes()[::-1]
    cells: dict[tuple[int, int], int] = {}  # rows from the top, as the numbers go
    for row in range(rows):
        for column in range(columns):
            if (row + column) % 2:
                cells[row, column] = len(cells) + 1
    places = {number: place for place, number in cells.items()}
    origin, to, taken = places[numbers[0]], places[numbers[1]], {places[n] for n in numbers[2:]}
    occupied = {place for place in cells if planes[place][:4].any()} - {origin}
    is_king = bool(planes[origin][2:4].any())

    def beyond(place: tuple[int, int], step: tuple[int, int]) -> tuple[int, int]:
        return place[0] + step[0], place[1] + step[1]

    def paths(
        at: tuple[int, int], left: frozenset[tuple[int, int]]
    ) -> list[tuple[int, int]] | None:
        if not left:
            return [at] if at == to else None
        for step in DIAGONAL:
            over = beyond(at, step)
            while is_king and over in cells and over not in occupied:
                over = beyond(over, step)
            if over not in left:
                continue
            place = beyond(over, step)
            while place in cells and place not in occupied:
                if (rest := paths(place, left - {over})) is not None:
                    return [at, *rest]
                if not is_king:
                    break
                place = beyond(place, step)
        return None

    found = paths(origin, frozenset(taken))
    assert found is not None
    return [cells[place] for place in found]
