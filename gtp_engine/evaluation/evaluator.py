"""What a network (or whoever stands in for one) says about a batch of positions.

Everything is Black's view, as in the search tree, except the policy, which is the mover's by nature: evaluators turn
the network's side-to-move view round once, nobody else does.
"""

from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.positions import Conditions, Positions
from gtp_engine.go.board import padded_length

FloatArray = NDArray[np.float32]

ANY_SYMMETRY: Final = -1
"""Look at the position in one of its orientations, chosen by its key: the same position is always seen alike."""
ALL_SYMMETRIES: Final = 8
"""Average over all orientations of the board."""


class Evaluation(NamedTuple):
    """Answers for B positions; n is the padded length of a board."""

    policy: FloatArray  # [B, n] probability of each move by its point, the pass at PASS; 0 where illegal; sums to 1
    win_black: FloatArray  # [B] probability that Black wins
    loss_black: FloatArray  # [B] that White wins; the rest is "no result"
    score_black: FloatArray  # [B] expected points Black ends up ahead (komi counted), the mean over possible results
    score_stdev: FloatArray  # [B] standard deviation of that, points
    lead_black: FloatArray  # [B] points Black is ahead: the extra komi that would make the game even
    ownership_black: FloatArray  # [B, n] in [−1, 1]; 0 off the board
    time_left: FloatArray  # [B] variance of the number of moves left ("varTimeLeft"); −1 where the network has none
    winloss_error: FloatArray  # [B] expected error of win − loss over the next moves; −1 where there is none
    score_error: FloatArray  # [B] expected error of the score, points; −1 where there is none


def new_evaluation(batch: int, width: int, height: int) -> Evaluation:
    """Return room for the answers about `batch` positions on boards of this size."""
    n = padded_length(width, height)
    wide_fields = ("policy", "ownership_black")
    shapes = {name: (batch, n) if name in wide_fields else (batch,) for name in Evaluation._fields}
    return Evaluation(**{name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()})


class Evaluator(Protocol):
    """Judges positions; one thread calls it at a time.

    `name` is for people, `batch` the number of rows in a call that serves this machine best, `has_score` whether score,
    lead and their deviation mean anything, `has_ownership` whether ownership does.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def batch(self) -> int: ...  # noqa: D102

    @property
    def has_score(self) -> bool: ...  # noqa: D102

    @property
    def has_ownership(self) -> bool: ...  # noqa: D102

    def evaluate(
        self,
        positions: Positions,
        count: int,
        conditions: Conditions,
        out: Evaluation,
        *,
        symmetry: int = ANY_SYMMETRY,
        optimism: float | None = None,
    ) -> None:
        """Write what is to be said about the first `count` rows into `out`; blocks, without holding the GIL for long.

        `symmetry` is 0 to 7, ANY_SYMMETRY or ALL_SYMMETRIES.  `optimism` in [0, 1] mixes in the optimistic policy of
        networks that have one; None: as configured.  Scratch parts of the boards in `positions` may be used, but are
        restored.
        """
        ...

    def clear_cache(self) -> None:
        """Forget remembered answers."""
        ...

    def close(self) -> None:
        """Free what the evaluator holds; it cannot be used afterwards."""
        ...
