"""Positions for calibration, from games that a network plays against itself by sampling its policy.

Positions are drawn evenly from the games of `policy_games`, which differ in rules, komi and handicap: values
beyond those seen in calibration are clipped later (`selfplay.varied_plans`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.positions import Positions, new_positions, put_row, take_rows
from gtp_engine.selfplay.policy_games import PolicyGames
from gtp_engine.selfplay.varied_plans import varied_plan

Progress = Callable[[int, int], None]
"""Called with the number of games that have ended, and the number of all games."""


@dataclass(frozen=True)
class Sample:
    """Positions of one board size; `games` holds the number of each position's game."""

    width: int
    height: int
    positions: Positions
    games: NDArray[np.int64]


def sample_games(
    evaluator: Evaluator,
    width: int,
    height: int,
    *,
    games: int,
    per_game: int,
    batch: int,
    rng: np.random.Generator,
    progress: Progress | None = None,
) -> Sample:
    """Return up to `per_game` positions of each of `games` games, every position of a game equally likely."""
    reservoir = new_positions(games * per_game, width, height)
    filled: set[int] = set()
    batch_of_games = PolicyGames(
        evaluator, width, height, games=games, batch=min(batch, games), rng=rng, planner=varied_plan
    )
    ended = 0
    while batch_of_games.playing:
        batch_of_games.evaluate()
        for row, played in enumerate(batch_of_games.playing):
            place = _place_in_reservoir(len(played.game.moves), per_game, rng)
            if place is not None:
                slot = played.number * per_game + place
                put_row(reservoir, slot, batch_of_games.positions, row)
                filled.add(slot)
        ended += len(batch_of_games.play())
        if progress is not None:
            progress(ended, games)
    slots = sorted(filled)
    numbers = np.array(slots, dtype=np.int64) // per_game
    return Sample(width, height, take_rows(reservoir, slots), numbers)


def _place_in_reservoir(index: int, size: int, rng: np.random.Generator) -> int | None:
    """Return the place of the `index`-th candidate (from 0) in a reservoir of `size`, or None to drop it.

    Vitter's Algorithm R (1985): every candidate ends up in the reservoir with the same probability.
    """
    place = index if index < size else int(rng.integers(index + 1))
    return place if place < size else None
