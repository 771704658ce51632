"""Random games for two to four players as explicit trees, with outcomes and values apart."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
from cases import random_children
from reference import GraphState
from reference_n import Vector, VectorGraph

import athenan


def random_game_n(
    random: Random, kind: str, players: int, most_states: int = 50, *, ties: bool = False
) -> VectorGraph:
    """Ends are of a few classes that agree in all. Unless there are to be ties, no player is
    indifferent between two of them; then values may still contradict outcomes."""
    children = random_children(random, kind, random.choice([8, 20, most_states]))
    count = len(children)
    draws = random.choice([0, 0.3, 0.8])
    classes = random.randint(1, max(1, sum(not below for below in children)))
    outcomes = [
        tuple(0 if random.random() < draws else random.choice([-1, 1]) for _ in range(players))
        for _ in range(classes)
    ]
    if ties:
        values = [tuple(float(random.randint(0, 1)) for _ in range(players)) for _ in outcomes]
    else:
        orders = [random.sample(range(1, classes + 1), classes) for _ in range(players)]
        by_outcome = 100 * (random.random() < 0.7)
        values = [
            tuple(by_outcome * outcome[p] + float(orders[p][i]) for p in range(players))
            for i, outcome in enumerate(outcomes)
        ]
    of = [random.randrange(classes) for _ in range(count)]
    return explicit_game(
        children,
        [random.randrange(players) for _ in range(count)],
        [outcomes[i] for i in of],
        [values[i] for i in of],
    )


def explicit_game(children: Any, to_move: Any, outcomes: Any, values: Any) -> VectorGraph:
    game = athenan.TreeGame(children, values, to_move, outcomes=outcomes)
    return VectorGraph(game, "score", values)


class VectorTable:
    """f_θ of a tree game by the number of the node; few values, many ties."""

    def __init__(self, random: Random, players: int, scale: float = 1, levels: int = 3) -> None:
        numbers = [[random.randint(-levels, levels) for _ in range(players)] for _ in range(256)]
        self.values = np.array(numbers) / max(scale, levels)

    def __call__(self, planes: np.ndarray) -> np.ndarray:
        numbers = planes.reshape(len(planes), 32).astype(np.int64) @ (1 << np.arange(32))
        values: np.ndarray = self.values[numbers]
        return values

    def of_state(self, state: GraphState) -> Vector:
        return tuple(self(state.state.planes()[None])[0].tolist())
