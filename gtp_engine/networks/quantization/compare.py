"""The difference between the outputs of two networks, and their speed."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.networks.quantization.calibration_inputs import Examples
from gtp_engine.nn.onnx_model import OnnxModel, RawOutputs

ROUNDS: Final = 5
"""Number of measurements of each network, in turns, so that other load on the machine affects all of them equally."""
ROUND_SECONDS: Final = 0.6
"""Length of one measurement."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
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


def run_examples(model: OnnxModel, examples: Sequence[Examples]) -> list[RawOutputs]:
    """Return a network's outputs for each group of examples; none may be empty."""
    outputs = []
    for part in examples:
        pieces = [
            model.run(part.spatial[begin : begin + model.batch], part.globals_[begin : begin + model.batch])
            for begin in range(0, len(part), model.batch)
        ]
        outputs.append(join_outputs(pieces))
    return outputs


def join_outputs(pieces: Sequence[RawOutputs]) -> RawOutputs:
    """Return the outputs of several calls, one after the other."""
    columns = zip(*pieces, strict=True)
    return RawOutputs(*(None if column[0] is None else np.concatenate(column) for column in columns))


def difference(reference: Sequence[RawOutputs], other: Sequence[RawOutputs]) -> Difference:
    """Return how far the outputs of `other` are from those of `reference`, over all positions of all groups."""
    kl, same, errors = [], [], []
    for expected, found in zip(reference, other, strict=True):
        first, second = log_policy(expected), log_policy(found)
        kl.append((np.exp(first) * (first - second)).sum(axis=1))
        same.append(first.argmax(axis=1) == second.argmax(axis=1))
        errors.append(np.abs(winrate(expected) - winrate(found)))
    return Difference(
        float(np.concatenate(kl).mean()),
        float(np.concatenate(same).mean()),
        float(np.concatenate(errors).mean()),
        sum(map(len, kl)),
    )


def log_policy(outputs: RawOutputs) -> Floats:
    """Return the logarithms of the policy's probabilities, [K, A + 1], including illegal moves."""
    assert outputs.policy is not None, "only networks with policy and value are quantized"
    return _log_softmax(outputs.policy[:, 0])


def winrate(outputs: RawOutputs) -> Floats:
    """Return the probability that the side to move wins, plus half of that of no result, [K]."""
    assert outputs.value is not None, "only networks with policy and value are quantized"
    win, _, no_result = np.exp(_log_softmax(outputs.value)).T
    return np.asarray(win + no_result / 2)


def _log_softmax(logits: FloatArray) -> Floats:
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def speeds(models: Mapping[str, OnnxModel], examples: Examples) -> dict[str, float]:
    """Return each network's evaluations per second, in full batches on the board of `examples`: the best of ROUNDS."""
    best = dict.fromkeys(models, 0.0)
    inputs = {name: _full_batch(examples, model.batch) for name, model in models.items()}
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


def _full_batch(examples: Examples, batch: int) -> tuple[FloatArray, FloatArray]:
    """Return `batch` positions, repeated where there are fewer."""
    rows = np.arange(batch) % len(examples)
    return examples.spatial[rows], examples.globals_[rows]
