"""A person against the program, in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from athenan import _core
from athenan.checkpoint import runs_of
from athenan.evaluators import find_checkpoint, find_evaluator
from athenan.games import make_game
from athenan.search import Search, SearchResult, make_search, search_type
from athenan.settings import PlaySettings

HELP = "an action, or: values (what the search sees) · hint · undo · actions · help · quit"


def make_program(game: _core.Game, config: PlaySettings) -> Search:
    runs = runs_of(Path(config.checkpoints), config.game["name"])
    if config.checkpoint is not None:
        evaluator: Any = find_checkpoint(config.checkpoint, game, runs, config.trust)
    else:
        evaluator = find_evaluator(config.evaluator, game, runs, trust=config.trust)
    search = config.search
    if game.num_players > 2 and search_type(search["name"])["uses_evaluator"]:
        search = {"name": "uct"}  # the searches with an evaluator are for two players
    return make_search(game=game, evaluator=evaluator, threads=config.threads, **search)


def play(config: PlaySettings) -> None:
    game = make_game(**config.game)
    search = make_program(game, config)
    budget: dict[str, Any] = {"evaluations": config.evaluations, "seconds": config.seconds}
    person = 0 if config.first == "me" else 1
    states = [game.initial_state()]
    print(f"You are {'first' if person == 0 else 'second'}. At the prompt: {HELP}.")
    while True:
        state = states[-1]
        print(f"\n{state}")
        if state.is_terminal:
            outcomes = state.outcomes
            assert outcomes is not None
            print({1: "You win.", 0: "A draw.", -1: "The program wins."}[outcomes[person]])
            return
        if state.to_move != person:
            result = search.run(state, **budget)
            assert result.action is not None
            print(f"program: {state.action_to_string(result.action)}  {summary(result)}")
            states.append(state.play(result.action))
            continue
        try:
            word = input("you: ").strip()
        except EOFError:
            print()
            return
        if not answer(word, states, search, budget, person):
            return


def answer(
    word: str, states: list[Any], search: Search, budget: dict[str, Any], person: int
) -> bool:
    """Does what the person asks; false to quit."""
    state = states[-1]
    if word == "quit":
        return False
    if word == "undo":
        while len(states) > 1:
            states.pop()
            if states[-1].to_move == person:
                break
    elif word == "values":
        show_values(state, search.run(state, **budget))
    elif word == "hint":
        result = search.run(state, **budget)
        assert result.action is not None
        print(f"{state.action_to_string(result.action)}  {summary(result)}")
    elif word == "actions":
        print(" ".join(state.action_to_string(a) for a in state.legal_actions()))
    elif word in ("help", ""):
        print(HELP)
    else:
        try:
            states.append(state.play(state.string_to_action(word)))
        except ValueError as error:
            print(error)
    return True


def summary(result: SearchResult) -> str:
    if result.resolved:
        return f"(proven: {known(result.completion)})"
    values = result.value if isinstance(result.value, tuple) else (result.value,)
    text = " ".join(f"{value:+.2f}" for value in values)
    return f"(value {text}, {result.evaluations} evaluations)"


def known(completion: Any) -> str:
    """A proven result in words."""
    if isinstance(completion, tuple):
        won = [str(player + 1) for player, result in enumerate(completion) if result == 1]
        return f"player {' and '.join(won)} wins" if won else "draw"
    return {1: "first player wins", 0: "draw", -1: "second player wins"}[completion]


def movers(value: Any, player: int) -> float:
    """A value or completion in the view of the player to move."""
    own: float = value[player] if isinstance(value, tuple) else -value if player == 1 else value
    return own


def show_values(state: Any, result: SearchResult) -> None:
    """The children best first for the mover, then the principal variation."""
    player = state.to_move
    ranked = sorted(
        result.children,
        key=lambda c: (movers(c.completion, player), movers(c.value, player)),
        reverse=True,
    )
    print("action     value  completion            selections")
    for child in ranked[:12]:
        value = movers(child.value, player) if isinstance(child.value, tuple) else child.value
        proven = known(child.completion) if child.resolved else "-"
        action = state.action_to_string(child.action)
        print(f"{action:8} {value:+7.3f}  {proven:20}  {child.selections}")
    words = []
    for action in result.principal_variation[:12]:
        words.append(state.action_to_string(action))
        state = state.play(action)
    print("line:", " ".join(words))
