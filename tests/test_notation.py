"""Actions as people write them: read where they are clear, refused with an example where not."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

import athenan
from athenan.errors import InputError
from athenan.games import list_games, make_game
from athenan.notation import fold, read_action, read_actions


def after(game: Any, *words: str) -> Any:
    state = game.initial_state()
    for word in words:
        state = state.play(read_action(state, word))
    return state


def meant(state: Any, text: str) -> str:
    return str(state.action_to_string(read_action(state, text)))


def board(fen: str) -> Any:
    return make_game("chess").state_from_string(fen)


@pytest.mark.parametrize(
    ("game", "texts", "action"),
    [
        ("gomoku", ["a5", "A5", " a 5 "], "a5"),
        ("go", ["e5", "E5"], "e5"),
        ("go", ["pass", "PASS", "Pass"], "pass"),
        ("breakthrough", ["e2e3", "E2-E3", "e2 e3", "e2,e3", "e2xe3", "e2×e3"], "e2e3"),
        ("amazons", ["d1d4", "D1-d4"], "d1d4"),
        ("draughts", ["32-28", "32 28", "32x28"], "32-28"),
        ("chinese_checkers", ["3=>14", "3-14", "3 14", "3x14"], "3=>14"),
        ("connect_four", ["4", " 4"], "4"),
        ("arimaa", ["Ee2", "ee2", "EE2"], "Ee2"),
    ],
)
def test_case_and_separators_do_not_matter(game: str, texts: list[str], action: str) -> None:
    state = make_game(game).initial_state()
    for text in texts:
        assert meant(state, text) == action


def test_numbers_stay_apart() -> None:
    assert fold("3 14") != fold("31 4") != fold("314")
    state = make_game("chinese_checkers").initial_state()
    with pytest.raises(InputError, match="'314' is no action here"):
        read_action(state, "314")


@pytest.mark.parametrize("name", list_games())
def test_every_action_is_read_in_capitals_and_small(name: str) -> None:
    """Whatever is read means this action; what could mean another is refused."""
    game, random = make_game(name), Random(0)
    state = game.initial_state()
    for _ in range(40):
        if state.is_terminal:
            break
        actions = state.legal_actions()
        for action in random.sample(actions, min(5, len(actions))):
            text = state.action_to_string(action)
            assert read_action(state, text) == action
            for written in (text.upper(), text.lower(), f"  {text} "):
                try:
                    assert fold(state.action_to_string(read_action(state, written))) == fold(text)
                except InputError as error:
                    assert "may mean several actions" in str(error)  # noqa: PT017
        state = state.play(random.choice(actions))


def test_what_cannot_be_read_is_told_with_an_example() -> None:
    state = make_game("hex", size=5).initial_state()
    for text in ("z9", "hello", "a1 a1", "-", "a99", "ä1"):
        with pytest.raises(InputError, match=r"is no action here; write for example [a-e][1-5]\."):
            read_actions(state, text)


def test_several_actions_of_one_turn() -> None:
    state = make_game("amazons").initial_state()
    for text in ("d1d4 g7", "d1-d4/g7", "D1D4 / G7"):
        move, arrow = read_actions(state, text)
        assert state.action_to_string(move) == "d1d4"
        assert state.play(move).action_to_string(arrow) == "g7"
    with pytest.raises(InputError, match="is no action here"):
        read_actions(state, "d1d4 g7 d10d9")  # the other's
    with pytest.raises(InputError, match="is no action here"):
        read_actions(state, "d1d4 d1d4")
    six = after(make_game("connect6"), "j10")
    assert len(read_actions(six, "k10 L10")) == 2


# ---- Chess -----------------------------------------------------------------------------


def test_the_opera_game() -> None:
    """All of it in standard algebraic notation, to mate."""
    moves = """e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5
        Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#"""
    end = after(make_game("chess"), *moves.split())
    assert end.is_terminal
    assert end.outcomes == (1, -1)


@pytest.mark.parametrize(
    ("fen", "text", "action"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "O-O", "e1g1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "0-0-0", "e1c1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "o-o-o", "e8c8"),
        ("8/4P3/8/8/8/8/k6K/8 w - - 0 1", "e8=Q", "e7e8q"),
        ("8/4P3/8/8/8/8/k6K/8 w - - 0 1", "e8N", "e7e8n"),
        ("3r4/4P3/8/8/8/8/k6K/8 w - - 0 1", "exd8=R+", "e7d8r"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "exd6", "e5d6"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "exd6 e.p.", "e5d6"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "ed6", "e5d6"),
        ("4k3/8/8/8/8/8/8/N3K1N1 w - - 0 1", "Nf3!", "g1f3"),
        ("4k3/8/8/8/8/8/8/N3K1N1 w - - 0 1", "nf3", "g1f3"),
        ("4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1", "Nge2", "g1e2"),
        ("4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1", "N3e2", "c3e2"),
        ("4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1", "Nc3e2", "c3e2"),
        ("4k3/8/8/2p5/1P6/8/3B4/4K3 w - - 0 1", "bxc5", "b4c5"),
        ("4k3/8/8/8/1P6/8/3B4/4K3 w - - 0 1", "Bc3", "d2c3"),
        ("4k3/8/8/8/1P6/8/3B4/4K3 w - - 0 1", "bc3", "d2c3"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "Kd2", "e1d2"),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "E1D2", "e1d2"),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "E4", "e2e4"),
        ("4k3/8/8/8/8/8/8/N3K1N1 w - - 0 1", "NF3", "g1f3"),
    ],
)
def test_standard_algebraic_notation(fen: str, text: str, action: str) -> None:
    assert meant(board(fen), text) == action


@pytest.mark.parametrize(
    ("fen", "text", "sentence"),
    [
        ("4k3/8/8/8/8/2N5/8/4K1N1 w - - 0 1", "Ne2", "may mean several actions here: g1e2, c3e2"),
        ("4k3/8/8/8/8/8/8/4K2R w - - 0 1", "O-O", "is no action here"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "Ke2", "The game is over"),
        ("8/4P3/8/8/8/8/k6K/8 w - - 0 1", "e8", "is no action here"),
        (
            "4k3/8/8/2p5/1P1B4/8/8/4K3 w - - 0 1",
            "BXC5",
            "may mean several actions here: b4c5, d4c5",
        ),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "d3", "is no action here"),
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "d5", "is no action here"),
    ],
)
def test_what_is_not_clear_in_chess_is_refused(fen: str, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_action(board(fen), text)


def test_every_action_of_chess_is_read_as_san() -> None:
    """Written here by another way than it is read: the shortest text that names one action."""
    random, seen = Random(1), 0
    for _ in range(6):
        state = make_game("chess").initial_state()
        while not state.is_terminal and state.ply < 120:
            texts: dict[str, list[int]] = {}
            for action in state.legal_actions():
                texts.setdefault(san(state, action), []).append(action)
            for text, actions in texts.items():
                if len(actions) == 1:
                    assert read_action(state, text) == actions[0]
                    seen += 1
                else:
                    with pytest.raises(InputError, match="may mean several"):
                        read_action(state, text)
            state = state.play(random.choice(state.legal_actions()))
    assert seen > 5000


def san(state: Any, action: int) -> str:
    """Without what tells equal pieces apart."""
    own, rows = state.action_to_string(action), str(state).splitlines()[1:9]
    rows = [row[1:].replace("[", " ").replace("]", " ")[1::2] for row in rows]

    def on(cell: str) -> str:
        return str(rows[8 - int(cell[1])]["abcdefgh".index(cell[0])])

    piece, taken = on(own[:2]).upper(), on(own[2:4]) != "."
    if piece == "K" and own[0] == "e" and own[2] in "cg":
        return "O-O" if own[2] == "g" else "O-O-O"
    if piece == "P":
        taken = own[0] != own[2]
        text = own[0] if taken else ""
    else:
        text = piece
    promotion = f"={own[4].upper()}" if own[4:] else ""
    return f"{text}{'x' if taken else ''}{own[2:4]}{promotion}"


def test_a_game_of_ones_own_is_read_too() -> None:
    from nim import Nim

    state: Any = athenan.make_game(Nim((1, 2))).initial_state()
    assert read_actions(state, "9") == [9]
    with pytest.raises(InputError, match="write for example"):
        read_actions(state, "take all")
