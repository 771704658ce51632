"""f_t for n players: plain formulas, the order of outcomes, and what a win is enough for."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import pytest
from reference_n import VectorGraph

import athenan
from athenan.search import make_terminal_evaluation

GAMES: dict[str, dict[str, Any]] = {
    "tic-tac-mo": {"name": "mnk", "rows": 3, "columns": 5, "k": 3, "players": 3},
    "four in turn": {"name": "mnk", "rows": 3, "columns": 4, "k": 3, "players": 4},
    "rolit for three": {"name": "rolit", "players": 3, "size": 4, "start": "four_colours"},
    "rolit for four": {"name": "rolit", "players": 4, "size": 4},
    "othello": {"name": "othello", "size": 4},
}
SCORED = ("rolit for three", "rolit for four")
HEURISTICS = ("gain", "additive_depth", "multiplicative_depth", "mobility", "score", "presence")
CASES = [
    (game, heuristic)
    for game in GAMES
    for heuristic in HEURISTICS
    if game in SCORED or heuristic not in ("score", "presence")
]


def lines(game: athenan.Game, number: int) -> Any:
    """The states of random games, the last one over."""
    random = Random(1)
    for _ in range(number):
        states = [game.initial_state()]
        while not states[-1].is_terminal:
            states.append(states[-1].play(random.choice(states[-1].legal_actions())))
        yield states


@pytest.mark.parametrize(("name", "heuristic"), CASES)
def test_as_the_plain_formulas(name: str, heuristic: str) -> None:
    game = athenan.make_game(**GAMES[name])
    evaluation = make_terminal_evaluation(game, heuristic)
    if game.num_players == 2 or heuristic == "presence":
        pytest.skip("test_heuristics.py has those of two; the reference counts no discs")
    graph = VectorGraph(game, heuristic)
    for states in lines(game, 30):
        state = graph.root
        for before, after in pairwise(states):
            at = before.legal_actions().index(
                next(a for a in before.legal_actions() if before.play(a).key == after.key)
            )
            state = state.children[at][1]
        assert evaluation(states[-1]) == pytest.approx(graph.terminal_values(state), rel=1e-6)


@pytest.mark.parametrize(("name", "heuristic"), CASES)
def test_a_win_is_more_than_a_draw_and_that_more_than_a_loss(name: str, heuristic: str) -> None:
    """For every player, and nothing is beyond the bound."""
    game = athenan.make_game(**GAMES[name])
    evaluation = make_terminal_evaluation(game, heuristic)
    seen = set()
    for states in lines(game, 200):
        end = states[-1]
        values = evaluation(end)
        values = values if isinstance(values, tuple) else (values, -values)
        for outcome, value in zip(end.outcomes, values, strict=True):
            seen.add(outcome)
            assert abs(value) <= evaluation.bound
            assert (value >= 1, value == 0, value <= -1) == (
                outcome == 1, outcome == 0, outcome == -1
            )  # fmt: skip
    assert {-1, 1} <= seen


@pytest.mark.parametrize(("name", "heuristic"), CASES)
def test_no_end_below_is_worth_more_than_the_most(name: str, heuristic: str) -> None:
    """By depth some win in one is worth just that, so that it is enough to stop at."""
    game = athenan.make_game(**GAMES[name])
    evaluation = make_terminal_evaluation(game, heuristic)
    exact = 0
    for states in lines(game, 100):
        values = evaluation(states[-1])
        values = values if isinstance(values, tuple) else (values, -values)
        for state in states[:-1]:
            most = [evaluation.most(state, player) for player in range(game.num_players)]
            assert all(value <= best for value, best in zip(values, most, strict=True))
        exact += any(value == best for value, best in zip(values, most, strict=True))
    assert (exact > 0) or heuristic in ("score", "presence", "mobility")


def test_depth_wins_are_found_by_the_local_rule() -> None:
    """A win at once resolves its state by the local maximum, and never by the global one."""
    game = athenan.make_game("mnk", rows=1, columns=6, k=2, players=3)
    state = game.initial_state().play(0).play(3).play(5)  # x wins at b1
    expanded = {}
    for enough in ("local", "global"):
        search = athenan.make_search(
            "maxn_ubfm", game, "zero", heuristic="additive_depth", wins_enough=enough
        )
        result = search.run(state)
        assert (result.completion, result.resolved) == ((1, -1, -1), True)
        expanded[enough] = search.core.counts["expanded"]
    assert expanded["local"] == 1 < expanded["global"]
