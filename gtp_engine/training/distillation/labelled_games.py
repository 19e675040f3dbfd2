"""Labelled samples: of games by sampling the policy of a teacher or a player, and of recorded games.

    play_blocks         one worker: an endless stream of samples of its own games
    blocks_of_records   the samples of a folder of SGF files
    Labeller            from evaluated positions to samples: Black's view becomes the side to move's, points actions
    parse_sizes         the boards and their shares

The teacher labels all positions.  Another player, the student that is to learn from them, may make the moves of some of
the games, because it reaches positions that the teacher's policy avoids.  Each board size has a batch of games of its
own, which wait while another size is played.  How far the moves are varied says `training.selfplay.plans`.

Every position of the main line of a recorded game becomes a sample, labelled like those of the teacher's own games.
Left out are positions before the last change of the board in the middle of a record (`sgf.record`), those in which
the record has the wrong side move, and those after the passes that end a game.

B is the number of rows, K of them are taken, A = H·W.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, zip_longest
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ConfigError, shown
from gtp_engine.base.streams import Log
from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.from_game import GameRows
from gtp_engine.evaluation.positions import Evaluation, FloatArray, Positions, new_evaluation, new_positions, put_row
from gtp_engine.go.constants import BLACK, MAX_SIZE, MIN_SIZE, PASS
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game, replayed
from gtp_engine.nn.encoders import KatagoV7Encoder
from gtp_engine.nn.symmetry import IDENTITY
from gtp_engine.training.core.game_data import sgf_games
from gtp_engine.training.distillation.distillation_settings import MOST_WORKERS, GenerateSettings
from gtp_engine.training.distillation.shards import (
    OWNERSHIP_UNIT,
    PLAYER_GAME,
    BoardSides,
    Samples,
    join,
    record_number,
)
from gtp_engine.training.selfplay.plans import Planner, varied_plan
from gtp_engine.training.selfplay.policy_games import MovePolicy, PolicyGames, Temperatures

SIZE_PRESETS: Final[Mapping[str, str]] = {
    "mixed": "19=5,13=2,9=3,7=.2,8=.2,10=.2,11=.3,12=.2,14=.2,15=.2,16=.2,17=.2,18=.2,"
    "9x7=.05,7x11=.05,13x9=.1,9x13=.1,15x11=.05,19x13=.1,13x19=.1",
    "small": "9=5,7=1,8=.5,10=.3,9x7=.1,7x9=.1",
}
"""Named shares of the boards: `mixed` has every size from 7 to 19, `small` is for the beginning of a curriculum."""

_SIZE: Final = re.compile(r"(\d{1,2})(?:x(\d{1,2}))?=(\d*\.?\d+)")

BLOCK_MOVES: Final = 16
"""Moves of every game in a block: a few hundred samples, some seconds of work."""
STINT_BLOCKS: Final = 8
"""Blocks of one size in a row, after stints of 1, 2 and 4, so that few positions show every board.  The network must be
prepared again (half a second for a small one) for a size that has not been played lately, and the work between should
outweigh that tenfold."""

_GAMES_OF_A_WORKER: Final = 1 << 32
"""The number of a game, an int64, combines seed, worker and the game's number there, whose highest bit is
`shards.PLAYER_GAME`."""
MOST_LIVES: Final = 1 << 7
_GAMES_OF_A_LIFE: Final = 1 << 24
"""How many workers in turn may have a number, and how many games each of them may play: together the lower 31 bits."""


def parse_sizes(text: str) -> dict[BoardSides, float]:
    """Return the shares of positions on each board, which sum to 1, for text such as "9=4,13=2,19x13=.5".

    Weights may have any sum; the name of a preset stands for its text.  Raises ConfigError.
    """
    weights: dict[BoardSides, float] = {}
    for entry in SIZE_PRESETS.get(text, text).split(","):
        found = _SIZE.fullmatch(entry.strip())
        if found is None:
            raise _wrong_sizes(entry)
        board = (int(found[1]), int(found[2] or found[1]))
        if not all(MIN_SIZE <= side <= MAX_SIZE for side in board) or board in weights:
            raise _wrong_sizes(entry)
        weights[board] = float(found[3])
    total = sum(weights.values())
    if total <= 0:
        raise _wrong_sizes(text)
    return {board: weight / total for board, weight in weights.items() if weight > 0}


def _wrong_sizes(text: str) -> ConfigError:
    return ConfigError(
        f"sizes {shown(text)}",
        expected=f"sizes from {MIN_SIZE} to {MAX_SIZE} with weights, each once, such as 9=4,13=2,19x13=.5, "
        f"or {' or '.join(SIZE_PRESETS)}",
    )


# Labels


class Labeller:
    """Builds samples of positions on boards of one size.

    Planes follow the rules for areas (`NetworkInfo.suicide_area` False), even if the teacher's own inputs do not.
    """

    def __init__(self, width: int, height: int) -> None:
        points = board_points(width, height)
        self._points: Final = np.array(points)
        self._actions: Final = np.array([*points, PASS])
        self._encoder: Final = KatagoV7Encoder(width, height)

    def label(
        self, positions: Positions, evaluation: Evaluation, games: Sequence[int], optimistic: FloatArray
    ) -> Samples:
        """Return a sample for each of the first K rows, which belong to the games with the numbers `games` [K].

        `optimistic` [B, n] is the teacher's optimistic policy, zeros if it has none.
        """
        count = len(games)
        planes, globals_ = self.encode(positions, count)
        is_black = positions.to_play[:count] == BLACK
        sign = np.where(is_black, np.float32(1), np.float32(-1))
        of_sides = evaluation.win_black[:count], evaluation.loss_black[:count]
        win, loss = np.where(is_black, *of_sides), np.where(~is_black, *of_sides)
        ownership = evaluation.ownership_black[:count, self._points] * sign[:, None]
        return Samples(
            planes=planes,
            globals=globals_,
            policy=evaluation.policy[:count, self._actions].astype(np.float16),
            value=np.stack([win, loss, np.maximum(0, 1 - win - loss)], axis=1).astype(np.float16),
            score=np.stack(
                [
                    evaluation.score_black[:count] * sign,
                    evaluation.score_stdev[:count],
                    evaluation.lead_black[:count] * sign,
                    evaluation.time_left[:count],
                    evaluation.winloss_error[:count],
                    evaluation.score_error[:count],
                ],
                axis=1,
            ),
            ownership=np.rint(ownership * OWNERSHIP_UNIT).astype(np.int8),
            optimistic=optimistic[:count, self._actions].astype(np.float16),
            game=np.array(games, dtype=np.int64),
            ranks=np.zeros((count, 2), dtype=np.int8),
        )

    def encode(self, positions: Positions, count: int) -> tuple[NDArray[np.uint8], FloatArray]:
        """Return planes and global values of the first K rows, as in `Samples`."""
        inputs = self._encoder.encode(positions, range(count), np.full(count, IDENTITY, dtype=np.int32))
        planes = inputs.spatial.reshape(count, self._encoder.planes, -1) > 0
        return np.packbits(planes, axis=2), inputs.globals_


# Games


class LabelledBlock(NamedTuple):
    """Samples on boards of one size."""

    board: BoardSides
    samples: Samples
    seconds: float  # that playing and labelling took


def first_game(seed: int, worker: int, life: int = 0) -> int:
    """Return the number of the first game of a worker; no two workers, lives or seeds share numbers."""
    return (seed * MOST_WORKERS + worker) * _GAMES_OF_A_WORKER + life * _GAMES_OF_A_LIFE


def play_blocks(
    teacher: Evaluator,
    settings: GenerateSettings,
    worker: int = 0,
    player: MovePolicy | None = None,
    *,
    planner: Planner = varied_plan,
    life: int = 0,
) -> Iterator[LabelledBlock]:
    """Yield blocks without end; they depend on seed, worker and life only, which counts those before it of its number.

    In the long run the shares of positions are those of `settings.sizes`.
    """
    rng = np.random.default_rng([settings.seed, worker, *([life] if life else [])])
    numbers = count(first_game(settings.seed, worker, life))
    temperatures = Temperatures(rest=settings.temperature, hot_share=settings.hot_share)
    tables: dict[BoardSides, tuple[PolicyGames, Labeller]] = {}
    sizes = parse_sizes(settings.sizes)
    labelled, stints = dict.fromkeys(sizes, 0), dict.fromkeys(sizes, 1)
    while True:
        total = sum(labelled.values())
        board = max(sizes, key=lambda each: sizes[each] * (total + 1) - labelled[each])
        if board not in tables:
            games = PolicyGames(
                teacher,
                *board,
                numbers=numbers,
                batch=settings.batch,
                rng=rng,
                planner=planner,
                temperatures=temperatures,
                player=player,
                player_share=settings.player_share,
                asks_optimistic=True,
            )
            tables[board] = (games, Labeller(*board))
        for _ in range(stints[board]):
            began = time.perf_counter()
            samples = _play_block(*tables[board])
            labelled[board] += samples.count
            yield LabelledBlock(board, samples, time.perf_counter() - began)
        stints[board] = min(2 * stints[board], STINT_BLOCKS)


def _play_block(games: PolicyGames, labeller: Labeller) -> Samples:
    """Play BLOCK_MOVES moves in each game; return a sample of every position."""
    parts = []
    for _ in range(BLOCK_MOVES):
        games.evaluate()
        played = [game.number + PLAYER_GAME * game.by_player for game in games.playing]
        parts.append(labeller.label(games.positions, games.evaluation, played, games.optimistic))
        games.play()
    return join(parts)


# Recorded games


def blocks_of_records(teacher: Evaluator, folder: Path, *, batch: int, log: Log) -> Iterator[LabelledBlock]:
    """Yield the samples of all `.sgf` files in a folder and the folders in it, sorted by name.

    A block holds up to `batch` samples.  `log` receives a line for each unusable file.  The number of a game follows
    from the name of its file, so a continued run holds out no game that was used for training.
    Raises SgfError if there is no usable file.
    """
    queues: dict[BoardSides, _Queue] = {}
    for found in sgf_games(folder, log):
        game = found.game
        board = (game.width, game.height)
        if board not in queues:
            queues[board] = _Queue(teacher, board, batch)
        yield from queues[board].add_game(game, record_number(found.name))
    for queue in queues.values():
        yield from queue.flush()


class _Queue:
    """Positions on boards of one size that wait until they fill a batch of the teacher."""

    def __init__(self, teacher: Evaluator, board: BoardSides, batch: int) -> None:
        self._teacher: Final = teacher
        self._board: Final = board
        self._latest: Final = new_positions(1, *board)
        self._positions: Final = new_positions(batch, *board)
        self._evaluation: Final = new_evaluation(batch, *board)
        self._optimistic: Final = np.zeros_like(self._evaluation.policy)
        self._labeller: Final = Labeller(*board)
        self._games: list[int] = []

    def add_game(self, game: Game, number: int) -> Iterator[LabelledBlock]:
        """Add the positions of a game; yield the blocks that become full."""
        rows = GameRows(self._latest)
        for past, move in zip_longest(replayed(game), game.moves):
            if past.is_over:
                return
            if move is None or move.color == past.to_play:
                rows.fill(0, past)
                put_row(self._positions, len(self._games), self._latest, 0)
                self._games.append(number)
                if len(self._games) == len(self._positions.key):
                    yield from self.flush()

    def flush(self) -> Iterator[LabelledBlock]:
        """Yield a block of the waiting positions, if there are any."""
        if not self._games:
            return
        began = time.perf_counter()
        request = Request(self._positions, len(self._games), self._evaluation, optimistic=self._optimistic)
        self._teacher.evaluate(request)
        samples = self._labeller.label(self._positions, self._evaluation, self._games, self._optimistic)
        self._games = []
        yield LabelledBlock(self._board, samples, time.perf_counter() - began)
