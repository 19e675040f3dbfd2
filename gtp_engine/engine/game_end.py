"""What the end of a game depends on: whether players may stop here, and which moves still change something.

`decision` puts it together with what searches and readings find.
"""

from gtp_engine.engine.dead_stones import StatusEstimate, counts_all_stones
from gtp_engine.go.constants import EMPTY, PASS, opponent
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.go.phases import may_stop
from gtp_engine.search.report import MoveReport, SearchReport


def may_be_over(game: Game) -> bool:
    """Return whether the players may agree that nothing is left to play for, so that it takes time to confirm it."""
    return may_stop(game) and not counts_all_stones(game)


def goes_in_circles(game: Game) -> bool:
    """Return whether the same stones were on the board before, with stones played since."""
    earlier = game.copy()
    earlier.undo(len(game.moves))
    for number, move in enumerate(game.moves):
        if earlier.hash == game.hash and any(later.point != PASS for later in game.moves[number:]):
            return True
        earlier.play(move, allow_superko=True)
    return False


def legal_moves(game: Game, report: SearchReport) -> list[MoveReport]:
    """Return the moves of a report that the game's rules allow, superko included, the best first."""
    return [move for move in report.moves if move.point == PASS or game.is_legal(move.point, report.to_play)]


def has_dead_enemies(game: Game, status: StatusEstimate, color: int) -> bool:
    """Return whether dead stones of `color`'s opponent are on the board."""
    return any(game.board.color[point] == opponent(color) for point in status.dead)


def liberties_of_dead(game: Game, status: StatusEstimate, color: int) -> set[int]:
    """Return the liberties of the dead stones of `color`'s opponent."""
    stones = [point for point in status.dead if game.board.color[point] == opponent(color)]
    return {liberty for stone in stones for liberty in game.liberties(stone)}


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
    return not (has_to_capture and point in liberties_of_dead(game, status, color))
