"""What stays the same of a drawn board: its cells, lines and edges, and their names."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from athenan.drawn_pieces import FONT, mixed

if TYPE_CHECKING:
    from athenan.boards import Board, Cell

CELL = 40.0  # from a cell to the next one in its row
RIM = 28.0  # around the cells, with their names
STARS = {9: (2, 4, 6), 13: (3, 6, 9), 15: (3, 7, 11), 19: (3, 9, 15)}
FILLS = {  # by the kind of cell: class, colour, line
    "plain": ("plain", "#f5f1e8", "#c9c0ae"),
    "levels": ("plain", "#e3edd8", "#b9c8a8"),
    "green": ("green", "#3a9463", "#2a7149"),
    "dark": ("dark", "#b48a63", "none"),
    "light": ("light", "#f0dfc4", "none"),
    "trap": ("trap", "#c98f86", "#c9c0ae"),
}


def ground_of(board: Board) -> str:
    """What stays the same in every state: the cells and their names."""
    kind = "hexagon" if board.hexagonal and board.look.cells == "plain" else board.look.cells
    parts = [*background(board, kind), *decorations(board)]
    for number, cell in board.cells.items():
        parts.append(shape(board, kind, number, cell))
    return "".join([*parts, *names_drawn(board)])


def background(board: Board, kind: str) -> list[str]:
    low = RIM - 4
    wide, high = board.width - 2 * low, board.height - 2 * low
    frame = f"x='{low:g}' y='{low:g}' width='{wide:g}' height='{high:g}'"
    if kind == "point":
        return [f"<rect class='wood' {frame} rx='4' fill='#e6c084'/>", *lines(board)]
    if kind == "hole" and not board.hexagonal:
        return [f"<rect class='frame' {frame} rx='10' fill='#3468b0'/>"]
    return []


def shape(board: Board, kind: str, number: int, cell: Cell) -> str:
    x, y = cell.x, cell.y
    if kind == "point":
        return ""
    if kind == "hole":
        home = homes(board).get(number)
        fill = mixed(board.colour(home), "#ffffff", 0.65) if home is not None else "#ece7dc"
        return f"<circle class='hole' cx='{x:g}' cy='{y:g}' r='15.5' fill='{fill}'/>"
    if kind == "hexagon":
        corners = hexagon(x, y, CELL / math.sqrt(3))
        return f"<polygon class='plain' points='{corners}' fill='#f5f1e8' stroke='#c9c0ae'/>"
    if kind == "checkered":
        kind = "light" if (cell.across // 2 + cell.down - board.rows) % 2 == 0 else "dark"
    elif "traps" in board.look.drawn and cell.name in ("c3", "c6", "f3", "f6"):
        kind = "trap"
    name, fill, line = FILLS[kind]
    return (
        f"<rect class='{name}' x='{x - CELL / 2:g}' y='{y - CELL / 2:g}' width='{CELL:g}' "
        f"height='{CELL:g}' fill='{fill}' stroke='{line}'/>"
    )


def hexagon(x: float, y: float, radius: float) -> str:
    """Its corners, one of them on top."""
    return " ".join(
        f"{x + radius * math.sin(i * math.pi / 3):.1f},{y + radius * math.cos(i * math.pi / 3):.1f}"
        for i in range(6)
    )


def homes(board: Board) -> dict[int, int]:
    """Who stands where at the start, in games whose aim such places are."""
    if "homes" not in board.look.drawn:
        return {}
    standing = board.standing(board.game.initial_state())
    return {cell: p.player for cell, p in standing.items() if p.player is not None}


def lines(board: Board) -> list[str]:
    """Of a board whose cells are points: through rows and columns."""
    left, right = board.rim + CELL / 2, board.width - board.rim - CELL / 2
    top, bottom = board.rim + CELL / 2, board.height - board.rim - CELL / 2
    columns = {cell.x for cell in board.cells.values()}
    strokes = [f"M{left:g} {cell_y:g}H{right:g}" for cell_y in row_heights(board)]
    strokes += [f"M{x:g} {top:g}V{bottom:g}" for x in sorted(columns)]
    if "loops" in board.look.drawn:
        for r in (CELL, 2 * CELL):
            for x, y, across, down in (
                (left, top, 1, 1), (right, top, -1, 1), (left, bottom, 1, -1),
                (right, bottom, -1, -1),
            ):  # fmt: skip
                sweep = 1 if across * down < 0 else 0
                strokes.append(
                    f"M{x + across * r:g} {y:g}A{r:g} {r:g} 0 1 {sweep} {x:g} {y + down * r:g}"
                )
    parts = [
        f"<path class='lines' d='{''.join(strokes)}' fill='none' stroke='#6d5331' "
        "stroke-width='1.2'/>"
    ]
    if "river" in board.look.drawn:
        x, y, size = left + 3 * CELL, top, 2 * CELL
        cross = "".join(
            f"M{x:g} {a:g}l{size:g} {size:g}M{x + size:g} {a:g}l-{size:g} {size:g}"
            for a in (y, bottom - size)
        )
        parts += [
            f"<rect class='wood' x='{left + 1:g}' y='{top + 4 * CELL + 1:g}' "
            f"width='{right - left - 2:g}' height='{CELL - 2:g}' fill='#e6c084'/>",
            f"<path class='lines' d='{cross}' stroke='#6d5331' stroke-width='1.2'/>",
        ]
    if "stars" in board.look.drawn and len(columns) == board.rows:
        parts += [
            f"<circle class='star' cx='{left + CELL * i:g}' cy='{top + CELL * j:g}' r='3.2' "
            "fill='#6d5331'/>"
            for i, j in stars(board.rows)
        ]
    return parts


def row_heights(board: Board) -> list[float]:
    return sorted({cell.y for cell in board.cells.values()})


def decorations(board: Board) -> list[str]:
    """The four edges of hex, in the colour of whose they are."""
    if "edges" not in board.look.drawn:
        return []
    columns = board.game.plane_shape[1]
    parts = []
    for number, cell in board.cells.items():
        row, column = divmod(number, columns)
        for player, x, y in (
            *([(0, 0, -7)] if row == 0 else []),
            *([(0, 0, 7)] if row == board.rows - 1 else []),
            *([(1, -7, 3)] if column == 0 else []),
            *([(1, 7, -3)] if column == columns - 1 else []),
        ):
            parts.append(
                f"<polygon points='{hexagon(cell.x + x, cell.y + y, 23.1)}' "
                f"fill='{board.colour(player)}'/>"
            )
    return parts


def names_drawn(board: Board) -> list[str]:
    if "numbers" in board.look.drawn:
        return [
            f"<text class='number' x='{cell.x - 17:g}' y='{cell.y - 10:g}' font-size='8.5' "
            f"fill='#fff' fill-opacity='.8' {FONT}>{cell.name}</text>"
            for cell in board.cells.values()
            if cell.name.isdigit()
        ]
    if any(name.isdigit() for name in board.named) and not board.look.drops:
        return []  # cells have numbers
    parts, seen_rows, seen_columns = [], set(), set()
    columns = board.game.plane_shape[1]
    shift = (-CELL * 0.55, -board.step * 1.1) if board.hexagonal else (0.0, -CELL)
    aside = CELL * (1.02 if board.hexagonal else 0.84)
    if board.hexagonal and len(board.cells) < len(board.game.places):
        shift = (CELL / 2, -board.step)  # columns slant down to the left
    for number, cell in sorted(board.cells.items(), key=lambda item: (item[1].y, item[1].x)):
        row, column = divmod(number, columns)
        letters = cell.name.removesuffix(str(row + 1))
        above = cell.x + shift[0] * 0.9, cell.y + shift[1] * 0.86
        beside = cell.x - aside, cell.y
        for text, fresh, (x, y) in (
            (letters, column not in seen_columns, above),
            (str(row + 1), row not in seen_rows and not board.look.drops, beside),
        ):
            if fresh:
                parts.append(
                    f"<text class='label' x='{x:.1f}' y='{y + 4:.1f}' font-size='12' "
                    f"text-anchor='middle' fill='#8a8578' {FONT}>{escape(text)}</text>"
                )
        seen_rows.add(row)
        seen_columns.add(column)
    return parts


def stars(rows: int) -> list[tuple[int, int]]:
    """The marked points of such a board: on large ones nine, on others five."""
    at = STARS.get(rows)
    if at is None:
        return []
    middle = at[1]
    return [
        (i, j) for i in at for j in at if rows == 19 or i == j == middle or middle not in (i, j)
    ]
