"""The compiled core: rules and search."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

import numpy
import numpy.typing
from numpy.typing import NDArray


class Symmetry:
    """
    transformed[cell, channel] = original[cells[cell], channels[channel]]; the value of two players is multiplied by sign, that of n is original[players[player]] for each.
    """

    def __init__(self, cells: Sequence[int], channels: Sequence[int], sign: int = 1, players: Sequence[int] = []) -> None: ...

    @property
    def cells(self) -> list[int]: ...

    @property
    def channels(self) -> list[int]: ...

    @property
    def sign(self) -> int: ...

    @property
    def players(self) -> list[int]:
        """Empty where everyone stays who he is."""

    def __eq__(self, other: object) -> bool: ...

class State:
    """A state of a game; it never changes."""

    def legal_actions(self) -> list[int]:
        """The legal actions, ascending; none at the end."""

    def play(self, action: int) -> State:
        """The state after a legal action."""

    @property
    def is_terminal(self) -> bool: ...

    @property
    def to_move(self) -> int: ...

    @property
    def ply(self) -> int: ...

    @property
    def outcomes(self) -> tuple[int, ...] | None:
        """None before the end, then -1, 0 or 1 for each player."""

    @property
    def score(self) -> float | tuple[float, ...] | None:
        """
        Of two players the difference in the first one's view; of more, each one's; None in games without a score.
        """

    @property
    def key(self) -> int:
        """128 bits that identify everything the future depends on."""

    def planes(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C')]:
        """rows × columns × channels of zeros and ones."""

    def action_to_string(self, action: int) -> str: ...

    def string_to_action(self, text: str) -> int: ...

    @property
    def part_of_turn(self) -> str:
        """What the mover does now, where a turn has several actions."""

    def identical(self, other: State) -> bool:
        """Equal in every field, incremental structures included."""

    @property
    def game(self) -> Game: ...

    @property
    def history(self) -> tuple[Any, list[int]]:
        """
        Where it began (None: the initial state; a text; planes and ply; a state written in Python) and the actions since.
        """

    def __str__(self) -> str: ...

    def __repr__(self) -> str: ...

    def __copy__(self) -> State: ...

    def __deepcopy__(self, memo: object) -> State: ...

    def __eq__(self, other: object) -> bool: ...

    def __hash__(self) -> int: ...

class Game:
    """The rules of a game with its options."""

    @property
    def name(self) -> str: ...

    @property
    def options(self) -> str:
        """Those that are not the default, as text."""

    @property
    def values(self) -> dict[str, bool | int | float | str]:
        """All options of a built-in game."""

    @property
    def num_players(self) -> int: ...

    @property
    def zero_sum(self) -> bool:
        """Of two players: whether what one gains the other loses."""

    @property
    def value_width(self) -> int:
        """
        Numbers in a value: one in the first player's view, or one for each player.
        """

    @property
    def max_plies(self) -> int: ...

    @property
    def plane_shape(self) -> tuple[int, int, int]: ...

    @property
    def channels(self) -> list[str]:
        """What each plane means."""

    @property
    def places(self) -> list[tuple[str, int, int]]:
        """
        Of each cell its name in actions, where it is in half cells from the left, and its row from the top, as drawn; no name where there is no cell, nothing without a board.
        """

    @property
    def symmetries(self) -> list[Symmetry]: ...

    @property
    def action_places(self) -> list[int]:
        """
        Where an action is a cell: the cell of the planes that each is, and for other_actions, which come last, the numbers after the last cell. Empty in other games.
        """

    @property
    def other_actions(self) -> list[str]:
        """The names of actions that are no cells, in games where the others are."""

    @property
    def max_score(self) -> float:
        """Bound of the score; 0 in games without one."""

    @property
    def max_pieces(self) -> int:
        """Bound of a player's pieces; 0 in games without captures."""

    @property
    def has_history(self) -> bool:
        """
        Whether the key holds what the board does not show (repetition, counters).
        """

    @property
    def state_bytes(self) -> int: ...

    def initial_state(self) -> State: ...

    def state_from_string(self, text: str) -> State:
        """Reads what str(state) writes, and the game's usual notation."""

    def state_from_planes(self, planes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', writable=False)], ply: int = 0) -> State: ...

    def perft(self, depth: int) -> int:
        """Leaves at that depth: the rules' checksum."""

    def same_as(self, other: Game) -> bool:
        """Whether both have the same rules and options."""

    def __repr__(self) -> str: ...

    def __copy__(self) -> Game: ...

    def __deepcopy__(self, memo: object) -> Game: ...

    def playout_rate(self, seconds: float, seed: int = 0) -> tuple[int, float]:
        """(states, seconds) of random playouts on one thread."""

    def longest_playout(self, games: int, seed: int = 0) -> int:
        """Plies of the longest of so many random games."""

    def fuzz(self, games: int, seed: int = 0) -> int:
        """Random games that check the rules against themselves; states seen."""

    def fuzz_texts(self, texts: int, seed: int = 0) -> None:
        """
        Texts of states with a few changes, each to be refused or to make a sound state.
        """

    def expansion_rate(self, seconds: float, seed: int = 0) -> tuple[int, float]:
        """
        (child states, seconds) of expansions along random games on one thread.
        """

def make_game(name: str, options: Mapping[str, bool | int | float | str]) -> Game: ...

def game_types() -> list[dict[str, Any]]: ...

class WrongGame(ValueError):
    pass

def wrap_python_game(game: object) -> Game:
    """A game written in Python, as the core sees it."""

def wrap_python_state(game: Game, state: object) -> State: ...

def python_game_of(game: Game) -> object:
    """What wrap_python_game took; None of other games."""

def make_tree_game(children: Sequence[Sequence[int]], to_move: Sequence[int], values: Sequence[float], upper: Sequence[float], lower: Sequence[float], outcomes: Sequence[Sequence[int]] = [], vectors: Sequence[Sequence[float]] = []) -> Game: ...

def tree_of(game: Game) -> tuple[list[Any], ...] | None:
    """What make_tree_game takes, of a game that it made."""

def dense_vectors() -> list[str]:
    """The kinds of vectors that dense networks can use here, the best last."""

class DenseNetwork:
    """
    A network of dense layers in integers; what is known of one state is updated for the next.
    """

    def __init__(self, plane_shape: tuple[int, int, int], outputs: int = 1, vectors: str = '') -> None: ...

    def assign(self, weights: list[numpy.typing.NDArray[numpy.float32]]) -> None:
        """
        Kernels [inputs, outputs] and biases in turn, from now on; not while a search runs.
        """

    def answer(self, planes: numpy.typing.NDArray[numpy.uint8]) -> numpy.typing.NDArray[numpy.float32]:
        """Values in [-1, 1]: [batch], or [batch, outputs]."""

    def answer_children(self, states: list[State]) -> numpy.typing.NDArray[numpy.float32]:
        """The same of all children of these states, one after the other."""

    @property
    def vectors(self) -> str: ...

def heuristics() -> list[str]:
    """The names of the reinforcement heuristics."""

def evaluators() -> list[str]:
    """The names of the evaluators that live in the core."""

def search_types() -> list[dict[str, Any]]: ...

class TerminalEvaluation:
    """f_t: in the first player's view for two, else of each player."""

    def __init__(self, game: Game, heuristic: str = 'gain', longest: int = 0) -> None: ...

    @property
    def bound(self) -> float:
        """Values are within ± this."""

    def __call__(self, end: State) -> Any:
        """Of a terminal state: a number for two players, otherwise a tuple."""

    def most(self, state: State, player: int) -> float:
        """No end below the state is worth more to the player."""

    def key_of(self, state: State) -> int:
        """Of the state and all that its value depends on besides."""

    @property
    def breaks_ties(self) -> bool:
        """Whether no player is ever indifferent between two ends that differ."""

class Child:
    """What a search knows of an action at its root."""

    def __init__(self, action: int, value: Any, completion: Any, resolved: bool, selections: int) -> None: ...

    @property
    def action(self) -> int: ...

    @property
    def value(self) -> Any:
        """
        In the first player's view, on the scale of the heuristic; for more players a tuple.
        """

    @property
    def completion(self) -> Any:
        """
        -1, 0 or 1; 0 means drawn when resolved and unknown when not; for more players a tuple.
        """

    @property
    def resolved(self) -> bool: ...

    @property
    def selections(self) -> int: ...

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

class SearchResult:
    """What a search has found out about a state."""

    @property
    def action(self) -> int | None:
        """None at a terminal state."""

    @property
    def value(self) -> Any:
        """
        In the first player's view, on the scale of the heuristic; for more players a tuple.
        """

    @property
    def completion(self) -> Any:
        """
        -1, 0 or 1; 0 means drawn when resolved and unknown when not; for more players a tuple.
        """

    @property
    def resolved(self) -> bool: ...

    @property
    def iterations(self) -> int: ...

    @property
    def evaluations(self) -> int:
        """
        Rows that f_θ was asked for: states that it valued, itself or all their children.
        """

    @property
    def states(self) -> int:
        """All that it remembers."""

    @property
    def out_of_memory(self) -> bool: ...

    @property
    def principal_variation(self) -> list[int]: ...

    @property
    def plies_to_end(self) -> int | None:
        """
        Of what is resolved, along the principal variation; None where that does not come to an end, as of what a proof says.
        """

    @property
    def children(self) -> list[Child]:
        """Of the root, in the order of their actions."""

    def __eq__(self, other: object, /) -> bool: ...

    def __repr__(self) -> str: ...

class Search:
    """One game's search; a SearchGroup runs it."""

    def stop(self) -> None:
        """At the next expansion or within one; from any thread."""

    def give_up(self) -> None:
        """What an error or Ctrl-C has interrupted; what is known stays."""

    def clear(self) -> None:
        """Forgets all that is known."""

    def reseed(self, seed: int) -> None:
        """Between searches."""

    def consult(self, memory: ResolvedMemory) -> None:
        """Takes what is proven there for new states."""

    def result(self) -> SearchResult: ...

    @property
    def done(self) -> bool: ...

    @property
    def has_horizon(self) -> bool:
        """And so it ends by itself."""

    @property
    def tracing(self) -> bool:
        """
        Whether a search by windows keeps the list of what it visits; off at first.
        """

    @tracing.setter
    def tracing(self, arg: bool, /) -> None: ...

    @property
    def trace(self) -> list[tuple[tuple[int, ...], str, float, float]]:
        """
        (actions from the root, kind, a, b) of what was visited since the start, in order: call (a window), expand and diminish (a limit and 0), leaf (its value, twice).
        """

    @property
    def bound(self) -> float:
        """Values are within ± this."""

    @property
    def counts(self) -> dict[str, int]: ...

def make_search(name: str, game: Game, options: Mapping[str, bool | int | float | str], evaluator: str, rollouts: int = 1, heuristic: str = 'gain', longest: int = 0, seed: int = 0, network: DenseNetwork | None = None, of_children: bool = False) -> Search: ...

class SearchGroup:
    """Many searches in step, their states in one batch."""

    def __init__(self, searches: Sequence[Search], batch_sizes: Sequence[int], threads: int) -> None: ...

    def start(self, index: int, root: State, iterations: int = 0, evaluations: int = 0, seconds: float = 0.0) -> None:
        """Prepares a search of the state; `advance` runs it."""

    def advance(self, pause_seconds: float = 0.0) -> list[int] | None:
        """
        Runs all until each waits or is done; those that are done. None after so many seconds, if there are any: call it again, all go on where they paused.
        """

    def batch(self) -> tuple[numpy.typing.NDArray[numpy.uint8], int] | None:
        """(planes, real rows) of states that wait for their values, or None."""

    def resume(self, answers: Annotated[NDArray[numpy.float32], dict(order='C', writable=False)]) -> None:
        """The answers to the last batch: [rows], or [rows, answers a row]."""

    @property
    def waiting(self) -> int: ...

def unpack_planes(packed: numpy.typing.NDArray[numpy.uint8], tables: numpy.typing.NDArray[numpy.uint32], chosen: numpy.typing.NDArray[numpy.int64]) -> numpy.typing.NDArray[numpy.uint8]:
    """
    Planes [states, bits] from packed ones [states, bytes], each state by one of the tables [symmetries, bits], which say where each bit comes from.
    """

def ending_samples(game: Game, count: int, heuristic: str, longest: int, seed: int, of_children: bool = False) -> tuple[Any, ...]:
    """
    (packed planes, values in [-1, 1]) of the last states of random games; of children (…, labels of each state, their actions) of the states before them.
    """

class UnboundedSearch(Search):
    """Descent, UBFM and their class."""

    def follow(self, game: Game, goes_on: Callable[[State, list[Child], int], bool] | None, child_to_explore: Callable[[State, list[Child]], int] | None) -> None:
        """Takes rules of one's own in place of its settings."""

    def look(self, state: State) -> SearchResult | None:
        """
        What it knows of any state in its tree, between slices of a search too. Without transpositions of its root alone.
        """

    def save_tree(self) -> tuple[numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.uint8], numpy.typing.NDArray[numpy.uint64]]:
        """
        The tree as arrays that restore_tree takes; the third has the origin's ply at 3.
        """

    def restore_tree(self, nodes: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)], edges: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', writable=False)], facts: Annotated[NDArray[numpy.uint64], dict(shape=(4), order='C', writable=False)], origin: State) -> None: ...

    @property
    def completion(self) -> bool:
        """Whether states can be resolved."""

    @property
    def resolved_share(self) -> float:
        """Of the states in the tree."""

    def dump(self) -> dict[str, numpy.typing.NDArray[Any]]:
        """The whole tree as arrays."""

class ResolvedMemory:
    """Proven states, kept across games."""

    def __init__(self, capacity: int) -> None: ...

    def add_all(self, search: UnboundedSearch) -> None:
        """
        The resolved states of a search's tree; none without transpositions, where nodes are lines.
        """

    def clear(self) -> None: ...

    def __len__(self) -> int: ...

    def arrays(self) -> tuple[numpy.typing.NDArray[numpy.uint64], numpy.typing.NDArray[numpy.float32], numpy.typing.NDArray[numpy.int8]]: ...

    def fill(self, keys: Annotated[NDArray[numpy.uint64], dict(shape=(None, 2), order='C', writable=False)], values: Annotated[NDArray[numpy.float32], dict(order='C', writable=False)], completions: Annotated[NDArray[numpy.int8], dict(order='C', writable=False)]) -> None: ...

class Labels:
    """
    The labelled states of one game's search, those that leave its tree for want of memory included.
    """

    def __init__(self, search: UnboundedSearch) -> None: ...

    def samples(self) -> tuple[Any, ...]:
        """
        (packed planes, values in [-1, 1], how many are resolved) of every expanded, terminal or remembered state below the first root since clear(). Where one row is for all children of a state, the planes are of their parents, and two arrays more have the number of labels of each, and the actions of all.
        """

    def saved(self) -> tuple[Any, ...]:
        """The same of those that have left the tree, for `restore`."""

    def restore(self, planes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', writable=False)], values: Annotated[NDArray[numpy.float32], dict(order='C', writable=False)], resolved: int, labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', writable=False)] | None = None, actions: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', writable=False)] | None = None) -> None: ...

    def clear(self) -> None: ...

def make_proof(search: UnboundedSearch, strong: bool) -> tuple[numpy.typing.NDArray[Any], ...]:
    """
    (keys, outcomes) of the states that prove a resolved root; for n players with (values).
    """

def check_proof(root: State, keys: Annotated[NDArray[numpy.uint64], dict(shape=(None, 2), order='C', writable=False)], outcomes: Annotated[NDArray[numpy.int8], dict(order='C', writable=False)], strong: bool, values: Annotated[NDArray[numpy.float32], dict(order='C', writable=False)] | None = None, heuristic: str = 'gain', longest: int = 0) -> str:
    """Empty when the rules confirm the proof, otherwise what is wrong."""
