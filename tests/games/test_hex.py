"""Hex: the swap, drawn; vectors and the contract have the rest."""

import pytest
from playing import play, texts

import athenan

GAME = athenan.make_game("hex", size=3, swap=True)


def test_swap_puts_a_stone_on_the_transposed_cell() -> None:
    state = GAME.state_from_string("""\
        a b c
       1 . . x
        2 . . .
         3 . . .
        ply 1, o to move""")
    swapped = play(state, "swap")
    assert str(swapped).splitlines()[1:] == [
        "1 . . .",
        " 2 . . .",
        "  3[o]. .",
        "ply 2, x to move",
    ]
    assert swapped == GAME.state_from_string(str(swapped))
    assert "swap" not in texts(swapped)


@pytest.mark.parametrize("row", [". . .", "x x .", "x o .", "o . ."])
def test_no_swap_unless_the_enemy_has_the_only_stone(row: str) -> None:
    """A text may say ply 1 of any board."""
    state = GAME.state_from_string(f"""\
        a b c
       1 {row}
        2 . . .
         3 . . .
        ply 1, o to move""")
    assert "swap" not in texts(state)
    with pytest.raises(ValueError, match="9"):
        state.play(9)
