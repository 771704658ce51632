"""What a run's rate is made of, piece by piece: search, network, learner, transport."""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from athenan.backend import cores, set_threads
from athenan.search import Array, Known, num_places
from athenan.self_play import games_for
from athenan.settings import DoctorSettings


@dataclass(frozen=True)
class Pieces:
    """Of one game with its search and network, on one machine. A *state* is one that the network
    values, a *sample* one that is learned from."""

    search: float  # states a second that the search asks for, on one thread
    rows: float  # states that one game in step asks for at a time
    states_a_sample: float
    states_a_game: float
    games_ended: int  # that the last two are counted from; 0: estimated by random playouts
    batch_seconds: float  # of the network, besides its states
    state_seconds: float  # of each state in a batch, on all usable cores or one device
    learn_seconds: float  # of a sample in a step, on all usable cores or one device
    bytes_a_sample: float  # as it is sent
    copied: float  # bytes a second, packed, sent to itself and unpacked
    uses: float  # of a sample, δ


class InstantValues:
    """An evaluator that takes no time; its values are random and say nothing of the states.
    `places`: answers a state, where it values all children."""

    def __init__(self, places: int = 0) -> None:
        self.of_children = places > 0
        shape = (2**16, places) if places else (2**16,)
        self._values = np.random.default_rng(0).uniform(-1, 1, shape).astype(np.float32)
        self._at = 0

    def start(self, planes: Array) -> Known:
        self._at = (self._at + 7919) % (len(self._values) - len(planes))
        return Known(self._values[self._at : self._at + len(planes)])

    def __call__(self, planes: Array) -> Array:
        values: Array = self.start(planes).values
        return values


def self_play_of(config: DoctorSettings, game: Any, evaluator: Any, **changed: Any) -> Any:
    from athenan.self_play import SelfPlay

    return SelfPlay(
        game, evaluator, config.search, config.heuristic, replace(config.self_play, **changed),
        config.exploration, 0,
    )  # fmt: skip


def measure_search(config: DoctorSettings, game: Any) -> dict[str, float]:
    """Self-play whose network answers at once, in one thread. Games that end tell how many states
    one asks for; where none ends in time random playouts tell how long games are."""
    of_children = config.network.kind == "children"
    games = min(16, config.self_play.games_in_step or games_for(game, of_children))
    instant = InstantValues(num_places(game) if of_children else 0)
    play = self_play_of(config, game, instant, games_in_step=games, threads=1, groups=1)
    records: list[Any] = []
    batches, started = 0, time.perf_counter()
    while (seconds := time.perf_counter() - started) < 8 * config.seconds:
        records += play.play_batch()
        batches += 1
        if seconds > config.seconds and len(records) >= games:
            break
    found = {
        "search": play.rows / seconds,
        "rows": play.rows / (batches * games),
        "games_ended": len(records),
    }
    if records:
        samples = sum(len(record.planes) for record in records)
        found["states_a_game"] = sum(record.evaluations for record in records) / len(records)
        return found | {"states_a_sample": found["states_a_game"] * len(records) / samples}
    under_way = [one for one in play.games if one is not None]
    plies = sum(len(one.actions) for one in under_way)
    if plies:
        an_action = sum(one.evaluations for one in under_way) / plies
        expanded = sum(one.expanded for one in under_way) / plies
    else:
        budget = config.self_play
        an_action = budget.evaluations or budget.iterations or 1000
        a_state = 1 if instant.of_children else len(game.initial_state().legal_actions())
        expanded = an_action / max(1, a_state)
    return found | {
        "states_a_game": an_action * game.longest_playout(20),
        "states_a_sample": an_action / max(1.0, expanded),
    }


def best_seconds(call: Callable[[], object], seconds: float) -> float:
    """The least of several: the machine's noise only ever slows down."""
    call()
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
    return best


def measure_network(evaluator: Any, shape: Any, sizes: list[int], seconds: float) -> list[float]:
    """Seconds of a batch of each size."""
    random = np.random.default_rng(0)
    found = []
    for size in sizes:
        planes = random.integers(0, 2, (size, *shape), np.uint8)
        found.append(best_seconds(lambda planes=planes: evaluator(planes), seconds / len(sizes)))  # type: ignore[misc]
    return found


def fitted_line(sizes: list[int], seconds: list[float]) -> tuple[float, float]:
    """(of a batch, of a state): the line with the least relative error, neither below nothing."""
    x, y = np.array(sizes, float), np.array(seconds)
    a, b = np.linalg.lstsq(np.stack([1 / y, x / y], 1), np.ones(len(y)), rcond=None)[0]
    if a < 0 or len(sizes) == 1:
        return 0.0, float(1 / np.mean(x / y))
    if b <= 0:
        return float(np.mean(y)), 1e-12
    return float(a), float(b)


def flat_from(sizes: list[int], seconds: list[float], share: float = 0.9) -> int:
    """The least batch whose rate is nearly the best one's."""
    rates = [size / one for size, one in zip(sizes, seconds, strict=True)]
    return next(s for s, rate in zip(sizes, rates, strict=True) if rate >= share * max(rates))


def call_and_wait(evaluator: Any, shape: Any, size: int, repeats: int = 5) -> tuple[float, float]:
    """Seconds until the call returns, and those that one waits for its values after it."""
    planes = np.random.default_rng(0).integers(0, 2, (size, *shape), np.uint8)
    evaluator(planes)
    best = (float("inf"), 0.0)
    for _ in range(repeats):
        started = time.perf_counter()
        pending = evaluator.start(planes)
        returned = time.perf_counter()
        pending.result()
        best = min(best, (returned - started, time.perf_counter() - returned), key=sum)
    return best


def measure_learner(config: DoctorSettings, game: Any, model: Any) -> float:
    """Seconds a sample, unpacking and symmetries included."""
    from athenan.learner import Learner
    from athenan.records import AnySamples, Samples, SamplesOfChildren

    learner = Learner(
        model, config.learn, game.symmetries, 0, kind=config.network.kind, places=game.action_places
    )
    size = config.learn.batch_size
    random = np.random.default_rng(0)
    bytes_ = (int(np.prod(game.plane_shape)) + 7) // 8
    planes = random.integers(0, 256, (size, bytes_), np.uint8)
    width = 1 if learner.of_children else model.output_shape[1]
    values = random.uniform(-1, 1, (size, width)).astype(np.float32)
    samples: AnySamples = Samples(planes, values)
    if learner.of_children:
        actions = random.integers(0, len(game.action_places), size).astype(np.uint32)
        samples = SamplesOfChildren(planes, values, np.ones(size, np.int32), actions)
    return best_seconds(lambda: learner.learn(samples), config.seconds) / size


def measure_transport(game: Any, seconds: float) -> dict[str, float]:
    """A block of samples as one process gives it to another, without a network between them."""
    each = (int(np.prod(game.plane_shape)) + 7) // 8
    number = 32_000_000 // (each + 4)  # beyond what caches hold
    random = np.random.default_rng(0)
    block: list[Array] = [
        random.integers(0, 256, (number, each), np.uint8),
        random.random(number, np.float32),
    ]
    size = sum(array.nbytes for array in block)
    took = best_seconds(lambda: pickle.loads(pickle.dumps(block, protocol=5)), seconds / 4)
    return {"bytes_a_sample": each + 4.0, "copied": size / took}


def measure_pieces(config: DoctorSettings, game: Any) -> tuple[Pieces, list[float]]:
    """All of them, and seconds of the network for each batch size."""
    from athenan.network import NetworkEvaluator, model_for

    set_threads(cores())  # as a run has them
    model = model_for(config.network, game, 0)
    sizes = config.self_play.batch_sizes
    times = measure_network(NetworkEvaluator(model), game.plane_shape, sizes, config.seconds)
    batch, state = fitted_line(sizes, times)
    found: dict[str, Any] = {**measure_search(config, game)}
    found |= measure_transport(game, config.seconds)
    learn = measure_learner(config, game, model)
    uses = config.replay.uses
    pieces = Pieces(
        **found, batch_seconds=batch, state_seconds=state, learn_seconds=learn, uses=uses
    )
    return pieces, times
