"""What a search found out, as plain values: for choosing a move, for logs and for analysis output.

Results are Black's: `value_black`, −1 for a loss to 1 for a win and a little beyond for the margin.  Whoever shows them
turns them round (`for_color`).
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.constants import BLACK, NULL_POINT

FEW_VISITS: Final = 16
"""Visits below which a move's mean says less than the root's: its standard error is over a quarter."""


@dataclass(frozen=True)
class MoveReport:
    """One move at the root; `pv` is the expected continuation, the move itself first.

    `value_black` is the mean of its own results; `expected_black` takes in what was known before and what the move did
    when it was played later, and is the better guess while visits are few.  What only a search with a network knows is
    0 or None for others.
    """

    point: int
    visits: int
    value_black: float
    expected_black: float
    pv: tuple[int, ...] = ()
    pv_visits: tuple[int, ...] = ()
    """Visits of each move of `pv`."""
    prior: float = 0.0
    """Probability that the network gave the move before any search."""
    lcb: float = 0.0
    """Lower confidence bound of the winrate in [0, 1] of the side that makes the move."""
    utility_black: float = 0.0
    """What the search maximises: the value and what a better score adds to it."""
    utility_lcb: float = 0.0
    """Lower confidence bound of the utility, as the side sees it that makes the move."""
    score_black: float = 0.0
    """Expected final score, points."""
    score_stdev: float = 0.0
    lead_black: float = 0.0
    no_result: float = 0.0
    weight: float = 0.0
    """Visits, weighted by how sure the network was where the search weighs them."""
    symmetry_of: int | None = None
    """The point that this move mirrors in a position with symmetries, where only one of both was searched."""
    ownership_black: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)
    ownership_stdev: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class RawEvaluation:
    """What the network said of the root before any search; −1 for errors where the network has none."""

    winrate_black: float
    lead_black: float
    score_black: float
    score_stdev: float
    no_result: float
    winloss_error: float
    score_error: float
    time_left: float
    policy: NDArray[np.float32] = field(repr=False, compare=False)
    """float32[n] by point, the pass at PASS; 0 where illegal."""
    ownership_black: NDArray[np.float32] = field(repr=False, compare=False)


@dataclass(frozen=True)
class SearchReport:
    """The state of a search.

    `visits` are those of the root, the reused tree's included; `playouts` those of this search; `seconds` its duration.
    `moves` are sorted, the best first.  `ownership_black` is float[n], in [−1, 1] per padded point: the mean over
    `ownership_samples`, which are rollouts played to the end or evaluations by a network.
    """

    to_play: int
    visits: int
    playouts: int
    seconds: float
    value_black: float
    moves: tuple[MoveReport, ...]
    ownership_samples: int
    ownership_black: NDArray[np.float64] = field(repr=False)
    nodes: int = 0
    memory: float = 0.0
    """Size of the tree's arrays, MiB."""
    utility_black: float = 0.0
    score_black: float = 0.0
    score_stdev: float = 0.0
    lead_black: float = 0.0
    no_result: float = 0.0
    weight: float = 0.0
    ownership_stdev: NDArray[np.float64] | None = field(default=None, repr=False)
    raw: RawEvaluation | None = None
    """What the network said of the root; None for a search without one."""

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
        """The winrate in [0, 1] of the side to play: its best move's, or the root's while that has few visits."""
        value = self.value_black
        if self.moves and self.moves[0].visits >= FEW_VISITS:
            value = self.moves[0].value_black
        return winrate_of(value, self.to_play)


def for_color(value_black: float, color: int) -> float:
    """Return a result that is Black's as the result of `color`."""
    return value_black if color == BLACK else -value_black


def winrate_of(value_black: float, color: int) -> float:
    """Return the winrate in [0, 1] of `color` that goes with a result for Black in [−1, 1]."""
    return min(1.0, max(0.0, (1.0 + for_color(value_black, color)) / 2.0))
