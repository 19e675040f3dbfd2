"""The search tree as arrays: nodes with their statistics, edges for their moves.

A node's edges lie side by side.  The tried ones come first, each with the node it leads to; then the untried one with
the largest prior, then the rest in no order.  So selection reads the tried edges and one more, however many legal moves
there are, and trying that one costs a single pass over the rest (`promote_untried`).

`mean` holds the means over a node's playouts, Black's, in float64, weighted by the certainty of the evaluations; `own`
is the evaluation of the position itself, by the network or, at the end of a game, by the rules.  Both are rows of a
matrix: selection needs most columns of a node at once and so reads one or two cache lines for it.

Node 0 is the root.  The colour to play at a node follows from its depth.  Unless the search is told to share nodes
(`transpositions`), it is a tree: a position reached by transposition is a node of its own, because superko and the last
moves make it different; the evaluator's cache makes its evaluation cheap.  Otherwise several edges may lead to a node.
"""

from typing import Annotated, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.arrays import zeros
from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.search.puct.subtree_bias import SubtreeBias, move_bucket
from gtp_engine.search.puct.transpositions import SLOTS_PER_NODE, Remembered, Transpositions

ROOT: Final = 0

NODES: Final = 0
"""info[NODES]: number of nodes in use."""
EDGES: Final = 1
"""info[EDGES]: number of edges in use; number 0 is not one, so that it can mean "none"."""

NEW: Final = 0
"""State of a node that was never evaluated, or that was collapsed (then it has visits)."""
PENDING: Final = 1
"""State of a node whose evaluation is under way."""
EXPANDED: Final = 2
"""State of a node that was evaluated and has edges."""
UNEXPANDABLE: Final = 3
"""State of a node that was evaluated and gets no edges: the game is over there, or the tree is full."""

VALUE: Final = 0  # win − loss, in [−1, 1]
NO_RESULT: Final = 1  # probability of a game without result
SCORE: Final = 2  # points
SCORE_SQUARE: Final = 3  # mean of the square of the final score, points²
LEAD: Final = 4  # points
UTILITY: Final = 5
WEIGHT: Final = 6  # of one evaluation in `own`, their sum in `mean`
OWN_COLUMNS: Final = 7
UTILITY_SQUARE: Final = 7
WEIGHT_SQUARE: Final = 8  # sum of the squares of all weights
MEAN_COLUMNS: Final = 9


class Tree(NamedTuple):
    """The arrays of a tree of up to N nodes and E edges.

    C, G and O are as many as N, and V and H as E, or 0 where they are not needed.
    """

    info: Annotated[NDArray[np.int64], 2]
    first_edge: Annotated[NDArray[np.int32], "N"]  # 0: no edges
    edges: Annotated[NDArray[np.int16], "N"]  # number of edges
    tried: Annotated[NDArray[np.int16], "N"]  # number of edges that lead to a node
    state: Annotated[NDArray[np.int8], "N"]  # NEW, PENDING, EXPANDED or UNEXPANDABLE
    visits: Annotated[NDArray[np.int64], "N"]  # playouts through the node
    virtual_visits: Annotated[NDArray[np.int32], "N"]  # playouts through the node that have not been backed up yet
    own: Annotated[NDArray[np.float32], "N", OWN_COLUMNS]  # the evaluation of the position itself
    mean: Annotated[NDArray[np.float64], "N", MEAN_COLUMNS]  # means over the playouts through the node
    owned: Annotated[NDArray[np.int16], "O", "n"]  # the ownership of the position (`tree_ownership`)
    move: Annotated[NDArray[np.int16], "E"]  # a point or PASS
    prior: Annotated[NDArray[np.float32], "E"]  # the policy's probability
    child: Annotated[NDArray[np.int32], "E"]  # the node it leads to; 0: untried
    edge_visits: Annotated[NDArray[np.int32], "V"]  # playouts through a tried edge, which may be all those of its node
    human_prior: Annotated[NDArray[np.float32], "H"]  # the human-like policy's probability
    bias: SubtreeBias  # corrections of the evaluations
    graph: Transpositions  # what nodes that several edges lead to need
    remembered: Remembered  # what earlier searches found; no part of the tree, which comes and goes


class Extras(NamedTuple):
    """What a tree has room for only if asked."""

    bias: bool = False  # corrections of evaluations (`subtree_bias`)
    graph: bool = False  # nodes that several edges lead to (`transpositions`)
    human_prior: bool = False  # a second prior, by which moves are selected (`select`)
    edge_visits: bool = False  # visits of edges, which shared nodes and a second prior need as well
    ownership: int = 0  # ownership of this length, the padded one of the board
    remembered: Remembered | None = None  # what is known from earlier searches; shared nodes only


def new_tree(nodes: int, edges: int, extras: Extras = Extras()) -> Tree:  # noqa: B008
    """Return a tree that consists of a new root."""
    counts_edges = extras.edge_visits or extras.graph or extras.human_prior
    corrected, shared = nodes if extras.bias else 0, nodes if extras.graph else 0
    tree = zeros(
        Tree,
        N=nodes,
        E=edges,
        O=nodes if extras.ownership else 0,
        V=edges if counts_edges else 0,
        H=edges if extras.human_prior else 0,
        n=extras.ownership,
        B=1 + corrected,
        C=corrected,
        C_slots=SLOTS_PER_NODE * corrected,
        G=shared,
        G_slots=SLOTS_PER_NODE * shared,
        remembered=zeros(Remembered, places=0) if extras.remembered is None else extras.remembered,
    )
    tree.info[:] = tree.bias.info[:] = 1
    return tree


@inlined_kernel
def has_bias(tree: Tree) -> bool:
    """Return whether the search corrects evaluations."""
    return tree.bias.bucket.size > 0


@inlined_kernel
def has_graph(tree: Tree) -> bool:
    """Return whether several edges may lead to a node."""
    return tree.graph.key.size > 0


@inlined_kernel
def has_edge_visits(tree: Tree) -> bool:
    """Return whether the visits of an edge may be fewer than those of the node that it leads to."""
    return tree.edge_visits.size > 0


@inlined_kernel
def has_human_prior(tree: Tree) -> bool:
    """Return whether moves may be selected by the human-like policy."""
    return tree.human_prior.size > 0


@inlined_kernel
def visits_of_edge(tree: Tree, edge: int) -> int:
    """Return the playouts through a tried edge."""
    return wide(tree.edge_visits[edge]) if has_edge_visits(tree) else wide(tree.visits[tree.child[edge]])


@inlined_kernel
def weight_of_edge(tree: Tree, edge: int) -> float:
    """Return the part of the weight of the node that a tried edge leads to that its visits account for."""
    child = tree.child[edge]
    weight: float = tree.mean[child, WEIGHT]
    return weight * tree.edge_visits[edge] / max(1, tree.visits[child]) if has_edge_visits(tree) else weight


def edge_visits(tree: Tree, edges: slice | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the playouts through tried edges, int64[k], as `visits_of_edge` does."""
    if tree.edge_visits.size > 0:
        return tree.edge_visits[edges].astype(np.int64)
    visits: NDArray[np.int64] = tree.visits[tree.child[edges]]
    return visits


@spliced_kernel
def add_node(tree: Tree) -> int:
    """Return the number of a new node; the caller has made sure that the arrays can hold it."""
    node = wide(tree.info[NODES])
    tree.info[NODES] = node + 1
    tree.first_edge[node] = 0
    tree.edges[node] = 0
    tree.tried[node] = 0
    tree.state[node] = NEW
    tree.visits[node] = 0
    tree.virtual_visits[node] = 0
    tree.mean[node, :] = 0.0
    if tree.owned.shape[0] > 0:
        tree.owned[node, 0] = 0
    if has_bias(tree):
        tree.bias.bucket[node] = 0
        tree.bias.added[node, :] = 0.0
    if has_graph(tree):
        tree.graph.key[node] = 0
    return node


@inlined_kernel
def swap_edges(tree: Tree, a: int, b: int) -> None:
    """Exchange two edges of a node."""
    tree.move[a], tree.move[b] = tree.move[b], tree.move[a]
    tree.prior[a], tree.prior[b] = tree.prior[b], tree.prior[a]
    tree.child[a], tree.child[b] = tree.child[b], tree.child[a]
    if has_human_prior(tree):
        tree.human_prior[a], tree.human_prior[b] = tree.human_prior[b], tree.human_prior[a]


@kernel
def promote_untried(tree: Tree, node: int) -> None:
    """Bring the untried edge with the largest prior to its place, the first after those tried.

    Of several with the same prior the first one is taken.
    """
    begin = wide(tree.first_edge[node]) + wide(tree.tried[node])
    end = wide(tree.first_edge[node]) + wide(tree.edges[node])
    best, best_prior = begin, np.float32(-1.0)
    for edge in range(begin, end):
        if tree.prior[edge] > best_prior:
            best, best_prior = edge, tree.prior[edge]
    if best != begin and begin < end:
        swap_edges(tree, begin, best)


@kernel
def set_priors(tree: Tree, node: int, policy: NDArray[np.float32]) -> None:
    """Give the edges of a node these priors, float32[n] by the move's point."""
    first = wide(tree.first_edge[node])
    for edge in range(first, first + tree.edges[node]):
        tree.prior[edge] = policy[tree.move[edge]]
    promote_untried(tree, node)


def set_human_priors(tree: Tree, node: int, policy: NDArray[np.float32]) -> None:
    """Give the edges of a node these human-like priors, float32[n] by the move's point."""
    first = int(tree.first_edge[node])
    edges = slice(first, first + int(tree.edges[node]))
    tree.human_prior[edges] = policy[tree.move[edges]]


@spliced_kernel
def try_edge(tree: Tree, node: int, edge: int) -> int:
    """Return the new node that an untried edge of `node` leads to from now on; the arrays must have space for it."""
    place = wide(tree.first_edge[node]) + wide(tree.tried[node])
    if edge != place:
        swap_edges(tree, edge, place)
    child = add_node(tree)
    tree.child[place] = child
    tree.tried[node] += 1
    promote_untried(tree, node)
    return child


@spliced_kernel
def write_post_order(tree: Tree, order: NDArray[np.int32]) -> int:
    """Return the number of nodes, written to order[0] such that none comes before those that its edges lead to.

    (Where a line returns to a node, one of them has to.)  order[1] (zeros but for the root's) is filled with the colour
    to play at each node; order is int32[4, nodes], its other rows are work.
    """
    colors = order[1]
    depth, written = wide(0), wide(0)
    order[2, 0], order[3, 0] = ROOT, 0  # the nodes on the path, and how many of their edges have been followed
    while depth >= 0:
        node, followed = wide(order[2, depth]), wide(order[3, depth])
        if followed == tree.tried[node]:
            order[0, written] = node
            written += 1
            depth -= 1
            continue
        order[3, depth] = followed + 1
        child = wide(tree.child[tree.first_edge[node] + followed])
        if colors[child] == 0:
            colors[child] = BLACK + WHITE - colors[node]
            depth += 1
            order[2, depth], order[3, depth] = child, 0
    return written


@spliced_kernel
def _collapse(tree: Tree, node: int) -> None:
    """Make a node one without edges whose own evaluation is the mean of all its playouts.

    So its means stay what they are (`update_means`), except for the spread of the utility, which is forgotten.
    """
    for column in range(WEIGHT):
        tree.own[node, column] = tree.mean[node, column]
    tree.own[node, WEIGHT] = tree.mean[node, WEIGHT] / tree.visits[node]
    tree.state[node] = NEW
    tree.edges[node] = 0
    tree.tried[node] = 0


@kernel
def copy_subtree(
    source: Tree, node: int, target: Tree, numbers: NDArray[np.int32], visits_to_stay_expanded: int
) -> int:
    """Return the number of nodes at and below `node`, copied breadth first to the empty `target` as its root.

    Expanded nodes below it with fewer than `visits_to_stay_expanded` visits are collapsed: copied without what is below
    them.  All but these and the root keep the buckets of their corrections; `carry_over` has to follow, and
    `add_all_keys`.  `numbers` (int32[2, nodes of source], zeros) is filled with the node that each copy came from, and
    with the copy of each node.  Lines that return to the root lead to a second copy of it.
    """
    origin, copies = numbers[0], numbers[1]
    origin[ROOT] = node
    nodes, edges, place = wide(1), wide(1), wide(0)
    while place < nodes:
        old = wide(origin[place])
        target.edges[place] = source.edges[old]
        target.tried[place] = source.tried[old]
        target.state[place] = source.state[old]
        target.visits[place] = source.visits[old]
        for column in range(OWN_COLUMNS):
            target.own[place, column] = source.own[old, column]
        for column in range(MEAN_COLUMNS):
            target.mean[place, column] = source.mean[old, column]
        if source.owned.shape[0] > 0:
            for point in range(source.owned.shape[1]):
                target.owned[place, point] = source.owned[old, point]
        first, count, tried = wide(source.first_edge[old]), wide(source.edges[old]), wide(source.tried[old])
        is_kept = place == ROOT or source.visits[old] >= visits_to_stay_expanded
        if source.state[old] == EXPANDED and not is_kept:
            _collapse(target, place)
            count = wide(0)
        elif place != ROOT and has_bias(source):
            move_bucket(source.bias, old, target.bias, place)
        target.first_edge[place] = edges if count > 0 else 0
        if has_graph(source):
            target.graph.key[place] = source.graph.key[old]
        for i in range(count):
            target.move[edges + i] = source.move[first + i]
            target.prior[edges + i] = source.prior[first + i]
            if has_human_prior(source):
                target.human_prior[edges + i] = source.human_prior[first + i]
            if i < tried:
                child = wide(source.child[first + i])
                if copies[child] == 0:
                    copies[child] = nodes
                    origin[nodes] = child
                    nodes += 1
                target.child[edges + i] = copies[child]
                if has_edge_visits(source):
                    target.edge_visits[edges + i] = source.edge_visits[first + i]
        edges += count
        place += 1
    target.info[NODES] = nodes
    target.info[EDGES] = edges
    return nodes
