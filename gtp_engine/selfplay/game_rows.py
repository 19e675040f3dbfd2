"""Rows of positions that follow games move by move.

`write_game` replays a game to find its last boards and asks `Game` about every point: ten milliseconds on 19×19, and
more for longer games.  When a game has grown by one move, its row only has to be shifted: its newest board becomes that
of one move ago.  The result is the same.
"""

from typing import Final

from gtp_engine.evaluation.from_game import conditions_of, write_conditions, write_game
from gtp_engine.evaluation.positions import ENDS, GOES_ON, Positions
from gtp_engine.evaluation.row_kernels import advance_row
from gtp_engine.go.game import Game


class GameRows:
    """Keeps rows of `positions` up to date with games that only grow, move by move."""

    def __init__(self, positions: Positions) -> None:
        self._positions: Final = positions
        self._followed: Final[list[tuple[Game, int] | None]] = [None] * len(positions.key)

    def fill(self, row: int, game: Game, *, advantage_black: float = 0.0) -> None:
        """Fill a row with the position of `game` and its history, as `write_game` does.

        `advantage_black` is Black's playout doubling advantage.
        """
        count, conditions = len(game.moves), conditions_of(game, playout_doubling_advantage_black=advantage_black)
        if self._has_grown_by_a_turn(row, game):
            write_conditions(self._positions, row, conditions)
            self._shift(row, game)
        else:
            write_game(self._positions, row, game, conditions=conditions)
        self._followed[row] = (game, count)

    def _has_grown_by_a_turn(self, row: int, game: Game) -> bool:
        """Return whether the row shows the game before its last move, made in turn, and the game continues."""
        followed, last = self._followed[row], game.last_move
        if followed is None or last is None or followed[0] is not game:
            return False
        is_next = followed[1] == len(game.moves) - 1
        return is_next and last.color == self._positions.to_play[row] and not game.is_over

    def _shift(self, row: int, game: Game) -> None:
        last = game.last_move
        assert last is not None, "the game has grown"
        advance_row(
            self._positions,
            row,
            game.board,
            last.point,
            last.color,
            ENDS if game.consecutive_passes == 1 else GOES_ON,
            game.superko_keys(),
        )
