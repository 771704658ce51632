"""What every game promises, looked at in random games.

A promise is looked at wherever a game leads; of each that is broken the first fault is kept, with
the actions that show it and how to mend it.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from athenan._core import WrongGame
from athenan.errors import InputError
from athenan.promises import (
    Broken,
    Unseen,
    check_action_texts,
    check_actions,
    check_facts,
    check_key,
    check_outcomes,
    check_planes,
    check_refusals,
    check_score,
    check_state_text,
    check_symmetry,
    check_turn,
    check_zero_sum,
    has_texts,
    mirrored,
)
from athenan.python_game import PythonGame

LOOKED_AT = 4  # actions of a state that are tried
NEAR = (3, 4)  # plies around a state in which ways may meet, and actions of each
FOLLOWED, FOLLOWED_PLIES = 40, 300  # meetings of two ways to one key, and how far they go on
MIRRORED_PLIES = 20  # of a game that is followed in a symmetry
MIRRORED = 3  # symmetries a game


@dataclass(frozen=True)
class Fault:
    """What is wrong, how to mend it, and the actions from the start that show it."""

    wrong: str
    mend: str
    actions: list[str]


@dataclass(frozen=True)
class Seen:
    """What is seen of a state, and how it was reached: the first actions of a line."""

    to_move: Any
    ply: Any
    over: Any
    outcomes: Any
    actions: tuple[int, ...]
    planes: bytes
    key: Any
    line: list[int]
    length: int

    @property
    def future(self) -> tuple[Any, ...]:
        """What a key stands for; the ply only where the rules use it."""
        return self.to_move, self.actions, self.over, self.outcomes, self.planes

    @property
    def path(self) -> list[int]:
        return self.line[: self.length]


class Contract:
    """Of one game, built-in or written in Python; `again` makes the same game another time, and
    `told` is called at every state."""

    def __init__(
        self, game: Any, again: Callable[[], Any], told: Callable[[], None] = lambda: None
    ) -> None:
        self.game, self.again, self.told = game, again, told
        self.faults: dict[str, Fault] = {}
        self.looked_at: set[str] = set()
        self.states = 0
        self.games: list[list[int]] = []  # the actions of each
        self._by_key: dict[Any, Seen] = {}
        self._by_planes: dict[bytes, Seen] = {}
        self._followed = 0

    def look(self, promise: str, line: list[int], check: Callable[[], Any]) -> Any:
        """What the check returns, or None where it has found the promise broken."""
        try:
            answer = check()
        except Broken as broken:
            self._note(promise, broken.wrong, broken.mend, line)
        except Unseen:
            return None
        except Exception as error:
            mend = "the rules answer in every state that is reached by legal actions"
            self._note(promise, raised(error), mend, line)
        else:
            self.looked_at.add(promise)
            return answer
        return None

    def _note(self, promise: str, wrong: str, mend: str, line: list[int]) -> None:
        if promise not in self.faults:
            self.faults[promise] = Fault(wrong, mend, self._texts(line))

    def _texts(self, line: list[int]) -> list[str]:
        """As players write them, or where that fails as numbers."""
        texts = []
        try:
            state = self.game.initial_state()
            for action in line:
                texts.append(str(state.action_to_string(action)))
                state = state.play(action)
        except Exception:
            return [str(action) for action in line]
        return texts

    # ---- Games -------------------------------------------------------------------------------

    def look_at_facts(self) -> bool:
        """Whether the facts and the initial state are there, without which no game is played."""
        self.look("facts", [], lambda: check_facts(self.game))
        self.look("facts", [], self.game.initial_state)
        return "facts" not in self.faults

    def play(self, seed: int) -> None:
        """One random game, and what is near one of its states."""
        random, line = Random(seed), list[int]()
        self.games.append(line)
        states = [self.game.initial_state()]
        keys: dict[int, int] = {}  # and the plies they were met at
        while (seen := self._look_at(states[-1], line, random)) is not None:
            if seen.key is not None:
                self.look("keys", line, lambda: check_new(keys, seen))
            if not seen.over:
                self.look("length", line, lambda: self._check_length(line))
            if seen.over or "length" in self.faults:
                break
            line.append(random.choice(seen.actions))
            child = self.look("actions", line, lambda: self._child(states[-1], line[-1]))
            if child is None:
                line.pop()
                break
            states.append(child)
        self.look("again", line, lambda: self._play_again(line))
        self.look("state texts", line, lambda: self._read_line(line, states[-1]))
        self._look_at_symmetries(line, random)
        ply = random.randrange(len(states))
        self._look_near(states[ply], line[:ply], random, NEAR[0])

    def _check_length(self, line: list[int]) -> None:
        most = self.game.max_plies
        if len(line) >= most:
            raise Broken(
                f"the game is not over after its max_plies, {most}",
                "end it there, say with a draw, or make max_plies the plies of the longest game",
            )

    def _look_at_symmetries(self, line: list[int], random: Random) -> None:
        shown = line[:MIRRORED_PLIES]
        for symmetry in self._some(self.game.symmetries, random, MIRRORED):
            self.look("symmetries", [], partial(check_symmetry, self.game, symmetry))
            if "symmetries" not in self.faults:
                self.look("symmetries", shown, partial(self._mirror, symmetry, shown))

    def _child(self, state: Any, action: int) -> Any:
        child = state.play(action)
        if child is None:
            raise Broken(f"play({action}) returns nothing", "play returns the new state")
        return child

    def _look_near(self, state: Any, line: list[int], random: Random, plies: int) -> None:
        """Short ways from a state, which meet where the order of actions makes no difference."""
        if plies == 0 or self.faults.keys() & {"actions", "turns", "outcomes", "planes"}:
            return
        for action in self._some(state.legal_actions(), random, NEAR[1]):
            child, longer = state.play(action), [*line, action]
            self._observe(child, longer)
            self._look_near(child, longer, random, plies - 1)

    @staticmethod
    def _some(items: Any, random: Random, most: int) -> list[Any]:
        return list(items) if len(items) <= most else random.sample(list(items), most)

    # ---- States ------------------------------------------------------------------------------

    def _look_at(self, state: Any, line: list[int], random: Random) -> Seen | None:
        seen = self._observe(state, line)
        if seen is None:
            return None
        tried = self._some(seen.actions, random, LOOKED_AT)
        self.look("unchanged", line, lambda: self._check_unchanged(state, seen, tried))
        self.look("refusals", line, lambda: check_refusals(state, seen.actions))
        self.look("action texts", line, lambda: check_action_texts(state, tried))
        self.look("scores", line, lambda: check_score(self.game, state, seen.over))
        self.look("state texts", line, lambda: check_state_text(self.game, state))
        return seen

    def _observe(self, state: Any, line: list[int]) -> Seen | None:
        """What is seen of the state; none where the game cannot go on from it."""
        self.states += 1
        self.told()
        game, line = self.game, line if line is self.games[-1] else list(line)
        over = self.look("outcomes", line, lambda: check_outcomes(game, state))
        actions = self.look("actions", line, lambda: check_actions(state, bool(over)))
        turn = self.look("turns", line, lambda: check_turn(game, state, len(line), bool(over)))
        planes = self.look("planes", line, lambda: check_planes(game, state))
        key = self.look("keys", line, lambda: check_key(state))
        if over is None or actions is None:
            return None
        outcomes = tuple(state.outcomes) if over else None
        if over and game.num_players == 2:
            self.look("zero-sum", line, lambda: check_zero_sum(outcomes))
        to_move, ply = turn or (None, None)
        seen = Seen(
            to_move, ply, over, outcomes, tuple(actions), planes or b"", key, line, len(line)
        )
        if turn is not None and planes is not None:
            self.look("seen", line, lambda: self._compare_planes(seen))
            if key is not None:
                self.look("keys", line, lambda: self._compare_keys(state, seen))
        return seen

    def _compare_planes(self, seen: Seen) -> None:
        known = self._by_planes.setdefault(seen.planes, seen)
        if known.over or seen.over:
            return
        other = self._way(known)
        if known.to_move != seen.to_move:
            raise Broken(
                f"the planes are those of the state {other}, but another player is to move",
                "a channel that is all 1 when the second player is to move tells who is",
            )
        if known.actions != seen.actions and not self.game.has_history:
            raise Broken(
                f"the planes are those of the state {other}, where other actions are legal",
                "planes show all that the rules look at; what only history tells is said by "
                "has_history = True",
            )

    def _compare_keys(self, state: Any, seen: Seen) -> None:
        known = self._by_key.setdefault(seen.key, seen)
        if known.path == seen.path:
            return
        mend = "the key is made of everything the rest of the game depends on"
        names = ("player to move", "legal actions", "end", "outcomes", "planes")
        for name, one, other in zip(names, known.future, seen.future, strict=True):
            if one != other:
                raise Broken(
                    f"the key is that of the state {self._way(known)}, the {name} not", mend
                )
        if self._followed < FOLLOWED:
            self._followed += 1
            self._follow(state, known, Random(self._followed))

    def _follow(self, state: Any, known: Seen, random: Random) -> None:
        """The same actions from both states of one key must find the same."""
        other, since = self._replayed(known.path), list[str]()
        for _ in range(FOLLOWED_PLIES):
            views = [(s.outcomes, s.legal_actions(), s.to_move) for s in (state, other)]
            if views[0] != views[1]:
                raise Broken(
                    f"the key is that of the state {self._way(known)}, but after "
                    f"'{' '.join(since)}' they differ",
                    "the key is made of everything the rest of the game depends on, the ply, too, "
                    "where the rules count it",
                )
            if not views[0][1]:
                return
            action = random.choice(views[0][1])
            since.append(str(action))
            state, other = state.play(action), other.play(action)

    def _replayed(self, line: list[int]) -> Any:
        state = self.game.initial_state()
        for action in line:
            state = state.play(action)
        return state

    def _way(self, seen: Seen) -> str:
        texts = self._texts(seen.path)
        return f"after '{' '.join(texts)}'" if texts else "at the start"

    def _check_unchanged(self, state: Any, seen: Seen, tried: list[int]) -> None:
        if seen.key is None or not seen.planes:
            raise Unseen
        for action in tried:
            if state.play(action) is state:
                raise Broken(f"play({action}) returns the state itself", UNCHANGED)
        before = (seen.key, seen.planes, seen.ply, seen.to_move, seen.actions)
        planes = np.ascontiguousarray(state.planes()).tobytes()
        after = (state.key, planes, state.ply, state.to_move, tuple(state.legal_actions()))
        names = ("key", "planes", "ply", "player to move", "legal actions")
        for name, one, other in zip(names, before, after, strict=True):
            if one != other:
                raise Broken(
                    f"the state's {name} is another after its actions were played", UNCHANGED
                )

    def _play_again(self, line: list[int]) -> None:
        """In a new object of the game."""
        if "keys" in self.faults:
            raise Unseen
        ours, theirs = self.game.initial_state(), self.again().initial_state()
        for ply in range(len(line) + 1):
            if ours.key != theirs.key or ours.legal_actions() != theirs.legal_actions():
                raise Broken(
                    f"after {ply} of these actions another object of the game has another key or "
                    "other actions",
                    "states depend on nothing but the options and the actions: not on addresses "
                    "(write a __repr__), on random numbers or on what was played before",
                )
            if ply < len(line):
                ours, theirs = ours.play(line[ply]), theirs.play(line[ply])

    def _read_line(self, line: list[int], end: Any) -> None:
        """By default a state in Python is read from the texts of its actions."""
        if not isinstance(self.game, PythonGame) or has_texts(self.game):
            raise Unseen
        text = " ".join(self._texts(line))
        if self.game.state_from_string(text).key != end.key:
            raise Broken(
                "state_from_string of these actions is another state",
                "texts of actions have no blanks and differ from one another in every state",
            )

    def _mirror(self, symmetry: Any, line: list[int]) -> None:
        """Where the start is its own image, the image of a game is a game."""
        state = image = self.game.initial_state()
        if mirrored(state.planes(), symmetry) != state.planes().tobytes():
            return
        mend = (
            "transformed[cell, channel] = planes[cells[cell], channels[channel]], cells row by "
            "row, and sign -1 where two players change places (players, where more do)"
        )
        for ply, action in enumerate(line):
            state = state.play(action)
            wanted = mirrored(state.planes(), symmetry)
            children = (image.play(other) for other in image.legal_actions())
            image = next((c for c in children if c.planes().tobytes() == wanted), None)
            if image is None:
                number = list(self.game.symmetries).index(symmetry)
                wrong = f"after {ply + 1} actions the image by symmetry {number} is no state"
                raise Broken(wrong, mend)
        if state.is_terminal:
            ends = state.outcomes, image.outcomes
            players = symmetry.players or range(self.game.num_players)
            wanted_end = tuple(ends[0][player] for player in players)
            if self.game.num_players == 2 and not symmetry.players and symmetry.sign == -1:
                wanted_end = wanted_end[::-1]
            if ends[1] != wanted_end:
                raise Broken(f"the game ends with {ends[0]}, its image with {ends[1]}", mend)


def check_new(keys: dict[int, int], seen: Seen) -> None:
    """A game is finite: none of its states comes again."""
    before = keys.setdefault(seen.key, seen.length)
    if before != seen.length:
        raise Broken(
            f"the key is that of the state {seen.length - before} plies before",
            "where the board can come again, the key holds the ply, or what was repeated so far",
        )


UNCHANGED = "play makes a new state; a frozen dataclass of tuples cannot be changed by mistake"


def raised(error: Exception) -> str:
    """The error with its place in the game's own file."""
    ours = str(Path(__file__).parent)
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if not frame.filename.startswith(ours)]
    if isinstance(error, InputError | WrongGame) or not theirs:
        return str(error).rstrip(".")
    at = theirs[-1]
    place = f"{Path(at.filename).name}, line {at.lineno}, in {at.name}"
    return f"{type(error).__name__}: {error} ({place})"
