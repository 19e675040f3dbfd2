"""Rows of positions of recorded games, by replaying the games up to a move: kernels.

Training reads positions of recorded games in random order.  A game is stored as its moves, a few hundred bytes; to
replay it takes a few microseconds, less than to encode the position.  The result is what `write_game` writes for a
`Game` (`evaluation.from_game`) that has not ended and has no button.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import (
    BOARDS,
    ENDS,
    GOES_ON,
    HISTORY,
    SIMPLE_KO,
    SITUATIONAL_SUPERKO,
    Keys,
    Positions,
    board_of,
    end_history,
    finish_row,
    write_forbidden,
    write_move,
)
from gtp_engine.go.area import owners_into
from gtp_engine.go.board import (
    KO_COLOR,
    STRIDE,
    TABLE,
    Board,
    IntArray,
    clear_ko,
    copy_board,
    play_or_pass,
    set_up_stone,
)
from gtp_engine.go.constants import BLACK, PASS, WHITE


class GameMoves(NamedTuple):
    """The moves of G games on boards of one size, one game after the other; T moves and U set-up stones in all."""

    points: NDArray[np.int16]  # [T] points, or PASS
    colors: NDArray[np.int8]  # [T] BLACK or WHITE
    first_move: NDArray[np.int64]  # [G + 1] where the moves of each game begin, and T
    stone_points: NDArray[np.int16]  # [U] stones on the board before the first move
    stone_colors: NDArray[np.int8]  # [U]
    first_stone: NDArray[np.int64]  # [G + 1] where those of each game begin, and U
    first_player: NDArray[np.int8]  # [G] the side with the first move
    superko: NDArray[np.int8]  # [G] as in `Conditions`
    suicide: NDArray[np.bool_]  # [G] as in `Conditions`


class PositionRefs(NamedTuple):
    """K positions: game number `games[i]` after `counts[i]` moves, with `to_play[i]` as the side to move."""

    games: NDArray[np.int64]
    counts: NDArray[np.int64]
    to_play: NDArray[np.int8]

    def take(self, rows: NDArray[np.int64]) -> "PositionRefs":
        """Return the references at `rows`."""
        return PositionRefs._make(array[rows] for array in self)

    def batches(self, size: int) -> Iterator["PositionRefs"]:
        """Yield the references in order, up to `size` at a time."""
        for begin in range(0, len(self.games), size):
            yield PositionRefs._make(array[begin : begin + size] for array in self)


class ReplayWork(NamedTuple):
    """Work arrays of one thread."""

    empty: Board  # the empty board
    board: Board
    keys: Keys  # [most moves of a game + 1] of the positions that may not recur


@spliced_kernel
def set_up(board: Board, moves: GameMoves, game: int) -> None:
    """Put the set-up stones of a game on an empty board; nothing is captured."""
    for i in range(moves.first_stone[game], moves.first_stone[game + 1]):
        set_up_stone(board, wide(moves.stone_points[i]), wide(moves.stone_colors[i]))


@spliced_kernel
def _copy_to_row(positions: Positions, row: int, ago: int, board: Board, mover: int) -> None:
    """Copy `board`, on which `mover` moved next, to a row; a ko ban of the other side is lifted."""
    target = board_of(positions, row, ago)
    copy_board(target, board)
    if target.info[KO_COLOR] != mover:
        clear_ko(target)


@spliced_kernel
def _write_history(positions: Positions, row: int, moves: GameMoves, begin: int, last: int) -> None:
    """Write the moves before number `last` into a row, latest first; the game's first move has number `begin`."""
    length = min(last - begin, wide(HISTORY))
    for ago in range(length):
        number = last - 1 - ago
        write_move(positions, row, ago, wide(moves.points[number]), wide(moves.colors[number]))
    end_history(positions, row, length)


@kernel
def replay_rows(positions: Positions, moves: GameMoves, refs: PositionRefs, work: ReplayWork) -> None:
    """Fill row i of `positions` with position i of `refs`, for all i.

    The games must be legal (superko aside) and not be over after so many moves; that is not checked.
    """
    for row in range(refs.games.size):
        _replay(positions, row, moves, refs, work)


@kernel
def write_owners(positions: Positions, count: int, queue: IntArray, owners: IntArray) -> None:
    """Set owners[i], int32[n], to the owners of the points on the newest board of row i, for the first `count` rows.

    Area is counted (`owners_into`); `queue`, int32[n], is a work array.
    """
    for row in range(count):
        board = board_of(positions, row, wide(0))
        owners_into(board.color, wide(board.info[STRIDE]), queue, owners[row])


@kernel
def _replay(positions: Positions, row: int, moves: GameMoves, refs: PositionRefs, work: ReplayWork) -> None:
    """Fill a row, see `replay_rows`."""
    game, count, to_play = wide(refs.games[row]), wide(refs.counts[row]), wide(refs.to_play[row])
    board, superko = work.board, wide(moves.superko[game])
    begin = wide(moves.first_move[game])
    last = begin + count
    copy_board(board, work.empty)
    set_up(board, moves, game)
    for number in range(begin, last + 1):
        mover, ago = wide(moves.colors[number]) if number < last else to_play, last - number
        if ago < BOARDS:
            # A game younger than that repeats its first board.
            for older in range(ago, BOARDS if number == begin else ago + 1):
                _copy_to_row(positions, row, wide(older), board, mover)
        if superko != SIMPLE_KO:
            _write_key(work, moves, game, number)
        if number < last:
            play_or_pass(board, wide(moves.points[number]), mover)
    _write_history(positions, row, moves, begin, last)
    passed = count > 0 and moves.points[last - 1] == PASS and moves.colors[last - 1] != to_play
    known = wide(count + 1) if superko != SIMPLE_KO else wide(0)
    is_situational = superko == SITUATIONAL_SUPERKO
    write_forbidden(positions, row, to_play, bool(moves.suicide[game]), is_situational, work.keys[:known])
    finish_row(positions, row, to_play, wide(ENDS) if passed else wide(GOES_ON), wide(0))


@spliced_kernel
def _write_key(work: ReplayWork, moves: GameMoves, game: int, number: int) -> None:
    """Write the superko key of the position before move `number`; see `Game.superko_keys`."""
    board, begin = work.board, wide(moves.first_move[game])
    key = board.hash[0]
    if moves.superko[game] == SITUATIONAL_SUPERKO:
        before = moves.first_player[game] if number == begin else BLACK + WHITE - moves.colors[number - 1]
        key = key ^ TABLE[0, before]
    work.keys[number - begin] = key
