"""Self-play: many games in step, each with its own search; a finished game is a record."""

from __future__ import annotations

import math
from collections import deque
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from athenan import _core
from athenan.checkpoint import Part
from athenan.errors import InputError
from athenan.exploration import make_chooser
from athenan.records import Array, GameRecord, pack
from athenan.search import (
    Asked,
    Evaluate,
    Known,
    ask,
    core_network,
    make_core_search,
    make_group,
    make_terminal_evaluation,
    refusals,
    values_children,
)
from athenan.settings import ExplorationSettings, HeuristicSettings, SelfPlaySettings

# Numbers of games of one actor process; the first has those below, as a run of one process has.
INCARNATION = 2**32

FEWEST_GAMES, MOST_GAMES, BATCH = 8, 256, 2048  # in step, and states of a batch
GAMES_OF_CHILDREN = 32  # in step, where a state is a row

# What a checkpoint holds of a game under way, besides its tree and dropped labels.
SAVED = ("number", "actions", "root_values", "evaluations", "iterations", "expanded",
         "resolved_roots")  # fmt: skip
# Nodes, edges and counts of its tree; planes and values of its dropped labels, and where these are
# of children, the number of each state's and their actions.
ARRAYS, ARRAYS_OF_CHILDREN = 5, 7


@dataclass
class _GameUnderWay:
    number: int
    search: _core.UnboundedSearch
    state: _core.State
    actions: list[int] = field(default_factory=list)
    states: list[_core.State] = field(default_factory=list)
    root_values: list[Any] = field(default_factory=list)  # numbers, or one for each player
    evaluations: int = 0
    iterations: int = 0
    expanded: int = 0
    resolved_roots: int = 0


class SelfPlay:
    """`play_batch()` advances the games by one batch of the network.

    Game n depends on the seed, n and the network's answers only. Two groups of games take turns, in
    one thread: while one is searched the evaluator has the batch of the other. `hold()` lets the
    searches under way end without starting others: once `searching` is 0, `saved()` has all there
    is.
    """

    def __init__(
        self,
        game: _core.Game,
        evaluator: Evaluate,
        search: dict[str, Any],
        heuristic: HeuristicSettings,
        config: SelfPlaySettings,
        exploration: ExplorationSettings,
        seed: int,
        memory: _core.ResolvedMemory | None = None,
    ) -> None:
        self.budget: dict[str, Any] = {
            "iterations": config.iterations or 0,
            "evaluations": config.evaluations or 0,
            "seconds": config.seconds or 0,
        }
        self.game = game
        self.evaluator = evaluator
        # Then nothing waits for a batch: in each turn every search comes to its end, and none is
        # under way between turns.
        self.in_core = core_network(evaluator) is not None
        self.of_children = values_children(evaluator)
        self.target = config.target
        self.choose = make_chooser(exploration)
        self.seed = seed
        self.memory = memory
        self.next_game = 0
        self.progress = 0.0  # of the run, for annealed exploration
        self.rows = 0  # states evaluated for real
        self.padded_rows = 0
        self._valued = 0  # children, by searches that are over
        self.out_of_memory = 0  # searches that ended for want of memory, before their budget
        self.holding = False
        self.terminal_evaluation = make_terminal_evaluation(game, heuristic.name, heuristic.longest)
        self.growing_games = config.growing_games or 0
        number = config.games_in_step or games_for(game)
        # The budget of memory is for all games in step, whose trees have equal shares of it.
        own = dict(search)
        if "memory_mb" in own:
            own["memory_mb"] /= number
        self.searches = [tree_search(own, game, evaluator, heuristic) for _ in range(number)]
        self.labels = [_core.Labels(search) for search in self.searches]
        if memory is not None:
            for one in self.searches:
                one.consult(memory)
        # Slot s is search s // groups of group s % groups.
        groups = 1 if self.in_core else config.groups
        self.groups = [
            make_group(self.searches[first::groups], config.batch_sizes, config.threads)
            for first in range(groups)
        ]
        self._turn = 0  # the group that is searched next; its batch is answered
        self._asked: deque[Asked] = deque()  # batches that the evaluator has
        self.games: list[_GameUnderWay | None] = [None] * number
        self._idle = list(range(number))
        self._waiting: deque[tuple[dict[str, Any], list[Array]]] = deque()  # saved, without a slot

    @property
    def searching(self) -> int:
        return len(self.games) - len(self._idle)

    @property
    def valued(self) -> int:
        """Children that the network has valued: more than rows, where one is for all children."""
        idle = set(self._idle)
        under_way = (s for slot, s in enumerate(self.searches) if slot not in idle)
        return self._valued + sum(search.counts["valued"] for search in under_way)

    def hold(self, holding: bool = True) -> None:
        self.holding = holding

    def play_batch(self) -> list[GameRecord]:
        """Has one batch answered, or all searches that need none; the games that ended
        meanwhile."""
        if not self.holding:
            if not self.searching:  # new, restored or held: what follows is the same
                self._turn = 0
            for slot in sorted(self._idle):
                self._go_on(slot)
            self._idle.clear()
        records: list[GameRecord] = []
        turn, number = self._turn, len(self.groups)

        def ended(index: int) -> None:
            record = self._end_of_search(index * number + turn)
            if record is not None:
                records.append(record)

        # Where the game is solved no search asks for a batch any more.
        def enough() -> bool:
            return len(records) >= len(self.games)

        asked = ask(self.groups[turn], self.evaluator, ended, enough)
        if asked is not None:
            self._asked.append(asked)
            self.rows += asked.rows
            self.padded_rows += asked.padded
        if self._asked and (asked is None or len(self._asked) == number):
            self._asked.popleft().answer()
        self._turn = (turn + 1) % number
        return records

    def wait(self) -> None:
        """Until the evaluator has no batch: other weights may come."""
        for asked in self._asked:
            asked.pending = Known(asked.pending.result())

    def _go_on(self, slot: int) -> None:
        """Starts the slot's next search, of a new game if it has none."""
        game = self.games[slot]
        if game is None:
            self.searches[slot].clear()
            self.labels[slot].clear()
            if self._waiting:
                game = self._take_up(slot, *self._waiting.popleft())
            else:
                game = self._new_game(slot, self.next_game)
                self.next_game += 1
        number = len(self.groups)
        with refusals():
            budget = self._budget_of(game)
            self.groups[slot % number].start(slot // number, game.state, **budget)

    def _budget_of(self, game: _GameUnderWay) -> dict[str, Any]:
        """Of the next search. The first games are cheap, each a little dearer than the one before:
        so there is soon something to learn from, and they do not all end together."""
        all_of_them, place = self.budget["evaluations"], game.number % INCARNATION
        if not all_of_them or place >= self.growing_games:
            return self.budget
        least = min(all_of_them, len(game.state.legal_actions()))
        grown = (all_of_them - least) * place // self.growing_games
        return self.budget | {"evaluations": least + grown}

    def _new_game(self, slot: int, number: int) -> _GameUnderWay:
        start = self.game.initial_state()
        search = self.searches[slot]
        search.reseed(seed_of_game(self.seed, number))
        game = self.games[slot] = _GameUnderWay(number, search, start)
        return game

    def _end_of_search(self, slot: int) -> GameRecord | None:
        """Plays the chosen action; starts the next search, or returns the finished game."""
        game = self.games[slot]
        assert game is not None
        result, bound = game.search.result(), self.terminal_evaluation.bound
        if not result.children:
            raise InputError(
                "Setting 'search.memory_mb' is too small: a game in step cannot hold one expansion."
            )
        self.out_of_memory += result.out_of_memory
        game.evaluations += result.evaluations
        game.iterations += result.iterations
        counts = game.search.counts
        game.expanded += counts["expanded"]
        self._valued += counts["valued"]
        game.resolved_roots += result.resolved
        game.root_values.append(scaled(result.value, bound))
        random = random_of_action(self.seed, game.number, len(game.actions))
        action = self.choose(result.children, game.state.to_move, bound, random, self.progress)
        self._play(game, action)
        record = None
        if game.state.is_terminal:
            record = self._record(game, self.labels[slot])
            if self.memory is not None:
                self.memory.add_all(game.search)
            self.games[slot] = None
        if self.in_core:
            self.rows += result.evaluations
            self.padded_rows += result.evaluations
        if self.holding or self.in_core:
            self._idle.append(slot)
        else:
            self._go_on(slot)
        return record

    def _play(self, game: _GameUnderWay, action: int) -> None:
        game.states.append(game.state)
        game.actions.append(action)
        game.state = game.state.play(action)

    def saved(self) -> Part:
        """The games under way with their trees. No search may be running."""
        assert self.searching == 0
        facts: list[dict[str, Any] | None] = []
        arrays: list[Array] = []
        for game, labels in zip(self.games, self.labels, strict=True):
            if game is None:
                facts.append(None)
                continue
            planes, values, resolved, *which = labels.saved()
            # Copies: the game goes on.
            own = {name: copy(getattr(game, name)) for name in SAVED}
            facts.append(own | {"dropped": resolved})
            arrays += [*game.search.save_tree(), planes, values, *which]
        for waiting, its in self._waiting:
            facts.append(waiting)
            arrays += its
        return Part({"next_game": self.next_game, "games_under_way": facts}, {"trees": arrays})

    def restore(self, part: Part) -> None:
        """Games go on in the slots they had; where there are other slots now they are dealt anew,
        and those beyond wait for one."""
        self.next_game = part.facts["next_game"]
        found = saved_games(part)
        if len(found) != len(self.games):
            found = [game for game in found if game is not None]
        for slot, saved in enumerate(found[: len(self.games)]):
            if saved is not None:
                self._take_up(slot, *saved)
        self._waiting = deque(game for game in found[len(self.games) :] if game is not None)

    def _take_up(self, slot: int, saved: dict[str, Any], arrays: list[Array]) -> _GameUnderWay:
        """A saved game goes on in the slot."""
        game = self._new_game(slot, saved["number"])
        for action in saved["actions"]:
            self._play(game, action)
        for name in SAVED:
            setattr(game, name, saved[name])
        nodes, edges, counts, planes, values, *which = arrays
        origin = next(s for s in (*game.states, game.state) if s.ply == counts[3])
        game.search.restore_tree(nodes, edges, counts, origin)
        self.labels[slot].restore(planes, values, saved["dropped"], *which)
        return game

    def _record(self, game: _GameUnderWay, game_labels: _core.Labels) -> GameRecord:
        planes, values, resolved, *which = game_labels.samples()
        if self.target != "tree":
            evaluation = self.terminal_evaluation
            final = scaled(evaluation(game.state), evaluation.bound)
            states = [*game.states, game.state]
            labels = [*game.root_values, final] if self.target == "root" else [final] * len(states)
            if self.of_children:  # each is that of the action which led there
                states, labels = states[:-1], labels[1:]
                which = [np.ones(len(states), np.int32), np.array(game.actions, np.uint32)]
            planes = pack(np.stack([state.planes() for state in states]))
            values = np.array(labels, np.float32)
        outcomes, width = game.state.outcomes, self.game.value_width
        assert outcomes is not None
        return GameRecord(
            number=game.number,
            planes=planes,
            values=values.reshape(len(values), width),
            actions=np.array(game.actions, np.uint32),
            root_values=np.array(game.root_values, np.float32).reshape(-1, width),
            outcomes=tuple(outcomes),
            labels=which[0] if which else None,
            actions_of_labels=which[1] if which else None,
            evaluations=game.evaluations,
            iterations=game.iterations,
            expanded=game.expanded,
            resolved=resolved,
            resolved_roots=game.resolved_roots,
        )


def games_for(game: _core.Game, of_children: bool = False) -> int:
    """In step: a power of two that fills a batch where each of them expands a state. With one
    evaluation for all children few are enough, and end sooner."""
    if of_children:
        return GAMES_OF_CHILDREN
    actions = max(1, len(game.initial_state().legal_actions()))
    return min(MOST_GAMES, max(FEWEST_GAMES, 1 << max(0, round(math.log2(BATCH / actions)))))


def saved_games(part: Part) -> list[tuple[dict[str, Any], list[Array]] | None]:
    """What `saved()` has of each slot: its game under way, with its arrays."""
    trees = part.arrays["trees"]
    games = part.facts["games_under_way"]
    number = sum(game is not None for game in games)
    each = ARRAYS_OF_CHILDREN if len(trees) == ARRAYS_OF_CHILDREN * number else ARRAYS
    rest = iter(trees)
    return [None if game is None else (game, [next(rest) for _ in range(each)]) for game in games]


def scaled(value: Any, bound: float) -> Any:
    """In [-1, 1]: a number, or one for each player."""
    return [own / bound for own in value] if isinstance(value, tuple) else value / bound


def random_of_action(seed: int, number: int, ply: int) -> np.random.Generator:
    """What decides about an action of a game."""
    incarnation, place = divmod(number, INCARNATION)
    words = [seed, place, ply]
    return np.random.default_rng([*words, incarnation] if incarnation else words)


def seed_of_game(seed: int, number: int) -> int:
    """Of the search of a game; no game of another process or of the next seeds has it."""
    incarnation, place = divmod(number, INCARNATION)
    if incarnation == 0:
        return (seed << 32) + place
    words = np.random.SeedSequence([seed, place, incarnation, 6]).generate_state(1, np.uint64)
    return int(words[0])


def tree_search(
    search: dict[str, Any], game: _core.Game, evaluator: Evaluate, heuristic: HeuristicSettings
) -> _core.UnboundedSearch:
    """A search whose tree can be learned from."""
    made = make_core_search(
        search, game, evaluator, heuristic=heuristic.name, longest=heuristic.longest
    )
    if not isinstance(made, _core.UnboundedSearch):
        raise InputError(f"Search '{search['name']}' has no tree of values to learn from.")
    return made
