"""Responses from search reports: fields, perspective, order of points, hashes."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from analysis.client import query
from analysis.fake_search import report_of
from board_helpers import play_moves

from gtp_engine import Config, Game, parse_vertex
from gtp_engine.go.constants import WHITE
from gtp_engine.protocols.analysis.query import Query, parse_query
from gtp_engine.protocols.analysis.results import missing_fields, position_hashes, response
from gtp_engine.search.report import PositionResults, SearchReport, completed


def asked(**fields: Any) -> tuple[Query, Game]:
    """Return a query about one position, and that position."""
    parsed, _ = parse_query(query(**fields), Config())
    return parsed, parsed.game_at(min(parsed.turns))


def respond(**fields: Any) -> dict[str, Any]:
    """Return the response to a query, from the report of the fake search."""
    parsed, game = asked(**fields)
    made = response(parsed, min(parsed.turns), game, report_of(game), is_during_search=False)
    return dict(json.loads(json.dumps(made, allow_nan=False)))


def test_fields_that_need_a_network() -> None:
    names = "includePolicy includeOwnershipStdev includeMovesOwnership includeMovesOwnershipStdev includePVVisits"
    parsed, game = asked(**{name: True for name in names.split()})
    assert missing_fields(parsed, report_of(game)) == ["includeMovesOwnership", "includeMovesOwnershipStdev"]
    without = report_of(game, has_network=False)
    assert missing_fields(parsed, without)[0] == "includePolicy"
    uncounted = replace(without, moves=(replace(without.moves[0], pv_visits=()),))
    assert missing_fields(parsed, uncounted) == ["includePolicy", "includePVVisits"]
    assert "policy" not in response(parsed, 0, game, without, is_during_search=True)


def test_a_search_of_one_visit_has_no_moves() -> None:
    parsed, game = asked()
    moves = tuple(replace(move, visits=0) for move in report_of(game).moves)
    assert response(parsed, 0, game, replace(report_of(game), moves=moves), is_during_search=False)["moveInfos"] == []


@pytest.mark.parametrize(
    ("rules", "moves", "lines"),
    [
        ("chinese", [], [["A1", "pass", "pass"], ["pass"]]),
        ("japanese", [], [["A1", "pass"], ["pass"]]),
        ("japanese", [["B", "pass"]], [["A1", "pass"], []]),
    ],
)
def test_lines_end_before_the_pass_that_ends_a_phase(
    rules: str, moves: list[list[str]], lines: list[list[str]]
) -> None:
    infos = respond(rules=rules, moves=moves, includePVVisits=True)["moveInfos"]
    assert [info["pv"] for info in infos] == lines
    assert [len(info["pvVisits"]) for info in infos if "pvVisits" in info] == [len(line) for line in lines]


def test_the_root_is_reported_in_retrospect() -> None:
    """Its means were those of all visits; KataGo's `rootInfo` lacks those that were spent in vain."""
    parsed, game = asked()
    results = PositionResults(value_black=-0.5, utility_black=-0.75, score_black=-3, score_stdev=6, lead_black=-2)
    report = replace(report_of(game), retrospect=results)
    root = response(parsed, 0, game, report, is_during_search=False)["rootInfo"]
    assert (root["winrate"], root["utility"], root["scoreLead"]) == (0.25, -0.75, -2)
    assert (root["scoreSelfplay"], root["scoreStdev"], root["weight"]) == (-3, 6, report.weight)


def test_what_other_lines_and_the_human_like_network_say_of_a_position() -> None:
    parsed, game = asked(includePolicy=True, includeNoResultValue=True)
    report = report_of(game)
    assert report.raw is not None
    human = replace(report.raw, winrate_black=0.25, score_black=-2.0, winloss_error=0.5, score_error=3.0)
    moves = (replace(report.moves[0], surplus_visits=3, surplus_weight=2.5, human_prior=-0.1, selection_weight=7.0),)
    made = response(parsed, 0, game, replace(report, moves=moves, human=human), is_during_search=False)
    (info,) = made["moveInfos"]
    assert (info["visits"], info["edgeVisits"], info["weight"], info["edgeWeight"]) == (12, 9, 12.5, 10.0)
    assert (info["humanPrior"], info["playSelectionValue"], info["noResultValue"]) == (0.0, 7.0, 0.02)
    names = ("humanWinrate", "humanScoreMean", "humanScoreStdev", "humanStWrError", "humanStScoreError")
    assert [made["rootInfo"][name] for name in names] == [0.25, -2.0, 9.0, 0.25, 3.0]
    assert len(made["humanPolicy"]) == len(made["policy"]) == 82


class TestHashes:
    """thisHash and symHash."""

    @staticmethod
    def hashes(*moves: str, width: int = 9, height: int = 9) -> tuple[str, str]:
        game = play_moves(Game(width, height), moves)
        return position_hashes(game, game.to_play)

    def test_mirrored_positions_share_one_of_them(self) -> None:
        mirrored = [("C4", "D6"), ("G4", "F6"), ("C6", "D4"), ("G6", "F4"), ("D3", "F4"), ("F7", "D6")]
        found = [self.hashes(*moves) for moves in mirrored]
        assert len({this for this, _ in found}) == len(found)
        assert len({symmetric for _, symmetric in found}) == 1
        assert all(len(text) == 32 for pair in found for text in pair)

    def test_rectangles_turn_too(self) -> None:
        assert self.hashes("A1", width=5, height=7)[1] == self.hashes("G5", width=7, height=5)[1]

    def test_the_side_to_play_matters_and_the_order_of_moves_does_not(self) -> None:
        assert self.hashes("C4", "D6", "E5") == self.hashes("E5", "D6", "C4")
        assert self.hashes("C4") != self.hashes("C4", "pass")

    def test_a_ko_that_may_not_be_retaken_matters(self) -> None:
        ko = ("B3", "C3", "A2", "D2", "B1", "C1", "C2", "B2")
        taken = self.hashes(*ko)
        assert taken[1] != self.hashes(*ko, "pass", "pass")[1]


def test_reports_without_a_network_are_completed() -> None:
    """The lead is what ownership promises less komi."""
    game = Game(9, komi=0.5)
    bare = SearchReport(
        to_play=WHITE,
        visits=100,
        playouts=100,
        seconds=1.0,
        value_black=-0.5,
        moves=report_of(game, has_network=False).moves,
        ownership_samples=100,
        ownership_black=np.where(np.arange(game.board.color.size) == parse_vertex("A1", width=9, height=9), 1.0, 0.0),
    )
    full = completed(bare, game)
    assert [each.lead_black for each in (full, *full.moves)] == [0.5, 0.5, 0.5]
    with_network = report_of(game)
    assert completed(with_network, game) is with_network
