"""One search of one position by rollouts: playouts in batches until a limit is reached.

One thread selects and backs up; the leaves of a batch are played out by a pool of threads in kernels that hold no GIL.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np

from gtp_engine.config import SearchConfig
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.from_game import SUPERKO, TAX
from gtp_engine.go.board import clone
from gtp_engine.go.constants import NULL_POINT
from gtp_engine.go.game import Game
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits, avoid_until_depths
from gtp_engine.search.report import SearchReport
from gtp_engine.search.rollouts.reusable_rollout_tree import ReusableRolloutTree
from gtp_engine.search.rollouts.rollout import POLICIES, TACTICAL
from gtp_engine.search.rollouts.rollout_select import (
    RAVE,
    UCT,
    Params,
    Position,
    back_up,
    evaluate_leaves,
    select_leaves,
    write_results,
)
from gtp_engine.search.rollouts.rollout_tree import ROOT
from gtp_engine.search.rollouts.rollout_tree_report import number_of_choices, rollout_progress, rollout_report
from gtp_engine.search.tree_reuse import RootPosition

_WATCH_INTERVAL: Final = 0.005
"""Least seconds between two calls of the watcher; calling it after every batch took 3 % of a search on 9×9."""


class RolloutRun:
    """A search of `position`, the root of `tree`, with the threads of `pool` and this one; `start` is when it began.

    `cancel` is checked after every batch.
    """

    def __init__(
        self,
        config: SearchConfig,
        tree: ReusableRolloutTree,
        position: RootPosition,
        pool: ThreadPoolExecutor,
        threads: int,
        limits: Limits,
        cancel: CancelToken,
        start: float,
    ) -> None:
        self._tree: Final = tree
        self._position: Final = kernel_position(position)
        self._params: Final = kernel_params(config, position.game)
        self._pool: Final = pool
        self._threads: Final = threads
        self._limits: Final = limits
        self._cancel: Final = cancel
        self._start: Final = start
        self._playouts = 0
        self._next_watch = 0.0
        self._next_report = 0.0

    def run_to_limits(self) -> None:
        """Do playouts, one batch at least, until a limit is reached or the search is cancelled."""
        while True:
            count = self._next_count()
            self._play_batch(count)
            self._playouts += count
            seconds = self._seconds()
            if self._cancel.is_cancelled or self._has_all_visits() or self._has_no_choice():
                break
            if self._watcher_stops(seconds):
                break
            self._report_if_due(seconds)

    def report(self, seconds: float | None = None) -> SearchReport:
        """Return what was found in so many seconds; None: until now."""
        seconds = self._seconds() if seconds is None else seconds
        return rollout_report(self._tree, self._position.color, self._playouts, seconds)

    # --- playouts ---

    def _next_count(self) -> int:
        """Return how many playouts the next batch holds."""
        size, visits = self._tree.buffers.leaves.depth.size, self._limits.visits
        return size if visits is None else max(1, min(size, visits - int(self._tree.store.tree.visits[ROOT])))

    def _play_batch(self, count: int) -> None:
        """Do `count` playouts: select, play out on all threads, back up."""
        self._tree.store.reserve(count)  # which may replace the tree's arrays
        tree, buffers, params = self._tree.store.tree, self._tree.buffers, self._params
        leaves, zobrist = buffers.leaves, self._position.board.zobrist
        select_leaves(tree, self._position, params, leaves, count, buffers.works[0])
        share = -(-count // self._threads)

        def evaluate(thread: int) -> None:
            begin, end = thread * share, min(count, (thread + 1) * share)
            player, sums = buffers.players[thread], buffers.sums[thread]
            if player is None:
                evaluate_leaves(leaves, begin, end, zobrist, params, buffers.works[thread], sums)
            else:
                player.play_out(leaves, begin, end, zobrist)
                write_results(leaves, begin, end, zobrist, params, sums)

        others = [self._pool.submit(evaluate, thread) for thread in range(1, -(-count // share))]
        evaluate(0)
        for other in others:
            other.result()
        back_up(tree, params, leaves, count)

    # --- limits and reports ---

    def _has_all_visits(self) -> bool:
        """Return whether the root has the visits that the limits allow."""
        return self._limits.visits is not None and bool(self._tree.store.tree.visits[ROOT] >= self._limits.visits)

    def _has_no_choice(self) -> bool:
        """Return whether the limits leave out every move."""
        return bool(self._limits.restrictions) and number_of_choices(self._tree.store, self._position) == 0

    def _watcher_stops(self, seconds: float) -> bool:
        """Return whether the watcher ends the search; it is called at most once in _WATCH_INTERVAL."""
        if self._limits.watcher is None or seconds < self._next_watch:
            return False
        if self._limits.watcher(rollout_progress(self._tree.store, self._position, self._playouts, seconds)):
            return True
        self._next_watch = seconds + _WATCH_INTERVAL
        return False

    def _report_if_due(self, seconds: float) -> None:
        """Report when the interval is over."""
        reporting = self._limits.reporting
        if reporting is not None and seconds >= self._next_report:
            reporting.receive(self.report(seconds))
            self._next_report = seconds + reporting.interval

    def _seconds(self) -> float:
        """Return how long the search has taken so far."""
        return time.perf_counter() - self._start


def kernel_position(root: RootPosition) -> Position:
    """Return the root position for kernels."""
    game, last = root.game, root.game.last_move
    avoid_until = avoid_until_depths(root.restrictions, game.board.color.size)
    return Position(
        board=clone(game.board),
        color=root.color,
        last=NULL_POINT if last is None else last.point,
        passes=0 if game.is_over else game.consecutive_passes,
        free_button=game.has_free_button,
        history=np.sort(game.superko_keys()),
        avoid_until=avoid_until,
        unrestricted_from=int(avoid_until.max()),
    )


def kernel_params(config: SearchConfig, game: Game) -> Params:
    """Return the numbers for a search of a game's position."""
    is_rave = config.search != "uct"  # without a network, auto is rave
    return Params(
        algorithm=RAVE if is_rave else UCT,
        exploration=config.exploration_rave if is_rave else config.exploration_uct,
        rave_equivalence=config.rave_equivalence,
        expand_visits=config.expand_visits,
        prior_weight=config.prior_weight,
        margin_weight=config.margin_weight,
        policy=kernel_policy(config),
        komi=game.area_komi,
        superko=SUPERKO[game.rules.ko],
        tax=TAX[game.rules.tax],
    )


def kernel_policy(config: SearchConfig) -> int:
    """Return the number of the kernels' policy for rollouts, which has no meaning where a player replaces it.

    Raises ConfigError if the configuration asks for a network.
    """
    if config.rollout_policy == "network":
        given = "search.rollout_policy = network in a search without a network"
        raise ConfigError(problem(given, expected="auto, linear, tactical or uniform"))
    return POLICIES.get(config.rollout_policy, TACTICAL)
