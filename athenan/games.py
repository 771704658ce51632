"""Games by name: the built-in ones, and a user's own by `module:Class`."""

from __future__ import annotations

import hashlib
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

from athenan import _core
from athenan.errors import InputError, nearest
from athenan.python_game import PythonGame

Game = _core.Game
State = _core.State
FINGERPRINT_PLAYOUTS, FINGERPRINT_PLIES = 4, 300


def list_games() -> list[str]:
    """The names of the built-in games."""
    return [entry["name"] for entry in game_types()]


def game_types() -> list[dict[str, Any]]:
    """Name, title and options of every built-in game."""
    return _core.game_types()


def make_game(name: str | _core.Game | PythonGame, **options: Any) -> _core.Game:
    """A game by its name; `module:Class` makes a user's own from its Python module. A game of one's
    own that is made already becomes one that every search and command can use."""
    if isinstance(name, _core.Game):
        return name
    if isinstance(name, PythonGame):
        return _core.wrap_python_game(name)
    if not isinstance(name, str):
        raise InputError(f"A game has a name, not {name!r}.")
    if ":" in name:
        return _core.wrap_python_game(_make_python_game(name, options))
    known = {entry["name"]: entry for entry in game_types()}
    if name not in known:
        raise InputError(f"There is no game '{name}'{nearest(name, known)}")
    names = [option["name"] for option in known[name]["options"]]
    for option in options:
        if option not in names:
            raise InputError(f"Game '{name}' has no option '{option}'{nearest(option, names)}")
    try:
        return _core.make_game(name, options)
    except ValueError as error:
        raise InputError(str(error)) from None
    except TypeError:
        raise InputError(f"An option of game '{name}' is neither a number nor a text.") from None


def make_game_of(source: Path, game: Any, trust: bool = False) -> _core.Game:
    """The game that a file names, with its options. A game of one's own is code, and a file must
    not choose what runs: without `trust` its module has to be there, because the user named it."""
    if not isinstance(game, dict) or not isinstance(game.get("name"), str):
        raise InputError(f"'{source}' names no game.")
    name = game["name"]
    if ":" in name and not trust and name.partition(":")[0] not in sys.modules:
        raise InputError(
            f"'{source}' is of game '{name}', whose code would run: name the game, too, or say "
            "trust=true if you know where the file comes from."
        )
    return make_game(**game)


def import_game(name: str) -> type[PythonGame]:
    """The class of a user's own game."""
    module_name, _, class_name = name.partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise InputError(f"'{module_name}' cannot be the Python module of game '{name}'.")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name.split(".")[0] and error.name != module_name:
            raise
        raise InputError(f"There is no Python module '{module_name}' for game '{name}'.") from None
    made = getattr(module, class_name, None)
    if not (isinstance(made, type) and issubclass(made, PythonGame)):
        raise InputError(f"'{class_name}' in module '{module_name}' is not an athenan.PythonGame.")
    return made


def _make_python_game(name: str, options: dict[str, Any]) -> PythonGame:
    try:
        return import_game(name)(**options)
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"Game '{name}' does not take these options: {error}.") from None


def configs_folder() -> Path:
    """In the repository the top-level folder, in an installed wheel the copy in the package."""
    package = Path(__file__).parent
    beside = package.parent / "configs"
    return beside if (package.parent / "pyproject.toml").exists() else package / "configs"


def game_configs(game: str) -> list[str]:
    """The names of the configs of a game, for `game=…`."""
    paths = sorted((configs_folder() / "game").glob("*.yaml"))
    return [path.stem for path in paths if f"name: {game}" in path.read_text().splitlines()]


def fingerprint(game: _core.Game) -> str:
    """sha256 of the options and of what the rules answer: perft, and the planes, actions and scores
    of fixed playouts. Rules that differ there have another one; it is the same on every machine."""
    facts = f"{game.options} {game.num_players} {game.plane_shape} {game.max_plies}"
    found = hashlib.sha256(facts.encode())
    branching = game.perft(1)
    found.update(f"{branching} {game.perft(2 if branching < 200 else 1)}".encode())
    for playout in range(FINGERPRINT_PLAYOUTS):
        state, number = game.initial_state(), playout
        for _ in range(FINGERPRINT_PLIES):
            found.update(np.ascontiguousarray(state.planes(), np.uint8).tobytes())
            actions = state.legal_actions()
            answers = f"{state.to_move} {state.outcomes} {state.score} {len(actions)}"
            found.update(answers.encode())
            if not actions:
                break
            number = (number * 6364136223846793005 + 1442695040888963407) % 2**64
            action = actions[(number >> 33) % len(actions)]
            found.update(f"{action} {state.action_to_string(action)}".encode())
            state = state.play(action)
    return found.hexdigest()
