"""What may know what: modules import from above in the table of contents, games know no search."""

import ast
import re
import runpy
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import athenan

TOP = Path(__file__).parents[1]
PACKAGE = TOP / "athenan"
CONTENTS = re.findall(r"^([a-z_.]+)  +\S", athenan.__doc__ or "", re.MULTILINE)


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"}
# A package is read where the last module is that its __init__ imports.
PACKAGES = [name for name, path in MODULES.items() if path.name == "__init__.py"]


def imports_of(path: Path) -> Iterator[tuple[str, int]]:
    """Modules of the package that a file imports anywhere, and the lines; type checkers' own and
    those marked `# looks down: why` do not count."""
    text = path.read_text()
    tree, lines = ast.parse(text), text.splitlines()
    unread = {
        id(inner)
        for outer in ast.walk(tree)
        if isinstance(outer, ast.If) and ast.unparse(outer.test) == "TYPE_CHECKING"
        for inner in ast.walk(outer)
    }
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports carry the package's name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        if id(node) in unread or "# looks down: " in lines[getattr(node, "lineno", 1) - 1]:
            continue
        for name in names:
            parts = name.split(".")
            known = [".".join(parts[1:end]) for end in range(len(parts), 1, -1)]
            if parts[0] == "athenan" and (found := [one for one in known if one in MODULES]):
                yield found[0], node.lineno


def place(module: str) -> int:
    if module not in PACKAGES:
        return CONTENTS.index(module)
    return max(CONTENTS.index(name) for name, _ in imports_of(MODULES[module]))


def test_the_table_of_contents_is_complete() -> None:
    wanted = sorted(MODULES.keys() - set(PACKAGES))
    assert sorted(CONTENTS) == wanted, (
        "The table of contents in athenan/__init__.py names other modules than there are: give "
        "each module one line there, below all that it imports."
    )


@pytest.mark.parametrize("module", CONTENTS)
def test_modules_import_from_above(module: str) -> None:
    for other, line in imports_of(MODULES[module]):
        assert place(other) < place(module), (
            f"{MODULES[module].relative_to(TOP)}:{line} imports '{other}', which stands below "
            f"'{module}' in the table of contents of athenan/__init__.py: move one of the lines "
            "there, or where that makes a cycle put what they share into a module above both."
        )


# ---- The core --------------------------------------------------------------------------

COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler on the PATH")
@pytest.mark.parametrize(
    ("include", "compiles"),
    [
        ("games/rules.h", True),
        ("tests/games/fuzz.cpp", True),
        ("core/search.h", False),
        ("athenan/core/search.h", False),
    ],
)
def test_a_game_knows_rules_and_no_search(tmp_path: Path, include: str, compiles: bool) -> None:
    """With the include directories of target `games`, which are all that its users get too."""
    text = (PACKAGE / "core" / "CMakeLists.txt").read_text()
    assert re.findall(r"target_include_directories\(games (.+)\)", text) == ['PUBLIC "${top}"']
    game = tmp_path / "game.cpp"
    game.write_text(f'#include "{include}"\n\nint rows() {{ return 3; }}\n')
    command = [str(COMPILER), "-std=c++20", "-fsyntax-only", f"-I{TOP}", str(game)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode == 0) == compiles, run.stderr
    assert compiles or include in run.stderr


@pytest.mark.parametrize("path", sorted((TOP / "scripts").glob("*.py")), ids=lambda p: p.name)
def test_scripts_find_what_they_import(path: Path) -> None:
    runpy.run_path(str(path), run_name="imported")


def test_the_stub_is_fresh(tmp_path: Path) -> None:
    stub = tmp_path / "_core.pyi"
    subprocess.run([TOP / "scripts" / "stub", stub], check=True)
    assert stub.read_text() == (PACKAGE / "_core.pyi").read_text(), (
        "athenan/_core.pyi is not what the compiled core offers: run scripts/stub and commit it."
    )
