"""Where training begins: a new network, or the weights of a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.networks.katago_format.description import Network
from gtp_engine.networks.katago_format.parser import load_network
from gtp_engine.nn.katago_globals import ADVANTAGE
from gtp_engine.nn.network_files import is_katago_file
from gtp_engine.training.core.checkpoint import Checkpoint, read_checkpoint
from gtp_engine.training.distillation.distillation_settings import TrainConfig
from gtp_engine.training.distillation.shards import ALWAYS_KNOWN, UNKNOWN, first_shards, read_shard
from gtp_engine.training.nets.architecture import empty_network, read_onnx
from gtp_engine.training.nets.network_module import NetworkModule
from gtp_engine.training.nets.new import PLAIN, WITH_ERRORS, OutputSet, new_network
from gtp_engine.training.nets.shape import Shape

KIND: Final = "distillation"
"""The kind of its checkpoints."""
CHECKPOINT_SUFFIX: Final = ".pt"


class DataFacts(NamedTuple):
    """What is known of the positions to train on."""

    teacher: str
    """The names of the networks that labelled them."""
    has_advantages: bool
    """Whether games were played with playout doubling advantages."""
    has_optimistic_policy: bool
    """Whether there are labels for an optimistic policy."""
    has_errors: bool
    """Whether there are labels for the time left and the expected errors."""

    @property
    def has_all_labels(self) -> bool:
        """Whether there are labels for the outputs of `new.WITH_ERRORS`."""
        return self.has_optimistic_policy and self.has_errors


def first_module(config: TrainConfig, facts: DataFacts, log: Callable[[str], None]) -> NetworkModule:
    """Return the module that a run begins with; raises ModelError if its file cannot be used.

    Outputs of the file that the data do not label are left out, which is logged: the search would go on to use them,
    while the trunk before them changes.

    Norms of a new network take the statistics of each batch, and those of a checkpoint do as they did in its run; in a
    network file they are folded into the weights (`task` gives them statistics again).
    """
    if config.init is not None:
        module = module_of_file(config.init)
        module.follow_rules()
        for output in _drop_unlabelled(module, facts):
            log(f"{config.init.name} begins without its {output}, for which {config.data} has no labels")
        return module
    outputs = WITH_ERRORS if facts.has_all_labels else PLAIN
    name, seed = config.name or config.shape.title, config.learning.seed
    module = untrained_module(config.shape, name=name, seed=seed, outputs=outputs)
    module.count_statistics(True)
    return module


def _drop_unlabelled(module: NetworkModule, facts: DataFacts) -> list[str]:
    """Drop the outputs that the data do not label; return their names."""
    dropped = []
    if module.has_optimistic_policy and not facts.has_optimistic_policy:
        module.drop_optimistic_policy()
        dropped.append("optimistic policy")
    if module.has_errors and not facts.has_errors:
        module.drop_errors()
        dropped.append("expected errors")
    return dropped


def has_folded_norms(config: TrainConfig) -> bool:
    """Return whether a run begins with a file whose norms are folded into its weights, and shall train them."""
    is_file = config.init is not None and config.init.suffix != CHECKPOINT_SUFFIX
    return is_file and config.learning.fixed_norms < 1


def untrained_module(shape: Shape, *, name: str, seed: int, outputs: OutputSet = PLAIN) -> NetworkModule:
    """Return a network with random weights; the same seed gives the same ones."""
    return NetworkModule(new_network(shape, name=name, seed=seed, outputs=outputs))


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
        return NetworkModule(_without_profile(load_network(path), path))
    raise ModelError(
        problem(
            f"network {shown(path.name)}", expected="a checkpoint (.pt), an .onnx file or one of KataGo's (.bin.gz)"
        )
    )


def _without_profile(network: Network, path: Path) -> Network:
    """Return a network; raises ModelError if it imitates people, whose profile is no input of a module."""
    if network.trunk.from_profile is not None:
        raise ModelError(problem(f"network {shown(path.name)} imitates people", expected="one without their profile"))
    return network


def size_of_file(path: Path) -> str:
    """Return the size of the network in a file (`module_of_file`), as `Shape.title` has it."""
    trunk = module_of_file(path).describe().trunk
    return f"b{len(trunk.blocks)}c{len(trunk.conv.weights)}"


def facts_of(folder: Path) -> DataFacts:
    """Return what the first shard of each board in a folder tells of its positions; a shard is of many games."""
    found = [read_shard(path) for path in first_shards(folder).values()]
    shards = [samples for samples, _ in found]
    return DataFacts(
        teacher=", ".join(sorted({meta.teacher for _, meta in found})),
        has_advantages=any(each.globals[:, ADVANTAGE].any() for each in shards),
        has_optimistic_policy=bool(shards) and all(each.optimistic.any() for each in shards),
        has_errors=bool(shards) and all((each.score[:, ALWAYS_KNOWN:] != UNKNOWN).all() for each in shards),
    )
