"""Helpers for tests of game records: short ways to write and compare them."""

from hypothesis import strategies as st

from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.diagram import Diagram, format_diagram, parse_diagram, stones_on
from gtp_engine.go.game import Game
from gtp_engine.go.rules import PRESETS, HandicapBonus, Ko, Rules, Scoring, Tax
from gtp_engine.sgf import SgfRecord, parse_sgf, record_to_game


def at(vertex: str, width: int = 19, height: int | None = None) -> int:
    return parse_vertex(vertex, width=width, height=height or width)


def parse(text: str) -> SgfRecord:
    return parse_sgf(text.encode())


def load(text: str, move_number: int | None = None) -> Game:
    return record_to_game(parse(text), move_number=move_number)


def position(game: Game) -> str:
    stones = stones_on(game.board.color, width=game.width, height=game.height)
    return format_diagram(Diagram(game.width, game.height, stones), coordinates=False, stars=False)


def grid(text: str) -> str:
    diagram = parse_diagram(text)
    return format_diagram(Diagram(diagram.width, diagram.height, diagram.stones), coordinates=False, stars=False)


def all_rules() -> st.SearchStrategy[Rules]:
    flags = st.booleans()
    free = st.builds(
        Rules,
        ko=st.sampled_from(Ko),
        scoring=st.sampled_from(Scoring),
        tax=st.sampled_from(Tax),
        suicide=flags,
        white_handicap_bonus=st.sampled_from(HandicapBonus),
        friendly_pass_ok=flags,
    )
    return st.sampled_from(list(PRESETS.values())) | free
