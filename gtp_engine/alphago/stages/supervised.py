"""The supervised policy: a network that predicts the moves of recorded games.

The loss is the cross-entropy of the move played; passes are left out.  Games are split by their names, so that no game
is in both parts.
"""

from pathlib import Path
from typing import Final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from gtp_engine.alphago.stages.examples import Examples, ExampleStream, examples_of
from gtp_engine.alphago.stages.game_positions import GameStore, PositionRefs
from gtp_engine.alphago.stages.game_records import RecordedGame, split_games
from gtp_engine.alphago.stages.nets import NetShape, PolicyNet, new_net
from gtp_engine.alphago.stages.stage_loop import Evaluate, train
from gtp_engine.alphago.stages.stage_run import StageRun
from gtp_engine.alphago.stages.stage_settings import PolicyLearning, PolicySettings
from gtp_engine.alphago.stages.trained_net import export_run
from gtp_engine.errors import counted
from gtp_engine.training.core.checkpoint import read_checkpoint

FILE_NAME: Final = "policy.onnx"
"""The network's name in the folder of a run."""
TOP: Final = 5
"""Validation also counts how often the move played is among so many of the most probable ones."""


class PolicyObjective:
    """Predicting moves."""

    names: Final = ("loss", "top-1")

    def __init__(self, store: GameStore, refs: PositionRefs) -> None:
        self._store: Final = store
        self._refs: Final = refs

    def figures(self, outputs: Tensor, examples: Examples) -> Tensor:
        """Return the cross-entropy in nats, and how often the most probable move was played."""
        hits = (outputs.argmax(dim=1) == examples.actions).float().mean()
        return torch.stack([F.cross_entropy(outputs, examples.actions), hits.detach()])

    def validate(self, evaluate: Evaluate) -> dict[str, float]:
        """Return loss, top-1 and top-5 accuracy on the test positions."""
        return accuracy(self._store, self._refs, evaluate)


def accuracy(store: GameStore, refs: PositionRefs, evaluate: Evaluate) -> dict[str, float]:
    """Return how well logits [N, A] predict the moves of positions: loss in nats, top-1 and top-5 accuracy."""
    loss = first = top = 0.0
    for examples in examples_of(store, refs, for_value=False):
        logits, actions = evaluate(examples.planes), examples.actions
        loss += float(F.cross_entropy(logits, actions, reduction="sum"))
        hits = logits.topk(min(TOP, logits.shape[1]), dim=1).indices == actions[:, None]
        first += float(hits[:, 0].sum())
        top += float(hits.any(dim=1).sum())
    count = len(refs.games)
    return {"loss": loss / count, "top-1": first / count, f"top-{TOP}": top / count}


def run_supervised(
    games: list[RecordedGame], settings: PolicySettings, learning: PolicyLearning, run: StageRun
) -> Path | None:
    """Train until the end, or until the run is stopped; return the network file, None if the run is not done."""
    train_games, test_games = split_games(games, settings.test_share)
    store, test_store = GameStore(train_games), GameStore(test_games)
    shape = NetShape(store.width, store.height, settings.layers, settings.channels)
    stream = ExampleStream(store, store.move_refs(), learning.batch, seed=learning.seed, for_value=False)
    objective = PolicyObjective(test_store, _test_positions(test_store, learning))
    facts = {"stage": "supervised policy", "shape": shape.to_json(), "test_share": settings.test_share}
    run.bar.log(f"{counted(len(train_games), 'game')} to train on, {len(test_games):,} to test on")
    if not train(new_net(PolicyNet, shape, seed=learning.seed), objective, stream, learning, run, facts):
        return None
    samples = read_checkpoint(run.out).samples
    origin = f"trained by Tengen on {samples:,} samples of moves of recorded games"
    return export_run(run, FILE_NAME, default_name="policy", origin=origin)


def _test_positions(store: GameStore, learning: PolicyLearning) -> PositionRefs:
    """Return the positions of each validation, which follow from the seed."""
    refs, rng = store.move_refs(), np.random.default_rng(learning.seed)
    return refs.take(np.sort(rng.permutation(len(refs.games))[: learning.validation_positions]))
