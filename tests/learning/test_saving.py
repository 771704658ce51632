"""The usual records of games, read back by programs of others or by a reader of a few lines."""

import io
import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import athenan
from athenan.errors import InputError
from athenan.pgn import landings, letters_of, of_draughts
from athenan.saved_games import Forfeit, SavedGame, read_games, saved_game
from athenan.saving import saver
from athenan.sgf import to_sgf


class Someone:
    def __init__(self, text: str) -> None:
        self.text = text
        self.facts = {"version": "1.2", "options": {}, "seed": 3}


def played(name: str, seed: int, start: str | None = None, **options: Any) -> SavedGame:
    game: Any = athenan.make_game(name, **options)
    state = game.initial_state() if start is None else game.state_from_string(start)
    chance = random.Random(seed)
    while not state.is_terminal:
        state = state.play(chance.choice(state.legal_actions()))
    players = [Someone('ours "a]b\\c'), Someone("theirs: x")]
    return saved_game(state, 2, players, event="a match", number=seed)


def written(folder: Path, ending: str, games: list[SavedGame]) -> str:
    """All games in one file, as a match writes them."""
    path = folder / f"games.{ending}"
    save = saver(str(path), athenan.make_game(**games[0].game))
    for game in games:
        save(game)
    return path.read_text()


# ---- SGF -----------------------------------------------------------------------------------------


def trees(text: str) -> list[list[dict[str, str]]]:
    """Games of nodes of properties with one value each."""
    found: list[list[dict[str, str]]] = []
    place = 0
    token = re.compile(r"\(|\)|;|([A-Z]+)\[((?:[^\]\\]|\\.)*)\]|\s+", re.DOTALL)
    while place < len(text):
        match = token.match(text, place)
        assert match is not None, text[place : place + 40]
        place = match.end()
        if match[0] == "(":
            found.append([])
        elif match[0] == ";":
            found[-1].append({})
        elif match[1]:
            assert match[1] not in found[-1][-1]
            found[-1][-1][match[1]] = re.sub(r"\\(.)", r"\1", match[2])
    assert text.count("(;") == len(found)
    return found


@pytest.mark.parametrize(
    ("name", "options", "number"),
    [
        ("go", {"size": 5}, "1"),
        ("go", {"size": 5, "columns": 4}, "1"),
        ("othello", {"size": 8}, "2"),
        ("gomoku", {"size": 15}, "4"),
        ("hex", {"size": 11, "swap": True}, "11"),
        ("connect6", {"size": 9}, None),
        ("havannah", {"base": 4}, None),
        ("mnk", {"rows": 3, "columns": 5, "k": 3}, None),
        ("tictactoe", {}, None),
    ],
)
def test_sgf_has_every_stone(
    tmp_path: Path, name: str, options: dict[str, Any], number: str | None
) -> None:
    games = [played(name, seed, **options) for seed in range(3)]
    records = trees(written(tmp_path, "sgf", games))
    assert len(records) == 3
    for game, (root, *nodes) in zip(games, records, strict=True):
        assert (root["FF"], root.get("GM")) == ("4", number)
        assert (root["PB"], root["PW"]) == ('ours "a]b\\c', "theirs: x")
        assert (root["EV"], root["DT"]) == ("a match", game.date[:10])
        assert root["AP"] == f"athenan:{athenan.__version__}"
        assert "Black: 1.2, seed 3" in root["GC"]
        assert game.outcomes is not None
        won = {1: "B+", 0: "0", -1: "W+"}[game.outcomes[0]]
        assert root["RE"].startswith(won)
        if name in ("go", "othello") and won != "0":
            assert float(root["RE"][2:]) == abs(game.score)  # type: ignore[arg-type]
        states = game.states()
        rows, columns = states[0].game.plane_shape[:2]
        assert root["SZ"] == (str(rows) if rows == columns else f"{columns}:{rows}")
        assert len(nodes) == len(game.actions)
        for state, after, node in zip(states, states[1:], nodes, strict=False):
            ((colour, cell),) = node.items()
            assert colour == "BW"[state.to_move]
            if cell in ("", "swap-pieces"):
                continue
            # The stone lies where the planes of the core have a new one of the mover.
            column, row = "abcdefghijklmnopqrs".index(cell[0]), cell[1:]
            at = int(row) - 1 if name == "hex" else "abcdefghijklmnopqrs".index(row)
            if name == "go":
                at = rows - 1 - at  # its first plane row is the lowest
            assert after.planes()[at, column, state.to_move]
            assert not state.planes()[at, column, :2].any()


def test_sgf_says_who_forfeits(tmp_path: Path) -> None:
    game: Any = athenan.make_game("hex", size=5)
    forfeit = Forfeit(0, "it crashed")
    state = game.initial_state().play(3)
    saved = saved_game(state, 0, [Someone("a"), Someone("b")], forfeit=forfeit)
    ((root, *_),) = trees(written(tmp_path, "sgf", [saved]))
    assert root["RE"] == "W+F"
    resigned = replace(saved, forfeit=replace(forfeit, resigned=True))
    assert to_sgf(resigned, resigned.states()).count("RE[W+R]") == 1
    assert "forfeit: it crashed" in root["GC"]


# ---- PGN -----------------------------------------------------------------------------------------


def test_python_chess_reads_the_games(tmp_path: Path) -> None:
    chess, pgn = pytest.importorskip("chess"), pytest.importorskip("chess.pgn")
    # Rare things in few games: many queens and knights that can go to one cell, promotions, mates.
    many = "k7/4P3/8/1Q3Q2/8/1Q1N1N2/4P3/K2N1N2 w - - 0 1"
    castling = "r3k2r/p6p/8/8/8/8/P6P/R3K2R b KQkq - 3 20"
    starts = [None, None, None, many, many, many, castling, castling, castling]
    games = [played("chess", seed, start) for seed, start in enumerate(starts)]
    stream = io.StringIO(written(tmp_path, "pgn", games))
    sans = ""
    for game in games:
        found = pgn.read_game(stream)
        assert found is not None
        assert not found.errors
        board = found.board()
        moves = list(found.mainline_moves())
        assert [move.uci() for move in moves] == game.actions
        for move in moves:
            sans += f" {board.san(move)}"
            board.push(move)
        assert found.headers["White"] == r"ours \"a]b\\c", "it leaves the signs before others in"
        assert found.headers["WhiteVersion"] == "1.2, seed 3"
        assert found.headers["Date"] == game.date[:10].replace("-", ".")
        won = {(1, -1): "1-0", (0, 0): "1/2-1/2", (-1, 1): "0-1"}
        assert game.outcomes is not None
        assert found.headers["Result"] == won[tuple(game.outcomes)]  # type: ignore[index]
        assert chess.Board(str(game.states()[-1]).split("FEN ")[1].split("\n")[0]).board_fen() == (
            board.board_fen()
        )
    text = (tmp_path / "games.pgn").read_text()
    # Byte for byte the words that the other program would write, in their order.
    bodies = re.sub(r"^\[.*\]$|\d+\.+|1-0|0-1|1/2-1/2", "", text, flags=re.MULTILINE)
    assert bodies.split() == sans.split()
    for rare in ("=Q", "+", "#", "O-O", "x", "Q3", "Nd", "Qb"):
        assert rare in sans, rare


def test_xiangqi_has_coordinates(tmp_path: Path) -> None:
    game = played("xiangqi", 1)
    text = written(tmp_path, "pgn", [game])
    assert '[Format "ICCS"]' in text
    moves = re.findall(r"\b([A-I])(\d)-([A-I])(\d)\b", text)
    back = [f"{a}{int(b) + 1}{c}{int(d) + 1}".lower() for a, b, c, d in moves]
    assert back == game.actions


# ---- PDN -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["international", "brazilian", "canadian"])
def test_pdn_says_where_pieces_go(tmp_path: Path, variant: str) -> None:
    games = [played("draughts", seed, variant=variant) for seed in range(4)]
    text = written(tmp_path, "pdn", games)
    number = {"international": "20", "brazilian": "26", "canadian": "27"}[variant]
    assert text.count(f'[GameType "{number},W,') == 4
    bodies = re.split(r"\n\n(?=\d)|\n\n(?=\[)", text)[1::2]
    for game, body in zip(games, bodies, strict=True):
        moves = [w for w in body.split() if re.fullmatch(r"[a-h]?\d+([x-][a-h]?\d+)+", w)]
        moves = moves[: len(game.actions)]  # the result is written like a move
        assert len(moves) == len(game.actions)
        for move, action in zip(moves, game.actions, strict=True):
            said, own = re.split("[x-]", move), re.split("[x-]", action)
            if variant == "brazilian":
                own = [letters_of(int(cell)) for cell in own]
            assert (said[0], said[-1]) == (own[0], own[1])


@pytest.mark.parametrize(("variant", "theirs"), [("international", "standard"), ("brazilian",) * 2])
def test_pydraughts_plays_the_games(tmp_path: Path, variant: str, theirs: str) -> None:
    draughts, pdn = pytest.importorskip("draughts"), pytest.importorskip("draughts.PDN")
    games = [played("draughts", seed, variant=variant) for seed in range(3)]
    written(tmp_path, "pdn", games)
    read = pdn.PDNReader(filename=str(tmp_path / "games.pdn")).games
    captures = 0
    for game, found in zip(games, read, strict=True):
        assert found.variant == theirs
        board = draughts.Board(variant=theirs)
        for move, action in zip(found.moves, game.actions, strict=True):
            made = draughts.Move(board, pdn_move=move)
            said, own = made.hub_move.split("x"), action.split("x")
            assert len(said) == len(own)
            captures += len(own) > 3
            if variant == "international":  # others it numbers in its own way
                assert [int(n) for n in re.findall(r"\d+", said[0])] == [
                    int(n) for n in re.findall(r"\d+", own[0])
                ]
                assert sorted(map(int, said[2:])) == sorted(map(int, own[2:]))
            board.push(made)
    assert captures


def test_cells_of_brazilian_draughts_have_letters() -> None:
    text = str(athenan.make_game("draughts", variant="brazilian").initial_state())
    told = re.findall(r"(\d+) ([a-h]\d)\b", text.split("row by row:")[1])
    assert len(told) >= 3
    assert all(letters_of(int(number)) == cell for number, cell in told)


def test_ambiguous_captures_name_every_cell() -> None:
    game: Any = athenan.make_game("draughts")
    seen = 0
    for seed in range(60):
        state, chance = game.initial_state(), random.Random(seed)
        while not state.is_terminal:
            texts = [state.action_to_string(a) for a in state.legal_actions()]
            ends = [tuple(t.split("x")[:2]) for t in texts if "x" in t]
            if len(set(ends)) < len(ends):
                written_as = [of_draughts(state, t) for t in texts]
                seen += 1
                for text, word in zip(texts, written_as, strict=True):
                    numbers = [int(n) for n in text.split("x")]
                    cells = landings(state, numbers)
                    assert len(cells) == len(numbers) - 1
                    assert (cells[0], cells[-1]) == (numbers[0], numbers[1])
                    if ends.count(tuple(text.split("x")[:2])) > 1:
                        assert word.split("x") == [str(c) for c in cells]
            state = state.play(chance.choice(state.legal_actions()))
    assert seen


# ---- What cannot be saved ------------------------------------------------------------------------


def test_files_that_cannot_be_are_refused(tmp_path: Path) -> None:
    go: Any = athenan.make_game("go", size=5)
    with pytest.raises(
        InputError, match=r"Games of go are saved .* \.jsonl or \.sgf, not 'a\.pgn'"
    ):
        saver(str(tmp_path / "a.pgn"), go)
    with pytest.raises(InputError, match="no folder"):
        saver(str(tmp_path / "none" / "a.sgf"), go)
    with pytest.raises(InputError, match=r"ends in \.jsonl, not"):
        saver(str(tmp_path / "a.sgf"), athenan.make_game("clobber"))
    elsewhere = go.state_from_string(str(go.initial_state().play(3)))
    with pytest.raises(InputError, match="begin at the initial state"):
        saver(str(tmp_path / "a.sgf"), go, [elsewhere])


def test_without_a_file_nothing_is_written(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    game = played("tictactoe", 0)
    saver(None, athenan.make_game("tictactoe"))(game)
    assert not list(tmp_path.iterdir())
    saver("games.jsonl", athenan.make_game("tictactoe"))(game)
    assert list(read_games(tmp_path / "games.jsonl")) == [game]
