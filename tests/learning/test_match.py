"""Matches: the interval, the openings, both colours, and the reference opponents."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import athenan
from athenan.config import compose
from athenan.errors import InputError
from athenan.match import (
    MatchResult,
    interval,
    make_openings,
    play_match,
    progress_parts,
    seats,
    share,
)
from athenan.players import Player, SearchPlayer, make_player

pair_scores = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=1, max_size=300)


@pytest.mark.parametrize(
    ("scores", "low", "high"),
    [
        ([1.0] * 81 + [0.0] * 182, 0.2553, 0.3662),  # Newcombe's examples, 1998: 81/263,
        ([1.0] * 15 + [0.0] * 133, 0.0624, 0.1605),  # 15/148,
        ([0.0] * 20, 0.0, 0.1611),  # 0/20,
        ([1.0] * 1 + [0.0] * 28, 0.0061, 0.1718),  # 1/29
        ([1.0] * 200, 0.98115, 1.0),
    ],
)
def test_the_interval_of_pairs_won_or_lost_whole_is_wilsons(
    scores: list[float], low: float, high: float
) -> None:
    assert interval(scores) == pytest.approx((low, high), abs=6e-5)


@given(pair_scores)
def test_the_interval_holds_the_score_and_mirrors(scores: list[float]) -> None:
    low, high = interval(scores)
    assert 0 <= low <= np.mean(scores) + 1e-12
    assert np.mean(scores) - 1e-12 <= high <= 1
    mirrored = interval([1 - score for score in scores])
    assert mirrored == pytest.approx((1 - high, 1 - low), abs=1e-9)
    wider = interval(scores)[1] - interval(scores)[0]
    assert interval(scores * 4)[1] - interval(scores * 4)[0] < wider


@pytest.mark.parametrize("pairs", [20, 200])
@pytest.mark.parametrize("chance", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("alike", [0.0, 0.5, 1.0])  # how often both games of a pair end alike
def test_the_interval_covers_the_truth(pairs: int, chance: float, alike: float) -> None:
    random = np.random.default_rng(1)
    covered = 0
    for _ in range(500):
        first, second = (random.random((2, pairs)) < chance).astype(float)
        second = np.where(random.random(pairs) < alike, first, second)
        low, high = interval(list((first + second) / 2))
        covered += low <= chance <= high
    assert covered / 500 > 0.9  # 0.95 but for chance; Wilson's own falls to 0.92 with 20 pairs


def test_pairs_that_are_split_say_more_than_pairs_won_whole() -> None:
    whole = interval([1.0] * 50 + [0.0] * 50)
    split = interval([0.5] * 100)
    assert whole == pytest.approx((0.40383, 0.59617), abs=6e-5)
    assert 0.45 < split[0] < 0.5 < split[1] < 0.55


def test_without_games_nothing_is_known() -> None:
    assert interval([]) == (0.0, 1.0)
    assert MatchResult().score == 0.5


@pytest.mark.parametrize("name", ["connect_four", "hex", "othello", "breakthrough"])
def test_openings_differ_and_are_not_over(name: str) -> None:
    game: Any = athenan.make_game(name)
    openings = make_openings(game, 100, 4, seed=0)
    assert len({state.key for state in openings}) == len(openings) == 100
    assert not any(state.is_terminal for state in openings)
    assert all(state.ply >= 4 for state in openings)
    again = make_openings(game, 100, 4, seed=0)
    assert [s.key for s in again] == [s.key for s in openings]
    others = make_openings(game, 100, 4, seed=1)
    assert [s.key for s in others] != [s.key for s in openings]


def test_more_plies_where_there_are_too_few_openings() -> None:
    game: Any = athenan.make_game("tictactoe")
    assert [s.ply for s in make_openings(game, 1, 0, seed=0)] == [0]
    openings = make_openings(game, 30, 1, seed=0)
    assert len({state.key for state in openings}) == 30
    assert max(state.ply for state in openings) > 1
    small: Any = athenan.make_game("connect_four", rows=1, columns=2)
    with pytest.raises(InputError, match="does not have 50 different openings"):
        make_openings(small, 50, 1, seed=0)


class FirstAction:
    """Plays the least action and notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, Any]] = []
        self.forgot = 0
        self.left: float | None = None

    def choose(
        self, games: list[int], states: list[Any], seconds: float | None = None
    ) -> list[int]:
        self.left = seconds
        self.asked += zip(games, states, strict=True)
        return [state.legal_actions()[0] for state in states]

    def forget(self) -> None:
        self.forgot += 1


def test_both_colours_of_every_opening() -> None:
    game: Any = athenan.make_game("connect_four")
    players = FirstAction(), FirstAction()
    openings = make_openings(game, 10, 3, seed=0)
    told: list[tuple[int, int]] = []
    result = play_match(
        players, openings, 8, lambda done, so_far: told.append((done, so_far.games))
    )
    assert result.games == 20
    assert sorted({games for _, games in told}) == [0, 8, 16, 20], "results are of whole waves"
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert {done for done, _ in told} >= {0, 8, 16, 20}
    assert all(done - games < 8 for done, games in told)
    assert [player.forgot for player in players] == [3, 3]
    # The same player on both sides: each opening is won once and lost once, or drawn twice.
    assert set(result.pair_scores) == {0.5}
    assert result.wins == result.losses
    for who, player in enumerate(players):
        for number, state in player.asked:
            assert (state.to_move == who) == (number % 2 == 0)
    firsts = [{s.key for _, s in player.asked if s.ply == 3} for player in players]
    assert firsts[0] == firsts[1] == {state.key for state in openings}


class Slow(FirstAction):
    """Takes so many seconds a turn, and so many for each game of it."""

    def __init__(self, seconds: float, fixed_seconds: float = 0.0) -> None:
        super().__init__()
        self.seconds, self.fixed_seconds = seconds, fixed_seconds
        self.sizes: list[int] = []  # games of each turn

    def choose(
        self, games: list[int], states: list[Any], seconds: float | None = None
    ) -> list[int]:
        self.sizes.append(len(games))
        time.sleep(self.fixed_seconds + self.seconds * len(games))
        return super().choose(games, states, seconds)


def timed_match(name: str, pairs: int, player: Slow, seconds: float) -> MatchResult:
    game: Any = athenan.make_game(name)
    started = time.monotonic()
    result = play_match(
        (player, FirstAction()), make_openings(game, pairs, 3, 0), 128, None, seconds
    )
    assert time.monotonic() - started < seconds + 0.3
    assert len(result.pair_scores) == result.games // 2
    return result


def test_a_match_of_seconds_plays_the_pairs_that_fit() -> None:
    player = Slow(0.001)
    result = timed_match("connect_four", 200, player, 1.0)
    assert max(player.sizes[:2]) <= 2, "one pair tells how long a turn takes"
    assert 4 <= result.games < 300
    assert max(player.sizes) > 2


def test_where_a_turn_takes_as_long_with_many_games_many_play() -> None:
    player = Slow(0.0, 0.01)
    assert timed_match("connect_four", 20, player, 2.0).games == 40


def test_one_turn_of_all_games_would_be_too_long() -> None:
    """64 pairs at once would take six seconds a turn."""
    player = Slow(0.05)
    assert timed_match("tictactoe", 60, player, 1.0).games >= 2
    assert max(player.sizes) <= 4


def test_a_wave_without_time_is_dropped_whole() -> None:
    """Also where some of its games have ended: those are the short ones."""
    game: Any = athenan.make_game("connect_four")
    told: list[int] = []

    class Late(Slow):
        """Stops when the first games have ended."""

        def choose(
            self, games: list[int], states: list[Any], seconds: float | None = None
        ) -> list[int]:
            if told and max(told) > 0:
                time.sleep(1.0)
            return super().choose(games, states, seconds)

    openings = make_openings(game, 20, 3, seed=0)
    players = Late(0.0), FirstAction()
    result = play_match(players, openings, 128, lambda done, _: told.append(done), 1.0)
    assert max(told) > 0
    assert (result.games, result.pair_scores) == (0, [])


def test_too_slow_for_a_single_pair_ends_early() -> None:
    started = time.monotonic()
    assert timed_match("connect_four", 8, Slow(0.0, 0.3), 2.5).games == 0
    assert time.monotonic() - started < 2.0


def test_a_single_action_does_not_outlast_the_match() -> None:
    """A million rollouts would take minutes."""
    game: Any = athenan.make_game("hex")
    players = (
        SearchPlayer(game, "rollout", {"name": "uct"}, {"iterations": 10_000_000}, 2),
        FirstAction(),
    )
    started = time.monotonic()
    assert play_match(players, make_openings(game, 4, 2, seed=0), seconds=1.0).games == 0
    assert time.monotonic() - started < 6


def test_with_enough_seconds_all_openings_are_played() -> None:
    game: Any = athenan.make_game("tictactoe")
    openings = make_openings(game, 30, 2, seed=0)
    assert play_match((FirstAction(), FirstAction()), openings, seconds=60.0).games == 60


def test_players_forget_a_match_that_is_interrupted() -> None:
    class Interrupted(FirstAction):
        def choose(self, *_: Any) -> list[int]:
            raise KeyboardInterrupt

    game: Any = athenan.make_game("tictactoe")
    players = Interrupted(), FirstAction()
    with pytest.raises(KeyboardInterrupt):
        play_match(players, make_openings(game, 2, 2, seed=0))
    assert [player.forgot for player in players] == [1, 1]


def test_what_is_told_of_a_match_under_way() -> None:
    assert progress_parts(1, 40, MatchResult(), None) == ["1/40 games", "? left"]
    parts = progress_parts(5, 40, MatchResult(3, 0, 1, [1.0, 0.5]), 65.0)
    assert parts[:3] == ["5/40 games", "75.0%", "1:05 left"]
    assert parts[-1] == "+3 =0 -1"


def test_turns_of_several_actions() -> None:
    """In amazons a turn is two actions of one player; the colours stay right."""
    game: Any = athenan.make_game("amazons", size=4)
    players = player(game, 0, search="random"), player(game, 1, search="random")
    result = play_match(players, make_openings(game, 4, 1, seed=0))
    assert result.games == 8


def player(game: Any, seed: int = 0, **settings: Any) -> Player:
    words = [f"first.{key}={value}" for key, value in settings.items()]
    words = ["first.evaluations=null", *words]
    return make_player(game, compose("match", words).first, Path("none"), seed, 1)


def test_uct_finds_a_win_in_one_and_blocks_one() -> None:
    game: Any = athenan.make_game("connect_four")
    for words, expected in (("a b a b a c", "a"), ("a b c b d b g", "b"), ("a b a b a", "a")):
        state = game.initial_state()
        columns = sorted(state.action_to_string(a) for a in state.legal_actions())
        for word in words.split():
            name = columns["abcdefg".index(word)]
            state = state.play(state.string_to_action(name))
        for seed in range(5):
            result = athenan.make_search("uct", game, seed=seed).run(state, iterations=500)
            assert state.action_to_string(result.action) == columns["abcdefg".index(expected)]
            assert sum(child.selections for child in result.children) == 500
            assert -1 <= result.value <= 1


def test_uct_plays_the_most_visited_action() -> None:
    """Which is not always the one with the best mean."""
    game: Any = athenan.make_game("connect_four")
    differ = 0
    for seed in range(20):
        result = athenan.make_search("uct", game, seed=seed).run(
            game.initial_state(), iterations=60
        )
        most = max(child.selections for child in result.children)
        (chosen,) = [child for child in result.children if child.action == result.action]
        assert chosen.selections == most
        differ += chosen.value < max(child.value for child in result.children)
    assert differ


def value_of_line(state: Any, line: list[int]) -> float:
    """f_t of heuristic mobility by hand, after a whole game."""
    counts: list[list[int]] = [[], []]
    for action in line:
        counts[state.to_move].append(len(state.legal_actions()))
        state = state.play(action)
    assert state.is_terminal
    means = [np.mean(of) if of else 1.0 for of in counts]
    ratio = (means[0] / means[1]) ** state.outcomes[0]
    return float(state.outcomes[0] * np.clip(ratio, 1, 10))


@pytest.mark.parametrize("who", ["player", "search"])
def test_mobility_is_of_the_whole_game(who: str) -> None:
    """From its first action on, also the other side's; and the tree is found again."""
    game: Any = athenan.make_game("othello", size=6)
    settings: Any = {"heuristic": "mobility", "seed": 0}
    ours = SearchPlayer(game, "hash", {"name": "descent"}, {"iterations": 60}, 1, **settings)
    alone = athenan.make_search("descent", game, "hash", **settings)
    state, line, ends, found_again = game.initial_state(), [], 0, 0
    for _ in range(3):  # an opening
        line.append(state.legal_actions()[-1])
        state = state.play(line[-1])
    while not state.is_terminal:
        if who == "player":
            ours.choose([0], [state])
            result = ours.searches[0].result()
        else:
            result = alone.run(state, iterations=60)
        if result.resolved:
            whole = [*line, *result.principal_variation]
            assert result.value == pytest.approx(value_of_line(game.initial_state(), whole))
            ends += abs(result.value) > 1
        found_again += result.iterations < sum(child.selections for child in result.children)
        for action in result.principal_variation[:2]:
            state = state.play(action)
            line.append(action)
    assert ends
    assert found_again > 3


def test_uct_beats_random_clearly() -> None:
    game: Any = athenan.make_game("connect_four")
    players = player(game, search="uct", iterations=60), player(game, search="random")
    result = play_match(players, make_openings(game, 30, 4, seed=0))
    assert result.interval[0] > 0.75


def test_ubfm_beats_random_clearly() -> None:
    game: Any = athenan.make_game("connect_four")
    players = player(game, search="ubfm", evaluations=100), player(game, search="random")
    result = play_match(players, make_openings(game, 20, 4, seed=0))
    assert result.interval[0] > 0.75


def test_equal_players_are_about_even() -> None:
    game: Any = athenan.make_game("hex", size=5)
    players = (
        player(game, 1, search="uct", iterations=40),
        player(game, 1000, search="uct", iterations=40),
    )
    result = play_match(players, make_openings(game, 80, 2, seed=0))
    low, high = result.interval
    half = (high - low) / 2  # the interval is missed once in twenty, one twice as wide hardly ever
    assert low - half < 0.5 < high + half


@pytest.mark.parametrize("search", ["random", "uct", "ubfm"])
def test_the_seed_determines_a_match(search: str) -> None:
    game: Any = athenan.make_game("breakthrough", rows=5, columns=5)
    budget = {"uct": {"iterations": 20}, "ubfm": {"evaluations": 40}}.get(search, {})
    openings = make_openings(game, 8, 2, seed=0)

    def scores(seed: int) -> list[float]:
        ours = player(game, seed, search=search, **budget)
        return play_match((ours, player(game, 7, search="random")), openings).pair_scores

    assert scores(0) == scores(0)


def test_threads_do_not_change_uct() -> None:
    game: Any = athenan.make_game("hex", size=5)
    states = make_openings(game, 6, 2, seed=0)

    def results(threads: int) -> list[Any]:
        ours = SearchPlayer(game, "zero", {"name": "uct"}, {"iterations": 100}, threads)
        ours.choose(list(range(6)), states)
        return [search.result() for search in ours.searches.values()]

    assert results(1) == results(2)


class LastAction:
    """Plays the last action, and notes the seats it has."""

    def __init__(self, number: int = 0) -> None:
        self.text = f"the last action {number}"
        self.seats: list[tuple[int, int]] = []  # opening, seat
        self.left: float | None = None

    def choose(
        self, games: list[int], states: list[Any], seconds: float | None = None
    ) -> list[int]:
        self.left = seconds
        self.seats += [(g // 3, s.to_move) for g, s in zip(games, states, strict=True)]
        return [state.legal_actions()[-1] for state in states]

    def forget(self) -> None:
        pass

    def another(self, number: int) -> "LastAction":
        return LastAction(number)


def test_every_player_has_every_seat_of_every_opening() -> None:
    game: Any = athenan.make_game("mnk", rows=3, columns=5, k=3, players=3)
    openings = make_openings(game, 5, 1, seed=0)
    players = seats(game, LastAction(), LastAction())
    result = play_match(players, openings, games_in_step=6)
    assert result.games == 15
    for player in players:
        assert set(player.seats) == {(i % 2, seat) for i in range(2) for seat in range(3)}
    assert result.score == pytest.approx(1 / 3), "all play alike"


def test_a_point_is_shared_by_those_who_do_best() -> None:
    game: Any = athenan.make_game("mnk", rows=1, columns=3, k=3, players=3)
    state = game.initial_state().play(0).play(1).play(2)
    assert [share(state, seat) for seat in range(3)] == [pytest.approx(1 / 3)] * 3
    game = athenan.make_game("mnk", rows=1, columns=6, k=2, players=3)
    state = game.initial_state().play(0).play(3).play(5).play(1)
    assert [share(state, seat) for seat in range(3)] == [1, 0, 0]
    result = MatchResult(wins=2, draws=1, losses=3, pair_scores=[0.5, 4 / 9], players=3)
    assert result.figures()["equal"] == 0.3333
    assert "(33.3% among equals)" in str(result)


def test_three_players_of_different_strength() -> None:
    game: Any = athenan.make_game("mnk", rows=3, columns=5, k=3, players=3)
    first = {"search": "maxn_ubfm", "evaluator": "rollout", "evaluations": 60}
    result = athenan.run_match(game, first, {"search": "random"}, games=60)
    assert result.games == 60
    assert result.interval[0] > 0.5
    again = athenan.run_match(game, first, {"search": "random"}, games=60)
    assert again == result


def test_a_match_of_three_in_seconds() -> None:
    game: Any = athenan.make_game("mnk", rows=3, columns=5, k=3, players=3)
    players = seats(game, LastAction(), LastAction())
    openings = make_openings(game, 6, 1, seed=0)
    assert play_match(players, openings, seconds=60.0).games == 18


def test_uct_plays_for_three_players() -> None:
    """Tic-tac-mo: whoever can win in one does, each for himself."""
    game: Any = athenan.make_game("mnk", rows=3, columns=5, k=3, players=3)
    random = np.random.default_rng(0)
    found = 0
    while found < 20:
        state = game.initial_state()
        while not state.is_terminal:
            winning = [
                a
                for a in state.legal_actions()
                if (end := state.play(a)).is_terminal and end.outcomes[state.to_move] == 1
            ]
            if winning:
                found += 1
                result = athenan.make_search("uct", game, seed=found).run(state, iterations=600)
                assert result.action in winning
                (best,) = [c for c in result.children if c.action == result.action]
                assert best.value[state.to_move] == 1
                break
            state = state.play(int(random.choice(state.legal_actions())))
    search = athenan.make_search("uct", game)
    while not state.is_terminal:
        state = state.play(search.run(state, iterations=50).action)
    assert len(state.outcomes) == 3


def test_figures_and_text() -> None:
    result = MatchResult(wins=3, draws=2, losses=1, pair_scores=[1.0, 0.75, 0.25])
    figures = result.figures()
    assert (figures["games"], figures["wins"], figures["score"]) == (6, 3, 0.6667)
    assert figures["low"] < 0.6667 < figures["high"]
    assert "+3 =2 -1 of 6 games" in str(result)


def test_players_that_cannot_be() -> None:
    game: Any = athenan.make_game("connect_four")
    for settings, text in (
        ({"search": "ubmf"}, r"no search 'ubmf'; did you mean 'ubfm'\?"),
        ({"search": "ubfm"}, "needs a budget"),
        ({"search": "ubfm", "evaluations": -5}, "'first.evaluations' must be at least 1, not -5"),
        ({"search": "ubfm", "evaluations": 5, "evaluator": "hsh"}, "did you mean 'hash'"),
        ({"search": "ubfm", "evaluations": 5, "checkpoint": "/no/such"}, "no run '/no/such'"),
    ):
        with pytest.raises(InputError, match=text):
            player(game, **settings)
