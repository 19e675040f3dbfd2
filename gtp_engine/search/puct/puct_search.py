"""The search: playouts in batches on a tree kept from move to move, judged by an evaluator.

One thread selects and backs up; another calls the evaluator.  While that works, the searching thread reports, selects
the next batch if the pipeline has room for one, and stops waiting when it is told to: a batch that nobody waits for is
taken back from the tree, and its answers are dropped when they come (the evaluator's cache remembers them).

With a seed, a search of a given number of visits repeats exactly: batches are selected and backed up in an order that
does not depend on time.
"""

import time
from collections import deque
from collections.abc import Callable
from math import inf
from typing import Final

import numpy as np

from gtp_engine.config import Config
from gtp_engine.evaluation.evaluation import Evaluation
from gtp_engine.evaluation.evaluator import ALL_SYMMETRIES, ANY_SYMMETRY, EvaluationOptions, Evaluator
from gtp_engine.evaluation.from_game import advantage_black, conditions_of, write_game
from gtp_engine.go.constants import BLACK
from gtp_engine.go.game import Game
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits, Restriction
from gtp_engine.search.puct.evaluation_thread import Worker
from gtp_engine.search.puct.expand import (
    Ownership,
    abandon,
    add_ownership,
    back_up,
    expand_and_back_up,
    judge_and_expand,
    new_ownership,
    say_what_was_judged,
)
from gtp_engine.search.puct.leaf_batches import Arrays, Batch
from gtp_engine.search.puct.leaf_rollouts import mix_rollouts
from gtp_engine.search.puct.leaves import Root
from gtp_engine.search.puct.means import update_means
from gtp_engine.search.puct.mirrors import Mirror, duplicates, mirrors_of
from gtp_engine.search.puct.rollout_players import Player, check_rollouts, new_player
from gtp_engine.search.puct.root import early_value, ending_points, new_root, root_policy
from gtp_engine.search.puct.search_params import params_of
from gtp_engine.search.puct.select import select_batch
from gtp_engine.search.puct.tree import NEW, OPEN, ROOT, SCORE, WEIGHT, TreeStore, set_priors
from gtp_engine.search.puct.tree_report import View, progress_of, raw_evaluation, report_of
from gtp_engine.search.puct.utility import Params, utility_per_point
from gtp_engine.search.report import RawEvaluation, SearchReport
from gtp_engine.search.tree_reuse import moves_since

_WATCH_INTERVAL: Final = 0.005
"""Least seconds between two questions to the watcher, which would slow quick networks down, and between two looks at
the clock while a slow one is waited for."""

_LARGE_BATCH: Final = 16
"""An evaluator that likes batches of this size runs on a device of its own, so that selecting meanwhile gains time."""


class PuctSearch:
    """Searches positions of one game after the other with an evaluator, which stays open when the search is closed.

    `run` is called by one thread at a time; `stop` may be called from any other.  Raises ConfigError if rollouts should
    be played by a network that is not there.
    """

    def __init__(self, config: Config, evaluator: Evaluator) -> None:
        check_rollouts(config, evaluator)
        self.config: Final = config
        self.evaluator: Final = evaluator
        self.batch: Final = config.puct.eval_batch or evaluator.info.batch
        self.pipeline: Final = config.puct.pipeline or (2 if evaluator.info.batch >= _LARGE_BATCH else 1)
        self._worker: Final = Worker("evaluator")
        self._cancel = CancelToken()
        self._seed = config.search.seed
        self.clear()

    def run(self, game: Game, limits: Limits, *, to_play: int | None = None) -> SearchReport:
        """Search the position of `game` (not changed) and return what was found.

        `to_play` defaults to the side whose turn it is.  The root is always evaluated, even if the search was cancelled
        before, so that there is a move to choose.  Raises what the evaluator raises.
        """
        self._start = time.perf_counter()
        self._playouts = 0
        self._next_watch, self._next_report = 0.0, 0.0 if limits.reporting is not None else inf
        self._cancel = limits.cancel or CancelToken()
        self._worker.drain()
        with self._cancel.calling(self._worker.wake):
            self._begin(game, game.to_play if to_play is None else to_play, limits)
            self._search(limits)
        temperature = self._temperature(game)
        return report_of(self._view(), self._playouts, self._seconds(), temperature, self._random)

    def stop(self) -> None:
        """End a running search at once, save for the evaluation of its root; without one, do nothing."""
        self._cancel.cancel()

    def clear(self) -> None:
        """Forget the tree, and start the random numbers again if they have a seed."""
        self._worker.drain()
        self._random = np.random.default_rng(self._seed)
        self._arrays: Arrays | None = None
        self._game: Game | None = None
        self._color = BLACK
        self._advantage = 0.0
        self._restrictions: tuple[Restriction, ...] = ()
        self._raw: RawEvaluation | None = None

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed` (None: differently every time) and forget the tree."""
        self._seed = seed
        self.clear()

    def close(self) -> None:
        """End the thread after the call it is in; the search cannot be used afterwards."""
        self._worker.close()

    # --- the beginning: the root ---

    def _begin(self, game: Game, color: int, limits: Limits) -> None:
        """Set everything up for a search: the tree at the game's position, its root judged."""
        arrays, puct = self._fit_arrays(game.width, game.height), self.config.puct
        advantage = advantage_black(puct, color if limits.behalf_of is None else limits.behalf_of)
        if advantage != self._advantage or not self._follow(game, color, limits.restrictions):
            self._store.clear()
            self._raw = None
        self._game, self._color, self._restrictions = game.copy(), color, limits.restrictions
        self._advantage = advantage
        self._conditions = conditions_of(
            game, playout_doubling_advantage_black=advantage, passing_hacks=puct.passing_hacks
        )
        write_game(arrays.root_positions, 0, game, color)
        raw, is_new = self._raw, self._raw is None
        if raw is None:
            raw = self._raw = self._judge_root(arrays)
            self._ownership = new_ownership(game.width, game.height, with_moves=limits.move_ownership)
        elif limits.move_ownership and self._ownership.moves.shape[0] == 1:
            self._ownership = _with_moves(self._ownership)
        self._set_root(game, limits, raw)
        if is_new:
            self._add_root_judgement(arrays)
        tree = self._store.tree
        first = int(tree.first_edge[ROOT])
        legal = tree.move[first : first + int(tree.edges[ROOT])]
        set_priors(tree, ROOT, root_policy(raw.policy, legal, puct, game, self._random))

    def _fit_arrays(self, width: int, height: int) -> Arrays:
        """Return the arrays for boards of this size; the tree is new if they are."""
        if self._arrays is None or self._arrays.board_size != (width, height):
            self._arrays = Arrays(width, height, batches=self.pipeline, size=self.batch, seed=self._seed)
            rng = self._arrays.rollout_rng
            self._player: Player | None = new_player(
                self.config, self.evaluator, size=self.batch, width=width, height=height, rng=rng
            )
            self._store = TreeStore(self.config.search.max_memory, width * height + 1)
            self._game = None
        return self._arrays

    def _follow(self, game: Game, color: int, restrictions: tuple[Restriction, ...]) -> bool:
        """Return whether the tree's root could be moved to the position of `game` with `color` to play.

        A tree in which other moves were left out has other values; one below a game that was over counts other passes.
        """
        moves = moves_since(self._game, self._color, game, color)
        if moves is None or restrictions != self._restrictions:
            return False
        if moves and self._game is not None and self._game.is_over:
            return False
        node = ROOT
        for point in moves:
            child = self._store.child_by_move(node, point)
            if child is None:
                return False
            node = child
        if self._store.tree.state[node] != OPEN:
            return False
        if node != ROOT:
            self._store.reroot(node)
            self._raw = None
        return True

    def _judge_root(self, arrays: Arrays) -> RawEvaluation:
        """Return what the evaluator says of the root; waits for it even if the search has been stopped.

        A root that is new is played out as well; one that was a leaf before has been.
        """
        puct, positions, out = self.config.puct, arrays.root_positions, arrays.root_evaluation
        symmetry = ALL_SYMMETRIES if puct.root_average else ANY_SYMMETRY
        player = self._player if self._store.tree.state[ROOT] == NEW else None
        options = EvaluationOptions(symmetry, puct.root_policy_optimism)
        conditions, results = self._conditions, arrays.batches[0].results

        def evaluate(is_dropped: Callable[[], bool]) -> None:
            self.evaluator.evaluate(positions, 1, conditions, out, options)
            if player is not None:
                player.play_out(positions, 1, conditions, results, is_dropped)

        job = self._worker.submit(evaluate)
        while not self._worker.wait(job):
            pass
        return raw_evaluation(arrays.root_evaluation, 0)

    def _set_root(self, game: Game, limits: Limits, raw: RawEvaluation) -> None:
        """Set the root and the numbers of the search, now that it is known what the root is worth."""
        assert self._arrays is not None
        tree, puct, positions = self._store.tree, self.config.puct, self._arrays.root_positions
        known = tree.state[ROOT] != NEW
        self._params: Params = params_of(
            self.config,
            game,
            limits,
            expected_score=float(tree.mean[ROOT, SCORE]) if known else raw.score_black,
            has_score=self.evaluator.info.has_score,
            has_ownership=self.evaluator.info.has_ownership,
            has_errors=raw.winloss_error >= 0.0,
        )
        can_prune = puct.symmetry_pruning and not limits.restrictions
        self._mirrors: list[Mirror] = mirrors_of(game, positions) if can_prune else []
        self._duplicates = duplicates(game, self._color, self._mirrors)
        points = ending_points(game, self._color, raw.ownership_black, puct.ending_bonus)
        sign = 1.0 if self._color == BLACK else -1.0
        self._root: Root = new_root(
            game,
            self._color,
            positions,
            restrictions=limits.restrictions,
            duplicates=self._duplicates,
            bonus=sign * points * utility_per_point(raw.score_black, self._params),
        )

    def _add_root_judgement(self, arrays: Arrays) -> None:
        """Add what the evaluator said of the root: as the first playout, or instead of what it said before."""
        tree, batch = self._store.tree, arrays.batches[0]
        if tree.state[ROOT] == NEW:
            self._select(arrays, batch, 1)
            self._add(arrays, batch, 1, arrays.root_evaluation)
            self._playouts += 1
            return
        if self._params.rollout_share == 0.0:
            say_what_was_judged(tree, ROOT, arrays.root_evaluation, 0, self._params)
            update_means(tree, ROOT, self._color, self._params, arrays.means_work)
        if self._params.has_ownership:
            weight = float(tree.own[ROOT, WEIGHT])
            add_ownership(self._ownership, 0, weight, arrays.root_evaluation.ownership_black[0])

    # --- playouts ---

    def _search(self, limits: Limits) -> None:
        """Do playouts until the limits are reached or the search is stopped."""
        arrays = self._arrays
        assert arrays is not None
        free, on_way = list(arrays.batches), deque[Batch]()
        if progress_of(self._view(), 0, 0.0).choices == 0:
            return  # every move was left out
        try:
            while not (self._cancel.is_cancelled or self._look(limits)):
                while free:
                    count = self._next_count(limits, sum(batch.playouts for batch in on_way))
                    if count <= 0 or not self._send(arrays, free[-1], count):
                        break
                    on_way.append(free.pop())
                if not on_way or not self._wait(on_way[0], limits):
                    break
                free.append(on_way[0])
                self._receive(arrays, on_way.popleft())
        finally:
            for batch in on_way:
                abandon(self._store.tree, batch.leaves, batch.rows)

    def _next_count(self, limits: Limits, on_way: int) -> int:
        """Return how many playouts the next batch should hold while `on_way` are on their way."""
        visits = int(self._store.tree.visits[ROOT])
        count = min(self.batch, max(1, int(self.config.puct.in_flight_share * visits)) - on_way)
        return count if limits.visits is None else min(count, limits.visits - visits - on_way)

    def _select(self, arrays: Arrays, batch: Batch, count: int) -> None:
        """Fill a batch with `count` playouts, or as many as there are."""
        self._store.make_room(count)
        work = arrays.path_work
        select_batch(
            self._store.tree,
            self._root,
            self._params,
            batch.leaves,
            batch.positions,
            count,
            work,
            arrays.rng,
            batch.filled,
        )

    def _send(self, arrays: Arrays, batch: Batch, count: int) -> bool:
        """Return whether a batch could be selected and is on its way; not if all that is left is on its way already."""
        self._select(arrays, batch, count)
        if batch.playouts == 0:
            abandon(self._store.tree, batch.leaves, batch.rows)
            return False
        assert self._game is not None
        batch.subtract_tax(self._store.tree, self._params, self._game.rules)
        asked, conditions = batch.asked, self._conditions
        options = EvaluationOptions(optimism=self.config.puct.policy_optimism)
        positions, player = batch.positions, self._player

        def evaluate(is_dropped: Callable[[], bool]) -> None:
            self.evaluator.evaluate(positions, asked, conditions, batch.evaluation, options)
            if player is not None:
                player.play_out(positions, asked, conditions, batch.results, is_dropped)

        batch.job = self._worker.submit(evaluate) if asked > 0 else None
        return True

    def _wait(self, batch: Batch, limits: Limits) -> bool:
        """Return whether the answers for a batch came before the search was stopped; reports meanwhile."""
        if batch.job is None:
            return True
        while not self._worker.wait(batch.job, _WATCH_INTERVAL):
            if self._cancel.is_cancelled:
                return False
            self._report_if_due(limits)
        return True

    def _receive(self, arrays: Arrays, batch: Batch) -> None:
        """Add a batch to the tree."""
        self._add(arrays, batch, batch.rows, batch.evaluation)
        self._playouts += batch.playouts

    def _add(self, arrays: Arrays, batch: Batch, rows: int, evaluation: Evaluation) -> None:
        """Add the first `rows` rows of a batch to the tree."""
        tree, params, work = self._store.tree, self._params, arrays.means_work
        leaves, positions, ownership = batch.leaves, batch.positions, self._ownership
        if self._player is None:
            expand_and_back_up(tree, params, leaves, rows, positions, evaluation, ownership, work)
            return
        judge_and_expand(tree, params, leaves, rows, positions, evaluation)
        mix_rollouts(tree, params, leaves, rows, evaluation, batch.results)
        back_up(tree, params, leaves, rows, evaluation, ownership, work)

    # --- whoever looks on ---

    def _look(self, limits: Limits) -> bool:
        """Return whether the search is over, by its visits or its watcher; reports if it is time to."""
        if limits.visits is not None and self._store.tree.visits[ROOT] >= limits.visits:
            return True
        self._report_if_due(limits)
        seconds = self._seconds()
        if limits.watcher is None or seconds < self._next_watch:
            return False
        self._next_watch = seconds + _WATCH_INTERVAL
        return limits.watcher(progress_of(self._view(), self._playouts, seconds))

    def _report_if_due(self, limits: Limits) -> None:
        """Report when the interval is over, for the first time as soon as a move was tried."""
        seconds = self._seconds()
        if limits.reporting is not None and seconds >= self._next_report and self._store.tree.visits[ROOT] > 1:
            limits.reporting.receive(report_of(self._view(), self._playouts, seconds))
            self._next_report = seconds + limits.reporting.interval

    def _seconds(self) -> float:
        """Return how long the search has taken so far."""
        return time.perf_counter() - self._start

    def _temperature(self, game: Game) -> float:
        """Return the temperature with which the move to play is drawn."""
        puct = self.config.puct
        return early_value(puct, game, early=puct.temperature_early, late=puct.temperature)

    def _view(self) -> View:
        """Return what reports are made from."""
        assert self._raw is not None
        return View(
            tree=self._store.tree,
            root=self._root,
            params=self._params,
            config=self.config.puct,
            raw=self._raw,
            ownership=self._ownership,
            mirrors=self._mirrors,
            duplicates=self._duplicates,
            memory=self._store.memory,
        )


def _with_moves(ownership: Ownership) -> Ownership:
    """Return the same sums with room for each root move's; what came before is missing there."""
    n = ownership.total.size
    return ownership._replace(move_weight=np.zeros(n), moves=np.zeros((n, n)), move_squares=np.zeros((n, n)))
