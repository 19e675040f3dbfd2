"""Search reports and evaluations in the formats of lz-analyze, kata-analyze and kata-raw-nn.

Formats are those of KataGo 1.17 (`docs/GTP_Extensions.md`, `cpp/command/gtp.cpp`), numbers with six significant digits
as a C++ stream prints them.  Reports hold Black's view; the output is converted to that of the colour `perspective`.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.search.report import MoveReport, SearchReport, completed, for_color

if TYPE_CHECKING:
    from gtp_engine.evaluation.evaluation import Evaluation
    from gtp_engine.go.game import Game
    from gtp_engine.gtp.analysis_options import AnalysisOptions

_PERSPECTIVES: Final = {"black": BLACK, "white": WHITE}


class ReportWriter:
    """Formats reports about one position as lines; `perspective` is sidetomove, black or white.

    `game` holds that position; it must not change, so an analysis in the background passes a copy.
    """

    def __init__(self, game: "Game", options: "AnalysisOptions", perspective: str, *, is_kata: bool) -> None:
        self._game: Final = game
        self._options: Final = options
        self._perspective: Final = perspective
        self._is_kata: Final = is_kata

    def line(self, report: SearchReport) -> str:
        """Return the line about a report; "" while no move has been searched."""
        report = completed(report, self._game)
        color = _PERSPECTIVES.get(self._perspective, report.to_play)
        moves = _at_least(self._options.min_moves, report)[: self._options.max_moves]
        if not moves:
            return ""
        flags = self._options.flags
        write = self._kata_move if self._is_kata else self._lz_move
        parts = [write(move, order, report, color) for order, move in enumerate(moves)]
        if "rootInfo" in flags:
            parts.append(_root_info(report, color))
        if "ownership" in flags:
            parts.append(f"ownership {self._map(for_color(report.ownership_black, color))}")
        if "ownershipStdev" in flags and report.ownership_stdev is not None:
            parts.append(f"ownershipStdev {self._map(report.ownership_stdev)}")
        return " ".join(parts)

    def _lz_move(self, move: MoveReport, order: int, report: SearchReport, color: int) -> str:
        """Return a move as Leela Zero writes it: probabilities in ten thousandths."""
        lcb, _ = move.bounds_seen_by(color, report.to_play)
        return (
            f"info move {self._game.vertex(move.point)} visits {move.position_visits} "
            f"winrate {_ten_thousandths(move.seen_by(color).winrate)} "
            f"prior {_ten_thousandths(move.prior)} lcb {_ten_thousandths(lcb)} "
            f"order {order} {self._pv(move)}"
        )

    def _kata_move(self, move: MoveReport, order: int, report: SearchReport, color: int) -> str:
        """Return a move as KataGo writes it; its scoreMean is the lead, for tools older than scoreLead."""
        flags = self._options.flags
        seen = move.seen_by(color)
        lead, (lcb, utility_lcb) = _number(seen.lead), move.bounds_seen_by(color, report.to_play)
        parts = [
            f"info move {self._game.vertex(move.point)} visits {move.position_visits} edgeVisits {move.visits}",
            f"utility {_number(seen.utility)}",
            f"winrate {_number(seen.winrate)}",
            f"scoreMean {lead} scoreStdev {_number(move.score_stdev)} scoreLead {lead}",
            f"scoreSelfplay {_number(seen.score)}",
        ]
        if "noResultValue" in flags:
            parts.append(f"noResultValue {_number(move.no_result)}")
        parts.append(f"prior {_number(move.prior)} lcb {_number(lcb)}")
        parts.append(f"utilityLcb {_number(utility_lcb)} weight {_number(move.weight + move.surplus_weight)}")
        if move.symmetry_of is not None:
            parts.append(f"isSymmetryOf {self._game.vertex(move.symmetry_of)}")
        parts.append(f"order {order} {self._pv(move)}")
        if "pvVisits" in flags:
            parts.append(f"pvVisits {' '.join(map(str, move.pv_position_visits))}")
        if "pvEdgeVisits" in flags:
            parts.append(f"pvEdgeVisits {' '.join(map(str, move.pv_visits))}")
        if "movesOwnership" in flags and move.ownership_black is not None:
            parts.append(f"movesOwnership {self._map(for_color(move.ownership_black, color))}")
        if "movesOwnershipStdev" in flags and move.ownership_stdev is not None:
            parts.append(f"movesOwnershipStdev {self._map(move.ownership_stdev)}")
        return " ".join(parts)

    def _pv(self, move: MoveReport) -> str:
        return " ".join(["pv", *map(self._game.vertex, move.pv)])

    def _map(self, values: NDArray[np.floating]) -> str:
        """Return a value for every point, row by row from the top left."""
        return " ".join(_number(float(values[point])) for point in board_points(self._game.width, self._game.height))


def format_evaluation(
    evaluation: "Evaluation", symmetries: Iterable[int], game: "Game", color: int, *, is_human: bool = False
) -> str:
    """Return a network's evaluation of a position with `color` to play, White's view: a block for each of `symmetries`.

    `is_human`: in the form of kata-raw-human-nn, which has other names for the score and fewer lines.

    KataGo separates blocks by blank lines, which a GTP reply must not contain; its documentation allows other space.
    """
    return "\n".join(
        _evaluation_block(evaluation, row, symmetry, game, color, is_human=is_human)
        for row, symmetry in enumerate(symmetries)
    )


def _evaluation_block(
    evaluation: "Evaluation", row: int, symmetry: int, game: "Game", color: int, *, is_human: bool
) -> str:
    win, loss = float(evaluation.loss_black[row]), float(evaluation.win_black[row])
    mean, stdev = -float(evaluation.score_black[row]), float(evaluation.score_stdev[row])
    score = "whiteScore" if is_human else "whiteScoreSelfplay"
    legal = set(game.legal_points(color))
    policy, ownership = evaluation.policy[row], -evaluation.ownership_black[row]
    return "\n".join(
        [
            f"symmetry {symmetry}",
            f"whiteWin {win:.6f}",
            f"whiteLoss {loss:.6f}",
            f"noResult {max(0.0, 1.0 - win - loss):.6f}",
            *([] if is_human else [f"whiteLead {-float(evaluation.lead_black[row]):.3f}"]),
            f"{score} {mean:.3f}",
            f"{score}Sq {mean**2 + stdev**2:.3f}",
            *([] if is_human else [f"varTimeLeft {float(evaluation.time_left[row]):.3f}"]),
            f"shorttermWinlossError {float(evaluation.winloss_error[row]):.3f}",
            f"shorttermScoreError {float(evaluation.score_error[row]):.3f}",
            "policy",
            *_rows(game, lambda p: f"{policy[p]:8.6f}" if policy[p] > 0 or p in legal else "     NAN"),
            f"policyPass {policy[PASS]:8.6f}",
            "whiteOwnership",
            *_rows(game, lambda point: f"{ownership[point]:9.7f}"),
        ]
    )


def _rows(game: "Game", show: Callable[[int], str]) -> list[str]:
    """Return a line for each row of the board, from the top, with `show` applied to its points."""
    points = board_points(game.width, game.height)
    return [" ".join(map(show, points[start : start + game.width])) for start in range(0, len(points), game.width)]


def _root_info(report: SearchReport, color: int) -> str:
    results = report.position_results
    seen = results.seen_by(color)
    lead = _number(seen.lead)
    parts = [
        f"rootInfo visits {report.visits} utility {_number(seen.utility)}",
        f"winrate {_number(seen.winrate)}",
        f"scoreMean {lead} scoreStdev {_number(results.score_stdev)} scoreLead {lead}",
        f"scoreSelfplay {_number(seen.score)} weight {_number(report.weight)}",
    ]
    if report.raw is not None:
        parts.append(f"rawStWrError {_number(report.raw.winloss_error)}")
        parts.append(f"rawStScoreError {_number(report.raw.score_error)}")
        parts.append(f"rawVarTimeLeft {_number(report.raw.time_left)}")
    return " ".join(parts)


def _at_least(count: int, report: SearchReport) -> tuple[MoveReport, ...]:
    """Return the moves searched; if fewer than `count`, add likely moves with the results of the position itself."""
    moves = tuple(move for move in report.moves if move.position_visits > 0)
    missing = count - len(moves)
    if missing <= 0 or report.raw is None:
        return moves
    known, policy = {move.point for move in moves}, report.raw.policy
    others = [int(point) for point in np.argsort(-policy, kind="stable") if point not in known and policy[point] > 0]
    own = report.seen_by(report.to_play)
    position = MoveReport(
        point=PASS,
        visits=0,
        value_black=report.value_black,
        expected_black=report.value_black,
        lcb=own.winrate,
        utility_black=report.utility_black,
        utility_lcb=own.utility,
        score_black=report.score_black,
        score_stdev=report.score_stdev,
        lead_black=report.lead_black,
        no_result=report.no_result,
    )
    added = (replace(position, point=p, prior=float(policy[p]), pv=(p,), pv_visits=(0,)) for p in others[:missing])
    return (*moves, *added)


def _ten_thousandths(probability: float) -> int:
    return round(10_000 * probability)


def _number(value: float) -> str:
    return f"{value:.6g}"
