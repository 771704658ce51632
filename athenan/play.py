"""A person against the program, in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from athenan.checkpoint import runs_of
from athenan.errors import InputError
from athenan.games import make_game
from athenan.players import make_evaluator
from athenan.search import Search, SearchResult, core_game, make_search

HELP = "an action, or: values (what the search sees) · hint · undo · actions · help · quit"


def play(config: Any) -> None:
    game = core_game(make_game(**config.game))
    if config.first not in ("me", "you"):
        raise InputError(f"Setting 'first' must be me or you, not '{config.first}'.")
    evaluator, heuristic = make_evaluator(
        game, config, runs_of(Path(config.checkpoints), config.game.name)
    )
    search = make_search(
        config.search, game, evaluator, decision=config.decision, threads=config.threads,
        **heuristic,
    )  # fmt: skip
    budget = {name: config[name] for name in ("evaluations", "seconds") if config[name]}
    if any(not value > 0 for value in budget.values()):
        raise InputError("The program's budget must be positive.")
    if not budget:
        raise InputError("The program needs a budget of evaluations or seconds.")
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
        proven = {1: "first player wins", 0: "draw", -1: "second player wins"}
        return f"(proven: {proven[result.completion]})"
    return f"(value {result.value:+.2f}, {result.evaluations} evaluations)"


def show_values(state: Any, result: SearchResult) -> None:
    """The children best first for the mover, then the principal variation."""
    sign = 1 if state.to_move == 0 else -1
    ranked = sorted(
        result.children, key=lambda c: (sign * c.completion, sign * c.value), reverse=True
    )
    print("action     value  completion  selections")
    for child in ranked[:12]:
        known = {1: "first wins", -1: "second wins", 0: "draw"}[child.completion]
        print(
            f"{state.action_to_string(child.action):8} {child.value:+7.3f}  "
            f"{known if child.resolved else '-':10}  {child.selections}"
        )
    words = []
    for action in result.principal_variation[:12]:
        words.append(state.action_to_string(action))
        state = state.play(action)
    print("line:", " ".join(words))
