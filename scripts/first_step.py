"""How soon does a run learn from games of its own? Seconds to the first step, config by config.

    python scripts/first_step.py [config …]       go on where it was stopped

Each config of a game for two players is trained as `athenan train game=<config>` would, until the
first learning step on states of finished games (the first fit is not counted), for --seconds at
most, in a process of its own. A config is one line of the file of results: configs that are in it
are not measured again. `processor_seconds` tell a machine that was shared.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from athenan.config import compose
from athenan.games import configs_folder, make_game
from athenan.table import table

COLUMNS = ("config", "seconds", "processor_seconds", "games", "evaluations", "in_step", "actions")


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("configs", nargs="*", metavar="CONFIG")
    parser.add_argument("--seconds", type=float, default=180.0, help="of a run at most")
    parser.add_argument("--out", type=Path, default=Path("checkpoints/first_step.jsonl"))
    parser.add_argument("--one", metavar="CONFIG", help="measures it in this process")
    told = parser.parse_args(words)
    if told.one:
        print(json.dumps(measured(told.one, told.seconds)))
        return
    told.out.parent.mkdir(exist_ok=True, parents=True)
    done = rows_of(told.out)
    for name in told.configs or two_player_configs():
        if name not in done:
            row = apart(name, told.seconds)
            with told.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(" ".join(f"{key}={row.get(key)}" for key in COLUMNS), flush=True)
    rows = [[str(row.get(key, "-")) for key in COLUMNS] for row in rows_of(told.out).values()]
    print("\n".join(table([list(COLUMNS), *rows])))


def rows_of(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    rows = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
    return {row["config"]: row for row in rows}


def two_player_configs() -> list[str]:
    names = [path.stem for path in sorted((configs_folder() / "game").glob("*.yaml"))]
    return [n for n in names if make_game(**compose("check", [f"game={n}"]).game).num_players == 2]


def apart(name: str, seconds: float) -> dict[str, Any]:
    command = [sys.executable, __file__, "--one", name, "--seconds", str(seconds)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        return {"config": name, "error": (run.stderr.strip().splitlines() or ["-"])[-1]}
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


class Learned(Exception):
    """The first step is made."""


def measured(name: str, seconds: float) -> dict[str, Any]:
    from athenan.parts import make_parts
    from athenan.stopping import Stop
    from athenan.train import run

    with tempfile.TemporaryDirectory(prefix="athenan-") as folder:
        words = [f"game={name}", f"checkpoints={folder}", "strength.every_checkpoints=0"]
        config = compose("train", [*words, f"minutes={seconds / 60}", "run=first"])
        parts = make_parts(config, words)
        started, processor = time.monotonic(), time.process_time()
        records: list[Any] = []
        fitted = config.learn.first_fit_epochs * (
            config.learn.first_fit_states // config.learn.batch_size
        )

        def on_game(record: Any) -> None:
            records.append(record)
            if parts.learner.steps > fitted:
                raise Learned

        parts.reports.callbacks.on_game = on_game
        found: float | None = None
        try:
            run(parts, Stop())
        except Learned:
            found = round(time.monotonic() - started, 1)
        took = round(time.process_time() - processor, 1)
        parts.close()
    plies = sum(record.plies for record in records)
    return {
        "config": name,
        "seconds": found,
        "processor_seconds": took,
        "games": len(records),
        "evaluations": round(sum(r.evaluations for r in records) / max(1, plies), 1),
        "in_step": config.self_play.games_in_step,
        "growing_games": config.self_play.growing_games,
        "actions": len(parts.game.initial_state().legal_actions()),
        "plies": round(plies / max(1, len(records)), 1),
    }


if __name__ == "__main__":
    main(sys.argv[1:])
