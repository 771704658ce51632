"""Boards in a terminal: whose pieces are whose, the last action, lines that renew themselves."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import athenan
from athenan.games import list_games, make_game
from athenan.screen import OF_PLAYERS, Lines, board, counters, marks_of, owner_of

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def random_states(name: str, plies: int = 30) -> list[Any]:
    chance, states = random.Random(4), [make_game(name).initial_state()]
    while len(states) < plies and not states[-1].is_terminal:
        states.append(states[-1].play(chance.choice(states[-1].legal_actions())))
    return states


@pytest.mark.parametrize("name", list_games())
def test_colours_change_no_letter(name: str) -> None:
    for state in random_states(name):
        assert board(state, colours=False) == str(state)
        painted = board(state, colours=True)
        assert ESCAPES.sub("", painted) == str(state)
        assert painted.count("\x1b[0m") * 2 == painted.count("\x1b[")


@pytest.mark.parametrize("name", list_games())
def test_every_piece_has_the_colour_of_its_player(name: str) -> None:
    """As many coloured letters as the planes have pieces."""
    game = make_game(name)
    marks = marks_of(game)
    assert len(marks) == game.num_players
    for state in random_states(name)[1:]:
        painted, planes = board(state, colours=True), state.planes()
        for player in range(game.num_players):
            style = re.escape(OF_PLAYERS[player])
            coloured = len(re.findall(rf"\x1b\[{style}(?:;7)?m\w", painted))
            channels = [
                i
                for i, channel in enumerate(game.channels)
                if channel.startswith("piece ")
                and owner_of(channel.removeprefix("piece "), marks) == player
            ]
            assert coloured == int(planes[:, :, channels].sum())


def test_counters() -> None:
    assert counters(make_game("chess").initial_state()) == "pieces: K 16, k 16"
    assert counters(make_game("othello").initial_state()) == "pieces: x 2, o 2"
    assert counters(make_game("hex").initial_state()) == ""
    own = athenan.make_game("games.examples.nim:Nim").initial_state()
    assert counters(own) == ""
    assert board(own, colours=True)


def test_lines_elsewhere_are_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    lines.show(["one"])
    lines.show(["two", "three"])
    lines.end()
    assert capsys.readouterr().out == "two\nthree\n"
