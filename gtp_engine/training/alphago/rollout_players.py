"""The players of rollouts that searches find by name (`search.players`).

    a search with a network      by a network's rollout policy, the linear policy or one of the kernels' own
    a search without a network   by the linear policy, where its kernels' own are not wanted

They own the work arrays; the kernels are in `rollout_batches` and `linear_rollouts`.
"""

from functools import partial

from gtp_engine.base.errors import ConfigError
from gtp_engine.config import Config, SearchConfig
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import Positions
from gtp_engine.search.puct.evaluation_thread import IsDropped, NewRolloutPlayer, RolloutPlayer
from gtp_engine.search.puct.expand import Results
from gtp_engine.search.rng import State
from gtp_engine.search.rollouts.reusable_rollout_tree import LeafPlayer, NewLeafPlayer
from gtp_engine.search.rollouts.rollout import MOVES_PER_POINT, new_rollout_work
from gtp_engine.search.rollouts.rollout_search import kernel_policy
from gtp_engine.search.rollouts.rollout_select import RolloutLeaves
from gtp_engine.training.alphago.linear_policy import LinearPolicy, new_tables
from gtp_engine.training.alphago.linear_rollouts import new_linear_work, play_leaves_linear, play_rows_linear
from gtp_engine.training.alphago.rollout_batches import (
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
        return partial(linear_player, weights, limit)
    if policy in ("auto", "network") and info.has_rollout_policy:
        return partial(network_player, evaluator, limit)
    return partial(kernel_player, kernel_policy(config.search), limit)


def leaf_players(config: SearchConfig, info: EvaluatorInfo | None) -> NewLeafPlayer | None:
    """Return what makes the players for a search without a network, None if its kernels' own policies play.

    Unless the configuration asks for the linear policy they do: they are faster, and not weaker at the same number of
    playouts.  `info` describes what was loaded.  Raises ConfigError if it has no weights and they are asked for.
    """
    weights = _weights(config, info)
    return partial(linear_leaf_player, weights) if config.rollout_policy == "linear" and weights is not None else None


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


def kernel_player(policy: int, limit: int, size: int, board_size: tuple[int, int], rng: State) -> RolloutPlayer:
    """Return what plays by a policy of `search.rollouts.rollout`, at most `limit` moves (0: to the end)."""
    scratch, work, limit = new_scratch(*board_size, rng), new_rollout_work(*board_size), limit or _longest(*board_size)

    def play_out(positions: Positions, count: int, results: Results, is_dropped: IsDropped) -> None:
        play_rows(positions, count, policy, limit, results, scratch, work)

    return play_out


def linear_player(
    weights: LinearPolicy, limit: int, size: int, board_size: tuple[int, int], rng: State
) -> RolloutPlayer:
    """Return what plays by the linear policy; `limit` as in `kernel_player`."""
    scratch, work = new_scratch(*board_size, rng), new_linear_work(new_tables(weights), *board_size, limit)

    def play_out(positions: Positions, count: int, results: Results, is_dropped: IsDropped) -> None:
        play_rows_linear(positions, count, results, scratch, work)

    return play_out


def network_player(network: Evaluator, limit: int, size: int, board_size: tuple[int, int], rng: State) -> RolloutPlayer:
    """Return what plays up to `size` positions side by side by a network's rollout policy.

    `limit` is as in `kernel_player`.  The player raises what the network raises.
    """
    rollouts, limit = new_network_rollouts(size, *board_size), limit or _longest(*board_size)

    def play_out(positions: Positions, count: int, results: Results, is_dropped: IsDropped) -> None:
        moves = 0
        start_rollouts(positions, count, rollouts, results)
        while count > 0 and moves < limit and not is_dropped():
            network.write_rollout_policy(rollouts.positions, count, rollouts.policy)
            count = play_moves(rollouts, count, results, rng)
            moves += 1

    return play_out


def linear_leaf_player(weights: LinearPolicy, width: int, height: int) -> LeafPlayer:
    """Return what plays out the leaves of a search without a network by the linear policy."""
    work = new_linear_work(new_tables(weights), width, height)

    def play_out(leaves: RolloutLeaves, begin: int, end: int) -> None:
        play_leaves_linear(leaves, begin, end, work)

    return play_out
