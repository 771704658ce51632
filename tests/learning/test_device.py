"""A device's timing without the device: how busy self-play keeps it."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import athenan
from athenan.config import compose
from athenan.device import TimedDevice, busy_share
from athenan.self_play import SelfPlay


def test_a_batch_takes_its_time_and_the_next_one_follows() -> None:
    device = TimedDevice(60_000, 200)
    planes = np.zeros((100, 3, 3, 2), np.uint8)
    started = time.perf_counter()
    first, second = device.start(planes), device.start(planes)
    assert time.perf_counter() - started < 0.06, "it has only begun"
    assert first.result().shape == (100,)
    assert 0.08 <= time.perf_counter() - started < 0.155
    second.result()
    assert time.perf_counter() - started >= 0.16
    assert device.worked() == pytest.approx(0.16)
    assert (device.batches, device.states) == (2, 200)
    time.sleep(0.1)
    device(planes)
    assert device.worked() == pytest.approx(0.24), "idle time is not work"
    assert abs(first.result()).max() <= 1


def busy_seconds() -> float:
    """Of all processors so far, whoever used them."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    user, nice, system, _idle, _wait, irq, softirq, steal = fields
    return (user + nice + system + irq + softirq + steal) / 100


def shares(game: str, groups: int) -> list[float]:
    """Busy shares of a few measurements that no other process disturbed."""
    config = compose("bench", [f"game={game}", "games=64", "threads=2"])
    found: list[float] = []
    for _ in range(12):
        device = TimedDevice(200, 1)
        made: Any = athenan.make_game(**config.game)
        settings = replace(config.self_play, groups=groups)
        play = SelfPlay(
            made, device, config.search, config.heuristic, settings, config.exploration, 0
        )
        all_before, own_before, started = busy_seconds(), time.process_time(), time.perf_counter()
        share = busy_share(play, device, 1.5)
        seconds = time.perf_counter() - started
        others = busy_seconds() - all_before - (time.process_time() - own_before)
        if others < 0.1 * seconds:
            found.append(share)
        if len(found) == 2:
            break
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="there is no word of others' work")
@pytest.mark.parametrize("game", ["hex", "connect_four"])
def test_two_groups_keep_a_device_busy(game: str) -> None:
    """200 µs a batch and 1 µs a state, 64 games, two threads; one group leaves it waiting."""
    one, two = shares(game, 1), shares(game, 2)
    if not one or not two:
        pytest.skip("other processes are at work, so that nothing can be said of this one")
    assert max(one) < 0.9 <= max(two), f"busy {one} with one group, {two} with two"
