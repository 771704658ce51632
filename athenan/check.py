"""Whether a game keeps the contract, told to who brings it; and a game to start from."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from athenan.contract import Contract, Fault
from athenan.errors import InputError
from athenan.games import make_game, make_python_game
from athenan.progress import duration
from athenan.promises import PROMISES, Broken
from athenan.settings import CheckSettings
from athenan.table import table

TEMPLATE = Path(__file__).with_name("template.py")
TOLD_ELSEWHERE = 3  # games that another process plays, too


@dataclass(frozen=True)
class Findings:
    """What was found of a game; a promise that was never looked at is neither kept nor broken."""

    game: str
    games: int
    states: int
    seconds: float
    wrong: dict[str, Fault]
    looked_at: set[str]

    def lines(self) -> list[str]:
        rows = [["", "promise", ""]]
        for name, sentence in PROMISES.items():
            mark = "✗" if name in self.wrong else "✓" if name in self.looked_at else "-"
            rows.append([mark, name, sentence])
        lines = table(rows)
        for name, fault in self.wrong.items():
            lines += ["", f"✗ {name}: {fault.wrong}"]
            if fault.actions:
                lines.append(f"  after: {shortened(fault.actions)}")
            lines.append(f"  to mend it: {fault.mend}")
        played = f"{self.games} games, {self.states:,} states, {duration(self.seconds)}"
        return [*lines, "", f"{played}; {'all right' if not self.wrong else 'wrong'}"]

    def figures(self) -> dict[str, Any]:
        return {
            "game": self.game,
            "right": not self.wrong,
            "games": self.games,
            "states": self.states,
            "seconds": round(self.seconds, 3),
            "kept": [name for name in PROMISES if name in self.looked_at - self.wrong.keys()],
            "broken": {name: asdict(fault) for name, fault in self.wrong.items()},
        }


def shortened(actions: list[str], most: int = 40) -> str:
    left_out = len(actions) - most
    if left_out <= 0:
        return " ".join(actions)
    return f"{' '.join(actions[:most])} … ({left_out} more; --json has all)"


def check_game(config: CheckSettings, show: Callable[[list[str]], object]) -> Findings:
    """Plays random games of it; `show` is told how far it is."""
    started = time.monotonic()
    name, own = config.game["name"], ":" in config.game["name"]

    def told() -> None:
        passed, done = time.monotonic() - started, len(contract.games) - 1
        parts = [f"{done}/{config.games} games"]
        if done:
            parts.append(f"{duration(passed / done * (config.games - done))} left")
        if contract.faults:
            parts.append(f"{len(contract.faults)} broken")
        show([*parts, f"{contract.states:,} states"])

    contract = Contract(plain_game(config.game), lambda: plain_game(config.game), told)
    if contract.look_at_facts():
        for number in range(config.games):
            contract.play(config.seed + number)
            if config.seconds is not None and time.monotonic() - started >= config.seconds:
                break
        if own and "again" in contract.looked_at - contract.faults.keys():
            contract.look("elsewhere", [], lambda: compare_elsewhere(config.game, contract))
    return Findings(
        name, len(contract.games), contract.states, time.monotonic() - started, contract.faults,
        contract.looked_at,
    )  # fmt: skip


def plain_game(game: dict[str, Any]) -> Any:
    """One of one's own as it is written: the core would refuse what is to be found."""
    options = {key: value for key, value in game.items() if key != "name"}
    if ":" in game["name"]:
        return make_python_game(game["name"], options)
    return make_game(**game)


# ---- Another process -----------------------------------------------------------------------------


def compare_elsewhere(game: dict[str, Any], contract: Contract) -> None:
    """The keys of some games there, where Python hashes texts in another way."""
    lines = contract.games[:TOLD_ELSEWHERE]
    job = json.dumps({"game": game, "lines": lines})
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    run = subprocess.run(
        [sys.executable, "-c", "from athenan.check import tell_keys; tell_keys()"],
        input=job, capture_output=True, text=True, check=False, env=environment,
    )  # fmt: skip
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no word why"])[-1]
        raise Broken(f"it cannot be played there: {last}", "the game depends on nothing outside it")
    if json.loads(run.stdout.splitlines()[-1]) != keys_of(plain_game(game), lines):
        raise Broken(
            "another process has other keys for the same actions",
            "hash() of texts, sets of texts and addresses differ from process to process: make the "
            "key of a repr of numbers, texts and tuples, or by hashlib",
        )


def keys_of(game: Any, lines: list[list[int]]) -> list[list[int]]:
    found = []
    for line in lines:
        state = game.initial_state()
        keys = [state.key]
        for action in line:
            state = state.play(action)
            keys.append(state.key)
        found.append(keys)
    return found


def tell_keys() -> None:
    """What the other process does."""
    job = json.loads(sys.stdin.read())
    print(json.dumps(keys_of(plain_game(job["game"]), job["lines"])), flush=True)


# ---- The template --------------------------------------------------------------------------------


def write_template(path: Path) -> str:
    """Writes a game to start from; returns its name on the command line."""
    if path.suffix != ".py":
        raise InputError(f"'{path}' is no name of a Python file: it does not end in '.py'.")
    name = path if path.is_absolute() else f"./{path}"
    text = TEMPLATE.read_text().replace("./my_game.py", str(name))
    try:
        with path.open("x") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"'{path}' exists; give the template another name.") from None
    except FileNotFoundError:
        raise InputError(f"There is no folder for '{path}'.") from None
    return f"{name}:MyGame"
