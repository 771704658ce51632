"""Actors in the learner's process: what they play with, what they remember, what is saved."""

import json
import time
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
from athenan.overlap import OverlappedActors
from athenan.records import GameRecord


def actors(*words: str) -> Any:
    config = compose("train", ["experiment=tictactoe_smoke", "self_play.evaluations=10", *words])
    game: Any = athenan.make_game(**config.game)
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
    nothing = {"rows": 0, "remembered_proofs": 0, "out_of_memory": 0}
    assert playing.facts() == nothing | {"playing_seconds": 0}
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


# ---- In a thread, a block of games ahead ------------------------------------------------------

KINDS = {"conv": [], "in the core": ["network=nnue", "network.filters=8", "network.dense=8"]}
every_kind = pytest.mark.parametrize("words", KINDS.values(), ids=KINDS.keys())
AHEAD = ["self_play.games_in_step=64", "layout.overlap=true"]  # blocks of two games


def random_weights(words: list[str], number: int) -> list[np.ndarray]:
    network = compose("train", ["experiment=tictactoe_smoke", *words]).network
    model = make_model(network, athenan.make_game("tictactoe").plane_shape, 2, number)
    return [variable.numpy() for variable in model.weights]


def check_same(ours: list[GameRecord], theirs: list[GameRecord]) -> None:
    assert [game.number for game in ours] == [game.number for game in theirs]
    for one, other in zip(ours, theirs, strict=True):
        assert np.array_equal(one.actions, other.actions)
        assert np.array_equal(one.values, other.values)


def block(playing: Actors) -> list[GameRecord]:
    while not (records := playing.collect()):
        pass
    return records


@every_kind
def test_blocks_are_played_with_the_weights_after_the_one_before_the_last(words: list[str]) -> None:
    playing, turns = actors(*AHEAD, *words), actors(*words, *AHEAD, "layout.overlap=false")
    assert isinstance(playing, OverlappedActors)
    assert not isinstance(turns, OverlappedActors)
    playing.publish(random_weights(words, 0), 0.0)
    assert playing.collect() == [], "nobody has played yet"
    for number in range(8):
        found = block(playing)
        turns.publish(random_weights(words, max(0, number - 1)), number / 8)
        expected: list[GameRecord] = []
        while len(expected) < playing.least:
            expected += turns.collect()
        check_same(found, expected)
        assert playing.games == turns.games
        playing.publish(random_weights(words, number + 1), 0.0)
    playing.close()


@every_kind
def test_a_block_that_is_saved_in_its_middle_goes_on_in_the_same_way(words: list[str]) -> None:
    """At its beginning, at any time and at its end; actors without a thread have first what is
    ahead."""
    playing, middles = actors(*AHEAD, *words), set()
    playing.least = 40
    weights = [random_weights(words, number) for number in range(12)]
    playing.publish(weights[0], 0.0)
    playing.collect()
    for number in range(12):
        block(playing)
        playing.publish(weights[number], 0.0)
        time.sleep([0, 0.002 * number, 1][number % 3])
        part = playing.saved()
        facts = json.loads(json.dumps(part.facts))
        middles.add(facts["block"]["whole"])
        assert facts["games"] == playing.games
        other = actors(*AHEAD, *words)
        other.least = 40
        other.restore(Part(facts, part.arrays))
        other.publish(weights[number], 0.0)
        assert (other.games, other.idle) == (playing.games, False)
        ours, theirs = block(playing), block(other)
        check_same(ours, theirs)
        in_turns = actors(*AHEAD, *words, "layout.overlap=false")
        in_turns.restore(Part(facts, part.arrays))
        if facts["block"]["whole"]:
            check_same(ours, in_turns.collect())
        for later in (playing, other):
            later.publish(weights[-number], 0.0)
        check_same(block(playing), block(other))
        other.close()
    assert middles == {True, False}
    playing.close()


@every_kind
def test_held_they_give_all_there_is(words: list[str]) -> None:
    playing = actors(*AHEAD, *words)
    playing.publish(random_weights(words, 0), 0.0)
    games = block(playing)
    playing.hold(True)
    assert not playing.idle
    while not playing.idle:
        games += playing.collect()
    assert playing.collect() == []
    part = playing.saved()
    assert not {"ahead", "block"} & part.facts.keys()
    assert len({game.number for game in games}) == part.facts["games"] == playing.games
    playing.close()


def test_they_end_at_once_whatever_they_are_at() -> None:
    playing = actors(*AHEAD, "self_play.evaluations=1000000000", "resolved.states=0", "game=hex7",
                     "network=nnue")  # fmt: skip
    playing.collect()
    time.sleep(0.2)
    began = time.monotonic()
    playing.close()
    assert time.monotonic() - began < 10


def test_what_goes_wrong_in_the_thread_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    playing = actors(*AHEAD)

    def fail() -> list[GameRecord]:
        raise athenan.InputError("No.")

    monkeypatch.setattr(playing, "play", fail)
    playing.collect()
    with pytest.raises(athenan.InputError, match=r"No\."):
        block(playing)
    playing.close()
