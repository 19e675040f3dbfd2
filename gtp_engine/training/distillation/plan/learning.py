"""The runs of training of a plan: each continues in the next part, and ends by the clock."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import torch

from gtp_engine.errors import problem
from gtp_engine.progress import ProgressBar
from gtp_engine.training.core.checkpoint import Checkpoint, has_checkpoint, read_checkpoint
from gtp_engine.training.core.loop import TrainingError, TrainingLoop
from gtp_engine.training.core.reporting import run_and_report
from gtp_engine.training.distillation.batches import Batch, DeviceMemoryError
from gtp_engine.training.distillation.game_variety import parse_sizes
from gtp_engine.training.distillation.plan.clock import PlanClock
from gtp_engine.training.distillation.plan.settings import PlannedNetwork, PlanSettings
from gtp_engine.training.distillation.plan.state import NetworkState
from gtp_engine.training.distillation.run import config_of
from gtp_engine.training.distillation.task import new_loop, panels
from gtp_engine.training.distillation.train_config import DistillationLearning, TrainConfig
from gtp_engine.training.nets.network_module import NetworkModule

_CHECKPOINT_MINUTES: Final = 2.0
_VALIDATIONS: Final = 6
_VALIDATION_POSITIONS: Final = 512
"""Of each set: with the default boards and both kinds of games 13,000, a few seconds."""
_LOG_STEPS: Final = 100
_SMALLEST_BATCH: Final = 2
_SHORTEST_SECONDS: Final = 1.0


def train(
    planned: PlannedNetwork,
    state: NetworkState,
    settings: PlanSettings,
    data: Path,
    folder: Path,
    *,
    init: Path | None,
    seconds: float,
    clock: PlanClock,
    is_stopped: Callable[[], bool],
    record: Callable[[], None],
    bar: ProgressBar,
) -> list[str]:
    """Train a network to its samples, or `seconds` more, in this part or later; return notes of what went wrong.

    It begins with the network in the file `init`, if one is given.  `state`, which says in which batches, is kept up to
    date; `record` may write it after each step.  Where memory is too small, the run goes on from its checkpoint with
    batches of half the size; if it cannot hold the positions, they are read from their shards.
    """
    notes: list[str] = []
    end = clock.now() + seconds

    def run_once() -> TrainingLoop[NetworkModule, Batch]:
        """Train from the checkpoint on; what it holds is freed when it fails."""
        checkpoint = read_checkpoint(folder) if has_checkpoint(folder) else None
        config = _config(planned, state, settings, data, folder, seconds=max(_SHORTEST_SECONDS, end - clock.now()))
        config = replace(config, init=init) if checkpoint is None else _continued(config, checkpoint)
        loop = new_loop(config, checkpoint, log=bar.log)

        def is_over() -> bool:
            """Return whether the part ends here, after bringing the state up to date."""
            state.samples, state.seconds = loop.samples, loop.seconds
            record()
            return clock.is_over or is_stopped()

        state.done = run_and_report(loop, bar, is_over, panels=panels)
        return loop

    while not (clock.is_over or is_stopped()):
        try:
            loop = run_once()
        except torch.OutOfMemoryError:
            if state.batch < 2 * _SMALLEST_BATCH:
                raise
            state.batch //= 2
            notes.append(f"{planned.shape.title}: memory was too small, batches of {state.batch} from then on")
            bar.log(notes[-1])
        except DeviceMemoryError:
            state.in_memory = False
            notes.append(f"{planned.shape.title}: memory was too small for the positions, which are read from shards")
            bar.log(notes[-1])
        except TrainingError as error:
            notes.append(f"{planned.shape.title}: {error}")
            state.done = True
            return notes
        else:
            state.samples, state.seconds = loop.samples, loop.seconds
            return notes
        torch.cuda.empty_cache()
    return notes


def _config(
    planned: PlannedNetwork, state: NetworkState, settings: PlanSettings, data: Path, folder: Path, *, seconds: float
) -> TrainConfig:
    """Return a run of so many seconds."""
    learning = DistillationLearning(
        samples=planned.samples,
        minutes=seconds / 60,
        batch=state.batch,
        learning_rate=settings.learning_rate,
        seed=settings.seed,
        device=settings.device,
        compiled=state.compiled,
        checkpoint_minutes=_CHECKPOINT_MINUTES,
        validations=_VALIDATIONS,
        validation_positions=_VALIDATION_POSITIONS,
        log_steps=_LOG_STEPS,
    )
    shares = tuple((*board, share) for board, share in parse_sizes(settings.sizes).items())
    return TrainConfig(
        data, folder, learning, planned.name, planned.shape, board_shares=shares, in_memory=state.in_memory
    )


def _continued(config: TrainConfig, checkpoint: Checkpoint) -> TrainConfig:
    """Return the run of a checkpoint, and what it began with, with the length and the batches of `config`."""
    before = config_of(checkpoint)
    if before.shape != config.shape:
        raise TrainingError(problem(f"a checkpoint of {before.shape.title}", expected=config.shape.title))
    minutes = checkpoint.seconds / 60 + config.learning.minutes
    return replace(config, init=before.init, learning=replace(config.learning, minutes=minutes))
