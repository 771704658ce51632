"""The `athenan` program: one sentence for whatever is wrong, and what its commands answer."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import answer, figures, run

from athenan.command import COMMANDS, USAGE
from athenan.config import compose, plain, sweep
from athenan.games import configs_folder, make_game
from athenan.search import make_search


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# ---- What is wrong ---------------------------------------------------------------------

WRONG = {
    "gmes": "no command 'gmes'; did you mean 'games'?",
    "--versoin": "no command '--versoin'",
    "games x=1": "takes no setting such as 'x=1'",
    "games --jsn": "no flag '--jsn'; did you mean '--json'?",
    "train gmae=hex": "no setting 'gmae'; did you mean 'game'?",
    "train game=hexx": "no game 'hexx'; did you mean 'hex'?",
    "train game.sise=3": "'connect_four' has no option 'sise'",
    "train network.filters=-1": "'network.filters' must be from 1 to 4096, not -1",
    "train network.fliters=8": "no setting 'network.fliters'; did you mean 'network.filters'?",
    "train network=convv": "no network 'convv'; did you mean 'conv'?",
    "train experiment=hex77": "no experiment 'hex77'; did you mean 'hex7'?",
    "train resume=/no/such": "no run '/no/such'",
    "train resume=latest": "no run in 'checkpoints' yet",
    "train fork=/no/such": "no run '/no/such'",
    "train minutes=soon": "'minutes'",
    "train minutes=-1": "'minutes' must be above 0",
    "train games=0": "'games' must be at least 1, not 0",
    "train checkpoint.every_games=0": "'checkpoint.every_games' must be at least 1, not 0",
    "train exploration.name=ordnal": "not 'ordnal'; did you mean 'ordinal'?",
    "train search.name=decent": "no search 'decent'; did you mean 'descent'?",
    "train replay.uses=0": "'replay.uses'",
    "train replay.name=plan": "not 'plan'; did you mean 'plain'?",
    "train learn.batch_size=0": "'learn.batch_size'",
    "train learn.first_fit_states=-1": "'learn.first_fit_states'",
    "train resolved.states=-1": "'resolved.states'",
    "train self_play.batch_sizes=[]": "'self_play.batch_sizes' must have at least one value",
    "train self_play.batch_sizes=[64,16]": "'self_play.batch_sizes' must ascend, not be [64, 16]",
    "train self_play.evaluations=0": "needs a budget",
    "train self_play.target=three": "not 'three'; did you mean 'tree'?",
    "train self_play.games_in_step=0": "'self_play.games_in_step' must be from 1 to 1000000, not 0",
    "train heuristic=score": "no score",
    "train heuristic.name=scroe": "not 'scroe'; did you mean 'score'?",
    "train layout.name=rai": "'layout.name' must be inline or ray, not 'rai'",
    "train game=tic_tac_mo search=descent": "two players; game 'mnk' has 3: take",
    "train game=null": "no game 'None'",
    "train experiment=null": "no experiment 'None'",
    "train game=hex,othello": "--multirun",
    "train seed=-1": "seed",
    "train strength.references.uct.search=utc": "no search 'utc'",
    "train run=[a": "'run=[a' cannot be read",
    "train --multirun run=[a": "'run=[a' cannot be read",
    "train strength.references.utc.iterations=5": "'strength.references.uct.iterations'?",
    "train strength.best_by=utc": "names no reference: 'utc'; did you mean 'uct'?",
    "train ~seed": "cannot be taken away",
    "train seed.x=1": "no setting 'seed.x'",
    "train network=conv --cfg=jbo": "'--cfg' takes 'job', not 'jbo'",
    "train game=hexx --help": "no game 'hexx'",
    "train checkpoints=/dev/null": "/dev/null",
    "train game": "'game' is not a setting",
    "train --mutlirun": "no flag '--mutlirun'; did you mean '--multirun'?",
    "train game=nothing:Here": "no Python module 'nothing'",
    "train game=json:JSONDecoder": "not an athenan.PythonGame",
    "solve game=hex game.sise=3": "'hex' has no option 'sise'; did you mean 'size'?",
    "solve game=hex game.size=99": "size",
    "solve game=hex game.size=three": "size",
    "solve search=descnet": "no search 'descnet'; did you mean 'descent'?",
    "solve search.name=descnet": "no search 'descnet'",
    "solve search.order=random": "'search.order': search 'descent' has no option 'order'",
    "solve evaluator=rolout": "no evaluator 'rolout'; did you mean 'rollout'?",
    "solve heuristic=score": "no score",
    "solve heuristic=presence": "no captures",
    "solve start=z9": "'start'",
    "solve search=uct": "resolves nothing: give it seconds=… or iterations=…",
    "train search=uct": "Search 'uct' has no tree of values to learn from",
    "solve strong=maybe": "'strong'",
    "solve seconds=-1": "seconds",
    "solve iterations=0": "'iterations' must be at least 1, not 0",
    "solve seed=-1": "seed",
    "solve search.memory_mb=0": "'search.memory_mb' must be ",
    "solve game=tic_tac_mo search=ubfm": "for two players",
    "solve --check /no/such": "no file '/no/such'",
    "solve --check /": "not a whole proof file",
    "solve --check": "'--check' needs a value",
    "solve --check x game=hex": "--check takes the game and its options from the file",
    "solve --chekc x": "no flag '--chekc'; did you mean '--check'?",
    "solve --out /no/such/proof.npz": "/no/such/proof.npz",
    "match first.search=ubmf": "no search 'ubmf'; did you mean 'ubfm'?",
    "match frist.search=ubfm": "no setting 'frist.search'; did you mean 'first.search'?",
    "match first.checkpoint=/no/such": "no run '/no/such'",
    "match first.evaluator=zreo": "no evaluator 'zreo'; did you mean 'zero'?",
    "match first.decision=safe": "'first.decision'; did you mean 'first.search.decision'?",
    "match second.iterations=0": "'second.iterations' must be at least 1, not 0",
    "match games=1": "'games' must be at least 2, not 1",
    "match game=tic_tac_mo first.search=ubfm first.evaluations=9": "game 'mnk' has 3: take",
    "match first.search.decision=safe": "must be safest, best or safest_printed",
    "match second.iterations=null": "'second' needs a budget",
    "match second.search.order=best": "search 'uct' has no option 'order'",
    "match seed=-1": "seed",
    "play first=nobody": "'first' must be me or you, not 'nobody'",
    "play seconds=0": "'seconds' must be above 0",
    "play evaluations=-1": "'evaluations' must be at least 1, not -1",
    "play threads=0": "thread",
    "play search=ubmf": "no search 'ubmf'",
    "play game=tic_tac_mo checkpoint=latest": "no run",
    "match first.evaluator=/no/such": "no exported evaluator '/no/such'",
    "match first.evaluator=/no/such.zip:onnx": "no exported evaluator '/no/such.zip'",
    "match first.evaluator=/:onnx": "'/' is not an exported evaluator: it has no evaluator.json",
    "match first.evaluator=/dev/null": "'/dev/null' is damaged or not an exported evaluator",
    "play evaluator=no/such:tflite": "no exported evaluator 'no/such'",
    "train strength.references.uct={search:ubfm,iterations:9,evaluator:no/such}": "'no/such'",
    "export": "no run in 'checkpoints' yet",
    "export game=hex": "no run of game 'hex' in 'checkpoints' yet",
    "export checkpoint=/no/such": "no run '/no/such'",
    "export formats=[tflit]": "not 'tflit'; did you mean 'tflite'?",
    "export formats=[]": "'formats' must have at least one value",
    "export vectors=0": "'vectors' must be from 1 to 1000000, not 0",
    "export tolerance=0": "'tolerance' must be above 0",
    "export otu=x": "no setting 'otu'; did you mean 'out'?",
    "bench": "Say what to measure: rules, search, selfplay, evaluator",
    "bench evaluator formats=[onx]": "not 'onx'; did you mean 'onnx'?",
    "bench evaluator batches=[0]": "'batches' must be from 1 to 1000000, not 0",
    "bench evaluator checkpoint=/no/such": "no run '/no/such'",
    "bench ruels": "did you mean 'rules'?",
    "bench rules game=hexx": "no game 'hexx'",
    "bench rules repeats=0": "repeats",
    "bench search threads=0": "thread",
}


@pytest.mark.parametrize("words", WRONG)
def test_one_sentence_for_whatever_is_wrong(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, words)
    assert code == 2
    assert out == ""
    assert err.startswith("athenan: ")
    assert err.count("\n") == 1
    assert WRONG[words] in err
    assert err.rstrip("\n").endswith((".", "?"))
    assert not err.rstrip("\n").endswith(("..", "?."))
    assert not list(Path().glob("checkpoints/*/*")), "no folder of a run that never began"


def test_no_traceback_in_a_process_of_its_own() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "athenan.command", "train", "gmae=hex"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "athenan: There is no setting 'gmae'; did you mean 'game'?\n"


# ---- Help and start --------------------------------------------------------------------


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ("", "--help", "-h", "help"):
        assert answer(capsys, words) == USAGE
    for name in COMMANDS:
        assert f"\n  {name} " in USAGE
        for flag in ("--help", "-h"):
            text = answer(capsys, [name, flag])
            assert text.startswith(f"athenan {name}")
            assert len(text.splitlines()) >= 3
    assert answer(capsys, "--version").startswith("athenan 0")


def test_listing_games_is_quick_and_imports_little() -> None:
    code = (
        "import sys; from athenan.command import main; main(['games', '--json']);"
        "print([m for m in ('tensorflow', 'keras', 'hydra', 'omegaconf') if m in sys.modules])"
    )
    seconds = []
    for _ in range(3):
        started = sum(os.times()[2:4])  # of children: other work on the machine is not meant
        out = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        seconds.append(sum(os.times()[2:4]) - started)
        assert out.splitlines()[-1] == "[]"
    assert min(seconds) < 0.5


@pytest.mark.parametrize("words", [["solve"], ["match", "games=2", "first.evaluations=5"]])
def test_only_networks_import_tensorflow(words: list[str]) -> None:
    code = (
        f"import sys; from athenan.command import main; main({words});"
        "assert 'tensorflow' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)


def test_games(capsys: pytest.CaptureFixture[str]) -> None:
    games = {entry["name"]: entry for entry in figures(capsys, "games")["games"]}
    assert games["hex"]["branching"] == 121
    assert games["connect_four"]["board"] == [6, 7]
    assert games["tictactoe"]["longest"] == 9
    assert games["mnk"]["configs"] == ["mnk", "tic_tac_mo"]
    assert {name for entry in games.values() for name in entry["configs"]} == set(members("game"))
    assert {option["name"] for option in games["hex"]["options"]} == {"size", "swap"}
    lines = answer(capsys, "games").splitlines()
    assert len(lines) == len(games) + 1


# ---- Configs ---------------------------------------------------------------------------


def members(group: str) -> list[str]:
    return sorted(path.stem for path in (configs_folder() / group).glob("*.yaml"))


@pytest.mark.parametrize("experiment", members("experiment"))
def test_every_experiment_composes(experiment: str) -> None:
    config = compose("train", [f"experiment={experiment}"])
    assert config.experiment_name == experiment
    assert config.minutes or config.games


NO_GROUPS = {"experiment", "game", "engine"}  # have tests of their own
GROUPS = {p.name for p in configs_folder().iterdir() if p.is_dir()} - NO_GROUPS


@pytest.mark.parametrize("group", sorted(GROUPS))
def test_every_group_composes(group: str) -> None:
    for name in members(group):
        root = "solve" if group in ("search", "heuristic") else "train"
        config = compose(root, [f"{group}={name}"])
        chosen = plain(getattr(config, group))
        assert name in (chosen.get("name"), chosen.get("kind")) or group in ("network", "layout")


def test_every_engine_composes() -> None:
    for name in members("engine"):
        config = compose("match", [f"first={name}", f"second={name}"])
        assert config.first == config.second
        assert config.first.engine
        assert config.first.install


@pytest.mark.slow
def test_every_game_composes() -> None:
    for name in members("game"):
        make_game(**compose("play", [f"game={name}"]).game)


def test_settings_win_over_presets() -> None:
    config = compose("train", ["experiment=hex7", "minutes=1", "game.size=5", "network=residual"])
    assert (config.minutes, config.game["size"], config.network.kind) == (1, 5, "residual")
    assert config.self_play.evaluations == 400


def test_a_game_of_its_own_does_not_take_the_default_preset() -> None:
    preset = compose("train", [])
    assert (preset.game["name"], preset.self_play.games_in_step) == ("connect_four", 512)
    for words in (["game=hex"], ["game=hex", "games=5"], ["game=nim:Nim"]):
        assert compose("train", words).self_play.games_in_step == 256
    assert compose("train", ["experiment=hex7", "game.size=5"]).self_play.games_in_step == 64


def test_a_name_takes_the_options_of_another_away() -> None:
    given = ["search.order=random", "search.name=umb", "game=hex", "game.size=7"]
    config = compose("bench", given)
    assert (config.search["name"], config.search["order"]) == ("umb", "random")
    assert config.search["new_states"] == 1, "not of the file umb.yaml, which was not chosen"
    assert config.game == {"name": "hex", "size": 7, "swap": False}
    assert compose("bench", ["search=umb"]).search["new_states"] == 4


def test_players() -> None:
    config = compose("match", ["second.search=umb", "second.search.order=random"])
    assert config.first.search["name"] == "ubfm"
    assert (config.second.search["name"], config.second.search["order"]) == ("umb", "random")
    assert config.second.search["memory_mb"] == 64
    words = ["strength.references.mine={search: {name: uct, exploration: 2}, iterations: 9}"]
    references = compose("train", [*words, "~strength.references.random"]).strength.references
    assert set(references) == {"uct", "mine"}
    assert references["mine"].search == {"name": "uct", "exploration": 2.0}
    assert references["uct"].iterations == 200


def test_sweep() -> None:
    assert sweep(["seed=0,1", "games=5", "network=conv,residual"]) == [
        ["seed=0", "games=5", "network=conv"],
        ["seed=0", "games=5", "network=residual"],
        ["seed=1", "games=5", "network=conv"],
        ["seed=1", "games=5", "network=residual"],
    ]
    assert sweep(["seed=range(3)"]) == [["seed=0"], ["seed=1"], ["seed=2"]]
    assert sweep(["self_play.batch_sizes=[16,64]"]) == [["self_play.batch_sizes=[16,64]"]]
    assert sweep([]) == [[]]


# ---- Matches and play ------------------------------------------------------------------


def test_match(capsys: pytest.CaptureFixture[str]) -> None:
    words = "match game=tictactoe games=8 opening_plies=2 first.evaluations=30 second.search=random"
    found = figures(capsys, words)
    assert found["games"] == 8 == found["wins"] + found["draws"] + found["losses"]
    assert found["low"] <= found["score"] <= found["high"]
    again = figures(capsys, words)
    assert {**again, "seconds": 0} == {**found, "seconds": 0}


def played(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    settings: str,
    lines: list[str],
) -> str:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
    return answer(capsys, f"play game=tictactoe seconds=null evaluations=200 {settings}")


def test_play(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    out = played(capsys, monkeypatch, "", ["help", "hint", "values", "b2", "undo", "c3", "quit"])
    assert "You are first." in out
    assert out.count("program: ") == 2, "it answers b2 and, after undo, c3"
    assert "selections" in out
    assert "line: " in out
    assert out.count("hint") >= 2
    out = played(capsys, monkeypatch, "first=you", ["z9", "", "actions", "undo", "quit"])
    assert "You are second." in out
    assert "z9" in out
    assert out.count("program: ") == 2, "undo of its first action makes it play again"


def test_play_to_the_end(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [f"{column}{row}" for column in "abc" for row in "123"]
    out = played(capsys, monkeypatch, "first=you", cells * 2)
    assert out.rstrip().endswith(("The program wins.", "A draw.")), "perfect play never loses"
    out = played(capsys, monkeypatch, "", ["a1"])
    assert out.endswith("you: \n"), "the end of the input ends the game"


@pytest.mark.parametrize("budget", ["seconds=0.02", "seconds=null evaluations=300"])
def test_three_play_by_rollouts(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, budget: str
) -> None:
    cells = [f"{column}{row}" for column in "abcde" for row in "123"]
    lines = "".join(f"{line}\n" for line in ["values", "hint", *cells])
    monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
    out = answer(capsys, f"play game=tic_tac_mo {budget}")
    assert out.rstrip().endswith(("You win.", "The program wins.", "A draw."))
    assert "selections" in out


def test_rollouts_take_the_win_of_whoever_moves() -> None:
    game = make_game("mnk", rows=3, columns=5, players=3, k=3)
    state = game.initial_state()
    for word in ["a1", "a2", "a3", "b1", "b2", "e3"]:
        state = state.play(state.string_to_action(word))
    for win, miss in ("c1", "e2"), ("c2", "e1"):
        result = make_search("uct", game).run(state, evaluations=3000)
        assert result.action == state.string_to_action(win)
        assert result.value[state.to_move] > 0.9
        state = state.play(state.string_to_action(miss))


def test_the_class_of_searches_plays_by_its_rules(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of `umb` are options by name, in matches and in play."""
    rules = ["search=umb", "search.continue_rule=chance", "search.order=random"]
    config = compose("match", [f"first.{word}" for word in rules])
    wanted = {"name": "umb", "continue_rule": "chance", "order": "random", "stop_probability": 0.5}
    assert wanted.items() <= config.first.search.items()
    assert wanted.items() <= compose("play", rules).search.items()
    words = ["match", "game=tictactoe", "games=4", "opening_plies=1", "first.evaluations=50"]
    words += [*(f"first.{word}" for word in rules), "second.search=random"]
    assert "of 4 games" in answer(capsys, words)
