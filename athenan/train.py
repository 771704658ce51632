"""Training: actors play, replay draws, the learner learns; reports only listen."""

from __future__ import annotations

from pathlib import Path

from athenan.checkpoint import keep_newest, write_checkpoint
from athenan.errors import Failed, InputError
from athenan.files import reason
from athenan.learner import Diverged
from athenan.parts import Parts, new_parts, resumed_parts
from athenan.records import GameRecord
from athenan.settings import TrainSettings


def train(config: TrainSettings, overrides: list[str]) -> Path:
    """A new run, a fork or a resumed one; returns its folder."""
    parts = resumed_parts(config, overrides) if config.resume else new_parts(config)
    reports = parts.reports
    try:
        with reports.progress:
            run(parts)
    except KeyboardInterrupt:
        reports.say(f"stopped; the last checkpoint is {parts.step}")
    except Diverged as error:
        reports.say(f"{error} The last good checkpoint is {parts.step}.")
        raise
    finally:
        parts.close()
    reports.end(parts.step)
    if parts.unsaved:
        raise Failed(f"The last checkpoint was not written: {parts.unsaved}.")
    return parts.run


def run(parts: Parts) -> None:
    """The loop, until the limits of the config are reached."""
    actors, learner, clock, reports = parts.actors, parts.learner, parts.clock, parts.reports
    if parts.step is None:
        reports.begin()
        with clock.stage("learning"):
            reports.first_fit(learner.first_fit(parts.game, parts.config.heuristic))
        save(parts)
        measure_strength(parts)
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
        if games < next_checkpoint and not clock.finished(games):
            measure_strength(parts, at_checkpoint=False)
            continue
        actors.hold(True)  # the searches under way end first
        if actors.idle:
            finished = clock.finished(games)
            save(parts)
            measure_strength(parts, last=finished)
            if finished:
                break
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
        parts.actors.publish(parts.learner.weights(), parts.clock.progress(games))


def save(parts: Parts) -> None:
    """A checkpoint; nothing of it depends on what has not filled a batch yet. A disk that does not
    take it does not end the run: the next one is another try."""
    with parts.clock.stage("checkpoints"):
        parts.learner.drop_waiting()
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
        try:
            best = parts.strength.best
            keep_newest(parts.run, parts.config.checkpoint.keep, best["step"] if best else None)
            parts.replay.files.delete_unneeded()
        except OSError as error:
            parts.reports.say(f"old checkpoints stay for now ({reason(error)})")


def measure_strength(parts: Parts, at_checkpoint: bool = True, last: bool = False) -> None:
    """Where it is due. Matches against what has become unreadable are left out."""
    games, reports, strength = parts.actors.games, parts.reports, parts.strength
    if strength.due(games, parts.clock, at_checkpoint, last):
        seconds = strength.seconds(games, parts.clock, last)
        with parts.clock.stage("matches"):
            reports.time_network(parts.learner.evaluator)  # first, so that it is warm
            try:
                strength.measure(parts.learner.evaluator, games, reports, seconds)
            except InputError as error:
                reports.say(f"a match was left out: {error}")
            except OSError as error:
                reports.say(f"the best checkpoint is not noted yet ({reason(error)})")
