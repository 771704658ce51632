"""Writes configs/layout/README.md: what a run's rate is made of, and what it would be elsewhere.

python scripts/scaling.py            measures on this machine, for a minute
python scripts/scaling.py --print    … and prints the page instead
"""

import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from athenan.config import compose
from athenan.device import TimedDevice, busy_share
from athenan.games import configs_folder, make_game
from athenan.machine import look_at
from athenan.pieces import Pieces, measure_pieces, self_play_of
from athenan.run import fit_to_game
from athenan.scaling import Rate, on_cores, on_devices, on_one_core, player

PAGE = configs_folder() / "layout" / "README.md"
GAMES = ("connect_four", "hex")
DEVICE = (200e-6, 1e-6)  # seconds of a batch and of a state: stated, not measured
NETWORK = 1.25e9  # bytes a second between nodes, 10 Gbit/s: stated
CORES = (1, 2, 4, 8, 16, 32, 64)
DEVICES = (1, 2, 4, 8)
NODES = (1, 2, 4, 8, 16, 32, 64)
SEARCH_THREADS = 4  # of the player of a device

TEXT = """\
# How far a run scales

`python scripts/scaling.py` measures the pieces below on the machine at hand and writes this page;
`athenan doctor` uses the same model (`athenan/scaling.py`) for the machine it is called on.
**Measured** are the pieces of one machine and the check with a simulated device; **stated** are
the device ({batch:g} µs a batch and {state:g} µs a state), its learner (three times a state's
time a sample: forward and twice as much backward) and the network between nodes (10 Gbit/s);
**assumed** is that cores and devices of one kind add up. No rate below was measured on a GPU or
on a second node.

## The pieces

Measured on {cores:g} cores of a cloud machine, one thread of search; a *state* is one that the
network values, a *sample* one that is learned from, {uses:g} times each.
{others}

{pieces}

## The model

A player asks for r = games in step ÷ groups × rows states at a time; a turn takes s = r ÷ (search
× threads) + 20 µs in the search and d = a + b·r in the network. On a processor, and with one
group of games, a turn takes s + d; a device and two groups take max(s, d). A run has the least of

    players × r ÷ turn        learners × states a sample ÷ (uses × learner's seconds a sample)
    bytes a second ÷ bytes a sample × states a sample    (copied by the driver, or sent)

In one process learning and play share the cores, so that their times add up.

## The check

Self-play as it is, its scheduler and two groups of 64 games on {threads} threads, with a device
that keeps the stated times and computes nothing:

{check}

## Predictions

States a second, how many devices learn, and what bounds the run.

### Cores of one machine, without a device

{on_cores}

Scaling is even: the cores are parted between players and learner as suits best.

### Devices of one node

{on_devices}

### Nodes of eight devices

The learner has at most the eight devices of the first node.

{on_nodes}

{end}
"""


def table(rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], f"|{'---|' * len(rows[0])}", *lines[1:]])


def config_of(game: str) -> Any:
    config = compose("doctor", [f"game={game}", "seconds=2"])
    fit_to_game(config)
    return config


def rate(rate: Rate, learners: int | None = None) -> str:
    told = f"{rate.states:,.0f}, {rate.bound}"
    return told if learners is None else f"{rate.states:,.0f}, {learners} learn, {rate.bound}"


def piece_rows(found: dict[str, Pieces]) -> list[list[str]]:
    return [
        ["piece", *found],
        ["search, states/s", *(f"{p.search:,.0f}" for p in found.values())],
        ["states that a game asks for at a time", *(f"{p.rows:.1f}" for p in found.values())],
        ["states a sample", *(f"{p.states_a_sample:.1f}" for p in found.values())],
        ["states a game", *(f"{p.states_a_game:,.0f}" for p in found.values())],
        ["network, µs a batch", *(f"{1e6 * p.batch_seconds:,.0f}" for p in found.values())],
        ["network, µs a state", *(f"{1e6 * p.state_seconds:.1f}" for p in found.values())],
        ["learner, µs a sample", *(f"{1e6 * p.learn_seconds:.1f}" for p in found.values())],
        ["bytes a sample", *(f"{p.bytes_a_sample:.0f}" for p in found.values())],
        ["packed, copied, unpacked, MB/s", *(f"{p.copied / 1e6:,.0f}" for p in found.values())],
    ]


def check_row(game: str, pieces: Pieces, threads: int) -> list[str]:
    """The simulation that others disturbed least, of a few."""
    config = config_of(game)
    best = (float("inf"), 0.0, 0.0)
    for _ in range(6):
        device = TimedDevice(*(1e6 * seconds for seconds in DEVICE))
        play = self_play_of(config, make_game(**config.game), device, games_in_step=64,
                            groups=2, threads=threads)  # fmt: skip
        busy, own, started = busy_seconds(), time.process_time(), time.perf_counter()
        share = busy_share(play, device, 2.0)
        others = busy_seconds() - busy - (time.process_time() - own)
        others = max(0.0, others) / (time.perf_counter() - started)
        rows = play.rows / device.batches
        best = min(best, (others, share, share * rows / (DEVICE[0] + rows * DEVICE[1])))
    others, share, states = best
    told, busy_told, _ = player(pieces, 64, threads, 2, True)
    shares = [f"{busy_told:.1%}", f"{share:.1%}", f"{others:.1f}"]
    return [game, f"{told:,.0f}", f"{states:,.0f}", *shares]


def end(found: dict[str, Pieces]) -> str:
    """Where a full node of learners is the bound: states a second that it can take."""
    told = []
    for game, pieces in found.items():
        learned = 8 * pieces.states_a_sample / (pieces.uses * pieces.learn_seconds)
        one = player(pieces, 64, SEARCH_THREADS, 2, True)[0]
        told.append(f"{game} at {8 + learned / one:.0f} devices ({learned:,.0f} states/s)")
    return (
        "A full node of learners ends it: " + ", ".join(told) + ". Fewer uses of a sample "
        "(`replay.uses`) move the end in proportion; strength at equal time decides."
    )


def busy_seconds() -> float:
    """Of all processors so far, whoever used them; nothing where that is not told."""
    try:
        first = Path("/proc/stat").read_text().splitlines()[0]
    except OSError:
        return 0.0
    fields = [int(field) for field in first.split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / 100


def beside(cores: float, seconds: float) -> str:
    """A sentence about other processes, which only ever slow down."""
    used = max(0.0, cores / seconds)
    if used < 0.1:
        return "No other process was at work:"
    return f"Other processes took {used:.1f} cores meanwhile, so the rates are too low:"


def main(words: list[str]) -> int:
    if words not in ([], ["--print"]):
        print("Give nothing, or --print.", file=sys.stderr)
        return 2
    cores = look_at(configs_folder()).usable_cores
    threads = min(2, int(cores))
    busy, own, started = busy_seconds(), time.process_time(), time.perf_counter()
    on_cpu = {g: measure_pieces(config_of(g), make_game(**config_of(g).game))[0] for g in GAMES}
    others = busy_seconds() - busy - (time.process_time() - own)
    told = beside(others, time.perf_counter() - started)
    on_gpu = {
        game: replace(
            pieces, batch_seconds=DEVICE[0], state_seconds=DEVICE[1],
            learn_seconds=3 * (DEVICE[1] + DEVICE[0] / config_of(game).learn.batch_size),
        )
        for game, pieces in on_cpu.items()
    }  # fmt: skip
    one_core = {game: on_one_core(pieces, cores) for game, pieces in on_cpu.items()}
    text = TEXT.format(
        batch=1e6 * DEVICE[0], state=1e6 * DEVICE[1], cores=cores, threads=threads,
        uses=on_cpu[GAMES[0]].uses, others=told,
        pieces=table(piece_rows(on_cpu)),
        check=table([
            ["game", "model, states/s", "simulated", "busy, model", "busy, simulated",
             "cores taken by others"],
            *(check_row(game, on_gpu[game], threads) for game in GAMES),
        ]),
        on_cores=table([["cores", *GAMES], *(
            [str(n), *(rate(on_cores(p, n)) for p in one_core.values())] for n in CORES)]),
        on_devices=table([["devices", *GAMES], *(
            [str(n), *(rate(*on_devices(p, n)) for p in on_gpu.values())] for n in DEVICES)]),
        on_nodes=table([["nodes", *GAMES], *(
            [str(n), *(rate(*on_devices(p, 8, n, network_bytes=NETWORK)) for p in on_gpu.values())]
            for n in NODES)]),
        end=end(on_gpu),
    )  # fmt: skip
    if words:
        print(text)
    else:
        PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
