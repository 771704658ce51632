"""Solving: search until a state is resolved, and write the proof."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from athenan import _core
from athenan.checkpoint import runs_of
from athenan.errors import InputError
from athenan.evaluators import find_evaluator
from athenan.progress import Progress, count, duration
from athenan.proofs import PROOF_VERSION
from athenan.run import fit_heuristic
from athenan.search import Search, SearchResult, make_search
from athenan.settings import SolveSettings

SLICE_SECONDS = 0.5  # of search between two looks at the clock and the keyboard


@dataclass(frozen=True)
class Solution:
    """What solving a state found; value and completion as in SearchResult."""

    result: SearchResult
    iterations: int
    seconds: float
    resolved_share: float


def search_of(config: SolveSettings, game: _core.Game) -> Search:
    runs = runs_of(Path(config.checkpoints), config.game["name"])
    evaluator = find_evaluator(config.evaluator, game, runs, trust=config.trust)
    fit_heuristic(config.heuristic, game)
    settings = {
        **config.search,
        "heuristic": config.heuristic.name,
        "longest": config.heuristic.longest,
        "seed": config.seed,
    }
    if config.strong:
        if config.resolved:
            raise InputError("Setting 'strong' wants every state, 'resolved' leaves out the known.")
        settings["strong"] = True
    if config.resolved:
        settings["resolved"] = config.resolved
    return make_search(settings.pop("name"), game, evaluator, **settings)


def solve(
    search: Search, state: Any, seconds: float | None = None, iterations: int | None = None
) -> Solution:
    """Searches in slices, so that progress shows and Ctrl-C ends it with what is known; a search to
    a horizon, which would begin anew each time, in one piece."""
    for what, budget in (("seconds", seconds), ("iterations", iterations)):
        if budget is not None and not budget > 0:
            raise InputError(f"A budget of {what} must be positive, not {budget}.")
    in_pieces = not search.core.has_horizon
    if not (seconds or iterations or isinstance(search.core, _core.UnboundedSearch)) and in_pieces:
        raise InputError("This search resolves nothing: give it seconds=… or iterations=….")
    done = 0
    with Progress() as progress:
        while True:
            left = None if iterations is None else iterations - done
            slice_seconds = SLICE_SECONDS
            if seconds is not None:
                slice_seconds = max(1e-3, min(slice_seconds, seconds - progress.seconds))
            try:
                budget = slice_seconds if in_pieces else seconds
                result = search.run(state, iterations=left, seconds=budget)
            except KeyboardInterrupt:
                result = search.result()
                break
            done += result.iterations
            progress.show(progress_parts(search, result, done, progress.seconds))
            if (
                result.resolved
                or not in_pieces
                or result.out_of_memory
                or (iterations is not None and done >= iterations)
                or (seconds is not None and progress.seconds >= seconds)
            ):
                break
        return Solution(result, done, progress.seconds, resolved_share(search))


def resolved_share(search: Search) -> float:
    """Of the states that the search remembers."""
    core = search.core
    return core.resolved_share if isinstance(core, _core.UnboundedSearch) else 0.0


def progress_parts(
    search: Search, result: SearchResult, iterations: int, seconds: float
) -> list[str]:
    counts = search.core.counts
    value = value_text(result.value)
    parts = [duration(seconds), f"{count(counts['states'])} states", f"value {value}"]
    if counts["budget"]:
        parts.append(f"resolved {resolved_share(search):.1%}")
        parts.append(f"table {counts['bytes'] / counts['budget']:.0%}")
    rate = count(iterations / max(seconds, 1e-9))
    return [*parts, f"{count(iterations)} iterations", f"{rate}/s"]


def value_text(value: Any, form: str = ".3g") -> str:
    """Of the first of two players, or of each of more."""
    numbers = value if isinstance(value, tuple) else (value,)
    return " ".join(f"{number:+{form}}" for number in numbers)


def write_proof(path: Path, config: SolveSettings, search: Search) -> int:
    """Writes the proof beside its place and renames it; returns how many states it has."""
    if not isinstance(search.core, _core.UnboundedSearch):
        raise InputError(f"Search '{config.search['name']}' proves nothing.")
    if config.resolved:
        raise InputError("A proof is written whole: with 'resolved' its known part is left out.")
    try:
        keys, outcomes, *values = _core.make_proof(search.core, config.strong)
    except (ValueError, RuntimeError) as error:
        raise InputError(str(error)) from None
    about = {
        "athenan_proof": PROOF_VERSION,
        "game": config.game,
        "start": config.start,
        "strong": config.strong,
        "outcome": search.result().completion,
    }
    if values:  # of n players: of the heuristic that they are on the scale of
        about |= {
            "value": search.result().value,
            "heuristic": config.heuristic.name,
            "longest": config.heuristic.longest,
        }
    beside = path.with_name(path.name + ".tmp")
    with beside.open("wb") as file:
        arrays: dict[str, Any] = {"keys": keys, "outcomes": outcomes}
        if values:
            arrays["values"] = values[0]
        np.savez_compressed(file, about=json.dumps(about), **arrays)
    os.replace(beside, path)
    return len(outcomes)
