"""The network as a .tflite file: float32, or int8 with the last layers in float32.

Both take the planes as they are (uint8, any batch after `resize_tensor_input`). The only shape that
depends on the batch is written as -1, so that XNNPACK takes the whole graph. In int8 the planes are
exact (scale 1), kernels have a scale for each output, and the layers that give values, which cost
nearly nothing, stay in float32: an int8 value would have 256 levels, too few to order actions by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from athenan.export.operations import Array, Operation, Range


def write_lite(operations: list[Operation], ranges: list[Range] | None = None) -> bytes:
    """A TensorFlow Lite flatbuffer; int8 where the `ranges` of the operations' answers on states of
    real games are given."""
    return _Writer(operations, ranges).bytes()


class _Writer:
    def __init__(self, operations: list[Operation], ranges: list[Range] | None) -> None:
        from ai_edge_litert import schema_py_generated as schema

        self.schema: Any = schema
        self.ranges = ranges
        self.codes: list[Any] = []
        self.buffers: list[Any] = [schema.BufferT()]
        self.tensors: list[Any] = []
        self.operators: list[Any] = []
        self.planes = self.tensor("planes", "UINT8", operations[0].shape, (1.0, 0))
        # Number of the operation -> its tensor.
        self.made: list[int] = [self.start(operations[0])]
        for number in range(1, len(operations)):
            self.made.append(self.operation(number, operations[number]))
        self.values = self.made[-1]
        if operations[-1].shape == (1,):
            self.values = self.tensor("value", "FLOAT32", ())
            self.reshape(self.made[-1], self.values, [-1])

    # ---- Operations -------------------------------------------------------------------

    def start(self, planes: Operation) -> int:
        if self.ranges is None:
            made = self.tensor("start", "FLOAT32", planes.shape)
            self.add("CAST", [self.planes], made)
        else:
            made = self.tensor("start", "INT8", planes.shape, (1.0, -128))
            self.add("QUANTIZE", [self.planes], made)
        return made

    def operation(self, number: int, operation: Operation) -> int:
        inputs = [self.made[i] for i in operation.inputs]
        quantised = self.ranges is not None and operation.activation != "tanh"
        if operation.kind == "flatten":
            made = self.like(inputs[0], f"flat_{number}", operation.shape)
            self.reshape(inputs[0], made, [-1, *operation.shape])
            return made
        if operation.kind == "maximum":
            made = self.like(inputs[0], f"maximum_{number}", operation.shape)
            self.maximum(inputs[0], made)
            return made
        if operation.kind == "concatenation":
            options = self.schema.ConcatenationOptionsT()
            options.axis = 1
            made = self.tensor(str(number), "FLOAT32", operation.shape)
            self.add("CONCATENATION", inputs, made, options)
            return made
        if quantised:
            made = self.tensor(str(number), "INT8", operation.shape, self.grid(number))
        else:
            inputs = [self.floats(tensor) for tensor in inputs]
            made = self.tensor(str(number), "FLOAT32", operation.shape)
        fused = getattr(self.schema.ActivationFunctionType, FUSED[operation.activation])
        if operation.kind == "add":
            options = self.schema.AddOptionsT()
            self.add("ADD", inputs, made, options, fused)
        elif operation.kind == "mean":
            options = self.schema.ReducerOptionsT()
            options.keepDims = True
            axes = self.constant("axes", np.array([1, 2], np.int32))
            self.add("MEAN", [*inputs, axes], made, options)
        elif operation.kind == "convolution":
            options = self.schema.Conv2DOptionsT()
            options.strideH = options.strideW = 1
            options.padding = self.schema.Padding.SAME
            kernel = operation.kernel.transpose(3, 0, 1, 2)
            inputs += self.weights(number, inputs[0], kernel, operation.bias, quantised)
            self.add("CONV_2D", inputs, made, options, fused)
        else:
            options = self.schema.FullyConnectedOptionsT()
            inputs += self.weights(number, inputs[0], operation.kernel.T, operation.bias, quantised)
            self.add("FULLY_CONNECTED", inputs, made, options, fused)
        if operation.activation == "tanh":
            before, made = made, self.like(made, f"tanh_{number}", operation.shape)
            self.add("TANH", [before], made)
        return made

    def maximum(self, source: int, target: int) -> None:
        """The largest of each channel: a window over the whole board."""
        options = self.schema.Pool2DOptionsT()
        options.padding = self.schema.Padding.VALID
        options.strideH = options.strideW = 1
        options.filterHeight, options.filterWidth = self.tensors[source].shape[1:3]
        self.add("MAX_POOL_2D", [source], target, options)

    def reshape(self, source: int, target: int, shape: list[int]) -> None:
        options = self.schema.ReshapeOptionsT()
        options.newShape = shape
        self.add("RESHAPE", [source, self.constant("shape", np.array(shape, np.int32))],
                 target, options)  # fmt: skip

    def floats(self, tensor: int) -> int:
        if self.tensors[tensor].type != self.schema.TensorType.INT8:
            return tensor
        made = self.tensor("floats", "FLOAT32", tuple(self.tensors[tensor].shape[1:]))
        self.add("DEQUANTIZE", [tensor], made)
        return made

    def weights(
        self, number: int, source: int, kernel: Array, bias: Array, quantised: bool
    ) -> list[int]:
        """Kernel and bias; in int8 the kernel of each output is on its own grid, which is no finer
        than the bias can be written on."""
        if not quantised:
            return [
                self.constant(f"kernel_{number}", kernel),
                self.constant(f"bias_{number}", bias),
            ]
        largest = np.abs(kernel.reshape(len(kernel), -1)).max(axis=1)
        source_scale = self.tensors[source].quantization.scale[0]
        finest = np.maximum(np.abs(bias) / (2**30 * source_scale), 1e-8)
        scales = np.maximum(largest / 127, finest)
        rounded = np.round(kernel / scales.reshape(-1, *[1] * (kernel.ndim - 1)))
        products = scales * source_scale
        return [
            self.constant(f"kernel_{number}", rounded.astype(np.int8), scales),
            self.constant(f"bias_{number}", np.round(bias / products).astype(np.int32), products),
        ]

    def grid(self, number: int) -> tuple[float, int]:
        """Scale and zero point that cover the range of an operation's answers, and 0."""
        assert self.ranges is not None
        low, high = self.ranges[number]
        scale = max(high - low, 1e-6) / 255
        return scale, round(-128 - low / scale)

    # ---- The flatbuffer ---------------------------------------------------------------

    def tensor(
        self, name: str, kind: str, shape: tuple[int, ...], grid: tuple[float, int] | None = None
    ) -> int:
        """A tensor with a batch; its place in the list."""
        made = self.schema.TensorT()
        made.name, made.type = name, getattr(self.schema.TensorType, kind)
        made.shape, made.shapeSignature = [1, *shape], [-1, *shape]
        made.buffer = 0
        if grid is not None:
            made.quantization = self.quantization([grid[0]], [grid[1]])
        self.tensors.append(made)
        return len(self.tensors) - 1

    def like(self, tensor: int, name: str, shape: tuple[int, ...]) -> int:
        made = self.tensor(name, "FLOAT32", shape)
        self.tensors[made].type = self.tensors[tensor].type
        self.tensors[made].quantization = self.tensors[tensor].quantization
        return made

    def constant(self, name: str, array: Array, scales: Array | None = None) -> int:
        made, buffer = self.schema.TensorT(), self.schema.BufferT()
        kinds = {"f": "FLOAT32", "b": "INT8", "i": "INT32"}
        made.name, made.shape = name, list(array.shape)
        made.type = getattr(self.schema.TensorType, kinds[array.dtype.char])
        buffer.data = np.frombuffer(np.ascontiguousarray(array).tobytes(), np.uint8)
        made.buffer = len(self.buffers)
        self.buffers.append(buffer)
        if scales is not None:
            made.quantization = self.quantization(list(scales), [0] * len(scales))
        self.tensors.append(made)
        return len(self.tensors) - 1

    def quantization(self, scales: list[float], zero_points: list[int]) -> Any:
        made = self.schema.QuantizationParametersT()
        made.scale, made.zeroPoint = scales, zero_points
        made.quantizedDimension = 0
        return made

    def add(
        self, name: str, inputs: list[int], output: int, options: Any = None, fused: int = 0
    ) -> None:
        operator = self.schema.OperatorT()
        operator.opcodeIndex = self.code(name)
        operator.inputs, operator.outputs = inputs, [output]
        if options is not None:
            if hasattr(options, "fusedActivationFunction"):
                options.fusedActivationFunction = fused
            kind = type(options).__name__.removesuffix("T")
            operator.builtinOptionsType = getattr(self.schema.BuiltinOptions, kind)
            operator.builtinOptions = options
        self.operators.append(operator)

    def code(self, name: str) -> int:
        number = getattr(self.schema.BuiltinOperator, name)
        for place, code in enumerate(self.codes):
            if code.builtinCode == number:
                return place
        made = self.schema.OperatorCodeT()
        made.builtinCode, made.deprecatedBuiltinCode = number, min(number, 127)
        made.version = VERSIONS.get(name, 1)
        self.codes.append(made)
        return len(self.codes) - 1

    def bytes(self) -> bytes:
        import flatbuffers

        graph, model = self.schema.SubGraphT(), self.schema.ModelT()
        graph.tensors, graph.operators = self.tensors, self.operators
        graph.inputs, graph.outputs = [self.planes], [self.values]
        graph.name = "value network"
        model.version, model.description = 3, "athenan"
        model.operatorCodes, model.buffers = self.codes, self.buffers
        model.subgraphs = [graph]
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


FUSED = {"linear": "NONE", "relu": "RELU", "relu6": "RELU6", "tanh": "NONE"}
# The first versions that know int8 with a scale for each output.
VERSIONS = {"CONV_2D": 3, "FULLY_CONNECTED": 4, "ADD": 2, "QUANTIZE": 2, "DEQUANTIZE": 2,
            "MEAN": 2, "MAX_POOL_2D": 2}  # fmt: skip
