"""UCT and the rollouts: who is visited, what is played, and what the values are."""

from __future__ import annotations

from random import Random

import pytest

import athenan


def test_the_most_visited_is_played() -> None:
    """Among equals the better mean; which is not the same as the best mean of all."""
    game, random = athenan.make_game("connect_four"), Random(0)
    others = 0
    for seed in range(60):
        state = game.initial_state()
        for _ in range(seed % 12):
            state = state.play(random.choice(state.legal_actions()))
        if state.is_terminal:
            continue
        sign = 1 if state.to_move == 0 else -1
        result = athenan.make_search("uct", game, seed=seed).run(state, iterations=15 + seed)
        ranks = {c.action: (c.selections, sign * c.value) for c in result.children}
        assert ranks[result.action] == max(ranks.values())
        assert result.principal_variation[0] == result.action
        others += ranks[result.action][1] < max(mean for _, mean in ranks.values())
    assert others > 5


def test_the_value_is_the_mean_of_all_rollouts() -> None:
    game = athenan.make_game("connect_four")
    result = athenan.make_search("uct", game).run(game.initial_state(), iterations=500)
    assert sum(child.selections for child in result.children) == 500
    total = sum(child.selections * child.value for child in result.children)
    assert result.value == pytest.approx(total / 500, abs=1e-6)


def test_exploration_makes_visits_even() -> None:
    """μ + λ √(ln n / n_c) with a large λ takes the least visited; with a small one the best."""
    game = athenan.TreeGame.nested([[1, 1], [-1, -1], [0, 0]])
    root = game.initial_state()

    def visits(exploration: float) -> list[int]:
        search = athenan.make_search("uct", game, exploration=exploration)
        return [child.selections for child in search.run(root, iterations=300).children]

    assert visits(1e6) == [100, 100, 100]
    assert visits(0) == [298, 1, 1]
    some = visits(1)
    assert some[0] > some[2] > some[1] > 1


def test_rollouts_are_a_mean() -> None:
    """Of a child that is won with probability 3/4 and one that is lost with it."""
    game = athenan.TreeGame.nested([[1, 1, 1, -1], [-1, -1, -1, 1]])
    search = athenan.make_search("ubfm", game, "rollout", rollouts=4000)
    result = search.run(game.initial_state(), iterations=1)
    assert [c.value for c in result.children] == pytest.approx([0.5, -0.5], abs=0.06)


def test_rollouts_of_children_are_independent() -> None:
    game = athenan.TreeGame.nested([[1, -1]] * 30)
    search = athenan.make_search("ubfm", game, "rollout", rollouts=1)
    result = search.run(game.initial_state(), iterations=1)
    assert 5 < sum(child.value == 1 for child in result.children) < 25
