"""The theorems about n players, each as a test, on random trees and acyclic graphs.

Numbers are those of "Completeness of Unbounded Best-First Game Algorithms", section 3: lemmas and
propositions 13 to 18 are of variant 1, 19 to 22 of variant 2.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from random import Random
from typing import Any

import pytest
from cases import random_game, tree_of
from cases_n import VectorTable, explicit_game, random_game_n
from reference import GameGraph
from reference_n import VectorGraph, VectorReference, all_settings, maxn

import athenan
from athenan.search import make_terminal_evaluation

GAMES = 60  # for each setting, kind and number of players
MANY_GAMES = 600
SETTINGS = {
    f"{s['name']} {s['variant']} {s['wins_enough']}": s for s in all_settings()
}  # fmt: skip
every_kind = pytest.mark.parametrize("kind", ["tree", "dag"])
every_setting = pytest.mark.parametrize("setting", SETTINGS)
every_number = pytest.mark.parametrize(
    "games", [GAMES, pytest.param(MANY_GAMES, marks=pytest.mark.long)]
)

# key: (v, c, r, whether it is expanded)
Nodes = dict[int, tuple[tuple[float, ...], tuple[int, ...], bool, bool]]
Edges = dict[tuple[int, int], tuple[int, int]]


@dataclass
class Trace:
    """A search of a random game: its tree after every iteration until the root is resolved."""

    graph: VectorGraph
    settings: dict[str, Any]
    nodes: list[Nodes] = field(default_factory=list)
    edges: list[Edges] = field(default_factory=list)

    @property
    def exact(self) -> dict[int, Any]:
        """M(s) of every state, the only one as no player is ever indifferent."""
        found = maxn(self.graph)
        assert all(len(values) == 1 for values in found.values())
        return {key: next(iter(values)) for key, values in found.items()}

    def lines(self) -> Iterator[tuple[Nodes, list[int]]]:
        """The states that each iteration went through, which begins at the root."""
        before: Edges = {}
        for nodes, edges in zip(self.nodes, self.edges, strict=True):
            line = [self.graph.root.key]
            grown = [at for at, (_, n) in edges.items() if n > before.get(at, (0, 0))[1]]
            while below := [edges[at][0] for at in grown if at[0] == line[-1]]:
                (key,) = below
                line.append(key)
            yield nodes, [key for key in line if nodes[key][3]]
            before = edges


@cache
def traces(setting: str, kind: str, games: int) -> list[Trace]:
    found = []
    for number in range(games * 3):
        random = Random(f"{setting} {kind} {number}")
        players = 2 + number % 3
        graph = random_game_n(random, kind, players)
        evaluator = VectorTable(random, players, graph.bound) if number % 2 else "hash"
        trace = Trace(graph, {**SETTINGS[setting], "seed": number})
        search = make_search(graph, evaluator, trace.settings)
        for _ in range(2 * len(maxn(graph))):
            result = search.run(graph.root.state, iterations=1)
            nodes, edges = tree_of(search.core)
            trace.nodes.append(nodes)  # type: ignore[arg-type]
            trace.edges.append(edges)
            if result.resolved:
                break
        found.append(trace)
    return found


def make_search(graph: GameGraph, evaluator: Any, settings: dict[str, Any]) -> athenan.Search:
    return athenan.make_search(
        game=graph.game, evaluator=evaluator, heuristic=graph.heuristic, **settings
    )


@every_number
@every_kind
@every_setting
def test_lemma_13_resolved_states_never_change(setting: str, kind: str, games: int) -> None:
    for trace in traces(setting, kind, games):
        known: dict[int, Any] = {}
        for nodes in trace.nodes:
            resolved = {key: (v, c) for key, (v, c, r, _) in nodes.items() if r}
            assert known.items() <= resolved.items()
            known = resolved


@every_number
@every_kind
@every_setting
def test_proposition_14_and_lemma_19_when_a_state_is_resolved(
    setting: str, kind: str, games: int
) -> None:
    """Recomputed from the children of the states that were just backed up."""
    variant, enough = SETTINGS[setting]["variant"], SETTINGS[setting]["wins_enough"]
    for trace in traces(setting, kind, games):
        graph = trace.graph
        for nodes, line in trace.lines():
            for key in line:
                state = graph.states[key]
                j, (v, c, resolved, _) = state.to_move, nodes[key]
                children = [nodes[child.key] for _, child in state.children]
                most = graph.most(state if enough == "local" else graph.root)[j]
                if variant == 1:
                    won = max((child[1][j], child[0][j]) for child in children) == (1, most)
                else:
                    won = (c[j], v[j]) == (1, most) and any(
                        child[:3] == (v, c, True) for child in children
                    )
                assert resolved == (won or all(child[2] for child in children))


@every_number
@every_kind
@every_setting
def test_lemma_15_only_what_is_resolved_has_a_completion(
    setting: str, kind: str, games: int
) -> None:
    """Of variant 1; in variant 2 others may have one, and some do."""
    open_ones = sum(
        any(c) and not resolved
        for trace in traces(setting, kind, games)
        for nodes in trace.nodes
        for _, c, resolved, _ in nodes.values()
    )
    assert (open_ones > 0) == (SETTINGS[setting]["variant"] == 2)


@every_number
@every_kind
@every_setting
def test_propositions_16_and_20_resolved_is_max_n(setting: str, kind: str, games: int) -> None:
    for trace in traces(setting, kind, games):
        exact = trace.exact
        for nodes in trace.nodes:
            for key, (v, c, resolved, _) in nodes.items():
                assert not resolved or (c, v) == exact[key]


@every_number
@every_kind
@every_setting
def test_propositions_17_and_21_iterations_until_resolved(
    setting: str, kind: str, games: int
) -> None:
    """Within twice as many as there are states, as each adds or resolves one."""
    for trace in traces(setting, kind, games):
        assert trace.nodes[-1][trace.graph.root.key][2]
        before: set[tuple[int, str]] = set()
        for nodes in trace.nodes:
            progress = {(key, "added") for key, node in nodes.items() if node[3]}
            progress |= {(key, "resolved") for key, node in nodes.items() if node[2]}
            assert before < progress
            before = progress


@every_kind
@every_setting
def test_theorems_18_and_22_completeness(setting: str, kind: str) -> None:
    """From any state of the game, and the action that is decided on is a best one."""
    for trace in traces(setting, kind, GAMES):
        exact = trace.exact
        search = make_search(trace.graph, "hash", trace.settings)
        for state in list(trace.graph.states.values()):
            search.clear()
            result = search.run(state.state)
            assert result.resolved
            assert (result.completion, result.value) == exact[state.key]
            if not state.is_terminal:
                assert exact[dict(state.children)[result.action].key] == exact[state.key]


@every_kind
@every_setting
def test_strong_solving_resolves_every_state(setting: str, kind: str) -> None:
    for trace in traces(setting, kind, GAMES):
        search = make_search(trace.graph, "hash", trace.settings | {"strong": True})
        assert search.run(trace.graph.root.state).resolved
        found = {
            key: (c, v) for key, (v, c, r, _) in tree_of(search.core)[0].items() if r
        }  # fmt: skip
        assert found == trace.exact


@every_kind
@every_setting
def test_where_players_are_indifferent_it_is_one_of_the_values(setting: str, kind: str) -> None:
    """Without a tie-breaking f_t (Definition 11) the answer depends on the seed, yet lies in M."""
    depends = 0
    for number in range(150):
        random = Random(f"ties {setting} {kind} {number}")
        graph = random_game_n(random, kind, random.choice([3, 4]), 20, ties=True)
        exact = maxn(graph)
        search = make_search(graph, "hash", {**SETTINGS[setting], "strong": number % 4 == 0})
        answers = set()
        for seed in range(8):
            search.clear()
            search.core.reseed(seed)
            assert search.run(graph.root.state).resolved
            for key, (v, c, resolved, _) in tree_of(search.core)[0].items():
                assert not resolved or (c, v) in exact[key]
            answers.add(tree_of(search.core)[0][graph.root.key][:2])
        depends += len(answers) > 1
        assert len(answers) <= len(exact[graph.root.key])
    assert depends > 0


def test_whether_an_evaluation_breaks_ties() -> None:
    """Definition 11, held against all pairs of ends."""
    seen = set()
    for number in range(200):
        random = Random(f"breaks {number}")
        graph = random_game_n(random, "tree", 3, 12, ties=number % 2 == 0)
        maxn(graph)
        ends = [
            (s.outcomes, graph.terminal_values(s)) for s in graph.states.values() if s.is_terminal
        ]
        breaks = all(
            a == b or all((a[0][j], a[1][j]) != (b[0][j], b[1][j]) for j in range(3))
            for a in ends
            for b in ends
        )
        evaluation = make_terminal_evaluation(graph.game, "score")
        assert evaluation.breaks_ties == breaks
        seen.add(breaks)
    assert seen == {True, False}
    for options, breaks in (({"players": 3}, False), ({"players": 2}, True)):
        game = athenan.make_game("mnk", rows=3, columns=3, k=3, **options)
        assert make_terminal_evaluation(game).breaks_ties == breaks


# ---- Remark 10 and the errata -----------------------------------------------------------------


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize("name", ["maxn_ubfm", "maxn_descent"])
def test_remark_10_any_win_is_not_complete(name: str, variant: int) -> None:
    """Some game ends with another value than that of Max^n, even with another outcome."""
    wrong, other_outcome = 0, 0
    for number in range(400):
        random = Random(f"any {number}")
        graph = random_game_n(random, "tree", 3, 20)
        settings = {"name": name, "variant": variant, "wins_enough": "any"}
        result = make_search(graph, "hash", settings).run(graph.root.state)
        ((outcomes, values),) = maxn(graph)[graph.root.key]
        assert result.resolved
        wrong += (result.completion, result.value) != (outcomes, values)
        other_outcome += result.completion != outcomes
    assert wrong > 0
    assert other_outcome > 0


@pytest.mark.parametrize("variant", [1, 2])
def test_remark_10_stopping_on_draws_can_block(variant: int) -> None:
    """An iteration that makes no progress is charged, so that the budget of evaluations ends."""
    blocked = 0
    for number in range(150):
        random = Random(f"stop {number}")
        graph = random_game_n(random, "tree", 3, 20)
        settings = {"name": "maxn_descent", "variant": variant, "stop_on_draw": True}
        search = make_search(graph, "hash", settings)
        result = search.run(graph.root.state, evaluations=500)
        blocked += not result.resolved
        for key, (v, c, resolved, _) in tree_of(search.core)[0].items():
            assert not resolved or {(c, v)} == maxn(graph)[key]
    assert 0 < blocked < 150


def test_example_8() -> None:
    """Four players; the best child of s is drawn for its mover and lost for the last one. Not all
    children are resolved: variant 1 says nothing of s yet, variant 2 what its best child says."""
    children = [[1, 2], [], [3], []]
    outcomes = [(0,) * 4, (0, 0, 0, -1), (0,) * 4, (0, 0, 0, -1)]
    graph = explicit_game(children, [0, 0, 1, 0], outcomes, [(0,) * 4] * 4)
    for variant, completion in ((1, (0, 0, 0, 0)), (2, (0, 0, 0, -1))):
        settings = {"name": "maxn_ubfm", "variant": variant}
        search = make_search(graph, lambda planes: [[-0.5, 0, 0, 0]] * len(planes), settings)
        result = search.run(graph.root.state, iterations=1)
        assert (result.completion, result.resolved) == (completion, False)
        assert search.run(graph.root.state).completion == (0, 0, 0, -1)


def test_the_variants_differ_in_a_game_without_draws() -> None:
    """A win that is not the best leaves its state open, and only variant 2 tells its parent."""
    graph = explicit_game(
        [[1, 2], [3, 4], [5], [6], [], [], []],
        [1, 0, 1, 0, 0, 0, 0],
        [(0, 0)] * 4 + [(1, -1), (1, -1), (1, 1)],
        [(0, 0)] * 4 + [(2, 2), (2, 2), (3, 3)],
    )
    estimates = {1: (0, 0), 2: (-3, 0), 3: (2, 3)}

    def evaluator(planes: Any) -> Any:
        numbers = [int(sum(bit << i for i, bit in enumerate(p.ravel()))) for p in planes]
        return [[x / 3 for x in estimates.get(number, (0, 0))] for number in numbers]

    selected: dict[int, set[bool]] = {1: set(), 2: set()}
    for variant, seed in product((1, 2), range(16)):  # the first selection is a tie
        settings = {"name": "maxn_ubfm", "variant": variant, "wins_enough": "global", "seed": seed}
        result = make_search(graph, evaluator, settings).run(graph.root.state)
        assert (result.value, result.completion) == ((3, 3), (1, 1))
        selected[variant].add(result.children[1].selections > 0)
    assert selected == {1: {False, True}, 2: {True}}


# ---- Two players ------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize(
    ("heuristic", "enough"),
    [("gain", "global"), ("gain", "local"), ("score", "any"), ("additive_depth", "any")],
)
@pytest.mark.parametrize(("name", "two"), [("maxn_ubfm", "ubfm"), ("maxn_descent", "descent")])
def test_with_two_players_it_is_their_search(
    name: str, two: str, heuristic: str, enough: str, variant: int, kind: str
) -> None:
    """One's gain is the other's loss: the same states, values, resolutions and selections after
    every iteration; with values of their own if any win is enough, as it is for two players."""
    for number in range(25):
        random = Random(f"two {name} {heuristic} {kind} {number}")
        game = random_game(random, kind, 50)
        settings = {"heuristic": heuristic, "seed": number}
        one = athenan.make_search(
            name, game, "hash", variant=variant, wins_enough=enough, **settings
        )
        other = athenan.make_search(two, game, "hash", **settings)
        while True:
            results = [s.run(game.initial_state(), iterations=1) for s in (one, other)]
            assert results[0] == results[1]
            nodes, edges = tree_of(one.core)
            assert edges == tree_of(other.core)[1]
            assert all(v == (v[0], -v[0]) for v, _, _, _ in nodes.values())  # type: ignore[index]
            first = {key: (v[0], c[0], r, e) for key, (v, c, r, e) in nodes.items()}  # type: ignore[index]
            assert first == tree_of(other.core)[0]
            if results[0].resolved:
                break


def test_two_players_may_both_gain() -> None:
    graph = explicit_game([[1, 2], [], []], [0, 0, 0], [(0, 0), (1, 1), (-1, 1)], [(0, 0)] * 3)
    result = make_search(graph, "hash", {"name": "maxn_ubfm"}).run(graph.root.state)
    assert (result.action, result.completion, result.resolved) == (0, (1, 1), True)
    with pytest.raises(athenan.InputError, match="one player's gain is the other's loss"):
        make_search(graph, "hash", {"name": "ubfm"})


# ---- Games ------------------------------------------------------------------------------------


@every_setting
def test_small_games(setting: str) -> None:
    for options in (
        {"name": "mnk", "rows": 2, "columns": 3, "k": 2, "players": 3},
        {"name": "mnk", "rows": 3, "columns": 3, "k": 3, "players": 4},
    ):
        game = athenan.make_game(**options)
        for heuristic in ("gain", "additive_depth"):
            graph = VectorGraph(game, heuristic)
            search = make_search(graph, "hash", {**SETTINGS[setting], "strong": True})
            assert search.run(graph.root.state).resolved
            exact = small_game_values(str(options), heuristic)
            for key, (v, c, resolved, _) in tree_of(search.core)[0].items():
                assert resolved
                assert (c, v) in exact[key]


@cache
def small_game_values(options: str, heuristic: str) -> dict[int, Any]:
    return maxn(VectorGraph(athenan.make_game(**ast.literal_eval(options)), heuristic))


@pytest.mark.parametrize("players", [3, 4])
@pytest.mark.parametrize("heuristic", ["gain", "score", "additive_depth"])
def test_rolit_on_the_smallest_board(heuristic: str, players: int) -> None:
    """From states after six discs, all that can follow by brute force."""
    game = athenan.make_game("rolit", players=players, size=4, start="four_colours")
    for number in range(4):
        random, graph = Random(number), VectorGraph(game, heuristic)
        state = graph.root
        for _ in range(6):
            state = random.choice(state.children)[1]
        exact = maxn(graph, state)
        for setting in SETTINGS.values():
            search = make_search(graph, "hash", setting)
            result = search.run(state.state)
            assert result.resolved
            for key, (v, c, resolved, _) in tree_of(search.core)[0].items():
                assert not resolved or (c, v) in exact[key]


# ---- Node for node as the reference -----------------------------------------------------------


@every_kind
@every_setting
def test_as_the_reference(setting: str, kind: str) -> None:
    """Every rule and order of the class, every decision, with and without completion."""
    for number in range(60):
        random = Random(f"reference {setting} {kind} {number}")
        players = random.choice([2, 3, 4])
        graph = random_game_n(random, kind, players, ties=random.random() < 0.4)
        if random.random() < 0.3:
            graph.heuristic = random.choice(["gain", "additive_depth"])
            graph = VectorGraph(graph.game, graph.heuristic, graph.vectors)
        lines = kind == "tree" or random.random() < 0.2
        if lines and number % 3 == 0:
            graph = VectorGraph(graph.game, graph.heuristic, graph.vectors, transpositions=False)
        decision = random.choice(["safest", "best", "safest_printed", "best_alt", "safest_alt"])
        rules: dict[str, Any] = {
            "variant": SETTINGS[setting]["variant"],
            "wins_enough": random.choice(["local", "global", "any"]),
            "continue_rule": "never" if "ubfm" in setting else "always",
            "stop_on_draw": random.random() < 0.2,
            "order": random.choice(["best", "best", "random", "least_selected"]),
            "completion": random.random() < 0.9,
            "strong": random.random() < 0.2,
            "stop_unchanged": random.random() < 0.2,
            "exact_ends": random.random() < 0.9,
            "seed": random.getrandbits(64),
        }
        if random.random() < 0.4:
            rules |= {"continue_rule": random.choice(["at_most", "chance"]), "new_states": 3}
        evaluator: Any = "hash"
        by_state: dict[str, Any] = {}
        if number % 2:
            evaluator = VectorTable(random, players)
            by_state = {"evaluator": evaluator.of_state}
        search = make_search(
            graph,
            evaluator,
            {
                "name": SETTINGS[setting]["name"],
                "decision": decision,
                "transpositions": graph.transpositions,
                "child_batching": random.random() < 0.8,
            }
            | rules,
        )
        reference = VectorReference(graph, **by_state, **rules)
        state = graph.root
        while not state.is_terminal:
            budget = {random.choice(["iterations", "evaluations"]): random.randint(1, 8)}
            result = search.run(state.state, **budget)
            reference.run(state, **budget)
            nodes, edges = tree_of(search.core)
            assert nodes == {
                key: (
                    reference.value[key],
                    reference.completion[key],
                    reference.resolved[key],
                    key in reference.explored and not graph.states[key].is_terminal,
                )
                for key in reference.value
            }
            assert edges == {
                (key, action): (child.key, reference.selections[key, action])
                for key in reference.explored
                for action, child in graph.states[key].children
            }
            assert result.iterations == reference.iterations
            assert result.evaluations == reference.evaluations
            assert result.action == reference.decision(state, decision)
            if kind == "dag" and not graph.transpositions:
                break  # the core cannot know by which line the next state was reached
            state = dict(state.children)[result.action]
