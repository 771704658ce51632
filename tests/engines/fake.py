"""A program that plays tic-tac-toe by GTP or UCI, and does what its name says wrong."""

import os
import signal
import subprocess
import sys
import time

CELLS = [f"{column}{row}" for row in (1, 2, 3) for column in "ABC"]


def say(text: str) -> None:
    print(text, flush=True)


def misbehave(kind: str, moves: int) -> str | None:
    """Instead of a move; what is returned is said as one."""
    if kind == "crash":
        os._exit(3)
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGSEGV)
    if kind in ("hang", "late"):
        time.sleep(0.6 if kind == "late" else 60)
    if kind == "babble":
        while True:
            say("info string " + "la " * 50)
    if kind == "one_line":
        while True:
            sys.stdout.write("la " * 10_000)
    if kind == "deaf":
        sys.stdout.close()
        time.sleep(60)
    words = {"garbage": "\x00\x1b[31m=?", "empty": "", "resign": "resign", "illegal": "Z9"}
    if kind == "dies_after" and moves:
        os._exit(0)
    return words.get(kind)


def gtp(kind: str) -> None:
    taken: set[str] = set()
    moves = 0
    for line in sys.stdin:
        number, *words = line.split()
        if not words:
            continue
        answer = ""
        if words[0] == "name":
            answer = f"Fake {kind}"
        elif words[0] == "version":
            answer = "1.0"
        elif words[0] == "boardsize" and words[1] != "3":
            say(f"?{number} unacceptable size\n")
            continue
        elif words[0] == "clear_board":
            taken.clear()
        elif words[0] == "play":
            if kind == "contrary":
                say(f"?{number} illegal move\n")
                continue
            taken.add(words[2])
        elif words[0] == "genmove":
            found = misbehave(kind, moves)
            moves += 1
            if kind == "takes_taken" and taken:
                found = min(taken)
            answer = found if found is not None else next(c for c in CELLS if c not in taken)
            taken.add(answer)
        elif words[0] == "quit" and kind == "stays":
            continue
        say(f"={number} {answer}\n")
        if words[0] == "quit":
            return
        if words[0] == "genmove" and kind == "dies_between" and len(taken) > 6:
            return


def uci(kind: str) -> None:
    """Breakthrough by its first moves; only what it does wrong is of interest."""
    for line in sys.stdin:
        words = line.split() or [""]
        if words[0] == "uci":
            say(f"id name Fake {kind} 1.0")
            say("option name UCI_Variant type combo default chess var chess var breakthrough")
            say("option name Skill Level type spin default 20 min -20 max 20")
            say("uciok")
        elif words[0] == "isready":
            say("readyok")
        elif words[0] == "go":
            found = misbehave(kind, 0)
            if kind == "stale":  # answers to questions that nobody asked
                say("bestmove b7b6")
            say(f"bestmove {found or 'a2a3'}")
            if kind == "stale":
                say("bestmove c7c6")
        elif words[0] == "quit":
            return


def hub(kind: str) -> None:
    """Draughts, its first legal move, by the rules that are tested elsewhere."""
    import re

    import athenan
    from athenan.translators import make_translator

    variant = "normal"
    state = None
    for line in sys.stdin:
        word = (line.split() or [""])[0]
        if word == "hub":
            say(f'id name="Fake {kind}" version=2.0 author=nobody country=none')
            say('param name=variant value=normal type=enum values="normal brazilian"')
            say("param name=book value=true type=bool")
            say("wait")
        elif word == "set-param" and (found := re.search(r"name=variant value=(\S+)", line)):
            variant = found[1]
        elif word == "init":
            rules = "international" if variant == "normal" else variant
            translator = make_translator("hub", athenan.make_game("draughts", variant=rules))
            say("ready")
        elif word == "ping":
            say("pong")
        elif word == "pos":
            found = re.search(r'pos=(\S+)(?: moves="?([^"]*))?', line)
            assert found is not None
            state = translator.read_position(found[1])
            for move in (found[2] or "").split():
                state = state.play(translator.read(state, move)[0])
        elif word == "go":
            action = state.legal_actions()[0]
            say("info depth=1 score=0.0")
            say(f"done move={translator.write(state, [action])} ponder=1-2")
        elif word == "quit":
            return


if __name__ == "__main__":
    if sys.argv[2] == "no_start":
        sys.exit(7)
    if sys.argv[2] == "silent":
        time.sleep(60)
    if sys.argv[2] == "stays":  # whatever it is told, with a child
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        with open(sys.argv[3], "w") as file:
            file.write(f"{os.getpid()} {child.pid}")
    {"gtp": gtp, "uci": uci, "hub": hub}[sys.argv[1]](sys.argv[2])
    if sys.argv[2] == "stays":
        time.sleep(60)
