"""n in a row on n × n cells, where a line is a whole row, column or diagonal, in plain Python."""

import math
import random
from functools import cache
from typing import Any

from brute_force import proved, solve


@cache
def naive_value(board: str, mover: str, pairs: bool) -> int:
    """For x, of the cells row by row; in `pairs` a turn ends with an even number of stones."""
    size, cells = math.isqrt(len(board)), len(board)
    indices = [range(size * i, size * (i + 1)) for i in range(size)]
    indices += [range(i, cells, size) for i in range(size)]
    indices += [range(0, cells, size + 1), range(size - 1, cells - 1, size - 1)]
    lines = {"".join(board[i] for i in line) for line in indices}
    if "x" * size in lines or "o" * size in lines:
        return 1 if "x" * size in lines else -1
    goes_on = pairs and (cells - board.count(".")) % 2 == 1
    other = mover if goes_on else "o" if mover == "x" else "x"
    children = [
        naive_value(board[:i] + mover + board[i + 1 :], other, pairs)
        for i in range(cells)
        if board[i] == "."
    ]
    return (max if mover == "x" else min)(children, default=0)


def drawn(game: Any, board: str, ply: int, mover: str) -> Any:
    """The state of these cells."""
    size = math.isqrt(len(board))
    rows = [f"{r + 1} {' '.join(board[size * r : size * (r + 1)])}" for r in range(size)]
    head = " ".join("abcdefghij"[:size])
    return game.state_from_string("\n".join([f"  {head}", *rows, f"ply {ply}, {mover} to move"]))


def check_random_boards(game: Any, size: int, empty: list[int], ply: int, pairs: bool) -> None:
    """The rules, a search and the plain solver agree on boards that are almost full."""
    rng = random.Random(size)
    values = []
    for _ in range(150):
        # Rows that mostly belong to one player, so that all three values occur.
        many = size - 2
        cells = [
            rng.choice("x" * many + "o" if i // size % 2 else "o" * many + "x")
            for i in range(size * size)
        ]
        for i in rng.sample(range(size * size), rng.choice(empty)):
            cells[i] = "."
        board, mover = "".join(cells), rng.choice("xo")
        state = drawn(game, board, ply, mover)
        if state.is_terminal:
            continue
        values.append(solve(state))
        assert values[-1] == proved(game, state) == naive_value(board, mover, pairs), str(state)
    assert set(values) == {-1, 0, 1}
