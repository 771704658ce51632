"""Solving: search until a state is resolved, write the proof, check a proof by the rules alone."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from athenan import _core
from athenan.checkpoint import runs_of
from athenan.errors import InputError
from athenan.evaluators import find_evaluator
from athenan.files import Array, read_arrays
from athenan.games import is_same_name, make_game_of
from athenan.progress import Progress, count, duration
from athenan.run import fit_heuristic
from athenan.search import Search, SearchResult, make_search
from athenan.settings import SolveSettings

WORTH = {1: "the first player wins", 0: "a draw", -1: "the second player wins"}
PROOF_VERSION = 1
SLICE_SECONDS = 0.5  # of search between two looks at the clock and the keyboard


@dataclass(frozen=True)
class Solution:
    """What solving a state found; value and completion as in SearchResult."""

    result: SearchResult
    iterations: int
    seconds: float
    resolved_share: float


def start_state(game: Any, start: str) -> Any:
    state = game.initial_state()
    for word in start.split():
        try:
            state = state.play(state.string_to_action(word))
        except ValueError as error:
            raise InputError(f"Setting 'start': {error}") from None
    return state


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
        settings["strong"] = True
    return make_search(settings.pop("name"), game, evaluator, **settings)


def solve(
    search: Search, state: Any, seconds: float | None = None, iterations: int | None = None
) -> Solution:
    """Searches in slices, so that progress shows and Ctrl-C ends it with what is known."""
    for what, budget in (("seconds", seconds), ("iterations", iterations)):
        if budget is not None and not budget > 0:
            raise InputError(f"A budget of {what} must be positive, not {budget}.")
    if not (seconds or iterations or isinstance(search.core, _core.UnboundedSearch)):
        raise InputError("This search resolves nothing: give it seconds=… or iterations=….")
    done = 0
    with Progress() as progress:
        while True:
            left = None if iterations is None else iterations - done
            slice_seconds = SLICE_SECONDS
            if seconds is not None:
                slice_seconds = max(1e-3, min(slice_seconds, seconds - progress.seconds))
            try:
                result = search.run(state, iterations=left, seconds=slice_seconds)
            except KeyboardInterrupt:
                result = search.result()
                break
            done += result.iterations
            progress.show(progress_parts(search, result, done, progress.seconds))
            if (
                result.resolved
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
    parts = [duration(seconds), f"{count(counts['states'])} states", f"value {result.value:+.3g}"]
    if counts["budget"]:
        parts.append(f"resolved {resolved_share(search):.1%}")
        parts.append(f"table {counts['bytes'] / counts['budget']:.0%}")
    rate = count(iterations / max(seconds, 1e-9))
    return [*parts, f"{count(iterations)} iterations", f"{rate}/s"]


def write_proof(path: Path, config: SolveSettings, search: Search) -> int:
    """Writes the proof beside its place and renames it; returns how many states it has."""
    if not isinstance(search.core, _core.UnboundedSearch):
        raise InputError(f"Search '{config.search['name']}' proves nothing.")
    try:
        keys, outcomes = _core.make_proof(search.core, config.strong)
    except (ValueError, RuntimeError) as error:
        raise InputError(str(error)) from None
    about = {
        "athenan_proof": PROOF_VERSION,
        "game": config.game,
        "start": config.start,
        "strong": config.strong,
        "outcome": search.result().completion,
    }
    beside = path.with_name(path.name + ".tmp")
    with beside.open("wb") as file:
        np.savez_compressed(file, about=json.dumps(about), keys=keys, outcomes=outcomes)
    os.replace(beside, path)
    return len(outcomes)


def check(path: Path, own_game: str | None = None) -> dict[str, Any]:
    """Verifies a proof file by the rules alone; InputError says what is wrong with it. `own_game`
    is the game of one's own that the file may name."""
    about, keys, outcomes = read_proof(path)
    name = about["game"].get("name")
    if own_game and not is_same_name(str(name), own_game):
        raise InputError(f"'{path}' is a proof of game '{name}', not of '{own_game}'.")
    named = {**about["game"], "name": own_game or name}
    game = make_game_of(path, named, trust=own_game is not None)
    state: Any = start_state(game, about["start"])
    started = time.monotonic()
    wrong = _core.check_proof(state, keys, outcomes, about["strong"])
    if not wrong and about["outcome"] != claimed(state, keys, outcomes):
        wrong = "its own summary says another outcome"
    if wrong:
        raise InputError(f"The proof '{path}' is wrong: {wrong}.")
    return {
        "game": about["game"],
        "start": about["start"],
        "strong": about["strong"],
        "outcome": about["outcome"],
        "states": len(outcomes),
        "seconds": round(time.monotonic() - started, 3),
    }


def read_proof(path: Path) -> tuple[dict[str, Any], Array, Array]:
    """What a proof file is about, its keys and its outcomes, all of the types they should be."""
    whole = False
    about: Any = None
    try:
        arrays = read_arrays(path)
        about = json.loads(str(arrays["about"]))
        keys, outcomes = arrays["keys"], arrays["outcomes"]
        # Truth values are numbers to Python.
        kinds = {"game": dict, "start": str, "strong": bool, "outcome": int}
        whole = (
            all(type(about[name]) is kind for name, kind in kinds.items())
            and about["outcome"] in WORTH
            and (keys.dtype, outcomes.dtype) == (np.uint64, np.int8)
            and keys.shape == (*outcomes.shape, 2)
        )
    except FileNotFoundError:
        raise InputError(f"There is no file '{path}'.") from None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        pass
    version = about.get("athenan_proof", PROOF_VERSION) if isinstance(about, dict) else None
    if version is not None and version != PROOF_VERSION:
        raise InputError(f"'{path}' is a proof of another version of athenan.")
    if not whole:
        raise InputError(f"'{path}' is not a whole proof file.")
    return about, keys, outcomes


def claimed(state: Any, keys: Array, outcomes: Array) -> int:
    """The outcome of a proof's start: the game's where it is over, else the proof's own."""
    if state.is_terminal:
        return int(state.outcomes[0])
    row = np.array([state.key & (2**64 - 1), state.key >> 64], np.uint64)
    return int(outcomes[np.flatnonzero((keys == row).all(axis=1))[0]])
