"""Helpers for tests of game records: short ways to write and compare them."""

import reference
from board_helpers import position_of, rows
from hypothesis import strategies as st

from gtp_engine.go.coords import parse_vertex
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
    return rows(position_of(game.board, game.width, game.height).cells, game.width)


def grid(text: str) -> str:
    stones = reference.parse(text)
    return rows(stones.cells, stones.width)


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
