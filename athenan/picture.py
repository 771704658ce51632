"""A board as a picture: its text drawn with a small font, for TensorBoard."""

from __future__ import annotations

from typing import Any

import numpy as np


def text_image(text: str, scale: int = 2) -> np.ndarray[Any, Any]:
    """[height, width, 1] of 0 to 255: white ground, black letters."""
    from PIL import Image, ImageDraw, ImageFont

    font = ImageFont.load_default(size=12 * scale)
    probe = ImageDraw.Draw(Image.new("L", (1, 1)))
    width = max(int(probe.textlength(line, font=font)) for line in text.splitlines())
    cell = int(probe.textlength("M", font=font))
    lines = text.splitlines()
    columns = max(len(line) for line in lines)
    image = Image.new("L", (max(width, cell * columns) + 16, 15 * scale * len(lines) + 16), 255)
    draw = ImageDraw.Draw(image)
    for row, line in enumerate(lines):
        for column, letter in enumerate(line):
            draw.text((8 + cell * column, 8 + 15 * scale * row), letter, fill=0, font=font)
    return np.asarray(image, np.uint8)[:, :, None]
