"""Corrections of the evaluations, learned by the search itself ("subtree value bias correction").  Kernels.

A network that misreads a tactic does so wherever in the tree the tactic comes up, and each time only the search below
the position shows it.  So positions are put into buckets by the last two moves and the stones around the last one.
Each bucket holds how much better the positions in it turned out than the network evaluated them:

    bias = Σ (u' − u) W^a / Σ W^a

over the positions of the bucket that have been searched deeper; u is the utility by the network, u' the mean utility
of the moves tried, W their weight, all Black's.  The network's evaluation then counts as u + λ bias, in every position
of the bucket.  The utilities alone are corrected, never the values and scores that are reported.

A position that leaves the tree takes the larger part of what it added with it (`free_share`), and a bucket without
positions is forgotten, so that the table is never larger than the tree.

The method and its constants are KataGo's (docs/KataGoMethods.md; `subtreevaluebiastable.cpp` and `recomputeNodeStats`
in cpp/search).  Its keys have 128 bits, these 64: among a million buckets two collide in one search of 40 million.
"""

from math import pow
from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import mix
from gtp_engine.go.board import HEIGHT, KO_POINT, STRIDE, WIDTH, Board, is_in_atari
from gtp_engine.go.constants import EMPTY
from gtp_engine.search.puct.transpositions import slot_of

_REACH: Final = 2
"""Points that the pattern reaches in each direction from the last move: 5×5 (KataGo's)."""

_LEAST_WEIGHT: Final = 1e-3
"""Weight that the positions of a bucket must have together to correct evaluations (KataGo's)."""

_LEAST_EXPLORED: Final = 1e-10
"""Weight that the moves of a position must have to be compared with its evaluation (KataGo's)."""

BUCKETS: Final = 0
"""info[BUCKETS]: number of buckets in use; number 0 is not one, so that it can mean "none"."""

DIFFERENCE: Final = 0  # (u' − u) W^a
WEIGHT_SUM: Final = 1  # W^a


class SubtreeBias(NamedTuple):
    """The buckets, B less one, of a tree of up to C nodes; C is 0 in a search without corrections."""

    info: Annotated[NDArray[np.int64], 1]
    slots: Annotated[NDArray[np.int32], "C_slots"]  # hash table with linear probing: the bucket, 0 where it is free
    key: Annotated[NDArray[np.uint64], "B"]  # of a bucket: `bucket_key`
    sums: Annotated[NDArray[np.float64], "B", 2]  # of a bucket: DIFFERENCE and WEIGHT_SUM over its nodes
    bucket: Annotated[NDArray[np.int32], "C"]  # of a node, 0: none
    added: Annotated[NDArray[np.float64], "C", 2]  # what a node has added to the sums of its bucket


# --- buckets ---


@spliced_kernel
def bucket_key(board: Board, move: int, previous: int, color: int) -> Any:
    """Return the key, a uint64, of the positions after `color` played `move`, a point, on `board`, as it was before.

    `previous` is the opponent's move before it, a point or PASS.  The key holds the two moves, the colour, the point
    that ko forbade, and the colours and ataris in the 5×5 points around `move`.
    """
    stride = wide(board.info[STRIDE])
    x, y = (move - 1) % stride, (move - 1) // stride - 1
    stones, ataris, place = wide(0), wide(0), wide(0)
    for dy in range(-_REACH, _REACH + 1):
        for dx in range(-_REACH, _REACH + 1):
            place += 1
            if x + dx < 0 or x + dx >= board.info[WIDTH] or y + dy < 0 or y + dy >= board.info[HEIGHT]:
                continue  # `move` says where the edge is
            point = move + dx + dy * stride
            if board.color[point] != EMPTY:
                stones |= wide(board.color[point]) << (2 * place)
                if is_in_atari(board, wide(board.head[point])):
                    ataris |= wide(1) << place
    moves = (move << 32) | (previous << 16) | (wide(board.info[KO_POINT]) << 2) | color
    return mix(mix(mix(np.uint64(0), moves), stones), ataris)


@kernel
def find_or_add_bucket(bias: SubtreeBias, key: np.uint64) -> int:
    """Return the bucket with this key, which is a new one if there was none."""
    slot = slot_of(bias.slots, bias.key, key)
    if bias.slots[slot] != 0:
        return wide(bias.slots[slot])
    bucket = wide(bias.info[BUCKETS])
    bias.info[BUCKETS] = bucket + 1
    bias.slots[slot] = bucket
    bias.key[bucket] = key
    bias.sums[bucket, DIFFERENCE] = bias.sums[bucket, WEIGHT_SUM] = 0.0
    return bucket


# --- corrections ---


@spliced_kernel
def compare(bias: SubtreeBias, node: int, difference: float, explored: float, exponent: float) -> None:
    """Record that the moves of a node, of the weight `explored`, are by `difference` better than its evaluation."""
    if explored < _LEAST_EXPLORED:
        return
    bucket, weight = wide(bias.bucket[node]), pow(explored, exponent)
    bias.sums[bucket, DIFFERENCE] += difference * weight - bias.added[node, DIFFERENCE]
    bias.sums[bucket, WEIGHT_SUM] += weight - bias.added[node, WEIGHT_SUM]
    bias.added[node, DIFFERENCE] = difference * weight
    bias.added[node, WEIGHT_SUM] = weight


@spliced_kernel
def mean_difference(bias: SubtreeBias, node: int) -> float:
    """Return the bias of the bucket of a node."""
    bucket = wide(bias.bucket[node])
    weight: float = bias.sums[bucket, WEIGHT_SUM]
    return bias.sums[bucket, DIFFERENCE] / weight if weight > _LEAST_WEIGHT else 0.0


# --- nodes that move or leave ---


@spliced_kernel
def move_bucket(source: SubtreeBias, old: int, target: SubtreeBias, node: int) -> None:
    """Hand the bucket of a node, under its number in `source`, over to a node of the new table `target`."""
    target.bucket[node] = source.bucket[old]
    target.added[node, DIFFERENCE] = source.added[old, DIFFERENCE]
    target.added[node, WEIGHT_SUM] = source.added[old, WEIGHT_SUM]
    source.bucket[old] = 0


@kernel
def carry_over(
    source: SubtreeBias, nodes_left: int, target: SubtreeBias, nodes: int, free_share: float, numbers: NDArray[np.int32]
) -> None:
    """Fill `target`, a table without buckets, with those of the `nodes` nodes that `move_bucket` has moved to it.

    The first `nodes_left` nodes of `source` take the share `free_share` of what they added with them, except those that
    were moved.  `numbers` (zeros, int32[buckets of source]) is filled with the new number of each bucket, 0: forgotten.
    """
    for node in range(nodes):
        old = wide(target.bucket[node])
        if old > 0:
            if numbers[old] == 0:
                bucket = find_or_add_bucket(target, source.key[old])
                target.sums[bucket, DIFFERENCE] = source.sums[old, DIFFERENCE]
                target.sums[bucket, WEIGHT_SUM] = source.sums[old, WEIGHT_SUM]
                numbers[old] = bucket
            target.bucket[node] = numbers[old]
    for node in range(nodes_left):
        bucket = wide(numbers[source.bucket[node]])
        if bucket > 0:
            target.sums[bucket, DIFFERENCE] -= free_share * source.added[node, DIFFERENCE]
            target.sums[bucket, WEIGHT_SUM] -= free_share * source.added[node, WEIGHT_SUM]
