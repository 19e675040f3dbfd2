"""What is asked of an engine from Python, and what it answers: values with vertices, the same for every engine.

    Limit               when a search ends
    Analysis            what a search found; MoveAnalysis: about a move; `analysis_of` makes them of a search's report
    PositionEvaluation  what a network says without a search
    PlayResult          the move that an engine has chosen

Winrates and points are those of a stated side, `Analysis.side`; `seen_by` shows the other's.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, Final

import numpy as np

from gtp_engine.base.errors import LimitError, counted, problem, shown
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import Evaluation
from gtp_engine.go.constants import BLACK, Move
from gtp_engine.go.coords import COLORS, Color, points_by_number, to_color
from gtp_engine.go.game import Game
from gtp_engine.search.report import MoveReport, SearchReport, for_color

MAX_LIMIT: Final = 1e12
"""Largest limit, of seconds or visits: 30,000 years."""


@dataclass(frozen=True)
class Limit:
    """When a search ends: at the first of `time` (seconds), `visits` (of the root) and `playouts` (that it adds).

    Without any of them the engine's own settings hold.  Raises LimitError for a limit of 0 or less, or no number.
    """

    time: float | None = None
    visits: int | None = None
    playouts: int | None = None

    def __post_init__(self) -> None:
        """Refuse limits that are none."""
        for name, value in vars(self).items():
            is_number = isinstance(value, Real)
            if value is not None and not (is_number and 0 < value <= MAX_LIMIT):
                expected = f"a number above 0 and up to {MAX_LIMIT:g}, or None"
                raise LimitError(problem(f"limit of {shown(value)} {name}", expected=expected))


@dataclass(frozen=True)
class MoveAnalysis:
    """A move that a search has looked at.

    `winrate` is in [0, 1] and `points` ahead without limits, both those of `Analysis.side`.  `lower` is the bound of
    the winrate that engines choose moves by: a lower one for the side to play, so an upper one where the other side is
    shown.  What an engine does not report is None.
    """

    vertex: str
    """The move, such as "Q16" or "pass"."""
    visits: int
    winrate: float
    points: float | None = None
    prior: float | None = None
    """Probability of the move before the search, in [0, 1]."""
    lower: float | None = None
    line: tuple[str, ...] = ()
    """The expected moves as vertices, this one first."""

    def _mirrored(self) -> "MoveAnalysis":
        return replace(
            self,
            winrate=1.0 - self.winrate,
            points=None if self.points is None else -self.points,
            lower=None if self.lower is None else 1.0 - self.lower,
        )


@dataclass(frozen=True)
class Analysis:
    """What a search found in a position; winrate and points are those of `side`.

    `str(analysis)` is one line for people.
    """

    side: Color
    """Whose winrate, points and ownership these are."""
    to_play: Color
    """Whose move is searched."""
    visits: int
    """Visits of the root."""
    winrate: float
    """In [0, 1]."""
    points: float | None
    """Points ahead, komi counted; None from an engine that reports none."""
    moves: tuple[MoveAnalysis, ...]
    """The best first."""
    ownership: Mapping[str, float] = field(default_factory=dict, repr=False)
    """The expected owner of each point by vertex, from −1 to 1 (all of `side`); empty where none was reported."""
    turn: int = 0
    """Moves before the position."""
    is_final: bool = True
    """Whether the search has ended; False for a report while it goes on."""

    @property
    def best(self) -> MoveAnalysis | None:
        """The first move, or None before the first playout."""
        return self.moves[0] if self.moves else None

    def seen_by(self, side: int | str) -> "Analysis":
        """Return the same as "black" or "white" sees it; raises InvalidColorError."""
        color = Color(to_color(side))
        if color == self.side:
            return self
        return replace(
            self,
            side=color,
            winrate=1.0 - self.winrate,
            points=None if self.points is None else -self.points,
            moves=tuple(move._mirrored() for move in self.moves),
            ownership={vertex: -owner for vertex, owner in self.ownership.items()},
        )

    def to_records(self) -> list[dict[str, Any]]:
        """Return a row for each move, as tables such as pandas.DataFrame take them: plain values by name."""
        common = {"turn": self.turn, "side": str(self.side), "to_play": str(self.to_play)}
        return [
            {**common, "order": order, **vars(move), "line": " ".join(move.line)}
            for order, move in enumerate(self.moves)
        ]

    def __str__(self) -> str:
        points = "" if self.points is None else f", {self.points:+.1f} points"
        line = f": {' '.join(self.best.line or (self.best.vertex,))}" if self.best else ""
        return f"{self.side} {self.winrate:.1%}{points}, {counted(self.visits, 'visit')}{line}"


@dataclass(frozen=True)
class PositionEvaluation:
    """What a network says about a position without a search; winrate, points and ownership are those of `side`."""

    side: Color
    """The side to play."""
    policy: Mapping[str, float]
    """The probability of each legal move by its vertex, the pass as "pass"; the most likely first, in all 1."""
    winrate: float
    """In [0, 1]; half of the games without a result count."""
    points: float | None
    """Points ahead, komi counted; None from a network that does not tell."""
    ownership: Mapping[str, float] = field(default_factory=dict, repr=False)
    """The expected owner of each point by vertex, from −1 to 1 (all of `side`); empty from a network without it."""
    turn: int = 0
    """Moves before the position."""

    @property
    def best(self) -> str:
        """The most likely move, a vertex or "pass"."""
        return next(iter(self.policy))

    def draw(self, chance: random.Random | None = None, *, temperature: float = 1.0) -> str:
        """Return a move drawn by its probability to the power of 1 / `temperature`: a lower one draws likelier moves.

        Raises LimitError for a temperature that is not above 0.
        """
        if not 0.0 < temperature <= MAX_LIMIT:
            raise LimitError(problem(f"temperature {shown(temperature)}", expected="a number above 0"))
        highest = self.policy[self.best]
        weights = [(share / highest) ** (1.0 / temperature) for share in self.policy.values()]
        return (chance or random).choices(tuple(self.policy), weights)[0]


@dataclass(frozen=True)
class PlayResult:
    """The move that an engine has chosen: a `Move`, perhaps a pass, or None if it resigns."""

    move: Move | None
    seconds: float = 0.0
    """Seconds from the command's last byte to the reply's first."""

    @property
    def resigned(self) -> bool:
        """Whether the engine resigns."""
        return self.move is None

    def __str__(self) -> str:
        return "resign" if self.move is None else str(self.move.point)


def analysis_of(report: SearchReport, game: Game) -> Analysis:
    """Return a report of a search of the position of `game` with vertices, from the view of the side to play."""
    color, points = COLORS[report.to_play], points_by_number(game.width, game.height)
    root, owners = report.position_results.seen_by(color), for_color(report.ownership_black, color).tolist()

    def analysed(move: MoveReport) -> MoveAnalysis:
        seen = move.seen_by(color)
        return MoveAnalysis(
            vertex=points[move.point].vertex,
            visits=move.position_visits,
            winrate=seen.winrate,
            points=seen.lead,
            prior=move.prior,
            lower=move.lcb,
            line=tuple(points[point].vertex for point in move.pv),
        )

    return Analysis(
        side=color,
        to_play=color,
        visits=report.visits,
        winrate=root.winrate,
        points=root.lead,
        moves=tuple(map(analysed, report.moves)),
        ownership={point.vertex: owners[point] for point in points.values() if not point.is_pass},
        turn=len(game.moves),
    )


def position_evaluation_of(game: Game, evaluation: Evaluation, row: int, info: EvaluatorInfo) -> PositionEvaluation:
    """Return what a network says about the position of `game`, from the view of the side to play."""
    side, points, policy = game.to_play, points_by_number(game.width, game.height), evaluation.policy[row]
    sign = 1.0 if side == BLACK else -1.0
    order = np.argsort(-policy, kind="stable")[: np.count_nonzero(policy)]
    shares = (policy[order] / policy[order].sum(dtype=np.float64)).tolist()
    owners = (sign * evaluation.ownership_black[row]).tolist()
    placed = [each for each in points.values() if info.has_ownership and not each.is_pass]
    return PositionEvaluation(
        side=side,
        policy={points[point].vertex: share for point, share in zip(order.tolist(), shares, strict=True)},
        winrate=0.5 + 0.5 * sign * float(evaluation.win_black[row] - evaluation.loss_black[row]),
        points=sign * float(evaluation.lead_black[row]) if info.has_score else None,
        ownership={each.vertex: owners[each] for each in placed},
        turn=len(game.moves),
    )
