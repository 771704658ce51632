"""Self-play training for perfect-information board games.

games        the rules by name
python_game  games written in Python
tree_game    games made of explicit trees
search       searches by name, and what they answer
command      the `athenan` program
"""

from athenan.games import Game, State, list_games, make_game
from athenan.python_game import PythonGame, PythonState
from athenan.search import Search, SearchResult, make_search
from athenan.tree_game import TreeGame

__version__ = "0.1.0"

__all__ = [
    "Game",
    "PythonGame",
    "PythonState",
    "Search",
    "SearchResult",
    "State",
    "TreeGame",
    "list_games",
    "make_game",
    "make_search",
]
