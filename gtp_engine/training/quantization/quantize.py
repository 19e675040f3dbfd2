"""Quantizes a float32 network file to int8: games, ranges, sensitivities, the new file, and its comparison.

The gain of each step, as policy KL from float32 on held-out 19×19 positions of b6c96 / b15c192:

    all convolutions of the trunk but the first, weights by channel, no clipping           0.0018 / 0.0020
    inputs of layers equalized (`quantized_graph.EQUALIZATION`)                                     0.0015 / 0.0012
    bias corrected for the mean lost by rounding                                           0.0013 / 0.0011
    layers that lose far more than their share left in floating point (`sensitivity`)      none / two layers

The games are those of the small network that ships: they take seconds, where a large network's own took minutes.  If a
network loses little with all layers quantized (`GOOD_ENOUGH`), the layers are not measured one by one.  In this way
b15c192 took 67 seconds of processor time in all, and reached 0.0008, 98.4%, 0.0024 and 2.0 in the columns below.

Results on 19×19 with OpenVINO on two busy Zen 4 cores, on positions of games not used for calibration:

                  policy KL   same first move   winrate error   speed, bfloat16 = 1
    b6c96           0.0011         98.1%            0.0028              1.75
    b15c192         0.0010         98.8%            0.0024              1.85
    b18c384nbt      0.0021         96.9%            0.0048              1.59
    bfloat16    0.0001–0.0002   98.8–99.4%      0.0008–0.0020           1

On 256 held-out positions of varied games (`calibration`), on 9×9, 13×13 and 19×19, which are harder:

    b6c96           0.0015         95.3%            0.0034              1.85
    b15c192         0.0017         97.3%            0.0025              1.89

The transformer b10c384h6nbttflrs on these, by the share of its work in floating point, the layers with the largest
loss first; speed is processor time on 19×19 in batches of 4, on one Zen 4 core, with float32 = 1:

    share      policy KL   same first move   winrate error   speed, rest in bfloat16
    none         0.0096         94.1%            0.0164               2.5
    10%          0.0051         94.5%            0.0070
    20%          0.0036         94.9%            0.0058               2.3
    30%          0.0022         97.7%            0.0044               2.2
    40%          0.0017         95.3%            0.0047               2.2
    bfloat16     0.0003         98.0%            0.0030               1.9

Rounding its weights costs little once the bias is corrected: with 26% of the work in floating point a policy KL of
0.0004, without the correction 0.0015.  Rounding the inputs costs the rest, two fifths of it at the products after
SwiGLU, whose largest values are rare.  Attention bounds its speed: products of two tensors and softmax, which stay in
floating point, take as long as all 8-bit products together, and those run as fast as the processor multiplies (profile
by layer of OpenVINO).

The rest runs in bfloat16 where the processor has it: with float32 instead, b6c96 reached 1.2 times the speed of
bfloat16, not 1.6.

Tried without gain: clipping rare large inputs, by percentile (99.99%: 6 to 15 times the KL) or where the squared
error is least (1.1 to 1.7 times); symmetric integers for Mish, which is never far below 0 (2.6 times); equalizing by
the weights' sizes as well (better for b6c96, worse for b18c384nbt); for the transformer, choosing the equalization of
each layer, ½ to 1, by the error of sampled outputs (half the squared error, but policy KL 0.0099 instead of 0.0102),
and ranges 15% wider (0.0100); a bias for the mean lost by rounding the inputs (0.0090 instead of 0.0075 on 72
positions).
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import onnx

from gtp_engine.base.errors import ModelError, shown
from gtp_engine.base.files import check_result, replacing, sha256_of, writing
from gtp_engine.base.machine import describe_machine
from gtp_engine.config.sections import NetworkConfig, QuantizeSettings
from gtp_engine.nn.encoders import Inputs
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.nn.metadata import NETWORK_FILE, NetworkInfo, read_metadata
from gtp_engine.nn.named_networks import shipped_folder
from gtp_engine.nn.onnx_model import OnnxModel, RawOutputs, runtimes_here
from gtp_engine.nn.providers import Runtime, has_vnni
from gtp_engine.nn.quantized_copy import (
    HELD_OUT,
    NOTE,
    QUANTIZED_FROM,
    SPEEDS,
    WITHOUT_VNNI,
    Arrays,
    Comparison,
    Keep,
    UnfinishedCopy,
    can_be_quantized,
    keep_nothing,
)
from gtp_engine.training.quantization.calibration import play_examples
from gtp_engine.training.quantization.quantized_graph import Range, layers_of, measure_ranges, quantized_model
from gtp_engine.training.quantization.sensitivity import (
    Difference,
    Sensitivity,
    choose_exact,
    difference,
    measure_sensitivities,
    run_examples,
    sample_outputs,
    speeds,
)

StepProgress = Callable[[float, str], None]
"""Called with the finished share of the whole work, and what is being done."""

BATCH: Final = 8
"""Batch size for comparing networks."""

_STEPS: Final[Mapping[str, float]] = MappingProxyType({"games": 0.5, "ranges": 0.15, "layers": 0.15, "comparison": 0.2})
"""Rough share of the total time that each step takes.  Most networks need no measurement of layers; one that does needs
more time than was predicted."""

_PRECISION: Final = "tengen.precision"

_KEPT_FORMAT: Final = 2
"""Version of what is kept of unfinished copies: another one where the same settings give other results."""


@dataclass(frozen=True)
class Quantized:
    """A quantized network and its comparison with the original in float32."""

    path: Path
    provider: str
    """Title of the provider used for all measurements."""
    differences: dict[str, Difference]
    """By precision: "int8", and "bfloat16" where the machine has it; on held-out positions of all board sizes."""
    speeds: dict[str, float]
    """Evaluations per second by precision, "float32" included, on the largest board."""
    sensitivities: tuple[Sensitivity, ...]
    """Losses of the layers that can be quantized; empty if the network is good enough with all of them quantized."""
    exact: frozenset[str]
    """Tensors of the layers that were left in floating point."""

    @property
    def objection(self) -> str:
        """Return why the engine does not use the copy here (the end of a sentence), or "" if it does."""
        loss = self.differences["int8"]
        best = max((name for name in self.speeds if name != "int8"), key=lambda name: self.speeds[name])
        return Comparison(loss.policy_kl, loss.winrate_error, self.speeds).objection(best)


def quantize_file(source: Path, target: Path, settings: QuantizeSettings, *, progress: StepProgress) -> Quantized:
    """Write a quantized copy of the network file `source` to `target`, and return the comparison.

    A file at `target` is replaced once the new one is complete.  If the work is stopped, the next call goes on with it.

    Raises ModelError if the network cannot be read, is not a float32 network with policy, value and KataGo's inputs, or
    has no layer to quantize, and while another process makes it; ConfigError for a target as `check_result` does.
    """
    info = read_metadata(source)
    check_quantizable(source, info)
    check_result(target, source)
    copy, digest = UnfinishedCopy(target), sha256_of(source)

    def note_progress(share: float, text: str) -> None:
        copy.note(share, text)
        progress(share, text)

    with writing(target, ModelError, NETWORK_FILE), copy.making(f"{_KEPT_FORMAT} {digest} {settings}") as keep:
        steps = Steps(note_progress, keep)
        runtimes, calibration, held_out = play_games(info, settings, steps)
        model, layers, sensitivities, exact = _quantize(source, calibration, runtimes, settings, steps)
        note: dict[str, Any] = {
            "positions": sum(len(part.spatial) for part in calibration),
            "seed": settings.seed,
            "layers": layers - len(exact),
            "layers_in_float": sorted(exact),
        }
        with replacing(target) as unfinished:
            save_model(model, unfinished, note, digest)
            models = models_by_precision(source, unfinished, runtimes, settings.threads)
            differences, evaluations = compare(models, held_out, steps)
            save_model(model, unfinished, note | in_note(differences, evaluations), digest)
    title = runtimes["int8"].provider.title
    return Quantized(target, title, differences, evaluations, tuple(sensitivities), frozenset(exact))


def in_note(differences: Mapping[str, Difference], evaluations: Mapping[str, float]) -> dict[str, Any]:
    """Return the entries of a note for a comparison on this processor."""
    entries = {
        HELD_OUT: {name: entry._asdict() for name, entry in differences.items()},
        SPEEDS: {name: float(f"{value:.4g}") for name, value in evaluations.items()},
    }
    return entries if has_vnni(describe_machine()["simd"]) else {WITHOUT_VNNI: entries}


class Steps:
    """Turns the progress of each step into that of the whole, and keeps what it has computed."""

    def __init__(self, progress: StepProgress, keep: Keep = keep_nothing) -> None:
        self._progress: Final = progress
        self.keep: Final = keep

    def of(self, step: str, text: str) -> Callable[[int, int], None]:
        """Return what a step calls with the finished part of its work and all of it."""
        names = list(_STEPS)
        before = sum(_STEPS[name] for name in names[: names.index(step)])
        self._progress(before, text)
        return lambda done, total: self._progress(before + _STEPS[step] * done / total, f"{text}: {done} of {total}")


def check_quantizable(source: Path, info: NetworkInfo) -> None:
    """Raise ModelError unless the network can be quantized."""
    name = shown(source.name)
    if info.precision != "float32":
        raise ModelError(f"network {name} is already in {info.precision}", expected="one in float32")
    if not can_be_quantized(info):
        raise ModelError(
            f"network {name} is for {info.kind}, with inputs {info.encoder}",
            expected="one for policy and value with KataGo's inputs",
        )


def play_games(
    info: NetworkInfo, settings: QuantizeSettings, steps: Steps
) -> tuple[dict[str, Runtime], list[Inputs], list[Inputs]]:
    """Return the runtime for each precision, and inputs of games for calibration and validation.

    The network that ships plays them.
    """
    player = NetworkConfig(model=str(shipped_folder()), provider=settings.provider, network_threads=settings.threads)
    progress = steps.of("games", "playing games")
    evaluator = load_evaluator(player, log=lambda line: None)
    try:
        model = evaluator.models[0]
        assert isinstance(model, OnnxModel), "it was loaded from a file"
        runtimes = runtimes_by_precision(model.runtime.provider.name)
        examples = play_examples(
            evaluator, info, positions=settings.positions, seed=settings.seed, progress=progress, keep=steps.keep
        )
    finally:
        evaluator.close()
    return runtimes, *examples


def runtimes_by_precision(provider: str) -> dict[str, Runtime]:
    """Return the runtimes of a provider for a network and its quantized copy, by precision."""
    found = {"float32": runtimes_here(provider, "float32", ["float32"])[0]}
    found["int8"] = runtimes_here(provider, "auto", ["int8"])[0]
    usual = runtimes_here(provider, "auto", ["float32"])[0]
    return found | {usual.precision: usual}


def _quantize(
    source: Path,
    calibration: Sequence[Inputs],
    runtimes: Mapping[str, Runtime],
    settings: QuantizeSettings,
    steps: Steps,
) -> tuple[onnx.ModelProto, int, list[Sensitivity], set[str]]:
    """Return the quantized network, how many layers can be quantized, the loss from each, and those left in float."""
    model, exact_runtime = onnx.load(source), runtimes["float32"]
    layers = layers_of(model)
    if not layers:
        raise ModelError(f"network {shown(source.name)} has no layer that could be quantized")
    measuring = steps.of("ranges", "measuring the ranges of values")

    def measure() -> Arrays:
        found = measure_ranges(model, layers, calibration, exact_runtime, measuring)
        return {f"layer-{number}": np.stack(found[layer.source]) for number, layer in enumerate(layers)}

    kept = steps.keep("ranges", measure)
    ranges = {layer.source: Range(*kept[f"layer-{number}"]) for number, layer in enumerate(layers)}
    progress = steps.of("layers", "measuring the loss from each layer")
    quantized = quantized_model(model, layers, ranges)
    reference = sample_outputs(model, calibration, exact_runtime)
    loss = difference(reference, sample_outputs(quantized, calibration, runtimes["int8"]))
    if loss.policy_kl <= settings.good_enough and loss.winrate_error <= settings.good_enough_winrate:
        return quantized, len(layers), [], set()

    def outputs_of(left_out: set[str]) -> list[RawOutputs]:
        return sample_outputs(quantized_model(model, layers, ranges, left_out), calibration, exact_runtime)

    sensitivities = measure_sensitivities(layers, reference, outputs_of, progress, steps.keep)
    exact = choose_exact(sensitivities, settings.float_share)
    return quantized_model(model, layers, ranges, exact), len(layers), sensitivities, exact


def save_model(model: onnx.ModelProto, path: Path, note: dict[str, Any], digest: str) -> None:
    """Write the model with the original's metadata, its new precision, the hash of its file and `note`."""
    properties = {entry.key: entry.value for entry in model.metadata_props}
    properties |= {_PRECISION: "int8", QUANTIZED_FROM: digest, NOTE: json.dumps(note)}
    del model.metadata_props[:]
    onnx.helper.set_model_props(model, properties)
    path.write_bytes(model.SerializeToString())


def models_by_precision(
    source: Path, copy: Path, runtimes: Mapping[str, Runtime], threads: int
) -> dict[str, OnnxModel]:
    """Return a network and its quantized copy, ready to run, by precision; the caller closes them."""
    return {
        name: OnnxModel(copy if name == "int8" else source, runtime, threads=threads, batch=BATCH)
        for name, runtime in runtimes.items()
    }


def compare(
    models: Mapping[str, OnnxModel], held_out: Sequence[Inputs], steps: Steps
) -> tuple[dict[str, Difference], dict[str, float]]:
    """Return the difference of each precision from float32, and the speed of each; close the models."""
    progress = steps.of("comparison", "comparing the networks")
    outputs = {}
    for number, (name, model) in enumerate(models.items(), 1):
        outputs[name] = run_examples(model, held_out)
        progress(number, len(models))
    reference = outputs.pop("float32")
    differences = {name: difference(reference, found) for name, found in outputs.items()}
    largest = max(held_out, key=lambda part: part.spatial[0].size)
    evaluations = speeds(models, largest)
    for model in models.values():
        model.close()
    return differences, evaluations
