"""What the machine has is told truly, and the model of rates is that of the scheduler."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import answer, figures

import athenan
from athenan import doctor, machine, scaling
from athenan.config import compose
from athenan.device import TimedDevice, busy_share
from athenan.doctor import Doctor, compare_options, layouts
from athenan.machine import Machine, limits_of_group
from athenan.pieces import (
    Pieces,
    call_and_wait,
    fitted_line,
    flat_from,
    measure_search,
    self_play_of,
)
from athenan.scaling import many_players, on_cores, on_devices, one_process, player

QUICK = ["game=tictactoe", "network=small", "seconds=0.02", "self_play.batch_sizes=[16,64]",
         "learn.batch_size=32"]  # fmt: skip
PIECES = Pieces(
    search=500_000, rows=5, states_a_sample=5, states_a_game=2000, games_ended=9,
    batch_seconds=2e-4, state_seconds=1e-6, learn_seconds=4e-6, bytes_a_sample=25, copied=1e9,
    uses=3,
)  # fmt: skip


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(machine.CLUSTER, raising=False)


@pytest.mark.slow
def test_it_tells_all_in_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    text = answer(capsys, ["doctor", *QUICK])
    assert max(map(len, text.splitlines())) <= 80
    for heading in ("cores", "memory", "disk", "compiler", "versions", "Ray", "computing",
                    "network", "search", "learner", "layouts", "advice"):  # fmt: skip
        assert f"\n{heading} " in f"\n{text}"
    found = figures(capsys, ["doctor", *QUICK])
    assert found["packages"]["needed"]["numpy"] == np.__version__
    assert found["recommended"] in found["layouts"]
    assert found["pieces"]["games_ended"] >= 16
    assert found["asynchronous"]["call_seconds"] > 0
    assert not list(Path().iterdir()), "it leaves nothing behind"


def test_what_is_missing_has_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "look_at", lambda _: Machine(8, 8, 1.5, 10**9, None, 10**8))
    monkeypatch.setattr(machine, "compiler", lambda: None)
    monkeypatch.setattr(machine, "packages", lambda: {"": {"numpy": "2", "hydra-core": None},
                                                      "export": {"onnx": "1", "onnxruntime": None},
                                                      "peers": {"open_spiel": None}})  # fmt: skip
    monkeypatch.setattr(machine, "installed_tensorflow", lambda: False)
    monkeypatch.setenv(machine.CLUSTER, "127.0.0.1:1")
    found = Doctor(compose("doctor", QUICK))
    for part in (found.tell_machine, found.tell_packages, found.tell_devices):
        part()
    text = " ".join(" ".join(found.lines()).split())
    for told in (
        "There is no C++20 compiler",
        "The control group gives 1.5 cores where 8 seem free",
        "1.0 GB of memory are too little",
        "0.1 GB of disk are too little",
        "Package hydra-core is missing",
        "extra export: without onnxruntime",
        "extras not installed: peers",
        "RAY_ADDRESS is '127.0.0.1:1', but nothing answers there",
        "TensorFlow is not installed",
    ):
        assert told in text
    assert all(sentence.endswith((".", "it.")) for sentence in found.wrong)
    assert len(found.wrong) == 7


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, (None, None)),
        ({"cpu.max": "max 100000", "memory.max": "max"}, (None, None)),
        ({"cpu.max": "150000 100000", "a/cpu.max": "50000 100000", "memory.max": "9000",
          "a/memory.max": "7000"}, (0.5, 7000)),
        ({"cpu/a/cpu.cfs_quota_us": "200000", "cpu/a/cpu.cfs_period_us": "100000",
          "memory/memory.limit_in_bytes": "4096", "cpu/cpu.cfs_quota_us": "-1",
          "cpu/cpu.cfs_period_us": "100000"}, (2.0, 4096)),
    ],
)  # fmt: skip
def test_limits_of_control_groups(tmp_path: Path, files: dict[str, str], expected: Any) -> None:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text("0::/a\n4:cpu,cpuacct:/a\n3:memory:/b\n")
    for name, text in files.items():
        path = tmp_path / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    assert limits_of_group(tmp_path) == expected


# ---- Pieces ------------------------------------------------------------------------------


def test_a_line_is_found_again() -> None:
    sizes = [64, 256, 1024]
    batch, state = fitted_line(sizes, [2e-4 + 1e-6 * size for size in sizes])
    assert (batch, state) == (pytest.approx(2e-4), pytest.approx(1e-6))
    assert fitted_line(sizes, [1e-6 * size for size in sizes])[1] == pytest.approx(1e-6)
    assert fitted_line([64], [64e-6]) == (0.0, pytest.approx(1e-6))
    assert flat_from(sizes, [64.0, 200.0, 800.0]) == 256


def test_a_device_returns_early_and_a_processor_does_not() -> None:
    calls, waits = call_and_wait(TimedDevice(20_000, 1), (3, 3, 2), 64)
    assert calls < 0.01 < waits

    class Slow(TimedDevice):
        def start(self, planes: Any) -> Any:
            time.sleep(0.02)
            return super().start(planes)

    calls, waits = call_and_wait(Slow(0, 0), (3, 3, 2), 64)
    assert waits < 0.01 < calls


def test_states_are_counted_as_records_count_them() -> None:
    config = compose("doctor", [*QUICK, "self_play.evaluations=20"])
    found = measure_search(config, athenan.make_game("tictactoe"))
    assert found["games_ended"] >= 16
    assert 20 < found["states_a_game"] < 9 * 40
    assert 1 < found["states_a_sample"] < 9


def test_options_are_compared() -> None:
    found = compare_options(compose("doctor", QUICK), athenan.make_game("tictactoe"), 64)
    assert list(found) == ["float32", "xla", "mixed_float16", "mixed_float16+xla"]
    assert all(took > 0 for took in found.values())


# ---- The model ---------------------------------------------------------------------------


def test_the_model_is_what_its_page_says() -> None:
    search = 64 * 5 / 1_000_000 + scaling.TURN_SECONDS
    assert player(PIECES, 64, 2, 1, True)[0] == pytest.approx(320 / (search + 520e-6))
    rate, busy, bound = player(PIECES, 128, 2, 2, True)
    assert (rate, busy, bound) == (pytest.approx(320 / 520e-6), 1.0, "network")
    learned = 5 / (3 * 4e-6)
    assert many_players(PIECES, 100, 1, 64, 2, 2, True).states == pytest.approx(learned)
    assert many_players(PIECES, 100, 1, 64, 2, 2, True).bound == "learner"
    slow = many_players(PIECES, 100, 100, 64, 2, 2, True, network_bytes=1e6)
    assert (slow.bound, slow.states) == ("transport", pytest.approx(1e6 / 25 * 5))
    assert slow.samples == pytest.approx(1e6 / 25)
    assert slow.games == pytest.approx(slow.states / 2000)
    assert slow.hours(3600 * slow.games) == pytest.approx(1)
    both = one_process(PIECES, 128, 2, 2, True).states
    assert 1 / both == pytest.approx(1 / rate + 1 / learned)


def test_more_is_never_slower_and_a_learner_ends_it() -> None:
    for rates in (
        [on_cores(PIECES, n).states for n in (2, 4, 8, 16)],
        [on_devices(PIECES, n)[0].states for n in (2, 3, 4, 8)],
        [on_devices(PIECES, 8, n)[0].states for n in (1, 2, 4, 8, 64)],
    ):
        assert rates == sorted(rates)
    far, learners = on_devices(PIECES, 8, 64)
    assert (far.bound, learners) == ("learner", 8)
    assert far.states == pytest.approx(8 * 5 / (3 * 4e-6))


def test_layouts_are_those_the_machine_can_have() -> None:
    assert list(dict(layouts(PIECES, 2, 0))) == ["inline"]
    assert list(dict(layouts(PIECES, 16, 0))) == ["inline", "cpu"]
    assert list(dict(layouts(PIECES, 16, 1))) == ["inline", "gpu"]
    eight = dict(layouts(PIECES, 64, 8))
    assert list(eight) == ["inline", "gpu", "node_adastra"]
    assert max(eight["inline"].states, eight["gpu"].states) < eight["node_adastra"].states


def test_a_gpu_is_given_its_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Doctor(compose("doctor", QUICK))
    monkeypatch.setattr("athenan.config.group_files", lambda *_: ["inline", "gpu", "cpu"])
    found.recommend(PIECES, gpus=1)
    assert found.figures["recommended"] == "gpu"
    monkeypatch.setattr("athenan.config.group_files", lambda *_: ["inline"])
    found.recommend(PIECES, gpus=1)
    assert found.figures["recommended"] == "inline"
    assert doctor.size(2.5e9) == "2.5 GB"


def busy_seconds() -> float:
    """Of all processors so far, whoever used them."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / 100


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="there is no word of others' work")
@pytest.mark.parametrize("groups", [1, 2])
def test_the_model_foretells_the_scheduler_with_a_device(groups: int) -> None:
    """Self-play as it is with a device that keeps a GPU's times, on one thread, within a third."""
    config = compose("doctor", ["game=connect_four", "seconds=0.5", "self_play.evaluations=200"])
    game: Any = athenan.make_game(**config.game)
    for _ in range(4):
        others, own, started = busy_seconds(), time.process_time(), time.perf_counter()
        found: dict[str, Any] = {**measure_search(config, game)}
        device = TimedDevice(200, 1)
        play = self_play_of(config, game, device, games_in_step=64, groups=groups, threads=1)
        share = busy_share(play, device, 1.0)
        others = busy_seconds() - others - (time.process_time() - own)
        if others > 0.1 * (time.perf_counter() - started):
            continue
        pieces = Pieces(**{**vars(PIECES), **found})
        told, _, _ = player(pieces, 64, 1, groups, True)
        rows = play.rows / device.batches
        assert told == pytest.approx(share * rows / (200e-6 + rows * 1e-6), rel=1 / 3)
        return
    pytest.skip("other processes are at work, so that nothing can be said of this one")
