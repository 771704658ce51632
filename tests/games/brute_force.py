"""Small games solved by plain minimax over all states: what any search must agree with."""

from typing import Any

import athenan


def proved(game: Any, state: Any) -> int:
    """The outcome for the first player, by searching until it is proved."""
    if state.is_terminal:
        return int(state.outcomes[0])
    result = athenan.make_search("umb", game, "hash", seed=1).run(state, iterations=10_000_000)
    assert result.resolved
    return result.completion


def solve(state: Any, values: dict[int, int] | None = None) -> int:
    """The outcome for the first of two players when both play perfectly."""
    values = {} if values is None else values
    if state.key not in values:
        values[state.key] = (
            state.outcomes[0] if state.is_terminal else best(state)(child_values(state, values))
        )
    return values[state.key]


def best(state: Any) -> Any:
    return max if state.to_move == 0 else min


def child_values(state: Any, values: dict[int, int]) -> list[int]:
    """Stops at the first child that wins for the mover: nothing is better."""
    goal = 1 if state.to_move == 0 else -1
    found = []
    for action in state.legal_actions():
        found.append(solve(state.play(action), values))
        if found[-1] == goal:
            break
    return found


def winning_actions(state: Any) -> set[str]:
    """The texts of the actions that win for the mover."""
    values: dict[int, int] = {}
    goal = 1 if state.to_move == 0 else -1
    return {
        state.action_to_string(action)
        for action in state.legal_actions()
        if solve(state.play(action), values) == goal
    }
