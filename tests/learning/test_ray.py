"""Actors of other processes: those that die, hang or fail are replaced, and no game counts twice.

Ray is real here, and so are the processes that are killed; what they play is not."""

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import quick_actors
from programs import facts, names, none_left, offspring, played
from quick_actors import QuickActor
from runs import train

import athenan
from athenan import train as training
from athenan.actor import Actor, cores_in
from athenan.actors import ActorsGone
from athenan.checkpoint import Part, steps_of
from athenan.cluster import Cluster, processes_of, reach, rename_devices
from athenan.config import compose
from athenan.errors import Failed, InputError
from athenan.ray_actors import RayActors
from athenan.records import GameRecord
from athenan.self_play import INCARNATION
from athenan.settings import TrainSettings

# Looked for, not imported: a Ray of one's own is set up before.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
]

PATIENCE = 4.0  # seconds; a start may take longer beside other work


def config(*words: str) -> TrainSettings:
    usual = ["experiment=tictactoe_smoke", "layout.call_seconds=0.01"]
    if not any(word.startswith("layout=") for word in words):
        usual += ["layout.name=ray", "layout.actors=2"]
    return compose("train", [*usual, *words])


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """One Ray for all of them, of a node with eight devices that are not there."""
    before = signal.getsignal(signal.SIGTERM)
    node = SimpleNamespace(
        config=SimpleNamespace(list_physical_devices=lambda _: list(range(8))),
        test=SimpleNamespace(is_built_with_cuda=lambda: True),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("athenan.cluster.tensorflow", lambda: node)
        patch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
        patch.delenv("HIP_VISIBLE_DEVICES", raising=False)
        started = Cluster(config("layout=node_adastra", "layout.object_store_mb=512").layout)
    assert signal.getsignal(signal.SIGTERM) is before, "Ray takes it where it is let"
    started.ray.cloudpickle.register_pickle_by_value(quick_actors)
    yield started
    ours = processes_of(os.getpid())
    assert ours
    started.close()
    deadline = time.monotonic() + 10
    while any(is_running(pid) for pid in ours) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert {pid: name for pid, name in ours.items() if is_running(pid)} == {}
    assert not started.folder.exists()


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


Make = Callable[..., RayActors]


@pytest.fixture
def make(cluster: Cluster, tmp_path: Path) -> Iterator[Make]:
    made: list[RayActors] = []

    def actors(*words: str, kind: type[Actor] = QuickActor) -> RayActors:
        found = RayActors(config(*words), tmp_path, kind, cluster)
        found.publish([np.zeros(())], 0.0)
        made.append(found)
        return found

    yield actors
    for found in made:
        for seat in found.seats:
            if seat.actor is not None:
                cluster.ray.kill(seat.actor)


def collect(actors: RayActors, until: Callable[[], bool]) -> list[GameRecord]:
    found: list[GameRecord] = []
    deadline = time.monotonic() + 90
    while not until():
        found += actors.collect()
        assert time.monotonic() < deadline
    return found


def check_games(actors: RayActors, games: list[GameRecord]) -> None:
    """Each has come once, and those of a process without a gap."""
    numbers = [game.number for game in games]
    assert len(set(numbers)) == len(numbers) == actors.games == actors.ledger.arrived
    for incarnation in {number // INCARNATION for number in numbers}:
        own = sorted(n % INCARNATION for n in numbers if n // INCARNATION == incarnation)
        assert own == list(range(len(own)))
    assert (actors.ledger.repeated, actors.ledger.missing) == (0, 0)


def all_play(actors: RayActors) -> bool:
    return all(seat.ready and seat.last for seat in actors.seats)


# ---- A Ray of one's own --------------------------------------------------------------------


def test_nobody_else_reaches_it(cluster: Cluster) -> None:
    """All its ports are of 127.0.0.1; what opens them stands in a file of the user's own."""
    ours = {os.getpid(), *processes_of(os.getpid())}
    sockets = set()
    for pid in ours:
        for path in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                sockets.add(os.readlink(path))
            except OSError:
                continue
    listening = []
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in sockets:
                listening.append(fields[1].rpartition(":")[0])
    assert len(listening) > 4
    loopback = ("0100007F", "0000000000000000FFFF00000100007F", "0" * 24 + "01000000")
    assert [address for address in listening if address not in loopback] == []
    token = cluster.folder / "token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert stat.S_IMODE(cluster.folder.stat().st_mode) == 0o700


def test_each_actor_of_a_node_has_a_device_of_its_own(make: Make) -> None:
    """The first is the learner's."""
    actors = make("layout=node_adastra")
    games = collect(actors, lambda: all_play(actors))
    check_games(actors, games)
    devices = [seat.ready.device for seat in actors.seats if seat.ready]
    assert sorted(map(str, devices)) == ["1", "2", "3", "4", "5", "6", "7"]


# ---- Faults --------------------------------------------------------------------------------


def test_the_killed_and_the_stopped_are_replaced(make: Make) -> None:
    actors = make()
    games = collect(actors, lambda: all_play(actors))
    first, second = (seat.ready for seat in actors.seats)
    assert first is not None
    assert second is not None
    os.kill(first.pid, signal.SIGKILL)
    os.kill(second.pid, signal.SIGSTOP)
    stopped = time.monotonic()
    usual, actors.layout.patience_seconds = actors.layout.patience_seconds, PATIENCE
    games += collect(actors, lambda: actors._deaths == 2)
    actors.layout.patience_seconds = usual
    games += collect(actors, lambda: actors.seats[0].incarnation > 1 and all_play(actors))
    games += collect(actors, lambda: actors.seats[1].incarnation > 1 and all_play(actors))
    assert time.monotonic() - stopped > PATIENCE
    check_games(actors, games)
    assert len({seat.incarnation for seat in actors.seats} | {0, 1}) == 4
    assert actors.ledger.abandoned == 8, "four games were under way in each"
    news = " ".join(actors.news())
    assert f"actor 0 (process {first.pid} on here) died: another one takes its place" in news
    assert "has not answered for" in news
    pages = actors.pages()
    assert (pages["layout/deaths"], pages["layout/replaced"]) == (2, 2)
    deadline = time.monotonic() + 10
    while is_running(second.pid) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not is_running(second.pid)


def test_who_dies_at_every_start_is_given_up_and_the_run_ends_by_75(
    make: Make, tmp_path: Path
) -> None:
    (tmp_path / "broken").touch()
    actors = make()
    with pytest.raises(ActorsGone, match="No actor is left"):
        collect(actors, lambda: False)
    news = " ".join(actors.news())
    assert "cannot play (Device 3 of here is broken" in news
    assert "it is given up" in news


def test_a_fault_of_play_has_one_more_try(make: Make, tmp_path: Path) -> None:
    (tmp_path / "raise_0").touch()
    actors = make("layout.actors=1")
    games = collect(actors, lambda: actors.games >= 3)
    check_games(actors, games)
    assert "actor 0" in actors.news()[1]
    (tmp_path / "raise_1").touch()
    (tmp_path / "raise_2").touch()
    with pytest.raises(Failed, match=r"failed twice .* OSError: this fault"):
        collect(actors, lambda: False)


def test_another_version_is_refused(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    actors = make("layout.actors=1", kind=Actor)
    version = athenan.__version__
    monkeypatch.setattr(athenan, "__version__", "0.0.1")
    with pytest.raises(InputError, match=rf"is of athenan {version}, the learner of 0\.0\.1"):
        collect(actors, lambda: False)


LEARNER = """
import sys
from pathlib import Path
import numpy as np
sys.path.insert(0, sys.argv[1])
import quick_actors
from athenan.actors import ActorsGone
from athenan.cluster import Cluster
from athenan.config import compose
from athenan.ray_actors import RayActors
layout = ["layout.name=ray", "layout.actors=1", "layout.call_seconds=0.01"]
config = compose("train", ["experiment=tictactoe_smoke", *layout])
cluster = Cluster(config.layout)
cluster.ray.cloudpickle.register_pickle_by_value(quick_actors)
actors = RayActors(config, Path(), quick_actors.QuickActor, cluster)
actors.publish([np.zeros(())], 0.0)
while not actors.collect():
    pass
print("plays", flush=True)
try:
    while True:
        actors.collect()
except ActorsGone as error:
    print(error, flush=True)
    actors.close()
"""


@pytest.mark.parametrize(
    "dead", ["learner", "gcs_server", pytest.param("raylet", marks=pytest.mark.long)]
)
def test_nothing_outlives_the_learner_or_its_ray(dead: str, tmp_path: Path) -> None:
    learner = subprocess.Popen(
        [sys.executable, "-c", LEARNER, str(Path(__file__).parent)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert learner.stdout is not None
    with learner:
        try:
            assert learner.stdout.readline() == "plays\n"
            theirs = offspring(learner.pid)
            found = {name: pid for pid, name in names(theirs).items()}
            os.kill({"learner": learner.pid, **found}[dead], signal.SIGKILL)
            told = learner.stdout.read()
        finally:
            learner.kill()
    if dead != "learner":  # Ray may print of its log before
        assert told.endswith(f"Ray's {dead} has died, and with it all actors.\n")
    none_left(theirs, 20)


# ---- What is saved -------------------------------------------------------------------------


def test_a_wanted_end_returns_the_games_and_another_one_counts_them(make: Make) -> None:
    actors = make()
    games = collect(actors, lambda: all_play(actors))
    part = actors.saved()
    assert actors.idle, "a checkpoint between waits for nobody"
    assert part.facts["games_under_way"] == []
    assert part.facts["left_behind"] == 8
    other = make()
    other.restore(part)
    assert other.ledger.abandoned == 8, "this one was killed"
    assert other._next_incarnation == 2, "no number is given twice"
    actors.hold(True, ending=True)
    games += collect(actors, lambda: actors.idle)
    check_games(actors, games)
    part = actors.saved()
    assert len(part.facts["games_under_way"]) == 2
    assert part.facts["left_behind"] == 0
    assert len(part.arrays["trees"]) == 10
    assert all(array.flags.writeable for array in part.arrays["trees"])


def test_games_are_dealt_to_other_actors(make: Make) -> None:
    under_way = [{"number": number} for number in range(5)]
    trees = [np.full(1, number) for number in range(5) for _ in range(5)]
    part = Part(
        {"games": 9, "next_game": 14, "games_under_way": [*under_way, None]}, {"trees": trees}
    )
    actors = make()
    actors.restore(part)
    assert actors._next_incarnation == 1, "those of a run of one process are the first"
    dealt = [seat.games for seat in actors.seats]
    assert [
        [game["number"] for game in games.facts["games_under_way"]] for games in dealt if games
    ] == [[0, 2, 4], [1, 3]]
    again = actors.saved()
    numbers = [game["number"] for game in again.facts["games_under_way"]]
    assert sorted(numbers) == list(range(5)), "none has been played on with"
    assert again.facts["next_game"] == INCARNATION


def test_a_disk_that_is_full_for_a_while_costs_nothing(
    cluster: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A checkpoint fails whole, and is said; actors play on, and the next one has everything."""
    made: list[RayActors] = []

    def make_actors(config: TrainSettings, _game: object, run: Path) -> RayActors:
        made.append(RayActors(config, run, QuickActor, cluster))
        monkeypatch.setattr(made[0], "close", lambda: None)
        return made[0]

    saves, real, fsync = 0, training.save, os.fsync

    def full(descriptor: int) -> None:
        if saves in (2, 3):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    def save(parts: Any) -> None:
        nonlocal saves
        saves += 1
        real(parts)
        assert not list(parts.run.rglob(".*"))
        if saves in (2, 3):
            assert [step.name for step in steps_of(parts.run)] == ["step_0"]

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("athenan.parts.make_actors", make_actors)
    monkeypatch.setattr(training, "save", save)
    monkeypatch.setattr(os, "fsync", full)
    layout = ["layout=cpu", "layout.actors=2", "layout.call_seconds=0.01", "replay.games=100"]
    run = train("full", *layout, "games=60", "checkpoint.every_games=20")
    for seat in made[0].seats:
        cluster.ray.kill(seat.actor)
    assert capsys.readouterr().out.count("no checkpoint now (") == 2
    assert "No space left on device" in (run / "log.txt").read_text()
    state = facts(run)
    assert state["games"] == made[0].games >= 60
    begun = made[0].ledger._expected
    arrived = {n * INCARNATION + k for n, games in begun.items() for k in range(games)}
    every = made[0].config.learn.held_out_every
    assert set(played(run)) == {n for n in arrived if n % every != every - 1}
    assert (state["left_behind"], state["repeated"], state["missing"]) == (0, 0, 0)


# ---- Wrong layouts ---------------------------------------------------------------------------


def test_what_cannot_be_is_said() -> None:
    began = time.monotonic()
    with pytest.raises(InputError, match=r"No Ray cluster answers at '127\.0\.0\.1:1'"):
        reach("127.0.0.1:1")
    assert time.monotonic() - began < 10
    with pytest.raises(InputError, match="neither auto nor host:port"):
        reach("somewhere")
    with pytest.raises(InputError, match="needs 8 devices, 1 of them for the learner; there are 0"):
        Cluster(config("layout=node_adastra").layout)
    assert cores_in("0-3+8") == {0, 1, 2, 3, 8}
    with pytest.raises(InputError, match="names no cores"):
        cores_in("first")


def test_without_ray_the_extra_is_named() -> None:
    text = "import sys; sys.modules['ray'] = None; from athenan.command import main; "
    words = ["train", "experiment=tictactoe_smoke", "layout=cpu", "checkpoints=never"]
    command = [sys.executable, "-c", f"{text}sys.exit(main({words!r}))"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "layout=ray needs Ray, the extra `ray`" in done.stderr
    assert not list(Path("never").glob("*/*"))


def test_devices_of_amd_nodes_are_named_as_ray_has_it() -> None:
    told = {"ROCR_VISIBLE_DEVICES": "0,1"}
    rename_devices(told)
    assert told == {"HIP_VISIBLE_DEVICES": "0,1"}
