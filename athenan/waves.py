"""The waves of a match, dealt to processes that Ray runs: the result is the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

from athenan import _core
from athenan.backend import set_threads
from athenan.checkpoint import runs_of
from athenan.cluster import Cluster
from athenan.config import to_yaml
from athenan.errors import Failed, InputError
from athenan.games import make_game, replayed_state
from athenan.match import MOST_SENTENCES, MatchResult, play_match, seats
from athenan.placement import see_only
from athenan.players import Player, make_player
from athenan.saved_games import SavedGame
from athenan.settings import MatchSettings


def players_of(config: MatchSettings, game: _core.Game) -> list[Player]:
    """Who plays a game, one for each seat."""
    runs = runs_of(Path(config.checkpoints), config.game["name"])
    first, second = (
        make_player(game, player, runs, config.seed + place, config.threads, config.trust)
        for place, player in enumerate((config.first, config.second))
    )
    return seats(game, first, second)


class Wave:
    """What a process needs for the waves of one match; it keeps its players for the next one. The
    openings go as they began and what was played, since each process has a game of its own."""

    def __init__(self, config: MatchSettings, openings: list[_core.State]) -> None:
        self.config, self.text = config, to_yaml(config)
        self.openings = [state.history for state in openings]

    def __hash__(self) -> int:
        return hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Wave) and self.text == other.text


@cache
def prepared(wave: Wave) -> tuple[list[Player], list[_core.State]]:
    config = wave.config
    if not config.layout.gpus:
        see_only([])
    set_threads(config.layout.cpus)
    game = make_game(**config.game)
    openings = [replayed_state(game, start, actions) for start, actions in wave.openings]
    return players_of(config, game), openings


def play(wave: Wave, number: int) -> tuple[MatchResult, list[SavedGame]]:
    """The wave of that number, and its games."""
    players, openings = prepared(wave)
    size = openings_in(wave.config.games_in_step, len(players))
    own = openings[number * size : (number + 1) * size]
    games: list[SavedGame] = []
    first_number = number * size * len(players)
    result = play_match(
        players, own, wave.config.games_in_step, on_game=games.append, first_number=first_number
    )
    return result, games


def openings_in(games: int, players: int) -> int:
    """Each is played once for every player, who changes seats."""
    return max(1, games // players)


def play_match_by_ray(
    config: MatchSettings,
    openings: list[_core.State],
    on_progress: Callable[[int, MatchResult], object],
    on_game: Callable[[SavedGame], object] | None = None,
    enough: Callable[[MatchResult], bool] | None = None,
) -> MatchResult:
    """As play_match, wave by wave in any order; games are heard of when their wave is over. Whether
    there are enough is asked in the order of the waves, since those of short games end first; what
    lies behind the answer does not count."""
    players = openings[0].game.num_players
    cluster = Cluster(config.layout)
    try:
        ray, layout = cluster.ray, config.layout
        most = layout.actors or cluster.room(layout)
        task = ray.remote(num_cpus=layout.cpus, num_gpus=layout.gpus)(play)
        wave = ray.put(Wave(config, openings))
        numbers = range(-(-len(openings) // openings_in(config.games_in_step, players)))
        rest = iter(numbers)
        under_way: dict[object, int] = {}
        played: dict[int, MatchResult] = {}
        asked = 0  # waves, from the first, after which it was asked
        while len(played) < len(numbers):
            if layout.actors is None:  # nodes may come
                most = max(most, cluster.places(layout))
            while len(under_way) < most and (number := next(rest, None)) is not None:
                under_way[task.remote(wave, number)] = number
            for ref in ray.wait(list(under_way), timeout=0.5)[0]:
                played[under_way.pop(ref)], games = ray.get(ref)
                if on_game:
                    for game in games:
                        on_game(game)
            result = joined([played[number] for number in sorted(played)], players)
            on_progress(result.games, result)
            while enough and asked in played:
                asked += 1
                so_far = joined([played[number] for number in range(asked)], players)
                if enough(so_far):
                    return so_far
        return joined([played[number] for number in numbers], players)
    except Exception as error:
        cause = getattr(error, "cause", None)
        if isinstance(cause, InputError | OSError):
            raise cause from None
        if type(error).__module__.startswith("ray."):
            raise Failed(f"The match cannot go on: {str(error).splitlines()[0]}") from error
        raise
    finally:
        cluster.close()


def joined(results: list[MatchResult], players: int) -> MatchResult:
    found = MatchResult(players=players)
    for one in results:
        found.wins += one.wins
        found.draws += one.draws
        found.losses += one.losses
        found.pair_scores += one.pair_scores
        found.own_forfeits += one.own_forfeits
        found.their_forfeits += one.their_forfeits
        found.sentences = list(dict.fromkeys(found.sentences + one.sentences))[:MOST_SENTENCES]
    return found
