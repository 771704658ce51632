"""Self-play training for perfect-information board games.

What there is, in the order of dependence: a module imports only from above it.

errors             sentences for people
files              read as if somebody else wrote them; written whole or not at all
progress           a line about long work, and figures in words
table              rows in columns
backend            TensorFlow, imported late
python_game        games written in Python
games              the rules by name
saved_games        finished games of players on disk, a line each
tree_game          games made of explicit trees
translators.moves  one game's moves and positions in the words of other programs
translators.gtp    … with stones on vertices
translators.uci    … of chess and its variants
translators.hub    … of draughts
translators.aei    … of Arimaa
template           a game in Python to start from
own_rules          … of a search, written in Python
proofs             what solving has proven, on disk and for searches
search             searches by name, and what they answer
settings           every setting: type, default, unit, range and a sentence
checks             values become typed settings, or a sentence
config             … composed of configs/ and the command line
help               … told to people
network            the value network and its evaluator
placement          which devices a process computes on
exploration        which action self-play plays
checkpoint         a run's checkpoints on disk
records            finished games, alone and in blocks
self_play          many games in step
device             a GPU's timing without one
actors             who plays them, and where
overlap            … in a thread, a block ahead of what is learned from
stopping           being asked to stop, without loss
ledger             what arrives from other processes, once
actor              self-play in a process of its own
cluster            Ray, of the run's own or joined
ray_actors         … actors that it runs
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
external.program   another program as a process
external.asking    … asked for a move, in each protocol
external.player    … as a player of matches
players            who plays matches
implied            what a command line leaves to the checkpoints it names
sprt               whether a match has shown enough
match              two players with an interval
tally              … and what else their games add up to
notation           actions as people write them
openings           what a match begins with
sgf                games of stones in their usual record
pgn                … of chess, xiangqi and draughts
saving             games appended to a file, by its ending
waves              … in many processes
matches            … of a run, on disk
strength           small matches during a run
picture            a game as an image
pages              a run on TensorBoard
reports            log, progress line and final report of a run
parts              a run's parts: new, forked, resumed
train              the loop that joins them
sweep              many runs of one command
solve              searching until a state is resolved, and proofs
looks              what boards and pieces look like
drawn_pieces       … a piece as SVG
ground             … what lies below them
boards             … a board, and which clicks are an action
drawing            a search's tree as a picture
thoughts           what a search thinks of a state, and why
time_control       how long a turn may take
engine             a line of states, and a search that thinks of it
opponent           an engine as settings say, and who it is
lines              programs that are spoken to in lines
screen             boards and tables in a terminal
play               a game against a person
replaying          … and a saved one, step by step
analysis           … in JSON, about any state
turns              … that go on to listen while they think
gtp                … in GTP, for games of stones
uci                … in UCI, for games of pieces
hub                … in Hub, for draughts
aei                … in AEI, for Arimaa
messages           what the page and its server say
house              what visitors of the page share
exhibits           … games that were played, and runs
visit              … one of them
serve              … the server
promises           what a game promises of each of its states
contract           … looked at in random games
check              … and told to who brings the game
peers              other programs, timed in the same run
bench              speeds
machine            cores, memory, packages, clusters
pieces             what a run's rate is made of, measured
scaling            … and foretold for larger machines
arguments          words of a command line
doctor             what the machine has, lacks and should run
command            the `athenan` program
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from athenan.boards import Board
from athenan.drawing import draw as draw_tree
from athenan.errors import InputError
from athenan.games import Game, State, Symmetry, list_games, make_game
from athenan.proofs import load_proof
from athenan.python_game import PythonGame, PythonState
from athenan.search import Evaluator, Search, SearchResult, make_search
from athenan.tree_game import TreeGame

if TYPE_CHECKING:
    from athenan.evaluators import CheckpointEvaluator, DenseCheckpoint
    from athenan.match import MatchResult
    from athenan.records import GameRecord
    from athenan.saved_games import SavedGame

__version__ = "0.1.0"

__all__ = [
    "Board",
    "Evaluator",
    "Game",
    "PythonGame",
    "PythonState",
    "Search",
    "SearchResult",
    "State",
    "Symmetry",
    "TreeGame",
    "draw_tree",
    "list_games",
    "load_checkpoint",
    "load_evaluator",
    "load_proof",
    "make_game",
    "make_search",
    "run_match",
    "run_training",
]


def run_training(
    *words: str,
    on_game: Callable[[GameRecord], object] | None = None,
    on_checkpoint: Callable[[Path], object] | None = None,
    on_match: Callable[[str, int, MatchResult], object] | None = None,
) -> Path:
    """`athenan train` from Python: `run_training("experiment=hex7", "games=500")`. Returns the
    run's folder. Of each finished game, checkpoint written, and match (opponent, games of the run,
    result) it tells the callbacks. Ctrl-C saves the run and raises KeyboardInterrupt."""
    from athenan.config import compose
    from athenan.implied import completed
    from athenan.reports import Callbacks, nobody
    from athenan.train import train

    callbacks = Callbacks(on_game or nobody, on_checkpoint or nobody, on_match or nobody)
    settings = completed("train", list(words))
    return train(compose("train", settings), settings, callbacks)


def run_match(
    game: Game | PythonGame,
    first: Mapping[str, Any],
    second: Mapping[str, Any],
    games: int = 400,
    *,
    opening_plies: int = 4,
    seed: int = 0,
    threads: int = 1,
    on_progress: Callable[[int, MatchResult], object] | None = None,
    on_game: Callable[[SavedGame], object] | None = None,
) -> MatchResult:
    """Two players, both colours of every opening; the result is the first one's. In a game for more
    the first has every seat in turn, and the second all the others. A player is a dictionary:
    `search` (a name, or a dictionary of `name` and its options; by default ubfm), `evaluator` (one
    that is loaded, a callable, or any text that load_evaluator takes) and a budget an action:
    `iterations`, `evaluations` or `seconds`; `resolved` is a proof, or its file. Or it is another
    program: `engine`, its command line, and the other settings of an engine."""
    from athenan.match import make_openings, play_match, seats
    from athenan.players import player_of

    made = make_game(game)
    players = seats(
        made, player_of(made, first, seed, threads), player_of(made, second, seed + 1, threads)
    )
    openings = make_openings(made, max(1, games // len(players)), opening_plies, seed)
    return play_match(players, openings, on_progress=on_progress, on_game=on_game)


def load_checkpoint(path: str | Path, trust: bool = False) -> CheckpointEvaluator | DenseCheckpoint:
    """The evaluator of a checkpoint, for any search; TensorFlow is imported here only, and for
    networks of kind nnue not at all. `trust` as for load_evaluator."""
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
