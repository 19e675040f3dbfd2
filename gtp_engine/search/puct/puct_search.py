"""PuctSearch: searches the positions of a game with a network, keeping the tree from move to move.

It owns what outlives a single search: the evaluation thread, the random numbers and the tree (`reusable_tree`).  Each
call of `run` moves the tree's root to the position, has it evaluated, and leaves the playouts to a `SearchRun`.
"""

import time
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluation import Evaluation, new_evaluation
from gtp_engine.evaluation.evaluator import ALL_SYMMETRIES, ANY_SYMMETRY, EvaluationOptions, Evaluator
from gtp_engine.evaluation.from_game import advantage_black, conditions_of, write_conditions, write_game
from gtp_engine.evaluation.positions import Conditions
from gtp_engine.go.constants import EMPTY
from gtp_engine.go.game import Game
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits
from gtp_engine.search.puct.anti_mirror import Mirroring, mirroring_in
from gtp_engine.search.puct.evaluation_thread import Calls, EvaluationThread, Job
from gtp_engine.search.puct.leaf_evaluator import LeafEvaluator, NewRolloutPlayer
from gtp_engine.search.puct.leaf_rollouts import Results
from gtp_engine.search.puct.reusable_tree import ReusableTree
from gtp_engine.search.puct.root import pass_goes_on
from gtp_engine.search.puct.search_run import SearchRun
from gtp_engine.search.puct.tree import NEW, ROOT
from gtp_engine.search.puct.tree_report import raw_evaluation
from gtp_engine.search.report import SearchReport
from gtp_engine.search.tree_reuse import RootPosition

_LARGE_BATCH: Final = 16
"""An evaluator that prefers batches of this size runs on a device of its own, so selecting meanwhile gains time."""


class PuctSearch:
    """Searches positions of one game after the other with an evaluator, which stays open when the search is closed.

    `human` is a human-like network beside it, which evaluates the root, and all leaves if the search explores by its
    policy there, unless it lacks a profile.  `new_player` makes the players of rollouts, which it needs if they have a
    share.  `calls` makes the evaluator's calls; by default a thread of its own does.

    One thread at a time uses it.
    """

    def __init__(
        self,
        config: Config,
        evaluator: Evaluator,
        human: Evaluator | None = None,
        new_player: NewRolloutPlayer | None = None,
        calls: Calls | None = None,
    ) -> None:
        if config.puct.rollout_share > 0.0 and new_player is None:
            raise ValueError("a search that mixes rollouts in needs a player of them")
        self._new_player: Final = new_player
        self.config: Final = config
        self.evaluator: Final = evaluator
        lacks_profile = human is not None and human.info.needs_profile and not config.human.human_profile
        self._human: Final = None if lacks_profile else human
        self._explores: Final = self._human is not None and config.human.explores
        self._human_at_leaves: Final = self._human if config.human.explores_tree else None
        self.pipeline: Final = config.puct.pipeline or (2 if evaluator.info.batch >= _LARGE_BATCH else 1)
        self._calls: Final[Calls] = EvaluationThread("evaluator") if calls is None else calls
        self._seed = config.search.seed
        self._random = np.random.default_rng(self._seed)
        self._tree: ReusableTree | None = None

    def run(self, game: Game, limits: Limits, *, to_play: int | None = None) -> SearchReport:
        """Search the position of `game` (not changed) and return what was found.

        `to_play` defaults to the side whose turn it is.  The root is always evaluated, even if the search was cancelled
        before, so that there is a move to choose.  Raises what the evaluator raises.
        """
        cancel = limits.cancel or CancelToken()
        self._calls.drain()
        with cancel.calling(self._calls.wake):
            run = self.begin(self.prepare(game, limits, to_play=to_play), limits, cancel)
            run.run_to_limits()
        return self.report(run)

    def report(self, run: SearchRun) -> SearchReport:
        """Return what a search of this object has found so far; its first move is that of its limits."""
        return run.final_report(self._random)

    def clear(self) -> None:
        """Forget the tree, and start the random numbers again if they have a seed."""
        self._calls.drain()
        self._random = np.random.default_rng(self._seed)
        if self._tree is not None:
            self._tree.clear(self._seed)

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed` (None: differently every time) and forget the tree."""
        self._seed = seed
        self.clear()

    def close(self) -> None:
        """End the thread after the call it is in; the search cannot be used afterwards."""
        self._calls.close()

    def prepare(self, game: Game, limits: Limits, *, to_play: int | None = None) -> "PreparedRoot":
        """Return a position that is the root of the tree, with its evaluation under way."""
        start = time.perf_counter()
        color = game.to_play if to_play is None else to_play
        puct, advantage = self.config.puct, limits.advantage_black
        holder = color if limits.behalf_of is None else limits.behalf_of
        if advantage is None:
            advantage = advantage_black(puct, self.evaluator.info, holder)
        mirroring = mirroring_in(game, color) if limits.anti_mirror else None
        mirrors = EMPTY if mirroring is None else mirroring.color
        explorer = holder if self._explores and self.config.human.explores_unevenly else EMPTY
        ignores = limits.ignores_history and self.evaluator.info.may_lack_history
        position = RootPosition(game.copy(), color, limits.restrictions, advantage, mirrors, explorer, ignores)
        tree = self._fitting_tree(game.width, game.height)
        goes_on = pass_goes_on(puct, limits)
        tree.move_root(position, pass_goes_on=goes_on)
        conditions = conditions_of(
            game,
            playout_doubling_advantage_black=advantage,
            passing_hacks=puct.passing_hacks,
            human_profile=self.config.human.profile.code,
        )
        leaf_evaluator = LeafEvaluator(self._calls, self.evaluator, tree.player, self._human_at_leaves)
        root = tree.buffers.root_positions
        write_game(root, 0, game, color, pass_goes_on=goes_on, with_history=not ignores, conditions=conditions)
        for batch in tree.buffers.batches:
            write_conditions(batch.positions, slice(None), conditions)
        job = by_people = None
        if tree.raw is None:
            job = self._submit_root(tree, leaf_evaluator)
        if tree.human is None and self._human is not None:
            evaluation = new_evaluation(1, game.width, game.height)
            people = LeafEvaluator(self._calls, self._human, None)
            by_people = (self._submit_position(tree, people, evaluation), evaluation)
        return PreparedRoot(start, tree, position, conditions, mirroring, leaf_evaluator, job, by_people)

    def begin(self, prepared: "PreparedRoot", limits: Limits, cancel: CancelToken) -> SearchRun:
        """Return the search of a prepared position, once its root has been evaluated and is in the tree."""
        start, tree, position, conditions, mirroring, leaf_evaluator, job, by_people = prepared
        if job is not None:
            self._wait(job)
            tree.raw = raw_evaluation(tree.buffers.root_evaluation, 0, has_score=self.evaluator.info.has_score)
        if by_people is not None and self._human is not None:
            self._wait(by_people[0])
            tree.human = raw_evaluation(by_people[1], 0, has_score=self._human.info.has_score)
        game = position.game
        if pass_goes_on(self.config.puct, limits) and game.consecutive_passes > 0:
            root = tree.buffers.root_positions  # as for leaves
            write_game(root, 0, game, position.color, with_history=not position.ignores_history, conditions=conditions)
        if limits.move_ownership:
            tree.collect_move_ownership()
        assert tree.raw is not None, "evaluated here or by an earlier search"
        run = SearchRun(self.config, leaf_evaluator, tree, position, tree.raw, mirroring, limits, cancel, start)
        if job is not None:
            run.add_root_evaluation()
        run.set_root_priors(self._random)
        return run

    def _fitting_tree(self, width: int, height: int) -> ReusableTree:
        """Return the tree, which is a new one if it was for boards of another size."""
        if self._tree is None or self._tree.board_size != (width, height):
            size = self.config.puct.eval_batch or self.evaluator.info.search_batch(width, height)
            self._tree = ReusableTree(
                self.config,
                width,
                height,
                new_player=self._new_player,
                batches=self.pipeline,
                batch_size=size,
                seed=self._seed,
                explores_by_people=self._explores,
                people_in_tree=self._human_at_leaves is not None,
            )
        return self._tree

    def _submit_root(self, tree: ReusableTree, leaf_evaluator: LeafEvaluator) -> Job:
        """Return the job that evaluates the root in `root_positions`.

        A root that is new is played out as well; one that was a leaf before has been.
        """
        is_new = tree.store.tree.state[ROOT] == NEW
        results = tree.buffers.batches[0].results if is_new else None
        return self._submit_position(tree, leaf_evaluator, tree.buffers.root_evaluation, results)

    def _submit_position(
        self, tree: ReusableTree, leaf_evaluator: LeafEvaluator, out: Evaluation, results: Results | None = None
    ) -> Job:
        """Return the job that writes the evaluation of the root to `out`."""
        puct = self.config.puct
        options = EvaluationOptions(
            symmetry=ALL_SYMMETRIES if puct.root_average else ANY_SYMMETRY, optimism=puct.root_policy_optimism
        )
        return leaf_evaluator.submit(tree.buffers.root_positions, 1, out, results, options)

    def _wait(self, job: Job) -> None:
        """Wait for a job, even if the search was cancelled."""
        while not self._calls.wait(job):
            pass


class PreparedRoot(NamedTuple):
    """What `PuctSearch.prepare` returns: the root of a search that is about to begin."""

    start: float  # of `time.perf_counter`
    tree: ReusableTree
    position: RootPosition
    conditions: Conditions
    mirroring: Mirroring | None
    leaf_evaluator: LeafEvaluator
    job: Job | None  # evaluates the root; None if an earlier search did
    by_people: tuple[Job, Evaluation] | None  # the same by the human-like network
