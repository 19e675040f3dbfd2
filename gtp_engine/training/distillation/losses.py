"""How far a network is from its teacher: losses in training, and their agreement on games that were held out.

    losses_of   the distance of the outputs from the teacher's for each head; LOSS_WEIGHTS are for their sum
    HeldOut     the positions of games that a network was not trained on, and its `Agreement` with the teacher there

All of it is in float32 and for the side to move; letters as in `batches`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from gtp_engine.config.human import rank_name
from gtp_engine.evaluation.evaluator_info import FULL_AREA
from gtp_engine.nn.encoders import AREA, MOST_RANKS, OPPONENT_RANK, OWN_RANK
from gtp_engine.nn.metadata import PROFILE_INPUTS, Scales
from gtp_engine.training.core.devices import Machine
from gtp_engine.training.core.optimizer import on_device
from gtp_engine.training.distillation.batches import SampleBatch, tensors_of, unpack
from gtp_engine.training.distillation.shards import ALWAYS_KNOWN, Samples, is_of_player, join, read_shard, shard_paths
from gtp_engine.training.nets.network_module import NetworkModule, Outputs

_ILLEGAL_PLANES: Final = (1, 2, 6)
"""Planes of KataGo's inputs that mark illegal moves: own stones, opponent's stones, ko (`nn.katago_inputs`)."""

_ILLEGAL_LOGIT: Final = -1e4
"""Logit of illegal moves: their probability is 0, and finite, so that 0 times it is 0."""

_HAS_ERRORS: Final = 9
_SCALES_ERRORS: Final = 10
_SQUARES_ERRORS: Final = 14
"""Model versions from which on there are time left and errors, and the errors have these units (`nn.decode`)."""
_OLD_SCORE_ERROR: Final = 10.0
"""Points; the unit of version 9."""

_TURNS: Final[Mapping[str, float]] = {
    "score_mean": 6.0,
    "score_stdev": 6.0,
    "lead": 6.0,
    "time_left": 50.0,
    "winloss_error": 0.5,
    "score_error": 6.0,
}
"""Error of each of `SampleBatch.score` beyond which its loss grows linearly, so that lost games of 50 points do not
dominate it: points, for the time squares of moves."""

_ROWS: Final = 256
"""Positions evaluated together."""
AGREEMENT_HEAD: Final = """\
| board | positions | same first move | policy, KL | winrate error | lead error | ownership error |
|---|---|---|---|---|---|---|"""
"""The head of a table of `agreement_row`."""
LOSS_WEIGHTS: Final[Mapping[str, float]] = {
    "policy": 1.0,
    "value": 1.5,
    "ownership": 0.75,
    "score_mean": 0.015,
    "score_stdev": 0.005,
    "lead": 0.03,
    "optimistic_policy": 0.2,
    "time_left": 0.001,
    "winloss_error": 0.5,
    "score_error": 0.02,
}
"""The weight of each head's loss.

Policy and value choose the moves.  Ownership has a target for each point and teaches the trunk which stones live;
scores are in points, whose square counts up to a few points and whose absolute value beyond (Huber), and small weights
bring them to the size of the other losses.  Of the last four, which a search only weighs its evaluations by, none
should cost the policy anything.
"""
_EPSILON: Final = 1e-9
"""Added to the teacher's probabilities before logarithms: less than float16 holds."""


class Predictions(NamedTuple):
    """A network's outputs in the units of a batch."""

    log_policy: Tensor  # [N, A + 1] logarithms of probabilities; about −10⁴ for illegal moves
    log_value: Tensor  # [N, 3]
    score: Tensor  # [N, 6] as in `Batch`, or [N, 3] of a network without the rest
    ownership: Tensor  # [N, A] before tanh
    log_optimistic: Tensor | None  # [N, A + 1], or None of a network without an optimistic policy


def losses_of(outputs: Outputs, batch: SampleBatch, scales: Scales, version: int) -> dict[str, Tensor]:
    """Return the losses for `batch` of the outputs of a network, given its scales and model version.

    They have the names of LOSS_WEIGHTS, and are means before weights; the unit is nats, for scores points (squared
    below their turn).  Those of the last four names are 0 for a network without these outputs, and leave positions out
    for which the teacher has none.
    """
    predictions = predictions_of(outputs, batch, scales, version)
    zero, optimistic = predictions.log_value.new_zeros(()), predictions.log_optimistic
    losses = {
        "policy": -(batch.policy * predictions.log_policy).sum(dim=1).mean(),
        "value": -(batch.value * predictions.log_value).sum(dim=1).mean(),
        # tanh is 2 · sigmoid(2x) − 1, so this is the cross-entropy of ownership
        "ownership": F.binary_cross_entropy_with_logits(
            2 * predictions.ownership, (batch.ownership + 1) / 2, weight=(batch.ownership >= -1).float()
        ),
        "optimistic_policy": zero if optimistic is None else -(batch.optimistic * optimistic).sum(dim=1).mean(),
        **dict.fromkeys(_TURNS, zero),
    }
    for i, (name, predicted) in enumerate(zip(_TURNS, predictions.score.unbind(dim=1), strict=False)):
        wanted, turn = batch.score[:, i], _TURNS[name]
        known = wanted >= 0 if i >= ALWAYS_KNOWN else wanted.isfinite()
        errors = F.huber_loss(predicted, wanted.nan_to_num(), delta=turn, reduction="none") / turn
        losses[name] = (errors * known).mean()
    return losses


def predictions_of(outputs: Outputs, batch: SampleBatch, scales: Scales, version: int) -> Predictions:
    """Return a network's outputs decoded as by `nn.decode`; moves that are certainly illegal are masked."""
    planes = batch.planes.flatten(2)
    is_illegal = planes[:, _ILLEGAL_PLANES].amax(dim=1).bool()
    points = outputs.policy[:, :, :-1].masked_fill(is_illegal[:, None], _ILLEGAL_LOGIT)
    log_policies = torch.cat([points, outputs.policy[:, :, -1:]], dim=2).log_softmax(dim=2)
    misc = outputs.misc.unbind(dim=1)
    score = [misc[0] * scales.score_mean, F.softplus(misc[1]) * scales.score_stdev, misc[2] * scales.lead]
    if version >= _HAS_ERRORS:
        score += [
            F.softplus(misc[3]) * scales.time_left,
            _error(misc[4], scales.winloss_error, 1.0, version),
            _error(misc[5], scales.score_error, _OLD_SCORE_ERROR, version),
        ]
    return Predictions(
        log_policies[:, 0],
        outputs.value.log_softmax(dim=1),
        torch.stack(score, dim=1),
        outputs.ownership,
        log_policies[:, 1] if log_policies.shape[1] > 1 else None,
    )


def _error(raw: Tensor, scale: float, old_scale: float, version: int) -> Tensor:
    """Return an expected error from a raw output, as `nn.decode` does."""
    if version < _SCALES_ERRORS:
        return F.softplus(raw) * old_scale
    if version < _SQUARES_ERRORS:
        return (F.softplus(raw) * scale).sqrt()
    return F.softplus(0.5 * raw) * math.sqrt(scale)


# Agreement


@dataclass(frozen=True)
class Agreement:
    """Means over the held-out positions of a set; not a number where none of them has the label."""

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
    """The held-out positions of one board size: in games of the teacher, of another player, or of people of a rank."""

    width: int
    height: int
    by_player: bool = False
    rank: int = 0
    """Of the side to move, as `HumanProfile` counts; 0: no people."""

    def __str__(self) -> str:
        words = ["player"] if self.by_player else [rank_name(self.rank)] if self.rank else []
        return " ".join([f"{self.width}x{self.height}", *words])


def agreement_row(place: ValidationSet, found: Agreement) -> str:
    """Return a row of a table in Markdown."""
    player = ", games of the player" if place.by_player else f", {rank_name(place.rank)}" if place.rank else ""
    lead, ownership = (
        "–" if math.isnan(error) else f"{error:.{digits}f}"
        for error, digits in ((found.lead_error, 2), (found.ownership_error, 3))
    )
    return (
        f"| {place.width}×{place.height}{player} | {found.positions:,} | {found.same_first_move:.1%} | "
        f"{found.policy_kl:.3f} | {found.winrate_error:.3f} | {lead} | {ownership} |"
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
        """Return the agreement of a module in evaluation mode on each set."""
        self._take_new_shards()
        return {place: _agreement(module, machine, place, self._samples[place]) for place in sorted(self._samples)}

    def _take_new_shards(self) -> None:
        """Take positions from shards that are new in the folder."""
        paths = shard_paths(self._folder) if self._folder.is_dir() else []
        for path in (path for path in paths if path not in self._seen):
            self._seen.add(path)
            samples, meta = read_shard(path)
            ranks = samples.ranks[:, 0]
            by_player = is_of_player(samples.game) & (ranks == 0)
            for flag, rank in sorted({*zip(by_player.tolist(), ranks.tolist(), strict=True)}):
                place = ValidationSet(meta.width, meta.height, flag, rank)
                known = [self._samples[place]] if place in self._samples else []
                missing = self._positions - sum(part.count for part in known)
                if missing > 0:
                    rows = np.flatnonzero((by_player == flag) & (ranks == rank))[:missing]
                    self._samples[place] = join([*known, samples.take(rows)])


def inputs_of(module: NetworkModule, batch: SampleBatch) -> Tensor:
    """Return the global values of a batch and, for a network that imitates people, the profiles after them."""
    return torch.cat([batch.globals, profiles(batch)], dim=1) if module.needs_profile else batch.globals


def profiles(batch: SampleBatch) -> Tensor:
    """Return the ranks of a batch and the area of its board as profiles (`nn.encoders`), zeros for all the rest.

    So the rest of a profile, which is the same in all data, has no weights.
    """
    width, height = batch.board
    found = batch.globals.new_zeros((len(batch.ranks), PROFILE_INPUTS))
    steps = torch.arange(MOST_RANKS, device=found.device)
    for place, ranks in zip((OWN_RANK, OPPONENT_RANK), batch.ranks.unbind(dim=1), strict=True):
        found[:, place : place + MOST_RANKS] = (steps < ranks[:, None]).float()
    found[:, AREA] = 0.5 * math.log(width * height / FULL_AREA)
    return found


@torch.no_grad()
def _agreement(module: NetworkModule, machine: Machine, place: ValidationSet, samples: Samples) -> Agreement:
    rows = []
    for begin in range(0, samples.count, _ROWS):
        part = samples.take(slice(begin, begin + _ROWS))
        batch = on_device(unpack(tensors_of(part), (place.width, place.height)), machine.device)
        outputs = machine.run(module, batch.planes, inputs_of(module, batch))
        rows.append(_figures(predictions_of(outputs, batch, module.network.scales, module.network.version), batch))
    figures = torch.cat(rows, dim=1)
    return Agreement(figures.shape[1], *figures.double().nanmean(dim=1).tolist())


def _figures(predictions: Predictions, batch: SampleBatch) -> Tensor:
    """Return the figures of `Agreement` for each position of a batch, [7, N]."""
    policy_loss = -(batch.policy * predictions.log_policy).sum(dim=1)
    ownership = (predictions.ownership.tanh() - batch.ownership).abs().mean(dim=1)
    entropy = -(batch.policy * (batch.policy + _EPSILON).log()).sum(dim=1)
    value = predictions.log_value.exp()
    winrate, teachers = (each[:, 0] + each[:, 2] / 2 for each in (value, batch.value))
    score = (predictions.score[:, :ALWAYS_KNOWN] - batch.score[:, :ALWAYS_KNOWN]).abs()
    return torch.stack(
        [
            policy_loss,
            policy_loss - entropy,
            (predictions.log_policy.argmax(dim=1) == batch.policy.argmax(dim=1)).float(),
            (winrate - teachers).abs().where(batch.value.sum(dim=1) > 0, torch.nan),
            score[:, 2],
            score[:, 0],
            ownership.where(batch.ownership[:, 0] >= -1, torch.nan),
        ]
    )
