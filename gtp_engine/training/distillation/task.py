"""Distillation as a task of the training loop: learn a teacher's labels, validate on games that were held out."""

from collections.abc import Callable, Mapping
from itertools import repeat
from types import MappingProxyType
from typing import Final

import torch
from torch import Tensor

from gtp_engine.streams import write_log
from gtp_engine.training.core.checkpoint import Checkpoint
from gtp_engine.training.core.devices import Machine, choose_machine, compiled
from gtp_engine.training.core.loop import Stream, TrainingLoop, Validation
from gtp_engine.training.core.reporting import LogLines, Panel, figure_panels, loss_panel
from gtp_engine.training.distillation.batches import (
    Batch,
    Batches,
    ResidentShards,
    SampleSource,
    ShardGroups,
    count_positions,
)
from gtp_engine.training.distillation.distillation_settings import LossWeights, TrainConfig
from gtp_engine.training.distillation.losses import Losses, losses_of
from gtp_engine.training.distillation.shards import HELD_OUT, TRAIN
from gtp_engine.training.distillation.start import (
    KIND,
    facts_of,
    first_module,
    has_folded_norms,
    module_of_checkpoint,
)
from gtp_engine.training.distillation.validation import HeldOut
from gtp_engine.training.nets.architecture import architecture_of
from gtp_engine.training.nets.network_module import NetworkModule, unfold_norms

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
_STATISTICS_BATCHES: Final = 16
"""Batches that give a network from a file the statistics which its norms begin with."""


def figures_of(module: NetworkModule, batch: Batch, machine: Machine, weights: LossWeights) -> Tensor:
    """Return the weighted loss of a network for a batch, then the loss of each head."""
    outputs = machine.run(module, batch.planes, batch.globals)
    losses = losses_of(outputs, batch, module.network.scales, module.network.version)
    return torch.stack([losses.total(weights), *losses])


class DistillationTask:
    """What a run learns; norms take the statistics of batches if the network's do, but at the end of the run."""

    names: Final = ("loss", *Losses._fields)

    def __init__(self, config: TrainConfig, machine: Machine, stream: Stream[Batch], *, has_statistics: bool) -> None:
        learning = config.learning
        self.stream: Final = stream
        self._config: Final = config
        self._machine: Final = machine
        self._has_statistics: Final = has_statistics
        self._figures: Final = compiled(figures_of) if learning.compiled else figures_of
        self._held_out: Final = HeldOut(config.data / HELD_OUT, learning.validation_positions)

    def figures(self, module: NetworkModule, batch: Batch) -> Tensor:
        """Return the weighted loss, then the loss of each head."""
        figures: Tensor = self._figures(module, batch, self._machine, self._config.loss)
        return figures

    def counts_statistics(self, fraction: float) -> bool:
        """Return whether norms take their statistics from batches after `fraction` of the run."""
        return self._has_statistics and fraction < 1 - self._config.learning.fixed_norms

    def validate(self, module: NetworkModule) -> Validation:
        """Return the figures of each set, such as "9x9" or "9x9 player"."""
        agreements = self._held_out.validate(module, self._machine)
        return {str(place): vars(each) for place, each in agreements.items()}


def _stream(config: TrainConfig, machine: Machine) -> Stream[Batch]:
    """Return the batches of a run."""
    shares = {(width, height): share for width, height, share in config.board_shares}
    folder, seed = config.data / TRAIN, config.learning.seed
    source: SampleSource = (
        ResidentShards(folder, machine.device, seed=seed, shares=shares)
        if config.in_memory
        else ShardGroups(folder, seed=seed, shares=shares)
    )
    return Batches(source, config.learning.batch, machine.device)


def _name_missing_boards(config: TrainConfig, log: Callable[[str], None]) -> None:
    """Log the boards that have a share of the batches, but no positions."""
    found = count_positions(config.data / TRAIN)
    missing = [f"{width}x{height}" for width, height, _ in config.board_shares if not found[width, height]]
    if missing:
        log(f"no positions on {', '.join(missing)} in {config.data}: the other boards have their shares")


def _unfold_norms(module: NetworkModule, stream: Stream[Batch], machine: Machine) -> None:
    """Have the norms of a network from a file count statistics, beginning with those of the first batches."""

    def run() -> None:
        batch = next(batches).to(machine.device)
        machine.run(module, batch.planes, batch.globals)

    place, batches = stream.state(), iter(stream)
    unfold_norms(module, repeat(run, _STATISTICS_BATCHES))
    stream.go_to(place)


def new_loop(
    config: TrainConfig, checkpoint: Checkpoint | None = None, *, log: Callable[[str], None] = write_log
) -> TrainingLoop[NetworkModule, Batch]:
    """Return a run at its beginning or, with a checkpoint, where that was written."""
    learning = config.learning
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    facts = facts_of(config.data / TRAIN)
    module = machine.place(first_module(config, facts, log) if checkpoint is None else module_of_checkpoint(checkpoint))
    stream = _stream(config, machine)
    _name_missing_boards(config, log)
    if checkpoint is None and has_folded_norms(config):
        _unfold_norms(module, stream, machine)
    network = {"architecture": architecture_of(module.describe()), "counts_statistics": module.counts_statistics}
    loop = TrainingLoop(
        module,
        DistillationTask(config, machine, stream, has_statistics=module.counts_statistics),
        learning,
        machine,
        config.out,
        kind=KIND,
        network=network,
        settings={"config": config.to_json(), "teacher": facts.teacher, "advantages": facts.has_advantages},
    )
    if checkpoint is not None:
        loop.resume(checkpoint)
    return loop


def panels(log: LogLines) -> list[Panel]:
    """Return the curves of a run."""
    return [loss_panel(log), *figure_panels(log, titles=_TITLES)]
