"""Clobber: its end and its small boards."""

import pytest
from brute_force import solve, winning_actions

import athenan

# Solved by OpenSpiel 2.0.2: the value for the first player and his winning actions, its columns
# mirrored where that makes the upper left corner his.
SOLVED = {
    (2, 2): "a2a1 a2b2 b1b2 b1a1",
    (2, 3): "",
    (2, 4): "c2b2 c2c1 a2a1 a2b2 d1d2 d1c1 b1b2 b1c1",
    (3, 3): "a3b3 a3a2 c3c2 c3b3 b2b3 b2c2 b2b1 b2a2 a1a2 a1b1 c1c2 c1b1",
    (3, 4): "",
    (2, 6): "",
    (3, 5): "a3b3 a3a2 c3d3 c3c2 c3b3 e3e2 e3d3 b2b3 b2c2 b2b1 b2a2 d2d3 d2e2 d2d1 d2c2 a1a2 a1b1 "
    "c1c2 c1d1 c1b1 e1e2 e1d1",
    (4, 4): "c4b4 c4c3 a4a3 a4b4 d3c3 d3d2 b3b4 b3a3 b3b2 b3c3 c2c3 c2b2 c2c1 c2d2 a2a3 a2b2 d1d2 "
    "d1c1 b1b2 b1c1",
}


@pytest.mark.parametrize("size", SOLVED, ids=str)
def test_small_boards(size: tuple[int, int]) -> None:
    state = athenan.make_game("clobber", rows=size[0], columns=size[1]).initial_state()
    assert solve(state) == (1 if SOLVED[size] else -1)
    assert winning_actions(state) == set(SOLVED[size].split())


def test_who_cannot_move_loses_however_many_stones_he_has() -> None:
    game = athenan.make_game("clobber", rows=3, columns=4)
    state = game.state_from_string("""\
          a b c d
        3 o o . .
        2 o . x o
        1 . . . x
        ply 5, x to move""")
    # Diagonal neighbours and empty cells are no targets, and rows do not wrap round.
    assert [state.action_to_string(a) for a in state.legal_actions()] == ["d1d2", "c2d2"]
    end = state.play(state.string_to_action("c2d2"))
    assert end.is_terminal
    assert end.outcomes == (1, -1)
    assert str(end).endswith("x won (o next)")
