"""A network run by torch: a teacher on a GPU without an ONNX Runtime that supports it.

TorchModel     the network of a file as `nn.encoded_network.Model`
TorchTeacher   returns an evaluator of it, like `workers.OnnxTeacher`
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.files import sha256_of
from gtp_engine.networks.onnx_export import info_of_network
from gtp_engine.networks.onnx_export.convert import KATAGO_LICENSE
from gtp_engine.nn.metadata import NetworkInfo, read_info
from gtp_engine.nn.network_evaluator import uncached_evaluator
from gtp_engine.nn.onnx_model import RawOutputs
from gtp_engine.training.core.devices import choose_machine, compiled
from gtp_engine.training.distillation.batches import unpack_bits
from gtp_engine.training.distillation.module_files import module_of_file
from gtp_engine.training.distillation.workers import TeacherInfo
from gtp_engine.training.nets.network_module import NetworkModule

MOST_ROWS: Final = 4096
"""Positions that go through a network together: 1.5 million points on 19×19, which fill any GPU."""


class TorchModel:
    """The network of a file (`module_files.module_of_file`) on a device; several threads may use it.

    Raises ModelError if the file cannot be used, ConfigError for a device that does not exist.
    """

    def __init__(
        self, path: Path, *, device: str = "auto", precision: str = "auto", threads: int = 0, rows: int = MOST_ROWS
    ) -> None:
        self.machine: Final = choose_machine(device, precision, threads=threads)
        module = module_of_file(path)
        self.info = _info(path, module)
        self._module: Any = self.machine.place(module).eval().requires_grad_(False)
        self._is_compiled = False
        self._rows = rows
        self.path: Final = path
        self.precision: Final = precision
        self.position_seconds: Final = 0.0

    @property
    def batch(self) -> int:
        """The most positions of a call to the network."""
        return self._rows

    def prepare(self, width: int, height: int) -> None:
        """Do nothing: every board is ready."""

    def close(self) -> None:
        """Do nothing: the memory is freed with this object."""

    @property
    def rows(self) -> int:
        """The most positions of a call to the network; more are split, and less is used once memory was too small."""
        return self._rows

    def compile(self) -> Callable[[], None]:
        """Have torch compile the network when it runs next; return what takes that back."""
        eager = self._module
        self._module, self._is_compiled = compiled(eager), True

        def undo() -> None:
            self._module, self._is_compiled = eager, False

        return undo

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the outputs for `spatial` [K, planes, H, W] and `globals_` [K, globals]."""
        return self._in_parts(lambda planes: planes, torch.from_numpy(spatial), torch.from_numpy(globals_))

    def run_bits(self, bits: NDArray[np.uint8], globals_: FloatArray, width: int, height: int) -> RawOutputs:
        """Return the outputs for the bits [K, planes, ⌈A/8⌉] of planes, which are unpacked on the device."""
        return self._in_parts(
            lambda packed: unpack_bits(packed, width, height), torch.from_numpy(bits), torch.from_numpy(globals_)
        )

    def _in_parts(self, unpack: Callable[[Tensor], Tensor], packed: Tensor, globals_: Tensor) -> RawOutputs:
        """Return the outputs for any number of positions; where memory is too small, half as many go together."""
        self.machine.use_threads()
        parts: list[list[FloatArray]] = []
        begin = 0
        while begin < len(packed):
            chosen = slice(begin, begin + self._rows)
            try:
                parts.append(self._run(unpack, packed[chosen], globals_[chosen]))
            except torch.OutOfMemoryError:
                rows = min(self._rows, len(packed) - begin)
                if rows == 1:
                    raise
                self._rows = rows // 2
                torch.cuda.empty_cache()
            else:
                begin = chosen.stop
        return RawOutputs(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def _run(self, unpack: Callable[[Tensor], Tensor], packed: Tensor, globals_: Tensor) -> list[FloatArray]:
        """Return the outputs for some positions, which come from the device in one piece."""
        device, count = self.machine.device, len(packed)
        if count == 1 and self._is_compiled:  # twice, because torch would compile once more for a single position
            packed, globals_ = (torch.cat([each, each]) for each in (packed, globals_))
        with torch.inference_mode():
            outputs = self.machine.run(self._module, unpack(packed.to(device)), globals_.to(device))
            joined = torch.cat([each.flatten(1) for each in outputs], dim=1)[:count].cpu().numpy()
        sizes = [each[0].numel() for each in outputs]
        parts = np.split(joined, np.cumsum(sizes)[:-1], axis=1)
        return [part.reshape(count, *each.shape[1:]) for part, each in zip(parts, outputs, strict=True)]


@dataclass(frozen=True)
class TorchTeacher:
    """A network file and how torch runs it; called, it returns the evaluator.  It is pickled for workers."""

    path: Path
    device: str = "auto"
    precision: str = "auto"
    threads: int = 0
    looks: int = 1

    def __call__(self) -> Evaluator:
        """Return an evaluator of this network, for one thread; raises ModelError or ConfigError."""
        model = TorchModel(self.path, device=self.device, precision=self.precision, threads=self.threads)
        return uncached_evaluator(model, looks=self.looks)

    def info(self) -> TeacherInfo:
        """Return the teacher as shards record it."""
        info = _info(self.path, module_of_file(self.path))
        return TeacherInfo(info.name, info.source_sha256, info.license, info.advantages)


def _info(path: Path, module: NetworkModule) -> NetworkInfo:
    """Return the metadata of the network in a file, with the file's hash unless that of its source is recorded."""
    digest = sha256_of(path)
    if path.suffix == ".onnx":
        info = read_info(path)
        return info if info.source_sha256 else replace(info, source_sha256=digest)
    is_ours = path.suffix == ".pt"
    terms = "" if is_ours else KATAGO_LICENSE
    return info_of_network(module.network, origin=path.name, terms=terms, sha256=digest, advantages=not is_ours)
