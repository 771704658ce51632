"""Games of 9×9 against GNU Go by GTP, whose final scores both sides count.

It plays the first moves for both colours, so that both have something to count at the end. Where
ours would pass it goes on for both until all that is dead is captured: our rules count what stands,
GNU Go what it thinks alive.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from types import TracebackType

from protocols import made

from athenan.gtp import Gtp

OPTIONS = (
    "--mode gtp --level 1 --chinese-rules --capture-all-dead --positional-superko --never-resign"
)
MOST_MOVES, FIRST_MOVES = 300, 46
GNUGO = shutil.which("gnugo", path=f"{os.environ['PATH']}:/usr/games")


class GnuGo:
    def __init__(self, seed: int) -> None:
        self.process = subprocess.Popen(
            [str(GNUGO), *OPTIONS.split(), "--seed", str(seed)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
        )  # fmt: skip

    def ask(self, line: str) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(line + "\n")
        found: list[str] = []
        while not found or found[-1]:
            found.append(self.process.stdout.readline().rstrip("\n"))
        answer = "\n".join(found).strip()
        assert answer.startswith("="), f"{line}: {answer}"
        return answer[1:].strip()

    def __enter__(self) -> GnuGo:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()


def play_games(games: int, seed: int) -> int:
    """How many were counted alike; both colours in turn."""
    equal = 0
    for number in range(games):
        ours, said = made("gtp", Gtp, "game=go", "evaluations=100", "evaluator=rollout")

        def ask(line: str, ours: Gtp = ours, said: list[str] = said) -> str:
            said.clear()
            ours.hear(line)
            answer = "".join(said)
            assert answer.startswith("="), f"{line}: {answer}"
            return answer[1:].strip()

        with GnuGo(seed + number) as gnugo:
            for line in ("boardsize 9", "clear_board", "komi 7.5"):
                gnugo.ask(line)
                ask(line)
            passes, ours_plays = 0, True
            for move in range(MOST_MOVES):
                colour = "bw"[move % 2]
                vertex = "pass"
                if ours_plays and move >= FIRST_MOVES and move % 2 == number % 2:
                    vertex = ask(f"genmove {colour}")
                    ours_plays = vertex.casefold() != "pass"
                    if ours_plays:
                        gnugo.ask(f"play {colour} {vertex}")
                    else:
                        ask("undo")
                if vertex.casefold() == "pass":
                    vertex = gnugo.ask(f"genmove {colour}")
                    ask(f"play {colour} {vertex}")
                passes = passes + 1 if vertex.casefold() == "pass" else 0
                if passes == 2:
                    break
            scores = ask("final_score"), gnugo.ask("final_score")
            print(f"game {number}: {move + 1} moves, ours {scores[0]}, GNU Go {scores[1]}")
            equal += scores[0] == scores[1]
    return equal
