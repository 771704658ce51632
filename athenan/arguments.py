"""Words of a command line: settings, and flags with or without a value; what commands answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from athenan.errors import InputError, nearest

if TYPE_CHECKING:
    from athenan.config import Sources


@dataclass
class Arguments:
    """What follows the command: settings, and flags with or without a value."""

    settings: list[str] = field(default_factory=list)
    flags: dict[str, str] = field(default_factory=dict)

    @property
    def json(self) -> bool:
        return "--json" in self.flags

    @property
    def sources(self) -> Sources:
        """As Hydra's users name them."""
        from athenan.config import Sources

        folder = self.flags.get("--config-dir")
        return Sources(Path(folder) if folder else None, self.flags.get("--config-name"))


# Besides everyone's --help, --json and --cfg.
FLAGS = {
    "train": ("--multirun", "--jobs"),
    "solve": ("--out", "--check", "--draw", "--tree"),
    "check": ("--template",),
    "tournament": ("--show",),
    "experiment": ("--show",),
}
VALUELESS = ("--help", "--json", "--multirun", "--show")
SHORT = {
    "-h": "--help",
    "-m": "--multirun",
    "-c": "--cfg",
    "-cn": "--config-name",
    "-cd": "--config-dir",
}


def parse(command: str, words: list[str]) -> Arguments:
    known = {"--json", "--help", "--cfg", *FLAGS.get(command, ())}
    if command not in ("games", "bench"):
        known |= {"--config-dir", "--config-name"}
    arguments = Arguments()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            arguments.settings.append(word)
            continue
        name = SHORT.get(name, name)
        if name not in known:
            raise InputError(f"There is no flag '{name}'{nearest(name, known)}")
        if name not in VALUELESS and not equals:
            if not rest:
                raise InputError(f"Flag '{name}' needs a value.")
            value = rest.pop(0)
        arguments.flags[name] = value
    return arguments


def report(arguments: Arguments, lines: list[str], figures: dict[str, Any]) -> None:
    """Prints for people and, with --json, the same figures as the last line."""
    print("\n".join(lines), flush=True)
    if arguments.json:
        print(json.dumps(figures), flush=True)
