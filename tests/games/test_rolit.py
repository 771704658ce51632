"""Rolit: against Othello's recorded games, against a naive referee, and its rare events."""

import json
import random
import re
import zlib
from pathlib import Path

import pytest
from playing import play, texts

import athenan

OTHELLO = sorted(Path(__file__).with_name("vectors").glob("othello*.json"))


def rows(state: athenan.State) -> list[str]:
    lines = re.sub(r"[][]", " ", str(state)).splitlines()[1:-1]
    return ["".join(line.split()[1:]) for line in lines]


@pytest.mark.parametrize("path", OTHELLO, ids=lambda p: p.stem)
def test_two_players_who_pass_play_othello(path: Path) -> None:
    vectors = json.loads(path.read_text())
    size = vectors["make"].get("size", 8)
    game = athenan.make_game("rolit", players=2, size=size, without_line="pass")
    for playout in vectors["playouts"]:
        state = game.initial_state()
        for move, crc in zip(playout["moves"].split(), playout["crc"].split(), strict=True):
            assert f"{zlib.crc32(' '.join(sorted(texts(state))).encode()):08x}" == crc, str(state)
            state = play(state, move)
        assert list(state.outcomes) == playout["result"]


def test_the_start_and_a_colour_that_vanished() -> None:
    """The second player has no disc after e6, so any cell next to a disc is his: fourteen."""
    state = athenan.make_game("rolit").initial_state()
    assert texts(state) == {"c4", "c6", "e6"}, "the first player turns one of the others"
    state = play(state, "e6")
    assert rows(state)[3:6] == ["...vx...", "...zx...", "....x..."]
    assert len(texts(state)) == 14
    assert "pass" not in texts(state)
    assert {"c3", "d3", "e3", "f3", "c6", "d6", "d7", "f7"} <= texts(state)
    back = play(state, "d6")
    assert rows(back)[5] == "...ox...", "the colour is back and turned nothing"
    assert back.to_move == 2


def test_a_vanished_colour_passes_to_the_end_in_the_othello_way() -> None:
    state = athenan.make_game("rolit", without_line="pass").initial_state()
    state = play(state, "e6")
    assert texts(state) == {"pass"}
    state = play(state, "pass")
    assert state.to_move == 2
    assert state.ply == 2
    assert "pass" not in texts(state)


def test_a_line_of_several_colours_must_turn() -> None:
    """Cells next to a disc from which nothing turns are no actions while there is a line."""
    state = athenan.make_game("rolit", size=6).state_from_string("""\
          a b c d e f
        1 . . . . . .
        2 x o z v . .
        3 z o . . . .
        4 . . v . . .
        5 . . . . . .
        6 . . . . . .
        ply 6, x to move""")
    assert texts(state) == {"a4", "d5", "e2"}
    assert rows(play(state, "e2"))[1] == "xxxxx."
    assert rows(play(state, "d5"))[1:5] == ["xozv..", "zx....", "..x...", "...x.."]


def test_nobodys_discs_turn_and_count_for_nobody() -> None:
    game = athenan.make_game("rolit", players=2, size=4, start="four_colours")
    state = game.initial_state()
    assert rows(state) == ["....", ".#x.", ".#o.", "...."]
    assert texts(state) == {"a2", "a4", "c4"}
    assert rows(play(state, "a4"))[1:] == [".#x.", ".xo.", "x..."]
    end = game.state_from_string("""\
          a b c d
        1 x x o o
        2 x x o o
        3 x # # o
        4 # # x .
        ply 12, o to move""")
    end = play(end, "d4")
    assert end.is_terminal
    assert end.outcomes == (0, 0)
    assert end.score == 0


@pytest.mark.parametrize(
    ("last_rows", "outcomes"),
    [
        ("xzoz vzzo", (1, -1, -1, -1)),
        ("zzzz zzov", (-1, -1, 1, -1)),
        ("xooo zzzv", (0, 0, -1, -1)),
        ("ozoz zvvz", (0, 0, 0, 0)),
    ],
)
def test_most_discs_win_and_ties_for_most_draw(last_rows: str, outcomes: tuple[int, ...]) -> None:
    third, fourth = (" ".join(row) for row in last_rows.split())
    state = athenan.make_game("rolit", size=4).state_from_string(f"""\
          a b c d
        1 x x x x
        2 v o o v
        3 {third}
        4 {fourth}
        ply 12, x to move""")
    assert state.is_terminal
    assert state.outcomes == outcomes


def test_nobody_can_turn_a_line() -> None:
    """With passes the game is over; otherwise it goes on next to any disc."""
    text = """\
          a b c d
        1 x x . .
        2 x x . .
        3 . . . .
        4 . . o .
        ply 3, z to move"""
    over = athenan.make_game("rolit", players=3, size=4, without_line="pass")
    state = over.state_from_string(text)
    assert state.is_terminal
    assert state.outcomes == (1, -1, -1)
    state = athenan.make_game("rolit", players=3, size=4).state_from_string(text)
    assert texts(state) == {"a3", "b3", "b4", "c1", "c2", "c3", "d3", "d4"}


def naive_turned(board: dict[tuple[int, int], str], cell: tuple[int, int], own: str) -> set:
    turned = set()
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            line, at = [], (cell[0] + down, cell[1] + right)
            while (down or right) and board.get(at, ".") not in (".", own):
                line.append(at)
                at = (at[0] + down, at[1] + right)
            if board.get(at) == own and (down or right):
                turned.update(line)
    return turned


@pytest.mark.parametrize("without_line", ["adjacent", "pass"])
@pytest.mark.parametrize("start", ["players", "four_colours"])
@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games_against_a_naive_referee(players: int, start: str, without_line: str) -> None:
    rng = random.Random(8)
    game = athenan.make_game(
        "rolit", players=players, size=6, start=start, without_line=without_line
    )
    for _ in range(15):
        state = game.initial_state()
        while True:
            board = {
                (r, c): symbol for r, row in enumerate(rows(state)) for c, symbol in enumerate(row)
            }
            free = [cell for cell in board if board[cell] == "."]
            lines = {
                p: [cell for cell in free if naive_turned(board, cell, p)] for p in "xozv"[:players]
            }
            mover = "xozv"[state.to_move]
            legal = lines[mover]
            if not legal and without_line == "adjacent":
                legal = [
                    (r, c)
                    for r, c in free
                    if any(
                        board.get((r + i, c + j), ".") != "."
                        for i in (-1, 0, 1)
                        for j in (-1, 0, 1)
                    )
                ]
            names = ["abcdef"[c] + str(r + 1) for r, c in legal]
            if not names and any(lines.values()):
                names = ["pass"]
            assert texts(state) == set(names), str(state)
            if not names:
                break
            name = rng.choice(names)
            if name != "pass":
                cell = legal[names.index(name)]
                for turned in naive_turned(board, cell, mover) | {cell}:
                    board[turned] = mover
            state = play(state, name)
            assert "".join(rows(state)) == "".join(board.values())
        counts = ["".join(rows(state)).count(p) for p in "xozv"[:players]]
        winner = 1 if counts.count(max(counts)) == 1 else 0
        assert state.outcomes == tuple(winner if n == max(counts) else -1 for n in counts)
