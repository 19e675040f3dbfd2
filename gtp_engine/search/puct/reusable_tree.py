"""The tree that a search with a network keeps from move to move, with all arrays that boards of its size need."""

from typing import Final

import numpy as np

from gtp_engine.config import Config
from gtp_engine.go.constants import PASS
from gtp_engine.go.game import Game
from gtp_engine.search.puct.expand import Ownership, new_ownership
from gtp_engine.search.puct.leaf_batches import Buffers
from gtp_engine.search.puct.leaf_evaluator import NewRolloutPlayer
from gtp_engine.search.puct.tree import EXPANDED, ROOT
from gtp_engine.search.puct.tree_store import TreeStore
from gtp_engine.search.report import RawEvaluation
from gtp_engine.search.tree_reuse import RootPosition, find_position, tree_memory


class ReusableTree:
    """A tree for boards of one size whose root follows a game; empty until `move_root`.

    `batches` batches of `batch_size` playouts can be under way at a time.  With `explores_by_people` a human-like
    policy selects some moves, at the root only unless `people_in_tree` is set too.
    """

    def __init__(
        self,
        config: Config,
        width: int,
        height: int,
        *,
        new_player: NewRolloutPlayer | None,
        batches: int,
        batch_size: int,
        seed: int | None,
        explores_by_people: bool = False,
        people_in_tree: bool = False,
    ) -> None:
        self.board_size: Final = (width, height)
        self.has_seed = seed is not None
        """Whether searches of it repeat exactly."""
        puct = config.puct
        self.store: Final = TreeStore(
            tree_memory(config.search),
            width * height + 1,
            bias_free_share=puct.subtree_bias_free_share if puct.subtree_bias > 0.0 else None,
            with_graph=puct.graph_search,
            with_human_prior=explores_by_people,
            with_edge_visits=puct.more_passing_hacks,
        )
        self.buffers: Final = Buffers(
            width, height, batches=batches, size=batch_size, seed=seed, with_people=people_in_tree
        )
        rng = self.buffers.rollout_rng
        self.player: Final = None if new_player is None else new_player(batch_size, self.board_size, rng)
        self.ownership = new_ownership(width, height, with_moves=False)
        """Sums of the ownership at the leaves since the root was last moved."""
        self.raw: RawEvaluation | None = None
        """The network's evaluation of the root; None until it has been evaluated as a root."""
        self.human: RawEvaluation | None = None
        """The human-like network's; None also without such a network."""
        self.score_center = 0.0
        """The score, points for Black, around which the utilities in the tree count points."""
        self.has_moved = True
        """Whether the last call of `move_root` moved the root."""
        self._position: RootPosition | None = None

    def move_root(self, position: RootPosition, *, pass_goes_on: bool = False) -> None:
        """Make `position` the root: a node of the tree if the game continued there, otherwise that of an empty tree.

        `pass_goes_on` is as in `leaves.Root`.
        """
        self.has_moved = False
        if not self._follow(position, pass_goes_on=pass_goes_on):
            self.store.clear()
            self._forget_root()
        self._position = position

    def clear(self, seed: int | None) -> None:
        """Forget everything but the buffers, and start the random numbers at `seed`."""
        self.store.clear()
        self._forget_root()
        self._position = None
        self.has_seed = seed is not None
        self.buffers.set_seed(seed)

    def collect_move_ownership(self) -> None:
        """From now on, sum up the ownership below each root move too."""
        if self.ownership.moves.shape[0] == 1:
            self.ownership = _with_moves(self.ownership)

    def _follow(self, position: RootPosition, *, pass_goes_on: bool) -> bool:
        """Return whether the root could be moved to `position` in the tree.

        Not if passes count differently below the new root: because two of them ended the game there or on the way, or
        because a pass that ended it deeper in the tree does not at the root.
        """
        node = find_position(self.store, self._position, position)
        if self._position is None or node is None or self.store.tree.state[node] != EXPANDED:
            return False
        if not self._has_legal_moves(node, position):
            return False
        if node != ROOT:
            if _has_ended(self._position.game, position.game):
                return False
            if pass_goes_on and position.game.consecutive_passes > 0:
                return False
            self.store.reroot(node)
            self._forget_root()
        return True

    def _has_legal_moves(self, node: int, position: RootPosition) -> bool:
        """Return whether the edges of a node are the legal moves of `position`.

        Superko may forbid other moves if the game has reached a shared node by another line than the search did first.
        """
        tree, first = self.store.tree, int(self.store.tree.first_edge[node])
        moves = tree.move[first : first + int(tree.edges[node])]
        return tree.graph.key.size == 0 or {*moves.tolist()} == {PASS, *position.game.legal_points(position.color)}

    def _forget_root(self) -> None:
        """Drop the evaluation and the ownership of the old root."""
        self.has_moved = True
        self.raw = self.human = None
        self.ownership = new_ownership(*self.board_size, with_moves=False)


def _has_ended(game: Game, later: Game) -> bool:
    """Return whether two passes have ended a game, or have while it continued up to `later`."""
    past = later.copy()
    while len(past.moves) > len(game.moves) and not past.is_over:
        past.undo()
    return past.is_over


def _with_moves(ownership: Ownership) -> Ownership:
    """Return the same sums, with arrays for those of each root move, which lack the samples so far."""
    n = ownership.total.size
    return ownership._replace(move_weight=np.zeros(n), moves=np.zeros((n, n)), move_squares=np.zeros((n, n)))
