"""RolloutSearch: searches the positions of a game without a network, keeping the tree from move to move.

It owns what outlives a single search: the threads and the tree (`reusable_rollout_tree`).  Each call of `run` moves the
tree's root to the position and leaves the playouts to a `RolloutRun`.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from gtp_engine.config import SearchConfig
from gtp_engine.go.game import Game
from gtp_engine.machine import available_cores
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits
from gtp_engine.search.report import SearchReport
from gtp_engine.search.rollouts.reusable_rollout_tree import NewLeafPlayer, ReusableRolloutTree, RolloutBuffers
from gtp_engine.search.rollouts.rollout_run import RolloutRun, kernel_policy
from gtp_engine.search.tree_reuse import RootPosition, tree_memory


class RolloutSearch:
    """Searches positions of one game after the other; `close` ends its threads.

    Rollouts follow the policy that the configuration names, unless `new_player` makes a player of them for each thread.

    One thread at a time uses it.  Raises ConfigError if the configuration asks for a network's rollout policy.
    """

    def __init__(self, config: SearchConfig, new_player: NewLeafPlayer | None = None) -> None:
        kernel_policy(config)  # raises now, not at the first move, if the policy is a network's
        self._new_player: Final = new_player
        self.config: Final = config
        self.threads: Final = config.threads or available_cores()
        self._pool: Final = ThreadPoolExecutor(max(1, self.threads - 1), thread_name_prefix="rollouts")
        self._seed = config.seed
        self._tree: ReusableRolloutTree | None = None

    def run(self, game: Game, limits: Limits, *, to_play: int | None = None) -> SearchReport:
        """Search the position of `game` (not changed) and return what was found.

        `to_play` defaults to the side whose turn it is.  At least one batch is always played, even if the search was
        cancelled before, so that there is a move to choose.  Moves that the limits leave out are left out of the tree;
        rollouts may play them.
        """
        start = time.perf_counter()
        cancel = limits.cancel or CancelToken()
        color = game.to_play if to_play is None else to_play
        position = RootPosition(game.copy(), color, limits.restrictions)
        tree = self._fitting_tree(game.width, game.height)
        tree.move_root(position)
        run = RolloutRun(self.config, tree, position, self._pool, self.threads, limits, cancel, start)
        run.run_to_limits()
        return run.report()

    def clear(self) -> None:
        """Forget the tree, and start the random numbers again if they have a seed."""
        self._tree = None

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed` (None: differently every time) and forget the tree."""
        self._seed = seed
        self.clear()

    def close(self) -> None:
        """End the threads; the search cannot be used afterwards."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _fitting_tree(self, width: int, height: int) -> ReusableRolloutTree:
        """Return the tree, which is a new one if it was for boards of another size."""
        if self._tree is None or self._tree.board_size != (width, height):
            buffers = RolloutBuffers(
                (width, height),
                batch=self.config.batch,
                threads=self.threads,
                seed=self._seed,
                new_player=self._new_player,
            )
            self._tree = ReusableRolloutTree(width, height, buffers, max_memory=tree_memory(self.config))
        return self._tree
