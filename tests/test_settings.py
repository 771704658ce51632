"""Settings: every one is told of, composed and checked; each has one truth in settings.py."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

import pytest
import yaml
from commands import answer, run

from athenan.checks import Row, read, rows_of, types_of
from athenan.command import COMMANDS as PROGRAM
from athenan.config import compose, group_files, is_plain, load_config, plain, to_yaml
from athenan.errors import InputError
from athenan.games import configs_folder
from athenan.help import about_text, readme, value_text
from athenan.implied import completed
from athenan.settings import COMMANDS, About, PlayerSettings

GROUPS = sorted(path.name for path in configs_folder().iterdir() if path.is_dir())


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def groups_of(command: str) -> list[str]:
    kind = COMMANDS[command]
    names = {field.name for field in fields(kind) if not is_plain(kind, field.name)}
    return [g for g in GROUPS if g in names or (g, command) == ("experiment", "train")]


def choices() -> list[tuple[str, str]]:
    """Every command with every file of every group it has."""
    found = [(command, "") for command in COMMANDS]
    for command in COMMANDS:
        for group in groups_of(command):
            found += [(command, f"{group}={name}") for name in group_files(group)]
    return found


# ---- Help and configs --------------------------------------------------------------------


def test_commands_are_those_of_the_program() -> None:
    assert set(COMMANDS) == set(PROGRAM) - {"games"}


@pytest.mark.parametrize(("command", "choice"), choices())
def test_help_tells_every_setting_of_every_config(
    command: str, choice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [choice] if choice else []
    text = answer(capsys, [command, *words, "--help"])
    assert max(map(len, text.splitlines())) <= 100
    joined = " ".join(text.split())
    for row in rows_of(compose(command, completed(command, words))):
        assert len(row.about.sentence.split()) > 0, row.key
        told = f"{row.key}={value_text(row.value)} {about_text(row.about)}"
        assert " ".join(told.split()) in joined
    for group in groups_of(command):
        for name in group_files(group):
            assert name in joined


@pytest.mark.parametrize(("command", "choice"), choices())
def test_the_printed_config_is_the_one_that_runs(
    command: str, choice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [choice] if choice else []
    text = answer(capsys, [command, *words, "--cfg", "job"])
    settings = compose(command, completed(command, words))
    assert read(COMMANDS[command], yaml.safe_load(text)) == settings
    assert text == to_yaml(settings)
    assert not list(Path().iterdir()), "nothing was started"


def test_the_tables_of_the_readme_are_fresh() -> None:
    text = (configs_folder() / "README.md").read_text()
    assert text == readme(text), "write them anew: python -m athenan.help"


def test_config_files_say_no_more_than_they_must() -> None:
    """A heading and values; a value beside its source at most."""
    for path in configs_folder().rglob("*.yaml"):
        lines = path.read_text().splitlines()
        assert lines[0].startswith("# "), path
        if path.parent.name == "game":
            assert not any("#" in line for line in lines if not line.startswith("#")), path


def test_no_two_game_configs_are_equal() -> None:
    made = [str(compose("play", [f"game={name}"]).game) for name in group_files("game")]
    assert len(set(made)) == len(made)


# ---- Wrong values ------------------------------------------------------------------------


def kinds(kind: type[Any], prefix: str = "") -> Iterator[tuple[str, Any, About]]:
    """(key, type, about) of every setting of a command that is no game, search or player."""
    hints = get_type_hints(kind)
    for field in fields(kind):
        hint = hints[field.name]
        if is_dataclass(hint):
            yield from kinds(hint, f"{prefix}{field.name}.")  # type: ignore[arg-type]
        elif "named" not in field.metadata and hint != dict[str, PlayerSettings]:
            yield prefix + field.name, hint, field.metadata["about"]


def option_kinds(command: str) -> Iterator[tuple[str, Any, About]]:
    """The same of the options of its game and its search."""
    for row in rows_of(compose(command, [])):
        if row.key.startswith(("game.", "search.")) and not row.key.endswith(".name"):
            yield row.key, type(row.value), row.about


def beyond(about: About) -> Iterator[float]:
    if about.low is not None:
        yield about.low - 1
    if about.above is not None:
        yield about.above
    if about.high is not None:
        yield 2 * about.high + 1


def wrong_values(hint: Any, about: About) -> Iterator[str]:
    inner = [kind for kind in get_args(hint) if kind is not NoneType]
    optional = NoneType in get_args(hint)
    kind = inner[0] if optional else hint
    if not optional:
        yield "null"
    if get_origin(kind) is dict:
        yield from ("3", "[1]", "word")
        return
    if get_origin(kind) is list:
        yield "3"
        yield "{a:1}"
        if not about.empty:
            yield "[]"
        if about.ascending:
            yield "[64,16]"
            yield "[16,16]"
        yield from (f"[{value}]" for value in wrong_values(get_args(kind)[0], about))
        return
    yield "[1]"
    yield "{a:1}"
    if kind is str:
        if about.choices:
            yield "nothing_like_that"
        return
    yield "word"
    if kind is bool:
        yield "2"
        return
    yield "true"
    yield "nan"
    if kind is int:
        yield "1.5"
    for value in beyond(about):
        yield f"{value:.0f}" if kind is int else f"{value}"


def all_wrong() -> list[tuple[str, str, str]]:
    found = []
    for command, kind in COMMANDS.items():
        for key, hint, about in [*kinds(kind), *option_kinds(command)]:
            found += [(command, key, value) for value in wrong_values(hint, about)]
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_a_wrong_value_of_every_setting_is_refused(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = [(key, value) for name, key, value in all_wrong() if name == command]
    assert len(tried) > 20
    for key, value in tried:
        words = [command, *(["rules"] if command == "bench" else []), f"{key}={value}"]
        code, out, err = run(capsys, words)
        assert (code, out) == (2, ""), words
        assert f"'{key}'" in err, words
        assert err.startswith("athenan: ")
        assert err.count("\n") == 1
        assert err.endswith((".\n", "?\n")), words
        assert not list(Path().iterdir()), "refused before anything starts"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_misspelt_name_of_every_setting_is_refused_with_the_right_one(command: str) -> None:
    for row in rows_of(compose(command, [])):
        if (row.key, row.value) == ("game.name", None):
            continue  # of export, where no game is chosen yet
        with pytest.raises(InputError, match="did you mean") as found:
            compose(command, [f"{row.key}x=1"])
        assert f"'{row.key}x'" in str(found.value)
        right = row.key.rpartition(".")[2] if "has no option" in str(found.value) else row.key
        assert f"did you mean '{right}'?" in str(found.value)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_value_can_be_given_again(command: str) -> None:
    """Each setting takes the value it has, as the help writes it."""
    settings = compose(command, [])
    rows: list[Row] = [row for row in rows_of(settings) if row.value is not None]
    words = [f"{row.key}={value_text(row.value)}" for row in rows]
    assert compose(command, words) == settings


# ---- Options of games and searches ----------------------------------------------------------


@pytest.mark.parametrize("kind", ["game", "search"])
def test_every_option_has_a_sentence_and_a_right_default(kind: str) -> None:
    for entry in types_of(kind):
        for option in entry["options"]:
            assert len(option["about"]) > 5, (entry["name"], option["name"])
            default = option["default"]
            if option["choices"]:
                assert default in option["choices"]
            elif not isinstance(default, bool):
                assert option["low"] <= default <= option["high"]


# ---- A run's config ------------------------------------------------------------------------


def test_a_config_goes_to_yaml_and_back(tmp_path: Path) -> None:
    settings = compose("train", ["game=hex7", "network=residual"])
    path = tmp_path / "config.yaml"
    path.write_text(to_yaml(settings))
    assert load_config(path) == settings


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"seed": "x"}, "'seed' must be a whole number, not 'x'"),
        ({"sed": 1}, "no setting 'sed'; did you mean 'seed'?"),
        ({"network": 3}, "'network' is a group of settings, not 3"),
        ({"search": {"name": "descnet"}}, "no search 'descnet'; did you mean 'descent'?"),
        ({"strength": {"references": 1}}, "'strength.references' is a group of players, not 1"),
    ],
)
def test_what_is_wrong_with_a_runs_config_is_told(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({**plain(compose("train", [])), **change}))
    with pytest.raises(InputError, match=r"config\.yaml") as found:
        load_config(path)
    assert told in str(found.value)


@pytest.mark.parametrize("text", ["a: [", "- 1", "just words", ""])
def test_what_is_no_config_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"config\.yaml"):
        load_config(path)
    with pytest.raises(InputError, match="no config"):
        load_config(tmp_path / "none.yaml")
