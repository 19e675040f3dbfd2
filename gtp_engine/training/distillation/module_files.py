"""Files of networks in training: a module from a file, as a teacher too, and a module's network file.

module_of_file         the network in a checkpoint, in a file that was exported here, or in one of KataGo's
module_of_checkpoint   the averaged network of a run
TorchModel             such a network run by torch: a teacher on a GPU without an ONNX Runtime that supports it
export_network         writes a module as a network file, compared with the module
"""

import threading
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gtp_engine.base.errors import ModelError, shown
from gtp_engine.base.files import sha256_of
from gtp_engine.evaluation.evaluator_info import ANY_BOARD, BoardSizes
from gtp_engine.evaluation.positions import FloatArray
from gtp_engine.nn.katago_format.description import Network
from gtp_engine.nn.katago_format.parser import load_network
from gtp_engine.nn.loading import store_evaluation
from gtp_engine.nn.metadata import NetworkInfo, read_metadata, write_model
from gtp_engine.nn.network_evaluator import ReadyModel
from gtp_engine.nn.network_files import is_katago_file
from gtp_engine.nn.onnx_export.build import build_model
from gtp_engine.nn.onnx_export.convert import KATAGO_LICENSE, info_of_network
from gtp_engine.nn.onnx_model import OnnxModel, RawOutputs, random_inputs
from gtp_engine.nn.providers import PROVIDERS, Runtime
from gtp_engine.training.core.checkpoint import Checkpoint, check_output, read_checkpoint
from gtp_engine.training.core.devices import choose_machine, compiled
from gtp_engine.training.distillation.batches import unpack_bits
from gtp_engine.training.distillation.distillation_settings import GenerateSettings
from gtp_engine.training.nets.architecture import PROPERTY, architecture_of, empty_network, read_onnx
from gtp_engine.training.nets.network_module import NetworkModule

KIND: Final = "distillation"
"""The kind of the checkpoints."""
CHECKPOINT_SUFFIX: Final = ".pt"

MOST_ROWS: Final = 4096
"""Positions that go through a network together: 1.5 million points on 19×19, which fill any GPU."""
_COMPILING: Final = threading.Lock()
"""Held while a compiled network is called: torch refuses to compile in two threads at once ("symbolically trace a
dynamo-optimized function").  On a GPU a call only launches the work."""
_CHECKED_BOARDS: Final = ((9, 9), (7, 5))
_CHECKED_POSITIONS: Final = 4
_SEED: Final = 1


def module_of_checkpoint(checkpoint: Checkpoint) -> NetworkModule:
    """Return the network with averaged weights, on the CPU and in evaluation; raises ModelError for another kind."""
    checkpoint.check_kind(KIND)
    module = NetworkModule(empty_network(checkpoint.network["architecture"]))
    module.load_state_dict(checkpoint.weights)
    module.count_statistics(checkpoint.network["counts_statistics"])
    return module.eval()


def module_of_file(path: Path) -> NetworkModule:
    """Return the network in a checkpoint, an ONNX file that was exported here, or a file of KataGo's."""
    if path.suffix == CHECKPOINT_SUFFIX:
        return module_of_checkpoint(read_checkpoint(path))
    if path.suffix == ".onnx":
        return NetworkModule(read_onnx(path))
    if is_katago_file(path):
        return NetworkModule(load_network(path))
    raise ModelError(
        f"network {shown(path.name)}", expected="a checkpoint (.pt), an .onnx file or one of KataGo's (.bin.gz)"
    )


# Teachers


class TorchModel(ReadyModel):
    """The network of a file (`module_of_file`) on a device; several threads may use it.

    If the settings say so, torch compiles it when it runs first.  Raises ModelError if the file cannot be used.
    """

    def __init__(self, path: Path, settings: GenerateSettings) -> None:
        self.machine: Final = choose_machine("auto", settings.precision, threads=settings.threads)
        module = module_of_file(path)
        self.info = info_of_file(path, module)
        placed: Any = self.machine.place(module).eval().requires_grad_(False)
        self._module: Final = compiled(placed) if settings.compiled else placed
        self._is_compiled: Final = settings.compiled
        self.batch = MOST_ROWS
        """The most positions of a call to the network; more are split, and less is used once memory was too small."""
        self.files = (path,)
        self.precision = settings.precision

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the outputs for `spatial` [K, planes, H, W] and `globals_` [K, globals]."""
        count, planes, height, width = spatial.shape
        bits = np.packbits(spatial.reshape(count, planes, -1) > 0, axis=2)
        return self.run_bits(bits, globals_, width, height)

    def run_bits(self, bits: NDArray[np.uint8], globals_: FloatArray, width: int, height: int) -> RawOutputs:
        """Return the outputs for the bits [K, planes, ⌈A/8⌉] of planes, which are unpacked on the device.

        Where memory is too small, half as many positions go through the network together.
        """
        self.machine.use_threads()
        parts: list[list[FloatArray]] = []
        begin = 0
        while begin < len(bits):
            chosen = slice(begin, begin + self.batch)
            packed, values = torch.from_numpy(bits[chosen]), torch.from_numpy(globals_[chosen])
            try:
                parts.append(self._run(packed, values, width, height))
            except torch.OutOfMemoryError:
                rows = len(packed)
                if rows == 1:
                    raise
                self.batch = rows // 2
                torch.cuda.empty_cache()
            else:
                begin = chosen.stop
        return RawOutputs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def _run(self, packed: Tensor, globals_: Tensor, width: int, height: int) -> list[FloatArray]:
        """Return the outputs for some positions, which come from the device in one piece."""
        device, count = self.machine.device, len(packed)
        if count == 1 and self._is_compiled:  # twice, because torch would compile once more for a single position
            packed, globals_ = (torch.cat([each, each]) for each in (packed, globals_))
        with torch.inference_mode():
            with _COMPILING if self._is_compiled else nullcontext():
                planes = unpack_bits(packed.to(device), width, height)
                outputs = self.machine.run(self._module, planes, globals_.to(device))
            joined = torch.cat([each.flatten(1) for each in outputs], dim=1)[:count].cpu().numpy()
        sizes = [each[0].numel() for each in outputs]
        parts = np.split(joined, np.cumsum(sizes)[:-1], axis=1)
        return [part.reshape(count, *each.shape[1:]) for part, each in zip(parts, outputs, strict=True)]


def info_of_file(path: Path, module: NetworkModule) -> NetworkInfo:
    """Return the metadata of a file with this network, with the file's hash unless that of its source is recorded."""
    digest = sha256_of(path)
    if path.suffix == ".onnx":
        info = read_metadata(path)
        return replace(info, source_sha256=info.source_sha256 or digest)
    is_ours = path.suffix == ".pt"
    terms = "" if is_ours else KATAGO_LICENSE
    return info_of_network(module.network, origin=path.name, terms=terms, sha256=digest, advantages=not is_ours)


# Export


def export_network(
    module: NetworkModule,
    target: Path,
    *,
    name: str,
    origin: str,
    terms: str,
    advantages: bool = False,
    sizes: BoardSizes = ANY_BOARD,
) -> None:
    """Write `module` (on the CPU, in evaluation) to `target`, an ONNX file; `terms` is the licence of the weights.

    `advantages` says whether it was trained with playout doubling advantages, `sizes` which boards it is to play.

    A file at `target` is replaced once the new one is complete and agrees with the module.  Raises ModelError, with the
    difference, if it does not.
    """
    network = replace(module.describe(), name=name)
    info = info_of_network(network, origin=origin, terms=terms, sha256="", advantages=advantages)
    model = model_of(network, replace(info, sizes=sizes))

    def check(path: Path) -> None:
        check_file(path, module)
        store_evaluation(path)

    write_model(model, target, check)


def model_of(network: Network, info: NetworkInfo) -> Any:
    """Return a network as an `onnx.ModelProto` that can be read back."""
    model = build_model(network, info)
    model.metadata_props.add(key=PROPERTY, value=architecture_of(network))
    return model


def check_file(path: Path, module: NetworkModule) -> None:
    """Raise ModelError if the outputs of the network file and of `module` differ on random inputs."""
    model = OnnxModel(path, Runtime(PROVIDERS["cpu"], "float32"))
    for width, height in (board,) if (board := model.info.sizes.only) else _CHECKED_BOARDS:
        spatial, globals_ = random_inputs(model.info, _CHECKED_POSITIONS, (width, height))
        globals_ = np.random.default_rng(_SEED).random(globals_.shape, dtype=np.float32)
        with torch.no_grad():
            expected = module.float()(torch.from_numpy(spatial), torch.from_numpy(globals_))
        for name, found, wanted in zip(expected._fields, model.run(spatial, globals_), expected, strict=True):
            assert found is not None, "KataGo's networks have all outputs"
            check_output(found, wanted.numpy(), f"network's {name} on {width}×{height}")
    model.close()
