"""A search's seconds are its own, and both time and Ctrl-C reach inside an iteration."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import threading
import time
from typing import Any

import numpy as np
import pytest

import athenan
from athenan import _core
from athenan.command import main
from athenan.search import drive, make_core_search

SECONDS_A_ROW = 2e-5


def slow_values(planes: np.ndarray) -> np.ndarray:
    """A network whose time is in its rows."""
    time.sleep(SECONDS_A_ROW * len(planes))
    return np.zeros(len(planes), np.float32)


def iterations_in_step(searches: int, seconds: float) -> list[int]:
    game = athenan.make_game("hex", size=7)
    cores = [make_core_search({"name": "ubfm"}, game, slow_values, seed=i) for i in range(searches)]
    group = _core.SearchGroup(cores, list(range(16, 4097, 16)), 1)
    for i in range(searches):
        group.start(i, game.initial_state(), seconds=seconds)
    drive(group, slow_values)
    return [core.result().iterations for core in cores]


def test_seconds_of_a_search_do_not_depend_on_its_neighbours() -> None:
    (alone,) = iterations_in_step(1, 0.05)
    in_step = iterations_in_step(32, 0.05)
    assert min(in_step) > alone / 3
    assert max(in_step) < alone * 6  # a large batch costs less a row


@pytest.mark.parametrize("name", ["ubfm", "descent", "uct"])
def test_an_action_is_given_however_little_time_there_is(name: str) -> None:
    game = athenan.make_game("hex", size=5)
    result = athenan.make_search(name, game, "rollout").run(game.initial_state(), seconds=1e-9)
    assert result.action is not None
    assert result.iterations == 1


@pytest.mark.parametrize("evaluator", ["rollout", "zero"])
def test_a_match_by_seconds(evaluator: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = "match game=tictactoe games=4 first.evaluations=null first.seconds=0.02"
    assert main([*words.split(), f"first.evaluator={evaluator}", "second.iterations=10"]) == 0
    assert "of 4 games" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["descent", "ubfm", "uct"])
def test_time_is_over_within_an_iteration(name: str) -> None:
    """One Descent of go to its end takes many seconds."""
    game = athenan.make_game("go", size=19)
    search = athenan.make_search(name, game, "rollout")
    started = time.perf_counter()
    result = search.run(game.initial_state(), seconds=0.3)
    assert time.perf_counter() - started < 3
    assert result.action is not None


def test_stop_reaches_inside_an_iteration() -> None:
    game = athenan.make_game("go", size=19)
    search = athenan.make_search("descent", game, "rollout")
    timer = threading.Timer(0.2, search.core.stop)
    timer.start()
    started = time.perf_counter()
    result = search.run(game.initial_state())
    timer.join()
    assert time.perf_counter() - started < 3
    assert result.iterations == 1


@pytest.mark.parametrize("name", ["descent", "ubfm", "uct"])
def test_ctrl_c_ends_a_search_soon_and_it_can_go_on(name: str) -> None:
    """A budget that nothing else would end; whatever the interrupt left is sound."""
    program = textwrap.dedent(f"""
        import threading, time, _thread, athenan
        game = athenan.make_game("go", size=19)
        search = athenan.make_search("{name}", game, "rollout")
        threading.Timer(0.3, _thread.interrupt_main).start()
        started = time.perf_counter()
        try:
            search.run(game.initial_state(), iterations=10**12)
        except KeyboardInterrupt:
            print("after", time.perf_counter() - started)
        assert search.result().action is not None
        assert search.run(game.initial_state(), iterations=1, seconds=0.1).iterations == 1
        print("went on")
    """)
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    first, second = ran.stdout.splitlines()
    assert first.startswith("after ")
    assert float(first.split()[1]) < 3
    assert second == "went on"


@pytest.mark.parametrize(
    "words",
    [
        ["solve", "game=go"],
        ["match", "game=go", "games=2", "first.evaluations=100000000", "first.evaluator=rollout"],
        ["bench", "search", "game=go", "evaluator=rollout", "seconds=100"],
    ],
    ids=lambda words: words[0],
)
@pytest.mark.slow
def test_ctrl_c_ends_a_command(words: list[str]) -> None:
    program = [sys.executable, "-m", "athenan.command", *words]
    process: Any = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(3)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    started = time.perf_counter()
    _, errors = process.communicate(timeout=30)
    assert time.perf_counter() - started < 5
    assert process.returncode in (0, 130)
    assert b"Traceback" not in errors
