"""Games of stones as SGF (FF[4]): go, othello, gomoku, hex and others of one cell an action."""

from __future__ import annotations

import re
from string import ascii_letters
from typing import Any

from athenan.errors import InputError
from athenan.saved_games import SavedGame

# The number that the standard gives a game; without one its cells are two letters as in go.
NUMBERS = {"go": 1, "othello": 2, "gomoku": 4, "hex": 11}
GAMES = (*NUMBERS, "connect6", "havannah", "mnk", "tictactoe")
COLUMNS = "abcdefghijklmnopqrstuvwxyz"
COLUMNS_OF_GO = COLUMNS.replace("i", "")


def to_sgf(game: SavedGame, states: list[Any]) -> str:
    """A tree without branches; the first player has the black stones."""
    if game.start is not None:
        raise InputError("SGF is written of games from the initial state alone.")
    name = str(game.game["name"])
    rows, columns = states[0].game.plane_shape[:2]
    first, second = (player.text for player in game.players)
    told = {
        "FF": "4",
        **({"GM": str(NUMBERS[name])} if name in NUMBERS else {}),
        "CA": "UTF-8",
        "AP": f"athenan:{game.athenan}",
        "SZ": str(rows) if rows == columns else f"{columns}:{rows}",
        "GN": f"{name} {game.number}",
        "EV": game.event,
        "PB": first,
        "PW": second,
        "DT": game.date[:10],
        "RE": result_of(game),
        **({"KM": f"{states[0].game.values['komi']:g}"} if name == "go" else {}),
        "GC": remarks(game),
    }
    nodes = [f"(;{''.join(f'{key}[{escaped(text)}]' for key, text in told.items() if text)}"]
    for state, action in zip(states, game.actions, strict=False):
        cell = point_of(name, action, rows)
        nodes.append(f";{'BW'[state.to_move]}[{cell}]")
    return "\n".join([nodes[0], *lines_of(nodes[1:])]) + ")\n"


def point_of(name: str, action: str, rows: int) -> str:
    """As the game writes it in SGF: hex has names of its own, others two letters, the column and
    the row from the top; nothing is a pass."""
    if action == "pass":
        return ""
    if action == "swap":
        return "swap-pieces" if name == "hex" else "swap"
    if name == "hex":
        return action
    column = (COLUMNS_OF_GO if name == "go" else COLUMNS).index(action[0])
    row = int(action[1:])
    return ascii_letters[column] + ascii_letters[rows - row if name == "go" else row - 1]


def result_of(game: SavedGame) -> str:
    if game.outcomes is None:
        return "?"
    if game.outcomes[0] == game.outcomes[1]:
        return "0"
    won = "B" if game.outcomes[0] > game.outcomes[1] else "W"
    if game.forfeit is not None:
        return f"{won}+{'R' if game.forfeit.resigned else 'F'}"
    return f"{won}+{abs(game.score):g}" if isinstance(game.score, float) else f"{won}+"


def remarks(game: SavedGame) -> str:
    """What the record has no place of its own for."""
    options = ", ".join(f"{key}={value}" for key, value in game.game.items() if key != "name")
    told = [f"{game.game['name']} {options}".strip()]
    for colour, player in zip(("Black", "White"), game.players, strict=True):
        seed = f", seed {player.seed}" if player.seed is not None else ""
        told.append(f"{colour}: {player.version or 'version unknown'}{seed}")
    if game.opening:
        told.append(f"opening: {game.opening} actions")
    if game.forfeit is not None:
        told.append(f"forfeit: {game.forfeit.sentence}")
    return "; ".join(told)


def escaped(text: str) -> str:
    return re.sub(r"([\]\\])", r"\\\1", text.replace("\n", " "))


def lines_of(nodes: list[str], wide: int = 10) -> list[str]:
    return ["".join(nodes[i : i + wide]) for i in range(0, len(nodes), wide)]
