"""Validation: how well a network agrees with its teacher on positions of games that it was not trained on."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from gtp_engine.nn.metadata import Scales
from gtp_engine.training.core.devices import Machine
from gtp_engine.training.distillation.batches import Batch, Board, unpack
from gtp_engine.training.distillation.losses import Predictions, predictions_of
from gtp_engine.training.distillation.shards import Samples, join, parse_name, read_shard, shard_paths
from gtp_engine.training.nets.network_module import NetworkModule

_ROWS: Final = 256
"""Positions evaluated together."""
_EPSILON: Final = 1e-9
"""Added to the teacher's probabilities before logarithms: less than float16 holds."""


@dataclass(frozen=True)
class Agreement:
    """Means over the held-out positions of one board size."""

    positions: int
    policy_loss: float
    """Cross-entropy with the teacher's policy, nats."""
    policy_kl: float
    """That less the entropy of the teacher's policy: 0 for a network that has learned everything."""
    same_first_move: float
    """Share of positions whose most likely move is the teacher's."""
    winrate_error: float
    """Mean difference in win rate, 0 to 1."""
    lead_error: float
    """Mean difference in points."""
    score_error: float
    """The same for the mean of the score."""
    ownership_error: float
    """Mean difference by point, of −1 to 1."""


class HeldOut:
    """Up to `positions` held-out positions of each board size, in memory; a folder without any gives none.

    While there are fewer, each validation takes positions of new shards.
    """

    def __init__(self, folder: Path, positions: int) -> None:
        self._folder = folder
        self._positions = positions
        self._samples: dict[Board, Samples] = {}
        self._seen: set[Path] = set()

    def validate(self, module: NetworkModule, machine: Machine) -> dict[Board, Agreement]:
        """Return the agreement on each board size."""
        self._take_new_shards()
        was_training = module.training
        module.eval()
        agreements = {board: _agreement(module, machine, self._batches(board)) for board in sorted(self._samples)}
        module.train(was_training)
        return agreements

    def _take_new_shards(self) -> None:
        """Take positions from shards that are new in the folder."""
        paths = shard_paths(self._folder) if self._folder.is_dir() else []
        for path in (path for path in paths if path not in self._seen):
            self._seen.add(path)
            board = parse_name(path)[:2]
            known = [self._samples[board]] if board in self._samples else []
            missing = self._positions - sum(part.count for part in known)
            if missing > 0:
                samples, _ = read_shard(path)
                self._samples[board] = join([*known, Samples._make(array[:missing] for array in samples)])

    def _batches(self, board: Board) -> Iterator[Batch]:
        samples = self._samples[board]
        for begin in range(0, samples.count, _ROWS):
            yield unpack(Samples._make(array[begin : begin + _ROWS] for array in samples), board)


@torch.no_grad()
def _agreement(module: NetworkModule, machine: Machine, batches: Iterator[Batch]) -> Agreement:
    rows = []
    for batch in batches:
        there = batch.to(machine.device)
        outputs = machine.run(module, there.planes, there.globals)
        rows.append(_figures(predictions_of(outputs, there, _scales(module)), there))
    figures = torch.cat(rows, dim=1)
    return Agreement(figures.shape[1], *figures.double().mean(dim=1).tolist())


def _figures(predictions: Predictions, batch: Batch) -> Tensor:
    """Return the figures of `Agreement` for each position of a batch, [7, N]."""
    policy_loss = -(batch.policy * predictions.log_policy).sum(dim=1)
    entropy = -(batch.policy * (batch.policy + _EPSILON).log()).sum(dim=1)
    value = predictions.log_value.exp()
    winrate, teachers = (each[:, 0] + each[:, 2] / 2 for each in (value, batch.value))
    score = (predictions.score - batch.score).abs()
    return torch.stack(
        [
            policy_loss,
            policy_loss - entropy,
            (predictions.log_policy.argmax(dim=1) == batch.policy.argmax(dim=1)).float(),
            (winrate - teachers).abs(),
            score[:, 2],
            score[:, 0],
            (predictions.ownership.tanh() - batch.ownership).abs().mean(dim=1),
        ]
    )


def _scales(module: NetworkModule) -> Scales:
    return module.network.scales
