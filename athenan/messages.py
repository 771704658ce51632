"""What the page and its server say to each other: what is read of a visitor's messages, and how
positions and thoughts are told."""

from __future__ import annotations

from typing import Any

from athenan.boards import Board
from athenan.errors import InputError
from athenan.thoughts import Thought

MOST_LINE = 200  # actions of a look ahead
MOST_CHILDREN = 400  # of a thought that is told


def text(message: dict[str, Any], name: str, usual: str | None = None) -> str:
    value = message.get(name, usual)
    if not isinstance(value, str) or len(value) > 300:
        raise InputError(f"'{name}' is a text.")
    return value


def number(
    message: dict[str, Any], name: str, low: int, high: int, usual: int | None = None
) -> int:
    value = message.get(name, usual)
    if type(value) is not int or not low <= value <= high:
        raise InputError(f"'{name}' is a number from {low} to {high}.")
    return value


def actions_in(message: dict[str, Any]) -> list[int]:
    actions = message.get("actions", [])
    if not isinstance(actions, list) or len(actions) > MOST_LINE:
        raise InputError("'actions' is a list of numbers.")
    if not all(type(action) is int and 0 <= action < 2**32 for action in actions):
        raise InputError("'actions' is a list of numbers.")
    return actions


def position_of(board: Board, state: Any) -> dict[str, Any]:
    """What a board shows, and what can be done there."""
    paths = board.paths(state)
    return {
        "figures": board.figures(state) if board.cells else "",
        "text": "" if board.cells else str(state),
        "standing": {cell: piece.name for cell, piece in board.standing(state).items()},
        "levels": board.levels(state),
        "actions": [
            [action, state.action_to_string(action), list(path)] for action, path in paths.items()
        ],
        "to_move": state.to_move,
        "part": board.part(state),
        "ply": state.ply,
        "outcomes": state.outcomes,
        "score": state.score,
    }


def thought_of(thought: Thought) -> dict[str, Any]:
    """A thought as the page has it: children in the order of the decision, values in the view of
    who moves."""
    result = thought.result
    found: dict[str, Any] = {"over": thought.over, "seconds": round(thought.seconds, 2)}
    if result is None:
        return found
    line, state, words = thought.line, thought.state, []
    for action in line:
        words.append([action, state.action_to_string(action), state.to_move])
        state = state.play(action)
    children = [
        [
            child.action,
            thought.state.action_to_string(child.action),
            round(thought.own(child.value), 4),
            round(thought.own(child.completion)),
            child.selections,
            child.resolved,
            thought.plies_to_end(child.action),
        ]
        for child in thought.candidates()[:MOST_CHILDREN]
    ]
    reason = thought.why()
    return found | {
        "value": result.value,
        "own": round(thought.own(result.value), 4),
        "mover": thought.player,
        "completion": thought.own(result.completion),
        "resolved": result.resolved,
        "plies": result.plies_to_end,
        "evaluations": result.evaluations,
        "iterations": result.iterations,
        "states": result.states,
        "action": thought.action,
        "line": words,
        "why": {"decision": reason.decision, "order": reason.order, "sentence": str(reason)},
        "children": children,
    }
