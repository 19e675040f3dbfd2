"""A rehearsal: a search calls every kernel that games call, so that these can be compiled (`engine.kernels`).

Until then kernels are interpreted, so that each visit counts: there are as few as lead to all the calls.
"""

from typing import Final

from gtp_engine.go.area import area_owners
from gtp_engine.go.constants import BLACK, PASS, WHITE
from gtp_engine.go.coords import xy_to_point
from gtp_engine.go.game import Game
from gtp_engine.go.ladder import is_captured_defender_first, new_ladder_work
from gtp_engine.go.rules import Rules
from gtp_engine.go.tactics import count_captures, is_real_eye, would_be_self_atari
from gtp_engine.search.fights import FightReader
from gtp_engine.search.limits import CancelToken, Limits, Reporting, Searcher, SearchRequest

ANY_BOARD: Final = (5, 5)
"""Width and height for searches that do not depend on the board: rollouts are short on it."""

_VISITS: Final = 6
"""Of each search: enough for children with children, which are copied when the tree is reused."""


def rehearse(searcher: Searcher, width: int, height: int) -> None:
    """Search a position, a later one in the same tree, and end a search while positions are being evaluated."""
    searcher.set_seed(1)
    game, limits = _play(width, height), SearchRequest(Limits(visits=_VISITS), move_ownership=True)
    game.play(searcher.run(game, limits).moves[0].point)
    searcher.run(game, SearchRequest(Limits(visits=2 * _VISITS), wide_root_noise=0.1))
    token = CancelToken()
    reporting = Reporting(0.0, lambda report: token.cancel())
    searcher.run(game, SearchRequest(Limits(visits=10 * _VISITS, cancel=token), reporting=reporting))


def _play(width: int, height: int) -> Game:
    """Return a game in which a stone is captured, after calls of the kernels that answer questions about a position."""
    game = Game(width, height, rules=Rules.parse("tromp-taylor"))  # with superko
    at = [[xy_to_point(x, y, width=width) for x in range(3)] for y in range(3)]
    game.set_up([(BLACK, at[0][0]), (BLACK, at[0][1]), (WHITE, at[1][0])], WHITE)
    for point, answer in ((at[1][1], PASS), (at[0][2], at[2][2])):
        would_be_self_atari(game.board, point, WHITE)
        count_captures(game.board, point, WHITE)
        game.play(point, WHITE)
        game.play(answer, BLACK)
    is_real_eye(game.board, at[0][0], WHITE)
    FightReader(game.board, nodes=_VISITS).life(at[2][2])
    is_captured_defender_first(game.board, at[2][2], new_ladder_work(width, height))
    game.pass_alive(WHITE)
    area_owners(game.board.color, width + 1)
    return game
