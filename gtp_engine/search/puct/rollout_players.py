"""Who plays leaves out for the mixture of AlphaGo: a policy of kernels, or the evaluator's quick network."""

from collections.abc import Callable
from typing import Final, Protocol

import numpy as np

from gtp_engine.config import Config
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.evaluator import Evaluator, RolloutPolicy
from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.evaluation.positions import Conditions, Positions, new_positions
from gtp_engine.go.board import new_board, padded_length
from gtp_engine.search.puct.leaf_rollouts import Results, Running, begin, cut_off, play_moves, play_out_batch
from gtp_engine.search.rng import State
from gtp_engine.search.rollouts.linear_tables import new_tables
from gtp_engine.search.rollouts.linear_weights import new_linear_work
from gtp_engine.search.rollouts.policy_choice import chosen_weights, kernel_policy
from gtp_engine.search.rollouts.rollout import MOVES_PER_POINT, new_rollout_work


class RolloutPlayer(Protocol):
    """Plays positions out; one thread calls it at a time, the one that calls the evaluator."""

    def play_out(
        self,
        positions: Positions,
        count: int,
        conditions: Conditions,
        results: Results,
        is_dropped: Callable[[], bool],
    ) -> None:
        """Write into `results` how the first `count` rows of `positions` (not changed) end.

        Results do not count once `is_dropped` returns true.
        """
        ...


def check_rollout_policy(config: Config, evaluator: Evaluator) -> LinearPolicy | None:
    """Return the weights that rollouts are to be played with, None for none.

    Raises ConfigError if rollouts should be played by a network, or weights, that are not there.
    """
    weights = chosen_weights(config.search, evaluator.info.linear_policy, by_default=True)
    if config.search.rollout_policy == "network" and not evaluator.info.has_rollout_policy:
        raise ConfigError(
            problem(
                "search.rollout_policy = network without a rollout network",
                advice="put one into the folder that --model names, or leave out --rollout-policy",
            )
        )
    return weights


def new_rollout_player(
    config: Config, evaluator: Evaluator, *, size: int, width: int, height: int, rng: State
) -> RolloutPlayer | None:
    """Return who plays out up to `size` positions at once; None where the search mixes no rollouts in.

    Raises ConfigError as `check_rollout_policy` does.
    """
    weights = check_rollout_policy(config, evaluator)
    if config.puct.rollout_share == 0.0:
        return None
    limit, has_network = config.puct.rollout_limit, evaluator.info.has_rollout_policy
    if weights is None and has_network and config.search.rollout_policy in ("auto", "network"):
        return NetworkPlayer(evaluator, limit, size=size, width=width, height=height, rng=rng)
    return KernelPlayer(kernel_policy(config.search), limit, width=width, height=height, rng=rng, weights=weights)


class KernelPlayer:
    """Plays by one of the policies of `search.rollouts`, or by the linear one with these weights.

    `limit` moves at most (0: to the end).
    """

    def __init__(
        self, policy: int, limit: int, *, width: int, height: int, rng: State, weights: LinearPolicy | None = None
    ) -> None:
        n = padded_length(width, height)
        self._policy: Final = policy
        self._limit: Final = limit
        self._rng: Final = rng
        self._board: Final = new_board(width, height)
        self._work: Final = new_rollout_work(width, height)
        self._linear: Final = None if weights is None else new_linear_work(new_tables(weights), width, height)
        self._first_player: Final = np.zeros(n, dtype=np.int8)
        self._queue: Final = np.zeros(n, dtype=np.int32)

    def play_out(
        self,
        positions: Positions,
        count: int,
        conditions: Conditions,
        results: Results,
        is_dropped: Callable[[], bool],
    ) -> None:
        """Write how the positions end; see `RolloutPlayer`."""
        work = self._board, self._work, self._first_player, self._queue, self._rng, self._linear
        play_out_batch(positions, count, self._policy, self._limit, results, *work)


class NetworkPlayer:
    """Plays by a network: a move in every position, then the next, with one evaluation for all; `limit` as above."""

    def __init__(self, network: RolloutPolicy, limit: int, *, size: int, width: int, height: int, rng: State) -> None:
        n = padded_length(width, height)
        self._network: Final = network
        self._limit: Final = limit or MOVES_PER_POINT * width * height
        self._rng: Final = rng
        self._running: Final = Running(
            positions=new_positions(size, width, height),
            slot=np.zeros(size, dtype=np.int32),
            passes=np.zeros(size, dtype=np.int32),
            policy=np.zeros((size, n), dtype=np.float32),
            queue=np.zeros(n, dtype=np.int32),
        )

    def play_out(
        self,
        positions: Positions,
        count: int,
        conditions: Conditions,
        results: Results,
        is_dropped: Callable[[], bool],
    ) -> None:
        """Write how the positions end; see `RolloutPlayer`.  Raises what the network raises."""
        running, moves = self._running, 0
        begin(positions, count, running)
        while count > 0 and moves < self._limit and not is_dropped():
            self._network.write_rollout_policy(running.positions, count, conditions, running.policy)
            count = play_moves(running, count, results, self._rng)
            moves += 1
        cut_off(running, count, results)
