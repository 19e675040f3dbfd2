"""Positions that several tests of the engine begin from."""

from collections.abc import Collection

from board_helpers import parse_diagram

from gtp_engine import CancelToken, Engine, Move, parse_vertex
from gtp_engine.go.constants import BLACK
from gtp_engine.search.limits import Limits, Restriction, SearchRequest

FINISHED = """
    . X . X O . O
    X X X X O O .
    . X X X O O O
    X X X X O O O
    . X X O O . O
    X X X X O O O
    . X X X O O .
"""
"""Nothing is left: by area Black has 27 points and White 22."""

NEUTRAL = """
    . X . X O . O
    X X X X O O .
    . X X X O O O
    X X X . O O O
    . X X X O . O
    X X X X O O O
    . X X X O O .
"""
"""D4 is a neutral point."""

DEAD_STONE = """
    O . X X O . O
    . X X X O O .
    X X X X O O O
    X . X X O O O
    X X X O O . O
    . X X X O O O
    X X X X O O .
"""
"""White's stone at A7 cannot be saved."""

SEKI_DIAGRAM = """
    O . O . O X . X . O . O X . X . X
    O O O O O X X X X O O O X X X X X
"""
"""The groups in the middle have one eye each and share two liberties; a side that plays there loses its group."""


def set_up(engine: Engine, text: str, to_play: int = BLACK) -> None:
    """Start a new game from a diagram."""
    diagram = parse_diagram(text)
    engine.set_board_size(diagram.width, diagram.height)
    engine.set_up([Move(color, point) for point, color in diagram.stones.items()], to_play)


def point(engine: Engine, vertex: str) -> int:
    """Return the point of a vertex on the engine's board."""
    return parse_vertex(vertex, width=engine.game.width, height=engine.game.height)


def only(engine: Engine, points: Collection[int]) -> SearchRequest:
    """Return a search in which Black may play nothing but these points."""
    others = frozenset(range(engine.game.board.color.size)).difference(points)
    return SearchRequest(Limits(cancel=CancelToken()), restrictions=(Restriction(BLACK, others),))
