"""The `athenan` program: a command, its settings, and one sentence for whatever is wrong."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from athenan.errors import InputError, nearest

USAGE = """\
athenan <command> [setting=value …]     athenan <command> --help

  games   the games with their options
  solve   search a state until it is resolved; write and check proofs
  bench   where time goes: rules | search | selfplay
"""


@dataclass
class Arguments:
    """What follows the command: settings, and flags with or without a value."""

    settings: list[str] = field(default_factory=list)
    flags: dict[str, str] = field(default_factory=dict)

    @property
    def json(self) -> bool:
        return "--json" in self.flags


def parse(words: list[str], valued: tuple[str, ...] = ()) -> Arguments:
    """`valued` are the flags that take a value; --json and --help are everyone's."""
    known = {"--json", "--help", *valued}
    arguments = Arguments()
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            arguments.settings.append(word)
            continue
        name = "--help" if name == "-h" else name
        if name not in known:
            raise InputError(f"There is no flag '{name}'{nearest(name, known)}")
        if name in valued and not equals:
            if not rest:
                raise InputError(f"Flag '{name}' needs a value.")
            value = rest.pop(0)
        arguments.flags[name] = value
    return arguments


def report(arguments: Arguments, lines: list[str], figures: dict[str, Any]) -> None:
    """Prints for people and, with --json, the same figures as the last line."""
    print("\n".join(lines), flush=True)
    if arguments.json:
        print(json.dumps(figures), flush=True)


def table(rows: list[list[str]]) -> list[str]:
    """Rows with their columns aligned, the first being the head."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]
    return [line.rstrip() for line in lines]


def games_command(words: list[str]) -> None:
    """athenan games [--json]

    The games: players, options (default and range), board, actions at the start, longest game.
    """
    from athenan.games import game_types, make_game

    arguments = parse(words)
    if arguments.settings:
        raise InputError(f"'athenan games' takes no setting such as '{arguments.settings[0]}'.")
    rows = [["game", "players", "options", "board", "actions", "longest"]]
    figures = []
    for entry in game_types():
        game: Any = make_game(entry["name"])
        board = f"{game.plane_shape[0]}×{game.plane_shape[1]}"
        branching = len(game.initial_state().legal_actions())
        options = ", ".join(option_text(option) for option in entry["options"]) or "-"
        rows.append(
            [game.name, str(game.num_players), options, board, str(branching), str(game.max_plies)]
        )
        figures.append(
            {
                "name": game.name,
                "title": entry["title"],
                "players": game.num_players,
                "options": entry["options"],
                "board": list(game.plane_shape[:2]),
                "branching": branching,
                "longest": game.max_plies,
            }
        )
    report(arguments, table(rows), {"games": figures})


def option_text(option: dict[str, Any]) -> str:
    default = option["default"]
    if isinstance(default, bool):
        return f"{option['name']}={str(default).lower()}"
    if option["choices"]:
        return f"{option['name']}={'|'.join(option['choices'])}"
    return f"{option['name']}={default:g} ({option['low']:g}-{option['high']:g})"


def solve_command(words: list[str]) -> None:
    """athenan solve game=… [search=descent|ubfm|umb] [strong=true] [setting=value …]
              [--out FILE] [--json]
    athenan solve --check FILE

    Searches until the state is resolved or a budget (seconds=…, iterations=…) is spent. `start`
    gives actions to play first: start="4 4 3". --out writes the proof; --check verifies one by
    the rules alone. Settings: configs/solve.yaml and the groups game, search, heuristic.
    """
    from athenan import solve as solving
    from athenan.config import compose
    from athenan.games import make_game
    from athenan.progress import duration

    arguments = parse(words, ("--out", "--check"))
    if "--check" in arguments.flags:
        if arguments.settings:
            raise InputError("--check takes the game and its options from the file.")
        checked = solving.check(Path(arguments.flags["--check"]))
        kind = "every reachable state" if checked["strong"] else "the proof"
        text = f"right: {solving.WORTH[checked['outcome']]}; {kind} has {checked['states']} states"
        report(arguments, [f"{text}, checked in {duration(checked['seconds'])}"], checked)
        return
    config = compose("solve", arguments.settings)
    game: Any = make_game(**config.game)
    state = solving.start_state(game, config.start)
    search = solving.search_of(config, game)
    solution = solving.solve(search, state, config.seconds, config.iterations)
    result = solution.result
    line = []
    at = state
    for action in result.principal_variation:
        line.append(at.action_to_string(action))
        at = at.play(action)
    found = solving.WORTH[result.completion] if result.resolved else "not resolved"
    if result.out_of_memory:
        found += " (memory is full; raise search.memory_mb)"
    lines = [
        f"{found}, value {result.value:+g}",
        f"principal variation: {' '.join(line) or '-'}",
        f"{result.states} states, {solution.iterations} iterations, {duration(solution.seconds)}",
    ]
    figures = {
        "resolved": result.resolved,
        "outcome": result.completion if result.resolved else None,
        "value": result.value,
        "principal_variation": line,
        "states": result.states,
        "iterations": solution.iterations,
        "seconds": round(solution.seconds, 3),
        "resolved_share": solution.resolved_share,
        "bytes": search.core.counts["bytes"],
    }
    if "--out" in arguments.flags:
        path = Path(arguments.flags["--out"])
        figures["proof_states"] = solving.write_proof(path, config, search)
        lines.append(f"proof of {figures['proof_states']} states in {path}")
    report(arguments, lines, figures)


def bench_command(words: list[str]) -> None:
    """athenan bench rules|search|selfplay [game=…] [setting=value …] [--json]

    rules     child states and playout states a second of a game's rules (game=all: every config)
    search    child states a second of the search, bytes a child state, 1 thread and `threads`
    selfplay  states a second of self-play with a network, against the network's own best rate

    The best of `repeats` measurements counts. Where OpenSpiel is installed and has the game, it is
    timed in the same run. Settings: configs/bench.yaml.
    """
    from athenan import bench

    arguments = parse(words)
    kinds = bench.KINDS
    if not arguments.settings or arguments.settings[0] not in kinds:
        given = arguments.settings[0] if arguments.settings else ""
        raise InputError(f"Say what to measure: {', '.join(kinds)}{nearest(given, kinds)}")
    lines, figures = kinds[arguments.settings[0]](arguments.settings[1:])
    report(arguments, lines, figures)


COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "games": games_command,
    "solve": solve_command,
    "bench": bench_command,
}


def main(words: list[str] | None = None) -> int:
    """Exit code 0, or 2 after a sentence that says what is wrong, or 130 after Ctrl-C."""
    words = sys.argv[1:] if words is None else words
    if not words or words[0] in ("--help", "-h", "help"):
        print(USAGE, end="")
        return 0
    if words[0] == "--version":
        from athenan import __version__

        print(f"athenan {__version__}")
        return 0
    try:
        command = COMMANDS.get(words[0])
        if command is None:
            raise InputError(f"There is no command '{words[0]}'{nearest(words[0], COMMANDS)}")
        if "--help" in words or "-h" in words:
            print("\n".join(line.removeprefix("    ") for line in help_text(command)))
        else:
            command(words[1:])
    except InputError as error:
        print(f"athenan: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nathenan: stopped.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
    return 0


def help_text(command: Callable[[list[str]], None]) -> list[str]:
    return (command.__doc__ or "").rstrip().splitlines()


if __name__ == "__main__":
    sys.exit(main())
