"""RolloutSearch: searches the positions of a game without a network, keeping the tree from move to move.

It owns what outlives a single search: the threads and the tree (`reusable_rollout_tree`).  Each call of `run` moves the
tree's root to the position and does playouts, in batches until a limit is reached.  One thread selects and backs up;
the leaves of a batch are played out by a pool of threads in kernels that hold no GIL.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from math import sqrt
from typing import Final

import numpy as np

from gtp_engine.base.errors import ConfigError
from gtp_engine.base.machine import available_cores
from gtp_engine.config import SearchConfig
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.from_game import SUPERKO, TAX
from gtp_engine.evaluation.memory_budget import BUDGET, tree_memory
from gtp_engine.go.board import clone
from gtp_engine.go.constants import NULL_POINT
from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits, Pace, Progress, RootPosition, SearchRequest, avoid_until_depths
from gtp_engine.search.players import leaf_players
from gtp_engine.search.report import MoveReport, SearchReport, completed, for_color, winrate_of
from gtp_engine.search.rollouts.reusable_rollout_tree import ReusableRolloutTree, RolloutBuffers
from gtp_engine.search.rollouts.rollout import POLICIES, TACTICAL
from gtp_engine.search.rollouts.rollout_select import (
    RolloutParams,
    RolloutPosition,
    back_up,
    evaluate_leaves,
    select_leaves,
    write_results,
)
from gtp_engine.search.rollouts.rollout_tree import ROOT

_PV_LENGTH: Final = 12
"""Longest continuation reported, in moves."""

_LCB_STDEVS: Final = 5.0
"""Standard errors between a winrate and its lower bound; KataGo's `lcbStdevs`."""


class RolloutSearch:
    """Searches positions of one game after the other; `close` ends its threads.

    Rollouts follow the policy that the configuration names.  `info` describes what was loaded, perhaps with weights
    for it.  One thread at a time uses it.  Raises ConfigError if the configuration asks for what was not loaded.
    """

    def __init__(self, config: SearchConfig, info: EvaluatorInfo | None = None) -> None:
        kernel_policy(config)  # raises now, not at the first move, if the policy is a network's
        self._new_player: Final = leaf_players(config, info)
        self.config: Final = config
        self.threads: Final = config.threads or available_cores()
        self.pool: Final = ThreadPoolExecutor(max(1, self.threads - 1), thread_name_prefix="rollouts")
        self._seed = config.seed
        self._tree: ReusableRolloutTree | None = None

    def run(self, game: Game, asked: SearchRequest | Limits, *, to_play: int | None = None) -> SearchReport:
        """Search the position of `game` (not changed) and return what was found.

        `to_play` defaults to the side whose turn it is.  At least one batch is always played, even if the search was
        cancelled before, so that there is a move to choose.  Moves that the limits leave out are left out of the tree;
        rollouts may play them.
        """
        start, request = time.perf_counter(), SearchRequest.of(asked)
        color = game.to_play if to_play is None else to_play
        position = RootPosition(game.copy(), color, request.restrictions)
        tree = self._fitting_tree(game.width, game.height)
        with BUDGET.using(tree):
            tree.move_root(position)
            return self._search(tree, position, request, Pace(request, start))

    def known(self, game: Game, color: int) -> SearchReport | None:
        """Return nothing."""
        return None

    def clear(self) -> None:
        """Forget the tree, and start the random numbers again if they have a seed."""
        self._tree = None

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed` (None: differently every time) and forget the tree."""
        self._seed = seed
        self.clear()

    def close(self) -> None:
        """End the threads; the search cannot be used afterwards."""
        self.pool.shutdown(wait=True, cancel_futures=True)

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
            self._tree = ReusableRolloutTree((width, height), buffers, max_memory=tree_memory(self.config))
        return self._tree

    def _search(
        self, tree: ReusableRolloutTree, position: RootPosition, request: SearchRequest, pace: Pace
    ) -> SearchReport:
        """Do playouts, one batch at least, until a limit is reached or the search is cancelled; return what was found.

        The cancel token is checked after every batch.
        """
        root, limits, playouts = kernel_position(position, self.config), request.limits, 0
        visits, batch = int(tree.arrays.visits[ROOT]), tree.buffers.leaves.depth.size
        most = limits.most_visits(visits)

        def report(seconds: float) -> SearchReport:
            return completed(rollout_report(tree, position.color, playouts, seconds), position.game)

        def progress(seconds: float) -> Progress:
            return rollout_progress(tree, root, playouts, seconds)

        while True:
            count = batch if most is None else max(1, min(batch, most - visits))
            self._play_batch(tree, root, count)
            visits, playouts = int(tree.arrays.visits[ROOT]), playouts + count
            has_ended = limits.is_cancelled or (most is not None and visits >= most)
            has_ended = has_ended or (bool(request.restrictions) and number_of_choices(tree, root) == 0)
            if has_ended or pace.watcher_stops(progress):
                return report(pace.seconds())
            pace.report_if_due(report)

    def _play_batch(self, tree: ReusableRolloutTree, position: RolloutPosition, count: int) -> None:
        """Do `count` playouts: select, play out on all threads, back up."""
        tree.reserve(count)  # which may replace the tree's arrays
        arrays, buffers, leaves = tree.arrays, tree.buffers, tree.buffers.leaves
        select_leaves(arrays, position, leaves, count, buffers.works[0].rollout)
        share = -(-count // self.threads)

        def evaluate(thread: int) -> None:
            begin, end = thread * share, min(count, (thread + 1) * share)
            player, work = buffers.players[thread], buffers.works[thread]
            if player is None:
                evaluate_leaves(position, leaves, begin, end, work)
            else:
                player(leaves, begin, end)
                write_results(position, leaves, begin, end, work)

        others = [self.pool.submit(evaluate, thread) for thread in range(1, -(-count // share))]
        evaluate(0)
        for other in others:
            other.result()
        back_up(arrays, position.params, leaves, count)


def kernel_position(root: RootPosition, config: SearchConfig) -> RolloutPosition:
    """Return the root position for kernels, with the numbers of its search."""
    game, last = root.game, root.game.last_move
    avoid_until = avoid_until_depths(root.restrictions, game.board.color.size)
    return RolloutPosition(
        board=clone(game.board),
        color=int(root.color),
        last=NULL_POINT if last is None else int(last.point),
        passes=0 if game.is_over else game.consecutive_passes,
        free_button=game.has_free_button,
        history=np.sort(game.superko_keys()),
        avoid_until=avoid_until,
        unrestricted_from=int(avoid_until.max()),
        params=kernel_params(config, game),
    )


def kernel_params(config: SearchConfig, game: Game) -> RolloutParams:
    """Return the numbers for a search of a game's position."""
    is_rave = config.search != "uct"  # without a network, auto is rave
    return RolloutParams(
        is_rave=is_rave,
        exploration=config.exploration_rave if is_rave else config.exploration_uct,
        rave_equivalence=config.rave_equivalence,
        expand_visits=config.expand_visits,
        prior_weight=config.prior_weight,
        won_weight=0.0 if config.reward == "margin" else 1.0,
        margin_weight=1.0 if config.reward == "margin" else config.margin_weight,
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
        raise ConfigError(given, expected="auto, linear, tactical or uniform")
    return POLICIES.get(config.rollout_policy, TACTICAL)


# --- reports ---


def number_of_choices(tree: ReusableRolloutTree, position: RolloutPosition) -> int:
    """Return the number of moves at the root that are allowed and not left out."""
    children = tree.children(ROOT)
    moves = tree.arrays.move[children.start : children.stop]
    return int(np.count_nonzero((moves != NULL_POINT) & (position.avoid_until[position.color, moves] <= 0)))


def rollout_progress(tree: ReusableRolloutTree, position: RolloutPosition, playouts: int, seconds: float) -> Progress:
    """Return how a search is doing; its root must have been expanded."""
    arrays, children = tree.arrays, tree.children(ROOT)
    visits = arrays.visits[children.start : children.stop]
    leaders = np.argsort(-visits, kind="stable")[:2]
    values = arrays.value[children.start + leaders] / np.maximum(visits[leaders], 1)
    return Progress(
        seconds=seconds,
        visits=int(arrays.visits[ROOT]),
        playouts=playouts,
        leader_visits=int(visits[leaders[0]]),
        runner_up_visits=int(visits[leaders[1]]) if leaders.size > 1 else 0,
        leader_is_best_value=bool(for_color(values[0] - values[-1], position.color) >= 0.0),
        winrate=winrate_of(float(values[0]), position.color),
        choices=number_of_choices(tree, position),
    )


def rollout_report(tree: ReusableRolloutTree, color: int, playouts: int, seconds: float) -> SearchReport:
    """Return the state of a search with `color` to play, the most visited move first."""
    arrays, works, visits = tree.arrays, tree.buffers.works, int(tree.arrays.visits[ROOT])
    value = float(arrays.value[ROOT]) / visits
    rollouts = sum(int(work.rollouts[0]) for work in works)
    moves = [_move_report(tree, child, color) for child in tree.children(ROOT) if arrays.visits[child] > 0]
    moves.sort(key=lambda move: (-move.visits, -for_color(move.expected_black, color)))
    return SearchReport(
        to_play=color,
        visits=visits,
        playouts=playouts,
        seconds=seconds,
        value_black=value,
        utility_black=value,
        weight=float(visits),
        moves=tuple(moves),
        ownership_samples=rollouts,
        ownership_black=np.sum([work.owner for work in works], axis=0) / max(1, rollouts),
        beside_area_black=sum(float(work.beside_area[0]) for work in works) / max(1, rollouts),
        nodes=tree.used,
        memory=tree.memory,
    )


def _move_report(tree: ReusableRolloutTree, child: int, color: int) -> MoveReport:
    """Return the report of a move of `color` with visits: the utility is the value, the weight the visits.

    In the expected result, few visits are supplemented by the prior of the move and its all-moves-as-first results.
    """
    arrays, line = tree.arrays, _most_visited_line(tree, child)
    prior, amaf, visits = float(arrays.prior_visits[child]), float(arrays.amaf_visits[child]), int(arrays.visits[child])
    value = float(arrays.value[child]) / visits
    winrate = winrate_of(value, color)
    # One win and one loss are added for the standard error only: with few visits, all won or all lost, it would be 0
    # and the bound would coincide with the mean.
    share = (winrate * visits + 1) / (visits + 2)
    bound = winrate - _LCB_STDEVS * sqrt(share * (1 - share) / visits)
    total = float(arrays.value[child] + arrays.amaf_value[child]) + prior * float(arrays.prior_value[child])
    return MoveReport(
        point=int(arrays.move[child]),
        visits=visits,
        value_black=value,
        utility_black=value,
        expected_black=total / (visits + prior + amaf),
        pv=tuple(int(arrays.move[node]) for node in line),
        pv_visits=tuple(int(arrays.visits[node]) for node in line),
        lcb=bound,
        utility_lcb=2 * bound - 1,
        weight=float(visits),
        selection_weight=float(visits),
    )


def _most_visited_line(tree: ReusableRolloutTree, node: int) -> list[int]:
    """Return the nodes of the most visited line that begins with `node`."""
    line, visits = [node], tree.arrays.visits
    while len(line) < _PV_LENGTH:
        children = tree.children(node)
        if not children:
            break
        node = children.start + int(np.argmax(visits[children.start : children.stop]))
        if visits[node] == 0:
            break
        line.append(node)
    return line
