"""What people read about settings: `athenan <command> --help`, and the tables of configs/README.md.

`python -m athenan.help` writes the tables anew.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any

from athenan.checks import Row, about_of, about_option, number_text, range_of, rows_of, types_of
from athenan.config import USUAL, Sources, compose, group_files
from athenan.games import configs_folder
from athenan.settings import COMMANDS, About, PlayerSettings

WIDTH = 100
LONGEST_LEFT = 40  # characters of `setting=value` beside its sentence; longer ones stand above it


def settings_text(command: str, words: list[str], sources: Sources = USUAL) -> list[str]:
    """Every setting of a command, group by group, with the values these words give it."""
    settings = compose(command, words, sources)
    lines: list[str] = []
    if command == "train":
        lines += [*choices_of("experiment"), "  a preset: values for all that follows", ""]
    rows = list(rows_of(settings))
    lines += aligned(row for row in rows if "." not in row.key)
    for field in fields(settings):
        its = [row for row in rows if row.key.startswith(f"{field.name}.")]
        if its:
            lines += ["", *choices_of(field.name), f"  {about_of(field).sentence}", *aligned(its)]
    return lines


def choices_of(group: str) -> list[str]:
    """`group=one|other|…` in lines that are not too long; a group without files is its name."""
    names = group_files(group)
    if not names:
        return [group]
    lines = [f"{group}="]
    for i, name in enumerate(
        [*names, "module:Class", "./file.py:Class"] if group == "game" else names
    ):
        word = f"|{name}" if i else name
        if len(lines[-1]) + len(word) > WIDTH:
            lines.append(" " * (len(group) + 1) + word)
        else:
            lines[-1] += word
    return lines


def aligned(rows: Iterable[Row]) -> list[str]:
    pairs = [(f"  {row.key}={value_text(row.value)}", about_text(row.about)) for row in rows]
    fitting = [len(left) for left, _ in pairs if len(left) <= LONGEST_LEFT]
    start = max(fitting, default=4) + 2
    lines = []
    for left, about in pairs:
        right = textwrap.wrap(about, WIDTH - start, break_on_hyphens=False)
        if len(left) > start - 2:
            lines.append(left)
        else:
            lines.append(left.ljust(start) + right.pop(0))
        lines += [" " * start + line for line in right]
    return lines


def value_text(value: Any) -> str:
    """As one writes it on the command line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return number_text(value) if isinstance(value, int) else f"{value:g}"
    if isinstance(value, list):
        return f"[{','.join(value_text(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{name}: {value_text(one)}' for name, one in value.items())}}}"
    return str(value) if value != "" else "''"


def about_text(about: About) -> str:
    facts = [fact for fact in (about.unit, values_text(about)) if fact]
    return f"{about.sentence} [{', '.join(facts)}]" if facts else about.sentence


def values_text(about: About) -> str:
    """Bounds that only guard against nonsense go without saying."""
    return " | ".join(about.choices) if about.choices else range_of(about, unlimited=1e6)


# ---- configs/README.md ---------------------------------------------------------------------------

MARK = "<!-- What follows is written by `python -m athenan.help`. -->\n"


def tables() -> str:
    """Every setting once: of the commands, of the groups, of games and searches. Markdown."""
    parts = []
    for command, kind in COMMANDS.items():
        groups = [f"`{field.name}`" for field in fields(kind) if is_group(kind(), field.name)]
        rows = [row for row in rows_of(kind()) if "." not in row.key]
        parts.append(f"### athenan {command}\n\nGroups: {', '.join(groups)}.\n\n{table(rows)}")
    for name, group in groups_of_commands():
        parts.append(f"### {name}\n\n{table(rows_of(group, f'{name}.'))}")
    player = list(rows_of(PlayerSettings()))
    named = [row for row in player if not row.key.startswith("search.")]
    parts.append(
        "### A player\n\n`first` and `second` of a match, and each of `strength.references`: "
        f"`first.evaluator=…`.\n\n{table(named)}"
    )
    parts += option_tables("search", "about")
    parts += option_tables("game", "title")
    return "\n".join(parts)


def is_group(settings: Any, name: str) -> bool:
    value = getattr(settings, name)
    return is_dataclass(value) or isinstance(value, dict)


def groups_of_commands() -> Iterator[tuple[str, Any]]:
    """(name, settings) of each group that is no player, game or search, once."""
    found: dict[str, Any] = {}
    for kind in COMMANDS.values():
        settings = kind()
        for field in fields(settings):
            value = getattr(settings, field.name)
            if is_dataclass(value) and not isinstance(value, PlayerSettings):
                found.setdefault(field.name, value)
    yield from found.items()


def option_tables(kind: str, title: str) -> Iterator[str]:
    for entry in types_of(kind):
        rows = [
            Row(f"{kind}.{option['name']}", option["default"], about_option(option))
            for option in entry["options"]
        ]
        yield f"### {kind}: {entry['name']}\n\n{entry[title]}.\n" + (
            f"\n{table(rows)}" if rows else ""
        )


def table(rows: Iterable[Row]) -> str:
    lines = ["| setting | default | unit | values | |", "|---|---|---|---|---|"]
    for row in rows:
        about = row.about
        values = values_text(about).replace(" | ", ", ")
        cells = [f"`{row.key}`", f"`{value_text(row.value)}`", about.unit, values, about.sentence]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def readme(text: str) -> str:
    """The text of configs/README.md with its tables as they should be."""
    return text.partition(MARK)[0] + MARK + "\n" + tables()


if __name__ == "__main__":
    path = configs_folder() / "README.md"
    path.write_text(readme(path.read_text()))
