"""States and games go through pickle and copy, history included, and show themselves in a word."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from nim import Nim, NimState
from test_contract import IN_CORE

import athenan

every_core_game = pytest.mark.parametrize("game", IN_CORE.values(), ids=IN_CORE)
PLIES = 300


def walk(state: Any, seed: int, plies: int = PLIES) -> list[Any]:
    random, states = Random(seed), [state]
    while len(states) <= plies and not states[-1].is_terminal:
        states.append(states[-1].play(random.choice(states[-1].legal_actions())))
    return states


def assert_same(made: Any, state: Any) -> None:
    assert made == state
    assert made.identical(state)
    assert (made.key, made.ply, str(made)) == (state.key, state.ply, str(state))
    assert made.history == state.history


@every_core_game
def test_states_of_games(game: athenan.Game) -> None:
    states = walk(game.initial_state(), 1)
    chosen = [states[0], states[len(states) // 2], states[-1]]
    made = pickle.loads(pickle.dumps(chosen))
    assert made[0].game is made[2].game
    for one, state in zip(made, chosen, strict=True):
        assert_same(one, state)
    # They go on alike, and whoever searches one takes the other.
    for one, state in zip(walk(made[1], 2, 20), walk(chosen[1], 2, 20), strict=True):
        assert_same(one, state)
    search = athenan.make_search("random", game)
    assert search.run(made[1]).action == search.run(chosen[1]).action


@every_core_game
def test_states_from_texts_and_planes(game: athenan.Game) -> None:
    state = walk(game.initial_state(), 3, 12)[-1]
    for start in (
        game.state_from_string(str(state)),
        game.state_from_planes(state.planes(), state.ply),
    ):
        for one in walk(start, 4, 3):
            assert_same(pickle.loads(pickle.dumps(one)), one)


@every_core_game
def test_games(game: athenan.Game) -> None:
    made = pickle.loads(pickle.dumps(game))
    assert made is not game
    assert made.same_as(game)
    assert (made.name, made.options, made.values) == (game.name, game.options, game.values)
    assert copy.copy(game) is copy.deepcopy(game) is game
    state = game.initial_state()
    assert copy.copy(state) is copy.deepcopy(state) is state


def test_what_is_the_same_game() -> None:
    hex5, hex7 = (athenan.make_game("hex", size=size) for size in (5, 7))
    assert hex5.same_as(athenan.make_game("hex", size=5))
    assert not hex5.same_as(hex7)
    assert not hex5.same_as(athenan.make_game("hex", size=5, swap=True))
    komi = athenan.make_game("go", size=5, komi=0.5000000001)
    assert pickle.loads(pickle.dumps(komi)).values["komi"] == 0.5000000001
    assert athenan.make_game(Nim((1, 2))).same_as(athenan.make_game(Nim((1, 2))))
    assert not athenan.make_game(Nim((1, 2))).same_as(athenan.make_game(Nim((2, 1))))
    assert not athenan.make_game(Nim()).same_as(hex5)
    tree, other = athenan.TreeGame.nested([1, [0, -1]]), athenan.TreeGame.nested([1, [0, 1]])
    assert pickle.loads(pickle.dumps(tree)).same_as(tree)
    assert not tree.same_as(other)
    assert hex5.initial_state() != hex7.initial_state()


def test_a_search_takes_states_of_the_same_game() -> None:
    search = athenan.make_search("ubfm", athenan.make_game("hex", size=4))
    assert search.run(athenan.make_game("hex", size=4).initial_state(), iterations=3).action
    with pytest.raises(ValueError, match="of another game"):
        search.run(athenan.make_game("hex", size=5).initial_state(), iterations=3)


def test_trees_and_games_in_python() -> None:
    for game in (athenan.TreeGame.nested([[1, -1], [0, [1, -1]]]), athenan.make_game(Nim((1, 2)))):
        for state in walk(game.initial_state(), 5):
            assert_same(pickle.loads(pickle.dumps(state)), state)
    game = athenan.make_game(Nim((3, 3)))
    own = athenan.make_search("random", game)
    assert own.run(NimState((3, 3))).action is not None


def test_a_long_game_is_no_deep_one() -> None:
    """What a state knows of its past is let go one by one."""
    depth = 200_000
    game = athenan.TreeGame([[i + 1] for i in range(depth)] + [[]], [0.0] * depth + [1.0])
    state = game.initial_state()
    for _ in range(depth):
        state = state.play(0)
    assert len(state.history[1]) == depth
    del state


def test_a_state_of_a_file_in_another_process(tmp_path: Path) -> None:
    example = Path(__file__).parents[2] / "games" / "examples" / "nim.py"
    (tmp_path / "own.py").write_text(example.read_text())
    state = athenan.make_game(f"{tmp_path}/own.py:Nim", heaps=[1, 2]).initial_state().play(9)
    (tmp_path / "state").write_bytes(pickle.dumps(state))
    code = "import pickle, athenan\nstate = pickle.load(open('state', 'rb'))\nprint(state.key)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == state.key


def test_states_show_themselves() -> None:
    game = athenan.make_game("hex", size=5)
    state = game.initial_state().play(3).play(4).play(5)
    assert repr(state) == "<hex state, ply 3, player 1 to move>"
    assert repr(game) == "<game hex size=5>"
    assert repr(athenan.make_game("tictactoe")) == "<game tictactoe>"
    assert str(state).splitlines()[0].split() == ["a", "b", "c", "d", "e"]
    over = athenan.make_game("tictactoe").initial_state()
    for action in (0, 3, 1, 4, 2):
        over = over.play(action)
    assert repr(over) == "<tictactoe state, ply 5, over: 1, -1>"
    assert repr(athenan.make_game(Nim()).initial_state()) == "<nim state, ply 0, player 0 to move>"
