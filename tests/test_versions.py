"""The versions that the two commands install are named, whole and allowed."""

import re
import tomllib
from pathlib import Path

TOP = Path(__file__).parents[1]


def test_every_dependency_has_one_version_that_is_allowed() -> None:
    """Packages that come with others are held by the same file, being written from a freeze."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = project["dependencies"] + [
        n for e in ("tensorflow", "export", "test") for n in extras[e]
    ]
    lines = (TOP / "scripts" / "constraints.txt").read_text().splitlines()
    pinned = dict(line.lower().replace("_", "-").split("==") for line in lines if line[0] != "#")
    for requirement in needed:
        name, how, lowest = re.fullmatch(r"([\w-]+)(?:\[\w+\])?(>=|==)?(.*)", requirement).groups()  # type: ignore[union-attr]
        if name == "athenan":
            continue
        version = pinned[name.lower()]
        if how:
            assert numbers(version) >= numbers(lowest), name
    assert "CONSTRAINTS-scripts/constraints.txt" in (TOP / "scripts" / "setup").read_text()


def numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]
