"""Quantizes a float32 network file to int8: games, ranges, sensitivities, the new file, and its comparison.

The gain of each step, as policy KL from float32 on held-out 19×19 positions of b6c96 / b15c192:

    all convolutions of the trunk but the first, weights by channel, no clipping           0.0018 / 0.0020
    inputs of layers equalized (`ranges.EQUALIZATION`)                                     0.0015 / 0.0012
    bias corrected for the mean lost by rounding                                           0.0013 / 0.0011
    layers that lose far more than their share left in floating point (`sensitivity`)      none / two layers

Results on 19×19 with OpenVINO on two busy Zen 4 cores, on positions of games not used for calibration:

                  policy KL   same first move   win rate error   speed, bfloat16 = 1
    b6c96           0.0011         98.1 %           0.0028              1.75
    b15c192         0.0010         98.8 %           0.0024              1.85
    b18c384nbt      0.0021         96.9 %           0.0048              1.59
    bfloat16    0.0001–0.0002   98.8–99.4 %     0.0008–0.0020           1

The rest runs in bfloat16 where the processor has it: with float32 instead, b6c96 reached 1.2 times the speed of
bfloat16, not 1.6.

Tried without gain: clipping rare large inputs, by percentile (99.99 %: 6 to 15 times the KL) or where the squared
error is least (1.1 to 1.7 times); symmetric integers for Mish, which is never far below 0 (2.6 times); equalizing by
the weights' sizes as well (better for b6c96, worse for b18c384nbt).
"""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import onnx

from gtp_engine.config.network import NetworkConfig
from gtp_engine.errors import ModelError, problem, shown, shown_path
from gtp_engine.machine import describe_machine
from gtp_engine.networks.quantization.calibration_inputs import Examples, play_examples
from gtp_engine.networks.quantization.compare import Difference, difference, run_examples, speeds
from gtp_engine.networks.quantization.ranges import measure_ranges
from gtp_engine.networks.quantization.rewrite import quantized_model
from gtp_engine.networks.quantization.sensitivity import Sensitivity, choose_exact, measure_sensitivities
from gtp_engine.networks.quantization.target_layers import NetworkGraph
from gtp_engine.nn.loading import load_evaluator
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.nn.onnx_model import OnnxModel, installed_providers, read_info
from gtp_engine.nn.providers import Runtime, choose_runtimes

Log = Callable[[str], None]
Progress = Callable[[int, int], None]

BATCH: Final = 8
"""Batch size for comparing networks."""

_PRECISION: Final = "tengen.precision"
_NOTE: Final = "tengen.quantization"
"""Metadata about the quantization and its comparison with the original: a JSON object."""


@dataclass(frozen=True)
class QuantizeSettings:
    """The settings of a quantization."""

    positions: int = 384
    """Positions from games, two thirds of them for calibration and one third for validation."""
    seed: int = 1
    """Seed of the games."""
    float_share: float = 0.1
    """Largest share of the trunk's work that stays in floating point."""
    provider: str = "auto"
    threads: int = 0
    """0: all cores."""


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
    """Losses of the layers that can be quantized."""
    exact: frozenset[str]
    """Tensors of the layers that were left in floating point."""


def quantize_file(source: Path, target: Path, settings: QuantizeSettings, *, log: Log, progress: Progress) -> Quantized:
    """Write a quantized copy of the network file `source` to `target`, and return the comparison.

    `log` is called with a line at the start of each step, `progress` with the finished part of a long step and its
    total.  A file at `target` is replaced once the new one is complete.

    Raises ModelError if the network cannot be read, or is not a float32 network with policy and value.
    """
    info = read_info(source)
    _check(source, info)
    log("Playing games …")
    runtimes, calibration, held_out = _play(source, info, settings, log, progress)
    model, sensitivities, exact = _quantize(source, calibration, runtimes["float32"], settings, log, progress)
    note: dict[str, Any] = {
        "positions": sum(map(len, calibration)),
        "seed": settings.seed,
        "layers": len(sensitivities) - len(exact),
        "layers_in_float": sorted(exact),
    }
    log("Comparing the networks …")
    with _replacing(target) as unfinished:
        _save(model, unfinished, note)
        differences, evaluations = _compare(source, unfinished, held_out, runtimes, settings.threads)
        note["held_out"] = {name: asdict(entry) for name, entry in differences.items()}
        note["evaluations_per_second"] = {name: round(value, 1) for name, value in evaluations.items()}
        _save(model, unfinished, note)
    title = runtimes["int8"].provider.title
    return Quantized(target, title, differences, evaluations, tuple(sensitivities), frozenset(exact))


def _check(source: Path, info: NetworkInfo) -> None:
    """Raise ModelError unless the network can be quantized."""
    name = shown(source.name)
    if info.precision != "float32":
        raise ModelError(problem(f"network {name} is already in {info.precision}", expected="one in float32"))
    if info.kind != "policy+value" or info.encoder != "katago-v7":
        raise ModelError(
            problem(
                f"network {name} is for {info.kind}, with inputs {info.encoder}",
                expected="one for policy and value with KataGo's inputs, which can play the games for calibration",
            )
        )


def _play(
    source: Path, info: NetworkInfo, settings: QuantizeSettings, log: Log, progress: Progress
) -> tuple[dict[str, Runtime], list[Examples], list[Examples]]:
    """Return the runtime for each precision, and inputs from games of the network for calibration and validation."""
    config = NetworkConfig(model=str(source), provider=settings.provider, network_threads=settings.threads)
    evaluator = load_evaluator(config, log=log)
    try:
        runtimes = _runtimes(evaluator.networks[0].model.runtime.provider.name)
        examples = play_examples(evaluator, info, positions=settings.positions, seed=settings.seed, progress=progress)
    finally:
        evaluator.close()
    return runtimes, *examples


def _runtimes(provider: str) -> dict[str, Runtime]:
    """Return the runtimes of a provider for a network and its quantized copy, by precision."""

    def runtime(precision: str, network: str) -> Runtime:
        simd = describe_machine()["simd"]
        return choose_runtimes(provider, precision, network=network, available=installed_providers(), simd=simd)[0]

    found = {"float32": runtime("float32", "float32"), "int8": runtime("auto", "int8")}
    usual = runtime("auto", "float32")
    return found | {usual.precision: usual}


def _quantize(
    source: Path,
    calibration: Sequence[Examples],
    runtime: Runtime,
    settings: QuantizeSettings,
    log: Log,
    progress: Progress,
) -> tuple[onnx.ModelProto, list[Sensitivity], set[str]]:
    """Return the quantized network, the loss from each layer, and the tensors of layers left in floating point."""
    model = onnx.load(source)
    layers = NetworkGraph(model).layers()
    if not layers:
        raise ModelError(problem(f"network {shown(source.name)} has no layer that could be quantized"))
    log("Measuring the range of each layer's input …")
    ranges = measure_ranges(model, layers, calibration, runtime)
    log("Measuring the loss from each layer …")
    sensitivities = measure_sensitivities(model, layers, ranges, calibration, runtime, progress)
    exact = choose_exact(sensitivities, settings.float_share)
    return quantized_model(model, layers, ranges, exact), sensitivities, exact


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """Yield the path of a file that replaces `target` on success; raises ModelError."""
    unfinished = target.with_name(target.name + ".part")
    try:
        yield unfinished
        os.replace(unfinished, target)
    except OSError as error:
        raise ModelError(problem(f"network file {shown_path(target)} cannot be written ({error.strerror})")) from error
    finally:
        unfinished.unlink(missing_ok=True)


def _save(model: onnx.ModelProto, path: Path, note: dict[str, Any]) -> None:
    """Write the model with the original's metadata, its new precision and `note`."""
    properties = {entry.key: entry.value for entry in model.metadata_props}
    properties |= {_PRECISION: "int8", _NOTE: json.dumps(note)}
    del model.metadata_props[:]
    onnx.helper.set_model_props(model, properties)
    path.write_bytes(model.SerializeToString())


def _compare(
    source: Path, quantized: Path, held_out: Sequence[Examples], runtimes: dict[str, Runtime], threads: int
) -> tuple[dict[str, Difference], dict[str, float]]:
    """Return the difference of each precision from float32, and the speed of each."""
    models = {
        name: OnnxModel(quantized if name == "int8" else source, runtime, threads=threads, batch=BATCH)
        for name, runtime in runtimes.items()
    }
    outputs = {name: run_examples(model, held_out) for name, model in models.items()}
    reference = outputs.pop("float32")
    differences = {name: difference(reference, found) for name, found in outputs.items()}
    largest = max(held_out, key=lambda part: part.width * part.height)
    evaluations = speeds(models, largest)
    for model in models.values():
        model.close()
    return differences, evaluations
