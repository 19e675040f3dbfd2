"""Moves that a player of some experience does not make, by kind; read from the board alone.

    self_atari         leaves three stones or more of one's own with a single liberty
    own_eye            fills one's own eye
    ladder_run         extends a chain that a ladder captures all the same
    unanswered_atari   leaves a chain of three stones or more in atari that could be saved

The network knows of exceptions (a sacrifice, a nakade, a ko threat), and does not see every atari: the caller asks what
its best move loses once the opponent has captured (`refuted`).
"""

from typing import Final

import numpy as np

from gtp_engine.go.board import clone
from gtp_engine.go.constants import PASS, opponent
from gtp_engine.go.coords import neighbors
from gtp_engine.go.game import Game
from gtp_engine.go.ladder import is_captured_defender_first, new_ladder_work
from gtp_engine.go.tactics import count_captures, is_real_eye, would_be_self_atari

SELF_ATARI: Final = "self-atari"
OWN_EYE: Final = "filled own eye"
LADDER_RUN: Final = "ladder run"
UNANSWERED_ATARI: Final = "unanswered atari"

MANY_STONES: Final = 3
"""Stones from which giving them up is no throw-in."""


class Blunders:
    """Names the blunders of `color` in the position of `game`, which must not change meanwhile."""

    def __init__(self, game: Game, color: int) -> None:
        self._game: Final = game
        self._color: Final = color
        self._work: Final = new_ladder_work(game.width, game.height)
        self._savable, self._lost = self._chains_in_atari()

    @property
    def savable(self) -> tuple[int, ...]:
        """A stone of each chain of `MANY_STONES` or more that is in atari and can be saved."""
        return self._savable

    def kind(self, point: int) -> str | None:
        """Return the kind of blunder that a legal move is, None if it is none of them."""
        board, color = self._game.board, self._color
        if point == PASS:
            return UNANSWERED_ATARI if self._savable else None
        if is_real_eye(board, point, color):
            return OWN_EYE
        captured = count_captures(board, point, color)
        after = self._game.copy()
        after.play(point, color)
        if would_be_self_atari(board, point, color) and len(after.chain(point)) >= MANY_STONES:
            return SELF_ATARI
        if captured == 0 and point in self._lost and len(after.liberties(point)) <= 2:
            return LADDER_RUN
        if captured < MANY_STONES and any(len(after.liberties(stone)) == 1 for stone in self._savable):
            return UNANSWERED_ATARI
        return None

    def rescues(self) -> list[int]:
        """Return moves that save a chain of `savable` by extending it or by capturing beside it."""
        points: set[int] = {self._game.liberties(stone)[0] for stone in self._savable}
        for stone in self._savable:
            points |= self._captures_beside(stone)
        return sorted(point for point in points if self._game.is_legal(point, self._color) and self.kind(point) is None)

    def refuted(self, point: int) -> Game | None:
        """Return the game after a move and the capture of the largest chain that it leaves in atari, None if none."""
        after = self._game.copy()
        after.play(point, self._color)
        stones = [*self._savable, *([] if point == PASS else [point])]
        exposed = [stone for stone in stones if len(after.liberties(stone)) == 1]
        for stone in sorted(exposed, key=lambda stone: -len(after.chain(stone))):
            liberty = after.liberties(stone)[0]
            if after.is_legal(liberty, opponent(self._color)):
                after.play(liberty, opponent(self._color))
                return after
        return None

    def _captures_beside(self, stone: int) -> set[int]:
        """Return the last liberties of enemy chains in atari that touch a chain."""
        game, found = self._game, set[int]()
        for own in game.chain(stone):
            for neighbor in neighbors(own, width=game.width):
                if game.board.color[neighbor] == opponent(self._color) and len(game.liberties(neighbor)) == 1:
                    found.add(game.liberties(neighbor)[0])
        return found

    def _chains_in_atari(self) -> tuple[tuple[int, ...], dict[int, int]]:
        """Return a stone of each large chain that can be saved, and of each lost one by its last liberty."""
        game, savable, lost = self._game, list[int](), dict[int, int]()
        board = clone(game.board)
        heads = np.flatnonzero((board.color == self._color) & (board.head == np.arange(board.head.size)))
        counts, sums, squares = (
            values[heads].astype(np.int64) for values in (board.libs, board.lib_sum, board.lib_squares)
        )
        for point in heads[(counts > 0) & (counts * squares == sums * sums)].tolist():  # as `is_in_atari`
            liberty = game.liberties(point)[0]
            if is_captured_defender_first(board, point, self._work):
                lost[liberty] = point
            elif len(game.chain(point)) >= MANY_STONES:
                savable.append(point)
        return tuple(savable), lost
