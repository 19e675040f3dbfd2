"""A search report by KataGo's names of its fields: what GTP's analyze commands and the analysis protocol both show.

Reports are from Black's view; `ReportView` shows them as its colour sees them, so that a lower bound becomes an upper
bound for the other side.  Points are vertices, maps go row by row from the top left.
"""

from collections.abc import Set
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.search.report import MoveReport, Outlook, SearchReport, for_color

DIGITS: Final = 6
"""Significant digits of a number, as a C++ stream prints it; the networks are accurate to four at most."""


def as_text(value: float | str) -> str:
    """Return a value with `DIGITS` significant digits, integers in full."""
    return str(value) if isinstance(value, int | str) else f"{value:.{DIGITS}g}"


def rounded(value: Any) -> Any:
    """Return a number rounded to `DIGITS` significant digits; integers and other values as they are."""
    return value if isinstance(value, int | str | list) else float(as_text(value))


def view_color(perspective: str, to_play: int) -> int:
    """Return the colour whose view a perspective is: sidetomove, black or white."""
    return {"black": BLACK, "white": WHITE}.get(perspective, to_play)


class ReportView:
    """Shows results in `game` as a perspective sees them, continuations up to a length, and the maps in `wanted`."""

    def __init__(self, game: Game, perspective: str, to_play: int, pv_length: int | None, wanted: Set[str]) -> None:
        self.color: Final = view_color(perspective, to_play)
        self._game: Final = game
        self._to_play: Final = to_play
        self._pv_length: Final = pv_length
        self.wanted: Final = wanted
        self.points: Final = board_points(game.width, game.height)

    def move(self, order: int, move: MoveReport) -> dict[str, Any]:
        """Return the fields of a move; the best has `order` 0."""
        lcb, utility_lcb = move.bounds_seen_by(self.color, self._to_play)
        fields: dict[str, Any] = {
            "move": self._game.vertex(move.point),
            "order": order,
            "visits": move.position_visits,
            "edgeVisits": move.visits,
            **_results(move.seen_by(self.color), move.score_stdev),
            "weight": move.weight + move.surplus_weight,
            "prior": move.prior,
            "lcb": lcb,
            "utilityLcb": utility_lcb,
            "edgeWeight": move.weight,
            "playSelectionValue": move.selection_weight,
            "pv": [self._game.vertex(point) for point in move.pv[: self._pv_length]],
        }
        if move.human_prior is not None:
            fields["humanPrior"] = max(0.0, move.human_prior)
        if move.symmetry_of is not None:
            fields["isSymmetryOf"] = self._game.vertex(move.symmetry_of)
        return fields

    def pv_visits(self, move: MoveReport) -> dict[str, tuple[int, ...]]:
        """Return the visits of each move of the continuation: of the moves, and of the positions after them."""
        return {
            "pvEdgeVisits": move.pv_visits[: self._pv_length],
            "pvVisits": move.pv_position_visits[: self._pv_length],
        }

    def root(self, report: SearchReport) -> dict[str, Any]:
        """Return the fields of the position itself."""
        results = report.position_results
        fields = _results(results.seen_by(self.color), results.score_stdev)
        return {"visits": report.visits, "weight": report.weight, **fields}

    def maps(self, found: MoveReport | SearchReport, name: str) -> dict[str, NDArray[np.floating[Any]]]:
        """Return the ownership, 1 for what is this colour's for certain, as "", and its deviation as "Stdev".

        Each is there if it is known, and wanted as `name` followed by its key.
        """
        maps, points = {}, list(self.points)
        if name in self.wanted and found.ownership_black is not None:
            maps[""] = for_color(found.ownership_black[points].astype(np.float64), self.color)
        if f"{name}Stdev" in self.wanted and found.ownership_stdev is not None:
            maps["Stdev"] = found.ownership_stdev[points].astype(np.float64)
        return maps


def _results(seen: Outlook, score_stdev: float) -> dict[str, float]:
    """Return the fields that moves and the root have in common."""
    return {
        "winrate": seen.winrate,
        "utility": seen.utility,
        "scoreMean": seen.lead,  # the former name of the lead, see Analysis_Engine.md
        "scoreLead": seen.lead,
        "scoreSelfplay": seen.score,
        "scoreStdev": score_stdev,
    }
