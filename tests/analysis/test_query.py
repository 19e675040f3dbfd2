"""Queries read from JSON: every field, and the errors for wrong ones."""

import re
from typing import Any

import pytest
from analysis.client import query
from hypothesis import given
from hypothesis import strategies as st
from superko_games import game_with_superko

from gtp_engine.config import Config
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import Move, board_points, format_vertex, parse_vertex
from gtp_engine.go.rules import HandicapBonus, Ko, Rules
from gtp_engine.protocols.analysis.query import Query, QueryError, parse_query
from gtp_engine.search.limits import Restriction


def parse(**fields: Any) -> Query:
    """Return the query with these fields, about which there must be no warning."""
    parsed, warnings = parse_query(query(**fields), Config())
    assert warnings == []
    return parsed


def points(*vertices: str) -> frozenset[int]:
    return frozenset(parse_vertex(vertex, width=9, height=9) for vertex in vertices)


class TestGame:
    """The game and its turns."""

    @pytest.mark.parametrize(("counts", "handicap"), [(True, 2), (False, 0)])
    def test_first_moves_of_black_may_be_no_handicap(self, counts: bool, handicap: int) -> None:
        """KataGo's `assumeMultipleStartingBlackMovesAreHandicap`, which only its config file sets."""
        config = Config().with_values({"game.handicap_by_moves": counts})
        parsed, _ = parse_query(query(moves=[["B", "C3"], ["B", "G7"], ["W", "E5"]]), config)
        assert parsed.game_at(3).handicap == handicap

    def test_rectangles_and_coordinates_in_numbers(self) -> None:
        parsed = parse(boardXSize=5, boardYSize=13, moves=[["b", "(0,0)"], ["white", "( 4, 12 )"]])
        game = parsed.game_at(2)
        assert (game.width, game.height) == (5, 13)
        assert game.color_at(parse_vertex("A13", width=5, height=13)) == BLACK
        assert game.color_at(parse_vertex("E1", width=5, height=13)) == WHITE

    @pytest.mark.parametrize(
        ("fields", "color"),
        [
            ({}, BLACK),
            ({"initialPlayer": "W"}, WHITE),
            ({"moves": [["W", "E5"]]}, WHITE),
            ({"moves": [["W", "E5"]], "initialPlayer": "B"}, BLACK),
            ({"initialStones": [["B", "C3"], ["B", "C3"]]}, BLACK),  # as KataGo takes it
            ({"initialStones": [["B", "C3"], ["B", "G7"]]}, WHITE),
            ({"initialStones": [["B", "C3"], ["B", "G7"]], "initialPlayer": "b"}, BLACK),
            ({"initialStones": [["B", "C3"], ["W", "G7"]]}, BLACK),
        ],
    )
    def test_who_moves_first(self, fields: dict[str, Any], color: int) -> None:
        assert parse(**fields).game_at(0).to_play == color

    @pytest.mark.parametrize("strict", [False, True])
    @pytest.mark.parametrize("moves", ["A2 A1 B2 J9 C1 B1 J1", "B2 C2 A1 D1 C1 B1 C1 J1"])
    def test_a_record_may_hold_suicides_and_kos_that_are_retaken(self, moves: str, strict: bool) -> None:
        played = [["BW"[number % 2], vertex] for number, vertex in enumerate(moves.split())]
        given = query(moves=played, analyzeTurns=[0, 2, len(played)], rules="chinese")
        parsed, problems = parse_query(given, Config().with_values({"game.strict": strict}))
        assert [*parsed.turns] == [0, 2] + [len(played)] * (not strict)
        assert [[*each] for each in problems] == [["field", "error"]] * strict
        if not strict:
            assert [move.point for move in parsed.game_at(len(played)).moves] == [
                parse_vertex(vertex, width=9, height=9) for vertex in moves.split()
            ]

    @pytest.mark.parametrize(
        ("turns", "kept", "kind"), [([0, 1, 2], [0, 1], "error"), ([0, 1], [0, 1], "warning"), ([2, 3], None, "error")]
    )
    def test_turns_before_an_illegal_move_are_analysed(
        self, turns: list[int], kept: list[int] | None, kind: str
    ) -> None:
        given = query(moves=[["B", "E5"], ["W", "E5"], ["B", "C3"]], analyzeTurns=turns)
        if kept is None:
            with pytest.raises(QueryError, match="Illegal move 1: E5 is occupied"):
                parse_query(given, Config())
            return
        parsed, problems = parse_query(given, Config())
        assert [*parsed.turns] == kept
        assert problems == [{"field": "moves", kind: "Illegal move 1: E5 is occupied"}]

    def test_a_record_may_repeat_a_position(self) -> None:
        game, banned = game_with_superko("tromp-taylor")
        letters = {BLACK: "B", WHITE: "W"}
        played = [*game.moves, Move(game.to_play, banned[0])]
        moves = [[letters[move.color], format_vertex(move.point, width=3, height=3)] for move in played]
        parsed = parse(rules="tromp-taylor", boardXSize=3, boardYSize=3, moves=moves)
        assert parsed.game_at(len(moves)).moves == tuple(played)

    def test_rules_and_komi(self) -> None:
        assert parse(rules="japanese", komi=None).start.komi == 6.5
        assert parse(rules="tromp_taylor", komi=-3).start.rules == Rules()
        game = parse(rules={"ko": "SIMPLE", "scoring": "AREA", "komi": 3.75}, komi=None).start
        assert (game.rules.ko, game.komi) == (Ko.SIMPLE, 3.75)
        assert [parse(rules={"komi": 3.75}, komi=komi).start.komi for komi in (5, 0)] == [5, 0]
        assert parse(rules={"komi": 0}, komi=None).start.komi == 0
        for text in ('{"komi":5.5,"ko":"SIMPLE"}', "koSIMPLEkomi5.5", "ko SIMPLE komi 5.5"):
            game = parse(rules=text, komi=None).start
            assert (game.rules, game.komi) == (Rules(Ko.SIMPLE), 5.5)
        with pytest.raises(QueryError, match=r"rules\.komi '5.5': expected a number"):
            parse(rules={"komi": "5.5"}, komi=None)

    @pytest.mark.parametrize(("given", "bonus"), [("0", "0"), (0, "0"), ("N", "N"), ("N-1", "N-1")])
    def test_handicap_bonus_wins_over_rules(self, given: object, bonus: str) -> None:
        assert parse(rules="aga", whiteHandicapBonus=given).start.rules.white_handicap_bonus == HandicapBonus(bonus)


SILENT = (
    "lagBuffer numSearchThreads maxTimePondering obviousMovesPolicyEntropyTolerance searchFactorAfterOnePass "
    "graphSearchCatchUpProp avoidRepeatedPatternUtility maxTime"
)


@pytest.mark.parametrize(
    ("settings", "warning"),
    [
        (dict.fromkeys(SILENT.split(), 0), None),
        ({"nnCacheSizePowerOfTwo": 20, "lagBuffer": 1}, "unknown settings, ignored: 'nnCacheSizePowerOfTwo'"),
        (
            {"humanSLProfile": "rank_23k"},
            "humanSLProfile 'rank_23k': networks know people down to 20k, so it is rank_20k",
        ),
    ],
)
def test_settings_that_change_nothing_are_warned_of_as_katago_does(
    settings: dict[str, object], warning: str | None
) -> None:
    _, problems = parse_query(query(overrideSettings=settings), Config())
    assert problems == ([{"field": "overrideSettings", "warning": warning}] if warning else [])


class TestWhatIsReported:
    """Settings, limits and the contents of a response."""

    def test_nothing_extra_by_default(self) -> None:
        parsed = parse()
        assert parsed.wanted == frozenset()
        assert (parsed.first_report, parsed.report_interval, parsed.restrictions) == (None, None, ())

    def test_reports(self) -> None:
        parsed = parse(reportDuringSearchEvery=0.5, firstReportDuringSearchAfter=0.1)
        assert (parsed.first_report, parsed.report_interval) == (0.1, 0.5)
        assert parse(reportDuringSearchEvery=2).first_report == 2.0

    def test_settings(self) -> None:
        settings = {"maxTime": 3, "wideRootNoise": 0.1, "reportAnalysisWinratesAs": "SIDETOMOVE"}
        settings |= {"rootNumSymmetriesToSample": 8, "useLcbForSelection": False, "lcbStdevs": "4.5"}
        config = parse(overrideSettings=settings, analysisPVLen=3).config
        assert parse(overrideSettings={"maxPlayouts": 9}, maxVisits=4).config.analysis.analysis_visits == 4
        assert (config.analysis.analysis_time, config.analysis.wide_root_noise) == (3.0, 0.1)
        assert (config.analysis.perspective, config.analysis.pv_length) == ("sidetomove", 3)
        assert (config.puct.root_average, config.puct.lcb, config.puct.lcb_stdevs) == (True, False, 4.5)

    def test_moves_to_avoid(self) -> None:
        avoid = [
            {"player": "B", "moves": ["C3", "pass"], "untilDepth": 2},
            {"player": "B", "moves": [], "untilDepth": 1},
        ]
        assert parse(avoidMoves=avoid).restrictions == (
            Restriction(BLACK, points("C3", "pass"), 2),
            Restriction(BLACK, frozenset(), 1),
        )

    def test_moves_to_allow(self) -> None:
        (restriction,) = parse(allowMoves=[{"player": "W", "moves": ["C3"], "untilDepth": 1}]).restrictions
        assert restriction.color == WHITE
        assert restriction.points == {PASS, *board_points(9, 9)} - points("C3")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["B", "C3", "pass"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["player", "moves", "x"]), inner),
    max_leaves=6,
)
FIELDS = re.findall(
    r"\w+",
    """
    moves initialStones initialPlayer rules komi whiteHandicapBonus boardXSize boardYSize analyzeTurns maxVisits
    rootPolicyTemperature analysisPVLen includePolicy overrideSettings reportDuringSearchEvery priority priorities
    avoidMoves allowMoves
    """,
)


@given(st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=3))
def test_any_value_of_any_field_is_read_or_refused(fields: dict[str, Any]) -> None:
    try:
        parsed, _ = parse_query({**query(), **fields}, Config())
    except QueryError as error:
        assert error.field in FIELDS
        assert len(str(error)) < 400
    else:
        assert all(map(parsed.game_at, parsed.turns))
