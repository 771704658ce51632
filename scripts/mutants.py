"""Small wrong changes to the sources, one by one, and the tests that catch them.

Started by scripts/mutate. The core is built once, from a copy of the repository in which all
changes are there behind a switch that the environment sets; a change of a Python module is
written into the copy before its tests run. Tests run in the copy, so what they start runs there
too. The sources themselves are never touched.
"""

import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from athenan.errors import InputError

TOP = Path(__file__).resolve().parents[1]
LIST = TOP / "tests" / "mutants.toml"
COPY = TOP / ".build" / "mutate"
RESULTS = COPY / "results.jsonl"
BUILD = COPY / ".build" / "core"  # where the tests that build a program of their own look for it
SECONDS_A_TEST, SECONDS = 60, 600  # what takes longer hangs, and is caught as well
SURVIVED, HUNG = "", "a test that does not end"
SWITCH = """// Which of the changes is on; 0: none.
#pragma once
#include <cstdlib>
inline const int mutant = [] {
  const char* number = std::getenv("ATHENAN_MUTANT");
  return number ? std::atoi(number) : 0;
}();
"""
# The editable install looks for the package before the path does.
SITE = "import sys\n\nsys.meta_path = [f for f in sys.meta_path if 'ScikitBuild' not in repr(f)]\n"


@dataclass(frozen=True)
class Mutant:
    number: int
    name: str
    file: str
    old: str  # stands once in the file
    new: str
    tests: tuple[str, ...]
    survives: str = ""  # why no test can tell it from the original

    @property
    def is_python(self) -> bool:
        return self.file.endswith(".py")

    def made_of(self) -> str:
        """Changes with the mutant and the file that it is made from."""
        text = repr((self.old, self.new, self.tests)) + (TOP / self.file).read_text()
        return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_list(path: Path = LIST) -> list[Mutant]:
    """Tests are those of the mutant, or of its file."""
    found = tomllib.loads(path.read_text())
    usual = found.pop("tests")
    mutants = []
    for number, (name, told) in enumerate(found.items(), 1):
        tests = told.pop("tests", None) or usual[told["file"]]
        mutants.append(Mutant(number, name, tests=tuple(shlex.split(tests)), **told))
    return mutants


def misfits(mutants: Iterable[Mutant], top: Path = TOP) -> list[str]:
    """A sentence for each change that does not fit the sources."""
    found = []
    for mutant in mutants:
        path = top / mutant.file
        times = path.read_text().count(mutant.old) if path.is_file() else 0
        if times != 1:
            found.append(
                f"Mutant '{mutant.name}': {mutant.file} has '{mutant.old}' {times} times; mend "
                f"its text in {LIST.relative_to(TOP)}."
            )
    return found


def with_switches(text: str, mutants: list[Mutant]) -> str:
    """C++ with these changes behind the switch; several may change the same piece. A piece that
    ends in a semicolon is a statement, any other an expression."""
    for old in dict.fromkeys(mutant.old for mutant in mutants):
        is_statement = old.endswith(";")
        changed = old
        for mutant in mutants:
            if mutant.old != old:
                continue
            is_on = f"mutant == {mutant.number}"
            if is_statement:
                changed = f"{{ if ({is_on}) {{ {mutant.new} }} else {{ {changed} }} }}"
            else:
                changed = f"({is_on} ? ({mutant.new}) : ({changed}))"
        if text.count(old) != 1:
            raise InputError(f"'{old}' is part of another mutant's piece; take a smaller one.")
        text = text.replace(old, changed)
    return text.replace("#include", '#include "core/mutant.h"\n#include', 1)


def write(path: Path, text: str) -> None:
    """Where it differs, so that only what has changed is compiled again."""
    if not path.is_file() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def make_copy(mutants: list[Mutant]) -> None:
    """The repository with switches in the core; Python as it is."""
    told = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=TOP, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in told.stdout.splitlines():
        source, target = TOP / name, COPY / name
        own = [m for m in mutants if m.file == name and not m.is_python]
        if not source.is_file():
            target.unlink(missing_ok=True)
        elif own:
            write(target, with_switches(source.read_text(), own))
        elif not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    write(COPY / "athenan" / "core" / "mutant.h", SWITCH)
    write(COPY / "sitecustomize.py", SITE)


def build() -> None:
    """Optimised a little, since it is compiled more often than it runs for long."""
    commands = [
        ["cmake", "-S", COPY / "athenan" / "core", "-B", BUILD, "-G", "Ninja",
         "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1 -w",
         f"-DPython_EXECUTABLE={sys.executable}"],
        ["cmake", "--build", BUILD, "--target", "_core"],
    ]  # fmt: skip
    environment = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    for command in commands:
        made = subprocess.run(command, env=environment, capture_output=True, text=True)
        if made.returncode:
            raise InputError(f"The mutants do not compile:\n{made.stdout}{made.stderr}")
    core = BUILD / f"_core{sysconfig.get_config_var('EXT_SUFFIX')}"
    shutil.copyfile(core, COPY / "athenan" / core.name)


def caught_by(tests: Iterable[str], number: int = 0) -> str:
    """The first test that fails, or nothing."""
    environment = os.environ | {
        "ATHENAN_MUTANT": str(number),
        "PYTHONPATH": str(COPY),
        "PYTHONDONTWRITEBYTECODE": "1",  # a module changes within the second that its file tells
    }
    # By a thread: a signal would wait for the core to return.
    limit = [f"--timeout={SECONDS_A_TEST}", "--timeout-method=thread"]
    command = [sys.executable, "-m", "pytest", "-vv", "-x", "-p", "no:cacheprovider", *limit]
    try:
        ran = subprocess.run(
            [*command, *tests],
            cwd=COPY,
            env=environment,
            timeout=SECONDS,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return HUNG
    if ran.returncode == 0:
        return SURVIVED
    begun = re.findall(r"^(tests/\S+\.py)(?:::(\w+).*)?", ran.stdout, re.MULTILINE)
    failed = re.findall(r"^(?:FAILED|ERROR) (tests/\S+\.py)(?:::(\w+))?", ran.stdout, re.MULTILINE)
    if not (failed or begun):
        raise InputError(f"These tests cannot be run:\n{ran.stdout}{ran.stderr}")
    # A crash and a hang end within a test, the last that was begun.
    file, test = failed[0] if failed else begun[-1]
    return f"{file.removeprefix('tests/')} {test}".strip()


def run(mutant: Mutant) -> str:
    if not mutant.is_python:
        return caught_by(mutant.tests, mutant.number)
    text = (TOP / mutant.file).read_text()
    try:
        (COPY / mutant.file).write_text(text.replace(mutant.old, mutant.new))
        return caught_by(mutant.tests)
    finally:
        (COPY / mutant.file).write_text(text)


def read_results(mutants: Iterable[Mutant]) -> dict[str, str]:
    """Of mutants and files that have not changed since: caught by which test."""
    lines = RESULTS.read_text().splitlines() if RESULTS.is_file() else []
    told = {(line["mutant"], line["made_of"]): line["caught_by"] for line in map(json.loads, lines)}
    keys = {mutant.name: (mutant.name, mutant.made_of()) for mutant in mutants}
    return {name: told[key] for name, key in keys.items() if key in told}


def table(mutants: Iterable[Mutant], results: dict[str, str]) -> list[str]:
    lines = ["| mutant | in | caught by |", "|---|---|---|"]
    for mutant in mutants:
        if mutant.name in results:
            found = results[mutant.name] or (
                f"equivalent: {mutant.survives}" if mutant.survives else "**nothing**"
            )
            lines.append(f"| {mutant.name.replace('_', ' ')} | `{mutant.file}` | {found} |")
    return lines


def mutate(names: list[str], mutants: list[Mutant]) -> int:
    """Runs these, or all that are not known to be caught; 1 when one survives unexplained."""
    unknown = set(names) - {mutant.name for mutant in mutants}
    if unknown:
        raise InputError(f"There is no mutant '{sorted(unknown)[0]}'; see scripts/mutate --list.")
    known = {name for name, test in read_results(mutants).items() if test}
    chosen = [m for m in mutants if m.name in names or (not names and m.name not in known)]
    make_copy(mutants)
    build()
    passed: set[tuple[str, ...]] = set()
    for mutant in chosen:
        if mutant.tests not in passed and (test := caught_by(mutant.tests)):
            raise InputError(f"Without any mutant {test} fails.")
        passed.add(mutant.tests)
        test = run(mutant)
        print(f"{mutant.name}: {test or 'survives'}", flush=True)
        with RESULTS.open("a") as results:
            line = {"mutant": mutant.name, "made_of": mutant.made_of(), "caught_by": test}
            results.write(json.dumps(line) + "\n")
    found = read_results(mutants)
    print(*table(chosen, found), sep="\n")
    wrong = [m.name for m in chosen if bool(found[m.name]) == bool(m.survives)]
    if wrong:
        print(f"Not as the list says: {', '.join(wrong)}.", file=sys.stderr)
    return 1 if wrong else 0


def main(words: list[str]) -> int:
    try:
        mutants = read_list()
        if words == ["--list"]:
            for mutant in mutants:
                print(f"{mutant.name}  {mutant.file}\n    {mutant.old}\n  → {mutant.new}")
            return 0
        if words == ["--table"]:
            print(*table(mutants, read_results(mutants)), sep="\n")
            return 0
        if wrong := misfits(mutants):
            raise InputError("\n".join(wrong))
        return 0 if words == ["--check"] else mutate(words, mutants)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
