"""Exploration: the distributions, and what is known to win or lose."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from athenan import _core
from athenan.exploration import epsilon_greedy, make_chooser, ordinal, softmax

shares = st.floats(0, 1)
counts = st.integers(1, 60)
every_exploration = pytest.mark.parametrize("name", ["ordinal", "epsilon_greedy", "softmax"])


def settings(**changed: Any) -> Any:
    usual = {"name": "ordinal", "schedule": "constant", "exploitation": 1.0, "temperature": 0.1}
    return SimpleNamespace(**{**usual, **changed})


def frequencies(config: Any, children: list[Any], player: int, draws: int = 4000) -> list[float]:
    """How often each child's action is chosen; bound 1 and half the run behind us."""
    choose = make_chooser(config)
    random = np.random.default_rng(3)
    known = [_core.Child(*child) for child in children]
    chosen = [choose(known, player, 1.0, random, 0.5) for _ in range(draws)]
    return [chosen.count(child[0]) / draws for child in children]


def test_the_ordinal_distribution_of_the_paper() -> None:
    assert ordinal(5, 0.5) == pytest.approx([0.600, 0.250, 0.100, 0.0375, 0.0125])


@given(counts, shares)
def test_the_ordinal_distribution_is_the_recursive_one(count: int, exploitation: float) -> None:
    expected: list[float] = []
    for i in range(count):
        share = exploitation + (1 - exploitation) / (count - i)
        expected.append(share * (1 - sum(expected)))
    found = ordinal(count, exploitation)
    assert found == pytest.approx(expected, abs=1e-9)
    assert found.sum() == pytest.approx(1)
    assert (found >= 0).all()
    assert (np.diff(found) <= 1e-12).all(), "a better rank is never less likely"


@given(counts)
def test_the_ends_of_the_ordinal_distribution(count: int) -> None:
    best = np.zeros(count)
    best[0] = 1
    assert ordinal(count, 1.0) == pytest.approx(best)
    assert ordinal(count, 0.0) == pytest.approx(np.full(count, 1 / count))


@given(counts, shares)
def test_epsilon_greedy(count: int, exploitation: float) -> None:
    found = epsilon_greedy(count, exploitation)
    assert found.sum() == pytest.approx(1)
    assert found[0] == pytest.approx(exploitation + (1 - exploitation) / count)
    assert found[1:] == pytest.approx(np.full(count - 1, (1 - exploitation) / count))


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.floats(0.01, 10))
def test_softmax(values: list[float], temperature: float) -> None:
    found = softmax(np.array(values), temperature)
    assert found.sum() == pytest.approx(1)
    assert found[int(np.argmax(values))] == found.max()


def test_softmax_is_by_the_values_and_never_overflows() -> None:
    found = softmax(np.array([0.3, 0.1]), 0.2)
    assert found[0] / found[1] == pytest.approx(np.e)
    assert softmax(np.array([1.0, -1.0]), 0.0) == pytest.approx([1, 0])


@pytest.mark.parametrize("player", [0, 1])
@every_exploration
def test_a_proven_win_is_always_played(name: str, player: int) -> None:
    won = 1 if player == 0 else -1
    children = [
        (10, 0.9 * won, 0, False, 50),
        (11, 0.1 * won, won, True, 1),
        (12, -0.5 * won, -won, True, 3),
    ]
    config = settings(name=name, exploitation=0.0, temperature=100.0)
    assert frequencies(config, children, player, 200) == [0, 1, 0]


@pytest.mark.parametrize("player", [0, 1])
@every_exploration
def test_a_proven_loss_is_never_played_while_there_is_another(name: str, player: int) -> None:
    won = 1 if player == 0 else -1
    children = [
        (10, -0.9 * won, 0, False, 1),
        (11, -0.1 * won, -won, True, 1),
        (12, 0.0, 0, True, 3),
    ]
    config = settings(name=name, exploitation=0.0, temperature=100.0)
    found = frequencies(config, children, player)
    assert found[1] == 0
    assert found[0] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("player", [0, 1])
@every_exploration
def test_of_several_proven_wins_the_best_is_played(name: str, player: int) -> None:
    """With a depth heuristic the quickest; equal ones are equally likely."""
    won = 1 if player == 0 else -1
    children = [
        (10, 0.2 * won, won, True, 9),
        (11, 0.8 * won, won, True, 1),
        (12, 0.9 * won, 0, False, 5),
        (13, 0.8 * won, won, True, 1),
    ]
    config = settings(name=name, exploitation=0.0, temperature=100.0)
    found = frequencies(config, children, player)
    assert found[0] == found[2] == 0
    assert found[1] == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("player", [0, 1])
@every_exploration
def test_of_proven_losses_alone_the_best_is_played(name: str, player: int) -> None:
    lost = -1 if player == 0 else 1
    children = [
        (10, 1.0 * lost, lost, True, 1),
        (11, 0.2 * lost, lost, True, 1),
        (12, 0.7 * lost, lost, True, 1),
    ]
    config = settings(name=name, exploitation=0.0, temperature=100.0)
    assert frequencies(config, children, player, 200) == [0, 1, 0]


@pytest.mark.parametrize("player", [0, 1])
def test_ranks_are_in_the_movers_view(player: int) -> None:
    """A proven draw ranks by its value 0 among what is not known."""
    sign = 1 if player == 0 else -1
    children = [
        (10, -0.4 * sign, 0, False, 1),
        (11, 0.7 * sign, 0, False, 1),
        (12, 0.0, 0, True, 9),
    ]
    found = frequencies(settings(exploitation=0.5), children, player, 8000)
    best, middle, last = ordinal(3, 0.5)
    assert found == pytest.approx([last, best, middle], abs=0.02)


def test_equal_children_are_equally_likely() -> None:
    children = [(action, 0.25, 0, False, 1) for action in range(4)]
    assert frequencies(settings(), children, 0) == pytest.approx([0.25] * 4, abs=0.03)


def test_softmax_looks_at_values_in_the_unit_of_the_bound() -> None:
    children = [_core.Child(0, 30.0, 0, False, 1), _core.Child(1, 10.0, 0, False, 1)]
    choose = make_chooser(settings(name="softmax", temperature=0.2))
    random = np.random.default_rng(0)
    chosen = [choose(children, 0, 100.0, random, 0.0) for _ in range(4000)]
    assert chosen.count(0) / 4000 == pytest.approx(np.e / (1 + np.e), abs=0.03)


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("constant", ordinal(2, 0.2)[0]),
        ("annealed", ordinal(2, 0.5)[0]),  # half the run is behind us
        ("uniform", 0.75),  # the mean of (1 + ε') / 2
    ],
)
def test_schedules(schedule: str, expected: float) -> None:
    children = [(0, 0.5, 0, False, 1), (1, -0.5, 0, False, 1)]
    config = settings(schedule=schedule, exploitation=0.2)
    assert frequencies(config, children, 0)[0] == pytest.approx(expected, abs=0.03)
