"""The page's server: whole games, what the search sees, games to browse; and that no visitor can
harm it or another one."""

import asyncio
import json
import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run as run_command
from serving import memory_of, serving

import athenan
from athenan.checkpoint import packed
from athenan.config import compose
from athenan.records import Block, GameRecord
from athenan.saved_games import append_game, saved_game
from athenan.serve import LARGEST_MESSAGE, Outbox, Rate, is_own_name, make_app
from athenan.settings import ServeSettings

pytest.importorskip("starlette", reason="the extra 'serve' is not installed")
from starlette.testclient import TestClient, WebSocketTestSession
from starlette.websockets import WebSocketDisconnect

HERE, LINE = "http://127.0.0.1:8470", "ws://127.0.0.1:8470/line"


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("athenan.visit.WATCHED_SECONDS", 0.0)


def settings(*words: str) -> ServeSettings:
    found: ServeSettings = compose("serve", ["evaluations=30", "game=tictactoe", *words])
    return found


class Guest:
    """A visitor, and what he was told last of each kind."""

    def __init__(self, socket: WebSocketTestSession) -> None:
        self.socket = socket
        self.told: dict[str, Any] = {}

    def say(self, do: str, **rest: Any) -> None:
        self.socket.send_text(json.dumps({"do": do, **rest}))

    def hear(self) -> dict[str, Any]:
        message: dict[str, Any] = json.loads(self.socket.receive_text())
        self.told[message["type"]] = message
        return message

    def until(self, kind: str, **wanted: Any) -> dict[str, Any]:
        while True:
            message = self.hear()
            if message["type"] == "error" and kind != "error":
                raise AssertionError(message["sentence"])
            if message["type"] == kind and wanted.items() <= message.items():
                return message

    def sent_away(self) -> int:
        """Hears all that is left; the code of the end."""
        while True:
            try:
                self.hear()
            except WebSocketDisconnect as closed:
                return closed.code

    def begin(self, game: str, **rest: Any) -> dict[str, Any]:
        self.say("new", game=game, **rest)
        return self.until("position", at=0)

    def refused(self, do: str, **rest: Any) -> str:
        self.say(do, **rest)
        sentence: str = self.until("error")["sentence"]
        return sentence


@contextmanager
def visiting(*words: str) -> Iterator[Guest]:
    with (
        TestClient(make_app(settings(*words)), base_url=HERE) as client,
        client.websocket_connect(LINE) as socket,
    ):
        yield Guest(socket)


# ---- Files ---------------------------------------------------------------------------------------


def test_files_are_served_with_a_strict_policy(tmp_path: Path) -> None:
    client = TestClient(make_app(settings()), base_url=HERE)
    index = client.get("/")
    assert index.status_code == 200
    assert "default-src 'none'" in index.headers["content-security-policy"]
    assert "unsafe" not in index.headers["content-security-policy"]
    names = set(re.findall(r"(?:src|href)=\"([\w.]+)\"", index.text))
    for name in sorted(names):
        answer = client.get(f"/{name}")
        assert answer.status_code == 200, name
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "://" not in answer.text.replace("http://www.w3.org/", "").replace(
            "${scheme}://", ""
        )
        names |= set(re.findall(r"from \"\./([\w.]+)\"", answer.text))
    assert {"main.js", "page.css", "icon.svg"} <= names
    assert "style=" not in index.text
    for wrong in ("/nothing", "/..%2fserve.py", "/page/index.html", "/__init__.py"):
        refused = client.get(wrong)
        assert refused.status_code == 404
        assert str(tmp_path) not in refused.text


def test_another_name_for_this_machine_is_refused() -> None:
    client = TestClient(make_app(settings()), base_url="http://evil.example")
    assert client.get("/").status_code == 421
    with client.websocket_connect("ws://evil.example/line") as socket:
        assert json.loads(socket.receive_text())["type"] == "refused"
        with pytest.raises(WebSocketDisconnect) as closed:
            socket.receive_text()
        assert closed.value.code == 1008
    client = TestClient(make_app(settings()), base_url=HERE)
    with client.websocket_connect(LINE, headers={"origin": "https://evil.example"}) as socket:
        assert "site" in json.loads(socket.receive_text())["sentence"]
    with client.websocket_connect(LINE, headers={"origin": HERE}) as socket:
        Guest(socket).begin("tictactoe")


def test_names_that_mean_this_machine() -> None:
    here, open_ = settings(), settings("host=0.0.0.0", "names=[games.example]")
    for name in ("localhost", "localhost:8470", "127.0.0.1:1", "[::1]:8470", "LOCALHOST."):
        assert is_own_name(name, here), name
    for name in (
        "",
        "evil.example",
        "evil.example:8470",
        "192.168.1.5:80",
        "127.0.0.1.evil.example",
    ):
        assert not is_own_name(name, here), name
    assert is_own_name("192.168.1.5:8470", open_)
    assert is_own_name("Games.example:8470", open_)
    assert not is_own_name("other.example", open_)


# ---- Games ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "game", ["tictactoe", "tic_tac_mo", "connect_four", "hex7_swap", "amazons6"]
)
def test_a_whole_game(game: str) -> None:
    chance = random.Random(3)
    with visiting("evaluations=8") as guest:
        position = guest.begin(game)
        mine = guest.told["game"]["seats"].index("you")
        played = 0
        while position["outcomes"] is None:
            if position["to_move"] == mine:
                action, text, path = chance.choice(position["actions"])
                assert path
                guest.say("play", action=action, at=position["at"])
                played += 1
            position = guest.until("position")
        made = athenan.make_game(**compose("serve", [f"game={game}"]).game)
        state = made.initial_state()
        for text, player in position["line"]:
            assert player == state.to_move
            state = state.play(state.string_to_action(text))
        assert list(state.outcomes or ()) == position["outcomes"]
        assert played > 0


def test_two_players_are_watched_and_left() -> None:
    with visiting() as guest:
        guest.begin("tictactoe", seats=["a", "b"])
        while guest.until("position")["outcomes"] is None:
            pass
        assert len(guest.told["position"]["line"]) >= 5
        values = guest.told["position"]["values"]
        assert any(value is not None for value in values), "the curve of the game"
        assert guest.told["game"]["players"].keys() == {"a", "b"}
        guest.begin("tictactoe", seats=["you", "you"])
        guest.say("play", action=4, at=0)
        assert guest.until("position")["to_move"] == 1


def test_typed_actions_undo_and_the_line() -> None:
    with visiting() as guest:
        guest.begin("tictactoe", seats=["you", "you"])
        for text in ("B2", "a1", "c3"):
            guest.say("type", text=text)
            guest.until("position")
        assert [word for word, _ in guest.told["position"]["line"]] == ["b2", "a1", "c3"]
        assert guest.told["position"]["last"] == [8]
        guest.say("undo")
        assert guest.until("position")["at"] == 2
        guest.say("go", at=0)
        position = guest.until("position")
        assert (position["at"], len(position["line"]), position["paused"]) == (0, 2, True)
        guest.say("line", actions=[0, 1], at=0)  # another way from there
        assert [w for w, _ in guest.until("position")["line"]] == ["a1", "b1"]
        assert "no action here" in guest.refused("type", text="z9")
        assert "legal" in guest.refused("play", action=0, at=2)
        assert "meanwhile" in guest.refused("play", action=5, at=1)
        guest.say("seats", seats=["you", "a"])
        guest.until("position")
        guest.say("play", action=4, at=2)
        guest.until("position", at=4)
        guest.say("undo")  # to where the visitor chose last
        assert guest.until("position")["at"] == 2


# ---- What the search sees ------------------------------------------------------------------------


def test_analysis_shows_values_reasons_and_proofs() -> None:
    with visiting() as guest:
        guest.begin("tictactoe", seats=["you", "you"])
        for text in ("b2", "a1", "b1"):  # b3 must be taken
            guest.say("type", text=text)
            guest.until("position")
        guest.say("analyse", on=True)
        while not (thought := guest.until("thought"))["over"]:
            pass
        assert thought["resolved"]
        assert thought["why"]["sentence"]
        children = {text: rest for _, text, *rest in thought["children"]}
        assert len(children) == 6
        value, completion, selections, resolved, plies = children["c3"]
        assert (completion, resolved, plies) == (-1, True, 2), "x takes b3 at once"
        assert value == -1
        assert selections >= 0
        assert thought["line"][0][0] == thought["action"]
        guest.say("look", side="a", actions=[], **{"for": "tree"})
        look = guest.until("look")
        assert {child[1] for child in look["thought"]["children"]} == children.keys()
        action = next(child[0] for child in look["thought"]["children"] if child[1] == "c3")
        guest.say("look", side="a", actions=[action])
        look = guest.until("look")
        assert look["words"] == ["c3"]
        assert look["position"]["ply"] == 4
        assert guest.told["position"]["at"] == 3, "the game has not gone on"


def test_the_same_position_under_two_searches() -> None:
    with visiting() as guest:
        guest.begin("connect_four", seats=["you", "you"])
        guest.say("players", b={"search": "uct", "evaluator": "rollout", "evaluations": 50})
        guest.until("position")
        guest.say("analyse", on=True)
        sides = set()
        while sides != {"a", "b"}:
            sides.add(guest.until("thought")["side"])
        assert guest.told["game"]["players"]["b"]["search"] == "uct"
        guest.say("analyse", on=False)
        guest.until("position")
        guest.say("players", b=None)
        assert guest.until("game")["players"].keys() == {"a"}


def test_thinking_ends_when_the_visitor_goes_on() -> None:
    with visiting("evaluations=100000000", "most_evaluations=100000000", "seconds=60") as guest:
        guest.begin("go", seats=["a", "you"])
        guest.until("thought")
        started = time.monotonic()
        guest.begin("tictactoe", seats=["you", "you"])
        assert time.monotonic() - started < 10
        guest.begin("go", seats=["a", "you"])
        guest.until("thought")
        guest.say("stop")  # play at once
        assert guest.until("position", at=1)["to_move"] == 1
        assert time.monotonic() - started < 20


def test_an_analysis_gives_way() -> None:
    """One place to think in: who plays has his turn while another one analyses."""
    words = ["thoughts=1", "analysis_seconds=600", "evaluations=20"]
    with (
        TestClient(make_app(settings(*words)), base_url=HERE) as client,
        client.websocket_connect(LINE) as one,
        client.websocket_connect(LINE) as two,
    ):
        thinker, player = Guest(one), Guest(two)
        thinker.begin("go", seats=["you", "you"])
        thinker.say("analyse", on=True)
        thinker.until("thought")
        player.begin("tictactoe", seats=["you", "a"])
        started = time.monotonic()
        player.say("play", action=4, at=0)
        player.until("position", at=2)
        assert time.monotonic() - started < 30
        thinker.until("thought")
        assert not thinker.told["thought"]["over"]


# ---- Games that were played ----------------------------------------------------------------------


class Somebody:
    text = "somebody"
    facts: dict[str, Any] = {"version": None, "options": {}, "seed": 1}  # noqa: RUF012


def random_game(name: str) -> Any:
    chance = random.Random(5)
    state: Any = athenan.make_game(name).initial_state()
    while not state.is_terminal:
        state = state.play(chance.choice(state.legal_actions()))
    return state


def write_run(folder: Path) -> list[int]:
    """A run as training leaves it, with one game in its replay; the game's actions."""
    state = random_game("connect_four")
    _, actions = state.history
    record = GameRecord(
        number=7,
        planes=np.zeros((3, 21), np.uint8),
        values=np.zeros((3, 1), np.float32),
        actions=np.array(actions, np.uint32),
        root_values=np.linspace(-1, 1, len(actions), dtype=np.float32).reshape(-1, 1),
        outcomes=state.outcomes,
    )
    (folder / "replay").mkdir(parents=True)
    (folder / "config.yaml").write_text("game:\n  name: connect_four\n  rows: 6\n  columns: 7\n")
    (folder / "log.txt").write_text(f"begun in {folder.resolve()}/x\nlearned\n")
    (folder / "replay" / "00000007-00000007.npz").write_bytes(
        packed(Block.of([record]).to_arrays())
    )
    match = {"wins": 3, "draws": 0, "losses": 1, "pair_scores": [1, 0.5], "players": 2}
    row = {"against": "uct", "games_of_run": 100, "result": match}
    (folder / "matches.jsonl").write_text(json.dumps(row) + "\n")
    return list(actions)


def test_saved_games_are_browsed(tmp_path: Path) -> None:
    state = random_game("othello")
    append_game(tmp_path / "mine.jsonl", saved_game(state, 2, [Somebody(), Somebody()]))
    with visiting(f"saved={tmp_path}") as guest:
        guest.say("hello")
        assert guest.until("catalogue")["saved"] == ["mine"]
        guest.say("games", source="mine")
        [row] = guest.until("games")["rows"]
        assert row["plies"] == state.ply
        guest.say("open", source="mine", index=0)
        position = guest.until("position")
        assert (position["at"], len(position["line"])) == (0, state.ply)
        assert guest.told["game"]["game"] == "othello"
        guest.say("go", at=state.ply)
        assert guest.until("position")["outcomes"] == list(state.outcomes)
        for wrong in ("../mine", "mine.jsonl", "other", str(tmp_path / "mine")):
            assert "no such" in guest.refused("games", source=wrong)
        assert "no such game" in guest.refused("open", source="mine", index=1)


def test_a_run_is_shown_with_its_games(tmp_path: Path) -> None:
    actions = write_run(tmp_path / "checkpoints" / "connect_four" / "first")
    with visiting() as guest:
        guest.say("hello")
        assert guest.until("catalogue")["runs"] == ["connect_four/first"]
        guest.say("run", run="connect_four/first")
        shown = guest.until("run")
        assert shown["curves"]["uct"][0][:2] == [100, 0.75]
        assert shown["log"][-1] == "learned"
        assert str(tmp_path) not in json.dumps(shown), "no path of the machine"
        assert [game["index"] for game in shown["games"]] == [7]
        guest.say("open", source="run:connect_four/first", index=7)
        position = guest.until("position")
        assert len(position["line"]) == len(actions)
        assert position["values"][0] == -1
        for wrong in ("first", "../connect_four/first", "connect_four/other"):
            assert "no such run" in guest.refused("run", run=wrong)
        guest.begin("connect_four")
        assert guest.told["game"]["evaluators"] == ["rollout", "zero"], "it has no checkpoint"


# ---- Who is wrong, or too many -------------------------------------------------------------------

NONSENSE: list[Any] = [
    None, 3, [], "do", {}, {"do": 3}, {"do": "fly"}, {"do": "new", "game": "../../etc"},
    {"do": "new", "game": 3}, {"do": "new", "seats": ["me"]}, {"do": "play"},
    {"do": "play", "action": "x", "at": 0}, {"do": "play", "action": 10**30, "at": 0},
    {"do": "play", "action": True, "at": 0}, {"do": "go", "at": -1}, {"do": "go", "at": 10**9},
    {"do": "look", "actions": "abc"}, {"do": "look", "actions": [0] * 1000},
    {"do": "look", "actions": [999]}, {"do": "players", "a": 3},
    {"do": "players", "a": {"search": "none"}}, {"do": "players", "a": {"evaluator": "/etc/x"}},
    {"do": "players", "a": {"evaluations": 10**12}}, {"do": "players", "a": {"evaluations": 0}},
    {"do": "type", "text": "\x00" * 50}, {"do": "type", "text": "a" * 10_000}, {"do": "open"},
    {"do": "open", "source": "run:", "index": 0}, {"do": "run", "run": "../x"}, {"do": "undo"},
    {"do": "seats", "seats": []}, {"do": "line", "actions": [1.5], "at": 0},
]  # fmt: skip


def test_nonsense_is_answered_and_harms_nothing(tmp_path: Path) -> None:
    with visiting("messages=10000") as guest:
        guest.begin("tictactoe", seats=["you", "you"])
        for message in NONSENSE:
            guest.socket.send_text(json.dumps(message))
            sentence = guest.until("error")["sentence"]
            assert sentence[0].isupper() or sentence[0] == "'", sentence
            assert sentence.endswith((".", "?")), sentence
            assert "/" not in sentence
            assert str(tmp_path) not in sentence
        for text in ("", "{", "nul", "[" * 10_000, '{"do": NaN}'):
            guest.socket.send_text(text)
            guest.until("error")
        guest.say("play", action=0, at=0)
        assert guest.until("position")["at"] == 1


@pytest.mark.parametrize(
    ("send", "why"),
    [
        (lambda socket: [socket.send_text('{"do": "undo"}') for _ in range(200)], "too many"),
        (lambda socket: socket.send_text("x" * (LARGEST_MESSAGE + 1)), "too long"),
        (lambda socket: socket.send_bytes(b"\x00\xff"), "texts"),
    ],
)
def test_who_floods_is_sent_away_with_a_sentence(send: Any, why: str) -> None:
    with TestClient(make_app(settings()), base_url=HERE) as client:
        with client.websocket_connect(LINE) as socket:
            send(socket)
            guest = Guest(socket)
            assert guest.sent_away() == 1008
            assert why in guest.told["refused"]["sentence"]
        with client.websocket_connect(LINE) as socket:
            Guest(socket).begin("tictactoe")


def test_who_is_one_too_many_is_told_so() -> None:
    with TestClient(make_app(settings("visitors=2")), base_url=HERE) as client:
        with client.websocket_connect(LINE) as one, client.websocket_connect(LINE) as two:
            Guest(one).begin("tictactoe")
            Guest(two).begin("tictactoe")
            with client.websocket_connect(LINE) as three:
                guest = Guest(three)
                assert "2 visitors" in guest.until("refused")["sentence"]
                assert guest.sent_away() == 1013
        with client.websocket_connect(LINE) as later:
            Guest(later).begin("tictactoe")


def test_what_waits_for_a_visitor_has_a_bound() -> None:
    async def look() -> None:
        outbox = Outbox()
        for i in range(1000):
            outbox.put({"type": "thought", "side": "ab"[i % 2], "number": i})
        assert [(await outbox.take())["number"] for _ in range(2)] == [998, 999]
        assert not outbox.full
        for _ in range(1000):
            outbox.put({"type": "position"})
        assert outbox.full

    asyncio.run(look())


def test_the_rate_is_kept() -> None:
    rate = Rate(10)
    assert sum(rate.allows() for _ in range(100)) == 30
    rate.at -= 1.0
    rate.left = 0
    assert sum(rate.allows() for _ in range(100)) in (9, 10, 11)


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, _, error = run_command(capsys, f"serve port={taken.getsockname()[1]}")
    assert code == 2
    assert "Nothing can listen on 127.0.0.1" in error


# ---- Many at once, over the network --------------------------------------------------------------


@pytest.mark.slow
def test_who_floods_harms_nobody_else() -> None:
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed

    async def flood(address: str, message: str | bytes) -> int:
        """How often he was sent away."""
        times = 0
        while not over.is_set():
            async with connect(address, open_timeout=60, close_timeout=1, max_queue=None) as socket:
                try:
                    while not over.is_set():
                        await socket.send(message)
                        await asyncio.sleep(0)  # the others of this test are to be served, too
                except ConnectionClosed:
                    times += 1
        return times

    async def deaf(address: str) -> None:
        """Asks and asks, within the rate, and reads nothing."""
        async with connect(address, max_queue=1, close_timeout=1) as socket:
            with suppress(ConnectionClosed):
                while not over.is_set():
                    await socket.send(json.dumps({"do": "new", "game": "go19"}))
                    await asyncio.sleep(0.06)

    async def play(address: str) -> int:
        async with connect(address, open_timeout=60) as socket:
            await socket.send(json.dumps({"do": "new", "game": "tictactoe"}))
            while True:
                message = json.loads(await socket.recv())
                if message["type"] != "position":
                    continue
                if message["outcomes"]:
                    return len(message["line"])
                if message["to_move"] == 0:
                    action = message["actions"][0][0]
                    said = {"do": "play", "action": action, "at": message["at"]}
                    await socket.send(json.dumps(said))

    async def all_of_them(address: str) -> list[int]:
        line = address.replace("http", "ws") + "line"
        nonsense = ['{"do": "undo"}', "x" * 10_000, "x" * 1_000_000, b"\0" * 1000]
        floods = [asyncio.create_task(flood(line, message)) for message in nonsense]
        quiet = asyncio.create_task(deaf(line))
        for _ in range(3):
            assert await asyncio.wait_for(play(line), 60) >= 5
        over.set()
        await quiet
        return await asyncio.gather(*floods)

    over = asyncio.Event()
    with serving("game=tictactoe", "evaluations=20") as (address, process):
        before = memory_of(process)
        times = asyncio.run(all_of_them(address))
        assert all(times), times
        assert memory_of(process) - before < 200


@pytest.mark.slow
def test_200_visitors_are_served_or_refused() -> None:
    from websockets.asyncio.client import connect
    from websockets.exceptions import ConnectionClosed

    async def visit(address: str) -> str:
        async with connect(address.replace("http", "ws") + "line", open_timeout=60) as socket:
            try:
                await socket.send(json.dumps({"do": "new", "game": "tictactoe"}))
                while True:
                    message = json.loads(await socket.recv())
                    if message["type"] == "position" and message["at"] == 0:
                        await socket.send(json.dumps({"do": "play", "action": 4, "at": 0}))
                    if message["type"] == "position" and message["at"] == 2:
                        await served.wait()
                        return "served"
            except ConnectionClosed as closed:
                told = closed.rcvd and closed.rcvd.code == 1013 and closed.rcvd.reason
                return "refused" if told and "150 visitors" in told else str(closed)

    async def all_of_them(address: str) -> list[str]:
        nonlocal served
        served = asyncio.Event()
        visits = [asyncio.create_task(visit(address)) for _ in range(200)]
        while sum(task.done() for task in visits) < 50:
            await asyncio.sleep(0.05)
        served.set()
        return await asyncio.gather(*visits)

    served = asyncio.Event()
    with serving("game=tictactoe", "evaluations=20", "visitors=150") as (address, process):
        before = memory_of(process)
        found = asyncio.run(all_of_them(address))
        assert (found.count("served"), found.count("refused")) == (150, 50)
        assert memory_of(process) - before < 200
        assert asyncio.run(all_of_them(address)).count("served") == 150, "and again"
