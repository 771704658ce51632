"""Runs that join a Ray cluster: nodes come and go, the learner dies and goes on. The two nodes are
real processes of Ray, on this machine and of 127.0.0.1 alone."""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from programs import LONG, RUN, facts, last_step, log, played, running, stop, until
from runs import SMALL

from athenan.cluster import OWN
from athenan.self_play import INCARNATION

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed"),
]

PLAYS = " plays\n"


class Nodes:
    def __init__(self, folder: Path) -> None:
        (folder / "token").write_text("0" * 64)
        (folder / "token").chmod(0o600)
        self.program = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("ray_nodes.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.address = self.answer()

    def answer(self) -> str:
        assert self.program.stdout is not None
        return self.program.stdout.readline().strip()

    def tell(self, word: str) -> None:
        assert self.program.stdin is not None
        self.program.stdin.write(word + "\n")
        self.program.stdin.flush()
        assert self.answer() == "done"


@pytest.fixture
def nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Nodes]:
    monkeypatch.chdir(tmp_path)
    folder = Path(tempfile.mkdtemp(prefix="nodes-", dir="/tmp"))  # of sockets: a short name
    own = {"RAY_TMPDIR": str(folder), "RAY_AUTH_TOKEN_PATH": str(folder / "token")}
    for name, value in {**OWN, **own}.items():
        monkeypatch.setenv(name, value)
    found = Nodes(folder)
    yield found
    found.program.communicate(timeout=60)
    shutil.rmtree(folder, ignore_errors=True)


def words(nodes: Nodes) -> list[str]:
    layout = ["layout=cpu", f"layout.address={nodes.address}", "layout.call_seconds=0.2"]
    small = [word for word in SMALL if not word.startswith("self_play.games")]
    return [*small, *layout, "layout.patience_seconds=60", "replay.games=20", "run=mine",
            "resume=auto", *LONG]  # fmt: skip


def check_ledger() -> None:
    state, numbers = facts(RUN), played(RUN)
    assert numbers
    assert len(set(numbers)) == len(numbers)
    assert (state["repeated"], state["missing"]) == (0, 0)


def test_a_node_is_lost_and_another_one_joins(nodes: Nodes) -> None:
    """The actor of the other node plays on; the lost one's place is taken where there is one."""
    with running(*words(nodes), plays=2) as process:
        until(process, lambda: len({number // INCARNATION for number in played(RUN)}) == 2)
        nodes.tell("lose")
        until(process, lambda: "died: another one takes its place" in log())
        games = last_step()
        until(process, lambda: last_step() > games)
        assert log().count(PLAYS) == 2, "there is no place for another one"
        nodes.tell("join")
        until(process, lambda: log().count(PLAYS) == 3)
        games = last_step()
        until(process, lambda: last_step() > games)
        stop(process)
    check_ledger()
    state = facts(RUN)
    assert state["abandoned"] > 0, "those of the node"
    assert state["left_behind"] == 0
    assert state["games_under_way"]


def test_the_learner_is_killed_and_started_again(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cluster of this machine stays; the same words go on with the run."""
    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    nodes.address = "auto"
    with running(*words(nodes), plays=2) as process:
        process.kill()
        process.wait()
    killed = facts(RUN)
    assert killed["left_behind"] > 0
    with running(*words(nodes), plays=2) as process:
        stop(process)
    check_ledger()
    state = facts(RUN)
    assert state["games"] > killed["games"]
    assert state["abandoned"] == killed["left_behind"]


def test_a_node_that_comes_later_has_an_actor(nodes: Nodes) -> None:
    nodes.tell("lose")
    with running(*words(nodes), plays=1) as process:
        nodes.tell("join")
        until(process, lambda: len({number // INCARNATION for number in played(RUN)}) == 2)
        stop(process)
    check_ledger()
