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
    memory_mb: float = 1024  # 10^6 bytes for the tree of one game


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


def register() -> None:
    """Makes the schemas known to Hydra under `<command>_schema`."""
    store = ConfigStore.instance()
    for name, node in (("solve", SolveSchema), ("bench", BenchSchema)):
        store.store(name=f"{name}_schema", node=node)
