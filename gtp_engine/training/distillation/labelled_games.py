"""Labelled samples without end, from games that a teacher plays by sampling its policy: what one worker does.

Each board size has a batch of games of its own, which wait while another size has its turn.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.selfplay.policy_games import Planner, PolicyGames, Temperatures
from gtp_engine.selfplay.rows_evaluator import RowsEvaluator
from gtp_engine.training.distillation.game_variety import TEMPERATURES, Board, varied_plan
from gtp_engine.training.distillation.generate_settings import MOST_WORKERS
from gtp_engine.training.distillation.labels import Labeller
from gtp_engine.training.distillation.shards import Samples, join

BLOCK_MOVES: Final = 16
"""Moves of every game whose samples are handed on together: a few hundred samples, some seconds of work."""
STINT_BLOCKS: Final = 8
"""Blocks of one size before another has its turn: the network has to be prepared again (half a second for a small one)
for sizes that have not been played lately, which the work between should outweigh tenfold."""

_GAMES_OF_A_WORKER: Final = 1 << 32
"""The number of a game, an int64, is made of seed, worker and the game's number there."""


class Block(NamedTuple):
    """Samples on boards of one size."""

    board: Board
    samples: Samples
    seconds: float  # that it took to make them


@dataclass(frozen=True)
class SelfPlaySettings:
    """What games a worker plays; `batch` side by side."""

    sizes: Mapping[Board, float]
    """Share of positions on each board, summing to 1."""
    seed: int
    batch: int
    temperatures: Temperatures = TEMPERATURES
    planner: Planner = varied_plan


def first_game(seed: int, worker: int) -> int:
    """Return the number of the first game of a worker; no two workers or seeds share numbers."""
    return (seed * MOST_WORKERS + worker) * _GAMES_OF_A_WORKER


def play_blocks(teacher: RowsEvaluator, settings: SelfPlaySettings, worker: int = 0) -> Iterator[Block]:
    """Yield blocks without end; seed and worker decide all of them.

    In the long run the shares of positions are those of `settings.sizes`.
    """
    rng = np.random.default_rng([settings.seed, worker])
    numbers = count(first_game(settings.seed, worker))
    tables: dict[Board, _Table] = {}
    made = dict.fromkeys(settings.sizes, 0)
    while True:
        board = _next_board(settings.sizes, made)
        if board not in tables:
            tables[board] = _Table(teacher, board, settings, rng, numbers)
        for _ in range(STINT_BLOCKS):
            began = time.perf_counter()
            samples = tables[board].play_block()
            made[board] += samples.count
            yield Block(board, samples, time.perf_counter() - began)


def _next_board(shares: Mapping[Board, float], made: Mapping[Board, int]) -> Board:
    """Return the board that lags furthest behind its share."""
    total = sum(made.values())
    return max(shares, key=lambda board: shares[board] * (total + 1) - made[board])


class _Table:
    """The games on boards of one size."""

    def __init__(
        self,
        teacher: RowsEvaluator,
        board: Board,
        settings: SelfPlaySettings,
        rng: np.random.Generator,
        numbers: Iterator[int],
    ) -> None:
        self._games: Final = PolicyGames(
            teacher,
            *board,
            games=None,
            batch=settings.batch,
            rng=rng,
            planner=settings.planner,
            temperatures=settings.temperatures,
            numbers=numbers,
        )
        self._labeller: Final = Labeller(settings.batch, *board)

    def play_block(self) -> Samples:
        """Play BLOCK_MOVES moves in each game; return a sample of every position."""
        games, parts = self._games, []
        for _ in range(BLOCK_MOVES):
            games.evaluate()
            played = [game.number for game in games.playing]
            parts.append(self._labeller.label(games.positions, games.conditions, games.evaluation, played))
            games.play()
        return join(parts)
