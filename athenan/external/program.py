"""Another program as a process: lines to it and from it, each with a limit of time.

It never outlives us: it leads a process group of its own, which is killed when nobody needs it any
more and at our exit, and the kernel kills it where we are killed (Linux).
"""

from __future__ import annotations

import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
import weakref
from contextlib import suppress

from athenan.errors import InputError

PLACES = "/usr/games:/usr/local/games"  # where distributions put programs that play
MOST_HEARD = 2**24  # bytes of one answer
LONGEST_LINE = 2**20
GRACE = 0.3  # seconds for a program that was told to quit

# Becomes the program, after asking the kernel for a signal when its parent is no more.
LAUNCH = """
import os, sys
try:
    import ctypes
    ctypes.CDLL(None).prctl(1, 9)
except (ImportError, OSError, AttributeError):
    pass
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""


class Fault(Exception):
    """What a program did wrong, as the end of a sentence that begins with its name."""


def command_of(text: str, install: str | None = None) -> list[str]:
    """The words of a command line, as a shell would part them, the program by its path."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"'{text}' is no command line: {error}.") from None
    if not words:
        raise InputError("An engine is a command line, and not an empty one.")
    found = shutil.which(words[0], path=f"{os.environ.get('PATH', os.defpath)}:{PLACES}")
    if found is None:
        hint = f"; {install}" if install else ""
        raise InputError(f"There is no program '{words[0]}'{hint}.")
    return [os.path.abspath(found), *words[1:]]


class Program:
    def __init__(self, command: list[str], farewell: str) -> None:
        self.heard = 0  # bytes since the last line to it
        self._buffer = b""
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", LAUNCH, str(os.getpid()), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)
        self.end = weakref.finalize(self, end, self._process, farewell)

    @property
    def process_id(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        """So that whoever waits for it in another thread hears of its end."""
        if self.end.alive:
            kill_group(self.process_id)

    def tell(self, line: str, deadline: float) -> None:
        """Sends a line; waits for a program that does not read until the deadline."""
        self.heard = 0
        data = f"{line}\n".encode()
        while data:
            try:
                data = data[os.write(self._in, data) :]
            except BlockingIOError:
                wait_for(self._in, select.POLLOUT, deadline)
            except OSError:
                raise Fault(self._how_it_ended()) from None

    def line(self, deadline: float) -> str:
        """Its next line."""
        while b"\n" not in self._buffer:
            if self.heard > MOST_HEARD or len(self._buffer) > LONGEST_LINE:
                raise Fault("talks without an answer")
            wait_for(self._out, select.POLLIN, deadline)
            self._read()
        if time.monotonic() > deadline:  # it may babble as fast as we read
            raise Fault("does not answer in time")
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line.decode(errors="replace").rstrip("\r")

    def is_alive(self) -> bool:
        """Whether it still listens; what it has said unasked is read and forgotten."""
        try:
            for _ in range(MOST_HEARD // 2**16):
                self._buffer = b""
                if not poll(self._out, select.POLLIN, 0):
                    return True
                self._read()
        except Fault:
            return False
        return True

    def _read(self) -> None:
        try:
            data = os.read(self._out, 2**16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            raise Fault(self._how_it_ended())
        self.heard += len(data)
        self._buffer += data

    def _how_it_ended(self) -> str:
        """After it closed its side; not reaped, so that its group keeps its number."""
        for _ in range(20):
            found = os.waitid(os.P_PID, self.process_id, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if found is not None:
                killed = found.si_code != os.CLD_EXITED
                if killed:
                    return f"died by {signal.Signals(found.si_status).name}"
                return f"ended with exit code {found.si_status}"
            time.sleep(0.01)
        return "closed its output"


def poll(file: int, event: int, seconds: float) -> bool:
    waiting = select.poll()
    waiting.register(file, event)
    return bool(waiting.poll(max(0.0, 1000 * seconds)))


def wait_for(file: int, event: int, deadline: float) -> None:
    if not poll(file, event, deadline - time.monotonic()):
        raise Fault("does not answer in time")


def end(process: subprocess.Popen[bytes], farewell: str) -> None:
    """Tells it to quit, and kills what is left of its group soon after."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(OSError):
        os.write(process.stdin.fileno(), f"{farewell}\n".encode())
    process.stdin.close()
    until = time.monotonic() + GRACE
    while time.monotonic() < until:
        with suppress(BlockingIOError, OSError):
            while os.read(process.stdout.fileno(), 2**16):
                if time.monotonic() > until:
                    break
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        if os.waitid(os.P_PID, process.pid, flags) is not None:
            break
        time.sleep(0.005)
    kill_group(process.pid)
    process.wait()
    process.stdout.close()


def kill_group(leader: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
