"""The network, its evaluator and the learner."""

from typing import Any

import numpy as np
import pytest

import athenan
from athenan import _core, backend
from athenan.config import compose
from athenan.errors import InputError
from athenan.learner import Diverged, Learner
from athenan.network import NetworkEvaluator, best_rate, make_model
from athenan.records import Samples, pack, unpack
from athenan.settings import LearnSettings, NetworkSettings


def network(**changed: Any) -> NetworkSettings:
    return NetworkSettings(**{"filters": 8, "layers": 2, "dense": 8, **changed})


def learning(**changed: Any) -> LearnSettings:
    return LearnSettings(**{"batch_size": 32, "learning_rate": 3e-3, **changed})


@pytest.fixture(scope="module")
def game() -> Any:
    return athenan.make_game("tictactoe")


def endings(game: Any, number: int) -> Samples:
    planes, values = _core.ending_samples(game, number, "gain", 0, 0)
    return Samples(planes, values[:, None])


def learner_of(game: Any, seed: int = 0, **changed: Any) -> Learner:
    model = make_model(network(), game.plane_shape, 2, seed)
    return Learner(model, learning(**changed), game.symmetries, seed)


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("kind", ["conv", "residual"])
def test_one_trace_serves_all_batch_sizes(
    kind: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one of each part of those that are cut."""
    monkeypatch.setattr(backend, "_parts", number)
    game: Any = athenan.make_game("hex", size=5)
    evaluator = NetworkEvaluator(make_model(network(kind=kind), game.plane_shape, 2, 0))
    random = np.random.default_rng(0)
    for size in (1, 2, 3, 16, 64, 100, 7, 1):
        planes = random.integers(0, 2, (size, *game.plane_shape), np.uint8)
        values = evaluator(planes)
        row = size // 2
        assert values[row] == pytest.approx(evaluator(planes[row : row + 1])[0], abs=1e-5)
        assert values.shape == (size,)
        assert values.dtype == np.float32
        assert np.abs(values).max() <= 1
    assert evaluator.traces == (1 if number == 1 else 1 + number)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_a_value_for_each_player(players: int) -> None:
    evaluator = NetworkEvaluator(make_model(network(), (3, 5, 4), players, 0))
    values = evaluator(np.ones((6, 3, 5, 4), np.uint8))
    assert values.shape == ((6,) if players == 2 else (6, players))
    assert np.abs(values).max() <= 1


def test_rows_do_not_depend_on_their_batch(game: Any) -> None:
    evaluator = NetworkEvaluator(make_model(network(), game.plane_shape, 2, 0))
    planes = np.random.default_rng(0).integers(0, 2, (40, *game.plane_shape), np.uint8)
    together = evaluator(planes)
    for i in (0, 17, 39):
        assert evaluator(planes[i : i + 1])[0] == pytest.approx(together[i], abs=1e-5)


def test_a_step_in_parts_is_the_step_of_the_whole(
    game: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for rounding; where a batch has no equal parts there are fewer."""
    planes, values = _core.ending_samples(game, 120, "gain", 0, 0)
    found = []
    for number, parts in ((1, 1), (2, 2), (4, 3)):
        monkeypatch.setattr(backend, "_parts", number)
        model = make_model(network(), game.plane_shape, 2, 0)
        learner = Learner(model, LearnSettings(batch_size=30, l2=1e-3), game.symmetries, 0)
        learner.optimizer.epsilon = 1e-4  # read when the step is traced
        assert learner.parts == parts
        learned = learner.learn(Samples(planes, values[:, None]))
        assert learned["steps"] == 4
        assert learned["predicted"].shape == learned["targets"].shape == (30, 1)
        found.append([learned["error"], learned["decay"], *learner.weights()])
    for other in found[1:]:
        for ours, theirs in zip(found[0], other, strict=True):
            assert np.abs(ours - theirs).max() < 1e-4


def test_the_seed_determines_the_weights(game: Any) -> None:
    def weights(seed: int) -> list[np.ndarray]:
        return [v.numpy() for v in make_model(network(), game.plane_shape, 2, seed).weights]

    for a, b in zip(weights(4), weights(4), strict=True):
        assert (a == b).all()
    kernels = [a for a in weights(4) if a.ndim > 1]
    others = [a for a in weights(5) if a.ndim > 1]
    assert not any((a == b).all() for a, b in zip(kernels, others, strict=True))


@pytest.mark.parametrize("name", ["filters", "layers", "dense"])
def test_sizes_must_be_positive(name: str) -> None:
    with pytest.raises(InputError, match=f"'network.{name}' must be from 1 to .*, not -1"):
        compose("train", [f"network.{name}=-1"])


def test_the_kind_must_be_known() -> None:
    with pytest.raises(InputError, match=r"'network.kind' .* 'residul'; did you mean 'residual'\?"):
        compose("train", ["network.kind=residul"])


def test_the_best_rate_is_over_the_batch_sizes() -> None:
    sizes = []

    def evaluator(planes: np.ndarray) -> None:
        sizes.append(len(planes))

    assert best_rate(evaluator, (3, 3, 4), [4, 32], seconds=0.01) > 0
    assert set(sizes) == {4, 32}


# ---- The learner -----------------------------------------------------------------------


def test_the_error_falls_and_nothing_is_traced_twice(game: Any) -> None:
    learner = learner_of(game)
    evaluator = NetworkEvaluator(learner.model)
    samples = endings(game, 256)
    before = learner.error(samples)
    assert before == learner.error(samples, evaluator)
    for _ in range(25):
        learned = learner.learn(samples)
    assert learned["steps"] == 8
    assert learned["predicted"].shape == learned["targets"].shape == (32, 1)
    assert learner.error(samples) < before / 3
    assert learned["error"] < before / 2
    assert learner.traces == 1
    assert (learner.steps, learner.samples) == (200, 6400)


def test_what_does_not_fill_a_batch_waits(game: Any) -> None:
    learner = learner_of(game)
    planes, values = endings(game, 40)

    def learn(first: int, last: int) -> dict[str, Any]:
        return learner.learn(Samples(planes[first:last], values[first:last]))

    assert learn(0, 20) == {}
    assert learn(20, 40)["steps"] == 1
    assert learn(0, 23) == {}
    assert learn(0, 1)["steps"] == 1
    learn(0, 31)
    learner.drop_waiting()
    assert learn(0, 31) == {}
    assert learner.samples == 64


def test_the_same_seed_learns_the_same(game: Any) -> None:
    def learned(seed: int) -> list[np.ndarray]:
        learner = learner_of(game, seed)
        learner.learn(endings(game, 128))
        return [v.numpy() for v in learner.model.weights]

    assert all((a == b).all() for a, b in zip(learned(0), learned(0), strict=True))
    assert not all((a == b).all() for a, b in zip(learned(0), learned(1), strict=True))


def test_weights_are_handed_over(game: Any) -> None:
    learner = learner_of(game)
    other = NetworkEvaluator(make_model(network(), game.plane_shape, 2, 1))
    planes = np.random.default_rng(0).integers(0, 2, (40, *game.plane_shape), np.uint8)
    other(planes)
    other.assign(learner.weights())
    before = learner.evaluator(planes)
    assert (other(planes) == before).all()
    learner.learn(endings(game, 128))
    assert (other(planes) == before).all(), "only when they are handed over"
    other.assign(learner.weights())
    assert (other(planes) == learner.evaluator(planes)).all()
    assert (other(planes) != before).any()
    assert other.traces == other.parts


def test_labels_for_each_player(game: Any) -> None:
    """The loss is the mean over states and components."""
    planes, values = endings(game, 64)
    three = np.concatenate([values, -values, 0 * values], axis=1)
    model = make_model(network(), game.plane_shape, 3, 0)
    learner = Learner(model, learning(batch_size=64, symmetries=False), [], 0)
    predicted = learner.evaluator(unpack(planes, game.plane_shape))
    error = learner.error(Samples(planes, three))
    assert error == pytest.approx(float(np.mean((predicted - three) ** 2)), rel=1e-5)
    learned = learner.learn(Samples(planes, three))
    assert learned["error"] == pytest.approx(error, rel=1e-5)
    assert learned["predicted"].shape == (64, 3)
    for _ in range(60):
        learner.learn(Samples(planes, three))
    assert learner.error(Samples(planes, three)) < error / 3


@pytest.mark.parametrize(
    "options", [{"name": "tictactoe"}, {"name": "hex", "size": 4}, {"name": "othello", "size": 4}]
)
def test_symmetric_batches_keep_their_labels(options: dict[str, Any]) -> None:
    """Each state of a batch is an image of the given one, and its label the image's own."""
    game: Any = athenan.make_game(**options)
    learner = learner_of(game)
    packed, values = endings(game, 300)
    given = unpack(packed, game.plane_shape)
    images, labels = learner._batch(Samples(packed, values))
    for planes, (value,), image, (label,) in zip(given, values, images, labels, strict=True):
        cells = planes.reshape(-1, planes.shape[2])
        possible = {
            cells[s.cells][:, s.channels].tobytes(): s.sign * value for s in game.symmetries
        }
        assert possible[image.tobytes()] == label
        state = game.state_from_planes(image)
        assert state.is_terminal
        assert state.outcomes[0] == label
    assert (images != given).any()


@pytest.mark.parametrize("name", ["hex", "othello", "chess"])
def test_states_are_unpacked_as_their_tables_say(name: str) -> None:
    """Bit for bit as the plain way: all bits first, then each in its place."""
    game: Any = athenan.make_game(name)
    bits = int(np.prod(game.plane_shape))
    random = np.random.default_rng(0)
    packed = random.integers(0, 256, (50, (bits + 7) // 8), np.uint8)
    tables = np.stack([random.permutation(bits) for _ in range(8)]).astype(np.uint32)
    chosen = random.integers(0, 8, 50)
    planes = np.unpackbits(packed, axis=1, count=bits)
    expected = np.take_along_axis(planes, tables[chosen].astype(np.int64), axis=1)
    assert np.array_equal(_core.unpack_planes(packed, tables, chosen), expected)
    assert _core.unpack_planes(packed[:0], tables, chosen[:0]).shape == (0, bits)
    for wrong in (
        (packed[:-1], tables, chosen),
        (packed, tables + np.uint32(1), chosen),
        (packed, tables, chosen + 1),
        (packed, tables, chosen - 8),
        (packed, tables[:, :-8], chosen),
    ):
        with pytest.raises(ValueError, match=r"fit each other|that there"):
            _core.unpack_planes(*wrong)


def test_without_symmetries_batches_are_as_given(game: Any) -> None:
    learner = learner_of(game, symmetries=False)
    packed, values = endings(game, 50)
    images, labels = learner._batch(Samples(packed, values))
    assert (pack(images) == packed).all()
    assert (labels == values).all()


def test_weights_decay(game: Any) -> None:
    """By l2 times the sum of the kernels' squares, which learning makes smaller."""

    def squares(l2: float) -> tuple[float, float]:
        learner = learner_of(game, l2=l2)
        for _ in range(10):
            learned = learner.learn(endings(game, 64))
        kernels = [k for k in learner.weights() if k.ndim > 1]
        return float(sum((k**2).sum() for k in kernels)), learned["decay"]

    (free, nothing), (held, decay) = squares(0.0), squares(0.1)
    assert nothing == 0
    assert held < 0.8 * free
    assert decay == pytest.approx(0.1 * held, rel=0.2)


def test_the_error_is_of_all_states(game: Any) -> None:
    """In batches or one by one, the mean is the same."""
    learner, samples = learner_of(game), endings(game, 80)
    alone = [learner.error(Samples(*(a[i : i + 1] for a in samples))) for i in range(80)]
    assert learner.error(samples) == pytest.approx(np.mean(alone), rel=1e-4)


def test_the_learning_rate_follows_its_schedule(game: Any) -> None:
    learner = learner_of(game, schedule="cosine", learning_rate=1e-2)
    found = []
    for progress in (0.0, 0.5, 1.0, 1.5):
        learner.set_progress(progress)
        found.append(float(learner.optimizer.learning_rate.numpy()))
    assert found == pytest.approx([1e-2, 5.5e-3, 1e-3, 1e-3])


def test_a_label_that_is_no_number_stops_learning(game: Any) -> None:
    learner = learner_of(game)
    samples = endings(game, 64)
    samples.values[5] = np.nan
    with pytest.raises(Diverged, match="The loss became nan after 2 steps"):
        learner.learn(samples)


def test_too_large_a_learning_rate_stops_learning(game: Any) -> None:
    learner = learner_of(game, learning_rate=1e6)
    planes, values = endings(game, 64)
    with pytest.raises(Diverged, match="The loss became"):
        learner.learn(Samples(np.tile(planes, (5, 1)), np.tile(values, (5, 1))))


@pytest.mark.parametrize("kind", ["conv", "residual", "small"])
@pytest.mark.parametrize("size", [3, 11, 19])
def test_a_new_network_is_not_saturated(kind: str, size: int) -> None:
    """Where tanh is at its ends nothing can be learned any more."""
    game: Any = athenan.make_game("hex", size=size)
    model = make_model(compose("train", [f"network={kind}"]).network, game.plane_shape, 2, seed=0)
    state, planes = game.initial_state(), []
    while not state.is_terminal:
        planes.append(state.planes())
        state = state.play(state.legal_actions()[len(planes) % len(state.legal_actions())])
    assert np.abs(NetworkEvaluator(model)(np.stack(planes))).mean() < 0.9


def test_a_step_that_is_looked_at_is_the_same_step(game: Any) -> None:
    samples = endings(game, 32)
    seen, unseen = learner_of(game, 3), learner_of(game, 3)
    for learner in (seen, unseen):  # moments that are not 0
        learner.learn(samples)
    before = [v.numpy().astype(np.float64) for v in seen.model.trainable_variables]
    gradient = gradient_of(seen, samples)
    seen.watched = True
    found = seen.learn(samples)["seen"]
    assert unseen.learn(samples)["seen"] == {}
    assert not seen.watched, "one step, then no other"
    for one, other in zip(
        seen.saved().arrays.values(), unseen.saved().arrays.values(), strict=True
    ):
        assert all((a == b).all() for a, b in zip(one, other, strict=True))
    after = [v.numpy().astype(np.float64) for v in seen.model.trainable_variables]
    moved = sum(float(((a - b) ** 2).sum()) for a, b in zip(after, before, strict=True)) ** 0.5
    length = sum(float((b**2).sum()) for b in before) ** 0.5
    assert found["update_to_weight"] == pytest.approx(moved / length, rel=1e-6)
    assert found["gradient_norm"] == pytest.approx(gradient, rel=1e-4)


def gradient_of(learner: Learner, samples: Samples) -> float:
    """The length of the gradient of the next step, by a tape of its own."""
    tf = backend.tensorflow()
    planes, labels = learner._batch(samples, learner.steps)
    with tf.GradientTape() as tape:
        predicted = learner.model(tf.cast(planes, tf.float32), training=True)
        kernels = [v for v in learner.model.trainable_variables if v.shape.rank > 1]
        decay = tf.add_n([tf.reduce_sum(tf.square(kernel)) for kernel in kernels])
        loss = tf.reduce_mean(tf.square(predicted - labels)) + learner.config.l2 * decay
    found = tape.gradient(loss, learner.model.trainable_variables)
    return float(tf.linalg.global_norm(found))
