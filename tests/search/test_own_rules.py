"""Rules written in Python for the class of Algorithm 4."""

from __future__ import annotations

import signal
import threading
import time
from random import Random
from typing import Any

import pytest
from cases import VARIANTS, minimax_of_all, random_game, tree_of
from reference import GameGraph

import athenan
from athenan import _core
from athenan.match import make_openings, play_match
from athenan.players import player_of

Children = list[_core.Child]


def best_first(state: athenan.State, children: Children) -> int:
    """The order of UBFM and Descent where no two children are equal."""
    sign = 1 if state.to_move == 0 else -1
    return max(children, key=lambda c: (sign * c.completion, sign * c.value, -c.selections)).action


def answering(answer: Any) -> Any:
    return lambda *_: answer


@pytest.mark.parametrize("variant", ["ubfm", "descent", "at most 3"])
def test_the_papers_rules_as_functions(variant: str) -> None:
    """The same tree, with an evaluator that makes no two states equal."""
    game = athenan.make_game("hex", size=5)
    settings = VARIANTS[variant]
    goes_on = {
        "never": answering(False),
        "always": answering(True),
        "at_most": lambda *told: told[2] < settings["new_states"],
    }
    rules = {"continue_rule": goes_on[settings["continue_rule"]], "order": best_first}
    searches = [
        athenan.make_search("umb", game, "hash", seed=1, **given) for given in (settings, rules)
    ]
    results = [search.run(game.initial_state(), iterations=100) for search in searches]
    assert results[0] == results[1]
    assert tree_of(searches[0].core) == tree_of(searches[1].core)


@pytest.mark.parametrize("kind", ["tree", "dag"])
def test_theorem_9_completeness_with_any_functions(kind: str) -> None:
    """Whatever they answer, what they are told is true, and the search ends with a best action."""
    for number in range(60):
        random = Random(f"own rules {kind} {number}")
        game = random_game(random, kind, most_states=40)
        graph = GameGraph(game)
        exact = minimax_of_all(graph)
        told: list[int] = []

        def goes_on(state: Any, children: Children, new_states: int, told: Any = told) -> bool:
            assert [c.action for c in children] == state.legal_actions()
            told.append(new_states)
            return random.random() < 0.5  # noqa: B023 (called within the loop)

        def order(state: Any, children: Children, exact: Any = exact) -> int:
            assert not any(child.resolved for child in children)
            assert not state.is_terminal
            assert state.key in exact
            return random.choice(children).action  # noqa: B023

        search = athenan.make_search("umb", game, "hash", continue_rule=goes_on, order=order)
        result = search.run(game.initial_state())
        assert (result.resolved, result.completion) == (True, exact[graph.root.key])
        if result.action is not None:
            best = dict(graph.root.children)[result.action]
            assert exact[best.key] == exact[graph.root.key]
        assert not told or min(told) == 1


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"order": answering(10**6)}, "'order' returns the action of a child it is given, not 1"),
        ({"order": answering(None)}, "returns the action of a child it is given, not None"),
        ({"order": answering(True)}, "returns the action of a child it is given, not True"),
        ({"order": lambda: 1}, "'order' failed: TypeError: "),
        ({"continue_rule": lambda *_: 1 / 0}, "'continue_rule' failed: ZeroDivisionError: "),
        ({"continue_rule": answering("yes")}, "returns True or False, not 'yes'"),
    ],
)
def test_an_error_in_them_is_a_sentence(rules: dict[str, Any], sentence: str) -> None:
    """The search goes on afterwards, and the cause can be seen."""
    game = athenan.make_game("connect_four")
    search = athenan.make_search("umb", game, "hash", **rules)
    for _ in range(2):
        with pytest.raises(athenan.InputError, match=sentence) as found:
            search.run(game.initial_state(), iterations=30)
        assert ("failed" in sentence) == (found.value.__cause__ is not None)


def test_other_searches_take_no_functions() -> None:
    game = athenan.make_game("tictactoe")
    for name in ("ubfm", "uct"):
        with pytest.raises(athenan.InputError, match="takes no function for 'order'; search 'umb'"):
            athenan.make_search(name, game, order=best_first)
    with pytest.raises(athenan.InputError, match="has no option 'ordre'"):
        athenan.make_search("umb", game, ordre=best_first)


def test_states_of_rules_are_states() -> None:
    """They can be kept, played on and copied; so do those of games in Python."""
    import copy

    from games.examples.nim import Nim

    for game in (athenan.make_game("tictactoe"), Nim([1, 2])):
        seen: list[Any] = []

        def order(state: Any, children: Children, seen: list[Any] = seen) -> int:
            seen.append((state, str(state), state.play(children[0].action).ply))
            return children[0].action

        search = athenan.make_search("umb", game, "hash", order=order)
        assert search.run(athenan.make_game(game).initial_state()).resolved
        assert len(seen) > 3
        for state, text, ply in seen:
            assert (str(state), state.ply + 1) == (text, ply)
        if isinstance(game, athenan.Game):
            assert str(copy.copy(seen[-1][0])) == seen[-1][1]


def test_ctrl_c_is_heard_in_a_function() -> None:
    def slow(_: Any, children: Children) -> int:
        time.sleep(0.01)
        return children[0].action

    game = athenan.make_game("go", size=9)
    search = athenan.make_search("umb", game, "hash", order=slow)
    threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT)).start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        search.run(game.initial_state(), iterations=10**6)
    assert time.monotonic() - started < 5
    assert search.result().action is not None
    assert search.run(game.initial_state(), iterations=1).iterations == 1


def test_functions_play_matches() -> None:
    """On two threads, many games in step."""
    game = athenan.make_game("tictactoe")
    first = {
        "search": {"name": "umb", "continue_rule": lambda *told: told[2] < 3, "order": best_first},
        "evaluator": "hash",
        "evaluations": 300,
    }
    players = (player_of(game, first, threads=2), player_of(game, {"search": "random"}))
    result = play_match(players, make_openings(game, 20, 2, 0))
    assert result.score > 0.8
