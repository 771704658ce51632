"""Trains the networks of a study, then plays it: the sets of checkpoints that `sets` names.

    python scripts/study.py completion --minutes 10           go on where it was stopped
    python scripts/study.py completion games=[hex7] last=3    settings of athenan experiment

Each set is a run, completion-<game>-<seed>, that is trained from zero for so many minutes and keeps
its last checkpoints, which are spread over its second half. A run that is there whole is not
trained again, one that was stopped goes on. The settings of training are those of the game's preset
where there is one.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from athenan.checkpoint import runs_of, step_number, steps_of
from athenan.config import compose, group_files
from athenan.settings import ExperimentSettings

PRESETS = {"othello": "othello8"}  # those that are not called as their game's config


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("study", choices=group_files("study"))
    parser.add_argument("settings", nargs="*", help="of athenan experiment")
    parser.add_argument("--minutes", type=float, default=10.0, help="of training, each run")
    parser.add_argument("--train", nargs="*", default=[], help="settings of athenan train")
    told = parser.parse_intermixed_args(words)
    study = [f"study={told.study}", *told.settings]
    config = compose("experiment", study)
    for game, name, seed in runs_wanted(config):
        if not is_whole(config, game, name):
            athenan("train", *training(config, game, name, seed, told.minutes), *told.train)
    athenan("experiment", *study)


def runs_wanted(config: ExperimentSettings) -> list[tuple[str, str, int]]:
    """The game, the run's name and its seed; games in turn, so that all have a set early."""
    return [
        (game, text.replace("{game}", game), seed)
        for seed, text in enumerate(config.sets)
        for game in config.games
        if "," not in text
    ]


def is_whole(config: ExperimentSettings, game: str, name: str) -> bool:
    """Whether the run has ended, with as many checkpoints as a set wants."""
    options = compose("play", [f"game={game}"]).game
    run = runs_of(Path(config.checkpoints), options["name"]) / name
    trained = [step for step in steps_of(run) if step_number(step)]
    return (run / "report.json").exists() and len(trained) >= config.last


def training(
    config: ExperimentSettings, game: str, name: str, seed: int, minutes: float
) -> list[str]:
    preset = PRESETS.get(game, game)
    return [
        f"experiment={preset}" if preset in group_files("experiment") else f"game={game}",
        f"run={name}",
        "resume=auto",
        f"seed={seed}",
        f"minutes={minutes:g}",
        f"checkpoints={config.checkpoints}",
        f"checkpoint.keep={config.last}",
        "checkpoint.every_games=1000000",
        f"checkpoint.every_minutes={minutes / 2 / config.last:g}",
        "strength.every_checkpoints=0",
    ]


def athenan(*words: str) -> None:
    print("athenan", *words, flush=True)
    done = subprocess.run([sys.executable, "-m", "athenan.command", *words], check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main(sys.argv[1:])
