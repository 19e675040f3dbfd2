"""An ONNX graph under construction: adding a node or constant returns the name of its result.

The only module of this package that uses `onnx`, which is imported when a graph is created: playing does not need it.
"""

from collections.abc import Sequence
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from gtp_engine.errors import ModelError, problem

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
            raise ModelError(problem("the package onnx is missing", advice="install it: pip install onnx")) from error

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
