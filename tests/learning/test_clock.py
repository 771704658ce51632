"""The clock of a run: stages, limits, progress and what is left."""

import time
from contextlib import suppress
from typing import Any

import pytest

from athenan.checkpoint import Part
from athenan.clock import Clock
from athenan.settings import CheckpointSettings, TrainSettings


def clock(seconds: float = 0.0, **settings: Any) -> Clock:
    made = Clock(TrainSettings(checkpoint=CheckpointSettings(every_games=40), **settings))
    made.restore(Part({"seconds": seconds}))
    return made


def test_stages_are_timed_also_when_they_fail() -> None:
    made = clock(100.0)
    assert made.shares() == {}
    with made.stage("learning"):
        time.sleep(0.02)
    with suppress(KeyError), made.stage("self_play"):
        raise KeyError
    with made.stage("learning"):
        pass
    assert list(made.shares()) == ["learning", "self_play"]
    assert sum(made.shares().values()) == pytest.approx(1)
    assert made.spent("learning") >= 0.02
    assert made.spent("matches") == 0
    assert made.elapsed == pytest.approx(100 + made.spent("learning") + made.spent("self_play"))
    other = clock()
    other.restore(made.saved())
    assert other.elapsed == made.elapsed


@pytest.mark.parametrize(
    ("settings", "seconds", "games", "finished", "progress", "left"),
    [
        ({}, 50, 10, False, 0.0, None),
        ({"games": 100}, 0, 0, False, 0.0, None),
        ({"games": 100}, 50, 25, False, 0.25, 150),
        ({"games": 100}, 50, 100, True, 1.0, 0),
        ({"games": 100}, 50, 130, True, 1.0, 0),
        ({"minutes": 2.0}, 30, 10, False, 0.25, 90),
        ({"minutes": 2.0}, 150, 10, True, 1.0, 0),
        ({"minutes": 2.0, "games": 100}, 0, 0, False, 0.0, 120),
        ({"minutes": 2.0, "games": 100}, 30, 50, False, 0.5, 30),
        ({"minutes": 2.0, "games": 100}, 90, 50, False, 0.75, 30),
        ({"minutes": 2.0, "games": 100}, 120, 50, True, 1.0, 0),
    ],
)
def test_limits(
    settings: dict[str, Any],
    seconds: float,
    games: int,
    finished: bool,
    progress: float,
    left: float | None,
) -> None:
    made = clock(seconds, **settings)
    assert made.finished(games) == finished
    assert made.progress(games) == pytest.approx(progress)
    assert made.left(games) == (left if left is None else pytest.approx(left))


def test_checkpoints_come_every_so_many_games_and_at_the_end() -> None:
    assert [clock().next_checkpoint(games) for games in (0, 39, 40, 85)] == [40, 40, 80, 120]
    assert [clock(games=100).next_checkpoint(g) for g in (0, 85, 100)] == [40, 100, 100]
