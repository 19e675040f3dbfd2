"""AlphaGo's networks as tasks of the training loop: they learn moves or outcomes from examples."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

from torch import Tensor

from gtp_engine.training.alphago.examples import Examples, ExampleStream
from gtp_engine.training.alphago.nets import Net
from gtp_engine.training.alphago.stage_settings import PATIENCE
from gtp_engine.training.core.checkpoint import has_checkpoint, read_checkpoint
from gtp_engine.training.core.devices import Machine, choose_machine
from gtp_engine.training.core.learning import Learning, check_same
from gtp_engine.training.core.loop import TrainingLoop
from gtp_engine.training.core.observers import Figures, Validation

Evaluate: TypeAlias = Callable[[Tensor], Tensor]
"""Returns a network's outputs, on the CPU, for planes."""


class Goal(Protocol):
    """What is learned."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the figures, "loss" first."""
        ...

    def figures(self, outputs: Tensor, examples: Examples) -> Tensor:
        """Return the loss of a network's outputs, a mean over the examples, and after it the other figures."""
        ...

    def validate(self, evaluate: Evaluate) -> Figures:
        """Return the figures of a network on the test examples; the loss is among them, by its name."""
        ...


class ExampleTask:
    """A goal and the examples to reach it with (`training.core.loop.Task`)."""

    def __init__(self, goal: Goal, stream: ExampleStream, machine: Machine) -> None:
        self.names: Final = goal.names
        self.stream: Final = stream
        self._goal: Final = goal
        self._machine: Final = machine

    def figures(self, net: Net, examples: Examples) -> Tensor:
        """Return the figures of some examples."""
        return self._goal.figures(self._outputs(net, examples.planes), examples)

    def counts_statistics(self, fraction: float) -> bool:
        """Return True: norms take their statistics from batches all through the run."""
        return True

    def validate(self, net: Net) -> Validation:
        """Return the figures on the test examples."""
        device = self._machine.device
        return {"test": self._goal.validate(lambda planes: self._outputs(net, planes.to(device)).cpu())}

    def _outputs(self, net: Net, planes: Tensor) -> Tensor:
        with self._machine.autocast():
            outputs: Tensor = net(self._machine.as_input(planes))
        return outputs


def new_loop(
    net: Net, goal: Goal, stream: ExampleStream, learning: Learning, out: Path, facts: Mapping[str, Any]
) -> TrainingLoop[Net, Examples]:
    """Return a run in the folder `out`, from its beginning with `net` or from the checkpoint there.

    `facts` are recorded in the checkpoint; raises ConfigError if a resumed run began with others, or with other
    settings of learning.
    """
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    task, settings = ExampleTask(goal, stream, machine), {**facts, "learning": learning.to_json()}
    loop = TrainingLoop(
        machine.place(net), task, learning, machine, out, kind=net.KIND, network=net.shape.to_json(), settings=settings
    )
    if has_checkpoint(out):
        checkpoint = read_checkpoint(out)
        check_same(checkpoint.settings["learning"], learning.to_json(), free=PATIENCE)
        check_same(checkpoint.settings, dict(facts))
        loop.resume(checkpoint)
    return loop
