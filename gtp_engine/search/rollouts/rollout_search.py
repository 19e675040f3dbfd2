"""The search: playouts in batches, over all cores, on a tree kept from move to move.

One thread selects and backs up; the leaves of a batch are played out by a pool of threads in kernels that hold no GIL.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np

from gtp_engine.config import SearchConfig
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.from_game import SUPERKO
from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.go import board as boards
from gtp_engine.go.constants import BLACK, NULL_POINT
from gtp_engine.go.game import Game
from gtp_engine.machine import available_cores
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits, Progress, Restriction, left_out_until
from gtp_engine.search.report import MoveReport, SearchReport, for_color, winrate_of
from gtp_engine.search.rng import new_states
from gtp_engine.search.rollouts.linear_tables import new_tables
from gtp_engine.search.rollouts.linear_weights import LinearWork, new_linear_work
from gtp_engine.search.rollouts.rollout import POLICIES, RolloutWork, new_rollout_work
from gtp_engine.search.rollouts.rollout_select import (
    MAX_DEPTH,
    RAVE,
    UCT,
    Leaves,
    Params,
    Position,
    back_up,
    evaluate_leaves,
    select_leaves,
)
from gtp_engine.search.rollouts.rollout_tree import ROOT, TreeStore
from gtp_engine.search.tree_reuse import moves_since

_WATCH_INTERVAL: Final = 0.005
"""Seconds between two questions to the watcher; asking after every batch took 3 % of a search on 9×9."""

_PV_LENGTH: Final = 12
"""Longest continuation reported, in moves."""


class _Workshop:
    """The arrays that searching boards of one size needs: leaves, and for each thread work arrays and ownership."""

    def __init__(
        self, width: int, height: int, *, batch: int, threads: int, seed: int | None, linear_policy: LinearPolicy | None
    ) -> None:
        n = boards.padded_length(width, height)
        self.size: Final = (width, height)
        self.works: Final[list[RolloutWork]] = [new_rollout_work(width, height) for _ in range(threads)]
        tables = None if linear_policy is None else new_tables(linear_policy)
        self.linears: Final[list[LinearWork | None]] = [
            None if tables is None else new_linear_work(tables, width, height) for _ in range(threads)
        ]
        self.queues: Final = np.zeros((threads, n), dtype=np.int32)
        self.owners: Final = np.zeros((threads, n), dtype=np.int32)
        self.rollouts: Final = np.zeros(threads, dtype=np.int64)
        self.leaves: Final = Leaves(
            storage=np.zeros((batch, boards.storage_length(width, height)), dtype=np.int32),
            hash=np.zeros((batch, 1), dtype=np.uint64),
            path=np.zeros((batch, MAX_DEPTH), dtype=np.int32),
            depth=np.zeros(batch, dtype=np.int32),
            color=np.zeros(batch, dtype=np.int32),
            last=np.zeros(batch, dtype=np.int32),
            is_over=np.zeros(batch, dtype=np.int32),
            value=np.zeros(batch, dtype=np.float32),
            first_player=np.zeros((batch, n), dtype=np.int8),
            rng=new_states(batch, seed),
            path_keys=np.zeros(MAX_DEPTH, dtype=np.uint64),
        )


class RolloutSearch:
    """Searches positions of one game after the other; `close` ends its threads.

    `linear_policy` plays the rollouts if the configuration asks for it.  By default the tactical policy does, which is
    quicker and not weaker at the same number of playouts.

    `run` is called by one thread at a time; `stop` may be called from any other.
    """

    def __init__(self, config: SearchConfig, linear_policy: LinearPolicy | None = None) -> None:
        kernel_policy(config)  # says now, not at the first move, what cannot be done
        self._linear_policy: Final = chosen_weights(config, linear_policy, by_default=False)
        self.config: Final = config
        self.threads: Final = config.threads or available_cores()
        self._store: Final = TreeStore(config.max_memory)
        self._pool: Final = ThreadPoolExecutor(max(1, self.threads - 1), thread_name_prefix="rollouts")
        self._cancel = CancelToken()
        self._seed = config.seed
        self._workshop: _Workshop | None = None
        self._root: Game | None = None
        self._root_color = BLACK
        self._restrictions: tuple[Restriction, ...] = ()

    def run(self, game: Game, limits: Limits, *, to_play: int | None = None) -> SearchReport:
        """Search the position of `game` (not changed) and return what was found.

        `to_play` defaults to the side whose turn it is.  At least one batch is always played, even if the search was
        cancelled before, so that there is a move to choose.  Moves that the limits leave out are left out of the tree;
        rollouts may play them.
        """
        start = time.perf_counter()
        self._cancel = limits.cancel or CancelToken()
        color = game.to_play if to_play is None else to_play
        workshop = self._prepare(game, color, limits.restrictions)
        position, params = self._position(game, color, limits.restrictions), self._params(game)
        playouts = 0
        next_watch = 0.0
        next_report = 0.0
        while True:
            count = workshop.leaves.depth.size
            if limits.visits is not None:
                count = max(1, min(count, limits.visits - int(self._store.tree.visits[ROOT])))
            self._play_batch(workshop, position, params, count)
            playouts += count
            seconds = time.perf_counter() - start
            if self._is_over(limits) or (limits.restrictions and self._choices(position) == 0):
                break
            if limits.watcher is not None and seconds >= next_watch:
                if limits.watcher(self._progress(position, playouts, seconds)):
                    break
                next_watch = seconds + _WATCH_INTERVAL
            if limits.reporting is not None and seconds >= next_report:
                limits.reporting.receive(self._report(workshop, color, playouts, seconds))
                next_report = seconds + limits.reporting.interval
        return self._report(workshop, color, playouts, time.perf_counter() - start)

    def stop(self) -> None:
        """End a running search after its current batch; without one, do nothing."""
        self._cancel.cancel()

    def clear(self) -> None:
        """Forget the tree, and start the random numbers again if they have a seed."""
        self._store.clear()
        self._root = None
        self._workshop = None

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed` (None: differently every time) and forget the tree."""
        self._seed = seed
        self.clear()

    def close(self) -> None:
        """End the threads; the search cannot be used afterwards."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    # --- inside ---

    def _prepare(self, game: Game, color: int, restrictions: tuple[Restriction, ...]) -> _Workshop:
        """Return the arrays for this game, with the tree re-rooted at its position as far as it is known.

        A tree in which other moves were left out has other values.
        """
        if self._workshop is None or self._workshop.size != (game.width, game.height):
            batch = self.config.batch
            self._workshop = _Workshop(
                game.width,
                game.height,
                batch=batch,
                threads=self.threads,
                seed=self._seed,
                linear_policy=self._linear_policy,
            )
        if restrictions != self._restrictions or not self._follow(game, color):
            self._store.clear()
        self._root, self._root_color, self._restrictions = game.copy(), color, restrictions
        self._workshop.owners[:] = 0
        self._workshop.rollouts[:] = 0
        return self._workshop

    def _follow(self, game: Game, color: int) -> bool:
        """Return whether the tree's root could be moved to the position of `game` with `color` to play."""
        moves = moves_since(self._root, self._root_color, game, color)
        if moves is None:
            return False
        node = ROOT
        for point in moves:
            child = self._store.child_by_move(node, point)
            if child is None:
                return False
            node = child
        if node != ROOT:
            self._store.reroot(node)
        return True

    def _position(self, game: Game, color: int, restrictions: tuple[Restriction, ...]) -> Position:
        last = game.last_move
        until = left_out_until(restrictions, game.board.color.size)
        return Position(
            board=boards.clone(game.board),
            color=color,
            last=NULL_POINT if last is None else last.point,
            passes=0 if game.is_over else game.consecutive_passes,
            history=np.sort(game.superko_keys()),
            until=until,
            deepest=int(until.max()),
        )

    def _params(self, game: Game) -> Params:
        config = self.config
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
        )

    def _play_batch(self, workshop: _Workshop, position: Position, params: Params, count: int) -> None:
        """Do `count` playouts."""
        self._store.make_room(count)
        tree, leaves = self._store.tree, workshop.leaves
        select_leaves(tree, position, params, leaves, count, workshop.works[0])
        share = -(-count // self.threads)
        zobrist = position.board.zobrist

        def evaluate(thread: int) -> None:
            begin, end = thread * share, min(count, (thread + 1) * share)
            arrays = workshop.works[thread], workshop.queues[thread], workshop.owners[thread], workshop.linears[thread]
            workshop.rollouts[thread] += evaluate_leaves(leaves, begin, end, zobrist, params, *arrays)

        others = [self._pool.submit(evaluate, thread) for thread in range(1, -(-count // share))]
        evaluate(0)
        for other in others:
            other.result()
        back_up(tree, params, leaves, count)

    def _is_over(self, limits: Limits) -> bool:
        """Return whether the search was cancelled or has all its visits."""
        enough = limits.visits is not None and self._store.tree.visits[ROOT] >= limits.visits
        return enough or self._cancel.is_cancelled

    def _choices(self, position: Position) -> int:
        """Return the number of moves at the root that are allowed and not left out."""
        children = self._store.children(ROOT)
        moves = self._store.tree.move[children.start : children.stop]
        return int(np.count_nonzero((moves != NULL_POINT) & (position.until[position.color, moves] <= 0)))

    def _progress(self, position: Position, playouts: int, seconds: float) -> Progress:
        tree = self._store.tree
        children = self._store.children(ROOT)
        visits = tree.visits[children.start : children.stop]
        values = tree.value[children.start : children.stop] / np.maximum(visits, 1)
        order = np.argsort(-visits, kind="stable")[:2]
        leader = order[0]
        sign = 1.0 if position.color == BLACK else -1.0
        runner_up = int(order[1]) if order.size > 1 else None
        return Progress(
            seconds=seconds,
            visits=int(tree.visits[ROOT]),
            playouts=playouts,
            leader_visits=int(visits[leader]),
            runner_up_visits=0 if runner_up is None else int(visits[runner_up]),
            leader_is_best_value=runner_up is None or sign * values[leader] >= sign * values[runner_up],
            winrate=winrate_of(float(values[leader]), position.color),
            choices=self._choices(position),
        )

    def _report(self, workshop: _Workshop, color: int, playouts: int, seconds: float) -> SearchReport:
        tree = self._store.tree
        moves = [self._move_report(child) for child in self._store.children(ROOT) if tree.visits[child] > 0]
        moves.sort(key=lambda move: (-move.visits, -for_color(move.expected_black, color)))
        return SearchReport(
            to_play=color,
            visits=int(tree.visits[ROOT]),
            playouts=playouts,
            seconds=seconds,
            value_black=float(tree.value[ROOT]) / max(1, int(tree.visits[ROOT])),
            moves=tuple(moves),
            ownership_samples=int(workshop.rollouts.sum()),
            ownership_black=workshop.owners.sum(axis=0) / max(1, int(workshop.rollouts.sum())),
            nodes=self._store.used,
            memory=self._store.memory,
        )

    def _move_report(self, child: int) -> MoveReport:
        tree = self._store.tree
        line = self._line(child)
        return MoveReport(
            point=int(tree.move[child]),
            visits=int(tree.visits[child]),
            value_black=float(tree.value[child]) / max(1, int(tree.visits[child])),
            expected_black=self._expected(child),
            pv=tuple(int(tree.move[node]) for node in line),
            pv_visits=tuple(int(tree.visits[node]) for node in line),
        )

    def _expected(self, child: int) -> float:
        """Return a child's mean result for Black with its prior and all-moves-as-first results, for few visits."""
        tree = self._store.tree
        prior, amaf = float(tree.prior_visits[child]), float(tree.amaf_visits[child])
        total = float(tree.value[child] + tree.amaf_value[child]) + prior * float(tree.prior_value[child])
        return total / max(1.0, float(tree.visits[child]) + prior + amaf)

    def _line(self, node: int) -> list[int]:
        """Return the nodes of the most visited line that begins with `node`."""
        line = [node]
        while len(line) < _PV_LENGTH:
            children = self._store.children(node)
            if not children:
                break
            node = children.start + int(np.argmax(self._store.tree.visits[children.start : children.stop]))
            if self._store.tree.visits[node] == 0:
                break
            line.append(node)
        return line


def kernel_policy(config: SearchConfig) -> int:
    """Return the number of the policy that kernels play positions out by; raises ConfigError for a network's.

    It has no meaning where there are weights (`chosen_weights`).
    """
    if config.rollout_policy == "network":
        given = "search.rollout_policy = network in a search without a network"
        raise ConfigError(problem(given, expected="auto, linear, tactical or uniform"))
    return POLICIES["tactical" if config.rollout_policy in ("auto", "linear") else config.rollout_policy]


def chosen_weights(
    config: SearchConfig, linear_policy: LinearPolicy | None, *, by_default: bool
) -> LinearPolicy | None:
    """Return the weights that positions are played out by, None for another policy.

    `by_default` takes them also where the configuration leaves the choice to the search.  Raises ConfigError where the
    configuration asks for weights that are not there.
    """
    if config.rollout_policy == "linear" and linear_policy is None:
        raise ConfigError(
            problem(
                "search.rollout_policy = linear without weights",
                advice="put rollout-policy.npz into the folder that --model names, or leave out --rollout-policy",
            )
        )
    is_chosen = config.rollout_policy == "linear" or (by_default and config.rollout_policy == "auto")
    return linear_policy if is_chosen else None
