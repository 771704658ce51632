"""Configs: Hydra composes values from configs/, the check makes typed settings of them."""

from __future__ import annotations

import itertools
import re
from dataclasses import asdict, dataclass, is_dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TypeVar, get_type_hints, overload

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import HydraException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import AliasEvent, YAMLError
from yaml import parse as parse_yaml
from yaml.events import CollectionEndEvent, CollectionStartEvent

from athenan.checks import Reading, no_setting, read
from athenan.errors import InputError, nearest
from athenan.files import read_text
from athenan.games import configs_folder, own_name
from athenan.settings import (
    COMMANDS,
    AnalysisSettings,
    BenchSettings,
    CheckSettings,
    DoctorSettings,
    ExportSettings,
    LayoutSettings,
    MatchSettings,
    PlayerSettings,
    PlaySettings,
    ProtocolSettings,
    ServeSettings,
    SolveSettings,
    TrainSettings,
)

S = TypeVar("S")
LONGEST_YAML, DEEPEST_YAML = 2**20, 20  # characters and groups in groups, of a run's config


@dataclass(frozen=True)
class Sources:
    """Where configs come from besides configs/: a folder of one's own, and a root that is not
    called as the command is."""

    folder: Path | None = None
    root: str | None = None


USUAL = Sources()


@overload
def compose(
    command: Literal["train"], overrides: list[str], sources: Sources = ...
) -> TrainSettings: ...
@overload
def compose(
    command: Literal["match"], overrides: list[str], sources: Sources = ...
) -> MatchSettings: ...
@overload
def compose(
    command: Literal["play"], overrides: list[str], sources: Sources = ...
) -> PlaySettings: ...
@overload
def compose(
    command: Literal["analysis"], overrides: list[str], sources: Sources = ...
) -> AnalysisSettings: ...
@overload
def compose(
    command: Literal["gtp", "uci", "hub", "aei"], overrides: list[str], sources: Sources = ...
) -> ProtocolSettings: ...
@overload
def compose(
    command: Literal["serve"], overrides: list[str], sources: Sources = ...
) -> ServeSettings: ...
@overload
def compose(
    command: Literal["solve"], overrides: list[str], sources: Sources = ...
) -> SolveSettings: ...
@overload
def compose(
    command: Literal["check"], overrides: list[str], sources: Sources = ...
) -> CheckSettings: ...
@overload
def compose(
    command: Literal["export"], overrides: list[str], sources: Sources = ...
) -> ExportSettings: ...
@overload
def compose(
    command: Literal["bench"], overrides: list[str], sources: Sources = ...
) -> BenchSettings: ...
@overload
def compose(
    command: Literal["doctor"], overrides: list[str], sources: Sources = ...
) -> DoctorSettings: ...
@overload
def compose(command: str, overrides: list[str], sources: Sources = ...) -> Any: ...


def compose(command: str, overrides: list[str], sources: Sources = USUAL) -> Any:
    """The settings of a command: its defaults, then configs/, then the overrides, all checked."""
    kind = COMMANDS[command]
    own_game, overrides = split_own_game(without_preset(command, overrides))
    groups, keys = split_groups(kind, parse_overrides(overrides), sources)
    values = defaults_of(kind)
    merge(kind, values, of_command(kind, group_values(command, groups, sources)))
    if own_game:
        values["game"] = {"name": own_game}
    # A name is put first: it takes the options of another one away, not those given beside it.
    for parsed in sorted(keys, key=lambda parsed: not is_name(parsed)):
        put(kind, values, parsed)
    try:
        values = plain(OmegaConf.create(values))
    except OmegaConfBaseException as error:
        raise InputError(sentence(error)) from None
    return read(kind, values)


def load_config(path: Path) -> TrainSettings:
    """The settings of a run from its config.yaml."""
    values = read_values(path)
    try:
        return read(TrainSettings, values)
    except InputError as error:
        raise InputError(
            f"'{path}' does not fit this version of athenan, but a new run takes the weights by "
            f"fork={path.parent}: {error}"
        ) from None


def read_values(path: Path) -> dict[str, Any]:
    """Plain values of a YAML file."""
    try:
        text = read_text(path)
        check_yaml(text)
        values = plain(OmegaConf.create(text))
    except FileNotFoundError:
        raise InputError(f"There is no config '{path}'.") from None
    except (OSError, ValueError, YAMLError, OmegaConfBaseException) as error:
        raise InputError(f"'{path}' is not a config: {sentence(error)}") from None
    if not isinstance(values, dict):
        raise InputError(f"'{path}' is not a config: it has no settings.")
    return values


def check_yaml(text: str) -> None:
    """A few characters can stand for endless work: groups in groups, and values that refer to their
    own parts. The config of a run has neither."""
    if len(text) > LONGEST_YAML:
        raise ValueError("It is too long")
    depth = 0
    for event in parse_yaml(text):
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        if depth > DEEPEST_YAML:
            raise ValueError("It is nested too deeply")
        if isinstance(event, AliasEvent):
            raise ValueError("It refers to other values")
    if "${" in text:
        raise ValueError("It refers to other values")


def to_yaml(settings: Any) -> str:
    return OmegaConf.to_yaml(OmegaConf.create(plain(settings)))


def plain(config: Any) -> Any:
    """Settings or a config as plain dictionaries and lists."""
    if is_dataclass(config) and not isinstance(config, type):
        return asdict(config)
    return OmegaConf.to_container(config, resolve=True) if OmegaConf.is_config(config) else config


# ---- Words of a command line ---------------------------------------------------------------------


def parse_overrides(overrides: list[str]) -> list[Override]:
    for override in overrides:
        if "=" not in override and not override.startswith("~"):
            raise InputError(f"'{override}' is not a setting; write setting=value.")
    try:
        return OverridesParser.create().parse_overrides(overrides)
    except HydraException as error:
        override = getattr(error, "override", None) or " ".join(overrides)
        raise InputError(f"'{override}' cannot be read: {sentence(error)}") from None


def without_preset(command: str, overrides: list[str]) -> list[str]:
    """The default preset of training is one game's: another game does not take it."""
    names = {override.partition("=")[0] for override in overrides}
    if command == "train" and "game" in names and "experiment" not in names:
        return ["experiment=any_game", *overrides]
    return overrides


def split_own_game(overrides: list[str]) -> tuple[str | None, list[str]]:
    """Takes out `game=module:Class` or `game=./file.py:Class`, which no config file describes."""
    own = [o for o in overrides if o.startswith("game=") and (":" in o or o.endswith(".py"))]
    rest = [o for o in overrides if o not in own]
    if not own:
        return None, rest
    name = own[-1].partition("=")[2]
    if ":" not in name:
        raise InputError(f"'{name}' names no class: write game={name}:Class.")
    return own_name(name), rest


@dataclass(frozen=True)
class Choice:
    """An override that chooses files of a group; one of the user's own comes with its text."""

    word: str
    group: str = ""
    own: str | None = None


def split_groups(
    kind: type[Any], overrides: list[Override], sources: Sources
) -> tuple[list[Choice], list[Override]]:
    """Overrides that choose a file of a group, and the others: a command may have a plain setting
    that is called as another one's group is, such as `replay` of play."""
    chosen, keys = [], []
    for parsed in overrides:
        name = str(parsed.key_or_group)
        if parsed.is_sweep_override():
            raise InputError(
                f"'{parsed.input_line}' has several values; that takes 'athenan train --multirun'."
            )
        files = group_files(name, sources)
        if not files or is_plain(kind, name):
            keys.append(parsed)
            continue
        value = parsed.value()
        if isinstance(value, str) and (set(value) & set("/\\") or value.endswith(".yaml")):
            chosen.append(own_choice(name, Path(value)))
            continue
        for choice in value if isinstance(value, list) else [value]:
            if str(choice) not in files:
                raise InputError(f"There is no {name} '{choice}'{nearest_of(str(choice), files)}")
        chosen.append(Choice(str(parsed.input_line)))
    return chosen, keys


def is_plain(kind: type[Any], name: str) -> bool:
    """Whether the command has a setting of that name which is no group."""
    field = kind.__dataclass_fields__.get(name)
    return field is not None and not isinstance(asdict(kind())[name], dict)


def own_choice(group: str, path: Path) -> Choice:
    """A file of the user's own instead of one of the group: experiment=./mine.yaml."""
    try:
        text = read_text(path)
    except FileNotFoundError:
        raise InputError(f"There is no file '{path}' for '{group}'.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"'{path}' is not a config: {sentence(error)}") from None
    if group == "experiment" and "@package" not in text:
        text = f"# @package _global_\n{text}"
    return Choice(f"{group}=own", group, text)


def nearest_of(word: str, names: list[str]) -> str:
    """The end of a sentence: the nearest name, or all where there are few."""
    near = nearest(word, names)
    return f"; there are {', '.join(names)}." if near == "." and len(names) <= 12 else near


def group_files(group: str, sources: Sources = USUAL) -> list[str]:
    """The names that `group=…` takes; none where it is no group with files."""
    if not group.isidentifier():
        return []
    places = [folder / group for folder in folders_of(sources)]
    return sorted({path.stem for place in places for path in place.glob("*.yaml")})


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


# ---- Values, one over another --------------------------------------------------------------------


def defaults_of(kind: type[Any]) -> dict[str, Any]:
    return asdict(kind())


@lru_cache(maxsize=64)
def _composed(command: str, choices: tuple[Choice, ...], sources: Sources) -> DictConfig:
    words, root = [choice.word for choice in choices], sources.root or command
    first, *others = sorted(folders_of(sources), key=lambda f: not (f / f"{root}.yaml").exists())
    with TemporaryDirectory() as own, initialize_config_dir(str(first), version_base="1.3"):
        for choice in choices:
            if choice.own is not None:
                place = Path(own) / choice.group / "own.yaml"
                place.parent.mkdir(exist_ok=True)
                place.write_text(choice.own)
                others.append(Path(own))
        if others:
            places = ",".join(f"'file://{path.absolute()}'" for path in dict.fromkeys(others))
            words.append(f"hydra.searchpath=[{places}]")
        return hydra_compose(root, words)


def folders_of(sources: Sources) -> list[Path]:
    return [configs_folder(), *([sources.folder.absolute()] if sources.folder else [])]


def group_values(command: str, choices: list[Choice], sources: Sources) -> dict[str, Any]:
    """What configs/ says, references between settings still unresolved."""
    if sources.folder and not sources.folder.is_dir():
        raise InputError(f"There is no folder '{sources.folder}' of configs.")
    roots = [folder / f"{sources.root or command}.yaml" for folder in folders_of(sources)]
    if not any(root.exists() for root in roots):
        raise InputError(f"There is no config '{sources.root}'.")
    try:
        composed = _composed(command, tuple(choices), sources)
        values: Any = OmegaConf.to_container(composed, resolve=False)
    except (HydraException, OmegaConfBaseException, YAMLError) as error:
        raise InputError(sentence(error)) from None
    return {str(key): value for key, value in values.items()}


def of_command(kind: type[Any], given: dict[str, Any]) -> dict[str, Any]:
    """Without what a group's file says of training to another command."""
    others = TrainSettings.__dataclass_fields__.keys() - kind.__dataclass_fields__.keys()
    return {name: value for name, value in given.items() if name not in others}


def layout_values(name: str) -> dict[str, Any]:
    """What a file of the group `layout` says, of all settings that it is about."""
    if name not in group_files("layout"):
        raise InputError(f"There is no layout '{name}'{nearest_of(name, group_files('layout'))}")
    path = configs_folder() / "layout" / f"{name}.yaml"
    values = read_values(path)
    if "@package _global_" not in path.read_text():
        values = {"layout": values}
    return values | {"layout": asdict(LayoutSettings()) | values["layout"]}


def engine_values(name: str) -> dict[str, Any]:
    """Of a player that is an engine, by the name of its file in the group `engine`, or a file."""
    folder = configs_folder() / "engine"
    path = folder / f"{name}.yaml"
    if set(name) & set("/\\") or name.endswith(".yaml"):
        path = Path(name)
    elif not path.is_file():
        known = group_files("engine")
        raise InputError(f"There is no engine '{name}'{nearest_of(name, known)}")
    values = defaults_of(PlayerSettings)
    merge(PlayerSettings, values, read_values(path))
    return values


def merge(kind: type[Any], values: dict[str, Any], given: dict[str, Any]) -> None:
    """Puts what is given over the values, group by group."""
    hints = get_type_hints(kind)
    for name, value in given.items():
        hint, field = hints.get(name), kind.__dataclass_fields__.get(name)
        if field and "named" in field.metadata:
            values[name] = renamed(values.get(name), value)
        elif hint is PlayerSettings and isinstance(value, str):
            values[name] = engine_values(value)
        elif isinstance(value, dict) and isinstance(hint, type) and is_dataclass(hint):
            merge(hint, values[name], value)
        elif isinstance(value, dict) and hint == dict[str, Any]:
            values[name] = {**values[name], **value}
        elif isinstance(value, dict) and hint == dict[str, PlayerSettings]:
            for player, its in value.items():
                if isinstance(its, dict):
                    before = values[name].setdefault(player, defaults_of(PlayerSettings))
                    merge(PlayerSettings, before, its)
                else:
                    named = isinstance(its, str)
                    values[name][player] = engine_values(its) if named else its
        else:
            values[name] = value


def renamed(before: Any, given: Any) -> Any:
    """A game or search after another name, or other options of the same, were given."""
    if given is None:
        return {}
    after = given if isinstance(given, dict) else {"name": given}
    same = isinstance(before, dict) and after.get("name", before.get("name")) == before.get("name")
    return {**before, **after} if same else after


def is_name(parsed: Override) -> bool:
    """Whether an override chooses a game, a search or an engine rather than an option of it."""
    key = str(parsed.key_or_group)
    player = re.fullmatch(r"first|second|strength\.references\.\w+", key)
    search = key.endswith((".search", ".search.name")) or key in ("game.name", "search.name")
    return search or bool(player)


def put(kind: type[Any], values: dict[str, Any], parsed: Override) -> None:
    """One override: its key must lead somewhere, its value is checked later."""
    key, value = str(parsed.key_or_group), parsed.value()
    *way, last = key.split(".")
    at: Any = values
    for part in way:
        at = at.get(part) if isinstance(at, dict) else None
    if not isinstance(at, dict):
        raise InputError(no_setting(key, Reading().group(kind, values, "")))
    if parsed.is_delete():
        if way != ["strength", "references"] or last not in at:
            raise InputError(f"'{key}' cannot be taken away; only a reference of strength can.")
        del at[last]
    else:
        given: Any = value
        for part in reversed(key.split(".")):
            given = {part: given}
        merge(kind, values, given)


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
