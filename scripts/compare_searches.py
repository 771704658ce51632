"""Plays every search against ubfm with the same evaluator: which of them plays best?

    python scripts/compare_searches.py                          go on where it was stopped
    python scripts/compare_searches.py hex7=RUN --games 40 --searches puct umb

Each word is a config of a game and its evaluator: a run, a step, latest, an export, or one without
a network. The budget is in evaluations an action for both. A match is one line of the file of
results, so that a kill loses one match; matches that are in it are not played again. Searches are
those of the core's list, whatever it holds; one that cannot play a game says so and is left out.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from athenan.checkpoint import runs_of
from athenan.config import compose
from athenan.errors import InputError
from athenan.evaluators import find_evaluator
from athenan.games import make_game
from athenan.match import MatchResult, interval, make_openings, play_match, progress_parts
from athenan.players import player_of
from athenan.progress import Progress
from athenan.search import search_types
from athenan.table import table

GAMES = ["connect_four=latest", "othello6=latest"]
OPPONENT = {"name": "ubfm", "decision": "safest"}
# Those of the core's list, and the opponent by its values alone.
SEARCHES: dict[str, dict[str, Any]] = {
    "ubfm_best": {"name": "ubfm", "decision": "best"},
    **{entry["name"]: {"name": entry["name"]} for entry in search_types()
       if entry["name"] not in ("ubfm", "random")},
}  # fmt: skip
KEY = ("game", "evaluator", "search", "evaluations", "games", "seed")


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("boards", nargs="*", default=GAMES, metavar="GAME=EVALUATOR")
    parser.add_argument("--searches", nargs="+", default=list(SEARCHES), choices=SEARCHES)
    parser.add_argument("--evaluations", nargs="+", type=int, default=[200, 1000])
    parser.add_argument("--games", type=int, default=200, help="a match, two for each opening")
    parser.add_argument("--opening-plies", type=int, default=4)
    parser.add_argument("--games-in-step", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoints", type=Path, default=Path("checkpoints"))
    parser.add_argument("--out", type=Path, default=Path("checkpoints/searches.jsonl"))
    told = parser.parse_args(words)
    wanted = []
    for board in told.boards:
        config, _, evaluator = board.partition("=")
        for evaluations in told.evaluations:
            for search in told.searches:
                key = (config, evaluator or "latest", search, evaluations, told.games, told.seed)
                wanted.append(dict(zip(KEY, key, strict=True)))
    for match in wanted:
        if match_in(read(told.out), match) is None:
            try:
                result = play(match, told)
            except InputError as error:
                print(f"{match['search']} on {match['game']}: {error}", flush=True)
                continue
            append(told.out, {**match, **result.figures(), "pair_scores": result.pair_scores})
            print(f"{match['search']} on {match['game']}: {result}", flush=True)
    print("\n".join(table(rows(read(told.out), wanted))))


def play(match: dict[str, Any], told: argparse.Namespace) -> MatchResult:
    options = compose("match", [f"game={match['game']}"]).game
    game = make_game(**options)
    runs = runs_of(told.checkpoints, options["name"])
    evaluator = find_evaluator(match["evaluator"], game, runs)
    players = [
        {"search": search, "evaluator": evaluator, "evaluations": match["evaluations"]}
        for search in (SEARCHES[match["search"]], OPPONENT)
    ]
    first, second = (
        player_of(game, player, told.seed + i, told.threads) for i, player in enumerate(players)
    )
    openings = make_openings(game, max(1, told.games // 2), told.opening_plies, told.seed)
    with Progress() as progress:
        show = shown(progress, match, told.games)
        return play_match((first, second), openings, told.games_in_step, show)


def shown(
    progress: Progress, match: dict[str, Any], games: int
) -> Callable[[int, MatchResult], object]:
    about = f"{match['search']} on {match['game']}, {match['evaluations']:,} evaluations"

    def show(done: int, result: MatchResult) -> None:
        left = progress.seconds / done * (games - done) if done else None
        progress.show([about, *progress_parts(done, games, result, left)])

    return show


def read(path: Path) -> list[dict[str, Any]]:
    """The matches that were played to their end; a line that a kill has cut is none."""
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


def append(path: Path, match: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = not path.exists() or path.read_bytes()[-1:] in (b"\n", b"")
    with path.open("a") as file:
        file.write(("" if whole else "\n") + json.dumps(match) + "\n")


def match_in(played: list[dict[str, Any]], wanted: dict[str, Any]) -> dict[str, Any] | None:
    return next((m for m in played if all(m.get(key) == wanted[key] for key in KEY)), None)


def rows(played: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> list[list[str]]:
    """A search a line, a game with a budget a column: its score against ubfm, in percent."""
    columns = list(dict.fromkeys((m["game"], m["evaluations"]) for m in wanted))
    lines = [["search", *(f"{game}, {evaluations:,}" for game, evaluations in columns)]]
    for search in dict.fromkeys(m["search"] for m in wanted):
        line = [search]
        for column in columns:
            match = next(
                m for m in wanted
                if (m["search"], (m["game"], m["evaluations"])) == (search, column)
            )  # fmt: skip
            found = match_in(played, match)
            line.append("-")
            if found is not None:
                low, high = interval(found["pair_scores"])
                line[-1] = f"{found['score']:.1%} [{low:.1%}, {high:.1%}]"
        lines.append(line)
    return lines


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("stopped; the same words go on.")
