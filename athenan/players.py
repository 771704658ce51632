"""Players of matches: a search with its evaluator and a budget.

A player plays many games at once: `choose(games, states)` answers for all of them in step.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from athenan import _core
from athenan.checks import read
from athenan.errors import InputError, nearest
from athenan.evaluators import find_checkpoint, find_evaluator, what_computes
from athenan.external.player import ExternalPlayer, GivesUp
from athenan.proofs import Proof, load_proof
from athenan.search import (
    Evaluate,
    Evaluator,
    drive,
    make_core_search,
    make_group,
    refusals,
    search_for,
    search_type,
)
from athenan.settings import PlayerSettings

BUDGETS = ("iterations", "evaluations", "seconds")
BATCH_SIZES = [64, 256, 1024, 4096]


class Player(Protocol):
    text: str  # who it is, in full

    @property
    def facts(self) -> dict[str, Any]:
        """What a saved game says of it besides: version, options and seed."""

    def choose(
        self, games: list[int], states: list[_core.State], seconds: float | None = None
    ) -> Sequence[int | GivesUp]:
        """The actions for the states of the games with these numbers. After so many seconds any
        will do: the games do not count any more."""

    def forget(self) -> None:
        """The games are over."""

    def another(self, number: int) -> Player:
        """Who plays alike, for another seat of the same games."""
        ...


class SearchPlayer:
    """Each game keeps what its search knows from move to move."""

    def __init__(
        self,
        game: _core.Game,
        evaluator: str | Evaluate,
        search: dict[str, Any],
        budget: dict[str, Any],
        threads: int,
        seed: int = 0,
        **common: Any,
    ) -> None:
        self.text = player_text(search, evaluator, budget, common.get("resolved"))
        self.game, self.evaluator, self.search = game, evaluator, search
        self.budget, self.threads, self.seed, self.common = budget, threads, seed, common
        self.searches: dict[int, _core.Search] = {}
        self._new_search(0)  # what is wrong with it is better said now

    @property
    def facts(self) -> dict[str, Any]:
        from athenan import __version__

        plain = {k: v for k, v in self.common.items() if isinstance(v, str | int | float)}
        options = {"search": self.search, **self.budget, **plain}
        return {"version": f"athenan {__version__}", "options": options, "seed": self.seed}

    def _new_search(self, number: int) -> _core.Search:
        return make_core_search(
            self.search, self.game, self.evaluator, seed=self.seed + number, **self.common
        )

    def choose(
        self, games: list[int], states: list[_core.State], seconds: float | None = None
    ) -> list[int]:
        budget = self.budget
        if seconds is not None:
            budget = budget | {"seconds": max(1e-3, min(seconds, budget.get("seconds", seconds)))}
        for number in games:
            if number not in self.searches:
                self.searches[number] = self._new_search(number)
        chosen = [self.searches[number] for number in games]
        group = make_group(chosen, BATCH_SIZES, self.threads)
        with refusals():
            for i, state in enumerate(states):
                group.start(i, state, **budget)
        drive(group, self.evaluator)
        actions = [search.result().action for search in chosen]
        assert all(action is not None for action in actions)
        return [action for action in actions if action is not None]

    def forget(self) -> None:
        self.searches.clear()

    def another(self, number: int) -> SearchPlayer:
        """Who plays alike and knows nothing of this one's searches."""
        seed = self.seed + number
        return SearchPlayer(
            self.game, self.evaluator, self.search, self.budget, self.threads, seed,
            **self.common,
        )  # fmt: skip


def player_text(
    search: dict[str, Any],
    evaluator: str | Evaluate,
    budget: dict[str, Any],
    proof: Proof | None = None,
) -> str:
    """Such as `ubfm safest, checkpoints/hex/try/step_500, 1,000 evaluations an action`."""
    entry = search_type(search["name"])
    parts = [" ".join([search["name"], *([search["decision"]] if "decision" in search else [])])]
    if entry["uses_evaluator"]:
        named = isinstance(evaluator, str | Evaluator)
        parts.append(str(evaluator) if named else "an evaluator of one's own")
    if proof is not None:
        parts.append(str(proof))
    limits = " or ".join(f"{value:,} {name}" for name, value in budget.items())
    return ", ".join([*parts, f"{limits} an action"] if limits else parts)


def make_player(
    game: _core.Game,
    settings: PlayerSettings,
    runs: Path,
    seed: int,
    threads: int,
    trust: bool = False,
) -> Player:
    """From a player's settings; `runs` is the folder of the game's runs, `trust` as for
    find_evaluator."""
    if settings.engine is not None:
        return ExternalPlayer(game, settings)
    budget = {name: value for name in BUDGETS if (value := getattr(settings, name)) is not None}
    evaluator: str | Evaluate
    if settings.checkpoint is not None:
        evaluator = find_checkpoint(settings.checkpoint, game, runs, trust)
    else:
        evaluator = find_evaluator(settings.evaluator, game, runs, trust=trust)
    known = {} if settings.resolved is None else {"resolved": load_proof(settings.resolved, game)}
    return SearchPlayer(game, evaluator, settings.search, budget, threads, seed, **known)


def player_of(
    game: _core.Game, about: Mapping[str, Any], seed: int = 0, threads: int = 1
) -> Player:
    """From a dictionary, as athenan.run_match takes it."""
    if "engine" in about:
        return ExternalPlayer(game, read(PlayerSettings, dict(about)))
    known = ("search", "evaluator", "resolved", *BUDGETS)
    for key in about:
        if key not in known:
            raise InputError(f"A player has no '{key}'{nearest(key, known)}")
    given = about.get("search", search_for(game, "ubfm"))
    search = {"name": given} if isinstance(given, str) else dict(given)
    budget = {name: about[name] for name in BUDGETS if about.get(name) is not None}
    for name, limit in budget.items():
        if not (isinstance(limit, int | float) and 0 < limit < 2**62):
            raise InputError(f"A budget of {name} must be positive and finite, not {limit}.")
    if search_type(search["name"])["needs_budget"] and not budget:
        raise InputError(f"A player by {search['name']} needs a budget: {', '.join(BUDGETS)}.")
    evaluator = about.get("evaluator", "rollout")
    if isinstance(evaluator, str | Path):
        evaluator = find_evaluator(evaluator, game)
    proof = about.get("resolved")
    if isinstance(proof, str | Path):
        proof = load_proof(proof, game)
    return SearchPlayer(
        game, evaluator, search, budget, threads, seed, **({"resolved": proof} if proof else {})
    )


def what_plays(players: Iterable[Player]) -> str:
    """What computes for these players, in words."""
    found = [what_computes_for(p) for p in players if isinstance(p, SearchPlayer)]
    found += [f"the program of {p.name}" for p in players if isinstance(p, ExternalPlayer)]
    return " · ".join(dict.fromkeys(found))


def what_computes_for(player: SearchPlayer) -> str:
    uses_evaluator = search_type(player.search["name"])["uses_evaluator"]
    return what_computes(player.evaluator if uses_evaluator else "rollout")
