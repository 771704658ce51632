"""What matches begin with, and what they say besides their score: openings, tallies, early ends."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from commands import answer, run

import athenan
from athenan.config import compose
from athenan.errors import InputError
from athenan.match import MatchResult, elo_of, make_openings, play_match
from athenan.openings import balanced, judge_of, openings_of, read_openings
from athenan.players import SearchPlayer
from athenan.saved_games import Forfeit, SavedGame, SavedPlayer, read_games
from athenan.tally import Tally


def book(folder: Path, *lines: str) -> Path:
    path = folder / "book.txt"
    path.write_text("\n".join(lines) + "\n")
    return path


# ---- Openings of a file --------------------------------------------------------------------------


def test_a_book_has_actions_and_positions(tmp_path: Path) -> None:
    game: Any = athenan.make_game("chess")
    fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
    path = book(
        tmp_path, "# openings", "", "1.e4 e5 2. Nf3 Nc6", "d2d4, g8f6 # Indian", fen, "d4 Nf6"
    )
    states = read_openings(path, game)
    assert len(states) == 3, "the last is the second once more"
    assert [len(state.history[1]) for state in states] == [4, 2, 0]
    assert states[2].history[0] == fen
    assert states[0].history[0] is None


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("4 9", "line 2: '9' is no action here"),
        ("1 2 1 2 1 2 1", "line 2: The game is over there"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, said: str) -> None:
    game: Any = athenan.make_game("connect_four")
    with pytest.raises(InputError, match=said):
        read_openings(book(tmp_path, "4", line), game)


def test_a_book_must_be_one(tmp_path: Path) -> None:
    game: Any = athenan.make_game("connect_four")
    with pytest.raises(InputError, match="has no opening"):
        read_openings(book(tmp_path, "# nothing"), game)
    with pytest.raises(InputError, match="cannot be read"):
        read_openings(tmp_path, game)
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="no text of openings"):
        read_openings(tmp_path / "bytes", game)


# ---- Balanced ones -------------------------------------------------------------------------------


def test_only_balanced_openings_are_kept() -> None:
    """Tic-tac-toe after three plies, searched to the end: those that are draws."""
    words = ["game=tictactoe", "games=20", "opening_plies=3", "balance=0.1"]
    config = compose("match", [*words, "balance_evaluations=20000"])
    game: Any = athenan.make_game("tictactoe")
    players = [SearchPlayer(game, "rollout", {"name": "ubfm"}, {"evaluations": 5}, 1)] * 2
    kept = openings_of(config, game, players)
    assert len({state.key for state in kept}) == len(kept) == 10

    def worth(state: Any) -> int:
        if state.is_terminal:
            return int(state.outcomes[0])
        values = [worth(state.play(action)) for action in state.legal_actions()]
        return max(values) if state.to_move == 0 else min(values)

    assert {worth(state) for state in kept} == {0}
    every = make_openings(game, 40, 3, 0)
    judge = judge_of(config, game, players)
    left = {state.key for state in balanced(every, judge, 0.1)}
    assert left == {state.key for state in every if worth(state) == 0}
    assert 0 < len(left) < len(every)
    assert [s.key for s in openings_of(config, game, players)] == [s.key for s in kept]


def test_too_few_balanced_openings_are_said(tmp_path: Path) -> None:
    game: Any = athenan.make_game("tictactoe")
    player = SearchPlayer(game, "zero", {"name": "ubfm"}, {"evaluations": 5}, 1)
    words = ["game=tictactoe", "balance=0.1", "balance_evaluations=20000", "games=4"]
    won = book(tmp_path, "a1 c2 b2 b3", "a1 b1 a2 b2")
    config = compose("match", [*words, f"openings={won}"])
    with pytest.raises(InputError, match="Of 2 openings of game 'tictactoe' 0 are balanced, 2 are"):
        openings_of(config, game, [player, player])
    words = ["game=tic_tac_mo", "balance=0.5", "first.search=maxn_ubfm"]
    three: Any = athenan.make_game("mnk", rows=3, columns=5, k=3, players=3)
    with pytest.raises(InputError, match="balanced for two players"):
        openings_of(compose("match", words), three, [])


# ---- Elo and tallies -----------------------------------------------------------------------------


def test_elo_of_a_score() -> None:
    assert elo_of(0.5) == 0
    assert elo_of(10 / 11) == pytest.approx(400)
    assert elo_of(0.64) == pytest.approx(99.95, abs=0.01)
    assert (elo_of(1.0), elo_of(0.0)) == (math.inf, -math.inf)
    result = MatchResult(3, 0, 1, [1.0, 0.5])
    figures = result.figures()
    assert figures["elo"] == pytest.approx(190.8, abs=0.1)
    assert figures["elo_low"] == pytest.approx(elo_of(result.interval[0]), abs=0.1)
    assert MatchResult(2, 0, 0, [1.0]).figures()["elo"] is None
    assert MatchResult(2, 0, 0, [1.0]).elo_text().startswith("+inf [")
    assert "elo" not in MatchResult(1, 1, 1, [0.5], players=3).figures()


def game_of(
    number: int,
    outcomes: list[int],
    action: str,
    forfeit: int | None = None,
    resigned: bool = False,
) -> SavedGame:
    players = [SavedPlayer("a"), SavedPlayer("b")]
    given_up = None if forfeit is None else Forfeit(forfeit, "it gave up", resigned)
    return SavedGame({}, players, [action], 0, None, outcomes, None, given_up, "", number)


def test_a_tally_knows_seats_and_doubles() -> None:
    tally = Tally(2)
    tally.add(game_of(0, [1, -1], "a"))
    tally.add(game_of(1, [1, -1], "a"))  # lost: the first player has the second seat
    tally.add(game_of(2, [0, 0], "b"))
    tally.add(game_of(3, [-1, 1], "c", forfeit=0))
    tally.add(game_of(4, [1, -1], "d", forfeit=1))
    figures = tally.figures(4)
    assert figures["distinct_games"] == 3
    assert figures["by_seat"] == [
        {"wins": 1, "draws": 1, "losses": 0, "score": 0.75},
        {"wins": 0, "draws": 0, "losses": 1, "score": 0.0},
    ]
    tally.add(game_of(5, [-1, 1], "e", forfeit=0, resigned=True))
    assert tally.figures(6)["by_seat"][1]["wins"] == 1, "who resigns has lost"
    assert tally.lines(4)[:2] == ["3 of 4 games are distinct", "as first: 75.0%  +1 =1 -0"]


# ---- The end of a match --------------------------------------------------------------------------


def test_a_match_ends_after_a_whole_wave() -> None:
    game: Any = athenan.make_game("connect_four")
    players = [SearchPlayer(game, "zero", {"name": "random"}, {}, 1, seed) for seed in range(2)]
    looked: list[int] = []

    def enough(result: MatchResult) -> bool:
        looked.append(result.games)
        return result.games >= 12

    openings = make_openings(game, 20, 3, 0)
    result = play_match(players, openings, 8, enough=enough)
    assert looked == [8, 16]
    assert result.games == 16
    assert result.pair_scores == play_match(players, openings, 8).pair_scores[:8]


def test_the_command_tells_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["match", "game=connect_four", "first.search=uct", "first.evaluations=null"]
    words += ["first.iterations=60", "second.search=random", "second.iterations=null", "threads=1"]
    sprt = ["sprt=[0,100]", "games=200", "games_in_step=16", "save=games.jsonl"]
    text = answer(capsys, [*words, *sprt, "--json"])
    figures = json.loads(text.splitlines()[-1])
    assert figures["sprt"]["accepted"] == "H1"
    assert figures["games"] % 16 == 0
    assert figures["games"] < 200
    games = list(read_games(tmp_path / "games.jsonl"))
    assert len(games) == figures["games"]
    assert figures["distinct_games"] == figures["games"]
    assert sum(seat["wins"] for seat in figures["by_seat"]) == figures["wins"]
    assert "SPRT, 0 against 100 normalised Elo: 100 is accepted; LLR " in text
    path = book(tmp_path, "4", "3", "4")
    few = json.loads(answer(capsys, [*words, f"openings={path}", "--json"]).splitlines()[-1])
    assert (few["games"], few["openings"]) == (4, 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sprt=[5,0]"], "the lower one first"),
        (["sprt=[5]"], "has two strengths, as [0,5]"),
        (["game=tic_tac_mo", "sprt=[0,5]"], "An SPRT is for two players"),
        (["save=games.pgn"], "ends in .jsonl, not 'games.pgn'"),
        (["save=none/games.jsonl"], "no folder for"),
        (["openings=none.txt"], "'none.txt' cannot be read"),
    ],
)
def test_what_a_match_refuses(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, ["match", *words])[0] == 2
    assert said in run(capsys, ["match", *words])[2]
