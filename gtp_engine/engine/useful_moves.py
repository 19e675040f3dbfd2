"""The moves of a search that are worth playing: legal ones that change something."""

from collections.abc import Sequence
from typing import Final

from gtp_engine.engine.dead_stones import StatusEstimate, counts_all_stones
from gtp_engine.engine.thresholds import Thresholds
from gtp_engine.go.constants import EMPTY, PASS, opponent
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.go.late_game import is_late, may_stop
from gtp_engine.go.rules import Scoring
from gtp_engine.go.tactics import would_be_self_atari
from gtp_engine.search.report import MoveReport, SearchReport, best_of

NEUTRAL_LOSS: Final = 0.1
"""Difference of results in [−1, 1] that two moves show by chance when neither matters."""


def legal_moves(game: Game, report: SearchReport) -> list[MoveReport]:
    """Return the moves of a report that the game's rules allow, superko included, the best first."""
    return [move for move in report.moves if move.point == PASS or game.is_legal(move.point, report.to_play)]


def best_useful_move(
    game: Game, report: SearchReport, status: StatusEstimate, left_out: frozenset[int] = frozenset()
) -> int:
    """Return the best move that changes something, none of `left_out`; PASS if there is none.

    Early in the game that is not a pass: in a lost position a pass looks as good as any move, and a search of few
    visits may try nothing else.  Then it is the move to which the network gives the largest probability.
    """
    color, may_pass = report.to_play, is_late(game) or (status.is_decided and may_stop(game))
    for move in legal_moves(game, report):
        if not is_useless(game, move.point, status, color) and (may_pass or move.point != PASS):
            return move.point
    if may_pass or report.raw is None:
        return PASS
    policy = report.raw.policy
    excluded = left_out | useless_points(game, status, color)
    points = [point for point in game.legal_points(color) if point not in excluded]
    return max(points, key=lambda point: float(policy[point]), default=PASS)


def neutral_point(
    game: Game,
    moves: Sequence[MoveReport],
    status: StatusEstimate,
    color: int,
    thresholds: Thresholds,
    *,
    fill_dame: bool = False,
) -> int:
    """Return a neutral point to fill, which is worth a point by area; PASS if there is none.

    It must have been searched enough, must not be self-atari, and must not be worse than the best move by
    `NEUTRAL_LOSS`.  Under territory rules it must also be the best move itself, and only with `fill_dame`.
    """
    best = best_of(moves)
    if best is None:
        return PASS
    if game.rules.scoring is Scoring.TERRITORY:
        moves = [best] if fill_dame else []
    for move in moves:
        loss = abs(best.value_black - move.value_black)
        if (
            move.point in status.neutral
            and move.visits >= thresholds.tried_visits
            and loss < NEUTRAL_LOSS
            and not would_be_self_atari(game.board, move.point, color)
        ):
            return move.point
    return PASS


def has_dead_enemies(game: Game, status: StatusEstimate, color: int) -> bool:
    """Return whether dead stones of `color`'s opponent are on the board."""
    return any(game.board.color[point] == opponent(color) for point in status.dead)


def capture_of_dead(
    game: Game,
    moves: Sequence[MoveReport],
    status: StatusEstimate,
    color: int,
    left_out: frozenset[int] = frozenset(),
) -> int:
    """Return the best move that takes a liberty of a dead enemy stone, without self-atari if possible.

    Where every one of them is self-atari, the best move other than a pass; PASS if there is none.  A move of `left_out`
    is not played.
    """
    targets = _liberties_of_dead(game, status, color) - left_out
    order = [move.point for move in moves]
    order += sorted(point for point in targets if point not in order and game.is_legal(point, color))
    for point in order:
        if point in targets and not would_be_self_atari(game.board, point, color):
            return point
    return next((point for point in order if point != PASS), PASS)


def useless_points(game: Game, status: StatusEstimate, color: int) -> frozenset[int]:
    """Return the empty points where a move is useless."""
    points = board_points(game.width, game.height)
    return frozenset(p for p in points if game.board.color[p] == EMPTY and is_useless(game, p, status, color))


def is_useless(game: Game, point: int, status: StatusEstimate, color: int) -> bool:
    """Return whether a move lies in pass-alive territory, which nothing can change.

    Exception: where the rules count all stones, the owner has to capture the dead ones in it.
    """
    owner = int(status.proved[point])
    if point == PASS or owner == EMPTY:
        return False
    has_to_capture = counts_all_stones(game) and owner == color
    return not (has_to_capture and point in _liberties_of_dead(game, status, color))


def _liberties_of_dead(game: Game, status: StatusEstimate, color: int) -> set[int]:
    """Return the liberties of the dead stones of `color`'s opponent."""
    stones = [point for point in status.dead if game.board.color[point] == opponent(color)]
    return {liberty for stone in stones for liberty in game.liberties(stone)}
