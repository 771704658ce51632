"""Pictures as SVG that stand for themselves, light or dark as the reader's screen is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 62, 150, 18, 46  # margins; names of curves stand at the right
COLOURS = 6
STYLE = """<style>
.chart { --ink: #24292f; --faint: #d8dee4; --paper: #ffffff; font: 12px system-ui, sans-serif;
  --c0: #0969da; --c1: #bc4c00; --c2: #1a7f37; --c3: #8250df; --c4: #cf222e; --c5: #9a6700; }
@media (prefers-color-scheme: dark) {
  .chart { --ink: #e6edf3; --faint: #30363d; --paper: #0d1117;
    --c0: #58a6ff; --c1: #f0883e; --c2: #3fb950; --c3: #bc8cff; --c4: #ff7b72; --c5: #d29922; } }
.chart text { fill: var(--ink); } .chart .grid { stroke: var(--faint); }
.chart .back { fill: var(--paper); }
</style>"""


@dataclass(frozen=True)
class Point:
    x: float
    y: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    name: str
    points: Sequence[Point]


def curves(
    title: str, across: str, up: str, drawn: Sequence[Curve], logarithmic: bool = False
) -> str:
    """Points with their intervals, joined by lines; the axes are named. Logarithmic: each step to
    the right is a factor."""
    points = [point for curve in drawn for point in curve.points]
    if not points or not all(math.isfinite(p.low) and math.isfinite(p.high) for p in points):
        raise ValueError("A picture is of points that are finite numbers.")
    place = math.log10 if logarithmic else float
    xs = Axis([place(p.x) for p in points], LEFT, WIDTH - RIGHT, padding=0.04)
    ys = Axis([v for p in points for v in (p.low, p.high)], HEIGHT - BOTTOM, TOP, padding=0.06)
    parts = []
    for value in ticks(ys.low, ys.high):
        y = ys(value)
        parts.append(f"<line class='grid' x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{y}' y2='{y}'/>")
        parts.append(f"<text x='{LEFT - 8}' y='{y + 4:.1f}' text-anchor='end'>{value:,g}</text>")
    named = sorted({p.x for p in points}) if logarithmic else ticks(xs.low, xs.high)
    for value in named:
        x = xs(place(value))
        parts.append(
            f"<text x='{x}' y='{HEIGHT - BOTTOM + 18}' text-anchor='middle'>{value:,g}</text>"
        )
    for number, curve in enumerate(drawn):
        parts += curve_parts(curve, f"var(--c{number % COLOURS})", xs, ys, place)
    parts += names_at_the_right(drawn, ys)
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(
        f"<text x='{middle}' y='{HEIGHT - 8}' text-anchor='middle'>{escape(across)}</text>"
    )
    parts.append(
        f"<text transform='translate(14 {HEIGHT / 2}) rotate(-90)' text-anchor='middle'>"
        f"{escape(up)}</text>"
    )
    return (
        f"<svg class='chart' xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' "
        f"role='img' aria-label='{escape(title, quote=True)}'>\n{STYLE}\n"
        f"<title>{escape(title)}</title>\n"
        f"<rect class='back' width='{WIDTH}' height='{HEIGHT}'/>\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def curve_parts(curve: Curve, colour: str, xs: Axis, ys: Axis, place: object) -> list[str]:
    assert callable(place)
    points = sorted(curve.points, key=lambda point: point.x)
    at = [(xs(place(p.x)), p) for p in points]
    line = " ".join(f"{x},{ys(p.y)}" for x, p in at)
    parts = [f"<polyline points='{line}' fill='none' stroke='{colour}' stroke-width='2'/>"]
    for x, p in at:
        low, high = ys(p.low), ys(p.high)
        told = f"{curve.name}, {p.x:,g}: {p.y:.0f} [{p.low:.0f}, {p.high:.0f}]"
        parts.append(
            f"<g stroke='{colour}'><title>{escape(told)}</title>"
            f"<line x1='{x}' x2='{x}' y1='{low}' y2='{high}' stroke-width='1.5' opacity='0.6'/>"
            f"<line x1='{x - 4}' x2='{x + 4}' y1='{low}' y2='{low}' opacity='0.6'/>"
            f"<line x1='{x - 4}' x2='{x + 4}' y1='{high}' y2='{high}' opacity='0.6'/>"
            f"<circle cx='{x}' cy='{ys(p.y)}' r='3.5' fill='{colour}'/></g>"
        )
    return parts


def names_at_the_right(drawn: Sequence[Curve], ys: Axis) -> list[str]:
    """Beside the last point of each, apart from each other."""
    ends = sorted(
        (ys(max(curve.points, key=lambda p: p.x).y), number, curve.name)
        for number, curve in enumerate(drawn)
    )
    parts, free = [], float(TOP)
    for y, number, name in ends:
        free = max(y, free)
        shown = name if len(name) <= 20 else f"{name[:19]}…"
        parts.append(
            f"<text x='{WIDTH - RIGHT + 10}' y='{free + 4:.1f}' "
            f"style='fill: var(--c{number % COLOURS})'>{escape(shown)}</text>"
        )
        free += 15
    return parts


def interval_bar(value: float, low: float, high: float, least: float, most: float) -> str:
    """A value with its interval between the least and the most of all; of a row of a table."""
    axis = Axis([least, most], 4, 196)
    return (
        "<svg class='chart bar' xmlns='http://www.w3.org/2000/svg' viewBox='0 0 200 16'>"
        f"<line x1='{axis(low)}' x2='{axis(high)}' y1='8' y2='8' stroke='var(--c0)' "
        "stroke-width='2' opacity='0.6'/>"
        f"<circle cx='{axis(value)}' cy='8' r='4' fill='var(--c0)'/></svg>"
    )


class Axis:
    """From values to pixels."""

    def __init__(self, values: Sequence[float], start: float, end: float, padding: float = 0.0):
        low, high = min(values), max(values)
        wide = (high - low) or max(1.0, abs(high))
        self.low, self.high = low - padding * wide, high + padding * wide
        if self.low == self.high:
            self.low, self.high = low - 1, high + 1
        self.start, self.end = start, end

    def __call__(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def ticks(low: float, high: float, most: int = 7) -> list[float]:
    """Round numbers between them."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * f for f in (1, 2, 5, 10) if power * f >= rough * 0.999)
    first = math.ceil(low / step)
    return [round(n * step, 10) for n in range(first, math.floor(high / step) + 1)]
