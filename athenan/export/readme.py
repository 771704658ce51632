"""The README of an export: what it is, and the few lines that run it in each format."""

from __future__ import annotations

from typing import Any

from athenan.export.runtimes import FORMATS

LITE = """\
from ai_edge_litert.interpreter import Interpreter
import numpy as np

vectors = np.load("vectors.npz")
planes = vectors["planes"]  # uint8 [batch, rows, columns, channels]
network = Interpreter("{file}", num_threads=2)
source, target = network.get_input_details()[0]["index"], network.get_output_details()[0]["index"]
network.resize_tensor_input(source, planes.shape)  # both once for each batch size
network.allocate_tensors()
network.set_tensor(source, planes)
network.invoke()
values = network.get_tensor(target)
"""
ONNX = """\
import numpy as np
import onnxruntime

vectors = np.load("vectors.npz")
planes = vectors["planes"]  # uint8 [batch, rows, columns, channels]
network = onnxruntime.InferenceSession("{file}", providers=["CPUExecutionProvider"])
values = network.run(["values"], {{"planes": planes}})[0]
"""
SAVED_MODEL = """\
import numpy as np
import tensorflow as tf

vectors = np.load("vectors.npz")
planes = vectors["planes"]  # uint8 [batch, rows, columns, channels]
network = tf.saved_model.load("{file}")
values = network.signatures["serving_default"](planes=tf.constant(planes))["values"].numpy()
"""
KERAS = """\
import keras
import numpy as np

vectors = np.load("vectors.npz")
planes = vectors["planes"]  # uint8 [batch, rows, columns, channels]
network = keras.models.load_model("{file}", compile=False)
values = np.asarray(network(planes.astype("float32"))).reshape(vectors["values"].shape)
"""
TRUST = (
    "`.tflite`, `.onnx`, `.npz` and `.json` are data; `saved_model` and `.keras` can run code when "
    "they are loaded, so take these only from whom you trust (athenan asks for `trust=true`)."
)
CHECK = 'print(float(np.abs(values - vectors["values"]).max()))  # the largest difference\n'
# What to install, and the lines.
SNIPPETS = {
    "tflite": ("ai-edge-litert", LITE),
    "tflite_int8": ("ai-edge-litert", LITE),
    "onnx": ("onnxruntime", ONNX),
    "saved_model": ("tensorflow", SAVED_MODEL),
    "keras": ("tensorflow", KERAS),
}


def readme(facts: dict[str, Any]) -> str:
    """From what evaluator.json says. Each block of Python is a whole program."""
    game, planes, values = facts["game"], facts["planes"], facts["values"]
    options = ", ".join(f"{key} {value}" for key, value in game.items() if key != "name")
    training = facts["training"]
    channels = "\n".join(f"* {i}: {text}" for i, text in enumerate(planes["channels"]))
    two = values["bound"] is not None
    scale = f", times {values['bound']:g} on its scale" if two else ""
    of_children = (
        " The values are of the state's children, one for each place: "
        f"{values['places']}"
        f"{' (' + ', '.join(values['other_actions']) + ')' if values['other_actions'] else ''}. "
        "Only those of legal actions mean anything; `action_places` in `evaluator.json` has the "
        "place of each action. A state's own value is the best of them for the mover: the largest "
        "where the first player moves, the least where the second does."
        if values.get("of_children")
        else ""
    )
    one = two and not of_children
    parts = [
        f"# Value network for {game['name']}{f' ({options})' if options else ''}\n\n"
        f"From planes `{planes['shape']}` (rows, columns, channels; zeros and ones, uint8) to "
        f"{'a value' if one else 'values'} in [-1, 1], in "
        f"{'the first player' if two else 'each player'}'s view: the expected "
        f"`{values['heuristic']['name']}` of the game's end{scale}.{of_children}\n",
        f"Trained by athenan {facts['athenan']['version']} on {training['samples']:,} samples of "
        f"{training['games']:,} games. `evaluator.json` has all facts and checksums, "
        "`vectors.npz` planes with the values that the network must answer, `states.json` the "
        'same states as text. With athenan: `athenan.load_evaluator("<this folder>")`.\n',
        f"The channels:\n\n{channels}\n",
        f"Checksums tell damage, not who wrote it. {TRUST}\n",
    ]
    for name, entry in facts["formats"].items():
        package, lines = SNIPPETS[name]
        parts.append(
            f"## {name}\n\nWith `pip install {package} numpy`, in this folder (largest difference "
            f"when it was written: {entry['largest_difference']:.2g}):\n\n"
            f"```python\n{lines.format(file=FORMATS[name].file)}{CHECK}```\n"
        )
    return "\n".join(parts)
