"""Self-play: many games in step, and the records they leave."""

import json
from typing import Any

import numpy as np
import pytest

import athenan
from athenan import _core
from athenan.backend import tensorflow
from athenan.checkpoint import Part
from athenan.config import compose
from athenan.errors import InputError
from athenan.network import NetworkEvaluator, make_model
from athenan.records import GameRecord, unpack
from athenan.run import fit_to_game
from athenan.self_play import SelfPlay, games_for
from athenan.settings import NetworkSettings


def evaluator(planes: np.ndarray) -> np.ndarray:
    """Any function of the planes, quick and the same for the same state."""
    weights = np.sin(np.arange(planes[0].size))
    values: np.ndarray = np.tanh(planes.reshape(len(planes), -1) @ weights)
    return values


def self_play(game: Any, *words: str, memory: Any = None, **changed: Any) -> SelfPlay:
    words = ("experiment=tictactoe_smoke", "heuristic=gain", *words)
    config = compose("train", [*words, *(f"self_play.{k}={v}" for k, v in changed.items())])
    return SelfPlay(
        game, evaluator, config.search, config.heuristic, config.self_play, config.exploration, 0,
        memory,
    )  # fmt: skip


def records(play: SelfPlay, number: int) -> list[GameRecord]:
    found: list[GameRecord] = []
    while len(found) < number:
        found += play.play_batch()
    return found


@pytest.fixture(scope="module")
def game() -> Any:
    return athenan.make_game("connect_four", rows=4, columns=4)


def test_records_are_whole_games(game: Any) -> None:
    found = records(self_play(game), 20)
    assert sorted(r.number for r in found)[:10] == list(range(10))
    for record in found:
        state = game.initial_state()
        for action in record.actions:
            state = state.play(action)
        assert state.is_terminal
        assert (record.outcomes, record.plies) == (state.outcomes, len(record.actions))
        assert len(record.root_values) == record.plies
        assert np.abs(record.root_values).max() <= 1
        assert len(record.planes) == len(record.values) >= record.plies
        assert 0 < record.resolved <= len(record.values)
        assert (unpack(record.planes, game.plane_shape)[0] == game.initial_state().planes()).all()
    assert len({tuple(r.actions) for r in found}) > 15, "games differ"


def test_the_first_games_are_cheap_and_each_a_little_dearer(game: Any) -> None:
    play = self_play(game, evaluations=60, games_in_step=4, growing_games=16)
    found = sorted(records(play, 40), key=lambda record: record.number)
    usual = {r.number: r for r in records(self_play(game, evaluations=60, games_in_step=4), 40)}
    cost = [record.evaluations / record.plies for record in found]
    assert cost[0] < 8, "as many as there are actions, but for the last expansion"
    assert cost[0] < np.mean(cost[4:8]) < np.mean(cost[12:16])
    for record in found[16:]:
        assert record.actions.tolist() == usual[record.number].actions.tolist()
    # A game on its own is the same one, whatever is in step with it.
    alone = records(self_play(game, evaluations=60, games_in_step=1, growing_games=16), 6)
    for one, other in zip(alone, found, strict=False):
        assert one.evaluations == other.evaluations


def test_as_many_games_as_fill_a_batch() -> None:
    wanted = {"connect_four": 256, "hex": 16, "chess": 128, "go": 32}
    for name, number in wanted.items():
        assert games_for(athenan.make_game(name)) == number
    assert games_for(athenan.make_game("go", size=19)) == 8
    play = self_play(athenan.make_game("hex"), games_in_step="null")
    assert len(play.games) == 16


def fitted(*words: str) -> Any:
    config = compose("train", list(words))
    fit_to_game(config)
    return config.self_play


def test_budgets_grow_where_the_first_games_would_take_long() -> None:
    assert fitted().growing_games == fitted("experiment=tictactoe_smoke").growing_games == 0
    assert fitted("game=hex7").growing_games == 0
    big = fitted("game=go19")
    assert (big.games_in_step, big.growing_games, big.evaluations) == (8, 64, 4 * 362)
    assert fitted("game=go19", "self_play.growing_games=0").growing_games == 0
    assert fitted("experiment=hex11").growing_games == 64


@pytest.mark.parametrize("target", ["root", "terminal"])
def test_targets_other_than_the_tree(game: Any, target: str) -> None:
    for record in records(self_play(game, target=target), 8):
        planes = unpack(record.planes, game.plane_shape)
        assert len(planes) == record.plies + 1
        state = game.initial_state()
        for i, action in enumerate(record.actions):
            assert (planes[i] == state.planes()).all()
            state = state.play(action)
        assert (planes[-1] == state.planes()).all()
        assert record.values[-1] == record.outcomes[0]
        if target == "root":
            assert record.values[:-1] == pytest.approx(record.root_values)
        else:
            assert set(record.values[:, 0]) == {record.outcomes[0]}


@pytest.mark.parametrize("changed", [{}, {"threads": 2}, {"batch_sizes": "[4,32,128]"}])
def test_threads_and_batch_sizes_change_nothing(game: Any, changed: dict[str, Any]) -> None:
    usual = {r.number: r.actions.tolist() for r in records(self_play(game, threads=1), 20)}
    found = {r.number: r.actions.tolist() for r in records(self_play(game, **changed), 20)}
    both = usual.keys() & found.keys()
    assert len(both) > 10
    assert all(usual[number] == found[number] for number in both)


class Later:
    """Answers when it is asked for the result, and notes what happens when."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def start(self, planes: np.ndarray) -> Any:
        name = str(self.notes.count("start"))
        self.notes.append("start")
        outer = self

        class Pending:
            def result(self) -> np.ndarray:
                outer.notes.append(name)
                return evaluator(planes)  # which nobody has changed meanwhile

        return Pending()


@pytest.mark.parametrize("threads", [1, 2])
def test_two_groups_play_the_same_games(game: Any, threads: int) -> None:
    """Whenever the evaluator answers; without a memory of proofs no game knows of another."""
    usual = {r.number: r for r in records(self_play(game), 40)}
    for later in (None, Later()):
        play = self_play(game, groups=2, threads=threads, games_in_step=9)
        if later is not None:
            play.evaluator = later  # type: ignore[assignment]
        found = {r.number: r for r in records(play, 40)}
        both = usual.keys() & found.keys()
        assert len(both) > 20
        for number in both:
            assert (usual[number].actions == found[number].actions).all()
            assert (usual[number].values == found[number].values).all()


def test_groups_take_turns(game: Any) -> None:
    """One is searched while the evaluator has the batch of the other; with one it only waits."""
    for groups, expected in (
        (1, ["start", "0", "start", "1", "start", "2"]),
        (2, ["start", "start", "0", "start", "1", "start"]),
    ):
        play, later = self_play(game, groups=groups), Later()
        play.evaluator = later  # type: ignore[assignment]
        while len(later.notes) < 6:
            play.play_batch()
        assert later.notes[:6] == expected
        play.wait()
        asked = len(play._asked)
        assert asked == groups - 1
        waited = len(later.notes)
        assert later.notes.count("start") * 2 == waited, "every batch has its values"
        records(play, 5)
        assert later.notes[waited] == "start", "and is not asked for them again"


def test_a_device_that_answers_later_changes_nothing(game: Any) -> None:
    """TensorFlow that returns before it is done, as it does with a GPU."""
    context = tensorflow().config.experimental
    model = make_model(NetworkSettings(filters=8, layers=1, dense=8), game.plane_shape, 2, 0)
    found = []
    for synchronous in (True, False):
        context.set_synchronous_execution(synchronous)
        try:
            play = self_play(game, groups=2)
            play.evaluator = NetworkEvaluator(model)
            found.append(records(play, 30))
        finally:
            context.set_synchronous_execution(True)
    for ours, theirs in zip(*found, strict=True):
        assert ours.number == theirs.number
        assert (ours.actions == theirs.actions).all()
        assert (ours.values == theirs.values).all()


def test_a_proven_win_is_played_and_a_proven_loss_avoided() -> None:
    """With enough search every game is the draw that it should be, however it explores."""
    game = athenan.make_game("tictactoe")
    play = self_play(game, "exploration.schedule=constant", "exploration.exploitation=0",
                     evaluations=10_000, games_in_step=2)  # fmt: skip
    assert {record.outcomes[0] for record in records(play, 4)} == {0}


def test_proofs_are_remembered_across_games(game: Any) -> None:
    memory = _core.ResolvedMemory(10**6)
    found = records(self_play(game, memory=memory, evaluations=100, games_in_step=2), 8)
    assert len(memory) > 100
    alone = records(self_play(game, evaluations=100, games_in_step=2), 8)
    assert sum(r.evaluations for r in found) < sum(r.evaluations for r in alone)


@pytest.mark.parametrize("heuristic", ["additive_depth", "mobility"])
def test_values_are_in_the_unit_of_the_bound(heuristic: str) -> None:
    game: Any = athenan.make_game("breakthrough", rows=5, columns=4)
    for record in records(self_play(game, f"heuristic={heuristic}", target="terminal"), 8):
        state, counts = game.initial_state(), [list[int](), list[int]()]
        for action in record.actions:
            counts[state.to_move].append(len(state.legal_actions()))
            state = state.play(action)
        means = [np.mean(of) for of in counts]
        winner = 0 if record.outcomes[0] > 0 else 1
        share = np.clip(means[winner] / means[1 - winner], 1, 10) / 10
        if heuristic == "additive_depth":
            share = (game.max_plies - record.plies + 1) / game.max_plies
        assert record.values[-1, 0] == pytest.approx(record.outcomes[0] * share, rel=1e-5)
        assert np.abs(record.root_values).max() <= 1


def test_each_game_breaks_ties_in_its_own_way() -> None:
    game: Any = athenan.make_game("hex", size=5)
    play = self_play(game, evaluations=10_000, games_in_step=2)
    play.evaluator = lambda planes: np.zeros(len(planes))
    for _ in range(10):
        assert not play.play_batch()
    trees = [search.dump() for search in play.searches]
    keys = [{tuple(key) for key in tree["keys"].tolist()} for tree in trees]
    assert len(keys[0]) > 50
    assert len(keys[0] & keys[1]) < 0.9 * len(keys[0])


def test_games_in_step_share_the_memory(game: Any) -> None:
    play = self_play(game, "search.memory_mb=8", games_in_step=4)
    assert [search.counts["budget"] for search in play.searches] == [2_000_000] * 4


@pytest.mark.parametrize(
    "words",
    [
        ["heuristic=gain"],
        ["heuristic=mobility"],
        ["heuristic=gain", "search.memory_mb=0.04", "self_play.evaluations=60"],
        ["heuristic=gain", "self_play.groups=2"],
        ["heuristic=gain", "self_play.groups=2", "self_play.games_in_step=7"],
    ],
    ids=" ".join,
)
def test_held_and_restored_goes_on_in_the_same_way(game: Any, words: list[str]) -> None:
    """Also with labels of states that have left the trees."""

    def held() -> SelfPlay:
        play = self_play(game, *words)
        records(play, 5)
        play.hold()
        while play.searching:
            play.play_batch()
        return play

    play = held()
    part = play.saved()
    assert any(fact is not None for fact in part.facts["games_under_way"])
    dropped = sum(len(labels.saved()[1]) for labels in play.labels)
    assert (dropped > 0) == any("memory" in word for word in words)
    other = self_play(game, *words)
    other.restore(Part(json.loads(json.dumps(part.facts)), part.arrays))
    play.hold(False)
    for ours, theirs in zip(records(play, 10), records(other, 10), strict=True):
        assert ours.number == theirs.number
        assert (ours.actions == theirs.actions).all()
        assert (ours.planes == theirs.planes).all()
        assert (ours.values == theirs.values).all()


def test_real_and_padded_rows_are_counted(game: Any) -> None:
    play = self_play(game, batch_sizes="[16,64]")
    records(play, 10)
    assert 0 < play.rows <= play.padded_rows
    assert play.padded_rows % 16 == 0


def test_wrong_settings_are_answered_with_a_sentence(game: Any) -> None:
    for changed, text in (
        ({"target": "trees"}, r"'self_play.target' .* not 'trees'; did you mean 'tree'\?"),
        ({"games_in_step": 0}, "'self_play.games_in_step' must be from 1"),
        ({"evaluations": 0}, "needs a budget"),
        ({"groups": 3}, "'self_play.groups' must be from 1 to 2, not 3"),
        ({"batch_sizes": "[64,16]"}, "'self_play.batch_sizes' must ascend"),
    ):
        with pytest.raises(InputError, match=text):
            self_play(game, **changed)
