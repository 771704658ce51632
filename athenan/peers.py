"""OpenSpiel, timed beside us where it is installed (extra `peers`); nothing else needs it."""

from __future__ import annotations

import time
from typing import Any

# Our game with its options, in OpenSpiel's words.
NAMES: dict[str, tuple[str, dict[str, str]]] = {
    "tictactoe": ("tic_tac_toe", {}),
    "connect_four": ("connect_four", {"rows": "rows", "columns": "columns"}),
    "hex": ("hex", {"size": "board_size"}),
    "breakthrough": ("breakthrough", {"rows": "rows", "columns": "columns"}),
    "othello": ("othello", {}),
    "mnk": ("mnk", {"columns": "m", "rows": "n", "k": "k"}),
    "amazons": ("amazons", {"size": "board_size"}),  # its turn has three actions, ours two
    "clobber": ("clobber", {"rows": "rows", "columns": "columns"}),
    "gomoku": ("gomoku", {"size": "size"}),
    "havannah": ("havannah", {"base": "board_size"}),
    "lines_of_action": ("lines_of_action", {}),
    "chinese_checkers": ("chinese_checkers", {"players": "players"}),
    "chess": ("chess", {}),
    "xiangqi": ("xiangqi", {}),
    "go": ("go", {"size": "board_size"}),
}


def open_spiel_game(options: dict[str, Any]) -> Any | None:
    """The same game there, or None when the package or the game is missing."""
    try:
        import pyspiel
    except ImportError:
        return None
    name, words = NAMES.get(options["name"], ("", {}))
    if not name or (name == "othello" and options.get("size", 8) != 8):
        return None
    if (name == "mnk" and options.get("players", 2) != 2) or options.get("swap"):
        return None
    try:
        return pyspiel.load_game(name, {there: options[ours] for ours, there in words.items()})
    except (pyspiel.SpielError, RuntimeError):
        return None


def search_bot(game: Any, rollouts_a_leaf: int, simulations: int, seed: int) -> Any:
    import pyspiel

    evaluator = pyspiel.RandomRolloutEvaluator(rollouts_a_leaf, seed)
    return pyspiel.MCTSBot(game, evaluator, 1.4, simulations, 1000, False, seed, False)


def mean_length(game: Any, games: int = 100) -> float:
    """Plies of a random game, to turn rollouts into states."""
    import random

    chooser = random.Random(1)
    plies = 0
    for _ in range(games):
        state = game.new_initial_state()
        while not state.is_terminal():
            state.apply_action(chooser.choice(state.legal_actions()))
            plies += 1
    return plies / games


def open_spiel_rollout_rate(game: Any, seconds: float, repeats: int) -> float:
    """States a second of the random rollouts that its MCTS does inside C++.

    A simulation with many rollouts of its leaf is all but rollouts. Each counts as a whole game,
    although some start a ply deep.
    """
    plies = mean_length(game)
    rollouts = max(10, int(20_000 / plies))
    best = 0.0
    for seed in range(repeats):
        bot = search_bot(game, rollouts, 2, seed)
        state = game.new_initial_state()
        done, started = 0, time.perf_counter()
        while time.perf_counter() - started < seconds:
            bot.step(state)
            done += 2 * rollouts
        best = max(best, done * plies / (time.perf_counter() - started))
    return best


def open_spiel_search_rate(game: Any, seconds: float) -> float:
    """States a second of its MCTS with one rollout a leaf, rollout states counted."""
    simulations = 2000
    plies = mean_length(game)
    bot = search_bot(game, 1, simulations, 0)
    state = game.new_initial_state()
    done, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        bot.step(state)
        done += simulations
    return done * plies / (time.perf_counter() - started)
