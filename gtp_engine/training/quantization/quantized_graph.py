"""Graphs with 8-bit integers: which layers are worth it, the range of values that reach them, and the new graph.

A layer here is the set of all convolutions and products that multiply one tensor by weights.  They share the rounded
tensor, so they are quantized together or not at all.  Worth quantizing are those with constant weights on which all
outputs depend.  Left out are the first convolution, whose input is mostly zeros and ones, and the heads, which are a
few percent of the work: rounding the value head's input directly changes its output.  A node on which only some
outputs depend belongs to a head.

A layer's input is rounded to 256 values, on one grid for all channels because integer units can only add numbers with
the same step.  Channels differ a hundredfold, so each is first multiplied by a factor of its own, and the weights are
divided by it: Xiao et al., "SmoothQuant" (2022).  Weights are rounded to 255 values, on one grid per output channel.

A quantized layer consists of the ONNX operators

    x → Mul(factors) → QuantizeLinear → DequantizeLinear → Conv or MatMul
                       weights as int8 → DequantizeLinear ↗

which ONNX Runtime and OpenVINO convert to integer convolutions.  The rest of the graph is unchanged, and may run in
bfloat16.

C and I are input channels, O output channels.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.encoders import Inputs
from gtp_engine.nn.onnx_model import new_session
from gtp_engine.nn.providers import Runtime

CONVOLUTION: Final = "Conv"
PRODUCT: Final = "MatMul"

STEPS: Final = 255
"""Steps of the input's grid, from 0 to 255."""
LARGEST_WEIGHT: Final = 127
"""Weights go from −127 to 127."""

EQUALIZATION: Final = 0.5
"""A channel's factor is its largest magnitude to the power of −EQUALIZATION: 0 leaves channels unchanged, 1 gives all
the same range and moves the difference into the weights.  Policy KL of b6c96 on 19×19 for 0, ½, ¾ and 1: 0.0018,
0.0015, 0.0016 and 0.0034; of b15c192: 0.0022, 0.0011 (with bias correction), 0.0025 and 0.0057."""
LEAST_MAGNITUDE: Final = 0.02
"""Smallest magnitude that a channel is assumed to have, as a share of the largest: a factor must not amplify noise."""

BATCH: Final = 8
"""Positions in a call."""


# Layers


@dataclass(frozen=True)
class Layer:
    """The convolutions and products of one tensor."""

    source: str
    """Name of the tensor."""
    channel_axis: int
    """The tensor's axis of channels, which the weights' inputs match."""
    weights: dict[str, FloatArray]
    """The constant weights [O, I, taps] by the name of the result; a product has one tap."""

    @property
    def work(self) -> int:
        """Return its multiplications for each point of the board."""
        return sum(weights.size for weights in self.weights.values())


def layers_of(model: onnx.ModelProto) -> list[Layer]:
    """Return the layers worth quantizing, in the graph's order."""
    graph = model.graph
    constants = {entry.name: entry for entry in graph.initializer}
    outputs = frozenset(entry.name for entry in graph.output)
    reached = _reached(graph, outputs)
    exact = {entry.name for entry in graph.input} | _of_globals(graph, constants)
    found: dict[str, Layer] = {}
    for node in graph.node:
        if (
            node.op_type in (CONVOLUTION, PRODUCT)
            and node.input[0] not in exact
            and constants.keys() >= {*node.input[1:]}
            and reached[node.output[0]] == outputs
            and all(attribute.name != "group" or attribute.i == 1 for attribute in node.attribute)
        ):
            weights, is_convolution = numpy_helper.to_array(constants[node.input[1]]), node.op_type == CONVOLUTION
            layer = found.setdefault(node.input[0], Layer(node.input[0], 1 if is_convolution else -1, {}))
            by_tap = weights.reshape(*weights.shape[:2], -1) if is_convolution else weights.T[:, :, None]
            layer.weights[node.output[0]] = by_tap
    return [*found.values()]


def _of_globals(graph: onnx.GraphProto, constants: Collection[str]) -> set[str]:
    """Return the tensors that depend on the global values only: a few numbers, which gain nothing from 8 bits."""
    found = {"globals"}
    for node in graph.node:
        sources = {name for name in node.input if name not in constants}
        if sources and sources <= found:
            found |= {*node.output}
    return found


def _reached(graph: onnx.GraphProto, outputs: Collection[str]) -> dict[str, frozenset[str]]:
    """Return for each tensor the outputs that depend on it."""
    reached: dict[str, frozenset[str]] = defaultdict(frozenset, {name: frozenset((name,)) for name in outputs})
    for node in reversed(graph.node):  # a model's nodes are sorted, each after those it depends on
        below = frozenset[str]().union(*(reached[name] for name in node.output))
        for name in node.input:
            reached[name] |= below
    return reached


# Ranges


class Range(NamedTuple):
    """The observed values of a layer's input: the least, largest and mean value of each channel, float32[C]."""

    low: FloatArray
    high: FloatArray
    mean: FloatArray


@dataclass(frozen=True)
class InputScale:
    """The rounding of a layer's input: round(x · factors / step) + zero, from 0 to 255."""

    factors: FloatArray
    """[C]."""
    step: float
    zero: int


@dataclass(frozen=True)
class RoundedWeights:
    """Weights as integers: `values` · steps[O] approximates the weights for inputs multiplied by the factors."""

    values: NDArray[np.int8]
    """[O, I, taps]."""
    steps: FloatArray
    """[O]."""
    bias: FloatArray
    """[O], to be added to the result: corrects the shift of its mean by rounding."""


def measure_ranges(
    model: onnx.ModelProto,
    layers: Sequence[Layer],
    examples: Sequence[Inputs],
    runtime: Runtime,
    progress: Callable[[int, int], None],
) -> dict[str, Range]:
    """Run `model` on the examples and return the range of each layer's input, by the name of its tensor.

    `progress` is called with the number of examples that are done, and of all.
    """
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    for layer in layers:
        watched.graph.output.append(onnx.helper.make_empty_tensor_value_info(layer.source))
    content = watched.SerializeToString()
    done, total = 0, sum(len(part.spatial) for part in examples)
    seen: dict[str, list[tuple[FloatArray, FloatArray, FloatArray, int]]] = {layer.source: [] for layer in layers}
    for part in examples:
        height, width = part.spatial.shape[2:]
        session = new_session(content, runtime, {"height": height, "width": width})
        for begin in range(0, len(part.spatial), BATCH):
            feeds = {"spatial": part.spatial[begin : begin + BATCH], "globals": part.globals_[begin : begin + BATCH]}
            found = session.run(feeds)
            for layer in layers:
                values = np.moveaxis(found[layer.source], layer.channel_axis, 0)
                rows = values.reshape(len(values), -1)
                seen[layer.source].append((rows.min(1), rows.max(1), rows.sum(1, dtype=np.float64), rows.shape[1]))
            done += len(feeds["spatial"])
            progress(done, total)
    return {name: _joined(parts) for name, parts in seen.items()}


def _joined(parts: list[tuple[FloatArray, FloatArray, FloatArray, int]]) -> Range:
    """Return the range of all batches from those of each: least, largest, sum, number of values."""
    low = np.min([part[0] for part in parts], axis=0)
    high = np.max([part[1] for part in parts], axis=0)
    mean = np.sum([part[2] for part in parts], axis=0) / sum(part[3] for part in parts)
    return Range(low, high, mean.astype(np.float32))


def scale_input(seen: Range) -> InputScale:
    """Return the scale for an input: it spans all observed values, and 0 is on its grid, as padding requires.

    No values are clipped.  Clipping the largest 0.01% makes most values more exact, but the network far worse: policy
    KL 0.012 instead of 0.0018 for b6c96, 0.034 instead of 0.0022 for b15c192.
    """
    magnitude = np.maximum(np.abs(seen.low), np.abs(seen.high))
    magnitude = np.maximum(magnitude, max(LEAST_MAGNITUDE * magnitude.max(), np.finfo(np.float32).tiny))
    factors = (magnitude**-EQUALIZATION).astype(np.float32)
    low = min(0.0, float((seen.low * factors).min()))
    high = max(0.0, float((seen.high * factors).max()))
    step = max((high - low) / STEPS, float(np.finfo(np.float32).tiny))
    return InputScale(factors, step, round(-low / step))


def round_weights(exact: FloatArray, scale: InputScale, mean: FloatArray) -> RoundedWeights:
    """Return weights [O, I, taps] for inputs of this scale, whose observed mean is `mean` [I].

    The bias corrects the effect of rounding on the mean result.  Points beside the edge, where fewer taps count, get
    the same bias.
    """
    weights = exact / scale.factors[:, np.newaxis]
    largest = np.abs(weights).max(axis=(1, 2))
    steps = np.maximum(largest / LARGEST_WEIGHT, np.finfo(np.float32).tiny).astype(np.float32)
    values = np.rint(weights / steps[:, np.newaxis, np.newaxis]).astype(np.int8)
    lost = exact - values * steps[:, np.newaxis, np.newaxis] * scale.factors[:, np.newaxis]
    return RoundedWeights(values, steps, (lost.sum(2) @ mean).astype(np.float32))


# Graphs


def quantized_model(
    model: onnx.ModelProto, layers: Sequence[Layer], ranges: Mapping[str, Range], left_out: Collection[str] = ()
) -> onnx.ModelProto:
    """Return the model with `layers` quantized, except those whose tensor is in `left_out`."""
    graph = _Graph(model)
    quantized = {layer.source: layer for layer in layers if layer.source not in left_out}
    layer_of = {result: layer for layer in quantized.values() for result in layer.weights}
    scales: dict[str, InputScale] = {}
    rounded: dict[str, str] = {}
    for node in model.graph.node:  # sorted, each after those it depends on
        result = node.output[0]
        if result in layer_of:
            source = layer_of[result].source
            weights = round_weights(layer_of[result].weights[result], scales[source], ranges[source].mean)
            graph.add_product(node, rounded[source], weights)
        else:
            graph.nodes.append(node)
        for name in node.output:
            if name in quantized:
                scales[name] = scale_input(ranges[name])
                rounded[name] = graph.add_rounding(quantized[name], scales[name])
    return graph.finished()


class _Graph:
    """The nodes and constants of a new graph, in an order in which they can be computed."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self._model = model
        self._constants = {entry.name: entry for entry in model.graph.initializer}
        self._count = 0

    def add_rounding(self, layer: Layer, scale: InputScale) -> str:
        """Add the layer's tensor multiplied by the factors of `scale` and rounded; return its name."""
        factors = scale.factors.reshape((1, -1, 1, 1) if layer.channel_axis == 1 else (-1,))
        multiplied = self._add("Mul", layer.source, self._constant(factors))
        grid = self._constant(np.float32(scale.step)), self._constant(np.uint8(scale.zero))
        return self._add("DequantizeLinear", self._add("QuantizeLinear", multiplied, *grid), *grid)

    def add_product(self, node: onnx.NodeProto, source: str, weights: RoundedWeights) -> None:
        """Add `node` with other inputs: the rounded `source`, and the weights, computed from the stored integers."""
        is_convolution, shape = node.op_type == CONVOLUTION, self._constants[node.input[1]].dims
        values = weights.values.reshape(shape) if is_convolution else weights.values[:, :, 0].T
        grid = self._constant(weights.steps), self._constant(np.zeros(len(weights.steps), dtype=np.int8))
        inputs = self._add("DequantizeLinear", self._constant(values), *grid, axis=0 if is_convolution else 1)
        changed = onnx.NodeProto()
        changed.CopyFrom(node)
        changed.input[:] = [source, inputs]
        self.nodes.append(changed)
        if is_convolution:
            before = [numpy_helper.to_array(self._constants[name]) for name in node.input[2:]]
            changed.input.append(self._constant(sum(before, start=weights.bias)))
        else:
            changed.output[0] = self._new_name("product")
            sums = [changed.output[0], self._constant(weights.bias)]
            self.nodes.append(helper.make_node("Add", sums, node.output, name=f"{node.output[0]}_bias"))

    def finished(self) -> onnx.ModelProto:
        """Return the model with this graph, without constants that are not used."""
        model, used = onnx.ModelProto(), {name for node in self.nodes for name in node.input}
        model.CopyFrom(self._model)
        del model.graph.node[:], model.graph.initializer[:]
        model.graph.node.extend(self.nodes)
        model.graph.initializer.extend(entry for name, entry in self._constants.items() if name in used)
        return model

    def _constant(self, array: Any) -> str:
        """Add a constant and return its name."""
        name = self._new_name("rounding")
        self._constants[name] = numpy_helper.from_array(np.asarray(array, order="C"), name)
        return name

    def _add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """Add a node and return the name of its result."""
        name = self._new_name(operator)
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def _new_name(self, word: str) -> str:
        self._count += 1
        return f"int8_{word}_{self._count}"
