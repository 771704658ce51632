"""Games by name: the built-in ones, and a user's own by `module:Class` or `file.py:Class`."""

from __future__ import annotations

import copyreg
import hashlib
import importlib
import importlib.util
import os
import pickle
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from athenan import _core
from athenan.errors import InputError, nearest
from athenan.python_game import PythonGame, PythonState

Game = _core.Game
State = _core.State
Symmetry = _core.Symmetry
FINGERPRINT_PLAYOUTS, FINGERPRINT_PLIES = 4, 300
_own_modules: dict[str, str] = {}  # of users' own games, by the names they were called by


def list_games() -> list[str]:
    """The names of the built-in games."""
    return [entry["name"] for entry in game_types()]


def game_types() -> list[dict[str, Any]]:
    """Name, title and options of every built-in game."""
    return _core.game_types()


def make_game(name: str | _core.Game | PythonGame, **options: Any) -> _core.Game:
    """A game by its name; `module:Class` or `./file.py:Class` makes a user's own. One that is made
    already becomes one that every search and command can use."""
    if isinstance(name, _core.Game):
        return name
    if isinstance(name, PythonGame):
        return wrapped(name)
    if not isinstance(name, str):
        raise InputError(f"A game has a name, not {name!r}.")
    if ":" in name:
        return wrapped(make_python_game(name, options))
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


def settings_of(game: _core.Game) -> dict[str, Any]:
    """Name and options, as make_game takes them. Of one that was made in Python by other means the
    options are not known."""
    own = _core.python_game_of(game)
    if own is None:
        return {"name": game.name, **game.values}
    usual = {"name": f"{type(own).__module__}:{type(own).__qualname__}"}
    return dict(getattr(own, "_settings", usual))


def make_game_of(source: Path, game: Any, trust: bool = False) -> _core.Game:
    """The game that a file names, with its options. A game of one's own is code, and a file must
    not choose what runs: without `trust` it has to be there, because the user named it. What was
    saved elsewhere may name another folder than the user did."""
    if not isinstance(game, dict) or not isinstance(game.get("name"), str):
        raise InputError(f"'{source}' names no game.")
    name = game["name"]
    if name not in _own_modules:
        name = next((own for own in _own_modules if is_same_name(own, name)), name)
    if ":" in name and not trust and module_name_of(name) not in sys.modules:
        raise InputError(
            f"'{source}' is of game '{name}', whose code would run: name the game, too, or say "
            "trust=true if you know where the file comes from."
        )
    return make_game(**{**game, "name": name})


# ---- A user's own --------------------------------------------------------------------------------


def wrapped(game: PythonGame) -> _core.Game:
    """As the core sees it, once its facts and first planes are as they should be."""
    try:
        return _core.wrap_python_game(game)
    except _core.WrongGame as error:
        raise InputError(f"Game '{type(game).__name__}' breaks the contract: {error}") from None


def is_file_name(name: str) -> bool:
    """Whether a game of one's own is named by its file: `./my_game.py:MyGame`."""
    place = name.rpartition(":")[0]
    return place.endswith(".py") or os.sep in place


def own_name(name: str) -> str:
    """One name for one file, however its path is written: from here where it is below, else whole.
    Others stay as they are."""
    if not is_file_name(name):
        return name
    place, _, class_name = name.rpartition(":")
    if not place.endswith(".py"):
        raise InputError(f"'{place}' is no Python file: its name does not end in '.py'.")
    path, here = Path(os.path.abspath(Path(place).expanduser())), Path.cwd()
    return f"{path.relative_to(here) if path.is_relative_to(here) else path}:{class_name}"


def is_same_name(one: str, other: str) -> bool:
    """Whether both name one game: a file of one's own may be in another folder than it was."""
    files = is_file_name(one) and is_file_name(other)
    return one == other or (files and Path(one).name == Path(other).name)


def module_name_of(name: str) -> str:
    """In sys.modules; that of a file is its own, so that files of one name are kept apart."""
    place = name.rpartition(":")[0]
    if not is_file_name(name):
        return place
    path = os.path.abspath(Path(place).expanduser())
    return f"{Path(path).stem}_{hashlib.sha256(path.encode()).hexdigest()[:8]}"


def import_game(name: str) -> type[PythonGame]:
    """The class of a user's own game."""
    place, _, class_name = name.rpartition(":")
    try:
        module = _import_file(name) if is_file_name(name) else _import_module(name)
    except (InputError, KeyboardInterrupt):
        raise
    except SyntaxError as error:
        raise InputError(
            f"Game '{name}' is no Python: {error.msg}, '{error.filename}', line {error.lineno}."
        ) from None
    except Exception as error:
        at = traceback.extract_tb(error.__traceback__)[-1]
        raise InputError(
            f"Game '{name}' cannot be loaded: {type(error).__name__}: {error} ('{at.filename}', "
            f"line {at.lineno})."
        ) from error
    _own_modules[name] = module.__name__
    made = getattr(module, class_name, None)
    if not (isinstance(made, type) and issubclass(made, PythonGame)):
        what = "file" if is_file_name(name) else "module"
        raise InputError(f"'{class_name}' in {what} '{place}' is not an athenan.PythonGame.")
    return made


def _import_module(name: str) -> ModuleType:
    module_name = name.rpartition(":")[0]
    if not all(part.isidentifier() for part in module_name.split(".")):
        raise InputError(f"'{module_name}' cannot be the Python module of game '{name}'.")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name != module_name.split(".")[0] and error.name != module_name:
            raise
        raise InputError(f"There is no Python module '{module_name}' for game '{name}'.") from None


def _import_file(name: str) -> ModuleType:
    """By its path. What lies beside it can be imported by it, as from a script."""
    module_name = module_name_of(name)
    if module_name in sys.modules:
        return sys.modules[module_name]
    path = Path(os.path.abspath(Path(own_name(name).rpartition(":")[0])))
    if not path.is_file():
        raise InputError(f"There is no file '{path}' for game '{name}'.")
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = sys.modules[module_name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module


def make_python_game(name: str, options: dict[str, Any]) -> PythonGame:
    made_of = import_game(name)
    try:
        made = made_of(**options)
        object.__setattr__(made, "_settings", {"name": name, **options})  # a frozen one's, too
        return made
    except InputError:
        raise
    except (TypeError, ValueError) as error:
        raise InputError(f"Game '{name}' does not take these options: {error}.") from None


def own_fault(error: BaseException) -> str | None:
    """The sentence about an error that came out of a user's own game; none for any other."""
    ours = str(Path(__file__).parent)
    files = {getattr(sys.modules.get(m), "__file__", ""): name for name, m in _own_modules.items()}
    for at in reversed(traceback.extract_tb(error.__traceback__)):
        if at.filename in files:
            return (
                f"Game '{files[at.filename]}' failed: {type(error).__name__}: {error} "
                f"('{at.filename}', line {at.lineno}, in {at.name}); 'athenan check "
                f"game={files[at.filename]}' shows which actions lead there."
            )
        if at.filename.startswith(ours):
            return None
    return None


# ---- Copies in other processes -------------------------------------------------------------------


def _reduced_game(game: _core.Game) -> tuple[Any, ...]:
    own = _core.python_game_of(game)
    if own is not None:
        return _unpickled_game, (_file_name_of(type(own)), pickle.dumps(own))
    tree = _core.tree_of(game)
    if tree is not None:
        return _made_tree, tree
    return _made_game, (game.name, game.values)


# The core's own functions cannot be pickled.


def _made_game(name: str, values: dict[str, Any]) -> _core.Game:
    return make_game(name, **values)


def _made_tree(*lists: Any) -> _core.Game:
    return _core.make_tree_game(*lists)


def _file_name_of(made: type[Any]) -> str | None:
    """Of a class that came from a file, which no import would find."""
    for name, module in _own_modules.items():
        if module == made.__module__ and is_file_name(name):
            return f"{sys.modules[module].__file__}:{made.__name__}"
    return None


def _unpickled_game(name: str | None, pickled: bytes) -> _core.Game:
    if name is not None:
        import_game(name)
    return make_game(pickle.loads(pickled))


def _reduced_state(state: _core.State) -> tuple[Any, ...]:
    start, actions = state.history
    if isinstance(start, PythonState):
        start = pickle.dumps(start)  # read after its game, whose class may be of a file
    return replayed_state, (state.game, start, actions)


def replayed_state(game: _core.Game, start: Any, actions: list[int]) -> _core.State:
    if start is None:
        state = game.initial_state()
    elif isinstance(start, bytes):
        state = _core.wrap_python_state(game, pickle.loads(start))
    elif isinstance(start, str):
        state = game.state_from_string(start)
    else:
        planes, ply = start
        state = game.state_from_planes(
            np.frombuffer(planes, np.uint8).reshape(game.plane_shape), ply
        )
    for action in actions:
        state = state.play(action)
    return state


def _reduced_symmetry(symmetry: Symmetry) -> tuple[Any, ...]:
    return Symmetry, (symmetry.cells, symmetry.channels, symmetry.sign, symmetry.players)


copyreg.pickle(_core.Game, _reduced_game)
copyreg.pickle(Symmetry, _reduced_symmetry)
copyreg.pickle(_core.State, _reduced_state)


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
