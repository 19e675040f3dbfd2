"""Batches of playouts, and all other arrays that searching boards of one size needs, allocated once."""

from typing import Final

import numpy as np

from gtp_engine.evaluation.evaluation import new_evaluation
from gtp_engine.evaluation.positions import new_positions
from gtp_engine.search.puct.evaluation_thread import Job, RolloutPlayer
from gtp_engine.search.puct.expand import new_means_work, new_results
from gtp_engine.search.puct.leaves import EVALUATE, new_leaves, new_path_work
from gtp_engine.search.puct.tree import Tree, set_human_priors
from gtp_engine.search.rng import new_states


class Batch:
    """Up to `size` playouts under way: their paths and positions, the evaluations, and the job that computes them.

    `results` are those of rollouts from the positions, if the search mixes them in; `by_people` the evaluations of the
    human-like network, None unless the search explores by its policy.
    """

    def __init__(self, size: int, width: int, height: int, *, with_people: bool) -> None:
        self.leaves: Final = new_leaves(size, width, height)
        self.evaluation: Final = new_evaluation(size, width, height)
        self.by_people: Final = new_evaluation(size, width, height) if with_people else None
        self.results: Final = new_results(size, width, height)
        self.job: Job | None = None

    @property
    def rows(self) -> int:
        """The number of rows in use."""
        return int(self.leaves.filled[0])

    @property
    def evaluations(self) -> int:
        """The number of positions to be evaluated."""
        return int(self.leaves.filled[1])

    @property
    def playouts(self) -> int:
        """The number of rows that are playouts."""
        return int(self.leaves.filled[2])

    @property
    def counted(self) -> int:
        """The number of playouts that count to the limits of the search."""
        return int(self.leaves.filled[2] - self.leaves.filled[3])

    def add_human_priors(self, tree: Tree) -> None:
        """Give the nodes that the batch has expanded the human-like policy, if it was evaluated."""
        if self.by_people is None:
            return
        for row in np.flatnonzero(self.leaves.kind[: self.rows] == EVALUATE).tolist():
            node = int(self.leaves.path[row, self.leaves.depth[row]])
            set_human_priors(tree, node, self.by_people.policy[self.leaves.slot[row]])


class Buffers:
    """The arrays for boards of one size, with `batches` batches of `size` playouts.

    `with_people`: the leaves are evaluated by a human-like network too.  `player` plays rollouts, if there are any.
    """

    def __init__(self, board_size: tuple[int, int], *, batches: int, size: int, with_people: bool = False) -> None:
        width, height = board_size
        self.board_size: Final = board_size
        self.batch_size: Final = size
        self.batches: Final = [Batch(size, width, height, with_people=with_people) for _ in range(batches)]
        self.root_positions: Final = new_positions(1, width, height)
        self.root_evaluation: Final = new_evaluation(1, width, height)
        self.root_by_people: Final = new_evaluation(1, width, height)
        self.path_work: Final = new_path_work(width, height)
        self.means_work: Final = new_means_work(width, height)
        self.rollout_rng: Final = np.zeros(1, dtype=np.uint64)
        self.rng: Final = np.zeros(1, dtype=np.uint64)
        self.player: RolloutPlayer | None = None

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed`; None: differently every time."""
        self.rollout_rng[:], self.rng[:] = new_states(2, seed)
