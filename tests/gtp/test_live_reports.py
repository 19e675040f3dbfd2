"""Running searches on stderr: GoGui's live graphics, and lines for a person in a terminal."""

import re

import numpy as np
from fake_evaluators import FakeEvaluator

from gtp_engine.config import Config
from gtp_engine.engine import Engine
from gtp_engine.go.constants import PASS, WHITE
from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.gtp.reports import gogui_graphics, progress_line
from gtp_engine.gtp.server import GOGUI, TERMINAL, GtpServer
from gtp_engine.search.report import MoveReport, SearchReport

GAME = Game(9, komi=7.0)


def point(vertex: str) -> int:
    return parse_vertex(vertex, width=9, height=9)


def report(*moves: MoveReport) -> SearchReport:
    """Return a search for White in which A9 and B9 are Black's by 0.75 and 0.05, and komi 7 is the rest of the lead."""
    ownership = np.zeros(GAME.board.color.size)
    ownership[point("A9")], ownership[point("B9")] = 0.75, 0.05
    return SearchReport(
        to_play=WHITE,
        visits=1200,
        playouts=1000,
        seconds=2.4,
        value_black=-0.2,
        moves=moves,
        ownership_samples=1000,
        ownership_black=ownership,
    )


def move(vertex: str, visits: int, *pv: int) -> MoveReport:
    return MoveReport(point(vertex) if vertex != "pass" else PASS, visits, -0.2, -0.2, pv)


BEST = move("D4", 900, point("D4"), PASS, point("F6"))


def test_graphics_for_gogui() -> None:
    found = gogui_graphics(GAME, report(BEST, move("E5", 240), move("pass", 60)))
    assert found.splitlines() == [
        "gogui-gfx:",
        "CLEAR",
        "INFLUENCE A9 0.75",
        "LABEL E5 20%",
        "VAR w D4 b pass w F6",
        "TEXT Thinking: white D4, winrate 60%, lead +6.2, 1,200 visits, 2 s",
    ]
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
