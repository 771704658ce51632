"""Records of games and blocks of them: what goes in comes out, and nothing else is taken."""

import io
from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from athenan.errors import InputError
from athenan.records import COUNTERS, Block, GameRecord, pack, unpack

PLANE_BYTES = 5
whole = st.integers(0, 2**62)


@st.composite
def blocks(draw: Any) -> list[GameRecord]:
    """Games of one kind: two players or more, labels of states or of actions."""
    players = draw(st.integers(2, 4))
    width = 1 if players == 2 else players
    with_labels = draw(st.booleans())
    with_actions = with_labels and draw(st.booleans())
    small = st.integers(0, 6)
    values = st.floats(-1, 1, width=32)
    found = []
    for number in draw(st.lists(st.integers(0, 2**40), min_size=1, max_size=5, unique=True)):
        states, plies = draw(small), draw(small)
        labels = draw(arrays.arrays(np.int32, states, elements=st.integers(0, 3)))
        label_count = int(labels.sum()) if with_labels else states
        actions = arrays.arrays(np.uint32, label_count)
        found.append(
            GameRecord(
                number,
                draw(arrays.arrays(np.uint8, (states, PLANE_BYTES))),
                draw(arrays.arrays(np.float32, (label_count, width), elements=values)),
                draw(arrays.arrays(np.uint32, plies)),
                draw(arrays.arrays(np.float32, (plies, width), elements=values)),
                tuple(draw(st.sampled_from([-1, 0, 1])) for _ in range(players)),
                labels if with_labels else None,
                draw(actions) if with_actions else None,
                **{name: draw(whole) for name in COUNTERS},
            )
        )
    return found


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    return bool(a == b)


@given(blocks())
def test_games_go_to_a_file_and_back(games: list[GameRecord]) -> None:
    file = io.BytesIO()
    np.savez(file, **Block.of(games).to_arrays())  # type: ignore[arg-type]
    file.seek(0)
    with np.load(file) as loaded:
        found = Block.from_arrays(loaded).games()
    assert len(found) == len(games)
    for ours, theirs in zip(games, found, strict=True):
        for f in fields(GameRecord):
            assert same(getattr(ours, f.name), getattr(theirs, f.name)), f.name


@given(blocks(), st.data())
def test_a_block_with_a_wrong_column_is_refused(games: list[GameRecord], data: Any) -> None:
    arrays = Block.of(games).to_arrays()
    name = data.draw(st.sampled_from(sorted(arrays.keys() - {"version"})))
    wrong = data.draw(st.sampled_from(["missing", "type", "longer", "flat"]))
    array = arrays[name]
    if wrong == "missing" and name in ("labels", "actions_of_labels"):
        return  # another kind of block
    if wrong == "missing":
        del arrays[name]
    elif wrong == "type":
        arrays[name] = array.astype(np.float64) + 0.5
    elif wrong == "longer":
        arrays[name] = np.concatenate([array.reshape(-1), array.reshape(-1), [1]])
    else:
        arrays[name] = array[None]
    with pytest.raises(InputError) as caught:
        Block.from_arrays(arrays)
    assert str(caught.value).endswith(".")


def record(**changed: Any) -> GameRecord:
    usual: dict[str, Any] = {
        "planes": np.zeros((2, PLANE_BYTES), np.uint8),
        "values": np.zeros((2, 1), np.float32),
        "actions": np.array([3, 1, 4], np.uint32),
        "root_values": np.zeros((3, 1), np.float32),
        "outcomes": (1, -1),
    }
    return GameRecord(7, **{**usual, **changed})


def test_labels_of_one_block_are_of_one_kind() -> None:
    labelled = record(labels=np.array([1, 1], np.int32))
    with pytest.raises(ValueError, match="All games of a block have labels, or none"):
        Block.of([record(), labelled])
    assert record().samples.values.shape == (2, 1)
    with pytest.raises(AssertionError, match="several labels of a state have actions"):
        _ = labelled.samples
    children = record(labels=np.array([0, 2], np.int32), actions_of_labels=np.ones(2, np.uint32))
    assert [len(piece.values) for piece in children.samples.pieces(1)] == [0, 2]
    wrong = Block.of([children]).to_arrays()
    wrong["labels"] = np.array([3, -1], np.int32)
    with pytest.raises(InputError, match="fewer labels than none"):
        Block.from_arrays(wrong)


@pytest.mark.parametrize("labels", [None, np.array([1, 1], np.int32)])
def test_as_many_labels_as_the_states_have(labels: Any) -> None:
    three = record(values=np.zeros((3, 1), np.float32), labels=labels)
    with pytest.raises(InputError, match="3 labels where 2 are needed"):
        Block.from_arrays(Block.of([three]).to_arrays())


@pytest.mark.parametrize(("told", "version"), [(0, 0), (2, 2), ([1, 1], 0)])
def test_another_version_is_refused(told: Any, version: int) -> None:
    arrays = Block.of([record()]).to_arrays()
    text = f"of version {version}; this athenan reads version 1"
    with pytest.raises(InputError, match=text):
        Block.from_arrays({**arrays, "version": np.array(told)})
    with pytest.raises(InputError, match="of version 0"):
        Block.from_arrays({"000000": np.zeros(3)})


@given(
    st.tuples(st.integers(0, 5), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4)).flatmap(
        lambda shape: arrays.arrays(np.uint8, shape, elements=st.integers(0, 1))
    )
)
def test_planes_are_packed_and_unpacked(planes: Any) -> None:
    packed = pack(planes)
    assert packed.shape == (len(planes), (int(np.prod(planes.shape[1:])) + 7) // 8)
    assert same(unpack(packed, planes.shape[1:]), planes)
