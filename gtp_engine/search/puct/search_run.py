"""One search of one position: playouts in batches until a limit is reached.

The searching thread selects and backs up; the evaluation thread evaluates.  While a batch is being evaluated, the
searching thread reports, selects the next batch if the pipeline has one free, and stops waiting once the search is
cancelled: batches under way are then taken back from the tree, and their evaluations are dropped when they come (the
evaluator's cache keeps them).

The pipeline, with two batches:

    searching thread     select A   select B   wait ...   back up A   select A'   wait ...   back up B   select B'
    evaluation thread               evaluate A ............ evaluate B ............ evaluate A' ...

With one batch the two threads take turns, which is best where the evaluation needs all cores itself.

With a seed, a search of a given number of visits repeats exactly: batches are selected and backed up in an order that
does not depend on time.  Without one, a leaf may get the cached evaluation of the same position after other moves, so
that results depend on what was searched before.
"""

import time
from collections import deque
from dataclasses import replace
from math import inf
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluation import Evaluation
from gtp_engine.evaluation.evaluator import EvaluationOptions
from gtp_engine.go.constants import BLACK
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import FirstMove, Limits
from gtp_engine.search.puct.anti_mirror import (
    Mirroring,
    adjust_evaluation,
    is_difficult,
    plain_averages,
    raise_priors,
    value_centre,
)
from gtp_engine.search.puct.expand import (
    abandon,
    add_ownership,
    back_up,
    expand_and_back_up,
    expand_leaves,
    recompute_utilities,
    write_network_evaluation,
)
from gtp_engine.search.puct.leaf_batches import Batch
from gtp_engine.search.puct.leaf_evaluator import LeafEvaluator
from gtp_engine.search.puct.leaf_rollouts import mix_rollouts
from gtp_engine.search.puct.leaves import Root
from gtp_engine.search.puct.means import update_means
from gtp_engine.search.puct.reusable_tree import ReusableTree
from gtp_engine.search.puct.root import (
    Mirror,
    cleans_up,
    duplicates,
    early_value,
    ending_points,
    human_exploration_of,
    mirrors_of,
    new_root,
    params_of,
    pass_goes_on,
    root_policy,
    useless_points,
)
from gtp_engine.search.puct.select import select_batch
from gtp_engine.search.puct.tree import NEW, ROOT, SCORE, WEIGHT, set_human_priors, set_priors
from gtp_engine.search.puct.tree_report import SearchView, progress_of, report_of
from gtp_engine.search.puct.utility import Params, utility_per_point
from gtp_engine.search.report import RawEvaluation, SearchReport
from gtp_engine.search.tree_reuse import RootPosition

_WATCH_INTERVAL: Final = 0.005
"""Least seconds between two calls of the watcher, which would slow fast networks down, and longest wait for a slow one
before the clock is read again."""


class SearchRun:
    """A search of `position`, the root of `tree`; `raw` is its evaluation, `mirroring` is about the opponent.

    `start` is when the search began (`time.perf_counter`).  `cancel` is checked between batches and while waiting.
    """

    def __init__(
        self,
        config: Config,
        leaf_evaluator: LeafEvaluator,
        tree: ReusableTree,
        position: RootPosition,
        raw: RawEvaluation,
        mirroring: Mirroring | None,
        limits: Limits,
        cancel: CancelToken,
        start: float,
    ) -> None:
        self._config: Final = config.puct
        is_best = limits.first_move is FirstMove.BEST
        self._human_config: Final = replace(config.human, human_move_share=0.0) if is_best else config.human
        self._leaf_evaluator: Final = leaf_evaluator
        self._tree: Final = tree
        self._position: Final = position
        self._raw: Final = raw
        self._mirroring: Final = mirroring
        self._limits: Final = limits
        self._cancel: Final = cancel
        self._start: Final = start
        store, positions = tree.store.tree, tree.buffers.root_positions
        is_known = store.state[ROOT] != NEW
        params = params_of(
            config,
            position.game,
            limits,
            expected_score=float(store.mean[ROOT, SCORE]) if is_known else raw.score_black,
            has_score=leaf_evaluator.info.has_score,
            has_ownership=leaf_evaluator.info.has_ownership,
            has_errors=raw.winloss_error >= 0.0,
        )
        resumes = limits.resumes and not tree.has_moved
        if resumes:
            params = params._replace(dynamic_center=tree.score_center)
        self._params: Final[Params] = params if mirroring is None else plain_averages(params)
        can_prune = config.puct.symmetry_pruning and not limits.restrictions
        self._mirrors: Final[list[Mirror]] = mirrors_of(position.game, positions) if can_prune else []
        self._duplicates: Final = duplicates(position.game, position.color, self._mirrors)
        self._people: Final = human_exploration_of(config.human)
        left_out = self._duplicates | self._useless_points()
        self._root: Final[Root] = new_root(
            position.game,
            position.color,
            positions,
            restrictions=limits.restrictions,
            left_out=left_out,
            bonus=self._ending_bonus(),
            cleans_up=cleans_up(config, position.game, leaf_evaluator.info),
            pass_goes_on=pass_goes_on(config.puct, limits),
        )
        has_forgotten = is_known and tree.store.forget_moves(left_out)
        self._visits_before: Final = int(tree.store.tree.visits[ROOT])
        self._playouts = 0
        self._next_watch = 0.0
        self._next_report = 0.0 if limits.reporting is not None else inf
        if is_known and not resumes:
            self._update_reused_tree(has_forgotten=has_forgotten)
        tree.score_center = self._params.dynamic_center

    def _update_reused_tree(self, *, has_forgotten: bool) -> None:
        """Recompute what has changed in an earlier search's tree; `has_forgotten`: the root has fewer moves now."""
        tree, store, params, color = self._tree.store.tree, self._tree.store, self._params, self._root.color
        work = self._tree.buffers.means_work
        has_new_center = params.dynamic_weight > 0.0 and params.dynamic_center != self._tree.score_center
        if has_new_center or params.subtree_bias > 0.0:  # corrections change when nodes leave the tree
            colors, order = np.zeros(store.used, dtype=np.int8), np.zeros((3, store.used), dtype=np.int32)
            recompute_utilities(tree, color, params, colors, order, work)
        elif has_forgotten:
            update_means(tree, ROOT, color, params, work)

    # --- the root ---

    def _useless_points(self) -> set[int]:
        """Return the points that are left out because a move there changes nothing."""
        return useless_points(self._position.game, self._position.color) if self._config.useless_pruning else set()

    def _ending_bonus(self) -> NDArray[np.float64]:
        """Return the bonus on the utility of the root's moves late in a game, float64[n], Black's."""
        game, color, raw = self._position.game, self._position.color, self._raw
        points = ending_points(game, color, raw.ownership_black, self._config.ending_bonus)
        sign = 1.0 if color == BLACK else -1.0
        return sign * points * utility_per_point(raw.score_black, self._params)

    def add_root_evaluation(self) -> None:
        """Add the evaluation of the root: as the first playout, or instead of the one it had as a leaf."""
        tree, buffers = self._tree.store.tree, self._tree.buffers
        evaluation = buffers.root_evaluation
        if tree.state[ROOT] == NEW:
            batch = buffers.batches[0]
            self._select(batch, 1)
            self._expand_and_back_up(batch, 1, evaluation)
            self._playouts += 1
            return
        if self._mirroring is not None and is_difficult(self._mirroring, self._position.game.board):
            value_centre(self._mirroring, evaluation, 0)
        if self._params.rollout_share == 0.0:
            write_network_evaluation(tree, ROOT, evaluation, 0, self._params)
            update_means(tree, ROOT, self._root.color, self._params, buffers.means_work)
        if self._params.has_ownership:
            add_ownership(self._tree.ownership, 0, float(tree.own[ROOT, WEIGHT]), 0, evaluation.ownership_black[0])

    def set_root_priors(self, random: np.random.Generator) -> None:
        """Flatten the root's prior and add noise, as configured."""
        tree, game = self._tree.store.tree, self._position.game
        first = int(tree.first_edge[ROOT])
        legal = tree.move[first : first + int(tree.edges[ROOT])]
        policy = root_policy(self._raw.policy, legal, self._config, game, random)
        if self._mirroring is not None:
            raise_priors(self._mirroring, [], game.board, policy)
        set_priors(tree, ROOT, policy)
        if self._tree.human is not None and tree.human_prior.size > 0:
            set_human_priors(tree, ROOT, self._tree.human.policy)

    # --- playouts ---

    def run_to_limits(self) -> None:
        """Do playouts until a limit is reached or the search is cancelled."""
        free, under_way = list(self._tree.buffers.batches), deque[Batch]()
        if not self._has_choices():
            return
        try:
            while not (self._cancel.is_cancelled or self._has_all_visits()):
                self._report_if_due()
                if self._watcher_stops():
                    break
                while free:  # selected while older batches are being evaluated
                    count = self._next_count(sum(batch.playouts for batch in under_way))
                    if count > 0 and self._tree.store.is_full(count):
                        if under_way:
                            break  # their paths name nodes, which pruning renumbers
                        self._tree.store.prune()
                    if count <= 0 or not self._send(free[-1], count):
                        break
                    under_way.append(free.pop())
                if not under_way or not self._wait(under_way[0]):
                    break
                free.append(under_way[0])
                self._receive(under_way.popleft())
        finally:
            for batch in under_way:
                abandon(self._tree.store.tree, batch.leaves, batch.rows)

    def send(self) -> bool:
        """Return whether a batch was selected and sent; the search is over if not.  `receive` adds it to the tree.

        For a search that takes turns with others; it has one batch under way at a time.
        """
        if self._cancel.is_cancelled or self._has_all_visits() or not self._has_choices() or self._watcher_stops():
            return False
        count = self._next_count(0)
        if count > 0 and self._tree.store.is_full(count):
            self._tree.store.prune()
        return count > 0 and self._send(self._tree.buffers.batches[0], count)

    def receive(self) -> None:
        """Wait for the batch that was sent and add it to the tree."""
        batch = self._tree.buffers.batches[0]
        if batch.job is not None:
            while not self._leaf_evaluator.wait(batch.job):
                pass
        self._receive(batch)

    def _has_choices(self) -> bool:
        """Return whether there is a move that was not left out."""
        return progress_of(self._view(), 0, 0.0).choices > 0

    def _next_count(self, under_way: int) -> int:
        """Return how many playouts the next batch should hold while `under_way` are under way.

        At most `in_flight_share` of the root's visits are under way at a time: playouts are selected without the
        results of those under way, and while the root has few visits that would be most of a large batch.
        """
        visits, limit = self._visits, self._limits.visits
        share = max(1, int(self._config.in_flight_share * visits))
        count = min(self._tree.buffers.batch_size, share - under_way)
        return count if limit is None else min(count, limit - visits - under_way)

    def _select(self, batch: Batch, count: int) -> None:
        """Fill a batch with `count` playouts, or as many as can be selected."""
        self._tree.store.reserve(count)  # which may replace the tree's arrays
        tree, buffers = self._tree.store.tree, self._tree.buffers
        leaves, positions, work, rng = batch.leaves, batch.positions, buffers.path_work, buffers.rng
        root, params, people = self._root, self._params, self._people
        select_batch(tree, root, params, people, leaves, positions, count, work, rng, batch.filled)

    def _send(self, batch: Batch, count: int) -> bool:
        """Return whether a batch was selected and sent; not if every leaf it could reach is under way already."""
        self._select(batch, count)
        if batch.playouts == 0:
            abandon(self._tree.store.tree, batch.leaves, batch.rows)
            return False
        batch.job = None
        if batch.evaluations > 0:
            shared = not self._tree.has_seed
            options = EvaluationOptions(optimism=self._config.policy_optimism, shares_transpositions=shared)
            batch.job = self._leaf_evaluator.submit(
                batch.positions, batch.evaluations, batch.evaluation, batch.results, options, batch.by_people
            )
        return True

    def _wait(self, batch: Batch) -> bool:
        """Return whether a batch was evaluated before the search was cancelled; reports meanwhile."""
        if batch.job is None:
            return True
        while not self._leaf_evaluator.wait(batch.job, _WATCH_INTERVAL):
            if self._cancel.is_cancelled:
                return False
            self._report_if_due()
        return True

    def _receive(self, batch: Batch) -> None:
        """Add an evaluated batch to the tree."""
        self._expand_and_back_up(batch, batch.rows, batch.evaluation)
        batch.add_human_priors(self._tree.store.tree)
        self._playouts += batch.counted

    def _expand_and_back_up(self, batch: Batch, rows: int, evaluation: Evaluation) -> None:
        """Add the first `rows` rows of a batch to the tree."""
        tree, params, work = self._tree.store.tree, self._params, self._tree.buffers.means_work
        leaves, positions, ownership = batch.leaves, batch.positions, self._tree.ownership
        if self._mirroring is not None:
            adjust_evaluation(self._mirroring, leaves, rows, positions, evaluation)
        if self._tree.player is None:
            expand_and_back_up(tree, params, leaves, rows, positions, evaluation, ownership, work)
            return
        expand_leaves(tree, params, leaves, rows, positions, evaluation)
        mix_rollouts(tree, params, leaves, rows, evaluation, batch.results)
        back_up(tree, params, leaves, rows, evaluation, ownership, work)

    # --- limits and reports ---

    @property
    def _visits(self) -> int:
        """The visits of the root, and the playouts of this search that were explored without weight."""
        return self._visits_before + self._playouts

    def _has_all_visits(self) -> bool:
        """Return whether the search has the visits that the limits allow."""
        return self._limits.visits is not None and self._visits >= self._limits.visits

    def _watcher_stops(self) -> bool:
        """Return whether the watcher ends the search; it is called at most once in _WATCH_INTERVAL."""
        seconds = self._seconds()
        if self._limits.watcher is None or seconds < self._next_watch:
            return False
        self._next_watch = seconds + _WATCH_INTERVAL
        return self._limits.watcher(progress_of(self._view(), self._playouts, seconds))

    def _report_if_due(self) -> None:
        """Report when the interval is over, for the first time as soon as a move was tried."""
        seconds, reporting = self._seconds(), self._limits.reporting
        if reporting is not None and seconds >= self._next_report and self._visits > 1:
            reporting.receive(report_of(self._view(), self._playouts, seconds))
            self._next_report = seconds + reporting.interval

    def final_report(self, random: np.random.Generator) -> SearchReport:
        """Return what was found; the first move is drawn if the limits say so."""
        if self._limits.first_move is not FirstMove.DRAWN:
            return report_of(self._view(), self._playouts, self._seconds())
        game, config = self._position.game, self._config
        temperature = early_value(config, game, early=config.temperature_early, late=config.temperature)
        return report_of(self._view(), self._playouts, self._seconds(), temperature, random)

    def _seconds(self) -> float:
        """Return how long the search has taken so far."""
        return time.perf_counter() - self._start

    def _view(self) -> SearchView:
        """Return what reports are made from."""
        return SearchView(
            tree=self._tree.store.tree,
            root=self._root,
            params=self._params,
            config=self._config,
            raw=self._raw,
            human=self._tree.human,
            human_config=self._human_config,
            ownership=self._tree.ownership,
            mirrors=self._mirrors,
            duplicates=self._duplicates,
            memory=self._tree.store.memory,
        )
