"""The players of rollouts in a PUCT search: a policy of kernels, or a network's rollout policy.

They own the work arrays and run in the evaluation thread; the kernels are in `leaf_rollouts` (a policy of
`search.rollouts`, one position after the other) and `network_rollouts` (a network, all positions side by side).
"""

from typing import Final, Protocol

import numpy as np

from gtp_engine.config import Config
from gtp_engine.errors import ConfigError, problem
from gtp_engine.evaluation.evaluator import Evaluator, RolloutPolicy
from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.evaluation.positions import Conditions, Positions
from gtp_engine.go.board import new_board, padded_length
from gtp_engine.search.puct.evaluation_thread import IsDropped
from gtp_engine.search.puct.leaf_rollouts import Results, play_out_batch
from gtp_engine.search.puct.network_rollouts import (
    count_unfinished,
    new_network_rollouts,
    play_moves,
    start_rollouts,
)
from gtp_engine.search.rng import State
from gtp_engine.search.rollouts.linear_tables import new_tables
from gtp_engine.search.rollouts.linear_weights import new_linear_work
from gtp_engine.search.rollouts.policy_choice import chosen_weights, kernel_policy
from gtp_engine.search.rollouts.rollout import MOVES_PER_POINT, new_rollout_work


class RolloutPlayer(Protocol):
    """Plays positions out; one thread at a time calls it, the evaluation thread."""

    def play_out(
        self, positions: Positions, count: int, conditions: Conditions, results: Results, is_dropped: IsDropped
    ) -> None:
        """Write into `results` how the first `count` rows of `positions` (not changed) end.

        Once `is_dropped` returns true the results are not read, so the player may return early.
        """
        ...


def check_rollout_policy(config: Config, evaluator: Evaluator) -> LinearPolicy | None:
    """Return the weights of the linear policy if that one plays the rollouts, else None.

    Raises ConfigError if the configuration asks for a rollout network or weights that are not loaded.
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
    """Return a player of up to `size` positions at once, None if the search mixes no rollouts in.

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
    """Plays by one of the policies of `search.rollouts.rollout`, or by the linear one if there are `weights`.

    `limit` is the largest number of moves (0: to the end).
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
        self, positions: Positions, count: int, conditions: Conditions, results: Results, is_dropped: IsDropped
    ) -> None:
        """Write how the positions end; see `RolloutPlayer`."""
        work = self._board, self._work, self._first_player, self._queue, self._rng, self._linear
        play_out_batch(positions, count, self._policy, self._limit, results, *work)


class NetworkPlayer:
    """Plays by a network's rollout policy; `limit` as in `KernelPlayer`."""

    def __init__(self, network: RolloutPolicy, limit: int, *, size: int, width: int, height: int, rng: State) -> None:
        self._network: Final = network
        self._limit: Final = limit or MOVES_PER_POINT * width * height
        self._rng: Final = rng
        self._rollouts: Final = new_network_rollouts(size, width, height)

    def play_out(
        self, positions: Positions, count: int, conditions: Conditions, results: Results, is_dropped: IsDropped
    ) -> None:
        """Write how the positions end; see `RolloutPlayer`.  Raises what the network raises."""
        rollouts, moves = self._rollouts, 0
        start_rollouts(positions, count, rollouts)
        while count > 0 and moves < self._limit and not is_dropped():
            self._network.write_rollout_policy(rollouts.positions, count, conditions, rollouts.policy)
            count = play_moves(rollouts, count, results, self._rng)
            moves += 1
        count_unfinished(rollouts, count, results)
