"""Training on examples: a stage's objective as a task of the training loop (`core.loop`)."""

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, TypeAlias

import torch
from torch import Tensor

from gtp_engine.alphago.stages.examples import Examples, ExampleStream
from gtp_engine.alphago.stages.nets import Net
from gtp_engine.alphago.stages.stage_run import StageRun
from gtp_engine.alphago.stages.stage_settings import LIMITS
from gtp_engine.training.core.checkpoint import has_checkpoint, read_checkpoint
from gtp_engine.training.core.devices import Machine, choose_machine
from gtp_engine.training.core.learning import Learning, check_same
from gtp_engine.training.core.loop import Figures, TrainingLoop, Validation
from gtp_engine.training.core.reporting import run_and_report

Evaluate: TypeAlias = Callable[[Tensor], Tensor]
"""Returns a network's outputs, float32 on the CPU, for planes on the CPU."""


class Objective(Protocol):
    """What a network learns from examples."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the figures, "loss" first."""
        ...

    def figures(self, outputs: Tensor, examples: Examples) -> Tensor:
        """Return the figures of a network's outputs as a vector, means over the examples; the loss has its gradient."""
        ...

    def validate(self, evaluate: Evaluate) -> Figures:
        """Return the figures of a network on the test positions."""
        ...


class ExampleTask:
    """An objective as a task of the training loop."""

    def __init__(self, objective: Objective, stream: ExampleStream, machine: Machine) -> None:
        self.names: Final = objective.names
        self.stream: Final = stream
        self._objective: Final = objective
        self._machine: Final = machine

    def figures(self, module: Net, batch: Examples) -> Tensor:
        """Return the objective's figures."""
        return self._objective.figures(_outputs(module, self._machine, batch.planes), batch)

    def counts_statistics(self, fraction: float) -> bool:
        """Return True: norms take their statistics from the batches during the whole run."""
        return True

    def validate(self, module: Net) -> Validation:
        """Return the objective's figures on the test positions."""
        return {"test": self._objective.validate(evaluate_with(module, self._machine))}


def train(
    net: Net,
    objective: Objective,
    stream: ExampleStream,
    learning: Learning,
    run: StageRun,
    facts: Mapping[str, Any],
) -> bool:
    """Train `net` until the end, or until the run is stopped; return whether it is done.

    `facts` are recorded with the settings; a run resumes with the same ones only.  Raises ConfigError for
    others, and ModelError where a run of another kind is in the folder.
    """
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    settings = {**facts, "learning": learning.to_json()}
    loop = TrainingLoop(
        machine.place(net),
        ExampleTask(objective, stream, machine),
        learning,
        machine,
        run.out,
        kind=net.KIND,
        network=net.shape.to_json(),
        settings=settings,
    )
    if has_checkpoint(run.out):
        checkpoint = read_checkpoint(run.out)
        checkpoint.check_kind(net.KIND)
        check_same(checkpoint.settings, settings, free=("learning",))
        check_same(checkpoint.settings["learning"], settings["learning"], free=LIMITS)
        loop.resume(checkpoint)
    parameters = sum(each.numel() for each in net.parameters())
    run.bar.log(f"{parameters:,} parameters, {machine.title}; {stream.positions:,} positions to train on")
    return run_and_report(loop, run.bar, run.is_stopped)


def evaluate_with(net: Net, machine: Machine) -> Evaluate:
    """Return the function that evaluates planes with a network on the machine's device."""

    def evaluate(planes: Tensor) -> Tensor:
        with torch.no_grad():
            return _outputs(net, machine, planes.to(machine.device)).cpu()

    return evaluate


def _outputs(net: Net, machine: Machine, planes: Tensor) -> Tensor:
    with machine.autocast():
        outputs: Tensor = net(machine.as_input(planes))
    return outputs
