"""One decision of the engine, to be read from the top: search → confirm → resign, pass or play.

    decide        searches, then resigns or chooses a move
    choose_move   passes if the game can end here, else plays the best useful move

A search that follows results alone plays on when nothing is left to win (every move wins, or none does), and may then
fill its own territory.  So the engine passes once it is confirmed that nothing is left (`game_end`), and never plays a
move that cannot change anything (`useful_moves`).
"""

import time
from dataclasses import replace
from functools import partial
from typing import Final

from gtp_engine.engine.choice import Choice
from gtp_engine.engine.dead_stones import counts_all_stones, estimate_status
from gtp_engine.engine.game_end import (
    Confirm,
    ReadOut,
    agreed_end,
    is_won_repetition,
    leave_in_doubt,
    may_be_over,
    status_for_cleanup,
)
from gtp_engine.engine.level_play import LevelPlay
from gtp_engine.engine.life_reading import LifeReader
from gtp_engine.engine.request import Request
from gtp_engine.engine.resignation import Resignation
from gtp_engine.engine.searches import Searches
from gtp_engine.engine.thresholds import Thresholds
from gtp_engine.engine.time_watcher import TimeWatcher
from gtp_engine.engine.useful_moves import (
    best_useful_move,
    capture_of_dead,
    has_dead_enemies,
    legal_moves,
    neutral_point,
    useless_points,
)
from gtp_engine.go.constants import PASS
from gtp_engine.go.game import Game
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.report import SearchReport
from gtp_engine.time_manager import TimeBudget, may_stop_when_won

CONFIRMATION_SHARE: Final = 0.1
"""Share of a move's maximum that the search leaves for confirming the end of the game."""


def decide(
    game: Game,
    color: int,
    *,
    searches: Searches,
    budget: TimeBudget,
    start: float,
    request: Request,
    cancel: CancelToken,
    resignation: Resignation | None = None,
    cleanup: bool = False,
    level: LevelPlay | None = None,
) -> Choice:
    """Return the move of `color`, or its resignation unless `resignation` is None; at a `level` if there is one.

    `budget` counts from `start` (of time.perf_counter).  For `cleanup` see `choose_move`.
    """
    watcher = TimeWatcher(
        _search_budget(game, budget),
        searches.config,
        searches.thresholds,
        late=time.perf_counter() - start,
        may_stop_when_won=may_stop_when_won(
            moves_played=len(game.moves), area=game.width * game.height, config=searches.config
        ),
    )
    search = searches.search_move if level is None else level.search
    report = search(game, color, watcher, request, cancel)
    if resignation is not None and resignation.is_due(game, report) and (level is None or level.gives_up(game, report)):
        return Choice(PASS, report, resign=True)
    deadline = start + budget.maximum
    confirm = partial(searches.confirm, game, deadline=deadline, cancel=cancel)
    # Moves are read with no more visits than were asked for, unless so few would prove nothing.
    visits = max(report.visits, searches.thresholds.confirm_visits)
    read_out = LifeReader(searches, cancel=cancel, deadline=deadline, visits=visits).read_out
    fill_dame = searches.uses_network and searches.config.puct.fill_dame
    left_out = frozenset[int]().union(*(each.points for each in request.restrictions if each.color == color))
    point = choose_move(
        game,
        report,
        confirm,
        read_out,
        searches.thresholds,
        cleanup=cleanup,
        fill_dame=fill_dame,
        level=level,
        left_out=left_out,
    )
    return Choice(point, report)


def choose_move(
    game: Game,
    report: SearchReport,
    confirm: Confirm,
    read_out: ReadOut,
    thresholds: Thresholds,
    *,
    cleanup: bool = False,
    fill_dame: bool = False,
    level: LevelPlay | None = None,
    left_out: frozenset[int] = frozenset(),
) -> int:
    """Return the point to play for the side that `report` is about, or PASS.

    With `cleanup` (after a dispute about dead stones) there is no pass while dead enemy stones are on the board; where
    reading takes long, groups in doubt are read out only before a pass.  For `fill_dame` see `neutral_point`.  A
    `level` draws a move of its own where the game goes on, but none of `left_out`, which the search has left out
    already.
    """
    moves, color = legal_moves(game, report), report.to_play
    if not moves:
        return PASS  # the search found only moves that repeat a position

    usual_move = partial(
        _usual_move, game, report, confirm, read_out, thresholds, fill_dame=fill_dame, level=level, left_out=left_out
    )
    if not cleanup:
        return usual_move()

    def capture(read_out: ReadOut) -> int:
        left = status_for_cleanup(game, report, confirm, read_out)
        return capture_of_dead(game, moves, left, color, left_out) if has_dead_enemies(game, left, color) else PASS

    if thresholds.reads_at_once or report.best_point == PASS:
        point = capture(read_out)
        return usual_move() if point == PASS else point
    point = capture(leave_in_doubt)
    if point == PASS:
        point = usual_move()
    return capture(read_out) if point == PASS else point


def _usual_move(
    game: Game,
    report: SearchReport,
    confirm: Confirm,
    read_out: ReadOut,
    thresholds: Thresholds,
    *,
    fill_dame: bool,
    level: LevelPlay | None,
    left_out: frozenset[int],
) -> int:
    """Return the point to play unless dead stones have to be captured; for the arguments see `choose_move`."""
    moves, color = legal_moves(game, report), report.to_play
    status = estimate_status(game, report.ownership_black)
    may_pass = PASS not in left_out
    is_pass_best = report.best_point == PASS and may_pass and may_be_over(game)
    if (
        is_pass_best
        and level is None
        and not thresholds.reads_at_once
        and neutral_point(game, moves, status, color, thresholds, fill_dame=fill_dame) == PASS
    ):
        return PASS  # whatever reading would show
    end = agreed_end(game, report, status, confirm, read_out, thresholds) if may_pass else None
    if end is not None:
        if level is not None:  # its search may have tried no neutral point
            moves = [move for move in legal_moves(game, confirm(color) or report) if move.point not in left_out]
        return neutral_point(game, moves, end, color, thresholds, fill_dame=fill_dame)
    if may_pass and is_won_repetition(game, report, confirm, thresholds):
        return PASS
    if level is not None:
        point = level.draw(game, report, left_out | useless_points(game, status, color))
        if point == PASS and counts_all_stones(game):
            point = _capture_before_pass(game, report, confirm, left_out)
    else:
        point = best_useful_move(game, report, status, left_out)
    return moves[0].point if point == PASS and not may_pass else point


def _capture_before_pass(game: Game, report: SearchReport, confirm: Confirm, left_out: frozenset[int]) -> int:
    """Return a move that takes liberties of dead enemy stones, PASS if there are none.

    This is for levels where the rules count dead stones, since a level's own search is too small to see it.
    """
    color = report.to_play
    report = confirm(color) or report
    status = estimate_status(game, report.ownership_black)
    if not has_dead_enemies(game, status, color):
        return PASS
    return capture_of_dead(game, legal_moves(game, report), status, color, left_out)


def _search_budget(game: Game, budget: TimeBudget) -> TimeBudget:
    """Return the part of a budget for the search itself; where the game may be over, some is left for `confirm`."""
    if not may_be_over(game):
        return budget
    maximum = budget.maximum * (1.0 - CONFIRMATION_SHARE)
    return replace(budget, target=min(budget.target, maximum), maximum=maximum)
