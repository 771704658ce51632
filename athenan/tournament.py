"""Tournaments: who plays, who meets whom, and the games, shared by any number of processes.

checkpoints/<game>/tournaments/<name>/   tournament.yaml (who plays)  games.jsonl, games.claims
                                         (worklist.py)  what standings.py writes
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from athenan.checkpoint import find_run, read_facts, runs_of, step_number, steps_of
from athenan.checks import read
from athenan.config import read_values
from athenan.errors import InputError
from athenan.evaluators import find_step_of, is_checkpoint
from athenan.files import write_whole
from athenan.fixtures import Fixture, play_list
from athenan.games import make_game
from athenan.match import make_openings
from athenan.players import Player, make_player
from athenan.search import search_type
from athenan.settings import PlayerSettings, TournamentSettings
from athenan.worklist import WorkList, check_folder, locked, number_of

BETWEEN, BEFORE = " · ", " / "  # names, and the opening, in a key


@dataclass
class Entrant:
    """Who plays, by what settings; of a run's checkpoint, how much it has learned."""

    settings: PlayerSettings
    run: str | None = None
    games: int | None = None  # of self-play
    minutes: float | None = None  # of training
    base: str | None = None  # who plays with several budgets
    budget: int | None = None


class Tournament:
    """Plays nothing before it is told to."""

    def __init__(self, config: TournamentSettings) -> None:
        self.config = config
        self.game = make_game(**config.game)
        if self.game.num_players < 2:
            raise InputError(
                f"A tournament is for two players or more; game '{self.game.name}' has one."
            )
        self.runs = runs_of(Path(config.checkpoints), config.game["name"])
        self.folder = folder_of(config)
        self.entrants = entrants(config, self.runs)
        self.tables = tables(config, list(self.entrants), self.game.num_players)
        self.fixtures = list(self._fixtures())
        self._players: dict[str, Player] = {}
        self._evaluators: dict[str, Any] = {}
        if config.anchor is not None and config.anchor not in self.entrants:
            raise InputError(f"Setting 'anchor' names nobody who plays: '{config.anchor}'.")

    def _fixtures(self) -> Iterator[Fixture]:
        config, each = self.config, self.game.num_players
        number = max(1, config.games // each)
        openings = make_openings(self.game, number, config.opening_plies, config.seed)
        for table in self.tables:
            for opening, turn in itertools.product(openings, range(each)):
                seats = tuple(table[(seat - turn) % each] for seat in range(each))
                key = f"{BETWEEN.join(seats)}{BEFORE}{opening.key:x}"
                yield Fixture(key, seats, opening, number_of(key))

    def note(self) -> None:
        """Who plays, for those who go on; refuses to go on as another tournament."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path, config = self.folder / "tournament.yaml", self.config
        told: dict[str, Any] = {
            "game": config.game,
            "seed": config.seed,
            "opening_plies": config.opening_plies,
            "players": {name: asdict(entrant) for name, entrant in self.entrants.items()},
        }
        with locked(self.folder / "lock"):
            before = read_values(path) if path.exists() else None
            if before is not None:
                self.entrants = compared(before, told, self.folder) | self.entrants
                players = {name: asdict(entrant) for name, entrant in self.entrants.items()}
                told["players"] = players
            if told != before:
                text = yaml.safe_dump(told, sort_keys=False, allow_unicode=True)
                write_whole(path, text.encode())

    def player(self, name: str) -> Player:
        if name not in self._players:
            config, settings = self.config, self.entrants[name].settings
            seed = config.seed + number_of(name)
            self._players[name] = make_player(
                self.game, settings, self.runs, seed, config.threads, config.trust,
                self._evaluators,
            )  # fmt: skip
        return self._players[name]

    def players_for(self, fixtures: Sequence[Fixture]) -> Mapping[str, Player]:
        return {name: self.player(name) for fixture in fixtures for name in fixture.seats}

    def play(
        self, work: WorkList, on_progress: Callable[[WorkList], object] = lambda _: None
    ) -> None:
        play_list(
            self.fixtures, work, self.players_for, self.config.games_in_step,
            lambda: on_progress(work),
        )  # fmt: skip

    def work(self) -> WorkList:
        return WorkList(self.folder / "games.jsonl")

    def played(self, work: WorkList) -> int:
        """Of the games that there are to play."""
        return sum(fixture.key in work.done for fixture in self.fixtures)


def play_share(config: TournamentSettings) -> None:
    """All that others leave to this process."""
    tournament = Tournament(config)
    with tournament.work() as work:
        tournament.play(work)


def folder_of(config: TournamentSettings) -> Path:
    check_folder(config.name, "a tournament")
    return runs_of(Path(config.checkpoints), config.game["name"]) / "tournaments" / config.name


def names_of(key: str) -> tuple[str, ...]:
    """Who sat where in a game, by its key."""
    return tuple(key.rpartition(BEFORE)[0].split(BETWEEN))


def compared(before: dict[str, Any], told: dict[str, Any], folder: Path) -> dict[str, Entrant]:
    """All who have played in it so far; InputError where the same name means something else now."""
    for key in ("game", "seed", "opening_plies"):
        if before.get(key) != told[key]:
            raise InputError(
                f"'{folder}' is a tournament with {key} {before.get(key)}, not {told[key]}: "
                "take another name=…."
            )
    try:
        known = {
            name: Entrant(**{**its, "settings": read(PlayerSettings, its["settings"])})
            for name, its in before["players"].items()
        }
    except (AttributeError, LookupError, TypeError):
        raise InputError(f"'{folder / 'tournament.yaml'}' does not say who plays.") from None
    for name, its in told["players"].items():
        settings = asdict(known[name].settings) if name in known else its["settings"]
        changed = [key for key, value in its["settings"].items() if settings[key] != value]
        if changed:
            key = changed[0]
            raise InputError(
                f"Player '{name}' of tournament '{folder}' had {key} {settings[key]}, not "
                f"{its['settings'][key]}: give the player or the tournament another name."
            )
    return known


# ---- Who plays -----------------------------------------------------------------------------------


def entrants(config: TournamentSettings, runs: Path) -> dict[str, Entrant]:
    """Named players, then checkpoints of runs; with several budgets once for each."""
    found = {name: Entrant(settled(player, runs)) for name, player in config.players.items()}
    for text in config.runs:
        run = find_run(text, Path(config.checkpoints), config.game["name"])
        steps = thinned(steps_of(run), config.most_steps)
        if not steps:
            raise InputError(f"Run '{run}' has no checkpoint yet.")
        for step in steps:
            seconds = read_facts(step).get("seconds")
            name = f"{run.name}/{step_number(step)}"
            if name in found:
                raise InputError(f"Two players are called '{name}'.")
            found[name] = Entrant(
                replace(config.player, checkpoint=None, evaluator=str(step)),
                run.name,
                step_number(step),
                round(seconds / 60, 3) if isinstance(seconds, int | float) else None,
            )
    if config.budgets:
        found = dict(with_budgets(found, config.budgets))
    for name in found:
        if not name or BETWEEN in name or BEFORE in name or not name.isprintable():
            raise InputError(f"'{name}' is no name of a player.")
    return found


def settled(player: PlayerSettings, runs: Path) -> PlayerSettings:
    """With its very checkpoint, where a run or `latest` is named: they will be others."""
    text = player.evaluator if player.checkpoint is None else player.checkpoint
    if player.checkpoint is None and not is_checkpoint(text, runs):
        return player
    return replace(player, checkpoint=None, evaluator=str(find_step_of(text, runs)))


def thinned(steps: list[Path], most: int | None) -> list[Path]:
    """So many of them, spread evenly up to the last."""
    if most is None or len(steps) <= most:
        return steps
    return [steps[-1 - i * (len(steps) - 1) // max(1, most - 1)] for i in reversed(range(most))]


def with_budgets(
    found: Mapping[str, Entrant], budgets: Sequence[int]
) -> Iterator[tuple[str, Entrant]]:
    for name, entrant in found.items():
        if not search_type(entrant.settings.search["name"])["uses_evaluator"]:
            yield name, entrant
            continue
        for budget in budgets:
            settings = replace(entrant.settings, evaluations=budget, iterations=None, seconds=None)
            yield (
                f"{name}@{budget}",
                replace(entrant, settings=settings, base=name, budget=budget),
            )


# ---- Who meets whom ------------------------------------------------------------------------------


def tables(config: TournamentSettings, names: Sequence[str], each: int) -> list[tuple[str, ...]]:
    """Of so many players each."""
    if len(names) < each:
        raise InputError(
            f"A tournament of '{config.game['name']}' needs {each} players at least, not "
            f"{len(names)}: players.NAME.search=…, runs=[RUN] or budgets=[…]."
        )
    if config.format == "ladder":
        reach = max(config.reach, each - 1)
        return [
            tuple(names[i] for i in places)
            for places in itertools.combinations(range(len(names)), each)
            if places[-1] - places[0] <= reach
        ]
    if config.format == "gauntlet":
        challengers = config.challengers or list(names[:1])
        for name in challengers:
            if name not in names:
                raise InputError(f"Setting 'challengers' names nobody who plays: '{name}'.")
        others = [name for name in names if name not in challengers]
        if len(others) < each - 1:
            raise InputError("A gauntlet needs others than its challengers.")
        return [
            (name, *rest)
            for name in challengers
            for rest in itertools.combinations(others, each - 1)
        ]
    return list(itertools.combinations(names, each))
