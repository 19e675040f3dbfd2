"""Supervised learning: runs that learn from examples, and the supervised policy.

The supervised policy is a network that predicts the moves of recorded games.  Its loss is the cross-entropy of the move
played; passes are left out.  Games are split by their names, so that no game is in both parts.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from gtp_engine.base.errors import counted
from gtp_engine.training.alphago.stages.game_positions import (
    ExampleBatch,
    GameStore,
    StoredPositions,
    example_stream,
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
from gtp_engine.training.core.devices import Machine, choose_machine
from gtp_engine.training.core.learning import Learning
from gtp_engine.training.core.loop import RunIdentity, TrainingLoop, Validation
from gtp_engine.training.core.reporting import run_and_report

TOP: Final = 5
"""Validation also counts how often the move played is among so many of the most probable ones."""


class ExampleRun(TrainingLoop[Net, ExampleBatch]):
    """A run that trains `net` on the first of `positions`, and tests it on the second.

    `facts` are recorded with the settings; a run resumes with the same ones only.
    """

    tested_names: ClassVar[tuple[str, ...]]
    """The names of the figures on the test positions."""
    for_value: ClassVar[bool] = False
    """As in `Replayer`."""

    def __init__(
        self,
        net: Net,
        positions: tuple[StoredPositions, StoredPositions],
        learning: Learning,
        machine: Machine,
        out: Path,
        facts: Mapping[str, Any],
    ) -> None:
        self.positions: Final = positions
        stream = partial(example_stream, positions[0], learning.batch, seed=learning.seed, for_value=self.for_value)
        identity = RunIdentity(net.KIND, asdict(net.shape), {**facts, "learning": asdict(learning)})
        super().__init__(machine.place(net), stream, learning, machine, out, identity)

    @abstractmethod
    def measure(self, outputs: Tensor, examples: ExampleBatch) -> Tensor:
        """Return the figures of a network's outputs as a vector, means over the examples; the loss has its gradient."""

    def measure_tested(self, outputs: Tensor, examples: ExampleBatch) -> Tensor:
        """Return the figures on test positions, by default the same."""
        return self.measure(outputs, examples)

    def figures(self, module: Net, batch: ExampleBatch) -> Tensor:
        """Return the figures of a batch."""
        return self.measure(self.machine.run(module, batch.planes), batch)

    def validate(self) -> Validation:
        """Return the figures of the averaged network on the test positions."""
        found, tested = [], self.positions[1]
        for batch in examples_of(tested, for_value=self.for_value):
            outputs = self.machine.run(self.average.module, batch.planes.to(self.machine.device)).cpu()
            found.append(self.measure_tested(outputs, batch).double() * len(batch.planes))
        means = torch.stack(found).sum(dim=0) / len(tested[1])
        return {"test": dict(zip(self.tested_names, means.tolist(), strict=True))}


def train(loop: ExampleRun, run: StageRun) -> bool:
    """Train until the end, or until the run is stopped; return whether it is done.

    Raises ConfigError where a run with other settings is in the folder, and ModelError for one of another kind.
    """
    (trained, positions), (tested, _) = loop.positions
    run.bar.log(f"{counted(len(trained.games), 'game')} to train on, {len(tested.games):,} to test on")
    loop.resume_in_folder(free=LIMITS, needed=("stage",))
    parameters = sum(each.numel() for each in loop.module.parameters())
    run.bar.log(f"{parameters:,} parameters, {loop.machine.title}; {len(positions):,} positions to train on")
    return run_and_report(loop, run.bar, run.is_stopped)


class PolicyRun(ExampleRun):
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
) -> None:
    """Train until the end, when the network is written, or until the run is stopped.

    Its file is policy.onnx, or rollout.onnx of a network with `RolloutNetSettings`.
    """
    kind = RolloutNet if isinstance(settings, RolloutNetSettings) else PolicyNet
    store, test_store = map(GameStore, split_games(games, settings.test_share))
    shape = NetShape(store.width, store.height, settings.layers, settings.channels)
    drawn = np.random.default_rng(learning.seed).permutation(test_store.stones())
    tested = np.sort(drawn[: learning.validation_positions])
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    net, positions = new_net(kind, shape, seed=learning.seed), ((store, store.stones()), (test_store, tested))
    facts = {"stage": f"supervised {kind.KIND}", "shape": asdict(shape), "test_share": settings.test_share}
    loop = PolicyRun(net, positions, learning, machine, run.out, facts)
    if train(loop, run):
        export_run(run, f"trained by Tengen on {loop.samples:,} samples of moves of recorded games")
