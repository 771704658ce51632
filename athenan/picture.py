"""Pictures for TensorBoard: a game with the search's value at every ply, strength over a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from athenan import _core
from athenan.records import GameRecord

SIZE = 20  # pixels of a letter
CELL = 12  # pixels from letter to letter
LINE = 26  # from line to line
MARGIN = 16
COLOURS = ("steelblue", "darkorange", "seagreen", "purple", "firebrick", "goldenrod")
PLOT = (520, 200)  # width and height of the curve


def picture_of(game: _core.Game, record: GameRecord) -> np.ndarray[Any, Any]:
    """The last board of a game with the search's values along it, in the first player's view, or in
    each one's."""
    state = game.initial_state()
    words, curves = [], record.root_values.T.tolist()
    for ply, action in enumerate(record.actions.tolist()):
        value = curves[state.to_move if len(curves) > 1 else 0][ply]
        words.append(f"{state.action_to_string(action)} {value:+.2f}")
        state = state.play(action)
    lines = ["  ".join(words[i : i + 4]) for i in range(0, len(words), 4)]
    return game_image(f"game {record.number}\n{state}", "\n".join(lines), *curves)


def game_image(board: str, moves: str, *curves: list[float]) -> np.ndarray[Any, Any]:
    """[height, width, 3] of 0 to 255: the board, beside it the curves of the values over the
    moves, one in the first player's view or one for each player.
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
    draw_values(draw, curves, (left, MARGIN, left + PLOT[0], MARGIN + PLOT[1]), font)
    return np.asarray(image, np.uint8)


def draw_values(
    draw: Any, curves: Sequence[list[float]], box: tuple[int, int, int, int], font: Any
) -> None:
    left, top, right, bottom = box
    axis = left + 3 * SIZE
    scale = (bottom - top) / 2
    for level in (1, 0, -1):
        y = top + scale * (1 - level)
        draw.line((axis, y, right, y), fill="gray" if level == 0 else "lightgray")
        draw.text((left, y - SIZE / 2), f"{level:+d}" if level else "0", fill="gray", font=font)
    for values, colour in zip(curves, COLOURS, strict=False):
        step = (right - axis) / max(1, len(values) - 1)
        points = [(axis + step * i, top + scale * (1 - value)) for i, value in enumerate(values)]
        if len(points) > 1:
            draw.line(points, fill=colour, width=3)
        for x, y in points:
            draw.ellipse((x - 3, y - 3, x + 3, y + 3), fill=colour)


CHART = (480, 300)  # width and height of the chart of strength

Curve = list[tuple[int, float, float, float]]  # games, score, and its interval's low and high


def strength_image(curves: dict[str, Curve]) -> np.ndarray[Any, Any]:
    """[height, width, 3] of 0 to 255: the score against each opponent over the games of the run,
    each point with its interval."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(size=SIZE)
    image = Image.new("RGB", CHART, "white")
    draw = ImageDraw.Draw(image)
    left, top, right, bottom = 4 * SIZE, MARGIN, CHART[0] - 2 * MARGIN, CHART[1] - 4 * SIZE
    most = max((games for curve in curves.values() for games, *_ in curve), default=0)

    def place(games: int, score: float) -> tuple[float, float]:
        x = left + (right - left) * games / max(1, most)
        return x, bottom - (bottom - top) * score

    for level in (0, 0.5, 1):
        draw.line((place(0, level), place(max(1, most), level)), fill="lightgray")
        draw.text((left - 8, place(0, level)[1]), f"{level:.0%}", "gray", font, anchor="rm")
    draw.text((left, bottom + 8), "0", "gray", font, anchor="ma")
    draw.text((right, bottom + 8), f"{most:,} games", "gray", font, anchor="ra")
    x = left
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        draw_curve(draw, [tuple(place(g, s) for s in (low, score, high))
                          for g, score, low, high in curve], colour)  # fmt: skip
        label = f"{name} {curve[-1][1]:.0%}"
        draw.text((x, CHART[1] - MARGIN), label, colour, font, anchor="ls")
        x += int(draw.textlength(label, font)) + 2 * SIZE
    return np.asarray(image, np.uint8)


def draw_curve(draw: Any, points: list[Any], colour: str) -> None:
    """Points with a bar from low to high each; [(low, middle, high), …], all of them places."""
    for low, (x, y), high in points:
        draw.line((low, high), fill=colour, width=2)
        for end in (low, high):
            draw.line((end[0] - 5, end[1], end[0] + 5, end[1]), fill=colour, width=2)
        draw.ellipse((x - 4, y - 4, x + 4, y + 4), fill=colour)
    if len(points) > 1:
        draw.line([middle for _, middle, _ in points], fill=colour, width=3)
