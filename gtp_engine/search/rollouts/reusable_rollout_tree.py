"""The tree that a search by rollouts keeps from move to move, with all its arrays; it grows and is re-rooted."""

from collections.abc import Callable
from typing import Final

from gtp_engine.compiled.arrays import copy_used, zeros
from gtp_engine.evaluation.memory_budget import BUDGET
from gtp_engine.go.board import storage_length
from gtp_engine.go.constants import MAX_SIZE, padded_length
from gtp_engine.search.limits import RootPosition, find_position
from gtp_engine.search.rng import new_states
from gtp_engine.search.rollouts.rollout import new_rollout_work
from gtp_engine.search.rollouts.rollout_select import RolloutLeaves, ThreadWork
from gtp_engine.search.rollouts.rollout_tree import ROOT, USED, copied_subtree, new_tree

_INITIAL_CAPACITY: Final = 1 << 16
_MAX_CHILDREN: Final = MAX_SIZE * MAX_SIZE + 1

_BYTES_PER_NODE: Final = sum(array.itemsize for array in new_tree(1)[1:])


LeafPlayer = Callable[[RolloutLeaves, int, int], None]
"""Plays out the boards (`leaf_board`) of the rows from one number up to, not including, another, as `play_out` does,
but by another policy; one thread at a time calls it."""
NewLeafPlayer = Callable[[int, int], LeafPlayer]
"""Returns a player for boards of this width and height."""


class RolloutBuffers:
    """The arrays for boards of one size: the leaves of a batch, and a player, work arrays and sums for each thread."""

    def __init__(
        self,
        board_size: tuple[int, int],
        *,
        batch: int,
        threads: int,
        seed: int | None,
        new_player: NewLeafPlayer | None = None,
    ) -> None:
        width, height = board_size
        n = padded_length(width, height)
        self.players: Final = [None if new_player is None else new_player(width, height) for _ in range(threads)]
        self.works: Final = [zeros(ThreadWork, n=n, rollout=new_rollout_work(width, height)) for _ in range(threads)]
        length, rng = storage_length(width, height), new_states(batch, seed)
        self.leaves: Final = zeros(RolloutLeaves, B=batch, S=length, n=n, rng=rng)


class ReusableRolloutTree:
    """A tree for boards of one size whose root follows a game; empty until `move_root`.

    It grows as needed, up to `max_memory` MiB; once that is reached, no more nodes are expanded.  Beyond its first
    arrays it grows as far as the process's budget allows; when it is re-rooted it gives back.  While it grows or is
    re-rooted, old and new arrays exist side by side for a moment.
    """

    def __init__(self, board_size: tuple[int, int], buffers: RolloutBuffers, *, max_memory: int) -> None:
        self.board_size: Final = board_size
        self.buffers: Final = buffers
        self._max_memory: Final = max_memory
        self._position: RootPosition | None = None
        self.arrays = new_tree(_INITIAL_CAPACITY)
        BUDGET.join(self)

    @property
    def used(self) -> int:
        """The number of nodes in use, the root among them."""
        return int(self.arrays.info[USED])

    @property
    def memory(self) -> float:
        """The memory the arrays take, MiB."""
        return sum(array.nbytes for array in self.arrays) / 2**20

    def clear(self) -> None:
        """Drop everything but an unexpanded root."""
        self.arrays, self._position = new_tree(_INITIAL_CAPACITY), None

    def move_root(self, position: RootPosition) -> None:
        """Make `position` the root: a node of the tree if the game continued there, otherwise that of an empty tree.

        The sums over rollouts start at 0 again, so they are those of a single search.
        """
        node = find_position(self.child_by_move, self._position, position)
        if node is None:
            self.clear()
        elif node != ROOT:
            self.arrays = copied_subtree(self.arrays, node, max(_INITIAL_CAPACITY, self.used))
        self._position = position
        for work in self.buffers.works:
            work.owner[:] = work.beside_area[:] = work.rollouts[:] = 0

    def reserve(self, expansions: int) -> None:
        """Grow the arrays so that `expansions` more nodes can be expanded, as far as the memory allows."""
        needed, old = self.used + expansions * _MAX_CHILDREN, self.arrays
        capacity = old.move.size
        if needed <= capacity:
            return
        allowed = BUDGET.allowed(self, needed * _BYTES_PER_NODE / 2**20, self._max_memory)
        most = int(allowed * 2**20 // _BYTES_PER_NODE)
        if most <= capacity:
            return
        larger = new_tree(min(max(needed, capacity * 3 // 2), most))
        larger.info[:] = old.info
        copy_used(larger, old, N=self.used)
        self.arrays = larger

    def children(self, node: int) -> range:
        """Return the numbers of the children of `node`; none if it has not been expanded."""
        first = int(self.arrays.first_child[node])
        return range(first, first + int(self.arrays.child_count[node])) if first else range(0)

    def child_by_move(self, node: int, move: int) -> int | None:
        """Return the child that `move` (a point or PASS) leads to, or None."""
        return next((child for child in self.children(node) if self.arrays.move[child] == move), None)
