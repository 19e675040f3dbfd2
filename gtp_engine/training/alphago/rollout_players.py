"""The players of rollouts that searches find by name (`search.players`).

    a search with a network      by a network's rollout policy, the linear policy or one of the kernels' own
    a search without a network   by the linear policy, where its kernels' own are not wanted

They own the work arrays; the kernels are in `rollout_batches` and `linear_rollouts`.
"""

from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ConfigError
from gtp_engine.config import Config, SearchConfig
from gtp_engine.evaluation.evaluator import Evaluator, RolloutPolicy
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import Positions
from gtp_engine.search.puct.evaluation_thread import IsDropped, NewRolloutPlayer
from gtp_engine.search.puct.expand import Results
from gtp_engine.search.rng import State
from gtp_engine.search.rollouts.reusable_rollout_tree import NewLeafPlayer
from gtp_engine.search.rollouts.rollout import MOVES_PER_POINT, new_rollout_work
from gtp_engine.search.rollouts.rollout_search import kernel_policy
from gtp_engine.search.rollouts.rollout_select import RolloutLeaves
from gtp_engine.training.alphago.linear_policy import LinearPolicy, new_tables
from gtp_engine.training.alphago.linear_rollouts import new_linear_work, play_leaves_linear, play_rows_linear
from gtp_engine.training.alphago.rollout_batches import (
    Policy,
    new_network_rollouts,
    new_scratch,
    play_moves,
    play_rows,
    start_rollouts,
)


def rollout_players(config: Config, evaluator: Evaluator) -> NewRolloutPlayer | None:
    """Return what makes the players for a search with this evaluator, None if it mixes no rollouts in.

    Raises ConfigError if the configuration asks for a rollout network or weights that are not loaded.
    """
    policy, info, limit = config.search.rollout_policy, evaluator.info, config.puct.rollout_limit
    weights = _weights(config.search, info)
    if policy == "network" and not info.has_rollout_policy:
        raise ConfigError(
            "search.rollout_policy = network without a rollout network",
            advice="put one into the folder of network.model (--model), or leave search.rollout_policy at auto",
        )
    if config.puct.rollout_share < 1.0 and not info.has_value:
        given = f"puct.rollout_share = {config.puct.rollout_share} without a value network"
        raise ConfigError(given, expected="1", advice="then rollouts alone say who wins (--rollout-share 1)")
    if config.puct.rollout_share == 0.0:
        return None
    if policy in ("auto", "linear") and weights is not None:
        return partial(LinearPlayer, weights, limit)
    if policy in ("auto", "network") and info.has_rollout_policy:
        return partial(RolloutNetworkPlayer, evaluator, limit)
    return partial(KernelPlayer, kernel_policy(config.search), limit)


def leaf_players(config: SearchConfig, info: EvaluatorInfo | None) -> NewLeafPlayer | None:
    """Return what makes the players for a search without a network, None if its kernels' own policies play.

    Unless the configuration asks for the linear policy they do: they are faster, and not weaker at the same number of
    playouts.  `info` describes what was loaded.  Raises ConfigError if it has no weights and they are asked for.
    """
    weights = _weights(config, info)
    return partial(LinearLeafPlayer, weights) if config.rollout_policy == "linear" and weights is not None else None


def _weights(config: SearchConfig, info: EvaluatorInfo | None) -> LinearPolicy | None:
    """Return the linear policy that was loaded, or None; raises ConfigError if the configuration asks for one."""
    weights = None if info is None else info.rollout_weights
    if isinstance(weights, LinearPolicy):
        return weights
    if config.rollout_policy == "linear":
        raise ConfigError(
            "search.rollout_policy = linear without weights",
            advice="put rollout-policy.npz into the folder of network.model (--model), "
            "or leave search.rollout_policy at auto",
        )
    return None


def _longest(width: int, height: int) -> int:
    """Return the moves after which a rollout is cut off in any case."""
    return MOVES_PER_POINT * width * height


class KernelPlayer:
    """Plays by a policy of `search.rollouts.rollout`; `limit` is the largest number of moves (0: to the end)."""

    def __init__(self, policy: int, limit: int, size: int, board_size: tuple[int, int], rng: State) -> None:
        self._policy: Final = Policy(policy, limit or _longest(*board_size), new_rollout_work(*board_size))
        self._scratch: Final = new_scratch(*board_size, rng)

    def play_out(self, positions: Positions, count: int, results: Results, is_dropped: IsDropped) -> None:
        """Write how the positions end; see `RolloutPlayer`."""
        play_rows(positions, count, self._policy, results, self._scratch)


class LinearPlayer:
    """Plays by the linear policy; `limit` as in `KernelPlayer`."""

    def __init__(self, policy: LinearPolicy, limit: int, size: int, board_size: tuple[int, int], rng: State) -> None:
        self._work: Final = new_linear_work(new_tables(policy), *board_size, limit)
        self._scratch: Final = new_scratch(*board_size, rng)

    def play_out(self, positions: Positions, count: int, results: Results, is_dropped: IsDropped) -> None:
        """Write how the positions end; see `RolloutPlayer`."""
        play_rows_linear(positions, count, results, self._scratch, self._work)


class RolloutNetworkPlayer:
    """Plays up to `size` positions side by side by a network's rollout policy; `limit` as in `KernelPlayer`."""

    def __init__(self, network: RolloutPolicy, limit: int, size: int, board_size: tuple[int, int], rng: State) -> None:
        width, height = board_size
        self._network: Final = network
        self._limit: Final = limit or _longest(width, height)
        self._rng: Final = rng
        self._rollouts: Final = new_network_rollouts(size, width, height)

    def play_out(self, positions: Positions, count: int, results: Results, is_dropped: IsDropped) -> None:
        """Write how the positions end; see `RolloutPlayer`.  Raises what the network raises."""
        rollouts, moves = self._rollouts, 0
        start_rollouts(positions, count, rollouts, results)
        while count > 0 and moves < self._limit and not is_dropped():
            self._network.write_rollout_policy(rollouts.positions, count, rollouts.policy)
            count = play_moves(rollouts, count, results, self._rng)
            moves += 1


class LinearLeafPlayer:
    """Plays out the leaves of a search without a network by the linear policy; see `LeafPlayer`."""

    def __init__(self, policy: LinearPolicy, width: int, height: int) -> None:
        self._work: Final = new_linear_work(new_tables(policy), width, height)

    def play_out(self, leaves: RolloutLeaves, begin: int, end: int, zobrist: NDArray[np.uint64]) -> None:
        """Play out the boards of these rows."""
        play_leaves_linear(leaves, begin, end, zobrist, self._work)
