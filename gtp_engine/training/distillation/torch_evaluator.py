"""A network run by torch: a teacher on a GPU without an ONNX Runtime that supports it.

TorchModel     the network of a file as `selfplay.rows_evaluator.RawModel`
TorchTeacher   returns an evaluator of it, like `teacher.OnnxTeacher`
"""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.networks.onnx_export import info_of_network
from gtp_engine.networks.onnx_export.convert import KATAGO_LICENSE
from gtp_engine.nn.metadata import NetworkInfo, read_info
from gtp_engine.nn.onnx_model import RawOutputs
from gtp_engine.selfplay.rows_evaluator import NetworkRows, RowsEvaluator
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.distillation.start import module_of_file
from gtp_engine.training.distillation.teacher import TeacherInfo
from gtp_engine.training.nets.network_module import NetworkModule


class TorchModel:
    """The network of a file (`start.module_of_file`) on a device; one thread uses it at a time.

    Raises ModelError if the file cannot be used, ConfigError for a device that does not exist.
    """

    def __init__(self, path: Path, *, device: str = "auto", precision: str = "auto", threads: int = 0) -> None:
        self._machine = choose_machine(device, precision, threads=threads)
        module = module_of_file(path)
        self.info = _info(path, module)
        self._module = self._machine.place(module).eval().requires_grad_(False)

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the outputs for `spatial` [K, planes, H, W] and `globals_` [K, globals]."""
        self._machine.use_threads()
        device = self._machine.device
        with torch.inference_mode():
            inputs = (torch.from_numpy(each).to(device) for each in (spatial, globals_))
            outputs = self._machine.run(self._module, *inputs)
            return RawOutputs(*(each.cpu().numpy() for each in outputs))


@dataclass(frozen=True)
class TorchTeacher:
    """A network file and how torch runs it; called, it returns the evaluator.  It is pickled for workers."""

    path: Path
    device: str = "auto"
    precision: str = "auto"
    threads: int = 0

    def __call__(self) -> RowsEvaluator:
        """Return an evaluator of this network, for one thread; raises ModelError or ConfigError."""
        return NetworkRows(TorchModel(self.path, device=self.device, precision=self.precision, threads=self.threads))

    def info(self) -> TeacherInfo:
        """Return the teacher as shards record it."""
        info = _info(self.path, module_of_file(self.path))
        return TeacherInfo(info.name, info.source_sha256, info.license)


def _info(path: Path, module: NetworkModule) -> NetworkInfo:
    """Return the metadata of the network in a file, with the file's hash unless that of its source is recorded."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if path.suffix == ".onnx":
        info = read_info(path)
        return info if info.source_sha256 else replace(info, source_sha256=digest)
    terms = "" if path.suffix == ".pt" else KATAGO_LICENSE
    return info_of_network(module.network, origin=path.name, terms=terms, sha256=digest)
