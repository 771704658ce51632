"""What the search tests share: variants, random games, and trees in a form that compares."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from reference import GameGraph, GraphState, Reference

import athenan

# Settings of search `umb`: the two algorithms of the papers, others of their class, the two orders
# that are not best first, strong solving, and both without completion.
VARIANTS: dict[str, dict[str, Any]] = {
    "ubfm": {"continue_rule": "never"},
    "descent": {"continue_rule": "always"},
    "at most 3": {"continue_rule": "at_most", "new_states": 3},
    "chance": {"continue_rule": "chance", "stop_probability": 0.3},
    "ubfm random": {"continue_rule": "never", "order": "random"},
    "descent random": {"continue_rule": "always", "order": "random"},
    "ubfm least selected": {"continue_rule": "never", "order": "least_selected"},
    "chance least selected": {"continue_rule": "chance", "order": "least_selected"},
    "ubfm strong": {"continue_rule": "never", "strong": True},
    "descent strong": {"continue_rule": "always", "strong": True},
    "ubfm without completion": {"continue_rule": "never", "completion": False},
    "descent without completion": {"continue_rule": "always", "completion": False},
}
WITH_COMPLETION = {name: v for name, v in VARIANTS.items() if v.get("completion", True)}
WEAK = {name: v for name, v in WITH_COMPLETION.items() if not v.get("strong", False)}

SMALL_GAMES: dict[str, dict[str, Any]] = {
    "tictactoe": {"name": "tictactoe"},
    "connect_four 4x4": {"name": "connect_four", "rows": 4, "columns": 4},
    "hex 3": {"name": "hex", "size": 3},
    "breakthrough 4x3": {"name": "breakthrough", "rows": 4, "columns": 3},
    "othello 4": {"name": "othello", "size": 4},
}


def random_member(random: Random) -> dict[str, Any]:
    """Settings of some algorithm of the class."""
    return {
        "continue_rule": random.choice(["never", "always", "at_most", "chance"]),
        "new_states": random.randint(1, 5),
        "stop_probability": random.random(),
        "order": random.choice(["best", "random", "least_selected"]),
        "seed": random.getrandbits(64),
    }


def random_game(random: Random, kind: str, most_states: int = 80) -> athenan.Game:
    """A tree, or an acyclic graph where a state has several parents or one parent twice.

    Leaf values are small integers, so that ties and draws are frequent; players alternate or not.
    """
    children = random_children(random, kind, most_states)
    largest, draws = random.choice([1, 1, 3]), random.choice([0.1, 0.5, 0.9])
    values = [0 if random.random() < draws else random.randint(-largest, largest) for _ in children]
    to_move = [random.randint(0, 1) for _ in children] if random.random() < 0.5 else None
    return athenan.TreeGame(children, values, to_move)


def random_children(random: Random, kind: str, most_states: int) -> list[list[int]]:
    states = random.randint(2, most_states)
    near = random.choice([2, 4, most_states])  # narrow and deep, or broad
    children: list[list[int]] = [[] for _ in range(states)]
    for child in range(1, states):
        children[random.randint(max(0, child - near), child - 1)].append(child)
    if kind == "dag":
        for _ in range(random.randint(1, states)):
            parent, child = sorted(random.choices(range(states), k=2))
            if parent < child:
                children[parent].insert(random.randint(0, len(children[parent])), child)
    return children


class TableEvaluator:
    """f_θ of a tree game by the number of the node, read from the planes; few values, many ties."""

    def __init__(self, random: Random, levels: int = 3) -> None:
        self.values = np.array([random.randint(-levels, levels) / levels for _ in range(256)])

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        numbers = planes.reshape(len(planes), 32).astype(np.int64) @ (1 << np.arange(32))
        return self.values[numbers]

    def of_state(self, state: GraphState) -> float:
        return float(self(state.state.planes()[None])[0])


def minimax(state: GraphState, known: dict[int, int] | None = None) -> int:
    """M(s) by brute force, of every state that can be reached."""
    known = {} if known is None else known
    if state.key not in known:
        values = [minimax(child, known) for _, child in state.children]
        if state.is_terminal:
            known[state.key] = state.outcome
        else:
            known[state.key] = max(values) if state.to_move == 0 else min(values)
    return known[state.key]


def minimax_of_all(graph: GameGraph) -> dict[int, int]:
    known: dict[int, int] = {}
    minimax(graph.root, known)
    return known


Nodes = dict[int, tuple[float, int, bool, bool]]  # key: (value, completion, resolved, expanded)
Edges = dict[tuple[int, int], tuple[int, int]]  # (parent's key, action): (child's key, selections)


def tree_of(core: Any) -> tuple[Nodes, Edges]:
    """The tree of a core search, by keys."""
    dump = {name: array.tolist() for name, array in core.dump().items()}
    keys = [low | high << 64 for low, high in dump["keys"]]
    nodes: Any = {
        key: (hashable(value), hashable(completion), bool(resolved), bool(expanded))
        for key, value, completion, resolved, expanded in zip(
            keys,
            dump["value"],
            dump["completion"],
            dump["resolved"],
            dump["expanded"],
            strict=True,
        )
    }
    assert len(nodes) == len(keys)
    edges = {
        (keys[parent], action): (keys[child], selections)
        for parent, action, child, selections in zip(
            dump["parent"], dump["action"], dump["child"], dump["selections"], strict=True
        )
    }
    return nodes, edges


def hashable(value: Any) -> Any:
    """A number, or the vector of a game for n players."""
    return tuple(value) if isinstance(value, list) else value


def reference_tree(reference: Reference) -> tuple[Nodes, Edges]:
    states = reference.graph.states
    nodes = {
        key: (
            reference.value[key],
            reference.completion[key],
            reference.resolved[key],
            key in reference.explored and not states[key].is_terminal,
        )
        for key in reference.value
    }
    edges = {
        (key, action): (child.key, reference.selections[key, action])
        for key in reference.explored
        for action, child in states[key].children
    }
    return nodes, edges
