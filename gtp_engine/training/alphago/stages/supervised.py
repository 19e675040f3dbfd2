"""Supervised learning: a stage's objective as a task of the training loop (`core.loop`), and the supervised policy.

The supervised policy is a network that predicts the moves of recorded games.  Its loss is the cross-entropy of the move
played; passes are left out.  Games are split by their names, so that no game
is in both parts.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from gtp_engine.base.errors import counted
from gtp_engine.training.alphago.stages.game_positions import ExampleBatch, ExampleStream, GameStore, examples_of
from gtp_engine.training.alphago.stages.game_records import RecordedGame, split_games
from gtp_engine.training.alphago.stages.nets import Net, NetShape, PolicyNet, RolloutNet, export_run, new_net
from gtp_engine.training.alphago.stages.replay import PositionRefs
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
from gtp_engine.training.core.loop import Figures, RunIdentity, TrainingLoop, Validation
from gtp_engine.training.core.reporting import run_and_report

TOP: Final = 5
"""Validation also counts how often the move played is among so many of the most probable ones."""


Evaluate: TypeAlias = Callable[[Tensor], Tensor]
"""Returns a network's outputs, float32 on the CPU, for planes on the CPU."""


class Objective(Protocol):
    """What a network learns from examples."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the figures, "loss" first."""

    def figures(self, outputs: Tensor, examples: ExampleBatch) -> Tensor:
        """Return the figures of a network's outputs as a vector, means over the examples; the loss has its gradient."""

    def validate(self, evaluate: Evaluate) -> Figures:
        """Return the figures of a network on the test positions."""


class ExampleTask:
    """An objective as a task of the training loop."""

    def __init__(self, objective: Objective, stream: ExampleStream, machine: Machine) -> None:
        self.names: Final = objective.names
        self.stream: Final = stream
        self._objective: Final = objective
        self._machine: Final = machine

    def figures(self, module: Net, batch: ExampleBatch) -> Tensor:
        """Return the objective's figures."""
        return self._objective.figures(self._machine.run(module, batch.planes), batch)

    def counts_statistics(self, fraction: float) -> bool:
        """Return True: norms take their statistics from the batches during the whole run."""
        return True

    def validate(self, module: Net) -> Validation:
        """Return the objective's figures on the test positions."""
        return {"test": self._objective.validate(evaluate_with(module, self._machine))}


def train(
    net: Net, objective: Objective, stream: ExampleStream, learning: Learning, run: StageRun, facts: Mapping[str, Any]
) -> bool:
    """Train `net` until the end, or until the run is stopped; return whether it is done.

    `facts` are recorded with the settings; a run resumes with the same ones only.  Raises ConfigError for
    others, and ModelError where a run of another kind is in the folder.
    """
    machine = choose_machine(learning.device, learning.precision, threads=learning.threads)
    loop = TrainingLoop(
        machine.place(net),
        ExampleTask(objective, stream, machine),
        learning,
        machine,
        run.out,
        RunIdentity(net.KIND, asdict(net.shape), {**facts, "learning": asdict(learning)}),
    )
    loop.resume_in_folder(free=LIMITS, needed=("stage",))
    parameters = sum(each.numel() for each in net.parameters())
    run.bar.log(f"{parameters:,} parameters, {machine.title}; {stream.positions:,} positions to train on")
    return run_and_report(loop, run.bar, run.is_stopped)


def evaluate_with(net: Net, machine: Machine) -> Evaluate:
    """Return the function that evaluates planes with a network on the machine's device."""

    def evaluate(planes: Tensor) -> Tensor:
        with torch.no_grad():
            outputs: Tensor = machine.run(net, planes.to(machine.device))
        return outputs.cpu()

    return evaluate


class PolicyObjective:
    """Predicting moves."""

    names: Final = ("loss", "top-1")

    def __init__(self, store: GameStore, refs: PositionRefs) -> None:
        self._store: Final = store
        self._refs: Final = refs

    def figures(self, outputs: Tensor, examples: ExampleBatch) -> Tensor:
        """Return the cross-entropy in nats, and how often the most probable move was played."""
        hits = (outputs.argmax(dim=1) == examples.actions).float().mean()
        return torch.stack([F.cross_entropy(outputs, examples.actions), hits.detach()])

    def validate(self, evaluate: Evaluate) -> dict[str, float]:
        """Return loss in nats, top-1 and top-5 accuracy on the test positions."""
        loss = first = top = 0.0
        for examples in examples_of(self._store, self._refs, for_value=False):
            logits, actions = evaluate(examples.planes), examples.actions
            loss += float(F.cross_entropy(logits, actions, reduction="sum"))
            hits = logits.topk(min(TOP, logits.shape[1]), dim=1).indices == actions[:, None]
            first += float(hits[:, 0].sum())
            top += float(hits.any(dim=1).sum())
        count = len(self._refs.games)
        return {"loss": loss / count, "top-1": first / count, f"top-{TOP}": top / count}


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
    stream = ExampleStream(store, store.move_refs(), learning.batch, seed=learning.seed, for_value=False)
    refs, rng = test_store.move_refs(), np.random.default_rng(learning.seed)
    tested = refs.take(np.sort(rng.permutation(len(refs.games))[: learning.validation_positions]))
    objective = PolicyObjective(test_store, tested)
    facts = {"stage": f"supervised {kind.KIND}", "shape": asdict(shape), "test_share": settings.test_share}
    run.bar.log(f"{counted(len(train_games), 'game')} to train on, {len(test_games):,} to test on")
    if not train(new_net(kind, shape, seed=learning.seed), objective, stream, learning, run, facts):
        return None
    samples = read_checkpoint(run.out).samples
    origin = f"trained by Tengen on {samples:,} samples of moves of recorded games"
    return export_run(run, f"{kind.KIND}.onnx", default_name=kind.KIND, origin=origin)
