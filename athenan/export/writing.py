"""Export: the network of a checkpoint in formats that need no athenan, each compared with it."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from athenan import __version__, _core
from athenan.backend import quiet, tensorflow
from athenan.checkpoint import find_step
from athenan.config import plain
from athenan.errors import Failed, InputError
from athenan.evaluators import CheckpointEvaluator
from athenan.export.bundle import FACTS, VERSION
from athenan.export.lite import write_lite
from athenan.export.onnx_file import write_onnx
from athenan.export.operations import Array, operations_of, ranges_of
from athenan.export.readme import readme
from athenan.export.runtimes import FORMATS, load_network, require
from athenan.files import checksum
from athenan.games import fingerprint, import_game, is_same_name
from athenan.records import unpack
from athenan.replay_files import planes_of
from athenan.run import git_revision
from athenan.search import make_terminal_evaluation, num_places, values_children
from athenan.settings import ExportSettings


@dataclass
class Exported:
    folder: Path
    archive: Path
    computing: str = ""  # what compared the formats with the checkpoint
    calibration: str = ""
    # Of each format.
    differences: dict[str, float] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)  # bytes


def export(config: ExportSettings) -> Exported:
    """Writes the bundle and its archive whole or not at all."""
    check_formats(config.formats)
    game = config.game.get("name")
    if game and ":" in game:
        import_game(game)  # the user's own, which the checkpoint may then name
    step = find_step(config.checkpoint, Path(config.checkpoints), game)
    evaluator = CheckpointEvaluator(step, config.trust)
    if game and not is_same_name(evaluator.config.game["name"], game):
        raise InputError(f"Checkpoint '{evaluator.step}' is of {plain(evaluator.config.game)}.")
    out = Path(config.out) if config.out else default_out(evaluator)
    if out.exists():
        raise InputError(f"'{out}' exists; give another place by out=….")
    archive = out.with_name(out.name + ".zip")
    if archive.exists():
        raise InputError(f"'{archive}' exists; give another place by out=….")
    out.parent.mkdir(parents=True, exist_ok=True)
    beside = out.with_name(f".{out.name}.tmp")
    packed = out.with_name(f".{archive.name}.tmp")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir()
        exported = Exported(out, archive, evaluator.computing)
        write_bundle(beside, evaluator, config, exported)
        pack(beside, packed, out.name)
        os.replace(beside, out)
        os.replace(packed, archive)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
        packed.unlink(missing_ok=True)
    return exported


def check_formats(formats: list[str]) -> None:
    for name in formats:
        require(name, writing=True)


def default_out(evaluator: CheckpointEvaluator) -> Path:
    """In the run, beside the checkpoint."""
    return evaluator.step.parent / f"export_{evaluator.step.name.removeprefix('step_')}"


def write_bundle(
    folder: Path, evaluator: CheckpointEvaluator, config: ExportSettings, exported: Exported
) -> None:
    planes, states = played_states(evaluator.game, evaluator, config.vectors, seed=0)
    values = evaluator(planes)
    formats = config.formats
    samples = planes
    if "tflite_int8" in formats:
        samples, exported.calibration = calibration_states(evaluator, config.calibration_states)
    write_networks(folder, evaluator.model, formats, samples)
    for name in formats:
        answers = load_network(name, folder)(planes)
        assert answers.shape == values.shape
        difference = float(np.abs(answers - values).max())
        tolerance = config.int8_tolerance if name == "tflite_int8" else config.tolerance
        if not difference <= tolerance:  # also where it is not a number
            raise Failed(
                f"Format '{name}' differs from the checkpoint by {difference:.2g}, "
                f"more than {tolerance:g}; nothing was written."
            )
        exported.differences[name] = difference
        exported.sizes[name] = size_of(folder / FORMATS[name].file)
    np.savez(folder / "vectors.npz", planes=planes, values=values)
    for state, value in zip(states, values.tolist(), strict=True):
        state["value"] = value
    (folder / "states.json").write_text(json.dumps(states, indent=1, ensure_ascii=False))
    facts = facts_of(evaluator, exported)
    (folder / "README.md").write_text(readme(facts))
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    facts["files"] = {str(path.relative_to(folder)): checksum(path) for path in files}
    (folder / FACTS).write_text(json.dumps(facts, indent=1, ensure_ascii=False))


def write_networks(folder: Path, model: Any, formats: list[str], samples: Array) -> None:
    """The network's files; int8 covers what its operations answer on the samples."""
    for name in formats:
        path = folder / FORMATS[name].file
        if name == "saved_model":
            save_model(model, path)
        elif name == "keras":
            model.save(path)
        else:
            operations = operations_of(model)
            if name == "onnx":
                path.write_bytes(write_onnx(operations))
            else:
                int8 = name == "tflite_int8"
                ranges = ranges_of(model, operations, samples) if int8 else None
                path.write_bytes(write_lite(operations, ranges))


def size_of(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def save_model(model: Any, path: Path) -> None:
    """With a signature that takes any number of planes as they are."""
    tf = tensorflow()
    module = tf.Module()
    module.weights = [weight.value for weight in model.weights]

    def serve(planes: Any) -> Any:
        values = model(tf.cast(planes, tf.float32), training=False)
        return {"values": values[:, 0] if values.shape[1] == 1 else values}

    planes = tf.TensorSpec((None, *model.input_shape[1:]), tf.uint8, "planes")
    module.serve = tf.function(serve, input_signature=[planes])
    with quiet():
        tf.saved_model.save(module, str(path), signatures={"serving_default": module.serve})


def played_states(
    game: _core.Game, evaluator: Any, number: int, seed: int
) -> tuple[Array, list[dict[str, Any]]]:
    """Different states of games in which half of the actions are the network's best and half are
    random: their planes, and how to get there."""
    random = np.random.default_rng([seed, 6])
    found: dict[int, tuple[Array, dict[str, Any]]] = {}
    fruitless = 0
    while len(found) < number and fruitless < 100:  # a small game may not have so many
        before = len(found)
        state, words = game.initial_state(), list[str]()
        while not state.is_terminal and len(found) < number:
            text = {"actions": " ".join(words), "text": str(state), "to_move": state.to_move}
            found.setdefault(state.key, (state.planes(), text))
            actions = state.legal_actions()
            action = int(random.choice(actions))
            if random.random() < 0.5:
                values = values_of_children(game, evaluator, state, actions)
                mine = values[:, state.to_move] if values.ndim == 2 else values
                sign = -1 if values.ndim == 1 and state.to_move == 1 else 1
                action = actions[int(np.argmax(sign * mine))]
            words.append(state.action_to_string(action))
            state = state.play(action)
        fruitless = 0 if len(found) > before else fruitless + 1
    return np.stack([planes for planes, _ in found.values()]), [t for _, t in found.values()]


def values_of_children(
    game: _core.Game, evaluator: Any, state: _core.State, actions: list[int]
) -> Array:
    """By these actions."""
    if values_children(evaluator):
        values: Array = np.reshape(evaluator(state.planes()[None]), -1)
        values = values[np.array(game.action_places)[actions]]
    else:
        values = evaluator(np.stack([state.play(action).planes() for action in actions]))
    return values


def calibration_states(evaluator: CheckpointEvaluator, number: int) -> tuple[Array, str]:
    """Planes of the run's replay, the newest first, or of games by the network without one."""
    shape = evaluator.game.plane_shape
    packed: list[Array] = []
    for name, _ in reversed(evaluator.state.get("replay_files", [])):
        path = evaluator.step.resolve().parent / "replay" / name
        if path.exists() and sum(map(len, packed)) < 4 * number:
            packed.append(planes_of(path))
    if not packed:
        planes, _ = played_states(evaluator.game, evaluator, number, seed=1)
        return planes, f"{len(planes)} states of new games, the run having no replay"
    rows = np.concatenate(packed)
    chosen = np.random.default_rng([0, 7]).permutation(len(rows))[:number]
    return unpack(rows[chosen], shape), f"{len(chosen)} states of the run's replay"


def facts_of(evaluator: CheckpointEvaluator, exported: Exported) -> dict[str, Any]:
    """evaluator.json, but for the checksums."""
    game, config, state = evaluator.game, evaluator.config, evaluator.state
    one_number = game.value_width == 1
    bound = make_terminal_evaluation(game, **evaluator.heuristic).bound
    shape, meaning = "batch", "times the bound: the heuristic's value of the game's end"
    if not one_number:
        shape = f"batch, {game.num_players} players"
    children: dict[str, Any] = {}
    if evaluator.of_children:
        shape = f"batch, {num_places(game)} places"
        meaning += (
            ", of the child that the action at each place leads to; only those of legal actions "
            "mean anything, and a state's own value is the best of them for the mover"
        )
        children = {
            "of_children": True,
            "places": "cells of the planes, row * columns + column, then other_actions",
            "other_actions": list(game.other_actions),
            "action_places": list(game.action_places),
        }
    return {
        "version": VERSION if evaluator.of_children else 1,
        "game": plain(config.game),
        "rules": {"name": game.name, "fingerprint": fingerprint(game)},
        "planes": {
            "shape": list(game.plane_shape),
            "layout": "batch, rows, columns, channels",
            "type": "uint8, 0 or 1",
            "channels": list(game.channels),
        },
        "values": {
            "shape": shape,
            "range": [-1, 1],
            "view": "first player" if one_number else "each player's own",
            "heuristic": plain(config.heuristic),
            "bound": bound,
            "meaning": meaning,
            **children,
        },
        "network": {**plain(config.network), "weights": int(evaluator.model.count_params())},
        "training": {
            "run": evaluator.step.resolve().parent.name,
            "checkpoint": evaluator.step.name,
            **{key: state[key] for key in ("games", "steps", "samples", "seconds")},
            "by": (evaluator.step / "config.yaml").read_text().splitlines()[0].lstrip("# "),
        },
        "athenan": {"version": __version__, "git_revision": git_revision()},
        "calibration": exported.calibration or None,
        "formats": {
            name: {
                "path": FORMATS[name].file,
                "bytes": exported.sizes[name],
                "largest_difference": difference,
            }
            for name, difference in exported.differences.items()
        },
    }


def pack(folder: Path, archive: Path, name: str) -> None:
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(folder.rglob("*")):
            file.write(path, Path(name) / path.relative_to(folder))
