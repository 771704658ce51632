"""A game's board as SVG: where its cells are, what stands on them, and which clicks are an action.

All of it follows from what the rules say of themselves (places of cells, planes, texts of actions)
and from the small table of looks. The page, notebooks and pictures of trees draw by it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from athenan import _core
from athenan.drawn_pieces import FONT, drawn_piece, mixed
from athenan.games import replayed_state
from athenan.ground import CELL, RIM, ground_of
from athenan.looks import Piece, colour_name, look_of, piece_of
from athenan.search import own

SYMBOL = "piece "
MOVER = " to move"
LEVEL = "level "
STEPS = {"n": (-1, 0), "s": (1, 0), "e": (0, 2), "w": (0, -2)}  # rows down, half cells across
BETWEEN = re.compile(r"[-x=>]+")  # what stands between cells in texts of actions

Path = tuple[int | str, ...]  # cells to click, in order, and texts of buttons


@dataclass(frozen=True)
class Cell:
    """Where it is: in the picture, and in rows and half cells."""

    name: str
    x: float
    y: float
    down: int
    across: int


class Board:
    """Of one game. A cell's number is that of its place in the planes."""

    def __init__(self, game: _core.Game) -> None:
        self.game, self.look = game, look_of(game.name)
        python_game = _core.python_game_of(game)
        places = getattr(python_game, "places", None) if python_game is not None else game.places
        found = {number: place for number, place in enumerate(places or []) if place[0]}
        rim = self.rim = RIM + (2 * CELL - 6 if "loops" in self.look.drawn else 0)
        self.hexagonal = any(across % 2 for _, across, _ in found.values())
        self.step = CELL * math.sqrt(3) / 2 if self.hexagonal else CELL  # from row to row
        self.cells = {
            number: Cell(
                name, rim + CELL / 2 + across * CELL / 2, rim + CELL / 2 + down * self.step,
                down, across,
            )
            for number, (name, across, down) in found.items()
        }  # fmt: skip
        self.width = max((cell.x for cell in self.cells.values()), default=0) + rim + CELL / 2
        self.height = max((cell.y for cell in self.cells.values()), default=0) + rim + CELL / 2
        self.rows = 1 + max((cell.down for cell in self.cells.values()), default=0)
        self.named = {cell.name: number for number, cell in self.cells.items()}
        self.at = {(cell.down, cell.across): number for number, cell in self.cells.items()}
        names = sorted((re.escape(name) for name in self.named), key=len, reverse=True)
        self._names = re.compile("|".join(names) or "(?!)")
        self.players = [c.removesuffix(MOVER) for c in game.channels if c.endswith(MOVER)]
        if len(self.players) != game.num_players:
            self.players = [str(player + 1) for player in range(game.num_players)]
        self.pieces: dict[int, Piece] = {}  # by their plane
        self._levels = []
        for number, channel in enumerate(game.channels):
            if channel.startswith(SYMBOL) and len(channel) == len(SYMBOL) + 1:
                self.pieces[number] = piece_of(game.name, self.players, channel[-1])
            elif channel.startswith(LEVEL):
                self._levels.append(number)

    # ---- What stands where -----------------------------------------------------------------------

    def standing(self, state: Any) -> dict[int, Piece]:
        """The pieces of a state, by their cells."""
        flat = state.planes().reshape(-1, self.game.plane_shape[2])
        return {
            cell: piece
            for plane, piece in self.pieces.items()
            if piece.form != "none"
            for cell in flat[:, plane].nonzero()[0].tolist()
            if cell in self.cells
        }

    def levels(self, state: Any) -> dict[int, int]:
        """How high each cell is built, where a game builds."""
        if not self._levels:
            return {}
        flat = state.planes().reshape(-1, self.game.plane_shape[2])[:, self._levels]
        heights = [
            max(range(len(row)), key=lambda i: row[i]) + 1 if any(row) else 0 for row in flat
        ]
        return {cell: heights[cell] for cell in self.cells if heights[cell]}

    def colour(self, player: int) -> str:
        return self.look.colours[player % len(self.look.colours)]

    def player_name(self, player: int) -> str:
        return colour_name(self.look, player)

    # ---- What an action touches ------------------------------------------------------------------

    def paths(self, state: Any) -> dict[int, Path]:
        """To each legal action its clicks, no two the same and none the beginning of another."""
        read = {action: self._touched(state, action) for action in state.legal_actions()}
        alike: dict[tuple[int, ...], list[int]] = {}
        for action, (cells, _) in read.items():
            alike.setdefault(cells, []).append(action)
        return {
            action: cells if cells and len(alike[cells]) == 1 else (*cells, rest)
            for action, (cells, rest) in read.items()
        }

    def part(self, state: Any) -> str:
        """What the mover does now: `set up a piece: elephant`."""
        part: str = state.part_of_turn
        if not part or not self.look.kinds:
            return part
        read = [self._touched(state, action) for action in state.legal_actions()]
        rests = {rest if len(cells) == 1 else "" for cells, rest in read}
        told = rests.pop() if len(rests) == 1 else ""
        return f"{part}: {told}" if told in self.look.kinds.values() else part

    def _touched(self, state: Any, action: int) -> tuple[tuple[int, ...], str]:
        """The cells of the action's text, and what it says besides."""
        text = state.action_to_string(action)
        if self.look.drops and text.isdigit():
            return (self._landing(state, 2 * (int(text) - 1)),), text
        cells = [self.named[name] for name in self._names.findall(text)]
        rest = BETWEEN.sub("", self._names.sub("", text))
        if self.look.captures and len(cells) > 2:
            return tuple(cells[:2]), "×" + " ".join(self.cells[cell].name for cell in cells[2:])
        if self.look.steps and len(cells) == 1 and rest[-1:] in STEPS and len(rest) == 2:
            down, across = STEPS[rest[-1]]
            start = self.cells[cells[0]]
            cells.append(self.at[start.down + down, start.across + across])
        return tuple(cells), self.look.kinds.get(rest.upper(), rest) if cells and rest else text

    def _landing(self, state: Any, across: int) -> int:
        """The lowest free cell of a column."""
        taken = self.standing(state)
        free = [
            number
            for number, cell in self.cells.items()
            if cell.across == across and number not in taken
        ]
        return max(free, key=lambda number: self.cells[number].down)

    # ---- The picture -----------------------------------------------------------------------------

    def figures(self, state: Any) -> str:
        """What stands on the cells in this state."""
        parts = []
        for number, level in self.levels(state).items():
            cell = self.cells[number]
            for i in range(1, min(level, 3) + 1):
                side = CELL - 3 - 7.0 * (i - 1)
                fill = ("#d9d4c6", "#efebdf", "#ffffff")[i - 1]
                parts.append(
                    f"<rect x='{cell.x - side / 2:g}' y='{cell.y - side / 2:g}' width='{side:g}' "
                    f"height='{side:g}' rx='3' fill='{fill}' stroke='#8d8672' stroke-width='1'/>"
                )
            if level > 3:
                parts.append(
                    f"<circle cx='{cell.x:g}' cy='{cell.y:g}' r='9.5' fill='#3f79c4' "
                    "stroke='#2a5288'/>"
                )
        for number, piece in self.standing(state).items():
            cell = self.cells[number]
            colour = "#555a63" if piece.player is None else self.colour(piece.player)
            parts.append(
                f"<g transform='translate({cell.x:g} {cell.y:g})'>{drawn_piece(piece, colour)}</g>"
            )
        return "".join(parts)

    def picture(self, state: Any) -> str:
        """The parts of it, in a square of the board's width and height."""
        return ground_of(self) + self.figures(state)

    def svg(self, state: Any, over: str = "") -> str:
        """The whole picture, of any state; games without a board show their text."""
        if not self.cells:
            return text_svg(str(state))
        last = self.last_touched(state)
        marks = "".join(
            f"<circle cx='{self.cells[n].x:g}' cy='{self.cells[n].y:g}' r='4' fill='#ff9500' "
            "stroke='#fff'/>"
            for n in last[-1:]
        )
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {self.width:g} "
            f"{self.height:g}' width='{self.width:g}' height='{self.height:g}' role='img' "
            f"aria-label='{escape(f'{self.game.name}, ply {state.ply}', quote=True)}'>"
            f"{self.picture(state)}{marks}{over}</svg>"
        )

    def last_touched(self, state: Any) -> list[int]:
        """The cells of the action that led here, where the state knows it."""
        start, actions = state.history
        if not actions:
            return []
        before = replayed_state(self.game, start, actions[:-1])
        return [token for token in self.paths(before)[actions[-1]] if isinstance(token, int)]

    def result_svg(self, state: Any, result: Any) -> str:
        """The state with what a search found of its actions, each on the cell where it ends."""
        best: dict[int, Any] = {}
        paths = self.paths(state)
        for child in result.children:
            cells = [token for token in paths[child.action] if isinstance(token, int)]
            if not cells:
                continue
            known = best.get(cells[-1])
            if known is None or rank(child, state.to_move) > rank(known, state.to_move):
                best[cells[-1]] = child
        parts = []
        for number, child in best.items():
            cell, value = self.cells[number], float(own(child.value, state.to_move))
            proven = round(float(own(child.completion, state.to_move)))
            text = {1: "won", 0: "draw", -1: "lost"}[proven] if child.resolved else f"{value:+.2f}"
            chosen = child.action == result.action
            stroke = "#ff9500' stroke-width='2.5" if chosen else "none"
            hue = mixed("#2d9c5a" if value > 0 else "#cf4437", "#ffffff", 1 - min(1.0, abs(value)))
            parts.append(
                f"<g transform='translate({cell.x:g} {cell.y:g})'><rect x='-17' y='-9' width='34' "
                f"height='18' rx='9' fill='{hue}' fill-opacity='.9' stroke='{stroke}'/>"
                f"<text y='4' text-anchor='middle' font-size='11' fill='#111' {FONT}>{text}</text>"
                "</g>"
            )
        return self.svg(state, "".join(parts))

    def description(self) -> Mapping[str, Any]:
        """What the page needs to know of the board."""
        return {
            "width": self.width,
            "height": self.height,
            "ground": ground_of(self) if self.cells else "",
            "cells": {
                number: {"name": cell.name, "x": round(cell.x, 1), "y": round(cell.y, 1)}
                for number, cell in self.cells.items()
            },
            "hexagonal": self.hexagonal,
            "drops": self.look.drops,
            "players": [
                {"mark": mark, "name": self.player_name(i), "colour": self.colour(i)}
                for i, mark in enumerate(self.players)
            ],
        }


def rank(child: Any, player: int) -> tuple[float, float, int]:
    """By completion, value and selections, in the view of the player."""
    return own(child.completion, player), own(child.value, player), child.selections


def _state_svg(state: Any) -> str:
    return Board(state.game).svg(state)


def _result_svg(result: Any) -> str | None:
    state = getattr(result, "state", None)  # as Search.run leaves it
    return None if state is None else Board(state.game).result_svg(state, result)


# Notebooks ask for pictures by this name.
_core.State._repr_svg_ = _state_svg  # type: ignore[attr-defined]
_core.SearchResult._repr_svg_ = _result_svg  # type: ignore[attr-defined]


def text_svg(text: str) -> str:
    lines = text.splitlines() or [" "]
    wide, high = 8.5 * max(map(len, lines)) + 20, 18 * len(lines) + 16
    drawn = "".join(
        f"<text x='10' y='{22 + 18 * i}' xml:space='preserve' font-size='14' "
        f"font-family='monospace' fill='#333'>{escape(line)}</text>"
        for i, line in enumerate(lines)
    )
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {wide:g} {high}' width='{wide:g}' "
        f"height='{high}'>{drawn}</svg>"
    )
