"""What a command line leaves to the checkpoints it names: the game, a player's search and budget,
the network of a fork."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from athenan.checkpoint import find_step, read_facts
from athenan.config import USUAL, Sources, compose, group_files, parse_overrides
from athenan.errors import InputError
from athenan.evaluators import config_of
from athenan.export.bundle import bundle_facts, is_bundle
from athenan.games import make_game
from athenan.run import override_text
from athenan.saved_games import read_games
from athenan.search import CORE_EVALUATORS, search_for, search_types
from athenan.settings import PlayerSettings, TrainSettings

NETWORKS = ("checkpoint", "evaluator")  # settings that name one, of a command or a player
BUDGETS = ("iterations", "evaluations", "seconds")
PLAYING = "ubfm"  # the search of a player that only has an evaluator


def completed(command: str, words: list[str], sources: Sources = USUAL) -> list[str]:
    """The words, and before them those that go without saying."""
    given, own = values_of(words), words
    if command == "train":
        words = [*words_of_fork(given), *words]
    else:
        words = [*words_of_game(given), *words]
    if command == "match":
        words = [*words, *words_of_second(words, sources)]
    return with_wider_searches(command, own, words, sources)


def values_of(words: list[str]) -> dict[str, Any]:
    """The value of each key; a game of one's own is a word that only the config takes apart."""
    own = {word.partition("=")[0]: word.partition("=")[2] for word in words if is_own_game(word)}
    parsed = parse_overrides([word for word in words if not is_own_game(word)])
    return own | {str(p.key_or_group): None if p.is_sweep_override() else p.value() for p in parsed}


def is_own_game(word: str) -> bool:
    return word.startswith("game=") and (":" in word or word.endswith(".py"))


def has_group(given: dict[str, Any], group: str) -> bool:
    return any(key == group or key.startswith(f"{group}.") for key in given)


# ---- The game of a checkpoint --------------------------------------------------------------------


def words_of_game(given: dict[str, Any]) -> list[str]:
    """Of the first network that is named, where no game is."""
    if has_group(given, "game"):
        return []
    if isinstance(given.get("replay"), str):
        return words_of_replay(given["replay"], given.get("game_number", 1))
    named = [value for key, value in given.items() if key.rpartition(".")[2] in NETWORKS]
    for text in named:
        if isinstance(text, str) and text not in CORE_EVALUATORS:
            game = game_of(text, Path(str(given.get("checkpoints", "checkpoints"))))
            # A file must not choose which code runs: that game has to be named.
            if game and ":" not in game["name"]:
                return game_words(game)
    return []


def words_of_replay(file: str, number: Any) -> list[str]:
    """Of the game of a file that is shown; who shows it says what is wrong with it."""
    try:
        games = read_games(Path(file))
        game = next((g for place, g in enumerate(games, 1) if place == number), None)
        if game is None or ":" in game.game["name"]:
            return []
        make_game(**game.game)
        return game_words(game.game)
    except InputError:
        return []


def game_of(text: str, folder: Path) -> dict[str, Any] | None:
    """Of a checkpoint or an export; whoever loads it says what is wrong with it."""
    for look in (trained_game, exported_game):
        try:
            return look(text, folder)
        except (InputError, OSError, LookupError, TypeError):
            continue
    return None


def trained_game(text: str, folder: Path) -> dict[str, Any]:
    return source_config(find_step(text, folder)).game


def source_config(step: Path) -> TrainSettings:
    return config_of(step, read_facts(step)["version"])


def exported_game(text: str, _folder: Path) -> dict[str, Any]:
    if not is_bundle(text):
        raise InputError(f"'{text}' is no export.")
    game: dict[str, Any] = bundle_facts(text)["game"]
    return game


def game_words(game: dict[str, Any]) -> list[str]:
    options = {key: value for key, value in game.items() if key != "name"}
    return [
        f"game={game['name']}",
        *(f"game.{key}={override_text(value)}" for key, value in options.items()),
    ]


# ---- The second player of a match ----------------------------------------------------------------


def words_of_second(words: list[str], sources: Sources) -> list[str]:
    """One that is given a network plays with it by the usual search, and one that uses an evaluator
    has the first player's budget unless it is given its own."""
    given = values_of(words)
    added: list[str] = []
    for player in ("first", "second"):
        networks = any(f"{player}.{name}" in given for name in NETWORKS)
        if networks and not names_search(given, player):
            added.append(f"{player}.search={PLAYING}")
    if any(f"second.{budget}" in given for budget in BUDGETS):
        return added
    if not (names_search(given, "second") or f"second.search={PLAYING}" in added):
        return added
    try:
        config = compose("match", [*words, *added, "second.evaluations=1"], sources)
    except InputError:
        return added  # it is said when the words are read
    if uses_evaluator(config.second):
        values = {budget: getattr(config.first, budget) for budget in BUDGETS}
        added += [f"second.{budget}={override_text(value)}" for budget, value in values.items()]
    return added


def names_search(given: dict[str, Any], player: str) -> bool:
    """Rather than only options of the usual one."""
    return f"{player}.search" in given or f"{player}.search.name" in given


def uses_evaluator(player: PlayerSettings) -> bool:
    uses = {entry["name"]: entry["uses_evaluator"] for entry in search_types()}
    return bool(uses[player.search["name"]])


# ---- Games for more than two ---------------------------------------------------------------------


def with_wider_searches(
    command: str, own: list[str], words: list[str], sources: Sources = USUAL
) -> list[str]:
    """Where each player has a value, the usual searches are those whose values are vectors; they
    keep the options that they would have had, and take those that are given. A search that is
    named in the user's own words stays."""
    given = values_of(own)
    groups = ("game", "experiment")
    if not any(has_group(values_of(words), name) for name in groups):
        return words
    places = ("search", "first.search", "second.search")
    try:
        others = [word for word in words if not word.startswith(tuple(f"{p}." for p in places))]
        config = compose(command, others, sources)
        game = make_game(**config.game)
    except (InputError, LookupError, TypeError):
        return words  # it is said when the words are read
    names, options = [], []
    for place in places:
        player = place.rpartition(".")[0]
        search = getattr(getattr(config, player, None) if player else config, "search", None)
        if not search or place in given or f"{place}.name" in given:
            continue
        wider = search_for(game, search["name"])
        if wider == search["name"]:
            continue
        names.append(f"{place}={wider}")
        options += [
            f"{place}.{key}={override_text(value)}"
            for key, value in search.items()
            if key != "name"
        ]
    return [*options, *words, *names]


# ---- The source of a fork ------------------------------------------------------------------------


def words_of_fork(given: dict[str, Any]) -> list[str]:
    """A fork has the game, the heuristic and the network of its source unless it is told others."""
    fork = given.get("fork")
    if not isinstance(fork, str):
        return []
    folder = Path(str(given.get("checkpoints", "checkpoints")))
    source = source_config(find_step(fork, folder))
    words = []
    if not has_group(given, "game") and "experiment" not in given:
        if source.experiment_name in group_files("experiment"):
            words.append(f"experiment={source.experiment_name}")
        if ":" not in source.game["name"]:
            words += game_words(source.game)
    for group in ("network", "heuristic"):
        if not has_group(given, group):
            settings = asdict(getattr(source, group))
            words += [f"{group}.{key}={override_text(value)}" for key, value in settings.items()]
    return words
