"""The training loop: one for every network.

TrainingRun    steps, validations, reports, checkpoints; what a step is, a derived class says
TrainingLoop   a run that follows gradients; what is learned from batches, and how it is validated, a derived class says
Stream         gives the batches; `prefetched` prepares them on a thread
Observer       receives the progress and the validations: the log, the curves, the bar on the terminal

A run is measured by the fraction of its budget that is used (`Learning.fraction`), which the learning rate and the
validations follow.  A run limited by samples repeats exactly on a processor, also across interruptions; one limited by
minutes depends on the machine's speed.
"""

import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from gtp_engine.base.errors import TengenError
from gtp_engine.base.steps import check_same, never
from gtp_engine.training.core.checkpoint import Checkpoint, has_checkpoint, read_checkpoint, write_checkpoint
from gtp_engine.training.core.devices import Machine
from gtp_engine.training.core.learning import Learning, Schedule, rate_at
from gtp_engine.training.core.optimizer import Average, Optimizer, ParallelGradients, PositionBatch

PREFETCHED: Final = 4
"""Batches prepared in advance."""

Figures = dict[str, float]
"""Means by name."""
Validation = dict[str, Figures]
"""The figures of each validation set."""

Module = TypeVar("Module", bound=nn.Module)
Positions = TypeVar("Positions", bound=PositionBatch)
Prefetched = TypeVar("Prefetched")

Place = dict[str, Any]
"""A place in a stream of batches, as plain values."""
Stream = Callable[[Place | None], Iterator[tuple[Positions, Place]]]
"""Yields batches without end, from a place or from the beginning, each with the place after it."""


class TrainingError(TengenError):
    """A run that cannot continue, or not as requested."""


def prefetched(batches: Iterator[Prefetched]) -> Generator[Prefetched, None, None]:
    """Yield endless batches, prepared on a thread in advance; what preparing one raised is raised in its place."""
    pool = ThreadPoolExecutor(1, "batches")
    try:
        waiting = deque(pool.submit(next, batches) for _ in range(PREFETCHED))
        while True:
            waiting.append(pool.submit(next, batches))
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


class RunProgress(NamedTuple):
    """Where a run is; figures and speed are means since the last report."""

    fraction: float
    steps: int
    samples: int
    seconds: float
    """Since the beginning of the run, interruptions left out."""
    learning_rate: float
    gradient: float
    """Norm of the gradient before it is clipped."""
    figures: Figures
    samples_per_second: float


Observer = Callable[[RunProgress, Validation | None], None]
"""Receives the progress of a run: the means of the steps since the last report and, after a validation, its figures."""


def format_figures(figures: Figures) -> str:
    """Return figures as one line for people: "loss 1.234, top-1 0.321"."""
    return ", ".join(f"{name.replace('_', ' ')} {value:.3f}" for name, value in figures.items())


class RunIdentity(NamedTuple):
    """What a checkpoint says of its run; see `Checkpoint`."""

    kind: str
    network: dict[str, Any]
    settings: dict[str, Any]


class TrainingRun(ABC):
    """A run in `folder`: steps until its schedule ends."""

    names: ClassVar[tuple[str, ...]]
    """Those of a step's figures, "loss" first."""
    unit: ClassVar[str] = "samples"
    """What `samples` counts, for people."""

    def __init__(self, folder: Path, identity: RunIdentity, schedule: Schedule) -> None:
        self.folder: Final = folder
        self._identity: Final = identity
        self._schedule: Final = schedule
        self._means = _Means()
        self.steps = self.samples = 0
        self.seconds = 0.0

    @abstractmethod
    def work(self) -> Generator[tuple[Tensor, int], None, None]:
        """Do a step each time that the next one is asked for, without end.

        Yields the gradient's norm and the figures, a vector of means over samples, and the number of these samples.
        Where a step raises, weights and state are as before it.
        """

    @abstractmethod
    def validate(self) -> Validation:
        """Return the figures of the network on each validation set."""

    @abstractmethod
    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the weights to export, and what else a checkpoint needs."""

    @abstractmethod
    def restore(self, checkpoint: Checkpoint) -> None:
        """Take over the weights and the state of a checkpoint."""

    @property
    def fraction(self) -> float:
        """Which part of the run is done."""
        return self._schedule.fraction(self.steps, self.samples, self.seconds)

    @property
    def learning_rate(self) -> float:
        """The rate of the next step."""
        return rate_at(self.fraction, self._schedule)

    def resume(self, checkpoint: Checkpoint) -> None:
        """Continue exactly where the checkpoint was written."""
        self.restore(checkpoint)
        self.steps, self.samples, self.seconds = checkpoint.steps, checkpoint.samples, checkpoint.seconds

    def resume_in_folder(self, *, free: Collection[str] = (), needed: Collection[str] = ()) -> bool:
        """Continue the run that is in the folder; return whether there is one.

        Raises ModelError for one of another kind, and ConfigError for one with other settings, those of its "learning"
        included; `free` and `needed` are as in `check_same`.
        """
        if not has_checkpoint(self.folder):
            return False
        checkpoint = read_checkpoint(self.folder)
        checkpoint.check_kind(self._identity.kind)
        began, now = (each | each.get("learning", {}) for each in (checkpoint.settings, self._identity.settings))
        check_same(began, now, free=(*free, "learning"), needed=needed)
        self.resume(checkpoint)
        return True

    def save(self) -> None:
        """Write the checkpoint, all that is needed to resume here; raises ModelError if that is impossible."""
        checkpoint = Checkpoint(*self._identity, *self.state(), self.steps, self.samples, self.seconds)
        write_checkpoint(self.folder, checkpoint)

    def run(self, observe: Observer = lambda *_: None, is_stopped: Callable[[], bool] = never) -> bool:
        """Train until the budget is used up, or `is_stopped`; return whether it is used up.

        A checkpoint is written every few minutes, at the end, and before an error ends the run.  Raises TrainingError
        when loss or gradient is NaN or infinite; the last checkpoint, from before, is then what is left.
        """
        try:
            self._train(observe, is_stopped)
        except TrainingError:  # the weights are useless
            raise
        except BaseException:
            if self.steps and all(map(math.isfinite, self._means.values[:2])):
                self.save()
            raise
        self._save_if_finite()
        return self.fraction >= 1

    def _train(self, observe: Observer, is_stopped: Callable[[], bool]) -> None:
        """Do the steps of `run`."""
        saved, self._means = time.monotonic(), _Means()
        with closing(self.work()) as steps:
            while self.fraction < 1 and not is_stopped():
                started, due = time.monotonic(), self._validations_due()
                figures, samples = next(steps)
                self.steps += 1
                self.samples += samples
                self._means.add(figures, samples)
                self.seconds += time.monotonic() - started
                validates = self._validations_due() > due
                if validates or self.steps % self._schedule.log_steps == 0 or self.fraction >= 1:
                    self._report(observe, validates=validates)
                if time.monotonic() - saved > 60 * self._schedule.checkpoint_minutes:
                    self._save_if_finite()
                    saved = time.monotonic()

    def _validations_due(self) -> int:
        """Return how many validations there should have been by now."""
        return self._schedule.validations_due(self.steps, self.samples, self.seconds)

    def _save_if_finite(self) -> None:
        """Write the checkpoint; raises TrainingError if the steps since the last report made the weights useless."""
        self._check()
        self.save()

    def _check(self) -> None:
        """Raise TrainingError if a mean since the last report shows that the weights are useless: NaN or infinite."""
        gradient, loss, *_ = self._means.values
        for name, value in (("loss", loss), ("gradient", gradient)):
            if not math.isfinite(value):
                advice = "resume from the last checkpoint, or begin again with a lower learning rate"
                raise TrainingError(f"the {name} after {self.steps} steps is {value}", advice=advice)

    def _report(self, observe: Observer, *, validates: bool) -> None:
        """Report the steps since the last report and, if it `validates`, the figures of a validation."""
        self._check()
        done = (self.fraction, self.steps, self.samples, self.seconds, self.learning_rate)
        gradient, *figures = self._means.values
        progress = RunProgress(*done, gradient, dict(zip(self.names, figures, strict=True)), self._means.speed)
        self._means = _Means()
        observe(progress, None)
        if validates:
            started = time.monotonic()
            with torch.no_grad():
                validation = self.validate()
            self.seconds += time.monotonic() - started
            observe(progress, validation)


class TrainingLoop(TrainingRun, Generic[Module, Positions]):
    """A run in `folder` that trains `module`, which lies on the device of `machine` already, on batches.

    `stream` gives these, and `average` holds the network to validate and to export.
    """

    def __init__(
        self,
        module: Module,
        stream: Stream[Positions],
        learning: Learning,
        machine: Machine,
        folder: Path,
        identity: RunIdentity,
    ) -> None:
        super().__init__(folder, identity, learning)
        self.module: Final = module.train()
        self.machine: Final = machine
        self.average: Final = Average(module, learning.average_steps)
        self._stream: Final = stream
        self._learning: Final = learning
        self._optimizer: Final = Optimizer(module, learning.optimizer, learning.weight_decay)
        self._place: Place | None = None

    @abstractmethod
    def figures(self, module: Module, batch: Positions) -> Tensor:
        """Return the figures of a batch as a vector, means over its positions; the loss has its gradient."""

    def counts_statistics(self) -> bool:
        """Return whether norms take their statistics from the next batch; by default they do during the whole run."""
        return True

    def work(self) -> Generator[tuple[Tensor, int], None, None]:
        """Do steps of the optimizer, with threads that compute gradients and prepare batches; see `TrainingRun`."""
        self.machine.use_threads(self.machine.shares)
        with (
            ParallelGradients(self.module, self.machine) as gradients,
            closing(prefetched(self._stream(self._place))) as batches,
        ):
            for batch, place in batches:
                figures = gradients.write(batch, self.figures, counts=self.counts_statistics())
                gradient = nn.utils.clip_grad_norm_(self.module.parameters(), self._learning.clip or math.inf)
                self._optimizer.step(self.learning_rate)
                self._place = place
                self.average.add(self.module, self.steps + 1)
                yield torch.cat([gradient.reshape(1), figures]), len(batch[0])

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return the averaged weights; and those of now, optimizer, and the place in the stream after the last step."""
        optimizer = self._optimizer.state_dict()
        state = {"module": self.module.state_dict(), "optimizer": optimizer, "stream": self._place}
        return self.average.module.state_dict(), state

    def restore(self, checkpoint: Checkpoint) -> None:
        """Take over a checkpoint; see `TrainingRun`."""
        self.module.load_state_dict(checkpoint.state["module"])
        self.average.module.load_state_dict(checkpoint.weights)
        self._optimizer.load_state_dict(checkpoint.state["optimizer"])
        self._place = checkpoint.state["stream"]


class _Means:
    """Means over the positions since the last report: of the gradient's norm and of the run's figures."""

    def __init__(self) -> None:
        self._sums: Tensor | None = None
        self._samples = 0
        self._since = time.monotonic()

    def add(self, figures: Tensor, samples: int) -> None:
        """Add a step, without waiting for the device."""
        figures = figures.detach().double() * samples
        self._sums = figures if self._sums is None else self._sums + figures
        self._samples += samples

    @property
    def values(self) -> list[float]:
        """The gradient's norm, the loss and the other figures; the first two are 0 without a step."""
        return [0.0, 0.0] if self._sums is None else (self._sums / max(1, self._samples)).tolist()

    @property
    def speed(self) -> float:
        """Positions a second."""
        return self._samples / (time.monotonic() - self._since)
