"""The tree that a search by rollouts keeps from move to move, with all its arrays."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.go.board import IntArray, padded_length, storage_length
from gtp_engine.go.tax import TaxWork, new_tax_work
from gtp_engine.search.rng import new_states
from gtp_engine.search.rollouts.linear_tables import new_tables
from gtp_engine.search.rollouts.linear_weights import LinearWork, new_linear_work
from gtp_engine.search.rollouts.rollout import RolloutWork, new_rollout_work
from gtp_engine.search.rollouts.rollout_select import MAX_DEPTH, Leaves
from gtp_engine.search.rollouts.rollout_tree import ROOT, TreeStore
from gtp_engine.search.tree_reuse import RootPosition, find_position


class RolloutBuffers:
    """The arrays for boards of one size: the leaves of a batch, and work arrays and ownership sums for each thread."""

    def __init__(
        self, width: int, height: int, *, batch: int, threads: int, seed: int | None, linear_policy: LinearPolicy | None
    ) -> None:
        n = padded_length(width, height)
        self.works: Final[list[RolloutWork]] = [new_rollout_work(width, height) for _ in range(threads)]
        tables = None if linear_policy is None else new_tables(linear_policy)
        self.linears: Final[list[LinearWork | None]] = [
            None if tables is None else new_linear_work(tables, width, height) for _ in range(threads)
        ]
        self.queues: Final = np.zeros((threads, n), dtype=np.int32)
        self.owners: Final = np.zeros((threads, n), dtype=np.int32)
        """By thread and point: rollouts that ended with the point Black's, less those with it White's."""
        self.beside_area: Final = np.zeros((threads, 1))
        """By thread: sum of the points beside the area that Black has in these rollouts, see `evaluate_leaves`."""
        self.tax_works: Final[list[TaxWork]] = [new_tax_work(width, height) for _ in range(threads)]
        self.rollouts: Final = np.zeros(threads, dtype=np.int64)
        self.leaves: Final = Leaves(
            storage=np.zeros((batch, storage_length(width, height)), dtype=np.int32),
            hash=np.zeros((batch, 1), dtype=np.uint64),
            path=np.zeros((batch, MAX_DEPTH), dtype=np.int32),
            depth=np.zeros(batch, dtype=np.int32),
            color=np.zeros(batch, dtype=np.int32),
            last=np.zeros(batch, dtype=np.int32),
            is_over=np.zeros(batch, dtype=np.int32),
            button=np.zeros(batch),
            has_free_button=np.zeros(batch, dtype=np.int32),
            value=np.zeros(batch, dtype=np.float32),
            first_player=np.zeros((batch, n), dtype=np.int8),
            rng=new_states(batch, seed),
            path_keys=np.zeros(MAX_DEPTH, dtype=np.uint64),
        )

    def arrays_of(
        self, thread: int
    ) -> tuple[RolloutWork, IntArray, IntArray, NDArray[np.float64], TaxWork, LinearWork | None]:
        """Return the arrays with which a thread evaluates leaves."""
        sums = self.owners[thread], self.beside_area[thread]
        return self.works[thread], self.queues[thread], *sums, self.tax_works[thread], self.linears[thread]

    def clear_sums(self) -> None:
        """Set the sums over rollouts to 0."""
        for sums in (self.owners, self.beside_area, self.rollouts):
            sums[:] = 0


class ReusableRolloutTree:
    """A tree for boards of one size whose root follows a game; empty until `move_root`."""

    def __init__(self, width: int, height: int, buffers: RolloutBuffers, *, max_memory: int) -> None:
        self.board_size: Final = (width, height)
        self.buffers: Final = buffers
        self.store: Final = TreeStore(max_memory)
        self._position: RootPosition | None = None

    def move_root(self, position: RootPosition) -> None:
        """Make `position` the root: a node of the tree if the game continued there, otherwise that of an empty tree.

        The sums over rollouts start at 0 again, so they are those of a single search.
        """
        node = find_position(self.store, self._position, position)
        if node is None:
            self.store.clear()
        elif node != ROOT:
            self.store.reroot(node)
        self._position = position
        self.buffers.clear_sums()
