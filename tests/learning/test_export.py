"""Exports: every format answers as its checkpoint does, and what is wrong is said in a sentence."""

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from runs import SMALL

import athenan
from athenan.command import main
from athenan.config import compose
from athenan.errors import InputError
from athenan.export import runtimes
from athenan.export.runtimes import FORMATS, load_network
from athenan.export.writing import write_networks
from athenan.games import fingerprint
from athenan.network import NetworkEvaluator, make_model

GAMES = {
    "tictactoe": ["network.filters=8"],
    "hex": ["game=hex", "game.size=4", "heuristic=gain", "network=residual", "network.filters=8",
            "network.layers=1"],
}  # fmt: skip


INT8 = 0.04  # largest difference from float32


class Case(NamedTuple):
    run: Path
    out: Path
    evaluator: Any  # of the checkpoint
    vectors: dict[str, Any]


@pytest.fixture(scope="module", params=list(GAMES))
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A run of a few games and its export in every format."""
    folder = tmp_path_factory.mktemp(request.param)
    words = [*SMALL, *GAMES[request.param], "games=16", "run=tiny", f"checkpoints={folder}"]
    assert main(["train", *words]) == 0
    run, out = folder / request.param / "tiny", folder / "out"
    assert main(["export", f"checkpoint={run}", f"out={out}"]) == 0
    return Case(run, out, athenan.load_checkpoint(run), dict(np.load(out / "vectors.npz")))


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An export of random weights in two formats, for what needs no training."""
    folder = tmp_path_factory.mktemp("bundle")
    assert main(["train", *SMALL, "games=1", "run=one", f"checkpoints={folder}"]) == 0
    words = ["formats=[tflite,tflite_int8]", "vectors=20", f"out={folder / 'out'}"]
    assert main(["export", f"checkpoint={folder / 'tictactoe' / 'one'}", *words]) == 0
    return folder / "out"


def refused(capsys: pytest.CaptureFixture[str], words: list[str], code: int = 2) -> str:
    """The one sentence with which a command ends."""
    capsys.readouterr()
    assert main(words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("athenan: ")
    assert err.count("\n") == 1
    return err


# ---- What is written -------------------------------------------------------------------


@pytest.mark.slow
def test_every_format_answers_as_the_checkpoint(case: Case) -> None:
    planes, values = case.vectors["planes"], case.vectors["values"]
    assert planes.dtype == np.uint8
    assert values.std() > 3 * INT8, "values that hardly differ would show nothing"
    np.testing.assert_array_equal(case.evaluator(planes), values)
    for name in FORMATS:
        for place in (case.out, case.out.with_name("out.zip")):
            evaluator = athenan.load_evaluator(f"{place}:{name}", trust=True)
            tolerance = INT8 if name == "tflite_int8" else 1e-5
            none = [] if name in ("saved_model", "keras") else [0]  # TensorFlow wants a state
            for rows in (*none, 1, 3, 64, len(planes)):
                answers = evaluator(planes[:rows])
                assert answers.shape == (rows,)
                assert answers.dtype == np.float32
                np.testing.assert_allclose(answers, values[:rows], atol=tolerance)
            assert evaluator.heuristic == case.evaluator.heuristic
            assert evaluator.game.name == case.evaluator.game.name
    large = np.tile(planes, (12, 1, 1, 1))[:2050]
    answers = athenan.load_evaluator(f"{case.out}:tflite_int8")(large)
    np.testing.assert_allclose(answers, case.evaluator(large), atol=INT8)


@pytest.mark.slow
def test_what_the_bundle_says(case: Case) -> None:
    facts = json.loads((case.out / "evaluator.json").read_text())
    game = case.evaluator.game
    assert set(facts["formats"]) == set(FORMATS)
    assert facts["planes"]["channels"] == list(game.channels)
    assert facts["rules"]["fingerprint"] == fingerprint(game)
    assert facts["training"]["games"] == case.evaluator.state["games"] >= 16
    assert facts["training"]["samples"] > 0
    assert facts["values"]["bound"] == (1 if game.name == "hex" else 18)  # twice nine plies
    assert "replay" in facts["calibration"]
    written = {str(p.relative_to(case.out)) for p in case.out.rglob("*") if p.is_file()}
    assert written == {*facts["files"], "evaluator.json"}
    with zipfile.ZipFile(case.out.with_name("out.zip")) as archive:
        assert {name for name in archive.namelist() if name[-1] != "/"} == {
            f"out/{name}" for name in written
        }
    states = json.loads((case.out / "states.json").read_text())
    for entry, planes, value in zip(states, *case.vectors.values(), strict=True):
        state = game.initial_state()
        for word in entry["actions"].split():
            state = state.play(state.string_to_action(word))
        assert str(state) == entry["text"]
        np.testing.assert_array_equal(state.planes(), planes)
        assert entry["value"] == pytest.approx(float(value))


@pytest.mark.slow
def test_the_readme_runs_without_athenan(case: Case) -> None:
    text = (case.out / "README.md").read_text()
    found = re.findall(r"## (\w+)\n.*?```python\n(.*?)```", text, re.DOTALL)
    blocks = sorted(found, key=lambda block: "import tensorflow" in block[1] or "keras" in block[0])
    assert {name for name, _ in blocks} == set(FORMATS)
    assert all(len(lines.splitlines()) <= 14 for _, lines in blocks)
    code = "import sys\nsys.modules['athenan'] = None\n"
    for name, lines in blocks:
        code += lines
        if "tflite" in name or "onnx" in name:
            code += "assert 'tensorflow' not in sys.modules\n"
    printed = subprocess.run(
        [sys.executable, "-c", code], cwd=case.out, capture_output=True, text=True, check=True
    ).stdout
    for (name, _), line in zip(blocks, printed.splitlines(), strict=True):
        assert float(line) <= (INT8 if name == "tflite_int8" else 1e-5)


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("kind", ["conv", "residual"])
def test_networks_of_any_number_of_players(kind: str, players: int, tmp_path: Path) -> None:
    words = [f"network={kind}", "network.filters=8", "network.layers=2", "network.dense=8"]
    model = make_model(compose("train", words).network, (5, 4, 3), players, seed=1)
    planes = np.random.default_rng(0).integers(0, 2, (100, 5, 4, 3), np.uint8)
    expected = NetworkEvaluator(model)(planes)
    formats = ["tflite", "tflite_int8", "onnx"]
    write_networks(tmp_path, model, formats, planes)
    for name in formats:
        answers = load_network(name, tmp_path, threads=1)(planes)
        assert answers.shape == expected.shape == ((100,) if players == 2 else (100, 3))
        tolerance = INT8 if name == "tflite_int8" else 1e-5
        np.testing.assert_allclose(answers, expected, atol=tolerance)
    small = [(tmp_path / FORMATS[name].file).stat().st_size for name in formats]
    assert small[1] < small[0]


def test_int8_of_an_output_that_has_no_weights(tmp_path: Path) -> None:
    """Its bias must not overflow on the grid of a kernel of zeros."""
    words = ["network=conv", "network.filters=8", "network.layers=2", "network.dense=8"]
    model = make_model(compose("train", words).network, (5, 4, 3), 2, seed=1)
    kernel, bias = model.layers[2].weights
    kernel.assign(np.where(np.arange(8) == 3, 0, kernel.numpy()))
    bias.assign(np.where(np.arange(8) == 3, 1, bias.numpy()))
    planes = np.random.default_rng(0).integers(0, 2, (100, 5, 4, 3), np.uint8)
    write_networks(tmp_path, model, ["tflite_int8"], planes)
    answers = load_network("tflite_int8", tmp_path, threads=1)(planes)
    np.testing.assert_allclose(answers, NetworkEvaluator(model)(planes), atol=INT8)


# ---- Where it is used ------------------------------------------------------------------


@pytest.mark.slow
def test_in_searches_matches_play_and_training(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    game: Any = athenan.make_game("tictactoe")
    checkpoint = athenan.load_checkpoint(bundle.parent / "tictactoe" / "one")
    exact = athenan.load_evaluator(bundle, game)
    assert exact.format == "tflite"
    found = []
    for evaluator in (checkpoint, exact, athenan.load_evaluator(f"{bundle}.zip:tflite_int8")):
        search = athenan.make_search("ubfm", game, evaluator, **evaluator.heuristic)
        found.append(search.run(game.initial_state(), evaluations=60))
    assert found[0].action == found[1].action
    assert found[0].value == pytest.approx(found[1].value, abs=1e-3)
    assert found[2].evaluations >= 60
    words = [f"first.evaluator={bundle}:tflite_int8", f"second.evaluator={bundle}.zip"]
    words += ["second.search=ubfm", "second.iterations=null", "second.evaluations=20"]
    words += ["game=tictactoe", "games=4", "opening_plies=2", "first.evaluations=20"]
    assert main(["match", *words]) == 0
    assert main(["solve", "game=tictactoe", f"evaluator={bundle}:tflite_int8"]) == 0
    monkeypatch.setattr("builtins.input", lambda _: "quit")
    assert main(["play", "game=tictactoe", "first=you", f"evaluator={bundle}"]) == 0
    reference = f"strength.references.uct={{search:ubfm,iterations:2,evaluator:'{bundle}:tflite'}}"
    words = [*SMALL, "games=4", "checkpoint.every_games=4", "strength.every_checkpoints=1"]
    assert main(["train", *words, "strength.games=2", "run=judged", reference]) == 0


@pytest.mark.slow
def test_bench(capsys: pytest.CaptureFixture[str], bundle: Path) -> None:
    words = f"checkpoint={bundle.parent / 'tictactoe' / 'one'} batches=[1,8] seconds=0.05 threads=1"
    assert main(["bench", "evaluator", *words.split(), "repeats=1", "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rates = json.loads(lines[-1])["states_per_second"]["1"]
    assert set(rates) == {"tensorflow", *FORMATS} - {"keras"}
    assert all(rate > 0 for of in rates.values() for rate in of)
    assert lines[1].split() == ["format", "threads", "batch", "1", "batch", "8"]


def test_without_its_replay_a_run_is_calibrated_on_new_games(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = tmp_path / "run"
    shutil.copytree(bundle.parent / "tictactoe" / "one", run)
    shutil.rmtree(run / "replay", ignore_errors=True)
    words = ["formats=[tflite_int8]", "vectors=10", "calibration_states=50"]
    capsys.readouterr()
    assert main(["export", f"checkpoint={run}", *words, f"out={tmp_path / 'out'}"]) == 0
    assert "calibrated on 50 states of new games, the run having no replay" in (
        capsys.readouterr().out
    )


# ---- Rules -----------------------------------------------------------------------------


def test_fingerprints() -> None:
    import nim

    class Renamed(nim.NimState):  # type: ignore[misc]
        def action_to_string(self, action: int) -> str:
            return f"take {action}"

    class Other(nim.Nim):  # type: ignore[misc]
        def initial_state(self) -> Any:
            return Renamed(self.heaps)

    def of(name: str, **options: Any) -> str:
        return fingerprint(athenan.make_game(name, **options))

    assert of("hex", size=5) == of("hex", size=5)
    assert of("go") == of("go", komi=7.5)
    found = [
        of("hex", size=5),
        of("hex", size=5, swap=True),
        of("hex", size=6),
        of("mnk"),
        of("mnk", rows=3, columns=5, k=3, players=3),
        of("rolit", players=4),
        of("go"),
        of("go", komi=7),
        of("go", draw_rules="none"),
        of("xiangqi"),
        of("xiangqi", draw_rules="none"),
        of("nim:Nim"),
        of("nim:Nim", heaps=(3, 4, 4)),
        fingerprint(athenan.make_game(Other())),
    ]
    assert len(set(found)) == len(found)


# ---- What is wrong ---------------------------------------------------------------------


def test_too_large_a_difference_writes_nothing(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = bundle.parent / "tictactoe" / "one"
    words = ["export", f"checkpoint={run}", "formats=[tflite,tflite_int8]", "vectors=20"]
    words += [f"out={tmp_path / 'out'}"]
    err = refused(capsys, [*words, "int8_tolerance=1e-9"], code=1)
    assert "Format 'tflite_int8' differs from the checkpoint by" in err
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "out.zip").write_text("mine")
    assert f"'{tmp_path / 'out.zip'}' exists" in refused(capsys, words)
    assert (tmp_path / "out.zip").read_text() == "mine"


def test_a_stop_leaves_nothing(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("athenan.export.writing.pack", stop)
    words = ["formats=[tflite]", "vectors=5", f"out={tmp_path / 'out'}"]
    assert main(["export", f"checkpoint={bundle.parent / 'tictactoe' / 'one'}", *words]) == 130
    assert list(tmp_path.iterdir()) == []


def test_a_missing_package_is_named(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = runtimes.importlib.util.find_spec  # type: ignore[attr-defined]
    missing = ("onnx", "ai_edge_litert")
    monkeypatch.setattr(
        runtimes.importlib.util,  # type: ignore[attr-defined]
        "find_spec",
        lambda name: None if name in missing else find(name),
    )
    err = refused(capsys, ["export", "formats=[onnx]"])
    assert "'onnx' needs the package 'onnx': pip install athenan[export]." in err
    err = refused(capsys, ["match", "game=tictactoe", f"first.evaluator={bundle}"])
    assert "'tflite' needs the package 'ai-edge-litert': pip install athenan[export]." in err


def damaged(bundle: Path, tmp_path: Path, what: str) -> str:
    """A copy of the bundle with something wrong; the `evaluator` setting that means it."""
    copy = tmp_path / "copy"
    if what.startswith("zip"):
        content = bundle.with_name("out.zip").read_bytes()
        (tmp_path / "copy.zip").write_bytes(
            content[: len(content) // 2] if what == "zip truncated" else b"PK nothing"
        )
        return str(tmp_path / "copy.zip")
    shutil.copytree(bundle, copy)
    facts = json.loads((copy / "evaluator.json").read_text())
    if what == "network":
        network = copy / "network.tflite"
        network.write_bytes(network.read_bytes()[:-100])
    elif what == "facts":
        (copy / "evaluator.json").write_text("{")
    elif what == "no facts":
        (copy / "evaluator.json").unlink()
    else:
        if what == "rules":
            facts["rules"]["fingerprint"] = "0" * 64
        elif what == "version":
            facts["version"] = 99
        else:
            group, _, entry = what.partition(".")
            facts[group] = {k: v for k, v in facts[group].items() if k != entry} if entry else []
        (copy / "evaluator.json").write_text(json.dumps(facts))
    return str(copy)


@pytest.mark.parametrize(
    ("what", "sentence"),
    [
        ("network", "is damaged: network.tflite is not what was written"),
        ("facts", "is damaged: evaluator.json cannot be read"),
        ("game", "is damaged: evaluator.json cannot be read"),
        ("planes.shape", "is damaged: evaluator.json cannot be read"),
        ("rules.fingerprint", "is damaged: evaluator.json cannot be read"),
        ("values.heuristic", "is damaged: evaluator.json cannot be read"),
        ("formats", "is damaged: evaluator.json cannot be read"),
        ("no facts", "is not an exported evaluator: it has no evaluator.json"),
        ("rules", "was exported for other rules or options of game 'tictactoe'"),
        ("version", "is of version 99; this athenan reads up to 2"),
        ("zip truncated", "is damaged or not an exported evaluator"),
        ("zip of nothing", "is damaged or not an exported evaluator"),
    ],
)
def test_a_wrong_bundle_is_refused(
    what: str, sentence: str, bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = damaged(bundle, tmp_path, what)
    err = refused(capsys, ["match", "game=tictactoe", f"first.evaluator={place}"])
    assert sentence in err
    assert place in err


# ---- What to trust ---------------------------------------------------------------------


def repacked(bundle: Path, place: Path, change: Any) -> str:
    """A copy of the archive whose entries went through `change(entry, content)`, which gives
    (entry, content) or None."""
    with zipfile.ZipFile(bundle.with_name("out.zip")) as old, zipfile.ZipFile(place, "w") as new:
        for entry in old.infolist():
            if made := change(entry, old.read(entry)):
                new.writestr(*made)
    return str(place)


def test_archives_are_looked_at_before_they_are_unpacked(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zipfile.ZipFile, "extractall", lambda *_: pytest.fail("it is unpacked"))

    def refused_for(sentence: str, change: Any) -> None:
        place = repacked(bundle, tmp_path / "hostile.zip", change)
        with pytest.raises(InputError, match=sentence):
            athenan.load_evaluator(place)

    def named(name: str) -> Any:
        return lambda entry, content: (
            name if entry.filename.endswith("README.md") else entry.filename,
            content,
        )

    for name in ("../out", "/out", "out/../../out", "..\\out", "C:/out"):
        refused_for("leads out of it", named(name))

    def link(entry: zipfile.ZipInfo, content: bytes) -> Any:
        if entry.filename.endswith("README.md"):
            entry.external_attr = 0o120777 << 16
        return entry, content

    refused_for("leads out of it", link)

    monkeypatch.setattr("athenan.export.bundle.MOST_BYTES", 1000)
    refused_for("would unpack to .* bytes", lambda *whole: whole)
    monkeypatch.setattr("athenan.export.bundle.MOST_BYTES", 2**30)
    monkeypatch.setattr("athenan.export.bundle.MOST_MEMBERS", 3)
    refused_for("would unpack to .* files", lambda *whole: whole)


def test_formats_that_run_code_need_trust(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run, out = bundle.parent / "tictactoe" / "one", tmp_path / "out"
    words = ["formats=[saved_model,keras,tflite_int8]", "vectors=5", f"out={out}"]
    assert main(["export", f"checkpoint={run}", *words]) == 0
    assert athenan.load_evaluator(out).format == "tflite_int8"  # type: ignore[attr-defined]
    for form in ("saved_model", "keras"):
        words = ["solve", "game=tictactoe", "iterations=1", f"evaluator={out}:{form}"]
        err = refused(capsys, words)
        assert f"Format '{form}' of '{out}' can run code: take another one, or say trust=" in err
        assert main([*words, "trust=true"]) == 0
    shutil.rmtree(tmp_path / "out" / "saved_model")
    facts = json.loads((out / "evaluator.json").read_text())
    facts["formats"] = {"keras": facts["formats"]["keras"]}
    facts["files"] = {"network.keras": facts["files"]["network.keras"]}
    (out / "evaluator.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match="can run code"):
        athenan.load_evaluator(out)


def test_a_network_without_a_checksum_is_refused(bundle: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(bundle, copy)
    facts = json.loads((copy / "evaluator.json").read_text())
    del facts["files"]["network.tflite"]
    (copy / "evaluator.json").write_text(json.dumps(facts))
    with pytest.raises(InputError, match=r"evaluator\.json cannot be read"):
        athenan.load_evaluator(copy)


@pytest.mark.slow
def test_a_file_never_chooses_what_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs and exports of a game of one's own: the user names the game, or says trust=true."""
    monkeypatch.chdir(tmp_path)
    Path("own_game.py").write_text("from nim import Nim\nopen('ran', 'w')\n")
    named = ["game=own_game:Nim", "game.heaps=[1,2]"]
    words = ["network.filters=4", "self_play.games_in_step=8", "learn.first_fit_states=64"]
    words += ["network.layers=1", "strength.every_checkpoints=0", "games=8", "run=one"]
    assert main(["train", *named, *words]) == 0
    run = Path("checkpoints/own_game.Nim/one")
    assert main(["export", *named[:1], "formats=[tflite]", "vectors=5", "out=out"]) == 0

    def forget() -> None:
        sys.modules.pop("own_game", None)
        Path("ran").unlink(missing_ok=True)

    refusals = [
        ["export", f"checkpoint={run}", "formats=[tflite]", "out=other"],
        ["export", "game=nim:Nim", f"checkpoint={run}", "formats=[tflite]", "out=other"],
        ["match", "game=tictactoe", f"first.checkpoint={run}"],
        ["train", f"resume={run}", "games=9"],
        ["bench", "evaluator", f"checkpoint={run}"],
    ]
    for refusal in refusals:
        forget()
        err = refused(capsys, refusal)
        assert "is of game 'own_game:Nim', whose code would run: name the game" in err
        assert not Path("ran").exists()
    for load in (athenan.load_evaluator, athenan.load_checkpoint):
        forget()
        with pytest.raises(InputError, match="whose code would run"):
            load("out" if load is athenan.load_evaluator else run)
        assert not Path("ran").exists()
    # The run's own config does not speak for the user.
    config = run / "config.yaml"
    config.write_text(config.read_text().replace("trust: false", "trust: true"))
    refused(capsys, ["train", f"resume={run}", "games=9"])
    assert not Path("ran").exists()

    assert main(["train", f"resume={run}", "games=9", "game=own_game:Nim"]) == 0
    forget()
    assert main(["train", f"resume={run}", "games=10", "trust=true"]) == 0
    forget()
    assert main(["solve", *named, "iterations=1", "evaluator=out"]) == 0
    forget()
    assert athenan.load_evaluator("out", trust=True).game.name == "nim"  # type: ignore[attr-defined]
    assert Path("ran").exists()


def test_a_format_or_game_that_is_not_there(
    bundle: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for form, sentence in {
        "tflit": "no format 'tflit'; did you mean 'tflite'?",
        "onnx": "has no format 'onnx', only tflite, tflite_int8.",
    }.items():
        words = ["match", "game=tictactoe", f"first.evaluator={bundle}:{form}"]
        assert sentence in refused(capsys, words)
    for game in ("connect_four", "hex7"):
        err = refused(capsys, ["match", f"game={game}", f"first.evaluator={bundle}"])
        assert "is of {'name': 'tictactoe'}, another game." in err
    with pytest.raises(InputError, match=r"takes planes of \(3, 3, 4\)"):
        athenan.load_evaluator(bundle)(np.zeros((2, 4, 4, 4), np.uint8))
