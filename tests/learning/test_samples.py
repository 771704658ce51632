"""What self-play gives to learning: labelled states of a tree, and the memory of proofs."""

from typing import Any

import numpy as np
import pytest

import athenan
from athenan import _core
from athenan.records import pack, unpack

CASES = {
    "tictactoe": ({"name": "tictactoe"}, 60),
    "connect_four 4x4": ({"name": "connect_four", "rows": 4, "columns": 4}, 40),
    "othello 4": ({"name": "othello", "size": 4}, 30),
    "hex 4": ({"name": "hex", "size": 4}, 10),
}
every_case = pytest.mark.parametrize(("options", "iterations"), CASES.values(), ids=CASES)


def played(game: Any, iterations: int, **settings: Any) -> athenan.Search:
    """A search that has been used like in self-play: some actions of a game with one tree."""
    search = athenan.make_search("descent", game, "hash", **settings)
    state = game.initial_state()
    for _ in range(3):
        result = search.run(state, iterations=iterations)
        state = state.play(result.action)
    return search


def tree_states(game: Any, search: athenan.Search) -> dict[bytes, tuple[Any, float]]:
    """planes -> (state, value) of expanded and terminal states, by the tree's own edges."""
    tree = search.core.dump()
    edges: dict[int, list[tuple[int, int]]] = {}
    for parent, child, action in zip(tree["parent"], tree["child"], tree["action"], strict=True):
        edges.setdefault(int(parent), []).append((int(child), int(action)))
    found, waiting, seen = {}, [(0, game.initial_state())], {0}
    while waiting:
        node, state = waiting.pop()
        found[state.planes().tobytes()] = (state, float(tree["value"][node]))
        for child, action in edges.get(node, []):
            if child not in seen and (tree["expanded"][child] or tree["terminal"][child]):
                seen.add(child)
                waiting.append((child, state.play(action)))
    return found


@pytest.mark.parametrize("heuristic", ["gain", "additive_depth"])
@every_case
def test_samples_are_the_expanded_and_terminal_states(
    options: dict[str, Any], iterations: int, heuristic: str
) -> None:
    game: Any = athenan.make_game(**options)
    search = played(game, iterations, heuristic=heuristic)
    packed, values, resolved = _core.Labels(search.core).samples()
    expected = tree_states(game, search)
    tree = search.core.dump()
    assert len(values) == len(expected) == int((tree["expanded"] | tree["terminal"]).sum())
    assert not tree["remembered"].any()
    assert len(values) < len(tree["value"]), "leaves teach nothing"
    assert np.abs(values).max() <= 1
    assert resolved == int((tree["resolved"] & (tree["expanded"] | tree["terminal"])).sum())
    for planes, value in zip(unpack(packed, game.plane_shape), values, strict=True):
        state, label = expected.pop(planes.tobytes())
        assert value == pytest.approx(label / search.core.bound, abs=1e-6)
        if state.is_terminal and heuristic == "gain":
            assert value == state.outcomes[0]
    assert not expected


def test_samples_match_the_table_by_their_keys() -> None:
    game: Any = athenan.make_game("connect_four", rows=5, columns=5)
    search = played(game, 20)
    tree = search.core.dump()
    by_key = {int(low) | int(high) << 64: i for i, (low, high) in enumerate(tree["keys"].tolist())}
    packed, values, _ = _core.Labels(search.core).samples()
    seen = set()
    for planes, value in zip(unpack(packed, game.plane_shape), values, strict=True):
        state = game.state_from_planes(planes)
        at = by_key[state.key]
        seen.add(at)
        assert value == tree["value"][at]
        assert state.is_terminal == tree["terminal"][at]
    assert seen == set(np.flatnonzero(tree["expanded"] | tree["terminal"]))


@pytest.mark.parametrize("heuristic", ["gain", "additive_depth", "score", "mobility", "presence"])
def test_ends_of_random_games(heuristic: str) -> None:
    game: Any = athenan.make_game("othello", size=4)
    if heuristic == "presence":
        game = athenan.make_game("breakthrough", rows=5, columns=4)
    packed, values = _core.ending_samples(game, 200, heuristic, 0, 1)
    assert len(packed) == len(values) == 200
    bound = athenan.make_search("ubfm", game, "zero", heuristic=heuristic).core.bound
    for planes, value in zip(unpack(packed, game.plane_shape), values, strict=True):
        state = game.state_from_planes(planes)
        assert state.is_terminal
        assert np.sign(value) == state.outcomes[0]
        assert value == 0 or 1 / bound <= abs(value) * (1 + 1e-6) <= 1 + 1e-6
        if heuristic == "gain":
            assert value == state.outcomes[0]
        if heuristic == "score":
            assert value * bound == pytest.approx(state.score, abs=1e-5)
    assert len({bytes(row) for row in packed}) > 50
    again = _core.ending_samples(game, 200, heuristic, 0, 1)
    assert (again[0] == packed).all()
    assert (again[1] == values).all()
    assert not (_core.ending_samples(game, 200, heuristic, 0, 2)[0] == packed).all()


def test_ends_of_random_games_have_their_mobility() -> None:
    """The first player chose among three actions, the second among one."""
    game: Any = athenan.TreeGame.nested([[1], [1], [1]])
    _, values = _core.ending_samples(game, 20, "mobility", 0, 1)
    assert values == pytest.approx(np.full(20, 3 / 10))


# ---- The memory of resolved states -----------------------------------------------------

FOUR = {"name": "connect_four", "rows": 4, "columns": 4}


def filled(
    game: Any, seed: int, iterations: int | None = None, **settings: Any
) -> _core.ResolvedMemory:
    search = athenan.make_search("descent", game, "hash", seed=seed, **settings)
    search.run(game.initial_state(), iterations=iterations)
    memory = _core.ResolvedMemory(10**6)
    memory.add_all(search.core)
    return memory


def outcomes(memory: _core.ResolvedMemory) -> dict[tuple[int, int], int]:
    keys, _, completions = memory.arrays()
    return dict(zip(map(tuple, keys.tolist()), completions.tolist(), strict=True))


def test_memory_goes_to_arrays_and_back() -> None:
    game: Any = athenan.make_game(**FOUR)
    search = athenan.make_search("descent", game, "hash")
    search.run(game.initial_state())
    memory = _core.ResolvedMemory(10**6)
    memory.add_all(search.core)
    tree = search.core.dump()
    assert len(memory) == int((tree["resolved"] & ~tree["terminal"] & 1).sum())
    keys, values, completions = memory.arrays()
    numbers = [tuple(key) for key in keys.tolist()]
    assert numbers == sorted(set(numbers))
    assert set(completions.tolist()) == {-1, 0, 1}
    other = _core.ResolvedMemory(10**6)
    order = np.random.default_rng(0).permutation(len(values))
    other.fill(keys[order], values[order], completions[order])
    for a, b in zip(memory.arrays(), other.arrays(), strict=True):
        assert (a == b).all()
    small = _core.ResolvedMemory(100)
    small.fill(keys, values, completions)
    assert len(small) == 100
    small.clear()
    assert len(small) == 0


def test_what_is_remembered_need_not_be_searched() -> None:
    game: Any = athenan.make_game(**FOUR)
    start = game.initial_state()
    alone = athenan.make_search("descent", game, "hash", seed=1).run(start)
    search = athenan.make_search("descent", game, "hash", seed=1)
    search.core.consult(filled(game, seed=0))
    result = search.run(start)
    assert (alone.resolved, alone.completion, alone.value) == (True, 0, 0.0)
    assert (result.resolved, result.completion, result.value) == (True, 0, 0.0)
    assert result.evaluations < alone.evaluations / 10
    # The root itself is remembered, and searched all the same.
    assert len(result.children) == 4
    assert result.action is not None
    # Its children are known without having been expanded.
    assert all(child.resolved for child in result.children)


@pytest.mark.parametrize("seed", range(4))
def test_half_a_memory_does_not_change_what_is_found(seed: int) -> None:
    game: Any = athenan.make_game(**FOUR)
    memory = filled(game, seed=seed + 10, iterations=200)
    assert len(memory) > 50
    truth = outcomes(filled(game, seed=0, strong=True))
    for key, outcome in outcomes(memory).items():
        assert truth[key] == outcome
    search = athenan.make_search("ubfm", game, "hash", seed=seed)
    search.core.consult(memory)
    state = game.initial_state()
    while not state.is_terminal:
        result = search.run(state)
        assert (result.resolved, result.completion) == (True, 0)
        state = state.play(result.action)
    assert state.outcomes == (0, 0)


@pytest.mark.parametrize("memory_mb", [1024, 0.03])
def test_what_is_remembered_has_its_label_once(memory_mb: float) -> None:
    """It is not expanded, but its value is exact; also when it leaves the tree."""
    game: Any = athenan.make_game(**FOUR)
    memory = filled(game, seed=5, iterations=150)
    keys, values, _ = memory.arrays()
    known = {int(low) | int(high) << 64: v for (low, high), v in zip(keys, values, strict=True)}
    search = core_search(game, memory_mb, seed=1)
    search.consult(memory)
    labels = _core.Labels(search)
    group = _core.SearchGroup([search], [1], 1)
    met = set()
    for _ in range(120):
        group.start(0, game.initial_state(), iterations=1)
        group.advance()
        tree = search.dump()
        for low, high in tree["keys"][tree["remembered"] == 1]:
            met.add(int(low) | int(high) << 64)
    assert (search.counts["collections"] > 0) == (memory_mb < 1)
    assert met <= known.keys()
    assert len(met) > 20

    packed, values, resolved = labels.samples()
    found = []
    for planes, value in zip(unpack(packed, game.plane_shape), values, strict=True):
        key = game.state_from_planes(planes).key
        if key in met:
            found.append(key)
            assert value == known[key]
    assert sorted(found) == sorted(met)
    assert resolved >= len(met)


def test_a_memory_is_of_one_heuristic_and_ply() -> None:
    """Depth heuristics put the ply into the key, so values of other plies are never met."""
    game: Any = athenan.make_game("tictactoe")
    memory = filled(game, seed=0, heuristic="additive_depth")
    gain = athenan.make_search("descent", game, "hash", seed=3)
    alone = gain.run(game.initial_state())
    gain.clear()
    gain.core.consult(memory)
    assert gain.run(game.initial_state()) == alone


# ---- When memory is short ---------------------------------------------------------------


def play_out(
    search: _core.UnboundedSearch, game: Any, plies: int, evaluations: int
) -> tuple[list[Any], int]:
    """The states of a game that the search plays against itself; how many it has expanded."""
    expanded = 0
    group = _core.SearchGroup([search], [1], 1)
    states = [game.initial_state()]
    while len(states) <= plies and not states[-1].is_terminal:
        group.start(0, states[-1], evaluations=evaluations)
        group.advance()
        expanded += search.counts["expanded"]
        states.append(states[-1].play(search.result().action))
    return states, expanded


def core_search(game: Any, memory_mb: float, **settings: Any) -> _core.UnboundedSearch:
    return athenan.make_search("descent", game, "hash", memory_mb=memory_mb, **settings).core


def test_labels_of_what_leaves_the_tree_are_taken_first() -> None:
    game: Any = athenan.make_game("hex", size=7)
    search = core_search(game, 0.4)
    labels = _core.Labels(search)
    _, expanded = play_out(search, game, game.max_plies, 2000)
    assert search.counts["collections"] > 3
    packed, values, resolved = labels.samples()
    assert np.abs(values).max() <= 1
    assert 0 < resolved < len(values)
    # Every state that was expanded has its label; one that was dropped and found again has two.
    seen = {bytes(row) for row in packed}
    ends = sum(
        game.state_from_planes(planes).is_terminal for planes in unpack(packed, game.plane_shape)
    )
    assert len(values) - ends >= 0.99 * expanded
    assert len(seen) > 0.9 * len(values)
    assert bytes(pack(game.initial_state().planes()[None])) in seen

    forgetful = core_search(game, 0.4)
    play_out(forgetful, game, game.max_plies, 2000)
    assert len(_core.Labels(forgetful).samples()[1]) < 0.5 * len(values)


def test_what_stays_is_not_labelled_with_what_leaves() -> None:
    """Right after memory ran short: the state that was then expanded, and the end that is its
    child, may have been known before; all else has one label."""

    def branch(depth: int) -> Any:
        return [0, branch(depth - 1), branch(depth - 1)] if depth else [0, 0, 0]

    game: Any = athenan.TreeGame.nested(branch(10))
    search = athenan.make_search(
        "umb", game, "hash", memory_mb=0.05, continue_rule="never", order="random"
    )
    labels = _core.Labels(search.core)
    while not search.core.counts["collections"]:
        search.run(game.initial_state(), iterations=1)
    left = {bytes(row) for row in labels.saved()[0]}
    states = [state for state, _ in tree_states(game, search).values()]
    stay = {bytes(pack(state.planes()[None])) for state in states}
    assert sum(state.is_terminal for state in states) > 20
    assert len(left) > 100
    assert len(left & stay) <= 2


def test_a_saved_tree_has_the_labels_that_left_it() -> None:
    game: Any = athenan.make_game("hex", size=7)
    search = core_search(game, 0.4)
    labels = _core.Labels(search)
    states, _ = play_out(search, game, 12, 2000)
    assert search.counts["collections"] > 0
    arrays = search.save_tree()
    other = core_search(game, 0.4)
    restored_labels = _core.Labels(other)
    origin = next(state for state in states if state.ply == arrays[2][3])
    assert origin.ply > 0
    other.restore_tree(*arrays, origin)
    restored_labels.restore(*labels.saved())
    for saved, restored in zip(labels.samples(), restored_labels.samples(), strict=True):
        assert np.array_equal(saved, restored)
    other.clear()
    restored_labels.clear()
    assert len(restored_labels.samples()[1]) == 0
