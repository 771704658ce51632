"""Finished games of players on disk: one plain line of JSON each, for every game there is.

A line stands for itself: the game with its options, the actions as text, who sat where, how it
ended. Lines are appended whole, by any number of processes; a kill loses at most the line that is
being written, which is ignored when the file is read and cut off before the next one is appended.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from athenan import _core
from athenan.errors import InputError
from athenan.files import open_plain
from athenan.games import make_game_of, replayed_state, settings_of

FORMAT = 1
BEGINNING = b'{"format": '  # of every line
LARGEST_LINE = 2**22  # bytes
MOST_ACTIONS = 1_000_000
MOST_SCORE = 1e15
CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # a terminal would obey them


@dataclass(frozen=True)
class SavedPlayer:
    """Who sat in a seat."""

    text: str  # who it is, in full
    version: str | None = None
    options: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None


@dataclass(frozen=True)
class Forfeit:
    """Who gave a game away by no action of it, and how."""

    seat: int
    sentence: str
    resigned: bool = False  # a loss like any other


@dataclass(frozen=True)
class SavedGame:
    """A game, from its start to where it ended."""

    game: dict[str, Any]  # name and options, as make_game takes them
    players: list[SavedPlayer]  # of each seat
    actions: list[str]  # from the start on, those of the opening included
    opening: int = 0  # how many of the actions no player chose
    start: str | None = None  # the text of another start than the initial state
    outcomes: list[int] | None = None  # of each seat; None where the game did not end
    score: float | list[float] | None = None
    forfeit: Forfeit | None = None
    event: str = ""  # what it was part of
    number: int = 0  # … and its number there
    athenan: str = ""  # version
    date: str = ""  # when it ended

    def to_json(self) -> str:
        """One line, without its end."""
        return json.dumps({"format": FORMAT, **asdict(self)}, allow_nan=False, default=str)

    @classmethod
    def from_json(cls, line: str) -> SavedGame:
        """ValueError, with a sentence, for whatever to_json did not write."""
        try:
            row = json.loads(line, parse_constant=refuse)
        except RecursionError:
            raise ValueError("It is nested too deeply.") from None
        except ValueError:
            raise ValueError("It is no JSON.") from None
        return read_row(row)

    def states(self, source: str | Path = "the saved game", trust: bool = False) -> list[Any]:
        """From the start to the end, by the rules: InputError where they say something else than
        the file. A game of one's own is code, and a file must not choose what runs: it has to be
        named by the user, or trusted."""
        game = make_game_of(Path(source), self.game, trust)
        try:
            state = game.initial_state()
            if self.start is not None:
                state = game.state_from_string(self.start)
        except ValueError as error:
            raise InputError(f"'{source}' has no right start: {error}") from None
        states = [state]
        for number, text in enumerate(self.actions, 1):
            try:
                state = state.play(state.string_to_action(text))
            except ValueError:
                raise InputError(
                    f"In '{source}' action {number}, '{text}', is against the rules."
                ) from None
            states.append(state)
        told = None if self.outcomes is None else tuple(self.outcomes)
        if self.forfeit is None and state.outcomes != told:
            raise InputError(
                f"In '{source}' the outcomes are {told}; by the rules they are {state.outcomes}."
            )
        return states


def saved_game(
    state: _core.State,
    opening: int,
    players: Sequence[Any],
    *,
    forfeit: Forfeit | None = None,
    event: str = "",
    number: int = 0,
) -> SavedGame:
    """Of the state where a game ended, which knows its way from the start; `opening` actions of it
    no player chose. The players, of each seat, have a `text` and `facts` (of SavedPlayer)."""
    from athenan import __version__

    start, actions = state.history
    at = replayed_state(state.game, start, [])
    told = start if isinstance(start, str) or start is None else str(at)
    texts = []
    for action in actions:
        texts.append(at.action_to_string(action))
        at = at.play(action)
    outcomes = None if state.outcomes is None else list(state.outcomes)
    if forfeit is not None:
        outcomes = [-1 if seat == forfeit.seat else 1 for seat in range(len(players))]
    score = state.score
    return SavedGame(
        settings_of(state.game),
        [SavedPlayer(player.text, **player.facts) for player in players],
        texts,
        opening,
        told,
        outcomes,
        list(score) if isinstance(score, tuple) else score,
        forfeit,
        event,
        number,
        __version__,
        datetime.now(UTC).isoformat(timespec="seconds"),
    )


def refuse(number: str) -> None:
    raise ValueError(f"{number} is no number.")


# ---- Reading -------------------------------------------------------------------------------------


def read_games(path: Path) -> Iterator[SavedGame]:
    """One after the other, so that a file may be larger than memory. InputError names the line that
    is wrong; a last line without its end, as a kill leaves it, is none."""
    try:
        file = open_plain(path)
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {error.strerror}.") from None
    with file:
        number = 0
        while line := file.readline(LARGEST_LINE + 1):
            number += 1
            if len(line) > LARGEST_LINE:
                raise InputError(f"'{path}', line {number}: It is too long for a saved game.")
            if not line.strip():
                continue
            try:
                game = SavedGame.from_json(line.decode())
            except ValueError as error:
                if not line.endswith(b"\n"):
                    return
                said = "It is no text." if isinstance(error, UnicodeDecodeError) else error
                raise InputError(f"'{path}', line {number}: {said}") from None
            yield game


def read_row(row: Any) -> SavedGame:
    """Of the types that it should be, or a ValueError."""
    if not isinstance(row, dict) or "format" not in row:
        raise ValueError("It is no saved game.")
    if row.pop("format") != FORMAT:
        raise ValueError("It is a saved game of another version of athenan.")
    taken = Fields(row)
    game = SavedGame(
        game=taken.of("game", dict),
        players=[read_player(one) for one in taken.of("players", list)],
        actions=taken.texts("actions"),
        opening=taken.of("opening", int),
        start=taken.of("start", str, None),
        outcomes=taken.of("outcomes", list, None),
        score=taken.of("score", int, float, list, None),
        forfeit=read_forfeit(taken.of("forfeit", dict, None)),
        event=taken.of("event", str),
        number=taken.of("number", int),
        athenan=taken.of("athenan", str),
        date=taken.of("date", str),
    )
    seats = len(game.players)
    scores = game.score if isinstance(game.score, list) else [game.score or 0]
    if not isinstance(game.game.get("name"), str):
        raise ValueError("It names no game.")
    if not (1 <= seats <= 64 and 0 <= game.opening <= len(game.actions) <= MOST_ACTIONS):
        raise ValueError("Its counts of players or actions are wrong.")
    if game.outcomes is not None and (
        len(game.outcomes) != seats
        or any(type(outcome) is not int or abs(outcome) > 1 for outcome in game.outcomes)
    ):
        raise ValueError("Its outcomes are not -1, 0 or 1 for each player.")
    if not all(type(score) in (int, float) and abs(score) < MOST_SCORE for score in scores):
        raise ValueError("Its score is no number.")
    if game.forfeit is not None and not 0 <= game.forfeit.seat < seats:
        raise ValueError("It has no seat that forfeits.")
    return game


def read_player(row: Any) -> SavedPlayer:
    taken = Fields(row)
    return SavedPlayer(
        taken.of("text", str),
        taken.of("version", str, None),
        taken.of("options", dict),
        taken.of("seed", int, None),
    )


def read_forfeit(row: Any) -> Forfeit | None:
    if row is None:
        return None
    taken = Fields(row)
    resigned = "resigned" in taken.row and taken.of("resigned", bool)
    return Forfeit(taken.of("seat", int), taken.of("sentence", str), resigned)


class Fields:
    """The values of a line by their names."""

    def __init__(self, row: Any) -> None:
        if not isinstance(row, dict):
            raise ValueError("A part of it is no object.")
        self.row = row

    def of(self, name: str, *kinds: type | None) -> Any:
        """Of exactly one of the kinds, texts without what a terminal would obey."""
        if name not in self.row:
            raise ValueError(f"It has no '{name}'.")
        value = self.row[name]
        if (type(value) if value is not None else None) not in kinds:
            raise ValueError(f"Its '{name}' is of a wrong kind.")
        return plain(value) if isinstance(value, str) else value

    def texts(self, name: str) -> list[str]:
        values = self.of(name, list)
        if not all(isinstance(value, str) for value in values):
            raise ValueError(f"Its '{name}' are no texts.")
        return [plain(value) for value in values]


def plain(text: str) -> str:
    return CONTROLS.sub("�", text)


# ---- Writing -------------------------------------------------------------------------------------


def append_game(path: Path, game: SavedGame) -> None:
    """Whole when this returns. Others may append at the same time, where the disk knows locks."""
    line = (game.to_json() + "\n").encode()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
    try:
        with suppress(OSError):  # of disks without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        try:
            mend(descriptor)
        except InputError as error:
            raise InputError(f"'{path}' has something else in it: {error}") from None
        size = os.fstat(descriptor).st_size
        try:
            write_all(descriptor, line)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(descriptor, size)
            error.filename = str(path)
            raise
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def mend(descriptor: int) -> None:
    """Cuts off a last line that was not written to its end; one that lacks only its end gets it."""
    size = os.fstat(descriptor).st_size
    if not size or os.pread(descriptor, 1, size - 1) == b"\n":
        return
    tail = os.pread(descriptor, LARGEST_LINE, max(0, size - LARGEST_LINE))
    begin = tail.rfind(b"\n") + 1
    try:
        SavedGame.from_json(tail[begin:].decode())
    except ValueError:
        torn = tail[begin:]
        if torn.startswith(BEGINNING) or BEGINNING.startswith(torn):
            os.ftruncate(descriptor, size - len(torn))
            return
        raise InputError("Its last line is no saved game.") from None
    write_all(descriptor, b"\n")
