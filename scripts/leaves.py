"""The leaves that searches look at in uniform trees, beside the least that any must.

    python scripts/leaves.py [--file leaves.jsonl] [--trees 10]

Trees of at most 10^6 leaves, height 4 to 12, branching 2 to 8, with random leaves or in perfect
order (the first child is a best one). Bounds of informed trees are f ± up to 100 (wide), up to 20
(narrow) or f itself at one state in two (exact), made consistent. A line is written for each tree,
so that it goes on where it was stopped; then the table is printed.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from random import Random
from typing import Any

import athenan
from athenan.table import table

MOST_LEAVES = 10**6
LARGEST = 100  # of the values of random leaves
INFINITE = math.inf
SEARCHES: dict[str, tuple[str, dict[str, Any], str]] = {
    "minimax": ("minimax", {}, ""),
    "alpha-beta": ("alphabeta", {"transpositions": False}, ""),
    "informed, wide": ("alphabeta_informed", {}, "wide"),
    "informed, narrow": ("alphabeta_informed", {}, "narrow"),
    "informed, exact": ("alphabeta_informed", {}, "exact"),
    "SSS-2": ("sss2", {}, ""),
    "MT-SSS*": ("mt_sss", {"augmented": False}, ""),
    "MT-SSS* augmented": ("mt_sss", {"augmented": True}, ""),
    "rollout leftmost": ("rollout", {"policy": "leftmost"}, ""),
    "rollout max_beta": ("rollout", {"policy": "max_beta"}, ""),
    "rollout random": ("rollout", {"policy": "random"}, ""),
    "rollout uct_hybrid": ("rollout", {"policy": "uct_hybrid", "lambda": 50.0}, ""),
}
TREES = [
    (branching, height)
    for height in range(4, 13)
    for branching in range(2, 9)
    if branching**height <= MOST_LEAVES
]


def values_of(branching: int, height: int, order: str, random: Random) -> list[int]:
    """Of the leaves, from left to right."""
    if order == "random":
        return [random.randint(-LARGEST, LARGEST) for _ in range(branching**height)]
    values = [1]
    for ply in range(height):
        step = -1 if ply % 2 == 0 else 1  # later children are worse for who chooses
        values = [value + step * i for value in values for i in range(branching)]
    return values


def bounds_of(
    values: list[list[int]], branching: int, quality: str, random: Random
) -> tuple[list[float], list[float]]:
    """U and L of all states by levels; a level's values are those of its states."""
    most = max(1, max(map(abs, values[-1])))
    spread = {"wide": 100, "narrow": 20, "exact": 0}[quality]
    uppers, lowers = [[INFINITE]], [[-INFINITE]]
    for ply in range(1, len(values)):
        above_u, above_l = uppers[-1], lowers[-1]
        upper, lower = [], []
        for i, value in enumerate(values[ply]):
            u, low = INFINITE, -INFINITE
            if quality != "exact" or random.random() < 0.5:
                u = min(most, value + random.randint(0, spread))
                low = max(-most, value - random.randint(0, spread))
            if ply % 2 == 1:  # below the first player
                u = min(u, above_u[i // branching])
            else:
                low = max(low, above_l[i // branching])
            upper.append(u)
            lower.append(low)
        uppers.append(upper)
        lowers.append(lower)
    flat = [[bound for level in levels for bound in level] for levels in (uppers, lowers)]
    return flat[0], flat[1]


def tree_game(branching: int, height: int, order: str, quality: str, seed: str) -> Any:
    random = Random(seed)
    values = [values_of(branching, height, order, random)]
    for ply in range(height - 1, -1, -1):
        choose = max if ply % 2 == 0 else min
        below = values[0]
        level = [choose(below[i : i + branching]) for i in range(0, len(below), branching)]
        values.insert(0, level)
    inner = sum(branching**ply for ply in range(height))
    children = [list(range(branching * i + 1, branching * i + 1 + branching)) for i in range(inner)]
    children += [[] for _ in values[-1]]
    bounds = bounds_of(values, branching, quality, random) if quality else (None, None)
    flat = [value for level in values for value in level]
    return athenan.TreeGame(children, flat, None, *bounds)


def count_leaves(branching: int, height: int, order: str, title: str, number: int) -> int:
    name, options, quality = SEARCHES[title]
    game = tree_game(branching, height, order, quality, f"{branching} {height} {order} {number}")
    search = athenan.make_search(
        name, game, "zero", depth=100, heuristic="score", child_batching=False, **options
    )
    if name == "minimax":
        return branching**height
    search.core.tracing = True
    search.run(game.initial_state())
    return sum(kind == "leaf" for _, kind, _, _ in search.core.trace)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, default=Path("leaves.jsonl"))
    parser.add_argument("--trees", type=int, default=10, help="random ones of each size")
    parser.add_argument("--leaves", type=int, default=MOST_LEAVES, help="a tree has at most")
    chosen = parser.parse_args()
    found: dict[str, int] = {}
    if chosen.file.exists():
        for line in chosen.file.read_text().splitlines():
            found.update(json.loads(line))
    sizes = [(b, h) for b, h in TREES if b**h <= chosen.leaves]
    with chosen.file.open("a") as file:
        for branching, height in sizes:
            for order in ("random", "ordered"):
                for number in range(chosen.trees if order == "random" else 1):
                    for title in SEARCHES:
                        key = f"{title}|{branching}|{height}|{order}|{number}"
                        if key not in found:
                            found[key] = count_leaves(branching, height, order, title, number)
                            file.write(json.dumps({key: found[key]}) + "\n")
                            file.flush()
    print("\n".join(table(rows_of(found, sizes, chosen.trees))))


def rows_of(found: dict[str, int], sizes: list[tuple[int, int]], trees: int) -> list[list[str]]:
    """Means over the trees of a size, then shares of all leaves averaged over the sizes."""
    picked = [size for size in ((2, 12), (4, 8), (8, 6)) if size in sizes] or sizes[-3:]
    titles = [f"{b}^{h} {order}" for b, h in picked for order in ("random", "ordered")]
    rows = [["search", *titles, "share, random", "share, ordered"]]
    for title in SEARCHES:
        row = [title]
        for b, h in picked:
            row += [f"{mean(found, title, b, h, order, trees):,.0f}" for order in ORDERS]
        for order in ORDERS:
            shares = [mean(found, title, b, h, order, trees) / b**h for b, h in sizes]
            row.append(f"{sum(shares) / len(shares):.1%}")
        rows.append(row)
    least = ["least (perfect order)"]
    for b, h in picked:
        least += [f"{critical(b, h):,}"] * 2
    shares = [critical(b, h) / b**h for b, h in sizes]
    rows.append([*least, *[f"{sum(shares) / len(shares):.1%}"] * 2])
    return rows


ORDERS = ("random", "ordered")


def mean(found: dict[str, int], title: str, b: int, h: int, order: str, trees: int) -> float:
    numbers = range(trees if order == "random" else 1)
    return sum(found[f"{title}|{b}|{h}|{order}|{n}"] for n in numbers) / len(numbers)


def critical(branching: int, height: int) -> int:
    return branching ** (height // 2) + branching ** ((height + 1) // 2) - 1


if __name__ == "__main__":
    main()
