"""Studies: the protocol's pairs and blocks, real networks, kills, and what is told."""

import csv
import itertools
import json
import runpy
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from commands import answer, figures, run
from runs import train

from athenan import experiment as studies
from athenan.command import main
from athenan.config import compose, group_files
from athenan.errors import InputError
from athenan.experiment import Experiment
from athenan.saved_games import read_games
from athenan.settings import ExperimentSettings

KILLED = Path(__file__).with_name("killed_games.py")
TINY = [
    "study=completion",
    "games=[tictactoe]",
    "sets=['hash,zero']",
    "first.evaluations=12",
    "second.evaluations=12",
    "threads=1",
    "resamples=500",
]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def config(*words: str) -> ExperimentSettings:
    return compose("experiment", [*TINY, *words])


def played(made: Experiment) -> None:
    made.note()
    with made.work() as work:
        made.play(work)


# ---- The protocol --------------------------------------------------------------------------------


@pytest.mark.parametrize(("same", "wanted"), [("true", 450), ("false", 420)])
def test_every_ordered_pair_is_played_in_both_colours(same: str, wanted: int) -> None:
    """As many matches of a set of fifteen networks as the paper has."""
    named = ",".join(f"export{number}" for number in range(15))
    made = Experiment(config(f"sets=['{named}']", f"same={same}"))
    assert len(made.fixtures) == len({f.key for f in made.fixtures}) == wanted
    seats = Counter(fixture.seats for fixture in made.fixtures)
    assert set(seats.values()) == {1}
    assert all({seat.split(" / ")[0] for seat in s} == {"first", "second"} for s in seats)
    assert {fixture.opening.ply for fixture in made.fixtures} == {0}


def test_the_players_differ_in_what_is_studied() -> None:
    found = compose("experiment", ["study=completion"])
    assert studies.differences(found) == ["search.completion: True against False"]
    assert found.first.search["decision"] == "safest_printed"
    assert found.first.evaluations == 1000
    assert found.games == [
        "ataxx5", "othello6", "othello", "breakthrough6", "connect_four", "hex7"
    ]  # fmt: skip


@pytest.mark.parametrize("name", group_files("study"))
def test_every_study_is_one(name: str) -> None:
    found = compose("experiment", [f"study={name}"])
    assert found.study_name == name
    assert studies.differences(found)
    studies.published_figures(found)


def test_the_papers_figures_are_those_of_its_table() -> None:
    """22 games, whose plain mean is not the printed overall figure."""
    found = studies.published_figures(compose("experiment", ["study=completion"]))
    whole = [text for game, text in found.items() if "(" not in text and game != "all"]
    assert len(whole) == 22
    assert sum(int(text.split()[0]) for text in whole) == 161
    assert found["all"].startswith("6.34 ")
    assert set(found) - {"all"} <= set(group_files("game"))


def test_a_known_effect_is_found() -> None:
    """Who searches more with the same evaluators wins more; both means are told."""
    made = Experiment(config("first.evaluations=60", "second.evaluations=1", "sets=['hash,zero']"))
    played(made)
    with made.work() as work:
        means = made.means(work)
    mean = means.games["tictactoe"]
    assert mean.matches == 8
    assert mean.value > 0.2
    assert mean.low <= mean.value <= mean.high
    assert means.of_games.value == means.of_matches.value == mean.value


def test_scores_are_of_the_first_player_in_blocks() -> None:
    """By hand, from the saved games."""
    made = Experiment(config("sets=['hash,zero','rollout,hash']"))
    played(made)
    scores: dict[str, list[float]] = {}
    for game in read_games(made.folder / "games.jsonl"):
        _, own, _, _, colour = game.event.split(" / ")
        assert game.outcomes is not None
        scores.setdefault(own, []).append(game.outcomes[0 if colour == "first" else 1])
    with made.work() as work:
        mean = made.means(work).games["tictactoe"]
        blocks = made.blocks(work)["tictactoe"]
    assert mean.value == pytest.approx(np.mean([np.mean(own) for own in scores.values()]))
    assert [len(own) for own in scores.values()] == [8, 8]
    for name, own in scores.items():
        assert sorted(map(len, blocks[name])) == [2, 2, 4], "those of i and i, of j and j, of both"
        assert sorted(itertools.chain(*blocks[name])) == sorted(own)


@pytest.mark.parametrize("study", group_files("study"))
def test_the_script_trains_what_a_study_plays(study: str) -> None:
    script = runpy.run_path(str(Path(__file__).parents[2] / "scripts" / "study.py"))
    found = compose("experiment", [f"study={study}", "last=4"])
    wanted = script["runs_wanted"](found)
    assert len(wanted) == len({name for _, name, _ in wanted})
    for game, name, seed in wanted:
        settings = compose("train", script["training"](found, game, name, seed, 12.0))
        assert (settings.run, settings.seed, settings.minutes) == (name, seed, 12)
        assert settings.game == compose("play", [f"game={game}"]).game
        assert settings.checkpoint.keep == 4
        assert settings.checkpoint.every_minutes == 1.5
        assert not script["is_whole"](found, game, name)


# ---- Wrong words ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("games=[tic_tac_mo]", "games for two"),
        ("games=[tictacto]", "no game 'tictacto'"),
        ("sets=['nope']", "no run 'nope'"),
        ("sets=['hash,hash']", "has an evaluator twice"),
        ("sets=['hash,nope']", "no evaluator 'nope'"),
        ("study_name=.x", "no name of a study"),
        ("published=['x']", "'published' has 'game: figure'"),
        ("study=nothing", "no study 'nothing'"),
        ("sets=[]", "'sets' must have at least one value"),
    ],
)
def test_what_is_no_study_is_told(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, ["experiment", *TINY, words])
    assert (code, err.count("\n")) == (2, 1)
    assert told in err


@pytest.mark.parametrize("word", ["seed=1", "first.evaluations=13", "sets=['hash,rollout']"])
def test_another_study_does_not_go_on_under_the_same_name(word: str) -> None:
    names = ["sets=['x,hash']"] if "sets" in word else []
    Experiment(config(*names)).note()
    other = config(*names, word)
    if names:
        Experiment(other).note()  # one set more
        return
    with pytest.raises(InputError, match="study_name"):
        Experiment(other).note()


def test_a_damaged_note_is_told() -> None:
    made = Experiment(config())
    made.note()
    path = made.folder / "study.yaml"
    text = path.read_text()
    for wrong in (text.replace("players:", "playres:"), text.replace("sets:", "x:"), "- 1\n"):
        path.write_text(wrong)
        with pytest.raises(InputError, match=r"study\.yaml"):
            made.note()


# ---- Real networks, kills and files --------------------------------------------------------------


@pytest.mark.slow
def test_a_study_of_real_networks_is_killed_and_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tiny = ["network=nnue", "network.filters=8", "network.dense=8", "checkpoint.every_games=8"]
    for name, seed in (("one", 0), ("two", 1)):
        train(name, *tiny, "games=24", f"seed={seed}")
    capsys.readouterr()
    words = [*TINY, "sets=[one,two]", "last=3"]
    done = subprocess.run(
        [sys.executable, KILLED, "8", "experiment", *words, "games_in_step=2"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["lost"] == 0
    assert told["kills"] >= 1
    assert told["total"] == 2 * 3 * 3 * 2
    found = figures(capsys, ["experiment", *words])
    straight = figures(capsys, ["experiment", *words, "study_name=straight"])
    assert {**found, "folder": ""} == {**straight, "folder": ""}
    assert found["games"]["tictactoe"]["matches"] == 36
    folder = Path(found["folder"])
    both = [
        {game.event: game.actions for game in read_games(place / "games.jsonl")}
        for place in (folder, folder.with_name("straight"))
    ]
    assert both[0] == both[1], "whatever was killed, each match goes as it would have gone"
    assert len((folder / "games.jsonl").read_text().splitlines()) == 36

    # The same runs in a tournament, with the picture of rating over training time.
    words = ["tournament", "runs=[one,two]", "player.evaluations=20", "games=2", "threads=1"]
    ratings = figures(capsys, words)
    assert {player["run"] for player in ratings["players"]} == {"one", "two"}
    assert (Path(ratings["folder"]) / "training.svg").exists()

    # And a set of the last checkpoints that does not have as many.
    assert main(["experiment", *TINY, "sets=[one]", "last=9", "study_name=more"]) == 2
    assert "wants more" in capsys.readouterr().err


def test_the_table_has_the_papers_figures_beside(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["experiment", *TINY, "published=['tictactoe: 55 ± 2','all: 6.34']"]
    told = answer(capsys, words).splitlines()
    row = next(line for line in told if line.startswith("tictactoe "))
    assert row.endswith("55 ± 2")
    assert sum(line.endswith("6.34") for line in told) == 2
    assert "search.completion: True against False" in told
    folder = Path("checkpoints/studies/completion")
    with (folder / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["game"] for row in rows] == ["tictactoe", "mean of games", "mean of matches"]
    assert rows[0]["published"] == "55 ± 2"
    results = json.loads((folder / "results.json").read_text())
    assert results["games"]["tictactoe"]["value"] == float(rows[0]["score"])
    assert f"{100 * float(rows[0]['score']):+.2f} [" in row
