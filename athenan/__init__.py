"""Self-play training for perfect-information board games.

    games     the rules by name, and games written in Python
    command   the `athenan` program
"""

from athenan.games import Game, State, list_games, make_game
from athenan.python_game import PythonGame, PythonState

__version__ = "0.1.0"

__all__ = [
    "Game",
    "PythonGame",
    "PythonState",
    "State",
    "list_games",
    "make_game",
]
