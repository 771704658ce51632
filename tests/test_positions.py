"""Solved positions: those that are shipped, and the script that makes them."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import athenan
from athenan.games import make_game
from athenan.positions import Position, load_positions, positions_file, positions_folder

sys.path.append(str(Path(__file__).parents[1] / "scripts"))
import positions as maker

FILES = sorted(positions_folder().glob("*.jsonl"))
GAME = make_game("connect_four")


def shipped(path: Path) -> tuple[athenan.Game, list[Position]]:
    game = make_game(**json.loads(path.read_text().splitlines()[0])["game"])
    return game, load_positions(path, game)


# ---- What is shipped -----------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_positions_are_distinct_open_and_have_a_mistake(path: Path) -> None:
    game, positions = shipped(path)
    assert positions_file(game) == path
    assert path.stat().st_size < 300_000
    assert len({maker.canonical(game, p.state) for p in positions}) == len(positions)
    assert all(p.has_a_mistake and not p.state.is_terminal for p in positions)
    counts = np.unique([p.state.ply for p in positions], return_counts=True)[1]
    assert len(set(counts)) == 1, "equally many of every ply"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_outcomes_are_those_of_another_search(path: Path) -> None:
    """The latest ones, solved again by descent; children one by one, so that all are known."""
    game, positions = shipped(path)
    latest = sorted(positions, key=lambda p: -p.state.ply)[:40]
    for position in latest:
        for action, outcome in position.outcomes.items():
            child = position.state.play(action)
            found = child.outcomes
            if not child.is_terminal:
                result = athenan.make_search("descent", game, memory_mb=64).run(
                    child, evaluations=1_000_000
                )
                assert result.resolved
                found = (round(result.completion), -round(result.completion))
            assert found[position.state.to_move] == outcome


def test_those_of_connect_four_end_at_ply_30() -> None:
    found = positions_file(GAME)
    assert found is not None
    positions = load_positions(found, GAME)
    assert len(positions) >= 1500
    assert max(p.state.ply for p in positions) == 30
    assert positions_file(make_game("connect_four", rows=5)) is None


# ---- Who makes them ------------------------------------------------------------------------


def made(out: Path, each: int) -> list[str]:
    words = ["connect_four,rows=4,columns=4", "--plies", "9", "8", "--memory-mb", "16"]
    maker.main([*words, "--each", str(each), "--out", str(out)])
    return out.read_text().splitlines()


def test_who_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    whole = made(tmp_path / "whole.jsonl", 4)
    assert len(whole) == 9
    cut = tmp_path / "cut.jsonl"
    cut.write_text("\n".join([*whole[:3], whole[3][:20]]))  # a line that a kill cut off
    assert made(cut, 4) == whole
    assert made(cut, 4) == whole, "nothing is left to do"
    game = make_game("connect_four", rows=4, columns=4)
    assert [p.state.ply for p in load_positions(cut, game)] == [9] * 4 + [8] * 4


def test_an_installed_package_has_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from athenan import positions

    monkeypatch.setattr(positions, "__file__", str(tmp_path / "athenan" / "positions.py"))
    folder = positions_folder()
    assert folder.parent == tmp_path / "athenan"
    lists = Path(__file__).parents[1] / "athenan" / "core" / "CMakeLists.txt"
    assert f'"${{top}}/games/positions/" DESTINATION athenan/{folder.name})' in lists.read_text()
    assert positions_file(GAME) is None
    folder.mkdir(parents=True)
    (folder / "mine.jsonl").write_text(FILES[0].read_text())
    game, _ = shipped(FILES[0])
    assert positions_file(game) == folder / "mine.jsonl"
