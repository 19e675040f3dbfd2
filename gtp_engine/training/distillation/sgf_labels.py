"""Labelled samples of recorded games: a folder of SGF files.

Every position of the main line becomes a sample, labelled like those of the teacher's own games.  Left out are
positions before the last change of the board in the middle of a record (`sgf.record`), those in which the record has
the wrong side move, and those after the passes that end a game.
"""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import numpy as np

from gtp_engine.evaluation.evaluation import new_evaluation
from gtp_engine.evaluation.evaluator import Evaluator, Request
from gtp_engine.evaluation.positions import new_positions, put_row
from gtp_engine.go.game import Game
from gtp_engine.selfplay.game_rows import GameRows
from gtp_engine.training.core.game_data import number_of, sgf_games
from gtp_engine.training.distillation.labelled_games import Block
from gtp_engine.training.distillation.labels import Labeller
from gtp_engine.training.distillation.shards import PLAYER_GAME, BoardSides

_RECORD_NUMBERS: Final = ~PLAYER_GAME & (1 << 63) - 1
"""The bits that the number of a recorded game may have."""


def blocks_of_records(teacher: Evaluator, folder: Path, *, batch: int, log: Callable[[str], None]) -> Iterator[Block]:
    """Yield the samples of all `.sgf` files in a folder and the folders in it, sorted by name.

    A block holds up to `batch` samples.  `log` receives a line for each unusable file.  The number of a game follows
    from the name of its file, so a continued run holds out no game that was used for training.
    Raises SgfError if there is no usable file.
    """
    queues: dict[BoardSides, _Queue] = {}
    for name, game, _ in sgf_games(folder, log):
        board = (game.width, game.height)
        if board not in queues:
            queues[board] = _Queue(teacher, board, batch)
        yield from queues[board].add_game(game, number_of(name) & _RECORD_NUMBERS)
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
        self._labeller: Final = Labeller(batch, *board)
        self._games: list[int] = []

    def add_game(self, record: Game, number: int) -> Iterator[Block]:
        """Add the positions of a game; yield the blocks that become full."""
        game = Game(record.width, record.height, record.rules, record.komi)
        game.set_up(record.setup_stones, record.first_player)
        rows = GameRows(self._latest)
        for move in record.moves:
            if move.color == game.to_play:
                yield from self._add(rows, game, number)
            game.play(move, allow_superko=True)
            if game.is_over:
                return
        yield from self._add(rows, game, number)

    def flush(self) -> Iterator[Block]:
        """Yield a block of the waiting positions, if there are any."""
        if not self._games:
            return
        began = time.perf_counter()
        request = Request(self._positions, len(self._games), self._evaluation, optimistic=self._optimistic)
        self._teacher.evaluate(request)
        samples = self._labeller.label(self._positions, self._evaluation, self._games, self._optimistic)
        self._games = []
        yield Block(self._board, samples, time.perf_counter() - began)

    def _add(self, rows: GameRows, game: Game, number: int) -> Iterator[Block]:
        """Add the position of a game; yield a block if that fills it."""
        rows.fill(0, game)
        put_row(self._positions, len(self._games), self._latest, 0)
        self._games.append(number)
        if len(self._games) == len(self._positions.key):
            yield from self.flush()
