"""The tree that a search by rollouts keeps from move to move, with all its arrays."""

from collections.abc import Callable
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.area import new_tax_work
from gtp_engine.go.board import padded_length, storage_length
from gtp_engine.search.rng import new_states
from gtp_engine.search.rollouts.rollout import RolloutWork, new_rollout_work
from gtp_engine.search.rollouts.rollout_select import MAX_DEPTH, Leaves, Sums
from gtp_engine.search.rollouts.rollout_tree import ROOT, TreeStore
from gtp_engine.search.tree_reuse import RootPosition, find_position


class LeafPlayer(Protocol):
    """Plays leaves out in place of the kernels' own policies; one thread at a time calls it."""

    def play_out(self, leaves: Leaves, begin: int, end: int, zobrist: NDArray[np.uint64]) -> None:
        """Play out the boards of the rows begin … end − 1 (`leaf_board`), as `play_out` does."""
        ...


NewLeafPlayer = Callable[[int, int], LeafPlayer]
"""Returns a player for boards of this width and height."""


class RolloutBuffers:
    """The arrays for boards of one size: the leaves of a batch, and players, work arrays and sums for each thread."""

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
        self.works: Final[list[RolloutWork]] = [new_rollout_work(width, height) for _ in range(threads)]
        self.owners: Final = np.zeros((threads, n), dtype=np.int32)
        self.beside_area: Final = np.zeros((threads, 1))
        self.rollouts: Final = np.zeros((threads, 1), dtype=np.int64)
        queues = np.zeros((threads, n), dtype=np.int32)
        self.sums: Final = [
            Sums(*arrays, new_tax_work(width, height))
            for arrays in zip(self.owners, self.beside_area, self.rollouts, queues, strict=True)
        ]
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
