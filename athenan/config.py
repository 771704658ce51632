"""Configs: Hydra composes them, and what a user misspells is answered with a sentence."""

from __future__ import annotations

import itertools
from typing import Any

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from athenan import schema
from athenan.errors import InputError, nearest
from athenan.games import configs_folder, game_types


def compose(root: str, overrides: list[str]) -> Any:
    """The config `root`.yaml with the overrides, all keys and types checked."""
    schema.register()
    overrides = without_preset(root, overrides)
    own_game, overrides = split_own_game(overrides)
    with initialize_config_dir(config_dir=str(configs_folder()), version_base="1.3"):
        try:
            groups, keys = split_groups(overrides)
            config = hydra_compose(root, groups)
            if own_game:
                OmegaConf.set_struct(config, False)
                config.game = {"name": own_game}
            for _, key in keys:
                check_key(config, key, own_game is not None)
            if not own_game:
                config = hydra_compose(root, groups + [override for override, _ in keys])
            else:
                add_own_game(config, root, groups, keys)
        except (HydraException, OmegaConfBaseException) as error:
            raise InputError(sentence(error)) from None
    seed = config.get("seed", 0)
    if not 0 <= seed < 2**32:
        raise InputError(f"Setting 'seed' must be from 0 to {2**32 - 1}, not {seed}.")
    return config


def parse_overrides(overrides: list[str]) -> list[Override]:
    for override in overrides:
        if "=" not in override and not override.startswith("~"):
            raise InputError(f"'{override}' is not a setting; write setting=value.")
    try:
        return OverridesParser.create().parse_overrides(overrides)
    except HydraException as error:
        override = getattr(error, "override", None) or " ".join(overrides)
        raise InputError(f"'{override}' cannot be read: {sentence(error)}") from None


def without_preset(root: str, overrides: list[str]) -> list[str]:
    """The default preset of training is one game's: another game does not take it."""
    names = {override.partition("=")[0] for override in overrides}
    if root == "train" and "game" in names and "experiment" not in names:
        return ["experiment=any_game", *overrides]
    return overrides


def split_own_game(overrides: list[str]) -> tuple[str | None, list[str]]:
    """Takes out `game=module:Class`, which no config file describes."""
    own = [o for o in overrides if o.startswith("game=") and ":" in o]
    return (own[-1].partition("=")[2] if own else None), [o for o in overrides if o not in own]


def split_groups(overrides: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Overrides that choose a file of a group, and (override, key) of the others."""
    folder = configs_folder()
    groups = {path.name for path in folder.iterdir() if path.is_dir()}
    chosen, keys = [], []
    for parsed in parse_overrides(overrides):
        name = str(parsed.key_or_group)
        if parsed.is_sweep_override():
            raise InputError(
                f"'{parsed.input_line}' has several values; that takes 'athenan train --multirun'."
            )
        if name not in groups:
            keys.append((str(parsed.input_line), name))
            continue
        files = sorted(path.stem for path in (folder / name).glob("*.yaml"))
        value = parsed.value()
        for choice in value if isinstance(value, list) else [value]:
            if str(choice) not in files:
                raise InputError(f"There is no {name} '{choice}'{nearest(str(choice), files)}")
        chosen.append(str(parsed.input_line))
    return chosen, keys


def check_key(config: DictConfig, key: str, own_game: bool) -> None:
    node: Any = config
    for i, part in enumerate(key.split(".")):
        known = [str(name) for name in node] if isinstance(node, DictConfig) else []
        if part in known:
            node = node._get_node(part)
        elif key.startswith("game.") and i == 1:
            if not own_game:
                check_game_option(str(config.game.name), part)
            return
        else:
            raise InputError(f"There is no setting '{key}'{nearest(part, known)}")


def check_game_option(game: str, option: str) -> None:
    options = [
        o["name"] for entry in game_types() if entry["name"] == game for o in entry["options"]
    ]
    if option not in options:
        raise InputError(f"Game '{game}' has no option '{option}'{nearest(option, options)}")


def add_own_game(
    config: DictConfig, root: str, groups: list[str], keys: list[tuple[str, str]]
) -> None:
    others = [override for override, key in keys if not key.startswith("game.")]
    merged = hydra_compose(root, groups + others)
    OmegaConf.set_struct(merged, False)
    merged.game = config.game
    for override, key in keys:
        if key.startswith("game."):
            value = OverridesParser.create().parse_override(override).value()
            OmegaConf.update(merged, key, value)
    config.merge_with(merged)
    config.game = merged.game


def sentence(error: Exception) -> str:
    """The first line of an error as one sentence, with its setting where it is known."""
    text = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else "Wrong config"
    while error.__cause__ is not None and not isinstance(error, OmegaConfBaseException):
        error = error.__cause__  # type: ignore[assignment]
    full_key = getattr(error, "full_key", None)
    if full_key:
        first = str(error).strip().splitlines()[0].rstrip(".")
        return f"Setting '{full_key}': {first}."
    return f"{text}."


def sweep(overrides: list[str]) -> list[list[str]]:
    """Every combination of settings that are given as lists: `seed=0,1 network=conv,residual`."""
    choices: list[list[str]] = []
    for parsed in parse_overrides(overrides):
        if parsed.is_sweep_override():
            key = parsed.get_key_element()
            choices.append([f"{key}={value}" for value in parsed.sweep_string_iterator()])
        else:
            choices.append([str(parsed.input_line)])
    return [list(combination) for combination in itertools.product(*choices)]


def plain(config: Any) -> Any:
    """A config as plain dictionaries and lists."""
    return OmegaConf.to_container(config, resolve=True)
