"""Where training begins: a new network, or the weights of a file."""

from pathlib import Path
from typing import Final

from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.networks.katago_format import load_network
from gtp_engine.training.distillation.checkpoint import read_checkpoint
from gtp_engine.training.distillation.shards import parse_name, read_shard, shard_paths
from gtp_engine.training.distillation.train_config import Shape, TrainConfig
from gtp_engine.training.nets import NetworkModule, new_network
from gtp_engine.training.nets.read_onnx import read_onnx

CHECKPOINT_SUFFIX: Final = ".pt"


def first_module(config: TrainConfig) -> NetworkModule:
    """Return the module that a run begins with; raises ModelError if its file cannot be used.

    Norms take the statistics of each batch, as those of the run that a checkpoint is of did; in a network file they are
    part of the weights and stay what they are.
    """
    if config.init is None:
        module = untrained_module(config.shape, name=config.name or config.shape.title, seed=config.seed)
        module.count_statistics(True)
        return module
    if config.init.suffix == CHECKPOINT_SUFFIX:
        checkpoint = read_checkpoint(config.init)
        module = checkpoint.averaged_module()
        module.count_statistics(checkpoint.counts_statistics)
        return module
    return module_of_file(config.init)


def untrained_module(shape: Shape, *, name: str, seed: int) -> NetworkModule:
    """Return a network that has learned nothing; the same seed gives the same weights."""
    return NetworkModule(new_network(shape, name=name, seed=seed))


def module_of_file(path: Path) -> NetworkModule:
    """Return the network in a checkpoint, an ONNX file that was exported here, or a file of KataGo's."""
    if path.suffix == CHECKPOINT_SUFFIX:
        return read_checkpoint(path).averaged_module()
    if path.suffix == ".onnx":
        return NetworkModule(read_onnx(path))
    if path.suffix in (".gz", ".bin", ".txt"):
        return NetworkModule(load_network(path))
    raise ModelError(
        problem(
            f"network {shown(path.name)}", expected="a checkpoint (.pt), an .onnx file or one of KataGo's (.bin.gz)"
        )
    )


def teacher_of(folder: Path) -> str:
    """Return the names of the networks that labelled the first shard of each board size."""
    first = {parse_name(path)[:2]: path for path in reversed(shard_paths(folder))}
    return ", ".join(sorted({read_shard(path)[1].teacher for path in first.values()}))
