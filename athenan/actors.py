"""Actors: who plays the games that are learned from.

They give records of finished games and take weights and progress; where and in how many processes
they play is their own affair.
"""

from __future__ import annotations

from typing import Protocol

from athenan import _core
from athenan.checkpoint import Part
from athenan.errors import InputError
from athenan.network import NetworkEvaluator, make_model
from athenan.records import Array, GameRecord
from athenan.self_play import SelfPlay
from athenan.settings import TrainSettings


class Actors(Protocol):
    games: int  # finished ones of the run that have been collected

    def collect(self) -> list[GameRecord]:
        """Plays on for a while; the games that ended meanwhile."""
        ...

    def publish(self, weights: list[Array], progress: float) -> None:
        """What they play with from now on; progress of the run, 0 to 1."""
        ...

    def hold(self, holding: bool) -> None:
        """Lets the searches under way end without starting others, or starts them again."""
        ...

    @property
    def idle(self) -> bool:
        """No search is running: all there is can be saved."""
        ...

    def saved(self) -> Part: ...

    def restore(self, part: Part) -> None: ...

    def facts(self) -> dict[str, float]:
        """For reports: `rows`, states evaluated by this process; `remembered_proofs`;
        `out_of_memory`, searches that memory ended."""
        ...

    def close(self) -> None: ...


class InlineActors:
    """Play in the learner's own process, taking turns with it: the run is deterministic."""

    def __init__(self, config: TrainSettings, game: _core.Game) -> None:
        model = make_model(config.network, game.plane_shape, game.num_players, config.seed)
        self.games = 0
        self.evaluator = NetworkEvaluator(model)
        self.memory = _core.ResolvedMemory(config.resolved.states)
        self.clear_every_games = config.resolved.clear_every_games
        self.self_play = SelfPlay(
            game,
            self.evaluator,
            config.search,
            config.heuristic,
            config.self_play,
            config.exploration,
            config.seed,
            self.memory if config.resolved.states else None,
        )

    def collect(self) -> list[GameRecord]:
        records = self.self_play.play_batch()
        before, self.games = self.games, self.games + len(records)
        every = self.clear_every_games
        if every and self.games // every > before // every:
            self.memory.clear()
        return records

    def publish(self, weights: list[Array], progress: float) -> None:
        self.self_play.wait()
        self.evaluator.assign(weights)
        self.self_play.progress = progress

    def hold(self, holding: bool) -> None:
        self.self_play.hold(holding)

    @property
    def idle(self) -> bool:
        return self.self_play.searching == 0

    def saved(self) -> Part:
        part = self.self_play.saved()
        part.facts["games"] = self.games
        part.arrays["resolved"] = list(self.memory.arrays())
        return part

    def restore(self, part: Part) -> None:
        self.games = part.count("games")
        under_way = [game for game in part.facts["games_under_way"] if game is not None]
        if part.count("next_game") != self.games + len(under_way):
            raise InputError("Fact 'next_game' does not fit the games.")
        self.memory.fill(*part.arrays["resolved"])
        self.self_play.restore(part)

    def facts(self) -> dict[str, float]:
        return {
            "rows": self.self_play.rows,
            "remembered_proofs": len(self.memory),
            "out_of_memory": self.self_play.out_of_memory,
        }

    def close(self) -> None:
        """Nothing runs beside the learner."""


def make_actors(config: TrainSettings, game: _core.Game) -> Actors:
    """Those of the config's layout."""
    return InlineActors(config, game)
