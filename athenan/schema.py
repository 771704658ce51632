"""The typed shape of every config, so that a misspelt key or a wrong type is refused.

Defaults with their units and sources stand in configs/*.yaml; a number here only says that the
config may leave it out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING


@dataclass
class SearchSchema:
    name: str = MISSING
    continue_rule: str = "always"
    new_states: int = 1
    stop_probability: float = 0.5
    order: str = "best"
    completion: bool = True
    decision: str = "safest"
    memory_mb: float = 1024  # 10^6 bytes for all trees: in self-play, of the games in step


@dataclass
class HeuristicSchema:
    name: str = MISSING
    longest: int = 0


@dataclass
class NetworkSchema:
    kind: str = MISSING
    filters: int = MISSING
    layers: int = MISSING
    dense: int = MISSING


@dataclass
class ExplorationSchema:
    name: str = MISSING
    schedule: str = MISSING
    exploitation: float = 0.7
    temperature: float = 0.1


@dataclass
class SelfPlaySchema:
    games_in_step: int = 64
    iterations: int | None = None
    evaluations: int | None = None
    seconds: float | None = None
    target: str = "tree"
    threads: int = 2
    batch_sizes: list[int] = field(default_factory=lambda: [64, 128, 256, 512, 1024, 2048, 4096])


@dataclass
class PlayerSchema:
    checkpoint: str | None = None
    evaluator: str = "rollout"
    search: str = "ubfm"
    iterations: int | None = None
    evaluations: int | None = None
    seconds: float | None = None
    decision: str = "safest"
    completion: bool = True
    uct_exploration: float = 1.0  # λ of uct, for outcomes in [-1, 1]
    memory_mb: float = 64  # 10^6 bytes for the tree of one game


@dataclass
class ReplaySchema:
    name: str = MISSING
    games: int = MISSING
    uses: float = MISSING
    states: int = MISSING


@dataclass
class LayoutSchema:
    name: str = MISSING


@dataclass
class LearnSchema:
    batch_size: int = 256
    learning_rate: float = 1e-3
    schedule: str = "constant"
    final_share: float = 0.1
    l2: float = 1e-5
    symmetries: bool = True
    held_out_every: int = 20
    first_fit_states: int = 0
    first_fit_epochs: int = 1
    mixed_precision: bool = False


@dataclass
class ResolvedSchema:
    states: int = 1_000_000
    clear_every_games: int = 0


@dataclass
class CheckpointSchema:
    every_games: int = 500
    keep: int = 3


@dataclass
class StrengthSchema:
    every_checkpoints: int = 1
    games: int = 40
    opening_plies: int = 4
    evaluations: int = 200
    references: dict[str, PlayerSchema] = field(default_factory=dict)
    best_by: str = "uct"
    earlier: bool = True
    most_share: float = 0.1


@dataclass
class TrainSchema:
    game: dict[str, Any] = field(default_factory=dict)
    search: SearchSchema = field(default_factory=SearchSchema)
    heuristic: HeuristicSchema = field(default_factory=HeuristicSchema)
    network: NetworkSchema = field(default_factory=NetworkSchema)
    exploration: ExplorationSchema = field(default_factory=ExplorationSchema)
    replay: ReplaySchema = field(default_factory=ReplaySchema)
    layout: LayoutSchema = field(default_factory=LayoutSchema)
    self_play: SelfPlaySchema = field(default_factory=SelfPlaySchema)
    learn: LearnSchema = field(default_factory=LearnSchema)
    resolved: ResolvedSchema = field(default_factory=ResolvedSchema)
    checkpoint: CheckpointSchema = field(default_factory=CheckpointSchema)
    strength: StrengthSchema = field(default_factory=StrengthSchema)
    run: str | None = None
    resume: str | None = None
    fork: str | None = None
    checkpoints: str = "checkpoints"
    seed: int = 0
    minutes: float | None = None
    games: int | None = None
    deterministic: bool = True
    experiment_name: str = "train"


@dataclass
class PlaySchema:
    game: dict[str, Any] = field(default_factory=dict)
    checkpoint: str | None = None
    checkpoints: str = "checkpoints"
    evaluator: str = "rollout"
    first: str = "me"
    search: str = "ubfm"
    decision: str = "safest"
    evaluations: int | None = None
    seconds: float | None = None
    threads: int = 1


@dataclass
class MatchSchema:
    game: dict[str, Any] = field(default_factory=dict)
    games: int = 400
    opening_plies: int = 4
    games_in_step: int = 128
    threads: int = 2
    seed: int = 0
    checkpoints: str = "checkpoints"
    first: PlayerSchema = field(default_factory=PlayerSchema)
    second: PlayerSchema = field(default_factory=PlayerSchema)


@dataclass
class ExportSchema:
    game: dict[str, Any] = field(default_factory=dict)
    checkpoint: str = "latest"
    checkpoints: str = "checkpoints"
    formats: list[str] = field(default_factory=list)
    out: str | None = None
    vectors: int = 256
    calibration_states: int = 4096
    tolerance: float = 1e-4
    int8_tolerance: float = 0.2


@dataclass
class SolveSchema:
    game: dict[str, Any] = field(default_factory=dict)
    search: SearchSchema = field(default_factory=SearchSchema)
    heuristic: HeuristicSchema = field(default_factory=HeuristicSchema)
    start: str = ""
    evaluator: str = "rollout"
    strong: bool = False
    seed: int = 0
    seconds: float | None = None
    iterations: int | None = None


@dataclass
class BenchSchema:
    game: dict[str, Any] = field(default_factory=dict)
    search: SearchSchema = field(default_factory=SearchSchema)
    heuristic: HeuristicSchema = field(default_factory=HeuristicSchema)
    network: NetworkSchema = field(default_factory=NetworkSchema)
    exploration: ExplorationSchema = field(default_factory=ExplorationSchema)
    self_play: SelfPlaySchema = field(default_factory=SelfPlaySchema)
    seconds: float = 1.0
    repeats: int = 5
    games: int = 64
    threads: int = 2
    peers: bool = True
    checkpoint: str | None = None
    checkpoints: str = "checkpoints"
    formats: list[str] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)


def register() -> None:
    """Makes the schemas known to Hydra under `<command>_schema`."""
    store = ConfigStore.instance()
    for name, node in (
        ("train", TrainSchema),
        ("match", MatchSchema),
        ("play", PlaySchema),
        ("solve", SolveSchema),
        ("export", ExportSchema),
        ("bench", BenchSchema),
    ):
        store.store(name=f"{name}_schema", node=node)
