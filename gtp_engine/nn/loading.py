"""From the configuration to an evaluator: finding the files, choosing what runs them, falling back where it fails.

`network.model` names an ONNX file, or a folder with a network for each purpose: one for policy and value, or one for
each, and perhaps one for rollouts or `rollout-policy.npz`, a linear policy for them.  It may also be the name of a
network that ships with the engine (`shipped`); without it, the default one is loaded.  If a folder holds the same
network twice, in float32 and quantized to int8, `network.precision` chooses.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from gtp_engine.config.network import NetworkConfig
from gtp_engine.errors import ModelError, problem, shown, shown_path
from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.machine import describe_machine
from gtp_engine.nn.encoded_network import Network
from gtp_engine.nn.linear_policy_file import FILE_NAME as LINEAR_FILE
from gtp_engine.nn.linear_policy_file import read_linear_policy
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.nn.network_evaluator import NetworkEvaluator
from gtp_engine.nn.onnx_model import OnnxModel, installed_providers, read_info
from gtp_engine.nn.provider_trial import disagreement
from gtp_engine.nn.providers import Runtime, choose_runtimes
from gtp_engine.nn.shipped import model_path, shipped_networks

Log = Callable[[str], None]

_BOARD: Final = (19, 19)
_IMPORT_ADVICE: Final = "convert it with `gtp-engine models import`"


def load_evaluator(
    config: NetworkConfig, *, log: Log, board: tuple[int, int] = _BOARD, batch: int = 0
) -> NetworkEvaluator:
    """Return the evaluator that the configuration describes, ready for boards of `board` (width, height) points.

    `log` receives a line about what runs the network, and one for each provider that failed.  `batch` is the number of
    positions that callers pass to the evaluator in one call, 0: a number that suits network and machine.

    Raises ModelError, with one sentence, if there is no network or it cannot be used.
    """
    path = model_path(config.model)
    files = find_networks(path, config.precision)
    precision = next(iter(files.values()))[1].precision
    runtimes = choose_runtimes(
        config.provider,
        config.precision,
        network=precision,
        available=installed_providers(),
        simd=describe_machine()["simd"],
    )
    paths = {kind: path for kind, (path, _) in files.items()}
    linear_policy = read_linear_policy(path / LINEAR_FILE) if (path / LINEAR_FILE).exists() else None
    for runtime, following in zip(runtimes, [*runtimes[1:], None], strict=True):
        try:
            evaluator = _evaluator(paths, linear_policy, config, runtime, board, batch)
            _check_trust(evaluator, config, runtime)
        except ModelError as error:
            if following is None:
                raise
            log(f"{error}. {following.provider.title} runs the network instead.")
            continue
        info = evaluator.info
        log(f"Network {info.name}: {evaluator.runtime_text}, {info.batch} positions at a time.")
        return evaluator
    raise AssertionError("choose_runtimes returns at least one")


def find_networks(path: Path, precision: str = "auto") -> dict[str, tuple[Path, NetworkInfo]]:
    """Return the network for each purpose: "policy" and "value", which may be one file, and perhaps "rollout".

    `path` is a file or a folder; `precision` is the configuration's.  Raises ModelError.
    """
    if not path.exists():
        known = " or ".join(["an ONNX file", "a folder", *sorted(shipped_networks())])
        raise ModelError(problem(f"network {shown_path(path)}", expected=known))
    found = [(file, read_info(file)) for file in (_onnx_files(path) if path.is_dir() else [_onnx_file(path)])]
    chosen: dict[str, tuple[Path, NetworkInfo]] = {}
    for purpose in ("policy", "value", "rollout"):
        fitting = [(file, info) for file, info in found if purpose in info.kind.split("+")]
        if len({info.precision for _, info in fitting}) > 1:
            wanted = "int8" if precision == "int8" else "float32"
            fitting = [(file, info) for file, info in fitting if info.precision == wanted]
        if len(fitting) > 1:
            names = ", ".join(file.name for file, _ in fitting)
            raise ModelError(
                problem(
                    f"folder {shown(path.name)} has several {purpose} networks ({names})",
                    expected="one for each purpose",
                    advice="name a file",
                )
            )
        if fitting:
            chosen[purpose] = fitting[0]
    if missing := [purpose for purpose in ("policy", "value") if purpose not in chosen]:
        kinds = ", ".join(sorted({info.kind for _, info in found}))
        raise ModelError(
            problem(
                f"network {shown(path.name)} is for {kinds}",
                expected=f"one for {' and '.join(missing)} too",
                advice="put the files into one folder and name that",
            )
        )
    return chosen


def _onnx_file(path: Path) -> Path:
    """Return the path of a file that may be a network; raises ModelError for one in KataGo's own formats."""
    if path.suffix in (".gz", ".bin", ".txt"):
        raise ModelError(problem(f"network {shown(path.name)}", expected="an ONNX file", advice=_IMPORT_ADVICE))
    return path


def _onnx_files(folder: Path) -> Sequence[Path]:
    """Return the ONNX files in a folder, sorted by name; raises ModelError if there is none."""
    files = sorted(folder.glob("*.onnx"))
    if not files:
        raise ModelError(problem(f"folder {shown_path(folder)} holds no ONNX file", advice=_IMPORT_ADVICE))
    return files


def _evaluator(
    paths: dict[str, Path],
    linear_policy: LinearPolicy | None,
    config: NetworkConfig,
    runtime: Runtime,
    board: tuple[int, int],
    batch: int,
) -> NetworkEvaluator:
    """Return an evaluator of these files with its sessions created; raises ModelError."""
    networks = {
        path: Network(OnnxModel(path, runtime, threads=config.network_threads, batch=batch))
        for path in set(paths.values())
    }
    evaluator = NetworkEvaluator(
        networks[paths["policy"]],
        networks[paths["value"]],
        rollout=networks[paths["rollout"]] if "rollout" in paths else None,
        linear_policy=linear_policy,
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
