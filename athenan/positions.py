"""Positions whose every action's outcome is known: what a player is judged by exactly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from athenan import _core
from athenan.errors import InputError
from athenan.files import read_text
from athenan.games import make_game

VERSION = 1  # of the files


@dataclass(frozen=True)
class Position:
    """A state that is not over, with the outcome of each of its actions under perfect play."""

    state: _core.State
    outcomes: dict[int, int]  # of legal actions: 1, 0 or -1 for the player to move

    @property
    def outcome(self) -> int:
        return max(self.outcomes.values())

    def keeps(self, action: int) -> bool:
        """Whether the action is as good as any."""
        return self.outcomes[action] == self.outcome

    @property
    def has_a_mistake(self) -> bool:
        """Whether one of its actions gives something away."""
        return min(self.outcomes.values()) < self.outcome


def positions_folder() -> Path:
    """In the repository games/positions, in an installed wheel the copy in the package."""
    package = Path(__file__).parent
    beside = package.parent / "games" / "positions"
    return beside if (package.parent / "pyproject.toml").exists() else package / "solved_positions"


def positions_file(game: _core.Game) -> Path | None:
    """That of the game with these very options, where there is one."""
    for path in sorted(positions_folder().glob("*.jsonl")):
        try:
            if make_game(**facts_of(lines_of(path)[0], path)["game"]).same_as(game):
                return path
        except (OSError, InputError, IndexError):
            continue  # not ours
    return None


def load_positions(path: Path, game: _core.Game) -> list[Position]:
    """Of a file that is of this game, checked by the rules."""
    try:
        first, *others = lines_of(path)
        facts = facts_of(first, path)
    except FileNotFoundError:
        raise InputError(f"There is no file '{path}' of positions.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"'{path}' has no positions.") from None
    if not make_game(**facts["game"]).same_as(game):
        raise InputError(f"The positions in '{path}' are of {facts['game']}, another game.")
    return [read_position(line, game, f"'{path}', line {i}") for i, line in enumerate(others, 2)]


def lines_of(path: Path) -> list[str]:
    return read_text(path).splitlines()


def facts_of(line: str, path: Path) -> dict[str, Any]:
    """The first line: version and game."""
    try:
        facts = json.loads(line)
        if facts["athenan_positions"] == VERSION and isinstance(facts["game"], dict):
            return dict(facts)
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise InputError(f"'{path}' has no positions.")


def facts_line(game: dict[str, Any]) -> str:
    return json.dumps({"athenan_positions": VERSION, "game": game})


def read_position(line: str, game: _core.Game, place: str) -> Position:
    try:
        found = json.loads(line)
        state = game.initial_state()
        for action in found["actions"]:
            state = state.play(action)
        legal, outcomes = state.legal_actions(), found["outcomes"]
        if len(legal) == len(outcomes) > 0 and set(outcomes) <= {-1, 0, 1}:
            return Position(state, dict(zip(legal, outcomes, strict=True)))
    except (ValueError, LookupError, TypeError, RecursionError):
        pass
    raise InputError(f"{place}: this is no position of game '{game.name}'.")


def position_line(number: int, actions: list[int], outcomes: list[int]) -> str:
    """`number` tells which candidate of its ply it was."""
    about = {"number": number, "actions": actions, "outcomes": outcomes}
    return json.dumps(about, separators=(",", ":"))


def by_ply(positions: list[Position], stages: int = 3) -> Iterator[tuple[str, list[Position]]]:
    """In stages of the game, each about as many positions, named by their plies."""
    plies = sorted({position.state.ply for position in positions})
    for place in range(stages):
        own = plies[len(plies) * place // stages : len(plies) * (place + 1) // stages]
        if own:
            name = f"{own[0]}-{own[-1]}" if len(own) > 1 else f"{own[0]}"
            yield name, [p for p in positions if own[0] <= p.state.ply <= own[-1]]
