"""From a network's raw outputs to what an `Evaluation` holds: kernels.

The network speaks for the side to move and sees the board in one of its symmetries; here legality is looked up, logits
become probabilities, multiples become points, the view becomes Black's, and the symmetry is undone.  What the outputs
are is written in `metadata`; the formulas are those of KataGo's neuralnet/nneval.cpp.

Answers of several symmetries are averaged: each call adds its share, `weight`, to rows that `clear_rows` has set to 0,
and `finish_rows` ends it.

Letters: K rows went through the network, `rows` int32[K] names them among the B rows of the batch; n is the padded
length of a board, A = H·W its points, S the number of its symmetries, P that of the network's policies.
"""

from math import exp, isfinite, log1p, sqrt, tanh
from typing import Final

import numpy as np

from gtp_engine._jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.evaluation import Evaluation, FloatArray
from gtp_engine.evaluation.positions import Positions, board_of
from gtp_engine.go.board import EMPTY_COUNT, HEIGHT, WIDTH, IntArray, is_legal
from gtp_engine.go.constants import BLACK, PASS

UNKNOWN: Final = -1.0
"""Time left and errors of a network that has none."""

MOST_PASSING: Final = 19.0
"""With passing hacks, passing gets at most this many times the probability of all other moves together, so that a
search goes on looking at them (KataGo's enablePassingHacks)."""

_HAS_TIME_LEFT: Final = 9
"""KataGo's first model version with a time left, and errors, that are of use."""
_SCALES_ERRORS: Final = 10
_SQUARES_ERRORS: Final = 14
"""First versions whose errors are roots of scaled variances, and of scaled squares."""
_OLD_SCORE_ERROR: Final = 10.0
"""Points; what the score error of version 9 is multiplied by."""


@inlined_kernel
def _softplus(x: float) -> float:
    """Return log(1 + eˣ), without overflow."""
    return max(x, 0.0) + log1p(exp(-abs(x)))


@kernel
def clear_rows(rows: IntArray, out: Evaluation) -> None:
    """Set the answers of `rows` to 0."""
    for k in range(rows.size):
        row = wide(rows[k])
        out.win_black[row] = 0.0
        out.loss_black[row] = 0.0
        out.score_black[row] = 0.0
        out.score_stdev[row] = 0.0
        out.lead_black[row] = 0.0
        out.time_left[row] = 0.0
        out.winloss_error[row] = 0.0
        out.score_error[row] = 0.0
        for point in range(out.policy.shape[1]):
            out.policy[row, point] = 0.0
            out.ownership_black[row, point] = 0.0


@inlined_kernel
def _mixed_logit(logits: FloatArray, k: int, action: int, optimism: float) -> float:
    """Return the logit of an action, `optimism` of the way from the policy to the optimistic one where there is one."""
    logit = float(logits[k, 0, action])
    if logits.shape[1] > 1:
        logit += optimism * (logits[k, 1, action] - logit)
    return logit


@kernel
def decode_policy(
    positions: Positions,
    rows: IntArray,
    suicide: bool,
    logits: FloatArray,
    cells: IntArray,
    symmetries: IntArray,
    optimism: float,
    temperature: float,
    pass_prior: float,
    caps_passing: bool,
    weight: float,
    policy: FloatArray,
    scratch: FloatArray,
) -> None:
    """Add `weight` times the policy of each row to `policy` [B, n].

    `logits` is [K, P, A + 1], or [K, P, A] of a network that cannot pass: there passing gets `pass_prior`, or 1 where
    nothing else is legal.  With `caps_passing` it gets no more than `MOST_PASSING` allows.  Illegal moves get nothing.
    `cells` [S, n] is `symmetry.cell_table`, `symmetries` [B] how each row was shown.  `scratch` [n] is a work array.
    """
    for k in range(rows.size):
        row = wide(rows[k])
        board = board_of(positions, row, wide(0))
        area = wide(board.info[WIDTH]) * wide(board.info[HEIGHT])
        empties = wide(board.info[EMPTY_COUNT])
        color, symmetry = wide(positions.to_play[row]), wide(symmetries[row])
        scratch[PASS] = -np.inf
        if logits.shape[2] > area:
            scratch[PASS] = _mixed_logit(logits, k, area, optimism) / temperature
        highest = float(scratch[PASS])
        for i in range(empties):
            point = wide(board.empties[i])
            scratch[point] = -np.inf
            if positions.forbidden[row, point] == 0 and is_legal(board, point, color, suicide):
                scratch[point] = _mixed_logit(logits, k, wide(cells[symmetry, point]), optimism) / temperature
                highest = max(highest, float(scratch[point]))
        if highest == -np.inf:  # no legal move, and the network knows no pass
            policy[row, PASS] += weight
            continue
        others = 0.0
        for i in range(empties):
            point = wide(board.empties[i])
            scratch[point] = exp(scratch[point] - highest)
            others += scratch[point]
        if logits.shape[2] > area:
            passing = exp(scratch[PASS] - highest)
            if caps_passing and others > 0.0:
                passing = min(passing, MOST_PASSING * others)
        else:
            passing = others * pass_prior / (1.0 - pass_prior)
        share = weight / (others + passing)
        policy[row, PASS] += share * passing
        for i in range(empties):
            point = wide(board.empties[i])
            policy[row, point] += share * scratch[point]


@kernel
def decode_ownership(
    to_play: IntArray,
    rows: IntArray,
    raw: FloatArray,
    cells: IntArray,
    symmetries: IntArray,
    weight: float,
    ownership: FloatArray,
) -> None:
    """Add `weight` times the hyperbolic tangent of `raw` [K, A], as Black's, to `ownership` [B, n]."""
    for k in range(rows.size):
        row = wide(rows[k])
        sign = weight if to_play[row] == BLACK else -weight
        for point in range(cells.shape[1]):
            cell = cells[symmetries[row], point]
            if cell >= 0:
                ownership[row, point] += sign * tanh(raw[k, cell])


@inlined_kernel
def _add_unknowns(row: int, weight: float, out: Evaluation) -> None:
    """Add `weight` times "unknown" to what not every network answers."""
    out.time_left[row] += weight * UNKNOWN
    out.winloss_error[row] += weight * UNKNOWN
    out.score_error[row] += weight * UNKNOWN


@spliced_kernel
def decode_value(to_play: IntArray, rows: IntArray, value: FloatArray, weight: float, out: Evaluation) -> None:
    """Add `weight` times the result of networks with one `value` [K, 1] from −1 (lost) to 1; there is nothing else."""
    for k in range(rows.size):
        row = wide(rows[k])
        win = (1.0 + value[k, 0]) / 2.0
        if to_play[row] != BLACK:
            win = 1.0 - win
        out.win_black[row] += weight * win
        out.loss_black[row] += weight * (1.0 - win)
        _add_unknowns(row, weight, out)


@kernel
def decode_katago_value(
    to_play: IntArray,
    rows: IntArray,
    value: FloatArray,
    misc: FloatArray,
    scales: FloatArray,
    version: int,
    can_be_void: bool,
    weight: float,
    out: Evaluation,
) -> None:
    """Add `weight` times the results of KataGo's networks: `value` [K, 3] and `misc` [K, 4 or 6] as in `metadata`.

    `scales` [6] are the multipliers in the order of `metadata.Scales`, `version` is the model version.  `can_be_void`
    tells whether the rules allow games without result; elsewhere that probability is left out.  Scores are means over
    all results, a game without one counting as 0.  `score_stdev` takes the mean of squares until `finish_rows`.
    """
    for k in range(rows.size):
        row = wide(rows[k])
        highest = max(value[k, 0], value[k, 1], value[k, 2])
        win, loss = exp(value[k, 0] - highest), exp(value[k, 1] - highest)
        void = exp(value[k, 2] - highest) if can_be_void else 0.0
        total = win + loss + void
        sign = 1.0
        if to_play[row] != BLACK:
            win, loss, sign = loss, win, -1.0
        has_result = 1.0 - void / total
        score = misc[k, 0] * scales[0]
        stdev = _softplus(misc[k, 1]) * scales[1]
        out.win_black[row] += weight * win / total
        out.loss_black[row] += weight * loss / total
        out.score_black[row] += weight * sign * score * has_result
        out.score_stdev[row] += weight * (score * score + stdev * stdev) * has_result
        out.lead_black[row] += weight * sign * misc[k, 2] * scales[2] * has_result
        if version < _HAS_TIME_LEFT:
            _add_unknowns(row, weight, out)
        else:
            out.time_left[row] += weight * _softplus(misc[k, 3]) * scales[3]
            out.winloss_error[row] += weight * _error(misc[k, 4], scales[4], 1.0, version)
            out.score_error[row] += weight * _error(misc[k, 5], scales[5], _OLD_SCORE_ERROR, version)


@inlined_kernel
def _error(raw: float, scale: float, old_scale: float, version: int) -> float:
    """Return an expected error, from what the network says and the way its version means that."""
    if version < _SCALES_ERRORS:
        return _softplus(raw) * old_scale
    if version < _SQUARES_ERRORS:
        return sqrt(_softplus(raw) * scale)
    return _softplus(0.5 * raw) * sqrt(scale)


@kernel
def finish_rows(rows: IntArray, out: Evaluation) -> int:
    """Turn means of squares into standard deviations; return how many rows hold anything that is no finite number."""
    broken = 0
    for k in range(rows.size):
        row = wide(rows[k])
        variance = out.score_stdev[row] - out.score_black[row] * out.score_black[row]
        out.score_stdev[row] = sqrt(max(0.0, variance))
        total = out.win_black[row] + out.loss_black[row] + variance + out.lead_black[row]
        total += out.time_left[row] + out.winloss_error[row] + out.score_error[row]
        for point in range(out.policy.shape[1]):
            total += out.policy[row, point] + out.ownership_black[row, point]
        broken += not isfinite(total)
    return broken
