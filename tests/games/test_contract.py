"""What every game promises, over every option set in configs/game/ and a game in Python."""

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from nim import Nim

import athenan
from athenan.games import game_types

HERE = Path(__file__).parent
CONFIGS = sorted((HERE.parents[1] / "configs" / "game").glob("*.yaml"))


def read_small_boards() -> dict[str, dict[str, Any]]:
    lines = (HERE / "small_boards.txt").read_text().splitlines()
    sets = {}
    for line in lines:
        if not line.startswith("#"):
            name, *options = line.split()
            values = dict(option.split("=") for option in options)
            sets[line] = {"name": name, **{k: yaml.safe_load(v) for k, v in values.items()}}
    return sets


OF_CONFIGS = {path.stem: yaml.safe_load(path.read_text()) for path in CONFIGS}
SETTINGS = OF_CONFIGS | read_small_boards()
GAMES = {name: athenan.make_game(**options) for name, options in SETTINGS.items()}
GAMES["nim in Python"] = Nim()
IN_CORE = {name: game for name, game in GAMES.items() if isinstance(game, athenan.Game)}

every_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
every_core_game = pytest.mark.parametrize("game", IN_CORE.values(), ids=IN_CORE)
# A walk is the choices of a game from its start; each number picks an action.
walks = st.lists(st.integers(0, 2**16), max_size=200)
quick = settings(max_examples=12, deadline=None)


def states_along(game: Any, walk: list[int]) -> list[Any]:
    states = [game.initial_state()]
    for choice in walk:
        if states[-1].is_terminal:
            break
        actions = states[-1].legal_actions()
        states.append(states[-1].play(actions[choice % len(actions)]))
    return states


def some(items: list[Any], most: int = 12) -> list[Any]:
    return items[:: max(1, len(items) // most)]


def rebuilt(game: Any, state: Any) -> Any:
    """The same position made from its text: without last action and history."""
    return game.state_from_string(str(state))


def without_last_action(state: Any) -> str:
    """The text of a state without the brackets around its last action's cell."""
    lines = str(state).replace("[", " ").replace("]", " ").splitlines()
    return "\n".join(line.rstrip() for line in lines)


def transformed(planes: np.ndarray, symmetry: Any) -> np.ndarray:
    cells = planes.reshape(-1, planes.shape[2])
    return cells[symmetry.cells][:, symmetry.channels].reshape(planes.shape)


@pytest.mark.parametrize("name", athenan.list_games())
def test_every_game_has_a_config_with_all_its_options(name: str) -> None:
    (kind,) = [kind for kind in game_types() if kind["name"] == name]
    options = [option["name"] for option in kind["options"]]
    assert OF_CONFIGS[name].keys() == {"name", *options}


@every_game
@given(walk=walks)
@quick
def test_actions(game: Any, walk: list[int]) -> None:
    for state in some(states_along(game, walk)):
        actions = state.legal_actions()
        assert actions == sorted(set(actions))
        before = (state.key, str(state), state.planes().tobytes(), state.ply, state.to_move)
        texts = set()
        for action in actions:
            child = state.play(action)
            assert child.ply == state.ply + 1
            text = state.action_to_string(action)
            assert state.string_to_action(text) == action
            texts.add(text)
        assert len(texts) == len(actions)
        after = (state.key, str(state), state.planes().tobytes(), state.ply, state.to_move)
        assert after == before, "playing changed the state"


@every_game
@given(walk=walks)
@quick
def test_wrong_actions_are_named(game: Any, walk: list[int]) -> None:
    state = states_along(game, walk)[-1]
    legal = set(state.legal_actions())
    for wrong in (next(i for i in itertools.count() if i not in legal), 10**6 + 7, -3):
        with pytest.raises(ValueError, match=str(wrong)):
            state.play(wrong)
    with pytest.raises(ValueError, match="nonsense"):
        state.string_to_action("nonsense")


@every_game
@given(walk=walks)
@quick
def test_ends(game: Any, walk: list[int]) -> None:
    for state in states_along(game, walk):
        assert state.is_terminal == (not state.legal_actions())
        assert 0 <= state.to_move < game.num_players
        if not state.is_terminal:
            assert state.outcomes is None
            continue
        assert len(state.outcomes) == game.num_players
        assert set(state.outcomes) <= {-1, 0, 1}
        if game.num_players == 2:
            assert sum(state.outcomes) == 0
            if game.max_score:
                assert np.sign(state.score) == state.outcomes[0] or state.score == 0


@every_game
@given(seed=st.integers(0, 2**32))
@quick
def test_no_game_is_longer_than_promised(game: Any, seed: int) -> None:
    random = np.random.default_rng(seed)
    state = game.initial_state()
    while not state.is_terminal:
        state = state.play(int(random.choice(state.legal_actions())))
        assert state.ply <= game.max_plies


@every_game
@given(walk=walks)
@quick
def test_planes(game: Any, walk: list[int]) -> None:
    for state in some(states_along(game, walk)):
        planes = state.planes()
        assert planes.shape == game.plane_shape
        assert planes.dtype == np.uint8
        assert planes.max() <= 1, "planes are zeros and ones"
        assert len(game.channels) == game.plane_shape[2]


@every_core_game
@given(walk=walks)
@quick
def test_texts_and_planes_determine_the_state(game: Any, walk: list[int]) -> None:
    """Rebuilding also recomputes keys and incremental structures from scratch."""
    for state in some(states_along(game, walk)):
        from_text = rebuilt(game, state)
        from_planes = game.state_from_planes(state.planes(), state.ply)
        assert (from_planes.planes() == state.planes()).all()
        assert str(rebuilt(game, from_text)) == str(from_text)
        if from_text.is_terminal == state.is_terminal:  # a repetition is not in the text
            assert str(from_text) == without_last_action(state)
        if not game.has_history:
            assert from_text.identical(state)
            assert from_planes.identical(state)
            assert from_text.key == state.key


@every_core_game
@given(walk=walks)
@quick
def test_a_history_is_what_the_actions_since_make_it(game: Any, walk: list[int]) -> None:
    """From where a text tells all (after a capture, say) the same actions make the same state."""
    states = states_along(game, walk)
    remade = rebuilt(game, states[0])
    assert remade.identical(states[0])
    for before, state in itertools.pairwise(states):
        action = next(a for a in before.legal_actions() if before.play(a).identical(state))
        remade = remade.play(action)
        assert remade.identical(state)
        assert remade.key == state.key
        if (fresh := rebuilt(game, state)).identical(state):
            remade = fresh


@every_core_game
@given(walk=walks, data=st.data())
@quick
def test_keys(game: Any, walk: list[int], data: st.DataObject) -> None:
    """Among all states within a few plies, by all paths: equal keys exactly for equal states."""
    start = data.draw(st.sampled_from(states_along(game, walk)))
    keys: dict[int, str] = {}
    layer = [start]
    for _ in range(3):
        following = []
        for state in layer:
            for action in some(state.legal_actions(), 5):
                child = state.play(action)
                text = str(rebuilt(game, child))
                if not game.has_history:
                    text_key = keys.setdefault(child.key, text)
                    assert text_key == text
                    assert (child == state) == (child.key == state.key)
                else:
                    assert keys.setdefault(child.key, text) == text
                following.append(child)
        layer = following
    if not game.has_history:
        assert len(set(keys.values())) == len(keys), "one state, two keys"


@every_core_game
@given(walk=walks, data=st.data())
@quick
def test_symmetries(game: Any, walk: list[int], data: st.DataObject) -> None:
    """A symmetry commutes with playing and with the outcome."""
    identity = game.symmetries[0]
    assert identity.cells == sorted(identity.cells)
    assert identity.channels == sorted(identity.channels)
    assert identity.sign == 1
    state = data.draw(st.sampled_from(states_along(game, walk)))
    symmetry = data.draw(st.sampled_from(game.symmetries))
    assert sorted(symmetry.cells) == identity.cells
    assert sorted(symmetry.channels) == identity.channels
    state = game.state_from_planes(state.planes(), state.ply)  # without counters, as its image
    image = game.state_from_planes(transformed(state.planes(), symmetry), state.ply)
    assert image.is_terminal == state.is_terminal
    if state.is_terminal and game.num_players == 2:
        assert image.outcomes[0] == symmetry.sign * state.outcomes[0]
        if game.max_score:
            assert image.score == symmetry.sign * state.score
    elif state.is_terminal:
        players = symmetry.players or range(game.num_players)
        assert image.outcomes == tuple(state.outcomes[player] for player in players)
        if game.max_score:
            assert image.score == tuple(state.score[player] for player in players)
    images = {
        transformed(state.play(a).planes(), symmetry).tobytes() for a in state.legal_actions()
    }
    assert images == {image.play(a).planes().tobytes() for a in image.legal_actions()}


CELLS = {"connect6", "go", "gomoku", "havannah", "hex", "mnk", "othello", "rolit", "tictactoe"}


@every_core_game
def test_which_games_have_an_action_for_each_cell(game: Any) -> None:
    rows, columns, _ = game.plane_shape
    assert bool(game.action_places) == (game.name in CELLS)
    cells = game.action_places[: len(game.action_places) - len(game.other_actions)]
    others = game.action_places[len(cells) :]
    assert cells == sorted(set(cells))
    assert all(0 <= cell < rows * columns for cell in cells)
    assert others == [rows * columns + i for i in range(len(others))]
    assert bool(game.action_places) >= bool(game.other_actions)


@pytest.mark.parametrize(
    "game", [g for g in IN_CORE.values() if g.action_places],
    ids=[n for n, g in IN_CORE.items() if g.action_places],
)  # fmt: skip
@given(walk=walks, data=st.data())
@quick
def test_an_action_is_the_cell_of_its_place(
    game: Any, walk: list[int], data: st.DataObject
) -> None:
    """It puts a stone of the mover there; a symmetry takes it where it takes the cell, and actions
    that are no cells stay what they are."""
    rows, columns, channels = game.plane_shape
    state = data.draw(st.sampled_from(states_along(game, walk)))
    symmetry = data.draw(st.sampled_from(game.symmetries))
    state = game.state_from_planes(state.planes(), state.ply)
    image = game.state_from_planes(transformed(state.planes(), symmetry), state.ply)
    goes_to = {cell: i for i, cell in enumerate(symmetry.cells)}
    actions = {place: action for action, place in enumerate(game.action_places)}
    stones = slice(0, game.num_players)
    for action in state.legal_actions():
        place, child = game.action_places[action], state.play(action)
        moved = image.play(actions[goes_to.get(place, place)])
        assert (moved.planes() == transformed(child.planes(), symmetry)).all()
        if place >= rows * columns:
            name = game.other_actions[place - rows * columns]
            assert state.action_to_string(action) == name
            continue
        before, after = (s.planes().reshape(-1, channels)[place, stones] for s in (state, child))
        assert not before.any()
        assert after[state.to_move] == after.sum() == 1


def test_perft_of_a_python_game() -> None:
    assert [Nim((1, 2)).perft(d) for d in range(4)] == [1, 3, 5, 3]


@every_core_game
def test_fuzz(game: Any) -> None:
    """Expansions, playouts, texts and planes agree along whole random games."""
    assert game.fuzz(3, seed=1) > 0


@every_core_game
def test_changed_texts_are_refused_or_make_sound_states(game: Any) -> None:
    """Swapped, lost and doubled letters and lines; longer by scripts/sanitize fuzz."""
    game.fuzz_texts(1000, seed=1)
