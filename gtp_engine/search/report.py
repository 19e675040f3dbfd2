"""SearchReport: what a search found, as plain values for choosing a move, for logs and for analysis output.

Results are Black's: `value_black` is in [−1, 1], −1 for a loss and 1 for a win; searches by rollouts
add a small share of the margin.  `seen_by` converts them to the colour that a protocol wants.

A report is complete when a search hands it out: front ends written for engines with networks draw scores, which
`completed` derives from the owner of every point where no network predicts one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import counted
from gtp_engine.go.constants import BLACK, NULL_POINT
from gtp_engine.go.coords import to_color, transformed_points
from gtp_engine.go.game import Game

_Results = TypeVar("_Results", float, NDArray[np.floating])

FEW_VISITS: Final = 16
"""Visits below which a move's mean is less reliable than the root's: its standard error is over a quarter."""


@dataclass(frozen=True)
class Outlook:
    """Results of a position or a move as one colour sees them: the more, the better for it.

    `winrate` is in [0, 1]; `lead` and `score` are points.  Values by point, such as ownership, need `for_color` alone.
    """

    winrate: float
    lead: float
    score: float
    utility: float = 0.0


@dataclass(frozen=True, kw_only=True)
class PositionResults:
    """Results that either colour can be shown; those of a search, and of its moves, are the means of all visits."""

    value_black: float
    utility_black: float = 0.0
    """What the search maximises: the value, and a smaller term for the score."""
    score_black: float = 0.0
    """Expected final score, points."""
    score_stdev: float = 0.0
    lead_black: float = 0.0

    def seen_by(self, color: int | str) -> Outlook:
        """Return the results as `color` sees them."""
        return Outlook(
            winrate=winrate_of(self.value_black, color),
            lead=for_color(self.lead_black, color),
            score=for_color(self.score_black, color),
            utility=for_color(self.utility_black, color),
        )


@dataclass(frozen=True)
class MoveReport(PositionResults):
    """One move at the root; `pv` is the expected continuation, the move itself first.

    `value_black` is the mean of the playouts through the move.  `expected_black` also includes prior knowledge and, in
    RAVE, playouts in which the move came later; it is the better estimate while visits are few.  Values that only a
    search with a network knows are 0 or None otherwise.
    """

    point: int
    visits: int
    expected_black: float
    pv: tuple[int, ...] = ()
    pv_visits: tuple[int, ...] = ()
    """Visits of each move of `pv`."""
    prior: float = 0.0
    """Probability of the move before any search, as the search used it; of a move that mirrors another, the other's."""
    human_prior: float | None = None
    """The same in the human-like network's; None without one."""
    lcb: float = 0.0
    """Lower confidence bound of the winrate in [0, 1], for the side that makes the move."""
    utility_lcb: float = 0.0
    """Lower confidence bound of the utility, for the side that makes the move."""
    no_result: float = 0.0
    weight: float = 0.0
    """Visits, each weighted by the certainty of the network's evaluation if the search is configured so."""
    selection_weight: float = 0.0
    """What the move is chosen by, in visits: the weight with the corrections of `search.puct.choose`."""
    surplus_visits: int = 0
    """Visits of the position after the move beyond `visits`, which do not count for the move: by other lines to it, or
    by exploration without weight."""
    surplus_weight: float = 0.0
    """The weight of these."""
    pv_surplus_visits: tuple[int, ...] = ()
    """The same for the positions after the second move of `pv` and later ones; missing ones have none."""
    symmetry_of: int | None = None
    """The point that this move mirrors in a symmetric position, where only one of the two was searched."""
    ownership_black: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)
    ownership_stdev: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)

    @property
    def position_visits(self) -> int:
        """All visits of the position after the move."""
        return self.visits + self.surplus_visits

    @property
    def pv_position_visits(self) -> tuple[int, ...]:
        """All visits of the position after each move of `pv`."""
        surplus = chain((self.surplus_visits, *self.pv_surplus_visits), repeat(0))
        return tuple(visits + more for visits, more in zip(self.pv_visits, surplus, strict=False))

    def bounds_seen_by(self, color: int | str, mover: int) -> tuple[float, float]:
        """Return `lcb` and `utility_lcb` as `color` sees them; they are upper bounds for the opponent of `mover`."""
        return (self.lcb, self.utility_lcb) if to_color(color) == mover else (1.0 - self.lcb, -self.utility_lcb)


@dataclass(frozen=True)
class RawEvaluation:
    """The network's evaluation of the root alone, without search.

    Errors are −1, lead and score 0 where the network predicts none; `has_score` says whether it predicts the latter.
    """

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
    has_score: bool = True

    def seen_by(self, color: int | str) -> Outlook:
        """Return the evaluation as `color` sees it, without a utility."""
        return Outlook(
            winrate=self.winrate_black if to_color(color) == BLACK else 1.0 - self.winrate_black,
            lead=for_color(self.lead_black, color),
            score=for_color(self.score_black, color),
        )


@dataclass(frozen=True)
class SearchReport(PositionResults):
    """The state of a search.

    `visits` are those of the root, the reused tree's included; `playouts` those of this search; `seconds` its duration.
    `moves` are sorted, the best first, unless `Limits.first_move` says otherwise.  `ownership_black` is float[n], in
    [−1, 1] per padded point: the mean over `ownership_samples`, which are rollouts played to the end or evaluations by
    a network.
    """

    to_play: int
    visits: int
    playouts: int
    seconds: float
    moves: tuple[MoveReport, ...]
    ownership_samples: int
    ownership_black: NDArray[np.float64] = field(repr=False)
    beside_area_black: float = 0.0
    """Mean of the points that rollouts count for Black beside the area: the button, while it is free, and the tax."""
    nodes: int = 0
    memory: float = 0.0
    """Size of the tree's arrays, MiB."""
    no_result: float = 0.0
    weight: float = 0.0
    ownership_stdev: NDArray[np.float64] | None = field(default=None, repr=False)
    raw: RawEvaluation | None = None
    """The network's evaluation of the root; None for a search without one."""
    priors: NDArray[np.float32] | None = field(default=None, repr=False, compare=False)
    """The prior of the root's moves as the search used it, float32[n] by point: the policy, with the temperature and
    noise that are configured; 0 where a move is left out."""
    human: RawEvaluation | None = None
    """The human-like network's."""
    retrospect: PositionResults | None = None
    """The results without visits that the moves would not get again; None where nothing is known about such visits."""

    def __repr__(self) -> str:
        found, seconds = self.seen_by(self.to_play), f"{self.seconds:.2f} s"
        return f"<SearchReport {found.winrate:.1%} for the side to play, {counted(self.visits, 'visit')}, {seconds}>"

    @property
    def position_results(self) -> PositionResults:
        """The results of the position for an analysis: in retrospect if possible, else the means of all visits."""
        return self.retrospect or self

    @property
    def has_score(self) -> bool:
        """Whether lead and score are a network's; else `completed` has derived them."""
        return self.raw is not None and self.raw.has_score

    @property
    def best(self) -> MoveReport | None:
        """The first move, or None before the first playout."""
        return self.moves[0] if self.moves else None

    @property
    def best_point(self) -> int:
        """The point of the first move, or NULL_POINT."""
        return self.moves[0].point if self.moves else NULL_POINT

    @property
    def winrate(self) -> float:
        """The winrate in [0, 1] of the side to play: its best move's, or the root's while that has few visits."""
        best = best_of(self.moves)
        value = self.value_black if best is None or best.visits < FEW_VISITS else best.value_black
        return winrate_of(value, self.to_play)


def best_of(moves: Sequence[MoveReport]) -> MoveReport | None:
    """Return the best move of a report, also where the first was drawn at random; None without moves."""
    return max(moves, key=lambda move: move.selection_weight, default=None)


def for_color(value_black: _Results, color: int | str) -> _Results:
    """Return Black's result, or results by point, as those of `color`; raises InvalidColorError."""
    return value_black if to_color(color) == BLACK else -value_black


def winrate_of(value_black: float, color: int | str) -> float:
    """Return the winrate of `color` in [0, 1] for Black's result in [−1, 1]."""
    return min(1.0, max(0.0, (1.0 + for_color(value_black, color)) / 2.0))


def completed(report: SearchReport, game: Game) -> SearchReport:
    """Return a report of a search of `game` with lead and score filled in.

    A report with a network's score is returned unchanged.  Otherwise the lead is the area by ownership, with what
    rollouts count beside it, less komi.  It is the same for every move, because ownership is not collected by move;
    without ownership it stays 0.
    """
    if report.has_score:
        return report
    lead = 0.0
    if report.ownership_samples:
        lead = float(report.ownership_black.sum()) + report.beside_area_black - game.area_komi
    moves = tuple(replace(move, lead_black=lead, score_black=lead) for move in report.moves)
    position = report.retrospect and replace(report.retrospect, lead_black=lead, score_black=lead)
    return replace(report, lead_black=lead, score_black=lead, moves=moves, retrospect=position)


def turned_back(report: SearchReport, symmetry: int, game: Game) -> SearchReport:
    """Return a report of `game.transformed(symmetry)`, a board of the same size, for `game`: what moves depend on."""
    turned = transformed_points(symmetry, game.width, game.height)
    back, order, raw = {int(new): old for old, new in turned.items()}, np.arange(game.board.color.size), report.raw
    order[[*turned]] = [*turned.values()]
    if raw is not None:
        raw = replace(raw, policy=raw.policy[order], ownership_black=raw.ownership_black[order])
    lines = (tuple(back[point] for point in move.pv) for move in report.moves)
    moves = (replace(move, point=back[move.point], pv=pv) for move, pv in zip(report.moves, lines, strict=True))
    ownership = report.ownership_black[order]
    return replace(report, moves=tuple(moves), ownership_black=ownership, raw=raw, priors=None, human=None)
