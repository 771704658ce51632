"""Every setting of every command: type, default, unit, range, choices and a sentence, once.

Configs (configs/**.yaml) hold values only; `--help`, the checks and the tables of configs/README.md
are made from here. The options of games and searches stand with their types in the core: a group
`game` or `search` is a dictionary of a name and its options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from athenan import _core

LARGEST = 2**62  # of a count


@dataclass(frozen=True)
class About:
    """What is known of a setting besides its type and default."""

    sentence: str
    unit: str = ""
    low: float | None = None  # the least value
    above: float | None = None  # values are larger than this
    high: float | None = None  # the largest value
    choices: tuple[str, ...] = ()  # of a text, or of each text in a list
    empty: bool = True  # whether a list may be empty
    ascending: bool = False  # of a list


def setting(
    default: Any,
    sentence: str,
    unit: str = "",
    *,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    choices: Sequence[str] = (),
    empty: bool = True,
    ascending: bool = False,
) -> Any:
    """A field of a dataclass of settings."""
    about = About(sentence, unit, low, above, high, tuple(choices), empty, ascending)
    metadata = {"about": about}
    if isinstance(default, list | dict):
        return field(default_factory=lambda: type(default)(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def number(default: int | None, sentence: str, unit: str = "", low: int = 1) -> Any:
    """A count."""
    return setting(default, sentence, unit, low=low, high=LARGEST)


def group(kind: Any, sentence: str) -> Any:
    """A group of settings, the fields of a dataclass."""
    return field(default_factory=kind, metadata={"about": About(sentence)})


@dataclass(frozen=True)
class Named:
    """A dictionary of a name and the options of what has that name."""

    kind: str  # game or search: where the names and their options are known
    options: dict[str, Any]  # defaults that differ from those of the named one
    optional: bool  # whether it may be left out


def named(
    kind: str,
    sentence: str,
    default: str | None = None,
    options: dict[str, Any] | None = None,
    optional: bool = False,
) -> Any:
    """A game or a search: `name` and its options."""
    metadata = {"about": About(sentence), "named": Named(kind, options or {}, optional)}
    return field(default_factory=lambda: {"name": default} if default else {}, metadata=metadata)


# ---- Groups with files of their own in configs/ ----------------------------------------------


@dataclass
class HeuristicSettings:
    name: str = setting(
        "gain", "what a finished game is worth: the terminal evaluation f_t",
        choices=_core.heuristics(),
    )  # fmt: skip
    longest: int = setting(
        0, "that depth heuristics count from; 0: twice the longest of 1,000 random games",
        "plies", low=0, high=1_000_000,
    )  # fmt: skip


@dataclass
class NetworkSettings:
    kind: str = setting(
        "conv", "how the hidden layers are joined; nnue is dense, and computed in integers by the "
        "core, which updates the first layer from state to state",
        choices=("conv", "residual", "nnue"),
    )  # fmt: skip
    filters: int = setting(
        32, "of each 3 × 3 convolution; of nnue, over the whole board", "filters", low=1, high=4096
    )
    layers: int = setting(
        3, "convolutions (conv), blocks of two (residual), or dense layers after the board (nnue)",
        "layers", low=1, high=200,
    )  # fmt: skip
    dense: int = setting(
        64, "hidden, after the board; of nnue, in each of its layers", "units", low=1, high=65536
    )


@dataclass
class ExplorationSettings:
    name: str = setting(
        "ordinal", "how self-play chooses among the searched actions: by rank, the best or any, or "
        "by value", choices=("ordinal", "epsilon_greedy", "softmax"),
    )  # fmt: skip
    schedule: str = setting(
        "uniform", "of ε': drawn anew for each action, growing with the progress of the run, or "
        "`exploitation`", choices=("uniform", "annealed", "constant"),
    )  # fmt: skip
    exploitation: float = setting(
        0.7, "ε' of schedule constant: 1 always plays the best, 0 any", low=0, high=1
    )
    temperature: float = setting(0.1, "of softmax, for values in [-1, 1]", above=0, high=1e6)


@dataclass
class ReplaySettings:
    name: str = setting(
        "stratified", "the same share of every game in memory, or states drawn from all of them",
        choices=("stratified", "plain"),
    )  # fmt: skip
    games: int = number(100, "µ: kept in memory", "games")
    uses: float = setting(
        3.0, "δ: how often a state is used while its game is kept", above=0, high=1e6
    )
    states: int = number(2_000_000, "in memory at most, whatever µ says", "states")


@dataclass
class LayoutSettings:
    name: str = setting(
        "inline", "who plays: the process that learns, or actors, processes of their own that Ray "
        "starts", choices=("inline", "ray"),
    )  # fmt: skip
    address: str | None = setting(
        None, "of the Ray cluster that is joined: host:port, or auto for the one of this machine; "
        "null starts a Ray of the run's own, which nobody else reaches",
    )  # fmt: skip
    overlap: bool = setting(
        True, "inline: games are played in a thread while others are learned from, with weights "
        "that are a block of games older; false: both take turns",
    )  # fmt: skip
    actors: int | None = setting(
        None, "that play; null: as many as cores and devices allow", "processes", low=1,
        high=100_000,
    )  # fmt: skip
    cpus: int = setting(1, "of an actor, for its network and searches", "cores", low=1, high=1024)
    gpus: int = setting(0, "of an actor", "devices", low=0, high=1)
    learner_gpus: int | None = setting(
        None, "devices the learner computes on; 0 the CPU, null one GPU where there is one",
        "GPUs", low=0, high=1024,
    )  # fmt: skip
    learner_threads: int | None = setting(
        None, "of the process that learns, for its network; null: as many as cores", "threads",
        low=1, high=1024,
    )  # fmt: skip
    calls_under_way: int = setting(
        2, "that an actor has: with 2 it plays on while its last games are learned from", "calls",
        low=1, high=16,
    )  # fmt: skip
    call_seconds: float = setting(
        1.0, "that an actor plays before it gives its games", "seconds", above=0, high=3600
    )
    call_batches: int | None = number(
        None, "of the network that it plays instead; with 1, one actor and one call under way a "
        "run is deterministic", "batches",
    )  # fmt: skip
    publish_seconds: float = setting(
        1.0, "between new weights for the actors; 0: after all games that arrive", "seconds",
        low=0, high=3600,
    )  # fmt: skip
    patience_seconds: float = setting(
        120.0, "without an answer, after which an actor is replaced", "seconds", above=0, high=1e6
    )
    most_deaths: int = setting(
        3, "of an actor that gives no games between them, after which it is given up", "deaths",
        low=1, high=1000,
    )  # fmt: skip
    object_store_mb: int = setting(
        512, "of memory for what the processes exchange, of a Ray of one's own", "megabytes",
        low=80, high=1_000_000,
    )  # fmt: skip
    cores_of_device: list[str] = setting(
        [], "cores next to each device, as [0-7,8-15,16-23+32], which its actor is bound to"
    )


# ---- Groups without ---------------------------------------------------------------------------

BATCH_SIZES = [64, 128, 256, 512, 1024, 2048, 4096]


@dataclass
class SelfPlaySettings:
    games_in_step: int = setting(
        256, "at once; more fill larger batches, which the network answers faster", "games",
        low=1, high=1_000_000,
    )  # fmt: skip
    groups: int = setting(
        1, "that the games are parted into; with 2 one is searched while the device has the "
        "states of the other", "groups", low=1, high=2,
    )  # fmt: skip
    iterations: int | None = number(None, "of the search, an action", "iterations", low=0)
    evaluations: int | None = number(
        None, "states valued by the network, an action; without any limit four times the actions "
        "at the start of the game, at least 100", "evaluations", low=0,
    )  # fmt: skip
    seconds: float | None = setting(
        None, "an action; a run with it is not deterministic", "seconds", low=0, high=1e9
    )
    target: str = setting(
        "tree", "which states are learned from: all of the search's tree, the played ones by the "
        "search's value, or the played ones by the end", choices=("tree", "root", "terminal"),
    )  # fmt: skip
    threads: int = setting(2, "of the search", "threads", low=1, high=1024)
    batch_sizes: list[int] = setting(
        BATCH_SIZES, "a batch always has one of these sizes", "states", low=1, high=1_000_000,
        empty=False, ascending=True,
    )  # fmt: skip


@dataclass
class LearnSettings:
    batch_size: int = setting(256, "a step", "states", low=1, high=1_000_000)
    learning_rate: float = setting(1e-3, "of Adam", above=0, high=1e12)
    schedule: str = setting(
        "constant", "of the learning rate: cosine falls over the run to `final_share`",
        choices=("constant", "cosine"),
    )  # fmt: skip
    final_share: float = setting(
        0.1, "of the learning rate at the end of schedule cosine", low=0, high=1
    )
    l2: float = setting(1e-5, "weight of the squared kernels in the loss", low=0, high=1e6)
    symmetries: bool = setting(True, "every state in a random one of the game's symmetries")
    held_out_every: int = number(
        20, "every so many games one is not learned from but measured on; 0 none", "games", low=0
    )
    first_fit_states: int = number(
        20_000, "last states of random games that the network is fitted to first", "states", low=0
    )
    first_fit_epochs: int = setting(1, "of the first fit", "passes", low=0, high=10_000)
    mixed_precision: bool = setting(False, "half precision where the device has it")
    xla: bool = setting(
        False, "XLA compiles the network for the device, for learning and for self-play; athenan "
        "doctor compares"
    )  # fmt: skip


@dataclass
class ResolvedSettings:
    states: int = number(1_000_000, "proven ones remembered across games, at most", "states", low=0)
    clear_every_games: int = number(
        5000, "the memory is cleared every so often; 0 never (the paper: every 12 hours)", "games",
        low=0,
    )  # fmt: skip


@dataclass
class CheckpointSettings:
    every_games: int = number(500, "between checkpoints", "games")
    every_minutes: float | None = setting(
        10.0, "between checkpoints where games take long; one outside the schedule of games leaves "
        "the run bit for bit as it is; null none", "minutes", above=0, high=1e7,
    )  # fmt: skip
    keep: int = number(3, "newest ones kept, besides the best", "checkpoints")


@dataclass
class PlayerSettings:
    checkpoint: str | None = setting(
        None, "short for evaluator: a run's folder, a step's folder, or latest"
    )
    evaluator: str = setting(
        "rollout", "f_θ: a run, a step, latest, an export as PATH:FORMAT, rollout, zero or hash"
    )
    search: Any = named(
        "search", "the player's search", default="ubfm", options={"memory_mb": 64.0}
    )
    resolved: str | None = setting(
        None, "file of `solve --out`: what it proves is known to the search"
    )
    iterations: int | None = number(None, "an action", "iterations")
    evaluations: int | None = number(None, "an action", "evaluations")
    seconds: float | None = setting(None, "an action", "seconds", above=0, high=1e9)
    engine: str | None = setting(
        None, "command line of another program, as 'gnugo --mode gtp', that plays instead of a "
        "search; no shell reads it",
    )  # fmt: skip
    protocol: str = setting(
        "auto", "that the engine speaks; auto: by its command line and the game",
        choices=("auto", "gtp", "uci", "hub", "aei"),
    )  # fmt: skip
    options: dict[str, Any] = setting({}, "of the engine: its own, by name")
    go: str | None = setting(
        None, "what an engine of UCI or Hub is told to search, as 'depth 3'; null: by seconds or "
        "evaluations",
    )  # fmt: skip
    processes: int = setting(1, "of the engine, which share the games", "processes", low=1, high=64)
    patience_seconds: float = setting(
        60.0, "without an answer, after which an engine forfeits the game", "seconds", above=0,
        high=1e6,
    )  # fmt: skip
    install: str | None = setting(None, "said where the engine's program is absent")


def references() -> dict[str, Any]:
    return {
        "random": PlayerSettings(search={"name": "random"}),
        "uct": PlayerSettings(search={"name": "uct"}, iterations=200),
    }


@dataclass
class StrengthSettings:
    every_checkpoints: int = number(
        1, "a small match against each reference every so many checkpoints, and in a run of "
        "minutes every eighth of it; 0 never", "checkpoints", low=0,
    )  # fmt: skip
    games: int = number(
        40, "a match at most, both colours of every opening; fewer where its time is short",
        "games", low=0,
    )  # fmt: skip
    opening_plies: int = setting(
        4, "random actions before the players take over", "plies", low=0, high=10_000
    )
    evaluations: int = number(200, "an action of the network's player", "evaluations")
    best_by: str = setting("uct", "the reference whose lower bound makes the best checkpoint")
    earlier: bool = setting(True, "also against the run's own checkpoint before")
    most_share: float = setting(
        0.1, "of the run's time; matches beyond it are left out, and those at the end of a run of "
        "minutes may take as long again",
        low=0, high=1,
    )  # fmt: skip
    references: dict[str, PlayerSettings] = field(
        default_factory=references,
        metadata={"about": About("opponents by name, each with the settings of a player")},
    )


# ---- Commands ---------------------------------------------------------------------------------

CHECKPOINTS = "folder of all runs"
TRUST = (
    "files that are loaded may run code: exports as saved_model or keras, the module of a game of "
    "one's own and the program of an engine that only the file names"
)
SEED = 2**32 - 1


@dataclass
class TrainSettings:
    game: dict[str, Any] = named("game", "the rules")
    search: dict[str, Any] = named("search", "the search of self-play")
    heuristic: HeuristicSettings = group(HeuristicSettings, "the terminal evaluation f_t")
    network: NetworkSettings = group(NetworkSettings, "the value network f_θ")
    exploration: ExplorationSettings = group(ExplorationSettings, "which action self-play plays")
    replay: ReplaySettings = group(ReplaySettings, "the memory of finished games")
    layout: LayoutSettings = group(LayoutSettings, "which processes play and learn")
    self_play: SelfPlaySettings = group(SelfPlaySettings, "games that the search plays with itself")
    learn: LearnSettings = group(LearnSettings, "fitting the network to the labels")
    resolved: ResolvedSettings = group(ResolvedSettings, "the memory of resolved states")
    checkpoint: CheckpointSettings = group(CheckpointSettings, "what a kill cannot take")
    strength: StrengthSettings = group(StrengthSettings, "small matches during training")
    run: str | None = setting(None, "name of the run's folder; null makes one of date and preset")
    resume: str | None = setting(
        None,
        "run folder, step folder, name or latest: go on with it; auto: with `run` if it is "
        "there, otherwise begin it",
    )
    fork: str | None = setting(None, "run or step whose weights a new run starts from")
    checkpoints: str = setting("checkpoints", CHECKPOINTS)
    seed: int = setting(0, "of everything random", low=0, high=SEED)
    minutes: float | None = setting(
        None, "of work, resumed parts included, after which the run ends", "minutes", above=0,
        high=1e7,
    )  # fmt: skip
    games: int | None = number(None, "of self-play, after which the run ends", "games")
    deterministic: bool = setting(
        True, "the same seed gives the same weights, bit for bit (with budgets other than seconds)"
    )
    experiment_name: str = setting("train", "the preset's name, part of the run's")
    trust: bool = setting(False, TRUST)


@dataclass
class MatchSettings:
    game: dict[str, Any] = named("game", "the rules")
    first: PlayerSettings = group(PlayerSettings, "the player whose result is told")
    second: PlayerSettings = group(PlayerSettings, "its opponent")
    games: int = number(400, "two for each opening", "games", low=2)
    opening_plies: int = setting(
        4, "random actions before the players take over; openings never repeat", "plies", low=0,
        high=10_000,
    )  # fmt: skip
    openings: str | None = setting(
        None, "file of openings, one a line: actions, or a position; null: random ones"
    )
    balance: float | None = setting(
        None, "largest value of an opening to either player, where a win is 1, by a short search "
        "with the first one's evaluator; null: any", above=0, high=1,
    )  # fmt: skip
    balance_evaluations: int = number(200, "of that search", "evaluations")
    sprt: list[float] | None = setting(
        None, "two strengths in normalised Elo, as [0,5]: the match ends when one is accepted; "
        "looked at after each wave", low=-200, high=200,
    )  # fmt: skip
    alpha: float = setting(
        0.05, "how often an SPRT may accept the higher where the lower is true", above=0, high=0.49
    )
    beta: float = setting(0.05, "… and the lower where the higher is true", above=0, high=0.49)
    save: str | None = setting(
        None, "file to which every game is appended: .jsonl, or .sgf, .pgn, .pdn of games that "
        "have them",
    )  # fmt: skip
    games_in_step: int = setting(128, "at once", "games", low=1, high=1_000_000)
    threads: int = setting(2, "of the searches", "threads", low=1, high=1024)
    layout: LayoutSettings = group(LayoutSettings, "which processes play")
    seed: int = setting(0, "of openings and players", low=0, high=SEED)
    checkpoints: str = setting("checkpoints", CHECKPOINTS)
    trust: bool = setting(False, TRUST)


@dataclass
class EngineSettings:
    """Of every command behind which an engine stands."""

    game: dict[str, Any] = named("game", "the rules")
    search: dict[str, Any] = named("search", "the program's search")
    checkpoint: str | None = setting(
        None, "short for evaluator: a run's folder, a step's folder, or latest"
    )
    evaluator: str = setting(
        "rollout", "f_θ: a run, a step, latest, an export as PATH:FORMAT, rollout, zero or hash"
    )
    checkpoints: str = setting("checkpoints", CHECKPOINTS)
    resolved: str | None = setting(
        None, "file of `solve --out`: what it proves is known to the search"
    )
    runtime: str = setting(
        "auto", "what computes the network of a checkpoint; auto: tflite on a processor where it "
        "is installed, which answers soonest", choices=("auto", "tensorflow", "tflite",
        "tflite_int8"),
    )  # fmt: skip
    evaluations: int | None = number(None, "an action", "evaluations")
    seconds: float | None = setting(2.0, "an action", "seconds", above=0, high=1e9)
    threads: int = setting(1, "of the search", "threads", low=1, high=1024)
    trust: bool = setting(False, TRUST)


@dataclass
class PlaySettings(EngineSettings):
    first: str = setting("me", "who begins", choices=("me", "you"))
    seat: int | None = setting(
        None, "which player you are, 1 the first; null: by who begins", low=1, high=6
    )
    replay: str | None = setting(
        None, "file of saved games (.jsonl), one of which is shown; null: a new game"
    )
    game_number: int = number(1, "which game of that file")


@dataclass
class AnalysisSettings(EngineSettings):
    pending: int = setting(1000, "that wait at most", "requests", low=1, high=1_000_000)
    engines: int = setting(
        4, "kept with their trees, one for each game that is asked for", "engines", low=1, high=1000
    )


@dataclass
class ProtocolSettings(EngineSettings):
    """Of gtp, uci, hub and aei."""

    analysis_seconds: float = setting(
        600.0, "after which an analysis without end thinks no more, though it waits to be ended",
        "seconds", above=0, high=1e9,
    )  # fmt: skip


@dataclass
class ServeSettings(EngineSettings):
    evaluations: int | None = number(
        2000, "an action, until the visitor says otherwise", "evaluations"
    )
    seconds: float | None = setting(10.0, "an action, at most", "seconds", above=0, high=3600)
    saved: str | None = setting(
        None, "file of saved games, or folder with such files, that visitors may browse"
    )
    most_evaluations: int = number(200_000, "an action, that a visitor may ask for", "evaluations")
    analysis_seconds: float = setting(
        60.0, "that one state is analysed, at most", "seconds", above=0, high=3600
    )
    host: str = setting(
        "127.0.0.1",
        "address to listen on; 0.0.0.0 is every one that the machine has, for all who reach it",
    )
    port: int = setting(8470, "to listen on; 0 any that is free", low=0, high=65535)
    names: list[str] = setting([], "names of this machine besides localhost that browsers may use")
    visitors: int = setting(32, "at once", "visitors", low=1, high=10_000)
    thoughts: int | None = number(
        None, "at once, of all visitors; null: as many as cores", "thoughts"
    )
    memory_mb: float = setting(
        64.0, "of each search; a visitor has one or two", "MB", low=1, high=1e6
    )
    messages: int = setting(
        20, "a second that a visitor may send for long; who floods is sent away", "messages", low=1,
        high=10_000,
    )  # fmt: skip
    idle_minutes: float = setting(
        30.0, "after which a visitor who says nothing has to leave", "minutes", above=0, high=1e6
    )


@dataclass
class SolveSettings:
    game: dict[str, Any] = named("game", "the rules")
    search: dict[str, Any] = named("search", "the search")
    heuristic: HeuristicSettings = group(HeuristicSettings, "the terminal evaluation f_t")
    start: str = setting("", "actions from the initial state, separated by blanks")
    evaluator: str = setting(
        "rollout", "f_θ: a run, a step, latest, an export as PATH:FORMAT, rollout, zero or hash"
    )
    checkpoints: str = setting("checkpoints", CHECKPOINTS)
    resolved: str | None = setting(
        None, "file of `solve --out`: what it proves is known to the search"
    )
    strong: bool = setting(False, "every reachable state, not only enough for the first")
    seed: int = setting(0, "of ties and rollouts", low=0, high=SEED)
    seconds: float | None = setting(None, "in all", "seconds", above=0, high=1e9)
    iterations: int | None = number(None, "in all", "iterations")
    trust: bool = setting(False, TRUST)


@dataclass
class CheckSettings:
    game: dict[str, Any] = named("game", "the rules")
    games: int = setting(20, "played at random", "games", low=1, high=1_000_000)
    seconds: float | None = setting(
        None, "after which no other game is begun", "seconds", above=0, high=1e9
    )
    seed: int = setting(0, "of the games", low=0, high=SEED)


FORMATS = ("saved_model", "tflite", "tflite_int8", "onnx", "keras")


@dataclass
class ExportSettings:
    game: dict[str, Any] = named("game", "whose latest run it is", optional=True)
    checkpoint: str = setting("latest", "run folder, step folder or latest")
    checkpoints: str = setting("checkpoints", CHECKPOINTS)
    formats: list[str] = setting(list(FORMATS), "which ones to write", choices=FORMATS, empty=False)
    out: str | None = setting(None, "folder; null makes export_<n> in the run; <out>.zip beside it")
    vectors: int = setting(
        256, "with expected values, for tests of what loads it", "states", low=1, high=1_000_000
    )
    calibration_states: int = setting(
        4096, "of the run's replay, whose values the int8 scales cover", "states", low=1,
        high=10_000_000,
    )  # fmt: skip
    tolerance: float = setting(
        1e-4, "largest difference from the checkpoint, of values in [-1, 1]", above=0, high=2
    )
    int8_tolerance: float = setting(0.2, "the same for tflite_int8", above=0, high=2)
    trust: bool = setting(False, TRUST)


@dataclass
class BenchSettings:
    game: dict[str, Any] = named("game", "the rules; bench rules: `all` for every config")
    search: dict[str, Any] = named("search", "the search")
    heuristic: HeuristicSettings = group(HeuristicSettings, "the terminal evaluation f_t")
    network: NetworkSettings = group(NetworkSettings, "the value network f_θ")
    exploration: ExplorationSettings = group(ExplorationSettings, "which action self-play plays")
    seconds: float = setting(
        1.0, "a measurement; the best of `repeats` counts", "seconds", above=0, high=1e6
    )
    repeats: int = setting(5, "of each measurement", "times", low=1, high=10_000)
    games: int = setting(64, "in step", "games", low=1, high=1_000_000)
    threads: int = setting(2, "the largest number of them", "threads", low=1, high=1024)
    peers: bool = setting(True, "also time OpenSpiel in the same run where it is installed")
    evaluator: str = setting(
        "", "of bench search and selfplay, any evaluator; empty: hash, and a new network"
    )
    checkpoint: str | None = setting(
        None, "bench evaluator: run folder, step folder or latest; null takes a new `network`"
    )
    checkpoints: str = setting("checkpoints", CHECKPOINTS)
    formats: list[str] = setting(
        ["tflite_int8", "tflite", "onnx", "saved_model"], "of bench evaluator, beside the "
        "trainer's own call", choices=FORMATS, empty=False,
    )  # fmt: skip
    batches: list[int] = setting(
        [1, 64, 1024, 8192], "of bench evaluator", "states", low=1, high=1_000_000, empty=False
    )
    device_batch_microseconds: float = setting(
        200.0, "bench device: of a batch, besides its states", "microseconds", low=0, high=1e9
    )
    device_state_microseconds: float = setting(
        1.0, "bench device: of each state in a batch", "microseconds", low=0, high=1e9
    )
    trust: bool = setting(False, TRUST)
    # After `games` and `threads`, which its config takes over: what is wrong is said of them.
    self_play: SelfPlaySettings = group(SelfPlaySettings, "games that the search plays with itself")


@dataclass
class DoctorSettings:
    game: dict[str, Any] = named("game", "the rules")
    search: dict[str, Any] = named("search", "the search of self-play")
    heuristic: HeuristicSettings = group(HeuristicSettings, "the terminal evaluation f_t")
    network: NetworkSettings = group(NetworkSettings, "the value network f_θ")
    exploration: ExplorationSettings = group(ExplorationSettings, "which action self-play plays")
    replay: ReplaySettings = group(ReplaySettings, "the memory of finished games")
    self_play: SelfPlaySettings = group(SelfPlaySettings, "games that the search plays with itself")
    learn: LearnSettings = group(LearnSettings, "fitting the network to the labels")
    games: int = number(10_000, "whose time is foretold", "games")
    seconds: float = setting(0.4, "of each measurement", "seconds", above=0, high=1e6)
    checkpoints: str = setting("checkpoints", CHECKPOINTS)


COMMANDS: dict[str, type[Any]] = {
    "train": TrainSettings,
    "match": MatchSettings,
    "play": PlaySettings,
    "analysis": AnalysisSettings,
    "gtp": ProtocolSettings,
    "uci": ProtocolSettings,
    "hub": ProtocolSettings,
    "aei": ProtocolSettings,
    "serve": ServeSettings,
    "solve": SolveSettings,
    "check": CheckSettings,
    "export": ExportSettings,
    "bench": BenchSettings,
    "doctor": DoctorSettings,
}
