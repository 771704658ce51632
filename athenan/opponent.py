"""The program that somebody plays against: its engine as settings say, what computes for it, and
who it is in words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from athenan import _core
from athenan.backend import gpu_driver, gpu_names
from athenan.checkpoint import runs_of
from athenan.engine import Budget, Engine
from athenan.errors import InputError
from athenan.evaluators import (
    CheckpointEvaluator,
    CheckpointFacts,
    DenseCheckpoint,
    LiteEvaluator,
    check_game,
    find_evaluator,
    find_step_of,
    is_checkpoint,
    what_computes,
)
from athenan.export.operations import operations_of, ranges_of
from athenan.export.runtimes import FORMATS, missing_package
from athenan.export.writing import calibration_states
from athenan.proofs import load_proof
from athenan.search import Evaluate, Search, make_search, search_type
from athenan.settings import EngineSettings

CALIBRATION_STATES = 1024


@dataclass
class Opponent:
    engine: Engine
    about: list[str]  # who it is, a line for each fact
    meaning: str  # of its values, for the person


def make_opponent(game: _core.Game, config: EngineSettings) -> Opponent:
    evaluator, search = find_network(game, config), config.search
    uses_evaluator = search_type(search["name"])["uses_evaluator"]
    if config.resolved is not None:
        search = {**search, "resolved": load_proof(config.resolved, game)}
    made = make_search(game=game, evaluator=evaluator, threads=config.threads, **search)
    about = [
        f"search: {search_words(search)}, {budget_words(config)}",
        f"evaluator: {evaluator_words(evaluator, game) if uses_evaluator else 'random games'}",
        f"computed by {what_computes(evaluator if uses_evaluator else 'rollout')}",
    ]
    engine = Engine(made, Budget(evaluations=config.evaluations, seconds=config.seconds))
    return Opponent(engine, about, meaning_of(made, evaluator, uses_evaluator))


def find_network(game: _core.Game, config: EngineSettings) -> str | Evaluate:
    """The evaluator; a checkpoint's by the runtime that is asked for."""
    runs = runs_of(Path(config.checkpoints), config.game["name"])
    text = config.checkpoint or config.evaluator
    if config.checkpoint is None and not is_checkpoint(text, runs):
        if config.runtime != "auto":
            raise InputError(
                f"Setting 'runtime' is for the network of a checkpoint; '{text}' is none."
            )
        return find_evaluator(text, game, runs, trust=config.trust)
    step = find_step_of(text, runs)
    facts: CheckpointFacts = CheckpointFacts(step, config.trust)
    if config.runtime == "auto" and facts.config.network.kind == "nnue":
        facts = DenseCheckpoint(step, config.trust)
    else:
        runtime = best_runtime() if config.runtime == "auto" else config.runtime
        facts = load_checkpoint(step, runtime, config.trust)
    check_game(facts, game)
    return facts


def load_checkpoint(step: Path, runtime: str, trust: bool) -> CheckpointEvaluator | LiteEvaluator:
    if runtime == "tflite":
        return LiteEvaluator(step, trust)
    evaluator = CheckpointEvaluator(step, trust)
    if runtime == "tensorflow":
        return evaluator
    states, _ = calibration_states(evaluator, CALIBRATION_STATES)
    ranges = ranges_of(evaluator.model, operations_of(evaluator.model), states)
    return LiteEvaluator(step, trust, ranges)


def best_runtime() -> str:
    """LiteRT on a processor, where it is installed: it answers small batches soonest, and exactly.
    Whether there is a GPU to use is asked of TensorFlow only where a driver shows itself."""
    lite = FORMATS["tflite"]
    if missing_package((lite.runs_with, *lite.written_with)):
        return "tensorflow"
    return "tensorflow" if gpu_driver() and gpu_names() else "tflite"


# ---- In words ----------------------------------------------------------------------------------


def search_words(search: dict[str, Any]) -> str:
    """Its name, and the options that are not the usual ones."""
    usual = {o["name"]: o["default"] for o in search_type(search["name"])["options"]}
    others = [f"{k}={v}" for k, v in search.items() if k != "name" and usual.get(k) != v]
    return " ".join([search["name"], *others])


def budget_words(config: EngineSettings) -> str:
    limits = [f"{config.seconds:g} s"] if config.seconds else []
    limits += [f"{config.evaluations:,} evaluations"] if config.evaluations else []
    return f"{' or '.join(limits)} an action" if limits else "until all is known"


def evaluator_words(evaluator: str | Evaluate, game: _core.Game) -> str:
    if isinstance(evaluator, CheckpointFacts):
        step, state = evaluator.step.resolve(), evaluator.state
        words = f"run {step.parent.name}, {step.name}: after {state['games']:,} games"
        if evaluator.game.options != game.options:  # only the board has to be the same
            words += f" of {game.name} {evaluator.game.options or 'with usual options'}"
        return words
    if isinstance(evaluator, str):
        return {"rollout": "random games", "zero": "0 for every state"}.get(evaluator, evaluator)
    return f"export {getattr(evaluator, 'path', '')}"


def meaning_of(search: Search, evaluator: str | Evaluate, uses_evaluator: bool) -> str:
    """What the values say, all in the view of the person."""
    known = getattr(evaluator, "heuristic", {}) if uses_evaluator else {}
    kinds = {
        "gain": "1 is a win, 0 a draw, -1 a loss",
        "score": "the margin in points at the end",
        "presence": "the margin in pieces at the end",
        "mobility": "a win is larger the more freely the winner moved",
    }
    what = kinds.get(known.get("heuristic", "gain"), "a win is larger the sooner it comes")
    bound = f"{search.core.bound:g}"
    return (
        f"Values are in your view, in [-{bound}, {bound}]: {what}. They are estimates, not "
        "chances; what is proven is called so."
    )
