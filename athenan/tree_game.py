"""Games made of an explicit tree or acyclic graph, so that theorems can be tested on them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from athenan import _core
from athenan.errors import InputError
from athenan.files import read_text


class TreeGame:
    """`TreeGame(children, values)` is a game whose states are numbered nodes, 0 the root.

    `children[i]` lists the nodes that actions 0, 1, … of node i lead to; a node without any is
    terminal and worth `values[i]` (its sign is the outcome, heuristic `score` the value itself).
    In a game for n players `outcomes[i]` has -1, 0 or 1 for each of them, and `values[i]` what the
    end is worth to each with heuristic `score`, whatever the outcomes say.
    Players take turns from the root unless `to_move` says who moves at each node. `upper` and
    `lower` are heuristic bounds U and L of each node, for informed searches. The planes are the 32
    bits of the node's number, so that an evaluator can look it up.
    """

    def __new__(  # type: ignore[misc]
        cls,
        children: Sequence[Sequence[int]],
        values: Sequence[float] | Sequence[Sequence[float]],
        to_move: Sequence[int] | None = None,
        upper: Sequence[float] | None = None,
        lower: Sequence[float] | None = None,
        outcomes: Sequence[Sequence[int]] | None = None,
    ) -> _core.Game:
        inf = float("inf")
        players = max(map(len, outcomes), default=2) if outcomes is not None else 2
        vectors: list[Any] = list(values) if outcomes is not None else []
        numbers: list[Any] = [0.0] * len(children) if outcomes is not None else list(values)
        return _core.make_tree_game(
            [list(c) for c in children],
            list(to_move) if to_move is not None else alternating(children, players),
            numbers,
            list(upper) if upper is not None else [inf] * len(children),
            list(lower) if lower is not None else [-inf] * len(children),
            [list(o) for o in outcomes] if outcomes is not None else [],
            [list(v) for v in vectors],
        )

    @staticmethod
    def nested(tree: Any) -> _core.Game:
        """From nested lists with numbers as leaves: `TreeGame.nested([[3, -1], [0, [2, -5]]])`."""
        children: list[list[int]] = []
        values: list[float] = []
        # Numbered as they are read, the first child of a node right after it; a tree may be deeper
        # than calls can be.
        waiting: list[tuple[Any, list[int]]] = [(tree, [])]
        while waiting:
            branch, siblings = waiting.pop()
            siblings.append(len(children))
            parts: list[int] = []
            children.append(parts)
            values.append(0.0 if isinstance(branch, list) else float(branch))
            if isinstance(branch, list):
                waiting += [(part, parts) for part in reversed(branch)]
        return TreeGame(children, values)


def read_tree(path: Path) -> _core.Game:
    """A tree from a JSON file: nested lists with numbers as leaves, or an object of TreeGame's
    arguments."""
    try:
        said = json.loads(read_text(path))
        return TreeGame(**said) if isinstance(said, dict) else TreeGame.nested(said)
    except FileNotFoundError:
        raise InputError(f"There is no file '{path}'.") from None
    except (OSError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise InputError(
            f"'{path}' is no tree; write one like [[3, 5], [2, 9]], or its children and values: "
            f"{str(error).rstrip('.').splitlines()[0] if str(error) else 'it cannot be read'}."
        ) from None


def alternating(children: Sequence[Sequence[int]], players: int = 2) -> list[int]:
    """Who moves at each node when players take turns from the root; by shortest distance."""
    to_move = [0] * len(children)
    seen, layer, player = {0}, [0], 0
    while layer:
        following = []
        for node in layer:
            to_move[node] = player
            known = [child for child in children[node] if child < len(children)]
            following += [child for child in known if child not in seen]
            seen.update(known)
        layer, player = following, (player + 1) % players
    return to_move
