"""How far the outputs of two networks are apart, how fast they are, and which layers cost most accuracy in 8 bits.

    difference              between the outputs of two networks for the same positions
    speeds                  of several networks, side by side
    measure_sensitivities   the loss of accuracy from quantizing each layer
    choose_exact            the layers that therefore stay in floating point

Each layer is quantized alone, in a network that is exact otherwise.  The losses are additive: for b6c96 the policy KL
of all layers together was 0.00098, and so was the sum of the single layers'.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray

from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.encoders import Inputs
from gtp_engine.nn.onnx_model import OnnxModel, RawOutputs, new_session
from gtp_engine.nn.providers import Runtime
from gtp_engine.nn.quantized_copy import Arrays, Keep, keep_nothing
from gtp_engine.training.quantization.quantized_graph import Layer

ROUNDS: Final = 5
"""Number of measurements of each network, in turns, so that other load on the machine affects all of them equally."""
ROUND_SECONDS: Final = 0.6
"""Length of one measurement."""

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


class Difference(NamedTuple):
    """The mean difference between two networks' outputs for the same positions."""

    policy_kl: float
    """Kullback-Leibler divergence from the first policy to the second, nats."""
    same_first_move: float
    """Share of positions in which both policies have the same best move."""
    winrate_error: float
    """Absolute difference of the probabilities of winning."""
    positions: int

    def __str__(self) -> str:
        return (
            f"policy KL {self.policy_kl:.4f}, same first move {self.same_first_move:.1%}, "
            f"winrate off by {self.winrate_error:.4f}"
        )


def run_examples(model: OnnxModel, examples: Sequence[Inputs]) -> list[RawOutputs]:
    """Return a network's outputs for each group of examples; none may be empty."""
    outputs = []
    for part in examples:
        pieces = [
            model.run(part.spatial[begin : begin + model.batch], part.globals_[begin : begin + model.batch])
            for begin in range(0, len(part.spatial), model.batch)
        ]
        columns = zip(*pieces, strict=True)
        outputs.append(RawOutputs(*(None if column[0] is None else np.concatenate(column) for column in columns)))
    return outputs


def difference(reference: Sequence[RawOutputs], other: Sequence[RawOutputs]) -> Difference:
    """Return how far the outputs of `other` are from those of `reference`, over all positions of all groups."""
    kl, same, errors = [], [], []
    for expected, found in zip(reference, other, strict=True):
        (first, wanted), (second, winrate) = _policy_and_winrate(expected), _policy_and_winrate(found)
        kl.append((np.exp(first) * (first - second)).sum(axis=1))
        same.append(first.argmax(axis=1) == second.argmax(axis=1))
        errors.append(np.abs(wanted - winrate))
    return Difference(
        float(np.concatenate(kl).mean()),
        float(np.concatenate(same).mean()),
        float(np.concatenate(errors).mean()),
        sum(map(len, kl)),
    )


def _policy_and_winrate(outputs: RawOutputs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the logarithms of the policy's probabilities, [K, A + 1], including illegal moves, and the winrate, [K].

    It is the probability that the side to move wins, plus half of that of no result.
    """
    assert outputs.policy is not None and outputs.value is not None, "only networks with both are quantized"
    win, _, no_result = np.exp(_log_softmax(outputs.value)).T
    return _log_softmax(outputs.policy[:, 0]), win + no_result / 2


def _log_softmax(logits: FloatArray) -> NDArray[np.float64]:
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def speeds(models: Mapping[str, OnnxModel], examples: Inputs) -> dict[str, float]:
    """Return each network's evaluations per second, in full batches on the board of `examples`: the best of ROUNDS."""
    best = dict.fromkeys(models, 0.0)
    rows = {name: np.arange(model.batch) % len(examples.spatial) for name, model in models.items()}
    inputs = {name: (examples.spatial[taken], examples.globals_[taken]) for name, taken in rows.items()}
    for name, model in models.items():
        model.run(*inputs[name])  # creates the session
    for _ in range(ROUNDS):
        for name, model in models.items():
            calls, started = 0, time.perf_counter()
            while (passed := time.perf_counter() - started) < ROUND_SECONDS:
                model.run(*inputs[name])
                calls += 1
            best[name] = max(best[name], calls * model.batch / passed)
    return best


# Sensitivity


class Sensitivity(NamedTuple):
    """The loss of accuracy from a layer."""

    layer: Layer
    difference: Difference
    """Between the network with this layer alone quantized and the original."""


def measure_sensitivities(
    layers: Sequence[Layer],
    reference: Sequence[RawOutputs],
    outputs_of: Callable[[set[str]], Sequence[RawOutputs]],
    progress: Callable[[int, int], None],
    keep: Keep = keep_nothing,
) -> list[Sensitivity]:
    """Return the loss from quantizing each of these layers of a network, whose outputs are `reference`.

    `outputs_of` returns those of the network with all layers quantized but those with these tensors.  `progress` is
    called with the number of layers measured, and of all.  `keep` keeps the loss of each.
    """
    measured = []
    for number, layer in enumerate(layers):

        def measure(layer: Layer = layer) -> Arrays:
            others = {other.source for other in layers if other is not layer}
            return {"difference": np.array(difference(reference, outputs_of(others)), dtype=np.float64)}

        kl, same, error, positions = keep(f"layer-{number}", measure)["difference"].tolist()
        measured.append(Sensitivity(layer, Difference(kl, same, error, int(positions))))
        progress(number + 1, len(layers))
    return measured


def sample_outputs(model: onnx.ModelProto, examples: Sequence[Inputs], runtime: Runtime) -> list[RawOutputs]:
    """Return policy and value of a model for the first POSITIONS of each group of examples."""
    content, outputs = model.SerializeToString(), []
    for part in examples:
        feeds = {"spatial": part.spatial[:POSITIONS], "globals": part.globals_[:POSITIONS]}
        count, _, height, width = feeds["spatial"].shape
        session = new_session(content, runtime, {"height": height, "width": width, "batch": count})
        found = session.run(feeds)
        outputs.append(RawOutputs(found["policy"], found["value"], None, None))
    return outputs


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
