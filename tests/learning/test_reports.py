"""What a run leaves behind: its folder, its TensorBoard pages, its report."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from runs import newest, train

from athenan.checkpoint import read_state, steps_of
from athenan.command import main
from athenan.config import compose
from athenan.match import MatchResult
from athenan.picture import strength_image
from athenan.reports import strength_table
from athenan.run import fit_to_game, own_settings, read_figures
from athenan.settings import COMMANDS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The smoke experiment with its matches."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("reports")
        patch.chdir(folder)
        words = ["experiment=tictactoe_smoke", "run=r", "strength.games=4", "checkpoint.keep=2"]
        assert main(["train", *words]) == 0
    return folder / "checkpoints" / "tictactoe" / "r"


@pytest.fixture(scope="module")
def events(run: Path) -> Any:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    accumulator = EventAccumulator(str(run), size_guidance={"tensors": 0})
    accumulator.Reload()
    return accumulator


def test_the_folder_of_a_run(run: Path) -> None:
    names = {path.name for path in run.iterdir()}
    assert {"config.yaml", "log.txt", "replay", "report.txt", "best.yaml"} <= names
    assert any(name.startswith("events.") for name in names)
    assert not [name for name in names if name.startswith(".")]
    text = (run / "config.yaml").read_text()
    assert text.startswith("# athenan 0")
    assert "git revision" in text.splitlines()[0]
    config = yaml.safe_load(text)
    assert (config["experiment_name"], config["game"]["name"]) == ("tictactoe_smoke", "tictactoe")
    assert config["seed"] == 0
    files = {p.name for p in newest(run).iterdir()}
    assert files >= {"state.json", "config.yaml", "weights.npz", "optimizer.npz", "resolved.npz"}


def test_the_newest_checkpoints_and_the_best_are_kept(run: Path) -> None:
    steps = steps_of(run)
    best = yaml.safe_load((run / "best.yaml").read_text())
    assert 2 <= len(steps) <= 3
    assert run / f"step_{best['step']}" in steps
    assert best["against"] == "uct"
    # The replay holds what the checkpoints name, and nothing else.
    needed = {entry[0] for step in steps for entry in read_state(step)["replay_files"]}
    assert {path.name for path in (run / "replay").iterdir()} == needed


def test_the_report_tells_how_to_go_on(run: Path) -> None:
    report = (run / "report.txt").read_text()
    for text in ("against uct:", "against random:", "against earlier:", "train resume=",
                 "tensorboard --logdir", "athenan match first.checkpoint=", "athenan play",
                 "athenan gtp checkpoint=",
                 "(the network alone: ", "self_play", "learning", "matches"):  # fmt: skip
        assert text in report
    assert "serve" in report or "serve" not in COMMANDS
    assert "first fit on 256 ends" in (run / "log.txt").read_text()


@pytest.mark.parametrize(
    ("memory_mb", "code", "lines"),
    # 8 games in step: more than they need, less than a game's line, less than its first state.
    [(64, 0, 0), (8 * 0.0015, 0, 1), (8 * 0.0005, 2, 0)],
)
def test_want_of_memory_is_told_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    memory_mb: float,
    code: int,
    lines: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    words = (f"search.memory_mb={memory_mb}", "self_play.games_in_step=8", "games=4")
    run = train("r", *words, "self_play.evaluations=100", code=code)
    told = capsys.readouterr()
    assert ("'search.memory_mb' is too small" in told.err) == (code == 2)
    log = (run / "log.txt").read_text() if code == 0 else ""
    assert log.count("for want of memory") == lines


def test_tensorboard_has_its_groups(events: Any) -> None:
    tags = events.Tags()["tensors"]
    scalars = {
        "loss/error", "loss/l2", "loss/total", "loss/learning_rate",
        "games/length", "games/first_player_score", "games/samples_per_game",
        "games/distinct_openings",
        "search/depth", "search/evaluations_per_action", "search/resolved_states",
        "search/resolved_roots", "search/remembered_proofs",
        "search/out_of_memory",
        "speed/self_play_states_per_second", "speed/network_best_states_per_second",
        "speed/resident_megabytes",
        "time_share/self_play", "time_share/learning", "time_share/matches",
        "time_share/checkpoints",
        "progress/games", "progress/steps", "progress/samples", "progress/minutes",
        "replay/states", "replay/megabytes", "exploration/exploitation",
        "strength/uct", "strength/uct_low", "strength/uct_high", "strength/random",
        "strength/earlier",
    }  # fmt: skip
    assert scalars <= set(tags)
    assert {"values/targets", "values/predictions", "games/recent", "config"} <= set(tags)
    assert any("hparams" in tag for tag in events.summary_metadata) or any(
        "hparams" in tag for tag in tags
    )


def test_tensorboard_opens_on_what_matters(events: Any) -> None:
    tags = sorted(tag for tag in events.Tags()["tensors"] if not tag.startswith("_hparams_/"))
    groups = list(dict.fromkeys(tag.partition("/")[0] for tag in tags if "/" in tag))
    assert groups[0] == "at_a_glance", "groups are in the order of the alphabet"
    assert [tag for tag in tags if tag.startswith("at_a_glance/")] == [
        "at_a_glance/against_references",
        "at_a_glance/against_uct",
        "at_a_glance/error_on_held_out_games",
        "at_a_glance/states_per_second",
    ]
    for one, other in (("against_uct", "strength/uct"),
                       ("error_on_held_out_games", "loss/held_out"),
                       ("states_per_second", "speed/self_play_states_per_second")):  # fmt: skip
        pairs = zip(events.Tensors(f"at_a_glance/{one}"), events.Tensors(other), strict=True)
        assert all(a.tensor_proto == b.tensor_proto and a.step == b.step for a, b in pairs)


def test_every_figure_says_what_it_is(events: Any) -> None:
    for tag in events.Tags()["tensors"]:
        metadata = events.SummaryMetadata(tag)
        if metadata.plugin_data.plugin_name in ("scalars", "images", "histograms"):
            assert metadata.summary_description, tag


def test_the_curves_begin_with_the_untrained_network(events: Any) -> None:
    for tag in ("strength/uct", "strength/random_high", "loss/error", "progress/samples",
                "at_a_glance/against_uct", "at_a_glance/against_references"):  # fmt: skip
        steps = [event.step for event in events.Tensors(tag)]
        assert steps[0] == 0, tag
        assert len(steps) > 1


def test_charts_of_strength_have_margins(events: Any) -> None:
    from tensorboard.plugins.custom_scalar import layout_pb2, metadata

    (event,) = events.Tensors(metadata.CONFIG_SUMMARY_TAG)
    layout = layout_pb2.Layout.FromString(event.tensor_proto.string_val[0])
    strength, error, speed = layout.category
    names = [chart.title for chart in strength.chart]
    assert names == [f"score against {name}" for name in ("random", "uct", "earlier")]
    (series,) = strength.chart[1].margin.series
    found = {series.value, series.lower, series.upper}
    assert found == {"strength/uct", "strength/uct_low", "strength/uct_high"}
    tags = events.Tags()["tensors"]
    assert found <= set(tags)
    for chart in (*error.chart, *speed.chart):
        for pattern in chart.multiline.tag:
            assert [tag for tag in tags if re.match(pattern, tag)], pattern


def test_hyper_parameters_are_what_differs_from_the_preset(events: Any) -> None:
    from tensorboard.plugins.hparams import metadata

    def content(tag: str) -> bytes:
        found: bytes = events.SummaryMetadata(tag).plugin_data.content
        return found

    start = content(metadata.SESSION_START_INFO_TAG)
    found = metadata.parse_session_start_info_plugin_data(start).hparams
    assert set(found) == {"game", "seed", "strength.games", "checkpoint.keep"}
    assert found["game"].string_value == "tictactoe"
    assert found["strength.games"].number_value == 4
    assert metadata.parse_session_end_info_plugin_data(content(metadata.SESSION_END_INFO_TAG))


def own(words: str) -> dict[str, Any]:
    config = compose("train", words.split())
    fit_to_game(config)
    return own_settings(config)


def test_own_settings() -> None:
    assert own("run=a checkpoints=b") == {"game": "connect_four rows=6 columns=7", "seed": 0}
    assert own("experiment=hex7 seed=3 minutes=2") == {
        "game": "hex size=7 swap=False",
        "seed": 3,
    } | {"minutes": 2}
    assert own("game=hex7 network=small self_play.evaluations=50 games=5") == {
        "game": "hex size=7 swap=False",
        "seed": 0,
        "games": 5,
        "network.filters": 16,
        "network.dense": 8,
        "self_play.evaluations": 50,
    }
    assert own("game=hex7") == {"game": "hex size=7 swap=False", "seed": 0}
    changed = own("heuristic=gain self_play.batch_sizes=[64] fork=x")
    assert changed["heuristic.name"] == "gain"
    assert "heuristic.longest" not in changed
    assert changed["self_play.batch_sizes"] == "[64]"
    assert changed["fork"] == "x"


def test_the_picture_of_strength() -> None:
    curves = {"random": [(0, 0.5, 0.3, 0.7), (90, 1.0, 0.8, 1.0)], "uct": [(90, 0.2, 0.1, 0.4)]}
    image = strength_image(curves)
    assert image.shape == (300, 480, 3)
    assert {tuple(pixel) for row in image for pixel in row} >= {(70, 130, 180), (255, 140, 0)}
    assert strength_image({}).shape == image.shape
    assert strength_image({"uct": [(0, 0.5, 0.0, 1.0)]}).shape == image.shape


def test_figures_for_programs(run: Path) -> None:
    figures = read_figures(run)
    state = read_state(newest(run))
    assert (figures["games"], figures["samples"]) == (state["games"], state["samples"])
    assert figures["strength"]["uct"]["games"] == 4
    assert figures["strength"]["uct"]["after"] == state["games"]
    assert figures["held_out_error"] > 0
    assert figures["checkpoint"] == f"checkpoints/tictactoe/r/step_{state['games']}"
    assert read_figures(run / "nowhere") == {}


def test_the_figures_make_sense(run: Path, events: Any) -> None:
    import tensorflow as tf

    def last(tag: str) -> float:
        return float(tf.make_ndarray(events.Tensors(tag)[-1].tensor_proto))

    state = read_state(newest(run))
    assert last("progress/games") == state["games"]
    assert last("progress/samples") == state["samples"]
    assert 5 <= last("games/length") <= 9
    assert -1 <= last("games/first_player_score") <= 1
    for tag in ("games/distinct_openings", "search/resolved_states", "search/resolved_roots"):
        assert 0 < last(tag) <= 1
    shares = [last(f"time_share/{n}") for n in ("self_play", "learning", "matches", "checkpoints")]
    assert sum(shares) == pytest.approx(1, abs=0.01)
    assert last("loss/total") == pytest.approx(last("loss/error") + last("loss/l2"), rel=1e-4)
    assert last("strength/uct_low") <= last("strength/uct") <= last("strength/uct_high")


def test_the_strength_curve_as_text() -> None:
    lines = strength_table({"uct": [(500, MatchResult(3, 0, 1, [1.0, 0.5]))]})
    assert lines[0] == "against uct:"
    assert "after    500 games" in lines[1]
    assert "75%" in lines[1]
    assert lines[1].count("█") == 15


def test_progress_goes_to_the_log_of_the_run(run: Path) -> None:
    log = (run / "log.txt").read_text()
    assert "against uct: " in log
    assert "checkpoint: " in log
