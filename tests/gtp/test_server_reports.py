"""What OGS (through gtp2ogs), CGOS, GoGui's live graphics and a person in a terminal are told about a search."""

import json
import re
from dataclasses import replace
from typing import Final

import numpy as np
import pytest
from fake_evaluators import FakeEvaluator

from gtp_engine import Choice, Config, Engine, Game, parse_vertex
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import board_points
from gtp_engine.protocols.gtp.reports import (
    CGOS_MOVES,
    OGS_PV_LENGTH,
    cgos_analysis,
    gogui_graphics,
    ogs_chat_line,
    progress_line,
)
from gtp_engine.protocols.gtp.server import GOGUI, TERMINAL, GtpServer
from gtp_engine.search.report import MoveReport, SearchReport, completed

GAME: Final = Game(9, komi=7.0)

GTP2OGS: Final = re.compile(
    r"(?:CHAT|MALKOVICH):Visits (\d*) Winrate (\d+\.\d\d)% ScoreLead (-?\d+\.\d) ScoreStdev (-?\d+\.\d) PV (.*)"
)
"""What gtp2ogs 9.0.1 finds KataGo's lines by (`src/PvOutputParser.ts`)."""


def point(vertex: str) -> int:
    return parse_vertex(vertex, width=9, height=9)


def move(vertex: str, visits: int, *pv: str) -> MoveReport:
    return MoveReport(
        point=point(vertex),
        visits=visits,
        value_black=-0.5,
        expected_black=-0.5,
        pv=tuple(map(point, pv)),
        prior=0.25,
        lead_black=-3.25,
    )


def report(*moves: MoveReport, to_play: int = BLACK) -> SearchReport:
    ownership = np.zeros(GAME.board.color.size)
    ownership[point("A9")], ownership[point("J1")] = 1.0, -1.0
    searched = SearchReport(
        to_play=to_play,
        visits=80,
        playouts=60,
        seconds=0.5,
        value_black=-0.5,
        moves=moves,
        ownership_samples=60,
        ownership_black=ownership,
    )
    return replace(completed(searched, GAME), score_stdev=4.0)


def test_the_chat_line_is_one_that_gtp2ogs_parses() -> None:
    searched = report(move("D4", 50, "D4", "pass", "E5"), move("C3", 10, "C3"), to_play=WHITE)
    found = GTP2OGS.fullmatch(ogs_chat_line(GAME, Choice(point("C3"), searched)))
    assert found is not None
    assert found.groups() == ("80", "75.00", "7.0", "4.0", "C3")  # White's view; no stones, so the lead is komi


def test_the_continuation_of_an_unsearched_choice_is_the_best_moves() -> None:
    searched = report(move("D4", 50, "D4", "pass", "E5"))
    for choice in (Choice(PASS, searched), Choice(PASS, searched, resign=True)):
        assert ogs_chat_line(GAME, choice).endswith(" PV D4 pass E5")


def test_a_long_continuation_is_cut() -> None:
    line = ogs_chat_line(GAME, Choice(point("D4"), report(move("D4", 50, *["D4"] * 40))))
    assert len(line.partition(" PV ")[2].split()) == OGS_PV_LENGTH


@pytest.mark.parametrize("moves", [(), (move("D4", 0),)])
def test_no_chat_line_without_a_continuation(moves: tuple[MoveReport, ...]) -> None:
    """An empty one ends gtp2ogs: it takes the first letter of each vertex."""
    assert ogs_chat_line(GAME, Choice(PASS, report(*moves))) == ""


def test_cgos_reads_the_movers_view() -> None:
    analysis = json.loads(cgos_analysis(GAME, report(move("D4", 50, "D4", "E5", "pass"), to_play=WHITE)))
    ownership = analysis.pop("ownership")
    assert analysis == {
        "visits": 80,
        "winrate": 0.75,
        "score": 7.0,
        "moves": [{"move": "D4", "visits": 50, "winrate": 0.75, "prior": 0.25, "score": 7.0, "pv": "E5 pass"}],
    }
    assert len(ownership) == len(board_points(9, 9))
    assert (ownership[0], ownership[40], ownership[-1]) == ("A", "f", "+")  # the opponent's, neutral, the mover's


def test_cgos_gets_a_short_line_of_searched_moves() -> None:
    vertices = [f"{column}{row}" for row in range(1, 10) for column in "ABCDEFGHJ"]
    moves = (*(move(vertex, 90 - index, *vertices) for index, vertex in enumerate(vertices)), move("pass", 0))
    line = cgos_analysis(GAME, report(*moves))
    assert [found["move"] for found in json.loads(line)["moves"]] == vertices[:CGOS_MOVES]
    assert "\n" not in line
    assert len(line) < 1 << 16
    assert json.loads(cgos_analysis(GAME, report()))["moves"] == []


@pytest.mark.parametrize("is_on", [False, True])
def test_moves_are_reported_to_ogs_when_asked(is_on: bool) -> None:
    config = Config().with_values({"gtp.ogs_chat": is_on, "search.visits": 8, "search.seed": 1})
    log: list[str] = []
    server = GtpServer(config, lambda: Engine(config, evaluator=FakeEvaluator()), log.append)
    for line in ("boardsize 5", "genmove b", "reg_genmove w", "kgs-genmove_cleanup w"):
        assert server.handle_line(line).startswith("=")
    if is_on:
        assert "KataGo" in log[0]  # without it gtp2ogs posts the lines as they are
        assert all(map(GTP2OGS.fullmatch, log[1:]))
    assert len(log) == 4 * is_on


def test_graphics_for_gogui() -> None:
    """They mark what is owned by more than a tenth."""
    searched = report(move("D4", 60, "D4", "pass", "F6"), move("E5", 16), move("pass", 4), to_play=WHITE)
    ownership = searched.ownership_black * 0.75
    ownership[point("B9")], ownership[point("J1")] = 0.05, -0.75
    found = gogui_graphics(GAME, replace(searched, ownership_black=ownership, visits=1200, seconds=2.4))
    assert found.splitlines() == [
        "gogui-gfx:",
        "CLEAR",
        "INFLUENCE A9 0.75 J1 -0.75",
        "LABEL E5 1%",
        "VAR w D4 b pass w F6",
        "TEXT Thinking: white D4, winrate 75%, lead +7.0, 1,200 visits, 2 s",
    ]
    assert "LABEL" not in gogui_graphics(GAME, report(move("D4", 60, "D4"), move("pass", 4))), "a pass has no place"
    assert found.endswith("\n"), "the end of the line makes the empty line that ends the drawing"


def test_graphics_before_the_first_visit() -> None:
    assert gogui_graphics(GAME, report()) == "gogui-gfx: CLEAR"
    assert progress_line(GAME, report()) == "Thinking …"


def lines_of_a_move(watching: str) -> list[str]:
    log: list[str] = []
    config = Config().with_values({"game.board_size": 9, "search.visits": 50})
    engine = Engine(config, evaluator=FakeEvaluator())
    server = GtpServer(config, lambda: engine, log.append)
    if watching == GOGUI:
        server.handle_line("gogui-analyze_commands")
    else:
        server.watching = watching
    assert re.fullmatch(r"= [A-J]\d\n\n", server.handle_line("genmove b"))
    engine.close()
    return log


def test_gogui_gets_graphics_once_it_has_asked_for_its_menu() -> None:
    first, *_, last = lines_of_a_move(GOGUI)
    assert first.startswith("gogui-gfx:\nCLEAR\n") and last == "gogui-gfx: CLEAR"


def test_a_person_gets_a_line_and_a_program_none() -> None:
    assert lines_of_a_move(TERMINAL)[0].startswith("Thinking: black ")
    assert lines_of_a_move("") == []
