"""Reports in the formats of lz-analyze, kata-analyze and kata-raw-nn, from every perspective."""

from dataclasses import replace

import numpy as np
import pytest
from analysis.fake_search import report_of

from gtp_engine import Choice, Game, parse_vertex
from gtp_engine.evaluation.positions import new_evaluation
from gtp_engine.go.constants import WHITE
from gtp_engine.protocols.gtp.reports import analysis_line, choice_text, format_evaluation
from gtp_engine.protocols.report_values import ReportView
from gtp_engine.search.report import MoveReport, SearchReport, completed

GAME = Game(2, 2, komi=0.5)


def point(vertex: str) -> int:
    return parse_vertex(vertex, width=2, height=2)


def by_point(values: dict[str, float]) -> np.ndarray:
    array = np.zeros(GAME.board.color.size, dtype=np.float32)
    for vertex, value in values.items():
        array[point(vertex)] = value
    return array


OWNERSHIP = by_point({"A2": 1.0, "B2": -0.5, "A1": 0.25, "B1": 0.0})
FOUND = report_of(GAME, visits=13)
MOVE = replace(FOUND.moves[0], ownership_black=OWNERSHIP, ownership_stdev=np.abs(OWNERSHIP) / 2)
REPORT = replace(
    FOUND,
    moves=(MOVE, replace(MOVE, point=point("B2"), pv=(point("B2"),), symmetry_of=point("A1"))),
    value_black=0.2,
    utility_black=0.25,
    score_black=2.0,
    score_stdev=5.0,
    lead_black=1.25,
    ownership_black=OWNERSHIP.astype(np.float64),
    ownership_stdev=np.abs(OWNERSHIP),
    priors=by_point({"A1": 0.4, "B1": 0.3, "A2": 0.2, "pass": 0.1}),
)
WHITE_REPORT = replace(REPORT, to_play=WHITE)


def line(
    report: SearchReport, *flags: str, perspective: str = "sidetomove", is_kata: bool = True, **options: int
) -> str:
    view = ReportView(GAME, perspective, report.to_play, options.pop("pv_length", None), {*flags})
    return analysis_line(report, view, is_kata=is_kata, **options)


def test_leela_zero_and_katago() -> None:
    """Nothing is reported before a move was searched."""
    assert line(replace(REPORT, moves=())) == line(REPORT, max_moves=0) == ""
    assert line(REPORT, is_kata=False, max_moves=1) == (
        "info move A1 visits 12 winrate 8000 prior 2500 lcb 1000 order 0 pv A1 pass pass"
    )
    assert line(REPORT, max_moves=1) == (
        "info move A1 visits 12 edgeVisits 12 utility 0.65 winrate 0.8 scoreMean 5 scoreStdev 11 scoreLead 5 "
        "scoreSelfplay 7 prior 0.25 lcb 0.1 utilityLcb -0.7 weight 13 order 0 pv A1 pass pass"
    )


def test_visits_and_weights_are_those_of_the_positions() -> None:
    """The weight was the move's own beside the visits of the position, which other lines may lead to."""
    text = line(
        replace(REPORT, moves=(replace(MOVE, surplus_visits=3, surplus_weight=2.5, pv_surplus_visits=(4,)),)),
        *("pvVisits", "pvEdgeVisits"),
    )
    assert text.startswith("info move A1 visits 15 edgeVisits 12 ")
    assert " weight 15.5 " in text
    assert text.endswith(" pvVisits 16 6 1 pvEdgeVisits 13 2 1")
    assert line(REPORT, "pvVisits", "pvEdgeVisits", pv_length=2).endswith(" pvVisits 13 2 pvEdgeVisits 13 2")


def test_further_moves_follow_in_order() -> None:
    first, second = line(REPORT).split(" info ")
    assert first.startswith("info move A1")
    assert second.startswith("move B2")
    assert "isSymmetryOf A1 order 1 pv B2" in second


def test_all_options_in_katagos_order() -> None:
    flags = ("rootInfo", "ownership", "ownershipStdev", "movesOwnership", "movesOwnershipStdev", "pvVisits")
    text = line(REPORT, *flags, "pvEdgeVisits", "noResultValue", max_moves=1)
    assert " noResultValue 0.02 prior " in text
    assert text.endswith(
        " pv A1 pass pass pvVisits 13 2 1 pvEdgeVisits 13 2 1 movesOwnership 1 -0.5 0.25 0 "
        "movesOwnershipStdev 0.5 0.25 0.125 0 rootInfo visits 13 utility 0.25 winrate 0.6 "
        "scoreMean 1.25 scoreStdev 5 scoreLead 1.25 scoreSelfplay 2 weight 13 "
        "rawStWrError 0.3 rawStScoreError -1 rawVarTimeLeft 12 ownership 1 -0.5 0.25 0 ownershipStdev 1 0.5 0.25 0"
    )


@pytest.mark.parametrize(
    ("report", "perspective", "sign", "own"),
    [
        (REPORT, "sidetomove", 1, True),
        (REPORT, "black", 1, True),
        (REPORT, "white", -1, False),
        (WHITE_REPORT, "sidetomove", -1, True),
        (WHITE_REPORT, "black", 1, False),
    ],
)
def test_perspectives(report: SearchReport, perspective: str, sign: int, own: bool) -> None:
    """The bounds belong to the side to play: lower ones from its own view, upper ones from the opponent's."""
    report = replace(report, moves=(replace(MOVE, lcb=0.4),))
    text = line(report, "rootInfo", "ownership", perspective=perspective)
    winrate, root = (0.8, 0.6) if sign > 0 else (0.2, 0.4)
    assert f"winrate {winrate:g} scoreMean {5 * sign:g} scoreStdev 11 scoreLead {5 * sign:g}" in text
    assert f"utility {0.65 * sign:g} " in text
    assert f"lcb {0.4 if own else 0.6:g} utilityLcb {-0.7 if own else 0.7:g} " in text
    assert f"rootInfo visits 13 utility {0.25 * sign:g} winrate {root:g}" in text
    assert f"ownership {sign:g} {-0.5 * sign:g} {0.25 * sign:g}" in text
    assert f" lcb {4000 if own else 6000} " in line(report, perspective=perspective, is_kata=False)


def test_moves_that_were_not_searched_are_reported_only_on_request() -> None:
    report = replace(REPORT, moves=(MOVE, replace(MOVE, point=point("A2"), visits=0)))
    assert line(report).count("info") == 1
    text = line(report, min_moves=3)
    assert [piece.split()[1] for piece in text.split("info ")[1:]] == ["A1", "B1", "A2"]
    assert "move B1 visits 0 edgeVisits 0 utility 0.25 winrate 0.6 scoreMean 1.25" in text
    assert "prior 0.3 lcb 0.6 utilityLcb 0.25 weight 0 order 1 pv B1" in text
    assert line(report, min_moves=99).count("info") == 4, "there are no more"
    assert "B1" not in line(replace(report, priors=by_point({"A1": 0.4, "A2": 0.2})), min_moves=3), "it is left out"


def test_without_a_network_scores_follow_from_the_rollouts() -> None:
    move = MoveReport(point("A1"), visits=50, value_black=0.5, expected_black=0.5, pv=(point("A1"),), pv_visits=(50,))
    found = completed(replace(REPORT, raw=None, moves=(move,), visits=60), GAME)
    text = line(found, "rootInfo", "pvVisits", "movesOwnership")
    assert "winrate 0.75 scoreMean 0.25 scoreStdev 0 scoreLead 0.25 scoreSelfplay 0.25 prior 0 " in text
    assert "pv A1 pvVisits 50 rootInfo visits 60 " in text
    assert "rawStWrError" not in text


@pytest.mark.parametrize(
    ("perspective", "side", "root", "move"),
    [
        ("black", "^", " 25.00c W  20.00c S   5.00c ( +2.0 L  +1.2)", " 65.00c W  60.00c S   5.00c ( +7.0 L  +5.0)"),
        ("white", "v", "-25.00c W -20.00c S  -5.00c ( -2.0 L  -1.2)", "-65.00c W -60.00c S  -5.00c ( -7.0 L  -5.0)"),
    ],
)
def test_a_choice_is_explained_to_people(perspective: str, side: str, root: str, move: str) -> None:
    passing = replace(MOVE, point=point("pass"), pv=(point("pass"),))
    report = replace(REPORT, moves=(replace(MOVE, selection_weight=7.0), passing), playouts=9, seconds=2.5)
    bound = "-70.00" if side == "^" else " 70.00"
    assert choice_text(GAME, Choice(point("A1"), report), perspective).splitlines()[6:] == [
        f"Rules: {GAME.rules.to_json()}", "Time taken: 2.500", "Root visits: 13", "New playouts: 9", "PV: A1 pass pass",
        "Tree:", f": T {root} N      13  --  A1 pass pass", f"---Black({side})---",
        f"A1  : T {move} LCB  {bound}c P 25.00% WF  13.0 PSV       7 N      12  --  pass pass",
        f"pss : T {move} P 25.00% WF  13.0 N      12  --",
    ]  # fmt: skip


def test_a_raw_evaluation() -> None:
    evaluation = new_evaluation(1, 2, 2)
    game = Game(2, 2)
    game.play("A1")
    evaluation.policy[0] = by_point({"B1": 0.5, "A2": 0.125, "pass": 0.375})
    evaluation.win_black[0], evaluation.loss_black[0] = 0.25, 0.7
    evaluation.score_black[0], evaluation.score_stdev[0], evaluation.lead_black[0] = -3.0, 2.0, -1.5
    evaluation.ownership_black[0] = OWNERSHIP
    evaluation.time_left[0] = evaluation.winloss_error[0] = -1
    evaluation.score_error[0] = 0.125
    assert format_evaluation(evaluation, [3], game, WHITE).splitlines() == [
        "symmetry 3", "whiteWin 0.700000", "whiteLoss 0.250000", "noResult 0.050000", "whiteLead 1.500",
        "whiteScoreSelfplay 3.000", "whiteScoreSelfplaySq 13.000", "varTimeLeft -1.000", "shorttermWinlossError -1.000",
        "shorttermScoreError 0.125", "policy", "0.125000 0.000000", "     NAN 0.500000", "policyPass 0.375000",
        "whiteOwnership", "-1.0000000 0.5000000", "-0.2500000 -0.0000000"
    ]  # fmt: skip
    assert format_evaluation(evaluation, [3], game, WHITE, is_human=True).splitlines()[3:9] == [
        "noResult 0.050000", "whiteScore 3.000", "whiteScoreSq 13.000", "shorttermWinlossError -1.000",
        "shorttermScoreError 0.125", "policy",
    ]  # fmt: skip
