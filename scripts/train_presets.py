"""Trains every two-player game config for a moment: does each game learn?

    python scripts/train_presets.py [config …]       go on where it was stopped

Half a minute each or 200 games, 4 in step, and longer where that gave fewer than 8. Games that the
final network plays afterwards are held out: their error under the final weights against that of an
untrained network must fall, and may be compared with the variance of the labels, the error of the
best constant. Results are appended to checkpoints/presets.jsonl; configs that are in it are
not trained again. Games for three or more players are played once by UCT instead.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import athenan
from athenan.checkpoint import read_state, steps_of
from athenan.config import compose
from athenan.evaluators import CheckpointEvaluator
from athenan.games import configs_folder, make_game
from athenan.learner import Learner
from athenan.network import NetworkEvaluator, model_for
from athenan.records import joined
from athenan.self_play import SelfPlay
from athenan.table import table
from athenan.train import train

RESULTS = Path("checkpoints/presets.jsonl")
FEWEST_GAMES, MOST_GAMES = 8, 200
LONGER = "minutes=10"
HELD_OUT_GAMES, HELD_OUT_STATES = 4, 2000
SETTINGS = [
    "minutes=0.5",
    f"games={MOST_GAMES}",
    "network=small",
    "self_play.games_in_step=4",
    "self_play.evaluations=100",
    "self_play.batch_sizes=[64,256]",
    "learn.batch_size=32",
    "learn.held_out_every=0",
    "learn.first_fit_states=2000",
    "replay.games=8",
    "replay.uses=6",
    "checkpoint.every_games=4",
    "strength.every_checkpoints=0",
]


def held_out_error(run: Path) -> tuple[float, float, float]:
    """Error on new games of the final network: of an untrained one, of the final one, and of the
    best constant, which is the variance of the labels."""
    final = CheckpointEvaluator(steps_of(run)[-1])
    config = final.config
    player = SelfPlay(
        final.game,
        final,
        config.search,
        config.heuristic,
        config.self_play,
        config.exploration,
        seed=99,
    )
    records: list[Any] = []
    while len(records) < HELD_OUT_GAMES or (
        len(records) < MOST_GAMES and sum(len(r.planes) for r in records) < HELD_OUT_STATES
    ):
        records += player.play_batch()
    learner = Learner(
        final.model, config.learn, [], 0, kind=config.network.kind, places=final.game.action_places
    )
    samples = joined([r.samples for r in records])
    after = learner.error(samples, final)
    untrained = NetworkEvaluator(model_for(config.network, final.game, config.seed))
    return learner.error(samples, untrained), after, float(np.var(samples.values))


def train_one(name: str) -> dict[str, Any]:
    settings = [f"game={name}", f"run=preset_{name}", *SETTINGS]
    config = compose("train", settings)
    folder = Path(config.checkpoints) / config.game["name"] / f"preset_{name}"
    if steps_of(folder):
        config.resume = str(folder)
    train(config, [])
    if read_state(steps_of(folder)[-1])["games"] < FEWEST_GAMES:
        config.resume = str(folder)
        train(config, [LONGER, f"games={FEWEST_GAMES}"])
    before, after, variance = held_out_error(folder)
    state = read_state(steps_of(folder)[-1])
    return {
        "config": name,
        "games": state["games"],
        "steps": state["steps"],
        "seconds": round(state["seconds"], 1),
        "error_before": before,
        "error_after": after,
        "label_variance": variance,
    }


def play_one(game: Any) -> dict[str, Any]:
    state, search = game.initial_state(), athenan.make_search("uct", game)
    while not state.is_terminal:
        state = state.play(search.run(state, iterations=50).action)
    return {"config": game.name, "players": game.num_players, "outcomes": state.outcomes}


def main(names: list[str]) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    done = set()
    if RESULTS.exists():
        done = {json.loads(line)["config"] for line in RESULTS.read_text().splitlines()}
    all_names = [path.stem for path in sorted((configs_folder() / "game").glob("*.yaml"))]
    for name in names or all_names:
        if name in done:
            continue
        options = yaml.safe_load((configs_folder() / "game" / f"{name}.yaml").read_text())
        game = make_game(**options)
        started = time.monotonic()
        result = train_one(name) if game.num_players == 2 else play_one(game) | {"config": name}
        result["wall_seconds"] = round(time.monotonic() - started, 1)
        with RESULTS.open("a") as file:
            file.write(json.dumps(result) + "\n")
    print_results()


def print_results() -> None:
    rows = [["config", "games", "steps", "seconds", "error before", "after", "label variance"]]
    for line in RESULTS.read_text().splitlines():
        result = json.loads(line)
        if "steps" not in result:
            rows.append([result["config"], "1 by uct", *["-"] * 5])
            continue
        errors = [result[name] for name in ("error_before", "error_after", "label_variance")]
        counts = [result["games"], result["steps"], round(result["seconds"])]
        rows.append([result["config"], *map(str, counts), *(f"{error:.4f}" for error in errors)])
    print("\n".join(table(rows)))


if __name__ == "__main__":
    main(sys.argv[1:])
