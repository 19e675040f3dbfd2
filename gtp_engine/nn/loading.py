"""From the configuration to an evaluator: finding the files, choosing what runs them, falling back where it fails.

`network.model` names an ONNX file, or a folder with a network for each purpose: one for policy and value, or one for
each, and perhaps one for rollouts or `rollout-policy.npz`, a linear policy for them.  It may also be the name of a
network (`named_networks`); without it, the default one is loaded.  Where a network exists both in float32 and
quantized to 8 bits (`network_files`), `network.precision` chooses, by default what suits the processor (`providers`).
"""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from gtp_engine.config.sections import NetworkConfig
from gtp_engine.errors import ModelError
from gtp_engine.machine import describe_machine
from gtp_engine.nn.encoded_network import EncodedNetwork
from gtp_engine.nn.named_networks import model_path
from gtp_engine.nn.network_evaluator import NetworkEvaluator
from gtp_engine.nn.network_files import find_networks, quantization_hint
from gtp_engine.nn.onnx_model import OnnxModel, installed_providers
from gtp_engine.nn.plug_ins import read_rollout_weights
from gtp_engine.nn.provider_trial import disagreement
from gtp_engine.nn.providers import Runtime, choose_runtimes

Log = Callable[[str], None]

_BOARD: Final = (19, 19)


def load_evaluator(
    config: NetworkConfig, *, log: Log, board: tuple[int, int] = _BOARD, batch: int = 0
) -> NetworkEvaluator:
    """Return the evaluator that the configuration describes, ready for boards of `board` (width, height) points.

    `log` receives a line about what runs the network, one for each provider that failed, and hints.  `batch` is the
    number of positions that callers pass to the evaluator in one call, 0: a number that suits network and machine.

    Raises ModelError, with one sentence, if there is no network or it cannot be used.
    """
    path = model_path(config.model)
    files = find_networks(path)
    for remark in {entry.remark for entry in files.values()} - {""}:
        log(remark)
    simd = describe_machine()["simd"]
    runtimes = choose_runtimes(
        config.provider,
        config.precision,
        networks=files["policy"].paths,
        available=installed_providers(),
        simd=simd,
        quality=files["policy"].quality,
    )
    weights = read_rollout_weights(path)
    for runtime, following in zip(runtimes, [*runtimes[1:], None], strict=True):
        paths = {purpose: entry.path(runtime.precision) for purpose, entry in files.items()}
        try:
            evaluator = _evaluator(paths, weights, config, runtime, board, batch)
            _check_trust(evaluator, config, runtime)
        except ModelError as error:
            if following is None:
                raise
            log(f"{error}. {following.provider.title} runs the network instead.")
            continue
        info = evaluator.info
        text = f"Network {info.name}: {runtime.title}, up to {info.batch} positions at a time."
        log(" ".join([text, *runtime.reasons[-1:]]))
        if config.precision == "auto" and (hint := quantization_hint(files["policy"], runtime.provider, simd)):
            log(hint)
        return evaluator
    raise AssertionError("choose_runtimes returns at least one")


def _evaluator(
    paths: dict[str, Path],
    rollout_weights: object,
    config: NetworkConfig,
    runtime: Runtime,
    board: tuple[int, int],
    batch: int,
) -> NetworkEvaluator:
    """Return an evaluator of these files with its sessions created; raises ModelError."""
    networks = {
        path: EncodedNetwork(OnnxModel(path, runtime, threads=config.network_threads, batch=batch))
        for path in set(paths.values())
    }
    evaluator = NetworkEvaluator(
        networks[paths["policy"]],
        networks[paths["value"]],
        rollout=networks[paths["rollout"]] if "rollout" in paths else None,
        rollout_weights=rollout_weights,
        config=config,
    )
    if all(network.model.info.sizes.include(*board) for network in networks.values()):
        evaluator.prepare(*board)
    else:  # the game will be on another board, but a damaged file should be found now
        for network in networks.values():
            network.model.prepare(*network.model.info.sizes.usual)
    return evaluator


def _check_trust(evaluator: NetworkEvaluator, config: NetworkConfig, runtime: Runtime) -> None:
    """Raise ModelError if a provider that `auto` chose fails its trial against the plain CPU provider."""
    if config.provider == "auto" and not runtime.provider.is_cpu:
        for network in evaluator.networks:
            reason = disagreement(network.model)
            if reason is not None:
                raise ModelError(f"{runtime.provider.title} {reason}")
