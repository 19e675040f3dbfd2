"""The training loop: one for every network.

The run is measured by the fraction of its budget that is done (`TrainConfig.fraction`), which learning rate and
judgings follow.  A run by samples on a processor repeats exactly, also across interruptions; a run by minutes depends
on the machine's speed.
"""

import math
import threading
import time
from collections.abc import Iterable
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor

from gtp_engine.errors import TengenError, problem
from gtp_engine.training.core.averaging import Average
from gtp_engine.training.core.data_parallel import parts_on
from gtp_engine.training.core.devices import choose_machine
from gtp_engine.training.core.gradients import Gradients
from gtp_engine.training.core.learning_rate import cosine_rate
from gtp_engine.training.core.optimizer import Optimizer
from gtp_engine.training.distillation.batches import Batch, Batches, Board, Prefetch
from gtp_engine.training.distillation.checkpoint import FILE_NAME, Checkpoint, write_checkpoint
from gtp_engine.training.distillation.losses import Losses
from gtp_engine.training.distillation.shards import HELD_OUT, TRAIN, ShardError
from gtp_engine.training.distillation.start import first_module, teacher_of
from gtp_engine.training.distillation.train_config import TrainConfig
from gtp_engine.training.distillation.validation import HeldOut, Verdict
from gtp_engine.training.nets.architecture import architecture_of


class TrainingError(TengenError):
    """Training that cannot go on, or not as asked."""


class Progress(NamedTuple):
    """Where a run is; losses and speed are means since the last report."""

    fraction: float
    steps: int
    samples: int
    seconds: float
    """That the run has taken, all its parts together."""
    learning_rate: float
    gradient: float
    """Length of the gradient before it is clipped."""
    loss: float
    losses: dict[str, float]
    samples_per_second: float


class Watcher(Protocol):
    """Is told how a run goes."""

    def stepped(self, progress: Progress) -> None:
        """Take note of some more steps."""
        ...

    def judged(self, progress: Progress, verdicts: dict[Board, Verdict]) -> None:
        """Take note of what the averaged network does with held-out positions."""
        ...


class Trainer:
    """A run, from the beginning or, with a checkpoint, from there on.

    `average` holds the network to export.
    """

    def __init__(self, config: TrainConfig, checkpoint: Checkpoint | None = None) -> None:
        self.config = config
        self.machine = choose_machine(config.device, config.precision, threads=config.threads)
        module = first_module(config) if checkpoint is None else checkpoint.averaged_module()
        if checkpoint is not None:
            module.count_statistics(checkpoint.counts_statistics)
        self._has_statistics = module.counts_statistics
        self.module = self.machine.place(module).train()
        self.average = Average(self.module, config.average_steps)
        self.optimizer = Optimizer(self.module, config.optimizer, config.weight_decay)
        shares = {(width, height): share for width, height, share in config.board_shares}
        self._teacher = teacher_of(config.data / TRAIN)
        self._batches = Batches(config.data / TRAIN, config.batch, seed=config.seed, shares=shares)
        self._data = self._batches.state()
        self.held_out = HeldOut(config.data / HELD_OUT, config.judged_positions)
        self.samples = self.steps = 0
        self.seconds = 0.0
        if checkpoint is not None:
            self._restore(checkpoint)

    @property
    def counts(self) -> dict[Board, int]:
        """The number of positions to train on by board size."""
        return self._batches.counts

    @property
    def fraction(self) -> float:
        """Which part of the run is done."""
        return self.config.fraction(self.samples, self.seconds)

    def train(self, watchers: Iterable[Watcher] = (), stop: threading.Event | None = None) -> bool:
        """Train until the budget is used up, or `stop` is set; return whether it is used up.

        A checkpoint is written now and then, at the end, and before a damaged shard ends the run with ShardError.
        Raises TrainingError when the loss is no number any more; then the last checkpoint is what is left.
        """
        watchers = tuple(watchers)
        stop = stop or threading.Event()
        report = _Report(self.config)
        saved = time.monotonic()
        with self._gradients() as gradients, Prefetch(self._batches) as stream:
            while self.fraction < 1 and not stop.is_set():
                started = time.monotonic()
                judgings = self._judgings_due()
                batch, data = self._next(stream)
                self._step(gradients, batch, report)
                self._data = data
                self.seconds += time.monotonic() - started
                if self._judgings_due() > judgings:
                    self._judge(report, watchers)
                elif report.steps >= self.config.log_steps:
                    self._tell(report, watchers)
                if time.monotonic() - saved > 60 * self.config.checkpoint_minutes:
                    self.save()
                    saved = time.monotonic()
        self.save()
        return self.fraction >= 1

    def _next(self, stream: Prefetch[Batch]) -> tuple[Batch, dict[str, Any]]:
        """Return the next batch and the state after it; a shard that cannot be read costs no work."""
        try:
            return next(stream)
        except ShardError:
            self.save()
            raise

    def save(self) -> None:
        """Write the checkpoint."""
        self.config.out.mkdir(parents=True, exist_ok=True)
        write_checkpoint(self.config.out / FILE_NAME, self.checkpoint())

    def checkpoint(self) -> Checkpoint:
        """Return everything needed to go on from here."""
        return Checkpoint(
            config=self.config.to_json(),
            teacher=self._teacher,
            architecture=architecture_of(self.module.describe()),
            counts_statistics=self._has_statistics,
            module=self.module.state_dict(),
            average=self.average.module.state_dict(),
            optimizer=self.optimizer.state_dict(),
            data=self._data,
            samples=self.samples,
            steps=self.steps,
            seconds=self.seconds,
        )

    def _gradients(self) -> Gradients:
        """Return what calculates gradients; this thread gets as many threads of torch's as each of theirs."""
        parts = parts_on(self.machine)
        self.machine.use_threads(parts)
        return Gradients(self.module, self.machine, self.config.loss, parts=parts)

    def _restore(self, checkpoint: Checkpoint) -> None:
        self.module.load_state_dict(checkpoint.module)
        self.average.module.load_state_dict(checkpoint.average)
        self.optimizer.load_state_dict(checkpoint.optimizer)
        self._batches.go_to(checkpoint.data)
        self._data = checkpoint.data
        self.samples, self.steps, self.seconds = checkpoint.samples, checkpoint.steps, checkpoint.seconds

    def _step(self, gradients: Gradients, batch: Batch, report: "_Report") -> None:
        """Do one step of the optimizer."""
        config = self.config
        counts = self._has_statistics and self.fraction < 1 - config.fixed_norms
        if counts != self.module.counts_statistics:
            gradients.count_statistics(counts)
        total, losses = gradients.write(batch)
        gradient = torch.nn.utils.clip_grad_norm_(self.module.parameters(), config.clip)
        self.optimizer.step(learning_rate(config, self.fraction))
        self.steps += 1
        self.samples += len(batch.planes)
        self.average.add(self.module, self.steps)
        report.add(total, losses, gradient, len(batch.planes))

    def _judgings_due(self) -> int:
        """Return how many judgings there should have been by now; the last is at the very end."""
        return math.floor(self.fraction * self.config.judgings)

    def _judge(self, report: "_Report", watchers: tuple[Watcher, ...]) -> None:
        started = time.monotonic()
        verdicts = self.held_out.judge(self.average.module, self.machine)
        self.seconds += time.monotonic() - started
        progress = self._tell(report, watchers)
        for watcher in watchers:
            watcher.judged(progress, verdicts)

    def _tell(self, report: "_Report", watchers: tuple[Watcher, ...]) -> Progress:
        """Report the steps since the last report."""
        progress = report.take(self)
        if not math.isfinite(progress.loss):
            advice = "go on from the last checkpoint, or begin again with a lower learning rate"
            raise TrainingError(problem(f"the loss after {progress.steps} steps is {progress.loss}", advice=advice))
        for watcher in watchers:
            watcher.stepped(progress)
        return progress


class _Report:
    """Sums of figures since the last report."""

    def __init__(self, config: TrainConfig) -> None:
        self._config = config
        self.steps = 0
        self._samples = 0
        self._sums: Tensor | None = None
        self._since = time.monotonic()

    def add(self, total: Tensor, losses: Losses, gradient: Tensor, samples: int) -> None:
        """Take in a step."""
        figures = torch.stack([total, gradient, *losses]).detach()
        self._sums = figures if self._sums is None else self._sums + figures
        self.steps += 1
        self._samples += samples

    def take(self, trainer: Trainer) -> Progress:
        """Return the means, and begin anew."""
        assert self._sums is not None, "there has been a step"
        total, gradient, *losses = (self._sums / self.steps).tolist()
        now = time.monotonic()
        progress = Progress(
            fraction=trainer.fraction,
            steps=trainer.steps,
            samples=trainer.samples,
            seconds=trainer.seconds,
            learning_rate=learning_rate(self._config, trainer.fraction),
            gradient=gradient,
            loss=total,
            losses=dict(zip(Losses._fields, losses, strict=True)),
            samples_per_second=self._samples / (now - self._since),
        )
        self.steps = self._samples = 0
        self._sums, self._since = None, now
        return progress


def learning_rate(config: TrainConfig, fraction: float) -> float:
    """Return the learning rate when `fraction` of the run is done (`cosine_rate`)."""
    return cosine_rate(fraction, highest=config.learning_rate, warm_up=config.warm_up, final=config.final_rate)
