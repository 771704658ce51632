"""A player judged exactly, on positions whose every action's outcome is known."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from athenan import _core
from athenan.errors import InputError
from athenan.external.player import GivesUp
from athenan.match import interval
from athenan.players import Player, SearchPlayer
from athenan.positions import Position, by_ply, load_positions, positions_file
from athenan.search import Evaluate, asked, search_type

EXACT = "exact"  # what figures of it are called among those of matches
BATCH = 1024  # states


@dataclass(frozen=True)
class Share:
    """How often the outcome is kept, with a 95 % interval."""

    positions: int
    share: float
    low: float
    high: float

    @classmethod
    def of(cls, kept: list[bool]) -> Share:
        marks = [float(one) for one in kept]
        return cls(len(kept), float(np.mean(marks)) if kept else 0.0, *interval(marks))

    def figures(self) -> dict[str, Any]:
        rounded = {n: round(getattr(self, n), 4) for n in ("low", "high")}
        return {"positions": self.positions, "kept": round(self.share, 4)} | rounded

    def __str__(self) -> str:
        return f"{self.share:.1%} [{self.low:.1%}, {self.high:.1%}] of {self.positions:,} positions"


@dataclass(frozen=True)
class Accuracy:
    """Of an evaluator by itself, on the states after every action of the positions."""

    kept: Share  # by the action whose state has the best value
    states: int  # that are not over
    error: float  # squared, against the outcome under perfect play
    wrong_side: float  # share of the won and lost ones that have a value of the other sign

    def figures(self) -> dict[str, Any]:
        return {
            **self.kept.figures(),
            "states": self.states,
            "error": self.error,
            "wrong_side": self.wrong_side,
        }

    def __str__(self) -> str:
        return (
            f"the evaluator alone: {self.kept}; of {self.states:,} states the squared error is "
            f"{self.error:.4f}, {self.wrong_side:.1%} are on the wrong side"
        )


@dataclass
class Verdict:
    positions: list[Position] = field(default_factory=list)
    kept: list[bool] = field(default_factory=list)
    accuracy: Accuracy | None = None

    @property
    def share(self) -> Share:
        return Share.of(self.kept)

    def of(self, positions: list[Position]) -> Share:
        chosen = {id(position) for position in positions}
        pairs = zip(self.positions, self.kept, strict=True)
        return Share.of([kept for position, kept in pairs if id(position) in chosen])

    @property
    def where_one_can_err(self) -> Share:
        return self.of([position for position in self.positions if position.has_a_mistake])

    def stages(self) -> list[tuple[str, Share]]:
        return [(plies, self.of(own)) for plies, own in by_ply(self.positions)]

    def lines(self) -> list[str]:
        where = self.where_one_can_err
        lines = [f"keeps the outcome in {self.share}"]
        if where.positions < len(self.positions):
            lines.append(f"  where an action loses something: {where}")
        lines += [f"  plies {plies:7} {share}" for plies, share in self.stages()]
        return [*lines, *([str(self.accuracy)] if self.accuracy else [])]

    def figures(self) -> dict[str, Any]:
        return {
            **self.share.figures(),
            "where_one_can_err": self.where_one_can_err.figures(),
            "by_plies": {plies: share.figures() for plies, share in self.stages()},
            "evaluator": self.accuracy.figures() if self.accuracy else None,
        }


def positions_for(game: _core.Game, file: str | None) -> list[Position]:
    """Those of a file, or those that come with athenan for this very game."""
    path = Path(file) if file is not None else positions_file(game)
    if path is None:
        title = f"{game.name} {game.options}".rstrip()
        raise InputError(
            f"There are no solved positions of game '{title}'; scripts/positions.py makes some, "
            "and positions=FILE takes them."
        )
    return load_positions(path, game)


def judge(
    player: Player,
    positions: list[Position],
    in_step: int = 512,
    on_progress: Callable[[int, int], object] | None = None,
    seconds: float | None = None,
) -> Verdict:
    """What the player does in the positions, many in step; `on_progress(done, kept)`. In so many
    seconds, if there is a limit: positions that did not come to their turn are left out."""
    verdict = Verdict()
    ends = None if seconds is None else time.monotonic() + seconds
    for first in range(0, len(positions), in_step):
        left = None if ends is None else ends - time.monotonic()
        if left is not None and left <= 0:
            break
        piece = positions[first : first + in_step]
        try:
            actions = player.choose(
                list(range(first, first + len(piece))), [position.state for position in piece], left
            )
        finally:
            player.forget()
        if ends is not None and time.monotonic() >= ends:
            break  # searches that were cut short
        verdict.positions += piece
        verdict.kept += [
            not isinstance(action, GivesUp) and position.keeps(action)
            for position, action in zip(piece, actions, strict=True)
        ]
        if on_progress:
            on_progress(len(verdict.kept), sum(verdict.kept))
    return verdict


def accuracy_of(player: Player, positions: list[Position]) -> Accuracy | None:
    """Of the player's evaluator, where it has one that can be asked."""
    if not isinstance(player, SearchPlayer) or isinstance(player.evaluator, str):
        return None
    if not search_type(player.search["name"])["uses_evaluator"]:
        return None
    return accuracy(player.evaluator, positions)


def accuracy(evaluator: Evaluate, positions: list[Position]) -> Accuracy:
    """Values are in the view of the first player, outcomes in that of the player to move."""
    children = [
        (position.state.play(action), outcome)
        for position in positions
        for action, outcome in position.outcomes.items()
    ]
    movers = np.repeat([p.state.to_move for p in positions], [len(p.outcomes) for p in positions])
    exact = np.array([outcome for _, outcome in children], np.float64)
    over = np.array([child.is_terminal for child, _ in children])
    values = exact.copy()
    planes = [child.planes() for child, _ in children if not child.is_terminal]
    found = [
        np.asarray(asked(evaluator, np.stack(planes[first : first + BATCH])).result())
        for first in range(0, len(planes), BATCH)
    ]
    if found:
        values[~over] = np.concatenate(found).reshape(-1) * np.where(movers[~over] == 0, 1, -1)
    kept, place = [], 0
    for position in positions:
        own = values[place : place + len(position.outcomes)]
        kept.append(position.keeps(list(position.outcomes)[int(np.argmax(own))]))
        place += len(own)
    open_values, open_exact = values[~over], exact[~over]
    decided = open_exact != 0
    wrong = open_values[decided] * open_exact[decided] < 0
    return Accuracy(
        Share.of(kept),
        len(open_exact),
        float(np.mean((open_values - open_exact) ** 2)) if len(open_exact) else 0.0,
        float(np.mean(wrong)) if len(wrong) else 0.0,
    )
