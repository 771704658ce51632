"""The list of mutants fits the sources, and what is made of it is what it says."""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOP = Path(__file__).parents[1]
SCRIPT: dict[str, Any] = runpy.run_path(str(TOP / "scripts" / "mutants.py"))
MUTANTS: list[Any] = SCRIPT["read_list"]()


def test_every_mutant_fits_the_sources() -> None:
    assert len(MUTANTS) >= 40
    assert SCRIPT["misfits"](MUTANTS) == []
    for mutant in MUTANTS:
        assert mutant.old != mutant.new
        files = [word.split("::")[0] for word in mutant.tests if word.startswith("tests/")]
        assert files
        assert all((TOP / file).is_file() for file in files)
    for file in {mutant.file for mutant in MUTANTS if not mutant.is_python}:
        text = (TOP / file).read_text()
        SCRIPT["with_switches"](text, [mutant for mutant in MUTANTS if mutant.file == file])


def test_a_mutant_that_no_longer_fits_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("int f(int x) { return x + x; }\n")
    mutants = [
        SCRIPT["Mutant"](number, name, file, old, "0", ())
        for number, (name, file, old) in enumerate(
            [("fits", "a.cpp", "x + x"), ("gone", "a.cpp", "y"), ("often", "a.cpp", "int"),
             ("nowhere", "b.cpp", "x")], 1
        )
    ]  # fmt: skip
    told = SCRIPT["misfits"](mutants, tmp_path)
    assert [sentence.split("'")[1] for sentence in told] == ["gone", "often", "nowhere"]
    assert "a.cpp has 'int' 2 times" in told[1]


def test_changes_of_one_piece_are_behind_a_switch() -> None:
    def mutant(number: int, old: str, new: str) -> Any:
        return SCRIPT["Mutant"](number, f"m{number}", "a.cpp", old, new, ())

    text = '#include "a.h"\nint f(int x) { ++x; return x + 1; }\n'
    changes = [mutant(1, "x + 1", "x"), mutant(2, "x + 1", "x - 1"), mutant(3, "++x;", "")]
    assert SCRIPT["with_switches"](text, changes) == (
        '#include "core/mutant.h"\n#include "a.h"\n'
        "int f(int x) { { if (mutant == 3) {  } else { ++x; } } "
        "return (mutant == 2 ? (x - 1) : ((mutant == 1 ? (x) : (x + 1)))); }\n"
    )
    with pytest.raises(ValueError, match="part of another mutant's piece"):
        SCRIPT["with_switches"](text, [mutant(1, "x + 1", "x"), mutant(2, "return x + 1;", "")])


def test_the_readme_tells_of_every_mutant() -> None:
    """As scripts/mutate --table prints it."""
    readme = (TOP / "tests" / "README.md").read_text()
    for mutant in MUTANTS:
        assert f"| {mutant.name.replace('_', ' ')} | `{mutant.file}` | " in readme, mutant.name
        assert not mutant.survives or f"equivalent: {mutant.survives}" in readme
    assert "**nothing**" not in readme, "a mutant survives without a reason"


@pytest.mark.parametrize(("words", "code"), [(["--check"], 0), (["--list"], 0), (["no_such"], 2)])
def test_words(words: list[str], code: int) -> None:
    command = [sys.executable, "scripts/mutants.py", *words]
    ran = subprocess.run(command, cwd=TOP, capture_output=True, text=True)
    assert ran.returncode == code
    assert "Traceback" not in ran.stderr
    assert code == 0 or "There is no mutant 'no_such'" in ran.stderr
