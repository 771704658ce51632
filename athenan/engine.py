"""The engine behind every shell: a line of states, and a search that thinks of the last of them.

It thinks in the caller's thread (`think`) or in one of its own (`start`, `stop`), and tells what it
knows meanwhile. All else may be asked from any thread: while it thinks, the search answers between
two of its steps. What the search knows is kept from state to state.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from athenan import _core
from athenan.errors import InputError
from athenan.search import Search, SearchResult, core_network
from athenan.thoughts import Thought, below, decision_of
from athenan.time_control import LEAST_SECONDS, TimeLeft, turns_to_go, typical_plies

EVERY_SECONDS = 0.25  # between two events
NOBODY_YET = 0  # no thread has this number
T = TypeVar("T")
OnThought = Callable[[Thought], object]


@dataclass(frozen=True)
class Budget:
    """Of a thought: it ends when any of these is spent, or the state is resolved. Without any the
    state has to be resolved; `endless` thoughts end when they are stopped."""

    iterations: int | None = None
    evaluations: int | None = None
    seconds: float | None = None
    endless: bool = False


ENDLESS = Budget(endless=True)


def part_of(budget: Budget, state: Any) -> Budget:
    """For one action of a turn that has several: half of the seconds that are left."""
    if budget.seconds is None or not state.part_of_turn:
        return budget
    return replace(budget, seconds=budget.seconds / 2)


def turn_goes_on(before: Any, after: Any) -> bool:
    """Whether the same player acts on in a turn of several actions."""
    return bool(after.part_of_turn and not after.is_terminal and after.to_move == before.to_move)


class Engine:
    """`budget` is that of a thought which is given none."""

    def __init__(self, search: Search, budget: Budget = ENDLESS) -> None:
        self.search, self.game, self.budget = search, search.game, budget
        self.decision, self.variant = decision_of(search.settings)
        self.states: list[Any] = [self.game.initial_state()]
        self.actions: list[int] = []
        self.thoughts: list[Thought | None] = [None]  # the last of each state of the line
        self._lock = threading.RLock()  # of who thinks, and of questions meanwhile
        self._thinking: int | None = None  # the thread
        self._thread: threading.Thread | None = None
        self._ended: Future[Thought] | None = None
        self._stop = threading.Event()
        self._questions: deque[tuple[Callable[[], Any], Future[Any]]] = deque()
        self._typical_plies: int | None = None

    # ---- The line ------------------------------------------------------------------------------

    @property
    def state(self) -> Any:
        return self.states[-1]

    def play(self, action: int) -> None:
        """One that is not legal is a ValueError that names it, and changes nothing."""
        self.stop()
        following = self.state.play(action)
        self.states.append(following)
        self.actions.append(action)
        self.thoughts.append(None)

    def undo(self, plies: int = 1) -> bool:
        """False where there are not so many; then nothing changes."""
        if not 0 <= plies < len(self.states):
            return False
        self.stop()
        for _ in range(plies):
            self.states.pop()
            self.actions.pop()
            self.thoughts.pop()
        return True

    def set_line(self, start: Any = None, actions: Iterable[int] = ()) -> None:
        """From any start, by default the game's. What was thought of the states that stay is kept;
        an action that is not legal is a ValueError, and changes nothing."""
        states = [self.game.initial_state() if start is None else start]
        if isinstance(states[0], _core.State) and not states[0].game.same_as(self.game):
            raise InputError("This state is of another game than the engine's.")
        played = list(actions)
        shared = 1 if states[0] == self.states[0] else 0
        if shared:
            states = [self.states[0]]
        for i, action in enumerate(played):
            if shared == i + 1 and self.actions[i : i + 1] == [action]:
                states.append(self.states[i + 1])
                shared += 1
            else:
                states.append(states[-1].play(action))
        self.stop()
        kept = self.thoughts[:shared]
        self.states, self.actions = states, played
        self.thoughts = kept + [None] * (len(states) - shared)

    # ---- Thinking ------------------------------------------------------------------------------

    @property
    def thinking(self) -> bool:
        return self._thinking is not None

    def think(
        self,
        budget: Budget | None = None,
        on_thought: OnThought | None = None,
        every: float = EVERY_SECONDS,
        turn: bool = False,
    ) -> Thought:
        """In the caller's thread. `on_thought` is told what is known every so many seconds, and at
        the end; `stop` from another thread, or from it, ends it at once. `turn`: all actions of the
        turn are found, in one budget of seconds, and are in the last thought's `turn`."""
        self._begin()
        return self._run(self.state, budget or self.budget, on_thought, every, turn)

    def start(
        self,
        budget: Budget | None = None,
        on_thought: OnThought | None = None,
        every: float = EVERY_SECONDS,
        turn: bool = False,
    ) -> Future[Thought]:
        """The same in a thread of its own; `on_thought` is called there. The future has the last
        thought, or the error that ended it."""
        self._begin()
        state, budget = self.state, budget or self.budget
        return self._in_thread(lambda: self._run(state, budget, on_thought, every, turn))

    def _in_thread(self, work: Callable[[], Thought]) -> Future[Thought]:
        ended: Future[Thought] = Future()

        def run() -> None:
            try:
                ended.set_result(work())
            except BaseException as error:
                ended.set_exception(error)

        self._ended, self._thread = ended, threading.Thread(target=run, daemon=True)
        self._thread.start()
        return ended

    def stop(self) -> Thought | None:
        """Ends what is thought of; the last thought of a thread of its own, once it has ended.
        From within `on_thought` it returns at once."""
        with self._lock:
            if self.thinking:
                self._stop.set()
                self.search.core.stop()
        thread = self._thread
        if thread is None or thread is threading.current_thread():
            return None
        thread.join()
        ended, self._thread, self._ended = self._ended, None, None
        return ended.result() if ended and not ended.exception() else None

    def think_no_more(self) -> Thought:
        """What is known now, after a thought that Ctrl-C has interrupted: with an action, if it
        takes the least of thoughts."""
        state = self.state
        try:
            result = self.search.result()
        except InputError:  # it had not begun
            result = None
        if result is None or (result.action is None and not state.is_terminal):
            return self.think(Budget(seconds=LEAST_SECONDS))
        return self._keep(state, self._thought(state, 0.0, True))

    def _begin(self) -> None:
        with self._lock:
            if self.thinking:
                raise InputError("The engine is thinking: it thinks of one state at a time.")
            self._thinking = NOBODY_YET
            self._stop.clear()

    def _run(
        self,
        state: Any,
        budget: Budget,
        on_thought: OnThought | None,
        every: float,
        turn: bool,
    ) -> Thought:
        self._thinking = threading.get_ident()
        try:
            first = part_of(budget, state) if turn else budget
            thought = self._think_of(state, first, on_thought, every)
            self._keep(state, thought)
            if turn:
                rest = None if budget.seconds is None else budget.seconds - thought.seconds
                actions = self._finished_turn(thought, replace(budget, seconds=rest))
                thought = replace(thought, turn=actions)
        finally:
            with self._lock:
                self._thinking = None
                self._answer_questions()
        if on_thought is not None:
            on_thought(thought)
        return thought

    def _finished_turn(self, thought: Thought, budget: Budget) -> tuple[int, ...]:
        """The actions of the turn, each thought of in a part of the budget."""
        actions, state = [], thought.state
        while thought.action is not None:
            actions.append(thought.action)
            following = state.play(thought.action)
            if not turn_goes_on(state, following):
                break
            state = following
            part = part_of(budget, state)
            if self._stop.is_set() or (part.seconds is not None and part.seconds < LEAST_SECONDS):
                part = Budget(seconds=LEAST_SECONDS)
            thought = self._think_of(state, part, None, EVERY_SECONDS)
            if budget.seconds is not None:
                budget = replace(budget, seconds=budget.seconds - thought.seconds)
        return tuple(actions)

    def _think_of(
        self, state: Any, budget: Budget, on_thought: OnThought | None, every: float
    ) -> Thought:
        started = told = time.monotonic()
        by = started + budget.seconds if budget.seconds else float("inf")

        def look() -> None:
            nonlocal told
            self._answer_questions()
            now = time.monotonic()
            if on_thought is not None and now - told >= every:
                on_thought(self._thought(state, now - started, False))
                told = time.monotonic()
            # The search counts its own time alone; ours is that of a clock on the wall.
            if self._stop.is_set() or time.monotonic() >= by:
                self.search.core.stop()

        self.search.run(
            state,
            iterations=budget.iterations,
            evaluations=budget.evaluations,
            seconds=budget.seconds,
            endless=budget.endless and budget.seconds is None,
            look=look,
        )
        return self._thought(state, time.monotonic() - started, True)

    def _keep(self, state: Any, thought: Thought) -> Thought:
        for i, known in enumerate(self.states):
            if known is state and i < len(self.thoughts):
                self.thoughts[i] = thought
        return thought

    def _thought(self, state: Any, seconds: float, over: bool) -> Thought:
        try:
            result = self.search.result()
        except InputError:  # of a search that has no answer before it has gone through once
            result = None
        return self._as_thought(state, result, seconds, over)

    def _as_thought(
        self, state: Any, result: SearchResult | None, seconds: float, over: bool
    ) -> Thought:
        known = below(self.search.core, state, result) if result else {}
        return Thought(state, result, seconds, over, self.decision, self.variant, known)

    # ---- What the search knows -----------------------------------------------------------------

    def look(self, actions: Iterable[int] = ()) -> Thought | None:
        """Of the state that these actions lead to, all that is in the tree, also while it thinks;
        None where nothing is. Searches other than the unbounded ones know the last state alone."""
        state, played = self.state, list(actions)
        for action in played:
            state = state.play(action)

        def known() -> Thought | None:
            core = self.search.core
            if isinstance(core, _core.UnboundedSearch):
                result = core.look(state)
                return self._as_thought(state, result, 0.0, not self.thinking) if result else None
            return None if played else self.thoughts[-1]

        return self.ask(known)

    def values(self) -> list[Any]:
        """Of each state of the line, where it was thought of: the curve of the game."""
        return [
            None if thought is None or thought.result is None else thought.result.value
            for thought in self.thoughts
        ]

    def ask(self, question: Callable[[], T]) -> T:
        """Calls it while the search does nothing: at once, or between two of its steps."""
        with self._lock:
            if self._thinking in (None, threading.get_ident()):
                return question()
            answer: Future[T] = Future()
            self._questions.append((question, answer))
        return answer.result()

    def _answer_questions(self) -> None:
        while self._questions:
            question, answer = self._questions.popleft()
            try:
                answer.set_result(question())
            except BaseException as error:
                answer.set_exception(error)

    def clear(self) -> None:
        """Forgets all that was thought."""
        self.stop()
        self.search.clear()
        self.thoughts = [None] * len(self.states)

    # ---- Time ----------------------------------------------------------------------------------

    def budget_by_clock(self, left: TimeLeft, least: Budget | None = None) -> Budget:
        """Of a turn. What else is in the budget of a thought holds, too."""
        if self._typical_plies is None:
            self._typical_plies = typical_plies(self.game)
        seconds = left.seconds_for_turn(turns_to_go(self.state, self._typical_plies))
        other = least or Budget()
        return Budget(other.iterations, other.evaluations, seconds)

    def warm_up(self) -> None:
        """Before a clock runs: a network is compiled for each size of batches when it is first
        asked."""
        evaluator = self.search.evaluator
        if self._typical_plies is None:
            self._typical_plies = typical_plies(self.game)
        if isinstance(evaluator, str) or core_network(evaluator) is not None:
            return
        for size in self.search.batch_sizes:
            np.asarray(evaluator(np.zeros((size, *self.game.plane_shape), np.uint8)))
