"""Training: self-play and learning take turns; checkpoints, strength and reports between them."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from athenan import _core, checkpoint
from athenan.backend import keras, tensorflow
from athenan.config import plain
from athenan.errors import InputError, nearest
from athenan.evaluators import set_weights
from athenan.games import make_game
from athenan.learner import Diverged, Learner
from athenan.network import NetworkEvaluator, best_rate, make_model
from athenan.picture import game_image
from athenan.progress import duration
from athenan.replay import Replay
from athenan.replay_files import ReplayFiles
from athenan.reports import Reports, strength_table
from athenan.run import new_run, resumed_config, write_config
from athenan.search import core_game, search_settings
from athenan.self_play import GameRecord, SelfPlay
from athenan.strength import Strength


class Trainer:
    """One run in its folder; `run()` goes on until the limits of the config are reached."""

    def __init__(self, config: Any, folder: Path) -> None:
        self.config, self.folder = config, folder
        check_limits(config)
        set_up_tensorflow(config)
        self.game = core_game(make_game(**config.game))
        if self.game.num_players != 2:
            raise InputError(
                f"Training is for two players; game '{self.game.name}' has {self.game.num_players}."
            )
        self.model = make_model(
            config.network, self.game.plane_shape, self.game.num_players, config.seed
        )
        self.evaluator = NetworkEvaluator(self.model)
        self.learner = Learner(self.model, config.learn, self.game.symmetries, config.seed)
        self.replay = Replay(config.replay, config.seed)
        self.memory = _core.ResolvedMemory(config.resolved.states)
        self.games = 0
        self.earlier_seconds = 0.0  # of the run, before this process
        self.replay_files = ReplayFiles(folder)
        self.strength = Strength(config, self.game, folder)
        self.last_step: Path | None = None
        self.self_play = self._make_self_play()
        self.reports = Reports(folder, (folder / "config.yaml").read_text())

    def _make_self_play(self) -> SelfPlay:
        config = self.config
        return SelfPlay(
            self.game,
            self.evaluator,
            search_settings(config),
            config.self_play,
            config.exploration,
            config.seed,
            self.memory if config.resolved.states else None,
            first_game=self.games,
        )

    # ---- The loop ---------------------------------------------------------------------

    def run(self) -> None:
        reports = self.reports
        if self.last_step is None:
            reports.hparams(plain(self.config))
            self._first_fit()
            self._save()
        next_checkpoint = self._next_checkpoint()
        try:
            while True:
                with self._timed("self_play"):
                    records = self.self_play.play_batch()
                for record in records:
                    self._learn_from(record)
                    self._clear_memory_when_due()
                self._report(next_checkpoint)
                if self.games < next_checkpoint and not self._finished():
                    continue
                self.self_play.hold()  # the searches under way end first
                if self.self_play.searching == 0:
                    finished = self._finished()
                    self._save()
                    self._measure_strength(last=finished)
                    if finished:
                        break
                    next_checkpoint = self._next_checkpoint()
                    self.self_play.hold(False)
        except KeyboardInterrupt:
            reports.say(f"stopped; the last checkpoint is {self.last_step}")
        except Diverged as error:
            reports.say(f"{error} The last good checkpoint is {self.last_step}.")
            raise
        finally:
            reports.progress.__exit__(None, None, None)
        self._page()  # the last one, and the only one of a short run
        self._final_report()
        reports.close()

    def _learn_from(self, record: GameRecord) -> None:
        self.games += 1
        self.self_play.progress = self._progress()
        every = self.config.learn.held_out_every
        if every and record.number % every == every - 1:
            with self._timed("learning"):
                error = self.learner.error(record.planes, record.values, self.evaluator)
            self.reports.held_out(record, error)
            return
        self.replay_files.new_games.append(record)
        with self._timed("learning"):
            self.replay.add(record.number, record.planes, record.values)
            self.learner.set_progress(self.self_play.progress)
            learned = self.learner.learn(*self.replay.draw())
        self.reports.game(record, learned)

    def _clear_memory_when_due(self) -> None:
        every = self.config.resolved.clear_every_games
        if every and self.games % every == 0:
            self.memory.clear()

    def _first_fit(self) -> None:
        """On the last states of random games, so that f_θ knows what an end looks like."""
        config = self.config
        if not config.learn.first_fit_states:
            return
        with self._timed("learning"):
            planes, values = _core.ending_samples(
                self.game,
                config.learn.first_fit_states,
                config.heuristic.name,
                config.heuristic.longest,
                config.seed,
            )
            learned: dict[str, Any] = {}
            for _ in range(config.learn.first_fit_epochs):
                learned = self.learner.learn(planes, values) or learned
            self.learner.drop_waiting()
        if learned:
            self.reports.say(
                f"first fit on {len(values)} ends of random games, error {learned['error']:.4f}"
            )

    # ---- Time and limits --------------------------------------------------------------

    @contextmanager
    def _timed(self, what: str) -> Any:
        started = time.monotonic()
        try:
            yield
        finally:
            self.reports.seconds[what] += time.monotonic() - started

    @property
    def elapsed(self) -> float:
        return self.earlier_seconds + sum(self.reports.seconds.values())

    def _finished(self) -> bool:
        config = self.config
        return bool(
            (config.games and self.games >= config.games)
            or (config.minutes and self.elapsed >= 60 * config.minutes)
        )

    def _progress(self) -> float:
        config = self.config
        by_games = self.games / config.games if config.games else 0.0
        by_time = self.elapsed / (60 * config.minutes) if config.minutes else 0.0
        return min(1.0, max(by_games, by_time))

    def _next_checkpoint(self) -> int:
        every: int = self.config.checkpoint.every_games
        following = (self.games // every + 1) * every
        return min(following, self.config.games) if self.config.games else following

    # ---- Saving and going on ----------------------------------------------------------

    def _save(self) -> None:
        with self._timed("checkpoints"):
            self.learner.drop_waiting()
            replay_files = self.replay_files.write(self.replay, self.games)
            games_under_way, trees = self.self_play.save()
            self.last_step = checkpoint.write_checkpoint(
                self.folder,
                self.games,
                {
                    "trees": trees,
                    "weights": [v.numpy() for v in self.model.weights],
                    "optimizer": [v.numpy() for v in self.learner.optimizer.variables],
                    "resolved": list(self.memory.arrays()),
                },
                {
                    "games": self.games,
                    "next_game": self.self_play.next_game,
                    "games_under_way": games_under_way,
                    "steps": self.learner.steps,
                    "samples": self.learner.samples,
                    "replay_steps": self.replay.steps,
                    "seconds": self.elapsed,
                    "replay": [[g.number, g.steps] for g in self.replay.games],
                    "replay_files": replay_files,
                    "best": self.strength.best,
                },
            )
            best = self.strength.best
            checkpoint.keep_newest(
                self.folder, self.config.checkpoint.keep, best["step"] if best else None
            )
            self.replay_files.delete_old()

    def resume(self, step: Path) -> None:
        """Takes up where the checkpoint was written."""
        state = checkpoint.read_state(step)
        if state["version"] != checkpoint.VERSION:
            raise InputError(
                f"Checkpoint '{step}' is of an older version; a new run takes its weights by "
                f"fork={step}."
            )
        set_weights(self.model, checkpoint.load_arrays(step / "weights.npz"), step)
        variables = self.learner.optimizer.variables
        for variable, array in zip(
            variables, checkpoint.load_arrays(step / "optimizer.npz"), strict=True
        ):
            variable.assign(array)
        self.learner.optimizer.learning_rate.assign(self.config.learn.learning_rate)
        self.memory.fill(*checkpoint.load_arrays(step / "resolved.npz"))
        self.games, self.learner.steps = state["games"], state["steps"]
        self.learner.samples = state["samples"]
        self.replay.steps = state["replay_steps"]
        self.earlier_seconds = state["seconds"]
        self.strength.restore(state["best"])
        self.last_step = step
        self.replay_files.read(
            self.replay, state["replay_files"], dict(map(tuple, state["replay"]))
        )
        self.self_play.next_game = state["next_game"]
        self.self_play.progress = self._progress()
        self.self_play.restore(state["games_under_way"], checkpoint.load_arrays(step / "trees.npz"))

    # ---- Strength and reports ---------------------------------------------------------

    def _measure_strength(self, last: bool) -> None:
        spent = self.reports.seconds["matches"]
        if not self.strength.due(self.games, self.elapsed, spent, last):
            return
        with self._timed("matches"):
            self.strength.measure(self.evaluator, self.games, self.reports)
            self.reports.network_rate = best_rate(
                self.evaluator,
                self.game.plane_shape,
                list(self.config.self_play.batch_sizes),
                seconds=0.15,
            )
        self.strength.cost = self.reports.seconds["matches"] - spent

    def _report(self, next_checkpoint: int) -> None:
        reports = self.reports
        left = self._time_left()
        reports.progress.show(
            reports.live_line(
                self.games, self.learner.samples, left, max(0, next_checkpoint - self.games)
            )
        )
        if reports.due():
            self._page()

    def _page(self) -> None:
        facts = {
            "progress/games": float(self.games),
            "progress/steps": float(self.learner.steps),
            "progress/samples": float(self.learner.samples),
            "progress/minutes": self.elapsed / 60,
            "replay/states": float(len(self.replay)),
            "replay/megabytes": self.replay.bytes / 1e6,
            "search/remembered_proofs": float(len(self.memory)),
            "exploration/exploitation": self._exploitation(),
            "loss/learning_rate": float(self.learner.optimizer.learning_rate.numpy()),
            "speed/resident_megabytes": resident_megabytes(),
        }
        self.reports.page(self.games, facts, self.self_play.rows, self._picture())

    def _exploitation(self) -> float:
        schedule = self.config.exploration.schedule
        if schedule == "annealed":
            return self._progress()
        return 0.5 if schedule == "uniform" else float(self.config.exploration.exploitation)

    def _time_left(self) -> str:
        config, progress = self.config, self._progress()
        if config.minutes and (not config.games or progress == 0):
            return duration(max(0.0, 60 * config.minutes - self.elapsed))
        return duration(self.elapsed / progress - self.elapsed) if progress > 0 else "?"

    def _picture(self) -> Any | None:
        """The last board of a recent game with the search's values along it."""
        if not self.reports.recent:
            return None
        record = self.reports.recent[-1]
        state = self.game.initial_state()
        words = []
        for action, value in zip(record.actions, record.root_values, strict=True):
            words.append(f"{state.action_to_string(action)} {value:+.2f}")
            state = state.play(action)
        lines = ["  ".join(words[i : i + 4]) for i in range(0, len(words), 4)]
        return game_image(f"game {record.number}\n{state}", "\n".join(lines), record.root_values)

    def _final_report(self) -> None:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in self.reports.shares().items())
        run = self.folder
        lines = [
            "",
            f"{self.games} games, {self.learner.samples:,} samples learned, "
            f"{duration(self.elapsed)}; time: {shares}",
        ]
        if self.reports.rates:
            rate, best = np.mean(self.reports.rates, axis=0)
            ratio = np.mean([playing / network for playing, network in self.reports.rates])
            lines.append(
                f"self-play evaluated {rate:,.0f} states/s on average, "
                f"{ratio:.2f} of the network's best ({best:,.0f})"
            )
        lines += strength_table(self.reports.strength)
        lines += [
            f"checkpoint: {self.last_step}",
            "go on with:",
            f"  athenan train resume={run} minutes={2 * (self.config.minutes or 10):g}",
            f"  tensorboard --logdir {run}",
            f"  athenan match {game_words(self.config)} first.checkpoint={run}",
            f"  athenan play {game_words(self.config)} checkpoint={run}",
        ]
        text = "\n".join(lines)
        (run / "report.txt").write_text(text.lstrip() + "\n")
        self.reports.log.write(text + "\n")
        print(text, flush=True)


def game_words(config: Any) -> str:
    """The overrides that name the run's game."""
    options = plain(config.game)
    words = [f"game={options['name']}"]
    words += [f"game.{key}={value}" for key, value in options.items() if key != "name"]
    words = [word.replace(" ", "") for word in words]  # of lists
    return " ".join(words)


def check_limits(config: Any) -> None:
    for name in ("minutes", "games"):
        if config[name] is not None and not config[name] > 0:
            raise InputError(f"Setting '{name}' must be positive, not {config[name]}.")
    for group, name in (("learn", "first_fit_states"), ("learn", "first_fit_epochs"),
                        ("resolved", "states"), ("resolved", "clear_every_games")):  # fmt: skip
        if config[group][name] < 0:
            raise InputError(f"Setting '{group}.{name}' must not be negative.")
    strength = config.strength
    if strength.every_checkpoints and strength.best_by not in strength.references:
        raise InputError(
            f"Setting 'strength.best_by' names no reference: '{strength.best_by}'"
            f"{nearest(strength.best_by, strength.references)}"
        )
    if config.checkpoint.every_games < 1:
        raise InputError("Setting 'checkpoint.every_games' must be positive.")
    if config.layout.name != "inline":
        raise InputError(f"There is no layout '{config.layout.name}' yet; take layout=inline.")


def set_up_tensorflow(config: Any) -> None:
    tf = tensorflow()
    if config.deterministic:
        tf.config.experimental.enable_op_determinism()
    keras().utils.set_random_seed(config.seed)
    half = config.learn.mixed_precision and bool(tf.config.list_physical_devices("GPU"))
    keras().mixed_precision.set_global_policy("mixed_float16" if half else "float32")


def resident_megabytes() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def train(config: Any, overrides: list[str]) -> Path:
    """A new run, a fork or a resumed one; returns its folder."""
    if config.resume:
        game = config.game.name if any(o.startswith("game=") for o in overrides) else None
        run = checkpoint.find_run(config.resume, Path(config.checkpoints), game)
        steps = checkpoint.steps_of(run)
        if not steps:
            raise InputError(f"Run '{run}' has no checkpoint yet.")
        if config.resume == "latest":  # the game only told which run it is
            overrides = [o for o in overrides if not o.startswith("game=")]
        config, changed = resumed_config(run, overrides)
        trainer = Trainer(config, run)
        trainer.resume(steps[-1])
        trainer.reports.say(f"going on from {steps[-1]}")
        for text in changed:
            trainer.reports.say(f"changed {text}")
        if changed:
            write_config(config, run)
    else:
        source = None
        if config.fork:
            source = checkpoint.find_step(config.fork, Path(config.checkpoints))
            checkpoint.read_state(source)
            weights = checkpoint.load_arrays(source / "weights.npz")
        run = new_run(config)
        try:
            trainer = Trainer(config, run)
            if source is not None:
                set_weights(trainer.model, weights, source)
                trainer.reports.say(f"weights of {source}")
        except InputError:
            shutil.rmtree(run)
            raise
    trainer.run()
    return run
