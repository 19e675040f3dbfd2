"""From evaluated positions to labelled samples: Black's view becomes the side to move's, points become actions.

B is the number of rows, K of them are taken, A = H·W.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.evaluation import Evaluation, FloatArray
from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.constants import BLACK, PASS
from gtp_engine.go.coords import board_points
from gtp_engine.nn.encoder import new_inputs
from gtp_engine.nn.katago_encoder import KatagoV7Encoder
from gtp_engine.nn.symmetry import IDENTITY
from gtp_engine.training.distillation.shards import OWNERSHIP_UNIT, Samples


class Labeller:
    """Builds samples of positions on boards of one size, at most `batch` at a time.

    Planes follow the rules for areas (`NetworkInfo.suicide_area` False), even if the teacher's own inputs do not.
    """

    def __init__(self, batch: int, width: int, height: int) -> None:
        points = board_points(width, height)
        self._points: Final = np.array(points)
        self._actions: Final = np.array([*points, PASS])
        self._encoder: Final = KatagoV7Encoder(width, height)
        self._inputs: Final = new_inputs(self._encoder, batch, width, height)
        self._symmetries: Final = np.full(batch, IDENTITY, dtype=np.int32)

    def label(
        self,
        positions: Positions,
        evaluation: Evaluation,
        games: Sequence[int],
        optimistic: FloatArray,
    ) -> Samples:
        """Return a sample for each of the first K rows, which belong to the games with the numbers `games` [K].

        `optimistic` [B, n] is the teacher's optimistic policy, zeros if it has none.
        """
        count = len(games)
        self._encoder.encode(positions, range(count), self._symmetries, self._inputs)
        planes = self._inputs.spatial[:count].reshape(count, self._encoder.planes, -1) > 0
        is_black = positions.to_play[:count] == BLACK
        sign = np.where(is_black, np.float32(1), np.float32(-1))
        ownership = evaluation.ownership_black[:count, self._points] * sign[:, None]
        return Samples(
            planes=np.packbits(planes, axis=2),
            globals=self._inputs.globals_[:count].copy(),
            policy=evaluation.policy[:count, self._actions].astype(np.float16),
            value=_value(evaluation, is_black),
            score=np.stack(
                [
                    evaluation.score_black[:count] * sign,
                    evaluation.score_stdev[:count],
                    evaluation.lead_black[:count] * sign,
                    evaluation.time_left[:count],
                    evaluation.winloss_error[:count],
                    evaluation.score_error[:count],
                ],
                axis=1,
            ),
            ownership=np.rint(ownership * OWNERSHIP_UNIT).astype(np.int8),
            optimistic=optimistic[:count, self._actions].astype(np.float16),
            game=np.array(games, dtype=np.int64),
        )


def _value(evaluation: Evaluation, is_black: NDArray[np.bool_]) -> NDArray[np.float16]:
    """Return the probabilities of win, loss and no result for the side to move, float16[K, 3]."""
    count = len(is_black)
    win_black, loss_black = evaluation.win_black[:count], evaluation.loss_black[:count]
    win = np.where(is_black, win_black, loss_black)
    loss = np.where(is_black, loss_black, win_black)
    no_result = np.maximum(0, 1 - win - loss)
    return np.stack([win, loss, no_result], axis=1).astype(np.float16)
