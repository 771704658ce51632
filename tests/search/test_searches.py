"""The search contract: every search of the list answers in the same way, and new ones fit in."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import athenan
from athenan import _core
from athenan.search import search_types

TOP = Path(__file__).parents[2]
TYPES = {entry["name"]: entry for entry in search_types()}
# Searches to a horizon take children in a fixed order unless told otherwise.
OF_THE_SEED = {"order": "random", "policy": "random"}
every_search = pytest.mark.parametrize("name", TYPES)


def budget_of(name: str) -> dict[str, int]:
    return {"iterations": 200} if TYPES[name]["needs_budget"] else {}


@every_search
def test_every_search_answers_in_the_same_way(name: str) -> None:
    game = athenan.make_game("connect_four", rows=4, columns=4)
    search = athenan.make_search(name, game, "hash", seed=3)
    state = game.initial_state()
    while not state.is_terminal:
        result = search.run(state, **budget_of(name))
        assert result.action in state.legal_actions()
        assert isinstance(result.value, float)
        assert abs(result.value) <= search.core.bound
        assert result.completion in (-1, 0, 1)
        assert set(result.principal_variation[:1]) <= {result.action} | set(state.legal_actions())
        known = [child.action for child in result.children]
        assert known in ([], state.legal_actions())
        if budget_of(name) and not result.resolved:
            assert result.iterations == 200
        state = state.play(result.action)
    assert search.run(state, **budget_of(name)).action is None


@every_search
def test_the_seed_determines_the_answer(name: str) -> None:
    game = athenan.make_game("hex", size=5)
    known = {option["name"] for option in TYPES[name]["options"]}
    settings: dict[str, Any] = {key: value for key, value in OF_THE_SEED.items() if key in known}
    if "depth" in known:
        settings["depth"] = 2
    if name == "rollout":  # one leaf at a time, or nothing is left to chance
        settings["child_batching"] = False

    def answers(seed: int) -> list[Any]:
        # Ties, which the seed breaks.
        search = athenan.make_search(name, game, "zero", seed=seed, **settings)
        found, state = [], game.initial_state()
        for _ in range(4):
            result = search.run(state, **budget_of(name))
            found.append((result.action, result.value, result.states))
            state = state.play(result.action)
        return found

    assert answers(1) == answers(1)
    by_seed = "depth" not in known or {"order", "policy"} & known
    assert bool(by_seed) == any(answers(seed) != answers(1) for seed in range(2, 12))


@every_search
def test_every_option_has_a_sentence_and_refuses_what_is_wrong(name: str) -> None:
    game = athenan.make_game("tictactoe")
    assert TYPES[name]["about"]
    for option in TYPES[name]["options"]:
        assert option["about"]
        athenan.make_search(name, game, **{option["name"]: option["default"]})
        wrong: list[Any] = [[1], "nonsense"]
        if isinstance(option["default"], int | float) and not isinstance(option["default"], bool):
            wrong += [option["low"] - 1, option["high"] * 2 + 1]
        for value in wrong:
            with pytest.raises((ValueError, TypeError)):
                athenan.make_search(name, game, **{option["name"]: value})
    with pytest.raises(ValueError, match="has no option 'colour'"):
        athenan.make_search(name, game, colour=1)


@pytest.mark.parametrize("name", ["uct", "random"])
def test_values_of_three_players_are_tuples(name: str) -> None:
    game = athenan.make_game("mnk", rows=3, columns=5, k=3, players=3)
    result = athenan.make_search(name, game).run(game.initial_state(), iterations=50)
    assert len(result.value) == len(result.completion) == 3
    for child in result.children:
        assert len(child.value) == 3


def test_uct_goes_on_with_the_same_state() -> None:
    game = athenan.make_game("connect_four")
    whole, parts = (athenan.make_search("uct", game, seed=5) for _ in range(2))
    expected = whole.run(game.initial_state(), iterations=300)
    for _ in range(3):
        found = parts.run(game.initial_state(), iterations=100)
    assert [c.selections for c in found.children] == [c.selections for c in expected.children]
    assert (found.action, found.value) == (expected.action, expected.value)
    with pytest.raises(ValueError, match="needs a budget"):
        parts.run(game.initial_state())


def test_answers_of_a_wrong_width_are_refused() -> None:
    game = athenan.make_game("hex", size=3)

    def three_a_state(planes: np.ndarray) -> np.ndarray:
        return np.zeros((len(planes), 3))

    search = athenan.make_search("descent", game, three_a_state)
    with pytest.raises(ValueError, match="3 values a state where 1 are asked for"):
        search.run(game.initial_state(), iterations=3)

    def one_a_state(planes: np.ndarray) -> np.ndarray:
        return np.zeros((len(planes), 1))

    search = athenan.make_search("descent", game, one_a_state)
    assert search.run(game.initial_state(), iterations=3).iterations == 3


@pytest.mark.parametrize("player", [0, 1])
def test_no_result_is_minus_zero(player: int) -> None:
    game = athenan.make_game("connect_four")
    state = game.initial_state()
    if player:
        state = state.play(state.legal_actions()[0])

    def minus_zero(planes: np.ndarray) -> np.ndarray:
        return np.full(len(planes), -0.0)

    result = athenan.make_search("ubfm", game, minus_zero).run(state, iterations=5)
    values = [result.value, *(child.value for child in result.children)]
    assert values == [0] * 8
    assert not np.signbit(values).any()


def test_the_terminal_evaluation_is_there_without_a_search() -> None:
    game = athenan.make_game("tictactoe")
    end = game.initial_state()
    for text in ("a1", "b1", "a2", "b2", "a3"):
        end = end.play(end.string_to_action(text))
    assert end.outcomes == (1, -1)
    evaluation = _core.TerminalEvaluation(game, "additive_depth")
    assert (evaluation.bound, evaluation(end)) == (9, 5)


def test_a_search_of_ones_own_needs_the_contract_alone(tmp_path: Path) -> None:
    """One request, two requests in one step of other widths, recursion with an error below."""
    folders = [p for p in (TOP / ".build").glob("*") if (p / "CMakeCache.txt").exists()]
    built = [p for p in folders if p.name not in ("sanitize", "mutate")]
    assert built, "the core is built by ./scripts/setup"
    newest = max(built, key=lambda p: (p / "CMakeCache.txt").stat().st_mtime)
    cmake = Path(sys.executable).with_name("cmake")
    made = subprocess.run(
        [cmake, "--build", newest, "--target", "toy_search"], capture_output=True, text=True
    )
    assert made.returncode == 0, made.stdout + made.stderr
    ran = subprocess.run([newest / "toy_search"], capture_output=True, text=True, cwd=tmp_path)
    assert (ran.returncode, ran.stdout) == (0, "all right\n")


def test_who_may_be_searched_is_said() -> None:
    """By windows and by PUCT: two players, each of whom gains what the other loses."""
    three: Any = athenan.make_game("mnk", players=3)
    ends = [(0, 0), (1, 1), (1, -1)]
    both: Any = athenan.TreeGame([[1, 2], [], []], ends, outcomes=ends)
    for name, type_ in TYPES.items():
        known = {option["name"] for option in type_["options"]}
        if "depth" not in known and name != "puct":
            continue
        with pytest.raises(athenan.InputError, match="is for two players; game 'mnk' has 3"):
            athenan.make_search(name, three)
        with pytest.raises(athenan.InputError, match="one player's gain is the other's loss"):
            athenan.make_search(name, both)
