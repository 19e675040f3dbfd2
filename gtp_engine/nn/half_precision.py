"""Networks in half precision (float16), for graphics cards: made in memory from a file in float32.

What depends on the planes is calculated in half, apart from means over a board or over channels and what follows from
those alone.  A sum of squares would soon exceed 65504, float16's largest number.  So the branches that see the whole
board, most of the value head and what is calculated from the shape of the board stay in float32; they are a small part
of the work.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_PLANES: Final = "spatial"
"""The input whose values are made half; see `metadata`."""

_EXACT: Final = frozenset({"Pow", "ReduceMean", "ReduceSum", "Sqrt", "Div"})
"""Operators that calculate in float32 whatever they are given."""

_LARGEST: Final = float(np.finfo(np.float16).max)
_TYPES: Final = {"half": TensorProto.FLOAT16, "float": TensorProto.FLOAT}


def in_half_precision(path: Path) -> bytes:
    """Return the network of an ONNX file in half precision, as an ONNX file with the same inputs and outputs."""
    model = onnx.load(path)
    graph = _HalfGraph(model.graph)
    nodes = [node for original in model.graph.node for node in graph.converted(original)]
    del model.graph.node[:], model.graph.value_info[:]
    model.graph.node.extend(nodes)
    model.graph.initializer.extend(graph.constants)
    used = {name for node in nodes for name in node.input}
    for entry in [entry for entry in model.graph.initializer if entry.name not in used]:
        model.graph.initializer.remove(entry)
    content: bytes = model.SerializeToString()
    return content


class _HalfGraph:
    """The tensors of a graph by kind: "float", "half", or "" for integers."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self.constants: Final[list[onnx.TensorProto]] = []
        """Half copies of constants, to be added to the graph."""
        self._initializers: Final = {entry.name: entry for entry in graph.initializer}
        self._outputs: Final = {entry.name for entry in graph.output}
        floats = [*(entry.name for entry in graph.initializer if entry.data_type == TensorProto.FLOAT)]
        self._kinds = dict.fromkeys([*floats, *(entry.name for entry in graph.input)], "float")
        self._made: set[str] = set()

    def converted(self, node: onnx.NodeProto) -> Sequence[onnx.NodeProto]:
        """Return the nodes that replace a node; their names and those of its outputs stay."""
        is_half = node.op_type not in _EXACT and any(
            name == _PLANES or self._kinds.get(name) == "half" for name in node.input
        )
        kind = "half" if is_half else "float"
        casts: list[onnx.NodeProto] = []
        for i, name in enumerate(node.input):
            if self._kinds.get(name) and self._kinds[name] != kind:
                node.input[i] = self._as(kind, name, casts)
        found = [self._kinds.get(name, "") for name in node.input]
        result = kind if "float" in found or is_half else ""
        if node.op_type in ("Shape", "Cast"):  # neither has an input in half
            to_float = any(entry.name == "to" and entry.i == TensorProto.FLOAT for entry in node.attribute)
            result = "float" if to_float else ""
        self._kinds.update(dict.fromkeys(node.output, result))
        if result == "half" and self._outputs.intersection(node.output):
            (name,) = node.output
            node.output[0] = f"{name}_half"
            return [*casts, node, helper.make_node("Cast", [node.output[0]], [name], to=TensorProto.FLOAT)]
        return [*casts, node]

    def _as(self, kind: str, name: str, casts: list[onnx.NodeProto]) -> str:
        """Return the name of a tensor in another kind; what makes it is added to `casts` or to the constants."""
        made = f"{name}_{kind}"
        if made not in self._made:
            self._made.add(made)
            self._kinds[made] = kind
            if name in self._initializers:
                array = numpy_helper.to_array(self._initializers[name]).clip(-_LARGEST, _LARGEST)
                self.constants.append(numpy_helper.from_array(array.astype(np.float16), made))
            else:
                casts.append(helper.make_node("Cast", [name], [made], to=_TYPES[kind]))
        return made
