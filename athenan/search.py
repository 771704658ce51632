"""Searches by name, and how they are driven."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from athenan import _core
from athenan.errors import InputError, nearest
from athenan.games import make_game
from athenan.own_rules import own_rules
from athenan.proofs import Proof, load_proof
from athenan.python_game import PythonGame, PythonState

Child = _core.Child
SearchResult = _core.SearchResult
Array = np.ndarray[Any, Any]

# Planes [batch, rows, columns, channels] to values in [-1, 1]: [batch] in the first player's view
# for two players, otherwise [batch, players]. One with a method `start`, from planes to Pending,
# may answer later. One whose `of_children` is true answers the values of all children of each
# state, [batch, places], by Game.action_places.
Evaluate = Callable[[Array], Any]
CORE_EVALUATORS = tuple(_core.evaluators())
BATCH_SIZES = (16, 64, 256, 1024)
BUDGETS = "give it iterations=…, evaluations=… or seconds=…"
ENDLESS = 1e9  # seconds
LOOK_SECONDS = 0.02  # between two looks at a search that runs
MOST_GAMES = 20  # log10 of how many may be below a state that is searched to the end
TREE_GAME = ("tree", (1, 1, 32))
# The searches of two players, and the same where values are vectors.
WIDER = {"descent": "maxn_descent", "ubfm": "maxn_ubfm", "umb": "maxn_ubfm"}


@runtime_checkable
class Evaluator(Protocol):
    """f_θ that knows what its values mean."""

    @property
    def game(self) -> _core.Game: ...

    @property
    def heuristic(self) -> dict[str, Any]:
        """`heuristic` and `longest` of a search whose values are on its scale."""

    def __call__(self, planes: Array) -> Array: ...


def search_types() -> list[dict[str, Any]]:
    """Name, sentence and options of every search."""
    return _core.search_types()


def search_type(name: str) -> dict[str, Any]:
    types = {entry["name"]: entry for entry in search_types()}
    if name not in types:
        raise InputError(f"There is no search '{name}'{nearest(name, types)}")
    return types[name]


def search_for(game: _core.Game, name: str) -> str:
    """The search of that name, or the same for as many players as the game has."""
    return WIDER.get(name, name) if game.value_width > 1 else name


def make_search(
    name: str,
    game: _core.Game | PythonGame,
    evaluator: str | Evaluate = "rollout",
    *,
    threads: int = 1,
    batch_sizes: Iterable[int] = BATCH_SIZES,
    **settings: Any,
) -> Search:
    """A search by name. Settings: `seed`, `heuristic` and `longest` (the evaluator's own, or gain),
    `rollouts` (a state, of evaluator rollout), `resolved` (a proof by load_proof, or its file: what
    it proves is known), and the options of its type. The two rules of `umb`
    may be functions: `continue_rule(state, children, new_states)` says whether an iteration goes on
    below a state that it has just expanded, its `new_states`-th, and `order(state, children)` gives
    the action of the child to explore among those that are not resolved; children are as in
    `SearchResult.children`."""
    game = make_game(game)
    core = make_core_search({"name": name, **settings}, game, evaluator)
    return Search(game, core, evaluator, threads, batch_sizes, {"name": name, **settings})


def make_core_search(
    search: dict[str, Any], game: _core.Game, evaluator: str | Evaluate, **settings: Any
) -> _core.Search:
    """From `name` and the options of its type; `settings` as in make_search."""
    options = {**search, **settings}
    type_ = search_type(options.pop("name"))
    rules = own_rules(type_["name"], options)
    proof = options.pop("resolved", None)
    if proof is not None:
        if not type_["consults"]:
            raise InputError(f"Search '{type_['name']}' takes no proofs.")
        if not isinstance(proof, Proof):
            proof = load_proof(proof, game)
        elif not proof.game.same_as(game):
            raise InputError(f"'{proof.path}' is a proof of another game.")
    heuristic = {}
    if isinstance(evaluator, Evaluator):
        check_same_game(evaluator.game, game)
        heuristic = evaluator.heuristic
    common = {**heuristic} | {
        key: options.pop(key) for key in ("heuristic", "longest", "rollouts", "seed")
        if key in options
    }  # fmt: skip
    known = [option["name"] for option in type_["options"]]
    for key in options:
        if key not in known:
            raise InputError(f"Search '{type_['name']}' has no option '{key}'{nearest(key, known)}")
    if isinstance(evaluator, str) and evaluator not in CORE_EVALUATORS:
        raise InputError(
            f"There is no evaluator '{evaluator}'{nearest(evaluator, CORE_EVALUATORS)}"
        )
    kind = evaluator if isinstance(evaluator, str) else "external"
    common["network"] = core_network(evaluator)
    common["of_children"] = values_children(evaluator)
    try:
        core = _core.make_search(type_["name"], game, options, kind, **common)
    except ValueError as error:
        raise InputError(str(error)) from None
    if proof is not None:
        proof.give_to(core, common.get("heuristic", "gain"), common.get("longest", 0))
    if rules:
        assert isinstance(core, _core.UnboundedSearch)
        core.follow(game, rules.get("continue_rule"), rules.get("order"))
    return core


def core_network(evaluator: str | Evaluate) -> _core.DenseNetwork | None:
    """Of an evaluator that answers within the core: no batch of it ever waits."""
    network = getattr(evaluator, "network", None)
    return network if isinstance(network, _core.DenseNetwork) else None


def values_children(evaluator: str | Evaluate) -> bool:
    """Whether each row that it is asked for is a state whose children it values."""
    return bool(getattr(evaluator, "of_children", False))


def num_places(game: _core.Game) -> int:
    """Answers a state of a network that values its children."""
    rows, columns, _ = game.plane_shape
    return rows * columns + len(game.other_actions)


def check_same_game(evaluators: _core.Game, game: _core.Game) -> None:
    """Values of another game mean nothing here, even where the planes have one shape. Games of
    one's own may hold what does not compare; those of one class and shape pass."""
    own, other = _core.python_game_of(evaluators), _core.python_game_of(game)
    shapes = evaluators.plane_shape, game.plane_shape
    if evaluators.same_as(game) or (
        own is not None and type(own) is type(other) and shapes[0] == shapes[1]
    ):
        return
    titles = [f"{g.name} {g.options}".rstrip() for g in (evaluators, game)]
    if titles[0] == titles[1]:
        titles = [f"{t} with planes {s}" for t, s in zip(titles, shapes, strict=True)]
    raise InputError(f"The evaluator is of game '{titles[0]}', the search of '{titles[1]}'.")


def make_terminal_evaluation(
    game: _core.Game, heuristic: str = "gain", longest: int = 0
) -> _core.TerminalEvaluation:
    """f_t of a game by the name of the heuristic."""
    try:
        return _core.TerminalEvaluation(game, heuristic, longest)
    except ValueError as error:
        raise InputError(str(error)) from None


def make_group(
    searches: Sequence[_core.Search], batch_sizes: Iterable[int], threads: int
) -> _core.SearchGroup:
    try:
        return _core.SearchGroup(list(searches), list(batch_sizes), threads)
    except (ValueError, TypeError) as error:
        raise InputError(
            str(error) if isinstance(error, ValueError) else "Batch sizes must be positive."
        ) from None


def own(value: Any, player: int) -> Any:
    """A value or completion in the view of the player."""
    if isinstance(value, tuple):
        return value[player]
    return value if player == 0 else -value


class Search:
    """One game's search. What it knows is kept from run to run; `clear` forgets it."""

    def __init__(
        self,
        game: _core.Game,
        core: _core.Search,
        evaluator: str | Evaluate,
        threads: int = 1,
        batch_sizes: Iterable[int] = BATCH_SIZES,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.game, self.core, self.evaluator = game, core, evaluator
        self.batch_sizes, self.settings = tuple(batch_sizes), dict(settings or {})
        self._group = make_group([core], self.batch_sizes, threads)
        self._running = threading.Lock()

    def run(
        self,
        state: _core.State | PythonState,
        *,
        iterations: int | None = None,
        evaluations: int | None = None,
        seconds: float | None = None,
        endless: bool = False,
        look: Callable[[], object] | None = None,
    ) -> SearchResult:
        """Searches until a budget is spent or the state is resolved; `endless`: until it is told to
        stop (`core.stop()`) or the state is resolved.

        `look` is called some fifty times a second, while the search waits: it may ask for
        `result()`, for `core.look(…)`, and for an end. The search is the same with it.

        Ctrl-C leaves it within a moment, and `result()` is then what is known so far. Without a
        budget a search goes on until the state is resolved, so it is refused where that may take
        for ever: without completion, and where the actions here to the power of the plies left are
        more than 10^20. (Hex 4 has fewer and takes seconds; explicit trees may have any number.)
        """
        budget: dict[str, Any] = {}
        if endless:
            seconds = ENDLESS
        for what, limit, below in (
            ("iterations", iterations, 2**64),
            ("evaluations", evaluations, 2**64),
            ("seconds", seconds, float("inf")),
        ):
            if limit is not None and not 0 < limit < below:
                raise InputError(f"A budget of {what} must be positive and finite, not {limit}.")
            budget[what] = limit or 0
        with self._alone():
            with refusals():
                if isinstance(state, PythonState):
                    state = _core.wrap_python_state(self.game, state)
                if not any(budget.values()):
                    self._check_it_ends(state)
                self._group.start(0, state, **budget)
            try:
                drive(self._group, self.evaluator, look)
            except BaseException:
                self.core.give_up()
                raise
            result = self.result()
            result.state = state  # type: ignore[attr-defined]  # for who draws it (boards)
            return result

    def result(self) -> SearchResult:
        """What is known of the last state; while it runs, where `look` is called."""
        with refusals():
            return self.core.result()

    def clear(self) -> None:
        with self._alone():
            self.core.clear()

    def _check_it_ends(self, state: _core.State) -> None:
        """Of a search that only knowing all would end; others have rules of their own."""
        if not isinstance(self.core, _core.UnboundedSearch) or state.is_terminal:
            return
        if not self.core.completion:
            raise InputError(f"Without completion this search never ends: {BUDGETS}.")
        plies, actions = self.game.max_plies - state.ply, max(1, len(state.legal_actions()))
        explicit = (self.game.name, self.game.plane_shape) == TREE_GAME
        if not explicit and plies * math.log10(actions) > MOST_GAMES:
            raise InputError(
                f"Game '{self.game.name}' is too large to be searched to its end: {BUDGETS}."
            )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Between batches the core would let others in: other threads, or the evaluator itself."""
        if not self._running.acquire(blocking=False):
            raise InputError("This search is running: it searches one state at a time.")
        try:
            yield
        finally:
            self._running.release()


@contextmanager
def refusals() -> Iterator[None]:
    """What the core refuses is for the user to mend, be it a game's fault or an evaluator's."""
    try:
        yield
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(str(error)) from error


class Pending(Protocol):
    """Values that an evaluator is working on."""

    def result(self) -> Any:
        """Waits for them."""
        ...


@dataclass
class Known:
    """Values of an evaluator that answers at once."""

    values: Any

    def result(self) -> Any:
        return self.values


@dataclass
class Asked:
    """A batch that the evaluator has: rows, real and with padding."""

    group: _core.SearchGroup
    pending: Pending
    rows: int
    padded: int

    def answer(self) -> None:
        """Waits for the values and gives them to the group."""
        answers = as_answers(self.pending.result())
        with refusals():
            self.group.resume(answers)


def ask(
    group: _core.SearchGroup,
    evaluator: str | Evaluate,
    ended: Callable[[int], object] | None = None,
    enough: Callable[[], bool] | None = None,
    look: Callable[[], object] | None = None,
) -> Asked | None:
    """Advances a group and gives the evaluator what it waits for; None where that is nothing.

    Each search that is done is told to `ended`, which may start it again; those that need no batch
    go on at once, until there is `enough`. An evaluator with `start` may answer later. `look` is
    called where a search of the core's own evaluators pauses.
    """
    while done := advance(group, look):
        for index in done:
            if ended is not None:
                ended(index)
        if enough is not None and enough():
            return None
    with refusals():
        batch = group.batch()
    if batch is None or isinstance(evaluator, str):
        return None
    planes, rows = batch
    return Asked(group, asked(evaluator, planes), rows, len(planes))


def asked(evaluator: Evaluate, planes: Array) -> Pending:
    """What the evaluator answers, now or later."""
    start = getattr(evaluator, "start", None)
    pending: Pending = Known(evaluator(planes)) if start is None else start(planes)
    return pending


def drive(
    group: _core.SearchGroup,
    evaluator: str | Evaluate,
    look: Callable[[], object] | None = None,
) -> None:
    """Runs a group until every search is done."""
    looked = time.monotonic()
    while (asked := ask(group, evaluator, look=look)) is not None:
        asked.answer()
        if look is not None and time.monotonic() - looked >= LOOK_SECONDS:
            look()
            looked = time.monotonic()


def advance(group: _core.SearchGroup, look: Callable[[], object] | None = None) -> list[int]:
    while True:
        with refusals():
            done = group.advance(LOOK_SECONDS if look else 0)
        if done is not None:
            return done
        if look is not None:
            look()


def as_answers(values: Any) -> Array:
    """What an evaluator gave, as the core takes it."""
    try:
        return np.ascontiguousarray(values, np.float32)
    except (ValueError, TypeError):
        raise InputError("An evaluator answers numbers, one or a row of them a state.") from None
