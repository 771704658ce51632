"""The matches of a run on disk: one line of JSON each, appended when it is over."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from athenan.files import read_text
from athenan.match import MatchResult


@dataclass
class PlayedMatch:
    """Of a run's network after so many games, against one opponent."""

    against: str
    games_of_run: int
    result: MatchResult


def append_match(path: Path, match: PlayedMatch) -> None:
    with path.open("a") as file:
        file.write(json.dumps(asdict(match)) + "\n")


def read_matches(path: Path) -> Iterator[PlayedMatch]:
    """Those that can be read: a kill may have cut the last line, and nothing depends on them."""
    try:
        lines = read_text(path).splitlines()
    except (OSError, ValueError):
        return
    for line in lines:
        try:
            yield made(json.loads(line))
        except (ValueError, TypeError, KeyError, RecursionError):
            continue


def made(row: dict[str, Any]) -> PlayedMatch:
    result = MatchResult(**row["result"])
    forfeits = (result.own_forfeits, result.their_forfeits)
    counts = (result.wins, result.draws, result.losses, *forfeits, row["games_of_run"])
    scores = result.pair_scores
    if not all(type(count) is int and count >= 0 for count in counts):
        raise ValueError("These are no counts.")
    if not all(type(score) in (int, float) and 0 <= score <= 1 for score in scores):
        raise ValueError("These are no scores.")
    if not all(isinstance(sentence, str) for sentence in result.sentences):
        raise ValueError("These are no sentences.")
    return PlayedMatch(str(row["against"]), row["games_of_run"], result)
