"""Exact reading of the positions in scripts/measure/robustness.txt: which moves decide whether a group is captured.

The *room* of a group is what it reaches without crossing stones that are pass-alive, which nothing can capture.  What
happens elsewhere does not change whether the group is captured, so all moves there are one and the same: a pass.  All
moves in the room are read, to the end.  The side about which something is proved never takes a ko, and the other side
may take it back at once, so no ko threat matters.
"""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from gtp_engine import Game
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.board import KO_POINT, STRIDE, Board, clear_ko, clone, is_legal, play_assume_legal
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, WALL, opponent
from gtp_engine.go.scoring import components

NODES: Final = (300, 3_000, 10_000)
"""Positions after which a reading gives up; both claims are tried with the first number, then with the next."""


class UnreadError(Exception):
    """A reading takes too long."""


@dataclass
class Race:
    """Whether the group with a stone on `group` is captured; moves outside of its `room` are passes.

    `links` are the points beside stones of its owner that are pass-alive.
    """

    group: int
    color: int
    room: frozenset[int]
    links: frozenset[int]
    _known: dict[tuple[bytes, int, int, int], bool] = field(default_factory=dict)
    _most: int = 0

    @classmethod
    def of(cls, game: Game, group: int) -> "Race":
        """Return the race of a group that is not pass-alive."""
        owners, color = pass_alive_owners(game.board, suicide=False), int(game.board.color[group])
        points = np.flatnonzero((owners == EMPTY) & (game.board.color != WALL)).tolist()
        room = next(area for area in components(points, int(game.board.info[STRIDE])) if group in area)
        steps = _steps(game.board)
        links = {p for p in room if any(owners[p + step] == color == game.board.color[p + step] for step in steps)}
        return cls(group, color, room, frozenset(links))

    def right_moves(self, game: Game) -> list[int]:
        """Return the moves of the side to play that decide the race for it: none if it is decided already.

        Raises UnreadError if a move is not read out.
        """
        color, board = game.to_play, game.board
        if self._decides(board, PASS, color):
            return []
        return [point for point in self._moves(board, color) if self._decides(board, point, color)]

    def _decides(self, board: Board, first: int, color: int) -> bool:
        """Return whether `color` gets its way by playing `first`; raises UnreadError if neither side is proved to."""
        for self._most in NODES:
            for prover in (color, opponent(color)):
                try:
                    if self.is_proved(board, color, prover=prover, first=first):
                        return prover == color
                except UnreadError:
                    pass
        raise UnreadError

    def margins_black(self, game: Game) -> tuple[int, int]:
        """Return the least margin of area of the group's owner if it stays, and its greatest if not, as Black's.

        Whatever is not proved to be one side's counts for the other, so both hold however the rest of the game goes.
        """
        owners, stones = pass_alive_owners(game.board, suicide=False), len(game.chain(self.group))
        area, colors = game.width * game.height, (self.color, opponent(self.color))
        kept, lost = (2 * (int((owners == color).sum()) + stones) - area for color in colors)
        return (kept, -lost) if self.color == BLACK else (-kept, lost)

    def is_at_stake(self, game: Game) -> bool:
        """Return whether the owner of the group wins the game with it and loses without it, whatever else happens."""
        kept, lost = (margin - game.komi for margin in self.margins_black(game))
        return kept > 0 > lost if self.color == BLACK else kept < 0 < lost

    def is_proved(self, board: Board, color: int, *, prover: int, first: int) -> bool:
        """Return whether `prover` gets its way after `color` has played `first`.

        The owner's way is that the group gets pass-alive, or that both sides pass in turn; the other's is to take it.
        """
        self._known = {}
        start = clone(board)
        clear_ko(start)
        after = self._played(start, first, color, prover)
        return after is not None and self._read(after, opponent(color), int(first == PASS), prover)

    def _read(self, board: Board, color: int, passes: int, prover: int) -> bool:
        if board.color[self.group] != self.color:
            return prover != self.color
        if passes == 2:
            return prover == self.color
        key = (board.color.tobytes(), color, passes, prover)
        known = self._known.get(key)
        if known is not None:
            return known
        if len(self._known) > self._most:
            raise UnreadError
        self._known[key] = False  # a repetition proves nothing
        if pass_alive_owners(board, suicide=False)[self.group] == self.color:
            result = prover == self.color
        else:
            result = color != prover
            for point in [*self._moves(board, color), PASS]:
                after = self._played(board, point, color, prover)
                if after is None:
                    continue
                if self._read(after, opponent(color), passes + 1 if point == PASS else 0, prover) == (color == prover):
                    result = color == prover
                    break
        self._known[key] = result
        return result

    def _moves(self, board: Board, color: int) -> list[int]:
        """Return the legal moves in the room, those first that connect the group or keep it from connecting."""
        steps = _steps(board)

        def rank(point: int) -> tuple[bool, bool, int, int]:
            around = [int(board.color[point + step]) for step in steps]
            fills_eye = EMPTY not in around and opponent(color) not in around
            touches = any(board.head[point + step] == board.head[self.group] for step in steps)
            return fills_eye, point not in self.links, not touches, -around.count(EMPTY), point

        return sorted((p for p in self.room if board.color[p] == EMPTY and is_legal(board, p, color, False)), key=rank)

    def _played(self, board: Board, point: int, color: int, prover: int) -> Board | None:
        """Return the board after a move, None if the prover would take a ko."""
        if point == PASS:
            return board
        after = clone(board)
        play_assume_legal(after, point, color)
        if after.info[KO_POINT] != NULL_POINT:
            if color == prover:
                return None
            clear_ko(after)
        return after


def _steps(board: Board) -> tuple[int, ...]:
    """Return the differences of a point and its neighbours."""
    stride = int(board.info[STRIDE])
    return (-1, 1, -stride, stride)
