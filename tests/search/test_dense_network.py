"""The network that lives in the core: integers as written, updated as computed from scratch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import athenan
from athenan import _core
from athenan.errors import InputError
from athenan.games import configs_folder
from athenan.network import DenseEvaluator

Array = np.ndarray[Any, Any]
GAMES = sorted(path.stem for path in (configs_folder() / "game").glob("*.yaml"))
LARGE = ("go19", "hex19", "chess", "amazons", "arimaa", "xiangqi")  # fewer plies of these


def random_weights(bits: int, sizes: list[int], seed: int = 0, scale: float = 1) -> list[Array]:
    """As they are learned from: kernels and biases of layers of these sizes."""
    random = np.random.default_rng(seed)
    weights, inputs = [], bits
    for outputs in sizes:
        spread = scale * np.sqrt(2 / inputs)
        weights.append(random.normal(0, spread, (inputs, outputs)).astype(np.float32))
        weights.append(random.normal(0, 0.1 * scale, outputs).astype(np.float32))
        inputs = outputs
    return weights


def on_grid(weights: Array, exponent: int) -> Array:
    return np.rint(weights.astype(np.float64) * 2.0**exponent).astype(np.int64)


def largest_sum(kernel: Array, bias: Array, limit: int, exponent: int, grid: int) -> int:
    on = on_grid(kernel, exponent)
    sides = np.maximum(np.maximum(on, 0).sum(0), np.maximum(-on, 0).sum(0)) * limit
    return int((sides + np.abs(on_grid(bias, exponent + grid))).max())


def reference(weights: list[Array], planes: Array) -> Array:
    """The integer arithmetic, plainly: every sum from scratch, in int64."""
    x = planes.reshape(len(planes), -1).astype(np.int64)
    layers = list(zip(weights[::2], weights[1::2], strict=True))
    kernel, bias = layers[0]
    grid = next(g for g in range(12, -1, -1) if largest_sum(kernel, bias, 1, g, 0) < 2**15)
    x = np.clip(x @ on_grid(kernel, grid) + on_grid(bias, grid), 0, 6 * 2**grid)
    for number, (kernel, bias) in enumerate(layers[1:], 2):
        exponent = next(
            e
            for e in range(14, -1, -1)
            if np.abs(on_grid(kernel, e)).max() < 2**15
            and largest_sum(kernel, bias, 6 * 2**grid, e, grid) < 2**30
        )
        x = x @ on_grid(kernel, exponent) + on_grid(bias, exponent + grid)
        if number == len(layers):
            break
        shift = max(0, exponent + grid - 12)
        x = (x + (2**shift >> 1)) >> shift
        grid += exponent - shift
        x = np.clip(x, 0, 6 * 2**grid)
    values: Array = np.tanh(x / 2.0 ** (exponent + grid)).astype(np.float32)
    return values[:, 0] if values.shape[1] == 1 else values


def in_floats(weights: list[Array], planes: Array) -> Array:
    """What Keras computes of them."""
    x = planes.reshape(len(planes), -1).astype(np.float64)
    for kernel, bias in zip(weights[:-2:2], weights[1:-2:2], strict=True):
        x = np.clip(x @ kernel + bias, 0, 6)
    values: Array = np.tanh(x @ weights[-2] + weights[-1])
    return values[:, 0] if values.shape[1] == 1 else values


def dense_network(shape: Any, weights: list[Array], vectors: str = "") -> _core.DenseNetwork:
    network = _core.DenseNetwork(tuple(shape), weights[-1].size, vectors)
    network.assign(weights)
    return network


def playthrough(game: _core.Game, seed: int, most: int) -> list[_core.State]:
    """States of a random game, each of which has actions; now and then one of before comes again,
    as when a search begins another iteration."""
    random = np.random.default_rng(seed)
    state, states = game.initial_state(), list[_core.State]()
    while not state.is_terminal and len(states) < most:
        states.append(state)
        if random.random() < 0.2:
            states.append(states[int(random.integers(len(states)))])
        state = state.play(int(random.choice(state.legal_actions())))
    return states


def children(states: list[_core.State]) -> Array:
    return np.stack([s.play(a).planes() for s in states for a in s.legal_actions()])


def config_game(name: str) -> Any:
    from athenan.config import compose

    return athenan.make_game(**compose("check", [f"game={name}"]).game)


@pytest.mark.parametrize("name", GAMES)
def test_updated_is_from_scratch_in_every_game(name: str) -> None:
    """Bit for bit, along random games and back, for all kinds of vectors."""
    game = config_game(name)
    players = game.num_players
    sizes = [40, 8, 5, 1 if players == 2 else players]
    weights = random_weights(int(np.prod(game.plane_shape)), sizes)
    states = playthrough(game, 1, 8 if name in LARGE else 30)
    expected = reference(weights, children(states))
    for vectors in _core.dense_vectors():
        network = dense_network(game.plane_shape, weights, vectors)
        assert network.vectors == vectors
        assert np.array_equal(network.answer_children(states), expected)


@pytest.mark.parametrize("sizes", [[1, 1], [32, 1], [33, 7, 1], [256, 32, 32, 1], [64, 3, 5, 2, 4]])
@pytest.mark.parametrize("scale", [0.01, 1, 30])
def test_integers_are_as_written(sizes: list[int], scale: float) -> None:
    random = np.random.default_rng(2)
    shape = (3, 7, 5)
    weights = random_weights(105, sizes, 3, scale)
    planes = random.integers(0, 2, (300, *shape), np.uint8)
    planes[100:200, ..., 1] = 1  # a channel that is all set, and then not
    planes[200:, ..., 1] = 0
    expected = reference(weights, planes)
    for vectors in _core.dense_vectors():
        network = dense_network(shape, weights, vectors)
        assert np.array_equal(network.answer(planes), expected)
        one_by_one = [network.answer(planes[i : i + 1])[0] for i in range(0, 300, 17)]
        assert np.array_equal(one_by_one, expected[::17])


@pytest.mark.parametrize("name", ["connect_four", "hex", "othello", "chess", "rolit3"])
def test_integers_are_near_the_floats(name: str) -> None:
    """As near as is promised of a network at its start: 0.01 of values in [-1, 1]."""
    game = config_game(name)
    width = 1 if game.num_players == 2 else game.num_players
    weights = random_weights(int(np.prod(game.plane_shape)), [256, 32, 32, width])
    states = playthrough(game, 5, 15)
    network = dense_network(game.plane_shape, weights)
    difference = np.abs(network.answer_children(states) - in_floats(weights, children(states)))
    assert difference.max() < 0.01


def test_no_sum_overflows_where_all_is_at_its_limit() -> None:
    """The largest sums there can be: all bits set where weights are positive, or not where they
    are, with every layer at its limit."""
    shape, sizes = (8, 8, 8), [64, 32, 1]
    random = np.random.default_rng(0)
    for sign in (1, -1):
        weights = random_weights(512, sizes, 1, 3)
        weights[0] = (np.abs(weights[0]) * sign).astype(np.float32)
        weights[2] = np.abs(weights[2])
        weights[4] = np.abs(weights[4])
        planes = np.stack([np.ones(shape), np.zeros(shape), *random.integers(0, 2, (9, *shape))])
        planes = planes.astype(np.uint8)
        network = dense_network(shape, weights)
        assert np.array_equal(network.answer(planes), reference(weights, planes))


def evaluator(game: Any, seed: int = 0) -> DenseEvaluator:
    weights = random_weights(int(np.prod(game.plane_shape)), [64, 16, game.value_width], seed)
    return DenseEvaluator(tuple(game.plane_shape), game.value_width, weights)


def trees(game: Any, evaluate: Any, threads: int, number: int = 6) -> list[dict[str, Array]]:
    from athenan.search import drive, make_core_search, make_group

    searches = [
        make_core_search({"name": "descent"}, game, evaluate, seed=s) for s in range(number)
    ]
    group = make_group(searches, [16, 64], threads)
    for turn in range(3):
        for index in range(number):
            state = game.initial_state()
            for action in range(turn):
                state = state.play(state.legal_actions()[action])
            group.start(index, state, evaluations=400)
        drive(group, evaluate)
    found = []
    for search in searches:
        assert isinstance(search, _core.UnboundedSearch)
        found.append(search.dump())
    return found


@pytest.mark.parametrize("name", ["connect_four", "hex7"])
def test_trees_are_those_of_batches_whatever_the_threads(name: str) -> None:
    """Asked within the core or through batches of planes, by one thread or three."""
    game = config_game(name)
    inside = evaluator(game)
    expected = trees(game, lambda planes: inside(planes), 1)
    for threads in (1, 3):
        for one, other in zip(trees(game, inside, threads), expected, strict=True):
            for key in other:
                assert np.array_equal(one[key], other[key])


def test_new_weights_are_for_new_states_only() -> None:
    """Those of a tree keep the values that the weights of their time gave them."""
    game: Any = athenan.make_game("connect_four")
    first, second = evaluator(game), evaluator(game, 1)
    both = evaluator(game)
    search = athenan.make_search("ubfm", game, both)
    before = search.run(game.initial_state(), iterations=1)
    values = {c.action: c.value for c in before.children}
    children_of = [game.initial_state().play(a) for a in range(7)]
    planes = np.stack([c.planes() for c in children_of])
    assert np.array_equal(list(values.values()), first(planes))
    both.assign(random_weights(int(np.prod(game.plane_shape)), [64, 16, 1], 1))
    assert np.array_equal(both(planes), second(planes))
    after = search.run(game.initial_state(), iterations=1)
    changed = [c.action for c in after.children if c.value != values[c.action]]
    assert len(changed) == 1, "the one that was expanded meanwhile"
    below = [children_of[changed[0]].play(a).planes() for a in range(7)]
    assert after.children[changed[0]].value == second(np.stack(below)).min()


def test_a_game_in_python_is_asked_too() -> None:
    game = athenan.make_game("games.examples.nim:Nim")
    inside = evaluator(game)
    result = athenan.make_search("ubfm", game, inside).run(game.initial_state(), iterations=20)
    usual = athenan.make_search("ubfm", game, lambda planes: inside(planes))
    assert result == usual.run(game.initial_state(), iterations=20)


SHAPE = (2, 2, 3)
GOOD = random_weights(12, [4, 3, 1])


def changed(number: int, array: Array) -> list[Array]:
    return [*GOOD[:number], array, *GOOD[number + 1 :]]


ANOTHER = "are of another network or game"


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (GOOD[:-1], "kernels and biases in turn"),
        (GOOD[:2], ANOTHER),
        ([], ANOTHER),
        (changed(0, np.zeros((13, 4), np.float32)), ANOTHER),
        (changed(0, np.zeros((12, 5), np.float32)), ANOTHER),
        (changed(1, np.zeros(5, np.float32)), ANOTHER),
        (changed(1, np.zeros((4, 1), np.float32)), "in turn"),
        (changed(4, np.zeros((3, 0), np.float32)), ANOTHER),
        (changed(2, np.full((4, 3), np.nan, np.float32)), "are no numbers"),
        (changed(3, np.full(3, -np.inf, np.float32)), "are no numbers"),
        (changed(0, np.full((12, 4), 1e30, np.float32)), "has diverged"),
        (changed(2, np.full((4, 3), 1e30, np.float32)), "has diverged"),
        (changed(5, np.full(1, 3e38, np.float32)), "has diverged"),
    ],
)
def test_wrong_weights_are_refused_and_change_nothing(weights: list[Array], sentence: str) -> None:
    one = DenseEvaluator(SHAPE, 1, GOOD)
    planes = np.ones((3, *SHAPE), np.uint8)
    before = one(planes)
    with pytest.raises(InputError, match=sentence):
        one.assign(weights)
    assert np.array_equal(one(planes), before)


def test_wrong_planes_and_uses_are_refused() -> None:
    one = DenseEvaluator(SHAPE, 1, GOOD)
    with pytest.raises(ValueError, match="other values than 0 and 1"):
        one(np.full((1, *SHAPE), 2, np.uint8))
    with pytest.raises(ValueError, match="of another game"):
        one(np.zeros((1, 2, 2, 2), np.uint8))
    with pytest.raises(ValueError, match="has no vectors 'mmx'"):
        _core.DenseNetwork(SHAPE, 1, "mmx")
    with pytest.raises(ValueError, match="no weights yet"):
        _core.DenseNetwork(SHAPE, 1).answer(np.zeros((1, *SHAPE), np.uint8))
    game: Any = athenan.make_game("tictactoe")
    with pytest.raises(InputError, match="is of another game than 'tictactoe'"):
        athenan.make_search("ubfm", game, one).run(game.initial_state(), iterations=1)
    assert one(np.zeros((0, *SHAPE), np.uint8)).shape == (0,)


def test_weights_do_not_change_under_a_search() -> None:
    """A search that asks for new ones while it runs is told so."""
    nim = athenan.make_game("games.examples.nim:Nim")
    weights = random_weights(int(np.prod(nim.plane_shape)), [8, 1])
    inside = DenseEvaluator(tuple(nim.plane_shape), 1, weights)
    python_game: Any = _core.python_game_of(nim)
    state = type(python_game.initial_state())
    original = state.planes
    told: list[str] = []

    def planes(self: Any) -> Array:
        try:
            inside.assign(weights)
        except InputError as error:
            told.append(str(error))
        made: Array = original(self)
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(state, "planes", planes)
        athenan.make_search("ubfm", nim, inside).run(nim.initial_state(), iterations=2)
    assert told
    assert set(told) == {"This network is in use: it does one thing at a time."}
