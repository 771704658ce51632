"""A run's folder, its one writer and its config: made once, and what a resumed run may change."""

from __future__ import annotations

import fcntl
import itertools
import math
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from omegaconf import OmegaConf

from athenan.checkpoint import runs_of, steps_of
from athenan.checks import read
from athenan.config import (
    compose,
    group_files,
    layout_values,
    load_config,
    parse_overrides,
    plain,
    to_yaml,
)
from athenan.errors import InputError
from athenan.files import read_json, write_whole
from athenan.games import Game, make_game
from athenan.self_play import games_for
from athenan.settings import DoctorSettings, HeuristicSettings, TrainSettings

RANDOM_GAMES = 1000  # that tell how long games are
FEWEST_EVALUATIONS, EXPANSIONS = 100, 4  # an action
# Cells of all states that are valued before the first games end: a small network of convolutions
# takes half a minute for so many on two cores.
FIRST_CELLS = 100_000_000
GROWING_GAMES = 64  # at least, where budgets grow
FEWEST_ROWS = 32  # where one is for all children of a state


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


def fit_to_game(config: TrainSettings | DoctorSettings) -> None:
    """Fills in what the config leaves to the game.

    Self-play has a budget of a few expansions an action:
    with one, no search would see further than the next state, and labels would only copy the
    network; with k, the search of all but the first k-th of a game reaches its end. Where one
    evaluation is for all children of a state, as many as a game has plies take the first search
    to an end. Where the first games would take long nevertheless, their budgets grow.
    """
    game = make_game(**config.game)
    fit_heuristic(config.heuristic, game)
    budget, of_children = config.self_play, config.network.kind == "children"
    if budget.evaluations is None and not (budget.iterations or budget.seconds):
        actions = len(game.initial_state().legal_actions())
        budget.evaluations = max(FEWEST_EVALUATIONS, EXPANSIONS * actions)
        if of_children:
            budget.evaluations = max(FEWEST_ROWS, actions)
    budget.games_in_step = budget.games_in_step or games_for(game, of_children)
    if budget.growing_games is None:
        states = budget.games_in_step * (budget.evaluations or 0) * game.longest_playout(20)
        takes_long = states * math.prod(game.plane_shape[:2]) > FIRST_CELLS
        budget.growing_games = max(GROWING_GAMES, budget.games_in_step) if takes_long else 0


# What names a run or says where it is, rather than what is done in it.
NAMES = ("run", "resume", "checkpoints", "trust", "experiment_name")


def own_settings(config: TrainSettings) -> dict[str, Any]:
    """Game, seed and whatever else is not as the run's preset has it."""
    known = config.experiment_name in group_files("experiment")
    preset = compose("train", [f"experiment={config.experiment_name}"] if known else [])
    heuristic = preset.heuristic.name
    preset.game, preset.heuristic.name = config.game, config.heuristic.name
    fit_to_game(preset)
    preset.heuristic.name = heuristic
    usual, name = flat(plain(preset)), config.game["name"]
    options = [f"{key}={value}" for key, value in config.game.items() if key != "name"]
    found: dict[str, Any] = {"game": " ".join([name, *options]), "seed": config.seed}
    for key, value in flat(plain(config)).items():
        if key not in NAMES and value != usual.get(key, MISSING_KEY):
            found[key] = value if isinstance(value, bool | int | float | str) else str(value)
    return found


def flat(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Groups in groups as one, of settings by their full names."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        if isinstance(value, dict) and key != "options":  # of an engine: names with blanks
            found |= flat(value, f"{prefix}{key}.")
        else:
            found[prefix + key] = value
    return found


def new_run(config: TrainSettings) -> tuple[Path, bool]:
    """A run's folder, and whether it was made now, so that all in it is this run's own. One that
    was killed before its first checkpoint is begun again."""
    runs = runs_of(Path(config.checkpoints), config.game["name"])
    name = config.run or f"{time.strftime('%Y%m%d-%H%M%S')}-{config.experiment_name}"
    check_name(name)
    runs.mkdir(parents=True, exist_ok=True)
    for number in itertools.count(2):
        folder = runs / name
        try:
            folder.mkdir()
            return folder, True
        except FileExistsError:
            if config.run and is_unbegun(folder):
                return folder, False
            if config.run and (folder / "config.yaml").exists():
                raise InputError(
                    f"Run '{folder}' exists; go on with it by resume={folder}."
                ) from None
            if config.run:
                raise InputError(f"'{folder}' exists and is no run; take another name.") from None
        name = f"{name.removesuffix(f'_{number - 1}')}_{number}"  # two starts in one second
    raise AssertionError


BEFORE_A_CHECKPOINT = ("config.yaml", "lock", "log.txt", "tensorflow.txt", "events.", ".step_0.tmp")


def is_unbegun(run: Path) -> bool:
    """Whether the folder has nothing but what a run writes before its first checkpoint."""
    return (run / "config.yaml").exists() and all(
        path.name.startswith(BEFORE_A_CHECKPOINT) for path in run.iterdir()
    )


def check_name(name: str) -> None:
    """A run is a folder of its own in that of its game's runs."""
    if name.startswith((".", "step_")) or set(name) & set("/\\") or not name.isprintable():
        shown = name.encode(errors="backslashreplace").decode()
        raise InputError(
            f"'{shown!s}' is no name of a run: it is one folder, without separators, and begins "
            "neither with a dot nor with step_."
        )


def lock_run(run: Path) -> IO[str]:
    """One writer a run: the lock holds until it is closed, or its process is dead."""
    lock = (run / "lock").open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise InputError(f"Run '{run}' is being written by another process.") from None
    except OSError:
        pass  # a file system without locks; better a run without one than none
    return lock


def write_config(config: TrainSettings, folder: Path) -> None:
    from athenan import __version__

    head = f"# athenan {__version__}, git revision {git_revision() or 'unknown'}\n"
    write_whole(folder / "config.yaml", (head + to_yaml(config)).encode())


def read_figures(run: Path, since: float | None = None) -> dict[str, Any]:
    """Of the run's final report; none where it has none, or one from before."""
    path = run / "report.json"
    try:
        old = since is not None and path.stat().st_mtime < since
        found = {} if old else read_json(path)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


# What a resumed run may change: limits, what is only watched or written, and who plays.
CHANGEABLE = (
    "minutes",
    "games",
    "checkpoint",
    "strength",
    "learn.learning_rate",
    "learn.schedule",
    "learn.final_share",
    "learn.xla",
    "self_play.threads",
    "self_play.games_in_step",
    "self_play.groups",
    "layout",
    "resolved.clear_every_games",
)


def resumed_config(run: Path, step: Path, overrides: list[str]) -> tuple[TrainSettings, list[str]]:
    """The config that the checkpoint was written with, the changes that can be made, and what is to
    be said of them."""
    config, said = own_config(run, step)
    for key, value in flat_overrides(overrides):
        if key in ("resume", "checkpoints", "trust"):
            continue
        if OmegaConf.select(config, key, default=MISSING_KEY) is MISSING_KEY:
            raise InputError(f"The run has no setting '{key}'.")
        before = OmegaConf.select(config, key)
        if before == value:
            continue
        if not is_changeable(key):
            raise InputError(
                f"A resumed run cannot change '{key}' (it is {before}); start a new run, "
                f"with fork={run} for its weights."
            )
        OmegaConf.update(config, key, value)
        said.append(f"changed {key}: {before} -> {value}")
    return read(TrainSettings, plain(config)), said


def flat_overrides(overrides: list[str]) -> Iterator[tuple[str, Any]]:
    """Keys and values; a layout is all that its file says of what may be changed."""
    for parsed in parse_overrides(overrides):
        key, value = str(parsed.key_or_group), parsed.value()
        if key != "layout":
            yield key, value
            continue
        for name, its in flat(layout_values(str(value))).items():
            if is_changeable(name):
                yield name, its


def is_changeable(key: str) -> bool:
    return any(key == name or key.startswith(name + ".") for name in CHANGEABLE)


def differing(config: TrainSettings, run: Path) -> list[str]:
    """What to override in the run's config so that it is this one, but for where the run is."""
    steps = steps_of(run)
    try:
        noted: Any = flat(plain(load_config(run / "config.yaml")))
    except InputError:
        if not steps:
            raise
        noted = flat(plain(load_config(steps[-1] / "config.yaml")))
    own = ("run", "resume", "checkpoints", "trust", "experiment_name", "fork")
    wanted = flat(plain(config))
    changed = [key for key in wanted if key.split(".")[0] not in own]
    return [
        f"{key}={override_text(wanted[key])}"
        for key in changed
        if wanted[key] != noted.get(key, MISSING_KEY)
    ]


def override_text(value: Any) -> str:
    """A value as a word of the command line has it."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return f"[{','.join(override_text(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{name}: {override_text(one)}' for name, one in value.items())}}}"
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value).lower() if isinstance(value, bool) else str(value)


def own_config(run: Path, step: Path) -> tuple[Any, list[str]]:
    """What the checkpoint's own copy says, which is known to be whole, and of the run's config what
    may have changed since."""
    config: Any = OmegaConf.create(plain(load_config(step / "config.yaml")))
    try:
        noted = OmegaConf.create(plain(load_config(run / "config.yaml")))
    except InputError as error:
        return config, [f"the config of {step} is used instead: {error}"]
    for name in CHANGEABLE:
        OmegaConf.update(config, name, OmegaConf.select(noted, name), merge=False)
    if config != noted:
        return config, [f"the config of {step} is used: '{run / 'config.yaml'}' has another one."]
    return config, []


MISSING_KEY = object()
