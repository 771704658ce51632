"""Random games over every game config and small boards: `python scripts/fuzz.py GAMES`.

Each game gets an equal share of the time rather than of the games, so that long ones do not
swallow everything; the number of games in all is at least GAMES.
"""

import sys
import time
from typing import Any

import yaml

import athenan
from athenan.config import configs_folder

SMALL: list[dict[str, Any]] = [
    {"name": "connect_four", "rows": 4, "columns": 4},
    {"name": "hex", "size": 3, "swap": True},
    {"name": "breakthrough", "rows": 5, "columns": 3},
    {"name": "othello", "size": 4},
    {"name": "mnk", "rows": 4, "columns": 4, "k": 3, "players": 4},
]


def option_sets() -> list[dict[str, Any]]:
    files = sorted((configs_folder() / "game").glob("*.yaml"))
    return [yaml.safe_load(path.read_text()) for path in files] + SMALL


def main(wanted: int) -> None:
    sets = option_sets()
    games = states = 0
    turn = 0
    started = time.monotonic()
    while games < wanted:
        for options in sets:
            game = athenan.make_game(**options)
            assert isinstance(game, athenan.Game)
            begun, played = time.monotonic(), 0
            while played == 0 or (time.monotonic() - begun < 1.0 and games + played < wanted):
                states += game.fuzz(1, seed=1_000_000 * turn + played)
                played += 1
            games += played
        turn += 1
        seconds = time.monotonic() - started
        print(f"{games} games, {states} states, {seconds:.0f} s", flush=True)
    print(f"fuzzed {games} random games of {len(sets)} option sets: no finding")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
