"""Playing in the terminal: who plays whom, what the figures mean, how actions are read, Ctrl-C."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from commands import answer, run

from athenan.engine import Budget, Engine
from athenan.games import game_types, list_games, make_game
from athenan.opponent import Opponent, meaning_of
from athenan.play import Table, goal_of, mark_of
from athenan.search import make_search


@pytest.fixture
def played(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """What is printed when these lines are typed."""

    def play(settings: str, *lines: str) -> str:
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        return answer(capsys, f"play seconds=null evaluations=60 {settings}")

    return play


def table(name: str, person: int, **options: Any) -> Table:
    game = make_game(name, **options)
    search = make_search("ubfm" if game.num_players == 2 else "uct", game, "zero")
    return Table(game, Opponent(Engine(search, Budget(evaluations=10)), [], ""), person)


# ---- Who plays whom ----------------------------------------------------------------------


def test_the_start_says_who_plays_whom(played: Any) -> None:
    lines = played("game=hex game.size=5").splitlines()
    assert lines[:6] == [
        "Hex size=5. You are first.",
        "You play x: a chain from the top row to the bottom row wins.",
        "The program plays o: a chain from the left column to the right column wins.",
        "  search: ubfm, 60 evaluations an action",
        "  evaluator: random games",
        "  computed by the CPU, without a network",
    ]
    assert "Values are in your view, in [-1, 1]: 1 is a win, 0 a draw, -1 a loss." in lines[6]
    assert max(map(len, lines)) < 80
    lines = played("game=hex game.size=5 first=you search.decision=best").splitlines()
    assert lines[1] == "You play o: a chain from the left column to the right column wins."
    assert lines[3] == "  search: ubfm decision=best, 60 evaluations an action"


def test_names_of_colours_are_told_with_the_marks() -> None:
    assert table("go", 1).sides() == [
        "You play o, white: the larger area with komi wins.",
        "The program plays x, black: the larger area wins.",
    ]


@pytest.mark.parametrize("name", list_games())
def test_every_game_says_how_each_player_wins(name: str) -> None:
    (kind,) = [kind for kind in game_types() if kind["name"] == name]
    game = make_game(name)
    assert len(kind["goals"]) in (1, game.num_players)
    for player in range(game.num_players):
        goal = goal_of(game, player)
        assert goal
        assert not goal.endswith(".")
        assert all(len(line) < 80 for line in table(name, player).introduction())
        assert f"{mark_of(game, player)} to move" in game.channels
    state = game.initial_state()
    assert f"{mark_of(game, state.to_move)} to move" in str(state)


def test_sides_of_the_boards_are_what_is_said() -> None:
    """The goals against the rules: who wins by which edge."""
    hexes = make_game("hex", size=3)
    state = hexes.initial_state()
    for word in ("a1", "b1", "a2", "b2", "a3"):
        state = state.play(state.string_to_action(word))
    assert state.outcomes == (1, -1)
    assert "top row to the bottom row" in goal_of(hexes, 0)
    men = make_game("breakthrough", rows=4, columns=2)
    state = men.state_from_string("  a b\n4 . o\n3 x .\n2 . .\n1 x .\nply 4, x to move")
    state = state.play(state.string_to_action("a3a4"))
    assert state.outcomes == (1, -1)
    assert goal_of(men, 0) == "a man on the top row wins"


def test_a_game_of_ones_own(played: Any) -> None:
    out = played("game=games.examples.nim:Nim", "9", "quit")
    assert out.startswith("nim. You are first.\nYou play first, the program second.\n  search: ")


# ---- Seats -------------------------------------------------------------------------------


def test_a_seat_among_three(played: Any, capsys: pytest.CaptureFixture[str]) -> None:
    out = played("game=tic_tac_mo seat=3", "quit")
    assert "You are third.\nYou play z, the program x and o: k in a line win.\n" in out
    assert "search: maxn_ubfm" in out
    assert ", 60 evaluations an action" in out
    assert re.findall(r"^program (\w): ", out, re.MULTILINE) == ["x", "o"]
    code, _, err = run(capsys, "play game=hex seat=3")
    assert (code, err) == (2, "athenan: Game 'hex' has 2 players, no seat 3.\n")


def test_undo_among_three(played: Any) -> None:
    out = played("game=tic_tac_mo seat=2", "undo", "quit")
    assert out.count("program x: ") == 2, "there was nothing of one's own: it begins again"


# ---- Turns of several parts ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("game", "lines", "prompts"),
    [
        ("amazons6", ["b1b2"], ["move an amazon", "shoot an arrow"]),
        ("santorini", ["a1", "b2"], ["place a worker"] * 2 + ["move a worker"]),
        ("connect6", ["j10", "a1"], ["the only stone of the first turn", "stone 1 of 2"]),
        ("arimaa", ["Ee2"], ["set up a piece"] * 2),
        ("chinese_checkers", ["6->14"], ["step or hop"] * 2),
    ],
)
def test_the_part_of_the_turn_is_in_the_prompt(
    played: Any, game: str, lines: list[str], prompts: list[str]
) -> None:
    out = played(f"game={game} evaluations=20", *lines, "quit")
    found = re.findall(r"^you(?: \((.*?)\))?: ", out, re.MULTILINE)
    assert found[: len(prompts)] == prompts


def test_parts_of_turns_of_the_rules() -> None:
    def parts(name: str, *words: str) -> list[str]:
        state = make_game(name).initial_state()
        found = [state.part_of_turn]
        for word in words:
            state = state.play(state.string_to_action(word))
            found.append(state.part_of_turn)
        return found

    worker = "place a worker"
    assert parts("santorini", "a1", "b1", "d5", "e5", "a1a2", "a1") == [
        worker, worker, worker, worker, "move a worker", "build", "move a worker"
    ]  # fmt: skip
    stones = ["stone 1 of 2", "stone 2 of 2", "stone 1 of 2"]
    assert parts("connect6", "a1", "b1", "c1")[1:] == stones
    assert parts("hex", "a1") == ["", ""]
    assert parts("chinese_checkers", "6->14")[0] == "step or hop"
    push = "ply 40, E to move, steps left: 4"
    board = ["  a b c d e f g h", "8 r . . . . . . .", *[f"{r} . . . . . . . ." for r in (7, 6)]]
    board += ["5 . . . r . . . .", "4 . . . E . . . .", *[f"{r} . . . . . . . ." for r in (3, 2)]]
    state = make_game("arimaa").state_from_string("\n".join([*board, "1 R . . . . . . .", push]))
    assert state.part_of_turn == "step 1 of 4"
    pushed = state.play(state.string_to_action("rd5n"))
    assert pushed.part_of_turn == "step 2 of 4, which ends the push"


def test_a_turn_is_written_in_one_line(played: Any) -> None:
    out = played("game=amazons6 evaluations=20", "b1-b2/b1", "quit")
    assert len(re.findall(r"^program: ", out, re.MULTILINE)) == 2
    assert "ply 4, x to move" in out


# ---- Reading -----------------------------------------------------------------------------


def test_actions_are_read_as_people_write_them(played: Any) -> None:
    out = played("game=chess evaluations=20", "E4", "undo", "Nf3", "quit")
    assert "[P]" in out
    assert "[N]" in out
    out = played("game=go", "E5", "quit")
    assert "[x]" in out


def test_a_wrong_action_is_told_with_an_example(played: Any) -> None:
    out = played("game=chess evaluations=20", "Ke2", "quit")
    assert re.search(r"'Ke2' is no action here; write for example [a-h]2[a-h][34]\.", out)
    assert out.count("ply 0, K to move") == 1, "the board is not drawn again"


# ---- Figures -------------------------------------------------------------------------------


@pytest.mark.parametrize("person", [0, 1])
def test_figures_are_in_the_view_of_the_person(person: int) -> None:
    at = table("tictactoe", person)
    assert at.own(0.5) == (0.5 if person == 0 else -0.5)
    assert str(at.own(0.0)) == "0.0"
    assert at.known(1) == ("you win" if person == 0 else "you lose")
    three = table("mnk", 2, players=3, rows=3, columns=3)
    assert three.own((0.1, 0.2, 0.3)) == 0.3


def test_values_of_the_second_player(played: Any) -> None:
    """Best first for him, and what is proven is said in his view."""
    out = played("game=tictactoe first=you evaluations=5000", "values", "quit")
    assert "action    value for you  proven          selections" in out
    values = re.findall(r"^[abc][123][ *]+([-+]\d\.\d+)", out, re.MULTILINE)
    assert len(values) == 8
    assert values == sorted(values, key=float, reverse=True)
    assert values[-1] == "-1.000"
    assert re.search(r"^[abc][123][ *]+-1.000  you lose in \d+ ", out, re.MULTILINE)


def test_the_meaning_of_values() -> None:
    class Scored:
        heuristic = {"heuristic": "score", "longest": 0}  # noqa: RUF012

        def __call__(self, planes: Any) -> Any:
            return [0.0] * len(planes)

    game = make_game("othello", size=6)
    Scored.game = game  # type: ignore[attr-defined]
    search = make_search("ubfm", game, Scored())
    said = meaning_of(search, Scored(), True)
    assert "in [-36, 36]: the margin in points at the end" in said
    Scored.heuristic = {"heuristic": "additive_depth", "longest": 50}
    search = make_search("ubfm", game, Scored())
    assert "in [-50, 50]: a win is larger the sooner" in meaning_of(search, Scored(), True)
    assert "1 is a win" in meaning_of(make_search("uct", game), "rollout", False)


def test_the_margin_is_told_at_the_end(played: Any) -> None:
    out = played("game=go game.size=2", *["pass"] * 9)
    assert re.search(r"(You win|The program wins)\. The margin is [-+]\d+(\.5)? for you\.", out)


# ---- Files and budgets -----------------------------------------------------------------------


def test_a_game_is_saved_and_goes_on(played: Any, tmp_path: Any) -> None:
    file = tmp_path / "games.jsonl"
    out = played("game=hex game.size=4 evaluations=20", "a1", f"save {file}", "quit")
    assert f"saved in '{file}' (2 actions)" in out
    out = played("game=hex game.size=4 evaluations=20", "b2", f"load {file}", "undo", "quit")
    assert "loaded: 2 actions" in out
    assert out.count("ply 2, x to move") == 2, "after the first answer, and as it was saved"
    out = played("game=hex game.size=5", f"load {file}", "load", "save", "load nowhere", "quit")
    assert "is of another game" in out
    assert "Say what, for example: load games.jsonl" in out
    assert "Say where, for example: save games.jsonl" in out
    assert "'nowhere'" in out


def test_the_strength_can_be_changed(played: Any) -> None:
    out = played(
        "game=hex game.size=5", "evaluations 7", "a1", "evaluations x", "seconds 0", "seconds 0.01",
        "quit",
    )  # fmt: skip
    assert "the program thinks for 7 evaluations an action" in out
    assert re.search(r"program: \S+  \(value \S+ for you, (?:[7-9]|[1-9]\d) evaluations\)", out)
    assert "Say how many, for example: evaluations 1000" in out
    assert "Say how many, for example: seconds 5" in out
    assert "the program thinks for 0.01 s an action" in out


def test_a_hint_says_why(played: Any) -> None:
    out = played("game=tictactoe evaluations=3000", "hint", "values", "go on", "", "quit")
    assert re.search(r"^you: [abc][123]  \(.*\): \S+", out, re.MULTILINE)
    assert re.search(r"^\* [abc][123] would be played: ", out, re.MULTILINE)
    assert out.count("action    value for you") == 2, "values, and going on until a line comes"


# ---- Checkpoints ---------------------------------------------------------------------------


def test_a_runtime_is_for_checkpoints(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "play game=hex runtime=tflite")
    assert code == 2
    assert err == (
        "athenan: Setting 'runtime' is for the network of a checkpoint; 'rollout' is none.\n"
    )


# ---- In a terminal ---------------------------------------------------------------------------


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, words: str) -> None:
        self.screen, inside = pty.openpty()
        environment = {**os.environ, "TERM": "vt100", "COLUMNS": "80"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "athenan.command", *words.split()],
            stdin=inside, stdout=inside, stderr=inside, env=environment, start_new_session=True,
            preexec_fn=take_terminal,
        )  # fmt: skip
        os.close(inside)
        self.text = ""

    def wait_for(self, text: str, seconds: float = 60) -> str:
        """What is shown until the text comes; it is taken away."""
        end = time.monotonic() + seconds
        while text not in self.text:
            assert time.monotonic() < end, f"no '{text}' in {self.text!r}"
            ready, _, _ = select.select([self.screen], [], [], 0.2)
            if ready:
                try:
                    self.text += os.read(self.screen, 65536).decode(errors="replace")
                except OSError:  # the program has ended
                    assert text in self.text, self.text
        shown, _, self.text = self.text.partition(text)
        return shown

    def type(self, text: str) -> None:
        os.write(self.screen, text.encode())


def take_terminal() -> None:
    """Of a new session: Ctrl-C then reaches it as from a keyboard."""
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.fixture
def terminal() -> Iterator[Any]:
    opened: list[Terminal] = []

    def start(words: str) -> Terminal:
        opened.append(Terminal(words))
        return opened[-1]

    yield start
    for each in opened:
        each.process.kill()
        each.process.wait()
        os.close(each.screen)


CTRL_C, CTRL_D, UP = "\x03", "\x04", "\x1b[A"


@pytest.mark.slow
def test_ctrl_c_while_it_thinks_lets_it_play(terminal: Any) -> None:
    play = terminal("play game=hex seconds=1000 first=you")
    play.wait_for("thinking … ")
    time.sleep(0.5)
    started = time.monotonic()
    play.type(CTRL_C)
    play.wait_for("program: ")
    assert time.monotonic() - started < 5
    play.wait_for("you: ")
    play.type("hint\n")
    play.wait_for("thinking … ")
    play.type(CTRL_C)
    assert "Traceback" not in play.wait_for("you: ")
    time.sleep(1)  # between its prompt and its wait for a key readline would not hear of it
    play.type(CTRL_C)
    play.wait_for("athenan: stopped.")
    assert play.process.wait(10) == 130


@pytest.mark.slow
def test_the_end_of_input_ends_it(terminal: Any) -> None:
    play = terminal("play game=tictactoe seconds=0.1")
    play.wait_for("you: ")
    play.type(CTRL_D)
    assert play.process.wait(30) == 0


@pytest.mark.slow
def test_the_line_of_thinking_is_cleared(terminal: Any) -> None:
    play = terminal("play game=hex7 seconds=0.9 first=you")
    shown = play.wait_for("program: ")
    line = shown.rpartition("thinking … ")[2]
    assert re.search(r"\r\x1b\[[KJ]$", line), "it is erased, then comes the program's action"
    play.type("quit\n")
    assert play.process.wait(30) == 0


@pytest.mark.slow
def test_lines_have_a_history(terminal: Any) -> None:
    pytest.importorskip("readline")
    play = terminal("play game=tictactoe seconds=0.1")
    play.wait_for("you: ")
    play.type("zz\n")
    play.wait_for("'zz' is no action here; write for example ")
    play.wait_for("you: ")
    play.type(f"{UP}\n")
    play.wait_for("'zz' is no action here; write for example ")
    play.wait_for("you: ")
    play.type("quit\n")
    assert play.process.wait(30) == 0


def test_an_interrupt_at_the_prompt_is_130(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(prompt: str) -> str:
        assert prompt == "you: "
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    code, _, err = run(capsys, "play game=tictactoe")
    assert (code, err) == (130, "\nathenan: stopped.\n")


def test_an_interrupt_before_anything_is_known_still_plays() -> None:
    """Ctrl-C at once: the least search that gives an action is made."""
    at = table("hex", 1, size=5)
    calls = []

    def interrupted(planes: Any) -> Any:
        calls.append(len(planes))
        if len(calls) == 1:
            raise KeyboardInterrupt
        return [0.0] * len(planes)

    search = make_search("ubfm", at.game, interrupted)
    at.engine = Engine(search, Budget(evaluations=1000))
    at.let_it_play()
    assert at.state.ply == 1


@pytest.mark.slow
def test_it_goes_on_until_a_key(terminal: Any) -> None:
    play = terminal("play game=hex evaluations=20 seconds=null")
    assert "\x1b[2m" in play.wait_for("you: "), "the board has colours"
    play.type("go on\n")
    play.wait_for("any key ends it")
    play.wait_for("evaluations, ")
    play.wait_for("\x1b[")  # the lines are renewed
    play.wait_for("evaluations, ")
    play.type("x")
    play.wait_for("you: ")
    play.type("hint\n")
    play.wait_for("for you")
    play.type("quit\n")
    assert play.process.wait(20) == 0
