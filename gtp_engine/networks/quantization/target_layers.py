"""The layers of a graph that are worth quantizing: those with constant weights on which all outputs depend.

A layer here is the set of all convolutions and products that multiply one tensor by weights.  They share the rounded
tensor, so they are quantized together or not at all.

Left out are the first convolution, whose input is mostly zeros and ones, and the heads, which are a few percent of the
work: rounding the value head's input directly changes its output.  A node on which only some outputs depend belongs to
a head.
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
        """Return the tensor's axis of channels, which the weights' inputs match."""
        return 1 if self.products[0].kind == CONVOLUTION else -1

    @property
    def work(self) -> int:
        """Return its multiplications for each point of the board."""
        return sum(product.weights.size for product in self.products)


class NetworkGraph:
    """An ONNX model, with the outputs that depend on each tensor."""

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
        """Return for each tensor the outputs that depend on it."""
        reached: dict[str, frozenset[str]] = defaultdict(frozenset)
        for name in self._outputs:
            reached[name] = frozenset((name,))
        for node in reversed(self.model.graph.node):  # a model's nodes are sorted, each after those it depends on
            below = _union(reached[name] for name in node.output)
            for name in node.input:
                reached[name] |= below
        return reached


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)
