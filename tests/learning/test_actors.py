"""Actors in the learner's process: what they play with, what they remember, what is saved."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import athenan
from athenan import actor, network
from athenan.actor import Actor, Commission
from athenan.actors import Actors, InlineActors, make_actors
from athenan.checkpoint import Part
from athenan.config import compose
from athenan.network import make_model
from athenan.records import GameRecord


def actors(*words: str) -> InlineActors:
    config = compose("train", ["experiment=tictactoe_smoke", "self_play.evaluations=10", *words])
    game: Any = athenan.make_game("tictactoe")
    made: Actors = make_actors(config, game)
    assert isinstance(made, InlineActors)
    return made


def collect(playing: Actors, number: int) -> list[GameRecord]:
    before, found = playing.games, list[GameRecord]()
    while len(found) < number:
        found += playing.collect()
    assert playing.games == before + len(found)
    return found


def weights(seed: int) -> list[np.ndarray]:
    network = compose("train", ["experiment=tictactoe_smoke"]).network
    model = make_model(network, athenan.make_game("tictactoe").plane_shape, 2, seed)
    return [variable.numpy() for variable in model.weights]


def test_they_play_with_the_weights_that_were_published() -> None:
    usual, same, other = actors(), actors(), actors()
    same.publish(weights(0), 0.0)
    other.publish(weights(1), 0.0)
    games = [collect(playing, 10) for playing in (usual, same, other)]
    values = [np.concatenate([g.root_values for g in found]) for found in games]
    assert np.array_equal(values[0], values[1]), "weights of the same seed"
    assert not np.array_equal(values[0], values[2])


def test_progress_is_published_for_annealed_exploration() -> None:
    """At the end of a run always the best is played: with one network, and ties apart, one game."""
    playing = actors("exploration.schedule=annealed", "resolved.states=0")
    early = {tuple(g.actions.tolist()) for g in collect(playing, 30)}
    playing.publish(weights(0), 1.0)
    collect(playing, 16)  # those under way
    late = {tuple(g.actions.tolist()) for g in collect(playing, 30)}
    assert len(late) < len(early) / 2


def hold(playing: Actors) -> None:
    playing.hold(True)
    while not playing.idle:
        playing.collect()


def test_held_saved_and_restored_they_go_on_in_the_same_way() -> None:
    playing = actors()
    assert playing.idle
    collect(playing, 5)
    assert not playing.idle
    hold(playing)
    part = playing.saved()
    assert part.facts["games"] == playing.games
    other = actors()
    other.restore(Part(json.loads(json.dumps(part.facts)), part.arrays))
    assert other.games == playing.games
    assert other.facts()["remembered_proofs"] == playing.facts()["remembered_proofs"] > 0
    playing.hold(False)
    for ours, theirs in zip(collect(playing, 10), collect(other, 10), strict=True):
        assert ours.number == theirs.number
        assert np.array_equal(ours.actions, theirs.actions)
        assert np.array_equal(ours.values, theirs.values)


@pytest.mark.parametrize(("every", "cleared"), [(0, False), (12, True)])
def test_proofs_are_forgotten_every_so_many_games(every: int, cleared: bool) -> None:
    playing = actors(f"resolved.clear_every_games={every}")
    dropped, proofs = [], 0.0
    while playing.games < 40:
        before = playing.games
        playing.collect()
        if playing.facts()["remembered_proofs"] < proofs:
            dropped.append((before, playing.games))
        proofs = playing.facts()["remembered_proofs"]
    assert bool(dropped) == cleared
    assert all(before // every < after // every for before, after in dropped)


def test_facts_for_reports() -> None:
    playing = actors()
    assert playing.facts() == {"rows": 0, "remembered_proofs": 0, "out_of_memory": 0}
    evaluations = sum(g.evaluations for g in collect(playing, 10))
    assert playing.facts()["rows"] > evaluations / 2
    playing.close()


@pytest.mark.parametrize("xla", [True, False])
def test_an_actor_of_another_process_computes_as_the_learner_does(
    xla: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By XLA or without; where it has no device it sees none."""
    compiled_by_xla: list[bool] = []
    seen: list[Any] = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(network, "use_xla", compiled_by_xla.append)
    monkeypatch.setattr(actor, "see_only", seen.append)
    monkeypatch.setattr(actor, "keep_messages", lambda _: None)
    config = compose("train", ["experiment=tictactoe_smoke", "layout=cpu", f"learn.xla={xla}"])
    here = str(tmp_path)
    ready = Actor().prepare(Commission(config, athenan.__version__, here, here, 0))
    assert ready.device is None
    assert compiled_by_xla == [xla]
    assert seen == [[]]
