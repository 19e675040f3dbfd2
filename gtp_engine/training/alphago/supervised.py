"""The supervised policy: a network that foretells the moves of recorded games.

The loss is the cross-entropy of the move that was played; passes are left out.  Games are split by their names, so that
no game is in both parts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from gtp_engine.progress import ProgressBar
from gtp_engine.training.alphago.examples import Examples, ExampleStream, examples_of
from gtp_engine.training.alphago.game_positions import Picks, Shelf
from gtp_engine.training.alphago.game_records import TEST_SHARE, RecordedGame, split_games
from gtp_engine.training.alphago.learner import Evaluate, new_loop
from gtp_engine.training.alphago.net_export import export_net
from gtp_engine.training.alphago.nets import NetShape, PolicyNet, new_net
from gtp_engine.training.alphago.stage_checkpoint import net_of
from gtp_engine.training.core.checkpoint import read_checkpoint
from gtp_engine.training.core.learning import Learning
from gtp_engine.training.core.reporting import run_and_report

FILE_NAME: Final = "policy.onnx"
"""The network's name in the folder of a run."""
TOP: Final = 5
"""The move is also looked for among so many."""


@dataclass(frozen=True)
class SupervisedRun:
    """A run in the folder `out`; sizes as in `NetShape`."""

    out: Path
    learning: Learning
    layers: int
    channels: int
    test_share: float = TEST_SHARE
    name: str = ""
    """Name of the network; "" makes one of its size."""
    terms: str = ""
    """Licence of the weights, for people."""


class PolicyTask:
    """Foretelling moves."""

    names: Final = ("loss", "top-1")

    def __init__(self, shelf: Shelf, picks: Picks) -> None:
        self._shelf: Final = shelf
        self._picks: Final = picks

    def figures(self, answers: Tensor, examples: Examples) -> Tensor:
        """Return the cross-entropy in nats, and how often the most probable move was played."""
        hits = (answers.argmax(dim=1) == examples.actions).float().mean()
        return torch.stack([F.cross_entropy(answers, examples.actions), hits.detach()])

    def validate(self, evaluate: Evaluate) -> dict[str, float]:
        """Return loss, top-1 and top-5 accuracy on the test positions."""
        return accuracy(self._shelf, self._picks, evaluate)


def accuracy(shelf: Shelf, picks: Picks, evaluate: Evaluate) -> dict[str, float]:
    """Return how well logits [N, A] foretell the moves in some positions: loss in nats, top-1 and top-5 accuracy."""
    loss = first = among = 0.0
    for examples in examples_of(shelf, picks, for_value=False):
        logits, actions = evaluate(examples.planes), examples.actions
        loss += float(F.cross_entropy(logits, actions, reduction="sum"))
        best = logits.topk(min(TOP, logits.shape[1]), dim=1).indices == actions[:, None]
        first += float(best[:, 0].sum())
        among += float(best.any(dim=1).sum())
    count = len(picks.games)
    return {"loss": loss / count, "top-1": first / count, f"top-{TOP}": among / count}


def run_supervised(
    run: SupervisedRun, games: list[RecordedGame], bar: ProgressBar, is_stopped: Callable[[], bool]
) -> Path | None:
    """Train until the end, or `is_stopped`; return the network file, None if the run is not done.

    Goes on where an earlier run in the same folder ended.
    """
    train, test = split_games(games, run.test_share)
    shelf, tested = Shelf(train), Shelf(test)
    picks, judged = shelf.move_picks(), _some(tested.move_picks(), run.learning)
    shape = NetShape(shelf.width, shelf.height, run.layers, run.channels)
    stream = ExampleStream(shelf, picks, run.learning.batch, seed=run.learning.seed, for_value=False)
    facts = {"stage": "supervised policy", "shape": shape.to_json(), "test_share": run.test_share}
    net = new_net(PolicyNet, shape, seed=run.learning.seed)
    loop = new_loop(net, PolicyTask(tested, judged), stream, run.learning, run.out, facts)
    bar.log(
        f"{sum(each.numel() for each in net.parameters()):,} parameters, {loop.machine.title}; "
        f"{len(picks.games):,} positions of {len(train):,} games, {len(judged.games):,} to test on"
    )
    return export_supervised(run, bar) if run_and_report(loop, bar, is_stopped) else None


def export_supervised(run: SupervisedRun, bar: ProgressBar) -> Path:
    """Write the network of the run's checkpoint; return the file."""
    checkpoint = read_checkpoint(run.out)
    net = net_of(checkpoint)
    target = run.out / FILE_NAME
    origin = f"trained by Tengen on {checkpoint.samples:,} samples of moves of recorded games"
    export_net(net, target, name=run.name or f"policy-{net.shape.title}", origin=origin, terms=run.terms)
    bar.log(f"Written: {target}")
    return target


def _some(picks: Picks, learning: Learning) -> Picks:
    """Return as many of the positions as the network is tested on, the same ones every time."""
    rng = np.random.default_rng(learning.seed)
    return picks.take(np.sort(rng.permutation(len(picks.games))[: learning.validation_positions]))
