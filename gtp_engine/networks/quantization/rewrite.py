"""Graphs with rounding: the quantized network, and one in which each layer's rounding has a switch.

A quantized layer consists of the ONNX operators

    x → Mul(factors) → QuantizeLinear → DequantizeLinear → Conv or MatMul
                       weights as int8 → DequantizeLinear ↗

which ONNX Runtime and OpenVINO convert to integer convolutions.  The rest of the graph is unchanged, and may run in
bfloat16.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

import numpy as np
import onnx
from onnx import helper, numpy_helper

from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.networks.quantization.ranges import InputScale, Range, RoundedWeights, round_weights, scale_input
from gtp_engine.networks.quantization.target_layers import CONVOLUTION, Layer, Product

SWITCHES: Final = "switches"
"""Input of a graph with switches: bool[number of layers], whether each layer rounds."""


def quantized_model(
    model: onnx.ModelProto, layers: Sequence[Layer], ranges: Mapping[str, Range], left_out: Collection[str] = ()
) -> onnx.ModelProto:
    """Return the model with `layers` quantized, except those whose tensor is in `left_out`."""
    writer = _Writer(model)
    for layer in layers:
        if layer.source in left_out:
            continue
        seen = ranges[layer.source]
        scale = scale_input(seen)
        rounded = writer.rounded(layer, scale)
        for product in layer.products:
            weights = round_weights(product, scale, seen.mean)
            writer.feed(product, rounded, writer.weights(product, weights), weights.bias)
    return writer.finished()


def switchable_model(model: onnx.ModelProto, layers: Sequence[Layer], ranges: Mapping[str, Range]) -> onnx.ModelProto:
    """Return the model with an input SWITCHES that selects the layers that compute as if quantized."""
    writer = _Writer(model)
    for number, layer in enumerate(layers):
        seen = ranges[layer.source]
        scale = scale_input(seen)
        switch = writer.add_after(layer.source, "Gather", SWITCHES, writer.constant(np.int64(number)))
        inverse = writer.constant(_along(1 / scale.factors, layer))
        restored = writer.add_after(layer.source, "Mul", writer.rounded(layer, scale), inverse)
        source = writer.add_after(layer.source, "Where", switch, restored, layer.source)
        for product in layer.products:
            weights = round_weights(product, scale, seen.mean)
            as_rounded = weights.values * weights.steps[:, np.newaxis, np.newaxis] * scale.factors[:, np.newaxis]
            exact, other = (writer.constant(_as_in_graph(array, product)) for array in (product.weights, as_rounded))
            bias = _along(weights.bias, layer)
            none, added = writer.constant(np.zeros_like(bias)), writer.constant(bias)
            writer.feed(product, source, writer.add_before(product.node, "Where", switch, other, exact))
            writer.add_to_result(product, writer.add_before(product.node, "Where", switch, added, none))
    finished = writer.finished()
    finished.graph.input.append(helper.make_tensor_value_info(SWITCHES, onnx.TensorProto.BOOL, [len(layers)]))
    return finished


def _along(values: Any, layer: Layer) -> Any:
    """Return float32[C] in the shape that broadcasts over the channels of the layer's tensor."""
    shape = (1, -1, 1, 1) if layer.channel_axis == 1 else (-1,)
    return np.asarray(values, dtype=np.float32).reshape(shape)


def _as_in_graph(weights: Any, product: Product) -> Any:
    """Return weights [O, I, taps] in their shape in the graph."""
    array = weights.reshape(product.shape) if product.kind == CONVOLUTION else weights[:, :, 0].T
    return np.ascontiguousarray(array if array.dtype == np.int8 else array.astype(np.float32))


class _Writer:
    """A copy of a model to which nodes are added beside the existing ones."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._model = onnx.ModelProto()
        self._model.CopyFrom(model)
        self._graph = self._model.graph
        self._before: dict[str, list[onnx.NodeProto]] = {}
        self._after: dict[str, list[onnx.NodeProto]] = {}
        self._inputs: dict[str, list[str]] = {}
        self._biases: dict[str, str] = {}
        self._count = 0

    def constant(self, array: Any) -> str:
        """Add a constant and return its name."""
        name = self._new_name("rounding")
        self._graph.initializer.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def add_before(self, result: str, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node before the one that computes `result`, and return the new node's result."""
        return self._add(self._before.setdefault(result, []), operator, inputs, attributes)

    def add_after(self, result: str, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node after the one that computes `result`, and return the new node's result."""
        return self._add(self._after.setdefault(result, []), operator, inputs, attributes)

    def rounded(self, layer: Layer, scale: InputScale) -> str:
        """Return the layer's tensor multiplied by the factors of `scale` and rounded."""
        source = layer.source
        multiplied = self.add_after(source, "Mul", source, self.constant(_along(scale.factors, layer)))
        grid = self.constant(np.float32(scale.step)), self.constant(np.uint8(scale.zero))
        quantized = self.add_after(source, "QuantizeLinear", multiplied, *grid)
        return self.add_after(source, "DequantizeLinear", quantized, *grid)

    def weights(self, product: Product, weights: RoundedWeights) -> str:
        """Return a product's weights, computed from the stored integers."""
        values = self.constant(_as_in_graph(weights.values, product))
        grid = self.constant(weights.steps), self.constant(np.zeros(len(weights.steps), dtype=np.int8))
        axis = 0 if product.kind == CONVOLUTION else 1
        return self.add_before(product.node, "DequantizeLinear", values, *grid, axis=axis)

    def feed(self, product: Product, source: str, weights: str, bias: FloatArray | None = None) -> None:
        """Replace the input and the weights of a product, and add `bias` to its result."""
        node = next(node for node in self._graph.node if product.node in node.output)
        rest = list(node.input[2:])
        if bias is not None and product.kind == CONVOLUTION:
            before = [numpy_helper.to_array(entry) for entry in self._graph.initializer if entry.name in rest]
            rest = [self.constant(sum(before, start=bias))]
        elif bias is not None:
            self.add_to_result(product, self.constant(bias))
        self._inputs[product.node] = [source, weights, *rest]

    def add_to_result(self, product: Product, bias: str) -> None:
        """Add the tensor named `bias` to a product's result."""
        self._biases[product.node] = bias

    def finished(self) -> onnx.ModelProto:
        """Return the model, with nodes in a valid order of computation and unused constants removed."""
        nodes: list[onnx.NodeProto] = []
        for node in self._graph.node:
            if node.output[0] in self._inputs:
                inputs = self._inputs[node.output[0]]
                del node.input[:]
                node.input.extend(inputs)
            result = node.output[0]
            nodes += [*self._before.get(result, []), *self._with_bias(node), *self._after.get(result, [])]
        used = {name for node in nodes for name in node.input}
        constants = [entry for entry in self._graph.initializer if entry.name in used]
        for field, entries in ((self._graph.node, nodes), (self._graph.initializer, constants)):
            copies = [type(entry).FromString(entry.SerializeToString()) for entry in entries]
            del field[:]
            field.extend(copies)
        return self._model

    def _with_bias(self, node: onnx.NodeProto) -> list[onnx.NodeProto]:
        """Return the node, followed by the addition to its result if there is one."""
        result = node.output[0]
        if result not in self._biases:
            return [node]
        node.output[0] = self._new_name("product")
        return [node, helper.make_node("Add", [node.output[0], self._biases[result]], [result], name=f"{result}_bias")]

    def _add(
        self, nodes: list[onnx.NodeProto], operator: str, inputs: Sequence[str], attributes: dict[str, Any]
    ) -> str:
        name = self._new_name(operator)
        nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def _new_name(self, word: str) -> str:
        self._count += 1
        return f"int8_{word}_{self._count}"
