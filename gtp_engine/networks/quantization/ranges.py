"""The range of values that reach a layer, and the 8-bit scales for it.

A layer's input is rounded to 256 values, on one grid for all channels because integer units can only add numbers with
the same step.  Channels differ a hundredfold, so each is first multiplied by a factor of its own, and the weights are
divided by it: Xiao et al., "SmoothQuant" (2022).  Weights are rounded to 255 values, on one grid per output channel.

C and I are input channels, O output channels.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import onnx
from numpy.typing import NDArray

from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.networks.quantization.calibration_inputs import Examples
from gtp_engine.networks.quantization.target_layers import Layer, Product
from gtp_engine.nn.onnx_model import new_session
from gtp_engine.nn.providers import Runtime

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


@dataclass(frozen=True)
class Range:
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
    examples: Sequence[Examples],
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
    names = [layer.source for layer in layers]
    axes = [layer.channel_axis for layer in layers]
    done, total = 0, sum(map(len, examples))
    seen: dict[str, list[tuple[FloatArray, FloatArray, FloatArray, int]]] = {name: [] for name in names}
    for part in examples:
        session = new_session(content, runtime, {"height": part.height, "width": part.width})
        for begin in range(0, len(part), BATCH):
            feeds = {"spatial": part.spatial[begin : begin + BATCH], "globals": part.globals_[begin : begin + BATCH]}
            for name, axis, values in zip(names, axes, session.run(names, feeds), strict=True):
                rows = np.moveaxis(values, axis, 0).reshape(values.shape[axis], -1)
                seen[name].append((rows.min(1), rows.max(1), rows.sum(1, dtype=np.float64), rows.shape[1]))
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

    No values are clipped.  Clipping the largest 0.01 % makes most values more exact, but the network far worse: policy
    KL 0.012 instead of 0.0018 for b6c96, 0.034 instead of 0.0022 for b15c192.
    """
    magnitude = np.maximum(np.abs(seen.low), np.abs(seen.high))
    magnitude = np.maximum(magnitude, max(LEAST_MAGNITUDE * magnitude.max(), np.finfo(np.float32).tiny))
    factors = (magnitude**-EQUALIZATION).astype(np.float32)
    low = min(0.0, float((seen.low * factors).min()))
    high = max(0.0, float((seen.high * factors).max()))
    step = max((high - low) / STEPS, float(np.finfo(np.float32).tiny))
    return InputScale(factors, step, round(-low / step))


def round_weights(product: Product, scale: InputScale, mean: FloatArray) -> RoundedWeights:
    """Return a product's weights for inputs of this scale, whose observed mean is `mean` [I].

    The bias corrects the effect of rounding on the mean result.  Points beside the edge, where fewer taps count, get
    the same bias.
    """
    weights = product.weights / scale.factors[:, np.newaxis]
    largest = np.abs(weights).max(axis=(1, 2))
    steps = np.maximum(largest / LARGEST_WEIGHT, np.finfo(np.float32).tiny).astype(np.float32)
    values = np.rint(weights / steps[:, np.newaxis, np.newaxis]).astype(np.int8)
    lost = product.weights - values * steps[:, np.newaxis, np.newaxis] * scale.factors[:, np.newaxis]
    return RoundedWeights(values, steps, (lost.sum(2) @ mean).astype(np.float32))
