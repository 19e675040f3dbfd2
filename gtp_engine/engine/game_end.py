"""Whether the engine may pass because the game can end here: by agreement, or by ending a repetition in a won game."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from gtp_engine.engine.dead_stones import Ownership, StatusEstimate, counts_all_stones, estimate_status
from gtp_engine.engine.disputes import find_disputes
from gtp_engine.engine.thresholds import Thresholds
from gtp_engine.go.constants import BLACK, PASS, opponent
from gtp_engine.go.game import Game
from gtp_engine.go.late_game import may_stop
from gtp_engine.go.rules import Scoring
from gtp_engine.search.report import SearchReport

AGREED_WINRATE: Final = 0.8
"""If the side to play wins by counting, its winrate must be at least this; else the count has missed something."""

CONCEDED_WINRATE: Final = 0.95
"""If the side to play loses by counting, it stops only if the opponent's winrate is at least this."""

Confirm = Callable[[int], SearchReport | None]
"""Searches the same position with a new tree and this colour to play; None if no time is left for it."""

ReadOut = Callable[[Game, Sequence[Ownership]], Sequence[Ownership]]
"""Replaces the ownership of groups in doubt by what reading them out shows, see `life_reading.LifeReader.read_out`."""


def may_be_over(game: Game) -> bool:
    """Return whether the players may agree that nothing is left to play for, so that it takes time to confirm it."""
    return may_stop(game) and not counts_all_stones(game)


def agreed_end(
    game: Game,
    report: SearchReport,
    status: StatusEstimate,
    confirm: Confirm,
    read_out: ReadOut,
    thresholds: Thresholds,
) -> StatusEstimate | None:
    """Return the status of all stones if the players could stop here, else None; `status` is that after `report`.

    They could if the same stones are dead and the same points neutral whichever side moves first, and both searches
    expect the winner that counting gives.  If the first move changes something, it has to be played, however clear the
    position looks.  Groups in doubt are read out; where that takes long, only before a pass: if that is the best move,
    or if the opponent has passed.  Where another move costs nothing, the searches have to agree on the end before that.
    """
    if not may_be_over(game):
        return None
    if not _has_samples(report, thresholds):
        confirmed = confirm(report.to_play)
        if confirmed is None:
            return None
        report, status = confirmed, estimate_status(game, confirmed.ownership_black)
    if not _is_agreed(game, report, status, thresholds) and (status.is_open or not _is_pass_near(game, report)):
        return None
    other_report = confirm(opponent(report.to_play))
    if other_report is None:
        return None
    reports = (report, other_report)
    expected = [each.ownership_black for each in reports]
    if not thresholds.reads_at_once and find_disputes(game, expected):
        is_free = game.rules.scoring is Scoring.AREA  # to play on, if the opponent has passed
        may_end = game.consecutive_passes > 0 and (
            not is_free or _agreed_status(game, reports, expected, thresholds) is not None
        )
        if not may_end and report.best_point != PASS:
            return None
    return _agreed_status(game, reports, read_out(game, expected), thresholds)


def leave_in_doubt(game: Game, ownerships: Sequence[Ownership]) -> Sequence[Ownership]:
    """Return `ownerships` with 0 for groups in doubt, which are then neither dead nor decided: a quick `ReadOut`."""
    doubtful = [point for dispute in find_disputes(game, ownerships) for point in dispute.stones]
    unread = np.array(ownerships, dtype=np.float64)
    unread[:, doubtful] = 0.0
    return tuple(unread)


def status_for_cleanup(game: Game, report: SearchReport, confirm: Confirm, read_out: ReadOut) -> StatusEstimate:
    """Return the status of all stones after a dispute between the players; `read_out` is for groups in doubt."""
    other_report = confirm(opponent(report.to_play))
    reports = [report] if other_report is None else [report, other_report]
    ownerships = read_out(game, [each.ownership_black for each in reports])
    return estimate_status(game, np.mean(ownerships, axis=0))


def is_won_repetition(game: Game, report: SearchReport, confirm: Confirm, thresholds: Thresholds) -> bool:
    """Return whether the opponent has passed, the game goes in circles, and a pass now is certain to win.

    Otherwise a side this far ahead could keep making threats against living stones: without superko no repetition ends
    the game, and where the rules count area, useless stones cost nothing.
    """
    return (
        may_be_over(game)
        and game.consecutive_passes > 0
        and _goes_in_circles(game)
        and _is_certain_win(game, report, confirm, thresholds)
    )


def _goes_in_circles(game: Game) -> bool:
    """Return whether the same stones were on the board before, with stones played since."""
    earlier = game.copy()
    earlier.undo(len(game.moves))
    for number, move in enumerate(game.moves):
        if earlier.hash == game.hash and any(later.point != PASS for later in game.moves[number:]):
            return True
        earlier.play(move, allow_superko=True)
    return False


def _is_certain_win(game: Game, report: SearchReport, confirm: Confirm, thresholds: Thresholds) -> bool:
    """Return whether the side to play wins by passing even if every undecided point goes to the opponent."""
    color = report.to_play
    if game.rules.scoring is Scoring.TERRITORY or report.winrate < CONCEDED_WINRATE:
        return False
    for side in (color, opponent(color)):
        confirmed = confirm(side)
        if confirmed is None or not _has_samples(confirmed, thresholds):
            return False
        if not estimate_status(game, confirmed.ownership_black).is_certain_win(game, color):
            return False
    return True


def _is_agreed(game: Game, report: SearchReport, status: StatusEstimate, thresholds: Thresholds) -> bool:
    """Return whether everything is decided and counting gives the result that the search expects."""
    if not _has_samples(report, thresholds) or not status.is_decided:
        return False
    margin = status.area_margin - game.area_komi
    if margin == 0:
        return abs(report.winrate - 0.5) <= 1.0 - AGREED_WINRATE
    if (margin > 0) == (report.to_play == BLACK):
        return report.winrate >= AGREED_WINRATE
    return report.winrate <= 1.0 - CONCEDED_WINRATE


def _agreed_status(
    game: Game, reports: Sequence[SearchReport], ownerships: Sequence[Ownership], thresholds: Thresholds
) -> StatusEstimate | None:
    """Return the status of all stones if both searches, with these ownerships, agree on it and on the winner."""
    first, second = (estimate_status(game, ownership) for ownership in ownerships)
    if (first.dead, first.neutral) != (second.dead, second.neutral):
        return None
    are_agreed = all(
        _is_agreed(game, each, settled, thresholds) for each, settled in zip(reports, (first, second), strict=True)
    )
    return first if are_agreed else None


def _is_pass_near(game: Game, report: SearchReport) -> bool:
    """Return whether the opponent has just passed or a pass is the best move."""
    return game.consecutive_passes > 0 or report.best_point == PASS


def _has_samples(report: SearchReport, thresholds: Thresholds) -> bool:
    """Return whether the ownership of a report has enough samples to estimate status from it."""
    return report.ownership_samples >= thresholds.ownership_samples
