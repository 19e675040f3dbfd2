"""A distillation run: a network learns a teacher's labels, and is validated on games that were held out.

run_training         the whole run with log and curves, and the network file at its end
DistillationRun      the run as one of `core.loop`: its batches, its losses, and the module that it begins with
export_run           the network file of a run's checkpoint
validate_file        the agreement of a network with the teacher
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Final

import torch
from torch import Tensor

from gtp_engine.base.errors import shown_path
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.streams import Log, write_log
from gtp_engine.evaluation.evaluator_info import ANY_BOARD, BoardSizes
from gtp_engine.training.core.checkpoint import Checkpoint, has_checkpoint, read_checkpoint
from gtp_engine.training.core.devices import Machine, choose_machine, compiled
from gtp_engine.training.core.loop import RunIdentity, TrainingError, TrainingLoop, Validation
from gtp_engine.training.core.optimizer import on_device
from gtp_engine.training.core.reporting import LogLines, Panels, figure_panels, loss_panel, run_and_report
from gtp_engine.training.distillation.batches import Batches, SampleBatch
from gtp_engine.training.distillation.distillation_settings import TrainConfig
from gtp_engine.training.distillation.losses import (
    LOSS_WEIGHTS,
    Agreement,
    HeldOut,
    ValidationSet,
    inputs_of,
    losses_of,
)
from gtp_engine.training.distillation.module_files import (
    CHECKPOINT_SUFFIX,
    KIND,
    export_network,
    module_of_checkpoint,
    module_of_file,
)
from gtp_engine.training.distillation.shards import (
    HELD_OUT,
    TRAIN,
    DataFacts,
    ShardError,
    count_positions,
    facts_of,
    shard_paths,
)
from gtp_engine.training.nets.architecture import architecture_of
from gtp_engine.training.nets.network_module import NetworkModule, unfold_norms
from gtp_engine.training.nets.new import PLAIN, WITH_ERRORS, Shape, new_network, with_profile

_TITLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "policy_kl": "policy, KL from the teacher, nats",
        "same_first_move": "same first move as the teacher, share",
        "winrate_error": "winrate, mean error",
        "lead_error": "lead, mean error in points",
        "ownership_error": "ownership, mean error",
    }
)
"""Figures of a validation that are drawn."""
_WEIGHT_OF_RESULTS: Final = 0.3
"""Weight of the loss of the value where the results of games between people teach it, which say less than a teacher."""
_STATISTICS_BATCHES: Final = 16
"""Batches that give a network from a file the statistics which its norms begin with."""


def run_training(
    config: TrainConfig, bar: ProgressBar, is_stopped: Callable[[], bool], checkpoint: Checkpoint | None = None
) -> bool:
    """Train until the end, or `is_stopped`, and return whether the run is done; then the network is written too.

    Without `checkpoint` the run begins; raises TrainingError if there is one in its folder already.
    """
    if checkpoint is None and has_checkpoint(config.out):
        advice = "resume it, or give another folder"
        raise TrainingError(f"there is a run in {shown_path(config.out)} already", advice=advice)
    loop = DistillationRun(config, checkpoint, log=bar.log)
    parameters = sum(each.numel() for each in loop.module.parameters())
    counts = count_positions(config.data / TRAIN)
    positions = ", ".join(f"{count:,} on {width}x{height}" for (width, height), count in counts.items())
    bar.log(f"{parameters:,} parameters, {loop.machine.title}; positions: {positions}")
    held_out = config.data / HELD_OUT
    if not (held_out.is_dir() and shard_paths(held_out)):
        bar.log(f"no positions are held out in {config.data}: there are no validations")

    def panels(log: LogLines) -> Panels:
        return {**loss_panel(log), **figure_panels(log, titles=_TITLES)}

    try:
        is_done = run_and_report(loop, bar, is_stopped, panels=panels)
    except torch.OutOfMemoryError as error:
        given = f"batches of {config.learning.batch} do not fit into the memory of {loop.machine.device}"
        raise TrainingError(given, advice="continue with a smaller --batch (`train resume`)") from error
    if is_done:
        bar.log(f"Written: {export_run(config.out)}")
    return is_done


def config_of(checkpoint: Checkpoint) -> TrainConfig:
    """Return the run that a checkpoint is of; raises ModelError for one of another kind."""
    checkpoint.check_kind(KIND)
    return TrainConfig.from_json(checkpoint.settings["config"])


def export_run(
    folder: Path, target: Path | None = None, *, name: str = "", terms: str = "", origin: str | None = None
) -> Path:
    """Write the averaged network of the checkpoint in `folder`; return its path (default: its name, in `folder`).

    `name` is by default the run's.  A network that was trained on one board alone plays that board alone.
    """
    checkpoint = read_checkpoint(folder)
    module, config = module_of_checkpoint(checkpoint), config_of(checkpoint)
    name = name or config.name or module.network.name
    target = target or folder / f"{name}.onnx"
    if not origin:
        began = "" if config.init is None else f", beginning with {config.init.name}"  # whose terms may bind this one
        teacher = checkpoint.settings["teacher"]
        origin = f"trained by Tengen on {checkpoint.samples:,} samples of positions labelled by {teacher}{began}"
    advantages = bool(checkpoint.settings.get("advantages"))
    boards = [(width, height) for width, height, _ in config.board_shares]
    sizes = BoardSizes(*((side, side) for side in boards[0])) if len(boards) == 1 else ANY_BOARD
    export_network(module, target, name=name, origin=origin, terms=terms, advantages=advantages, sizes=sizes)
    return target


def validate_file(network: Path, data: Path, *, positions: int, device: str) -> dict[ValidationSet, Agreement]:
    """Return the agreement of the network in a file (`module_of_file`), in float32, on each validation set.

    `data` is a folder of data, `positions` the most of each set.  Raises ShardError if none are held out there.
    """
    machine = choose_machine(device, "float32")
    agreements = HeldOut(data / HELD_OUT, positions).validate(machine.place(module_of_file(network)).eval(), machine)
    if not agreements:
        raise ShardError(f"no positions in {shown_path(data / HELD_OUT)}", advice="generate some")
    return agreements


def export_new(shape: Shape, target: Path, *, seed: int) -> Path:
    """Write a network that has learned nothing; return its path."""
    name = f"untrained-{shape.title}"
    module = NetworkModule(new_network(shape, name=name, seed=seed)).eval()
    export_network(module, target, name=name, origin="random weights", terms="")
    return target


# The run


def figures_of(module: NetworkModule, batch: SampleBatch, machine: Machine, weights: Mapping[str, float]) -> Tensor:
    """Return the weighted loss of a network for a batch, then the loss of each head."""
    outputs = machine.run(module, batch.planes, inputs_of(module, batch))
    losses = losses_of(outputs, batch, module.network.scales, module.network.version)
    total = torch.stack([losses[name] * weight for name, weight in weights.items()]).sum()
    return torch.stack([total, *(losses[name] for name in LOSS_WEIGHTS)])


class DistillationRun(TrainingLoop[NetworkModule, SampleBatch]):
    """A run at its beginning or, with a checkpoint, where that was written."""

    names = ("loss", *LOSS_WEIGHTS)

    def __init__(self, config: TrainConfig, checkpoint: Checkpoint | None = None, *, log: Log = write_log) -> None:
        learning = config.learning
        machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
        facts = facts_of(config.data / TRAIN)
        module = first_module(config, facts, log) if checkpoint is None else module_of_checkpoint(checkpoint)
        machine.place(module)
        batches = Batches(
            config.data / TRAIN,
            learning.batch,
            seed=learning.seed,
            device=machine.device,
            shares={(width, height): share for width, height, share in config.board_shares},
            in_memory=config.in_memory,
        )
        found = batches.shares
        missing = [f"{width}x{height}" for width, height, _ in config.board_shares if (width, height) not in found]
        if missing:
            log(f"no positions on {', '.join(missing)} in {config.data}: the other boards have their shares")
        is_from_network_file = config.init is not None and config.init.suffix != CHECKPOINT_SUFFIX
        if checkpoint is None and is_from_network_file and learning.fixed_norms < 1:
            _unfold_norms(module, batches, machine)
        module.freeze(learning.frozen_blocks)
        recorded = {"config": config.to_json(), "teacher": facts.teacher, "advantages": facts.has_advantages}
        network = {"architecture": architecture_of(module.describe()), "counts_statistics": module.counts_statistics}
        identity = RunIdentity(KIND, network, recorded)
        super().__init__(module, batches.stream, learning, machine, config.out, identity)
        self._fixed_norms: Final = learning.fixed_norms if module.counts_statistics else 1.0
        self._weights: Final = {**LOSS_WEIGHTS, "value": _WEIGHT_OF_RESULTS} if facts.has_ranks else LOSS_WEIGHTS
        self._measure: Final = compiled(figures_of) if learning.compiled else figures_of
        self._held_out: Final = HeldOut(config.data / HELD_OUT, learning.validation_positions)
        if checkpoint is not None:
            self.resume(checkpoint)

    def figures(self, module: NetworkModule, batch: SampleBatch) -> Tensor:
        """Return the weighted loss, then the loss of each head."""
        return self._measure(module, batch, self.machine, self._weights)

    def counts_statistics(self) -> bool:
        """Return whether norms take the next batch's statistics: if the network's do, but at the end of the run."""
        return self.fraction < 1 - self._fixed_norms

    def validate(self) -> Validation:
        """Return the figures of each set, such as "9x9" or "9x9 player"."""
        agreements = self._held_out.validate(self.average.module, self.machine)
        return {
            str(place): {name: figure for name, figure in vars(each).items() if not math.isnan(figure)}
            for place, each in agreements.items()
        }


def _unfold_norms(module: NetworkModule, batches: Batches, machine: Machine) -> None:
    """Have the norms of a network from a file count statistics, beginning with those of the first batches."""

    def run() -> None:
        for each, _ in islice(batches.stream(), _STATISTICS_BATCHES):
            batch = on_device(each, machine.device)
            machine.run(module, batch.planes, inputs_of(module, batch))

    unfold_norms(module, run)


# Where a run begins


def first_module(config: TrainConfig, facts: DataFacts, log: Log) -> NetworkModule:
    """Return the module that a run begins with; raises ModelError if its file cannot be used.

    Outputs of the file that the data do not label are left out, which is logged: the search would go on to use them,
    while the trunk before them changes.

    Norms of a new network take the statistics of each batch, and those of a checkpoint do as they did in its run; in a
    network file they are folded into the weights (`DistillationRun` gives them statistics again).
    """
    if config.init is not None:
        module = module_of_file(config.init)
        if facts.has_ranks and not module.needs_profile:
            network = with_profile(module.describe(), config.learning.frozen_blocks, seed=config.learning.seed)
            counts, module = module.counts_statistics, NetworkModule(network)
            module.count_statistics(counts)
        module.network = replace(module.network, suicide_area=False)  # as in all data (`labelled_games.Labeller`)
        for output in module.keep_outputs(optimistic=facts.has_optimistic_policy, errors=facts.has_errors):
            log(f"{config.init.name} begins without its {output}, for which {config.data} has no labels")
        return module
    outputs = WITH_ERRORS if facts.has_optimistic_policy and facts.has_errors else PLAIN
    name, seed = config.name or config.shape.title, config.learning.seed
    module = NetworkModule(new_network(config.shape, name=name, seed=seed, outputs=outputs))
    module.count_statistics(True)
    return module
