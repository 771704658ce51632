"""The learner on several devices at once, and compiled by XLA, learns what it learns on one."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import athenan
from athenan import _core, cluster, placement
from athenan.actor import check_device, device_of_process
from athenan.backend import tensorflow
from athenan.config import compose
from athenan.errors import Failed, InputError
from athenan.learner import Learner
from athenan.network import NetworkEvaluator, make_model
from athenan.placement import VISIBLE, Placement, learner_devices
from athenan.records import Samples
from athenan.settings import LayoutSettings, LearnSettings, NetworkSettings

TWO_CPUS = """
import json, sys
from athenan.backend import keras, tensorflow
tf = tensorflow()
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
sys.path.insert(0, sys.argv[1])
from test_placement import differences
print(json.dumps(differences()))
"""


@pytest.fixture(scope="module")
def game() -> Any:
    return athenan.make_game("tictactoe")


def made(game: Any, devices: list[str] | None = None, epsilon: float = 1e-7, **changed: Any) -> Any:
    config = LearnSettings(**{"batch_size": 32, "learning_rate": 1e-3, "l2": 1e-3, **changed})
    placed = Placement(devices or [])
    with placed.scope():
        model = make_model(NetworkSettings(filters=8, layers=2, dense=8), game.plane_shape, 2, 0)
    learner = Learner(model, config, game.symmetries, 0, placed)
    learner.optimizer.epsilon = epsilon  # read when the step is traced
    return learner


def samples(game: Any, steps: int) -> Samples:
    planes, values = _core.ending_samples(game, 32 * steps, "gain", 0, 0)
    return Samples(planes, values[:, None])


def furthest(ours: Any, theirs: Any) -> float:
    pairs = zip(ours.weights(), theirs.weights(), strict=True)
    return max(float(np.abs(a - b).max()) for a, b in pairs)


def differences() -> dict[str, float]:
    """Of weights, losses, errors and predictions, two devices against one."""
    game: Any = athenan.make_game("tictactoe")
    found = {}
    for name, steps, epsilon in (("one step", 1, 1e-7), ("forty steps", 40, 1e-4)):
        one, two = made(game, ["CPU:0"], epsilon), made(game, ["CPU:0", "CPU:1"], epsilon)
        before = [array.copy() for array in one.weights()]
        ours, theirs = (learner.learn(samples(game, steps)) for learner in (one, two))
        assert max(np.abs(a - b).max() for a, b in zip(before, one.weights(), strict=True)) > 1e-4
        assert ours["steps"] == theirs["steps"] == steps
        found[f"weights after {name}"] = furthest(one, two)
        found[f"error after {name}"] = abs(ours["error"] - theirs["error"])
        found[f"decay after {name}"] = abs(ours["decay"] - theirs["decay"])
        found[f"predictions after {name}"] = float(
            np.abs(ours["predicted"] - theirs["predicted"]).max()
        )
        found[f"error of all after {name}"] = abs(
            one.error(samples(game, 2)) - two.error(samples(game, 2))
        )
    # A checkpoint goes from several devices to one and back.
    other = made(game, ["CPU:0", "CPU:1"], 1e-4)
    other.restore(one.saved())
    found["weights restored"] = furthest(one, other)
    for learner in (one, other):
        learner.learn(samples(game, 1))
    found["weights after restored"] = furthest(one, other)
    return found


@pytest.mark.slow
def test_two_devices_learn_what_one_learns() -> None:
    """Two logical CPUs. Rounding differs, which the usual ε = 1e-7 of Adam makes large in time:
    it divides by the root of squares that may be as small."""
    folder = __file__.rpartition("/")[0]
    ran = subprocess.run(
        [sys.executable, "-c", TWO_CPUS, folder], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert len(found) == 12
    assert {name: value for name, value in found.items() if not value <= 1e-6} == {}


def test_one_named_device_learns_bit_for_bit_what_the_usual_one_does(game: Any) -> None:
    usual, named = made(game), made(game, ["CPU:0"])
    for learner in (usual, named):
        learner.learn(samples(game, 5))
    assert furthest(usual, named) == 0


class FakeTensorFlow:
    """As far as it is asked about devices, of which there are so many; which of them are seen."""

    def __init__(self, gpus: int, cuda: bool = True) -> None:
        self.seen = list(range(gpus))

        def see(devices: list[int], _kind: str) -> None:
            self.seen = devices

        self.config = SimpleNamespace(
            list_physical_devices=lambda kind: list(range(gpus)) if kind == "GPU" else [],
            get_visible_devices=lambda _kind: self.seen,
            set_visible_devices=see,
        )
        self.test = SimpleNamespace(is_built_with_cuda=lambda: cuda)


Machine = Callable[..., FakeTensorFlow]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """A machine with so many GPUs."""
    for name in VISIBLE:
        monkeypatch.delenv(name, raising=False)

    def set_up(gpus: int, cuda: bool = True) -> FakeTensorFlow:
        fake = FakeTensorFlow(gpus, cuda)
        for module in (placement, cluster):
            monkeypatch.setattr(module, "tensorflow", lambda: fake)
        monkeypatch.setattr(placement, "unused_gpu", lambda _: "")
        return fake

    return set_up


@pytest.mark.parametrize(
    ("name", "number", "named", "seen"),
    [
        ("inline", None, [], [0]),
        ("inline", 0, ["CPU:0"], [0]),
        ("inline", 2, ["GPU:0", "GPU:1"], [0, 1]),
        ("ray", None, [], [0]),
        ("ray", 0, ["CPU:0"], []),
        ("ray", 2, ["GPU:0", "GPU:1"], [0, 1]),
    ],
)
def test_the_learner_has_the_first_devices_and_sees_no_others(
    machine: Machine, name: str, number: int | None, named: list[str], seen: list[int]
) -> None:
    """Inline, its first one is that of self-play too."""
    fake = machine(3)
    assert learner_devices(LayoutSettings(name=name, learner_gpus=number)) == named
    assert fake.seen == seen


def test_more_devices_than_there_are(machine: Machine) -> None:
    machine(0)
    assert learner_devices(LayoutSettings()) == []
    assert learner_devices(LayoutSettings(learner_gpus=0)) == ["CPU:0"]
    with pytest.raises(InputError, match=r"'layout\.learner_gpus' is 2, but .* sees no GPU\."):
        learner_devices(LayoutSettings(learner_gpus=2))
    machine(2)
    with pytest.raises(InputError, match="is 3, but TensorFlow sees 2 GPUs"):
        learner_devices(LayoutSettings(learner_gpus=3))


@pytest.mark.parametrize(
    ("words", "cuda", "told", "left"),
    [
        ([], True, {}, {"CUDA_VISIBLE_DEVICES": "1,2,3,4,5,6,7"}),
        ([], False, {}, {"HIP_VISIBLE_DEVICES": "1,2,3,4,5,6,7"}),
        (["layout.learner_gpus=null"], True, {}, {"CUDA_VISIBLE_DEVICES": "1,2,3,4,5,6,7"}),
        (
            ["layout.learner_gpus=5", "layout.actors=3"],
            False,
            {"HIP_VISIBLE_DEVICES": "7,6,5,4,3,2,1,0"},
            {"HIP_VISIBLE_DEVICES": "2,1,0"},
        ),
    ],
)
def test_actors_of_a_node_have_the_devices_that_the_learner_does_not_have(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    cuda: bool,
    told: dict[str, str],
    left: dict[str, str],
) -> None:
    fake = machine(8, cuda)
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    layout = compose("train", ["experiment=hex7", "layout=node_adastra", *words]).layout
    devices = learner_devices(layout)
    before = dict(os.environ)
    with cluster.devices_for_actors(layout) as number:
        assert {name: os.environ[name] for name in VISIBLE if name in os.environ} == left
        assert all(len(value.split(",")) == number for value in left.values())
    assert dict(os.environ) == before, "another run of this process finds them as they were"
    assert number == layout.actors == 8 - max(1, len(devices))
    assert fake.seen == list(range(8 - number))


def test_what_of_several_is_an_actors_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Job scripts name all devices of a node by one variable, Ray one of them by the other."""
    config = compose("train", ["experiment=tictactoe_smoke", "layout=node_adastra"])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,2,3")
    monkeypatch.setenv("HIP_VISIBLE_DEVICES", "2")
    assert device_of_process(config) == "2"
    config.layout.gpus = 0
    assert device_of_process(config) is None


def test_a_device_that_tensorflow_does_not_see_is_no_device(game: Any) -> None:
    """Its actor would play on the CPU, and nobody would know."""
    if tensorflow().config.list_physical_devices("GPU"):
        pytest.skip("TensorFlow sees one here")
    with pytest.raises(Failed, match="TensorFlow does not see Device 3 of here"):
        check_device(None, game.plane_shape, "Device 3 of here")


@pytest.mark.parametrize(
    ("changed", "told"),
    [({"batch_size": 33}, "multiple of the 2 devices"), ({"xla": True}, "'learn.xla' is for one")],
)
def test_what_several_devices_cannot_do(game: Any, changed: dict[str, Any], told: str) -> None:
    class Two(Placement):
        def __init__(self) -> None:
            super().__init__([])
            self.devices = ["CPU:0", "CPU:1"]
            self.strategy = tensorflow().distribute.get_strategy()

    model = make_model(NetworkSettings(filters=8, layers=1, dense=8), game.plane_shape, 2, 0)
    with pytest.raises(InputError, match=told):
        Learner(model, LearnSettings(**changed), game.symmetries, 0, Two())


@pytest.mark.slow
def test_xla_learns_and_answers_the_same(game: Any) -> None:
    usual, compiled = made(game, epsilon=1e-4), made(game, epsilon=1e-4, xla=True)
    for learner in (usual, compiled):
        learner.learn(samples(game, 20))
    assert furthest(made(game), usual) > 0
    assert furthest(usual, compiled) <= 1e-5
    planes = np.random.default_rng(0).integers(0, 2, (64, *game.plane_shape), np.uint8)
    ours, theirs = (NetworkEvaluator(usual.model, xla)(planes) for xla in (False, True))
    assert np.abs(ours - theirs).max() <= 1e-5


def test_half_precision_answers_nearly_the_same(game: Any) -> None:
    from athenan.backend import keras

    single = made(game)
    single.learn(samples(game, 20))
    keras().mixed_precision.set_global_policy("mixed_float16")
    try:
        half = make_model(NetworkSettings(filters=8, layers=2, dense=8), game.plane_shape, 2, 0)
    finally:
        keras().mixed_precision.set_global_policy("float32")
    half.set_weights(single.model.get_weights())
    planes = np.random.default_rng(0).integers(0, 2, (64, *game.plane_shape), np.uint8)
    ours, theirs = (NetworkEvaluator(model)(planes) for model in (single.model, half))
    assert theirs.dtype == np.float32
    assert 0 < np.abs(ours - theirs).max() <= 0.02
