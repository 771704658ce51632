"""How fast a run is on more cores, devices and nodes: a model of measured pieces.

Seconds a state of a *player* (one process that plays) follow from its search and its network; the
run has the least of what its players play, its learner learns and its driver takes in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from athenan.pieces import Pieces

LARGEST_BATCH = 4096
TURN_SECONDS = 20e-6  # of Python between batches: a call of the evaluator, a turn of self-play


@dataclass(frozen=True)
class Rate:
    """Of a run, a second."""

    states: float
    samples: float
    games: float
    bound: str  # what it waits for: search, network, learner or transport
    busy: float  # share of the time that the network works

    def hours(self, games: float) -> float:
        return games / self.games / 3600


def rate_of(pieces: Pieces, states: float, bound: str, busy: float) -> Rate:
    samples, games = states / pieces.states_a_sample, states / pieces.states_a_game
    return Rate(states, samples, games, bound, busy)


def player(
    pieces: Pieces, games: int, threads: int, groups: int, on_device: bool
) -> tuple[float, float, str]:
    """(states a second, busy share of the network, what it waits for) of one process with so many
    games in step. On a processor search and network take turns on the same cores; a device works
    while the search of the other group goes on."""
    rows = min(games / groups * pieces.rows, LARGEST_BATCH)
    search = rows / (pieces.search * threads) + TURN_SECONDS
    network = pieces.batch_seconds + rows * pieces.state_seconds
    turn = max(search, network) if on_device and groups == 2 else search + network
    return rows / turn, network / turn, "network" if network > search else "search"


def one_process(
    pieces: Pieces, games: int, threads: int, groups: int = 1, on_device: bool = False
) -> Rate:
    """layout=inline, or layout=gpu with a device and two groups: learning takes turns with play."""
    states, busy, bound = player(pieces, games, threads, groups, on_device)
    learning = pieces.uses * pieces.learn_seconds / pieces.states_a_sample
    both = 1 / (1 / states + learning)
    if learning > 1 / states:
        bound = "learner"
    return rate_of(pieces, both, bound, min(1.0, both * (busy / states + learning)))


def on_one_core(pieces: Pieces, cores: float) -> Pieces:
    """The pieces of a processor with so many cores, of one of them: its network shares evenly."""
    return replace(
        pieces,
        state_seconds=pieces.state_seconds * cores,
        learn_seconds=pieces.learn_seconds * cores,
    )


def many_players(
    pieces: Pieces,
    players: int,
    learners: float,
    games: int,
    threads: int,
    groups: int,
    on_device: bool,
    network_bytes: float = math.inf,
) -> Rate:
    """layout=ray: so many players, so many devices (or cores) that learn. Samples from elsewhere
    pass a network of so many bytes a second, too."""
    states, busy, bound = player(pieces, games, threads, groups, on_device)
    a_sample = pieces.states_a_sample
    wanted = {
        bound: players * states,
        "learner": learners * a_sample / (pieces.uses * pieces.learn_seconds),
        "transport": min(pieces.copied, network_bytes) / pieces.bytes_a_sample * a_sample,
    }
    least = min(wanted, key=lambda name: wanted[name])
    return rate_of(pieces, wanted[least], least, busy * wanted[least] / (players * states))


def on_cores(pieces: Pieces, cores: int) -> Rate:
    """layout=ray without a device, the cores parted as suits best; one of them is one process."""
    if cores == 1:
        return one_process(pieces, 256, 1)
    choices = (
        many_players(pieces, cores - learners, learners, 256, 1, 1, False)
        for learners in range(1, cores)
    )
    return max(choices, key=lambda rate: rate.states)


def on_devices(
    pieces: Pieces, devices: int, nodes: int = 1, threads: int = 4, network_bytes: float = math.inf
) -> tuple[Rate, int]:
    """The rate, and how many devices of the first node learn for it. One device plays and learns in
    turn."""
    if devices * nodes == 1:
        return one_process(pieces, 256, threads, 2, True), 1
    choices = [
        (
            many_players(
                pieces, devices * nodes - learners, learners, 64, threads, 2, True,
                network_bytes if nodes > 1 else math.inf,
            ),
            learners,
        )
        for learners in range(1, min(devices, devices * nodes - 1) + 1)
    ]  # fmt: skip
    return max(choices, key=lambda choice: (choice[0].states, -choice[1]))
