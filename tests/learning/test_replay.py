"""Replay: who gives what to a learning step, and what is kept."""

import itertools
import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import athenan
from athenan import _core
from athenan.checkpoint import Part
from athenan.errors import InputError
from athenan.records import GameRecord, pack, unpack
from athenan.replay import Replay
from athenan.settings import ReplaySettings


def make_replay(seed: int, run: Path = Path("none"), **changed: Any) -> Replay:
    return Replay(
        ReplaySettings(**{"games": 10, "uses": 3.0, "states": 10**6, **changed}), seed, run
    )


def add_game(replay: Replay, number: int, size: int) -> None:
    """A game whose states are told apart by their planes and their values."""
    planes = np.stack([np.array([number, i], np.uint8) for i in range(size)])
    values = np.arange(size, dtype=np.float32)[:, None] / 1000 + number
    actions, root_values = np.zeros(3, np.uint32), np.zeros((3, 1), np.float32)
    replay.add(GameRecord(number, planes, values, actions, root_values, (0, 0)))


def drawn(replay: Replay) -> list[tuple[int, int]]:
    """(game, state) of the states that the next step takes."""
    planes, values = replay.draw()
    rows = [(int(game), int(i)) for game, i in planes]
    assert [game + i / 1000 for game, i in rows] == pytest.approx(list(values[:, 0])), (
        "labels follow"
    )
    return rows


@pytest.mark.parametrize("uses", [1, 2, 3])
def test_each_state_is_used_exactly_as_often_as_told(uses: int) -> None:
    replay = make_replay(0, uses=float(uses))
    sizes = {number: 7 + 13 * number % 50 for number in range(40)}
    used: Counter[tuple[int, int]] = Counter()
    for number, size in sizes.items():
        add_game(replay, number, size)
        used.update(drawn(replay))
    # Games 0 to 30 have been in memory for their full ten steps.
    for number in range(31):
        for i in range(sizes[number]):
            assert used[number, i] == uses


def test_no_state_comes_twice_before_all_have_come() -> None:
    replay = make_replay(1, games=150, uses=3.0)
    add_game(replay, 0, 50)
    order = [i for _ in range(150) for _, i in drawn(replay)]
    assert len(order) == 150
    passes = [order[i : i + 50] for i in (0, 50, 100)]
    for one in passes:
        assert sorted(one) == list(range(50))
    assert passes[0] != passes[1] != passes[2], "each pass has its own order"


def test_games_are_mixed() -> None:
    replay = make_replay(0, uses=10.0)
    for number in range(5):
        add_game(replay, number, 100)
    games = [game for game, _ in drawn(replay)]
    assert len(games) == 500
    neighbours = sum(a == b for a, b in itertools.pairwise(games))
    assert neighbours == pytest.approx(100, abs=40), "one in five, as by chance"


def test_every_game_gives_the_same_share() -> None:
    replay = make_replay(0, games=20, uses=2.0)
    sizes = [200, 30, 77, 5, 140]
    for number, size in enumerate(sizes):
        add_game(replay, number, size)
    for _ in range(4):
        found = Counter(game for game, _ in drawn(replay))
        for number, size in enumerate(sizes):
            assert abs(found[number] - size * 2 / 20) < 1


def test_a_share_below_one_state_waits_for_its_turn() -> None:
    replay = make_replay(0, games=100, uses=0.5)
    add_game(replay, 0, 3)
    assert [len(drawn(replay)) for _ in range(100)].count(1) == 1
    assert len(replay) == 3


@pytest.mark.parametrize("name", ["stratified", "plain"])
def test_the_oldest_games_go_first(name: str) -> None:
    replay = make_replay(0, name=name, games=4)
    for number in range(9):
        add_game(replay, number, 10)
    assert [game.number for game in replay.games] == [5, 6, 7, 8]
    replay = make_replay(0, name=name, states=25)
    for number in range(9):
        add_game(replay, number, 10)
        assert len(replay) <= 25
    assert [game.number for game in replay.games] == [7, 8]
    assert replay.bytes == 2 * (10 * 2 + 10 * 4)
    add_game(replay, 9, 40)
    assert [game.number for game in replay.games] == [9], "one game stays, however large"
    assert {game for game, _ in drawn(replay)} == {9}


def test_plain_takes_as_many_from_all_of_memory() -> None:
    replay = make_replay(0, name="plain", games=10, uses=3.0)
    for number in range(10):
        add_game(replay, number, 20)
    used: Counter[tuple[int, int]] = Counter()
    for _ in range(200):
        rows = drawn(replay)
        assert len(rows) == 60
        used.update(rows)
    assert len(used) == 200
    by_game = Counter({g: sum(n for (h, _), n in used.items() if h == g) for g in range(10)})
    assert min(by_game.values()) > 1000
    assert max(by_game.values()) < 1400


@pytest.mark.parametrize("name", ["stratified", "plain"])
def test_the_seed_determines_what_is_drawn(name: str) -> None:
    def steps(seed: int) -> list[list[tuple[int, int]]]:
        replay = make_replay(seed, name=name)
        found = []
        for number in range(8):
            add_game(replay, number, 30)
            found.append(drawn(replay))
        return found

    assert steps(0) == steps(0)
    assert steps(0) != steps(1)


def plain_draw(
    games: list[tuple[int, int, int]], step: int, most_games: int, uses: float
) -> list[tuple[int, int]]:
    """The states that a step takes from (number, states, age) of each game, as plainly as can be:
    seed 0, every order made anew."""
    found = []
    for number, size, age in games:
        first, last = (int(size * uses * a / most_games) for a in (age, age + 1))
        for k in range(first, last):
            order = np.random.default_rng([0, 2, number, k // size]).permutation(size)
            found.append((number, int(order[k % size])))
    return [found[i] for i in np.random.default_rng([0, 1, step]).permutation(len(found))]


@pytest.mark.parametrize(("most_games", "uses"), [(10, 3.0), (4, 0.7), (3, 7.5), (50, 1.0)])
def test_what_is_drawn_is_known_from_the_seed(most_games: int, uses: float) -> None:
    replay = make_replay(0, games=most_games, uses=uses)
    ages: dict[int, list[int]] = {}
    for number in range(40):
        size = 1 + 17 * number % 43
        add_game(replay, number, size)
        ages[number] = [size, 0]
        games = [(n, *ages[n]) for n in sorted(ages)[-most_games:]]
        assert drawn(replay) == plain_draw(games, number + 1, most_games, uses)
        for n, _, _ in games:
            ages[n][1] += 1


def test_a_draw_costs_what_it_takes_however_many_games_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A game's states are put into an order once a pass, not at every step."""
    made = []
    real = np.random.default_rng

    def counted(seed: list[int]) -> np.random.Generator:
        made.append(seed[1])
        return real(seed)

    monkeypatch.setattr(np.random, "default_rng", counted)
    for most_games in (20, 400):
        replay = make_replay(0, games=most_games, uses=3.0)
        for number in range(2 * most_games):
            if number == most_games:
                made.clear()
            add_game(replay, number % 256, 30)
            replay.draw()
        assert made.count(1) == most_games, "one a step, to mix"
        assert made.count(2) <= 3.1 * most_games, "one a pass of a game"


def samples_a_second(most_games: int) -> float:
    """Of a replay that is full."""
    replay = make_replay(0, games=most_games, uses=3.0)
    for number in range(most_games):
        add_game(replay, number % 256, 100)
        replay.draw()
    taken, started = 0, time.process_time()
    for number in range(100):
        add_game(replay, number, 100)
        taken += len(replay.draw().values)
    return taken / (time.process_time() - started)


def test_the_rate_does_not_fall_with_the_games_in_memory() -> None:
    """It did with one order a game and step: to a tenth from 100 games to 2,000."""
    few, many = (max(samples_a_second(games) for _ in range(2)) for games in (100, 2000))
    assert many > few / 4


@pytest.mark.parametrize("name", ["stratified", "plain"])
def test_nothing_but_games_and_counts_needs_saving(name: str, tmp_path: Path) -> None:
    """A replay that is filled anew with the same games and counts goes on in the same way."""
    replay = make_replay(5, tmp_path, name=name)
    for number in range(14):
        add_game(replay, number, 30)
        replay.draw()
        if number % 4 == 3:
            replay.saved()
    part = replay.saved()
    names = [name for name, _ in part.facts["replay_files"]]
    assert names == ["00000004-00000007.npz", "00000008-00000011.npz", "00000012-00000013.npz"]
    other = make_replay(5, tmp_path, name=name)
    other.restore(Part(json.loads(json.dumps(part.facts))))
    assert other.saved().facts == part.facts
    for number in range(14, 20):
        add_game(replay, number, 30)
        add_game(other, number, 30)
        assert drawn(replay) == drawn(other)


def test_a_wrong_replay_file_is_refused_by_name(tmp_path: Path) -> None:
    replay = make_replay(0, tmp_path)
    for number in range(3):
        add_game(replay, number, 4)
    part = replay.saved()
    path = tmp_path / "replay" / "00000000-00000002.npz"
    arrays = dict(np.load(path))

    def refusal() -> str:
        with pytest.raises(InputError) as caught:
            make_replay(0, tmp_path).restore(part)
        assert str(path) in str(caught.value)
        return str(caught.value)

    np.savez(path, **{**arrays, "numbers": arrays["numbers"] + 1})
    assert "other games than its run needs" in refusal()
    np.savez(path, **{**arrays, "version": np.array(9)})
    assert "version 9" in refusal()
    path.write_bytes(path.read_bytes()[:50])
    assert "damaged" in refusal()
    path.unlink()
    refusal()


def test_packed_planes_are_the_planes() -> None:
    game = athenan.make_game("othello", size=6)
    search = athenan.make_search("descent", game, "hash")
    search.run(game.initial_state(), iterations=3)
    packed, values, _ = _core.Labels(search.core).samples()
    bits = int(np.prod(game.plane_shape))
    assert packed.shape == (len(values), (bits + 7) // 8)
    planes = unpack(packed, game.plane_shape)
    assert (pack(planes) == packed).all()
    assert (planes[0] == game.initial_state().planes()).all()
