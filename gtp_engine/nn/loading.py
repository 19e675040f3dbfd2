"""From the configuration to an evaluator: finding the files, choosing what runs them, falling back where it fails.

`network.model` names an ONNX file, or a folder with a network for each purpose: one for policy and value, or one for
each, and perhaps one for rollouts or `rollout-policy.npz`, a linear policy for them; others beside them may play one
board each (`network_files`).  It may also be the name of a network (`named_networks`); without it, the default one is
loaded.  Where a network exists both in float32 and quantized to 8 bits (`network_files`), `network.precision` chooses,
by default what suits the processor (`providers`).

Graphics and neural processors calculate in formats of their own, in which some networks overflow, and small networks
may run faster on the processor.  So `auto` uses such a provider only after a trial: its outputs must agree with those
of plain ONNX Runtime, and come faster than from what would run the network on the processor (`disagreement`).  Half
precision, which comes first on cards, has to agree also on a provider that was named.

A network whose weights are damaged returns NaN or numbers beyond all reason, or it plays badly.  So every network is
run once before it evaluates anything.  Where the file holds what it found when it was written (`store_evaluation`), and
the board is the usual one, it has to find about the same.
"""

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from gtp_engine.base.errors import ModelError, of_kind, shown
from gtp_engine.base.files import json_of
from gtp_engine.base.machine import describe_machine
from gtp_engine.base.streams import Log
from gtp_engine.config.sections import NetworkConfig
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.call_times import CallTimes, call_times, fastest_call
from gtp_engine.nn.metadata import add_property, info_of, read_properties
from gtp_engine.nn.named_networks import model_path
from gtp_engine.nn.network_evaluator import Model, NetworkEvaluator
from gtp_engine.nn.network_files import NetworkFiles, find_networks, quantization_hint
from gtp_engine.nn.onnx_model import OnnxModel, RawOutputs, installed_providers, random_inputs, runtimes_here
from gtp_engine.nn.onnxruntime_session import plug_in_troubles
from gtp_engine.nn.plug_ins import read_rollout_weights
from gtp_engine.nn.providers import OPENVINO, PROVIDERS, Runtime, for_cards

LARGEST_CHANGE: Final = 0.25
"""Largest difference from what a file holds: here 8 bits may run what was written in float32."""

LARGEST_DIFFERENCE: Final = 0.05
"""Largest difference of probabilities or results: several times that of bfloat16, far less than that of a fault."""


_COMPARED: Final = 8
"""Most positions for which outputs are compared: on the processor a full batch for a card would take seconds."""


def disagreement(model: Model, rival: Model | None = None) -> str | None:
    """Return why a model's provider should not be used (the end of a sentence), or None if it passes.

    `rival` is what would run the network otherwise; None: the speed does not matter.  Raises ModelError if a session
    cannot be created.
    """
    spatial, globals_ = random_inputs(model.info, model.batch)
    count = min(model.batch, _COMPARED)
    plain = OnnxModel(model.files[0], Runtime(PROVIDERS["cpu"], "float32"), batch=count)
    expected = plain.run(spatial[:count], globals_[:count])
    plain.close()
    found = model.run(spatial, globals_)
    pairs = zip(_probabilities(found), _probabilities(expected), strict=True)
    differences = [float(np.abs(a[:count] - b).max()) for a, b in pairs if a is not None and b is not None]
    if not np.max([0.0, *differences]) <= LARGEST_DIFFERENCE:  # NaN if any of them is, and a comparison with it false
        return "gives other results than the CPU"
    if rival is not None:
        factor = fastest_call(model, model.batch) / fastest_call(rival, rival.batch) * rival.batch / model.batch
        if factor > 1.0:
            return f"takes {factor:.1f} times as long as the CPU"
    return None


EVALUATION: Final = "tengen.evaluation"
"""The property of a file for what `store_evaluation` keeps: {"moves": {number: probability}, "value": [result, …]}."""

_KEPT_MOVES: Final = 5

_LARGEST_OUTPUT: Final = 1e4
"""Size of any output beyond which weights are damaged; logits are some dozen at most."""

_DAMAGED: Final = "the file is damaged: import it again"


def store_evaluation(path: Path) -> None:
    """Add to a network file, which lacks it, what the network finds in a position of random stones.

    Raises ModelError if it finds NaN or numbers beyond all reason, or cannot be run.
    """
    provider = "cpu" if "cpu" in installed_providers() else OPENVINO
    model = OnnxModel(path, Runtime(PROVIDERS[provider], "float32"), batch=1)
    policy, results = _probabilities(_sane_outputs(model, model.info.sizes.usual, path))
    model.close()
    kept: dict[str, object] = {}
    if policy is not None:
        likely = np.argsort(-policy[0])[:_KEPT_MOVES]
        kept["moves"] = {str(move): round(float(policy[0, move]), 4) for move in likely}
    if results is not None:
        kept["value"] = [round(float(result), 4) for result in results[0]]
    add_property(path, EVALUATION, json.dumps(kept))


def check_evaluation(model: Model, board: tuple[int, int], file: Path) -> None:
    """Raise ModelError for a network whose weights are damaged, as far as a position on this board shows.

    `file` is that of the network for this board.
    """
    (policy, results), properties = _probabilities(_sane_outputs(model, board, file)), read_properties(file)
    if board != info_of(properties).sizes.usual:
        return
    try:
        kept = json_of(properties.get(EVALUATION, "{}"))
        pairs = [] if results is None else [*zip(results[0], kept.get("value", []), strict=False)]
        if policy is not None:
            pairs += [(policy[0, int(move)], share) for move, share in kept.get("moves", {}).items()]
        difference = max((abs(float(a) - float(b)) for a, b in pairs), default=0.0)
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise ModelError(f"network {shown(file.name)}: {EVALUATION} cannot be read", advice=_DAMAGED) from error
    if not difference <= LARGEST_CHANGE:
        given = f"network {shown(file.name)} is off by {difference:.2f} from what it found when it was written"
        raise ModelError(given, expected=f"at most {LARGEST_CHANGE}", advice=_DAMAGED)


def _sane_outputs(model: Model, board: tuple[int, int], file: Path) -> RawOutputs:
    """Return the outputs for a position of random stones; raises ModelError, with the file's name, if they are none."""
    outputs = model.run(*random_inputs(model.info, 1, board))
    if all(output is None or bool((np.abs(output) < _LARGEST_OUTPUT).all()) for output in outputs):  # NaN is not
        return outputs
    raise ModelError(f"network {shown(file.name)} returns NaN, infinity or absurd numbers", advice=_DAMAGED)


def _probabilities(outputs: RawOutputs) -> tuple[FloatArray | None, FloatArray | None]:
    """Return those of moves and of KataGo's results, or values as they are; None for an output that is not there."""
    policy, value = outputs.policy, outputs.value
    if value is not None and value.shape[1] > 1:
        value = _softmax(value)
    return None if policy is None else _softmax(policy[:, 0]), value


def _softmax(logits: FloatArray) -> FloatArray:
    """Return probabilities along the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True), dtype=np.float32)


def load_evaluator(
    config: NetworkConfig, *, log: Log, board: tuple[int, int] = (19, 19), batch: int = 0, needs_value: bool = True
) -> NetworkEvaluator:
    """Return the evaluator that the configuration describes, ready for boards of `board` (width, height) points.

    `log` receives lines: what runs the network, why, each provider that failed, and hints.  `batch` is the number of
    positions that callers pass to the evaluator in one call, 0: a number that suits network and machine.
    Without `needs_value` a policy alone will do.

    Raises ModelError, with one sentence, if there is no network or it cannot be used.

        evaluator = load_evaluator(Config().network, log=print)
    """
    path = model_path(of_kind(config, NetworkConfig, "config").model)
    files = find_networks(path, needs_value=needs_value)
    for remark in {each.remark for entry in files.values() for each in entry.networks} - {""}:
        log(remark)
    troubles = plug_in_troubles() if config.provider not in ("cpu", OPENVINO) else {}
    if config.provider in troubles:
        raise ModelError(troubles[config.provider])
    for trouble in troubles.values():
        log(f"{trouble}.")
    runtimes = runtimes_here(config.provider, config.precision, files["policy"].paths, files["policy"].quality)
    runtimes = for_cards(runtimes, config.precision, config.device)
    on_processor = next((runtime for runtime in runtimes if runtime.provider.is_cpu), None)
    weights = read_rollout_weights(path)
    for runtime, following in zip(runtimes, [*runtimes[1:], None], strict=True):
        try:
            evaluator = _evaluator(files, weights, config, runtime, board, batch)
            if not runtime.provider.is_cpu and "auto" in (config.provider, config.precision):
                rival = on_processor if config.provider == "auto" else None
                _check_trust(evaluator, runtime, rival, files["policy"], config.network_threads)
        except ModelError as error:
            if following is None:
                raise
            log(f"{error}. {following.title} runs the network instead.")
            continue
        info = evaluator.info
        others = [f", on {w}x{h} {other.info.name}" for (w, h), other in files["policy"].for_boards.items()]
        log(f"Network {info.name}{''.join(others)}: {runtime.title}, up to {info.batch} positions at a time.")
        for why in runtime.reasons[-1:]:
            log(why)
        simd = describe_machine()["simd"]
        if config.precision == "auto" and (hint := quantization_hint(files["policy"], runtime.provider, simd)):
            log(hint)
        return evaluator
    raise AssertionError("choose_runtimes returns at least one")


def _evaluator(
    files: dict[str, NetworkFiles],
    rollout_weights: object,
    config: NetworkConfig,
    runtime: Runtime,
    board: tuple[int, int],
    batch: int,
) -> NetworkEvaluator:
    """Return an evaluator of these files, which have been run once; raises ModelError."""
    by_path = {entry.path(runtime.precision): entry for entry in files.values()}
    threads = config.network_threads
    models = {path: _LoadedModel(entry, runtime, threads=threads, batch=batch) for path, entry in by_path.items()}
    all_play = all(model.info.sizes.include(*board) for model in models.values())
    for model in models.values():  # if the game will be on another board, a damaged file should still be found now
        model.check(board if all_play else model.info.sizes.usual)
    by_purpose = {purpose: models[entry.path(runtime.precision)] for purpose, entry in files.items()}
    searching = [*dict.fromkeys(model for purpose, model in by_purpose.items() if purpose != "rollout")]
    boards = {board for entry in files.values() for board in entry.for_boards}
    times = call_times(searching, board, threads=threads) if all_play and not batch else CallTimes()
    chosen = {board: [entry.for_boards.get(board, entry) for entry in files.values()] for board in boards}
    evaluator = NetworkEvaluator(
        by_purpose["policy"],
        by_purpose.get("value"),
        rollout=by_purpose.get("rollout"),
        rollout_weights=rollout_weights,
        config=config,
    )
    names = {board: " + ".join(dict.fromkeys(each.info.name for each in entries)) for board, entries in chosen.items()}
    evaluator.info = replace(evaluator.info, call_seconds=times.alone, pair_seconds=times.pairs, names_by_board=names)
    return evaluator


class _LoadedModel(OnnxModel):
    """The network of some files; each of them is checked for damage before it evaluates for the first time."""

    def __init__(self, files: NetworkFiles, runtime: Runtime, *, threads: int, batch: int) -> None:
        for_boards = {board: each.path(runtime.precision) for board, each in files.for_boards.items()}
        path = files.path(runtime.precision)
        super().__init__(path, runtime, threads=threads, batch=batch, for_boards=for_boards)
        self._unchecked: Final[set[Path]] = {*self.files}
        self._checking: Final = threading.RLock()  # which the thread that checks may take again, to run the network

    def check(self, board: tuple[int, int]) -> None:
        """Raise ModelError if the network does not play this board, cannot be run, or is damaged.

        That takes a session for one position; the others are created by `prepare`, beside the kernels at a start.
        Other threads wait meanwhile.
        """
        file = self.file_for(board)
        with self._checking:
            if file in self._unchecked:
                self._unchecked.remove(file)
                try:
                    check_evaluation(self, board, file)
                except ModelError:
                    self._unchecked.add(file)
                    raise

    def prepare(self, width: int, height: int) -> None:
        """Get ready for boards of this size; raises ModelError."""
        super().prepare(width, height)
        self.check((width, height))

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the outputs; see `OnnxModel`.  Raises ModelError if the network is damaged."""
        height, width = spatial.shape[2:]
        self.check((width, height))
        return super().run(spatial, globals_)


def _check_trust(
    evaluator: NetworkEvaluator, runtime: Runtime, rival: Runtime | None, files: NetworkFiles, threads: int
) -> None:
    """Raise ModelError if a runtime fails its trial against plain ONNX Runtime and, in speed, against a rival."""
    for model in evaluator.models:
        other: OnnxModel | None = None
        if rival is not None:
            path = model.files[0]
            path = files.path(rival.precision) if path in files.paths.values() else path
            other = OnnxModel(path, rival, threads=threads)
        reason = disagreement(model, other)
        if reason is not None:
            raise ModelError(f"{runtime.title} {reason}")
