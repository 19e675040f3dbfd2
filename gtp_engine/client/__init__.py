"""Clients of engines: programs that speak GTP or KataGo's analysis protocol, as processes or over TCP.

    Limit, Analysis, MoveAnalysis, PlayResult    what is asked of an engine, and what it answers

    connection        lines to and from a process or a socket, with time limits, a log and the engine's last words
    gtp_engines       SimpleGtpEngine: moves, analyses, clocks, options, one command at a time
    analysis_engines  SimpleAnalysisEngine: many queries about positions at a time
    async_engines     GtpEngine and AnalysisEngine, the same for asyncio

Results are values with vertices, the same for this package's `Engine` and for other engines.  Winrates and points are
those of a stated side, `Analysis.side`; `seen_by` shows the other's.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from gtp_engine.arguments import checked
from gtp_engine.errors import LimitError, counted, problem, shown
from gtp_engine.go.constants import Move
from gtp_engine.go.coords import Color, to_color


@checked
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
            if value is not None and not (value > 0 and math.isfinite(value)):
                raise LimitError(problem(f"limit of {shown(value)} {name}", expected="a number above 0, or None"))


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
class PlayResult:
    """The move that an engine has chosen: a `Move`, perhaps a pass, or None if it resigns."""

    move: Move | None
    seconds: float = 0.0
    """From the command's last byte to the reply's first."""

    @property
    def resigned(self) -> bool:
        """Whether the engine resigns."""
        return self.move is None

    def __str__(self) -> str:
        return "resign" if self.move is None else str(self.move.point)
