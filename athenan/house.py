"""What all visitors of the page share: games, evaluators, runs and saved games by their names, and
the machine, which none of them may have to himself. No path of the machine leaves it."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from athenan import _core
from athenan.checkpoint import runs_in, runs_of, steps_of
from athenan.config import read_values
from athenan.engine import Budget, Engine
from athenan.errors import InputError
from athenan.files import open_plain
from athenan.games import configs_folder, game_types, make_game
from athenan.opponent import find_network
from athenan.proofs import load_proof
from athenan.saved_games import BEGINNING, SavedGame, read_games
from athenan.search import (
    Evaluate,
    core_network,
    make_search,
    search_for,
    search_type,
    search_types,
)
from athenan.settings import ServeSettings

MOST_EVALUATORS = 8  # kept in memory
ROLLOUTS = 8  # a state: a single one says nothing but won or lost
MOST_SAVED, MOST_FILES = 500, 300  # games of a file, and files, that are listed
PLACE = re.compile(r"[\w.~-]*[/\\][^\s']*")  # what may be a path in a sentence
# Of the core that are worth playing against.
CORE = ("rollout", "zero")


def without_places(sentence: str) -> str:
    """A sentence for visitors."""
    return PLACE.sub("…", sentence)


class Shared:
    """An evaluator that several searches ask, one at a time."""

    def __init__(self, evaluator: Any) -> None:
        self._evaluator, self._lock = evaluator, threading.Lock()
        self.game, self.heuristic = evaluator.game, evaluator.heuristic

    def __call__(self, planes: np.ndarray[Any, Any]) -> Any:
        with self._lock:
            return self._evaluator(planes)


def has_games(path: Path) -> bool:
    """Other programs and runs have files of this kind, too."""
    try:
        with open_plain(path) as file:
            return file.read(len(BEGINNING)) == BEGINNING
    except OSError:
        return False


@dataclass(frozen=True)
class Player:
    """Who thinks: a search, an evaluator by its name, and how much for an action."""

    search: str
    evaluator: str
    evaluations: int


@dataclass
class House:
    config: ServeSettings
    evaluators: OrderedDict[tuple[str, str], str | Evaluate] = field(default_factory=OrderedDict)
    visitors: int = 0
    waiting: int = 0  # thoughts that there is no place for yet

    def __post_init__(self) -> None:
        self._loading = threading.Lock()
        self.slots = asyncio.Semaphore(self.config.thoughts or max(1, os.cpu_count() or 1))
        self.games: dict[str, dict[str, Any]] = {}  # settings by the names that visitors use
        own = dict(self.config.game)
        paths = sorted((configs_folder() / "game").glob("*.yaml"))
        for path in paths:
            self.games[path.stem] = yaml.safe_load(path.read_text())
        known = next((name for name, game in self.games.items() if game == own), None)
        self.first_game = known or "own"
        if known is None:
            self.games = {"own": own, **self.games}
        # What the command line names may be a path: visitors know it by its last part.
        self.own_evaluator = self.config.checkpoint or self.config.evaluator
        self.own_name = Path(self.own_evaluator).name

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """To think in; who came first is next."""
        self.waiting += 1
        try:
            await self.slots.acquire()
        finally:
            self.waiting -= 1
        try:
            yield
        finally:
            self.slots.release()

    # ---- What there is ---------------------------------------------------------------------------

    def catalogue(self) -> dict[str, Any]:
        titles = {entry["name"]: entry["title"] for entry in game_types()}
        usual = {
            entry["name"]: {option["name"]: option["default"] for option in entry["options"]}
            for entry in game_types()
        }
        games = []
        for name, values in self.games.items():
            title = titles.get(values["name"], values["name"].rpartition(":")[2])
            options = [
                f"{key} {value}"
                for key, value in values.items()
                if key != "name"
                and (values["name"] not in usual or usual[values["name"]].get(key) != value)
            ]
            games.append({"name": name, "title": ", ".join([title, *options])})
        return {
            "games": games,
            "game": self.first_game,
            "searches": [
                {"name": entry["name"], "about": entry["about"]} for entry in search_types()
            ],
            "search": self.config.search["name"],
            "evaluations": self.config.evaluations or self.config.most_evaluations,
            "most_evaluations": self.config.most_evaluations,
            "seconds": self.config.seconds,
            "saved": sorted(self.saved_files()),
            "runs": self.runs(),
        }

    def evaluators_of(self, game: _core.Game) -> list[str]:
        """Their names, the usual one first: the command line's, the runs of the game from the
        newest on, the core's."""
        runs = runs_of(Path(self.config.checkpoints), game.name)
        found = [run.name for run in runs_in(runs.parent, runs.name) if self.is_of(run, game)]
        named = self.own_name not in CORE and self.is_own(game)
        first = [self.own_name] if named else []
        return list(dict.fromkeys([*first, *found, *CORE]))

    def is_own(self, game: _core.Game) -> bool:
        """Whether it is the game of the command line, for which its evaluator is."""
        return self.make_game(self.first_game).same_as(game)

    def is_of(self, run: Path, game: _core.Game) -> bool:
        """Whether it has a network of this very game."""
        if not steps_of(run):
            return False
        try:
            options = dict(read_values(run / "config.yaml")["game"])
            return make_game(**options).same_as(game)
        except (InputError, KeyError, TypeError, ValueError, OSError):
            return False

    def runs(self) -> list[str]:
        """All runs, as game/name."""
        folder = Path(self.config.checkpoints)
        return [f"{run.parent.name}/{run.name}" for run in runs_in(folder, None)][:100]

    def run_folder(self, name: str) -> Path:
        if name not in self.runs():
            raise InputError("There is no such run.")
        return Path(self.config.checkpoints) / name

    def saved_files(self) -> dict[str, Path]:
        """Files of saved games by the names that visitors use."""
        if self.config.saved is None:
            return {}
        place = Path(self.config.saved)
        if not place.is_dir():
            return {place.stem: place}
        paths = sorted(place.glob("**/*.jsonl"))[:MOST_FILES]
        return {
            path.relative_to(place).with_suffix("").as_posix(): path
            for path in paths
            if has_games(path)
        }

    def saved_games(self, name: str) -> list[SavedGame]:
        path = self.saved_files().get(name)
        if path is None:
            raise InputError("There is no such file of saved games.")
        found = []
        for game in read_games(path):
            found.append(game)
            if len(found) >= MOST_SAVED:
                break
        return found

    # ---- What thinks -----------------------------------------------------------------------------

    def make_game(self, name: str) -> _core.Game:
        if name not in self.games:
            raise InputError("There is no such game here.")
        return make_game(**self.games[name])

    def evaluator(self, game: _core.Game, name: str) -> str | Evaluate:
        if name in CORE:
            return name
        if name not in self.evaluators_of(game):
            raise InputError("There is no such evaluator for this game.")
        key = f"{game.name} {game.options}", name
        with self._loading:
            if key not in self.evaluators:
                try:
                    self.evaluators[key] = self.load(game, name)
                except InputError as error:
                    print(f"evaluator {name}: {error}", file=sys.stderr)
                    raise InputError(without_places(str(error))) from None
                if len(self.evaluators) > MOST_EVALUATORS:
                    self.evaluators.popitem(last=False)
            self.evaluators.move_to_end(key)
            return self.evaluators[key]

    def load(self, game: _core.Game, name: str) -> str | Evaluate:
        text = self.own_evaluator if self.is_own(game) and name == self.own_name else name
        named = {"name": game.name, **game.values}
        settings = replace(self.config, game=named, checkpoint=None, evaluator=text)
        found = find_network(game, settings)
        if isinstance(found, str) or core_network(found) is not None:
            return found
        return Shared(found)

    def engine(self, game: _core.Game, player: Player) -> Engine:
        """That thinks as the player does, within its share of the memory."""
        name = search_for(game, player.search)
        type_, options = search_type(name), {}
        if player.search == self.config.search["name"]:
            options = {k: v for k, v in self.config.search.items() if k != "name"}
        if any(option["name"] == "memory_mb" for option in type_["options"]):
            options["memory_mb"] = self.config.memory_mb
        if self.config.resolved is not None and type_["consults"] and self.is_own(game):
            options["resolved"] = load_proof(self.config.resolved, game)
        evaluator = self.evaluator(game, player.evaluator) if type_["uses_evaluator"] else "rollout"
        if evaluator == "rollout" and type_["uses_evaluator"]:
            options["rollouts"] = ROLLOUTS
        search = make_search(name, game, evaluator, threads=self.config.threads, **options)
        return Engine(search, Budget(evaluations=player.evaluations, seconds=self.config.seconds))
