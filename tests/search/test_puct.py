"""PUCT: node for node as a plain rendering, proven results, and what it finds."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest
from cases import SMALL_GAMES, TableEvaluator, minimax_of_all, random_game
from reference import GameGraph, GraphState, Reference, float32, hash_value

import athenan
from athenan import _core

TIES = Reference(GameGraph(athenan.make_game("tictactoe")))


class Edge:
    def __init__(self, action: int, state: GraphState) -> None:
        self.action, self.state = action, state
        self.visits, self.total, self.node = 0, 0.0, None
        self.resolved: bool = state.is_terminal
        self.completion = state.outcome if state.is_terminal else 0
        self.value = 0.0
        if state.is_terminal:
            self.value = float32(state.terminal_evaluation / state.graph.bound)


class PlainNode:
    def __init__(self, state: GraphState, tree: PlainPuct) -> None:
        self.state, self.tree = state, tree
        self.sign = 1 if state.to_move == 0 else -1
        self.visits, self.total, self.valued = 0, 0.0, False
        self.edges: Any = [Edge(a, s) for a, s in state.children]
        tree.states += 1

    def q(self, edge: Edge) -> float:
        if edge.resolved:
            return edge.value
        if edge.visits:
            return edge.total / edge.visits
        if self.valued:
            return edge.value
        mean = self.total / self.visits if self.visits else 0
        return mean - self.sign * self.tree.first_play_reduction

    def choice(self) -> Edge:
        c = self.tree.c_puct * math.sqrt(self.visits) / len(self.edges)

        def score(edge: Edge) -> tuple[float, int]:
            score = self.sign * self.q(edge) + c / (1 + edge.visits)
            return score, TIES.tie_break(self.state, edge.action, self.visits)

        return max((e for e in self.edges if not (self.tree.completion and e.resolved)), key=score)

    def best_known(self) -> tuple[int, float] | None:
        """(c, v) in the view of the mover."""
        known = [(self.sign * e.completion, self.sign * e.value) for e in self.edges if e.resolved]
        return max(known) if known and self.tree.completion else None

    def proven(self) -> tuple[int, float] | None:
        """(c, v) of a state that is won, or all of whose children are known."""
        best = self.best_known()
        if best is None or (best[0] != 1 and not all(edge.resolved for edge in self.edges)):
            return None
        return self.sign * best[0], self.sign * best[1]


class PlainPuct:
    """One iteration is a function that calls itself."""

    def __init__(self, root: GraphState, evaluator: Any, **settings: Any) -> None:
        self.evaluator = evaluator
        self.c_puct: float = settings.get("c_puct", 1.5)
        self.first_play_reduction: float = settings.get("first_play_reduction", 0.25)
        self.value_children: bool = settings.get("value_children", False)
        self.completion: bool = settings.get("completion", True)
        self.states = self.evaluations = 0
        self.root = PlainNode(root, self)

    def value_of_new(self, node: PlainNode, value: float | None) -> float:
        if value is None:
            unknown = [edge for edge in node.edges if not edge.resolved]
            for edge in unknown:
                edge.value = self.evaluate(edge.state)
            value = node.sign * max(node.sign * edge.value for edge in node.edges)
            node.valued = True
        node.visits, node.total = 1, value
        return value

    def evaluate(self, state: GraphState) -> float:
        self.evaluations += 1
        return float32(self.evaluator(state))

    def iterate(self, node: PlainNode) -> float:
        if self.value_children and not node.valued:
            return self.value_of_new(node, None)
        edge = node.choice()
        if edge.resolved:
            value = edge.value
        elif edge.node is not None:
            value = self.iterate(edge.node)
        else:
            value = None if self.value_children else self.evaluate(edge.state)
            edge.node = PlainNode(edge.state, self)
            known = edge.node.proven()
            value = self.value_of_new(edge.node, known[1] if known else value)
        edge.visits += 1
        edge.total += value
        if edge.node is not None and not edge.resolved and (known := edge.node.proven()):
            edge.resolved, (edge.completion, edge.value) = True, known
        if best := node.best_known():
            value = node.sign * max(node.sign * value, best[1])
        node.visits += 1
        node.total += value
        return value


SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "without completion": {"completion": False},
    "children valued": {"value_children": True},
    "children valued without completion": {"value_children": True, "completion": False},
    "curious": {"c_puct": 10.0, "first_play_reduction": 0.0},
    "greedy": {"c_puct": 0.1, "first_play_reduction": 1.0},
}
every_setting = pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)


@every_setting
def test_node_for_node(settings: dict[str, Any]) -> None:
    """After each iteration: what is known of every child of the root, and how many states."""
    games = [athenan.make_game(**options) for options in SMALL_GAMES.values()]
    for number in range(40):
        random = Random(f"puct {number}")
        game = games[number % 8] if number % 8 < len(games) else random_game(random, "tree")
        graph = GameGraph(game, "score" if game.max_score and number % 3 else "gain")
        evaluator, of_state = ("hash", hash_value)
        if game.name == "tree":
            table = TableEvaluator(random)
            evaluator, of_state = table, table.of_state
        heuristic = graph.heuristic
        search = athenan.make_search("puct", game, evaluator, heuristic=heuristic, **settings)
        plain = PlainPuct(graph.root, of_state, **settings)
        evaluations = 0
        for _ in range(40):
            result = search.run(graph.root.state, iterations=1)
            if result.iterations:
                plain.iterate(plain.root)
            evaluations += result.evaluations
            for child, edge in zip(result.children, plain.root.edges, strict=True):
                known = edge.resolved or edge.visits or plain.root.valued
                value = graph.bound * plain.root.q(edge) if known else 0
                assert child.value == pytest.approx(value, abs=1e-5)
                proven = edge.resolved and plain.completion
                expected = (edge.visits, proven, edge.completion if proven else 0)
                assert (child.selections, child.resolved, child.completion) == expected
            assert (result.states, evaluations) == (plain.states, plain.evaluations)
            known = plain.root.proven()
            assert result.resolved == (known is not None)
            if known:
                assert (result.completion, result.value) == (known[0], graph.bound * known[1])
                break


def pessimist(planes: Any) -> Any:
    return [-0.5] * len(planes)


@pytest.mark.parametrize("value_children", [False, True])
@pytest.mark.parametrize("player", [0, 1])
def test_a_win_in_one_is_found_and_a_threat_is_blocked(player: int, value_children: bool) -> None:
    game = athenan.make_game("connect_four")
    threat = "12121"  # three in column 1
    for line in (threat + "3", threat):
        state = game.initial_state()
        for column in "7" * player + line:
            state = state.play(state.string_to_action(column))
        search = athenan.make_search("puct", game, "hash", value_children=value_children)
        result = search.run(state, iterations=400)
        assert state.action_to_string(result.action) == "1"
        if line != threat:
            assert (result.resolved, result.completion) == (True, 1 if player == 0 else -1)


@every_setting
def test_it_converges_to_minimax_on_small_trees(settings: dict[str, Any]) -> None:
    """With completion exactly; without it by its visits."""
    for number in range(30):
        random = Random(f"puct converges {number}")
        game = random_game(random, "tree", most_states=25)
        graph = GameGraph(game)
        exact = minimax_of_all(graph)
        if graph.root.is_terminal:
            continue
        search = athenan.make_search("puct", game, TableEvaluator(random), **settings)
        result = search.run(graph.root.state, iterations=3000)
        assert exact[dict(graph.root.children)[result.action].key] == exact[graph.root.key]
        if settings.get("completion", True):
            assert (result.resolved, result.completion) == (True, exact[graph.root.key])
        else:
            assert not result.resolved
            assert result.value == pytest.approx(exact[graph.root.key], abs=0.35)


@pytest.mark.parametrize("kind", ["tree", "dag"])
def test_proven_results_are_right(kind: str) -> None:
    for number in range(60):
        random = Random(f"puct proofs {kind} {number}")
        game = random_game(random, kind)
        graph = GameGraph(game)
        exact = minimax_of_all(graph)
        search = athenan.make_search("puct", game, "hash", c_puct=random.choice([0.5, 2, 10]))
        state = graph.root
        while not state.is_terminal:
            result = search.run(state.state, iterations=random.choice([1, 5, 50]))
            for child, (_, below) in zip(result.children, state.children, strict=True):
                assert not child.resolved or child.completion == exact[below.key]
            if result.resolved:
                assert result.completion == exact[state.key]
                best = dict(state.children)[result.action]
                assert exact[best.key] == exact[state.key]
            state = dict(state.children)[result.action]


def test_solved_boards() -> None:
    known = {"tictactoe": 0, "hex": 1, "breakthrough": 1}
    for options in SMALL_GAMES.values():
        if options["name"] not in known:
            continue
        game = athenan.make_game(**options)
        result = athenan.make_search("puct", game, "hash").run(
            game.initial_state(), iterations=100_000
        )
        assert (result.resolved, result.completion) == (True, known[options["name"]])


def test_what_is_known_of_the_next_state_is_kept() -> None:
    game = athenan.make_game("connect_four")
    search = athenan.make_search("puct", game, "hash")
    first = search.run(game.initial_state(), iterations=300)
    visits = {child.action: child.selections for child in first.children}
    state = game.initial_state().play(first.action)
    reply = state.legal_actions()[2]
    search.run(state, iterations=1)
    kept = search.core.counts["states"]
    assert kept <= visits[first.action] + 1
    after = search.run(state.play(reply), iterations=1)
    assert 1 < after.states <= kept
    other = game.initial_state().play(first.action ^ 1 if first.action else 1)
    assert search.run(other, iterations=1).states == 2


def test_many_games_in_step_are_batched() -> None:
    """Each asks for one row an iteration; together they fill the batches."""
    game = athenan.make_game("hex", size=5)
    alone = athenan.make_search("puct", game, pessimist, seed=3)
    expected = alone.run(game.initial_state(), iterations=40)
    cores = [
        athenan.search.make_core_search({"name": "puct"}, game, pessimist, seed=seed)
        for seed in range(16)
    ]
    group = _core.SearchGroup(cores, [1, 4, 16], 2)
    for i in range(16):
        group.start(i, game.initial_state(), iterations=40)
    rows: list[int] = []

    def count(planes: Any) -> Any:
        rows.append(len(planes))
        return pessimist(planes)

    athenan.search.drive(group, count)
    assert rows == [16] * 40
    assert cores[3].result() == expected


def test_it_needs_a_budget_and_two_players() -> None:
    game = athenan.make_game("tictactoe")
    with pytest.raises(athenan.InputError, match="'puct' needs a budget"):
        athenan.make_search("puct", game).run(game.initial_state())
    three = athenan.make_game("mnk", rows=3, columns=3, k=3, players=3)
    with pytest.raises(athenan.InputError, match="'puct' is for two players"):
        athenan.make_search("puct", three)
