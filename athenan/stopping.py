"""Being asked to stop: by Ctrl-C, or by a scheduler's SIGTERM or SIGUSR1."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

# Exit code 75 (a passing failure) tells a scheduler to start the run again.
EXIT_CODES = {signal.SIGINT: 130, signal.SIGTERM: 75, signal.SIGUSR1: 75}


class Stopped(KeyboardInterrupt):
    """Work ended because it was asked to, after all was saved that could be."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


class Stop:
    """Notes the first signal, so that work can end where nothing is lost; the second Ctrl-C ends it
    at once. A terminal that is closed ends nothing."""

    def __init__(self) -> None:
        self.signal: signal.Signals | None = None
        self._at_once = False

    def __bool__(self) -> bool:
        return self.signal is not None

    @property
    def code(self) -> int:
        return EXIT_CODES.get(self.signal, 130) if self.signal else 0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Signals are noted; only the main thread of a program gets any."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        heard = [  # but for those that a script or nohup has turned off
            number
            for number in (*EXIT_CODES, signal.SIGHUP)
            if signal.getsignal(number) != signal.SIG_IGN
        ]
        before: dict[signal.Signals, Any] = {
            number: signal.signal(number, self._handle) for number in heard
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """What is done here can be left: a signal ends it, and work goes on behind it."""
        self._at_once = True
        try:
            yield
        except KeyboardInterrupt:
            if not self:
                raise
        finally:
            self._at_once = False

    def _handle(self, number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGHUP:
            return
        again, self.signal = self.signal, self.signal or signal.Signals(number)
        if self._at_once or (again and number == signal.SIGINT):
            raise KeyboardInterrupt
