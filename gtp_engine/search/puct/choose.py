"""The order of the root's moves, from their visits and utilities.

Mostly the move with the most (weighted) visits is best, with three corrections of KataGo's (`getPlaySelectionValues` in
cpp/search/searchresults.cpp): visits that a move would not get again, now that its utility is known, are subtracted;
the move with the best lower confidence bound, `lcb_stdevs` standard deviations below its mean, is preferred as far as
that evidence goes; and moves with hardly any visits do not count.

Two things may change the choice.  Under territory rules the pass can be ruled out while neutral points (dame) are left:
filling them earns nothing there, but it is what people expect, and at the end it shows which groups still need a move.
The rule and its numbers are KataGo's (`shouldSuppressPass` in cpp/search/searchhelpers.cpp).  And a human-like policy
can be mixed with the weights of the search: a move that is worse than the best becomes less likely by e for each
`human_pikl_lambda` of utility; the name is that of the method, piKL (Jacob et al. 2022), search regularised towards an
imitation of people.  Formulas from KataGo 1.17 (`getPlaySelectionValues` again).
"""

from math import sqrt
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config import HumanConfig, PuctConfig
from gtp_engine.go.constants import BLACK, PASS
from gtp_engine.search.puct.expected_line import PRIOR_SHARE, deviation
from gtp_engine.search.puct.leaves import Root
from gtp_engine.search.puct.select import exploration
from gtp_engine.search.puct.tree import LEAD, ROOT, SCORE, UTILITY, WEIGHT, WEIGHT_SQUARE, Tree, edge_visits
from gtp_engine.search.puct.utility import Params, utility_radius

Floats = NDArray[np.float64]

_LARGEST_GAIN: Final = 5.0
"""Largest factor on a move's standard deviations in the preference for the best lower bound (KataGo's)."""

_LEAST_SHARE: Final = 1.0 / 64.0
"""Share of the best move's visits below which moves may be pruned, and which may be subtracted at most (KataGo's)."""

_GREEDY: Final = 1e-4
"""Temperature up to which the best move is chosen (KataGo's)."""

_OWNED: Final = 0.95
"""Ownership from which a point counts as settled."""

_UTILITY_LOSS: Final = 0.1
_POINTS_LOSS: Final = 0.5
"""How much worse than the pass, in utility and in expected points, another move may be."""

_ENOUGH_VISITS: Final = 500
"""Visits above which a move has been searched enough to be compared with the pass, whatever that has; below, its weight
has to be more than twice the root of the pass's."""

_TINY: Final = 1e-50


class RootMoves(NamedTuple):
    """Moves of the root, k of them, as columns; those of edges without visits have no weight."""

    nodes: NDArray[np.int64]  # [k] ROOT if the move was not tried
    points: NDArray[np.int64]  # [k] or PASS
    priors: Floats  # [k] as the search used them
    visits: NDArray[np.int64]  # [k] of the edges
    means: Floats  # [k, MEAN_COLUMNS], the weights those of the edges
    utilities: Floats  # [k] for the side to play, with the ending bonus if the move was tried
    radius: Floats  # [k] `lcb_stdevs` standard deviations


def root_moves(tree: Tree, root: Root, params: Params, config: PuctConfig, *, tried: bool = True) -> RootMoves:
    """Return the root's moves whose nodes have visits and that are not left out.

    Without `tried` it is all others that are not left out, with the root's own means but no weight.
    """
    edges = np.arange(tree.first_edge[ROOT], tree.first_edge[ROOT] + tree.edges[ROOT])
    children = tree.child[edges]  # ROOT where the edge leads to none
    has_visits = (children != ROOT) & (tree.visits[children] > 0)
    edges = edges[(has_visits == tried) & (root.avoid_until[root.color, tree.move[edges]] <= 0)]
    nodes = tree.child[edges].astype(np.int64) if tried else np.full(edges.size, ROOT)
    points = tree.move[edges].astype(np.int64)
    visits = edge_visits(tree, edges) if tried else np.zeros(edges.size, dtype=np.int64)
    means = tree.mean[nodes]
    means[:, [WEIGHT, WEIGHT_SQUARE]] *= (visits / tree.visits[nodes])[:, np.newaxis]  # 1 unless edges have their own
    sign, largest = 1.0 if root.color == BLACK else -1.0, utility_radius(params)
    return RootMoves(
        nodes=nodes,
        points=points,
        priors=tree.prior[edges].astype(np.float64),
        visits=visits,
        means=means,
        utilities=sign * (means[:, UTILITY] + (root.bonus[points] if tried else 0.0)),
        radius=config.lcb_stdevs * np.array([deviation(mean, 1.0, largest) for mean in means]),
    )


def selection_weights(
    moves: RootMoves, tree: Tree, params: Params, config: PuctConfig, *, without_pass: bool = False, lcb: bool = True
) -> Floats:
    """Return the corrected weight of each move, [k], in visits; the largest is the move to play.  k must not be 0.

    Optionally the pass has weight 0, unless it is the only move, and no lower bound is preferred.
    """
    weights = moves.means[:, WEIGHT].copy()
    total = float(weights.sum())
    if without_pass:
        weights[moves.points == PASS] = 0.0
    explored = weights * np.maximum(0, moves.visits - 1) / np.maximum(1, moves.visits) + PRIOR_SHARE * moves.priors
    best = int(np.argmax(explored))
    most = float(weights[best])
    weights = _reduced_in_retrospect(moves, weights, best, exploration(tree, ROOT, total, params))
    if config.lcb and lcb:
        _prefer_best_lower_bound(moves, weights, config.lcb_min_share * most)
    return pruned(weights if weights.max() > 0.0 else moves.priors, config)


def pruned(weights: Floats, config: PuctConfig) -> Floats:
    """Return weights, [k], less `choice_subtract`, and 0 where they are below `choice_prune`."""
    most = float(weights.max()) * _LEAST_SHARE
    remaining: Floats = np.maximum(0.0, weights - min(config.choice_subtract, most))
    remaining[weights < min(config.choice_prune, most)] = 0.0
    return remaining


def _reduced_in_retrospect(moves: RootMoves, weights: Floats, best: int, scaling: float) -> Floats:
    """Return the weights that moves would get now that their utilities are known, none larger than before."""
    reached = scaling * moves.priors[best] / (1.0 + weights[best]) + moves.utilities[best]
    gap = reached - moves.utilities
    with np.errstate(divide="ignore", invalid="ignore"):
        deserved = np.where(gap > 0.0, np.maximum(0.0, scaling * moves.priors / gap - 1.0), np.inf)
    reduced = np.ceil(np.minimum(weights, deserved))
    reduced[best] = weights[best]
    return reduced


def _prefer_best_lower_bound(moves: RootMoves, weights: Floats, least: float) -> None:
    """Raise the weight of the move with the best lower bound among those with the weight `least` at least.

    For another move to have as good a bound, its standard deviation would have to be larger by some factor.  Standard
    deviations fall with the root of the visits, so the best move deserves the square of that factor times the visits of
    the other.
    """
    lcb = moves.utilities - moves.radius
    eligible = (weights > 0.0) & (weights >= least)
    if not eligible.any():
        return
    best = int(np.argmax(np.where(eligible, lcb, -np.inf)))
    excess = lcb[best] - lcb
    factor = (moves.radius + excess) / (moves.radius + excess / _LARGEST_GAIN)
    deserved = np.where(excess > 0.0, factor * factor * weights, 0.0)
    weights[best] = max(float(weights[best]), float(deserved.max()))


def draw(weights: Floats, temperature: float, below: float, random: np.random.Generator) -> int:
    """Return the index of a move drawn with its chance; the best one without random numbers if no other has any.

    Where every weight is 0, as the priors of moves without visits may be, it is the first one.
    """
    if (temperature <= _GREEDY and below >= 1.0) or weights.max() <= 0.0:
        return int(np.argmax(weights))
    return int(random.choice(weights.size, p=chances(weights, temperature, below)))


def chances(weights: Floats, temperature: float, below: float) -> Floats:
    """Return the probability of each move: in proportion to weight^(1/temperature).

    Of the moves with more than the share `below` of all weight, in proportion to their weight; both parts meet at that
    share.  KataGo's (`chooseIndexWithTemperature` in cpp/search/searchhelpers.cpp).
    """
    most = float(weights.max())
    threshold = min(1.0, below * float(weights.sum()) / most)
    relative = weights / most
    share = np.minimum(1.0, relative / max(threshold, _TINY))
    flattened = threshold * share ** (1.0 / max(temperature, _GREEDY))
    result: Floats = np.where(relative > threshold, relative, flattened)
    result /= result.sum()
    return result


# --- neutral points ---


def passes_too_early(moves: RootMoves, color: int, ownership_black: NDArray[np.float32], stride: int) -> bool:
    """Return whether another of the root's moves for `color` is as good as the pass, under territory rules.

    Moves far from settled points of its own, in settled territory of the opponent, do not count.  `ownership_black`,
    float32[n], is the network's for the root; `stride` is the difference of points one below the other.
    """
    at_pass = np.flatnonzero((moves.points == PASS) & (moves.visits > 0))
    if at_pass.size == 0:
        return False
    passing = moves.means[at_pass[0]]
    sign = 1.0 if color == BLACK else -1.0
    owned = sign * ownership_black
    for mean, point, visits in zip(moves.means, moves.points.tolist(), moves.visits.tolist(), strict=True):
        neighbors = [point - 1, point + 1, point - stride, point + stride]
        if point == PASS or (owned[point] < -_OWNED and not np.any(owned[neighbors] > _OWNED)):
            continue
        gain = sign * (mean - passing)
        is_searched = visits > _ENOUGH_VISITS or mean[WEIGHT] > 2.0 * sqrt(passing[WEIGHT])
        if is_searched and gain[UTILITY] > -_UTILITY_LOSS and min(gain[SCORE], gain[LEAD]) > -_POINTS_LOSS:
            return True
    return False


# --- the choice of a move as people play ---


def human_weights(
    weights: Floats, utilities: Floats, human: Floats, points: NDArray[np.int64], config: HumanConfig
) -> Floats:
    """Return the weights [k] that moves are chosen by: those of the search with the configured share of people's.

    `weights` [k] are in visits, `utilities` [k] those for the side to play, `human` [k] probabilities of the human-like
    policy, 0 where a move must not be chosen by it; `points` [k] are the moves.
    """
    is_played = human > 0.0
    if not is_played.any():
        return weights
    # The policy tilted towards moves of high utility, its sum 1.
    behind, scale = np.minimum(0.0, utilities - utilities[is_played].max()), config.human_pikl_lambda
    shares: Floats = human * (np.exp(behind / scale) if scale > 0.0 else behind >= 0.0)
    shares /= shares.sum()
    total, is_pass = float(weights.sum()), points == PASS
    others = float(shares[~is_pass].sum())
    if config.human_ignore_pass and total > 0.0 and others > 0.0:  # people would play anything else
        of_search = weights / total
        shares = np.where(is_pass, of_search, shares * (1.0 - float(of_search[is_pass].sum())) / others)
    return weights + config.human_move_share * (total * shares - weights)
