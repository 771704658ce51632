"""Connect four: texts; vectors, solved boards and the contract have the rest."""

import pytest

import athenan


def test_a_stone_in_the_air_is_refused() -> None:
    text = """\
  1 2 3 4
4 . . . .
3 . {} . .
2 . . . .
1 x o . .
ply 3, x to move"""
    game = athenan.make_game("connect_four", rows=4, columns=4)
    assert str(game.state_from_string(text.format("."))) == text.format(".")
    with pytest.raises(ValueError, match="falls onto the stones below"):
        game.state_from_string(text.format("x"))
