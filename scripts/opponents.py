"""Plays checkpoints, and uct beside them, against other people's programs: how strong is what was
trained here?

    python scripts/opponents.py                           go on where it was stopped
    python scripts/opponents.py othello=RUN go=RUN --games 20 --only grhino

Each word is a config of a game and the evaluator of its player: a run, a step, latest or an export.
A match is one line of the file of results, its games are lines of another one beside it, so that a
kill loses one match; matches that are there are not played again. A program that is not installed,
or a game without a checkpoint, says so and is left out.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from athenan.config import compose
from athenan.errors import InputError
from athenan.games import make_game
from athenan.implied import completed
from athenan.match import MatchResult, play_match, progress_parts
from athenan.openings import openings_of
from athenan.progress import Progress
from athenan.saved_games import SavedGame, append_game
from athenan.table import table
from athenan.waves import players_of


@dataclass(frozen=True)
class Opponent:
    """A program in one strength, by the words of a command line."""

    game: str
    name: str
    words: tuple[str, ...]


def fairy(game: str, skill: int, *more: str, engine: str = "fairy") -> Opponent:
    words = (f"second={engine}", f"second.options.Skill_Level={skill}", *more)
    return Opponent(game, " ".join([f"{engine} skill {skill}", *more]), words)


def grhino(level: int) -> Opponent:
    words = ("second=grhino", f"second.engine='gtp-rhino -l {level}'")
    return Opponent("othello", f"grhino level {level}", words)


OPPONENTS = [
    *(grhino(level) for level in (1, 2, 3)),
    Opponent("go", "gnugo level 1", ("second=gnugo",)),
    fairy("breakthrough", -20),
    fairy("breakthrough", 0, "second.go='depth 1'"),
    *(fairy(game, skill) for game in ("clobber", "xiangqi", "chess") for skill in (-20, 20)),
    *(fairy("ataxx", skill, engine="fairy_wasm") for skill in (-20, 20)),
    *(fairy("amazons", skill, engine="fairy_wasm") for skill in (-20, 20)),
]
UCT = ("first.search=uct", "first.iterations=1000", "first.evaluations=null")
KEY = ("game", "player", "opponent", "evaluations", "games", "seed")


def main(words: list[str]) -> None:
    games = list(dict.fromkeys(opponent.game for opponent in OPPONENTS))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("boards", nargs="*", default=games, metavar="GAME[=EVALUATOR]")
    parser.add_argument("--only", default="", help="opponents with this in their names")
    parser.add_argument("--evaluations", type=int, default=1000, help="an action of the network's")
    parser.add_argument("--games", type=int, default=100, help="a match, two for each opening")
    parser.add_argument("--games-in-step", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoints", type=Path, default=Path("checkpoints"))
    parser.add_argument("--out", type=Path, default=Path("checkpoints/opponents.jsonl"))
    told = parser.parse_args(words)
    wanted = [
        (dict(zip(KEY, key, strict=True)), opponent)
        for board in told.boards
        for opponent in opponents_of(board.partition("=")[0], told.only)
        for player in (board.partition("=")[2] or "latest", "uct")
        for key in [(opponent.game, player, opponent.name, told.evaluations, told.games, told.seed)]
    ]
    for match, opponent in wanted:
        if found(read(told.out), match) is None:
            about = f"{match['player']} against {opponent.name} in {opponent.game}"
            try:
                result, facts = play(match, opponent, told)
            except InputError as error:
                print(f"{about}: {error}", flush=True)
                continue
            append(told.out, {**match, **facts, **result.figures()})
            print("\n".join([f"{about}: {result}", *result.forfeits_text()]), flush=True)
    print("\n".join(table(rows(read(told.out), [match for match, _ in wanted]))))


def opponents_of(game: str, only: str) -> list[Opponent]:
    found = [one for one in OPPONENTS if one.game == game and only in one.name]
    if not found:
        raise InputError(f"There is no opponent for '{game}' with '{only}' in its name.")
    return found


def play(
    match: dict[str, Any], opponent: Opponent, told: argparse.Namespace
) -> tuple[MatchResult, dict[str, Any]]:
    first = (f"first.evaluator={match['player']}", f"first.evaluations={told.evaluations}")
    words = [
        f"game={opponent.game}", *(UCT if match["player"] == "uct" else first), *opponent.words,
        f"games={told.games}", f"seed={told.seed}", f"checkpoints='{told.checkpoints}'",
    ]  # fmt: skip
    config = compose("match", completed("match", words))
    game = make_game(**config.game)
    players = players_of(config, game)
    with Progress() as progress:

        def show(done: int, result: MatchResult) -> None:
            left = progress.seconds / done * (told.games - done) if done else None
            about = f"{match['player']} against {opponent.name}"
            progress.show([about, *progress_parts(done, told.games, result, left)])

        games: list[SavedGame] = []
        openings = openings_of(config, game, players)
        result = play_match(players, openings, told.games_in_step, show, on_game=games.append)
    file = told.out.with_suffix(".games.jsonl")
    file.parent.mkdir(parents=True, exist_ok=True)
    for one in games:
        append_game(file, one)
    return result, {"first": players[0].text, "second": players[1].text}


def read(path: Path) -> list[dict[str, Any]]:
    """The matches that were played to their end; a line that a kill has cut is none."""
    matches = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            matches.append(json.loads(line))
        except ValueError:
            continue
    return matches


def append(path: Path, match: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = not path.exists() or path.read_bytes()[-1:] in (b"\n", b"")
    with path.open("a") as file:
        file.write(("" if whole else "\n") + json.dumps(match) + "\n")


def found(played: list[dict[str, Any]], wanted: dict[str, Any]) -> dict[str, Any] | None:
    return next((m for m in played if all(m.get(key) == wanted[key] for key in KEY)), None)


def rows(played: list[dict[str, Any]], wanted: list[dict[str, Any]]) -> list[list[str]]:
    lines = [["game", "player", "opponent", "score", "95 %", "won, drawn, lost", "forfeits"]]
    for match in wanted:
        line = [match["game"], match["player"], match["opponent"], "-", "", "", ""]
        one = found(played, match)
        if one is not None:
            line[3:] = [
                f"{one['score']:.1%}", f"[{one['low']:.1%}, {one['high']:.1%}]",
                f"+{one['wins']} ={one['draws']} -{one['losses']}",
                f"{one.get('forfeits', 0)}, {one.get('forfeits_of_others', 0)}",
            ]  # fmt: skip
        lines.append(line)
    return lines


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except InputError as error:
        sys.exit(f"opponents.py: {error}")
    except KeyboardInterrupt:
        sys.exit("stopped; the same words go on.")
