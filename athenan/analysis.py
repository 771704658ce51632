"""`athenan analysis`: JSON lines in and out, for every game and for programs.

A line asks for a state to be thought of, or is a command; each line that comes back carries the id
of the one that asked. Requests wait for their turn; what is wrong with one is its answer.
"""

from __future__ import annotations

import json
import math
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from athenan import _core
from athenan.engine import Budget, Engine
from athenan.errors import InputError, nearest
from athenan.games import game_types, make_game, own_fault
from athenan.lines import LongLine, Out, talk
from athenan.notation import read_actions
from athenan.opponent import make_opponent
from athenan.search import search_for
from athenan.settings import LARGEST, AnalysisSettings
from athenan.thoughts import Thought

FIELDS = (
    "value", "completion", "resolved", "plies_to_end", "evaluations", "iterations", "states",
    "out_of_memory", "action", "line", "decision", "why", "children",
)  # fmt: skip
KNOWN = (
    "id", "game", "start", "actions", "plies", "iterations", "evaluations", "seconds", "endless",
    "fields", "candidates", "every", "fresh", "priority",
)  # fmt: skip
COMMANDS = ("version", "games", "terminate", "terminate_all", "clear", "quit")
LEAST_EVERY = 0.01  # seconds between two lines about one state


def run_analysis(config: AnalysisSettings) -> None:
    analysis = Analysis(config, Out())
    talk(analysis.hear, analysis.close)


@dataclass
class Request:
    """One state to think of; a line that names several plies makes several."""

    id: Any
    game: _core.Game
    settings: dict[str, Any]  # of the game
    start: Any
    actions: list[int]
    budget: Budget
    fields: tuple[str, ...]
    candidates: int | None
    every: float | None  # seconds between lines while it thinks
    fresh: bool  # forget what was known
    priority: int
    terminated: bool = False


class Analysis:
    """Reads lines in one thread, thinks in another; both write."""

    def __init__(self, config: AnalysisSettings, out: Callable[[str], object]) -> None:
        self.config, self._out = config, out
        self.engines: OrderedDict[str, Engine] = OrderedDict()  # the last used last
        self._change = threading.Condition()
        self._waiting: deque[Request] = deque()
        self._current: tuple[Request, Engine] | None = None
        self._ends = False  # when nothing waits any more
        self.engine_of(self.game_of(None))  # what is wrong with the settings is said at the start
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    # ---- What comes in -------------------------------------------------------------------------

    def hear(self, line: str) -> bool:
        """One line; false after `quit`."""
        if not isinstance(line, LongLine) and not line.strip():
            return True
        asked: Any = None
        try:
            asked = as_object(line)
            if "command" in asked:
                return self._obey(asked)
            self._put(self.read(asked))
        except InputError as error:
            self._error(asked, str(error))
        except Exception as error:
            self._error(asked, own_fault(error) or f"{type(error).__name__}: {error}")
        return True

    def read(self, asked: dict[str, Any]) -> list[Request]:
        for key in asked:
            if key not in KNOWN:
                raise InputError(f"There is no field '{key}'{nearest(key, KNOWN)}")
        settings = self.game_of(asked.get("game"))
        game = make_game(**settings)
        start, states, actions = line_of(game, asked)
        request = Request(
            id_of(asked),
            game,
            settings,
            start,
            actions,
            self.budget_of(asked),
            fields_of(asked),
            number(asked, "candidates", int, None, LARGEST),
            number(asked, "every", float, None, 1e9),
            flag(asked, "fresh", True),
            int(number(asked, "priority", int, 0, 2**31, -(2**31)) or 0),
        )
        if request.every is not None:
            request.every = max(LEAST_EVERY, request.every)
        plies = plies_of(asked, len(states) - 1)
        return [replace(request, actions=actions[:ply]) for ply in plies]

    def game_of(self, given: Any) -> dict[str, Any]:
        """`name` and options. The module of a game of one's own runs: only the command line names
        one."""
        own = self.config.game
        if given is None:
            return own
        if isinstance(given, str):
            given = own if given == own["name"] else {"name": given}
        if not isinstance(given, dict) or not isinstance(given.get("name"), str):
            raise InputError("Field 'game' is a name, or an object of 'name' and options.")
        if ":" in given["name"] and given["name"] != own["name"]:
            raise InputError(f"Game '{given['name']}' is code: name it by game=… at the start.")
        return given

    def budget_of(self, asked: dict[str, Any]) -> Budget:
        iterations = number(asked, "iterations", int, None, LARGEST, 1)
        evaluations = number(asked, "evaluations", int, None, LARGEST, 1)
        seconds = number(asked, "seconds", float, None, 1e9)
        if seconds is not None and seconds <= 0:
            raise InputError("Field 'seconds' must be larger than 0.")
        if flag(asked, "endless", False):
            return Budget(iterations, evaluations, seconds, True)
        if iterations or evaluations or seconds:
            return Budget(iterations, evaluations, seconds)
        return Budget(evaluations=self.config.evaluations, seconds=self.config.seconds)

    def _put(self, requests: list[Request]) -> None:
        with self._change:
            room = self.config.pending - len(self._waiting)
            if len(requests) > room:
                raise InputError(f"More than pending={self.config.pending} requests would wait.")
            for request in requests:
                self._waiting.append(request)
            ordered = sorted(self._waiting, key=lambda r: -r.priority)  # keeps the order of equals
            self._waiting = deque(ordered)
            self._change.notify_all()

    # ---- Commands ------------------------------------------------------------------------------

    def _obey(self, asked: dict[str, Any]) -> bool:
        command, known = asked["command"], ("command", "id", "terminate")
        if command not in COMMANDS:
            raise InputError(f"There is no command '{command}'{nearest(str(command), COMMANDS)}")
        for key in asked:
            if key not in known:
                raise InputError(f"Command '{command}' has no field '{key}'{nearest(key, known)}")
        answer: dict[str, Any] = {"id": id_of(asked), "command": command}
        if command == "version":
            from athenan import __version__

            answer["version"] = __version__
        elif command == "games":
            answer["games"] = [
                {key: kind[key] for key in ("name", "title", "options")} for kind in game_types()
            ]
        elif command == "terminate":
            if "terminate" not in asked:
                raise InputError("Command 'terminate' needs the id to end in field 'terminate'.")
            answer["terminated"] = self._terminate(lambda r: same(r.id, asked["terminate"]))
        elif command == "terminate_all":
            answer["terminated"] = self._terminate(lambda _: True)
        elif command == "clear":
            self._terminate(lambda _: True)
            with self._change:
                self._change.wait_for(lambda: self._current is None)
                self.engines.clear()
        self._say(answer)
        return bool(command != "quit")

    def _terminate(self, meant: Callable[[Request], bool]) -> int:
        """Those that wait are answered without a result; the one that is thought of ends now."""
        with self._change:
            ended = [request for request in self._waiting if meant(request)]
            self._waiting = deque(r for r in self._waiting if not meant(r))
            current = self._current
            under_way = current is not None and meant(current[0])
            if current is not None and under_way:
                current[0].terminated = True
                current[1].stop()
        for request in ended:
            self._say({"id": request.id, "ply": self._ply(request), "terminated": True})
        return len(ended) + under_way

    def close(self) -> None:
        """Input has ended: what waits is still answered, but for what would never end."""
        self._terminate(lambda request: request.budget.endless)
        with self._change:
            self._ends = True
            self._change.notify_all()
        self._thread.join()

    # ---- Thinking ------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            with self._change:
                self._change.wait_for(lambda: self._waiting or self._ends)
                if not self._waiting:
                    return
                request = self._waiting.popleft()
            try:
                self._think(request)
            except InputError as error:
                self._error({"id": request.id}, str(error))
            except Exception as error:
                sentence = own_fault(error) or f"{type(error).__name__}: {error}"
                self._error({"id": request.id}, sentence)
            finally:
                with self._change:
                    self._current = None
                    self._change.notify_all()

    def _think(self, request: Request) -> None:
        engine = self.engine_of(request.settings)
        engine.set_line(request.start, request.actions)
        if request.fresh:
            engine.clear()

        def hear(thought: Thought) -> None:
            if not thought.over:
                self._say(self._answer(request, thought))

        with self._change:
            self._current = request, engine
            ended = engine.start(
                request.budget, hear if request.every else None, request.every or 1.0
            )
        thought = ended.result()
        engine.stop()
        self._say(self._answer(request, thought))

    def engine_of(self, settings: dict[str, Any]) -> Engine:
        """One for each game; the one that was not used for longest goes first."""
        key = json.dumps(settings, sort_keys=True)
        if key not in self.engines:
            game = make_game(**settings)
            search = {**self.config.search, "name": search_for(game, self.config.search["name"])}
            config = replace(self.config, game=settings, search=search)
            made = make_opponent(game, config).engine
            while len(self.engines) >= self.config.engines:
                self.engines.popitem(last=False)
            self.engines[key] = made
        self.engines.move_to_end(key)
        return self.engines[key]

    # ---- What goes out -------------------------------------------------------------------------

    def _answer(self, request: Request, thought: Thought) -> dict[str, Any]:
        figures = thought.figures(request.candidates)
        figures["during"] = not figures.pop("over")
        asked = {key: value for key, value in figures.items() if key not in FIELDS}
        asked |= {key: figures[key] for key in request.fields if key in figures}
        if request.terminated:
            asked["terminated"] = True
        if thought.state.is_terminal:
            asked |= {"outcomes": thought.state.outcomes, "score": thought.state.score}
        return {"id": request.id, **asked}

    def _ply(self, request: Request) -> int:
        return int(request.start.ply) + len(request.actions)

    def _error(self, asked: Any, sentence: str) -> None:
        known = isinstance(asked, dict) and is_id(asked.get("id"))
        self._say({"id": asked["id"] if known else None, "error": sentence})

    def _say(self, answer: dict[str, Any]) -> None:
        self._out(json.dumps(answer) + "\n")


# ---- Fields --------------------------------------------------------------------------------------


def as_object(line: str) -> dict[str, Any]:
    if isinstance(line, LongLine):
        raise InputError("This line is too long.")
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"This line is no JSON: {error}.") from None
    if not isinstance(found, dict):
        raise InputError("A line is a JSON object.")
    return found


def is_id(given: Any) -> bool:
    return isinstance(given, str | int) and not isinstance(given, bool) and len(str(given)) <= 1000


def same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def id_of(asked: dict[str, Any]) -> Any:
    if "id" not in asked:
        raise InputError("Field 'id' is missing: a text or a whole number.")
    if not is_id(asked["id"]):
        raise InputError("Field 'id' is a text or a whole number.")
    return asked["id"]


def number(
    asked: dict[str, Any], key: str, kind: type, default: Any, high: float, low: float = 0
) -> Any:
    value = asked.get(key, default)
    if value is None or key not in asked:
        return default
    what = "a whole number" if kind is int else "a number"
    right = isinstance(value, int) if kind is int else isinstance(value, int | float)
    if not right or isinstance(value, bool):
        raise InputError(f"Field '{key}' is {what}.")
    if not low <= value <= high or (isinstance(value, float) and not math.isfinite(value)):
        raise InputError(f"Field '{key}' is {what} between {low:g} and {high:g}.")
    return value


def flag(asked: dict[str, Any], key: str, default: bool) -> bool:
    value = asked.get(key, default)
    if not isinstance(value, bool):
        raise InputError(f"Field '{key}' is true or false.")
    return value


def fields_of(asked: dict[str, Any]) -> tuple[str, ...]:
    given = asked.get("fields", list(FIELDS))
    if not isinstance(given, list) or not all(isinstance(field, str) for field in given):
        raise InputError("Field 'fields' is a list of names.")
    for field in given:
        if field not in FIELDS:
            raise InputError(f"There is nothing called '{field}' to tell{nearest(field, FIELDS)}")
    return tuple(given)


def line_of(game: _core.Game, asked: dict[str, Any]) -> tuple[Any, list[Any], list[int]]:
    """Where it starts, the states from there on and the actions between them."""
    start = asked.get("start")
    if start is None:
        state = game.initial_state()
    elif isinstance(start, str):
        try:
            state = game.state_from_string(start)
        except ValueError as error:
            raise InputError(f"Field 'start': {error}") from None
    else:
        raise InputError("Field 'start' is the text of a state.")
    given = asked.get("actions", [])
    if isinstance(given, str):
        given = given.split()
    if not isinstance(given, list):
        raise InputError("Field 'actions' is a list of texts and numbers.")
    states, actions = [state], []
    for i, word in enumerate(given):
        for action in actions_of(states[-1], word, i):
            states.append(states[-1].play(action))
            actions.append(action)
    return state, states, actions


def actions_of(state: Any, word: Any, place: int) -> list[int]:
    """A text as people write it, or a number; of a turn with several actions also all of them."""
    try:
        if isinstance(word, str):
            return read_actions(state, word)
        if isinstance(word, int) and not isinstance(word, bool):
            if word in state.legal_actions():
                return [word]
            raise InputError(f"{word} is no action here.")
    except ValueError as error:
        raise InputError(f"Field 'actions', {place + 1}: {error}") from None
    raise InputError("Field 'actions' is a list of texts and numbers.")


def plies_of(asked: dict[str, Any], last: int) -> list[int]:
    """How many actions are played before it thinks; by default all."""
    given = asked.get("plies", [last])
    if given == "all":
        return list(range(last + 1))
    right = isinstance(given, list) and all(
        isinstance(ply, int) and not isinstance(ply, bool) and 0 <= ply <= last for ply in given
    )
    if not right:
        raise InputError(f"Field 'plies' is \"all\", or a list of numbers from 0 to {last}.")
    return list(given)
