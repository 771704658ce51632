"""Reinforcement heuristics: the order win > draw > loss and the bounds, for every game."""

from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import athenan
from athenan import _core
from athenan.errors import InputError

HEURISTICS = ("gain", "additive_depth", "multiplicative_depth", "score", "mobility", "presence")
CONFIGS = sorted((Path(__file__).parents[2] / "configs" / "game").glob("*.yaml"))
SETTINGS = {path.stem: yaml.safe_load(path.read_text()) for path in CONFIGS}
# Small boards for many ends of all kinds.
SMALL = {
    "connect_four 4x4": {"name": "connect_four", "rows": 4, "columns": 4},
    "othello 4": {"name": "othello", "size": 4},
    "breakthrough 4x3": {"name": "breakthrough", "rows": 4, "columns": 3},
    "ataxx 3": {"name": "ataxx", "size": 3, "jump_limit": 5},
}
GAMES: dict[str, Any] = {
    name: game
    for name, options in {**SETTINGS, **SMALL}.items()
    if (game := athenan.make_game(**options)).num_players == 2
}

every_game = pytest.mark.parametrize("name", GAMES)
every_heuristic = pytest.mark.parametrize("heuristic", HEURISTICS)


@cache
def ends(name: str) -> list[tuple[Any, list[list[int]]]]:
    """Last states of random games, with the legal actions that each player had on the way."""
    game = GAMES[name]
    random = np.random.default_rng(0)
    found = []
    for _ in range(60 if game.max_plies <= 60 else 6):
        state = game.initial_state()
        counts: list[list[int]] = [[], []]
        while not state.is_terminal:
            actions = state.legal_actions()
            counts[state.to_move].append(len(actions))
            state = state.play(actions[random.integers(len(actions))])
        found.append((state, counts))
    return found


def value(search: athenan.Search, state: Any) -> float:
    search.clear()
    group = _core.SearchGroup([search.core], [1], 1)
    group.start(0, state)
    group.advance()
    return float(search.result().value)


def applies(name: str, heuristic: str) -> bool:
    if heuristic == "score":
        return bool(GAMES[name].max_score)
    if heuristic == "presence":
        return bool(GAMES[name].max_pieces)
    return True


def expected(heuristic: str, game: Any, state: Any, counts: list[list[int]]) -> float | None:
    """What a win is worth by the formula, where the state shows it."""
    longest, winner = game.max_plies, 0 if state.outcomes[0] > 0 else 1
    left = longest - state.ply + 1
    if heuristic == "gain":
        return 1.0
    if heuristic == "additive_depth":
        return float(left)
    if heuristic == "multiplicative_depth":
        return float(longest ** (left / longest))
    if heuristic == "score":
        return max(1.0, (1 - 2 * winner) * state.score)
    if heuristic == "mobility":
        means = [np.mean(of) if of else 1.0 for of in counts]
        return float(np.clip(means[winner] / means[1 - winner], 1.0, 10.0))
    return None


@every_heuristic
@every_game
def test_win_draw_loss_and_the_bound(name: str, heuristic: str) -> None:
    game = GAMES[name]
    if not applies(name, heuristic):
        with pytest.raises(InputError, match=f"Game '{game.name}' has no .* '{heuristic}'\\.$"):
            athenan.make_search("ubfm", game, "zero", heuristic=heuristic)
        return
    search = athenan.make_search("ubfm", game, "zero", heuristic=heuristic)
    bound = search.core.bound
    for state, counts in ends(name):
        found = value(search, state)
        outcome = state.outcomes[0]
        if outcome == 0:
            assert found == 0
            continue
        assert np.sign(found) == outcome
        assert 1 <= abs(found) <= bound
        formula = expected(heuristic, game, state, counts)
        if formula is not None:
            assert abs(found) == pytest.approx(formula, rel=1e-5)


def test_the_random_games_show_all_outcomes() -> None:
    seen = {state.outcomes[0] for name in GAMES for state, *_ in ends(name)}
    assert seen == {-1, 0, 1}
    for heuristic in ("score", "presence"):
        assert any(applies(name, heuristic) for name in GAMES)
        assert any(not applies(name, heuristic) for name in GAMES)


@pytest.mark.parametrize("name", ["othello", "othello6", "ataxx 3", "breakthrough", "draughts"])
def test_run_at_the_end_gives_the_value_of_the_end(name: str) -> None:
    for heuristic in ("gain", "score", "presence"):
        if not applies(name, heuristic):
            continue
        search = athenan.make_search("descent", GAMES[name], "zero", heuristic=heuristic)
        for state, _ in ends(name)[:3]:
            result = search.run(state)
            assert (result.resolved, result.action) == (True, None)
            assert result.value == value(search, state)
            assert result.completion == state.outcomes[0]


@pytest.mark.parametrize("heuristic", ["additive_depth", "multiplicative_depth"])
def test_longest(heuristic: str) -> None:
    """Counted from `longest`; a win after more plies than that is the smallest win."""
    game: Any = GAMES["connect_four"]
    search = athenan.make_search("ubfm", game, "zero", heuristic=heuristic, longest=20)
    assert search.core.bound == 20
    plies = set()
    for state, _ in ends("connect_four"):
        if state.outcomes[0] == 0:
            continue
        left = max(0, 20 - state.ply + 1)
        formula = left if heuristic == "additive_depth" else 20 ** (left / 20)
        found = abs(value(search, state))
        assert found == pytest.approx(max(1, formula), rel=1e-5)
        plies.add(state.ply > 20)
    assert plies == {True, False}


@pytest.mark.parametrize("heuristic", ["additive_depth", "multiplicative_depth"])
def test_quick_wins_are_worth_more(heuristic: str) -> None:
    game: Any = GAMES["connect_four"]
    search = athenan.make_search("ubfm", game, "zero", heuristic=heuristic)
    by_ply = {
        state.ply: abs(value(search, state))
        for state, _ in ends("connect_four")
        if state.outcomes[0]
    }
    ordered = [by_ply[ply] for ply in sorted(by_ply)]
    assert len(ordered) > 5
    assert all(a > b for a, b in pairwise(ordered))


@pytest.mark.parametrize("heuristic", ["additive_depth", "multiplicative_depth"])
@pytest.mark.parametrize("loses", [False, True])
def test_solving_wins_soon_and_loses_late(heuristic: str, loses: bool) -> None:
    """Tic-tac-toe with a corner, an edge and the centre: strongly solved, against brute force."""
    game: Any = athenan.make_game("tictactoe")
    state = game.initial_state()
    for word in ("a1", "b1", "b2") if loses else ("a1", "b1"):
        state = state.play(state.string_to_action(word))

    def worth(state: Any) -> float:
        if state.is_terminal:
            left = 9 - state.ply + 1
            size = left if heuristic == "additive_depth" else 9 ** (left / 9)
            return float(state.outcomes[0] * size)
        values = [worth(state.play(action)) for action in state.legal_actions()]
        return max(values) if state.to_move == 0 else min(values)

    search = athenan.make_search("descent", game, "hash", heuristic=heuristic, strong=True)
    result = search.run(state)
    assert result.resolved
    assert result.value == pytest.approx(worth(state), rel=1e-5)
    assert result.value > 0, "the first player wins either way"
