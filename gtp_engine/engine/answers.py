"""What is asked of an engine from Python, and what it answers: values with vertices, the same for every engine.

    Limit               when a search ends
    Analysis            what a search found; MoveAnalysis: about a move; `analysis_of` makes them of a search's report
    PositionEvaluation  what a network says without a search
    PlayResult          the move that an engine has chosen

Winrates and leads are those of a stated side, `Analysis.side`; `seen_by` shows the other's.  The names are those of
KataGo's JSON and of the search.
"""

import random
from bisect import bisect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from numbers import Real
from typing import Any, Final

import numpy as np

from gtp_engine.base.errors import GameStateError, LimitError, counted, of_kind, shown
from gtp_engine.base.former_names import former_property
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import Evaluation
from gtp_engine.go.constants import BLACK
from gtp_engine.go.coords import COLORS, Color, Move, points_by_number, to_color
from gtp_engine.go.game import Game
from gtp_engine.search.report import MoveReport, SearchReport, for_color

MAX_LIMIT: Final = 1e12
"""Largest limit, of seconds or visits: 30,000 years."""


@dataclass(frozen=True)
class Limit:
    """When a search ends: at the first of `time` (seconds), `visits` (of the root) and `playouts` (that it adds).

    Without any of them the engine's own settings hold.  Raises LimitError for a limit of 0 or less, for no number, and
    for visits or playouts that are not whole.

    >>> Limit(time=2, visits=100)
    Limit(time=2.0, visits=100, playouts=None)
    """

    time: float | None = None
    visits: int | None = None
    playouts: int | None = None

    def __post_init__(self) -> None:
        """Refuse limits that are none."""
        for name, value in vars(self).items():
            is_number = isinstance(value, Real) and not isinstance(value, bool)
            if value is not None and not (is_number and 0 < value <= MAX_LIMIT and (name == "time" or value % 1 == 0)):
                expected = f"a {'' if name == 'time' else 'whole '}number above 0 and up to {MAX_LIMIT:g}, or None"
                raise LimitError(f"limit of {shown(value)} {name}", expected=expected)
            if value is not None:  # numpy's numbers, and 1e3
                object.__setattr__(self, name, float(value) if name == "time" else int(value))


@dataclass(frozen=True)
class MoveAnalysis:
    """A move that a search has looked at.

    `winrate` is in [0, 1] and `lead`, in points, without limits, both those of `Analysis.side`.  `lcb` is the lower
    confidence bound of the winrate, by which engines choose moves: that of the side to play, so an upper one where the
    other side is shown.  What an engine does not report is None.

    >>> MoveAnalysis("Q16", visits=80, winrate=0.5, lead=0.3, pv=("Q16", "D4")).pv
    ('Q16', 'D4')
    """

    vertex: str
    """The move, such as "Q16" or "pass"."""
    visits: int
    winrate: float
    lead: float | None = None
    prior: float | None = None
    """Probability of the move before the search, in [0, 1]."""
    lcb: float | None = None
    pv: tuple[str, ...] = ()
    """The principal variation: the expected moves as vertices, this one first."""

    points = former_property("MoveAnalysis", "points", "lead", gone="3.0")
    lower = former_property("MoveAnalysis", "lower", "lcb", gone="3.0")
    line = former_property("MoveAnalysis", "line", "pv", gone="3.0")

    def _mirrored(self) -> "MoveAnalysis":
        return replace(
            self,
            winrate=1.0 - self.winrate,
            lead=None if self.lead is None else -self.lead,
            lcb=None if self.lcb is None else 1.0 - self.lcb,
        )


class Ownership(dict[str, float]):
    """The expected owner of each point by vertex, from −1 to 1, all of `side`; pictures are drawn as that says."""

    def __init__(self, owners: Mapping[str, float], side: Color) -> None:
        super().__init__(owners)
        self.side: Final = side

    @staticmethod
    def of(owners: Mapping[str, float], side: Color) -> "Ownership":
        """Return owners as that side sees them; they are its own where they do not say whose."""
        return (owners if isinstance(owners, Ownership) else Ownership(owners, side)).seen_by(side)

    def seen_by(self, side: int | str) -> "Ownership":
        """Return the same as "black" or "white" sees it; raises InvalidColorError."""
        color = to_color(side)
        return self if color == self.side else Ownership({vertex: -owner for vertex, owner in self.items()}, color)

    def __reduce__(self) -> tuple[object, ...]:
        return Ownership, (dict(self), self.side)


@dataclass(frozen=True)
class Analysis:
    """What a search found in a position; winrate and lead are those of `side`.

    `str(analysis)` is one line for people; notebooks show the position with the best moves.

    >>> print(Analysis(Color.BLACK, Color.BLACK, 30, winrate=0.5, lead=1.5, moves=()).seen_by("white"))
    white 50.0%, -1.5 points, 30 visits
    """

    side: Color
    """Whose winrate, lead and ownership these are."""
    to_play: Color
    """Whose move is searched."""
    visits: int
    """Visits of the root."""
    winrate: float
    """In [0, 1]."""
    lead: float | None
    """Points ahead, komi counted; None from an engine that reports none."""
    moves: tuple[MoveAnalysis, ...]
    """The best first."""
    ownership: Mapping[str, float] = field(default_factory=dict)
    """The expected owner of each point by vertex, from −1 to 1 (all of `side`); empty where none was reported."""
    turn: int = 0
    """Moves before the position."""
    is_final: bool = True
    """Whether the search has ended; False for a report while it goes on."""
    game: Game | None = field(default=None, compare=False)
    """The game whose position was searched."""

    points = former_property("Analysis", "points", "lead", gone="3.0")

    def __post_init__(self) -> None:
        """Let the ownership say whose it is."""
        object.__setattr__(self, "ownership", Ownership.of(self.ownership, self.side))

    @property
    def best(self) -> MoveAnalysis:
        """The first move; raises GameStateError where none has been searched."""
        if not self.moves:
            raise GameStateError("an analysis without a move", advice="give it more visits")
        return self.moves[0]

    def seen_by(self, side: int | str) -> "Analysis":
        """Return the same as "black" or "white" sees it; raises InvalidColorError."""
        color = to_color(side)
        if color == self.side:
            return self
        return replace(
            self,
            side=color,
            winrate=1.0 - self.winrate,
            lead=None if self.lead is None else -self.lead,
            moves=tuple(move._mirrored() for move in self.moves),
        )

    def to_records(self) -> list[dict[str, Any]]:
        """Return a row for each move, as tables such as pandas.DataFrame take them: plain values by name."""
        common = {"turn": self.turn, "side": str(self.side), "to_play": str(self.to_play)}
        return [
            {**common, "order": order, **vars(move), "pv": " ".join(move.pv)} for order, move in enumerate(self.moves)
        ]

    def __str__(self) -> str:
        lead = "" if self.lead is None else f", {self.lead:+.1f} points"
        pv = f": {' '.join(self.best.pv or (self.best.vertex,))}" if self.moves else ""
        return f"{self.side} {self.winrate:.1%}{lead}, {counted(self.visits, 'visit')}{pv}"

    def __repr__(self) -> str:
        return f"<Analysis {self}>"

    def _repr_svg_(self) -> str | None:
        return None if self.game is None else self.game.svg(analysis=self)


@dataclass(frozen=True)
class PositionEvaluation:
    """What a network says about a position without a search; winrate, lead and ownership are those of `side`.

    For example:

        (found,) = engine.evaluate([game])
        print(found.best, found.policy[found.best], found.lead)
    """

    side: Color
    """The side to play."""
    policy: Mapping[str, float]
    """The probability of each legal move by its vertex, the pass as "pass"; the most likely first, in all 1."""
    winrate: float
    """In [0, 1]; half of the games without a result count."""
    lead: float | None
    """Points ahead, komi counted; None from a network that does not tell."""
    ownership: Mapping[str, float] = field(default_factory=dict)
    """The expected owner of each point by vertex, from −1 to 1 (all of `side`); empty from a network without it."""
    turn: int = 0
    """Moves before the position."""

    points = former_property("PositionEvaluation", "points", "lead", gone="3.0")

    def __post_init__(self) -> None:
        """Let the ownership say whose it is."""
        object.__setattr__(self, "ownership", Ownership.of(self.ownership, self.side))

    def __repr__(self) -> str:
        lead = "" if self.lead is None else f", {self.lead:+.1f} points"
        return f"<PositionEvaluation {self.side} {self.winrate:.1%}{lead}: {self.best} {self.policy[self.best]:.1%}>"

    @property
    def best(self) -> str:
        """The most likely move, a vertex or "pass"."""
        return next(iter(self.policy))

    def draw(self, chance: "random.Random | np.random.Generator | None" = None, *, temperature: float = 1.0) -> str:
        """Return a move drawn by its probability to the power of 1 / `temperature`: a lower one draws likelier moves.

        Raises LimitError for a temperature that is not above 0.
        """
        if not 0.0 < temperature <= MAX_LIMIT:
            raise LimitError(f"temperature {shown(temperature)}", expected="a number above 0")
        highest = self.policy[self.best]
        sums = [*accumulate((share / highest) ** (1.0 / temperature) for share in self.policy.values())]
        return tuple(self.policy)[bisect(sums, (chance or random).random() * sums[-1], 0, len(sums) - 1)]


@dataclass(frozen=True)
class PlayResult:
    """The move that an engine has chosen: a `Move`, perhaps a pass, or None if it resigns.

    >>> print(PlayResult(Move(Color.BLACK, PASS)), PlayResult(None))
    pass resign
    """

    move: Move | None
    seconds: float = 0.0
    """Seconds from the command's last byte to the reply's first."""

    @property
    def resigned(self) -> bool:
        """Whether the engine resigns."""
        return self.move is None

    def __str__(self) -> str:
        return "resign" if self.move is None else str(self.move.point)


def question(game: Game, limit: Limit | None) -> tuple[Game, Limit]:
    """Return a game and a limit, by default one that limits nothing; raises ArgumentError for anything else."""
    return of_kind(game, Game, "game"), of_kind(Limit() if limit is None else limit, Limit, "limit")


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
            lead=seen.lead,
            prior=move.prior,
            lcb=move.lcb,
            pv=tuple(points[point].vertex for point in move.pv),
        )

    return Analysis(
        side=color,
        to_play=color,
        visits=report.visits,
        winrate=root.winrate,
        lead=root.lead,
        moves=tuple(map(analysed, report.moves)),
        ownership={point.vertex: owners[point] for point in points.values() if not point.is_pass},
        turn=len(game.moves),
        game=game,
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
        lead=sign * float(evaluation.lead_black[row]) if info.has_score else None,
        ownership={each.vertex: owners[each] for each in placed},
        turn=len(game.moves),
    )
