"""Supervised learning: what is learned from examples, as a task of the training loop, and the supervised policy.

The supervised policy is a network that predicts the moves of recorded games.  Its loss is the cross-entropy of the move
played; passes are left out.  Games are split by their names, so that no game
is in both parts.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from gtp_engine.base.errors import counted
from gtp_engine.training.alphago.stages.game_positions import (
    ExampleBatch,
    ExampleStream,
    GameStore,
    StoredPositions,
    examples_of,
)
from gtp_engine.training.alphago.stages.game_records import RecordedGame, split_games
from gtp_engine.training.alphago.stages.nets import Net, NetShape, PolicyNet, RolloutNet, export_run, new_net
from gtp_engine.training.alphago.stages.stage_settings import (
    LIMITS,
    PolicyLearning,
    PolicySettings,
    RolloutNetSettings,
    StageRun,
)
from gtp_engine.training.core.checkpoint import read_checkpoint
from gtp_engine.training.core.devices import Machine, choose_machine
from gtp_engine.training.core.learning import Learning
from gtp_engine.training.core.loop import RunIdentity, TrainingLoop, Validation
from gtp_engine.training.core.reporting import run_and_report

TOP: Final = 5
"""Validation also counts how often the move played is among so many of the most probable ones."""


@dataclass(frozen=True)
class ExampleTask(ABC):
    """What a network learns from examples, as a task of the training loop, and the positions that it is tested on."""

    trained: StoredPositions
    tested: StoredPositions
    learning: Learning
    machine: Machine

    names: ClassVar[tuple[str, ...]]
    tested_names: ClassVar[tuple[str, ...]]
    """The names of the figures in training, "loss" first, and on the test positions."""
    for_value: ClassVar[bool] = False
    """As in `Replayer`."""

    @cached_property
    def stream(self) -> ExampleStream:
        """The batches, without end."""
        return ExampleStream(*self.trained, self.learning.batch, seed=self.learning.seed, for_value=self.for_value)

    @abstractmethod
    def measure(self, outputs: Tensor, examples: ExampleBatch) -> Tensor:
        """Return the figures of a network's outputs as a vector, means over the examples; the loss has its gradient."""

    def measure_tested(self, outputs: Tensor, examples: ExampleBatch) -> Tensor:
        """Return the figures on test positions, by default the same."""
        return self.measure(outputs, examples)

    def figures(self, module: Net, batch: ExampleBatch) -> Tensor:
        """Return the figures of a batch."""
        return self.measure(self.machine.run(module, batch.planes), batch)

    def counts_statistics(self, fraction: float) -> bool:
        """Return True: norms take their statistics from the batches during the whole run."""
        return True

    @torch.no_grad()
    def validate(self, module: Net) -> Validation:
        """Return the figures of a network on the test positions."""
        found = []
        for batch in examples_of(*self.tested, for_value=self.for_value):
            outputs = self.machine.run(module, batch.planes.to(self.machine.device)).cpu()
            found.append(self.measure_tested(outputs, batch).double() * len(batch.planes))
        means = torch.stack(found).sum(dim=0) / len(self.tested[1].games)
        return {"test": dict(zip(self.tested_names, means.tolist(), strict=True))}


def train(net: Net, task: ExampleTask, run: StageRun, facts: Mapping[str, Any]) -> bool:
    """Train `net` until the end, or until the run is stopped; return whether it is done.

    `facts` are recorded with the settings; a run resumes with the same ones only.  Raises ConfigError for
    others, and ModelError where a run of another kind is in the folder.
    """
    identity = RunIdentity(net.KIND, asdict(net.shape), {**facts, "learning": asdict(task.learning)})
    loop = TrainingLoop(task.machine.place(net), task, task.learning, task.machine, run.out, identity)
    loop.resume_in_folder(free=LIMITS, needed=("stage",))
    parameters = sum(each.numel() for each in net.parameters())
    run.bar.log(f"{parameters:,} parameters, {task.machine.title}; {task.stream.positions:,} positions to train on")
    return run_and_report(loop, run.bar, run.is_stopped)


class PolicyTask(ExampleTask):
    """Predicting moves."""

    names = ("loss", "top-1")
    tested_names = (*names, f"top-{TOP}")

    def measure(self, outputs: Tensor, examples: ExampleBatch) -> Tensor:
        """Return the cross-entropy in nats, and how often the most probable move was played."""
        hits = (outputs.argmax(dim=1) == examples.actions).float().mean()
        return torch.stack([F.cross_entropy(outputs, examples.actions), hits.detach()])

    def measure_tested(self, outputs: Tensor, examples: ExampleBatch) -> Tensor:
        """Return these and how often one of the five most probable moves was played."""
        best = outputs.topk(min(TOP, outputs.shape[1]), dim=1).indices
        hits = (best == examples.actions[:, None]).any(dim=1).float().mean()
        return torch.cat([self.measure(outputs, examples), hits.reshape(1)])


def run_supervised(
    games: list[RecordedGame], settings: PolicySettings, learning: PolicyLearning, run: StageRun
) -> Path | None:
    """Train until the end, or until the run is stopped; return the network file, None if the run is not done.

    It is policy.onnx, or rollout.onnx of a network with `RolloutNetSettings`.
    """
    kind = RolloutNet if isinstance(settings, RolloutNetSettings) else PolicyNet
    train_games, test_games = split_games(games, settings.test_share)
    store, test_store = GameStore(train_games), GameStore(test_games)
    shape = NetShape(store.width, store.height, settings.layers, settings.channels)
    refs, rng = test_store.move_refs(), np.random.default_rng(learning.seed)
    tested = refs.take(np.sort(rng.permutation(len(refs.games))[: learning.validation_positions]))
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    task = PolicyTask((store, store.move_refs()), (test_store, tested), learning, machine)
    facts = {"stage": f"supervised {kind.KIND}", "shape": asdict(shape), "test_share": settings.test_share}
    run.bar.log(f"{counted(len(train_games), 'game')} to train on, {len(test_games):,} to test on")
    if not train(new_net(kind, shape, seed=learning.seed), task, run, facts):
        return None
    samples = read_checkpoint(run.out).samples
    origin = f"trained by Tengen on {samples:,} samples of moves of recorded games"
    return export_run(run, f"{kind.KIND}.onnx", default_name=kind.KIND, origin=origin)
