"""What rollout policies are worth, side by side: how well they foretell moves and results, and how quick they are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from gtp_engine.evaluation.linear_policy import LinearPolicy
from gtp_engine.go.board import copy_board, new_board, view_storage
from gtp_engine.nn.symmetry import cell_table
from gtp_engine.search.rng import new_states
from gtp_engine.search.rollouts.linear_tables import new_tables
from gtp_engine.search.rollouts.linear_weights import LinearWork, new_linear_work
from gtp_engine.search.rollouts.rollout import POLICIES, new_rollout_work, play_out, rollouts_per_second
from gtp_engine.training.alphago.game_positions import Picks, Replayer, Shelf
from gtp_engine.training.alphago.value_comparison import compare, kernel_judge, linear_judge

LINEAR: Final = "linear"
_DRAWS: Final = 4
"""Moves drawn in each position: together they tell how often a policy draws the move that was played."""


@dataclass(frozen=True)
class Worth:
    """What a policy is worth."""

    drawn: float
    """Share of the moves it draws that are those played."""
    per_second: float
    """Rollouts a second of one core from the empty board."""
    error: float
    """Mean squared error of the average of rollouts, −1 to 1, from how the game ended."""


def worths(
    shelf: Shelf, policy: LinearPolicy, *, positions: int, rollouts: int, seconds: float, seed: int
) -> dict[str, Worth]:
    """Return the worth of every policy by its name, on up to `positions` positions drawn from the games of a shelf.

    Rollouts are played for about `seconds` to measure their speed.
    """
    picks, width, height = shelf.move_picks(), shelf.width, shelf.height
    chosen = np.random.default_rng(seed).permutation(len(picks.games))[:positions]
    picks = picks.take(np.sort(chosen))
    linear = new_linear_work(new_tables(policy), width, height)
    judges = {name: kernel_judge(name, rollouts, seed=seed) for name in POLICIES}
    judges[LINEAR] = linear_judge(policy, rollouts, seed=seed)
    (stage,) = compare(shelf, picks, judges, stages=1)
    return {
        name: Worth(
            drawn=_drawn_share(shelf, picks, name, linear if name == LINEAR else None, seed=seed),
            per_second=rollouts_per_second(width, height, name, seconds, linear=linear if name == LINEAR else None),
            error=stage.errors[name],
        )
        for name in judges
    }


def format_worths(found: Mapping[str, Worth]) -> str:
    """Return the worths as a table in Markdown."""
    lines = ["| rollouts | draws the move played | rollouts/s | error of their average |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {worth.drawn:.1%} | {worth.per_second:,.0f} | {worth.error:.3f} |" for name, worth in found.items()
    ]
    return "\n".join(lines)


def _drawn_share(shelf: Shelf, picks: Picks, name: str, linear: LinearWork | None, *, seed: int) -> float:
    """Return the share of the moves drawn by a policy that are those played."""
    board, work = new_board(shelf.width, shelf.height), new_rollout_work(shelf.width, shelf.height)
    first_player, rng = np.zeros(board.color.size, dtype=np.int8), new_states(1, seed)[0]
    policy, played, hits = POLICIES.get(name, 0), shelf.actions(picks), 0
    cells, replayer = cell_table(shelf.width, shelf.height)[0], Replayer(shelf, 1)
    for row in range(len(picks.games)):
        position = replayer.positions(picks.take(np.array([row])))
        start = view_storage(position.storage[0, 0], position.hash[0, 0], position.zobrist, board.color.size)
        color, last = int(position.to_play[0]), int(position.points[0, 0])
        for _ in range(_DRAWS):
            copy_board(board, start)
            first_player[:] = 0
            play_out(board, color, last, policy, work, rng, first_player, 1, linear)
            hits += bool(cells[first_player.argmax()] == played[row])
    return hits / (_DRAWS * len(picks.games))
