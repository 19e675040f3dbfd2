"""The loss of accuracy from quantizing each layer, and the layers that therefore stay in floating point.

Each layer is quantized alone, in a graph with a switch for each.  The losses are additive: for b6c96 the policy KL of
all layers together was 0.00098, and so was the sum of the single layers'.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import onnx

from gtp_engine.networks.quantization.calibration_inputs import Examples
from gtp_engine.networks.quantization.compare import Difference, difference
from gtp_engine.networks.quantization.ranges import Range
from gtp_engine.networks.quantization.rewrite import SWITCHES, switchable_model
from gtp_engine.networks.quantization.target_layers import Layer
from gtp_engine.nn.onnx_model import RawOutputs, new_session
from gtp_engine.nn.providers import Runtime

POSITIONS: Final = 8
"""Positions of each board size on which a layer is measured."""
OUTLIER: Final = 3.0
"""A layer stays in floating point if its share of the policy KL, or of the error of the winrate, is this many times
its share of the work: below that, the time saved is better spent on more visits."""
OUTLIER_SHARE: Final = 0.1
"""Largest share of the work that outliers may keep in floating point."""
INACCURATE_KL: Final = 0.004
"""Policy KL of all layers together, in nats, above which more layers than outliers stay in floating point.  The
networks that matches have tested in 8 bits lose half of it, the transformer b10c384h6nbttflrs 0.007."""
ACCEPTABLE_KL: Final = 0.001
"""Once the layers that are still quantized lose no more policy KL than this, no others are left in floating point.  The
transformer then loses 0.0017 on other positions, with the rest of it in bfloat16."""


@dataclass(frozen=True)
class Sensitivity:
    """The loss of accuracy from a layer."""

    layer: Layer
    difference: Difference
    """Between the network with this layer alone quantized and the original."""


def measure_loss(
    model: onnx.ModelProto,
    quantized: onnx.ModelProto,
    examples: Sequence[Examples],
    *,
    exact: Runtime,
    rounded: Runtime,
) -> Difference:
    """Return the difference of a quantized network from the original, on the positions that layers are measured on."""
    used = [part.first(POSITIONS) for part in examples]

    def outputs(network: onnx.ModelProto, runtime: Runtime) -> list[RawOutputs]:
        content = network.SerializeToString()
        return [_run(_session(content, runtime, part), part) for part in used]

    return difference(outputs(model, exact), outputs(quantized, rounded))


def measure_sensitivities(
    model: onnx.ModelProto,
    layers: Sequence[Layer],
    ranges: Mapping[str, Range],
    examples: Sequence[Examples],
    runtime: Runtime,
    progress: Callable[[int, int], None],
) -> list[Sensitivity]:
    """Return the loss from each layer; `progress` is called with the number of layers measured, and of all."""
    used = [part.first(POSITIONS) for part in examples]
    content = switchable_model(model, layers, ranges).SerializeToString()
    sessions = [_session(content, runtime, part) for part in used]

    def outputs(switches: Sequence[bool]) -> list[RawOutputs]:
        more = {SWITCHES: np.array(switches)}
        return [_run(session, part, more) for session, part in zip(sessions, used, strict=True)]

    reference = outputs([False] * len(layers))
    measured = []
    for number, layer in enumerate(layers):
        switches = [other == number for other in range(len(layers))]
        measured.append(Sensitivity(layer, difference(reference, outputs(switches))))
        progress(number + 1, len(layers))
    return measured


def _session(content: bytes, runtime: Runtime, part: Examples) -> Any:
    """Return a session of a model for these examples."""
    return new_session(content, runtime, {"height": part.height, "width": part.width, "batch": len(part)})


def _run(session: Any, part: Examples, more: Mapping[str, Any] = MappingProxyType({})) -> RawOutputs:
    """Return policy and value of a model."""
    policy, value = session.run(["policy", "value"], {"spatial": part.spatial, "globals": part.globals_, **more})
    return RawOutputs(policy, value, None, None)


def choose_exact(sensitivities: Sequence[Sensitivity], share: float) -> set[str]:
    """Return the tensors of the layers to leave in floating point, at most `share` of the work of all layers.

    The layers with the largest loss for their work come first.  Outliers are chosen, up to OUTLIER_SHARE of the work.
    In a network above INACCURATE_KL, the limit is `share`, and others are chosen too until the loss is acceptable.
    """
    work = sum(entry.layer.work for entry in sensitivities)
    kl = sum(entry.difference.policy_kl for entry in sensitivities)
    errors = sum(entry.difference.winrate_error for entry in sensitivities)

    def excess(entry: Sensitivity) -> float:
        of_policy = entry.difference.policy_kl / kl if kl else 0.0
        of_winrate = entry.difference.winrate_error / errors if errors else 0.0
        return max(of_policy, of_winrate) / (entry.layer.work / work)

    chosen: set[str] = set()
    is_inaccurate = kl > INACCURATE_KL
    left, lost = (share if is_inaccurate else min(share, OUTLIER_SHARE)) * work, kl
    for entry in sorted(sensitivities, key=excess, reverse=True):
        is_chosen = excess(entry) >= OUTLIER or (is_inaccurate and lost > ACCEPTABLE_KL)
        if is_chosen and entry.layer.work <= left:
            chosen.add(entry.layer.source)
            left -= entry.layer.work
            lost -= entry.difference.policy_kl
    return chosen
