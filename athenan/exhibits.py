"""What the page shows of games that were played, and of runs: saved games, those of a run's replay,
and how a run that trains is doing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from athenan import _core
from athenan.checkpoint import steps_of
from athenan.config import read_values
from athenan.errors import InputError
from athenan.files import read_text
from athenan.games import make_game_of
from athenan.house import House, without_places
from athenan.matches import read_matches
from athenan.replay_files import NAME, read_block

MOST_GAMES = 300  # of a run that are listed
LAST_LINES = 40  # of a run's log
RUN = "run:"  # before a run's name, where a source of games is one

Row = dict[str, Any]


def games_listed(house: House, source: str) -> list[Row]:
    """Of a file of saved games, by its name, or of a run as `run:GAME/RUN`."""
    if source.startswith(RUN):
        run = house.run_folder(source.removeprefix(RUN))
        return [
            {
                "index": played.number,
                "title": f"game {played.number:,}",
                "plies": len(played.actions),
                "result": result_words(list(played.outcomes)),
            }
            for played in games_of_run(run)
        ]
    return [
        {
            "index": index,
            "title": " – ".join(player.text for player in game.players),
            "plies": len(game.actions),
            "result": result_words(game.outcomes),
            "game": str(game.game["name"]),
        }
        for index, game in enumerate(house.saved_games(source))
    ]


def result_words(outcomes: list[int] | None) -> str:
    if outcomes is None:
        return "not ended"
    winners = [str(seat + 1) for seat, outcome in enumerate(outcomes) if outcome > 0]
    return f"player {' and '.join(winners)} won" if winners else "drawn"


def opened(
    house: House, source: str, index: int
) -> tuple[str, list[Any], list[int], list[Any], str]:
    """The game's name in the house, its states, actions and values, and what it is called."""
    if source.startswith(RUN):
        return opened_record(house, source.removeprefix(RUN), index)
    games = house.saved_games(source)
    if index >= len(games):
        raise InputError("There is no such game.")
    saved = games[index]
    states = saved.states(source)
    _, actions = states[-1].history
    title = " – ".join(player.text for player in saved.players)
    return name_of(house, states[0].game), states, actions[-(len(states) - 1) :], [], title


def opened_record(
    house: House, run_name: str, number: int
) -> tuple[str, list[Any], list[int], list[Any], str]:
    run = house.run_folder(run_name)
    played = next((game for game in games_of_run(run) if game.number == number), None)
    if played is None:
        raise InputError("The run does not keep this game any more.")
    state = game_of(house, run).initial_state()
    states = [state]
    for action in played.actions:
        states.append(states[-1].play(action))
    values = [row[0] if len(row) == 1 else tuple(row) for row in played.root_values]
    title = f"{run_name}, game {number:,}"
    return name_of(house, state.game), states, played.actions, values, title


def name_of(house: House, game: _core.Game) -> str:
    return next(
        (
            name
            for name, values in house.games.items()
            if values["name"] == game.name and house.make_game(name).same_as(game)
        ),
        "own",
    )


def game_of(house: House, run: Path) -> _core.Game:
    values = read_values(run / "config.yaml")
    return make_game_of(run, values.get("game"), house.config.trust)


@dataclass(frozen=True)
class Played:
    """A game of a run, without what was learned from it."""

    number: int
    actions: list[int]
    root_values: list[list[float]]
    outcomes: tuple[int, ...]


@lru_cache(maxsize=64)
def games_of_file(path: Path, _written: int) -> list[Played]:
    """Files of a replay are large and written once: what is shown of them is kept."""
    return [
        Played(game.number, game.actions.tolist(), game.root_values.tolist(), game.outcomes)
        for game in sorted(read_block(path).games(), key=lambda game: -game.number)
    ]


def games_of_run(run: Path) -> list[Played]:
    """Of the newest files of its replay, the last game first."""
    found: list[Played] = []
    for path in sorted((run / "replay").glob("*.npz"), reverse=True):
        if not NAME.fullmatch(path.name):
            continue
        try:
            found += games_of_file(path, path.stat().st_mtime_ns)
        except (InputError, OSError):
            continue  # it is being written, or deleted
        if len(found) >= MOST_GAMES:
            break
    return found[:MOST_GAMES]


def run_shown(house: House, name: str) -> dict[str, Any]:
    """Its matches as curves, the end of its log, and its newest games."""
    run = house.run_folder(name)
    curves: dict[str, list[list[float]]] = {}
    for match in read_matches(run / "matches.jsonl"):
        if match.result.games:
            point = [match.games_of_run, match.result.score, *match.result.interval]
            curves.setdefault(match.against, []).append([round(value, 4) for value in point])
    try:
        log = read_text(run / "log.txt").splitlines()[-LAST_LINES:]
    except (OSError, ValueError):
        log = []
    steps = [int(step.name.removeprefix("step_")) for step in steps_of(run)]
    return {
        "curves": curves,
        "log": [without_places(line) for line in log],
        "steps": steps,
        "games": games_listed(house, RUN + name)[:60],
    }
