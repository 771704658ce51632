"""The `athenan` program: a command, its settings, and one sentence for whatever is wrong."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from athenan._core import WrongGame
from athenan.arguments import Arguments, parse, report
from athenan.doctor import doctor_command
from athenan.errors import Failed, InputError, nearest

if TYPE_CHECKING:
    from athenan.saved_games import SavedGame

USAGE = """\
athenan <command> [setting=value …]     athenan <command> --help

  train   self-play and learning from zero, or on from a checkpoint
  match   two players against each other, with an interval
  play    you against a checkpoint, in the terminal
  analysis  JSON lines in and out, for programs: any state of any game is thought of
  gtp     the Go Text Protocol, for desktop boards and other programs
  uci     the Universal Chess Interface: chess, xiangqi, breakthrough, ataxx and others
  hub     the protocol of draughts programs
  aei     the Arimaa Engine Interface
  serve   the same on a web page that shows the search, and games to browse
  export  the network of a checkpoint in formats that need no athenan
  games   the games with their options
  solve   search a state until it is resolved; write and check proofs
  check   whether a game keeps the contract, yours or a built-in one; a template of one
  bench   where time goes: rules | search | selfplay | evaluator | device
  doctor  what the machine has and lacks, and the layout that suits it
"""


NAMES = ("first", "second")


def games_command(words: list[str]) -> None:
    """athenan games [--json]

    The games: players, board, actions at the start, longest game, configs (game=…), options
    (default and range).
    """
    from athenan.games import game_configs, game_types, make_game
    from athenan.table import table

    arguments = parse("games", words)
    if arguments.settings:
        raise InputError(f"'athenan games' takes no setting such as '{arguments.settings[0]}'.")
    rows = [["game", "players", "board", "actions", "longest", "configs", "options"]]
    figures = []
    for entry in game_types():
        game: Any = make_game(entry["name"])
        board = f"{game.plane_shape[0]}×{game.plane_shape[1]}"
        branching = len(game.initial_state().legal_actions())
        options = ", ".join(option_text(option) for option in entry["options"]) or "-"
        counts = [str(game.num_players), board, str(branching), str(game.max_plies)]
        configs = game_configs(game.name)
        rows.append([game.name, *counts, " ".join(configs), options])
        figures.append(
            {
                "name": game.name,
                "title": entry["title"],
                "players": game.num_players,
                "configs": configs,
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
    """athenan solve game=… [strong=true] [setting=value …] [--out FILE] [--json]
    athenan solve --check FILE [game=module:Class]
    athenan solve [game=…|--tree FILE.json] [search=…] [setting=value …] --draw FILE.svg

    Searches until the state is resolved or a budget (seconds=…, iterations=…) is spent. `start`
    gives actions to play first: start="4 4 3". --out writes the proof; --check verifies one by
    the rules alone; of a game of one's own it needs the game named, since a file runs no code.
    --draw writes a picture of the search's tree, for small ones. --tree takes a game from nested
    lists of leaf values such as [[3, 5], [2, 9]], whose first player wants the larger.
    """
    from athenan import drawing, proofs
    from athenan import solve as solving
    from athenan.config import compose, split_own_game
    from athenan.games import make_game
    from athenan.implied import completed
    from athenan.progress import duration
    from athenan.tree_game import read_tree

    arguments = parse("solve", words)
    if "--check" in arguments.flags:
        own, rest = split_own_game(arguments.settings)
        if rest:
            raise InputError(
                "--check takes the game and its options from the file; only a game of one's own "
                "is named beside it, by game=module:Class."
            )
        checked = proofs.check(Path(arguments.flags["--check"]), own)
        kind = "every reachable state, " if checked["strong"] else ""
        worth = proofs.worth(checked["outcome"])
        text = f"right: {worth}; {kind}{checked['states']} states checked"
        report(arguments, [f"{text} in {duration(checked['seconds'])}"], checked)
        return
    config = compose(
        "solve", completed("solve", arguments.settings, arguments.sources), arguments.sources
    )
    out = Path(arguments.flags["--out"]) if "--out" in arguments.flags else None
    if out and not out.parent.is_dir():
        raise InputError(f"There is no folder for '{out}'.")
    game: Any = make_game(**config.game)
    if "--tree" in arguments.flags:
        if out:
            raise InputError("--out writes proofs of games that have a name, not of a tree.")
        game = read_tree(Path(arguments.flags["--tree"]))
        if not any(word.startswith("heuristic") for word in arguments.settings):
            config.heuristic.name = "score"
    state = proofs.start_state(game, config.start)
    search = solving.search_of(config, game)
    if "--draw" in arguments.flags:
        budget = {"iterations": config.iterations, "seconds": config.seconds}
        drawing.write(Path(arguments.flags["--draw"]), search, state, **budget)
        search = solving.search_of(config, game)
    solution = solving.solve(search, state, config.seconds, config.iterations)
    result = solution.result
    line = []
    at = state
    for action in result.principal_variation:
        line.append(at.action_to_string(action))
        at = at.play(action)
    found = proofs.worth(result.completion) if result.resolved else "not resolved"
    if result.out_of_memory:
        found += " (memory is full; raise search.memory_mb)"
    lines = [
        f"{found}, value {solving.value_text(result.value, 'g')}",
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
    if out:
        figures["proof_states"] = solving.write_proof(out, config, search)
        lines.append(f"proof of {figures['proof_states']} states in {out}")
    if "--draw" in arguments.flags:
        lines.append(f"the tree in {arguments.flags['--draw']}")
    report(arguments, lines, figures)


def check_command(words: list[str]) -> None:
    """athenan check game=… [games=20] [seconds=…] [seed=0] [--json]
    athenan check --template my_game.py

    Plays random games and looks at all that a game promises, of a built-in one or of one's own
    (game=module:Class, game=./my_game.py:MyGame). Of what is wrong it says after which actions, and
    how to mend it; the exit code is then 1. --template writes a small game to start from.
    """
    from athenan import check
    from athenan.config import compose
    from athenan.progress import Progress

    arguments = parse("check", words)
    if "--template" in arguments.flags:
        if arguments.settings:
            raise InputError("--template takes no settings: it writes a file and checks nothing.")
        name = check.write_template(Path(arguments.flags["--template"]))
        report(arguments, [f"check it by: athenan check game={name}"], {"game": name})
        return
    config = compose("check", arguments.settings)
    with Progress() as progress:
        found = check.check_game(config, progress.show)
    report(arguments, found.lines(), found.figures())
    if found.wrong:
        raise Failed(f"Game '{found.game}' breaks {len(found.wrong)} of its promises.")


def train_command(words: list[str]) -> None:
    """athenan train [experiment=connect_four] [setting=value …] [--json]
    athenan train resume=RUN|STEP|latest [minutes=…]
    athenan train --multirun seed=0,1 network=conv,small [--jobs N]

    A new run goes to checkpoints/<game>/<run>/. fork=RUN starts from another run's weights.
    --multirun (or -m) runs every combination of settings given as lists, N at once: as many as
    there are cores for, each with its self_play.threads. A table of all ends it.
    """
    from athenan.config import compose, sweep
    from athenan.implied import completed

    arguments = parse("train", words)
    at_once = jobs_at_once(arguments)
    if "--multirun" in arguments.flags and len(sweep(arguments.settings)) > 1:
        multirun(arguments, at_once)
        return
    settings = completed("train", arguments.settings, arguments.sources)
    config = compose("train", settings, arguments.sources)
    from athenan.run import read_figures
    from athenan.train import train

    run = train(config, settings)
    if arguments.json:
        print(json.dumps({"run": str(run)} | read_figures(run)), flush=True)


def jobs_at_once(arguments: Arguments) -> int | None:
    text = arguments.flags.get("--jobs")
    if text is None:
        return None
    if "--multirun" not in arguments.flags:
        raise InputError("Flag '--jobs' is for the runs of '--multirun'.")
    if not (text.isdecimal() and int(text)):
        raise InputError(f"Flag '--jobs' takes how many runs there are at once, not '{text}'.")
    return int(text)


def multirun(arguments: Arguments, at_once: int | None) -> None:
    """Ends with the exit code of what stopped it, if anything did."""
    from athenan.sweep import Sweep, closing_table, figures_of, make_jobs

    jobs = make_jobs(arguments.settings, arguments.sources)
    kept = ("--config-dir", "--config-name")
    flags = [f"{name}={value}" for name, value in arguments.flags.items() if name in kept]
    sweep = Sweep(jobs, at_once, flags)
    sweep.run()
    report(arguments, ["", *closing_table(jobs)], figures_of(jobs))
    if sweep.stopped is not None:
        print(f"athenan: {sweep.wrong()}", file=sys.stderr)
        raise SystemExit(sweep.stopped)
    if sweep.wrong():
        raise Failed(sweep.wrong())


def match_command(words: list[str]) -> None:
    """athenan match [game=…] first.checkpoint=RUN [second.search=uct …] [games=400] [--json]

    Both colours of every opening, of more players every seat in turn: the second then has all seats
    that the first has not, and a game is a point, shared by those who do best. Openings are random
    actions and never repeat. A player is a search with its options, a checkpoint or an evaluator,
    and a budget an action. One that is given a checkpoint or an evaluator plays by ubfm unless told
    otherwise, the second with the first one's budget; the game is the checkpoint's. The interval is
    the 95 % Wilson interval over openings. With sprt=[0,5] it ends as soon as it has shown which of
    two strengths the first player has; save=FILE.jsonl (.sgf, .pgn, .pdn) keeps every game.
    """
    from athenan import match as matches
    from athenan import waves
    from athenan.config import compose
    from athenan.games import make_game
    from athenan.implied import completed
    from athenan.openings import openings_of
    from athenan.players import what_plays
    from athenan.progress import Progress
    from athenan.saving import saver
    from athenan.sprt import sprt_of
    from athenan.tally import Tally

    arguments = parse("match", words)
    config = compose(
        "match", completed("match", arguments.settings, arguments.sources), arguments.sources
    )
    game = make_game(**config.game)
    test = sprt_of(config, game)
    saver(config.save, game)  # what is wrong with it is better said now
    players = waves.players_of(config, game)
    for name, player in zip(NAMES, players, strict=False):
        print(f"{name}: {player.text}")
    if len(players) > 2:
        print("the others: as the second")
    print(f"computed by {what_plays(players)}", flush=True)
    openings = openings_of(config, game, players)
    save = saver(config.save, game, openings)
    total = len(openings) * len(players)
    tally = Tally(len(players))

    def on_game(played: SavedGame) -> None:
        tally.add(played)
        save(played)

    def enough(result: matches.MatchResult) -> bool:
        return test is not None and test.look(result.pair_scores).accepted is not None

    with Progress() as progress:

        def show(done: int, result: matches.MatchResult) -> None:
            left = progress.seconds / done * (total - done) if done else None
            progress.show(matches.progress_parts(done, total, result, left))

        if config.layout.name == "ray":
            result = waves.play_match_by_ray(config, openings, show, on_game, enough)
        else:
            result = matches.play_match(
                players, openings, config.games_in_step, show, on_game=on_game, enough=enough
            )
    figures = {
        "first": players[0].text,
        "second": players[1].text,
        **result.figures(),
        "openings": len(result.pair_scores),
        **tally.figures(result.games),
        "seconds": round(progress.seconds, 1),
    }
    who = "first player of the two" if len(players) == 2 else "first player"
    lines = [f"{who}: {result}"]
    if len(players) == 2:
        lines.append(result.elo_text())
    lines += result.forfeits_text()
    lines += tally.lines(result.games)
    if test is not None:
        found = test.look(result.pair_scores)
        lines.append(str(found))
        figures["sprt"] = found.figures()
    if config.save is not None:
        lines.append(f"games saved in {config.save}")
        figures["save"] = config.save
    report(arguments, lines, figures)


def play_command(words: list[str]) -> None:
    """athenan play [game=…] [checkpoint=RUN] [first=me|you] [seconds=…|evaluations=…]

    You against a checkpoint (or rollouts without one). At the prompt: an action, in any case and
    with any separators, in chess also as Nf3 or O-O; or `undo`, `values` (what the search sees),
    `hint`, `help`, `quit`. Ctrl-C while the program thinks lets it play at once. replay=FILE.jsonl
    shows a game that `athenan match save=…` wrote, and plays on from it.
    """
    from athenan.config import compose
    from athenan.implied import completed

    arguments = parse("play", words)
    config = compose(
        "play", completed("play", arguments.settings, arguments.sources), arguments.sources
    )
    if config.replay is not None:
        from athenan.replaying import replay

        replay(config)
        return
    from athenan.play import play

    play(config)


def analysis_command(words: list[str]) -> None:
    """athenan analysis [game=…] [checkpoint=RUN] [seconds=…|evaluations=…] [setting=value …]

    Reads JSON objects from standard input, one a line, and answers each by lines with its id:
    {"id": 1, "actions": ["d1", "d2"], "evaluations": 1000}. Any game by "game", any state by
    "start" and "actions"; athenan/README.md has all fields. Ends when its input does, or by
    {"id": 2, "command": "quit"}.
    """
    from athenan.analysis import run_analysis

    run_analysis(protocol_settings("analysis", words))


def gtp_command(words: list[str]) -> None:
    """athenan gtp [game=go|hex|gomoku|othello|…] [checkpoint=RUN] [seconds=…|evaluations=…]

    Speaks GTP 2 on standard input and output, with lz-analyze, kata-analyze and gogui-rules_*.
    The budget of seconds holds where no clock is told, that of evaluations in any case.
    """
    from athenan.gtp import run_gtp

    run_gtp(protocol_settings("gtp", words))


def uci_command(words: list[str]) -> None:
    """athenan uci [game=chess|xiangqi|breakthrough|…] [checkpoint=RUN] [seconds=…|evaluations=…]

    Speaks UCI on standard input and output; UCI_Variant chooses among chess, xiangqi,
    breakthrough, clobber, ataxx, amazons and othello. The budget holds for a plain `go`.
    """
    from athenan.uci import run_uci

    run_uci(protocol_settings("uci", words))


def hub_command(words: list[str]) -> None:
    """athenan hub [game=draughts|draughts_brazilian|…] [checkpoint=RUN] [seconds=…|evaluations=…]

    Speaks Hub on standard input and output; the parameter `variant` chooses among normal, brazilian
    and canadian. The budget holds for a `go` without a level.
    """
    from athenan.hub import run_hub

    run_hub(protocol_settings("hub", words))


def aei_command(words: list[str]) -> None:
    """athenan aei [checkpoint=RUN] [seconds=…|evaluations=…]

    Speaks the Arimaa Engine Interface on standard input and output. The budget of seconds holds
    where no time control is told, that of evaluations in any case.
    """
    from athenan.aei import run_aei

    run_aei(protocol_settings("aei", words))


def protocol_settings(command: str, words: list[str]) -> Any:
    from athenan.config import compose
    from athenan.implied import completed

    arguments = parse(command, words)
    words = completed(command, arguments.settings, arguments.sources)
    return compose(command, words, arguments.sources)


def serve_command(words: list[str]) -> None:
    """athenan serve [game=…] [checkpoint=RUN] [saved=GAMES.jsonl] [port=…] [host=…]

    A web page, on this machine alone unless host=… says otherwise: play against a checkpoint, watch
    two players, see the search think, browse saved games and those of runs, and follow a run while
    it trains. Ctrl-C ends it. Needs athenan[serve].
    """
    from athenan.config import compose
    from athenan.implied import completed

    arguments = parse("serve", words)
    settings = completed("serve", arguments.settings, arguments.sources)
    config = compose("serve", settings, arguments.sources)
    from athenan.serve import serve

    serve(config)


def export_command(words: list[str]) -> None:
    """athenan export [checkpoint=RUN|STEP|latest] [formats=[tflite,onnx]] [out=FOLDER] [game=…]

    Writes FOLDER and FOLDER.zip: the network as saved_model, tflite, tflite_int8, onnx, keras (or
    those asked for), evaluator.json (game, planes, values, training, checksums), test vectors and a
    README.md with the lines that run it. Each format is loaded back and compared with the
    checkpoint; one that differs too much is an error and nothing is written. game=… chooses which
    game's latest run. Needs athenan[export].
    """
    from athenan.config import compose

    arguments = parse("export", words)
    config = compose("export", arguments.settings, arguments.sources)
    from athenan.export.writing import export
    from athenan.table import table

    exported = export(config)
    rows = [["format", "bytes", "largest difference"]]
    for name, difference in exported.differences.items():
        rows.append([name, f"{exported.sizes[name]:,}", f"{difference:.2g}"])
    lines = [f"computed by {exported.computing}", *table(rows)]
    if exported.calibration:
        lines.append(f"int8 is calibrated on {exported.calibration}")
    lines.append(f"{exported.folder} and {exported.archive}")
    figures = {
        "folder": str(exported.folder),
        "archive": str(exported.archive),
        "largest_differences": exported.differences,
        "bytes": exported.sizes,
        "calibration": exported.calibration,
    }
    report(arguments, lines, figures)


def bench_command(words: list[str]) -> None:
    """athenan bench rules|search|selfplay|evaluator|device [game=…] [setting=value …] [--json]

    rules      child states and playout states a second of a game's rules (game=all: every config)
    search     child states a second of the search, bytes a child state, 1 thread and `threads`
    selfplay   states a second of self-play with a network, against the network's own best rate
    evaluator  states a second of a network (checkpoint=… or a new one) in each exported format, by
               batch size, 1 thread and `threads`
    device     how busy self-play would keep a GPU, by the timing of one (device_…), with one group
               of games and with two

    The best of `repeats` measurements counts. Where OpenSpiel is installed and has the game, it is
    timed in the same run.
    """
    from athenan import bench
    from athenan.implied import with_wider_searches

    arguments = parse("bench", words)
    kinds = bench.KINDS
    if not arguments.settings or arguments.settings[0] not in kinds:
        given = arguments.settings[0] if arguments.settings else ""
        raise InputError(f"Say what to measure: {', '.join(kinds)}{nearest(given, kinds)}")
    words = arguments.settings[1:]
    if "game=all" not in words:
        words = with_wider_searches("bench", words, words, arguments.sources)
    lines, figures = kinds[arguments.settings[0]](words)
    report(arguments, lines, figures)


COMMANDS: dict[str, Callable[[list[str]], None]] = {
    "train": train_command,
    "match": match_command,
    "play": play_command,
    "analysis": analysis_command,
    "gtp": gtp_command,
    "uci": uci_command,
    "hub": hub_command,
    "aei": aei_command,
    "serve": serve_command,
    "games": games_command,
    "solve": solve_command,
    "check": check_command,
    "export": export_command,
    "bench": bench_command,
    "doctor": doctor_command,
}


def main(words: list[str] | None = None) -> int:
    """Exit code 0, or 2 after a sentence that says what is wrong, or 1 after one that says what
    could not go on, or 130 after Ctrl-C, or 75 after a scheduler's signal."""
    words = sys.argv[1:] if words is None else words
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # names of files may be in no encoding
            stream.reconfigure(errors="backslashreplace")
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
        arguments = parse(words[0], words[1:])
        if "--help" in arguments.flags:
            print("\n".join(help_of(words[0], arguments)))
        elif "--cfg" in arguments.flags:
            print(config_of(words[0], arguments), end="")
        else:
            command(words[1:])
    except (InputError, WrongGame) as error:
        print(f"athenan: {error}", file=sys.stderr)
        return 2
    except Failed as error:
        print(f"athenan: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as stopped:
        # One that has saved what there was has said so.
        code: int = getattr(stopped, "code", 0)
        if not code:
            print("\nathenan: stopped.", file=sys.stderr)
        return code or 130
    except BrokenPipeError:
        sys.stderr.close()
    except OSError as error:
        if error.filename is None:
            raise
        print(f"athenan: '{error.filename}': {error.strerror}.", file=sys.stderr)
        return 2
    except Exception as error:
        from athenan.games import own_fault

        sentence = own_fault(error)
        if sentence is None:
            raise
        print(f"athenan: {sentence}", file=sys.stderr)
        return 2
    return 0


def help_of(name: str, arguments: Arguments) -> list[str]:
    """What the command does, and every setting with the value it would have."""
    usage = (COMMANDS[name].__doc__ or "").rstrip().splitlines()
    lines = [line.removeprefix("    ") for line in usage]
    if name == "games":
        return lines
    from athenan.help import settings_text

    words = settings_of(name, arguments)
    return [*lines, "", *settings_text(name, words, arguments.sources)]


def config_of(name: str, arguments: Arguments) -> str:
    """The config that the command would run with, as YAML."""
    if arguments.flags["--cfg"] != "job":
        raise InputError(f"Flag '--cfg' takes 'job', not '{arguments.flags['--cfg']}'.")
    if name == "games":
        raise InputError("'athenan games' has no settings.")
    from athenan.config import compose, to_yaml

    return to_yaml(compose(name, settings_of(name, arguments), arguments.sources))


def settings_of(name: str, arguments: Arguments) -> list[str]:
    """Without what only names the kind of bench, or all its games."""
    from athenan.implied import completed, with_wider_searches

    if name != "bench":
        return completed(name, arguments.settings, arguments.sources)
    words = [word for word in arguments.settings if "=" in word and word != "game=all"]
    return with_wider_searches(name, words, words, arguments.sources)


if __name__ == "__main__":
    sys.exit(main())
