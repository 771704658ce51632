"""Random games over every game config and many small boards: `python scripts/fuzz.py GAMES`.

With each game go some texts of its states, changed in a few places and read again.

Each option set gets an equal share of the time rather than of the games: the next game is of the
set that has had least so far, so that long ones do not swallow everything. Every set is played at
least once, and the number of games in all is at least GAMES.
"""

import sys
import time
from collections import Counter
from typing import Any

import yaml

import athenan
from athenan.games import configs_folder

REPORT_SECONDS = 60.0  # of the processor
TEXTS = 20  # a game


def sets_of(name: str, *options: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, **one} for one in options]


# Small boards reach full boards, passes, repetitions and draws that large ones hardly show; games
# without a small board are cut off, so that one of them does not last too long.
SMALL: list[dict[str, Any]] = [
    *sets_of("connect_four", {"rows": 4, "columns": 4}, {"rows": 4, "columns": 5}),
    *sets_of("hex", *({"size": n, "swap": swap} for n in (2, 3, 5, 8) for swap in (False, True))),
    *sets_of("breakthrough", {"rows": 5, "columns": 3}, {"rows": 4, "columns": 2}),
    *sets_of("othello", {"size": 4}, {"size": 6}),
    *sets_of(
        "mnk",
        {"rows": 4, "columns": 4, "k": 3, "players": 4},
        {"rows": 4, "columns": 3, "k": 3, "players": 2},
        {"rows": 1, "columns": 6, "k": 2, "players": 3},
    ),
    *sets_of("amazons", *({"size": n} for n in (4, 5, 6, 7))),
    *sets_of("ataxx", *({"size": n, "jump_limit": limit} for n in (3, 4, 5) for limit in (4, 20))),
    *sets_of("ataxx", *({"size": n, "draw_rules": "none", "max_plies": 200} for n in (3, 4, 8))),
    *sets_of(
        "clobber",
        *(
            {"rows": rows, "columns": columns}
            for rows, columns in ((1, 9), (2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (5, 6), (8, 9))
        ),
    ),
    *sets_of("connect6", *({"size": n} for n in (3, 6, 7, 8, 9))),
    *sets_of(
        "gomoku",
        *({"size": n, "opening": way} for n in (3, 5, 6, 9) for way in ("outer_open", "free")),
    ),
    *sets_of(
        "havannah", *({"base": n, "swap": swap} for n in (2, 3, 4, 5) for swap in (False, True))
    ),
    *sets_of(
        "lines_of_action",
        {"draw_rules": "none", "max_plies": 200},
        {"draw_rules": "openspiel"},
        {"max_plies": 60},
    ),
    *sets_of("santorini", *({"size": n} for n in (3, 4, 6))),
    *sets_of("surakarta", {"draw_rules": "none", "max_plies": 300}, {"max_plies": 60}),
    *sets_of(
        "chinese_checkers",
        *(
            {"players": n, "blocking": blocking, "max_plies": 200}
            for n in (2, 3, 4, 6)
            for blocking in (False, True)
        ),
    ),
    *sets_of(
        "rolit",
        *(
            {"players": n, "size": size, "without_line": without_line, "start": start}
            for n in (2, 3, 4)
            for size in (4, 6)
            for without_line in ("adjacent", "pass")
            for start in ("players", "four_colours")
        ),
    ),
    *sets_of(
        "go",
        *({"size": n, "komi": 0.5} for n in (2, 3, 4, 5, 6, 7)),
        *({"size": n, "draw_rules": rule} for n in (2, 3, 5) for rule in ("none", "openspiel")),
    ),
    *sets_of(
        "draughts",
        {"variant": "brazilian", "king_plies": 4},
        {"variant": "brazilian", "draw_rules": "none", "max_plies": 200},
        {"variant": "canadian", "max_plies": 100},
    ),
    *sets_of("chess", {"draw_rules": "fide", "max_plies": 200}, {"max_plies": 80}),
    *sets_of(
        "xiangqi",
        {"chase": True, "quiet_plies": 10, "max_plies": 80},
        {"draw_rules": "none", "max_plies": 150},
    ),
    *sets_of("arimaa", {"max_plies": 100}, {"draw_rules": "none", "max_plies": 60}),
]


def option_sets() -> list[dict[str, Any]]:
    files = sorted((configs_folder() / "game").glob("*.yaml"))
    return [yaml.safe_load(path.read_text()) for path in files] + SMALL


def main(wanted: int) -> None:
    sets = option_sets()
    cores = [athenan.make_game(**options) for options in sets]
    seconds, played = [0.0] * len(sets), [0] * len(sets)
    states: Counter[str] = Counter()
    reported = time.process_time()
    while sum(played) < wanted or 0 in played:
        turn = seconds.index(min(seconds))
        begun = time.process_time()
        seed = 1_000_000 * turn + played[turn]
        states[cores[turn].name] += cores[turn].fuzz(1, seed)
        cores[turn].fuzz_texts(TEXTS, seed)
        played[turn] += 1
        now = time.process_time()
        seconds[turn] += now - begun
        if now - reported > REPORT_SECONDS:
            reported = now
            print(f"{sum(played)} games, {states.total()} states, {now:.0f} s", flush=True)
    games: Counter[str] = Counter()
    for core, number in zip(cores, played, strict=True):
        games[core.name] += number
    for name, number in sorted(games.items()):
        print(f"{name:16} {number:7} games {states[name]:9} states")
    print(f"fuzzed {sum(played)} random games of {len(sets)} option sets: no finding")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
