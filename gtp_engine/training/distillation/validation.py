"""Validation: how well a network agrees with its teacher on positions of games that it was not trained on."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import torch
from torch import Tensor

from gtp_engine.training.core.devices import Machine
from gtp_engine.training.distillation.batches import Batch, tensors_of, unpack
from gtp_engine.training.distillation.losses import Predictions, predictions_of
from gtp_engine.training.distillation.shards import (
    ALWAYS_KNOWN,
    Samples,
    is_of_player,
    join,
    parse_name,
    read_shard,
    shard_paths,
)
from gtp_engine.training.nets.network_module import NetworkModule

_ROWS: Final = 256
"""Positions evaluated together."""
AGREEMENT_HEAD: Final = """\
| board | positions | same first move | policy, KL | winrate error | lead error | ownership error |
|---|---|---|---|---|---|---|"""
"""The head of a table of `agreement_row`."""
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
    """Mean difference in winrate, 0 to 1."""
    lead_error: float
    """Mean difference in points."""
    score_error: float
    """The same for the mean of the score."""
    ownership_error: float
    """Mean difference by point, of −1 to 1."""


class ValidationSet(NamedTuple):
    """The held-out positions of one board size, in games of the teacher or of another player."""

    width: int
    height: int
    by_player: bool = False

    def __str__(self) -> str:
        return f"{self.width}x{self.height}{' player' if self.by_player else ''}"


def agreement_row(place: ValidationSet, found: Agreement) -> str:
    """Return a row of a table in Markdown."""
    player = ", games of the player" if place.by_player else ""
    return (
        f"| {place.width}×{place.height}{player} | {found.positions:,} | {found.same_first_move:.1%} | "
        f"{found.policy_kl:.3f} | {found.winrate_error:.3f} | {found.lead_error:.2f} | {found.ownership_error:.3f} |"
    )


class HeldOut:
    """Up to `positions` held-out positions of each set, in memory; a folder without any gives none.

    While there are fewer, each validation takes positions of new shards.
    """

    def __init__(self, folder: Path, positions: int) -> None:
        self._folder = folder
        self._positions = positions
        self._samples: dict[ValidationSet, Samples] = {}
        self._seen: set[Path] = set()

    def validate(self, module: NetworkModule, machine: Machine) -> dict[ValidationSet, Agreement]:
        """Return the agreement on each set."""
        self._take_new_shards()
        was_training = module.training
        module.eval()
        agreements = {place: _agreement(module, machine, self._batches(place)) for place in sorted(self._samples)}
        module.train(was_training)
        return agreements

    def _take_new_shards(self) -> None:
        """Take positions from shards that are new in the folder."""
        paths = shard_paths(self._folder) if self._folder.is_dir() else []
        for path in (path for path in paths if path not in self._seen):
            self._seen.add(path)
            board = parse_name(path)[:2]
            samples, _ = read_shard(path)
            by_player = is_of_player(samples.game)
            for flag in (False, True):
                self._take(ValidationSet(*board, flag), samples.take(by_player == flag))

    def _take(self, place: ValidationSet, samples: Samples) -> None:
        """Add samples to a set that has too few."""
        known = [self._samples[place]] if place in self._samples else []
        missing = self._positions - sum(part.count for part in known)
        if samples.count and missing > 0:
            self._samples[place] = join([*known, Samples._make(array[:missing] for array in samples)])

    def _batches(self, place: ValidationSet) -> Iterator[Batch]:
        samples = self._samples[place]
        for begin in range(0, samples.count, _ROWS):
            part = Samples._make(array[begin : begin + _ROWS] for array in samples)
            yield unpack(tensors_of(part), (place.width, place.height))


@torch.no_grad()
def _agreement(module: NetworkModule, machine: Machine, batches: Iterator[Batch]) -> Agreement:
    rows = []
    for batch in batches:
        there = batch.to(machine.device)
        outputs = machine.run(module, there.planes, there.globals)
        rows.append(_figures(predictions_of(outputs, there, module.network.scales, module.network.version), there))
    figures = torch.cat(rows, dim=1)
    return Agreement(figures.shape[1], *figures.double().mean(dim=1).tolist())


def _figures(predictions: Predictions, batch: Batch) -> Tensor:
    """Return the figures of `Agreement` for each position of a batch, [7, N]."""
    policy_loss = -(batch.policy * predictions.log_policy).sum(dim=1)
    entropy = -(batch.policy * (batch.policy + _EPSILON).log()).sum(dim=1)
    value = predictions.log_value.exp()
    winrate, teachers = (each[:, 0] + each[:, 2] / 2 for each in (value, batch.value))
    score = (predictions.score[:, :ALWAYS_KNOWN] - batch.score[:, :ALWAYS_KNOWN]).abs()
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
