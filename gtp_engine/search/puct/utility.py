"""What a search maximises: winning, and on top of it a little for the score.  Kernels; all values are Black's.

    utility = W (win − loss) + N no result + S f(score; 0, 2 b) + D f(score; c, s b)

with f(x; c, s) = 2/π E[atan((x − c) / s)]; W is 1 and N is 0 unless configured otherwise, b is the side of the board in
points (the root of its area), c the score that the root expects, drawn towards 0, and x normally distributed with the
mean and deviation that the network predicts.  So a point counts most near c, where the game is, and hardly at all far
from there.  The form and its constants are KataGo's (Wu, "Accelerating Self-Play Learning in Go", 2019, section on
score maximization; `ScoreValue` in cpp/neuralnet/nninputs.cpp).
"""

from math import atan, exp, pi, pow, sqrt
from typing import Final, NamedTuple

from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel

STATIC_SCALE: Final = 2.0
"""Points, per point of the board's side, by which the score has to change to count, seen from 0 (KataGo's)."""

_STEP: Final = 0.25
_REACH: Final = 16
_DENSITY: Final = tuple(exp(-0.5 * (_STEP * i) ** 2) for i in range(-_REACH, _REACH + 1))
_TOTAL_DENSITY: Final = sum(_DENSITY)
"""The mean over the normal distribution is taken at steps of a quarter of a deviation up to four deviations away; finer
steps change it by less than 10⁻³ while the deviation is at most three times s."""

_CERTAIN: Final = 0.1
"""Points; for a score with a smaller deviation the mean over the distribution is f of the score itself."""


class Params(NamedTuple):
    """The parameters of a search, as scalars for kernels; without a comment, as in `PuctConfig`."""

    c_puct: float
    c_puct_log: float
    c_puct_base: float
    utility_stdev_prior: float
    utility_stdev_prior_weight: float
    utility_stdev_scale: float
    fpu_reduction: float
    root_fpu_reduction: float
    fpu_parent_by_policy: bool
    fpu_parent_power: float
    fpu_parent_weight: float
    fpu_loss: float
    root_fpu_loss: float
    root_child_visits: float
    futile_visits: float
    visits_left: float  # until the search ends
    virtual_weight: float
    value_weight_exponent: float
    noise_pruning_scale: float
    noise_pruning_cap: float
    subtree_bias: float
    subtree_bias_exponent: float
    graph_search_bound: int
    graph_search_leak: float
    remember_visits: int
    uncertainty: float
    uncertainty_exponent: float
    uncertainty_max_weight: float
    static_weight: float
    static_scale: float  # points
    dynamic_weight: float
    dynamic_scale: float  # points
    dynamic_center: float  # points for Black
    wide_root_noise: float  # as in `Limits`
    win_weight: float
    no_result_utility: float  # Black's
    draw_value: float  # Black's of a drawn game, in [−1, 1]
    draw_points: float  # for Black at the end of a game that may be drawn
    rollout_share: float
    max_depth: int  # moves, at most leaves.MAX_DEPTH
    certain_weight: float  # weight of a result by the rules, which is certain
    has_ownership: bool  # whether the evaluator has ownership
    komi: float  # points White gets beside the area (`Game.area_komi`)
    territory_komi: float  # points White gets beside territory: komi and the handicap bonus
    counts_area: bool  # whether passes end the game inside the search, which counts area then
    friendly_pass: bool  # as in Conditions
    more_passing_hacks: bool
    tax: int  # as in Conditions
    superko: int  # as in Conditions
    suicide: bool  # as in Conditions


class HumanExploration(NamedTuple):
    """How a search explores by a human-like policy (`select`), as scalars for kernels: options of `HumanConfig`.

    Not among `Params`, which are copied for each call of kernels that do not need these.
    """

    human_c_puct: float  # a
    human_c_puct_permanent: float  # b
    human_root_weightless: float
    human_root_weightful: float
    human_own_weightless: float
    human_own_weightful: float
    human_opponent_weightless: float
    human_opponent_weightful: float


@inlined_kernel
def utility_radius(params: Params) -> float:
    """Return the largest possible utility."""
    return params.win_weight + params.static_weight + params.dynamic_weight


@kernel
def expected_score_value(score: float, stdev: float, center: float, scale: float) -> float:
    """Return f of the module's docstring, in [−1, 1]; all in points."""
    if stdev < _CERTAIN:
        return atan((score - center) / scale) * (2.0 / pi)
    total = 0.0
    for i in range(2 * _REACH + 1):
        total += _DENSITY[i] * atan((score + _STEP * (i - _REACH) * stdev - center) / scale)
    return total / _TOTAL_DENSITY * (2.0 / pi)


@spliced_kernel
def utility_of(value: float, no_result: float, score: float, stdev: float, params: Params) -> float:
    """Return the utility of win − loss, the probability of a game without result, and a score (see `score_utility`)."""
    result = params.win_weight * value + params.no_result_utility * no_result
    return result + score_utility(score, stdev, params)


@spliced_kernel
def score_utility(score: float, stdev: float, params: Params) -> float:
    """Return what a score with this mean and deviation, points, adds to the utility."""
    utility = 0.0
    if params.static_weight > 0.0:
        utility += params.static_weight * expected_score_value(score, stdev, 0.0, params.static_scale)
    if params.dynamic_weight > 0.0:
        share = expected_score_value(score, stdev, params.dynamic_center, params.dynamic_scale)
        utility += params.dynamic_weight * share
    return utility


@inlined_kernel
def _slope(score: float, center: float, scale: float) -> float:
    """Return how much f grows with a point of score, for a deviation of 0."""
    return 2.0 / pi * scale / (scale * scale + (score - center) * (score - center))


@kernel
def utility_per_point(score: float, params: Params) -> float:
    """Return how much the utility grows with a point of score."""
    static = params.static_weight * _slope(score, 0.0, params.static_scale)
    return static + params.dynamic_weight * _slope(score, params.dynamic_center, params.dynamic_scale)


@spliced_kernel
def evaluation_weight(score: float, winloss_error: float, score_error: float, params: Params) -> float:
    """Return how many visits an evaluation counts for, given its expected errors (−1: not predicted, it counts once).

    A network that expects its evaluation to change within a few moves is in the middle of a fight (KataGo's
    "uncertainty-weighted MCTS playouts", docs/KataGoMethods.md).
    """
    if params.uncertainty <= 0.0 or winloss_error < 0.0:
        return 1.0
    error = params.win_weight * winloss_error + utility_per_point(score, params) * max(0.0, score_error)
    least = params.uncertainty / params.uncertainty_max_weight
    return params.uncertainty / (pow(error, params.uncertainty_exponent) + least)


@spliced_kernel
def utility_stdev(mean: float, mean_square: float, weight: float, params: Params) -> float:
    """Return the standard deviation of the utility below a node, a prior assumption mixed in."""
    if weight <= 1.0:
        return params.utility_stdev_prior
    square = mean * mean
    prior = params.utility_stdev_prior_weight * (square + params.utility_stdev_prior * params.utility_stdev_prior)
    known = weight * max(square, mean_square)
    return sqrt(max(0.0, (prior + known) / (params.utility_stdev_prior_weight + weight - 1.0) - square))
