"""The loop in which a network learns from examples: one for the policy's moves and the value's outcomes.

A run by samples on a processor repeats exactly, also across interruptions.
"""

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol

import torch
from torch import Tensor

from gtp_engine.errors import problem
from gtp_engine.progress import ProgressBar
from gtp_engine.training.alphago.examples import Examples, ExampleStream
from gtp_engine.training.alphago.nets import Net
from gtp_engine.training.alphago.stage_checkpoint import Checkpoint, read_checkpoint, write_checkpoint
from gtp_engine.training.alphago.stage_settings import PATIENCE, Learning, check_same
from gtp_engine.training.core.averaging import Average
from gtp_engine.training.core.curves import FILE_NAME as CURVES
from gtp_engine.training.core.curves import panels_of, write_panels
from gtp_engine.training.core.data_parallel import parts_on
from gtp_engine.training.core.devices import Machine, choose_machine
from gtp_engine.training.core.gradients import PartedGradients
from gtp_engine.training.core.learning_rate import cosine_rate
from gtp_engine.training.core.line_log import FILE_NAME as LOG
from gtp_engine.training.core.line_log import LineLog, read_log
from gtp_engine.training.core.optimizer import Optimizer
from gtp_engine.training.distillation.batches import Prefetch
from gtp_engine.training.distillation.trainer import TrainingError


class Task(Protocol):
    """What is learned."""

    def figures(self, answers: Tensor, examples: Examples) -> Tensor:
        """Return the loss of a network's answers, a mean over the examples, and behind it the means of `NAMES`."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """What the figures are called, the loss first."""
        ...

    def judge(self, answer: Callable[[Tensor], Tensor]) -> dict[str, float]:
        """Return what test examples say about a network that answers so; the loss is among it, by its name."""
        ...


class Learner:
    """A run in the folder `out`, from the beginning or from the checkpoint there.

    `net` is what it begins with, `facts` what else the checkpoint is to say about the run: a continued run must say
    the same.  Raises ConfigError if it does not.
    """

    def __init__(
        self, net: Net, task: Task, stream: ExampleStream, learning: Learning, out: Path, facts: Mapping[str, Any]
    ) -> None:
        self._task: Final[Task] = task
        self._stream: Final = stream
        self._learning: Final = learning
        self._out: Final = out
        self._settings: Final = {**facts, "learning": learning.to_json()}
        self.machine: Final[Machine] = choose_machine(learning.device, learning.precision, threads=learning.threads)
        self._place = stream.state()
        self._net: Final = self.machine.place(net).train()
        self.average: Final = Average(self._net, learning.average_steps)
        self._optimizer: Final = Optimizer(self._net, learning.optimizer, learning.weight_decay)
        self.samples = self.steps = 0
        self.seconds = 0.0

    @property
    def fraction(self) -> float:
        """Which part of the run is done."""
        return self._learning.fraction(self.samples, self.seconds)

    def resume(self) -> None:
        """Go on from the checkpoint in the run's folder; raises ConfigError if that is of another run."""
        checkpoint = read_checkpoint(self._out)
        before = dict(checkpoint.settings)
        check_same(before.pop("learning"), self._learning.to_json(), free=PATIENCE)
        check_same(before, {name: value for name, value in self._settings.items() if name != "learning"})
        self._net.load_state_dict(checkpoint.state["net"])
        self.average.module.load_state_dict(checkpoint.weights)
        self._optimizer.load_state_dict(checkpoint.state["optimizer"])
        self._place = checkpoint.state["stream"]
        self._stream.go_to(self._place)
        self.steps, self.samples, self.seconds = checkpoint.steps, checkpoint.samples, checkpoint.seconds

    def run(self, bar: ProgressBar, is_stopped: Callable[[], bool]) -> bool:
        """Learn until the run is done, or `is_stopped`; return whether it is done.

        Log, curves and checkpoint are written.  Raises TrainingError when the loss is no number any more; then the last
        checkpoint is what is left.
        """
        saved, parts = time.monotonic(), parts_on(self.machine)
        self.machine.use_threads(parts)
        report = _Report(self._task.names)
        with (
            LineLog(self._out, after=self.steps) as log,
            PartedGradients(self._net, self.machine, self._figures, parts=parts) as gradients,
            Prefetch(self._stream) as stream,
        ):
            while self.fraction < 1 and not is_stopped():
                begun, due = time.monotonic(), self._judgings_due()
                examples, self._place = next(stream)
                self._step(gradients, examples, report)
                self.seconds += time.monotonic() - begun
                if self.steps % self._learning.log_steps == 0 or self.fraction >= 1:
                    self._tell(report, log, bar)
                if self._judgings_due() > due:
                    self._judge(log, bar)
                if time.monotonic() - saved > 60 * self._learning.checkpoint_minutes:
                    self.save()
                    saved = time.monotonic()
        self.save()
        return self.fraction >= 1

    def save(self) -> None:
        """Write the checkpoint."""
        state = {
            "net": self._net.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "stream": self._place,
        }
        checkpoint = Checkpoint(
            kind=self._net.KIND,
            shape=self._net.shape.to_json(),
            settings=self._settings,
            weights=self.average.module.state_dict(),
            state=state,
            steps=self.steps,
            samples=self.samples,
            seconds=self.seconds,
        )
        write_checkpoint(self._out, checkpoint)

    def _figures(self, net: Net, examples: Examples) -> Tensor:
        return self._task.figures(self._answers(net, examples.planes), examples)

    def _answers(self, net: Net, planes: Tensor) -> Tensor:
        with self.machine.autocast():
            answers: Tensor = net(self.machine.as_input(planes))
        return answers

    def _step(self, gradients: PartedGradients[Net, Examples], examples: Examples, report: "_Report") -> None:
        learning = self._learning
        figures = gradients.write(examples)
        torch.nn.utils.clip_grad_norm_(self._net.parameters(), learning.clip)
        rate = cosine_rate(
            self.fraction, highest=learning.learning_rate, warm_up=learning.warm_up, final=learning.final_rate
        )
        self._optimizer.step(rate)
        self.steps += 1
        self.samples += len(examples.planes)
        self.average.add(self._net, self.steps)
        report.add(figures, len(examples.planes))

    def _judgings_due(self) -> int:
        """Return how many tests there should have been by now; the last is at the very end."""
        return math.floor(self.fraction * self._learning.judgings)

    def _tell(self, report: "_Report", log: LineLog, bar: ProgressBar) -> None:
        """Report the steps since the last report."""
        figures, speed = report.take()
        if not math.isfinite(figures["loss"]):
            advice = "begin again with a lower learning rate"
            raise TrainingError(problem(f"the loss after {self.steps} steps is {figures['loss']}", advice=advice))
        log.write({"kind": "step", **self._where(), "figures": figures, "samples_per_second": speed})
        text = ", ".join(f"{name} {value:.3f}" for name, value in figures.items())
        bar.update(self.fraction, f"{self.samples:,} samples, {speed:.0f}/s, {text}")

    def _judge(self, log: LineLog, bar: ProgressBar) -> None:
        """Test the averaged network, and draw the curves."""
        begun = time.monotonic()
        with torch.no_grad():
            verdict = self._task.judge(
                lambda planes: self._answers(self.average.module, planes.to(self.machine.device)).cpu()
            )
        self.seconds += time.monotonic() - begun
        log.write({"kind": "judged", **self._where(), "figures": verdict})
        text = ", ".join(f"{name} {value:.3f}" for name, value in verdict.items())
        bar.log(f"test after {self.samples:,} samples: {text}")
        write_panels(self._out / CURVES, panels_of(read_log(self._out / LOG)))

    def _where(self) -> dict[str, Any]:
        return {"steps": self.steps, "samples": self.samples, "seconds": self.seconds}


class _Report:
    """Means of figures since the last report."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._sums = torch.zeros(len(names), dtype=torch.float64)
        self._samples = 0
        self._since = time.monotonic()

    def add(self, figures: Tensor, samples: int) -> None:
        """Take in a step."""
        self._sums = self._sums + figures.cpu().double() * samples
        self._samples += samples

    def take(self) -> tuple[dict[str, float], float]:
        """Return the means and the samples in a second, and begin anew."""
        means = dict(zip(self._names, (self._sums / self._samples).tolist(), strict=True))
        speed = self._samples / (time.monotonic() - self._since)
        self._sums, self._samples, self._since = torch.zeros_like(self._sums), 0, time.monotonic()
        return means, speed
