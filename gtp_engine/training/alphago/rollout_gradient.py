"""What the linear rollout policy makes of recorded games, and how its weights should change: kernels.

Games are played once by the kernels that play rollouts (`search.rollouts.linear`), so that features mean the same here
and there.  A position counts in which a stone is played that fills no eye; the policy chooses between all such moves.

S is the number of patterns that differ by more than orientation, F that of local features, n the length of a board.
"""

from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.go.board import (
    EMPTY_COUNT,
    KO_COLOR,
    KO_POINT,
    Board,
    IntArray,
    clear_ko,
    copy_board,
    play_assume_legal,
)
from gtp_engine.go.constants import BLACK, NULL_POINT, PASS
from gtp_engine.search.rollouts.linear import find_local
from gtp_engine.search.rollouts.linear_weights import LinearWork, begin_linear, play_linear
from gtp_engine.search.rollouts.neighborhoods import diamond_of, pattern_of
from gtp_engine.selfplay.replay import GameMoves, set_up

Floats = NDArray[np.float64]


class Scores(NamedTuple):
    """The sums of weights that moves are chosen by, and what they are looked up with."""

    kinds: IntArray  # [2, PATTERNS] number of each pattern as seen by Black, by White
    patterns: Floats  # [S]
    local: Floats  # [F]


class Gradient(NamedTuple):
    """What the gradient of the loss is with regard to the scores, and what is counted on the way."""

    patterns: Floats  # [S]
    local: Floats  # [F]
    counts: Floats  # [COUNTS] indexed by POSITIONS …


POSITIONS = 0
LOSS = 1
"""Negative logarithm of the probability of the moves played, natural."""
BEST = 2
"""Moves played that the policy likes best; where it likes several alike, each counts as a part."""
PROBABILITY = 3
"""Sum of the probabilities of the moves played: how many the policy would have drawn."""
COUNTS = 4


class ReplayRoom(NamedTuple):
    """Work arrays."""

    empty: Board  # the empty board
    board: Board
    linear: LinearWork
    scores: Floats  # [n] of the moves in a position
    kinds: IntArray  # [n]


@kernel
def add_games(moves: GameMoves, games: NDArray[np.int64], scores: Scores, gradient: Gradient, room: ReplayRoom) -> None:
    """Add to the gradient, and to its counts, what follows from all positions of these games."""
    for i in range(games.size):
        _begin(moves, wide(games[i]), room)
        last = wide(NULL_POINT)
        for number in range(moves.first_move[games[i]], moves.first_move[games[i] + 1]):
            point, color = wide(moves.points[number]), wide(moves.colors[number])
            if _may_choose(room, point, color):
                _add_position(room, color, last, point, scores, gradient)
            _play(room, point, color)
            last = point


@kernel
def diamonds_into(moves: GameMoves, room: ReplayRoom, diamonds: NDArray[np.int64]) -> None:
    """Write the diamond before every move, int64[T], as the side to play sees it; −1 where there is none."""
    for game in range(moves.first_move.size - 1):
        _begin(moves, wide(game), room)
        last = wide(NULL_POINT)
        for number in range(moves.first_move[game], moves.first_move[game + 1]):
            point, color = wide(moves.points[number]), wide(moves.colors[number])
            diamonds[number] = -1
            if last > PASS and _may_choose(room, point, color):
                diamonds[number] = diamond_of(room.board, last, color, room.linear.liberties)
            _play(room, point, color)
            last = point


@spliced_kernel
def _begin(moves: GameMoves, game: int, room: ReplayRoom) -> None:
    """Set up a game's first position."""
    copy_board(room.board, room.empty)
    set_up(room.board, moves, game)
    begin_linear(room.board, room.linear)


@inlined_kernel
def _may_choose(room: ReplayRoom, point: int, color: int) -> bool:
    """Return whether a move is one that the policy chooses between."""
    return bool(point != PASS and room.linear.weight[color - BLACK, point] > 0.0)


@kernel
def _play(room: ReplayRoom, point: int, color: int) -> None:
    """Play any legal move."""
    if point == PASS:
        clear_ko(room.board)
    elif _may_choose(room, point, color):
        play_linear(room.board, room.linear, point, color)
    else:  # it fills an eye, or kills itself
        play_assume_legal(room.board, point, color)
        begin_linear(room.board, room.linear)


@kernel
def _add_position(room: ReplayRoom, color: int, last: int, played: int, scores: Scores, gradient: Gradient) -> None:
    """Add what follows from one position."""
    board, linear = room.board, room.linear
    local = find_local(board, color, last, linear)
    ko = wide(board.info[KO_POINT]) if board.info[KO_COLOR] == color else wide(NULL_POINT)
    for i in range(wide(board.info[EMPTY_COUNT])):
        point = wide(board.empties[i])
        kind = wide(scores.kinds[color - BLACK, pattern_of(board, point, linear.liberties)])
        room.kinds[point] = kind
        room.scores[point] = scores.patterns[kind]
    for i in range(local):
        room.scores[linear.local_point[i]] += scores.local[linear.local_feature[i]]
    _choose(room, color - BLACK, ko, played, gradient.counts)
    for i in range(wide(board.info[EMPTY_COUNT])):
        point = wide(board.empties[i])
        gradient.patterns[room.kinds[point]] += room.scores[point]
    for i in range(local):
        gradient.local[linear.local_feature[i]] += room.scores[linear.local_point[i]]


@spliced_kernel
def _choose(room: ReplayRoom, color: int, ko: int, played: int, counts: Floats) -> None:
    """Turn scores of empty points into probabilities, less 1 for the move played; count how good they were."""
    board, scores = room.board, room.scores
    best, ties, total = -np.inf, 0, 0.0
    for i in range(wide(board.info[EMPTY_COUNT])):
        point = wide(board.empties[i])
        if room.linear.weight[color, point] == 0.0 or point == ko:
            scores[point] = -np.inf
        if scores[point] > best:
            best, ties = scores[point], 0
        ties += wide(scores[point] == best)
    counts[POSITIONS] += 1.0
    counts[BEST] += wide(scores[played] == best) / ties
    for i in range(wide(board.info[EMPTY_COUNT])):
        point = wide(board.empties[i])
        scores[point] = exp(scores[point] - best)
        total += scores[point]
    for i in range(wide(board.info[EMPTY_COUNT])):
        scores[board.empties[i]] /= total
    counts[LOSS] -= log(scores[played])
    counts[PROBABILITY] += scores[played]
    scores[played] -= 1.0
