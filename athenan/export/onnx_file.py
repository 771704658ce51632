"""The network as an ONNX file: planes as they are (uint8, any batch) to values."""

from __future__ import annotations

from typing import Any

import numpy as np

from athenan.export.operations import Array, Operation

OPSET, IR_VERSION = 17, 8  # of 2022: every runtime that is still used reads them
NAMES = {"add": "Add", "mean": "GlobalAveragePool", "maximum": "GlobalMaxPool"}


def write_onnx(operations: list[Operation]) -> bytes:
    """Convolutions have channels first in ONNX, so the board is turned before and after them."""
    from onnx import TensorProto, checker, helper, numpy_helper

    nodes: list[Any] = []
    weights: list[Any] = []

    def add(kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def constant(name: str, array: Array) -> str:
        weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def activated(name: str, operation: Operation) -> str:
        if operation.activation == "linear":
            return name
        if operation.activation == "relu6":
            bounds = [constant(f"{name}_{b}", np.array(b, np.float32)) for b in (0, 6)]
            return add("Clip", [name, *bounds], f"{name}_relu6")
        kind = {"relu": "Relu", "tanh": "Tanh"}[operation.activation]
        return add(kind, [name], f"{name}_{operation.activation}")

    planes = operations[0].shape
    floats = add("Cast", ["planes"], "floats", to=TensorProto.FLOAT)
    names = [add("Transpose", [floats], "board", perm=[0, 3, 1, 2])]
    for number, operation in enumerate(operations[1:], 1):
        inputs = [names[i] for i in operation.inputs]
        name = f"{operation.kind}_{number}"
        if operation.kind == "flatten":
            turned = add("Transpose", inputs, f"turned_{number}", perm=[0, 2, 3, 1])
            add("Flatten", [turned], name, axis=1)
        elif operation.kind == "concatenation":
            add("Concat", inputs, name, axis=1)
        elif operation.kind in NAMES:
            add(NAMES[operation.kind], inputs, name)
        else:
            bias = constant(f"bias_{number}", operation.bias)
            if operation.kind == "convolution":
                kernel = constant(f"kernel_{number}", operation.kernel.transpose(3, 2, 0, 1))
                add("Conv", [*inputs, kernel, bias], name, auto_pad="SAME_UPPER")
            else:
                kernel = constant(f"kernel_{number}", operation.kernel)
                add("Gemm", [*inputs, kernel, bias], name)
        names.append(activated(name, operation))
    single = operations[-1].shape == (1,)
    shape = [-1] if single else [-1, *operations[-1].shape]
    add("Reshape", [names[-1], constant("shape", np.array(shape, np.int64))], "values")
    graph = helper.make_graph(
        nodes,
        "value_network",
        [helper.make_tensor_value_info("planes", TensorProto.UINT8, ["batch", *planes])],
        [helper.make_tensor_value_info("values", TensorProto.FLOAT, ["batch", *shape[1:]])],
        weights,
    )
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="athenan"
    )
    model.ir_version = IR_VERSION
    checker.check_model(model)
    text: bytes = model.SerializeToString()
    return text
