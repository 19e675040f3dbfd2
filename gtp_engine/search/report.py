"""What a search found out, as plain values: for choosing a move, for logs and for analysis output.

Results are Black's: `value_black` in [−1, 1].  Whoever shows them turns them round (`for_color`).
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.constants import BLACK, NULL_POINT


@dataclass(frozen=True)
class MoveReport:
    """One move at the root; `pv` is the expected continuation, the move itself first."""

    point: int
    visits: int
    value_black: float
    prior_visits: float
    pv: tuple[int, ...] = ()


@dataclass(frozen=True)
class SearchReport:
    """The state of a search.

    `visits` are those of the root, the reused tree's included; `playouts` those of this search; `seconds` its duration.
    `moves` are sorted, the best first.  `ownership_black` is float[n], in [−1, 1] per padded point, the mean over the
    rollouts of this search.
    """

    to_play: int
    visits: int
    playouts: int
    seconds: float
    value_black: float
    moves: tuple[MoveReport, ...]
    ownership_black: NDArray[np.float64] = field(repr=False)
    nodes: int = 0
    memory: float = 0.0
    """Size of the tree's arrays, MiB."""

    @property
    def best(self) -> MoveReport | None:
        """The move with the most visits, or None before the first playout."""
        return self.moves[0] if self.moves else None

    @property
    def best_point(self) -> int:
        """The point of the best move, or NULL_POINT."""
        return self.moves[0].point if self.moves else NULL_POINT

    @property
    def winrate(self) -> float:
        """The winrate in [0, 1] of the side to play: that of its best move, or of the root without one."""
        value = self.moves[0].value_black if self.moves else self.value_black
        return winrate_of(value, self.to_play)


def for_color(value_black: float, color: int) -> float:
    """Return a result that is Black's as the result of `color`."""
    return value_black if color == BLACK else -value_black


def winrate_of(value_black: float, color: int) -> float:
    """Return the winrate in [0, 1] of `color` that goes with a result for Black in [−1, 1]."""
    return min(1.0, max(0.0, (1.0 + for_color(value_black, color)) / 2.0))
