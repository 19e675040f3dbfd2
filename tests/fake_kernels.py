"""The kernels of `fake_evaluators`: evaluations computed from nothing but the positions' keys.

B is the number of rows, n the padded length of a board.
"""

from math import exp
from typing import Any, Final

import numpy as np

from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import Evaluation, FloatArray, Positions, board_of, conditions_of_row
from gtp_engine.go.board import EMPTY_COUNT, is_legal
from gtp_engine.go.constants import PASS, WALL

PASS_WEIGHT: Final = 0.01
"""Weight of the pass in a fake policy, in which other moves have weights between 0 and 1."""

SCORE_RANGE: Final = 20.0
"""Fake scores lie between minus and plus this, points."""

SCORE_PER_LOGIT: Final = 5.0
"""Points that change the odds of winning by a factor of e, so that fake scores and winrates go together."""

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_MIX_A: Final = np.uint64(0xBF58476D1CE4E5B9)
_MIX_B: Final = np.uint64(0x94D049BB133111EB)
"""Constants of splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", 2014)."""


@inlined_kernel
def _fraction(key: Any, stream: int) -> float:
    """Return a number in [0, 1) that depends on a key and the number of a stream: splitmix64's output."""
    x = np.uint64(key) + np.uint64(stream + 1) * _GOLDEN
    x = (x ^ (x >> np.uint64(30))) * _MIX_A
    x = (x ^ (x >> np.uint64(27))) * _MIX_B
    x = x ^ (x >> np.uint64(31))
    return float(x >> np.uint64(11)) * 2.0**-53


@kernel
def write_fake_policy(positions: Positions, count: int, seed: int, policy: FloatArray) -> None:
    """Write a policy for each row into `policy` [B, n]; a negative `seed` makes it uniform.

    Otherwise the weight of a legal move is the fourth power of a number that depends on the row's key, so that a few
    moves stand out as in real policies; the pass has `PASS_WEIGHT`.
    """
    for row in range(count):
        board, color = board_of(positions, row, wide(0)), wide(positions.to_play[row])
        suicide = conditions_of_row(positions, row).suicide
        for point in range(policy.shape[1]):
            policy[row, point] = 0.0
        total = 1.0 if seed < 0 else PASS_WEIGHT
        policy[row, PASS] = total
        key = positions.key[row] ^ np.uint64(max(seed, 0))
        for i in range(wide(board.info[EMPTY_COUNT])):
            point = wide(board.empties[i])
            if positions.forbidden[row, point] == 0 and is_legal(board, point, color, suicide):
                weight = 1.0 if seed < 0 else _fraction(key, point) ** 4
                policy[row, point] = weight
                total += weight
        for point in range(policy.shape[1]):
            policy[row, point] /= total


@spliced_kernel
def write_fake_results(positions: Positions, count: int, seed: int, out: Evaluation) -> None:
    """Write result, score, error of the result and ownership of each row, which depend on its key.

    The score is spread evenly over `SCORE_RANGE` to both sides, winning follows from it, and ownership is a number in
    [−1, 1] for each point of the board, unrelated to the score.
    """
    for row in range(count):
        board = board_of(positions, row, wide(0))
        key = positions.key[row] ^ np.uint64(seed) ^ _GOLDEN
        score = SCORE_RANGE * (2.0 * _fraction(key, 0) - 1.0)
        win = 1.0 / (1.0 + exp(-score / SCORE_PER_LOGIT))
        out.win_black[row] = win
        out.loss_black[row] = 1.0 - win
        out.score_black[row] = score
        out.lead_black[row] = score
        out.winloss_error[row] = 0.1 + 0.4 * _fraction(key, 1)
        for point in range(out.ownership_black.shape[1]):
            is_on_board = board.color[point] != WALL
            out.ownership_black[row, point] = 2.0 * _fraction(key, point + 2) - 1.0 if is_on_board else 0.0
