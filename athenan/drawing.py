"""A search's tree as a picture: what it visited in its order, values or windows, what is resolved,
and what it left out. Self-contained SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from athenan import _core
from athenan.boards import Board
from athenan.errors import InputError
from athenan.search import TREE_GAME, Search

MOST_STATES = 300  # in a picture
MOST_CELLS = 16  # of a board that is drawn in its state
SCALE = 0.4  # of it
LETTER, LINE, GAP, LEVEL = 7.3, 15, 14, 46  # of the font, between boxes, between levels
FONT = "font-family='DejaVu Sans Mono, Menlo, Consolas, monospace' font-size='12'"
OUTCOMES = {1: "first wins", 0: "drawn", -1: "second wins"}

Actions = tuple[int, ...]


@dataclass
class Drawn:
    """A state in the picture, by the actions that lead to it."""

    path: Actions
    state: Any
    lines: list[str] = field(default_factory=list)
    order: int | None = None  # when it was visited
    resolved: bool = False
    selections: int | None = None  # of the edge to it
    x: float = 0
    children: list[Drawn] = field(default_factory=list)

    @cached_property
    def board(self) -> Board | None:
        """Where it is small enough to be drawn."""
        rows, columns, _ = self.state.game.plane_shape
        is_tree = (self.state.game.name, self.state.game.plane_shape) == TREE_GAME
        board = Board(self.state.game) if not is_tree and rows * columns <= MOST_CELLS else None
        return board if board and board.cells else None

    @property
    def width(self) -> float:
        words = LETTER * max(map(len, self.text()), default=1)
        return max(words, SCALE * self.board.width if self.board else 0) + 14

    @property
    def height(self) -> float:
        board = SCALE * self.board.height if self.board else 0
        return board + LINE * len(self.text()) + 9

    def text(self) -> list[str]:
        number = [] if self.order is None else [f"#{self.order}"]
        return [*number, *([] if self.board else board_lines(self.state)), *self.lines] or [" "]


def board_lines(state: Any) -> list[str]:
    """Of a small game without a picture."""
    rows, columns, _ = state.game.plane_shape
    is_tree = (state.game.name, state.game.plane_shape) == TREE_GAME
    small = not is_tree and rows * columns <= MOST_CELLS
    lines = [line.rstrip() for line in str(state).splitlines() if line.strip()] if small else []
    lines = [line for line in lines if not line.startswith("ply ")]
    width = max(map(len, lines), default=0)
    return [line.ljust(width).replace(" ", "\u00a0") for line in lines]


class Picture(str):
    """SVG that notebooks show."""

    def _repr_svg_(self) -> str:
        return str(self)


def number(value: float) -> str:
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.3g}"


def numbers(value: Any) -> str:
    """Of the first of two players, or of each where values are vectors."""
    if not np.ndim(value):
        return number(float(value))
    return f"({', '.join(number(float(of)) for of in value)})"


def outcome(completion: Any) -> str:
    """What is proven of a state."""
    return f"c={numbers(completion)}" if np.ndim(completion) else OUTCOMES[int(completion)]


def draw(search: Search, state: Any, **budget: Any) -> Picture:
    """Runs the search, which knows nothing yet, and gives the picture of its tree: SVG, which a
    notebook shows. Of an unbounded search `iterations=…` says how many."""
    if state.is_terminal:
        raise InputError("There is no tree to draw: the game is over.")
    if isinstance(search.core, _core.UnboundedSearch):
        root = unbounded_tree(search, state, **{"iterations": None, **budget})
    else:
        root = visited_tree(search, state, **budget)
    return Picture(svg(root))


# ---- What was visited -------------------------------------------------------------------------


def unbounded_tree(search: Search, state: Any, iterations: int | None, **_: Any) -> Drawn:
    """One iteration after the other, to see in which order states are expanded. A state that
    several lines lead to is drawn below each of them."""
    order: dict[int, int] = {}
    done = 0
    while True:
        result = search.run(state, iterations=1)
        done += 1
        dump = search.core.dump()  # type: ignore[attr-defined]
        if len(dump["value"]) > MOST_STATES:
            raise InputError(f"The tree is too large to be drawn: more than {MOST_STATES} states.")
        for node in np.flatnonzero(dump["expanded"]).tolist():
            order.setdefault(node, len(order) + 1)
        if result.resolved or result.out_of_memory or (iterations and done >= iterations):
            break
    edges: dict[int, list[tuple[int, int, int]]] = {}
    for parent, child, action, times in zip(
        *(dump[name].tolist() for name in ("parent", "child", "action", "selections")), strict=True
    ):
        edges.setdefault(parent, []).append((action, child, times))
    root = Drawn((), state)
    waiting, drawn = [(root, 0)], 1
    while waiting:
        at, node = waiting.pop()
        at.order = order.get(node)
        at.resolved = bool(dump["resolved"][node]) and search.core.completion  # type: ignore[attr-defined]
        at.lines = [f"v={numbers(dump['value'][node])}"]
        if at.resolved:
            at.lines.append(outcome(dump["completion"][node]))
        for action, child, times in edges.get(node, []):
            below = Drawn((*at.path, action), at.state.play(action), selections=times)
            at.children.append(below)
            waiting.append((below, child))
            drawn += 1
        if drawn > MOST_STATES:
            raise InputError(f"The tree is too large to be drawn: more than {MOST_STATES} states.")
    return root


def visited_tree(search: Search, state: Any, **budget: Any) -> Drawn:
    """Of a search by windows: its calls in their order, and children that it left out."""
    core: Any = search.core
    if hasattr(core, "tracing"):
        core.tracing = True
    result = search.run(state, **budget)
    root = Drawn((), state)
    known: dict[Actions, Drawn] = {(): root}
    visited = [(tuple(path), kind, a, b) for path, kind, a, b in getattr(core, "trace", [])]
    if not visited:
        raise InputError("This search keeps no list of what it visits, so it cannot be drawn.")
    if len({path for path, *_ in visited}) > MOST_STATES:
        raise InputError(f"The tree is too large to be drawn: more than {MOST_STATES} states.")
    for path, kind, a, b in visited:
        for length in range(1, len(path) + 1):
            if path[:length] not in known:
                parent = known[path[: length - 1]]
                known[path[:length]] = Drawn(path[:length], parent.state.play(path[length - 1]))
        at = known[path]
        if at.order is None:
            at.order = 1 + sum(one.order is not None for one in known.values())
        said = {
            "call": f"({number(a)}, {number(b)})",
            "leaf": f"= {number(a)}",
            "expand": f"expand {number(a)}",
            "diminish": f"diminish {number(a)}",
        }[kind]
        if said not in at.lines:
            at.lines.append(said)
        at.resolved |= kind == "leaf" and at.state.is_terminal
    for path in sorted(known):
        at = known[path]
        inner = any(other[: len(path)] == path and len(other) > len(path) for other in known)
        for action in at.state.legal_actions() if inner else ():
            below = known.get((*path, action)) or Drawn((*path, action), at.state.play(action))
            at.children.append(below)
    root.lines.append(f"value {number(result.value)}")
    root.resolved = result.resolved
    return root


# ---- The picture --------------------------------------------------------------------------------


def svg(root: Drawn) -> str:
    levels: dict[int, list[Drawn]] = {}
    width = place(root, 20) + 20
    collect(root, 0, levels)
    tops, top = [], 20.0
    for depth in range(len(levels)):
        tops.append(top)
        top += max(one.height for one in levels[depth]) + LEVEL
    others = "the second" if root.state.game.num_players == 2 else "the others"
    legend = [
        f"square: the first player moves · round: {others} · #1, #2, …: visited in this order",
        "double frame: known to the end · dashed: not visited · on the lines: action×selections",
    ]
    width = max(width, LETTER * max(map(len, legend)) + 40)
    shift = (width - (root_right(root) + 20)) / 2
    parts = [
        part
        for depth, ones in levels.items()
        for one in ones
        for part in edges_of(one, depth, tops)
    ]
    for depth, ones in levels.items():
        for one in ones:
            parts += box_of(one, tops[depth])
    bottom = top - LEVEL + 24
    notes = [
        f"<text x='20' y='{bottom + 18 * i:.0f}' fill='#555555'>{escape(line)}</text>"
        for i, line in enumerate(legend)
    ]
    height = bottom + 18 * len(legend)
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
            f"viewBox='0 0 {width:.0f} {height:.0f}' {FONT}>",
            "<rect width='100%' height='100%' fill='#ffffff'/>",
            f"<g transform='translate({max(0, shift):.0f} 0)'>",
            *parts,
            "</g>",
            *notes,
            "</svg>\n",
        ]
    )


def place(at: Drawn, left: float) -> float:
    """Puts a state above the middle of its children; returns where what follows may begin."""
    right = left
    for child in at.children:
        right = place(child, right)
    if at.children:
        at.x = (at.children[0].x + at.children[-1].x) / 2
        missing = left + at.width / 2 - at.x
        if missing > 0:
            move(at, missing)
            right += missing
    else:
        at.x = left + at.width / 2
    return max(right, at.x + at.width / 2 + GAP)


def move(at: Drawn, distance: float) -> None:
    at.x += distance
    for child in at.children:
        move(child, distance)


def root_right(at: Drawn) -> float:
    return max([at.x + at.width / 2, *(root_right(child) for child in at.children)])


def collect(at: Drawn, depth: int, levels: dict[int, list[Drawn]]) -> None:
    levels.setdefault(depth, []).append(at)
    for child in at.children:
        collect(child, depth + 1, levels)


def is_left_out(at: Drawn) -> bool:
    """Never visited, and nothing is known of it."""
    return at.order is None and not at.lines


def edges_of(at: Drawn, depth: int, tops: list[float]) -> list[str]:
    parts = []
    y = tops[depth] + at.height
    for child in at.children:
        end = tops[depth + 1]
        dashed = " stroke-dasharray='4 4'" if is_left_out(child) else ""
        strong = 2 if child.selections or (child.selections is None and child.order) else 1
        label = at.state.action_to_string(child.path[-1])
        if child.selections:
            label += f"×{child.selections}"
        x, middle = (at.x + 2 * child.x) / 3, (y + 2 * end) / 3
        parts += [
            f"<line x1='{at.x:.1f}' y1='{y:.1f}' x2='{child.x:.1f}' y2='{end:.1f}' "
            f"stroke='{'#bbbbbb' if dashed else '#666666'}' stroke-width='{strong}'{dashed}/>",
            f"<text x='{x:.1f}' y='{middle + 4:.1f}' text-anchor='middle' font-size='10' "
            "fill='#1a4f8a' stroke='#ffffff' stroke-width='4' paint-order='stroke'>"
            f"{escape(label)}</text>",
        ]
    return parts


def box_of(at: Drawn, top: float) -> list[str]:
    width, height = at.width, at.height
    left, out = at.x - width / 2, is_left_out(at)
    round_ = 0 if at.state.is_terminal or at.state.to_move == 0 else min(12, height / 2)
    fill = "#ffffff" if out else "#e4f2e4" if at.resolved else "#f4f6fa"
    stroke = "#bbbbbb" if out else "#2c6e2c" if at.resolved else "#444444"
    dashed = " stroke-dasharray='4 4'" if out else ""

    def frame(inset: float, inside: str) -> str:
        return (
            f"<rect x='{left + inset:.1f}' y='{top + inset:.1f}' width='{width - 2 * inset:.1f}' "
            f"height='{height - 2 * inset:.1f}' rx='{max(0, round_ - inset):.1f}' fill='{inside}' "
            f"stroke='{stroke}'{dashed}/>"
        )

    parts = [frame(0, fill), *([frame(2.5, "none")] if at.resolved else [])]
    if at.board:
        x = at.x - SCALE * at.board.width / 2
        parts.append(
            f"<g transform='translate({x:.1f} {top + 3:.1f}) scale({SCALE})'>"
            f"{at.board.picture(at.state)}</g>"
        )
        top += SCALE * at.board.height
    for i, line in enumerate(at.text()):
        y = top + LINE * (i + 1) - 1
        weight = " font-weight='bold'" if i == 0 and at.order is not None else ""
        parts.append(
            f"<text x='{at.x:.1f}' y='{y:.1f}' text-anchor='middle' fill='#111111' "
            f"xml:space='preserve'{weight}>{escape(line)}</text>"
        )
    return parts


def write(path: Path, search: Search, state: Any, **budget: Any) -> None:
    if path.suffix != ".svg":
        raise InputError(f"A picture is written as FILE.svg, not '{path}'.")
    path.write_text(draw(search, state, **budget), encoding="utf-8")
