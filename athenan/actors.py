"""Actors: who plays the games that are learned from.

They give records of finished games and take weights and progress; where and in how many processes
they play is their own affair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from athenan import _core
from athenan.checkpoint import Part
from athenan.errors import Failed, InputError
from athenan.playing_network import make_playing
from athenan.records import Array, Block, GameRecord
from athenan.search import (
    Evaluate,
    Known,
    Pending,
    asked,
    core_network,
    num_places,
    values_children,
)
from athenan.self_play import INCARNATION, SelfPlay, saved_games
from athenan.settings import TrainSettings

HERE = Path()


class ActorsGone(Failed):
    """Nobody plays any more; the run can be gone on with."""


class Task(Protocol):
    """A call that another process works on."""

    def result(self, wait: bool = False) -> Any:
        """None while it is not over and nobody waits. Raises Failed where its process died."""
        ...


class Actors(Protocol):
    games: int  # finished ones of the run that have been collected

    def collect(self) -> list[GameRecord]:
        """Plays on for a while; the games that ended meanwhile."""
        ...

    def publish(self, weights: list[Array], progress: float, steps: int = 0) -> None:
        """What they play with from now on, after so many steps; progress of the run, 0 to 1."""
        ...

    def hold(self, holding: bool, ending: bool = False) -> None:
        """Lets the searches under way end without starting others, or starts them again; `ending`
        where the run ends after what is saved then."""
        ...

    @property
    def idle(self) -> bool:
        """No search is running: all there is can be saved."""
        ...

    @property
    def can_be_saved(self) -> bool:
        """Now, though searches run, without any effect on what is played next."""
        ...

    @property
    def beside(self) -> bool:
        """They play while the learner learns, not in turns with it."""
        ...

    @property
    def overlapped(self) -> bool:
        """They play in the learner's process, on its cores, while it learns."""
        ...

    @property
    def full(self) -> bool:
        """They have to be held before much more is played; decided by what was played alone."""
        ...

    def saved(self) -> Part: ...

    def restore(self, part: Part) -> None: ...

    def facts(self) -> dict[str, float]:
        """For reports: `rows`, states evaluated since this process began; `remembered_proofs`;
        `out_of_memory`, searches that memory ended."""
        ...

    def pages(self) -> dict[str, float]:
        """Figures of the layout for TensorBoard, `layout/…`."""
        ...

    def news(self) -> list[str]:
        """Lines for the log since it was asked last."""
        ...

    def starving(self) -> str | None:
        """Which stage of the run waits for which, where any does."""
        ...

    def run_aside(self, function: Callable[..., Any], *arguments: Any) -> Task | None:
        """Another process calls it; None where there is none."""
        ...

    def close(self) -> None: ...


class Kept:
    """Values that can be asked for again."""

    def __init__(self, pending: Pending) -> None:
        self._pending: Pending | None = pending
        self._values: Any = None

    def result(self) -> Any:
        if self._pending is not None:
            self._values, self._pending = np.asarray(self._pending.result()), None
        return self._values


class Answers:
    """What the network answered since no search was running, turn by turn of self-play.

    Searches that run cannot be saved, but they can be played again without the network: from where
    they began, with the same answers.
    """

    MOST_BYTES = 2**28

    def __init__(self, evaluate: Evaluate, width: int = 1) -> None:
        """`width`: answers a state."""
        self.width = width
        self.evaluate = evaluate
        self.of_children = values_children(evaluate)
        self.turns: list[tuple[float, list[Pending]]] = []  # progress of the run, answers
        self.bytes = 0
        self._again: Iterator[Array] | None = None  # while turns are repeated

    def __call__(self, planes: Array) -> Array:
        values: Array = self.start(planes).result()
        return values

    def start(self, planes: Array) -> Pending:
        """As the evaluator does, which may answer later."""
        pending: Pending
        if self._again is not None:
            answers = next(self._again, None)
            if answers is None:
                raise InputError("Self-play asks for more than the network had answered.")
            pending = Known(answers)
        else:
            pending = Kept(asked(self.evaluate, planes))
        self.turns[-1][1].append(pending)
        self.bytes += 4 * len(planes) * self.width
        return pending

    def turn(self, progress: float) -> None:
        self.turns.append((progress, []))

    def clear(self) -> None:
        self.turns.clear()
        self.bytes = 0

    @contextmanager
    def again(self, answers: list[Array]) -> Iterator[None]:
        """A turn is given these answers instead of the network's."""
        self._again = iter(answers)
        try:
            yield
            if next(self._again, None) is not None:
                raise InputError("Self-play asks for less than the network had answered.")
        finally:
            self._again = None

    def saved(self) -> tuple[list[list[float]], list[Array]]:
        """Progress and number of answers of each turn; all answers."""
        facts = [[progress, len(answers)] for progress, answers in self.turns]
        return facts, [pending.result() for _, answers in self.turns for pending in answers]


def saved_turns(facts: Any, arrays: list[Array]) -> Iterator[tuple[float, list[Array]]]:
    """Turns as they were saved."""
    rest = iter(arrays)
    for progress, number in facts:
        yield float(progress), [next(rest) for _ in range(number)]


class InlineActors:
    """Play in the learner's own process, taking turns with it: the run is deterministic."""

    def __init__(self, config: TrainSettings, game: _core.Game) -> None:
        self.games = 0
        self.played = 0  # games that have ended; those beyond `games` are ahead
        self.ahead: list[GameRecord] = []
        self.evaluator = make_playing(config.network, config.self_play, game, config.seed)
        self.in_core = core_network(self.evaluator) is not None
        self.memory = _core.ResolvedMemory(config.resolved.states)
        self.clear_every_games = config.resolved.clear_every_games
        self.repeatable = not config.self_play.seconds  # time is never the same again
        of_children = values_children(self.evaluator)
        width = num_places(game) if of_children else game.value_width
        self.answers = Answers(self.evaluator, width)
        self.self_play = SelfPlay(
            game,
            self.evaluator if self.in_core else self.answers,
            config.search,
            config.heuristic,
            config.self_play,
            config.exploration,
            config.seed,
            self.memory if config.resolved.states else None,
        )
        self._shape = [len(self.self_play.games), config.self_play.groups]
        self._idle_part = self._saved_idle()
        self._collected: list[int] = []  # games, since then

    def collect(self) -> list[GameRecord]:
        records, self.ahead = self.ahead or self.play(), []
        self.games += len(records)
        return records

    def play(self) -> list[GameRecord]:
        """A turn; the games that ended."""
        if self.in_core or not self.repeatable:
            self.answers.clear()
        self.answers.turn(self.self_play.progress)
        records = self.self_play.play_batch()
        self._collected += [record.number for record in records]
        before, self.played = self.played, self.played + len(records)
        every = self.clear_every_games
        if every and self.played // every > before // every:
            self.memory.clear()
        return records

    def publish(self, weights: list[Array], progress: float, _steps: int = 0) -> None:
        self.self_play.wait()
        self.evaluator.assign(weights)
        self.self_play.progress = progress

    def hold(self, holding: bool, ending: bool = False) -> None:  # noqa: ARG002
        self.self_play.hold(holding)

    @property
    def idle(self) -> bool:
        return self.self_play.searching == 0

    @property
    def can_be_saved(self) -> bool:
        return self.in_core or (self.repeatable and not self.self_play.holding)

    beside = False
    overlapped = False

    @property
    def full(self) -> bool:
        return self.answers.bytes > Answers.MOST_BYTES

    def saved(self) -> Part:
        """While searches run: as it was when none did, and what the network has answered since."""
        if self.self_play.searching == 0:
            self._note_idle()
            self.answers.clear()
            return with_ahead(self._idle_part, self.games, self.ahead)
        turns, answers = self.answers.saved()
        idle = self._idle_part
        facts = idle.facts | {
            "games_idle": idle.facts["games"],
            "turns": turns,
            "shape": self._shape,
            "collected": list(self._collected),
            "next_now": self.self_play.next_game,
        }
        part = Part(facts, idle.arrays | {"answers": answers})
        return with_ahead(part, self.games, self.ahead)

    def _note_idle(self) -> None:
        self._idle_part, self._collected = self._saved_idle(), []

    def _saved_idle(self) -> Part:
        part = self.self_play.saved()
        part.facts["games"] = self.played
        part.arrays["resolved"] = list(self.memory.arrays())
        return part

    def restore(self, part: Part) -> None:
        if "turns" in part.facts and part.facts.get("shape", self._shape) != self._shape:
            part = without_turns(part)
        self.games, self.ahead = part.count("games"), games_ahead(part)
        played = self.games + len(self.ahead)
        self.played = part.count("games_idle") if "turns" in part.facts else played
        under_way = [game for game in part.facts["games_under_way"] if game is not None]
        next_game = count_of_games(part, "next_game")
        # Actors of processes give their games numbers of their own.
        if next_game < INCARNATION and next_game != self.played + len(under_way):
            raise InputError("Fact 'next_game' does not fit the games.")
        self.memory.fill(*part.arrays["resolved"])
        self.self_play.restore(part)
        self._note_idle()
        if "turns" in part.facts:
            self._repeat(part)
        if self.played != played:
            raise InputError("Fact 'games' does not fit the games that were played again.")

    def _repeat(self, part: Part) -> None:
        """Plays on to where the searches were; their games have been learned from."""
        for progress, answers in saved_turns(part.facts["turns"], part.arrays["answers"]):
            self.self_play.progress = progress
            with self.answers.again(answers):
                self.play()
        self.self_play.rows = 0  # nothing was evaluated

    def facts(self) -> dict[str, float]:
        return {
            "rows": self.self_play.rows,
            "remembered_proofs": len(self.memory),
            "out_of_memory": self.self_play.out_of_memory,
        }

    def pages(self) -> dict[str, float]:
        return {}

    def news(self) -> list[str]:
        return []

    def starving(self) -> str | None:
        return None

    def run_aside(self, _function: Callable[..., Any], *_arguments: Any) -> Task | None:
        return None

    def close(self) -> None:
        """Nothing runs beside the learner."""


# ---- From one layout to another ----------------------------------------------------------------


def with_ahead(part: Part, games: int, ahead: list[GameRecord]) -> Part:
    """As it is after so many games, with those that nobody has learned from yet."""
    part = Part(part.facts | {"games": games}, part.arrays)
    if not ahead:
        return part
    columns = Block.of(ahead).to_arrays()
    facts = part.facts | {"ahead": list(columns)}
    return Part(facts, part.arrays | {"ahead": list(columns.values())})


def games_ahead(part: Part) -> list[GameRecord]:
    names = part.facts.get("ahead", [])
    if not names:
        return []
    return Block.from_arrays(dict(zip(names, part.arrays["ahead"], strict=True))).games()


def without_turns(part: Part) -> Part:
    """What was saved while searches ran, for actors that cannot repeat them: those searches begin
    again, but for the games that have ended since, which have been learned from."""
    collected = set(part.facts["collected"])
    facts: list[dict[str, Any]] = []
    arrays: list[Array] = []
    for saved in saved_games(part):
        if saved is not None and saved[0]["number"] not in collected:
            facts.append(saved[0])
            arrays += saved[1]
    left = {"turns", "games_idle", "shape", "collected", "next_now"}
    kept = {name: fact for name, fact in part.facts.items() if name not in left}
    fresh = fresh_number(count_of_games(part, "next_now"))
    names = ("resolved", "ahead")
    return Part(
        kept | {"next_game": fresh, "games_under_way": facts},
        {"trees": arrays, **{n: part.arrays[n] for n in names if n in part.arrays}},
    )


def fresh_number(next_game: int) -> int:
    """The first number of an incarnation that no game is of."""
    return -(-next_game // INCARNATION) * INCARNATION


def count_of_games(part: Part, name: str) -> int:
    """A fact that is the number of a game."""
    value = part.facts.get(name)
    if type(value) is not int or not 0 <= value < 2**62:
        raise InputError(f"Fact '{name}' is not a number of a game.")
    return value


def make_actors(config: TrainSettings, game: _core.Game, run: Path = HERE) -> Actors:
    """Those of the config's layout, for the run in that folder."""
    if config.layout.name == "ray":
        from athenan.ray_actors import RayActors  # looks down: Ray only where it is asked for

        return RayActors(config, run)
    if config.layout.overlap:
        from athenan.overlap import OverlappedActors  # looks down: they are InlineActors

        return OverlappedActors(config, game)
    return InlineActors(config, game)
