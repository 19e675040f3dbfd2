"""A comparison of rollout policies: how well they predict moves and results, and how fast they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from gtp_engine.alphago.linear_policy import LinearPolicy, new_tables, read_linear_policy
from gtp_engine.alphago.linear_rollouts import (
    LinearWork,
    linear_rollouts_per_second,
    new_linear_work,
    play_out_linear,
)
from gtp_engine.alphago.stages.game_positions import GameStore, Replayer
from gtp_engine.alphago.stages.game_records import RecordedGame
from gtp_engine.alphago.stages.replay import PositionRefs
from gtp_engine.alphago.stages.rollout_policy import split_stores
from gtp_engine.alphago.stages.stage_settings import RolloutReport, RolloutSettings
from gtp_engine.alphago.stages.value_comparison import compare, rollout_estimator
from gtp_engine.go.board import copy_board, new_board, view_storage
from gtp_engine.nn.symmetry import cell_table
from gtp_engine.search.rng import new_states
from gtp_engine.search.rollouts.rollout import POLICIES, new_rollout_work, play_out, rollouts_per_second

LINEAR: Final = "linear"
_DRAWS: Final = 4
"""Moves drawn in each position, to estimate how often a policy draws the move played."""


@dataclass(frozen=True)
class PolicyQuality:
    """Measurements of a rollout policy."""

    drawn: float
    """Share of its moves that are the move played."""
    per_second: float
    """Rollouts per second on one core from the empty board."""
    error: float
    """Mean squared error of the average of rollouts, −1 to 1, against the game's outcome."""


def measure_policies(
    store: GameStore, policy: LinearPolicy, *, positions: int, rollouts: int, seconds: float, seed: int
) -> dict[str, PolicyQuality]:
    """Return the quality of every policy by its name, on up to `positions` random positions of the games.

    The speed of each policy is measured for about `seconds`.
    """
    refs, width, height = store.move_refs(), store.width, store.height
    chosen = np.random.default_rng(seed).permutation(len(refs.games))[:positions]
    refs = refs.take(np.sort(chosen))
    linear, one_move = (new_linear_work(new_tables(policy), width, height, limit) for limit in (0, 1))
    estimators = {name: rollout_estimator(name, rollouts, seed=seed) for name in POLICIES}
    estimators[LINEAR] = rollout_estimator(policy, rollouts, seed=seed)
    (stage,) = compare(store, refs, estimators, stages=1)
    return {
        name: PolicyQuality(
            drawn=_drawn_share(store, refs, one_move if name == LINEAR else POLICIES[name], seed=seed),
            per_second=(
                linear_rollouts_per_second(width, height, linear, seconds)
                if name == LINEAR
                else rollouts_per_second(width, height, name, seconds)
            ),
            error=stage.errors[name],
        )
        for name in estimators
    }


def report_run(policy: Path, games: list[RecordedGame], settings: RolloutSettings, report: RolloutReport) -> str:
    """Return the comparison of a trained policy's file with the other policies on its test games, as a table."""
    _, test = split_stores(games, settings.test_share)
    found = measure_policies(
        test,
        read_linear_policy(policy),
        positions=report.positions,
        rollouts=report.rollouts,
        seconds=report.speed_seconds,
        seed=settings.seed,
    )
    return format_qualities(found)


def format_qualities(found: Mapping[str, PolicyQuality]) -> str:
    """Return the measurements as a Markdown table."""
    lines = ["| rollouts | draws the move played | rollouts/s | error of their average |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {quality.drawn:.1%} | {quality.per_second:,.0f} | {quality.error:.3f} |"
        for name, quality in found.items()
    ]
    return "\n".join(lines)


def _drawn_share(store: GameStore, refs: PositionRefs, policy: int | LinearWork, *, seed: int) -> float:
    """Return the share of a policy's moves that are the moves played."""
    board, work = new_board(store.width, store.height), new_rollout_work(store.width, store.height)
    first_player, rng = np.zeros(board.color.size, dtype=np.int8), new_states(1, seed)[0]
    played, hits = store.actions(refs), 0
    cells, replayer = cell_table(store.width, store.height)[0], Replayer(store, 1)
    for row in range(len(refs.games)):
        position = replayer.positions(refs.take(np.array([row])))
        start = view_storage(position.storage[0, 0], position.hash[0, 0], position.zobrist, board.color.size)
        color, last = int(position.to_play[0]), int(position.points[0, 0])
        for _ in range(_DRAWS):
            copy_board(board, start)
            first_player[:] = 0
            if isinstance(policy, LinearWork):
                play_out_linear(board, color, last, policy, rng, first_player)
            else:
                play_out(board, color, last, policy, work, rng, first_player, 1)
            hits += bool(cells[first_player.argmax()] == played[row])
    return hits / (_DRAWS * len(refs.games))
