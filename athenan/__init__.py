"""Self-play training for perfect-information board games.

What there is, in the order of dependence: a module imports only from above it.

errors             sentences for people
files              read as if somebody else wrote them; written whole or not at all
progress           a line about long work, and figures in words
table              rows in columns
backend            TensorFlow, imported late
python_game        games written in Python
games              the rules by name
tree_game          games made of explicit trees
search             searches by name, and what they answer
settings           every setting: type, default, unit, range and a sentence
checks             values become typed settings, or a sentence
config             … composed of configs/ and the command line
help               … told to people
network            the value network and its evaluator
exploration        which action self-play plays
checkpoint         a run's checkpoints on disk
records            finished games, alone and in blocks
self_play          many games in step
device             a GPU's timing without one
actors             who plays them, and where
clock              the time of a run, its limits and its progress
replay_files       games on disk
replay             whole games, and what each learning step takes from them
learner            the network fitted to the labels
run                a run's folder and config
export.operations  a network as a list of plain operations
export.lite        … as a .tflite file, float32 or int8
export.onnx_file   … as an .onnx file
export.runtimes    the exported formats, each in its own runtime
export.bundle      an export on disk, and its evaluator
evaluators         networks of checkpoints for any search
export.readme      the text that explains an export
export.writing     writing one
players            who plays matches
match              two players with an interval
strength           small matches during a run
picture            a game as an image
pages              a run on TensorBoard
reports            log, progress line and final report of a run
parts              a run's parts: new, forked, resumed
train              the loop that joins them
solve              searching until a state is resolved, and proofs
play               a game against a person
peers              other programs, timed in the same run
bench              speeds
command            the `athenan` program
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from athenan.errors import InputError
from athenan.games import Game, State, list_games, make_game
from athenan.python_game import PythonGame, PythonState
from athenan.search import Evaluator, Search, SearchResult, make_search
from athenan.tree_game import TreeGame

if TYPE_CHECKING:
    from athenan.evaluators import CheckpointEvaluator

__version__ = "0.1.0"

__all__ = [
    "Evaluator",
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


def load_checkpoint(path: str | Path, trust: bool = False) -> CheckpointEvaluator:
    """The evaluator of a checkpoint, for any search; TensorFlow is imported here only. `trust` as
    for load_evaluator."""
    from athenan.evaluators import find_checkpoint

    return find_checkpoint(path, trust=trust)


def load_evaluator(
    path: str | Path,
    game: Game | PythonGame | None = None,
    threads: int | None = None,
    trust: bool = False,
) -> Evaluator:
    """Any evaluator by its text, for any search: a run's or step's folder, `latest`, or an export
    (folder or .zip; `path:format`). With `trust` it may run code: formats saved_model and keras
    do, and the module of a game of one's own that has not been imported yet."""
    from athenan.evaluators import find_evaluator

    found = find_evaluator(path, make_game(game) if game else None, threads=threads, trust=trust)
    if isinstance(found, str):
        raise InputError(f"Evaluator '{found}' lives in the core: give its name to the search.")
    return found
