"""The openings of a match: random ones or those of a file, all of them or the balanced ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from athenan import _core
from athenan.errors import InputError
from athenan.files import read_text
from athenan.match import make_openings
from athenan.notation import read_action
from athenan.players import Player, SearchPlayer
from athenan.search import own, search_for, search_type
from athenan.settings import MatchSettings

IN_STEP = 128
MOST_CANDIDATES = 64  # for each opening that is wanted
NUMBER = re.compile(r"^\d+\.+")  # of a turn, as in `1.e4`


def openings_of(
    config: MatchSettings, game: _core.Game, players: Sequence[Player]
) -> list[_core.State]:
    """Different states, none of them over, as many as the games need; fewer where a file has
    fewer."""
    number = max(1, config.games // game.num_players)
    path = None if config.openings is None else Path(config.openings)
    if config.balance is None:
        if path is None:
            return make_openings(game, number, config.opening_plies, config.seed)
        return read_openings(path, game)[:number]
    if game.num_players != 2:
        raise InputError(
            f"Openings are balanced for two players; game '{game.name}' has {game.num_players}."
        )
    judge = judge_of(config, game, players)
    batches = (
        random_batches(game, number, config.opening_plies, config.seed)
        if path is None
        else iter([read_openings(path, game)])
    )
    kept: list[_core.State] = []
    seen = 0
    for batch in batches:
        for i in range(0, len(batch), IN_STEP):
            some = batch[i : i + IN_STEP]
            seen += len(some)
            kept += balanced(some, judge, config.balance)
            if len(kept) >= number:
                return kept[:number]
    if path is not None and kept:
        return kept
    raise InputError(
        f"Of {seen} openings of game '{game.name}' {len(kept)} are balanced, {number} are needed: "
        "raise 'balance' or lower 'games'."
    )


# ---- Random ones ---------------------------------------------------------------------------------


def random_batches(
    game: _core.Game, number: int, plies: int, seed: int
) -> Iterator[list[_core.State]]:
    """More and more of them, no state twice, as far as the game has so many."""
    known: set[int] = set()
    total = 2 * number
    while total <= MOST_CANDIDATES * number:
        try:
            found = make_openings(game, total, plies, seed)
        except InputError:
            if known:
                return
            found = make_openings(game, number, plies, seed)  # or the sentence about that
        yield [state for state in found if state.key not in known]
        known |= {state.key for state in found}
        total *= 2


# ---- Of a file -----------------------------------------------------------------------------------


def read_openings(path: Path, game: _core.Game) -> list[_core.State]:
    """One a line: actions from the start, or a position as the game writes it. Empty lines, what
    follows a `#`, and openings that were there before, do not count."""
    try:
        text = read_text(path)
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {error.strerror}.") from None
    except ValueError:
        raise InputError(f"'{path}' is no text of openings.") from None
    found: dict[int, _core.State] = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.partition("#")[0].strip()
        if not line:
            continue
        try:
            state = read_opening(line, game)
        except InputError as error:
            raise InputError(f"'{path}', line {number}: {error}") from None
        found.setdefault(state.key, state)
    if not found:
        raise InputError(f"'{path}' has no opening.")
    return list(found.values())


def read_opening(line: str, game: _core.Game) -> _core.State:
    state = game.initial_state()
    try:
        for word in re.split(r"[\s,;]+", line):
            if text := NUMBER.sub("", word):
                state = state.play(read_action(state, text))
    except InputError as error:
        try:
            state = game.state_from_string(line)
        except ValueError:
            raise error from None
    if state.is_terminal:
        raise InputError("The game is over there.")
    return state


# ---- Balanced ones -------------------------------------------------------------------------------


def judge_of(config: MatchSettings, game: _core.Game, players: Sequence[Player]) -> SearchPlayer:
    """The first player's evaluator, or that of the second where the first has none, with a short
    search; games at random where nobody has one."""
    evaluators = [
        player.evaluator
        for player in players
        if isinstance(player, SearchPlayer) and search_type(player.search["name"])["uses_evaluator"]
    ]
    budget = {"evaluations": config.balance_evaluations}
    search = {"name": search_for(game, "ubfm")}
    evaluator = evaluators[0] if evaluators else "rollout"
    return SearchPlayer(game, evaluator, search, budget, config.threads, config.seed)


def balanced(states: Iterable[_core.State], judge: SearchPlayer, bound: float) -> list[_core.State]:
    """Those that are worth no more than the bound to either player: of a proven win or loss all of
    the scale, whatever the heuristic."""
    states = list(states)
    numbers = list(range(len(states)))
    try:
        judge.choose(numbers, states)
        kept = []
        for number, state in zip(numbers, states, strict=True):
            search = judge.searches[number]
            result = search.result()
            value = float(own(result.value, 0)) / search.bound
            if result.resolved and own(result.completion, 0):
                value = 1.0
            if abs(value) <= bound:
                kept.append(state)
        return kept
    finally:
        judge.forget()
