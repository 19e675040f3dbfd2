"""Rows of positions of recorded games, by replaying the games up to a move: kernels.

Training reads positions of recorded games in random order.  A game is stored as its moves, a few hundred bytes; to
replay it takes a few microseconds, less than to encode the position.  The result is what `write_game` writes for a
`Game` (`evaluation.from_game`) that has not ended and has no button.
"""

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


class ReplayWork(NamedTuple):
    """Work arrays of one thread."""

    empty: Board  # the empty board
    board: Board
    keys: Keys  # [most moves of a game + 1] of the positions that may not recur


@spliced_kernel
def begin_game(board: Board, empty: Board, moves: GameMoves, game: int) -> None:
    """Put the set-up stones of a game on the board, and nothing else; nothing is captured."""
    copy_board(board, empty)
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
def replay_rows(
    positions: Positions, moves: GameMoves, games: NDArray[np.int64], numbers: NDArray[np.int64], work: ReplayWork
) -> None:
    """Fill row i of `positions` with the position before move number `numbers[i]`, one of game `games[i]`, for all i.

    The games must be legal (superko aside), and end with their last moves; that is not checked.
    """
    for row in range(numbers.size):
        _replay(positions, row, moves, wide(games[row]), wide(numbers[row]), work)


@kernel
def write_owners(
    moves: GameMoves, games: NDArray[np.int64], work: ReplayWork, queue: IntArray, owners: IntArray
) -> None:
    """Set owners[i], int32[n], to the owners of the points at the end of game `games[i]`, for all i.

    Area is counted (`owners_into`); `queue`, int32[n], is a work array.
    """
    board = work.board
    for row in range(games.size):
        begin_game(board, work.empty, moves, wide(games[row]))
        for number in range(moves.first_move[games[row]], moves.first_move[games[row] + 1]):
            play_or_pass(board, wide(moves.points[number]), wide(moves.colors[number]))
        owners_into(board.color, wide(board.info[STRIDE]), queue, owners[row])


@kernel
def _replay(positions: Positions, row: int, moves: GameMoves, game: int, last: int, work: ReplayWork) -> None:
    """Fill a row, see `replay_rows`."""
    board, superko = work.board, wide(moves.superko[game])
    begin, to_play = wide(moves.first_move[game]), wide(moves.colors[last])
    begin_game(board, work.empty, moves, game)
    for number in range(begin, last + 1):
        mover, ago = wide(moves.colors[number]), last - number
        if ago < BOARDS:
            # A game younger than that repeats its first board.
            for older in range(ago, BOARDS if number == begin else ago + 1):
                _copy_to_row(positions, row, wide(older), board, mover)
        if superko != SIMPLE_KO:
            _write_key(work, moves, game, number)
        if number < last:
            play_or_pass(board, wide(moves.points[number]), mover)
    _write_history(positions, row, moves, begin, last)
    passed = last > begin and moves.points[last - 1] == PASS and moves.colors[last - 1] != to_play
    known = wide(last - begin + 1) if superko != SIMPLE_KO else wide(0)
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
