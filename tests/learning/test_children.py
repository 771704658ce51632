"""network=children from training to use: one evaluation for all children of a state."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from runs import differences, newest, resume, train

import athenan
from athenan import _core
from athenan.actors import InlineActors
from athenan.checkpoint import steps_of
from athenan.command import main
from athenan.config import compose
from athenan.errors import InputError
from athenan.evaluators import CheckpointEvaluator, LiteEvaluator
from athenan.export.operations import operations_of
from athenan.export.runtimes import FORMATS
from athenan.learner import Learner
from athenan.network import NetworkEvaluator, make_evaluator, make_model, model_for, weights_of
from athenan.opponent import find_network
from athenan.records import SamplesOfChildren, joined, pack, unpack
from athenan.replay import Replay
from athenan.run import fit_to_game
from athenan.self_play import SelfPlay
from athenan.settings import (
    ExportSettings,
    HeuristicSettings,
    LearnSettings,
    NetworkSettings,
    ReplaySettings,
)

SMALL = NetworkSettings("children", filters=8, layers=2, dense=8)
CHILDREN = ["network=children", "network.filters=8", "network.dense=8", "network.layers=2"]


def trained_a_little(model: Any, seed: int = 0) -> Any:
    """Blocks begin as the identity; so that all of a network is seen, none stays it."""
    random = np.random.default_rng(seed)
    for variable in model.weights:
        variable.assign(variable.numpy() + random.normal(0, 0.05, variable.shape))
    return model


def network_of(game: Any, seed: int = 0) -> Any:
    return trained_a_little(model_for(SMALL, game, seed))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that has learned a little."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        words = ["self_play.evaluations=20", "learn.first_fit_states=2000", "games=60"]
        return folder / train("one", *CHILDREN, *words)


# ---- The network ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hex", "othello"])
def test_its_weights_fit_boards_of_all_sizes(name: str) -> None:
    """And what it answers is of the whole board: the corners see each other."""
    shapes, far = [], []
    for size in (4, 10):
        game: Any = athenan.make_game(name, size=size)
        model = network_of(game)
        shapes.append([variable.shape for variable in model.weights])
        places = size * size + len(game.other_actions)
        assert model.output_shape == (None, places)
        planes = np.zeros((2, *game.plane_shape), np.float32)
        planes[1, 0, 0, 0] = 1
        one, other = np.asarray(model(planes))
        far.append(np.abs(one - other)[size * size - 1])
        if game.other_actions:
            assert one[-1] != other[-1]
    assert shapes[0] == shapes[1]
    assert min(far) > 0
    assert weights_of(SMALL, (11, 11, 4)) == weights_of(SMALL, (5, 5, 4))


def test_what_it_knows_of_the_board_begins_as_nothing() -> None:
    """Random biases from the largest of each channel would saturate the tanh of every answer."""
    game: Any = athenan.make_game("hex", size=9)
    model = model_for(NetworkSettings("children", 16, 1, 16), game, 0)
    planes = np.zeros((2, *game.plane_shape), np.float32)
    planes[1, 0, 0, 0] = 1
    one, other = np.asarray(model(planes))
    assert one[-1] == other[-1]
    assert one[0] != other[0]


@pytest.mark.parametrize(
    ("name", "options", "match"),
    [
        ("chess", {}, "for games whose action is a cell; in game 'chess' it is more than one"),
        ("connect_four", {}, "in game 'connect_four' it is more than one"),
        ("mnk", {"players": 3}, "for two players whose gains are each other's losses"),
    ],
)
def test_other_games_are_refused(name: str, options: Any, match: str) -> None:
    with pytest.raises(InputError, match=match):
        model_for(SMALL, athenan.make_game(name, **options), 0)


@pytest.mark.parametrize("name", ["hex", "othello"])
def test_the_plan_without_tensorflow_is_the_models(name: str) -> None:
    from athenan.export.operations import planned_operations

    game: Any = athenan.make_game(name, size=6)
    model = network_of(game)
    weights = [variable.numpy() for variable in model.weights]
    others = len(game.other_actions)
    plan = planned_operations(SMALL, game.plane_shape, 2, weights, True, others)
    made = operations_of(model)
    assert sorted(o.kind for o in plan) == sorted(o.kind for o in made)
    kernels = [[o.kernel for o in found if o.kernel.size] for found in (plan, made)]
    assert all((one == other).all() for one, other in zip(*kernels, strict=True))
    with pytest.raises(LookupError):
        planned_operations(SMALL, game.plane_shape, 2, weights[:-2], True, others)


# ---- Labels --------------------------------------------------------------------------------


def played_games(name: str, number: int = 6, **changed: Any) -> tuple[Any, list[Any]]:
    settings = ["game=tictactoe", *CHILDREN, "self_play.games_in_step=4", "learn.l2=0"]
    config = compose("train", [*settings, "heuristic=gain", "search.memory_mb=64"])
    game: Any = athenan.make_game(name, **changed.pop("game", {}))
    config.self_play.evaluations = changed.pop("evaluations", 12)
    config.self_play.target = changed.pop("target", "tree")
    config.search |= changed
    evaluator = NetworkEvaluator(network_of(game), of_children=True)
    play = SelfPlay(
        game, evaluator, config.search, config.heuristic, config.self_play, config.exploration, 3
    )
    records: list[Any] = []
    while len(records) < number:
        records += play.play_batch()
    return game, records


def labels_of(game: Any, samples: SamplesOfChildren) -> list[tuple[Any, dict[int, float]]]:
    """(state, value of each labelled action) of each row."""
    found = []
    ends = np.cumsum(samples.labels)
    planes = unpack(samples.planes, game.plane_shape)
    for row, end, number in zip(planes, ends, samples.labels, strict=True):
        state = game.state_from_planes(row, int(row[:, :, :2].sum()))
        of = slice(end - number, end)
        values = samples.values[of, 0].tolist()
        found.append((state, dict(zip(samples.actions[of].tolist(), values, strict=True))))
    return found


@pytest.mark.parametrize("memory_mb", [64, 0.012])
def test_labels_are_of_expanded_and_ended_children(memory_mb: float) -> None:
    """As the tree says, whose nodes are looked up by their keys; also what leaves it for want of
    memory is labelled, at its parent."""
    game: Any = athenan.make_game("hex", size=4)
    evaluator = NetworkEvaluator(network_of(game), of_children=True)
    search = athenan.make_search("descent", game, evaluator, memory_mb=memory_mb, seed=2)
    labels = _core.Labels(search.core)
    search.run(game.initial_state(), iterations=60 if memory_mb < 1 else 12)
    assert (search.core.counts["collections"] > 0) == (memory_mb < 1)
    planes, values, resolved, numbers, actions = labels.samples()
    rows = labels_of(game, SamplesOfChildren(planes, values[:, None], numbers, actions))
    assert len(values) == sum(len(of) for _, of in rows)
    if memory_mb < 1:
        expanded = search.core.counts["expanded"]
        under_way = [not state.play(action).is_terminal for state, of in rows for action in of]
        assert sum(under_way) >= 0.99 * (expanded - 1)  # each has its label, but for the first
        for state, of in rows:
            assert set(of) <= set(state.legal_actions())
            for action, value in of.items():
                child = state.play(action)
                if child.is_terminal:
                    assert value == child.outcomes[0]
        again = _core.Labels(search.core)
        again.restore(*labels.saved())
        for one, other in zip(again.samples(), labels.samples(), strict=True):
            assert np.array_equal(one, other)
        return
    tree = search.core.dump()
    nodes = {int(low) | int(high) << 64: i for i, (low, high) in enumerate(tree["keys"].tolist())}
    expected: dict[tuple[int, int], float] = {}
    wanted = tree["expanded"] | tree["terminal"]
    for parent, child, action in zip(tree["parent"], tree["child"], tree["action"], strict=True):
        if wanted[child]:
            expected[int(parent), int(action)] = float(tree["value"][child])
    found = {(nodes[s.key], action): v for s, of in rows for action, v in of.items()}
    assert found == expected
    assert resolved == sum(bool(tree["resolved"][nodes[s.play(a).key]]) for s, of in rows
                           for a in of)  # fmt: skip


def test_labels_of_solved_games_are_their_true_values() -> None:
    """Against brute force: what is proven in tic-tac-toe is what playing perfectly gives."""
    game: Any = athenan.make_game("tictactoe")
    known: dict[int, int] = {}

    def minimax(state: Any) -> int:
        if state.is_terminal:
            return int(state.outcomes[0])
        if state.key not in known:
            values = [minimax(state.play(a)) for a in state.legal_actions()]
            known[state.key] = max(values) if state.to_move == 0 else min(values)
        return known[state.key]

    evaluator = NetworkEvaluator(network_of(game), of_children=True)
    search = athenan.make_search("descent", game, evaluator, strong=True)
    labels = _core.Labels(search.core)
    assert search.run(game.initial_state()).resolved
    planes, values, resolved, numbers, actions = labels.samples()
    rows = labels_of(game, SamplesOfChildren(planes, values[:, None], numbers, actions))
    assert resolved == len(values) > 10_000
    for state, of in rows[::7]:
        assert sorted(of) == state.legal_actions()
        for action, value in of.items():
            assert value == minimax(state.play(action))


@pytest.mark.parametrize("target", ["root", "terminal"])
def test_other_targets_are_at_the_played_actions(target: str) -> None:
    game, records = played_games("othello", game={"size": 4}, target=target)
    for record in records:
        rows = labels_of(game, record.samples)
        assert len(rows) == record.plies
        for ply, ((state, of), action) in enumerate(zip(rows, record.actions, strict=True)):
            assert state.to_move in (0, 1)
            last = float(record.outcomes[0])
            value = (
                last if target == "terminal" else float([*record.root_values, [last]][ply + 1][0])
            )
            assert of == {int(action): pytest.approx(value)}


@pytest.mark.parametrize("name", ["hex", "gomoku"])
def test_the_first_fit_knows_the_last_two_actions(name: str) -> None:
    game: Any = athenan.make_game(name, size=6)
    planes, values, numbers, actions = _core.ending_samples(game, 60, "gain", 0, 0, True)
    assert (numbers == 1).all()
    rows = labels_of(game, SamplesOfChildren(planes, values[:, None], numbers, actions))
    for i, (state, of) in enumerate(rows):
        ((action, value),) = of.items()
        child = state.play(action)
        assert child.is_terminal == (i % 2 == 0)
        ends = [child] if child.is_terminal else [child.play(a) for a in child.legal_actions()]
        assert value in {end.outcomes[0] for end in ends if end.is_terminal}
    assert len(set(values.tolist())) > 1
    with pytest.raises(ValueError, match="more than a cell"):
        _core.ending_samples(athenan.make_game("chess"), 1, "gain", 0, 0, True)  # type: ignore[arg-type]


# ---- Learning ------------------------------------------------------------------------------


def learner_of(game: Any, **changed: Any) -> Learner:
    config = LearnSettings(**{"batch_size": 32, "learning_rate": 3e-3, "l2": 0.0, **changed})
    return Learner(
        network_of(game), config, game.symmetries, 0, kind="children", places=game.action_places
    )


def made_samples(game: Any, number: int = 300) -> SamplesOfChildren:
    planes, values, *which = _core.ending_samples(game, number, "gain", 0, 0, True)
    return SamplesOfChildren(planes, values[:, None], *which)


@pytest.mark.parametrize(
    "options",
    [
        {"name": "hex", "size": 3, "swap": True},
        {"name": "othello", "size": 4},
        {"name": "havannah", "base": 3},
    ],
    ids=lambda options: options["name"],
)
def test_symmetries_move_labels_with_their_cells(options: dict[str, Any]) -> None:
    """The child that a label is of is the image of the child that it was of."""
    game: Any = athenan.make_game(**options)
    _, records = played_games(options.pop("name"), game=options)
    samples = joined([record.samples for record in records])
    images, labels, weights = learner_of(game)._batch(samples)
    assert weights.sum() == pytest.approx(1)
    assert ((weights > 0).sum(axis=1) == samples.labels).all()
    actions = {place: action for action, place in enumerate(game.action_places)}
    turned = 0
    for (state, of), image, own, there in zip(
        labels_of(game, samples), images, labels, weights, strict=True
    ):
        state = game.state_from_planes(state.planes(), state.ply)
        moved = game.state_from_planes(image, state.ply)
        turned += bool((image != state.planes()).any())
        ends = {
            (np.float32(s.sign * value), transformed(state.play(action).planes(), s).tobytes())
            for s in game.symmetries
            for action, value in of.items()
            if transformed(state.planes(), s).tobytes() == image.tobytes()
        }
        for place in np.flatnonzero(there):
            child = moved.play(actions[int(place)])
            assert (own[place], child.planes().tobytes()) in ends
    assert turned > len(images) / 3


def transformed(planes: Any, symmetry: Any) -> Any:
    cells = planes.reshape(-1, planes.shape[2])
    return cells[symmetry.cells][:, symmetry.channels].reshape(planes.shape)


def test_only_labelled_children_are_learned() -> None:
    """The loss is their mean, and what has no label may be anything."""
    game: Any = athenan.make_game("hex", size=4)
    learner = learner_of(game, symmetries=False)
    samples = made_samples(game, 32)
    before = np.asarray(learner.model(unpack(samples.planes, game.plane_shape).astype(np.float32)))
    rows = before[np.arange(32), samples.actions]
    expected = float(np.mean((rows - samples.values[:, 0]) ** 2))
    assert learner.error(samples) == pytest.approx(expected, rel=1e-5)
    learned = learner.learn(samples)
    assert learned["error"] == pytest.approx(expected, rel=1e-5)
    assert learned["predicted"].shape == learned["targets"].shape == (32,)
    for _ in range(150):
        learner.learn(samples)
    assert learner.error(samples) < expected / 5
    assert learner.traces == 1


def test_parts_of_a_batch_learn_what_the_whole_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though one part may have more labels than another."""
    game, records = played_games("hex", game={"size": 4})
    samples = joined([record.samples for record in records]).pieces(32)[0]
    errors, weights = [], []
    for parts in (1, 2):
        monkeypatch.setattr("athenan.learner.parts", lambda parts=parts: parts)
        learner = learner_of(game, symmetries=False)
        assert learner.parts == parts
        errors.append(learner.learn(samples)["error"])
        weights.append(np.concatenate([w.reshape(-1) for w in learner.weights()]))
    assert errors[0] == pytest.approx(errors[1], rel=1e-5)
    assert np.abs(weights[0] - weights[1]).max() < 1e-4


def test_what_waits_for_a_batch_is_saved() -> None:
    game: Any = athenan.make_game("hex", size=4)
    one, other = learner_of(game), learner_of(game)
    samples = made_samples(game, 50)
    one.learn(samples)
    other.restore(one.saved())
    for learner in (one, other):
        learner.learn(samples)
    for mine, its in zip(one.weights(), other.weights(), strict=True):
        assert np.array_equal(mine, its)
    part = one.saved()
    planes, values, numbers, actions = part.arrays["waiting"]
    for wrong in (
        [planes, values],
        [planes, values, numbers + 1, actions],
        [planes, values, numbers, actions + 16],
        [planes, values[:-1], numbers, actions],
    ):
        part.arrays["waiting"] = wrong
        with pytest.raises(InputError, match="not this game's"):
            other.restore(part)


@pytest.mark.parametrize("name", ["stratified", "plain"])
def test_replay_gives_states_with_their_labels(name: str, tmp_path: Path) -> None:
    """Also when games have gone, and from its files."""
    game, records = played_games("hex", 9, game={"size": 4})
    config = ReplaySettings(name=name, games=4, uses=2.0)
    replay = Replay(config, 1, tmp_path)
    truth: dict[bytes, dict[int, float]] = {}
    for record in records:
        for state, of in labels_of(game, record.samples):
            truth.setdefault(bytes(pack(state.planes()[None])), {}).update(of)
    drawn = 0
    for record in records:
        replay.add(record)
        found = replay.draw()
        drawn += len(found.planes)
        for state, of in labels_of(game, found):
            assert of.keys() <= truth[bytes(pack(state.planes()[None]))].keys()
    assert drawn > sum(len(record.planes) for record in records[:4])
    kept = records[-4:]
    assert len(replay) == sum(len(record.planes) for record in kept)
    other = Replay(config, 1, tmp_path)
    other.restore(replay.saved())
    for one, two in zip(replay.draw(), other.draw(), strict=True):
        assert np.array_equal(one, two)
    everything = labels_of(game, joined([record.samples for record in kept]))
    if name == "stratified":
        half = labels_of(game, replay.draw()) + labels_of(game, other.draw())
        exact = [(state.key, of) for state, of in everything]
        assert all((state.key, of) in exact for state, of in half)


# ---- Runs ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_first_steps_do_not_saturate() -> None:
    game: Any = athenan.make_game("hex", size=7)
    model = model_for(NetworkSettings("children", 32, 3, 32), game, 0)
    config = LearnSettings(batch_size=64, first_fit_states=3000)
    learner = Learner(model, config, game.symmetries, 0, kind="children", places=game.action_places)
    learner.first_fit(game, HeuristicSettings("gain"))
    planes = unpack(made_samples(game, 64).planes, game.plane_shape)
    assert np.mean(np.abs(learner.evaluator(planes)) > 0.98) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("overlap", ["true", "false"])
def test_resumed_bit_for_bit(overlap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also from a checkpoint outside the schedule, in the middle of searches."""
    monkeypatch.chdir(tmp_path)
    words = [*CHILDREN, f"layout.overlap={overlap}", "game=hex", "game.size=3", "games=24",
             "self_play.evaluations=12", "checkpoint.every_games=12", "learn.batch_size=64",
             "self_play.games_in_step=8"]  # fmt: skip
    train("whole", *words)
    whole, parts = (Path("checkpoints/hex") / name for name in ("whole", "parts"))
    train("parts", *words, "checkpoint.every_minutes=0.004")
    written = ["replay_files"]  # as many as there were checkpoints
    assert differences(whole, parts) == written
    within = next(s for s in steps_of(parts) if "answers.npz" in {f.name for f in s.iterdir()})
    for step in steps_of(parts):
        if int(step.name[5:]) > int(within.name[5:]):
            shutil.rmtree(step)
    resume(parts)
    assert differences(whole, parts) == written


@pytest.mark.slow
def test_a_fork_to_a_larger_board(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["game=hex", "game.size=3", *CHILDREN, "games=10", "self_play.evaluations=6"]
    train("small", *words)
    own = ["strength.every_checkpoints=0", "self_play.games_in_step=4", "self_play.evaluations=6",
           "checkpoint.keep=20", "learn.batch_size=32", "replay.games=4",
           "learn.first_fit_states=0"]  # fmt: skip
    fork = ["train", "fork=checkpoints/hex/small", "game=hex", "game.size=5", "games=3"]
    assert main([*fork, "run=large", *own]) == 0
    small, large = (newest(Path("checkpoints/hex/small")), Path("checkpoints/hex/large"))
    first, last = (CheckpointEvaluator(step) for step in (steps_of(large)[0], newest(large)))
    weights = CheckpointEvaluator(small).load_weights()
    for mine, its in zip(first.load_weights(), weights, strict=True):
        assert np.array_equal(mine, its)
    assert not np.array_equal(last.load_weights()[0], weights[0])
    assert last.game.plane_shape == (5, 5, 4)
    assert last.config.network == CheckpointEvaluator(small).config.network
    assert last.config.heuristic.longest == 2 * last.game.longest_playout(1000)
    capsys.readouterr()
    swap = [*fork[:-1], "game.swap=true", "run=swap", *own]
    assert main(swap) == 2
    assert "game.swap is False there and True here" in capsys.readouterr().err


def test_every_command_takes_it(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    players = [f"first.checkpoint={run}", "first.evaluations=10", "second.iterations=5"]
    assert main(["match", "game=tictactoe", "games=4", *players]) == 0
    for search in ("puct", "alphabeta"):
        words = [*players, f"first.search={search}"]
        assert main(["match", "game=tictactoe", "games=2", *words]) == 0
    assert main(["solve", "game=tictactoe", f"evaluator={run}"]) == 0
    bench = ["seconds=0.05", "repeats=1", "peers=false"]
    words = [f"evaluator={run}", "games=2", "threads=1"]
    assert main(["bench", "search", "game=tictactoe", *bench, *words]) == 0
    assert main(["bench", "selfplay", "game=tictactoe", *bench, f"evaluator={run}", "games=4"]) == 0
    capsys.readouterr()
    words = ["network=children", "network.filters=4", "network.layers=1", "games=4", "--json"]
    assert main(["bench", "selfplay", "game=hex7", *bench, *words]) == 0
    out = capsys.readouterr().out
    assert "values/s, all of a state in one evaluation" in out
    words = [*bench, "formats=[tflite]", "batches=[1]", "threads=1", f"checkpoint={run}"]
    assert main(["bench", "evaluator", *words]) == 0
    game: Any = athenan.make_game("tictactoe")
    for runtime, kind in {"tensorflow": CheckpointEvaluator, "tflite": LiteEvaluator,
                          "tflite_int8": LiteEvaluator}.items():  # fmt: skip
        config = compose("play", ["game=tictactoe", f"checkpoint={run}", f"runtime={runtime}"])
        found = find_network(game, config)
        assert isinstance(found, kind)
        result = athenan.make_search("ubfm", game, found).run(game.initial_state(), evaluations=9)
        assert result.evaluations == 9


def test_games_that_it_is_not_for_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train", "game=chess", "network=children", "minutes=1", "run=no"]) == 2
    assert "for games whose action is a cell" in capsys.readouterr().err


def test_a_search_asks_for_rows_of_which_each_has_many_children() -> None:
    config = compose("train", ["game=hex7", *CHILDREN, "self_play.games_in_step=4"])
    fit_to_game(config)
    assert config.self_play.evaluations == 49
    playing = InlineActors(config, athenan.make_game("hex", size=7))
    records: list[Any] = []
    while not records:
        records += playing.collect()
    play = playing.self_play
    assert playing.facts()["rows"] == play.rows > 0
    assert 15 * play.rows < play.valued < 49 * play.rows
    (record,) = records[:1]
    assert record.labels is not None
    assert record.evaluations >= record.expanded - record.plies


# ---- Exports -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tictactoe", "othello"])
def test_every_format_answers_as_keras(
    name: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of actions that are no cells."""
    if name == "othello":
        monkeypatch.chdir(tmp_path)
        words = ["game=othello", "game.size=4", "games=10", "self_play.evaluations=6"]
        train("passes", *CHILDREN, *words)
        run = tmp_path / "checkpoints/othello/passes"
    out = tmp_path / "out"
    assert main(["export", f"checkpoint={run}", f"out={out}", "vectors=100"]) == 0
    vectors = np.load(out / "vectors.npz")
    found = athenan.load_checkpoint(run)
    game = found.game
    places = game.plane_shape[0] * game.plane_shape[1] + len(game.other_actions)
    assert vectors["values"].shape == (len(vectors["planes"]), places)
    lite = LiteEvaluator(newest(run))
    assert np.abs(lite(vectors["planes"]) - vectors["values"]).max() < 1e-5
    state = game.initial_state()
    usual = athenan.make_search("ubfm", game, found).run(state, evaluations=12)
    for form in FORMATS:
        loaded = athenan.load_evaluator(f"{out}:{form}", trust=True)
        tolerance = ExportSettings.int8_tolerance if form == "tflite_int8" else 1e-5
        assert np.abs(loaded(vectors["planes"]) - vectors["values"]).max() < tolerance
        result = athenan.make_search("ubfm", game, loaded).run(state, evaluations=12)
        assert result.evaluations == usual.evaluations
        if form != "tflite_int8":
            assert result.action == usual.action
    values = athenan.load_evaluator(f"{out}:tflite").facts["values"]  # type: ignore[attr-defined]
    assert values["shape"] == f"batch, {places} places"
    assert "best of them for the mover" in values["meaning"]
    assert values["action_places"] == list(game.action_places)
    assert "A state's own value is the best of them" in (out / "README.md").read_text()


def test_its_evaluator_says_what_it_answers() -> None:
    game: Any = athenan.make_game("othello", size=4)
    children = make_evaluator("children", network_of(game))
    assert children.of_children  # type: ignore[union-attr]
    states = make_evaluator("conv", make_model(NetworkSettings("conv", 4, 1, 4), (4, 4, 4), 2, 0))
    assert not states.of_children  # type: ignore[union-attr]
    assert children(np.zeros((3, 4, 4, 4), np.uint8)).shape == (3, 17)
