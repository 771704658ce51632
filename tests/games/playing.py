"""Playing by the texts of actions, for tests of single games."""

import random
from collections.abc import Iterator
from typing import Any


def texts(state: Any) -> set[str]:
    """Of the legal actions."""
    found = [state.action_to_string(action) for action in state.legal_actions()]
    assert len(found) == len(set(found)), "two actions with one text"
    return set(found)


def play(state: Any, *actions: str) -> Any:
    """After these actions, each word of which is one."""
    for text in " ".join(actions).split():
        state = state.play(state.string_to_action(text))
    return state


def boards(picture: str) -> list[str]:
    """Of boards drawn side by side, each with the rows of a FEN."""
    rows = [line.split() for line in picture.strip().splitlines()]
    return ["/".join(board).replace(".", "1") for board in zip(*rows, strict=True)]


def board_lines(state: Any) -> str:
    """A drawn board without its last line and without the mark of the last action."""
    return str(state).split("ply")[0].replace("[", " ").replace("]", " ")


def play_beside(
    state: Any, plain: Any, chance: random.Random
) -> Iterator[tuple[Any, Any, Any, Any]]:
    """A random game by its rules of draws and by none: both states after each action, and the
    planes before and after it."""
    while not state.is_terminal:
        before = state.planes()
        action = chance.choice(state.legal_actions())
        state, plain = state.play(action), plain.play(action)
        assert (state.planes() == plain.planes()).all()
        yield state, plain, before, state.planes()
