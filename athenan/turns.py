"""A turn that is thought of while its program goes on to listen; it is answered once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from athenan.engine import Budget, Engine, OnThought
from athenan.thoughts import Thought

Answer = Callable[[Thought | None, BaseException | None], object]


@dataclass
class Turn:
    engine: Engine
    ended: Future[Thought]
    waits: bool  # for `stop`, though the thought may have come to its end
    answered: bool = False


class Turns:
    """One at a time. `answer` is told of its end: by a thought, or by what went wrong."""

    def __init__(self, answer: Answer) -> None:
        self._tell = answer
        self._current: Turn | None = None
        self._lock = threading.Lock()

    def begin(
        self, engine: Engine, budget: Budget, hear: OnThought, every: float, waits: bool = False
    ) -> None:
        """`waits`: it is answered when it is stopped, not before."""
        ended = engine.start(budget, hear, every, turn=True)
        turn = self._current = Turn(engine, ended, waits)
        ended.add_done_callback(lambda _: None if turn.waits else self._answer(turn))

    @property
    def waits(self) -> bool:
        return self._current is not None and self._current.waits

    def stop(self) -> None:
        """Ends it now, and answers."""
        turn, self._current = self._current, None
        if turn is not None:
            turn.engine.stop()
            turn.waits = False
            self._answer(turn)

    def drop(self) -> None:
        """Ends it without an answer, if it has had none."""
        if self._current is not None:
            with self._lock:
                self._current.answered = True
        self.stop()

    def _answer(self, turn: Turn) -> None:
        with self._lock:
            if turn.answered:
                return
            turn.answered = True
        error = turn.ended.exception()
        self._tell(None if error else turn.ended.result(), error)
