"""The means of a node, recomputed from its children and its own evaluation at every backup.  Kernels.

With equal weights this would be the mean over all playouts, which could as well be updated by adding one value.  Two
corrections of KataGo's (`recomputeNodeStats` in cpp/search/searchupdatehelpers.cpp) need all children at once:

- *Noise pruning.*  A child that has more than twice its share of the visits, compared with siblings of larger prior
  that did better, was explored in vain; most of the surplus is left out.
- *Value weighting.*  A child whose utility is below the mean by the standards of its own uncertainty counts less: its
  weight is multiplied by a power of the probability, by Student's t with 3 degrees of freedom, of a lower result.

The node's own evaluation is corrected by what the search has found out about such evaluations (`subtree_bias`).

Means, sums and weights are float64, all of them Black's view.
"""

from math import atan, exp, pi, pow, sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine._jit import kernel, spliced_kernel, wide
from gtp_engine.go.constants import BLACK
from gtp_engine.search.puct.subtree_bias import compare, mean_difference
from gtp_engine.search.puct.tree import (
    UTILITY,
    UTILITY_SQUARE,
    WEIGHT,
    WEIGHT_SQUARE,
    Tree,
    has_bias,
    visits_of_edge,
    weight_of_edge,
)
from gtp_engine.search.puct.utility import Params

_LENIENCE: Final = 2.0
"""Multiple of its share of the visits that a child may have before noise pruning reduces it (KataGo's)."""

_LEAST_PRIOR: Final = 1e-30
"""Prior a child is taken to have at least in that comparison."""

_VISITS_PER_VARIANCE: Final = 1.5
"""A child's utility is taken to have the variance 1 / (1.5 sqrt(weight)) in value weighting (KataGo's)."""

_FAST_EXPONENT: Final = 0.25
"""The default exponent of value weighting; two square roots compute it faster than `pow`."""

_LEAST_VARIANCE: Final = 1e-8
_LEAST_CHANCE: Final = 1e-4
"""Added to that variance and to the probability, so that neither vanishes (KataGo's)."""


class MeansWork(NamedTuple):
    """Work arrays; m is the most moves a position can have."""

    weights: NDArray[np.float64]  # [m] of the children of a node
    utilities: NDArray[np.float64]  # [m] of the children of a node, for the side to play there


def new_means_work(moves: int) -> MeansWork:
    """Return work arrays for positions with at most this many moves."""
    return MeansWork(np.zeros(moves), np.zeros(moves))


@spliced_kernel
def _student_cdf(z: float) -> float:
    """Return the probability that a variable with Student's t distribution, 3 degrees of freedom, is below z."""
    x = z / sqrt(3.0)
    return 0.5 + (x / (1.0 + x * x) + atan(x)) / pi


@spliced_kernel
def _prune_noise(tree: Tree, first: int, count: int, scale: float, work: MeansWork) -> float:
    """Return the sum of the weights of the children, after removing most of what was spent in vain."""
    utility_sum, weight_sum, prior_sum = 0.0, 0.0, 0.0
    for i in range(count):
        prior = max(_LEAST_PRIOR, np.float64(tree.prior[first + i]))
        weight, utility = work.weights[i], work.utilities[i]
        if weight_sum > 0.0 and weight > 0.0:
            gap = utility_sum / weight_sum - utility
            surplus = weight - _LENIENCE * weight_sum * prior / prior_sum
            if gap > 0.0 and surplus > 0.0:
                weight -= surplus * (1.0 - exp(-gap / scale))
                work.weights[i] = weight
        if weight > 0.0:
            utility_sum += utility * weight
            weight_sum += weight
            prior_sum += prior
    return weight_sum


@spliced_kernel
def _weight_by_value(count: int, total: float, exponent: float, work: MeansWork) -> None:
    """Shift weight away from children that are worse than the mean; the sum stays `total`."""
    mean = 0.0
    for i in range(count):
        mean += work.utilities[i] * work.weights[i]
    mean /= total
    new_total = 0.0
    for i in range(count):
        weight = work.weights[i]
        if weight > 0.0:
            stdev = sqrt(_LEAST_VARIANCE + 1.0 / (_VISITS_PER_VARIANCE * sqrt(weight)))
            chance = _student_cdf((work.utilities[i] - mean) / stdev) + _LEAST_CHANCE
            work.weights[i] = weight * (sqrt(sqrt(chance)) if exponent == _FAST_EXPONENT else pow(chance, exponent))
            new_total += work.weights[i]
    for i in range(count):
        work.weights[i] *= total / new_total


@spliced_kernel
def _corrected_utility(
    tree: Tree, node: int, count: int, sign: float, total: float, explored: float, params: Params, work: MeansWork
) -> float:
    """Return the utility of a node's own evaluation, corrected by the bias of its bucket, which is brought up to date.

    `work` holds the weights, with the sum `total`, and the utilities of its `count` children; `explored` is what their
    weights were before noise was pruned.
    """
    utility = np.float64(tree.own[node, UTILITY])
    if not has_bias(tree) or tree.bias.bucket[node] == 0:
        return utility
    if total > 0.0:
        below = 0.0
        for i in range(count):
            below += work.weights[i] * work.utilities[i]
        compare(tree.bias, node, sign * below / total - utility, explored, params.subtree_bias_exponent)
    return utility + params.subtree_bias * mean_difference(tree.bias, node)


@kernel
def update_means(tree: Tree, node: int, color: int, params: Params, work: MeansWork) -> None:
    """Compute the means of a node with `color` to play, whose children and `visits` are up to date.

    Visits that went to no child are the node's own: the one that expanded it, and every revisit of a leaf.
    """
    first, count = wide(tree.first_edge[node]), wide(tree.tried[node])
    mean, own = tree.mean, tree.own
    sign = 1.0 if color == BLACK else -1.0
    own_visits, total, with_weight = wide(tree.visits[node]), 0.0, 0
    for i in range(count):
        child = wide(tree.child[first + i])
        work.weights[i] = weight_of_edge(tree, first + i)
        work.utilities[i] = sign * mean[child, UTILITY]
        own_visits -= visits_of_edge(tree, first + i)
        total += work.weights[i]
        with_weight += wide(work.weights[i] > 0.0)
    explored = total
    if with_weight > 1:
        if params.noise_pruning_scale > 0.0:
            total = _prune_noise(tree, first, count, params.noise_pruning_scale, work)
        if params.value_weight_exponent > 0.0:
            _weight_by_value(count, total, params.value_weight_exponent, work)
    utility = _corrected_utility(tree, node, count, sign, total, explored, params, work)
    weight = own_visits * np.float64(own[node, WEIGHT])  # `own` is float32; products and sums must not be
    total += weight
    for column in range(WEIGHT):
        mean[node, column] = weight * own[node, column]
    mean[node, UTILITY] = weight * utility
    mean[node, UTILITY_SQUARE] = weight * utility * utility
    mean[node, WEIGHT] = total
    mean[node, WEIGHT_SQUARE] = weight * own[node, WEIGHT]
    for i in range(count):
        child, weight = wide(tree.child[first + i]), work.weights[i]
        if weight > 0.0:
            for column in range(WEIGHT):
                mean[node, column] += weight * mean[child, column]
            mean[node, UTILITY_SQUARE] += weight * mean[child, UTILITY_SQUARE]
            share = weight / mean[child, WEIGHT]
            mean[node, WEIGHT_SQUARE] += share * share * mean[child, WEIGHT_SQUARE]
    for column in range(WEIGHT):
        mean[node, column] /= total
    mean[node, UTILITY_SQUARE] /= total
