"""Positions that several lines lead to, so that they share a node of the tree ("graph search").  Kernels.

A node is found again by the key of its position: the stones, the side to play, ko, passes, the button, and under
territory rules the prisoners.  Where a capture could soon repeat an earlier position, superko and the network's view
depend on how the position came about.  There the key holds that of the position before too, so that only equal lines
share a node.  How soon that can be is bounded from below: the last move's chain of s stones, with e empty points in the
regions beside it, has to be captured and its place filled, which takes s + e − 1 moves at least (KataGo's bound;
`simpleRepetitionBoundGt` in cpp/game/board.cpp, `getGraphHash` in cpp/game/graphhash.cpp).

Each edge counts its own visits; those of the node at its end may be more.  Then the node has been searched well enough
for a further visit of the edge, and a playout ends there.  The means of a node weigh its children by the visits of its
own edges (KataGo, docs/GraphSearch.md; Czech, Korus and Kersting, "Monte-Carlo Graph Search for AlphaZero", 2020).

By the same keys a search may know what earlier ones have found in a position (`Remembered`), whatever tree that was in.
"""

from typing import Annotated, Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.compiled.jit import inlined_kernel, kernel, spliced_kernel, wide
from gtp_engine.evaluation.positions import mix
from gtp_engine.go.board import CAPTURED, KO_POINT, STRIDE, Board, IntArray, add_once
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE

SLOTS_PER_NODE: Final = 2
"""Length of the hash table for each node that the tree can have, so that it is at most half full."""

_ROOT: Final = 0

_WAYS: Final = 4
"""Places of `Remembered` for one key; a new position replaces the least visited one in them."""

PLACES: Final = 2**16
"""Places of a `Remembered` that is in use: 3.5 MiB, for six million visits at 100 for each."""

REMEMBERED_VISITS: Final = 5
"""Column of the visits in `Remembered.found`."""


class Transpositions(NamedTuple):
    """The keys of a tree of up to G nodes; 0 in a search that shares no nodes."""

    slots: Annotated[NDArray[np.int32], "G_slots"]  # hash table with linear probing: the node, 0 where it is free
    key: Annotated[NDArray[np.uint64], "G"]  # of a node's position; 0: it is not shared


class Remembered(NamedTuple):
    """What searches found in positions that they visited often, for later ones; nothing if there are no places."""

    key: Annotated[NDArray[np.uint64], "places"]  # of a position under its conditions; 0: free
    found: Annotated[NDArray[np.float64], "places", REMEMBERED_VISITS + 1]  # means VALUE to LEAD of `Tree.mean`, visits
    conditions: Annotated[NDArray[np.uint64], 1]  # of the search that goes on; 0: it neither uses nor adds anything


# --- keys ---


@spliced_kernel
def position_key(board: Board, color: int, passes: int, button: float, counts_area: bool) -> Any:
    """Return the key, a uint64, of a position with `color` to play after `passes` passes in a row.

    `button` is what Black has got from the button since the root, points.
    """
    taken = wide(0) if button == 0.0 else (wide(1) if button > 0.0 else wide(2))
    key = mix(np.uint64(board.hash[0]), color | (passes << 8) | (taken << 16))
    key = mix(key, board.info[KO_POINT])
    return key if counts_area else mix(key, board.info[CAPTURED + BLACK] - board.info[CAPTURED + WHITE])


@kernel
def key_in_game(board: Board, color: int, passes: int, counts_area: bool, previous: np.uint64) -> Any:
    """Return the key of a position of a game; `previous` is that of the one before where it depends on it, else 0."""
    key = position_key(board, color, passes, 0.0, counts_area)
    return mix(previous, key) if previous != np.uint64(0) else key


@kernel
def repeats_late(board: Board, move: int, bound: int, found: IntArray) -> bool:
    """Return whether no position before `move`, which led to `board`, can recur in `bound` moves or less.

    A pass does not say so.  `found` is work, int32[n] with a place for each point.
    """
    if move == PASS:
        return False
    count, stones, step = wide(0), wide(0), wide(board.info[STRIDE])
    stone = move
    while board.color[move] != EMPTY:  # a suicide leaves no stone
        stones += 1
        count = _add_empty_neighbors(board, stone, step, found, count)
        stone = wide(board.next_stone[stone])
        if stone == move or stones + count > bound:
            break
    if stones == 0:
        found[0], count = move, 1
    checked = wide(0)
    while checked < count and stones + count <= bound:
        count = _add_empty_neighbors(board, wide(found[checked]), step, found, count)
        checked += 1
    return stones + count > bound


@kernel
def _add_empty_neighbors(board: Board, point: int, step: int, found: IntArray, count: int) -> int:
    """Return the number of points in `found` after adding the empty ones beside `point` that it lacks."""
    for offset in (-1, 1, -step, step):
        neighbor = point + offset
        if board.color[neighbor] == EMPTY:
            count = add_once(neighbor, found, count)
    return count


# --- the table ---


@inlined_kernel
def slot_of(slots: IntArray, keys: NDArray[np.uint64], key: np.uint64) -> int:
    """Return the slot of a key in a hash table of numbers that have `keys`, or the free one where it belongs."""
    # The high half of the key times the length, divided by 2³², is a slot (Lemire 2019).
    slot = wide(((key >> np.uint64(32)) * np.uint64(slots.size)) >> np.uint64(32))
    while slots[slot] != 0 and keys[slots[slot]] != key:
        slot = slot + 1 if slot + 1 < slots.size else 0
    return slot


@spliced_kernel
def find_or_add_node(table: Transpositions, key: np.uint64, node: int) -> int:
    """Return the node with this key; if there is none, `node` gets it and is returned."""
    slot = slot_of(table.slots, table.key, key)
    if table.slots[slot] == 0:
        table.slots[slot] = node
        table.key[node] = key
    return wide(table.slots[slot])


@kernel
def add_all_keys(table: Transpositions, nodes: int) -> None:
    """Enter the keys of the first `nodes` nodes but the root, which no line returns to, into the empty slots."""
    for node in range(_ROOT + 1, nodes):
        if table.key[node] != 0:
            table.slots[slot_of(table.slots, table.key, table.key[node])] = node


# --- what is remembered ---


@kernel
def place_of(remembered: Remembered, key: np.uint64) -> int:
    """Return the place of a key, or the one that it may have: a free one, or that of the least visited position."""
    first = wide(((key >> np.uint64(32)) * np.uint64(remembered.key.size // _WAYS)) >> np.uint64(32)) * _WAYS
    best = first
    for place in range(first, first + _WAYS):
        if remembered.key[place] == key:
            return place
        if remembered.found[place, REMEMBERED_VISITS] < remembered.found[best, REMEMBERED_VISITS]:
            best = place
    return best
