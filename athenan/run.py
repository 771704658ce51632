"""A run's folder and its config: made once, and what a resumed run may change of it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from athenan.checkpoint import runs_of
from athenan.checks import read
from athenan.config import load_config, parse_overrides, plain, to_yaml
from athenan.errors import InputError
from athenan.games import Game, make_game
from athenan.settings import HeuristicSettings, TrainSettings

RANDOM_GAMES = 1000  # that tell how long games are
FEWEST_EVALUATIONS, EXPANSIONS = 100, 4  # an action


def git_revision() -> str | None:
    try:
        return subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def fit_heuristic(heuristic: HeuristicSettings, game: Game) -> None:
    """Depth heuristics count from twice the longest of random games: the bound of the rules may be
    far off, and any win stays far from any loss."""
    if heuristic.name.endswith("_depth") and not heuristic.longest:
        heuristic.longest = 2 * game.longest_playout(RANDOM_GAMES)


def fit_to_game(config: TrainSettings) -> None:
    """Fills in what the config leaves to the game.

    Self-play has a budget of a few expansions an action:
    with one, no search would see further than the next state, and labels would only copy the
    network; with k, the search of all but the first k-th of a game reaches its end.
    """
    game = make_game(**config.game)
    fit_heuristic(config.heuristic, game)
    budget = config.self_play
    if budget.evaluations is None and not (budget.iterations or budget.seconds):
        actions = len(game.initial_state().legal_actions())
        budget.evaluations = max(FEWEST_EVALUATIONS, EXPANSIONS * actions)


def new_run(config: TrainSettings) -> Path:
    """The folder of a new run, with its resolved config."""
    fit_to_game(config)
    name = config.run or f"{time.strftime('%Y%m%d-%H%M%S')}-{config.experiment_name}"
    folder = runs_of(Path(config.checkpoints), config.game["name"]) / name
    if (folder / "config.yaml").exists():
        raise InputError(f"Run '{folder}' exists; go on with it by resume={folder}.")
    folder.mkdir(parents=True, exist_ok=True)
    write_config(config, folder)
    return folder


def write_config(config: TrainSettings, folder: Path) -> None:
    from athenan import __version__

    head = f"# athenan {__version__}, git revision {git_revision() or 'unknown'}\n"
    (folder / "config.yaml").write_text(head + to_yaml(config))


# What a resumed run may change: limits and what is only watched or written.
CHANGEABLE = (
    "minutes",
    "games",
    "checkpoint",
    "strength",
    "learn.learning_rate",
    "learn.schedule",
    "learn.final_share",
    "self_play.threads",
    "resolved.clear_every_games",
)


def resumed_config(run: Path, overrides: list[str]) -> tuple[TrainSettings, list[str]]:
    """The run's own config with the changes that can be made, and what was changed."""
    config: Any = OmegaConf.create(plain(load_config(run / "config.yaml")))
    changed = []
    for parsed in parse_overrides(overrides):
        key, value = str(parsed.key_or_group), parsed.value()
        if key in ("resume", "checkpoints", "trust"):
            continue
        if OmegaConf.select(config, key, default=MISSING_KEY) is MISSING_KEY:
            raise InputError(f"The run has no setting '{key}'.")
        before = OmegaConf.select(config, key)
        if before == value:
            continue
        if not any(key == name or key.startswith(name + ".") for name in CHANGEABLE):
            raise InputError(
                f"A resumed run cannot change '{key}' (it is {before}); start a new run, "
                f"with fork={run} for its weights."
            )
        OmegaConf.update(config, key, value)
        changed.append(f"{key}: {before} -> {value}")
    return read(TrainSettings, plain(config)), changed


MISSING_KEY = object()
