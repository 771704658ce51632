"""A search's seconds are its own, and both time and Ctrl-C reach inside an iteration."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
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


@pytest.mark.parametrize("name", ["descent", "ubfm", "uct", "alphabeta", "rollout", "sss2"])
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
    result = search.run(game.initial_state(), iterations=10**12)
    timer.join()
    assert time.perf_counter() - started < 3
    assert result.iterations == 1


@pytest.mark.parametrize("name", ["descent", "ubfm", "uct", "iterative_deepening", "rollout"])
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


SLOW = """
import time
def evaluator(planes):
    time.sleep(0.2)
    return [0.0] * len(planes)
"""
# Each with a way to wait for ever but for the interrupt.
INTERRUPTED = {
    "core": ("ubfm", "evaluator = 'hash'", {}),
    "python": ("ubfm", SLOW, {}),
    "descent in python": ("descent", SLOW, {}),
    "within one expansion": ("ubfm", "evaluator = 'rollout'", {"rollouts": 1000}),
    "uct": ("uct", "evaluator = 'rollout'", {}),
}


@pytest.mark.parametrize("case", INTERRUPTED)
def test_a_real_interrupt_leaves_what_is_known(case: str) -> None:
    """SIGINT as a terminal sends it; the result is sound, and the search goes on from there."""
    name, evaluator, settings = INTERRUPTED[case]
    program = evaluator + textwrap.dedent(f"""
        import time, athenan
        game = athenan.make_game("go", size=19)
        root = game.initial_state()
        search = athenan.make_search("{name}", game, evaluator, **{settings})
        search.run(root, iterations=1, seconds=0.01)  # knows a little
        print("started", flush=True)
        try:
            search.run(root, iterations=10**12)
        except KeyboardInterrupt:
            print("stopped", flush=True)
        result = search.result()
        assert result.action is not None
        if "{name}" != "uct":
            assert result.value == max(c.value for c in result.children)
        again = search.run(root, iterations=1, seconds=0.01)
        assert again.action is not None
        print("went on", flush=True)
    """)
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.readline() == b"started\n"
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        started = time.perf_counter()
        assert process.stdout.readline() == b"stopped\n", process.stderr.read()
        assert time.perf_counter() - started < 1.5
        # Not `communicate`, which does not know what `readline` has read ahead.
        out, errors, code = process.stdout.read(), process.stderr.read(), process.wait(60)
    assert (out, errors, code) == (b"went on\n", b"", 0)


def test_an_interrupt_before_anything_is_known() -> None:
    """The expansion of the root is given up, not taken for known."""

    def interrupted(_: np.ndarray) -> np.ndarray:
        raise KeyboardInterrupt

    game = athenan.make_game("hex", size=5)
    search = athenan.make_search("ubfm", game, interrupted)
    with pytest.raises(KeyboardInterrupt):
        search.run(game.initial_state(), iterations=5)
    result = search.result()
    assert (result.action, result.evaluations, result.states) == (None, 0, 1)


def test_what_was_found_before_an_interrupt_comes_up() -> None:
    """Descent is interrupted far below: the values on its way are backed up to the root."""
    game = athenan.make_game("hex", size=5)
    random = np.random.default_rng(0)
    for calls in range(3, 20):  # two batches are the root's children
        left = calls

        def evaluator(planes: np.ndarray) -> np.ndarray:
            nonlocal left
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
            return random.uniform(-1, 1, len(planes)).astype(np.float32)

        search = athenan.make_search("descent", game, evaluator)
        with pytest.raises(KeyboardInterrupt):
            search.run(game.initial_state(), iterations=5)
        result = search.result()
        assert result.value == max(child.value for child in result.children)


@pytest.mark.parametrize("rollouts", [1000, 100_000])
def test_time_is_over_within_an_expansion(rollouts: int) -> None:
    """A thousand games of each of 361 children take minutes; each child has one before it ends."""
    game = athenan.make_game("go", size=19)
    search = athenan.make_search("ubfm", game, "rollout", rollouts=rollouts)
    started = time.perf_counter()
    result = search.run(game.initial_state(), seconds=0.2)
    assert time.perf_counter() - started < 3
    assert (result.iterations, len(result.children)) == (1, 362)
    assert all(-1 <= child.value <= 1 for child in result.children)
    assert len({child.value for child in result.children}) > 1


def test_rollouts_that_are_not_interrupted_do_not_depend_on_time() -> None:
    game = athenan.make_game("connect_four")
    values = []
    for budget in ({"iterations": 3}, {"iterations": 3, "seconds": 100}):
        search = athenan.make_search("ubfm", game, "rollout", rollouts=50, seed=4)
        values.append(search.run(game.initial_state(), **budget))
    assert values[0] == values[1]


# ---- Without a budget ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [("go", {}), ("hex", {"size": 5}), ("chess", {}), ("connect_four", {}), ("arimaa", {})],
)
def test_a_large_game_needs_a_budget(name: str, options: dict[str, int]) -> None:
    game = athenan.make_game(name, **options)
    search = athenan.make_search("ubfm", game, "hash")
    sentence = f"Game '{name}' is too large to be searched to its end: give it iterations=…"
    with pytest.raises(athenan.InputError, match=sentence):
        search.run(game.initial_state())
    assert search.run(game.initial_state(), iterations=1).iterations == 1


def test_a_small_game_needs_none() -> None:
    game = athenan.make_game("connect_four", rows=4, columns=4)
    assert athenan.make_search("ubfm", game, "hash").run(game.initial_state()).resolved
    tree = athenan.TreeGame.nested([[1] * 30] * 30)
    assert athenan.make_search("descent", tree, "hash").run(tree.initial_state()).resolved


def test_the_end_of_a_large_game_is_small() -> None:
    """What counts are the plies left from the state, not the game's own."""
    game, random = athenan.make_game("hex", size=5), np.random.default_rng(0)
    state = game.initial_state()
    while state.ply < 15:
        state = state.play(int(random.choice(state.legal_actions())))
        assert not state.is_terminal
    assert athenan.make_search("ubfm", game, "hash").run(state).resolved


def test_without_completion_a_search_never_ends() -> None:
    game = athenan.make_game("tictactoe")
    search = athenan.make_search("ubfm", game, "hash", completion=False)
    with pytest.raises(athenan.InputError, match="Without completion this search never ends"):
        search.run(game.initial_state())


def cpu_seconds(process: int) -> float:
    """What it has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


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
    while cpu_seconds(process.pid) < 2.5:  # on a busy machine it takes longer to begin
        assert process.poll() is None
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    started = time.perf_counter()
    _, errors = process.communicate(timeout=30)
    assert time.perf_counter() - started < 5
    assert process.returncode in (0, 130)
    assert b"Traceback" not in errors
