"""A search report as a response of the analysis protocol: the JSON object that KataGo's clients read.

Every field of a response is from the view of `analysis.perspective`, as in KataGo (`protocols.report_values`).
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.constants import PASS
from gtp_engine.go.coords import Color, board_points
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring
from gtp_engine.protocols.analysis.query import Query
from gtp_engine.protocols.report_values import ReportView, rounded
from gtp_engine.search.report import MoveReport, RawEvaluation, SearchReport

OWNERSHIP_DECIMALS: Final = 4
"""Decimals of ownership, which can be most of a response if it is included for every move."""


def response(query: Query, turn: int, game: Game, report: SearchReport, *, is_during_search: bool) -> dict[str, Any]:
    """Return the response about the position of `game`, which is turn number `turn` of the query."""
    view = _View(query, game, report.to_play)
    result: dict[str, Any] = {
        "id": query.id,
        "turnNumber": turn,
        "isDuringSearch": is_during_search,
        "moveInfos": [view.move_info(order, move) for order, move in enumerate(_searched(report))],
        "rootInfo": view.root_info(report),
        **view.rounded_maps(report, "includeOwnership"),
    }
    if "includePolicy" in query.wanted and report.raw is not None:
        result["policy"] = view.policy(report.raw)
    if "includePolicy" in query.wanted and report.human is not None:
        result["humanPolicy"] = view.policy(report.human)
    return result


def _searched(report: SearchReport) -> list[MoveReport]:
    """Return the moves that were searched: none after a single visit."""
    return [move for move in report.moves if move.position_visits > 0]


def missing_fields(query: Query, report: SearchReport) -> list[str]:
    """Return the fields of the query that request something this search does not provide."""
    moves = _searched(report)
    missing = {
        "includePolicy": report.raw is None,
        "includeOwnershipStdev": report.ownership_stdev is None,
        "includeMovesOwnership": any(move.ownership_black is None for move in moves),
        "includeMovesOwnershipStdev": any(move.ownership_stdev is None for move in moves),
        "includePVVisits": any(len(move.pv_visits) < len(move.pv) for move in moves),
    }
    return [name for name, is_missing in missing.items() if is_missing and name in query.wanted]


def no_results(query: Query, turn: int) -> dict[str, Any]:
    """Return the response about a position whose analysis was terminated before it began."""
    return {"id": query.id, "turnNumber": turn, "isDuringSearch": False, "noResults": True}


class _View(ReportView):
    """Shows results as the query's perspective sees them, with the fields that the query wants."""

    def __init__(self, query: Query, game: Game, to_play: int) -> None:
        analysis = query.config.analysis
        super().__init__(game, analysis.perspective, to_play, analysis.pv_length + 1, query.wanted)

    def move_info(self, order: int, move: MoveReport) -> dict[str, Any]:
        """Return the entry of `moveInfos` for a move; the best has `order` 0."""
        move = replace(move, pv=move.pv[: _length_of_phase(self._game, move.pv)])
        info = {name: rounded(value) for name, value in self.move(order, move).items()}
        if "includeNoResultValue" in self.wanted:
            info["noResultValue"] = rounded(move.no_result)
        if "includePVVisits" in self.wanted and move.pv_visits:
            info |= {name: values[: len(info["pv"])] for name, values in self.pv_visits(move).items()}
        return info | self.rounded_maps(move, "includeMovesOwnership")

    def root_info(self, report: SearchReport) -> dict[str, Any]:
        """Return `rootInfo`."""
        this_hash, symmetry_hash = position_hashes(self._game, report.to_play)
        info: dict[str, Any] = {
            "currentPlayer": Color(report.to_play).letter,
            "thisHash": this_hash,
            "symHash": symmetry_hash,
            **self.root(report),
        }
        if report.raw is not None:
            info |= self._raw_info(report.raw)
        if report.human is not None:
            info |= self._human_info(report.human)
        return {name: rounded(value) for name, value in info.items()}

    def rounded_maps(self, found: MoveReport | SearchReport, field: str) -> dict[str, list[float]]:
        """Return the ownership and its deviation that a field and its "Stdev" want, row by row from the top left."""
        maps = self.maps(found, field).items()
        return {f"ownership{ending}": np.round(values, OWNERSHIP_DECIMALS).tolist() for ending, values in maps}

    def policy(self, raw: RawEvaluation) -> list[float]:
        """Return the policy row by row from the top left, the pass last, −1 where a move is illegal."""
        legal = {PASS, *self._game.legal_points(self._to_play)}
        points = (*self.points, PASS)
        return [rounded(float(raw.policy[point])) if point in legal else -1.0 for point in points]

    def _raw_info(self, raw: RawEvaluation) -> dict[str, float]:
        """Return the fields of `rootInfo` from the network alone.

        Errors and times that it does not predict are −1, half of that for the winrate, as in KataGo.
        """
        seen = raw.seen_by(self.color)
        return {
            "rawWinrate": seen.winrate,
            "rawLead": seen.lead,
            "rawScoreSelfplay": seen.score,
            "rawScoreSelfplayStdev": raw.score_stdev,
            "rawNoResultProb": raw.no_result,
            "rawStWrError": raw.winloss_error / 2,  # the range of a winrate is half that of win − loss
            "rawStScoreError": raw.score_error,
            "rawVarTimeLeft": raw.time_left,
        }

    def _human_info(self, human: RawEvaluation) -> dict[str, float]:
        """Return the fields of `rootInfo` from the human-like network."""
        seen = human.seen_by(self.color)
        return {
            "humanWinrate": seen.winrate,
            "humanScoreMean": seen.score,
            "humanScoreStdev": human.score_stdev,
            "humanStWrError": human.winloss_error / 2,
            "humanStScoreError": human.score_error,
        }


def _length_of_phase(game: Game, line: Sequence[int]) -> int:
    """Return how many moves of a line come before the pass that ends the game under territory rules.

    KataGo leaves that pass out of its responses, but not of GTP's reports (`getPVLenUpToPhaseEnd` in
    cpp/search/analysisdata.cpp).
    """
    passes = game.consecutive_passes
    for length, point in enumerate(line):
        passes = passes + 1 if point == PASS else 0
        if passes >= 2 and game.rules.scoring is Scoring.TERRITORY:
            return length
    return len(line)


def position_hashes(game: Game, to_play: int) -> tuple[str, str]:
    """Return two hashes (32 hexadecimal digits) of stones, simple ko and side to play.

    The second is the same for positions that are rotations or reflections of each other.  History and superko do not
    count.
    """
    grid, points = game.to_numpy().astype(np.uint8), board_points(game.width, game.height)
    if game.ko_point in points:
        grid.flat[points.index(game.ko_point)] = _KO_MARK
    hashes = [_hash(np.rot90(each, turns), to_play) for each in (grid, grid.T) for turns in range(4)]
    return hashes[0], min(hashes)


_KO_MARK: Final = 3
"""Marks the point in a grid that a ko forbids to retake."""


def _hash(grid: NDArray[np.uint8], to_play: int) -> str:
    head = bytes((*grid.shape, to_play))
    return hashlib.blake2b(head + grid.tobytes(), digest_size=16).hexdigest().upper()
