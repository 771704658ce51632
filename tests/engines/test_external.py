"""Programs that break, and what becomes of their games; fake.py is what they are."""

import json
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import athenan
from athenan import InputError
from athenan.config import compose
from athenan.external import player as external
from athenan.external.player import ExternalPlayer, GivesUp
from athenan.external.program import Fault, Program, command_of
from athenan.match import MatchResult, make_openings, play_match
from athenan.players import player_of
from athenan.saved_games import SavedGame
from athenan.settings import PlayerSettings

FAKE = Path(__file__).parent / "fake.py"


def fake(kind: str, protocol: str = "gtp", **settings: Any) -> ExternalPlayer:
    game = athenan.make_game("tictactoe" if protocol == "gtp" else "breakthrough")
    words = [sys.executable, "-S", str(FAKE), protocol, kind, *settings.pop("words", [])]
    if protocol == "uci":
        settings.setdefault("go", "depth 1")
    return ExternalPlayer(game, PlayerSettings(engine=shlex.join(words), **settings))


def match(
    kind: str, games: int = 4, **settings: Any
) -> tuple[MatchResult, list[SavedGame], ExternalPlayer]:
    """Against random play; the fake is the second."""
    opponent = fake(kind, **settings)
    ours = player_of(opponent.game, {"search": "random"})
    saved: list[SavedGame] = []
    openings = make_openings(opponent.game, games // 2, 1, 0)
    result = play_match([ours, opponent], openings, on_game=saved.append)
    opponent.close()
    return result, saved, opponent


def test_a_program_plays_a_match() -> None:
    result, saved, opponent = match("good", games=8)
    assert result.games == len(saved) == 8
    assert result.own_forfeits == result.their_forfeits == 0
    assert result.forfeits_text() == []
    assert opponent.text.startswith("Fake good 1.0 (")
    assert {player.version for game in saved for player in game.players} >= {"Fake good 1.0"}
    assert all(game.states()[-1].is_terminal for game in saved)


BREAKING = {
    "crash": "ended with exit code 3",
    "killed": "died by SIGSEGV",
    "dies_after": "ended with exit code 0",
    "garbage": "which is not legal",
    "empty": "plays '', which is not legal",
    "illegal": "plays 'Z9', which is not legal",
    "takes_taken": "which is not legal",
    "contrary": "refuses",
    "one_line": "talks without an answer",
}


@pytest.mark.parametrize("kind", BREAKING)
def test_what_breaks_forfeits(kind: str) -> None:
    result, saved, _ = match(kind)
    assert result.wins == 0 or kind in ("dies_after", "contrary")
    assert result.own_forfeits == 0
    assert result.their_forfeits > 0
    assert result.games == 4
    assert any(BREAKING[kind] in sentence for sentence in result.sentences), result.sentences
    assert "forfeited, and in no score: 0 by the first player" in result.forfeits_text()[0]
    for game in (game for game in saved if game.forfeit is not None):
        assert game.outcomes is not None
        assert game.outcomes[game.forfeit.seat] == -1
        assert game.players[game.forfeit.seat].text.startswith("Fake")
        assert SavedGame.from_json(game.to_json()) == game


@pytest.mark.parametrize("kind", ["hang", "late", "babble", "deaf"])
def test_what_does_not_answer_in_time_forfeits(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "MOST_FAULTS", 1)
    opponent = fake(kind, patience_seconds=0.2)
    state = opponent.game.initial_state()
    answer = opponent.choose([0], [state])[0]
    assert isinstance(answer, GivesUp)
    wanted = ("in time", "talks without an answer", "closed its output")
    assert any(word in answer.sentence for word in wanted), answer
    assert opponent.processes == [None]  # and what it says later is not heard
    again = opponent.choose([1], [state])[0]
    assert isinstance(again, GivesUp)
    assert "is not asked any more" in again.sentence
    opponent.close()


def test_threads_that_wait_for_a_program_hear_that_it_was_ended() -> None:
    opponent = fake("hang", patience_seconds=600, processes=2)
    state = opponent.game.initial_state()
    started = time.monotonic()
    timer = threading.Timer(0.3, opponent.close)
    timer.start()
    answers = opponent.choose([0, 1], [state, state])
    timer.join()
    assert all(isinstance(answer, GivesUp) for answer in answers)
    assert time.monotonic() - started < 60


def test_who_resigns_has_lost() -> None:
    result, saved, _ = match("resign")
    assert (result.wins, result.their_forfeits) == (4, 0)
    assert result.score == 1
    assert {game.forfeit.sentence for game in saved if game.forfeit} == {"Fake resign resigns"}


def test_one_that_ends_between_games_is_started_again() -> None:
    result, _, _ = match("dies_between", games=12)
    assert result.their_forfeits == 0
    assert result.games == 12


def test_games_in_step_share_processes() -> None:
    results = [match("good", games=12, processes=n)[0] for n in (1, 3)]
    assert results[0] == results[1]


def test_a_forfeit_is_no_win_and_no_score() -> None:
    result = MatchResult()
    game = athenan.make_game("tictactoe")
    state = game.initial_state()
    for cell in ("a1", "b1", "a2", "b2", "a3"):
        state = state.play(state.string_to_action(cell))
    from athenan.match import add_wave

    lost = GivesUp("breaks")
    add_wave(result, [state] * 6, {0: (1, lost), 2: (1, lost), 3: (0, lost)})
    assert (result.own_forfeits, result.their_forfeits, result.sentences) == (1, 2, ["breaks"])
    assert result.pair_scores == [0, 0.5]  # the first pair has one game left; the second none
    assert result.games == 6
    figures = result.figures()
    assert (figures["forfeits"], figures["forfeits_of_others"]) == (1, 2)


def test_uci_hears_no_answers_to_other_questions() -> None:
    opponent = fake("stale", protocol="uci", patience_seconds=20)
    state = opponent.game.initial_state()
    first = opponent.choose([0], [state])[0]
    assert isinstance(first, GivesUp)  # b7b6 is the other player's
    opponent.close()
    opponent = fake("good", protocol="uci", options={"skill_level": -20})
    action = opponent.choose([0], [state])[0]
    assert not isinstance(action, GivesUp)
    assert state.action_to_string(action) == "a2a3"
    opponent.close()


@pytest.mark.parametrize("variant", ["international", "brazilian"])
def test_hub_is_spoken(variant: str) -> None:
    game = athenan.make_game("draughts", variant=variant, max_plies=60)
    engine = shlex.join([sys.executable, str(FAKE), "hub", "draughts"])
    settings = PlayerSettings(engine=engine, seconds=0.1, options={"book": False})
    opponent = ExternalPlayer(game, settings)
    assert opponent.text.startswith("Fake draughts 2.0 (")
    ours = player_of(game, {"search": "random"})
    result = play_match([ours, opponent], make_openings(game, 2, 4, 0))
    opponent.close()
    assert (result.games, result.their_forfeits) == (4, 0), result.sentences
    with pytest.raises(InputError, match="has no option 'bok'; did you mean 'book'"):
        ExternalPlayer(game, PlayerSettings(engine=engine, seconds=1, options={"bok": 1}))


def test_what_cannot_be_used_is_told_at_once() -> None:
    with pytest.raises(InputError, match="There is no program 'nowhere'; ask a friend"):
        command_of("nowhere --gtp", "ask a friend")
    for text in ("", "'unclosed"):
        with pytest.raises(InputError):
            command_of(text)
    with pytest.raises(InputError, match="exit code 7"):
        fake("no_start")
    with pytest.raises(InputError, match="did you mean 'Skill Level'"):
        fake("good", protocol="uci", options={"Skil Level": 3})
    with pytest.raises(InputError, match="needs a budget"):
        fake("good", protocol="uci", go=None)
    with pytest.raises(InputError, match="UCI has no words for hex"):
        ExternalPlayer(
            athenan.make_game("hex"), PlayerSettings(engine="cat", protocol="uci", seconds=1)
        )
    words = shlex.join([sys.executable, "-S", str(FAKE), "gtp", "good"])
    with pytest.raises(InputError, match="refuses a board of size 5"):
        ExternalPlayer(athenan.make_game("hex", size=5), PlayerSettings(engine=words))
    words = shlex.join([sys.executable, "-S", str(FAKE), "uci", "good"])
    with pytest.raises(InputError, match="does not know the variant 'xiangqi'"):
        ExternalPlayer(
            athenan.make_game("xiangqi"),
            PlayerSettings(engine=words, protocol="uci", evaluations=1),
        )


def test_a_silent_program_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("athenan.external.asking.SECONDS_TO_START", 0.1)
    with pytest.raises(InputError, match="does not answer in time"):
        fake("silent", patience_seconds=0.1)


def test_no_shell_reads_the_command_line(tmp_path: Path) -> None:
    target = tmp_path / "made"
    command = command_of(f"{sys.executable} -c pass ; touch {target} $(touch {target})")
    assert command[3:6] == [";", "touch", str(target)]
    program = Program(command, "")
    with pytest.raises(Fault, match="exit code 0"):
        program.line(time.monotonic() + 20)
    program.end()
    assert not target.exists()


# ---- Nobody stays --------------------------------------------------------------------------------


def gone(pids: list[int]) -> bool:
    """Whether these have ended, soon."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if not any(runs(pid) for pid in pids):
            return True
        time.sleep(0.02)
    return False


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


SCRIPT = """
import sys, time
sys.path.insert(0, {folder!r})
from test_external import fake
player = fake("stays", words=[{note!r}])
player.choose([0], [player.game.initial_state()])
print("ready", flush=True)
time.sleep({seconds})
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("how", ["killed", "ended", "interrupted"])
def test_programs_do_not_outlive_us(how: str, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    seconds = 0 if how == "ended" else 60
    script = SCRIPT.format(folder=str(FAKE.parent), note=str(note), seconds=seconds)
    ours = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert ours.stdout is not None
    assert ours.stdout.readline().strip() == "ready"
    engine, child = (int(word) for word in note.read_text().split())
    if how != "ended":
        ours.send_signal(signal.SIGKILL if how == "killed" else signal.SIGINT)
    ours.wait(30)
    ours.stdout.close()
    if how == "killed":  # the kernel ends the program, which has to see to its own
        assert gone([engine])
        os.kill(child, signal.SIGKILL)
    else:
        assert gone([engine, child])


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_one_that_ignores_quit_is_ended_with_its_player(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    player = fake("stays", words=[str(note)])
    pids = [int(word) for word in note.read_text().split()]
    assert all(runs(pid) for pid in pids)
    del player
    assert gone(pids)


# ---- Settings ------------------------------------------------------------------------------------


def test_engines_are_named_by_their_files(tmp_path: Path) -> None:
    config = compose("match", ["game=othello", "second=grhino", "second.patience_seconds=5"])
    assert config.second.engine == "gtp-rhino -l 1"
    assert config.second.patience_seconds == 5
    assert config.second.iterations is None  # of the usual second
    words = ["game=chess", "first.options.Skill_Level=3", "first=fairy"]
    config = compose("match", words)
    assert config.first.options["Skill_Level"] == 3
    assert config.first.options["Hash"] == 16
    own = tmp_path / "mine.yaml"
    own.write_text("engine: mine --gtp\n")
    assert compose("match", [f"second={own}"]).second.engine == "mine --gtp"
    config = compose("train", ["strength.references.gnugo=gnugo"])
    assert config.strength.references["gnugo"].protocol == "gtp"
    for words, wrong in (
        (["second=gnugoo"], "did you mean 'gnugo'"),
        (["second=gnugo", "second.checkpoint=x"], "leave 'second.checkpoint' out"),
        (["second=gnugo", "second.options=3"], "must be names with values"),
        (["second=gnugo", "second.options.a=[1]"], "must be a value"),
        (["second=gnugo", "second.protocol=usi"], "must be auto, gtp"),
    ):
        with pytest.raises(InputError, match=wrong):
            compose("match", words)


@pytest.mark.slow
def test_a_file_does_not_choose_what_runs(tmp_path: Path) -> None:
    engine = shlex.join([sys.executable, "-S", str(FAKE), "gtp", "good"])
    words = [
        "experiment=tictactoe_smoke", "games=20", f"checkpoints={tmp_path}", "run=r",
        "strength.games=2", f"strength.references.fake={{engine: '{engine}'}}",
    ]  # fmt: skip
    run = athenan.run_training(*words)
    assert "fake" in (run / "log.txt").read_text()
    on = [f"resume={run}", f"checkpoints={tmp_path}", "games=20"]
    with pytest.raises(InputError, match="a program that would run: say trust=true"):
        athenan.run_training(*on)
    athenan.run_training(*on, "trust=true")
    athenan.run_training(*words, "resume=auto")


def test_a_match_from_python_takes_a_program() -> None:
    engine = shlex.join([sys.executable, "-S", str(FAKE), "gtp", "good"])
    result = athenan.run_match(
        athenan.make_game("tictactoe"), {"search": "random"},
        {"engine": engine, "protocol": "gtp", "patience_seconds": 20}, games=4, opening_plies=1,
    )  # fmt: skip
    assert (result.games, result.their_forfeits) == (4, 0)
    with pytest.raises(InputError, match="'patience'"):
        athenan.run_match(
            athenan.make_game("tictactoe"), {"engine": engine, "patience": 3}, {"search": "random"}
        )


def test_the_command_tells_of_forfeits(capfd: pytest.CaptureFixture[str]) -> None:
    from athenan.command import main

    engine = shlex.join([sys.executable, "-S", str(FAKE), "gtp", "illegal"])
    words = ["match", "game=tictactoe", "first.search=random", "first.evaluations=null"]
    words += [f"second.engine='{engine}'", "games=4", "opening_plies=1", "--json"]
    assert main(words) == 0
    said = capfd.readouterr().out
    assert "forfeited, and in no score: 0 by the first player, 4 by the other" in said
    assert "Fake illegal plays 'Z9', which is not legal" in said
    figures = json.loads(said.splitlines()[-1])
    assert (figures["games"], figures["losses"], figures["forfeits_of_others"]) == (4, 0, 4)
