"""Ratings: planted strengths are found and covered, other programs agree, odd cases are told."""

import itertools
import math
from collections.abc import Iterator

import choix
import evalica
import numpy as np
import pytest

from athenan.errors import InputError
from athenan.ratings import ELO, Game, points_of, rate

WIN, DRAW, LOSS = (1.0, -1.0), (0.0, 0.0), (-1.0, 1.0)
NO_PRIOR = 1e6


def played(
    random: np.random.Generator,
    strengths: np.ndarray,
    first: float,
    draw: float,
    games: int,
) -> Iterator[Game]:
    """A round robin by Davidson's model as it is printed: chances are proportional to the strengths
    of both, the first one's larger by a factor, and to ν times their geometric mean."""
    for i, j in itertools.permutations(range(len(strengths)), 2):
        one, other = math.exp(strengths[i] + first), math.exp(strengths[j])
        weights = np.array([one, draw * math.sqrt(one * other), other])
        for kind in random.choice(3, size=games, p=weights / weights.sum()):
            yield (f"p{i}", f"p{j}"), (WIN, DRAW, LOSS)[kind]


def test_planted_ratings_are_covered() -> None:
    random = np.random.default_rng(3)
    covered, of_first, errors = [], [], []
    for _ in range(80):
        strengths = random.normal(0, 1.0, 9)
        found = rate(played(random, strengths, 0.3, 0.6, 6))
        truth = ELO * (strengths - strengths.mean())
        for rated in found.players:
            true = truth[int(rated.name[1:])]
            covered.append(rated.elo.low <= true <= rated.elo.high)
            errors.append(rated.elo.value - true)
        first = found.first_player
        of_first.append(first.low <= ELO * 0.3 <= first.high)
    assert 0.93 <= np.mean(covered) <= 0.97
    assert np.mean(of_first) >= 0.9
    assert np.std(errors) < 50


def test_planted_ratings_with_an_anchor_are_covered() -> None:
    random, covered = np.random.default_rng(4), []
    for _ in range(80):
        strengths = random.normal(0, 1.0, 8)
        found = rate(played(random, strengths, 0.0, 1.0, 6), anchor="p2")
        for rated in found.players:
            true = ELO * (strengths[int(rated.name[1:])] - strengths[2])
            if rated.name == "p2":
                assert (rated.elo.value, rated.elo.low, rated.elo.high) == (0, 0, 0)
            else:
                covered.append(rated.elo.low <= true <= rated.elo.high)
    assert 0.93 <= np.mean(covered) <= 0.97


@pytest.mark.parametrize("whole", [True, False])  # all places are known, or the winner alone
def test_planted_ratings_of_three_players_a_game_are_covered(whole: bool) -> None:
    random, covered = np.random.default_rng(5), []
    for _ in range(50):
        strengths, seats = random.normal(0, 0.8, 6), np.array([0.3, 0.0, -0.3])
        games = []
        for table in itertools.permutations(range(6), 3):
            # Gumbel noise chooses by exp of the utilities, from the best down.
            order = np.argsort(-(strengths[list(table)] + seats + random.gumbel(size=3)))
            outcomes = [0.0, 0.0, 0.0]
            for rank, seat in enumerate(order):
                outcomes[seat] = -float(rank) if whole else float(rank == 0)
            games.append((tuple(f"p{i}" for i in table), tuple(outcomes)))
        found = rate(games)
        for rated in found.players:
            true = ELO * (strengths - strengths.mean())[int(rated.name[1:])]
            covered.append(rated.elo.low <= true <= rated.elo.high)
    assert 0.93 <= np.mean(covered) <= 0.97
    values = [seat.value for seat in found.seats]
    assert values == sorted(values, reverse=True)


# ---- Others agree --------------------------------------------------------------------------------


def pairs(games: list[Game]) -> list[tuple[int, int]]:
    """Winner and loser of each."""
    found = []
    for (one, other), outcomes in games:
        winner, loser = (one, other) if outcomes == WIN else (other, one)
        found.append((int(winner[1:]), int(loser[1:])))
    return found


def test_choix_and_evalica_agree_where_they_have_the_same_model() -> None:
    """Without draws, without a first player's advantage, without a prior."""
    random = np.random.default_rng(6)
    games = list(played(random, random.normal(0, 1, 8), 0.0, 0.0, 8))
    found = rate(games, seats=False, prior_elo=NO_PRIOR)
    ours = np.array([r.elo.value for r in sorted(found.players, key=lambda r: r.name)])
    theirs = choix.opt_pairwise(8, pairs(games), alpha=0.0, tol=1e-10)
    assert ours == pytest.approx(ELO * (theirs - theirs.mean()), abs=0.05)
    winners = [evalica.Winner.X if outcomes == WIN else evalica.Winner.Y for _, outcomes in games]
    scores = evalica.bradley_terry(
        [who[0] for who, _ in games], [who[1] for who, _ in games], winners, tolerance=1e-12
    ).scores
    logs = np.log(scores.sort_index().to_numpy())
    assert ours == pytest.approx(ELO * (logs - logs.mean()), abs=0.5)


def test_choix_agrees_on_rankings_of_many() -> None:
    random = np.random.default_rng(7)
    strengths, games, rankings = random.normal(0, 1, 6), [], []
    for _ in range(120):
        table = random.permutation(6)[:4]
        order = np.argsort(-(strengths[table] + random.gumbel(size=4)))
        outcomes = [0.0] * 4
        for rank, seat in enumerate(order):
            outcomes[seat] = -float(rank)
        games.append((tuple(f"p{i}" for i in table), tuple(outcomes)))
        rankings.append([int(table[seat]) for seat in order])
    found = rate(games, seats=False, prior_elo=NO_PRIOR)
    ours = [r.elo.value for r in sorted(found.players, key=lambda r: r.name)]
    theirs = choix.opt_rankings(6, rankings, alpha=0.0, tol=1e-10)
    assert ours == pytest.approx(ELO * (theirs - theirs.mean()), abs=0.05)


def test_ratings_follow_evalicas_with_draws() -> None:
    random = np.random.default_rng(8)
    games = list(played(random, random.normal(0, 1, 10), 0.2, 0.7, 10))
    kinds = {WIN: evalica.Winner.X, DRAW: evalica.Winner.Draw, LOSS: evalica.Winner.Y}
    scores = evalica.bradley_terry(
        [who[0] for who, _ in games],
        [who[1] for who, _ in games],
        [kinds[outcomes] for _, outcomes in games],
    ).scores
    ours = {rated.name: rated.elo.value for rated in rate(games).players}
    theirs = np.log([scores[name] for name in ours])
    assert np.corrcoef(list(ours.values()), theirs)[0, 1] > 0.995


def test_the_maximum_is_one() -> None:
    """By differences of the likelihood as Davidson's model is printed, with the prior."""
    random = np.random.default_rng(9)
    games = list(played(random, random.normal(0, 1, 4), 0.4, 0.5, 5))
    found = rate(games)
    ours = {rated.name: rated.elo.value / ELO for rated in found.players}
    first, share = found.first_player.value / ELO, found.draws
    assert share is not None
    draw = 2 * share / (1 - share)

    def likelihood(strength: dict[str, float], first: float, draw: float) -> float:
        total = 0.0
        for (one, other), outcomes in games:
            a, b = math.exp(strength[one] + first), math.exp(strength[other])
            middle = draw * math.sqrt(a * b)
            weight = {WIN: a, DRAW: middle, LOSS: b}[outcomes]
            total += math.log(weight / (a + b + middle))
        return total

    best = likelihood(ours, first, draw)
    for name, step in itertools.product(ours, (-0.2, 0.2)):
        assert likelihood({**ours, name: ours[name] + step}, first, draw) < best
    for factor in (0.8, 1.2):
        assert likelihood(ours, first, draw * factor) < best
        assert likelihood(ours, first + factor - 1, draw) < best


# ---- Odd cases -----------------------------------------------------------------------------------


def test_one_who_won_all_has_a_wide_interval_and_a_remark() -> None:
    games = [(("a", "b"), WIN), (("b", "a"), LOSS)] * 20
    games += [(("b", "c"), WIN), (("c", "b"), WIN), (("b", "c"), DRAW)] * 10
    found = rate(games)
    best = found.players[0]
    assert best.name == "a"
    assert best.elo.high - best.elo.low > 600
    assert all(math.isfinite(value) for value in (best.elo.low, best.elo.high))
    assert found.remarks == [
        "a won every game against the others, so that the games bound the distance from below only."
    ]


def test_each_who_is_beyond_the_others_is_told() -> None:
    found = rate([(("a", "b"), WIN), (("a", "c"), WIN), (("b", "c"), WIN)])
    assert [remark.split(",")[0] for remark in found.remarks] == [
        "a won every game against the others",
        "c lost every game against the others",
    ]


def test_players_who_never_met_are_told() -> None:
    games = [(("a", "b"), WIN), (("b", "a"), WIN)] * 30 + [(("c", "d"), DRAW)] * 30
    found = rate(games, names=["e"])
    assert len(found.players) == 5
    assert "a, b; c, d; e" in found.remarks[0]
    assert all(rated.elo.high - rated.elo.low > 1000 for rated in found.players)
    assert next(r for r in found.players if r.name == "e").games == 0


def test_players_without_any_game() -> None:
    found = rate([], names=["a", "b"])
    assert [rated.elo.value for rated in found.players] == [0, 0]
    assert found.remarks


@pytest.mark.parametrize("outcomes", [(1.0, -1.0, -1.0), (0.0, 0.0, 0.0), (1.0, 1.0, -1.0)])
def test_ties_of_three_favour_nobody_among_those_tied(outcomes: tuple[float, ...]) -> None:
    games = [(table, outcomes) for table in itertools.permutations("abc")]
    values = [rated.elo.value for rated in rate(games).players]
    assert values == pytest.approx([0, 0, 0], abs=1e-6)


def test_those_who_share_a_first_place_are_above_the_last() -> None:
    found = rate([(("a", "b", "c"), (1.0, 1.0, -1.0))] * 30, seats=False)
    assert [rated.name for rated in found.players][2] == "c"
    a, b = found.players[:2]
    assert a.elo.value == pytest.approx(b.elo.value)
    assert a.score == 0.5


def test_points_are_shared() -> None:
    assert points_of((1, -1)) == [1, 0]
    assert points_of((0, 0)) == [0.5, 0.5]
    assert points_of((1, 1, -1)) == [0.5, 0.5, 0]


def test_what_cannot_be_rated_is_told() -> None:
    with pytest.raises(InputError, match="two at least"):
        rate([], names=["a"])
    with pytest.raises(InputError, match="no player 'x'"):
        rate([(("a", "b"), WIN)], anchor="x")
    with pytest.raises(InputError, match="same number of players"):
        rate([(("a", "b"), WIN), (("a", "b", "c"), (1.0, -1.0, -1.0))])
