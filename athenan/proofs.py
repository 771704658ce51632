"""Proofs that solving has written: checked by the rules alone, and given to searches as what is
known of the ends of a game."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from athenan import _core
from athenan.errors import InputError
from athenan.files import Array, read_arrays
from athenan.games import is_same_name, make_game, make_game_of
from athenan.python_game import PythonGame

WORTH = {1: "the first player wins", 0: "a draw", -1: "the second player wins"}
PLACES = ("first", "second", "third", "fourth", "fifth", "sixth")
MOST_PLIES = 1_000_000
PROOF_VERSION = 1


@dataclass(frozen=True)
class ProofFile:
    """What a file says, all of the types it should be. Of n players the outcomes are [states,
    players], and there are values of f_t beside them."""

    about: dict[str, Any]
    keys: Array
    outcomes: Array
    values: Array | None

    @property
    def scale(self) -> dict[str, Any]:
        """The heuristic that the values are of; proofs of two players are of outcomes alone."""
        if self.values is None:
            return {}
        return {name: self.about[name] for name in ("heuristic", "longest")}


@dataclass(frozen=True)
class Proof:
    """States of a game with their proven outcomes."""

    path: Path
    game: _core.Game
    memory: _core.ResolvedMemory
    scale: dict[str, Any]

    def __str__(self) -> str:
        return f"{len(self.memory):,} proven states of {self.path}"

    def give_to(self, core: _core.Search, heuristic: str, longest: int = 0) -> None:
        """The search takes new states that are proven for known."""
        if not self.scale and heuristic != "gain":
            raise InputError(
                f"'{self.path}' proves outcomes alone: it is for heuristic 'gain', "
                f"not '{heuristic}'."
            )
        if self.scale and self._meaning(**self.scale) != self._meaning(heuristic, longest):
            raise InputError(
                f"'{self.path}' proves values of heuristic '{self.scale['heuristic']}' with "
                f"longest={self.scale['longest']}: it is for the same heuristic alone."
            )
        core.consult(self.memory)

    def _meaning(self, heuristic: str, longest: int) -> tuple[str, int]:
        return heuristic, (longest or self.game.max_plies) if "depth" in heuristic else 0


def load_proof(path: str | Path, game: _core.Game | PythonGame) -> Proof:
    """A file of `athenan solve --out`, checked by the rules of the game that it is used for."""
    path, made = Path(path), make_game(game)
    found = read_proof(path)
    name = str(found.about["game"].get("name"))
    own = _core.python_game_of(made) is not None or ":" in name
    if not own:
        proven = make_game_of(path, found.about["game"])
        if not proven.same_as(made):
            titles = [f"{g.name} {g.options}".rstrip() for g in (proven, made)]
            raise InputError(f"'{path}' is a proof of game '{titles[0]}', not of '{titles[1]}'.")
    check_by_rules(path, made, found)
    memory = _core.ResolvedMemory(len(found.outcomes))
    values = found.outcomes.astype(np.float32) if found.values is None else found.values
    memory.fill(found.keys, values, found.outcomes)
    return Proof(path, made, memory, found.scale)


def start_state(game: Any, start: str) -> Any:
    state = game.initial_state()
    for word in start.split():
        try:
            state = state.play(state.string_to_action(word))
        except ValueError as error:
            raise InputError(f"Setting 'start': {error}") from None
    return state


def check(path: Path, own_game: str | None = None) -> dict[str, Any]:
    """Verifies a proof file by the rules alone; InputError says what is wrong with it. `own_game`
    is the game of one's own that the file may name."""
    found = read_proof(path)
    about = found.about
    name = about["game"].get("name")
    if own_game and not is_same_name(str(name), own_game):
        raise InputError(f"'{path}' is a proof of game '{name}', not of '{own_game}'.")
    named = {**about["game"], "name": own_game or name}
    game = make_game_of(path, named, trust=own_game is not None)
    started = time.monotonic()
    check_by_rules(path, game, found)
    return {
        "game": about["game"],
        "start": about["start"],
        "strong": about["strong"],
        "outcome": about["outcome"],
        **({"value": about["value"], "heuristic": about["heuristic"]} if found.scale else {}),
        "states": len(found.outcomes),
        "seconds": round(time.monotonic() - started, 3),
    }


def check_by_rules(path: Path, game: _core.Game, found: ProofFile) -> None:
    """By f_t as well where the proof has values."""
    about, state = found.about, start_state(game, found.about["start"])
    try:
        wrong = _core.check_proof(
            state, found.keys, found.outcomes, about["strong"], found.values, **found.scale
        )
    except ValueError as error:  # of the heuristic
        wrong = str(error).rstrip(".")
    if wrong := wrong or wrong_summary(found, state):
        raise InputError(f"The proof '{path}' is wrong: {wrong}.")


def read_proof(path: Path) -> ProofFile:
    whole = False
    about: Any = None
    try:
        arrays = read_arrays(path)
        about = json.loads(str(arrays["about"]))
        keys, outcomes, values = arrays["keys"], arrays["outcomes"], arrays.get("values")
        # Truth values are numbers to Python.
        kinds: dict[str, type] = {"game": dict, "start": str, "strong": bool}
        if values is None:
            kinds |= {"outcome": int}
            whole = outcomes.ndim == 1 and about["outcome"] in WORTH
        else:
            kinds |= {"outcome": list, "value": list, "heuristic": str, "longest": int}
            whole = (
                (values.dtype, values.shape) == (np.float32, outcomes.shape)
                and outcomes.ndim == 2
                and bool(np.isfinite(values).all())
                and bool((np.abs(outcomes) <= 1).all())
                and 0 <= about["longest"] <= MOST_PLIES
                and all(type(own) is int and own in WORTH for own in about["outcome"])
                and all(type(own) in (int, float) for own in about["value"])
            )
        whole = (
            whole
            and all(type(about[name]) is kind for name, kind in kinds.items())
            and (keys.dtype, outcomes.dtype) == (np.uint64, np.int8)
            and keys.shape == (len(outcomes), 2)
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
    return ProofFile(about, keys, outcomes, values)


def wrong_summary(found: ProofFile, state: Any) -> str:
    """What a right proof's own summary says falsely of its start: the game's outcome where that is
    over, else the proof's."""
    about, values = found.about, found.values
    evaluation = _core.TerminalEvaluation(state.game, **found.scale)
    if state.is_terminal:
        outcome = list(state.outcomes) if values is not None else state.outcomes[0]
        value = evaluation(state)
    else:
        key = state.key if values is None else evaluation.key_of(state)
        row = np.array([key & (2**64 - 1), key >> 64], np.uint64)
        at = np.flatnonzero((found.keys == row).all(axis=1))[0]
        outcome = found.outcomes[at].tolist()
        value = None if values is None else values[at].tolist()
    if outcome != about["outcome"]:
        return "its own summary says another outcome"
    if values is not None and list(value) != about["value"]:
        return "its own summary says another value"
    return ""


def worth(outcome: Any) -> str:
    """An outcome in words."""
    if not isinstance(outcome, tuple | list):
        return WORTH[outcome]
    won = [PLACES[player] for player, own in enumerate(outcome) if own == 1]
    if not won:
        lost = [PLACES[player] for player, own in enumerate(outcome) if own == -1]
        return f"nobody wins, the {' and the '.join(lost)} player loses" if lost else "a draw"
    who = f"the {' and the '.join(won)} player"
    return f"{who} wins" if len(won) == 1 else f"{who} win"
