"""Amazons: OpenSpiel's games, whose word for a turn is two actions here, and the game's ends.

vectors/amazons/*.json write a turn as move/arrow; counts and checksums are of such whole turns.
"""

import json
import random
import zlib
from functools import cache
from pathlib import Path

import pytest
from brute_force import solve
from playing import play, texts

import athenan

FILES = sorted((Path(__file__).with_name("vectors") / "amazons").glob("*.json"))


def turns_of(state: athenan.State) -> list[str]:
    turns = []
    for action in state.legal_actions():
        move, middle = state.action_to_string(action), state.play(action)
        assert middle.to_move == state.to_move
        turns += [f"{move}/{middle.action_to_string(arrow)}" for arrow in middle.legal_actions()]
    return sorted(turns)


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_perft(path: Path) -> None:
    vectors = json.loads(path.read_text())
    game = athenan.make_game(**vectors["make"])
    assert {depth: game.perft(2 * int(depth)) for depth in vectors["perft"]} == vectors["perft"]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_playouts(path: Path) -> None:
    vectors = json.loads(path.read_text())
    game = athenan.make_game(**vectors["make"])
    assert vectors["playouts"]
    for playout in vectors["playouts"]:
        state = game.initial_state()
        crcs = playout["crc"].split()
        for i, turn in enumerate(playout["moves"].split()):
            assert state.to_move == i % 2
            turns = turns_of(state)
            assert len(turns) == playout["nlegal"][i], str(state)
            assert f"{zlib.crc32(' '.join(turns).encode()):08x}" == crcs[i], str(state)
            state = play(state, turn.replace("/", " "))
        assert state.is_terminal == playout["terminal"]
        assert list(state.outcomes) == playout["result"]


def test_arrow_shot_back_to_where_the_amazon_came_from() -> None:
    state = athenan.make_game("amazons", size=4).state_from_string("""\
          a b c d
        4 . . . .
        3 # # # .
        2 # x # #
        1 # # . o
        ply 9, x to move""")
    assert texts(state) == {"b2c1"}
    middle = play(state, "b2c1")
    assert str(middle).splitlines()[3:5] == ["2 # . # #", "1 # #[X]o"]
    assert middle.to_move == 0
    assert texts(middle) == {"b2"}, "the only cell is the one it came from"
    after = play(middle, "b2")
    assert after.to_move == 1
    assert str(after).splitlines()[3:5] == ["2 #[#]# #", "1 # # x o"]
    assert after.is_terminal, "o is shut in by arrows, the edge and an amazon"
    assert after.outcomes == (1, -1)


def test_nothing_passes_amazons_or_arrows() -> None:
    state = athenan.make_game("amazons", size=6).state_from_string("""\
          a b c d e f
        6 . . . . . .
        5 . . o . . #
        4 . . . . . .
        3 x . . . # .
        2 . . . . . .
        1 # . o . . .
        ply 8, x to move""")
    assert texts(state) == {
        "a3" + to for to in ["a4", "a5", "a6", "b4", "b3", "c3", "d3", "b2", "a2"]
    }  # c5 and c1 end the diagonals, e3 the row, a1 the column
    arrows = texts(play(state, "a3d3"))
    assert {"a3", "c3", "f1", "f5"} & arrows == {"a3", "c3", "f1"}
    assert "e4" in arrows
    assert "e3" not in arrows


def test_the_amazon_that_shoots_is_part_of_the_state() -> None:
    """The same cells after two moves, but another amazon has to shoot."""
    game = athenan.make_game("amazons", size=6)
    text = """\
          a b c d e f
        6 . . . . . .
        5 . . . . . .
        4 . {} . . {} .
        3 . . . . . .
        2 . . . . . .
        1 o . . . . .
        ply 9, x to move"""
    one, two = (
        game.state_from_string(text.format(*"Xx")),
        game.state_from_string(text.format(*"xX")),
    )
    moving = game.state_from_string(text.format(*"xx"))
    assert len({one.key, two.key, moving.key}) == 3
    assert texts(one) != texts(two)
    assert one.play(one.string_to_action("a4")).key != two.play(two.string_to_action("f4")).key
    shared = "c4"
    assert one.play(one.string_to_action(shared)).key == two.play(two.string_to_action(shared)).key


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        (". o # X / . . # # / . . x . / . . . .", "shoot back"),
        (". . X . / . . . . / . . X . / . . . .", "only one amazon"),
        (". O . . / . . . . / . . x . / . . . .", "of the player to move"),
        (". O X . / . . . . / . . . . / . . . .", "of the player to move"),
    ],
)
def test_who_has_to_shoot_can_and_is_one(rows: str, match: str) -> None:
    lines = [f"{4 - i} {row.strip()}" for i, row in enumerate(rows.split("/"))]
    text = "\n".join(["  a b c d", *lines, "ply 3, x to move"])
    with pytest.raises(ValueError, match=match):
        athenan.make_game("amazons", size=4).state_from_string(text)


def test_planes_of_a_shooter_of_the_other_side_are_refused() -> None:
    game = athenan.make_game("amazons", size=4)
    middle = play(game.initial_state(), "b1b2")
    planes = middle.planes()
    assert game.state_from_planes(planes, middle.ply) == middle
    planes[:, :, [5, 6]] = planes[:, :, [6, 5]]
    with pytest.raises(ValueError, match="of the player to move"):
        game.state_from_planes(planes, middle.ply)


def test_sizes() -> None:
    starts = {4: "b1c1a2d2", 5: "b1d1a2e2", 6: "b1e1a2f2", 8: "c1f1a3h3", 10: "d1g1a4j4"}
    for size, cells in starts.items():
        lines = str(athenan.make_game("amazons", size=size).initial_state()).splitlines()
        rows = {line.split()[0]: line.split()[1:] for line in lines[1:-1]}
        for i in range(0, 8, 2):
            assert rows[cells[i + 1]]["abcdefghij".index(cells[i])] == "x"
        assert sum(row.count("x") for row in rows.values()) == 4
        assert sum(row.count("o") for row in rows.values()) == 4


@cache
def naive_value(board: str, mover: str) -> int:
    """Of Amazons on 4 × 4, from a string of the cells, by whole turns."""

    def reach(board: str, cell: int) -> list[int]:
        found = []
        for down in (-1, 0, 1):
            for right in (-1, 0, 1):
                row, column = cell // 4 + down, cell % 4 + right
                while (down or right) and 0 <= row < 4 and 0 <= column < 4:
                    if board[4 * row + column] != ".":
                        break
                    found.append(4 * row + column)
                    row, column = row + down, column + right
        return found

    def put(board: str, cell: int, piece: str) -> str:
        return board[:cell] + piece + board[cell + 1 :]

    goal, other = (1, "o") if mover == "x" else (-1, "x")
    for origin in range(16):
        if board[origin] != mover:
            continue
        for to in reach(board, origin):
            moved = put(put(board, origin, "."), to, mover)
            for arrow in reach(moved, to):
                if naive_value(put(moved, arrow, "#"), other) == goal:
                    return goal
    return -goal


def test_four_by_four_against_a_naive_solver() -> None:
    rng = random.Random(4)
    game = athenan.make_game("amazons", size=4)
    values: dict[int, int] = {}
    assert solve(game.initial_state(), values) == naive_value(".xx.x..xo..o.oo.", "x")
    for _ in range(20):
        state = game.initial_state()
        while not state.is_terminal:
            state = state.play(rng.choice(state.legal_actions()))
            if state.ply % 2 == 0:
                rows = [line[2:] for line in str(state).splitlines()[4:0:-1]]
                board = "".join(c for row in rows for c in row if c in ".xo#")
                assert solve(state, values) == naive_value(board, "xo"[state.to_move]), str(state)
