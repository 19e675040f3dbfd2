"""A trial of a provider on this machine: its outputs must agree with those of plain ONNX Runtime, and come faster.

Graphics and neural processors calculate in formats of their own, in which some networks overflow, and small networks
may run faster on the processor.  So `auto` uses such a provider only after a trial.
"""

import time
from typing import Final

import numpy as np

from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.nn.encoded_network import Model
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.nn.onnx_model import OnnxModel, RawOutputs
from gtp_engine.nn.providers import PROVIDERS, Runtime

LARGEST_DIFFERENCE: Final = 0.05
"""Largest difference of probabilities or results: several times that of bfloat16, far less than that of a fault."""

_STONES: Final = 0.2
"""Share of ones in the planes of the trial."""

_CALLS: Final = 3
_SEED: Final = 1


def disagreement(model: Model) -> str | None:
    """Return why a model's provider should not be used (the end of a sentence), or None if it passes.

    Raises ModelError if a session cannot be created.
    """
    assert model.path is not None, "only networks of files are tried"
    spatial, globals_ = random_inputs(model.info, model.batch)
    plain = OnnxModel(model.path, Runtime(PROVIDERS["cpu"], "float32"), batch=model.batch)
    found, seconds = _timed(model, spatial, globals_)
    expected, plain_seconds = _timed(plain, spatial, globals_)
    plain.close()
    if not _largest_difference(found, expected) <= LARGEST_DIFFERENCE:  # a comparison with NaN is false
        return "gives other results than the CPU"
    if seconds > plain_seconds:
        return f"takes {seconds / plain_seconds:.1f} times as long as the CPU"
    return None


def random_inputs(info: NetworkInfo, batch: int) -> tuple[FloatArray, FloatArray]:
    """Return planes [batch, planes, H, W] and globals [batch, globals] for the usual board, always the same ones."""
    width, height = info.sizes.usual
    random = np.random.default_rng(_SEED)
    spatial = (random.random((batch, info.planes, height, width)) < _STONES).astype(np.float32)
    spatial[:, 0] = 1.0  # KataGo's first plane marks the points of the board
    return spatial, np.zeros((batch, info.globals_), dtype=np.float32)


def _timed(model: Model, spatial: FloatArray, globals_: FloatArray) -> tuple[RawOutputs, float]:
    """Return a model's outputs, and the seconds of the fastest of a few calls after the first."""
    outputs = model.run(spatial, globals_)
    seconds = []
    for _ in range(_CALLS):
        started = time.perf_counter()
        model.run(spatial, globals_)
        seconds.append(time.perf_counter() - started)
    return outputs, min(seconds)


def _largest_difference(a: RawOutputs, b: RawOutputs) -> float:
    """Return the largest difference between two sets of outputs, in probabilities of moves and in results."""
    differences = [0.0]
    if a.policy is not None and b.policy is not None:
        differences.append(float(np.abs(_softmax(a.policy[:, 0]) - _softmax(b.policy[:, 0])).max()))
    if a.value is not None and b.value is not None:
        is_katago = a.value.shape[1] > 1
        results = [_softmax(value) if is_katago else value for value in (a.value, b.value)]
        differences.append(float(np.abs(results[0] - results[1]).max()))
    return float(np.max(differences))  # NaN if any of them is


def _softmax(logits: FloatArray) -> FloatArray:
    """Return probabilities along the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), dtype=np.float32)
