"""The loss of the linear rollout policy on recorded games, and its gradient: kernels.

Games are replayed by the kernels that play rollouts (`linear_rollouts`), so that the features are the same in
training and in play.  Positions count in which the move played is a stone that fills no own eye; the policy is a
softmax over all such moves.

S is the number of patterns up to symmetry, F the number of local features, n the length of a board.
"""

from math import exp, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.go.board import (
    EMPTY_COUNT,
    KO_COLOR,
    KO_POINT,
    Board,
    IntArray,
    clear_ko,
    play_assume_legal,
)
from gtp_engine.go.constants import BLACK, NULL_POINT, PASS
from gtp_engine.training.alphago.linear_rollouts import LinearWork, begin_linear, find_local, play_linear
from gtp_engine.training.alphago.neighborhoods import diamond_of, pattern_of
from gtp_engine.training.alphago.stages.replay import GameMoves, begin_game

Doubles = NDArray[np.float64]


class Gradient(NamedTuple):
    """The gradient of the loss with respect to scores (sums of weights), and statistics of the positions."""

    kinds: IntArray  # [2, PATTERNS] index of each pattern's score, for Black and for White
    first_local: int  # S, the index of the first local feature's score
    scores: Doubles  # [S + F] of the patterns, then of the local features
    slopes: Doubles  # [S + F] the gradient
    counts: Doubles  # [COUNTS] indexed by POSITIONS …


POSITIONS = 0
LOSS = 1
"""Sum of the negative natural logarithms of the probabilities of the moves played."""
BEST = 2
"""How often the move played had the highest probability; a tie of k moves counts 1/k."""
PROBABILITY = 3
"""Sum of the probabilities of the moves played: how many of them one draw per position is expected to match."""
COUNTS = 4


class ReplayBuffers(NamedTuple):
    """Preallocated work arrays."""

    empty: Board  # the empty board
    board: Board
    linear: LinearWork
    scores: Doubles  # [n] of the moves in a position
    kinds: IntArray  # [n]


@kernel
def add_games(moves: GameMoves, games: NDArray[np.int64], gradient: Gradient, buffers: ReplayBuffers) -> None:
    """Add the gradient and the counts of all positions of these games to `gradient`."""
    for i in range(games.size):
        _begin(moves, wide(games[i]), buffers)
        last = wide(NULL_POINT)
        for number in range(moves.first_move[games[i]], moves.first_move[games[i] + 1]):
            point, color = wide(moves.points[number]), wide(moves.colors[number])
            if _may_choose(buffers, point, color):
                _add_position(buffers, color, last, point, gradient)
            _play(buffers, point, color)
            last = point


@kernel
def diamonds_into(moves: GameMoves, buffers: ReplayBuffers, diamonds: NDArray[np.int64]) -> None:
    """Write the diamond before every move, int64[T], from the view of the side to move; −1 where there is none."""
    for game in range(moves.first_move.size - 1):
        _begin(moves, wide(game), buffers)
        last = wide(NULL_POINT)
        for number in range(moves.first_move[game], moves.first_move[game + 1]):
            point, color = wide(moves.points[number]), wide(moves.colors[number])
            diamonds[number] = -1
            if last > PASS and _may_choose(buffers, point, color):
                diamonds[number] = diamond_of(buffers.board, last, color, buffers.linear.liberties)
            _play(buffers, point, color)
            last = point


@spliced_kernel
def _begin(moves: GameMoves, game: int, buffers: ReplayBuffers) -> None:
    """Set up a game's first position."""
    begin_game(buffers.board, buffers.empty, moves, game)
    begin_linear(buffers.board, buffers.linear)


@inlined_kernel
def _may_choose(buffers: ReplayBuffers, point: int, color: int) -> bool:
    """Return whether the policy may choose this move: a legal stone that fills no own eye."""
    return bool(point != PASS and buffers.linear.weight[color - BLACK, point] > 0.0)


@kernel
def _play(buffers: ReplayBuffers, point: int, color: int) -> None:
    """Play any legal move."""
    if point == PASS:
        clear_ko(buffers.board)
    elif _may_choose(buffers, point, color):
        play_linear(buffers.board, buffers.linear, point, color)
    else:  # an eye filled or a suicide: rare, and the incremental weights do not cover it, so they are rebuilt
        play_assume_legal(buffers.board, point, color)
        begin_linear(buffers.board, buffers.linear)


@kernel
def _add_position(buffers: ReplayBuffers, color: int, last: int, played: int, gradient: Gradient) -> None:
    """Add the gradient and the counts of one position."""
    board, linear = buffers.board, buffers.linear
    local = find_local(board, color, last, linear)
    ko = wide(board.info[KO_POINT]) if board.info[KO_COLOR] == color else wide(NULL_POINT)
    for i in range(wide(board.info[EMPTY_COUNT])):
        point = wide(board.empties[i])
        kind = wide(gradient.kinds[color - BLACK, pattern_of(board, point, linear.liberties)])
        buffers.kinds[point] = kind
        buffers.scores[point] = gradient.scores[kind]
    for i in range(local):
        buffers.scores[linear.local_point[i]] += gradient.scores[gradient.first_local + linear.local_feature[i]]
    _softmax_gradient(buffers, color - BLACK, ko, played, gradient.counts)
    for i in range(wide(board.info[EMPTY_COUNT])):
        point = wide(board.empties[i])
        gradient.slopes[buffers.kinds[point]] += buffers.scores[point]  # by now the gradient of the score
    for i in range(local):
        gradient.slopes[gradient.first_local + linear.local_feature[i]] += buffers.scores[linear.local_point[i]]


@spliced_kernel
def _softmax_gradient(buffers: ReplayBuffers, color: int, ko: int, played: int, counts: Doubles) -> None:
    """Replace scores by the gradient of the loss: probabilities, less 1 for the move played.  Add to the counts."""
    board, scores = buffers.board, buffers.scores
    best, ties, total = -np.inf, 0, 0.0
    for i in range(wide(board.info[EMPTY_COUNT])):
        point = wide(board.empties[i])
        if buffers.linear.weight[color, point] == 0.0 or point == ko:
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
