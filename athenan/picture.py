"""A game as a picture, for TensorBoard: its last board, and the search's value at every ply."""

from __future__ import annotations

from typing import Any

import numpy as np

from athenan import _core
from athenan.records import GameRecord

SIZE = 20  # pixels of a letter
CELL = 12  # pixels from letter to letter
LINE = 26  # from line to line
MARGIN = 16
PLOT = (520, 200)  # width and height of the curve


def picture_of(game: _core.Game, record: GameRecord) -> np.ndarray[Any, Any]:
    """The last board of a game with the search's values along it, in the first player's view."""
    state = game.initial_state()
    words, values = [], record.root_values[:, 0].tolist()
    for action, value in zip(record.actions.tolist(), values, strict=True):
        words.append(f"{state.action_to_string(action)} {value:+.2f}")
        state = state.play(action)
    lines = ["  ".join(words[i : i + 4]) for i in range(0, len(words), 4)]
    return game_image(f"game {record.number}\n{state}", "\n".join(lines), values)


def game_image(board: str, moves: str, values: list[float]) -> np.ndarray[Any, Any]:
    """[height, width, 3] of 0 to 255: the board, beside it the curve of the values over the moves.
    Wide rather than high, since TensorBoard fits pictures to the height of a card."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(size=SIZE)
    lines, move_lines = board.splitlines(), moves.splitlines()
    left = MARGIN + CELL * max(len(line) for line in lines) + 2 * MARGIN
    top = MARGIN + PLOT[1] + MARGIN
    height = max(LINE * len(lines), top + 3 * LINE) + 2 * MARGIN
    move_lines = move_lines[-((height - top - MARGIN) // LINE) :]  # the last ones that fit
    wide = max([PLOT[0], *(CELL * len(line) for line in move_lines)])
    image = Image.new("RGB", (left + wide + MARGIN, height), "white")
    draw = ImageDraw.Draw(image)
    for x, y, part in ((MARGIN, MARGIN, lines), (left, top, move_lines)):
        for row, line in enumerate(part):
            for column, letter in enumerate(line):  # one by one: the font is not monospaced
                at = (x + CELL * column + CELL / 2, y + LINE * row)
                draw.text(at, letter, fill="black", font=font, anchor="ma")
    draw_values(draw, values, (left, MARGIN, left + PLOT[0], MARGIN + PLOT[1]), font)
    return np.asarray(image, np.uint8)


def draw_values(draw: Any, values: list[float], box: tuple[int, int, int, int], font: Any) -> None:
    left, top, right, bottom = box
    axis = left + 3 * SIZE
    scale = (bottom - top) / 2
    for level in (1, 0, -1):
        y = top + scale * (1 - level)
        draw.line((axis, y, right, y), fill="gray" if level == 0 else "lightgray")
        draw.text((left, y - SIZE / 2), f"{level:+d}" if level else "0", fill="gray", font=font)
    step = (right - axis) / max(1, len(values) - 1)
    points = [(axis + step * i, top + scale * (1 - value)) for i, value in enumerate(values)]
    if len(points) > 1:
        draw.line(points, fill="steelblue", width=3)
    for x, y in points:
        draw.ellipse((x - 3, y - 3, x + 3, y + 3), fill="steelblue")
