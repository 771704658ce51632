"""Saved games: every game as a line, files that were cut or are hostile, games of matches."""

import json
import multiprocessing
import os
import random
import resource
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import athenan
from athenan.errors import InputError
from athenan.match import make_openings, play_match
from athenan.saved_games import (
    Forfeit,
    SavedGame,
    SavedPlayer,
    append_game,
    read_games,
    saved_game,
)

SMALL = {"go": {"size": 5}, "chess": {}, "hex": {"size": 4}, "mnk": {"players": 3, "columns": 5}}


class Someone:
    """Plays at random, by the number of the ply."""

    def __init__(self, text: str, seed: int) -> None:
        self.text, self.seed = text, seed
        self.facts = {"version": "1", "options": {"level": seed}, "seed": seed}

    def choose(self, games: list[int], states: list[Any], _: float | None = None) -> list[int]:
        return [
            random.Random(1000 * number + 10 * state.ply + self.seed).choice(state.legal_actions())
            for number, state in zip(games, states, strict=True)
        ]

    def forget(self) -> None:
        pass


def played(name: str, **options: Any) -> SavedGame:
    game: Any = athenan.make_game(name, **options)
    state, chance = game.initial_state(), random.Random(7)
    while not state.is_terminal:
        state = state.play(chance.choice(state.legal_actions()))
    players = [Someone(f"player {seat}", seat) for seat in range(game.num_players)]
    return saved_game(state, 3, players, event="a test", number=5)


@pytest.mark.parametrize("name", athenan.list_games())
def test_every_game_goes_to_a_line_and_back(name: str) -> None:
    saved = played(name, **SMALL.get(name, {}))
    line = saved.to_json()
    assert "\n" not in line
    assert SavedGame.from_json(line) == saved
    states = saved.states()
    assert states[-1].is_terminal
    assert list(states[-1].outcomes) == saved.outcomes
    assert len(states) == len(saved.actions) + 1
    assert (saved.opening, saved.number, saved.athenan) == (3, 5, athenan.__version__)
    assert saved.players[1] == SavedPlayer("player 1", "1", {"level": 1}, 1)


def test_another_start_than_the_initial_one() -> None:
    game: Any = athenan.make_game("chess")
    state = game.state_from_string("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1")
    mate = state.play(state.string_to_action("f7g7"))
    saved = saved_game(mate, 0, [Someone("a", 0), Someone("b", 1)])
    assert saved.start is not None
    assert saved.start.startswith("7k/5Q2")
    assert saved.outcomes == [1, -1]
    assert SavedGame.from_json(saved.to_json()).states()[-1].key == mate.key
    planes = game.state_from_planes(state.planes(), 0)
    again = saved_game(planes.play(state.string_to_action("f7g7")), 0, [])
    assert again.states()[0].planes().tolist() == state.planes().tolist()


def test_a_game_of_ones_own_has_its_options() -> None:
    game: Any = athenan.make_game("games.examples.nim:Nim", heaps=[1, 2])
    state = game.initial_state()
    while not state.is_terminal:
        state = state.play(state.legal_actions()[0])
    saved = saved_game(state, 0, [Someone("a", 0), Someone("b", 1)])
    assert saved.game == {"name": "games.examples.nim:Nim", "heaps": [1, 2]}
    assert saved.states()[-1].outcomes == state.outcomes
    strange = replace(saved, game={"name": "json.tool:Game"})
    with pytest.raises(InputError, match="whose code would run"):
        strange.states()


def test_all_games_of_a_match_are_saved(tmp_path: Path) -> None:
    game: Any = athenan.make_game("connect_four")
    openings = make_openings(game, 6, 3, seed=0)
    players = [Someone("ours", 1), Someone("theirs", 2)]
    path = tmp_path / "games.jsonl"
    result = play_match(
        players, openings, 4, on_game=lambda game: append_game(path, game), event="try"
    )
    assert play_match(players, openings, 4).pair_scores == result.pair_scores
    games = sorted(read_games(path), key=lambda game: game.number)
    assert [game.number for game in games] == list(range(12))
    shares = []
    for game in games:
        seat = game.number % 2
        assert [player.text for player in game.players][seat] == "ours"
        states = game.states()
        assert states[game.opening].key == openings[game.number // 2].key
        assert game.opening == 3
        assert game.outcomes == list(states[-1].outcomes)
        shares.append((game.outcomes[seat] + 1) / 2)
        assert game.event == "try"
    pairs = [(a + b) / 2 for a, b in zip(shares[::2], shares[1::2], strict=True)]
    assert pairs == result.pair_scores


def test_a_match_for_three() -> None:
    game: Any = athenan.make_game("mnk", rows=3, columns=5, k=3, players=3)
    games: list[SavedGame] = []
    players = [Someone(text, seed) for seed, text in enumerate("abc")]
    play_match(players, make_openings(game, 2, 1, seed=0), on_game=games.append)
    seats = {game.number: "".join(player.text for player in game.players) for game in games}
    assert seats == {0: "abc", 1: "cab", 2: "bca", 3: "abc", 4: "cab", 5: "bca"}


def test_a_player_says_what_it_is() -> None:
    games: list[SavedGame] = []
    athenan.run_match(
        athenan.make_game("tictactoe"), {"evaluations": 20}, {"search": "random"}, 2,
        on_game=games.append, seed=4,
    )  # fmt: skip
    first = next(game for game in games if game.number == 0).players[0]
    assert first.text == "ubfm, rollout, 20 evaluations an action"
    assert (first.version, first.seed) == (f"athenan {athenan.__version__}", 4)
    assert first.options == {"search": {"name": "ubfm"}, "evaluations": 20}


# ---- Files that were cut -------------------------------------------------------------------------


def test_a_kill_at_any_byte_loses_one_line(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    saved = played("tictactoe")
    append_game(path, saved)
    append_game(path, saved)
    whole = path.read_bytes()
    line = len(whole) // 2
    for cut in range(line, 2 * line):
        path.write_bytes(whole[:cut])
        left = 1 if cut < 2 * line - 1 else 2  # only the end of the line is lacking
        assert len(list(read_games(path))) == left
        append_game(path, saved)
        assert path.read_bytes() == whole[:line] * (left + 1)


def test_nothing_else_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear reader")
    with pytest.raises(InputError, match=r"letter\.txt' has something else in it"):
        append_game(path, played("tictactoe"))
    assert path.read_text() == "Dear reader"


def append_many(path: Path, number: int) -> None:
    saved = replace(played("tictactoe"), number=number)
    for _ in range(30):
        append_game(path, saved)


def test_several_processes_append_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    context = multiprocessing.get_context("spawn")
    jobs = [context.Process(target=append_many, args=(path, number)) for number in range(2)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    numbers = [game.number for game in read_games(path)]
    assert (numbers.count(0), numbers.count(1)) == (30, 30)


def test_a_full_disk_leaves_no_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    saved = played("tictactoe")
    append_game(path, saved)
    size = path.stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    child = os.fork()
    if not child:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, before[1]))
        try:
            append_game(path, saved)
        except OSError as error:
            os._exit(0 if error.filename == str(path) else 3)
        os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert path.stat().st_size == size


# ---- Files of others -----------------------------------------------------------------------------


def changed(**values: Any) -> str:
    row = json.loads(played("tictactoe").to_json())
    for name, value in values.items():
        row[name] = value
    return json.dumps(row)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "no saved game"),
        ("{}", "no saved game"),
        ("no JSON", "no JSON"),
        ('{"format": 2}', "another version"),
        ('{"format": 1}', "has no 'game'"),
        ("[" * 100_000, "no JSON|nested too deeply"),
        (changed(game="go"), "'game' is of a wrong kind"),
        (changed(game={"name": 3}), "names no game"),
        (changed(actions=[1]), "are no texts"),
        (changed(actions=None), "wrong kind"),
        (changed(opening=-1), "counts"),
        (changed(opening=99), "counts"),
        (changed(opening=True), "wrong kind"),
        (changed(players=[]), "counts"),
        (changed(players=[{"text": 3}]), "wrong kind"),
        (changed(players=[3]), "no object"),
        (changed(outcomes=[1]), "outcomes"),
        (changed(outcomes=[2, 1]), "outcomes"),
        (changed(outcomes=[1.0, -1]), "outcomes"),
        (changed(score=float("nan")), "no JSON"),
        (changed(score=1e300), "score"),
        (changed(score=["a", "b"]), "score"),
        (changed(forfeit={"seat": 2, "sentence": ""}), "seat that forfeits"),
        (changed(number="1"), "wrong kind"),
        (changed(number=0).replace('"number": 0', '"number": ' + "9" * 5000), "no JSON"),
        (changed(start=3), "wrong kind"),
    ],
)
def test_other_lines_are_refused_with_a_sentence(tmp_path: Path, line: str, said: str) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(changed() + "\n" + line + "\n")
    games = read_games(path)
    next(games)
    with pytest.raises(InputError, match=rf"games\.jsonl', line 2: .*({said})"):
        next(games)


def test_damage_never_ends_in_anything_but_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    whole = (changed() + "\n").encode()
    chance = random.Random(3)
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(chance.choice([1, 2, 8])):
            data[chance.randrange(len(data))] = chance.randrange(256)
        path.write_bytes(data)
        try:
            for game in read_games(path):
                game.states(path)
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017


def test_lines_without_end_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    with path.open("wb") as file:
        file.truncate(2**34)
    with pytest.raises(InputError, match="too long"):
        list(read_games(path))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_games(tmp_path))
    with pytest.raises(InputError, match="cannot be read"):
        list(read_games(tmp_path / "none"))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"game": {"name": "tictactoo"}}, "no game 'tictactoo'"),
        ({"game": {"name": "hex", "size": 10**9}}, "size"),
        ({"game": {"name": "hex", "size": [1]}}, "neither a number nor a text"),
        ({"actions": ["b2", "b2"], "opening": 0}, "action 2, 'b2', is against the rules"),
        ({"actions": ["b2"], "opening": 0}, "by the rules they are None"),
        ({"start": "nonsense"}, "no right start"),
    ],
)
def test_games_against_the_rules_are_refused(values: dict[str, Any], said: str) -> None:
    game = SavedGame.from_json(changed(**values))
    with pytest.raises(InputError, match=said):
        game.states("games.jsonl")


def test_terminals_obey_no_text_of_a_file() -> None:
    players = [{"text": "\x1b]0;x\x07", "version": "\x9b1m", "options": {}, "seed": None}] * 2
    game = SavedGame.from_json(changed(players=players, event="a\tb\r"))
    assert game.players[0] == SavedPlayer("�]0;x�", "�1m", {}, None)
    assert game.event == "a�b�"


def test_a_forfeit_ends_a_game_before_its_end() -> None:
    game: Any = athenan.make_game("tictactoe")
    state = game.initial_state().play(4)
    forfeit = Forfeit(1, "it answered nothing for 5 seconds", resigned=False)
    saved = saved_game(state, 0, [Someone("a", 0), Someone("b", 1)], forfeit=forfeit)
    assert saved.outcomes == [1, -1]
    again = SavedGame.from_json(saved.to_json())
    assert again == saved
    assert len(again.states()) == 2
