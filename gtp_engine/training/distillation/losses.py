"""The loss: the distance of a network's outputs from a teacher's, for each head, and their weighted sum.

All of it is in float32 and for the side to move; letters as in `batches`.
"""

from typing import Final, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from gtp_engine.nn.metadata import Scales
from gtp_engine.training.distillation.batches import Batch
from gtp_engine.training.distillation.train_config import LossWeights
from gtp_engine.training.nets.network_module import Outputs

_ILLEGAL_PLANES: Final = (1, 2, 6)
"""Planes of KataGo's inputs that mark illegal moves: own stones, opponent's stones, ko (`nn.katago_planes`)."""

_ILLEGAL_LOGIT: Final = -1e4
"""Logit of illegal moves: their probability is 0, and finite, so that 0 times it is 0."""


_SCORE_TURN: Final = 6.0
"""Points of error beyond which a score's loss grows linearly, so that lost games of 50 points do not dominate it."""


class Losses(NamedTuple):
    """Means over a batch, before weights; the unit is nats, for scores points (squared below `_SCORE_TURN`)."""

    policy: Tensor
    value: Tensor
    ownership: Tensor
    score_mean: Tensor
    score_stdev: Tensor
    lead: Tensor

    def total(self, weights: LossWeights) -> Tensor:
        """Return the weighted sum."""
        return torch.stack([loss * getattr(weights, name) for name, loss in self._asdict().items()]).sum()


class Predictions(NamedTuple):
    """A network's outputs in the units of a batch."""

    log_policy: Tensor  # [N, A + 1] logarithms of probabilities; about −10⁴ for illegal moves
    log_value: Tensor  # [N, 3]
    score: Tensor  # [N, 3] mean, standard deviation, lead; points
    ownership: Tensor  # [N, A] before tanh


def losses_of(outputs: Outputs, batch: Batch, scales: Scales) -> Losses:
    """Return the losses of a network's outputs for `batch`."""
    predictions = predictions_of(outputs, batch, scales)
    mean, stdev, lead = (
        F.huber_loss(predictions.score[:, i], batch.score[:, i], delta=_SCORE_TURN) / _SCORE_TURN for i in range(3)
    )
    return Losses(
        policy=-(batch.policy * predictions.log_policy).sum(dim=1).mean(),
        value=-(batch.value * predictions.log_value).sum(dim=1).mean(),
        # tanh is 2 · sigmoid(2x) − 1, so this is the cross-entropy of ownership
        ownership=F.binary_cross_entropy_with_logits(2 * predictions.ownership, (batch.ownership + 1) / 2),
        score_mean=mean,
        score_stdev=stdev,
        lead=lead,
    )


def predictions_of(outputs: Outputs, batch: Batch, scales: Scales) -> Predictions:
    """Return a network's outputs decoded as by `nn.decode`; moves that are certainly illegal are masked."""
    planes = batch.planes.flatten(2)
    is_illegal = planes[:, _ILLEGAL_PLANES].amax(dim=1).bool()
    logits = outputs.policy[:, 0]
    points = logits[:, :-1].masked_fill(is_illegal, _ILLEGAL_LOGIT)
    log_policy = torch.cat([points, logits[:, -1:]], dim=1).log_softmax(dim=1)
    mean, raw_stdev, lead = outputs.misc[:, :3].unbind(dim=1)
    score = [mean * scales.score_mean, F.softplus(raw_stdev) * scales.score_stdev, lead * scales.lead]
    return Predictions(log_policy, outputs.value.log_softmax(dim=1), torch.stack(score, dim=1), outputs.ownership)
