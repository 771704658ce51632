"""A piece as SVG, around 0 0, in a square of 40."""

from __future__ import annotations

from html import escape

from athenan.looks import SILHOUETTES, Piece

FONT = "font-family='system-ui, sans-serif'"
CHINESE = "font-family='Noto Serif CJK SC, Songti SC, SimSun, WenQuanYi Zen Hei, serif'"


def mixed(colour: str, other: str, share: float) -> str:
    """So much of the other one."""
    one, two = ([int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (colour, other))
    return "#" + "".join(
        f"{round(a * (1 - share) + b * share):02x}" for a, b in zip(one, two, strict=True)
    )


def is_light(colour: str) -> bool:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.3 * red + 0.6 * green + 0.1 * blue > 140


def drawn_piece(piece: Piece, colour: str) -> str:
    """In the colour of its player."""
    form, _, mark = piece.form.partition(" ")
    line = mixed(colour, "#000000", 0.35 if is_light(colour) else 0.25)
    shine = mixed(colour, "#ffffff", 0.35)
    ink = "#22252a" if is_light(colour) else "#ffffff"
    title = f"<title>{escape(piece.name)}</title>" if piece.name else ""
    return title + body(form, piece, colour, line, shine, ink) + marked(mark, ink)


def body(form: str, piece: Piece, colour: str, line: str, shine: str, ink: str) -> str:
    if form in SILHOUETTES:
        edge = "#33312c" if is_light(colour) else "#efe9dc"
        return (
            f"<path d='{SILHOUETTES[form]}' fill='{colour}' stroke='{edge}' stroke-width='1.4' "
            "stroke-linejoin='round'/>"
        )
    if form == "stone":
        return (
            f"<circle r='17' fill='{colour}' stroke='{line}'/>"
            f"<ellipse cx='-5' cy='-7' rx='6' ry='4' fill='{shine}' fill-opacity='.6'/>"
        )
    if form == "disc":
        return (
            f"<circle r='15.5' fill='{colour}' stroke='{line}' stroke-width='1.5'/>"
            f"<circle r='10.5' fill='none' stroke='{shine}' stroke-opacity='.7' "
            "stroke-width='1.5'/>"
        )
    if form in ("letter", "sign"):
        fill, text = (colour, ink) if form == "letter" else ("#f8ead0", colour)
        font = FONT if form == "letter" else CHINESE
        return (
            f"<circle r='16.5' fill='{fill}' stroke='{line}' stroke-width='1.8'/>"
            f"<text y='7' text-anchor='middle' font-size='20' font-weight='600' fill='{text}' "
            f"{font}>{escape(piece.text)}</text>"
        )
    strokes = {
        "cross": "M-10-10L10 10M10-10L-10 10",
        "nought": "M0-11.500a11.500 11.500 0 1 1-.01 0Z",
        "triangle": "M0-12L11.500 9H-11.500Z",
        "diamond": "M0-13L13 0 0 13-13 0Z",
    }
    if form in strokes:
        return (
            f"<path d='{strokes[form]}' fill='none' stroke='{colour}' stroke-width='5' "
            "stroke-linecap='round' stroke-linejoin='round'/>"
        )
    if form == "block":
        return (
            "<rect x='-14' y='-14' width='28' height='28' rx='5' fill='#5b4636' stroke='#3a2c21'/>"
        )
    return "<circle r='4.5' fill='#555a63' fill-opacity='.7'/>"  # dot


def marked(mark: str, ink: str) -> str:
    if mark == "crowned":
        return (
            f"<path d='M-8 5l-1.500-9 5 4L0-7l4.500 7 5-4L8 5Z' fill='{ink}' fill-opacity='.85' "
            "stroke='none'/>"
        )
    if mark:
        return "<circle r='18.5' fill='none' stroke='#ff9500' stroke-width='2.5'/>"
    return ""
