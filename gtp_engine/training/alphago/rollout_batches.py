"""Rollouts from the leaves of a search with a network, for `puct.expand` to mix in, as in AlphaGo.  Kernels.

    play_rows     by a policy of kernels (`search.rollouts.rollout`), one position after the other
    play_moves    by a network's policy, all positions side by side: one evaluation, then a move in each

A network evaluates a batch much faster than its positions one by one, so those rollouts advance together.  Rows whose
rollout has ended are filled with rows from the end of the batch, and every evaluation is for the rows still in play.
Python alternates between the network and `play_moves` (`rollout_players.network_player`).

In all rollouts neither side fills an eye of its own or passes while it has another move, and only simple ko is
observed.

B is the number of rows of a batch, n the padded length of a board.
"""

from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import (
    ENDS,
    GOES_ON,
    FloatArray,
    Positions,
    board_of,
    copy_row,
    finish_row,
    forbid_ko,
    new_positions,
    shift_row,
)
from gtp_engine.go.area import area_margin
from gtp_engine.go.board import (
    EMPTY_COUNT,
    Board,
    IntArray,
    clear_ko,
    copy_board,
    is_legal,
    new_board,
    play_assume_legal,
)
from gtp_engine.go.constants import BLACK, PASS, WHITE, padded_length
from gtp_engine.go.tactics import is_eye
from gtp_engine.search.puct.expand import Results
from gtp_engine.search.rng import State, random_below
from gtp_engine.search.rollouts.rollout import RolloutWork, play_out

_RANDOM_STEPS: Final = 1 << 24
"""Number of values that a uniform random number in (0, 1] can have."""


class Scratch(NamedTuple):
    """Work arrays of one thread that plays positions out."""

    board: Board
    first_player: Annotated[NDArray[np.int8], "n"]
    queue: Annotated[IntArray, "n"]
    rng: State  # of the rollouts


def new_scratch(width: int, height: int, rng: State) -> Scratch:
    """Return work arrays for boards of this size, with these random numbers."""
    return zeros(Scratch, n=padded_length(width, height), board=new_board(width, height), rng=rng)


@kernel
def play_rows(
    positions: Positions, count: int, policy: int, limit: int, results: Results, scratch: Scratch, work: RolloutWork
) -> None:
    """Write into `results` how the first `count` rows of `positions` (not changed) end; see `play_out`."""
    for slot in range(count):
        copy_board(scratch.board, board_of(positions, slot, wide(0)))
        color, last = wide(positions.to_play[slot]), wide(positions.points[slot, 0])
        moves = play_out(scratch.board, color, last, policy, work, scratch.rng, scratch.first_player, limit)
        results.finished[slot] = wide(moves < limit)
        results.margin[slot] = area_margin(scratch.board, scratch.queue, results.owner[slot])


class NetworkRollouts(NamedTuple):
    """Rollouts under way; those still in play are in the first rows of `positions`."""

    positions: Positions
    slot: Annotated[IntArray, "B"]  # the row of the batch of leaves that a rollout began from
    passes: Annotated[IntArray, "B"]  # passes in a row since the rollout began
    policy: Annotated[FloatArray, "B", "n"]  # the network's; scratch
    queue: Annotated[IntArray, "n"]  # scratch


def new_network_rollouts(size: int, width: int, height: int) -> NetworkRollouts:
    """Return arrays for up to `size` rollouts on boards of this size."""
    positions = new_positions(size, width, height)
    return zeros(NetworkRollouts, B=size, n=padded_length(width, height), positions=positions)


@kernel
def start_rollouts(positions: Positions, count: int, rollouts: NetworkRollouts, results: Results) -> None:
    """Begin a rollout from each of the first `count` rows of `positions`."""
    for slot in range(wide(count)):
        results.finished[slot] = 0
        copy_row(rollouts.positions, slot, positions, slot)
        rollouts.slot[slot] = slot
        rollouts.passes[slot] = 0


@kernel
def play_moves(rollouts: NetworkRollouts, count: int, results: Results, rng: State) -> int:
    """Return how many rollouts are still in play after a move in each of the first `count` rows, drawn from its policy.

    Those that have ended are counted; their rows are filled with rows from the end.
    """
    positions = rollouts.positions
    for row in range(count):
        _play(rollouts, row, _draw(rollouts, row, rng))
    row = wide(0)
    while row < count:
        if rollouts.passes[row] < 2:
            row += 1
            continue
        slot, board = wide(rollouts.slot[row]), board_of(positions, row, wide(0))
        results.finished[slot] = 1
        results.margin[slot] = area_margin(board, rollouts.queue, results.owner[slot])
        count -= 1
        if row < count:
            copy_row(positions, row, positions, wide(count))
            rollouts.slot[row] = rollouts.slot[count]
            rollouts.passes[row] = rollouts.passes[count]
    return count


@spliced_kernel
def _draw(rollouts: NetworkRollouts, row: int, rng: State) -> int:
    """Return a move drawn with the probabilities of a row's policy from those that fill no own eye, or PASS.

    Sets the policy of moves that may not be played to 0.
    """
    positions, policy = rollouts.positions, rollouts.policy
    board, color = board_of(positions, row, wide(0)), wide(positions.to_play[row])
    empties = wide(board.info[EMPTY_COUNT])
    total = 0.0
    for i in range(empties):
        point = wide(board.empties[i])
        if (
            is_eye(board, point, color)
            or positions.forbidden[row, point] != 0
            or not is_legal(board, point, color, False)
        ):
            policy[row, point] = 0.0
        total += policy[row, point]
    rest = total * (1 + random_below(rng, _RANDOM_STEPS)) / _RANDOM_STEPS
    drawn = wide(PASS)
    for i in range(empties):
        point = wide(board.empties[i])
        if policy[row, point] > 0.0 and rest > 0.0:
            rest -= policy[row, point]
            drawn = point
    return drawn


@spliced_kernel
def _play(rollouts: NetworkRollouts, row: int, move: int) -> None:
    """Play a move in a row.  A pass takes no button (`puct.expand`)."""
    positions = rollouts.positions
    color = wide(positions.to_play[row])
    shift_row(positions, row, move, color)
    board = board_of(positions, row, wide(0))
    if move == PASS:
        clear_ko(board)
        rollouts.passes[row] += 1
    else:
        play_assume_legal(board, move, color)
        rollouts.passes[row] = 0
    to_play = BLACK + WHITE - color
    forbid_ko(positions, row, to_play)
    pass_ends = wide(ENDS) if rollouts.passes[row] == 1 else wide(GOES_ON)
    finish_row(positions, row, to_play, pass_ends, wide(positions.button[row]))
