"""Games appended to a file, as its ending says: lines of JSON, or the usual record of the game."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from athenan import _core, pgn, sgf
from athenan.errors import InputError
from athenan.saved_games import SavedGame, append_game

Save = Callable[[SavedGame], object]
Write = Callable[[SavedGame, list[Any]], str]


def saver(file: str | None, game: _core.Game, openings: Sequence[_core.State] = ()) -> Save:
    """Called with each game when it is over; what is wrong with the file is said now."""
    if file is None:
        return lambda _: None
    path = Path(file)
    if not path.parent.is_dir() or path.is_dir():
        raise InputError(f"There is no folder for '{path}'.")
    if path.suffix == ".jsonl":
        return lambda played: append_game(path, played)
    writers = writers_of(game)
    if path.suffix not in writers:
        endings = " or ".join([".jsonl", *writers])
        raise InputError(
            f"Games of {game.name} are saved in a file that ends in {endings}, not '{path.name}'."
        )
    write = writers[path.suffix]
    if game.name != "chess" and any(state.history[0] is not None for state in openings):
        raise InputError(
            f"In a file '{path.suffix}' games begin at the initial state; save those of other "
            "positions in a '.jsonl'."
        )

    def save(played: SavedGame) -> None:
        text = write(played, played.states(path))
        with path.open("a", encoding="utf-8", errors="backslashreplace") as record:
            record.write(text)

    return save


def writers_of(game: _core.Game) -> dict[str, Write]:
    """The usual records of a game, by the ending of their files."""
    if game.num_players != 2 or _core.python_game_of(game) is not None:
        return {}
    found: dict[str, Write] = {}
    if game.name in sgf.GAMES:
        found[".sgf"] = sgf.to_sgf
    if game.name in pgn.GAMES:
        found[".pgn"] = pgn.to_pgn
    if game.name == "draughts":
        found[".pdn"] = pgn.to_pdn
    return found
