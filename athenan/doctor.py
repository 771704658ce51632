"""`athenan doctor`: what the machine has, what it lacks, and the layout that suits it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from athenan import machine
from athenan.arguments import parse, report
from athenan.backend import (
    NO_TENSORFLOW,
    cores,
    device_line,
    gpu_names,
    set_threads,
    unused_gpu,
)

if TYPE_CHECKING:
    from athenan.pieces import Pieces
    from athenan.scaling import Rate
    from athenan.settings import DoctorSettings

WIDTH = 80
LEFT = 11  # characters of a heading
LEAST_MEMORY, LEAST_DISK = 2e9, 1e9  # bytes


def doctor_command(words: list[str]) -> None:
    """athenan doctor [game=…] [network=…] [setting=value …] [games=10_000] [--json]

    What TensorFlow computes on and why not on more, versions, compiler, cores and memory that this
    process may use, disk, Ray; then the pieces of a run of the game, measured for a moment each,
    and the layout that they recommend with the rates to expect. The exit code is 0 also where
    something is missing: each thing has a sentence that begins with `!`.
    """
    from athenan.config import compose
    from athenan.implied import with_wider_searches
    from athenan.run import fit_to_game

    arguments = parse("doctor", words)
    given = arguments.settings
    config = compose(
        "doctor",
        with_wider_searches("doctor", given, given, arguments.sources),
        arguments.sources,
    )
    fit_to_game(config)
    doctor = Doctor(config)
    for part in (doctor.tell_machine, doctor.tell_packages, doctor.tell_devices):
        part()
    if machine.installed_tensorflow():
        doctor.tell_rates()
    report(arguments, doctor.lines(), doctor.figures)


class Doctor:
    """Notes lines under headings, sentences about what is wrong, and all figures."""

    def __init__(self, config: DoctorSettings) -> None:
        from athenan.games import make_game

        self.config = config
        self.game: Any = make_game(**config.game)
        self.machine = machine.look_at(Path(config.checkpoints))
        self.figures: dict[str, Any] = {}
        self.wrong: list[str] = []
        self._notes: list[tuple[str, str]] = []

    def note(self, heading: str, text: str) -> None:
        self._notes.append((heading, text))

    def lines(self) -> list[str]:
        found = []
        for heading, text in [*self._notes, *(("!", text) for text in self.wrong)]:
            space = " " * (2 if heading == "!" else LEFT)
            wrapped = textwrap.wrap(text, WIDTH - len(space), break_on_hyphens=False)
            found += [f"{heading:{len(space)}}{wrapped[0]}", *(space + row for row in wrapped[1:])]
        self.figures["wrong"] = self.wrong
        return found

    # ---- What there is ----

    def tell_machine(self) -> None:
        found = self.machine
        limit = f", {found.limited_cores:g} by its control group" if found.limited_cores else ""
        self.note("cores", f"{found.allowed_cores} of {found.cores} for this process{limit}")
        limit = f", {size(found.limited_memory)} by control group" if found.limited_memory else ""
        self.note("memory", f"{size(found.memory)}{limit}")
        self.note("disk", f"{size(found.disk)} free for '{self.config.checkpoints}'")
        compiler = machine.compiler()
        self.note("compiler", compiler or "none")
        self.figures["machine"] = {**vars(found), "compiler": compiler}
        if compiler is None:
            self.wrong.append("There is no C++20 compiler: install g++ 11 or clang 14, or newer.")
        if found.limited_cores and found.limited_cores < found.allowed_cores:
            self.wrong.append(
                f"The control group gives {found.limited_cores:g} cores where "
                f"{found.allowed_cores} seem free: set self_play.threads to no more."
            )
        if found.usable_memory < LEAST_MEMORY:
            self.wrong.append(f"{size(found.usable_memory)} of memory are too little to train.")
        if found.disk < LEAST_DISK:
            self.wrong.append(f"{size(found.disk)} of disk are too little for a run's checkpoints.")

    def tell_packages(self) -> None:
        from athenan import __version__

        extras = machine.packages()
        needed = extras.pop("", {})
        have = [f"{name} {version}" for name, version in needed.items() if version]
        self.note("versions", f"{machine.python()}, athenan {__version__}, {', '.join(have)}")
        for name, version in needed.items():
            if version is None:
                self.wrong.append(f"Package {name} is missing: ./scripts/setup installs it.")
        for extra, its in extras.items():
            missing = [name for name, version in its.items() if version is None]
            if missing and len(missing) < len(its):
                self.note("", f"extra {extra}: without {', '.join(missing)}")
        none = [extra for extra, its in extras.items() if not any(its.values())]
        if none:
            self.note("", f"extras not installed: {', '.join(none)}")
        self.figures["packages"] = {"athenan": {"athenan": __version__}, "needed": needed, **extras}

    def tell_devices(self) -> None:
        self.figures["ray"] = dict(zip(("version", "cluster"), machine.cluster(), strict=True))
        version, reachable = machine.cluster()
        address = machine.ray_address()
        where = f"cluster at {address}" if reachable else "no cluster"
        self.note("Ray", f"{version}, {where}" if version else "not installed (extra ray)")
        if address and not reachable:
            self.wrong.append(f"RAY_ADDRESS is '{address}', but nothing answers there.")
        if not machine.installed_tensorflow():
            self.note("computing", "TensorFlow is not installed")
            self.wrong.append(NO_TENSORFLOW)
            return

        self.note("computing", device_line())
        self.figures["devices"] = {"computing": device_line(), "gpus": gpu_names()}
        if not gpu_names() and (why := unused_gpu("TensorFlow")):
            self.wrong.append(f"{why.removeprefix('; ').capitalize()}.")

    # ---- What a run would do ----

    def tell_rates(self) -> None:
        from athenan.network import NetworkEvaluator, model_for
        from athenan.pieces import call_and_wait, flat_from, measure_pieces

        config, game, shape = self.config, self.game, self.game.plane_shape
        set_threads(cores())
        evaluator = NetworkEvaluator(model_for(config.network, game, 0))
        sizes = config.self_play.batch_sizes
        pieces, times = measure_pieces(config, game)
        best = max(of / took for of, took in zip(sizes, times, strict=True))
        weights = evaluator.model.count_params()
        board = f"{shape[0]}×{shape[1]}"
        self.note("game", f"{config.game['name']} {board}, a network of {weights:,} weights")
        flat = flat_from(sizes, times)
        self.note("network", f"{best:,.0f} states/s; batches of {flat:,} are nearly as fast")
        calls, waits = call_and_wait(evaluator, shape, sizes[-1])
        early = waits > calls
        told = "so self-play goes on meanwhile" if early else "so it is computed within the call"
        self.note(
            "",
            f"a call of {sizes[-1]:,} returns after {1e3 * calls:.1f} ms, its values come "
            f"{1e3 * waits:.1f} ms later: {told}",
        )
        self.note("search", f"{pieces.search:,.0f} states/s a thread with a network that takes no "
                  f"time; {pieces.states_a_sample:.1f} states a sample")  # fmt: skip
        self.note("learner", f"{1 / pieces.learn_seconds:,.0f} samples/s")
        self.figures |= {
            "pieces": vars(pieces),
            "network": {"sizes": sizes, "seconds": times, "flat_from": flat, "weights": weights},
            "asynchronous": {"call_seconds": calls, "wait_seconds": waits, "early": early},
        }
        gpus = len(gpu_names())
        if gpus:
            self.tell_options(sizes[-1])
        self.recommend(pieces, gpus)

    def tell_options(self, batch: int) -> None:
        """XLA and half precision, where there is a device to choose them for."""
        found = compare_options(self.config, self.game, batch)
        usual = found["float32"]
        text = ", ".join(f"{name} {usual / took:.2f}×" for name, took in found.items())
        self.note("compiled", f"batches of {batch:,}, rate against float32: {text}")
        self.figures["options"] = found
        best = min(found, key=lambda name: found[name])
        if found[best] < 0.9 * usual:
            words = {"xla": "learn.xla=true", "mixed_float16": "learn.mixed_precision=true"}
            self.note("", f"take {' '.join(words[name] for name in best.split('+'))}")

    def recommend(self, pieces: Pieces, gpus: int) -> None:
        from athenan.config import group_files

        rates = dict(layouts(pieces, int(self.machine.usable_cores), gpus))
        there = {name: rate for name, rate in rates.items() if name in group_files("layout")}
        rows = [f"{name}: {rate_text(rate, self.config.games)}" for name, rate in there.items()]
        for i, row in enumerate(rows):
            self.note("" if i else "layouts", row)
        best = max(there, key=lambda name: there[name].states)
        if best not in ("inline", "gpu") and not machine.cluster()[0]:
            self.wrong.append(f"layout={best} needs Ray: ./scripts/setup ray installs it.")
        own = f" self_play.threads={max(1, int(self.machine.usable_cores))}"
        name = self.config.game["name"]
        words = f"game={name} layout={best}{own if best == 'inline' else ''}"
        self.note("advice", f"athenan train {words}")
        if not pieces.games_ended:
            self.note("", "no game ended in the moment: their length is that of random ones")
        self.figures["layouts"] = {name: vars(rate) for name, rate in there.items()}
        self.figures["recommended"] = best


def size(bytes_: float | None) -> str:
    return f"{(bytes_ or 0) / 1e9:.1f} GB"


def rate_text(rate: Rate, games: int) -> str:
    return (
        f"{rate.states:,.0f} states/s, {rate.samples:,.0f} samples/s, {games:,} games in "
        f"{rate.hours(games):.2g} hours; bound by the {rate.bound}"
    )


def layouts(pieces: Pieces, cores: int, gpus: int) -> Iterator[tuple[str, Rate]]:
    """The layouts that this machine could have, by their names in configs/layout."""
    from athenan.scaling import on_cores, on_devices, on_one_core, one_process

    if not gpus:
        yield "inline", one_process(pieces, 256, cores)
        if cores > 2:
            yield "cpu", on_cores(on_one_core(pieces, cores), cores)
        return
    yield "inline", one_process(pieces, 256, cores, 1, True)
    yield "gpu", one_process(pieces, 256, max(1, cores - 1), 2, True)
    if gpus > 1:
        threads = max(1, min(4, cores // gpus))
        yield "node_adastra", on_devices(pieces, gpus, threads=threads)[0]


def compare_options(config: DoctorSettings, game: Any, batch: int) -> dict[str, float]:
    """Seconds of a batch with and without XLA, in single and in half precision."""
    from athenan.backend import keras
    from athenan.network import NetworkEvaluator, model_for
    from athenan.pieces import measure_network

    found = {}
    policy = keras().mixed_precision.global_policy().name
    for precision in ("float32", "mixed_float16"):
        keras().mixed_precision.set_global_policy(precision)
        try:
            model = model_for(config.network, game, 0)
        finally:
            keras().mixed_precision.set_global_policy(policy)
        for xla in (False, True):
            words = [precision] * (precision != "float32") + ["xla"] * xla
            evaluator = NetworkEvaluator(model, xla)
            (took,) = measure_network(evaluator, game.plane_shape, [batch], config.seconds / 4)
            found["+".join(words) or "float32"] = took
    return found
