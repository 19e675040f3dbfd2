"""The loss: the distance of a network's outputs from a teacher's, for each head, and their weighted sum.

All of it is in float32 and for the side to move; letters as in `batches`.
"""

import math
from typing import Final, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from gtp_engine.nn.metadata import Scales
from gtp_engine.training.distillation.batches import Batch
from gtp_engine.training.distillation.distillation_settings import LossWeights
from gtp_engine.training.distillation.shards import ALWAYS_KNOWN
from gtp_engine.training.nets.network_module import Outputs

_ILLEGAL_PLANES: Final = (1, 2, 6)
"""Planes of KataGo's inputs that mark illegal moves: own stones, opponent's stones, ko (`nn.katago_planes`)."""

_ILLEGAL_LOGIT: Final = -1e4
"""Logit of illegal moves: their probability is 0, and finite, so that 0 times it is 0."""

_HAS_ERRORS: Final = 9
_SCALES_ERRORS: Final = 10
_SQUARES_ERRORS: Final = 14
"""Model versions from which on there are time left and errors, and the errors have these units (`nn.decode`)."""
_OLD_SCORE_ERROR: Final = 10.0
"""Points; the unit of version 9."""

_SCORE_TURN: Final = 6.0
"""Points of error beyond which a score's loss grows linearly, so that lost games of 50 points do not dominate it."""


_TIME_TURN: Final = 50.0
"""The same for the variance of the moves left, in squares of moves."""

_ERROR_TURN: Final = 0.5
"""The same for the expected error of win − loss."""

_TURNS: Final = (_SCORE_TURN, _SCORE_TURN, _SCORE_TURN, _TIME_TURN, _ERROR_TURN, _SCORE_TURN)


class Losses(NamedTuple):
    """Means over a batch, before weights; the unit is nats, for scores points (squared below `_SCORE_TURN`).

    The last four are 0 for a network without these outputs, and leave positions out for which the teacher has none.
    """

    policy: Tensor
    value: Tensor
    ownership: Tensor
    score_mean: Tensor
    score_stdev: Tensor
    lead: Tensor
    optimistic_policy: Tensor
    time_left: Tensor
    winloss_error: Tensor
    score_error: Tensor

    def total(self, weights: LossWeights) -> Tensor:
        """Return the weighted sum."""
        return torch.stack([loss * getattr(weights, name) for name, loss in self._asdict().items()]).sum()


class Predictions(NamedTuple):
    """A network's outputs in the units of a batch."""

    log_policy: Tensor  # [N, A + 1] logarithms of probabilities; about −10⁴ for illegal moves
    log_value: Tensor  # [N, 3]
    score: Tensor  # [N, 6] as in `Batch`, or [N, 3] of a network without the rest
    ownership: Tensor  # [N, A] before tanh
    log_optimistic: Tensor | None  # [N, A + 1], or None of a network without an optimistic policy


def losses_of(outputs: Outputs, batch: Batch, scales: Scales, version: int) -> Losses:
    """Return the losses for `batch` of the outputs of a network, given its scales and model version."""
    predictions = predictions_of(outputs, batch, scales, version)
    zero = predictions.log_value.new_zeros(())
    scores = [zero] * len(_TURNS)
    for i, predicted in enumerate(predictions.score.unbind(dim=1)):
        wanted, turn = batch.score[:, i], _TURNS[i]
        errors = F.huber_loss(predicted, wanted, delta=turn, reduction="none") / turn
        scores[i] = (errors * (wanted >= 0)).mean() if i >= ALWAYS_KNOWN else errors.mean()
    optimistic = predictions.log_optimistic
    return Losses(
        policy=-(batch.policy * predictions.log_policy).sum(dim=1).mean(),
        value=-(batch.value * predictions.log_value).sum(dim=1).mean(),
        # tanh is 2 · sigmoid(2x) − 1, so this is the cross-entropy of ownership
        ownership=F.binary_cross_entropy_with_logits(2 * predictions.ownership, (batch.ownership + 1) / 2),
        score_mean=scores[0],
        score_stdev=scores[1],
        lead=scores[2],
        optimistic_policy=zero if optimistic is None else -(batch.optimistic * optimistic).sum(dim=1).mean(),
        time_left=scores[3],
        winloss_error=scores[4],
        score_error=scores[5],
    )


def predictions_of(outputs: Outputs, batch: Batch, scales: Scales, version: int) -> Predictions:
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
