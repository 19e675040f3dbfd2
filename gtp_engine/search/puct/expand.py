"""Expansion and backup: what an evaluated batch adds to the tree.  Kernels.

    expand_leaves   the evaluations of the leaves, and their edges with priors
    back_up         visits and means on the paths to the leaves
    mix_rollouts    in between, if wanted: mixes the results of rollouts into the evaluations, as in AlphaGo
    abandon         takes a batch back whose evaluation has not been waited for

The means of a node are recomputed from its children and its own evaluation at every backup (`update_means`).  With
equal weights this would be the mean over all playouts, which could as well be updated by adding one value.  Two
corrections of KataGo's (`recomputeNodeStats` in cpp/search/searchupdatehelpers.cpp) need all children at once:

- *Noise pruning.*  A child that has more than twice its share of the visits, compared with siblings of larger prior
  that did better, was explored in vain; most of the surplus is left out.
- *Value weighting.*  A child whose utility is below the mean by the standards of its own uncertainty counts less: its
  weight is multiplied by a power of the probability, by Student's t with 3 degrees of freedom, of a lower result.

The node's own evaluation is corrected by what the search has found out about such evaluations (`subtree_bias`).

At last the means are drawn towards what an earlier search found in the position, if it is remembered: while the node
has few visits compared with those of that search, almost to it (KataGo's `useEvalCache`).  So the refutation of a move
that was found in another line, or before a move was taken back, counts from the first visit on.

AlphaGo (Silver et al. 2016) evaluates a leaf by (1 − λ) times its value network and λ times the result of one rollout;
λ is `rollout_share`.  The search is handed a player of rollouts (`evaluation_thread.RolloutPlayer`) that plays out a
batch of leaves.  Final positions are counted by area, larger empty areas included, without the tax and the button that
rules may have.

Everything is Black's view, in float64 where it is summed up.  S is the number of positions of a batch.
"""

from math import atan, exp, pi, pow, sqrt
from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import Evaluation, board_of, no_result, value_black
from gtp_engine.go.area import TaxWork
from gtp_engine.go.board import HEIGHT, STRIDE, WIDTH, IntArray, is_legal
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.search.puct.cleanup import PHASE_PASSES, UNDECIDED, agreed_margin
from gtp_engine.search.puct.leaves import COLLISION, CYCLE, EVALUATE, TERMINAL, TRANSPOSITION, Leaves
from gtp_engine.search.puct.select import remove_virtual_visits
from gtp_engine.search.puct.subtree_bias import compare, mean_difference
from gtp_engine.search.puct.transpositions import REMEMBERED_VISITS, place_of
from gtp_engine.search.puct.tree import (
    EDGES,
    EXPANDED,
    LEAD,
    NEW,
    NO_RESULT,
    NODES,
    PENDING,
    ROOT,
    SCORE,
    SCORE_SQUARE,
    UNEXPANDABLE,
    UTILITY,
    UTILITY_SQUARE,
    VALUE,
    WEIGHT,
    WEIGHT_SQUARE,
    Tree,
    has_bias,
    has_edge_visits,
    promote_untried,
    visits_of_edge,
    weight_of_edge,
    write_post_order,
)
from gtp_engine.search.puct.tree_ownership import has_ownership, keep_owners, keep_ownership
from gtp_engine.search.puct.utility import Params, evaluation_weight, utility_of

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


_REPLACED: Final = 0.75
"""Visits, as a share of those remembered, from which on a search replaces what an earlier one found (KataGo's)."""


class MeansWork(NamedTuple):
    """Work arrays for the means of a node and for final positions; the padded length n exceeds any number of moves."""

    weights: Annotated[NDArray[np.float64], "n"]  # of the children of a node
    utilities: Annotated[NDArray[np.float64], "n"]  # of the children of a node, for the side to play there
    colors: Annotated[IntArray, "n"]
    tax: TaxWork


class Results(NamedTuple):
    """The final positions of rollouts from S positions; a rollout that was cut off has none."""

    finished: Annotated[NDArray[np.int8], "S"]  # 1 where the game came to an end
    margin: Annotated[NDArray[np.int64], "S"]  # Black's area less White's
    owner: Annotated[IntArray, "S", "n"]  # whose point it is: BLACK, WHITE or EMPTY


# --- the leaf ---


@inlined_kernel
def leaf_node(leaves: Leaves, row: int) -> int:
    """Return the node at the end of a row's path."""
    return wide(leaves.path[row, leaves.depth[row]])


@kernel
def _add_edges(tree: Tree, params: Params, leaves: Leaves, row: int, policy: NDArray[np.float32]) -> None:
    """Give the node at the end of a row's path an edge for every legal move, or none if the tree is full.

    `policy` is float32[S, n].
    """
    positions, slot, node = leaves.positions, wide(leaves.slot[row]), leaf_node(leaves, row)
    board, color = board_of(positions, slot, wide(0)), wide(positions.to_play[slot])
    area = wide(board.info[WIDTH]) * wide(board.info[HEIGHT])
    first = wide(tree.info[EDGES])
    if first + area + 1 > tree.move.size:
        tree.state[node] = UNEXPANDABLE
        return
    edge, stride = first, wide(board.info[STRIDE])
    for point in range(stride, stride + area + wide(board.info[HEIGHT])):
        if board.color[point] != EMPTY or positions.forbidden[slot, point] != 0:
            continue
        if is_legal(board, point, color, params.suicide):
            tree.move[edge] = point
            tree.prior[edge] = policy[slot, point]
            tree.child[edge] = 0
            edge += 1
    if has_edge_visits(tree):
        for place in range(first, edge + 1):
            tree.edge_visits[place] = 0
    tree.move[edge] = PASS
    tree.prior[edge] = policy[slot, PASS]
    tree.child[edge] = 0
    tree.info[EDGES] = edge + 1
    tree.first_edge[node] = first
    tree.edges[node] = edge + 1 - first
    tree.state[node] = EXPANDED
    promote_untried(tree, node)


@inlined_kernel
def write_own_values(
    tree: Tree, node: int, value: float, no_result: float, score: float, stdev: float, lead: float, params: Params
) -> None:
    """Write the evaluation of a node's position, Black's, without its weight; `stdev` is that of the score, points."""
    own = tree.own
    own[node, VALUE] = value
    own[node, NO_RESULT] = no_result
    own[node, SCORE] = score
    own[node, SCORE_SQUARE] = score * score + stdev * stdev
    own[node, LEAD] = lead
    own[node, UTILITY] = utility_of(value, no_result, score, stdev, params)


@kernel
def recompute_utilities(tree: Tree, root_color: int, params: Params, order: IntArray, work: MeansWork) -> None:
    """Recompute all utilities of a tree whose root is `root_color` to play, for the score centre in `params`.

    `order` (zeros, int32[4, nodes]) is work.
    """
    order[1, ROOT] = root_color
    for place in range(write_post_order(tree, order)):
        node = wide(order[0, place])
        if tree.visits[node] > 0:
            own = tree.own[node]
            score = np.float64(own[SCORE])
            stdev = sqrt(max(0.0, np.float64(own[SCORE_SQUARE]) - score * score))
            own[UTILITY] = utility_of(np.float64(own[VALUE]), np.float64(own[NO_RESULT]), score, stdev, params)
            update_means(tree, node, wide(order[1, node]), params, work)


@kernel
def write_network_evaluation(tree: Tree, node: int, evaluation: Evaluation, slot: int, params: Params) -> None:
    """Write the evaluation of a node's position by the evaluator, row `slot`."""
    score, stdev = np.float64(evaluation.score_black[slot]), np.float64(evaluation.score_stdev[slot])
    lead = np.float64(evaluation.lead_black[slot])
    value = value_black(evaluation, slot)
    write_own_values(tree, node, value, no_result(evaluation, slot), score, stdev, lead, params)
    winloss_error, score_error = evaluation.winloss_error[slot], evaluation.score_error[slot]
    weight = evaluation_weight(score, np.float64(winloss_error), np.float64(score_error), params)
    tree.own[node, WEIGHT] = weight


@inlined_kernel
def _value_of_margin(margin: float, params: Params) -> float:
    """Return the value, in [−1, 1], of a game won by Black by `margin` points (negative: lost)."""
    return 1.0 if margin > 0.0 else (-1.0 if margin < 0.0 else params.draw_value)


@spliced_kernel
def _write_result(tree: Tree, node: int, margin: float, params: Params) -> None:
    """Write the result of a game that is over at a node, won by Black by `margin` points (negative: lost)."""
    value, score = _value_of_margin(margin, params), margin + params.draw_points
    write_own_values(tree, node, value, 0.0, score, 0.0, score, params)
    tree.own[node, WEIGHT] = params.certain_weight


# --- rollouts ---


@kernel
def mix_rollouts(tree: Tree, params: Params, leaves: Leaves, evaluation: Evaluation, results: Results) -> None:
    """Mix the results of rollouts into the evaluations and the ownership of the leaves.

    A rollout that was cut off has no opinion: its leaf keeps the network's evaluation.
    """
    for row in range(wide(leaves.filled[0])):
        if wide(leaves.kind[row]) == EVALUATE:
            slot, komi = wide(leaves.slot[row]), params.komi - leaves.button[row]
            if results.finished[slot] == 0:
                if not params.has_ownership:
                    evaluation.ownership_black[slot, :] = 0.0
                continue
            if tree.visits[leaf_node(leaves, row)] == 0:  # a collapsed node keeps the mean of its former subtree
                _mix_value(tree, leaf_node(leaves, row), results.margin[slot] - komi, params)
            _mix_ownership(evaluation, slot, results.owner[slot], params)


@spliced_kernel
def _mix_value(tree: Tree, node: int, margin: float, params: Params) -> None:
    """Mix a game that Black wins by `margin` points (negative: loses) into the evaluation of a node."""
    value = _value_of_margin(margin, params)
    margin += params.draw_points
    share, own = params.rollout_share, tree.own
    network_share = 1.0 - share
    score = network_share * own[node, SCORE] + share * margin
    square = network_share * own[node, SCORE_SQUARE] + share * margin * margin
    mixed = network_share * own[node, VALUE] + share * value
    stdev = sqrt(max(0.0, square - score * score))
    lead = network_share * own[node, LEAD] + share * margin
    write_own_values(tree, node, mixed, network_share * own[node, NO_RESULT], score, stdev, lead, params)
    own[node, WEIGHT] = network_share * own[node, WEIGHT] + share


@spliced_kernel
def _mix_ownership(evaluation: Evaluation, slot: int, owner: IntArray, params: Params) -> None:
    """Mix the owners at the end of a rollout, int32[n] of colours, into the ownership of a slot."""
    for point in range(owner.size):
        mixed = params.rollout_share * (wide(owner[point] == BLACK) - wide(owner[point] == WHITE))
        if params.has_ownership:
            mixed += (1.0 - params.rollout_share) * evaluation.ownership_black[slot, point]
        evaluation.ownership_black[slot, point] = mixed


# --- the means of a node ---


@spliced_kernel
def _student_cdf(z: float) -> float:
    """Return the probability that a variable with Student's t distribution, 3 degrees of freedom, is below z."""
    x = z / sqrt(3.0)
    return 0.5 + (x / (1.0 + x * x) + atan(x)) / pi


@spliced_kernel
def _prune_noise(tree: Tree, first: int, count: int, params: Params, work: MeansWork) -> float:
    """Return the sum of the weights of the children, after removing most of what was spent in vain."""
    utility_sum, weight_sum, prior_sum = 0.0, 0.0, 0.0
    for i in range(count):
        prior = max(_LEAST_PRIOR, np.float64(tree.prior[first + i]))
        weight, utility = work.weights[i], work.utilities[i]
        if weight_sum > 0.0 and weight > 0.0:
            gap = utility_sum / weight_sum - utility
            surplus = weight - _LENIENCE * weight_sum * prior / prior_sum
            if gap > 0.0 and surplus > 0.0:
                weight -= min(params.noise_pruning_cap, surplus * (1.0 - exp(-gap / params.noise_pruning_scale)))
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
            total = _prune_noise(tree, first, count, params, work)
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
    if tree.remembered.key.size > 0 and node != ROOT:
        recall(tree, node, params)


@kernel
def recall(tree: Tree, node: int, params: Params) -> None:
    """Draw the means of a node towards what an earlier search found in its position, if that is remembered.

    Visits beyond the least that are remembered count as their geometric mean with it: nodes further down have been
    drawn already.
    """
    remembered, mean = tree.remembered, tree.mean
    key = tree.graph.key[node]
    if key == 0 or remembered.conditions[0] == 0:
        return
    key ^= remembered.conditions[0]
    place = wide(place_of(remembered, key))
    if remembered.key[place] != key:
        return
    found, least = remembered.found[place], 1.0 * params.remember_visits
    ratio = tree.visits[node] / sqrt(least * max(least, found[REMEMBERED_VISITS]))
    share = 1.0 / (1.0 + 3.0 * ratio * (1.0 + 2.0 * ratio * ratio))
    variance = max(0.0, mean[node, SCORE_SQUARE] - mean[node, SCORE] * mean[node, SCORE])
    for column in (VALUE, NO_RESULT, SCORE, LEAD):
        mean[node, column] += share * (found[column] - mean[node, column])
    mean[node, SCORE_SQUARE] = variance + mean[node, SCORE] * mean[node, SCORE]
    utility = utility_of(found[VALUE], found[NO_RESULT], found[SCORE], sqrt(variance), params)
    before = mean[node, UTILITY]
    mean[node, UTILITY] += share * (utility - before)
    mean[node, UTILITY_SQUARE] += mean[node, UTILITY] * mean[node, UTILITY] - before * before


@kernel
def remember(tree: Tree, least: int, skipped: int, first: int) -> None:
    """Remember what the search found in all positions from node `first` on with `least` visits but `skipped`."""
    remembered = tree.remembered
    for node in range(first, tree.info[NODES]):
        key = tree.graph.key[node]
        if key == 0 or tree.visits[node] < least or node == skipped:
            continue
        key ^= remembered.conditions[0]
        place = wide(place_of(remembered, key))
        found = remembered.found[place]
        if remembered.key[place] == key and tree.visits[node] < _REPLACED * found[REMEMBERED_VISITS]:
            continue
        remembered.key[place] = key
        for column in range(LEAD + 1):
            found[column] = tree.mean[node, column]
        found[REMEMBERED_VISITS] = tree.visits[node]


# --- the path ---


@spliced_kernel
def _back_up_path(tree: Tree, leaves: Leaves, row: int, params: Params, work: MeansWork) -> None:
    """Count a playout in the nodes on its path, from the leaf up to where it counts, and recompute their means."""
    color = wide(leaves.color[row])
    depth, counted_from = wide(leaves.depth[row]), wide(leaves.counted_from[row])
    for at in range(depth, -1, -1):
        node = wide(leaves.path[row, at])
        if at > 0:
            tree.virtual_visits[node] -= 1
        if counted_from <= at < depth and has_edge_visits(tree):
            tree.edge_visits[leaves.edges[row, at]] += 1
        if at >= counted_from and (at < depth or leaves.kind[row] != TRANSPOSITION):
            tree.visits[node] += 1
            update_means(tree, node, color, params, work)
        color = BLACK + WHITE - color


# --- the batch ---


@spliced_kernel
def _agreed_result(params: Params, leaves: Leaves, row: int, evaluation: Evaluation, work: MeansWork) -> float:
    """Return Black's margin in a row that two passes have ended under territory rules, UNDECIDED if that is open.

    Players would agree on dead stones, and its evaluation says which.
    """
    slot = wide(leaves.slot[row])
    if not params.has_ownership or params.rollout_share > 0.0:
        return UNDECIDED
    board, owned = board_of(leaves.positions, slot, wide(0)), evaluation.ownership_black[slot]
    return agreed_margin(board, owned, params.tax, work.tax, work.colors) - params.territory_komi


@kernel
def expand_leaves(tree: Tree, params: Params, leaves: Leaves, evaluation: Evaluation, work: MeansWork) -> None:
    """Write the evaluations of the leaves into the tree, and give their nodes edges."""
    for row in range(wide(leaves.filled[0])):
        if wide(leaves.kind[row]) != EVALUATE:
            continue
        node, slot = leaf_node(leaves, row), wide(leaves.slot[row])
        if tree.visits[node] == 0:  # a collapsed node keeps the mean of its former subtree
            write_network_evaluation(tree, node, evaluation, slot, params)
        if leaves.passes[row] >= PHASE_PASSES and leaves.depth[row] > 0 and not params.counts_area:
            margin = _agreed_result(params, leaves, row, evaluation, work)
            if tree.visits[node] == 0 and margin != UNDECIDED:
                _write_result(tree, node, margin, params)
            tree.state[node] = UNEXPANDABLE
        else:
            _add_edges(tree, params, leaves, row, evaluation.policy)


@kernel
def back_up(tree: Tree, params: Params, leaves: Leaves, evaluation: Evaluation, work: MeansWork) -> None:
    """Count the rows in the nodes on their paths, one after the other; the leaves keep their ownership."""
    for row in range(wide(leaves.filled[0])):
        kind, node = wide(leaves.kind[row]), leaf_node(leaves, row)
        if kind == COLLISION:  # its virtual visits have done their work
            remove_virtual_visits(tree, leaves, row)
            continue
        if kind == EVALUATE and has_ownership(tree):
            keep_ownership(tree, node, evaluation.ownership_black[leaves.slot[row]])
        elif kind == TERMINAL and tree.state[node] != UNEXPANDABLE:
            _write_result(tree, node, leaves.margin[row], params)
            tree.state[node] = UNEXPANDABLE
            if params.rollout_share > 0.0:
                keep_owners(tree, node, leaves.owner[row])
        elif kind == CYCLE:
            write_own_values(tree, node, 0.0, 1.0, 0.0, 0.0, 0.0, params)
            tree.own[node, WEIGHT] = params.certain_weight
            tree.state[node] = UNEXPANDABLE
        _back_up_path(tree, leaves, row, params, work)


@kernel
def expand_and_back_up(tree: Tree, params: Params, leaves: Leaves, evaluation: Evaluation, work: MeansWork) -> None:
    """Add a batch whose positions have been evaluated to the tree: expand, then back up.

    A search that mixes rollouts in calls the two kernels itself, with the mixing in between.  One kernel with a branch
    would make every first start compile the rollouts as well.
    """
    expand_leaves(tree, params, leaves, evaluation, work)
    back_up(tree, params, leaves, evaluation, work)


@kernel
def abandon(tree: Tree, leaves: Leaves) -> None:
    """Take a batch back as if it had not been selected."""
    for row in range(wide(leaves.filled[0])):
        remove_virtual_visits(tree, leaves, row)
        node = leaves.path[row, leaves.depth[row]]
        if leaves.kind[row] == EVALUATE and tree.state[node] == PENDING:
            tree.state[node] = NEW
