"""Compiling or loading every kernel that play and scoring need, before the first command needs them."""

import time
from collections.abc import Callable
from typing import Final

from gtp_engine._jit import NETWORK, ROLLOUTS, is_cache_filled, mark_cache_filled
from gtp_engine.config import Config
from gtp_engine.engine.estimate import estimate
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Rules
from gtp_engine.search.limits import Limits
from gtp_engine.search.report import SearchReport
from gtp_engine.search.rollouts.search import RolloutSearch
from gtp_engine.search.searcher import Searcher

_SIZE: Final = 5
"""Board size of the little game that compiles all kernels; they are the same for every size."""


def warm_up(config: Config, evaluator: Evaluator | None, progress: Callable[[str], None]) -> None:
    """Play a few moves with the search that the configuration names.

    A search that asks the evaluator gets the board that the configuration names, so that the network is ready for it.
    Where there is something to compile, `progress` is told in a few lines how far it is.  The maps of the analysis menu
    (ladders, eyes) are compiled when they are first asked for.
    """
    asks_network = evaluator is not None and config.search.search not in ("rave", "uct")
    searches = NETWORK if asks_network else ROLLOUTS
    say = progress if not is_cache_filled(searches) else (lambda line: None)
    start = time.perf_counter()
    say("First start: compiling the engine for this processor, less than a minute; later starts take a second.")
    game = Game(_SIZE, None, Rules.parse("tromp-taylor"))
    game.play("C3")
    game.legal_points()
    say(f"Compiled 1 of 3: rules ({time.perf_counter() - start:.0f} s)")
    if evaluator is not None and asks_network:
        from gtp_engine.search.puct.search import PuctSearch  # here: rollouts need none of its kernels

        game = Game(config.game.board_size)
        report = _search(PuctSearch(config, evaluator), game, visits=2 * evaluator.batch)
    else:
        report = _search(RolloutSearch(config.search), game, visits=64)
    say(f"Compiled 2 of 3: search ({time.perf_counter() - start:.0f} s)")
    estimate(game, report.ownership_black)
    game.score()
    mark_cache_filled(searches)
    say(f"Compiled 3 of 3: life and scoring ({time.perf_counter() - start:.0f} s). Ready.")


def _search(search: Searcher, game: Game, *, visits: int) -> SearchReport:
    """Search a position, and once more after the move that was found; return what the first search found."""
    game = game.copy()
    report = search.run(game, Limits(visits=visits))
    game.play(report.best_point)
    search.run(game, Limits(visits=2 * visits))
    search.close()
    return report
