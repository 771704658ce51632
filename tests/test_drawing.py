"""Pictures of trees: what is visited, known and left out is in them, and they are sound SVG."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from commands import answer, run

import athenan
from athenan.drawing import draw, svg, unbounded_tree, visited_tree

TREE = [[[3, 5], [6, 9]], [[1, 2], [0, -1]]]
INFINITY = float("inf")
# What alpha-beta does on it, by hand: the second leaf of 01 and all of 11 are cut off.
CALLS = [
    ((), "call", -INFINITY, INFINITY),
    ((0,), "call", -INFINITY, INFINITY),
    ((0, 0), "call", -INFINITY, INFINITY),
    ((0, 0, 0), "leaf", 3, 3),
    ((0, 0, 1), "leaf", 5, 5),
    ((0, 1), "call", -INFINITY, 5),
    ((0, 1, 0), "leaf", 6, 6),
    ((1,), "call", 5, INFINITY),
    ((1, 0), "call", 5, INFINITY),
    ((1, 0, 0), "leaf", 1, 1),
    ((1, 0, 1), "leaf", 2, 2),
]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def texts(picture: str) -> list[str]:
    return [t.text or "" for t in ElementTree.fromstring(picture).iter() if t.tag.endswith("text")]


@pytest.mark.parametrize("name", ["ubfm", "descent", "umb"])
def test_the_unbounded_tree_is_what_the_search_knows(name: str) -> None:
    game = athenan.make_game("tictactoe")
    state = game.initial_state()
    for text in ("a1", "b2", "c3", "a3", "c1"):
        state = state.play(state.string_to_action(text))
    search = athenan.make_search(name, game, "hash", transpositions=False)
    root = unbounded_tree(search, state, None)
    dump = search.core.dump()
    drawn, waiting = [], [root]
    while waiting:
        at = waiting.pop()
        drawn.append(at)
        waiting += at.children
    assert len(drawn) == len(dump["value"])
    assert sum(at.resolved for at in drawn) == dump["resolved"].sum()
    orders = sorted(at.order for at in drawn if at.order is not None)
    assert orders == list(range(1, int(dump["expanded"].sum()) + 1))
    picture = svg(root)
    assert texts(picture).count("#1") == 1
    assert "first wins" in texts(picture)
    assert "scale(0.4)" in picture, "boards"


def test_values_of_three_players_are_drawn_as_vectors() -> None:
    game = athenan.make_game("mnk", rows=1, columns=3, k=2, players=3)
    root = unbounded_tree(athenan.make_search("maxn_ubfm", game, "zero"), game.initial_state(), 9)
    words = texts(svg(root))
    assert {"v=(0, 0, 0)", "c=(0, 0, 0)"} <= set(words)
    assert any("round: the others" in word for word in words)


def test_windows_and_what_alpha_beta_leaves_out() -> None:
    """From the list of its calls."""
    state = athenan.TreeGame.nested(TREE).initial_state()
    found: Any = SimpleNamespace(value=5.0, resolved=True)
    search: Any = SimpleNamespace(
        core=SimpleNamespace(trace=CALLS, tracing=False), run=lambda *_, **__: found
    )
    root = visited_tree(search, state)
    assert search.core.tracing
    words = texts(svg(root))
    assert [words.count(f"#{i}") for i in range(1, 13)] == [1] * 11 + [0]
    assert (words.count("(5, ∞)"), words.count("= 6"), words.count("= 9")) == (2, 1, 0)
    dashed = re.findall("<rect[^>]*stroke-dasharray", svg(root))
    assert len(dashed) == 2, "the leaf of 9, and the state above 0 and -1"


def test_trees_are_drawn_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.json").write_text(json.dumps(TREE))
    out = answer(capsys, ["solve", "--tree", "t.json", "--draw", "t.svg", "evaluator=hash"])
    assert "the first player wins, value +5" in out
    assert {"v=5", "v=9", "#1"} <= set(texts(Path("t.svg").read_text()))
    Path("o.json").write_text(json.dumps({"children": [[1, 2], [], []], "values": [0, 1, -1]}))
    words = ["solve", "--tree", "o.json", "--draw", "o.svg", "heuristic=gain", "search=descent"]
    assert "value +1" in answer(capsys, words)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--tree none.json", "no file 'none.json'"),
        ("--tree bad.json", "'bad.json' is no tree"),
        ("--tree odd.json", "'odd.json' is no tree"),
        ("game=tictactoe --draw t.png", "as FILE.svg"),
        ("game=tictactoe search=uct iterations=9 --draw t.svg", "cannot be drawn"),
        ("game=connect_four iterations=500 --draw t.svg", "too large to be drawn"),
    ],
)
def test_what_cannot_be_drawn(words: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.json").write_text("[[3, 5]")
    Path("odd.json").write_text('[["x"], {"a": 1}]')
    code, _, err = run(capsys, f"solve {words}")
    assert (code, err.count("\n")) == (2, 1), err
    assert told in err
    assert not Path("t.svg").exists()


def test_a_game_that_is_over_has_no_tree() -> None:
    game = athenan.TreeGame.nested(1)
    with pytest.raises(athenan.InputError, match="the game is over"):
        draw(athenan.make_search("ubfm", game), game.initial_state(), iterations=1)
