"""Networks in formats that need no athenan.

operations  a network as a list of plain operations
lite        … as a .tflite file, float32 or int8
onnx_file   … as an .onnx file
runtimes    the exported formats, each in its own runtime
bundle      an export on disk, and its evaluator
readme      the text that explains an export to its user
writing     writing one, each format compared with the checkpoint

Reading an export is offered here; writing is imported by its own name, since it stands on the
evaluators of checkpoints, and these on reading.
"""

from athenan.export.bundle import BundleEvaluator, is_bundle, load_bundle

__all__ = ["BundleEvaluator", "is_bundle", "load_bundle"]
