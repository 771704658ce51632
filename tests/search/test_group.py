"""Many searches in step: neither threads nor batches change a tree, and errors leave no trace."""

from __future__ import annotations

import zlib
from random import Random
from typing import Any

import numpy as np
import pytest
from cases import VARIANTS, tree_of
from nim import Nim, NimState

import athenan
from athenan import _core
from athenan.games import make_game
from athenan.search import drive, make_core_search

SEARCHES = 20
GAMES: dict[str, dict[str, Any]] = {
    "hex 5": {"name": "hex", "size": 5},
    "connect_four": {"name": "connect_four"},
    "othello 6": {"name": "othello", "size": 6},
}
every_game = pytest.mark.parametrize("options", GAMES.values(), ids=GAMES)


def planes_values(planes: np.ndarray) -> np.ndarray:
    """Repeatable, the same for a state in whatever batch it comes."""
    return np.array([zlib.crc32(state.tobytes()) / 2**31 - 1 for state in planes])


def states_of(game: athenan.Game) -> list[athenan.State]:
    """A state for each search, a few random actions from the start."""
    random, states = Random(0), []
    for plies in range(SEARCHES):
        state = game.initial_state()
        for _ in range(plies % 5):
            state = state.play(random.choice(state.legal_actions()))
        states.append(state)
    return states


def trees(
    options: dict[str, Any],
    evaluator: Any,
    *,
    threads: int = 1,
    batch_sizes: tuple[int, ...] = (16, 64),
) -> list[Any]:
    """The trees of a group whose searches differ in variant, seed, state and budget."""
    game = athenan.make_game(**options)
    variants = list(VARIANTS.values())
    cores = [
        make_core_search({"name": "umb", **variants[i % len(variants)]}, game, evaluator, seed=i)
        for i in range(SEARCHES)
    ]
    group = _core.SearchGroup(cores, list(batch_sizes), threads)
    for i, state in enumerate(states_of(game)):
        group.start(i, state, iterations=5 + i)
    drive(group, evaluator)
    assert all(core.done for core in cores)
    return [tree_of(core) for core in cores]


@every_game
@pytest.mark.parametrize("evaluator", ["hash", "rollout", planes_values])
def test_threads_do_not_change_the_trees(options: dict[str, Any], evaluator: Any) -> None:
    alone = trees(options, evaluator)
    for threads in (2, 5):
        assert trees(options, evaluator, threads=threads) == alone


@every_game
def test_batches_do_not_change_the_trees(options: dict[str, Any]) -> None:
    alone = trees(options, planes_values)
    for batch_sizes, threads in (((1,), 1), ((3,), 2), ((2, 7, 100), 1), ((300,), 2)):
        assert trees(options, planes_values, batch_sizes=batch_sizes, threads=threads) == alone


def test_a_search_in_a_group_is_the_search_alone() -> None:
    options = GAMES["hex 5"]
    game = athenan.make_game(**options)
    variants = list(VARIANTS.values())
    for i, (tree, state) in enumerate(
        zip(trees(options, planes_values), states_of(game), strict=True)
    ):
        search = athenan.make_search(
            "umb", game, planes_values, seed=i, **variants[i % len(variants)]
        )
        search.run(state, iterations=5 + i)
        assert tree_of(search.core) == tree


def test_batches_have_the_given_sizes_and_padding_is_zero() -> None:
    game = athenan.make_game("hex", size=5)
    shapes = set()

    def evaluator(planes: np.ndarray) -> np.ndarray:
        assert planes.dtype == np.uint8
        real = planes.any(axis=(1, 2, 3))
        assert real[: real.sum()].all()  # a state has a stone or a mover in its planes
        shapes.add(planes.shape)
        return planes_values(planes)

    athenan.make_search("descent", game, evaluator, batch_sizes=(4, 16)).run(
        game.initial_state(), iterations=20
    )
    assert shapes == {(size, *game.plane_shape) for size in (4, 16)}


def test_what_fills_a_batch_is_zero() -> None:
    """Also where a larger batch has been before."""
    game = athenan.make_game("hex", size=5)
    cores = [make_core_search({"name": "descent"}, game, planes_values, seed=i) for i in range(3)]
    group = _core.SearchGroup(cores, [4, 16], 1)
    for i in range(len(cores)):
        group.start(i, game.initial_state(), iterations=3)
    group.advance()
    padded = 0
    while (batch := group.batch()) is not None:
        planes, rows = batch
        assert not planes[rows:].any()
        padded += len(planes) - rows
        group.resume(planes_values(planes).astype(np.float32)[:rows])
        group.advance()
    assert padded > 0


def test_a_search_started_again_gets_no_answers_of_before() -> None:
    """Its rows are in a batch that is under way; they were of another state."""
    game = athenan.make_game("hex", size=5)
    root = game.initial_state()
    cores = [make_core_search({"name": "descent"}, game, planes_values, seed=i) for i in range(2)]
    group = _core.SearchGroup(cores, [64], 1)
    for i in range(len(cores)):
        group.start(i, root, iterations=3)
    group.advance()
    planes, rows = group.batch()
    values = planes_values(planes).astype(np.float32)[:rows]
    group.start(0, root, iterations=3)
    group.resume(values)
    drive(group, planes_values)
    for i, core in enumerate(cores):
        search = athenan.make_search("descent", game, planes_values, seed=i)
        search.run(root, iterations=3)
        assert tree_of(core) == tree_of(search.core)


def test_rows_that_fill_a_size_are_one_batch() -> None:
    game = athenan.make_game("hex", size=4)
    sizes = []

    def evaluator(planes: np.ndarray) -> np.ndarray:
        sizes.append(len(planes))
        return planes_values(planes)

    search = athenan.make_search("ubfm", game, evaluator, batch_sizes=(4, 16))
    search.run(game.initial_state(), iterations=2)
    assert sizes == [16, 4, 4, 4, 4], "the start has 16 children, its child 15"


class Broken(Exception):
    pass


class Interrupted:
    """An evaluator that fails once."""

    def __init__(self, call: int, answers: int | None = None) -> None:
        self.calls_left, self.answers = call, answers

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        self.calls_left -= 1
        if self.calls_left == 0:
            if self.answers is None:
                raise Broken
            return planes_values(planes)[: self.answers]
        return planes_values(planes)


def test_too_few_values_are_refused() -> None:
    game = athenan.make_game("hex", size=5)
    for answers in (0, 1, 3):
        search = athenan.make_search("descent", game, Interrupted(1, answers), batch_sizes=(4,))
        with pytest.raises(ValueError, match=f"answered {answers} values, fewer than the 4"):
            search.run(game.initial_state(), iterations=3)


def test_values_can_be_given_again_after_a_refusal() -> None:
    """A refusal changes nothing: the same batch still waits for its values."""
    game = athenan.make_game("hex", size=5)
    cores = [make_core_search({"name": "descent"}, game, planes_values, seed=i) for i in range(4)]
    group = _core.SearchGroup(cores, [64], 1)
    for i in range(len(cores)):
        group.start(i, game.initial_state(), iterations=2)
    group.advance()
    while (batch := group.batch()) is not None:
        values = planes_values(batch[0]).astype(np.float32)[: batch[1]]
        with pytest.raises(ValueError, match="fewer than"):
            group.resume(values[:-1])
        group.resume(values)
        group.advance()
    for i, core in enumerate(cores):
        search = athenan.make_search("descent", game, planes_values, seed=i)
        search.run(game.initial_state(), iterations=2)
        assert tree_of(core) == tree_of(search.core)


@pytest.mark.parametrize("batch_sizes", [(4,), (64,)])
@pytest.mark.parametrize("answers", [None, 0])
def test_a_search_goes_on_after_an_error(batch_sizes: tuple[int, ...], answers: Any) -> None:
    """Whenever the evaluator fails, every state has its own value in the end."""
    game = athenan.make_game("hex", size=3)
    root = game.initial_state()
    for call in range(1, 30):
        evaluator = Interrupted(call, answers)
        search = athenan.make_search("ubfm", game, evaluator, batch_sizes=batch_sizes)
        with pytest.raises((Broken, ValueError)):
            search.run(root)
        search.run(root, iterations=40)
        nodes, edges = tree_of(search.core)
        states = {root.key: root}
        for (parent, action), (child, _) in edges.items():
            if parent in states:
                states[child] = states[parent].play(action)
        assert len(states) > 40
        for key, state in states.items():
            if not nodes[key][3] and not state.is_terminal:
                assert nodes[key][0] == np.float32(planes_values(state.planes()[None])[0])
        result = search.run(root)
        assert (result.resolved, result.completion) == (True, 1)


# ---- A game written in Python -----------------------------------------------------------------


def nim_sum(heaps: tuple[int, ...]) -> int:
    total = 0
    for heap in heaps:
        total ^= heap
    return total


@pytest.mark.parametrize("name", ["ubfm", "descent"])
@pytest.mark.parametrize("evaluator", ["hash", planes_values])
@pytest.mark.parametrize("heaps", [(1,), (2, 2), (1, 2, 3), (1, 3, 3), (3, 4, 5), (2, 3, 4, 5)])
def test_nim_is_won_unless_the_heaps_add_up_to_nothing(
    heaps: tuple[int, ...], evaluator: Any, name: str
) -> None:
    game = Nim(heaps)
    root = game.initial_state()
    result = athenan.make_search(name, game, evaluator, threads=2).run(root)
    assert (result.resolved, result.completion) == (True, 1 if nim_sum(heaps) else -1)
    if nim_sum(heaps):
        assert nim_sum(root.play(result.action).heaps) == 0


def test_games_in_python_in_step() -> None:
    """Threads take turns for the interpreter."""
    game = make_game(Nim((2, 3, 3)))

    def trees_of(threads: int) -> list[Any]:
        cores = [
            make_core_search({"name": "descent"}, game, planes_values, seed=i) for i in range(16)
        ]
        group = _core.SearchGroup(cores, [8, 32], threads)
        for i in range(len(cores)):
            group.start(i, game.initial_state(), iterations=10)
        drive(group, planes_values)
        return [tree_of(core) for core in cores]

    assert trees_of(2) == trees_of(1)


class FaultyNimState(NimState):
    faulty = False

    def legal_actions(self) -> list[int]:
        if FaultyNimState.faulty and sum(self.heaps) < 6:
            raise Broken
        return super().legal_actions()

    def play(self, action: int) -> FaultyNimState:
        following = super().play(action)
        return FaultyNimState(following.heaps, following.to_move, following.ply)


class FaultyNim(Nim):
    def initial_state(self) -> FaultyNimState:
        return FaultyNimState(self.heaps)


@pytest.mark.parametrize("evaluator", ["hash", "rollout", planes_values])
@pytest.mark.parametrize("threads", [1, 2])
def test_rules_that_raise(evaluator: Any, threads: int) -> None:
    """Their error comes to the caller, and the search can be started again."""
    game = FaultyNim((3, 4, 5))
    search = athenan.make_search("descent", game, evaluator, threads=threads)
    for _ in range(3):
        FaultyNimState.faulty = True
        with pytest.raises(Broken):
            search.run(game.initial_state())
    FaultyNimState.faulty = False
    result = search.run(game.initial_state())
    assert (result.resolved, result.completion) == (True, 1)
