"""From a network's raw outputs to what an `Evaluation` holds: kernels.

A network's outputs are those of the side to move, on the board in one of its symmetries.  Here illegal moves are left
out, logits become probabilities, multiples become points, the view becomes Black's, and the symmetry is undone.  What
the outputs are is written in `metadata`; the formulas are those of KataGo's neuralnet/nneval.cpp.

Evaluations in several symmetries are averaged: each call adds its share, `weight`, to rows that have been set to 0, and
`finish_rows` completes them.

Letters: K rows went through the network, `rows` int32[K] lists them among the B rows of the batch; n is the padded
length of a board, A = H·W its points, S the number of its symmetries, P that of the network's policies.
"""

from math import exp, isfinite, log1p, sqrt, tanh
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import SIMPLE_KO, Evaluation, FloatArray, Positions, board_of, conditions_of_row
from gtp_engine.go.board import EMPTY_COUNT, HEIGHT, WIDTH, IntArray, is_legal
from gtp_engine.go.constants import BLACK, PASS

UNKNOWN: Final = -1.0
"""Time left and errors of a network without these outputs."""

MOST_PASSING: Final = 19.0
"""With passing hacks, passing gets at most this many times the probability of all other moves together, so that a
search keeps trying them (KataGo's enablePassingHacks)."""

_HAS_TIME_LEFT: Final = 9
"""KataGo's first model version with usable outputs for time left and errors."""
_SCALES_ERRORS: Final = 10
_SQUARES_ERRORS: Final = 14
"""First versions whose errors are roots of scaled variances, and of scaled squares."""
_OLD_SCORE_ERROR: Final = 10.0
"""Points; what the score error of version 9 is multiplied by."""


class EncodedRows(NamedTuple):
    """Rows as they went through a network, and the share that its outputs have in their evaluation."""

    rows: IntArray  # [K] their numbers in the batch
    cells: IntArray  # [S, n] `symmetry.cell_table`
    symmetries: IntArray  # [K] in which they were encoded
    weight: float  # 1 divided by the number of symmetries that are averaged
    scratch: FloatArray  # [n] work array


@inlined_kernel
def _softplus(x: float) -> float:
    """Return log(1 + eˣ), without overflow."""
    return max(x, 0.0) + log1p(exp(-abs(x)))


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
    encoded: EncodedRows,
    logits: FloatArray,
    optimism: float,
    temperature: float,
    pass_prior: float,
    policy: FloatArray,
) -> None:
    """Add `weight` times the policy of each row to `policy` [B, n].

    `logits` is [K, P, A + 1], or [K, P, A] of a network that cannot pass: there passing gets `pass_prior`, or 1 where
    nothing else is legal.  They are divided by `temperature`; `optimism` is the share of the optimistic policy, where
    there is one.  Illegal moves get 0.
    """
    scratch = encoded.scratch
    for k in range(encoded.rows.size):
        row = wide(encoded.rows[k])
        board, conditions = board_of(positions, row, wide(0)), conditions_of_row(positions, row)
        area = wide(board.info[WIDTH]) * wide(board.info[HEIGHT])
        empties = wide(board.info[EMPTY_COUNT])
        color, symmetry = wide(positions.to_play[row]), wide(encoded.symmetries[k])
        scratch[PASS] = -np.inf
        if logits.shape[2] > area:
            scratch[PASS] = _mixed_logit(logits, k, area, optimism) / temperature
        highest = float(scratch[PASS])
        for i in range(empties):
            point = wide(board.empties[i])
            scratch[point] = -np.inf
            if positions.forbidden[row, point] == 0 and is_legal(board, point, color, conditions.suicide):
                cell = wide(encoded.cells[symmetry, point])
                scratch[point] = _mixed_logit(logits, k, cell, optimism) / temperature
                highest = max(highest, float(scratch[point]))
        if highest == -np.inf:  # no legal move, and no output for passing
            policy[row, PASS] += encoded.weight
            continue
        others = 0.0
        for i in range(empties):
            point = wide(board.empties[i])
            scratch[point] = exp(scratch[point] - highest)
            others += scratch[point]
        if logits.shape[2] > area:
            passing = exp(scratch[PASS] - highest)
            if conditions.passing_hacks and others > 0.0:
                passing = min(passing, MOST_PASSING * others)
        else:
            passing = others * pass_prior / (1.0 - pass_prior)
        share = encoded.weight / (others + passing)
        policy[row, PASS] += share * passing
        for i in range(empties):
            point = wide(board.empties[i])
            policy[row, point] += share * scratch[point]


@kernel
def decode_ownership(to_play: IntArray, encoded: EncodedRows, raw: FloatArray, ownership: FloatArray) -> None:
    """Add `weight` times the hyperbolic tangent of `raw` [K, A], as Black's, to `ownership` [B, n]."""
    for k in range(encoded.rows.size):
        row = wide(encoded.rows[k])
        sign = encoded.weight if to_play[row] == BLACK else -encoded.weight
        for point in range(encoded.cells.shape[1]):
            cell = encoded.cells[encoded.symmetries[k], point]
            if cell >= 0:
                ownership[row, point] += sign * tanh(raw[k, cell])


@inlined_kernel
def _add_unknowns(row: int, weight: float, out: Evaluation) -> None:
    """Add `weight` times UNKNOWN to the fields that not every network has outputs for."""
    out.time_left[row] += weight * UNKNOWN
    out.winloss_error[row] += weight * UNKNOWN
    out.score_error[row] += weight * UNKNOWN


@spliced_kernel
def decode_value(to_play: IntArray, encoded: EncodedRows, value: FloatArray, out: Evaluation) -> None:
    """Add `weight` times the result of networks whose only output is `value` [K, 1] from −1 (lost) to 1."""
    weight = encoded.weight
    for k in range(encoded.rows.size):
        row = wide(encoded.rows[k])
        win = (1.0 + value[k, 0]) / 2.0
        if to_play[row] != BLACK:
            win = 1.0 - win
        out.win_black[row] += weight * win
        out.loss_black[row] += weight * (1.0 - win)
        _add_unknowns(row, weight, out)


@kernel
def decode_katago_value(
    positions: Positions,
    encoded: EncodedRows,
    value: FloatArray,
    misc: FloatArray,
    scales: FloatArray,
    version: int,
    out: Evaluation,
) -> None:
    """Add `weight` times the results of KataGo's networks: `value` [K, 3] and `misc` [K, 4 or 6] as in `metadata`.

    `scales` [6] are the multipliers in the order of `metadata.Scales`, `version` is that of the model.  The probability
    of no result is left out where the rules do not allow one.  Scores are means over all results, a game without one
    counting as 0.  `score_stdev` holds the mean of squares until `finish_rows`.
    """
    weight = encoded.weight
    for k in range(encoded.rows.size):
        row = wide(encoded.rows[k])
        highest = max(value[k, 0], value[k, 1], value[k, 2])
        win, loss = exp(value[k, 0] - highest), exp(value[k, 1] - highest)
        conditions = conditions_of_row(positions, row)
        can_be_void = conditions.superko == SIMPLE_KO or conditions.territory
        void = exp(value[k, 2] - highest) if can_be_void else 0.0
        total = win + loss + void
        sign = 1.0
        if positions.to_play[row] != BLACK:
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
    """Return an expected error from a raw output, whose meaning depends on the model version."""
    if version < _SCALES_ERRORS:
        return _softplus(raw) * old_scale
    if version < _SQUARES_ERRORS:
        return sqrt(_softplus(raw) * scale)
    return _softplus(0.5 * raw) * sqrt(scale)


@kernel
def finish_rows(rows: IntArray, out: Evaluation) -> int:
    """Turn means of squares into standard deviations; return how many rows hold NaN or infinity."""
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
