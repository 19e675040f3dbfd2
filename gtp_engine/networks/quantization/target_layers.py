"""The layers of a graph that are worth quantizing: those on which its whole answer hangs, with constant weights.

A layer here is everything that multiplies one tensor by weights: such convolutions and products share the rounded
tensor, and so they are quantized together or not at all.

Left out are the first convolution, whose input is zeros, ones and little else, and the heads, which are a few percent
of the work: rounding the value head's input shows directly in its answer.  A head is what only some outputs hang on.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import onnx
from onnx import numpy_helper

from gtp_engine.evaluation.evaluation import FloatArray

CONVOLUTION: Final = "Conv"
PRODUCT: Final = "MatMul"


@dataclass(frozen=True)
class Product:
    """A convolution or matrix product with constant weights."""

    node: str
    """Name of its result."""
    kind: str
    """CONVOLUTION or PRODUCT."""
    weights: FloatArray
    """[O, I, taps]; a product has one tap."""
    shape: tuple[int, ...]
    """The weights' shape in the graph: [O, I, F, F], or [I, O]."""


@dataclass(frozen=True)
class Layer:
    """The convolutions and products of one tensor."""

    source: str
    """Name of the tensor."""
    products: tuple[Product, ...]

    @property
    def channel_axis(self) -> int:
        """Return the tensor's axis that the weights' inputs are."""
        return 1 if self.products[0].kind == CONVOLUTION else -1

    @property
    def work(self) -> int:
        """Return its multiplications for each point of the board."""
        return sum(product.weights.size for product in self.products)


class NetworkGraph:
    """An ONNX model, looked at."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self._constants = {entry.name: entry for entry in model.graph.initializer}
        self._outputs = frozenset(entry.name for entry in model.graph.output)
        self._inputs = {entry.name for entry in model.graph.input}
        self._reached = self._find_reached()

    def layers(self) -> list[Layer]:
        """Return the layers worth quantizing, in the graph's order."""
        found: dict[str, list[Product]] = defaultdict(list)
        for node in self.model.graph.node:
            if self._is_worth_it(node):
                found[node.input[0]].append(self._product(node))
        return [Layer(source, tuple(products)) for source, products in found.items()]

    def _is_worth_it(self, node: onnx.NodeProto) -> bool:
        return (
            node.op_type in (CONVOLUTION, PRODUCT)
            and node.input[0] not in self._inputs
            and node.input[1] in self._constants
            and self._reached[node.output[0]] == self._outputs
            and all(attribute.name != "group" or attribute.i == 1 for attribute in node.attribute)
        )

    def _product(self, node: onnx.NodeProto) -> Product:
        weights = numpy_helper.to_array(self._constants[node.input[1]])
        shape = tuple(weights.shape)
        if node.op_type == CONVOLUTION:
            return Product(node.output[0], CONVOLUTION, weights.reshape(*shape[:2], -1), shape)
        return Product(node.output[0], PRODUCT, weights.T[:, :, np.newaxis], shape)

    def _find_reached(self) -> dict[str, frozenset[str]]:
        """Return for each tensor the outputs that hang on it."""
        reached: dict[str, frozenset[str]] = defaultdict(frozenset)
        for name in self._outputs:
            reached[name] = frozenset((name,))
        for node in reversed(self.model.graph.node):  # a model's nodes are sorted, results after what they are made of
            below = _union(reached[name] for name in node.output)
            for name in node.input:
                reached[name] |= below
        return reached


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)
