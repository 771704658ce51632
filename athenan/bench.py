"""Where time goes: the rules, the search, self-play against the network's own speed, and the
network in each format."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from athenan import _core
from athenan.backend import cores, set_threads
from athenan.checkpoint import runs_of
from athenan.config import compose
from athenan.errors import Failed, InputError
from athenan.evaluators import find_evaluator
from athenan.games import configs_folder, make_game
from athenan.peers import open_spiel_game, open_spiel_rollout_rate, open_spiel_search_rate
from athenan.run import fit_heuristic
from athenan.search import Evaluate, drive, make_core_search
from athenan.settings import BenchSettings

Report = tuple[list[str], dict[str, Any]]


def millions(rate: float | None) -> str:
    return "-" if rate is None else f"{rate / 1e6:.2f} M/s"


def ratio(ours: float, theirs: float | None) -> str:
    return "-" if not theirs else f"{ours / theirs:.1f}×"


def best_rate(measure: Callable[[], tuple[float, float]], repeats: int) -> float:
    """The best of several (work, seconds): the machine's noise only ever slows down."""
    return max(work / seconds for work, seconds in (measure() for _ in range(repeats)))


def rules(settings: list[str]) -> Report:
    """Child states by expansion and states by random playout, a second on one thread."""
    from athenan.table import table

    every = "game=all" in settings
    settings = [s for s in settings if s != "game=all"]
    names = (
        [p.stem for p in sorted((configs_folder() / "game").glob("*.yaml"))] if every else [None]
    )
    rows = [["game", "children", "playouts", "bytes", "lines", "OpenSpiel playouts", "ratio"]]
    figures = []
    for name in names:
        config = compose("bench", [*settings, f"game={name}"] if name else settings)
        game = make_game(**config.game)
        each = config.seconds / config.repeats if every else config.seconds
        children = best_rate(partial(game.expansion_rate, each), config.repeats)
        playouts = best_rate(partial(game.playout_rate, each), config.repeats)
        peer = open_spiel_game(config.game) if config.peers else None
        theirs = open_spiel_rollout_rate(peer, each, config.repeats) if peer else None
        title = " ".join(str(v) for v in config.game.values())
        rows.append(
            [
                title,
                millions(children),
                millions(playouts),
                str(game.state_bytes),
                rules_lines(game.name),
                millions(theirs),
                ratio(playouts, theirs),
            ]
        )
        figures.append(
            {
                "game": config.game,
                "children_per_second": children,
                "playout_states_per_second": playouts,
                "state_bytes": game.state_bytes,
                "open_spiel_playout_states_per_second": theirs,
            }
        )
    return table(rows), {"rules": figures}


def rules_lines(name: str) -> str:
    """Lines of the rules file, where the repository is at hand."""
    path = configs_folder().parent / "games" / f"{name}.cpp"
    return str(len(path.read_text().splitlines())) if path.exists() else "-"


def opening_states(game: _core.Game, number: int) -> list[_core.State]:
    """Different states near the start, one for each game in step."""
    random = np.random.default_rng(0)
    states: list[_core.State] = []
    while len(states) < number:
        state = game.initial_state()
        for _ in range(len(states) % 4):
            if not state.is_terminal:
                state = state.play(int(random.choice(state.legal_actions())))
        states.append(game.initial_state() if state.is_terminal else state)
    return states


def search_rate(config: BenchSettings, threads: int) -> tuple[float, dict[str, int]]:
    """Child states a second, and the largest tree's counts."""
    game = make_game(**config.game)
    runs = runs_of(Path(config.checkpoints), config.game["name"])
    evaluator = find_evaluator(config.evaluator or "hash", game, runs, trust=config.trust)
    fit_heuristic(config.heuristic, game)
    states = opening_states(game, config.games)
    best, counts = 0.0, {"bytes": 0, "edges": 1, "states": 1}
    searches = [
        make_core_search(
            config.search, game, evaluator, seed=i, heuristic=config.heuristic.name,
            longest=config.heuristic.longest,
        )
        for i in range(config.games)
    ]  # fmt: skip
    unbounded = all(isinstance(one, _core.UnboundedSearch) for one in searches)
    group = _core.SearchGroup(searches, config.self_play.batch_sizes, threads)
    for _ in range(config.repeats):
        for one in searches:
            one.clear()
        children, started = 0, time.perf_counter()
        # Slices, so that the games advance in step as they do when a network answers.
        while time.perf_counter() - started < config.seconds:
            for i, state in enumerate(states):
                if not unbounded:  # what it has found out would answer at once
                    searches[i].clear()
                group.start(i, state, evaluations=50_000)
            drive(group, evaluator)
            children += sum(s.counts["children"] for s in searches)
        best = max(best, children / (time.perf_counter() - started))
        largest = max(searches, key=lambda s: s.counts["states"]).counts
        if largest["bytes"] > counts["bytes"]:
            counts = largest
    return best, counts


def search(settings: list[str]) -> Report:
    """The search by itself: the hash evaluator answers at once, unless another is given."""
    config = compose("bench", settings)
    one, counts = search_rate(config, 1)
    bytes_a_child = counts["bytes"] / (counts["edges"] or counts["states"])
    lines = [
        f"{config.search['name']} on {' '.join(str(v) for v in config.game.values())}, "
        f"{config.games} games in step, {config.evaluator or 'hash'} evaluator",
        f"1 thread   {millions(one)} child states",
    ]
    figures: dict[str, Any] = {
        "game": config.game,
        "children_per_second": one,
        "bytes_per_child_state": bytes_a_child,
    }
    if config.threads > 1:
        many, _ = search_rate(config, config.threads)
        lines.append(f"{config.threads} threads  {millions(many)} child states, {many / one:.2f}×")
        figures |= {"threads": config.threads, "children_per_second_threads": many}
    lines.append(
        f"{bytes_a_child:.1f} bytes a child state "
        f"({counts['states']} states, {counts['edges']} edges in the largest tree)"
    )
    peer = open_spiel_game(config.game) if config.peers else None
    if peer:
        theirs = open_spiel_search_rate(peer, config.seconds)
        lines.append(f"OpenSpiel's MCTS {millions(theirs)} states, ratio {ratio(one, theirs)}")
        figures["open_spiel_mcts_states_per_second"] = theirs
    return lines, figures


def selfplay(settings: list[str]) -> Report:
    """Self-play with a network against the network alone, turn about in the same run."""
    from athenan.network import model_for, rate_alone
    from athenan.playing_network import LitePlayer, Ranges, make_playing, needs_ranges
    from athenan.self_play import SelfPlay

    config = compose("bench", settings)
    game = make_game(**config.game)
    evaluator: Evaluate
    if config.evaluator:
        runs = runs_of(Path(config.checkpoints), config.game["name"])
        found = find_evaluator(config.evaluator, game, runs, trust=config.trust)
        if isinstance(found, str):
            raise InputError(f"Evaluator '{found}' has no rate of its own to compare with.")
        evaluator, title = found, f"evaluator {config.evaluator}"
    else:
        set_threads(cores())
        model = model_for(config.network, game, 0)
        evaluator = make_playing(config.network, config.self_play, game, 0)
        title = f"network of {model.count_params():,} weights"
        if isinstance(evaluator, LitePlayer):
            ranges = [Ranges(model, game)(np.zeros(0))] if needs_ranges(config.self_play) else []
            evaluator.assign([*(weight.numpy() for weight in model.weights), *ranges])
            title += f", {config.self_play.runtime}"
    self_play = SelfPlay(
        game, evaluator, config.search, config.heuristic, config.self_play, config.exploration,
        seed=0,
    )  # fmt: skip
    sizes = config.self_play.batch_sizes
    for _ in range(3):
        self_play.play_batch()
    network, playing, padded, valued = 0.0, 0.0, 0.0, 0.0
    for _ in range(config.repeats):
        network = max(network, rate_alone(evaluator, game, sizes, config.seconds / 4))
        rows, padded_rows, before = self_play.rows, self_play.padded_rows, self_play.valued
        started = time.perf_counter()
        while (seconds := time.perf_counter() - started) < config.seconds:
            self_play.play_batch()
        playing = max(playing, (self_play.rows - rows) / seconds)
        padded = max(padded, (self_play.padded_rows - padded_rows) / seconds)
        valued = max(valued, (self_play.valued - before) / seconds)
    asked = "the children of states" if self_play.in_core else f"batches of {sizes}"
    lines = [
        f"{config.search['name']} on {' '.join(str(v) for v in config.game.values())}, "
        f"{len(self_play.games)} games in step, "
        f"{title}",
        f"self-play        {playing:10,.0f} states/s evaluated ({padded:,.0f} with padding)",
        f"network's best   {network:10,.0f} states/s over {asked}",
        f"ratio            {playing / network:10.2f}",
    ]
    figures = {
        "game": config.game,
        "evaluator": title,
        "self_play_states_per_second": playing,
        "network_best_states_per_second": network,
        "ratio": playing / network,
    }
    if self_play.of_children:
        lines.append(f"children         {valued:10,.0f} values/s, all of a state in one evaluation")
        figures["child_values_per_second"] = valued
    return lines, figures


def device(settings: list[str]) -> Report:
    """How busy self-play keeps a device, with one group of games and with two; turn about."""
    from athenan.device import TimedDevice, busy_share
    from athenan.self_play import SelfPlay

    config = compose("bench", settings)
    game = make_game(**config.game)
    batch, state = config.device_batch_microseconds, config.device_state_microseconds
    shares = {1: 0.0, 2: 0.0}
    rows = dict.fromkeys(shares, 0.0)
    for _ in range(config.repeats):
        for groups in shares:
            made = TimedDevice(batch, state)
            self_play = SelfPlay(
                game, made, config.search, config.heuristic,
                replace(config.self_play, groups=groups), config.exploration, seed=0,
            )  # fmt: skip
            share = busy_share(self_play, made, config.seconds)
            if share > shares[groups]:
                shares[groups], rows[groups] = share, self_play.rows / made.batches
    lines = [
        f"{config.search['name']} on {' '.join(str(v) for v in config.game.values())}, "
        f"{config.self_play.games_in_step} games in step, {config.self_play.threads} threads, "
        f"a device of {batch:g} µs a batch and {state:g} µs a state",
        *(f"{groups} group{'s' * (groups > 1):1}  busy {share:6.1%}, {rows[groups]:.0f} states a "
          "batch" for groups, share in shares.items()),
    ]  # fmt: skip
    figures = {
        "game": config.game,
        "busy_share": {str(groups): share for groups, share in shares.items()},
        "states_per_batch": {str(groups): mean for groups, mean in rows.items()},
    }
    return lines, figures


def evaluator(settings: list[str]) -> Report:
    """A network's formats beside TensorFlow as the trainer calls it. How many threads TensorFlow
    has is settled when it starts, so each number of threads is measured in a process of its own."""
    from athenan.export.writing import check_formats, write_networks
    from athenan.table import table

    config = compose("bench", settings)
    formats = config.formats
    check_formats(formats)
    named = any(setting.startswith("game=") for setting in settings)
    game, model, samples, kind = network_to_measure(config, named)
    numbers = sorted({1, config.threads})
    with tempfile.TemporaryDirectory(prefix="athenan-") as folder:
        write_networks(Path(folder), model, [*formats, TRAINER], samples)
        names = [TRAINER, *(name for name in formats if name != TRAINER)]
        job = {
            "folder": folder,
            "names": names,
            "shape": list(game.plane_shape),
            "batches": config.batches,
            "seconds": config.seconds / 5,
            "repeats": config.repeats,
        }
        found = {threads: measured_apart({**job, "threads": threads}) for threads in numbers}
    rows = [["format", "threads", *(f"batch {size:,}" for size in config.batches)]]
    for threads in numbers:
        base = found[threads][TRAINER]
        for name in names:
            rates = zip(found[threads][name], base, strict=True)
            cells = [f"{rate:9,.0f} {ratio(rate, ours):>6}" for rate, ours in rates]
            rows.append([LABELS.get(name, name), str(threads), *cells])
    title = " ".join(str(v) for v in [game.name, *game.plane_shape])
    lines = [
        f"{title}, network of {model.count_params():,} weights; states a second, and how many "
        "times the trainer's TensorFlow",
        *table(rows),
    ]
    if kind == "nnue":
        inside = max(inside_rate(model, game, config.seconds / 5) for _ in range(config.repeats))
        lines.append(f"in the core, 1 thread, children of states: {inside:,.0f} states a second")
    figures = {
        "game": game.name,
        "weights": model.count_params(),
        "batches": config.batches,
        "states_per_second": {
            str(threads): {LABELS.get(name, name): rates for name, rates in of.items()}
            for threads, of in found.items()
        },
    }
    if kind == "nnue":
        figures["states_per_second_in_the_core"] = inside
    return lines, figures


# Keras as the trainer calls it: what the other formats are compared with.
TRAINER = "keras"
LABELS = {TRAINER: "tensorflow"}


def inside_rate(model: Any, game: _core.Game, seconds: float) -> float:
    """Of a network that the core computes."""
    from athenan.network import make_evaluator, rate_alone

    return rate_alone(make_evaluator("nnue", model), game, [], seconds)


def network_to_measure(config: BenchSettings, named: bool) -> tuple[_core.Game, Any, Any, str]:
    """(game, model, states for int8, kind) of a checkpoint, or of the config with new weights."""
    from athenan.checkpoint import find_step
    from athenan.evaluators import CheckpointEvaluator
    from athenan.export.writing import calibration_states, played_states
    from athenan.network import NetworkEvaluator, model_for

    if config.checkpoint:
        name = config.game["name"] if named else None
        step = find_step(config.checkpoint, Path(config.checkpoints), name)
        if named:
            make_game(**config.game)  # imports the user's own, which the checkpoint may then name
        trained = CheckpointEvaluator(step, config.trust)
        kind = trained.config.network.kind
        return trained.game, trained.model, calibration_states(trained, 512)[0], kind
    game = make_game(**config.game)
    model = model_for(config.network, game, 0)
    kind = config.network.kind
    new = NetworkEvaluator(model, of_children=kind == "children")
    states, _ = played_states(game, new, 256, seed=0)
    return game, model, states, kind


def measured_apart(job: dict[str, Any]) -> dict[str, list[float]]:
    code = "import sys; from athenan.bench import measure_formats; measure_formats(sys.argv[1])"
    run = subprocess.run(
        [sys.executable, "-c", code, json.dumps(job)], capture_output=True, text=True, check=False
    )
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no word why"])[-1]
        raise Failed(f"Measuring with {job['threads']} threads failed: {last}")
    found: dict[str, list[float]] = json.loads(run.stdout.splitlines()[-1])
    return found


def measure_formats(text: str) -> None:
    """The best rate of each format at each batch size; all take turns, so that the machine's noise
    is shared."""
    from athenan.export.runtimes import load_network
    from athenan.network import best_rate

    job = json.loads(text)
    set_threads(job["threads"])
    folder = Path(job["folder"])
    networks = {name: load_network(name, folder, job["threads"]) for name in job["names"]}
    found = {name: [0.0] * len(job["batches"]) for name in networks}
    for _ in range(job["repeats"]):
        for place, size in enumerate(job["batches"]):
            for name, network in networks.items():
                rate = best_rate(network, tuple(job["shape"]), [size], job["seconds"])
                found[name][place] = max(found[name][place], rate)
    print(json.dumps(found), flush=True)


KINDS: dict[str, Callable[[list[str]], Report]] = {
    "rules": rules,
    "search": search,
    "selfplay": selfplay,
    "evaluator": evaluator,
    "device": device,
}
