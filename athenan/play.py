"""A person against the program, in the terminal."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from athenan import _core
from athenan.checkpoint import runs_of
from athenan.games import make_game
from athenan.players import make_evaluator
from athenan.search import Child, Search, SearchResult, core_game, make_search
from athenan.settings import PlaySettings

HELP = "an action, or: values (what the search sees) · hint · undo · actions · help · quit"


class Rollouts:
    """UCT, for three or more players. Values are in the mover's view."""

    FIRST = 100  # rollouts

    def __init__(self, game: _core.Game) -> None:
        self.game = game

    def run(
        self, state: Any, evaluations: int | None = None, seconds: float | None = None
    ) -> SearchResult:
        if not seconds:
            return self._run(state, evaluations or self.FIRST)
        ends = time.monotonic() + seconds
        rollouts = self.FIRST
        while True:  # each twice as long as the one before, while there is time for the next
            started = time.monotonic()
            result = self._run(state, min(rollouts, evaluations or rollouts))
            now = time.monotonic()
            if now + 2 * (now - started) > ends or rollouts >= (evaluations or 2**31):
                return result
            rollouts *= 2

    def _run(self, state: Any, rollouts: int) -> SearchResult:
        ((action, mean, states, children),) = _core.run_uct([state], [state.ply], rollouts, 1.0, 1)
        return SearchResult(
            action=action,
            value=mean,
            completion=0,
            resolved=False,
            iterations=rollouts,
            evaluations=rollouts,
            states=states,
            principal_variation=[action],
            children=[Child(a, m, 0, False, visits) for a, m, visits in children],
        )


def make_program(game: _core.Game, config: PlaySettings) -> Search | Rollouts:
    if game.num_players > 2 and config.checkpoint is None:
        return Rollouts(game)
    evaluator, heuristic = make_evaluator(
        game, config, runs_of(Path(config.checkpoints), config.game["name"])
    )
    return make_search(
        game=game, evaluator=evaluator, threads=config.threads, **config.search, **heuristic
    )


def play(config: PlaySettings) -> None:
    game = core_game(make_game(**config.game))
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
    word: str, states: list[Any], search: Search | Rollouts, budget: dict[str, Any], person: int
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
        first_view = search.game.num_players == 2
        sign = -1 if first_view and state.to_move == 1 else 1
        show_values(state, search.run(state, **budget), sign)
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


def show_values(state: Any, result: SearchResult, sign: int) -> None:
    """The children best first for the mover, then the principal variation. sign: -1 where values
    are in the other's view."""
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
