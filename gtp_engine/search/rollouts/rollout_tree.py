"""The search tree as arrays, one entry per node; a node's children lie side by side.

Values are sums of Black's results, in [−1, 1] per visit, at nodes of either side: the sign is changed where moves are
compared (`rollout_select`), nowhere else.  Node 0 is the root.  The colour to play at a node follows from its depth.

Superko is checked when a walk takes a move.  A child that repeats a position keeps its place with the move NULL_POINT
and is never chosen again.

A node that is expanded gets its children with prior knowledge about their moves as imaginary visits.  Each rule that
applies to a move adds visits with a result, 1 for "good" or −1 for "bad".  Every move also starts with even visits of
result 0, which keep its mean from swinging with the first results.  Rules and weights follow Baudiš's Michi (README and
source, 2015), a Monte Carlo program whose constants were tuned against GNU Go, converted to results in [−1, 1].  Two
differences: nearness is the distance below instead of one along chains, and moves that catch a chain in a ladder count
as much as escapes.  Kernels.
"""

from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import kernel, spliced_kernel, wide
from gtp_engine.go.board import HEIGHT, STRIDE, WIDTH, Board, atari_liberty, is_in_atari, is_legal, liberties_into
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE
from gtp_engine.go.ladder import working_attacks_into
from gtp_engine.go.tactics import count_captures, is_escape, is_eye, would_be_self_atari
from gtp_engine.search.rng import State, random_below
from gtp_engine.search.rollouts.patterns import fits_pattern
from gtp_engine.search.rollouts.rollout import RolloutWork

ROOT: Final = 0
USED: Final = 0
"""info[USED]: number of nodes in use."""

EVEN_VISITS: Final = 10.0
CAPTURE_ONE_VISITS: Final = 15.0
CAPTURE_MANY_VISITS: Final = 30.0
ESCAPE_VISITS: Final = 30.0
LADDER_VISITS: Final = 30.0
PATTERN_VISITS: Final = 10.0
SELF_ATARI_VISITS: Final = 10.0
NEAR_VISITS: Final = (24.0, 22.0, 8.0)
"""For points at distance 2, 3 and 4 of the last move, the distance being dx + dy + max(dx, dy)."""
EMPTY_AREA_VISITS: Final = 10.0
"""For points with no stone near: bad on the first and second line, good on the third."""
EMPTY_AREA_REACH: Final = 3
"""Distance in points, along both axes, that counts as near for the rule above."""
PASS_VISITS: Final = 30.0
"""Bad visits of a pass: it is tried once other moves are worse, as in a seki that must be left alone."""

FloatArray = NDArray[np.float32]
SumArray = NDArray[np.float64]
"""Sums of results: float32 would stop growing after some millions of visits."""


class RolloutTree(NamedTuple):
    """The arrays of a tree; N = capacity.  Nodes that are not in use are zeros."""

    info: Annotated[NDArray[np.int64], 1]
    move: Annotated[NDArray[np.int16], "N"]  # the move that leads here: a point, PASS, or NULL_POINT if it is forbidden
    first_child: Annotated[NDArray[np.int32], "N"]  # 0 while the node has not been expanded
    child_count: Annotated[NDArray[np.int16], "N"]
    visits: Annotated[NDArray[np.int32], "N"]  # playouts through the node
    virtual_visits: Annotated[NDArray[np.int16], "N"]  # playouts through the node that have not been backed up yet
    value: Annotated[SumArray, "N"]  # sum of results for Black
    amaf_visits: Annotated[SumArray, "N"]  # playouts in which the move came at any later time (all moves as first)
    amaf_value: Annotated[SumArray, "N"]  # sum of their results for Black
    prior_visits: Annotated[FloatArray, "N"]  # imaginary visits of the prior knowledge about the move
    prior_value: Annotated[FloatArray, "N"]  # the mean result of these, Black's


def new_tree(capacity: int) -> RolloutTree:
    """Return the arrays of a tree for so many nodes, with an unexpanded root."""
    tree = zeros(RolloutTree, N=capacity)
    tree.info[USED] = 1
    return tree


def copied_subtree(source: RolloutTree, node: int, capacity: int) -> RolloutTree:
    """Return a tree for `capacity` nodes with copies of `node`, its root, and of all nodes below it, breadth first."""
    levels = [np.array([node])]
    while levels[-1].size > 0:
        parents = levels[-1][source.first_child[levels[-1]] != 0]
        counts = source.child_count[parents].astype(np.int64)
        before = np.cumsum(counts) - counts  # children of parents to the left
        levels.append(np.repeat(source.first_child[parents] - before, counts) + np.arange(counts.sum()))
    origins, target = np.concatenate(levels), new_tree(capacity)
    for name in RolloutTree._fields[1:]:
        getattr(target, name)[: origins.size] = getattr(source, name)[origins]
    parents = np.flatnonzero(target.first_child)
    counts = target.child_count[parents].astype(np.int64)
    target.first_child[parents] = 1 + np.cumsum(counts) - counts
    target.info[USED] = origins.size
    return target


class BeforeMove(NamedTuple):
    """The position of a node that is to be expanded."""

    board: Board
    color: int  # to play
    last: int  # the move that led to it
    weight: float  # factor on all prior visits


@spliced_kernel
def expand(tree: RolloutTree, node: int, before: BeforeMove, work: RolloutWork, rng: State) -> None:
    """Give `node` its children in a random order: every legal move that fills no own eye, and the pass.

    Of equal children selection takes the first, so that ties are drawn.  The board is played on and restored.  The
    caller has made sure that the tree can hold the children.
    """
    board, color, weight = before.board, before.color, before.weight
    first = tree.info[USED]
    count = wide(0)
    size = wide(board.info[WIDTH]) * wide(board.info[HEIGHT])
    stride = wide(board.info[STRIDE])
    for point in range(stride, stride + size + wide(board.info[HEIGHT])):
        if board.color[point] != EMPTY or is_eye(board, point, color) or not is_legal(board, point, color, False):
            continue
        tree.move[first + count] = point
        _add_prior(tree, first + count, EVEN_VISITS * weight, 0.0)
        _add_move_priors(tree, first + count, before, work)
        count += 1
    tree.move[first + count] = PASS
    _add_prior(tree, first + count, EVEN_VISITS * weight, 0.0)
    _add_prior(tree, first + count, PASS_VISITS * weight, -1.0)
    count += 1
    _add_chain_priors(tree, first, count, before, work)
    _shuffle(tree, first, count, rng)
    if color == WHITE:
        for child in range(first, first + count):
            tree.prior_value[child] = -tree.prior_value[child]
    tree.child_count[node] = count
    tree.first_child[node] = first
    tree.info[USED] = first + count


@spliced_kernel
def _shuffle(tree: RolloutTree, first: int, count: int, rng: State) -> None:
    """Bring new children, which have only moves and priors, into a random order (Fisher and Yates)."""
    for place in range(first + count - 1, first, -1):
        other = first + random_below(rng, place - first + 1)
        tree.move[place], tree.move[other] = tree.move[other], tree.move[place]
        for values in (tree.prior_visits, tree.prior_value):
            values[place], values[other] = values[other], values[place]


@kernel
def _add_prior(tree: RolloutTree, child: int, visits: float, value: float) -> None:
    """Add imaginary visits with this mean result (for the mover) to the prior of a child."""
    total = tree.prior_visits[child] + visits
    if total > 0.0:
        tree.prior_value[child] += (value - tree.prior_value[child]) * visits / total
        tree.prior_visits[child] = total


@spliced_kernel
def _add_move_priors(tree: RolloutTree, child: int, before: BeforeMove, work: RolloutWork) -> None:
    """Apply the rules about the move itself and the stones around it."""
    board, color, last, weight = before
    point = wide(tree.move[child])
    captured = count_captures(board, point, color)
    if captured == 1:
        _add_prior(tree, child, CAPTURE_ONE_VISITS * weight, 1.0)
    elif captured > 1:
        _add_prior(tree, child, CAPTURE_MANY_VISITS * weight, 1.0)
    if would_be_self_atari(board, point, color):
        _add_prior(tree, child, SELF_ATARI_VISITS * weight, -1.0)
    if fits_pattern(board, point, color, work.patterns):
        _add_prior(tree, child, PATTERN_VISITS * weight, 1.0)
    if last > PASS:
        distance = _distance(board, point, last)
        if 2 <= distance <= 4:
            _add_prior(tree, child, NEAR_VISITS[distance - 2] * weight, 1.0)
    line = _line(board, point)
    if line <= 3 and not _is_near_stone(board, point):
        _add_prior(tree, child, EMPTY_AREA_VISITS * weight, 1.0 if line == 3 else -1.0)


@spliced_kernel
def _add_chain_priors(tree: RolloutTree, first: int, count: int, before: BeforeMove, work: RolloutWork) -> None:
    """Apply the rules about chains: escaping from atari, catching a chain in a ladder."""
    board, color, weight = before.board, before.color, before.weight
    for head in range(board.color.size):
        stone = board.color[head]
        if (stone != BLACK and stone != WHITE) or board.head[head] != head:
            continue
        if stone == color:
            if is_in_atari(board, head):
                liberty = wide(atari_liberty(board, head))
                if is_legal(board, liberty, color, False) and is_escape(board, liberty, color, work.ladder):
                    _add_prior_to_move(tree, first, count, liberty, ESCAPE_VISITS * weight)
        elif liberties_into(board, head, work.ladder.liberties) == 2:
            found = working_attacks_into(board, head, work.ladder, work.ladder.working)
            for i in range(found):
                _add_prior_to_move(tree, first, count, wide(work.ladder.working[i]), LADDER_VISITS * weight)


@kernel
def _add_prior_to_move(tree: RolloutTree, first: int, count: int, move: int, visits: float) -> None:
    """Add good visits to the child that plays `move`, if it is one of the children."""
    for child in range(first, first + count):
        if tree.move[child] == move:
            _add_prior(tree, child, visits, 1.0)
            return


@spliced_kernel
def _distance(board: Board, a: int, b: int) -> int:
    """Return dx + dy + max(dx, dy) of two points: 2 for neighbours, 3 for diagonal ones."""
    stride = wide(board.info[STRIDE])
    dx = abs(a % stride - b % stride)
    dy = abs(a // stride - b // stride)
    return dx + dy + max(dx, dy)


@spliced_kernel
def _line(board: Board, point: int) -> int:
    """Return the line the point is on, counted from the nearest edge; 1 is the edge."""
    stride = wide(board.info[STRIDE])
    x, y = point % stride, point // stride
    from_sides = min(x, wide(board.info[WIDTH]) + 1 - x)
    return min(from_sides, min(y, wide(board.info[HEIGHT]) + 1 - y))


@spliced_kernel
def _is_near_stone(board: Board, point: int) -> bool:
    """Return whether a stone lies within EMPTY_AREA_REACH points of `point` along both axes."""
    stride = wide(board.info[STRIDE])
    x, y = point % stride, point // stride
    left, right = max(1, x - EMPTY_AREA_REACH), min(wide(board.info[WIDTH]), x + EMPTY_AREA_REACH)
    top, bottom = max(1, y - EMPTY_AREA_REACH), min(wide(board.info[HEIGHT]), y + EMPTY_AREA_REACH)
    for row in range(top, bottom + 1):
        for column in range(left, right + 1):
            if board.color[row * stride + column] != EMPTY:
                return True
    return False
