"""PuctSearch: searches the positions of a game with a network, keeping the tree from move to move.

It owns what outlives a single search: the evaluation thread, the random numbers and the tree (`reusable_tree`).  Each
call of `run` moves the tree's root to the position, has it evaluated, and leaves the playouts to a `SearchRun`.
"""

import time
from typing import Final

import numpy as np

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluation import Evaluation, new_evaluation
from gtp_engine.evaluation.evaluator import ALL_SYMMETRIES, ANY_SYMMETRY, EvaluationOptions, Evaluator
from gtp_engine.evaluation.from_game import advantage_black, conditions_of, write_game
from gtp_engine.go.constants import EMPTY
from gtp_engine.go.game import Game
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.anti_mirror import mirroring_in
from gtp_engine.search.puct.evaluation_thread import EvaluationThread
from gtp_engine.search.puct.leaf_evaluator import LeafEvaluator
from gtp_engine.search.puct.leaf_rollouts import Results
from gtp_engine.search.puct.reusable_tree import ReusableTree
from gtp_engine.search.puct.rollout_players import check_rollout_policy
from gtp_engine.search.puct.search_run import SearchRun
from gtp_engine.search.puct.tree import NEW, ROOT
from gtp_engine.search.puct.tree_report import raw_evaluation
from gtp_engine.search.report import RawEvaluation, SearchReport
from gtp_engine.search.tree_reuse import RootPosition

_LARGE_BATCH: Final = 16
"""An evaluator that prefers batches of this size runs on a device of its own, so selecting meanwhile gains time."""


class PuctSearch:
    """Searches positions of one game after the other with an evaluator, which stays open when the search is closed.

    `human` is a human-like network beside it, which evaluates the root unless it lacks a profile.

    One thread at a time uses it.  Raises ConfigError if rollouts should be played by a network that is not loaded.
    """

    def __init__(self, config: Config, evaluator: Evaluator, human: Evaluator | None = None) -> None:
        check_rollout_policy(config, evaluator)
        self.config: Final = config
        self.evaluator: Final = evaluator
        lacks_profile = human is not None and human.info.needs_profile and not config.human.human_profile
        self._human: Final = None if lacks_profile else human
        self.batch_size: Final = config.puct.eval_batch or evaluator.info.batch
        self.pipeline: Final = config.puct.pipeline or (2 if evaluator.info.batch >= _LARGE_BATCH else 1)
        self._thread: Final = EvaluationThread("evaluator")
        self._seed = config.search.seed
        self._random = np.random.default_rng(self._seed)
        self._tree: ReusableTree | None = None

    def run(self, game: Game, limits: Limits, *, to_play: int | None = None) -> SearchReport:
        """Search the position of `game` (not changed) and return what was found.

        `to_play` defaults to the side whose turn it is.  The root is always evaluated, even if the search was cancelled
        before, so that there is a move to choose.  Raises what the evaluator raises.
        """
        start = time.perf_counter()
        cancel = limits.cancel or CancelToken()
        self._thread.drain()
        with cancel.calling(self._thread.wake):
            run = self._begin(game, game.to_play if to_play is None else to_play, limits, cancel, start)
            run.run_to_limits()
        return run.final_report(self._random)

    def clear(self) -> None:
        """Forget the tree, and start the random numbers again if they have a seed."""
        self._thread.drain()
        self._random = np.random.default_rng(self._seed)
        if self._tree is not None:
            self._tree.clear(self._seed)

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed` (None: differently every time) and forget the tree."""
        self._seed = seed
        self.clear()

    def close(self) -> None:
        """End the thread after the call it is in; the search cannot be used afterwards."""
        self._thread.close()

    def _begin(self, game: Game, color: int, limits: Limits, cancel: CancelToken, start: float) -> SearchRun:
        """Return the search of a position, whose root has been evaluated and is in the tree."""
        puct, advantage = self.config.puct, limits.advantage_black
        if advantage is None:
            holder = color if limits.behalf_of is None else limits.behalf_of
            advantage = advantage_black(puct, self.evaluator.info, holder)
        mirroring = mirroring_in(game, color) if limits.anti_mirror else None
        mirrors = EMPTY if mirroring is None else mirroring.color
        position = RootPosition(game.copy(), color, limits.restrictions, advantage, mirrors)
        tree = self._fitting_tree(game.width, game.height)
        tree.move_root(position, pass_goes_on=puct.conservative_pass)
        conditions = conditions_of(
            game,
            playout_doubling_advantage_black=advantage,
            passing_hacks=puct.passing_hacks,
            human_profile=self.config.human.profile.code,
        )
        leaf_evaluator = LeafEvaluator(self._thread, self.evaluator, tree.player, conditions)
        write_game(tree.buffers.root_positions, 0, game, color, pass_goes_on=puct.conservative_pass)
        raw, is_new = tree.raw, tree.raw is None
        if raw is None:
            raw = tree.raw = self._evaluate_root(tree, leaf_evaluator)
        if tree.human is None and self._human is not None:
            by_people = LeafEvaluator(self._thread, self._human, None, conditions)
            tree.human = self._evaluate_position(tree, by_people, new_evaluation(1, game.width, game.height))
        if puct.conservative_pass and game.consecutive_passes > 0:
            write_game(tree.buffers.root_positions, 0, game, color)  # with the past of the leaves
        if limits.move_ownership:
            tree.collect_move_ownership()
        run = SearchRun(self.config, leaf_evaluator, tree, position, raw, mirroring, limits, cancel, start)
        if is_new:
            run.add_root_evaluation()
        run.set_root_priors(self._random)
        return run

    def _fitting_tree(self, width: int, height: int) -> ReusableTree:
        """Return the tree, which is a new one if it was for boards of another size."""
        if self._tree is None or self._tree.board_size != (width, height):
            batches, size, seed = self.pipeline, self.batch_size, self._seed
            self._tree = ReusableTree(
                self.config, self.evaluator, width, height, batches=batches, batch_size=size, seed=seed
            )
        return self._tree

    def _evaluate_root(self, tree: ReusableTree, leaf_evaluator: LeafEvaluator) -> RawEvaluation:
        """Return the evaluation of the root in `root_positions`.

        A root that is new is played out as well; one that was a leaf before has been.
        """
        is_new = tree.store.tree.state[ROOT] == NEW
        results = tree.buffers.batches[0].results if is_new else None
        return self._evaluate_position(tree, leaf_evaluator, tree.buffers.root_evaluation, results)

    def _evaluate_position(
        self, tree: ReusableTree, leaf_evaluator: LeafEvaluator, out: Evaluation, results: Results | None = None
    ) -> RawEvaluation:
        """Return the evaluation of the root, also written to `out`; waits for it even if the search was cancelled."""
        puct = self.config.puct
        options = EvaluationOptions(
            symmetry=ALL_SYMMETRIES if puct.root_average else ANY_SYMMETRY, optimism=puct.root_policy_optimism
        )
        job = leaf_evaluator.submit(tree.buffers.root_positions, 1, out, results, options)
        while not leaf_evaluator.wait(job):
            pass
        return raw_evaluation(out, 0)
