"""The one check of settings: values become typed settings, or a sentence says what is wrong.

Settings are checked by what settings.py says of them, options of games and searches by what their
types say; both are a type, a default and an `About`.
"""

from __future__ import annotations

import difflib
import itertools
import math
from collections.abc import Iterator
from dataclasses import MISSING, Field, asdict, dataclass, fields, is_dataclass
from types import NoneType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from athenan import _core
from athenan.errors import InputError, nearest
from athenan.settings import (
    LARGEST,
    About,
    BenchSettings,
    EngineSettings,
    Named,
    PlayerSettings,
    SelfPlaySettings,
    TrainSettings,
)

S = TypeVar("S")
KINDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def read(kind: type[S], values: dict[str, Any]) -> S:
    """Settings of that kind from plain values; InputError on the first that is wrong."""
    reading = Reading()
    settings = reading.group(kind, values, "")
    for key in reading.unknown:
        raise InputError(no_setting(key, settings))
    for wrong in itertools.chain(reading.wrong, contradictions(settings)):
        raise InputError(wrong)
    made: S = settings
    return made


class Reading:
    """Walks values along their dataclasses, noting what is wrong."""

    def __init__(self) -> None:
        self.wrong: list[str] = []
        self.unknown: list[str] = []  # keys

    def group(self, kind: type[Any], values: Any, prefix: str) -> Any:
        if not isinstance(values, dict):
            self.wrong.append(f"'{prefix[:-1]}' is a group of settings, not {text_of(values)}.")
            return kind()
        hints = get_type_hints(kind)
        made = {}
        for field in fields(kind):
            value = values.get(field.name, default_of(field))
            made[field.name] = self.field(field, hints[field.name], value, prefix + field.name)
        for name in values:
            if name not in made:
                self.unknown.append(leaf(values, name, prefix))
        return kind(**made)

    def field(self, field: Field[Any], hint: Any, value: Any, key: str) -> Any:
        if is_dataclass(hint):
            assert isinstance(hint, type)
            given = asdict(value) if isinstance(value, hint) else value
            return self.group(hint, given, key + ".")
        if "named" in field.metadata:
            return self.named(field.metadata["named"], value, key)
        if hint == dict[str, PlayerSettings]:
            return self.players(value, key)
        if hint == dict[str, Any]:
            return self.texts(value, key)
        return self.value(hint, field.metadata["about"], value, key)

    def texts(self, value: Any, key: str) -> dict[str, Any]:
        """Options that only the program knows to which they belong."""
        if not isinstance(value, dict):
            self.wrong.append(f"Setting '{key}' must be names with values, not {text_of(value)}.")
            return {}
        for name, one in value.items():
            if not isinstance(one, bool | int | float | str) or "\n" in f"{name}{one}":
                self.wrong.append(f"Setting '{key}.{name}' must be a value, not {text_of(one)}.")
        return {str(name): one for name, one in value.items()}

    def players(self, value: Any, key: str) -> dict[str, PlayerSettings]:
        if not isinstance(value, dict):
            self.wrong.append(f"'{key}' is a group of players, not {text_of(value)}.")
            return {}
        return {
            str(name): self.group(
                PlayerSettings,
                asdict(given) if isinstance(given, PlayerSettings) else given,
                f"{key}.{name}.",
            )
            for name, given in value.items()
        }

    def named(self, about: Named, value: Any, key: str) -> dict[str, Any]:
        """The name and all its options."""
        given = value if isinstance(value, dict) else {"name": value}
        name = given.get("name")
        if name is None and about.optional:
            for option in given:
                if option != "name":
                    self.wrong.append(f"Setting '{key}.{option}' needs a {about.kind}: {key}=….")
            return {}
        if about.kind == "game" and ":" in str(name):
            return given  # a user's own, which knows its options itself
        types = {entry["name"]: entry for entry in types_of(about.kind)}
        if name not in types:
            near = nearest(str(name), types)
            self.wrong.append(f"Setting '{key}': there is no {about.kind} '{name}'{near}")
            return {"name": str(name)}
        options = {k: v for k, v in given.items() if k != "name"}
        made = self.options(about.kind, types[str(name)], about.options, options, key + ".")
        return {"name": name, **made}

    def options(
        self,
        kind: str,
        entry: dict[str, Any],
        defaults: dict[str, Any],
        given: dict[str, Any],
        prefix: str = "",
    ) -> dict[str, Any]:
        """All options of a game or search, the given ones checked."""
        made = {}
        for option in entry["options"]:
            name = option["name"]
            value = given.get(name, defaults.get(name, option["default"]))
            made[name] = self.value(
                type(option["default"]), about_option(option), value, prefix + name
            )
        for name in given:
            if name not in made:
                self.wrong.append(
                    f"There is no setting '{prefix}{name}': {kind} '{entry['name']}' has no option "
                    f"'{name}'{nearest(str(name), ['name', *made])}"
                )
        return made

    def value(self, hint: Any, about: About, value: Any, key: str) -> Any:
        kinds = [kind for kind in get_args(hint) if kind is not NoneType]
        if NoneType in get_args(hint):
            if value is None:
                return None
            hint = kinds[0]
        if get_origin(hint) is not list:
            return self.scalar(hint, about, value, key)
        if not isinstance(value, list):
            self.wrong.append(f"Setting '{key}' must be a list, not {text_of(value)}.")
            return []
        before = len(self.wrong)
        made = [self.scalar(get_args(hint)[0], about, item, key) for item in value]
        if not made and not about.empty:
            self.wrong.append(f"Setting '{key}' must have at least one value.")
        if about.ascending and len(self.wrong) == before and made != sorted(set(made)):
            self.wrong.append(f"Setting '{key}' must ascend, not be {text_of(value)}.")
        return made

    def scalar(self, kind: type[Any], about: About, value: Any, key: str) -> Any:
        made = converted(kind, value)
        if made is None:
            self.wrong.append(f"Setting '{key}' must be {KINDS[kind]}, not {text_of(value)}.")
            return value
        if about.choices and made not in about.choices:
            self.wrong.append(
                f"Setting '{key}' must be {listed(about.choices)}, not {text_of(made)}"
                f"{nearest(made, about.choices)}"
            )
        elif kind in (int, float) and not in_range(made, about):
            self.wrong.append(f"Setting '{key}' must be {range_of(about)}, not {text_of(value)}.")
        return made


def converted(kind: type[Any], value: Any) -> Any:
    """The value as that kind, or None where it is none."""
    if kind is str:
        if isinstance(value, bool):
            return str(value).lower()
        return str(value) if isinstance(value, str | int | float) else None
    if kind is bool or isinstance(value, bool):
        return value if kind is bool and isinstance(value, bool) else None
    if not isinstance(value, int | float) or math.isnan(value):
        return None
    if kind is int:
        return int(value) if math.isfinite(value) and value == int(value) else None
    return float(value)


def in_range(value: float, about: About) -> bool:
    return (
        (about.low is None or value >= about.low)
        and (about.above is None or value > about.above)
        and (about.high is None or value <= about.high)
    )


def range_of(about: About, unlimited: float = LARGEST) -> str:
    """In words, such as `from 1 to 19`; empty where any number is right. A largest value that is
    `unlimited` goes without saying."""
    high = about.high if about.high is not None and about.high < unlimited else None
    if about.above is not None:
        most = f" and at most {number_text(high)}" if high is not None else ""
        return f"above {number_text(about.above)}{most}"
    if about.low is None:
        return f"at most {number_text(high)}" if high is not None else ""
    if high is None:
        return f"at least {number_text(about.low)}"
    return f"from {number_text(about.low)} to {number_text(high)}"


def number_text(number: float) -> str:
    return str(int(number)) if number == int(number) and abs(number) < 1e7 else f"{number:.10g}"


def text_of(value: Any) -> str:
    """A value as a user would write it, texts in quotes."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else str(value)


def listed(choices: tuple[str, ...]) -> str:
    return " or ".join([", ".join(choices[:-1]), choices[-1]] if len(choices) > 1 else choices)


def leaf(values: dict[str, Any], name: str, prefix: str) -> str:
    """The full key of an unknown name, or of the first thing below it."""
    value = values[name]
    if isinstance(value, dict) and value:
        return leaf(value, next(iter(value)), f"{prefix}{name}.")
    return f"{prefix}{name}"


def no_setting(key: str, settings: Any) -> str:
    """The sentence about an unknown key; a known one with the same last part is offered first."""
    known = [row.key for row in rows_of(settings)]
    known += [f"{key}.name" for key in known if key.endswith(".search")]
    known += sorted({key[:i] for key in known for i, char in enumerate(key) if char == "."})
    last = key.rpartition(".")[2]
    same = difflib.get_close_matches(
        key, [k for k in known if k.rpartition(".")[2] == last], n=1, cutoff=0.0
    )
    if same:
        return f"There is no setting '{key}'; did you mean '{same[0]}'?"
    return f"There is no setting '{key}'{nearest(key, known)}"


# ---- Games and searches by name ------------------------------------------------------------------


def types_of(kind: str) -> list[dict[str, Any]]:
    """Name, sentence and options of every game or search."""
    if kind == "game":
        return _core.game_types()
    from athenan.search import search_types  # which checks its own settings by this module

    return search_types()


def type_of(kind: str, name: Any) -> dict[str, Any] | None:
    return next((entry for entry in types_of(kind) if entry["name"] == name), None)


def about_option(option: dict[str, Any]) -> About:
    numeric = type(option["default"]) in (int, float)
    return About(
        option["about"],
        low=option["low"] if numeric else None,
        high=option["high"] if numeric else None,
        choices=tuple(option["choices"]),
    )


# ---- What settings must be together --------------------------------------------------------------


def contradictions(settings: Any) -> Iterator[str]:
    """What is wrong between settings that are each right by themselves."""
    if isinstance(settings, TrainSettings):
        strength = settings.strength
        if strength.every_checkpoints and strength.best_by not in strength.references:
            yield (
                f"Setting 'strength.best_by' names no reference: '{strength.best_by}'"
                f"{nearest(strength.best_by, strength.references)}"
            )
    if isinstance(settings, EngineSettings):
        budget_given = settings.evaluations or settings.seconds
        if needs_budget(settings.search) and not budget_given:
            yield "The program needs a budget: 'evaluations' or 'seconds'."
    if isinstance(settings, TrainSettings | BenchSettings):
        budget: SelfPlaySettings = settings.self_play
        # Without evaluations a run takes a number that fits its game; 0 takes that away.
        if budget.evaluations == 0 and not (budget.iterations or budget.seconds):
            yield (
                "Self-play needs a budget: 'self_play.iterations', 'self_play.evaluations' or "
                "'self_play.seconds'."
            )
    for key, player in players_of(settings):
        if player.engine is not None:
            yield from wrong_engine(key, player)
            continue
        name = player.search.get("name")
        entry = type_of("search", name)
        if entry and not entry["uses_evaluator"]:
            given = "checkpoint" if player.checkpoint is not None else "evaluator"
            if given == "checkpoint" or player.evaluator != PlayerSettings.evaluator:
                yield (
                    f"Search '{name}' of player '{key}' uses no evaluator: choose another one, as "
                    f"{key}.search=ubfm, or leave '{key}.{given}' out."
                )
        if needs_budget(player.search) and not (
            player.iterations or player.evaluations or player.seconds
        ):
            yield (
                f"Player '{key}' needs a budget: '{key}.iterations', '{key}.evaluations' or "
                f"'{key}.seconds'."
            )


def wrong_engine(key: str, player: PlayerSettings) -> Iterator[str]:
    if player.checkpoint is not None or player.evaluator != PlayerSettings.evaluator:
        given = "checkpoint" if player.checkpoint is not None else "evaluator"
        yield f"Player '{key}' is an engine; leave '{key}.{given}' out."
    if any("\n" in text for text in (player.engine or "", player.go or "")):
        yield f"The command line of engine '{key}' must be one line."


def needs_budget(search: dict[str, Any]) -> bool:
    entry = type_of("search", search.get("name"))
    return entry is not None and bool(entry["needs_budget"])


def players_of(settings: Any, prefix: str = "") -> Iterator[tuple[str, PlayerSettings]]:
    for field in fields(settings):
        value, key = getattr(settings, field.name), prefix + field.name
        if isinstance(value, PlayerSettings):
            yield key, value
        elif isinstance(value, dict):
            for name, one in value.items():
                if isinstance(one, PlayerSettings):
                    yield f"{key}.{name}", one
        elif is_dataclass(value):
            yield from players_of(value, key + ".")


# ---- Every setting, for people -------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A setting with its value, and what is known of it."""

    key: str
    value: Any
    about: About


def rows_of(settings: Any, prefix: str = "") -> Iterator[Row]:
    """Every setting, options of games and searches included."""
    for field in fields(settings):
        value, key, about = getattr(settings, field.name), prefix + field.name, about_of(field)
        if "named" in field.metadata:
            yield from named_rows(field.metadata["named"], value, key, about)
        elif is_dataclass(value):
            yield from rows_of(value, key + ".")
        elif field.name == "references":
            for name, player in value.items():
                yield from rows_of(player, f"{key}.{name}.")
        else:
            yield Row(key, value, about)


def named_rows(named: Named, value: dict[str, Any], key: str, about: About) -> Iterator[Row]:
    entry = type_of(named.kind, value.get("name"))
    sentence = (entry.get("title") or entry["about"]) if entry else about.sentence
    # Games are many, and their configs are listed beside them.
    names = tuple(e["name"] for e in types_of("search")) if named.kind == "search" else ()
    # A player's search has no files of its own, so its plain name is what one writes.
    place = key if "." in key else f"{key}.name"
    yield Row(place, value.get("name"), About(sentence, choices=names))
    for option in entry["options"] if entry else ():
        name = option["name"]
        yield Row(f"{key}.{name}", value.get(name, option["default"]), about_option(option))
    if entry is None:
        for name in value:
            if name != "name":
                yield Row(f"{key}.{name}", value[name], About("of the game itself"))


def about_of(field: Field[Any]) -> About:
    about: About = field.metadata["about"]
    return about


def default_of(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return field.default
