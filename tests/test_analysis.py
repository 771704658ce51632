"""`athenan analysis`: JSON lines for every game; requests in turn; what is wrong is an answer."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest
from protocols import JUNK, Program, made

from athenan.analysis import COMMANDS, FIELDS, KNOWN, Analysis
from athenan.games import list_games, make_game
from athenan.lines import LongLine


class Spoken:
    def __init__(self, *words: str) -> None:
        self.analysis, self.said = made("analysis", Analysis, *words)

    def say(self, **fields: Any) -> None:
        assert self.analysis.hear(json.dumps(fields))

    def answers(self, count: int) -> list[dict[str, Any]]:
        """So many lines, which are taken away."""
        end = time.monotonic() + 60
        while len(self.said) < count:
            assert time.monotonic() < end, self.said
            time.sleep(0.002)
        found, self.said[:] = self.said[:count], self.said[count:]
        assert all(line.endswith("\n") and line.count("\n") == 1 for line in found)
        return [json.loads(line) for line in found]

    def ask(self, **fields: Any) -> dict[str, Any]:
        self.say(**fields)
        return self.answers(1)[0]


@pytest.fixture
def at() -> Any:
    spoken = Spoken("game=hex", "game.size=5")
    yield spoken
    spoken.analysis.close()


def test_a_state_is_thought_of(at: Spoken) -> None:
    found = at.ask(id="a", actions=["a1", "b2"], evaluations=300)
    assert set(found) == {"id", "ply", "to_move", "seconds", "during", *FIELDS}
    assert (found["id"], found["ply"], found["to_move"], found["during"]) == ("a", 2, 0, False)
    assert found["evaluations"] >= 300
    assert len(found["children"]) == 23
    assert found["children"][0]["action"] == found["action"]
    assert found["children"][0]["line"][0] == found["action"]
    few = at.ask(id=7, evaluations=50, fields=["value", "children"], candidates=2)
    assert set(few) == {"id", "ply", "to_move", "seconds", "during", "value", "children"}
    assert len(few["children"]) == 2


def test_the_same_request_has_the_same_answer(at: Spoken) -> None:
    """What was asked before does not matter, unless the tree is to be kept."""
    first = at.ask(id=1, evaluations=200, actions="a1")
    at.ask(id=2, evaluations=300, actions="b2 c3")
    again = at.ask(id=1, evaluations=200, actions="a1")
    assert first.pop("seconds") >= 0
    assert again.pop("seconds") >= 0
    assert again == first
    assert at.ask(id=3, evaluations=200, actions="a1", fresh=False)["states"] > first["states"]


@pytest.mark.parametrize("name", list_games())
def test_every_game(at: Spoken, name: str) -> None:
    found = at.ask(id=1, game=name, evaluations=2, fields=["action", "value"])
    state = make_game(name).initial_state()
    assert state.string_to_action(found["action"]) in state.legal_actions()
    state = state.play(state.string_to_action(found["action"]))
    start = {"start": str(state)} if state.game.num_players == 2 else {"actions": [found["action"]]}
    found = at.ask(id=2, game={"name": name}, evaluations=2, **start)
    assert found["to_move"] == state.to_move
    assert len(at.analysis.engines) <= at.analysis.config.engines


def test_a_whole_game(at: Spoken) -> None:
    at.say(id=1, game="tictactoe", actions="a1 a2 b1 b2 c1", plies="all", evaluations=5)
    found = at.answers(6)
    assert [each["ply"] for each in found] == list(range(6))
    assert found[-1]["outcomes"] == [1, -1]
    assert found[-1]["action"] is None
    assert found[4]["plies_to_end"] == 1
    assert found[4]["resolved"]


def test_the_more_urgent_comes_first(at: Spoken) -> None:
    at.say(id=0, game="go", endless=True)
    while at.analysis._current is None:
        time.sleep(0.002)
    for i in range(3):
        at.say(id=i + 1, evaluations=5, priority=i)
    at.say(id=9, command="terminate", terminate=0)
    found = at.answers(5)
    assert [each["id"] for each in found if each["id"] != 9] == [0, 3, 2, 1]
    assert {"id": 9, "command": "terminate", "terminated": 1} in found


def test_lines_while_it_thinks(at: Spoken) -> None:
    at.say(id=1, game="go", endless=True, every=0.01, fields=["evaluations"])
    found = at.answers(3)
    assert all(each["during"] for each in found)
    at.say(id=2, command="terminate_all")
    while (last := at.answers(1)[0])["id"] != 2:
        pass
    while (last := at.answers(1)[0])["during"]:
        pass
    assert last["terminated"]
    assert last["evaluations"] > 0


def test_commands(at: Spoken) -> None:
    assert at.ask(id=1, command="version")["version"]
    assert len(at.ask(id=2, command="games")["games"]) == len(list_games())
    assert at.ask(id=3, command="terminate", terminate="nobody")["terminated"] == 0
    assert at.ask(id=4, command="clear") == {"id": 4, "command": "clear"}
    assert not at.analysis.engines
    assert not at.analysis.hear('{"id": 5, "command": "quit"}')


@pytest.mark.parametrize(
    "line",
    [
        "", "{", "[]", "1", '"x"', "null", "{}", '{"id": 1.5}', '{"id": true}', "[" * 100_000,
        '{"id": 1, "evaluation": 5}', '{"id": 1, "evaluations": 0}', '{"id": 1, "seconds": NaN}',
        '{"id": 1, "seconds": -1}', '{"id": 1, "seconds": 0}', '{"id": 1, "evaluations": 1e400}',
        '{"id": 1, "evaluations": 5.0}', '{"id": 1, "game": "hexx"}', '{"id": 1, "game": 5}',
        '{"id": 1, "game": {"name": "hex", "size": "a"}}', '{"id": 1, "game": "os:system"}',
        '{"id": 1, "game": {"name": "hex", "size": 500}}', '{"id": 1, "start": 5}',
        '{"id": 1, "start": "x"}', '{"id": 1, "actions": 5}', '{"id": 1, "actions": ["z9"]}',
        '{"id": 1, "actions": [true]}', '{"id": 1, "actions": [-1]}', '{"id": 1, "plies": [1]}',
        '{"id": 1, "plies": "some"}', '{"id": 1, "fields": "value"}', '{"id": 1, "fields": ["x"]}',
        '{"id": 1, "candidates": -1}', '{"id": 1, "fresh": 1}', '{"id": 1, "endless": "yes"}',
        '{"id": 1, "command": "x"}', '{"id": 1, "command": 5}', '{"command": "version"}',
        '{"id": 1, "command": "version", "x": 1}', '{"id": 1, "command": "terminate"}',
        '{"id": "\\ud800", "game": "\\ud800"}', '{"id": 1, "priority": 99999999999999999999}',
    ],
)  # fmt: skip
def test_what_is_wrong_is_an_answer(at: Spoken, line: str) -> None:
    assert at.analysis.hear(line)
    if not line:
        assert at.said == []
        return
    (answer,) = at.answers(1)
    assert answer["error"]
    assert answer["error"][-1] in ".?)'"
    assert set(answer) == {"id", "error"}
    assert at.ask(id=1, evaluations=5)["action"]


def test_no_more_wait_than_may() -> None:
    at = Spoken("game=hex", "pending=3")
    at.say(id=0, game="go", endless=True)
    while at.analysis._current is None:
        time.sleep(0.002)
    at.say(id=1, actions="a1 b1 c1", plies="all", evaluations=5)
    assert "pending=3" in at.answers(1)[0]["error"]
    at.say(id=2, actions="a1 b1", plies="all", evaluations=5)
    at.analysis.close()
    found = at.answers(4)
    assert [each["id"] for each in found] == [0, 2, 2, 2]


# ---- Junk ------------------------------------------------------------------------------------


def values(chance: random.Random) -> Any:
    return chance.choice(
        [None, True, 0, 1, -1, 5, 1.5, 1e300, 10**30, "", "hex", "a1", "all", "go", [], {}, [1],
         ["a1"], ["a1", "b2"], {"name": "hex"}, {"name": "hex", "size": 4}, {"name": 3}, [[]],
         "version", "terminate", "terminate_all", "games", "value", ["value"], "e4"]
    )  # fmt: skip


def fuzz(lines: int, seed: int) -> None:
    at = Spoken("game=hex", "game.size=4", "pending=5", "engines=2")
    chance = random.Random(seed)
    names = [*KNOWN, "command", "terminate", "x"]
    for _ in range(lines):
        asked = {"id": 1, "evaluations": 2}
        for _ in range(chance.randrange(4)):
            asked[chance.choice(names)] = values(chance)
        if asked.get("endless") is True or asked.get("iterations") or asked.get("seconds"):
            asked["evaluations"] = 2
        text = json.dumps(asked)
        kind = chance.random()
        if kind < 0.1:
            text = "".join(chance.choice(JUNK) for _ in range(chance.randrange(60)))
        elif kind < 0.3:
            cut = chance.randrange(len(text))
            text = text[:cut] + chance.choice(JUNK) + text[cut + chance.randrange(3) :]
        if '"quit"' in text:
            continue
        started = time.monotonic()
        assert at.analysis.hear(text)
        assert time.monotonic() - started < 5, text
        if len(at.said) > 10_000:
            for line in at.said:
                json.loads(line)
            at.said.clear()
    at.analysis.hear(LongLine())
    at.analysis.close()
    assert set(COMMANDS) > {"quit"}
    assert all("id" in json.loads(line) for line in at.said)


def test_junk_is_answered() -> None:
    fuzz(2000, 1)


@pytest.mark.long
def test_much_junk_is_answered() -> None:
    fuzz(100_000, 2)


@pytest.mark.slow
def test_the_program() -> None:
    with Program("analysis", "game=hex", "evaluations=100", "seconds=null") as at:
        at.say('{"id": 1}')
        assert json.loads(at.wait_for('{"id": 1')[-1])["evaluations"] >= 100
        at.say('{"id": 2, "actions": "a1 b1", "plies": "all"}')
        assert at.end("") == 0  # input ends, and what was asked is answered
        assert len(at.wait_for('{"id": 2, "ply": 2')) == 3
