"""What a search found in each position of a game, as plain values: rounded once, so that every output shows the same.

Winrates are in [0, 1] and leads in points, both Black's.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.coords import board_points, format_vertex
from gtp_engine.review.game_line import Position
from gtp_engine.search.report import FEW_VISITS, MoveReport, SearchReport

MOST_CANDIDATES: Final = 6
"""Candidates kept of each position: as many as a board can show at a time without being covered."""

LONGEST_LINE: Final = 12
"""Moves kept of each continuation; beyond it a search of some hundred visits has looked at single lines only."""

_SYMBOLS: Final = {EMPTY: ".", BLACK: "X", WHITE: "O"}


@dataclass(frozen=True)
class Candidate:
    """A move that the search considered, with the continuation it expects (`line`, the move itself first)."""

    vertex: str
    visits: int
    winrate: float
    lead: float
    prior: float
    line: tuple[str, ...]


@dataclass(frozen=True)
class Finding:
    """What the search found in the position after `number` moves.

    `winrate` and `lead` are those of the best move, or of the position if that move has few visits.  `stones` is the
    board, row by row from the upper left corner: "X" black, "O" white, "." empty.  `ownership` is the expected owner of
    each point in percent in the same order, 100 Black's and −100 White's.  `played_prior` is the network's prior of the
    move that was played, None in the last position.
    """

    number: int
    to_play: str
    visits: int
    winrate: float
    lead: float
    stones: str
    candidates: tuple[Candidate, ...]
    ownership: tuple[int, ...]
    played_prior: float | None = None

    @property
    def best(self) -> Candidate | None:
        """The move that the search would play."""
        return self.candidates[0] if self.candidates else None

    def to_json(self) -> dict[str, Any]:
        """Return it as values of JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Finding":
        """Return what `to_json` wrote; raises KeyError or TypeError for anything else."""
        candidates = tuple(Candidate(**{**each, "line": tuple(each["line"])}) for each in data["candidates"])
        return cls(**{**data, "candidates": candidates, "ownership": tuple(data["ownership"])})


def finding_of(position: Position, report: SearchReport, played: int | None) -> Finding:
    """Return what a search of a position found; `played` is the point of the move played there, None at the end."""
    game = position.game
    points = board_points(game.width, game.height)
    best = report.best
    is_known = best is not None and best.visits >= FEW_VISITS
    seen = (best if best and is_known else report).seen_by(BLACK)
    moves = [move for move in report.moves if move.symmetry_of is None][:MOST_CANDIDATES]
    prior = None if played is None or report.raw is None else round(float(report.raw.policy[played]), 4)
    return Finding(
        number=position.number,
        to_play=color_letter(position.to_play),
        visits=report.visits,
        winrate=round(seen.winrate, 4),
        lead=round(seen.lead, 2),
        stones="".join(_SYMBOLS[game.color_at(point)] for point in points),
        candidates=tuple(_candidate(move, position) for move in moves),
        ownership=tuple(int(each) for each in np.rint(100 * report.ownership_black[list(points)])),
        played_prior=prior,
    )


def color_letter(color: int) -> str:
    """Return "B" or "W"."""
    return "B" if color == BLACK else "W"


def _candidate(move: MoveReport, position: Position) -> Candidate:
    game = position.game
    seen, line = move.seen_by(BLACK), _legal_line(move.pv[:LONGEST_LINE])
    return Candidate(
        vertex=format_vertex(move.point, width=game.width, height=game.height),
        visits=move.visits,
        winrate=round(seen.winrate, 4),
        lead=round(seen.lead, 2),
        prior=round(move.prior, 4),
        line=tuple(format_vertex(point, width=game.width, height=game.height) for point in line),
    )


def _legal_line(points: tuple[int, ...]) -> tuple[int, ...]:
    """Return a continuation up to two passes in a row, after which the game would be over."""
    for i in range(1, len(points)):
        if points[i - 1] == points[i] == PASS:
            return points[: i + 1]
    return points
