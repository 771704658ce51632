"""Boards as pictures: every game is drawn, and each of its actions is one sequence of clicks."""

import random
from functools import cache
from typing import Any
from xml.dom import minidom

import pytest
import yaml

import athenan
from athenan.boards import Board
from athenan.games import configs_folder

CONFIGS = sorted(path.stem for path in (configs_folder() / "game").glob("*.yaml"))
PLIES = 60  # of a random game that is looked at


@cache
def made(config: str) -> athenan.Game:
    path = configs_folder() / "game" / f"{config}.yaml"
    return athenan.make_game(**yaml.safe_load(path.read_text()))


def random_states(game: athenan.Game, seed: int, plies: int = PLIES) -> list[Any]:
    """The beginning of a random game, and the end of another one."""
    chance = random.Random(seed)
    states: list[Any] = [game.initial_state()]
    while not states[-1].is_terminal and len(states) < 2000:
        states.append(states[-1].play(chance.choice(states[-1].legal_actions())))
    return states[: plies // 2] + states[-plies // 2 :]


@pytest.mark.parametrize("config", CONFIGS)
def test_each_action_is_one_sequence_of_clicks(config: str) -> None:
    game = made(config)
    board = Board(game)
    for state in random_states(game, 1):
        paths = board.paths(state)
        assert sorted(paths) == state.legal_actions()
        found = set(paths.values())
        assert len(found) == len(paths), "two actions by the same clicks"
        for path in found:
            assert path
            assert all(path[:i] not in found for i in range(1, len(path))), "it would end before"
            assert all(part in board.cells for part in path if isinstance(part, int))
            assert sum(isinstance(part, str) for part in path) <= 1


@pytest.mark.parametrize("config", CONFIGS)
def test_every_board_is_drawn(config: str) -> None:
    game = made(config)
    board = Board(game)
    for state in random_states(game, 2, 6):
        drawn = minidom.parseString(board.svg(state))
        standing = board.standing(state)
        assert len(drawn.getElementsByTagName("g")) == len(standing)
        for cell in standing:
            assert 0 < board.cells[cell].x < board.width
            assert 0 < board.cells[cell].y < board.height
    description = board.description()
    assert len(description["players"]) == game.num_players
    assert len({player["colour"] for player in description["players"]}) == game.num_players


@pytest.mark.parametrize("config", CONFIGS)
def test_no_piece_is_left_out(config: str) -> None:
    """What the rules' own drawing shows at the start, and nothing else."""
    game = made(config)
    board, state = Board(game), game.initial_state()
    text = str(state).split("ply ")[0]
    if game.name == "santorini":
        assert board.standing(state) == {}
        return
    symbols = {c.removeprefix("piece ") for c in game.channels if c.startswith("piece ")}
    lines = text.splitlines()[1:]
    letters = [letter for line in lines for letter in line if letter in symbols]
    assert len(board.standing(state)) == len(letters)


def path_of(state: Any, text: str) -> list[str]:
    """The clicks of an action by the names of cells."""
    board = Board(state.game)
    path = board.paths(state)[state.string_to_action(text)]
    return [board.cells[part].name if isinstance(part, int) else part for part in path]


def after(name: str, *actions: str, **options: Any) -> Any:
    state = athenan.make_game(name, **options).initial_state()
    for text in actions:
        state = state.play(state.string_to_action(text))
    return state


def test_clicks_of_all_kinds() -> None:
    assert path_of(after("tictactoe"), "b2") == ["b2"]
    assert path_of(after("connect_four", "4"), "4") == ["42"], "the cell that the piece falls to"
    assert path_of(after("chess"), "e2e4") == ["e2", "e4"]
    promotion = athenan.make_game("chess").state_from_string("8/P3k3/8/8/8/8/4K3/8 w - - 0 1")
    assert path_of(promotion, "a7a8n") == ["a7", "a8", "knight"], "the piece is asked for"
    assert path_of(after("amazons", size=6), "b1b3") == ["b1", "b3"]
    assert path_of(after("amazons", "b1b3", size=6), "b2") == ["b2"]
    assert path_of(after("hex", "c2", size=5, swap=True), "swap") == ["swap"]
    assert path_of(after("go"), "pass") == ["pass"]
    assert path_of(after("draughts"), "31-26") == ["31", "26"]
    assert path_of(after("chinese_checkers"), "6->14") == ["6", "14"]
    arimaa = athenan.make_game("arimaa").initial_state()
    assert Board(arimaa.game).part(arimaa) == "set up a piece: elephant"
    while arimaa.part_of_turn == "set up a piece":
        arimaa = arimaa.play(arimaa.legal_actions()[0])
    text = next(t for t in map(arimaa.action_to_string, arimaa.legal_actions()) if t[-1] == "n")
    cell = text[1:3]
    assert path_of(arimaa, text) == [cell, f"{cell[0]}{int(cell[1]) + 1}"]


def test_captures_with_the_same_ends_are_told_apart() -> None:
    """A man that comes from d2 to h10 by either of two ways, or back to d2."""
    game = athenan.make_game("draughts")
    board = Board(game)
    man, *others = (
        board.cells[board.at[10 - row, 2 * column]].name
        for column, row in ((3, 2), (2, 3), (2, 5), (4, 3), (4, 5), (4, 7), (6, 9))
    )
    state = game.state_from_string(f"W:W{man}:B{','.join(others)}")
    paths = sorted(board.paths(state).values(), key=len)
    assert [len(path) for path in paths] == [2, 3, 3]
    assert paths[1][:2] == paths[2][:2]
    assert {path[2] for path in paths[1:]} == {
        "×" + " ".join(sorted([*side, *others[4:]], key=int)) for side in (others[:2], others[2:4])
    }


def test_hexagons_lie_beside_each_other() -> None:
    board = Board(athenan.make_game("hex", size=3))
    assert board.hexagonal
    a1, b1, a2 = (board.cells[board.named[name]] for name in ("a1", "b1", "a2"))
    assert b1.x - a1.x == 2 * (a2.x - a1.x) == 40
    assert not Board(athenan.make_game("chess")).hexagonal
    star = Board(athenan.make_game("chinese_checkers"))
    assert star.hexagonal
    assert len(star.cells) == 121


def test_levels_of_santorini() -> None:
    state = after("santorini", "a1", "b1", "c1", "d1")
    board = Board(state.game)
    move = state.legal_actions()[0]
    state = state.play(move)
    build = state.play(state.legal_actions()[0])
    assert set(board.levels(build).values()) == {1}
    assert "rect" in board.figures(build)


def test_a_game_in_python_shows_its_text_or_its_places() -> None:
    from nim import Nim

    game = athenan.make_game(Nim())
    state = game.initial_state()
    board = Board(game)
    assert not board.cells
    minidom.parseString(board.svg(state))
    assert all(len(path) == 1 and isinstance(path[0], str) for path in board.paths(state).values())

    class Placed(Nim):
        places = tuple((f"{'abcdefg'[c]}{r + 1}", 2 * c, r) for r in range(3) for c in range(7))

    assert len(Board(athenan.make_game(Placed())).cells) == 21


def test_notebooks_show_states_and_results() -> None:
    state = athenan.make_game("tictactoe").initial_state().play(4)
    drawn = state._repr_svg_()  # type: ignore[attr-defined]
    minidom.parseString(drawn)
    assert "x" in drawn
    search = athenan.make_search("ubfm", state.game, "hash")
    result = search.run(state, iterations=30)
    values = result._repr_svg_()  # type: ignore[attr-defined]
    minidom.parseString(values)
    assert values.count("rx='9'") == len(result.children)
    tree = athenan.draw_tree(
        athenan.make_search("descent", state.game, "hash"), state, iterations=2
    )
    boards = minidom.parseString(tree._repr_svg_()).getElementsByTagName("g")
    assert sum("scale" in group.getAttribute("transform") for group in boards) > 8
