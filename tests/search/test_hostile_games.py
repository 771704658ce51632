"""Games, evaluators, arrays and calls that are wrong: refused with a sentence, never a crash."""

from __future__ import annotations

import dataclasses
import re
import threading
import time
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest

import athenan
from athenan import _core
from athenan.errors import InputError
from athenan.search import make_core_search, search_types

SEARCHES = [entry["name"] for entry in search_types()]
TREES = ["ubfm", "descent"]


@dataclasses.dataclass(frozen=True)
class Line(athenan.PythonState):
    """Nothing but a line of plies; a game that differs in one thing says what."""

    ply: int = 0
    wrong: tuple[str, Any] = ("", None)
    length: int = 4

    def says(self, what: str, right: Any) -> Any:
        return self.wrong[1] if self.wrong[0] == what else right

    @property
    def to_move(self) -> int:
        return self.says("to_move", self.ply % 2)

    @property
    def outcomes(self) -> tuple[int, ...] | None:
        return self.says("outcomes", (1, -1)) if self.is_terminal else None

    @property
    def is_terminal(self) -> bool:
        return self.says("is_terminal", self.ply >= self.length)

    @property
    def score(self) -> float | None:
        return self.says("score", None)

    @property
    def key(self) -> int:
        return self.says("key", super().key)

    def legal_actions(self) -> list[int]:
        return [] if self.ply >= self.length else self.says("legal_actions", [0, 1])

    def play(self, action: int) -> Line:  # noqa: ARG002
        return dataclasses.replace(self, ply=self.ply + 1)

    def planes(self) -> np.ndarray:
        return self.says("planes", np.full((1, 1, 1), self.ply % 2, np.uint8))


class LineGame(athenan.PythonGame):
    max_plies = 4
    plane_shape = (1, 1, 1)

    def __init__(self, what: str = "", value: Any = None) -> None:
        self.wrong = (what, value)

    def initial_state(self) -> Line:
        return Line(wrong=self.wrong)


def zero(planes: np.ndarray) -> np.ndarray:
    return np.zeros(len(planes), np.float32)


def refusal(call: Callable[[], Any]) -> str:
    """The sentence with which the call is refused, or nothing."""
    try:
        call()
    except ValueError as error:
        return str(error)
    return ""


def run(game: Any, name: str, evaluator: Any = "zero", **settings: Any) -> Any:
    search = athenan.make_search(name, game, evaluator, **settings)
    return search.run(game.initial_state(), iterations=20)


# ---- Games ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize(
    ("what", "value", "sentence"),
    [
        ("to_move", 2, "to_move is 2; the players are 0 to 1"),
        ("to_move", -1, "to_move is -1"),
        ("to_move", 10**9, "the players are"),
        ("to_move", "x", "to_move is not a whole number"),
        ("legal_actions", [], "no legal actions but is not over"),
        ("legal_actions", [-1], "legal_actions.. is not a list"),
        ("legal_actions", [2**32], "legal_actions.. is not a list"),
        ("is_terminal", False, "no legal actions but is not over|longer than its max_plies"),
        ("is_terminal", "perhaps", "is_terminal is not True or False"),
        ("outcomes", (1,), "outcomes are not -1, 0 or 1 for each player"),
        ("outcomes", (1, -1, 0), "for each player"),
        ("outcomes", (300, -300), "for each player"),
        ("outcomes", None, "outcomes is not -1, 0 or 1 for each player"),
        ("score", float("nan"), "score is not finite"),
    ],
    ids=str,
)
def test_a_game_that_breaks_the_contract_is_refused(
    name: str, what: str, value: Any, sentence: str
) -> None:
    if name == "random":  # it asks for nothing else
        what, value, sentence = "legal_actions", [], "no legal actions but is not over"
    game = LineGame(what, value)
    search = athenan.make_search(name, game, "zero")
    states = [Line(ply, game.wrong) for ply in range(5)]
    sentences = [refusal(lambda state=state: search.run(state, iterations=20)) for state in states]
    assert any(re.search(sentence, text) for text in sentences)
    # What it should have been, and the same search goes on.
    assert search.run(Line(), iterations=20).action in (0, 1)


@pytest.mark.parametrize(
    "planes", [np.zeros((2, 1, 1), np.uint8), "x", None], ids=["2", "text", "none"]
)
def test_wrong_planes_are_refused(planes: Any) -> None:
    with pytest.raises(InputError, match="planes"):
        run(LineGame("planes", planes), "descent", zero)


@pytest.mark.parametrize("name", TREES)
def test_keys_that_come_again_are_refused(name: str) -> None:
    """All states of the line are one: without an end to it the descent would go on for ever."""

    class Endless(LineGame):
        def initial_state(self) -> Line:
            return Line(wrong=("key", 7), length=10**9)

    with pytest.raises(InputError, match="longer than its max_plies, 4: the key of a state comes"):
        run(Endless(), name)


def test_a_game_without_end_is_refused() -> None:
    class Endless(LineGame):
        def initial_state(self) -> Line:
            return Line(length=10**9)

    with pytest.raises(InputError, match="longer than its max_plies, 4"):
        run(Endless(), "descent")
    for name, evaluator in (("descent", "rollout"), ("uct", "zero")):
        with pytest.raises(InputError, match="went on for more than its max_plies, 4"):
            run(Endless(), name, evaluator)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("outcomes", [(1, 1), (0, -1), (-1, -1)])
def test_what_is_not_zero_sum_is_refused(name: str, outcomes: tuple[int, int]) -> None:
    game = LineGame("outcomes", outcomes)
    sentence = f"outcomes {outcomes[0]} and {outcomes[1]}; in this search one player's gain"
    with pytest.raises(InputError, match=sentence):
        athenan.make_search(name, game, "zero").run(game.initial_state())
    with pytest.raises(InputError, match=sentence):
        athenan.make_search(name, game, "zero").run(Line(4, game.wrong))


@pytest.mark.parametrize("name", TREES)
def test_more_children_than_a_node_can_number_are_refused(name: str) -> None:
    """Wrapped to 464, the root was proven lost though its last action wins."""
    many = 66_000
    game = athenan.TreeGame([[*range(1, many + 1)], *[[]] * many], [-1] * many + [1])
    with pytest.raises(
        InputError, match="has 66000 legal actions; this search takes at most 65535"
    ):
        run(game, name)
    many = 65_535
    game = athenan.TreeGame([[*range(1, many + 1)], *[[]] * many], [-1] * many + [1])
    result = run(game, name)
    assert (result.resolved, result.completion, result.action) == (True, 1, many - 1)


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("outcome", [-1, 1])
def test_without_completion_an_end_proves_nothing(name: str, outcome: int) -> None:
    game = athenan.TreeGame.nested([outcome, 0])
    root = game.initial_state()
    search = athenan.make_search(name, game, "zero", completion=False)
    assert search.run(root.play(0)).value == outcome
    dump = search.core.dump()
    assert (dump["completion"].tolist(), dump["value"].tolist()) == ([0], [outcome])
    assert [c.completion for c in search.run(root, iterations=3).children] == [0, 0]


def test_a_tree_is_as_deep_as_it_likes() -> None:
    depth = 300_000
    chain = [[i + 1] for i in range(depth)] + [[]]
    game = athenan.TreeGame(chain, [0.0] * depth + [1.0])
    assert game.max_plies == depth
    assert (game.perft(depth), game.perft(depth + 1)) == (1, 0)
    result = run(game, "descent")
    assert (result.resolved, result.completion) == (True, 1)
    assert len(result.principal_variation) == depth
    nested: Any = 1
    for _ in range(depth):
        nested = [nested]
    assert athenan.TreeGame.nested(nested).max_plies == depth


def test_a_tree_is_checked() -> None:
    for children, sentence in (
        ([[1], [0]], "can reach itself"),
        ([[], [2], [1]], "can reach itself"),  # below no root, but a state can be written there
        ([[7]], "no node 7"),
    ):
        with pytest.raises(ValueError, match=sentence):
            athenan.TreeGame(children, [0.0] * len(children))
    for player in (-1, 2):
        with pytest.raises(ValueError, match="players 0 and 1"):
            athenan.TreeGame([[1], []], [0, 1], to_move=[0, player])
    for value in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="finite"):
            athenan.TreeGame([[1], []], [0, value])
    game = athenan.TreeGame.nested([1, 0])
    for text in ("node x", "node 99999999999999999999", "node 3", "node -1", "node"):
        with pytest.raises(ValueError, match=r"node like 'node 3'|no node 3"):
            game.state_from_string(text)


@pytest.mark.parametrize("name", athenan.list_games())
def test_planes_of_any_bytes_make_a_state_or_are_refused(name: str) -> None:
    game = athenan.make_game(name)
    random = np.random.default_rng(0)
    for share in (0.0, 0.1, 0.5, 1.0):
        planes = random.integers(0, 256, game.plane_shape, np.uint8)
        planes *= random.random(game.plane_shape) < share
        refused = refusal(partial(game.state_from_planes, planes, 1))
        assert refused == "" or refused.endswith(".")
        if refused == "":
            state = game.state_from_planes(planes, 1)
            assert 0 <= state.to_move < game.num_players
            str(state)
            for action in state.legal_actions()[:5]:
                str(state.play(action))


# ---- Evaluators and calls ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (lambda n: np.full(n, np.nan), "answered nan for a state"),
        (lambda n: np.where(np.arange(n) == 3, np.inf, 0), "answered inf for a state"),
        (lambda n: np.zeros(n + 1), "more than the 16"),
        (lambda n: np.zeros(n - 10), "fewer than"),
        (lambda n: np.zeros((n, 1, 1)), "a value, or a row of them"),
        (lambda _: np.float32(0), "a value, or a row of them|fewer than"),
        (lambda _: None, "fewer than|numbers|answered nan|a value"),
        (lambda n: ["x"] * n, "numbers"),
        (lambda _: [[0], [0, 1]], "numbers"),
    ],
)
def test_wrong_answers_are_refused(answer: Callable[[int], Any], sentence: str) -> None:
    game = athenan.make_game("hex", size=3)
    right = False

    def evaluator(planes: np.ndarray) -> Any:
        return zero(planes) if right else answer(len(planes))

    search = athenan.make_search("descent", game, evaluator)
    with pytest.raises(InputError, match=sentence):
        search.run(game.initial_state(), iterations=5)
    right = True
    assert search.run(game.initial_state(), iterations=5).iterations == 5


@pytest.mark.parametrize("name", SEARCHES)
def test_there_is_no_result_before_a_run(name: str) -> None:
    game = athenan.make_game("tictactoe")
    search = athenan.make_search(name, game, "zero")
    with pytest.raises(ValueError, match="has not run yet"):
        search.result()
    search.run(game.initial_state(), iterations=5)
    assert search.result().action is not None
    search.clear()
    with pytest.raises(ValueError, match="has not run yet"):
        search.result()
    if isinstance(search.core, _core.UnboundedSearch):
        with pytest.raises(ValueError, match="has not run yet"):
            _core.make_proof(search.core, False)


CALLS: dict[str, Callable[[athenan.Search], Any]] = {
    "run": lambda s: s.run(s.game.initial_state(), iterations=1),
    "clear": lambda s: s.clear(),
}
CORE_CALLS: dict[str, Callable[[athenan.Search], Any]] = CALLS | {
    "core.clear": lambda s: s.core.clear(),
    "result": lambda s: s.result(),
    "reseed": lambda s: s.core.reseed(1),
    "dump": lambda s: s.core.dump(),
    "save_tree": lambda s: s.core.save_tree(),
    "start": lambda s: s._group.start(0, s.game.initial_state()),
    "advance": lambda s: s._group.advance(),
    "batch": lambda s: s._group.batch(),
    "another group": lambda s: _core.SearchGroup([s.core], [4], 1).start(0, s.game.initial_state()),
}


@pytest.mark.parametrize("call", CALLS)
def test_an_evaluator_that_uses_its_own_search_is_refused(call: str) -> None:
    game = athenan.make_game("tictactoe")
    search: athenan.Search

    def evaluator(planes: np.ndarray) -> np.ndarray:
        CALLS[call](search)
        return zero(planes)

    search = athenan.make_search("descent", game, evaluator)
    with pytest.raises(InputError, match="is running"):
        search.run(game.initial_state(), iterations=3)


@pytest.mark.parametrize("call", [*CORE_CALLS, "stop"])
def test_whatever_an_evaluator_does_to_its_core_search(call: str) -> None:
    """Between two batches the core is at rest: any answer but a crash."""
    game = athenan.make_game("tictactoe")
    search: athenan.Search
    calls = [(CORE_CALLS | {"stop": lambda s: s.core.stop()})[call]]

    def evaluator(planes: np.ndarray) -> np.ndarray:
        while calls:
            calls.pop()(search)
        return zero(planes)

    search = athenan.make_search("descent", game, evaluator)
    sentence = refusal(lambda: search.run(game.initial_state(), iterations=3))
    assert sentence == "" or sentence.endswith(".")
    search.evaluator = zero
    assert search.run(game.initial_state(), iterations=3).action is not None


@pytest.mark.parametrize("call", CORE_CALLS)
def test_a_game_that_uses_its_own_search_is_refused(call: str) -> None:
    class Meddling(Line):
        def legal_actions(self) -> list[int]:
            if busy:
                CORE_CALLS[call](search)
            return super().legal_actions()

    class Game(LineGame):
        def initial_state(self) -> Line:
            return Meddling()

    busy, game = False, Game()
    search = athenan.make_search("descent", game, "zero")
    start = game.initial_state()
    search.game.initial_state()
    busy = True
    with pytest.raises(InputError, match=r"is in use|is running"):
        search.run(start, iterations=3)
    busy = False
    assert search.run(start).resolved


def test_threads_that_share_a_search_are_refused() -> None:
    game = athenan.make_game("go", size=9)
    search = athenan.make_search("descent", game, "rollout")
    memory = _core.ResolvedMemory(100)
    search.core.consult(memory)
    runner = threading.Thread(target=lambda: search.run(game.initial_state(), seconds=0.5))
    runner.start()
    time.sleep(0.1)
    calls = {**CORE_CALLS, "forget": lambda _: memory.clear(), "fill": lambda _: fill(memory)}
    sentences = [refusal(lambda call=call: call(search)) for call in calls.values()]
    told = [text for text in sentences if "is in use" in text or "is running" in text]
    # Between two slices of time the core is at rest for a moment.
    assert len(told) >= len(calls) - 2
    search.core.stop()
    runner.join()
    assert search.run(game.initial_state(), iterations=1, seconds=0.1).action is not None


def test_a_search_is_in_a_group_once() -> None:
    game = athenan.make_game("tictactoe")
    core = make_core_search({"name": "descent"}, game, "zero")
    with pytest.raises(ValueError, match="each of its searches once"):
        _core.SearchGroup([core, core], [4], 1)
    with pytest.raises((ValueError, TypeError)):
        _core.SearchGroup([None], [4], 1)  # type: ignore[list-item]
    with pytest.raises((ValueError, TypeError)):
        _core.Labels(None)  # type: ignore[arg-type]


def test_two_groups_of_one_search() -> None:
    """The last start counts; the other group forgets what it waited for."""
    game = athenan.make_game("tictactoe")
    core = make_core_search({"name": "descent"}, game, zero)
    groups = [_core.SearchGroup([core], [16], 1) for _ in range(2)]
    for group in groups:
        group.start(0, game.initial_state(), iterations=2)
        group.advance()
    assert [group.waiting for group in groups] == [0, 9]
    assert groups[0].batch() is None
    groups[1].batch()
    core.clear()
    groups[1].resume(np.zeros(16, np.float32))
    assert groups[1].advance() == []


def test_small_misuse() -> None:
    game = athenan.make_game("tictactoe")
    with pytest.raises(ValueError, match="not written in Python"):
        _core.wrap_python_state(game, Line())
    search = athenan.make_search("descent", game, "zero")
    with pytest.raises(ValueError, match="not written in Python"):
        search.run(Line())
    for budget in ({"seconds": float("inf")}, {"seconds": float("nan")}, {"iterations": 2**64}):
        with pytest.raises(InputError, match="must be positive and finite"):
            search.run(game.initial_state(), **budget)


# ---- Arrays -----------------------------------------------------------------------------------


def fill(
    memory: _core.ResolvedMemory, keys: int = 2, values: Any = (0, 1), c: Any = (0, 1)
) -> None:
    memory.fill(
        np.arange(2 * keys, dtype=np.uint64).reshape(keys, 2),
        np.array(values, np.float32),
        np.array(c, np.int8),
    )


def test_wrong_arrays_of_resolved_states_are_refused() -> None:
    memory = _core.ResolvedMemory(10)
    for wrong in (
        {"keys": 3}, {"keys": 1}, {"values": (0,)}, {"c": (0, 1, 1)}, {"c": (0, 2)},
        {"c": (-128, 0)}, {"values": (0, float("nan"))}, {"values": (float("inf"), 0)},
    ):  # fmt: skip
        with pytest.raises(ValueError, match="resolved state"):
            fill(memory, **wrong)
        assert len(memory) == 0
    fill(memory)
    assert len(memory) == 2


def test_wrong_labels_are_refused() -> None:
    game = athenan.make_game("tictactoe")
    core = make_core_search({"name": "descent"}, game, "zero")
    labels = _core.Labels(core)
    rows, columns, channels = game.plane_shape
    size = (rows * columns * channels + 7) // 8

    def arrays(states: int, byte_count: int, values: Any) -> tuple[Any, Any]:
        return np.zeros((states, byte_count), np.uint8), np.array(values, np.float32)

    for planes, values, resolved in (
        (*arrays(2, size, [0]), 0),
        (*arrays(1, size, [0, 0]), 0),
        (*arrays(1, size + 1, [0]), 0),
        (*arrays(1, 0, [0]), 0),
        (*arrays(1, size, [0]), 2),
        (*arrays(1, size, [float("nan")]), 0),
        (*arrays(1, size, [1.5]), 0),
    ):
        with pytest.raises(ValueError, match=r"label"):
            labels.restore(planes, values, resolved)
    labels.restore(*arrays(2, size, [0, 1]), 1)
    labels.restore(*arrays(0, 0, []), 0)


NODE = np.dtype(
    [("key", "<u4", 4), ("value", "<f4"), ("first_edge", "<u4"), ("num_edges", "<u2"),
     ("completion", "i1"), ("flags", "u1")]
)  # fmt: skip
EDGE = np.dtype([("child", "<u4"), ("action", "<u4"), ("selections", "<u4")])


def searched(heuristic: str, memory_mb: float = 1000) -> tuple[Any, Any, Any]:
    """A game, a search of it, and its saved tree."""
    game = athenan.make_game("connect_four", rows=4, columns=4)
    search = athenan.make_search("descent", game, "hash", heuristic=heuristic, memory_mb=memory_mb)
    search.run(game.initial_state(), iterations=60)
    return game, search, search.core.save_tree()


@pytest.mark.parametrize("heuristic", ["gain", "additive_depth", "mobility"])
def test_a_saved_tree_comes_back_whatever_was_dropped(heuristic: str) -> None:
    """Where memory was short, states stay whose parents have left."""
    for memory_mb in (1000, 0.02, 0.01, 0.005):
        game, search, saved = searched(heuristic, memory_mb)
        start = game.initial_state()
        copy = athenan.make_search(
            "descent", game, "hash", heuristic=heuristic, memory_mb=memory_mb
        )
        copy.core.restore_tree(*saved, start)
        for one in (search, copy):
            one.run(start, iterations=40)
        assert all(
            (a == b).all()
            for a, b in zip(search.core.save_tree(), copy.core.save_tree(), strict=True)
        )


def restore_and_search(search: Any, labels: Any, arrays: Any, start: athenan.State) -> None:
    search.core.restore_tree(*arrays, start)
    labels.samples()
    search.run(start, iterations=5)
    search.run(start.play(0), iterations=5)


@pytest.mark.parametrize("heuristic", ["gain", "mobility"])
def test_a_changed_tree_is_refused_or_harmless(heuristic: str) -> None:
    """Bytes and fields changed at random: whatever is accepted can be searched and learned from."""
    game, _, (nodes, edges, facts) = searched(heuristic)
    random, start = Random(1), game.initial_state()
    refused, tries = 0, 300
    for _ in range(tries):
        node_array, edge_array = nodes.view(NODE).copy(), edges.view(EDGE).copy()
        numbers = facts.copy()
        for _ in range(random.randint(1, 3)):
            extreme = random.choice([0, 1, 2, 3, 255, 65_535, 2**31, 2**32 - 1, len(node_array)])
            kind = random.choice(["node", "edge", "facts"])
            if kind == "node":
                field = random.choice([name for name in NODE.names or () if name != "key"])
                at = random.randrange(len(node_array))
                if field == "value":
                    node_array[at][field] = random.choice([np.nan, np.inf, 0.5])
                else:
                    bits = NODE[field].itemsize * 8
                    wrapped = extreme % 2**bits
                    signed = NODE[field].kind == "i" and wrapped >= 2 ** (bits - 1)
                    node_array[field][at] = wrapped - 2**bits if signed else wrapped
            elif kind == "edge":
                field = random.choice(list(EDGE.names or ()))
                edge_array[field][random.randrange(len(edge_array))] = extreme
            else:
                numbers[random.randrange(4)] = random.choice([0, 1, 64, 2**40, 2**63, 2**64 - 1])
        search = athenan.make_search("descent", game, "hash", heuristic=heuristic)
        labels = _core.Labels(search.core)
        arrays = node_array.view(np.uint8), edge_array.view(np.uint8), numbers
        told = refusal(partial(restore_and_search, search, labels, arrays, start))
        assert told == "" or "saved tree" in told
        refused += told != ""
        assert search.run(start, iterations=3).action in start.legal_actions()
        labels.samples()
    assert refused > tries / 2


def test_a_tree_of_other_arrays_is_refused() -> None:
    game, search, (nodes, edges, facts) = searched("gain")
    start, core = game.initial_state(), search.core
    other = athenan.make_game("connect_four", rows=5, columns=4)
    loop = edges.view(EDGE).copy()
    loop["child"][:] = 0
    for arrays, origin in (
        ((nodes[:-1], edges, facts), start),
        ((nodes[:-28], edges, facts), start),
        ((nodes, edges[:-12], facts), start),
        ((nodes, edges[12:], facts), start),
        ((nodes[:0], edges, facts), start),
        ((nodes, loop.view(np.uint8), facts), start),
        ((nodes, edges, facts), start.play(0)),
    ):
        with pytest.raises(ValueError, match="not a saved tree"):
            core.restore_tree(*arrays, origin)
    with pytest.raises(ValueError, match="another game"):
        core.restore_tree(nodes, edges, facts, other.initial_state())
