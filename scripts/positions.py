"""Makes positions of a game whose every action's outcome is known, by the project's own solver.

    python scripts/positions.py connect_four --plies 30 14 --each 120

Writes games/positions/<config>.jsonl, a line a position, from late plies to early ones: a kill
loses one position, and the same words go on where it was stopped. What is found depends on the seed
alone. A candidate comes from a game that plays so many plies, at random or with UCT playing a part
of its actions; it is kept if it is new, up to the symmetries of the game, no action wins at once,
and one at least gives something away.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import yaml

import athenan
from athenan.config import compose
from athenan.games import make_game
from athenan.positions import facts_line, position_line, positions_folder
from athenan.progress import Progress, duration

RANDOM_SHARES = [1.0, 0.5, 0.2]  # of a game's actions that are random
ROLLOUTS = 200  # for each of the others
DOUBTFUL = 5000  # candidates in a row of which none is kept: there are no more


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("game", metavar="CONFIG[,OPTION=VALUE …]")
    parser.add_argument("--plies", nargs=2, type=int, default=[30, 14], metavar=("LAST", "FIRST"))
    parser.add_argument("--each", type=int, default=120, help="positions of each ply")
    parser.add_argument("--memory-mb", type=float, default=1024.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="default: games/positions/<config>.jsonl")
    told = parser.parse_args(words)
    config, *options = told.game.split(",")
    options_of_game = compose("check", [f"game={config}", *(f"game.{o}" for o in options)]).game
    game = make_game(**options_of_game)
    out = told.out or positions_folder() / f"{yaml_name(config, options)}.jsonl"
    maker = Maker(game, options_of_game, out, told.seed, told.memory_mb)
    last, first = told.plies
    for ply in range(last, first - 1, -1):
        maker.make(ply, told.each)


def yaml_name(config: str, options: list[str]) -> str:
    return "_".join([config, *(str(yaml.safe_load(o.partition("=")[2])) for o in options)])


class Maker:
    def __init__(
        self, game: athenan.Game, facts: dict[str, object], out: Path, seed: int, memory_mb: float
    ) -> None:
        self.game, self.out, self.seed, self.memory_mb = game, out, seed, memory_mb
        self.seen: set[bytes] = set()
        self.lines: dict[int, list[int]] = {}  # numbers of the candidates that were kept, by ply
        if out.exists():
            self.read()
        else:
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_text(facts_line(facts) + "\n")

    def read(self) -> None:
        """What is there already; a line that a kill cut off is taken away."""
        first, *lines = self.out.read_text().splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n")]
        if whole != lines:
            self.out.write_text("".join([first, *whole]))
        for line in whole:
            found = json.loads(line)
            state = self.game.initial_state()
            for action in found["actions"]:
                state = state.play(action)
            self.seen.add(canonical(self.game, state))
            self.lines.setdefault(state.ply, []).append(found["number"])

    def make(self, ply: int, each: int) -> None:
        kept = self.lines.setdefault(ply, [])
        number = kept[-1] + 1 if kept else 0
        began, before, tries = time.process_time(), len(kept), 0
        depth = max(1, self.game.max_plies - ply - 1)
        # Exact, since it looks to the end of the game; random games order the actions.
        solver = athenan.make_search(
            "mtdf", self.game, "rollout", order="evaluation", depth=depth, memory_mb=self.memory_mb
        )
        with Progress() as progress:
            while len(kept) < each and number - (kept[-1] if kept else 0) < DOUBTFUL:
                progress.show([f"ply {ply}", f"{len(kept)} of {each}", f"candidate {number}"])
                line = self.candidate(ply, number, solver)
                tries += 1
                if line is not None:
                    with self.out.open("a") as file:
                        file.write(line + "\n")
                    kept.append(number)
                number += 1
        seconds = time.process_time() - began
        if tries:
            print(
                f"ply {ply}: {len(kept)} positions, {len(kept) - before} of {tries} candidates, "
                f"{duration(seconds)} of a processor, {seconds / tries:.2f} s each",
                flush=True,
            )

    def candidate(self, ply: int, number: int, solver: athenan.Search) -> str | None:
        """The line of a candidate that is kept."""
        played = self.played(ply, np.random.default_rng([self.seed, ply, number]))
        if played is None:
            return None
        actions, state = played
        children = [state.play(action) for action in state.legal_actions()]
        if any(c.is_terminal and c.outcomes[state.to_move] == 1 for c in children):
            return None
        key = canonical(self.game, state)
        if key in self.seen:
            return None
        outcomes = [outcome(child, state.to_move, solver) for child in children]
        if min(outcomes) == max(outcomes):
            return None
        self.seen.add(key)
        return position_line(number, actions, outcomes)

    def played(
        self, ply: int, random: np.random.Generator
    ) -> tuple[list[int], athenan.State] | None:
        """A game of so many plies, unless it is over before."""
        share = random.choice(RANDOM_SHARES)
        uct = athenan.make_search("uct", self.game, seed=int(random.integers(2**32)))
        state, actions = self.game.initial_state(), []
        while state.ply < ply and not state.is_terminal:
            if random.random() < share:
                action = int(random.choice(state.legal_actions()))
            else:
                found = uct.run(state, iterations=ROLLOUTS).action
                assert found is not None
                action = found
            state = state.play(action)
            actions.append(action)
        return None if state.is_terminal else (actions, state)


def outcome(child: athenan.State, player: int, solver: athenan.Search) -> int:
    """For the player who has moved there."""
    if child.is_terminal:
        return int(child.outcomes[player])
    result = solver.run(child)
    assert result.resolved
    value = round(result.completion)
    return value if player == 0 else -value


def canonical(game: athenan.Game, state: athenan.State) -> bytes:
    """The same for all symmetric states."""
    planes = state.planes()
    flat = planes.reshape(-1, planes.shape[-1])
    ways = [flat[list(s.cells)][:, list(s.channels)].tobytes() for s in game.symmetries]
    return min([flat.tobytes(), *ways])


if __name__ == "__main__":
    main(sys.argv[1:])
