"""Trains for equal times and measures what came of it, study by study.

    python scripts/strength.py arms                     go on where it was stopped
    python scripts/strength.py games hex chess          these configs only
    python scripts/strength.py arms --table             what is known so far

A run and its matches are one line of checkpoints/strength.jsonl, keyed by study, config and name,
so that a kill loses one run; lines that are there are not made again. Everything is done by
`athenan` itself, one thing after another: nothing else should be at work, or the minutes are worth
less.
"""

import argparse
import json
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from athenan.table import table

RESULTS = Path("checkpoints/strength.jsonl")
UCT = "second.search=uct second.iterations=1000 first.evaluations=1000"
RANDOM = "second.search=random second.iterations=null first.evaluations=1000"
NNUE = "network=nnue learn.batch_size=1024 learn.learning_rate=0.002 self_play.evaluations=400"
# Networks and settings that may suit a CPU, at equal time.
ARMS = {
    "conv": "network=conv",
    "residual": "network=residual",
    "nnue": NNUE,
    "nnue 512": f"{NNUE} network.filters=512",
    "nnue 128": f"{NNUE} network.filters=128",
    "nnue uses 1": f"{NNUE} replay.uses=1",
    "nnue uses 6": f"{NNUE} replay.uses=6",
    "nnue batch 256": f"{NNUE} learn.batch_size=256 learn.learning_rate=0.001",
    "nnue 200 evaluations": f"{NNUE} self_play.evaluations=200",
    "nnue 1000 evaluations": f"{NNUE} self_play.evaluations=1000",
    "nnue replay 500": f"{NNUE} replay.games=500",
}
# The games of the papers' table.
GAMES = [
    "amazons", "arimaa", "ataxx", "breakthrough", "draughts_brazilian", "draughts_canadian",
    "clobber", "connect6", "draughts", "chess", "go", "gomoku", "havannah", "hex", "hex13", "hex19",
    "lines_of_action", "othello", "othello10", "santorini", "surakarta", "xiangqi",
]  # fmt: skip


@dataclass(frozen=True)
class Run:
    """A training and what is measured of it."""

    study: str
    config: str  # of the game
    name: str
    words: str  # of `athenan train`, beside game, run and minutes
    minutes: float
    matches: dict[str, str] = field(default_factory=dict)  # by name, words of `athenan match`
    games: int = 100  # a match

    @property
    def key(self) -> dict[str, str]:
        return {"study": self.study, "config": self.config, "name": self.name}

    @property
    def run(self) -> str:
        return f"{self.study}-{self.config}-{self.name}".replace(" ", "_")


def studies() -> dict[str, list[Run]]:
    boards = ("connect_four", "hex7", "othello6")
    both = {"uct": UCT, "random": RANDOM}
    return {
        "arms": [
            Run("arms", config, name, words, 5, {"uct": UCT}, 200)
            for config in boards
            for name, words in ARMS.items()
        ],
        "games": [Run("games", config, "preset", "", 10, both) for config in GAMES],
        "boards": [
            Run("boards", config, "preset", "", 30, {"uct": UCT}, 200)
            for config in ("hex", "othello", "breakthrough", "gomoku")
        ],
        "seeds": [
            Run("seeds", "connect_four", f"seed {seed}", f"seed={seed}", 10, {"uct": UCT}, 400)
            for seed in range(3)
        ],
    }


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("study", choices=studies())
    parser.add_argument("configs", nargs="*", help="of games; all of the study without")
    parser.add_argument("--names", nargs="*", help="of runs; all without")
    parser.add_argument("--minutes", type=float, help="instead of the study's own")
    parser.add_argument("--table", action="store_true", help="nothing but what is known")
    told = parser.parse_args(words)
    wanted = [
        run
        for run in studies()[told.study]
        if (not told.configs or run.config in told.configs)
        and (not told.names or run.name in told.names)
    ]
    for run in [] if told.table else wanted:
        if found(run) is None:
            append(measured(run, told.minutes or run.minutes))
    print("\n".join(table(rows(wanted))))


def measured(run: Run, minutes: float) -> dict[str, Any]:
    started = time.monotonic()
    kept = "strength.every_checkpoints=0 run=" + run.run
    settings = f"game={run.config} {run.words} {kept} minutes={minutes}"
    folder = next(Path("checkpoints").glob(f"*/{run.run}"), None)
    if folder is not None:  # a kill left it
        settings = f"resume={folder} minutes={minutes}"
    trained = athenan(f"train {settings}")
    result = {**run.key, "minutes": minutes, "train": settings, "trained": trained, "matches": {}}
    for name, words in run.matches.items():
        words = f"match game={run.config} first.checkpoint={trained['run']} {words}"
        result["matches"][name] = athenan(f"{words} games={run.games}") | {"command": words}
    return result | {"seconds": round(time.monotonic() - started, 1)}


def athenan(words: str) -> dict[str, Any]:
    """What a command reports; what it prints goes on to the terminal."""
    print(f"athenan {words}", flush=True)
    command = [sys.executable, "-m", "athenan.command", *words.split(), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        last = ""
        for line in process.stdout:
            last = line
            print(line, end="", flush=True)
    if process.returncode:
        raise SystemExit(f"athenan {words} ended with exit code {process.returncode}.")
    figures: dict[str, Any] = json.loads(last)
    return figures


def read() -> list[dict[str, Any]]:
    """Whole lines; one that a kill has cut is none."""
    results = []
    for line in RESULTS.read_text().splitlines() if RESULTS.exists() else []:
        try:
            results.append(json.loads(line))
        except ValueError:
            continue
    return results


def found(run: Run) -> dict[str, Any] | None:
    return next((r for r in read() if all(r[k] == v for k, v in run.key.items())), None)


def append(result: dict[str, Any]) -> None:
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    whole = not RESULTS.exists() or RESULTS.read_bytes()[-1:] in (b"\n", b"")
    with RESULTS.open("a") as file:
        file.write(("" if whole else "\n") + json.dumps(result) + "\n")


def rows(wanted: list[Run]) -> list[list[str]]:
    matches = list(dict.fromkeys(name for run in wanted for name in run.matches))
    lines = [["game", "run", "minutes", "games", "samples", *matches]]
    for run in wanted:
        result = found(run)
        if result is None:
            lines.append([run.config, run.name, *["-"] * (3 + len(matches))])
            continue
        trained = result["trained"]
        line = [run.config, run.name, f"{result['minutes']:g}"]
        line += [f"{trained['games']:,}", f"{trained['samples']:,}"]
        for name in matches:
            match = result["matches"].get(name)
            line.append(
                f"{match['score']:.1%} [{match['low']:.1%}, {match['high']:.1%}]" if match else "-"
            )
        lines.append(line)
    return lines


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("stopped; the same words go on.")
