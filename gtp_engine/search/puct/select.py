"""Selection: walking down the tree to a leaf, and a batch of such walks.  Kernels.

At a node whose tried moves have the weights w (visits, weighted), W their sum, the side to play takes the move with the
largest

    u + C sqrt(W + ε) p / (1 + w),   C = (c + c_log ln((W + c_base) / c_base)) (1 + s (d / d₀ − 1))

with p the prior, u the mean utility for that side and d the standard deviation of the utility below the node (PUCT:
Rosin 2011, Silver et al. 2016; growth of C: Silver et al. 2018; the factor with d and all constants: KataGo,
`cpp/search/searchexplorehelpers.cpp`).  For a move not tried yet, u is the node's own utility less a reduction
that grows with the root of the prior tried so far (first-play urgency); all untried moves have the same u, so only the
one with the largest prior is compared.  Playouts that have been selected but not backed up count as lost visits of the
moves they took (virtual visits), so that the next walk goes elsewhere.

A walk ends at a new node, which is to be evaluated; where passes (under territory rules, those of the last clean-up
phase) or a long cycle have ended the game; at a leaf that gets no edges, which is visited again; or at a node whose
evaluation is under way for another row: a collision.  Where nodes are shared (`transpositions`) or explored without
weight, it also ends at a node that has more visits than the edge to it.

Exploration by a human-like policy.  At each node of a walk a random number decides how the move is selected: as above,
or by the policy of people, which then may be without weight.  A move selected by that policy has the largest

    u + (a + b sqrt(W)) sqrt(W + ε) h / (1 + w)

with h the human-like policy and the rest as above; b keeps moves explored however bad they turn out to be.  A selection
without weight evaluates the move without expecting it: the playout counts at the nodes below, and neither for the edge
nor at any node above.  There w and W are the weights of the nodes instead of the edges.  Later playouts that select
such an edge as usual end at its node until the visits of the edge have caught up.  Formulas from KataGo 1.17
(`selectBestChildToDescend` in cpp/search/searchexplorehelpers.cpp).
"""

from math import cos, log, pi, pow, sqrt
from typing import Final, NamedTuple

from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import GROUP_TAX, HISTORY, MAIN_PHASE, NO_TAX, SIMPLE_KO, board_of, mix
from gtp_engine.go.area import owners_into, tax_balance
from gtp_engine.go.benson import alive_colors
from gtp_engine.go.board import STRIDE
from gtp_engine.go.constants import BLACK, BUTTON_POINTS, NULL_POINT, PASS, WHITE
from gtp_engine.search.puct.cleanup import GAME_OVER, PHASE_PASSES, phase_key, score_territory
from gtp_engine.search.puct.leaves import (
    COLLISION,
    CYCLE,
    EVALUATE,
    REVISIT,
    TERMINAL,
    TRANSPOSITION,
    Leaves,
    PathWork,
    Root,
    finish_leaf,
    write_leaf_boards,
)
from gtp_engine.search.puct.subtree_bias import bucket_key, find_or_add_bucket
from gtp_engine.search.puct.transpositions import find_or_add_node, position_key, repeats_late
from gtp_engine.search.puct.tree import (
    NEW,
    NODES,
    PENDING,
    ROOT,
    UNEXPANDABLE,
    UTILITY,
    UTILITY_SQUARE,
    WEIGHT,
    Tree,
    has_bias,
    has_edge_visits,
    has_graph,
    has_human_prior,
    try_edge,
    visits_of_edge,
    weight_of_edge,
)
from gtp_engine.search.puct.utility import HumanExploration, Params, utility_radius, utility_stdev
from gtp_engine.search.repetition import has_no_result
from gtp_engine.search.rng import State, random_below

USUAL: Final = 0
"""A move is selected by the policy of the network that searches."""
BY_PEOPLE: Final = 1
"""A move is selected by the human-like policy, and counts."""
WITHOUT_WEIGHT: Final = 2
"""A move is selected by the human-like policy, and does not count."""

_FIRST_WEIGHT: Final = 0.01
"""ε above, visits: lets the prior decide where no move has been tried (KataGo's)."""

_LEAST_VIRTUAL_SHARE: Final = 0.25
"""Least visits that a move counts for when virtual ones are mixed into its mean (KataGo's)."""

_RANDOM_STEPS: Final = 1 << 24
"""Number of values that a uniform random number in (0, 1] or [0, 1) can have."""

_FRIENDLY_PASSES: Final = 3
"""Passes that end a game, else PHASE_PASSES, inside a search where players may pass before they capture dead stones:
counting all of these as alive after two passes would be wrong, so the network evaluates that position (KataGo's,
`friendlyPassOk`)."""

_VISITS_BEFORE_BOTH: Final = 2
"""Visits of a node, its own evaluation among them, up to which only the formula decides; see
`_edge_where_a_pass_ends`."""


class Junction(NamedTuple):
    """A node of a walk, where a move has to be selected."""

    node: int
    depth: int  # moves from the root
    color: int  # to play
    selection: int  # USUAL, BY_PEOPLE or WITHOUT_WEIGHT


@spliced_kernel
def _first_play_urgency(tree: Tree, node: int, sign: float, mass: float, params: Params) -> float:
    """Return the utility, for the side to play, of a move not tried yet; `mass` is the prior tried so far."""
    parent: float = tree.mean[node, UTILITY]
    if params.fpu_parent_by_policy:
        share = min(1.0, pow(mass, params.fpu_parent_power))
        parent = share * parent + (1.0 - share) * tree.own[node, UTILITY]
    elif params.fpu_parent_weight > 0.0:
        parent = params.fpu_parent_weight * tree.own[node, UTILITY] + (1.0 - params.fpu_parent_weight) * parent
    reduction = params.root_fpu_reduction if node == ROOT else params.fpu_reduction
    loss = params.root_fpu_loss if node == ROOT else params.fpu_loss
    urgency = sign * parent - reduction * sqrt(mass)
    return urgency - loss * (utility_radius(params) + urgency)


@kernel
def exploration(tree: Tree, node: int, total: float, params: Params) -> float:
    """Return C sqrt(W + ε) of the module's docstring; `total` is W."""
    mean = tree.mean
    stdev = utility_stdev(mean[node, UTILITY], mean[node, UTILITY_SQUARE], mean[node, WEIGHT], params)
    factor = 1.0 + params.utility_stdev_scale * (stdev / params.utility_stdev_prior - 1.0)
    growth = log((total + params.c_puct_base) / params.c_puct_base)
    return (params.c_puct + params.c_puct_log * growth) * sqrt(total + _FIRST_WEIGHT) * factor


@spliced_kernel
def _wide_root_noise(noise: float, rng: State) -> float:
    """Return the noise that makes an analysis explore more moves: half of the time 0, else `noise` |N(0, 1)|.

    Normal deviates by Box and Muller (1958).
    """
    if random_below(rng, 2) == 0:
        return 0.0
    radius = sqrt(-2.0 * log((1 + random_below(rng, _RANDOM_STEPS)) / _RANDOM_STEPS))
    return noise * abs(radius * cos(2.0 * pi * random_below(rng, _RANDOM_STEPS) / _RANDOM_STEPS))


@inlined_kernel
def _selection_value(prior: float, weight: float, utility: float, scaling: float, noise: float, rng: State) -> float:
    """Return the value to maximise; `noise` is the wide root noise, which flattens the prior as well."""
    if noise > 0.0:
        prior = pow(prior, 1.0 / (4.0 * noise + 1.0))
        utility += _wide_root_noise(noise, rng)
    return utility + scaling * prior / (1.0 + weight)


@spliced_kernel
def _draw_selection(node: int, is_own: bool, people: HumanExploration, rng: State) -> int:
    """Return how to select the move at a node: USUAL, BY_PEOPLE or WITHOUT_WEIGHT.

    `is_own`: the side to play at the root is to play.
    """
    weightless, weightful = people.human_opponent_weightless, people.human_opponent_weightful
    if node == ROOT:
        weightless, weightful = people.human_root_weightless, people.human_root_weightful
    elif is_own:
        weightless, weightful = people.human_own_weightless, people.human_own_weightful
    if weightless + weightful <= 0.0:
        return USUAL
    chance = random_below(rng, _RANDOM_STEPS) / _RANDOM_STEPS
    if chance < weightless:
        return WITHOUT_WEIGHT
    return BY_PEOPLE if chance < weightless + weightful else USUAL


@inlined_kernel
def _human_scaling(total: float, people: HumanExploration) -> float:
    """Return the factor of h / (1 + w) in the module's docstring; `total` is W."""
    return (people.human_c_puct + people.human_c_puct_permanent * sqrt(total)) * sqrt(total + _FIRST_WEIGHT)


@spliced_kernel
def _best_untried(tree: Tree, root: Root, junction: Junction) -> int:
    """Return the untried edge with the largest prior that is allowed at this depth, or 0."""
    node, depth, color, selection = junction
    begin = wide(tree.first_edge[node]) + wide(tree.tried[node])
    end = wide(tree.first_edge[node]) + wide(tree.edges[node])
    if begin >= end or (depth >= root.unrestricted_from and selection == USUAL):
        return begin if begin < end else 0
    priors = tree.prior if selection == USUAL else tree.human_prior
    best, best_prior = wide(0), -1.0
    for edge in range(begin, end):
        if priors[edge] > best_prior and root.avoid_until[color, tree.move[edge]] <= depth:
            best, best_prior = edge, priors[edge]
    return best


@spliced_kernel
def _best_edge(tree: Tree, root: Root, params: Params, junction: Junction) -> int:
    """Return the edge of an expanded node that is to be taken next; 0 if none is allowed or the tree is full."""
    node, depth, color, selection = junction
    sign = 1.0 if color == BLACK else -1.0
    first, tried = wide(tree.first_edge[node]), wide(tree.tried[node])
    priors = tree.prior if selection == USUAL else tree.human_prior
    has_shares = has_edge_visits(tree) and selection != WITHOUT_WEIGHT  # an edge has a share of its node's weight
    total, mass, most = 0.0, 0.0, 0.0  # sums over the tried moves: W, and their prior; the largest weight
    for edge in range(first, first + tried):
        weight = weight_of_edge(tree, edge) if has_shares else tree.mean[tree.child[edge], WEIGHT]
        total += weight
        most = max(most, weight)
        mass += priors[edge]
    urgency = _first_play_urgency(tree, node, sign, mass, params)
    scaling = exploration(tree, node, total, params) if selection == USUAL else _human_scaling(total, root.people)
    radius = utility_radius(params)
    counts_at_root = node == ROOT and selection != WITHOUT_WEIGHT
    noise = params.wide_root_noise if counts_at_root else 0.0
    needed = params.futile_visits * most if counts_at_root else 0.0  # weight below which a move is in vain
    weight_per_visit = tree.mean[node, WEIGHT] / tree.visits[node] if needed > 0.0 else 1.0
    best, best_score = wide(0), -1e30
    for edge in range(first, first + tried):
        if depth < root.unrestricted_from and root.avoid_until[color, tree.move[edge]] > depth:
            continue
        child = tree.child[edge]
        weight = weight_of_edge(tree, edge) if has_shares else tree.mean[child, WEIGHT]
        utility = urgency
        if weight > 0.0:
            utility = sign * tree.mean[child, UTILITY]
            if node == ROOT:
                utility += sign * root.bonus[tree.move[edge]]
        pending = tree.virtual_visits[child] * params.virtual_weight
        if pending > 0.0:  # as if they had come back with the worst utility, −radius
            share = pending / (pending + max(_LEAST_VIRTUAL_SHARE, weight))
            utility -= (radius + utility) * share
            weight += pending
        if needed > 0.0:
            visits_per_weight = (visits_of_edge(tree, edge) + 1.0) / (weight + weight_per_visit)
            if tree.visits[child] + params.visits_left < needed * visits_per_weight:
                continue
        if counts_at_root and weight < sqrt(priors[edge] * total * params.root_child_visits):
            return edge
        score = _selection_value(priors[edge], weight, utility, scaling, noise, root.rng)
        if score > best_score:
            best, best_score = edge, score
    if tree.info[NODES] < tree.state.size and params.visits_left * weight_per_visit >= needed:  # it takes a node
        edge = _best_untried(tree, root, junction)
        if edge > 0 and _selection_value(priors[edge], 0.0, urgency, scaling, noise, root.rng) > best_score:
            best = edge
    return best


@spliced_kernel
def _edge_where_a_pass_ends(tree: Tree, root: Root, junction: Junction, edge: int) -> int:
    """Return the edge to take instead of `edge` at a node where a pass ends the game, so that both kinds are tried.

    After two visits the pass is tried, and so is the best other move (KataGo's `enableMorePassingHacks`): a search that
    has seen one kind only may be wrong about who wins.  As in KataGo, such a playout counts only below the node, and is
    none of the search's limits; a side some of whose moves are left out on request has none.
    """
    node = junction.node
    first, tried = wide(tree.first_edge[node]), wide(tree.tried[node])
    if tree.visits[node] <= _VISITS_BEFORE_BOTH or tree.info[NODES] >= tree.state.size:
        return edge
    passing = first
    while tree.move[passing] != PASS:
        passing += 1
    if passing >= first + tried:
        return passing
    usual = Junction(node, junction.depth, junction.color, wide(USUAL))
    other = _best_untried(tree, root, usual) if tried == 1 and edge == passing else wide(0)
    return other if other > 0 else edge


@spliced_kernel
def _ends_walk(tree: Tree, leaves: Leaves, row: int, depth: int, selection: int) -> bool:
    """Return whether the node at this depth of a path has more visits than the edge to it, or is on it twice.

    A selection without weight goes on at a node that has more visits: it is to have even more.
    """
    node = leaves.path[row, depth]
    if has_graph(tree):
        for at in range(depth):
            if leaves.path[row, at] == node:
                return True
    more = tree.visits[node] > tree.edge_visits[leaves.edges[row, depth - 1]]
    return bool(more and selection != WITHOUT_WEIGHT)


@kernel
def _descend(tree: Tree, root: Root, params: Params, leaves: Leaves, row: int) -> tuple[int, int]:
    """Return the kind of row `row` after writing its path from the root to a leaf, with virtual visits on it.

    Then comes the depth at which the game or clean-up phase of the leaf began, −HISTORY for that of the root.
    """
    # `wide` also for literals: numba would compile the kernels called below once more for a literal or an int32.
    node, depth, color = wide(ROOT), wide(0), wide(root.color)
    passes, phase, button = wide(root.passes), wide(MAIN_PHASE), 0.0
    kind, began_at = wide(REVISIT), wide(-HISTORY)
    leaves.path[row, 0] = ROOT
    leaves.counted_from[row], leaves.is_extra[row] = 0, False
    while True:
        state = tree.state[node]
        if root.cleans_up:
            is_over = phase == GAME_OVER
        else:  # without clean-up phases, networks evaluate the final position under territory rules
            is_over = params.counts_area and passes >= (_FRIENDLY_PASSES if params.friendly_pass else PHASE_PASSES)
        if is_over and depth > 0 and not (depth == 1 and root.pass_goes_on):
            kind = TERMINAL
            break
        if state == NEW or state == PENDING:
            kind = EVALUATE if state == NEW else COLLISION
            break
        if state == UNEXPANDABLE or depth >= params.max_depth:
            break
        selection = wide(USUAL)
        if has_human_prior(tree):
            selection = _draw_selection(node, color == root.color, root.people, root.rng)
        junction = Junction(node, depth, color, selection)
        edge = _best_edge(tree, root, params, junction)
        if edge == 0:
            break
        ends = passes >= 1 and not (root.free_button and button == 0.0)
        if ends and params.more_passing_hacks and not root.is_restricted[color]:
            extra = _edge_where_a_pass_ends(tree, root, junction, edge)
            if extra != edge:
                edge, selection, leaves.is_extra[row] = extra, wide(WITHOUT_WEIGHT), True
        move = wide(tree.move[edge])
        child = wide(tree.child[edge])
        if has_edge_visits(tree):
            leaves.edges[row, depth] = edge if child > 0 else wide(tree.first_edge[node]) + wide(tree.tried[node])
        node = child if child > 0 else try_edge(tree, node, edge)
        if move != PASS:
            passes = 0
        elif root.free_button and button == 0.0:
            passes, button = 0, BUTTON_POINTS if color == BLACK else -BUTTON_POINTS
        else:
            passes += 1
            if passes >= PHASE_PASSES:  # a game that goes on begins with the second pass, a clean-up phase after it
                began_at = depth
                if root.cleans_up:
                    began_at, passes, phase = depth + 1, 0, phase + 1
        leaves.moves[row, depth] = move
        depth += 1
        leaves.path[row, depth] = node
        if selection == WITHOUT_WEIGHT:
            leaves.counted_from[row] = depth
        tree.virtual_visits[node] += 1
        color = BLACK + WHITE - color
        if has_edge_visits(tree) and child > 0:
            leak = params.graph_search_leak
            if leak > 0.0 and random_below(root.rng, _RANDOM_STEPS) < leak * _RANDOM_STEPS:
                selection = wide(WITHOUT_WEIGHT)  # the node is to have even more visits
            if _ends_walk(tree, leaves, row, depth, selection):
                kind = TRANSPOSITION
                break
    leaves.depth[row], leaves.color[row] = depth, color
    leaves.passes[row], leaves.button[row] = passes, button
    leaves.kind[row] = kind
    return kind, began_at


@kernel
def remove_virtual_visits(tree: Tree, leaves: Leaves, row: int) -> None:
    """Remove the virtual visits on a row's path."""
    for at in range(1, leaves.depth[row] + 1):
        tree.virtual_visits[leaves.path[row, at]] -= 1


@kernel
def _score_terminal(params: Params, leaves: Leaves, row: int, work: PathWork) -> None:
    """Write the result of a row in which the game is over, by area less the tax, or by territory.

    Where players agree on dead stones, those in pass-alive territory are dead (elsewhere only reading would tell).
    """
    board = board_of(leaves.positions, wide(leaves.slot[row]), wide(0))
    if not params.counts_area:
        owner = leaves.owner[row]
        points = score_territory(work.cleanup, board, params.tax, params.suicide, work.life, work.colors, owner)
        leaves.margin[row] = points - params.territory_komi
        return
    colors, stride = board.color, wide(board.info[STRIDE])
    if params.friendly_pass:
        colors = work.colors
        alive_colors(board, params.suicide, work.life, colors)
    margin = owners_into(colors, stride, work.queue, leaves.owner[row]) - params.komi + leaves.button[row]
    if params.tax != NO_TAX:
        margin -= tax_balance(colors, stride, params.tax == GROUP_TAX, work.tax)
    leaves.margin[row] = margin


@kernel
def _share_node(tree: Tree, root: Root, params: Params, leaves: Leaves, row: int, work: PathWork) -> int:
    """Return the kind of a row that ends at a new node, after letting its edge lead to the node of the same position.

    The new node, the last one, is dropped then.  Up to the depth to which moves are left out, nothing is shared.
    """
    depth = wide(leaves.depth[row])
    node = wide(leaves.path[row, depth])
    if depth == 0 or depth < root.unrestricted_from or tree.graph.key[node] != 0:
        return EVALUATE
    board = board_of(leaves.positions, wide(leaves.slot[row]), wide(0))
    move = wide(leaves.moves[row, depth - 1])
    color, passes = wide(leaves.color[row]), wide(leaves.passes[row])
    key = position_key(board, color, passes, leaves.button[row], params.counts_area)
    key = phase_key(work.cleanup, key)
    if not repeats_late(board, move, params.graph_search_bound, work.queue):
        key = mix(tree.graph.key[leaves.path[row, depth - 1]], key)
    other = find_or_add_node(tree.graph, key, node)
    if other == node:
        return EVALUATE
    tree.info[NODES] = node
    tree.child[leaves.edges[row, depth - 1]] = other
    tree.virtual_visits[other] += 1
    leaves.path[row, depth] = other
    if tree.visits[other] > 0:
        return TRANSPOSITION
    return COLLISION if tree.state[other] == PENDING else EVALUATE


@spliced_kernel
def _kind_of_new_node(tree: Tree, root: Root, params: Params, leaves: Leaves, row: int, work: PathWork) -> int:
    """Return the kind of a row that ends at a new node and whose boards have been written.

    The root itself is never the end of a cycle: a game that goes on there is searched.
    """
    depth = wide(leaves.depth[row])
    can_be_cycle = depth > 0 and (params.superko == SIMPLE_KO or work.cleanup.phase[0] != MAIN_PHASE)
    if can_be_cycle and has_no_result(root.history, work.keys, wide(work.first_key[0]), depth):
        return CYCLE
    if has_graph(tree):
        return _share_node(tree, root, params, leaves, row, work)
    return EVALUATE


@kernel
def _assign_bucket(tree: Tree, root: Root, leaves: Leaves, row: int) -> None:
    """Give the node at the end of a row's path its bucket (`subtree_bias`), if it was reached by a move after another.

    A node without its former subtree gets none: its own evaluation is the mean of that, not the network's.
    """
    depth = wide(leaves.depth[row])
    node = wide(leaves.path[row, depth])
    if depth == 0 or tree.visits[node] > 0:
        return
    move = wide(leaves.moves[row, depth - 1])
    previous = wide(leaves.moves[row, depth - 2]) if depth >= 2 else wide(root.last_move)
    if move == PASS or previous == NULL_POINT:
        return
    before = board_of(leaves.positions, wide(leaves.slot[row]), wide(1))
    key = bucket_key(before, move, previous, BLACK + WHITE - wide(leaves.color[row]))
    tree.bias.bucket[node] = find_or_add_bucket(tree.bias, key)


@kernel
def select_batch(tree: Tree, root: Root, params: Params, leaves: Leaves, count: int, work: PathWork) -> None:
    """Fill rows of `leaves` until they hold `count` playouts, and the first rows of its positions for the evaluator.

    `filled` says afterwards how many there are: fewer playouts than `count` if collisions take up the rows.  Positions
    in which the game is over are not for the evaluator; they go into the last rows of the positions.
    """
    rows, slots, playouts, extra, games_over = wide(0), wide(0), wide(0), wide(0), wide(0)
    while playouts < count and rows < leaves.kind.size:
        kind, began_at = _descend(tree, root, params, leaves, rows)
        leaves.slot[rows] = slots
        if kind == EVALUATE:
            write_leaf_boards(root, params.superko, leaves, rows, work)
            kind = _kind_of_new_node(tree, root, params, leaves, rows, work)
            leaves.kind[rows] = kind
        if kind == EVALUATE:
            tree.state[leaves.path[rows, leaves.depth[rows]]] = PENDING
            finish_leaf(root, params, leaves, rows, began_at, work)
            if has_bias(tree):
                _assign_bucket(tree, root, leaves, rows)
            slots += 1
        elif kind == TERMINAL:
            games_over += 1
            leaves.slot[rows] = leaves.positions.to_play.size - games_over
            write_leaf_boards(root, params.superko, leaves, rows, work)
            _score_terminal(params, leaves, rows, work)
        playouts += wide(kind != COLLISION)
        extra += wide(kind != COLLISION and leaves.is_extra[rows])
        rows += 1
    filled = leaves.filled
    filled[0], filled[1], filled[2], filled[3] = rows, slots, playouts, extra
