"""The theorems about completion, each as a test, on random trees and acyclic graphs.

Numbers are those of "Completeness of Unbounded Best-First Minimax and Descent Minimax", in the text
and in its appendix.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from cases import (
    SMALL_GAMES,
    WEAK,
    WITH_COMPLETION,
    Nodes,
    TableEvaluator,
    minimax_of_all,
    random_game,
    random_member,
    tree_of,
)
from reference import GameGraph

import athenan
from athenan import _core

every_kind = pytest.mark.parametrize("kind", ["tree", "dag"])
every_member = pytest.mark.parametrize("member", [*WEAK, "any"])
every_solver = pytest.mark.parametrize("member", [*WITH_COMPLETION, "any"])
RANDOM_GAMES = 40  # for each member of the class and kind


def searches(kind: str, member: str) -> Iterator[tuple[GameGraph, athenan.Search]]:
    """Random games with a search of each; "any" is another member of the class each time."""
    for number in range(RANDOM_GAMES):
        random = Random(f"{kind} {member} {number}")
        game = random_game(random, kind)
        settings = random_member(random)
        if member != "any":
            settings = WITH_COMPLETION[member] | {"seed": settings["seed"]}
        # Depth heuristics make more states of a graph: one for each ply it is reached at.
        deep = random.choice(["additive_depth", "multiplicative_depth"])
        heuristic = random.choice(["gain", "score", "gain", deep])
        evaluator = TableEvaluator(random) if random.random() < 0.3 else "hash"
        search = athenan.make_search("umb", game, evaluator, heuristic=heuristic, **settings)
        yield GameGraph(game, heuristic), search


def after_each_iteration(graph: GameGraph, search: athenan.Search) -> Iterator[Nodes]:
    """The nodes before the first iteration and after each until the root is resolved."""
    yield {graph.root.key: (0, 0, False, False)}
    while not search.run(graph.root.state, iterations=1).resolved:
        yield tree_of(search.core)[0]
    yield tree_of(search.core)[0]


@every_kind
@every_solver
def test_lemma_4_resolved_states_never_change(member: str, kind: str) -> None:
    for graph, search in searches(kind, member):
        known: dict[int, tuple[int, bool]] = {}
        for nodes in after_each_iteration(graph, search):
            resolved = {key: (c, r) for key, (_, c, r, _) in nodes.items() if r}
            assert known.items() <= resolved.items()
            known = resolved


@every_kind
@every_solver
def test_lemma_5_when_a_state_is_resolved(member: str, kind: str) -> None:
    """The second point is of weak solving; the third on trees, since on a graph a state that has
    other parents can be resolved after this one was last backed up."""
    strong = WITH_COMPLETION.get(member, {}).get("strong", False)
    for graph, search in searches(kind, member):
        for nodes in after_each_iteration(graph, search):
            for key, (_, completion, resolved, expanded) in nodes.items():
                if not expanded:
                    continue
                children = [child.key for _, child in graph.states[key].children]
                all_resolved = all(nodes[child][2] for child in children)
                if resolved:
                    assert abs(completion) == 1 or all_resolved
                if abs(completion) == 1 and not strong:
                    assert resolved
                if all_resolved and kind == "tree":
                    assert resolved


@every_solver
def test_lemma_5_third_point_for_states_just_backed_up(member: str) -> None:
    """On graphs: of all states on the line of the last iteration, which begins at the root."""
    for graph, search in searches("dag", member):
        before: dict[tuple[int, int], tuple[int, int]] = {}
        for _ in after_each_iteration(graph, search):
            if not search.core.counts["states"]:
                continue
            nodes, edges = tree_of(search.core)
            line, key = [graph.root.key], graph.root.key
            while changed := [
                child for (parent, _), (child, _) in selected(before, edges) if parent == key
            ]:
                (key,) = changed
                line.append(key)
            for key in line:
                if nodes[key][3] and all(nodes[c.key][2] for _, c in graph.states[key].children):
                    assert nodes[key][2]
            before = edges


def selected(before: dict[Any, Any], after: dict[Any, Any]) -> list[Any]:
    """The edges whose selections have grown."""
    return [item for item in after.items() if item[1][1] > before.get(item[0], (0, 0))[1]]


@every_kind
@every_solver
def test_lemma_7_each_iteration_adds_or_resolves_a_state(member: str, kind: str) -> None:
    for graph, search in searches(kind, member):
        before: set[tuple[int, str]] = set()
        for number, nodes in enumerate(after_each_iteration(graph, search)):
            progress = {(key, "added") for key, node in nodes.items() if node[3]}
            progress |= {(key, "resolved") for key, node in nodes.items() if node[2]}
            assert before <= progress
            assert number == 0 or before != progress
            before = progress


@every_kind
@every_solver
def test_proposition_6_resolved_is_the_minimax_value(member: str, kind: str) -> None:
    for graph, search in searches(kind, member):
        exact = minimax_of_all(graph)
        for nodes in after_each_iteration(graph, search):
            for key, (_, completion, resolved, _) in nodes.items():
                assert not resolved or completion == exact[key]


@every_kind
@every_solver
def test_proposition_8_iterations_until_resolved(member: str, kind: str) -> None:
    for graph, search in searches(kind, member):
        states = len(minimax_of_all(graph))
        assert search.run(graph.root.state, iterations=2 * states).resolved


@every_kind
@every_solver
def test_theorem_9_completeness(member: str, kind: str) -> None:
    """From any state of the game, and the action that is decided on is a best one."""
    for graph, search in searches(kind, member):
        exact = minimax_of_all(graph)
        for state in list(graph.states.values()):
            search.clear()
            result = search.run(state.state)
            assert result.resolved
            assert result.completion == exact[state.key]
            if not state.is_terminal:
                assert exact[dict(state.children)[result.action].key] == exact[state.key]


@pytest.mark.parametrize("options", SMALL_GAMES.values(), ids=SMALL_GAMES)
@pytest.mark.parametrize("member", WEAK)
def test_theorem_9_on_small_games(member: str, options: dict[str, Any]) -> None:
    known = {"tictactoe": 0, "connect_four": 0, "hex": 1, "breakthrough": 1, "othello": -1}
    game = athenan.make_game(**options)
    result = athenan.make_search("umb", game, "hash", **WEAK[member]).run(game.initial_state())
    assert (result.resolved, result.completion) == (True, known[options["name"]])


@every_kind
@pytest.mark.parametrize("member", ["ubfm strong", "descent strong"])
def test_strong_solving_resolves_every_state(member: str, kind: str) -> None:
    for graph, search in searches(kind, member):
        assert search.run(graph.root.state).resolved
        assert_strongly_solved(graph, search)


@pytest.mark.parametrize("member", ["ubfm strong", "descent strong"])
def test_strong_solving_of_tictactoe(member: str) -> None:
    graph = GameGraph(athenan.make_game("tictactoe"))
    search = athenan.make_search("umb", graph.game, "hash", **WITH_COMPLETION[member])
    assert search.run(graph.root.state).states == 5478
    assert_strongly_solved(graph, search)


def assert_strongly_solved(graph: GameGraph, search: athenan.Search) -> None:
    nodes = tree_of(search.core)[0]
    assert {key: (node[1], node[2]) for key, node in nodes.items()} == {
        key: (value, True) for key, value in minimax_of_all(graph).items()
    }


@every_kind
@every_member
def test_what_other_games_have_proven_stays_true(member: str, kind: str) -> None:
    """Proofs of a search that was stopped are remembered by one that goes on to the end; c of a
    remembered state is what it was, or won and lost games would pass for draws."""
    outcomes = set()
    for (graph, search), (same, other) in zip(
        searches(kind, member), searches(kind, member), strict=True
    ):
        exact = minimax_of_all(graph)
        other.run(same.root.state, iterations=max(1, len(exact) // 4))
        memory = _core.ResolvedMemory(10**6)
        memory.add_all(other.core)
        search.core.consult(memory)
        for nodes in after_each_iteration(graph, search):
            for key, (_, completion, resolved, _) in nodes.items():
                assert not resolved or completion == exact[key]
        remembered = search.core.dump()["remembered"] == 1
        outcomes |= set(search.core.dump()["completion"][remembered].tolist())
    assert outcomes == {-1, 0, 1}


# The first player can end the game at once in a draw (value 0), or go on to a state that the
# evaluator holds for bad (-0.5) although it is won whatever the second player does.
BLOCKED = [0, [[1, 1], [1, 1]]]
DRAW, WIN = 0, 1  # its actions


def pessimist(planes: Any) -> Any:
    return [-0.5] * len(planes)


@pytest.mark.parametrize("name", ["ubfm", "descent"])
@pytest.mark.parametrize("decision", ["best", "safest", "safest_printed"])
def test_without_completion_a_terminal_state_blocks_the_search(name: str, decision: str) -> None:
    """However long it runs: the iteration changes no value, so that all later ones are alike."""
    game = athenan.TreeGame.nested(BLOCKED)
    root = game.initial_state()
    search = athenan.make_search(name, game, pessimist, completion=False, decision=decision)
    first = search.run(root, iterations=10)
    assert (first.action, first.value) == (DRAW, 0)
    assert not any(child.resolved for child in first.children), "nothing is proven, not even an end"
    nodes = tree_of(search.core)[0]
    later = search.run(root, iterations=10_000)
    assert tree_of(search.core)[0] == nodes
    assert (later.action, later.iterations, later.evaluations) == (DRAW, 10_000, 0)

    search = athenan.make_search(name, game, pessimist, completion=True, decision=decision)
    result = search.run(root)
    assert (result.resolved, result.completion, result.action) == (True, 1, WIN)


def lost(depth: int) -> Any:
    """The first player has five actions each time and the second none to choose; all are lost."""
    return [[lost(depth - 1) for _ in range(5)]] if depth else -1


def mirrored(tree: Any) -> Any:
    """For the second player, who moves after an action of the first."""
    return [mirrored(part) for part in tree] if isinstance(tree, list) else -tree


@pytest.mark.parametrize("player", [0, 1])
@pytest.mark.parametrize("name", ["ubfm", "descent"])
def test_a_proven_draw_is_not_given_away(name: str, player: int) -> None:
    """A draw at hand is never selected, what seems bad and is lost beside it is: that does not make
    it safer while the search is not at its end."""
    tree = [0, lost(4)]
    game = athenan.TreeGame.nested([mirrored(tree)] if player else tree)
    state = game.initial_state()
    if player:
        state = state.play(0)

    def evaluator(planes: Any) -> Any:
        return [0.5 if player else -0.5] * len(planes)

    played = {}
    for decision in ("best", "safest", "safest_printed"):
        search = athenan.make_search(name, game, evaluator, decision=decision)
        result = search.run(state, iterations=30)
        assert not result.resolved
        played[decision] = result.action
    assert played == {"best": 0, "safest": 0, "safest_printed": 1}


@pytest.mark.parametrize("name", ["ubfm", "descent"])
def test_without_completion_an_interior_state_blocks_as_well(name: str) -> None:
    """The same below a state that is drawn though not terminal: all its line is known."""
    game = athenan.TreeGame.nested([[0, 0], [[1, 1], [1, 1]]])
    root = game.initial_state()

    def evaluator(planes: Any) -> Any:
        return [0.25 if plane[0, 0, 0] else -0.5 for plane in planes]  # node 1 seems good

    blocked = athenan.make_search(name, game, evaluator, completion=False, decision="best")
    assert blocked.run(root, iterations=10_000).action == 0
    solved = athenan.make_search(name, game, evaluator, completion=True, decision="best")
    assert solved.run(root).action == 1
