"""A whole run: training with log and curves, and the network file at its end."""

import threading
from pathlib import Path

from gtp_engine.errors import problem, shown_path
from gtp_engine.progress import ProgressBar
from gtp_engine.training.core.curves import FILE_NAME as CURVES
from gtp_engine.training.core.curves import write_curves
from gtp_engine.training.core.line_log import FILE_NAME as LOG
from gtp_engine.training.core.line_log import read_log
from gtp_engine.training.distillation.batches import Board
from gtp_engine.training.distillation.checkpoint import FILE_NAME as CHECKPOINT
from gtp_engine.training.distillation.checkpoint import Checkpoint, read_checkpoint
from gtp_engine.training.distillation.export import export_network
from gtp_engine.training.distillation.start import untrained_module
from gtp_engine.training.distillation.train_config import Shape, TrainConfig
from gtp_engine.training.distillation.train_progress import TrainProgress
from gtp_engine.training.distillation.trainer import Progress, Trainer, TrainingError
from gtp_engine.training.distillation.training_log import Log
from gtp_engine.training.distillation.validation import Verdict


def run_training(config: TrainConfig, bar: ProgressBar, checkpoint: Checkpoint | None, stop: threading.Event) -> bool:
    """Train until the end, or `stop`, and return whether the run is done; then the network is written too.

    Without `checkpoint` the run begins, and there must not be one in its folder: TrainingError.
    """
    if checkpoint is None and (config.out / CHECKPOINT).exists():
        advice = "go on with it (resume), or give another folder"
        raise TrainingError(problem(f"there is a run in {shown_path(config.out)} already", advice=advice))
    trainer = Trainer(config, checkpoint)
    parameters = sum(each.numel() for each in trainer.module.parameters())
    positions = ", ".join(f"{count:,} on {width}x{height}" for (width, height), count in trainer.counts.items())
    bar.log(f"{parameters:,} parameters, {trainer.machine.title}; positions: {positions}")
    with Log(config.out, after=trainer.steps, tensorboard=config.tensorboard) as log:
        is_done = trainer.train((log, TrainProgress(bar), _Curves(config.out)), stop)
    if is_done:
        bar.log(f"Written: {export_run(config.out)}")
    return is_done


def export_run(
    folder: Path, target: Path | None = None, *, name: str = "", terms: str = "", origin: str | None = None
) -> Path:
    """Write the averaged network of the checkpoint in `folder`; return its path (default: its name, in `folder`).

    `name` is by default the run's.
    """
    checkpoint = read_checkpoint(folder / CHECKPOINT)
    module = checkpoint.averaged_module()
    name = name or checkpoint.run.name or module.network.name
    target = target or folder / f"{name}.onnx"
    origin = (
        origin or f"trained by Tengen on {checkpoint.samples:,} samples of positions labelled by {checkpoint.teacher}"
    )
    export_network(module, target, name=name, origin=origin, terms=terms)
    return target


def export_new(shape: Shape, target: Path, *, seed: int) -> Path:
    """Write a network that has learned nothing; return its path."""
    name = f"untrained-{shape.title}"
    export_network(
        untrained_module(shape, name=name, seed=seed).eval(), target, name=name, origin="random weights", terms=""
    )
    return target


class _Curves:
    """Draws the curves anew at each judging."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def stepped(self, progress: Progress) -> None:
        """Do nothing: curves are drawn at judgings."""

    def judged(self, progress: Progress, verdicts: dict[Board, Verdict]) -> None:
        """Draw the curves, the judging included: the log has been told before."""
        write_curves(self._folder / CURVES, read_log(self._folder / LOG))
