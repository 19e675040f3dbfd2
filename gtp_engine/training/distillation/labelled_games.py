"""One worker: an endless stream of labelled samples, from games by sampling the policy of a teacher or a player.

The teacher labels all positions.  Another player, the student that is to learn from them, may make the moves of some of
the games, because it reaches positions that the teacher's policy avoids.

Each board size has a batch of games of its own, which wait while another size is played.
"""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.selfplay.move_policy import MovePolicy
from gtp_engine.selfplay.policy_games import Planner, PolicyGames, Temperatures
from gtp_engine.selfplay.varied_plans import varied_plan
from gtp_engine.training.distillation.distillation_settings import MOST_WORKERS
from gtp_engine.training.distillation.game_variety import TEMPERATURES
from gtp_engine.training.distillation.labels import Labeller
from gtp_engine.training.distillation.shards import PLAYER_GAME, BoardSides, Samples, join

BLOCK_MOVES: Final = 16
"""Moves of every game in a block: a few hundred samples, some seconds of work."""
STINT_BLOCKS: Final = 8
"""Blocks of one size in a row.  The network must be prepared again (half a second for a small one) for a size that has
not been played lately, and the work between should outweigh that tenfold."""

_GAMES_OF_A_WORKER: Final = 1 << 32
"""The number of a game, an int64, combines seed, worker and the game's number there, whose highest bit is
`shards.PLAYER_GAME`."""


class Block(NamedTuple):
    """Samples on boards of one size."""

    board: BoardSides
    samples: Samples
    seconds: float  # that playing and labelling took


@dataclass(frozen=True)
class SelfPlaySettings:
    """The games that a worker plays, `batch` side by side."""

    sizes: Mapping[BoardSides, float]
    """Share of positions on each board, summing to 1."""
    seed: int
    batch: int
    temperatures: Temperatures = TEMPERATURES
    planner: Planner = varied_plan
    player_share: float = 0.0
    """Share of the games that the player plays, if there is one."""


def first_game(seed: int, worker: int) -> int:
    """Return the number of the first game of a worker; no two workers or seeds share numbers."""
    return (seed * MOST_WORKERS + worker) * _GAMES_OF_A_WORKER


def play_blocks(
    teacher: Evaluator, settings: SelfPlaySettings, worker: int = 0, player: MovePolicy | None = None
) -> Iterator[Block]:
    """Yield blocks without end; they depend on seed and worker only.

    In the long run the shares of positions are those of `settings.sizes`.
    """
    rng = np.random.default_rng([settings.seed, worker])
    numbers = count(first_game(settings.seed, worker))
    tables: dict[BoardSides, _Table] = {}
    labelled = dict.fromkeys(settings.sizes, 0)
    while True:
        board = _next_board(settings.sizes, labelled)
        if board not in tables:
            tables[board] = _Table(teacher, player, board, settings, rng, numbers)
        for _ in range(STINT_BLOCKS):
            began = time.perf_counter()
            samples = tables[board].play_block()
            labelled[board] += samples.count
            yield Block(board, samples, time.perf_counter() - began)


def _next_board(shares: Mapping[BoardSides, float], labelled: Mapping[BoardSides, int]) -> BoardSides:
    """Return the board that lags furthest behind its share."""
    total = sum(labelled.values())
    return max(shares, key=lambda board: shares[board] * (total + 1) - labelled[board])


class _Table:
    """The games on boards of one size."""

    def __init__(
        self,
        teacher: Evaluator,
        player: MovePolicy | None,
        board: BoardSides,
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
            player=player,
            player_share=settings.player_share,
        )
        self._labeller: Final = Labeller(settings.batch, *board)

    def play_block(self) -> Samples:
        """Play BLOCK_MOVES moves in each game; return a sample of every position."""
        games, parts = self._games, []
        for _ in range(BLOCK_MOVES):
            games.evaluate()
            played = [game.number + PLAYER_GAME * game.by_player for game in games.playing]
            parts.append(self._labeller.label(games.positions, games.evaluation, played, games.optimistic))
            games.play()
        return join(parts)
