"""What a game promises of each of its states: each check passes, or says what is broken and how to
mend it."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from athenan.python_game import PythonGame

PROMISES = {
    "facts": "players, longest game, planes and bound of scores make sense",
    "actions": "legal actions ascend, each once; there are none exactly at the end",
    "turns": "the ply counts every action, and a player of the game is to move",
    "outcomes": "None before the end, then -1, 0 or 1 for each player",
    "zero-sum": "one player's gain is the other's loss",
    "scores": "numbers within max_score",
    "planes": "of the game's plane_shape, uint8, zeros and ones",
    "seen": "planes tell the board and who is to move",
    "keys": "states of one key have one future, and no state comes again in a game",
    "unchanged": "playing leaves the state as it was",
    "again": "the same actions lead to the same states, of another object of the game, too",
    "elsewhere": "and in another process",
    "length": "every game ends within max_plies",
    "refusals": "a wrong action is refused by a ValueError that names it",
    "action texts": "each action has a text of its own, which is read back",
    "state texts": "the text of a state is read back",
    "symmetries": "permutations of cells and channels that turn games into games",
}


class Broken(Exception):
    """A promise that is not kept."""

    def __init__(self, wrong: str, mend: str) -> None:
        super().__init__(wrong)
        self.wrong, self.mend = wrong, mend


class Unseen(Exception):
    """This cannot be looked at here: there is none of it, or what it needs is broken."""


def is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def check_facts(game: Any) -> None:
    def fact(name: str, right: Any, mend: str) -> None:
        if not hasattr(game, name):
            raise Broken(f"the game has no {name}", mend)
        value = getattr(game, name)
        if not right(value):
            raise Broken(f"{name} is {value!r}", mend)

    fact("name", lambda v: isinstance(v, str) and v, "name is a text")
    fact("num_players", lambda v: is_whole(v) and 1 <= v <= 6, "num_players is from 1 to 6")
    fact(
        "max_plies", lambda v: is_whole(v) and 1 <= v <= 1_000_000,
        "max_plies is the number of plies of the longest game, from 1 to 1,000,000",
    )  # fmt: skip
    fact(
        "plane_shape", lambda v: len(v) == 3 and all(is_whole(n) and n > 0 for n in v),
        "plane_shape is (rows, columns, channels)",
    )  # fmt: skip
    fact(
        "channels", lambda v: len(v) == game.plane_shape[2], "channels has a text for each channel"
    )
    fact(
        "max_score", lambda v: math.isfinite(v) and v >= 0,
        "max_score is the largest |score|, and 0 in games without a score",
    )  # fmt: skip


def check_symmetry(game: Any, symmetry: Any) -> None:
    rows, columns, channels = game.plane_shape
    if (
        sorted(symmetry.cells) != list(range(rows * columns))
        or sorted(symmetry.channels) != list(range(channels))
        or abs(symmetry.sign) != 1
        or sorted(symmetry.players or range(game.num_players)) != list(range(game.num_players))
    ):
        raise Broken(
            "a symmetry is no permutation of the planes or players, or its sign is not 1 or -1",
            "cells has each of row * columns + column once, channels each channel once",
        )


def check_outcomes(game: Any, state: Any) -> bool:
    """Whether the game is over."""
    over, outcomes = state.is_terminal, state.outcomes
    if not isinstance(over, bool | np.bool_):
        raise Broken(f"is_terminal is {over!r}", "is_terminal is True or False")
    if bool(over) != (outcomes is not None):
        raise Broken(
            f"is_terminal is {over}, and outcomes are {outcomes}",
            "outcomes are None before the end, and at the end one number for each player",
        )
    if outcomes is not None and (
        len(outcomes) != game.num_players or not all(is_whole(o) and -1 <= o <= 1 for o in outcomes)
    ):
        raise Broken(
            f"outcomes are {outcomes}, of {game.num_players} players",
            "at the end each player has lost (-1), drawn (0) or won (1)",
        )
    return bool(over)


def check_zero_sum(outcomes: Any) -> None:
    if sum(outcomes):
        raise Broken(
            f"the game ends with outcomes {outcomes}",
            "of two players one wins what the other loses: (1, -1), (0, 0) or (-1, 1); searches "
            "and training take one value in the first player's view, so none can play this game",
        )


def check_actions(state: Any, over: bool) -> list[int]:
    actions = state.legal_actions()
    if not isinstance(actions, list) or not all(is_whole(a) and 0 <= a < 2**32 for a in actions):
        raise Broken(
            f"legal_actions() is {short(actions)}",
            "legal_actions() is a list of whole numbers from 0 to 2^32 - 1",
        )
    for before, after in itertools.pairwise(actions):
        if before >= after:
            raise Broken(
                f"legal_actions() has {after} after {before}",
                "return each action once, sorted",
            )
    if over and actions:
        raise Broken(
            f"the game is over, but legal_actions() has {short(actions)}",
            "there are no legal actions at the end",
        )
    if not over and not actions:
        raise Broken(
            "there are no legal actions, but the game is not over",
            "end the game there, or give an action that passes",
        )
    return [int(action) for action in actions]


def check_turn(game: Any, state: Any, ply: int, over: bool) -> tuple[int, int]:
    if not is_whole(state.ply) or state.ply != ply:
        raise Broken(f"ply is {state.ply} after {ply} actions", "ply begins with 0 and counts up")
    if not is_whole(state.to_move) or not (0 <= state.to_move < game.num_players or over):
        raise Broken(
            f"to_move is {state.to_move!r}",
            f"the players are 0 to {game.num_players - 1}",
        )
    return int(state.to_move), int(state.ply)


def check_planes(game: Any, state: Any) -> bytes:
    planes = state.planes()
    shape = tuple(game.plane_shape)
    if not isinstance(planes, np.ndarray) or planes.dtype != np.uint8:
        kind = planes.dtype if isinstance(planes, np.ndarray) else type(planes).__name__
        raise Broken(f"planes() is of {kind}", "make it by np.zeros(plane_shape, np.uint8)")
    if planes.shape != shape:
        raise Broken(f"planes() has shape {planes.shape}", f"plane_shape says {shape}")
    if planes.max() > 1:
        raise Broken(
            f"planes() has the value {planes.max()}",
            "planes are zeros and ones: give each value a channel of its own",
        )
    return planes.tobytes()


def check_key(state: Any) -> int:
    if not is_whole(state.key):
        raise Broken(f"the key is {state.key!r}", "the key is a whole number of 128 bits")
    key = int(state.key)
    if not 0 <= key < 2**128:
        raise Broken(f"the key is {key}", "the key is from 0 to 2^128 - 1, as a hash of 16 bytes")
    return key


def check_refusals(state: Any, actions: tuple[int, ...]) -> None:
    mend = "play raises ValueError(f'Action {action} is not legal here.') before anything else"
    least = next(action for action in itertools.count() if action not in actions)
    for wrong in (least, 10**6 + 7, -1):
        if wrong in actions:
            continue
        try:
            state.play(wrong)
        except ValueError as error:
            if str(wrong) not in str(error):
                raise Broken(f"play({wrong}) is refused by '{error}', unnamed", mend) from None
        except Exception as error:
            name = type(error).__name__
            raise Broken(f"play({wrong}) is not legal and raises {name}: {error}", mend) from None
        else:
            raise Broken(f"play({wrong}) is not legal and is played", mend)
    try:
        state.string_to_action("nonsense")
    except ValueError:
        return
    raise Broken(
        "string_to_action('nonsense') is no refusal", "string_to_action raises ValueError there"
    )


def check_action_texts(state: Any, tried: list[int]) -> None:
    mend = "action_to_string has another text for each action, without blanks"
    for action in tried:
        text = state.action_to_string(action)
        if not isinstance(text, str) or text.split() != [text]:
            raise Broken(f"action {action} is written {text!r}", mend)
        back = state.string_to_action(text)
        if back != action:
            raise Broken(f"action {action} is written '{text}', which is read as {back}", mend)


def check_score(game: Any, state: Any, over: bool) -> None:
    if not game.max_score or not over:
        raise Unseen
    scores = state.score if isinstance(state.score, tuple) else (state.score,)
    for score in scores:
        if score is None or not abs(score) <= game.max_score:
            raise Broken(
                f"the score is {score}, max_score {game.max_score:g}",
                "at the end score is a number, and max_score the largest |score| there can be",
            )


def has_texts(game: Any) -> bool:
    """Whether the game reads its states' own texts."""
    return (
        not isinstance(game, PythonGame)
        or type(game).state_from_string is not PythonGame.state_from_string
    )


def check_state_text(game: Any, state: Any) -> None:
    if not has_texts(game):
        raise Unseen
    back = game.state_from_string(str(state))
    mend = "state_from_string reads what str(state) writes"
    if not np.array_equal(back.planes(), state.planes()):
        raise Broken("state_from_string(str(state)) has other planes", mend)
    if not game.has_history and back.key != state.key:
        raise Broken(
            "state_from_string(str(state)) has another key",
            f"{mend}; what only history tells is said by has_history = True",
        )


def mirrored(planes: Any, symmetry: Any) -> bytes:
    """The image of the planes."""
    cells = planes.reshape(-1, planes.shape[2])
    image: bytes = cells[symmetry.cells][:, symmetry.channels].tobytes()
    return image


def short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
