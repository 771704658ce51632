"""Training: actors play, replay draws, the learner learns; reports only listen."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from athenan.actors import ActorsGone
from athenan.checkpoint import keep_newest, write_checkpoint
from athenan.errors import Failed, InputError
from athenan.files import reason
from athenan.learner import Diverged
from athenan.parts import Parts, make_parts
from athenan.records import GameRecord
from athenan.reports import Callbacks, Reports
from athenan.settings import TrainSettings
from athenan.stopping import EXIT_CODES, Stop, Stopped


def train(config: TrainSettings, overrides: list[str], callbacks: Callbacks | None = None) -> Path:
    """A new run, a fork or a resumed one; returns its folder. Asked to stop, it saves and raises
    Stopped."""
    stop = Stop()
    with stop.watching():
        parts = make_parts(config, overrides)
        reports = parts.reports
        reports.callbacks = callbacks or reports.callbacks
        if reports.told_the_end(parts.step):
            parts.close()
            return parts.run
        gone = 0
        try:
            with reports.progress:
                ended = run(parts, stop)
        except Diverged as error:
            reports.say(f"{error} The last good checkpoint is {parts.step}.")
            raise
        except ActorsGone as error:
            reports.say(str(error))
            save(parts)
            ended, gone = False, EXIT_CODES[signal.SIGTERM]
        except KeyboardInterrupt:
            ended = False
        finally:
            reports.tell_news()
            parts.close()
        reports.end(parts.step, ended)
    if parts.unsaved:
        raise Failed(f"The last checkpoint was not written: {parts.unsaved}.")
    if not ended:
        raise Stopped(f"stopped; the last checkpoint is {parts.step}", gone or stop.code or 130)
    return parts.run


def run(parts: Parts, stop: Stop) -> bool:
    """The loop, until the limits of the config are reached; false where it was stopped before."""
    actors, learner, clock, reports = parts.actors, parts.learner, parts.clock, parts.reports
    if parts.step is None:
        reports.begin()
        with stop.at_once(), clock.stage("learning"):
            reports.first_fit(learner.first_fit(parts.game, parts.config.heuristic))
        if stop:
            return False
        save(parts)
        measure_strength(parts, stop)
    elif clock.finished(actors.games):  # but it did not come to its end
        measure_strength(parts, stop, last=True)
        return not stop
    games = actors.games
    next_checkpoint = clock.next_checkpoint(games)
    publish(games, parts)
    while True:
        with clock.stage("self_play"):
            records = actors.collect()
        for record in records:
            games += 1  # learned from or held out
            learn_from(record, clock.progress(games), parts)
        if records:
            publish(games, parts)
        reports.tick(next_checkpoint)
        due = games >= next_checkpoint or actors.full or clock.finished(games)
        asked = bool(stop) or clock.checkpoint_due  # outside the schedule
        if asked and not due and actors.can_be_saved:
            save(parts)
            if stop:
                return False
            asked = False
        if not (asked or due):
            measure_strength(parts, stop, at_checkpoint=False)
            continue
        # The searches under way end first.
        ending = bool(stop) or clock.finished(games)
        actors.hold(True, ending=ending)
        if actors.idle:
            finished = clock.finished(games)
            learner.drop_waiting()  # a checkpoint of the schedule does not depend on it
            save(parts)
            if stop and actors.beside and not ending:
                continue  # asked meanwhile: games under way are given back first
            if stop:
                return False
            measure_strength(parts, stop, last=finished)
            if finished or stop:
                return not stop
            next_checkpoint = clock.next_checkpoint(games)
            actors.hold(False)


def learn_from(record: GameRecord, progress: float, parts: Parts) -> None:
    """A step of learning after each game, but for those that are held out to measure it."""
    learner, replay, clock, reports = parts.learner, parts.replay, parts.clock, parts.reports
    every = parts.config.learn.held_out_every
    if every and record.number % every == every - 1:
        with clock.stage("learning"):
            error = learner.error(record.samples)
        reports.held_out(record, error)
        return
    with clock.stage("learning"):
        replay.add(record)
        learner.set_progress(progress)
        learned = learner.learn(replay.draw())
    reports.learned(record, learned)


def publish(games: int, parts: Parts) -> None:
    """Actors play on with what has been learned so far."""
    with parts.clock.stage("learning"):
        learner = parts.learner
        parts.actors.publish(parts.weights(), parts.clock.progress(games), learner.steps)


def save(parts: Parts) -> None:
    """A checkpoint. A disk that does not take it does not end the run: the next one is another
    try."""
    with parts.clock.stage("checkpoints"):
        parts.clock.note_checkpoint()
        try:
            parts.step = write_checkpoint(parts.run, parts.actors.games, parts.saved())
            parts.unsaved = None
        except OSError as error:
            parts.unsaved = reason(error)
            parts.reports.say(
                f"no checkpoint now ({parts.unsaved}); the last one is {parts.step}, and the next "
                "is another try"
            )
            return
        parts.reports.checkpoint(parts.step)
        try:
            best = parts.strength.best
            keep_newest(parts.run, parts.config.checkpoint.keep, best["step"] if best else None)
            parts.replay.files.delete_unneeded()
        except OSError as error:
            parts.reports.say(f"old checkpoints stay for now ({reason(error)})")


def measure_strength(
    parts: Parts, stop: Stop, at_checkpoint: bool = True, last: bool = False
) -> None:
    """Where it is due, until asked to stop. Matches against what has become unreadable are left
    out."""
    games, reports, strength = parts.actors.games, parts.reports, parts.strength
    if parts.actors.beside:
        measure_aside(parts, stop, at_checkpoint, last)
        return
    if strength.due(games, parts.clock, at_checkpoint, last):
        seconds = strength.seconds(games, parts.clock, last)
        with told(reports), stop.at_once(), parts.clock.stage("matches"):
            reports.time_network(parts.learner.evaluator)  # first, so that it is warm
            strength.measure(parts.learner.evaluator, games, reports, seconds)


def measure_aside(parts: Parts, stop: Stop, at_checkpoint: bool, last: bool) -> None:
    """In another process: training goes on meanwhile, but for the end of the run."""
    games, reports, strength = parts.actors.games, parts.reports, parts.strength
    with told(reports), parts.clock.stage("matches"), stop.at_once():
        strength.take(reports, wait=last)
    if strength.aside is None and strength.due(games, parts.clock, at_checkpoint, last):
        seconds = strength.seconds(games, parts.clock, last)
        with told(reports), parts.clock.stage("matches"), stop.at_once():
            strength.begin(parts.actors.run_aside, parts.learner.weights(), games, seconds)
            strength.take(reports, wait=last)


@contextmanager
def told(reports: Reports) -> Iterator[None]:
    """What is wrong with a match does not end the run."""
    try:
        yield
    except (InputError, Failed) as error:
        reports.say(f"a match was left out: {error}")
    except OSError as error:
        reports.say(f"the best checkpoint is not noted yet ({reason(error)})")
