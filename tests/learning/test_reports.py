"""What a run leaves behind: its folder, its TensorBoard pages, its report."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from runs import newest, train

from athenan.checkpoint import read_state, steps_of
from athenan.command import main
from athenan.match import MatchResult
from athenan.reports import strength_table

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
                 "tensorboard --logdir", "athenan match game=tictactoe", "athenan play",
                 "of the network's best", "self_play", "learning", "matches"):  # fmt: skip
        assert text in report
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
        "speed/self_play_to_network_ratio", "speed/resident_megabytes",
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
