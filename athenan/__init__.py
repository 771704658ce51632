"""Self-play training for perfect-information board games.

games        the rules by name
python_game  games written in Python
tree_game    games made of explicit trees
search       searches by name, and what they answer
network      the value network and its evaluator
exploration  which action self-play plays
self_play    many games in step
replay       whole games, and what each learning step takes from them
learner      the network fitted to the labels
train        the loop that joins them
run          a run's folder and config
checkpoint   its checkpoints on disk
evaluators   networks of checkpoints for any search
operations   a network as a list of plain operations
lite         … as a .tflite file, float32 or int8
onnx_file    … as an .onnx file
runtimes     the exported formats, each in its own runtime
bundle       an export on disk, and its evaluator
export       writing one
players      who plays matches
match        two players with an interval
reports      TensorBoard, log and progress of a run
solve        searching until a state is resolved, and proofs
command      the `athenan` program
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from athenan.games import Game, State, list_games, make_game
from athenan.python_game import PythonGame, PythonState
from athenan.search import Search, SearchResult, make_search
from athenan.tree_game import TreeGame

if TYPE_CHECKING:
    from athenan.bundle import BundleEvaluator
    from athenan.evaluators import CheckpointEvaluator

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
    "load_checkpoint",
    "load_evaluator",
    "make_game",
    "make_search",
]


def load_checkpoint(path: str | Path) -> CheckpointEvaluator:
    """The evaluator of a checkpoint, for any search; TensorFlow is imported here only."""
    from athenan.evaluators import load_checkpoint

    return load_checkpoint(path)


def load_evaluator(
    path: str | Path, game: Game | PythonGame | None = None, threads: int | None = None
) -> BundleEvaluator:
    """The evaluator of an export (folder or .zip; `path:format`), for any search."""
    from athenan.bundle import load_evaluator

    return load_evaluator(path, game, threads)
