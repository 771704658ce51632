"""Tournaments: who meets whom, kills and company, and what is told of the games."""

import csv
import html.parser
import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from commands import answer, figures, run

from athenan.charts import Curve, Point, curves, ticks
from athenan.checkpoint import Part, write_checkpoint
from athenan.config import compose
from athenan.errors import InputError
from athenan.implied import completed
from athenan.saved_games import SavedGame, read_games
from athenan.settings import TournamentSettings
from athenan.standings import pictures, rating_rows, standings
from athenan.tournament import Tournament, entrants, tables, thinned
from athenan.worklist import WorkList

KILLED = Path(__file__).with_name("killed_games.py")
PLAYERS = [
    "players.a={search: random}",
    "players.b.search=uct",
    "players.b.iterations=10",
    "players.c.evaluator=hash",
    "players.c.evaluations=12",
]
TINY = ["game=tictactoe", *PLAYERS, "games=4", "opening_plies=1", "threads=1"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def config(*words: str) -> TournamentSettings:
    return compose("tournament", [*TINY, *words])


def games_of(path: Path) -> dict[str, list[str]]:
    """Actions by keys; each key once."""
    games = list(read_games(path))
    found = {game.event: game.actions for game in games}
    assert len(found) == len(games), "a game was played twice"
    return found


# ---- Who meets whom ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "each", "wanted"),
    [
        ([], 2, ["ab", "ac", "ad", "bc", "bd", "cd"]),
        ([], 3, ["abc", "abd", "acd", "bcd"]),
        (["format=gauntlet"], 2, ["ab", "ac", "ad"]),
        (["format=gauntlet", "challengers=[c,d]"], 2, ["ca", "cb", "da", "db"]),
        (["format=gauntlet"], 3, ["abc", "abd", "acd"]),
        (["format=ladder"], 2, ["ab", "bc", "cd"]),
        (["format=ladder", "reach=2"], 2, ["ab", "ac", "bc", "bd", "cd"]),
        (["format=ladder"], 3, ["abc", "bcd"]),
    ],
)
def test_who_meets_whom(words: list[str], each: int, wanted: list[str]) -> None:
    assert ["".join(table) for table in tables(config(*words), "abcd", each)] == wanted


def test_openings_are_shared_and_every_seat_is_taken() -> None:
    made = Tournament(config("games=6"))
    assert len(made.fixtures) == 3 * 6
    by_pair: dict[tuple[str, ...], list[Any]] = {}
    for fixture in made.fixtures:
        by_pair.setdefault(tuple(sorted(fixture.seats)), []).append(fixture)
    openings = [{f.opening.key for f in own} for own in by_pair.values()]
    assert len(openings) == 3
    assert all(one == openings[0] and len(one) == 3 for one in openings)
    for pair, own in by_pair.items():
        assert Counter(f.seats for f in own) == {pair: 3, pair[::-1]: 3}
    assert len({fixture.key for fixture in made.fixtures}) == 18
    assert len({fixture.number for fixture in made.fixtures}) == 18


def test_seats_of_three_are_taken_in_turn() -> None:
    words = ["game=tic_tac_mo", *PLAYERS, "games=6"]
    made = Tournament(compose("tournament", completed("tournament", words)))
    assert Counter(f.seats for f in made.fixtures) == {
        ("a", "b", "c"): 2, ("c", "a", "b"): 2, ("b", "c", "a"): 2
    }  # fmt: skip
    made.note()
    with made.work() as work:
        made.play(work)
        found = standings(made, work)
    assert len(found.ratings.seats) == 3
    assert sum(rated.score for rated in found.ratings.players) == pytest.approx(1)


def make_run(name: str, steps: list[int]) -> Path:
    place = Path("checkpoints/tictactoe") / name
    place.mkdir(parents=True)
    (place / "config.yaml").write_text("seed: 0\n")
    for step in steps:
        write_checkpoint(place, step, {"clock": Part({"games": step, "seconds": 6.0 * step})})
    return place


def test_checkpoints_and_budgets_make_players() -> None:
    make_run("one", [0, 10, 20, 30, 40])
    words = ["runs=[one]", "most_steps=3", "budgets=[50,100]", "player.search.decision=best"]
    found = entrants(config(*words), Path("checkpoints/tictactoe"))
    assert list(found) == [
        "a", "b", "c@50", "c@100", "one/0@50", "one/0@100", "one/20@50", "one/20@100",
        "one/40@50", "one/40@100",
    ]  # fmt: skip
    last = found["one/40@100"]
    assert (last.run, last.games, last.minutes, last.base, last.budget) == (
        "one", 40, 4.0, "one/40", 100
    )  # fmt: skip
    assert last.settings.evaluator == "checkpoints/tictactoe/one/step_40"
    assert last.settings.search["decision"] == "best"
    assert last.settings.evaluations == 100
    assert thinned([Path("a")], 3) == [Path("a")]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("tournament game=tictactoe", "needs 2 players at least, not 0"),
        ("tournament game=tictactoe runs=[nope]", "no run 'nope'"),
        ("tournament game=tictactoe name=a/b", "no name of a tournament"),
        ("tournament game=tictactoe ~players.x", "'players.x' cannot be taken away"),
    ],
)
def test_what_is_no_tournament_is_told(
    words: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, words)
    assert (code, err.count("\n")) == (2, 1)
    assert told in err


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("anchor=x", "'anchor' names nobody"),
        ("challengers=[x]", "'challengers' names nobody"),
        ("players.c.evaluations=13", "had evaluations 12, not 13"),
        ("seed=1", "with seed 0, not 1"),
        ("opening_plies=2", "with opening_plies 1, not 2"),
    ],
)
def test_what_does_not_go_on_is_told(word: str, told: str) -> None:
    Tournament(config()).note()
    with pytest.raises(InputError, match=told):
        Tournament(config("format=gauntlet", word)).note()


def test_a_damaged_note_is_told() -> None:
    made = Tournament(config())
    made.note()
    path = made.folder / "tournament.yaml"
    text = path.read_text()
    for wrong in (text.replace("players:", "playres:"), text.replace("settings:", "x:"), "- 1\n"):
        path.write_text(wrong)
        with pytest.raises(InputError, match=r"tournament\.yaml"):
            made.note()
    path.write_text(text.replace("      seconds: null\n", ""))  # of a version without the setting
    made.note()
    assert path.read_text() == text


# ---- Kills and company ---------------------------------------------------------------------------


def test_killed_at_twenty_instants_no_game_is_lost_or_played_twice() -> None:
    """Two processes at a time, and what they leave is what one leaves that nobody kills."""
    words = [*TINY, "opening_plies=3", "games_in_step=4"]
    done = subprocess.run(
        [sys.executable, KILLED, "20", "tournament", *words],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["kills"], told["lost"]) == (20, 0)
    folder = Path("checkpoints/tictactoe/tournaments")
    killed = games_of(folder / "tournament" / "games.jsonl")
    assert len(killed) == told["total"]
    others = ["name=straight", "games_in_step=64", f"games={told['games']}"]
    straight = Tournament(compose("tournament", [*words, *others]))
    straight.note()
    with straight.work() as work:
        straight.play(work)
    assert games_of(folder / "straight" / "games.jsonl") == killed


def test_a_line_that_was_cut_is_played_again_alone() -> None:
    made = Tournament(config())
    made.note()
    with made.work() as work:
        made.play(work)
    path = made.folder / "games.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    with made.work() as work:
        assert made.played(work) == len(made.fixtures) - 1
        made.play(work)
        assert made.played(work) == len(made.fixtures)
    assert path.read_bytes().splitlines()[:-1] == whole.splitlines()[:-1]


def test_a_claim_holds_until_its_process_ends(tmp_path: Path) -> None:
    path = tmp_path / "list" / "games.jsonl"
    program = (
        "import sys; from pathlib import Path; from athenan.worklist import WorkList\n"
        "work = WorkList(Path(sys.argv[1]))\n"
        "print(work.take(['x', 'y'], 1), flush=True)\n"
        "sys.stdin.read()\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", program, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert other.stdout.readline() == b"['x']\n"
    with WorkList(path) as work:
        assert work.take(["x", "y"], 2) == ["y"]
        assert work.take(["x", "y"], 2) == []
        other.kill()
        other.wait()
        assert work.take(["x", "y"], 2) == ["x"]
        work.give_back()
        assert work.take(["y", "x"], 1) == ["y"]


def test_what_was_played_since_is_not_taken() -> None:
    """Between the last look at the list and the claim another process may have played a game."""
    made = Tournament(config())
    made.note()
    with made.work() as work:
        made.play(work)
    path = made.folder / "games.jsonl"
    lines = path.read_bytes().splitlines(True)
    path.write_bytes(b"".join(lines[:-1]))
    with made.work() as work:
        keys = list(work.done)
        path.write_bytes(b"".join(lines))
        assert work.take([fixture.key for fixture in made.fixtures], 64) == []
        assert len(work.done) == len(keys) + 1


def test_lines_that_are_no_games_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_bytes(b'\xff\xfe\n{"key": 1}\n[]\nnull\n')
    with WorkList(path) as work:
        assert work.done == {}


def test_the_same_words_play_nothing_again(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", *TINY]
    first = figures(capsys, words)
    path = Path(first["folder"]) / "games.jsonl"
    before = path.read_bytes()
    assert figures(capsys, words) == first
    assert path.read_bytes() == before
    more = figures(capsys, [*words, "games=8", "players.d={search: random}"])
    assert (first["games"], more["games"]) == (12, 48)
    assert path.read_bytes().startswith(before)


def test_how_it_stands_is_shown_without_a_game(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, ["tournament", *TINY, "--show"])
    assert (code, err) == (2, "athenan: No game has been played yet.\n")
    figures(capsys, ["tournament", *TINY])
    told = answer(capsys, ["tournament", *TINY, "games=8", "--show"])
    assert "12 games are not over yet." in told
    assert "12 games, " in told


# ---- What is told --------------------------------------------------------------------------------


class Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag not in ("meta", "line", "circle", "rect", "polyline"):
            self.open.append(tag)
        for name, value in attributes:
            assert name not in ("src", "href"), "the page needs nothing else"
            assert name == "xmlns" or "://" not in (value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("line", "circle", "rect", "polyline"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_tables_files_and_page_tell_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", *TINY, "games=8", "budgets=[5,10,20]", "anchor=a"]
    told = answer(capsys, words)
    found = figures(capsys, words)
    folder = Path(found["folder"])
    with (folder / "ratings.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = [player["name"] for player in found["players"]]
    assert [row["player"] for row in rows] == names
    assert set(names) == {"a", "b", "c@5", "c@10", "c@20"}
    for player, row in zip(found["players"], rows, strict=True):
        assert float(row["elo"]) == player["elo"]
        assert f"{player['elo']:+.0f}" in told or abs(player["elo"] * 10 % 10 - 5) < 0.1
        assert player["low"] <= player["elo"] <= player["high"]
    assert next(p for p in found["players"] if p["name"] == "a")["elo"] == 0
    assert sum(cell["points"] for cell in found["cross"]) == found["games"] == 80
    page = Page()
    page.feed((folder / "index.html").read_text())
    assert not page.open
    assert all(name in page.text for name in names)
    assert "Rating against budget" in page.text
    picture = ET.parse(folder / "budgets.svg").getroot()
    assert len(picture.findall(".//{http://www.w3.org/2000/svg}circle")) == 3
    assert not (folder / "training.svg").exists()
    assert json.loads((folder / "results.json").read_text())["games"] == 80


def test_names_are_told_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tournament", "game=tictactoe", "games=2", "opening_plies=1"]
    players = ["players.x&y={search: random}", "players.z={search: random}"]
    code, _, err = run(capsys, [*words, *players])
    assert code in (0, 2), err
    if code == 0:
        page = Path("checkpoints/tictactoe/tournaments/tournament/index.html").read_text()
        assert "x&amp;y" in page


class Quitter:
    """Gives up at its second action, as an engine that fails does."""

    text, facts = "a program that fails", {"options": {}}

    def __init__(self, sentence: str, resigns: bool) -> None:
        self.sentence, self.resigns = sentence, resigns

    def choose(self, _games: list[int], states: list[Any]) -> list[Any]:
        return [self if state.ply > 2 else state.legal_actions()[0] for state in states]

    def forget(self) -> None: ...


@pytest.mark.parametrize(("resigns", "forfeits"), [(False, 8), (True, 0)])
def test_forfeits_are_told_apart_from_losses(resigns: bool, forfeits: int) -> None:
    """Who resigns has lost."""
    made = Tournament(config())
    made.note()
    made._players["a"] = Quitter("it is silent", resigns)  # type: ignore[assignment]
    with made.work() as work:
        made.play(work)
        found = standings(made, work)
    assert found.forfeits.total() == found.forfeits["a"] == forfeits
    assert found.games == 12 - forfeits
    rated = {one.name: one for one in found.ratings.players}
    assert rated["a"].games == 8 - forfeits
    assert rated["a"].score == 0
    rows = rating_rows(found)
    assert ("forfeits" in rows[0]) == bool(forfeits)


def test_training_time_is_drawn() -> None:
    make_run("one", [0, 10, 20])
    made = Tournament(compose("tournament", ["game=tictactoe", "runs=[one]", "opening_plies=1"]))
    made.note()
    with made.work() as work:
        row = {"format": 1, "game": {"name": "tictactoe"}, "start": None, "score": None}
        row |= {"actions": [], "opening": 0, "forfeit": None, "number": 0, "athenan": ""}
        player = {"text": "p", "version": None, "options": {}, "seed": None}
        for fixture in made.fixtures:
            better = fixture.seats[0] > fixture.seats[1]
            its = {"players": [player] * 2, "outcomes": [1, -1] if better else [0, 0]}
            work.add(
                SavedGame.from_json(json.dumps({**row, **its, "event": fixture.key, "date": ""}))
            )
        drawn = pictures(standings(made, work))
    picture = ET.fromstring(drawn["training"])
    dots = picture.findall(".//{http://www.w3.org/2000/svg}circle")
    heights = [float(dot.attrib["cy"]) for dot in dots]
    assert heights == sorted(heights, reverse=True), "later is better, and higher"
    places = [float(dot.attrib["cx"]) for dot in dots]
    assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=0.2)


def test_pictures_keep_their_points_inside() -> None:
    points = [Point(100, -3, -10, 5), Point(200, 7, 2, 12), Point(400, 7, 7, 7)]
    for logarithmic in (False, True):
        text = curves(
            "t <&>", "x", "y", [Curve("a & b", points), Curve("c", points[:1])], logarithmic
        )
        picture = ET.fromstring(text)
        for dot in picture.findall(".//{http://www.w3.org/2000/svg}circle"):
            assert 62 <= float(dot.attrib["cx"]) <= 570
            assert 18 <= float(dot.attrib["cy"]) <= 314
    with pytest.raises(ValueError, match="finite"):
        curves("", "", "", [Curve("", [Point(0, 0, 0, float("inf"))])])


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-713.2, 402.1), (3, 3.0001), (-5e6, 1)])
def test_ticks_are_round_and_inside(low: float, high: float) -> None:
    found = ticks(low, high)
    assert 2 <= len(found) <= 9
    assert all(low - 1e-9 <= tick <= high + 1e-9 for tick in found)
