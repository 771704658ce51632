"""The page's server as a program of its own, for tests."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def memory_of(process: int) -> float:
    """MB."""
    text = Path(f"/proc/{process}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", text)[0]) / 1024


@contextmanager
def serving(*words: str) -> Iterator[tuple[str, int]]:
    """The program, its address and its process."""
    command = [sys.executable, "-m", "athenan.command", "serve", "port=0", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()
            process.wait(20)
