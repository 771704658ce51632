"""The engine behind the shells: its line, its thoughts in any thread, what it tells meanwhile."""

from __future__ import annotations

import random
import threading
import time
from typing import Any

import numpy as np
import pytest

import athenan
from athenan import _core
from athenan.engine import ENDLESS, Budget, Engine
from athenan.errors import InputError
from athenan.search import search_types
from athenan.thoughts import REASONS, Thought
from athenan.time_control import TimeLeft


def engine(
    name: str = "hex", search: str = "ubfm", evaluator: Any = "hash", **settings: Any
) -> Engine:
    options = settings.pop("game", {"size": 5} if name == "hex" else {})
    game = athenan.make_game(name, **options)
    return Engine(athenan.make_search(search, game, evaluator, **settings), Budget(evaluations=300))


def play(at: Engine, *words: str) -> None:
    for word in words:
        at.play(at.state.string_to_action(word))


# ---- Looking changes nothing ---------------------------------------------------------------------


def same_trees(one: Any, other: Any) -> bool:
    a, b = one.search.core.dump(), other.search.core.dump()
    return all(np.array_equal(a[key], b[key]) for key in a)


class SlowHash:
    """An evaluator outside of the core: answers by the planes."""

    def __call__(self, planes: np.ndarray[Any, Any]) -> Any:
        flat = planes.reshape(len(planes), -1).astype(np.float64)
        return np.cos(flat @ np.arange(1.0, flat.shape[1] + 1))


@pytest.mark.parametrize("search", ["ubfm", "descent"])
@pytest.mark.parametrize("evaluator", ["hash", "rollout", "own"])
def test_a_search_that_is_looked_at_is_the_same(
    search: str, evaluator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("athenan.search.LOOK_SECONDS", 1e-9)  # as often as it can
    given = SlowHash() if evaluator == "own" else evaluator
    told, quiet = (engine(search=search, evaluator=given, game={"size": 6}) for _ in range(2))
    heard: list[Thought] = []
    most = 40_000 if evaluator == "hash" else 2000
    for evaluations in (most, 700):  # the second goes on with the tree
        thought = told.think(Budget(evaluations=evaluations), heard.append, every=0)
        assert thought.result == quiet.search.run(quiet.state, evaluations=evaluations)
        assert same_trees(told, quiet)
        action = thought.action
        assert action is not None
        told.play(action)
        quiet.play(action)
    assert len(heard) > 5
    assert [each.over for each in heard].count(True) == 2


def test_thoughts_grow_and_are_sound() -> None:
    at = engine(evaluator="rollout", game={"size": 6})
    heard: list[Thought] = []
    at.think(Budget(evaluations=3000), heard.append, every=0.01)
    counts = [each.evaluations for each in heard]
    assert counts == sorted(counts)
    for thought in heard:
        assert thought.result is not None
        line, state = thought.line, thought.state
        for action in line:
            state = state.play(action)
        if thought.result.children:
            assert thought.action in state.game.initial_state().legal_actions()
            assert all(abs(child.value) <= 1 for child in thought.result.children)
            figures = thought.figures()
            assert figures["children"][0]["action"] == figures["action"]


def test_children_that_wait_for_their_values_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The evaluator never says 0, which they hold before it has answered."""
    monkeypatch.setattr("athenan.search.LOOK_SECONDS", 0)
    at = engine(evaluator=SlowHash(), game={"size": 4})
    heard: list[Thought] = []
    below: list[Thought | None] = []

    def hear(thought: Thought) -> None:
        heard.append(thought)
        below.append(at.look(thought.line[:1]))

    at.think(Budget(evaluations=400), hear, every=0)
    assert heard[0].action is None, "the root waits first"
    told = [thought.result for thought in [*heard, *below] if thought and thought.result]
    children = [child for result in told for child in result.children]
    assert len(children) > 100
    assert all(child.value != 0 or child.resolved for child in children)


@pytest.mark.parametrize("name", [kind["name"] for kind in search_types()])
def test_every_search_can_be_looked_at(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("athenan.search.LOOK_SECONDS", 1e-9)
    at = engine("connect_four", name, game={"rows": 4, "columns": 4})
    heard: list[Thought] = []
    thought = at.think(Budget(evaluations=300), heard.append, every=0)
    assert thought.action in at.state.legal_actions()
    assert heard[-1] is thought
    for each in heard:
        each.figures()
        assert each.why().order in REASONS


@pytest.mark.parametrize("name", ["mnk", "rolit", "chinese_checkers"])
def test_three_players(name: str) -> None:
    at = engine(name, "maxn_ubfm", game={"players": 3})
    thought = at.think(Budget(evaluations=200), lambda _: None, every=0)
    assert thought.result is not None
    assert len(thought.result.value) == 3
    assert len(thought.figures()["children"]) == len(at.state.legal_actions())


# ---- Threads -------------------------------------------------------------------------------------


def test_an_endless_thought_ends_when_it_is_told() -> None:
    at = engine(game={"size": 11})
    heard: list[Thought] = []
    first = threading.Event()

    def hear(thought: Thought) -> None:
        heard.append(thought)
        first.set()

    at.start(ENDLESS, hear, every=0.01)
    assert first.wait(30)
    assert at.thinking
    with pytest.raises(InputError, match="thinks of one state at a time"):
        at.think()
    known = at.look()  # while it thinks
    assert known is not None
    assert known.result is not None
    action = known.result.children[0].action
    below = at.look([action])
    assert below is None or below.state == at.state.play(action)
    thought = at.stop()
    assert thought is not None
    assert thought.over
    assert not at.thinking
    assert at.thoughts[0] is thought
    assert heard[-1] is thought
    assert at.stop() is None


def test_a_stop_is_never_lost() -> None:
    """Also one that comes before the thread has begun."""
    at = engine(game={"size": 11})
    for _ in range(30):
        at.start(ENDLESS)
        assert at.stop() is not None


def test_a_thought_is_stopped_by_who_hears_of_it() -> None:
    at = engine(game={"size": 11})

    def hear(_: Thought) -> None:
        at.stop()

    thought = at.think(ENDLESS, hear, every=0)
    assert thought.action is not None


def test_an_error_leaves_the_engine_ready() -> None:
    class Broken(SlowHash):
        calls = 0

        def __call__(self, planes: np.ndarray[Any, Any]) -> Any:
            self.calls += 1
            if self.calls == 3:
                raise RuntimeError("broken")
            return super().__call__(planes)

    at = engine(evaluator=Broken())
    ended = at.start(Budget(evaluations=500))
    with pytest.raises(RuntimeError, match="broken"):
        ended.result(30)
    assert at.stop() is None
    assert at.think(Budget(evaluations=100)).action is not None


def test_playing_ends_the_thought() -> None:
    at = engine(game={"size": 11})
    ended = at.start(ENDLESS)
    play(at, "a1")
    assert ended.done()
    assert not at.thinking
    assert at.undo()
    assert at.thoughts == [ended.result()]


def test_seconds_are_those_of_a_clock_on_the_wall() -> None:
    at = engine(game={"size": 11})

    def slow(_: Thought) -> None:
        time.sleep(0.05)

    started = time.monotonic()
    at.think(Budget(seconds=0.2), slow, every=0)
    assert time.monotonic() - started < 1


# ---- The line ------------------------------------------------------------------------------------


def test_the_line() -> None:
    at = engine()
    play(at, "a1", "b2")
    thought = at.think()
    assert at.values() == [None, None, thought.result.value if thought.result else None]
    with pytest.raises(ValueError, match=r"a1|legal"):
        at.play(at.actions[0])
    assert len(at.states) == 3
    start = at.states[1]
    at.set_line(None, [*at.actions, 7])
    assert at.thoughts[2] is thought, "what stays keeps what was thought"
    assert len(at.states) == 4
    at.set_line(start, [at.actions[1]])
    assert at.thoughts == [None, None]
    with pytest.raises(ValueError, match="legal"):
        at.set_line(None, [0, 0])
    assert at.states[0] == start, "nothing changed"
    assert not at.undo(2)
    assert at.undo(1)
    assert not at.undo(1)
    with pytest.raises(InputError, match="another game"):
        at.set_line(athenan.make_game("hex", size=4).initial_state())


def test_the_tree_is_kept_from_state_to_state() -> None:
    at = engine()
    thought = at.think(Budget(evaluations=2000))
    assert thought.action is not None
    known = at.look([thought.action])
    assert known is not None
    at.play(thought.action)
    again = at.look()
    assert again is not None
    assert again.result == known.result
    assert at.think(Budget(evaluations=1)).result.states > 1000  # type: ignore[union-attr]
    at.clear()
    assert at.look() is None


def test_the_tree_opens_node_by_node() -> None:
    """What is told of a child is what its parent says of it."""
    at = engine(game={"size": 4})
    thought = at.think(Budget(evaluations=3000))
    opened, waiting = 0, [()]
    while waiting and opened < 300:
        path: Any = waiting.pop()
        known = at.look(path)
        assert known is not None
        assert known.result is not None
        opened += 1
        for child in known.result.children:
            below = at.look((*path, child.action))
            assert below is not None
            assert below.result is not None
            assert below.result.value == child.value
            assert below.result.resolved == child.resolved
            if below.result.children:
                waiting.append((*path, child.action))
    assert opened > 50
    assert thought.result == at.look().result  # type: ignore[union-attr]


# ---- What is proven, and why -----------------------------------------------------------------


def test_the_distance_of_what_is_proven() -> None:
    at = engine("tictactoe")
    play(at, "a1", "a2", "b1", "b2")  # c1 wins
    thought = at.think(Budget())
    assert thought.result is not None
    assert thought.result.resolved
    c1 = at.state.string_to_action("c1")
    assert thought.action == c1
    assert thought.result.plies_to_end == 1
    assert thought.plies_to_end(c1) == 1
    for child in thought.result.children:
        if child.resolved:
            state = at.state
            for action in thought.line_of(child.action):
                state = state.play(action)
            assert state.is_terminal
            assert state.ply - at.state.ply == thought.plies_to_end(child.action)
    play(at, "c1")
    over = at.think()
    assert over.action is None
    assert over.result is not None
    assert over.result.plies_to_end == 0
    assert over.why().order == "none"


def result_of(*children: tuple[float, int, bool, int], action: int = 0) -> Any:
    class Result:
        resolved, value, completion = False, 0.0, 0

    result: Any = Result()
    result.action = action
    result.children = [
        _core.Child(i, value, completion, resolved, selections)
        for i, (value, completion, resolved, selections) in enumerate(children)
    ]
    return result


@pytest.mark.parametrize(
    ("decision", "order", "children"),
    [
        ("safest", "only", [(0.1, 0, False, 3)]),
        ("safest", "selections", [(0.1, 0, False, 30), (0.5, 0, False, 3)]),
        ("best", "value", [(0.5, 0, False, 3), (0.1, 0, False, 30)]),
        ("safest", "value", [(0.5, 0, False, 3), (0.1, 0, False, 3)]),
        ("best", "selections", [(0.5, 0, False, 4), (0.5, 0, False, 3)]),
        ("safest", "completion", [(1, 1, True, 1), (0.9, 0, False, 300)]),
        ("safest", "known", [(0.0, 0, True, 1), (-0.2, 0, False, 300)]),
        ("safest", "tie", [(0.1, 0, False, 3), (0.1, 0, False, 3)]),
        ("own", "own", [(0.1, 0, False, 3), (0.2, 0, False, 4)]),
    ],
)
def test_why_this_action(decision: str, order: str, children: Any) -> None:
    state = athenan.make_game("tictactoe").initial_state()
    thought = Thought(state, result_of(*children), decision=decision)
    assert thought.why().order == order
    assert str(thought.why()) == REASONS[order]
    assert thought.candidates()[0].action == 0


@pytest.mark.parametrize("decision", ["safest", "best", "safest_printed"])
def test_the_reason_holds_in_searches(decision: str) -> None:
    """The order that is named gives the action that the core has chosen: never by its own rule."""
    at = engine("connect_four", decision=decision, game={"rows": 5, "columns": 5})
    chance, seen = random.Random(3), set()
    for _ in range(60):
        thought = at.think(Budget(evaluations=chance.choice((1, 30, 300))))
        if thought.action is None:
            at.set_line()
            continue
        seen.add(thought.why().order)
        assert thought.why().order not in ("own", "none")
        at.play(chance.choice(at.state.legal_actions()))
    assert len(seen) > 2


# ---- Time ------------------------------------------------------------------------------------


def test_a_turn_leaves_time_for_the_next() -> None:
    for seconds in (1000.0, 10.0, 1.0, 0.2, 0.05, 0.0, -1.0):
        for increment in (0.0, 0.1, 10.0):
            for turns in (1, 12, 40):
                spent = TimeLeft(seconds, increment).seconds_for_turn(turns)
                assert spent > 0
                assert spent <= max(1e-3, seconds / 2)
    assert TimeLeft(10, turns=1).seconds_for_turn(40) > 9, "more time comes after it"
    assert TimeLeft(60).seconds_for_turn(30) == pytest.approx(1.9)


def test_a_thought_by_the_clock() -> None:
    at = engine(game={"size": 11})
    at.warm_up()
    budget = at.budget_by_clock(TimeLeft(3.0), Budget(evaluations=10**9))
    assert budget.evaluations == 10**9
    assert 0 < (budget.seconds or 0) < 0.3
