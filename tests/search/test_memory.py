"""A budget of memory: it is kept, the search goes on, and what is resolved is right and stays."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from cases import SMALL_GAMES, VARIANTS, minimax_of_all, tree_of
from reference import GameGraph

import athenan


def proofs(search: athenan.Search) -> dict[int, int]:
    """The completion of every resolved state that is not terminal, by half its key."""
    dump = search.core.dump()
    chosen = (dump["resolved"] == 1) & (dump["terminal"] == 0)
    keys, completions = dump["keys"][chosen, 0], dump["completion"][chosen]
    return dict(zip(keys.tolist(), completions.tolist(), strict=True))


def watched(
    search: athenan.Search, game: athenan.Game, slices: int, iterations: int, *, lossless: bool
) -> athenan.SearchResult:
    """Runs in slices; after each the budget is kept, and no proof has changed (or been lost)."""
    known: dict[int, int] = {}
    for _ in range(slices):
        result = search.run(game.initial_state(), iterations=iterations)
        assert not result.out_of_memory
        assert search.core.counts["bytes"] <= search.core.counts["budget"]
        found = proofs(search)
        if lossless:
            assert known.items() <= found.items()
        else:
            assert all(found[key] == known[key] for key in known.keys() & found.keys())
        known |= found
        if result.resolved:
            break
        assert result.iterations == iterations
    assert search.core.counts["collections"] > 1
    return result


@pytest.mark.parametrize("variant", ["ubfm", "descent", "chance", "descent without completion"])
def test_hex_11(variant: str) -> None:
    game = athenan.make_game("hex", size=11)
    search = athenan.make_search("umb", game, "hash", memory_mb=4, **VARIANTS[variant])
    iterations = 1500 if variant == "ubfm" else 50
    result = watched(search, game, 30, iterations, lossless=True)
    assert not result.resolved
    # The line of the last iteration stays, so that there is always an action with its reason.
    assert result.action in game.initial_state().legal_actions()
    assert len(result.principal_variation) > 1


@pytest.mark.parametrize(("name", "iterations"), [("ubfm", 60_000), ("descent", 25_000)])
def test_proofs_that_fit_are_kept(name: str, iterations: int) -> None:
    game = athenan.make_game("breakthrough", rows=5, columns=4)
    search = athenan.make_search(name, game, "hash", memory_mb=25)
    result = watched(search, game, 20, iterations, lossless=True)
    assert (result.resolved, result.completion) == (True, 1)


def test_proofs_that_do_not_fit_are_found_again() -> None:
    """Nearly all states of this game must be resolved; they alone take several times the budget."""
    game = athenan.make_game("connect_four", rows=4, columns=5)
    search = athenan.make_search("descent", game, "hash", memory_mb=15)
    watched(search, game, 12, 30_000, lossless=False)


@pytest.mark.parametrize(
    ("name", "options", "memory_mb", "value"),
    [
        # Alone these take 77, 8 and 184 MB.
        ("descent", {"name": "breakthrough", "rows": 5, "columns": 4}, 12, 1),
        ("ubfm", {"name": "breakthrough", "rows": 5, "columns": 4}, 20, 1),
        ("descent", {"name": "connect_four", "rows": 4, "columns": 4}, 2, 0),
        ("ubfm", {"name": "connect_four", "rows": 4, "columns": 4}, 2, 0),
        ("ubfm", {"name": "connect_four", "rows": 4, "columns": 5}, 60, 0),
    ],
    ids=str,
)
def test_games_are_solved_in_too_little_memory(
    name: str, options: dict[str, Any], memory_mb: float, value: int
) -> None:
    game = athenan.make_game(**options)
    search = athenan.make_search(name, game, "hash", memory_mb=memory_mb)
    result = search.run(game.initial_state(), seconds=120)
    assert (result.resolved, result.completion) == (True, value)
    assert search.core.counts["collections"] > 1
    assert search.core.counts["bytes"] <= search.core.counts["budget"]


@pytest.mark.parametrize("name", ["ubfm", "descent"])
def test_a_collapse_keeps_a_third_and_the_most_selected(name: str) -> None:
    game = athenan.make_game("hex", size=7)
    search = athenan.make_search(name, game, "hash", memory_mb=1)
    while not search.core.counts["collections"]:
        nodes, edges = tree_of(search.core)
        search.run(game.initial_state(), iterations=1)
    nodes_left, edges_left = tree_of(search.core)
    assert 0.3 * len(edges) < len(edges_left) < 0.4 * len(edges)

    visits: Counter[int] = Counter()
    for (parent, _), (_, selections) in edges.items():
        visits[parent] += selections
    selected = {  # by the last iteration, whose line is never taken apart
        parent for (parent, action), (_, n) in edges_left.items()
        if n > edges.get((parent, action), (0, 0))[1]
    }  # fmt: skip
    unresolved = {key for key, (_, _, resolved, expanded) in nodes.items() if expanded > resolved}
    kept = {key for key in unresolved if nodes_left.get(key, (0, 0, 0, False))[3]}
    # What hangs on nothing that is kept cannot stay, however often it was selected.
    below = {child for (parent, _), (child, _) in edges.items() if parent in kept}
    dropped = (unresolved - kept) & below
    assert dropped
    assert max(visits[key] for key in dropped) <= min(visits[key] for key in kept - selected)


@pytest.mark.parametrize("size", [5, 7])
def test_a_collapse_leaves_the_line_of_the_iteration(size: int) -> None:
    """However seldom its states were selected: an iteration of Descent leads to an end or a proof,
    and all of its states have their children still when it is backed up."""
    game = athenan.make_game("hex", size=size)
    search = athenan.make_search("descent", game, "hash", memory_mb=0.2 if size == 5 else 1)
    collapses = 0
    while collapses < 5:
        before = tree_of(search.core)[1] if search.core.counts["states"] else {}
        collections = search.core.counts["collections"]
        search.run(game.initial_state(), iterations=1)
        if search.core.counts["collections"] == collections:
            continue
        collapses += 1
        nodes, edges = tree_of(search.core)
        children = defaultdict(list)
        for (parent, action), (child, n) in edges.items():
            if n > before.get((parent, action), (0, 0))[1]:
                children[parent].append(child)
        key = game.initial_state().key
        while not nodes[key][2]:
            assert len(children[key]) == 1
            key = children[key][0]


@cache
def exact_values(game: str) -> dict[int, int]:
    """By brute force; of the largest by strong solving, which test_theorems.py checks."""
    graph = GameGraph(athenan.make_game(**SMALL_GAMES[game]))
    if game != "connect_four 4x4":
        return minimax_of_all(graph)
    search = athenan.make_search("descent", graph.game, "hash", strong=True)
    assert search.run(graph.root.state).resolved
    return {key: node[1] for key, node in tree_of(search.core)[0].items()}


@pytest.mark.parametrize("variant", ["ubfm", "descent", "chance", "descent strong"])
@pytest.mark.parametrize("game", SMALL_GAMES)
def test_what_is_resolved_is_right(game: str, variant: str) -> None:
    """In a third of the memory that the whole search takes."""
    core_game = athenan.make_game(**SMALL_GAMES[game])
    root, settings = core_game.initial_state(), VARIANTS[variant]
    whole = athenan.make_search("umb", core_game, "hash", **settings)
    whole.run(root, iterations=20_000)
    memory_mb = whole.core.counts["bytes"] / 3 / 1e6
    search = athenan.make_search("umb", core_game, "hash", memory_mb=memory_mb, **settings)
    exact = exact_values(game)
    for _ in range(12):
        search.run(root, iterations=1500)
        for key, (_, completion, resolved, _) in tree_of(search.core)[0].items():
            assert not resolved or completion == exact[key]
    assert search.core.counts["collections"] > 0


def test_games_played_in_little_memory() -> None:
    """Roots that were collapsed, forgotten, or are known only as resolved are searched as new."""
    game, random = athenan.make_game("connect_four", rows=4, columns=4), Random(0)
    exact = exact_values("connect_four 4x4")
    search = athenan.make_search("descent", game, "hash", memory_mb=0.2)
    for _ in range(30):
        state = game.initial_state()
        while not state.is_terminal:
            result = search.run(state, iterations=200)
            assert search.core.counts["bytes"] <= search.core.counts["budget"]
            assert not result.resolved or result.completion == exact[state.key]
            assert result.action in state.legal_actions()
            state = state.play(random.choice(state.legal_actions()))
        for key, (_, completion, resolved, _) in tree_of(search.core)[0].items():
            assert not resolved or completion == exact[key]
    assert search.core.counts["collections"] > 10


def test_a_budget_that_holds_no_expansion_ends_the_search() -> None:
    game = athenan.make_game("hex", size=11)
    search = athenan.make_search("descent", game, "hash", memory_mb=0.004)
    for _ in range(3):
        result = search.run(game.initial_state(), iterations=1000)
        assert result.out_of_memory
        assert not result.resolved
    assert search.core.counts["bytes"] <= 4000


def test_at_most_48_bytes_a_child_state() -> None:
    """Also right after the index of the table has grown."""
    game = athenan.make_game("hex", size=11)
    search = athenan.make_search("descent", game, "hash")
    largest = 0.0
    for _ in range(60):
        search.run(game.initial_state(), iterations=10)
        counts = search.core.counts
        assert counts["states"] > 0.5 * counts["edges"]  # so that an edge stands for a state
        largest = max(largest, counts["bytes"] / counts["edges"])
    assert largest <= 48


RESIDENT = """
import athenan

def resident(field):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(field))

game = athenan.make_game("hex", size=11)
root = game.initial_state()
athenan.make_search("descent", game, "hash", memory_mb=1).run(root, iterations=100)
search = athenan.make_search("descent", game, "hash", memory_mb=64)
before = resident("VmRSS")
children, fit = 0, 64_000_000 / 48
while children < 10 * fit:
    assert not search.run(root, iterations=500).out_of_memory
    children += search.core.counts["children"]
assert search.core.counts["collections"] > 5
print(resident("VmHWM") - before)
"""


@pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="resident memory is read from /proc (Linux)"
)
def test_resident_memory_stays_within_the_budget() -> None:
    """The peak over ten times as many child states as fit."""
    run = subprocess.run(
        [sys.executable, "-c", RESIDENT], capture_output=True, text=True, check=True
    )
    assert int(run.stdout) <= 1.1 * 64_000_000
