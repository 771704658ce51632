"""An exported network on disk, and the evaluator it gives to any search.

<name>/ or <name>.zip   evaluator.json (what it is, checksums)  README.md  vectors.npz  states.json
                        network.tflite  network_int8.tflite  network.onnx  network.keras
                        saved_model/ (as many of them as were asked for)
"""

from __future__ import annotations

import stat
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from athenan import _core
from athenan.errors import InputError
from athenan.export.runtimes import (
    FORMATS,
    check_format,
    computing,
    load_network,
    missing_package,
)
from athenan.files import has_checksum, open_plain, read_json
from athenan.games import fingerprint, make_game, make_game_of
from athenan.python_game import PythonGame
from athenan.search import CORE_EVALUATORS

VERSION = 2  # where values are of a state's children; otherwise 1
FACTS = "evaluator.json"
MOST_MEMBERS, MOST_BYTES = 1000, 2**30  # of an archive


class BundleEvaluator:
    """Planes to values in [-1, 1]; knows its game, and the heuristic that its values mean."""

    def __init__(
        self,
        path: Path,
        format: str | None = None,
        game: _core.Game | PythonGame | None = None,
        threads: int | None = None,
        trust: bool = False,
    ) -> None:
        self.path = path
        self._unpacked, folder = unpack(path)
        self.facts = read_facts(folder, path)
        self.format = choose_format(format, list(self.facts["formats"]), path, trust)
        if game is None:
            self.game = make_game_of(path, self.facts["game"], trust)
        else:
            self.game = make_game(game)
        self._check_game()
        self.computing = computing(self.format, threads)
        self._network = load_network(self.format, folder, threads)
        self._row = tuple(self.game.plane_shape)

    def __call__(self, planes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if planes.shape[1:] != self._row:
            raise InputError(f"Evaluator '{self.path}' takes planes of {self._row}.")
        return self._network(planes)

    def __str__(self) -> str:
        return f"{self.path}:{self.format}"

    @property
    def of_children(self) -> bool:
        """Whether it values all children of a state at once, as the network of its facts does."""
        return bool(self.facts["values"].get("of_children", False))

    @property
    def heuristic(self) -> dict[str, Any]:
        """Settings of a search whose values are on the scale of this network."""
        heuristic = self.facts["values"]["heuristic"]
        return {"heuristic": heuristic["name"], "longest": heuristic["longest"]}

    def _check_game(self) -> None:
        game, rules = self.game, self.facts["rules"]
        shape = tuple(self.facts["planes"]["shape"])
        if (game.name, tuple(game.plane_shape)) != (rules["name"], shape):
            raise InputError(f"Evaluator '{self.path}' is of {self.facts['game']}, another game.")
        if fingerprint(game) != rules["fingerprint"]:
            raise InputError(
                f"Evaluator '{self.path}' was exported for other rules or options of game "
                f"'{game.name}': their fingerprint is not the same."
            )


def unpack(path: Path) -> tuple[tempfile.TemporaryDirectory[str] | None, Path]:
    """The folder of a bundle, and what keeps it on disk where it comes out of an archive."""
    if not path.exists():
        raise InputError(f"There is no exported evaluator '{path}'.")
    if path.is_dir():
        return None, path
    unpacked = tempfile.TemporaryDirectory(prefix="athenan-")
    try:
        with open_plain(path) as file, zipfile.ZipFile(file) as archive:
            check_members(archive.infolist(), path)
            archive.extractall(unpacked.name)
    except InputError:
        raise
    except Exception:  # of zip, zlib, and whatever its members are packed with
        raise InputError(f"'{path}' is damaged or not an exported evaluator.") from None
    found = [file.parent for file in Path(unpacked.name).glob(f"*/{FACTS}")]
    return unpacked, found[0] if found else Path(unpacked.name)


def check_members(members: list[zipfile.ZipInfo], path: Path) -> None:
    """Before anything is unpacked: how much it is, and that it stays where it is put."""
    size = sum(member.file_size for member in members)
    if len(members) > MOST_MEMBERS or size > MOST_BYTES:
        raise InputError(
            f"'{path}' would unpack to {len(members)} files of {size:,} bytes; an exported "
            f"evaluator has at most {MOST_MEMBERS} of {MOST_BYTES:,} together."
        )
    for member in members:
        if not is_inside(member.filename) or stat.S_ISLNK(member.external_attr >> 16):
            raise InputError(f"'{path}' is refused: '{member.filename}' leads out of it.")


def is_inside(name: str) -> bool:
    """Whether a path stays below where it starts."""
    parts = PurePosixPath(name.replace("\\", "/"))
    return not parts.is_absolute() and ".." not in parts.parts and ":" not in name


def read_facts(folder: Path, path: Path) -> dict[str, Any]:
    """evaluator.json, after all files it names have been found whole."""
    if not (folder / FACTS).exists():
        raise InputError(f"'{path}' is not an exported evaluator: it has no {FACTS}.")
    try:
        facts: dict[str, Any] = read_json(folder / FACTS)
        version = int(facts["version"])
        if version < 1:
            raise ValueError
        if version <= VERSION:
            check_facts(facts)
    except (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError):
        raise InputError(f"'{path}' is damaged: {FACTS} cannot be read.") from None
    if version > VERSION:
        raise InputError(f"'{path}' is of version {version}; this athenan reads up to {VERSION}.")
    for name, expected in facts["files"].items():
        if not is_inside(name) or not has_checksum(folder / name, expected):
            raise InputError(f"'{path}' is damaged: {name} is not what was written.")
    return facts


def check_facts(facts: dict[str, Any]) -> None:
    """All that is read of them is there, and of its type."""
    words = [facts["game"]["name"], facts["rules"]["name"], facts["rules"]["fingerprint"]]
    words += [facts["values"]["heuristic"]["name"], *facts["files"].keys()]
    numbers = [*facts["planes"]["shape"], facts["values"]["heuristic"]["longest"]]
    known = FORMATS.keys() & facts["formats"].keys()
    if not known or not all(isinstance(word, str) for word in words):
        raise ValueError
    if len(numbers) != 4 or not all(isinstance(number, int) for number in numbers):
        raise ValueError
    for name in known:  # nothing is loaded that was not compared with its checksum
        files = [file for file in facts["files"] if is_part(file, FORMATS[name].file)]
        if not files:
            raise ValueError


def is_part(file: str, whole: str) -> bool:
    return file == whole or file.startswith(f"{whole}/")


def choose_format(name: str | None, exported: list[str], path: Path, trust: bool) -> str:
    """The format asked for, or the best one whose runtime is installed."""
    if name is None:
        best = [form for form in FORMATS if form in exported]
        safe = [form for form in best if trust or not FORMATS[form].runs_code] or best
        here = [form for form in safe if not missing_package([FORMATS[form].runs_with])]
        name = (here or safe)[0]
    check_format(name)
    if name not in exported:
        raise InputError(f"'{path}' has no format '{name}', only {', '.join(exported)}.")
    if FORMATS[name].runs_code and not trust:
        raise InputError(
            f"Format '{name}' of '{path}' can run code: take another one, or say trust=true if you "
            "know where the file comes from."
        )
    return name


def split_format(text: str) -> tuple[Path, str | None]:
    """`path:format` or `path`."""
    path, colon, name = text.rpartition(":")
    if not colon or Path(text).exists():
        return Path(text), None
    return Path(path), name


def is_bundle(text: str) -> bool:
    """Whether an `evaluator` setting means an export rather than a (misspelt) core evaluator."""
    if text in CORE_EVALUATORS:
        return False
    return any(mark in text for mark in ("/", ":", ".zip")) or Path(text).is_dir()


def bundle_facts(text: str) -> dict[str, Any]:
    """What an export says of itself, nothing of it loaded."""
    path, _ = split_format(text)
    kept, folder = unpack(path)
    facts = read_facts(folder, path)
    del kept
    return facts


def load_bundle(
    path: str | Path,
    game: _core.Game | PythonGame | None = None,
    threads: int | None = None,
    trust: bool = False,
) -> BundleEvaluator:
    """The evaluator of an export, a folder or .zip, best in the format it says: `path:format`. Its
    rules must still be those of `game`, by default the game it was exported for. Without `trust`
    no code comes out of it."""
    return BundleEvaluator(*split_format(str(path)), game, threads, trust)
