"""Compiles or loads every kernel for play and scoring before the first command needs it."""

import time
from collections.abc import Callable
from typing import Final

from gtp_engine._jit import NETWORK, ROLLOUTS, is_cache_filled, mark_cache_filled
from gtp_engine.config import Config
from gtp_engine.engine.dead_stones import estimate_status
from gtp_engine.engine.search_factory import new_searcher, uses_network
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.constants import BLACK, WHITE, Move
from gtp_engine.go.coords import parse_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.go.tactics import captures_something, would_be_self_atari
from gtp_engine.search.limits import Limits
from gtp_engine.search.report import SearchReport
from gtp_engine.search.searcher import Searcher

_SIZE: Final = 5
"""Board size of the short game that compiles all kernels, which are the same for every size."""

_ROLLOUTS: Final = 64
"""Rollouts of the first search without a network: enough to call every kernel and occupy every thread."""


def warm_up(
    config: Config, evaluator: Evaluator | None, board: tuple[int, int], progress: Callable[[str], None]
) -> None:
    """Play a few moves with the search that the configuration names.

    A search with a network uses a board of width and height `board`, so that the network is prepared for it.  If there
    is anything to compile, `progress` receives a few lines meanwhile.  The maps of GoGui's analyze menu (ladders, eyes)
    are compiled on first use.
    """
    network = evaluator if uses_network(config, evaluator) else None
    searches = ROLLOUTS if network is None else NETWORK
    report_progress = progress if not is_cache_filled(searches) else (lambda line: None)
    start = time.perf_counter()
    report_progress("First start: compiling the engine for this processor, about a minute; later starts take a second.")
    game = Game(_SIZE, None, Rules.parse("tromp-taylor"))
    _use_rules(game)
    report_progress(f"Compiled 1 of 3: rules ({time.perf_counter() - start:.0f} s)")
    if network is not None:
        game = Game(*board)
    visits = _ROLLOUTS if network is None else 2 * network.info.batch
    report = _search(new_searcher(config, evaluator), game, visits=visits)
    report_progress(f"Compiled 2 of 3: search ({time.perf_counter() - start:.0f} s)")
    estimate_status(game, report.ownership_black)
    game.score()
    mark_cache_filled(searches)
    report_progress(f"Compiled 3 of 3: life and scoring ({time.perf_counter() - start:.0f} s). Ready.")


def _use_rules(game: Game) -> None:
    """Set up stones, play, and use what only the end of a game needs."""
    stones = [parse_vertex(vertex, width=_SIZE, height=_SIZE) for vertex in ("A1", "B1")]
    game.set_up([Move(BLACK, stone) for stone in stones])
    game.play("C3")
    empty = game.legal_points()[0]
    captures_something(game.board, empty, WHITE)
    would_be_self_atari(game.board, empty, WHITE)


def _search(search: Searcher, game: Game, *, visits: int) -> SearchReport:
    """Search a position, then again after its best move; return the report of the first search."""
    game = game.copy()
    report = search.run(game, Limits(visits=visits))
    game.play(report.best_point)
    search.run(game, Limits(visits=2 * visits))
    search.close()
    return report
