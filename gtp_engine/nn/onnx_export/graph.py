"""An ONNX graph under construction: adding a node or constant returns the name of its result.

    Graph        nodes and constants
    BoardGraph   with the values that depend only on the size of the board: pooling factors, rotation angles

The only module of this package that uses `onnx`, which is imported when a graph is created: playing does not need it.
The values that depend on the board are computed from `Shape` of the input.  A session that fixes the size folds them
into constants.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from gtp_engine.base.errors import ModelError
from gtp_engine.base.installation import command_with
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.katago_format.description import MIDDLE_WIDTH

Tensor: TypeAlias = str
"""The name of a node's result, of a constant or of an input."""

OPSET: Final = 18
"""Version of the operators: the first with Mish and with the axes of reductions as inputs; onnxruntime since 1.14."""
IR_VERSION: Final = 10
"""Version of the file format: the newest that onnxruntime 1.20, the oldest supported version, can read."""


class Graph:
    """Nodes and constants in the order they were added, which is a valid order of computation."""

    def __init__(self) -> None:
        try:
            import onnx.helper
            import onnx.numpy_helper
        except ImportError as error:
            raise ModelError("the package onnx is missing", advice=f"install it: {command_with('onnx')}") from error

        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: dict[tuple[bytes, str, tuple[int, ...]], Any] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def input(self, name: str, shape: Sequence[int | str]) -> Tensor:
        """Add a float32 input; a dimension given by name is free, and equal names mean equal dimensions."""
        self._inputs.append(self._description(name, shape))
        return name

    def output(self, name: str, tensor: Tensor, shape: Sequence[int | str]) -> None:
        """Make `tensor` a float32 output called `name`."""
        self._nodes.append(self._onnx.helper.make_node("Identity", [tensor], [name], name=name))
        self._outputs.append(self._description(name, shape))

    def constant(self, array: npt.ArrayLike) -> Tensor:
        """Return a constant; equal ones are stored once."""
        array = np.asarray(array, order="C")
        key = (array.tobytes(), array.dtype.str, array.shape)
        if key not in self._constants:
            name = f"constant_{len(self._constants)}"
            self._constants[key] = self._onnx.numpy_helper.from_array(array, name)
        return str(self._constants[key].name)

    def floats(self, *values: float) -> Tensor:
        """Return a float32 constant: a scalar, or a vector of several values."""
        return self.constant(np.array(values[0] if len(values) == 1 else values, np.float32))

    def integers(self, *values: int) -> Tensor:
        """Return a vector of int64, the type of shapes and axes."""
        return self.constant(np.array(values, np.int64))

    def integer(self, value: int) -> Tensor:
        """Return an int64 scalar."""
        return self.constant(np.int64(value))

    def to_float(self, tensor: Tensor) -> Tensor:
        """Return an integer tensor as float32."""
        return self.add("Cast", tensor, to=self._onnx.TensorProto.FLOAT)

    def add(self, operator: str, *inputs: Tensor, **attributes: Any) -> Tensor:
        """Add a node and return its result."""
        name = f"{operator}_{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def split(self, tensor: Tensor, sizes: Tensor, *, axis: int) -> tuple[Tensor, Tensor]:
        """Return two parts of a tensor, which have `sizes` along `axis`."""
        name = f"Split_{len(self._nodes)}"
        parts = (f"{name}_0", f"{name}_1")
        self._nodes.append(self._onnx.helper.make_node("Split", [tensor, sizes], list(parts), name=name, axis=axis))
        return parts

    def model(self, name: str, properties: dict[str, str]) -> Any:
        """Return the finished graph as an `onnx.ModelProto` with metadata `properties`."""
        helper = self._onnx.helper
        graph = helper.make_graph(self._nodes, name, self._inputs, self._outputs, list(self._constants.values()))
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(graph, producer_name="Tengen", opset_imports=[opset], ir_version=IR_VERSION)
        helper.set_model_props(model, properties)
        return model

    def _description(self, name: str, shape: Sequence[int | str]) -> Any:
        return self._onnx.helper.make_tensor_value_info(name, self._onnx.TensorProto.FLOAT, list(shape))


class BoardGraph(Graph):
    """A graph with the input `spatial` [B, planes, H, W], and numbers and tables computed from its height and width."""

    def __init__(self, planes: int) -> None:
        super().__init__()
        self.spatial = self.input("spatial", ("batch", planes, "height", "width"))
        self._turns: dict[tuple[bytes, tuple[int, ...]], tuple[Tensor, Tensor]] = {}

    @cached_property
    def sides(self) -> Tensor:
        """Height and width, int64 [2]."""
        return self.add("Slice", self.add("Shape", self.spatial), self.integers(2), self.integers(4))

    @cached_property
    def _height_and_width(self) -> tuple[Tensor, Tensor]:
        """Height and width, int64 scalars."""
        height, width = (self.add("Gather", self.sides, self.integer(index)) for index in (0, 1))
        return height, width

    @cached_property
    def _spread(self) -> Tensor:
        """(√(H·W) − 14) · 0.1: the factor of the mean in the second of three pooled values."""
        width = self.add("Sqrt", self.to_float(self.add("Mul", *self._height_and_width)))
        return self.add("Mul", self.add("Sub", width, self.floats(MIDDLE_WIDTH)), self.floats(0.1))

    @cached_property
    def _square(self) -> Tensor:
        """(√(H·W) − 14)² · 0.01 − 0.1: the factor of the mean in the third of the value head's pooled values."""
        return self.add("Sub", self.add("Mul", self._spread, self._spread), self.floats(0.1))

    def trunk_matrix(self, weights: FloatArray) -> Tensor:
        """Return the matrix [2C, O] for (mean, max) equivalent to `weights` [3C, O] for (mean, mean · spread, max).

        The second of KataGo's pooled values is the first times a number that depends only on the board's size, so
        that number can be folded into the weights.
        """
        means, spreads, maxima = np.split(weights, 3)
        combined = self._combined(means, (spreads, self._spread))
        return self.add("Concat", combined, self.constant(maxima), axis=0)

    def value_matrix(self, weights: FloatArray) -> Tensor:
        """Return the matrix [C, O] for the mean equivalent to `weights` [3C, O] for (mean, · spread, · square)."""
        means, spreads, squares = np.split(weights, 3)
        return self._combined(means, (spreads, self._spread), (squares, self._square))

    def _combined(self, matrix: FloatArray, *others: tuple[FloatArray, Tensor]) -> Tensor:
        """Return `matrix` plus the others times their factors."""
        total = self.constant(matrix)
        for other, factor in others:
            total = self.add("Add", total, self.add("Mul", self.constant(other), factor))
        return total

    def turns(self, frequencies: FloatArray) -> tuple[Tensor, Tensor]:
        """Return cosine and sine of the angle x · fx + y · fy at every point, row by row: two of [1, N, H·W, C].

        `frequencies` is [N, C, 2], (fx, fy) in radians per point.
        """
        key = frequencies.tobytes(), frequencies.shape
        if key not in self._turns:
            self._turns[key] = self._new_turns(frequencies)
        return self._turns[key]

    def _new_turns(self, frequencies: FloatArray) -> tuple[Tensor, Tensor]:
        groups, channels, _ = frequencies.shape
        rows, columns = (
            self.to_float(self.add("Range", self.integer(0), side, self.integer(1))) for side in self._height_and_width
        )
        fx, fy = (self.constant(frequencies[None, :, None, None, :, direction]) for direction in (0, 1))
        down = self.add("Mul", self.add("Reshape", rows, self.integers(1, 1, -1, 1, 1)), fy)
        across = self.add("Mul", self.add("Reshape", columns, self.integers(1, 1, 1, -1, 1)), fx)
        angles = self.add("Reshape", self.add("Add", down, across), self.integers(1, groups, -1, channels))
        return self.add("Cos", angles), self.add("Sin", angles)
