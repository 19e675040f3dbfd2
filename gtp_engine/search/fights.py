"""Asks for proofs about chains, see `proofs`: `FightReader` reads one board.

A search that reaches its limit depends on the order of the moves it tries.  So of a board's eight orientations, with
the colours as they are or exchanged, the one whose stones come first in order is read: the answer is the same for all.
"""

from collections.abc import Sequence
from enum import Enum
from typing import Final, NamedTuple

import numpy as np

from gtp_engine.base.errors import problem
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.board import HEIGHT, KO_COLOR, KO_POINT, WIDTH, Board, clone, new_board, play_moves
from gtp_engine.go.constants import BLACK, EMPTY, NULL_POINT, PASS, WALL, WHITE, opponent
from gtp_engine.go.coords import board_points
from gtp_engine.search.proof_work import DEPTH, NODES_OPENED, SAFE, TARGETS, Aim, new_proof_work
from gtp_engine.search.proofs import prove, read_proof

NODES: Final = 4000
"""Positions that one search opens by default, about 0.1 s compiled."""

RESERVES: Final = (6, 10, 16)
"""Liberties of an attacker's chain that it counts as safe with, in the order tried where the proof is too long."""


class Life(Enum):
    """What is proved of a chain."""

    ALIVE = "alive"
    """It survives though the opponent moves first."""
    DEAD = "dead"
    """It is captured though its side moves first."""
    UNSETTLED = "unsettled"
    """The side that moves first decides."""
    KO = "ko"
    """It is captured if the attacker may retake kos and lives if the defender may, each moving first."""
    UNKNOWN = "unknown"


class Proof(NamedTuple):
    """The answer of a search for a proof: nothing is claimed unless it `is_proved`."""

    is_proved: bool
    line: tuple[int, ...]
    """The moves of the proof in which the other side holds out longest, passes (PASS) of either side included."""
    nodes: int
    zone: frozenset[int]
    """The points on which the proof rests, besides the chains that are pass-alive at the start."""
    is_exhausted: bool
    """Whether there was no proof to be found with the moves tried, so that a larger limit would change nothing."""


_KEPT: Final = (EMPTY, BLACK, WHITE)
_EXCHANGED: Final = (EMPTY, WHITE, BLACK)
"""What becomes of each colour in a board that is read; each is its own inverse."""


def _turned(board: Board) -> tuple[Board, dict[int, int], tuple[int, int, int]]:
    """Return a board so turned, and with such colours, that its size and its colours by rows come first in order.

    Then come its point for each of the original's, PASS and NULL_POINT included, and `_KEPT` or `_EXCHANGED`.
    """
    width, height = int(board.info[WIDTH]), int(board.info[HEIGHT])
    stood = board.color[list(board_points(width, height))].reshape(height, width)
    origin = np.array(board_points(width, height)).reshape(height, width)
    turns = [
        (np.rot90(np.array(colors)[flipped], number), np.rot90(places, number), colors)
        for flipped, places in ((stood, origin), (stood[:, ::-1], origin[:, ::-1]))
        for number in range(4)
        for colors in (_KEPT, _EXCHANGED)
    ]
    stones, origins, colors = min(turns, key=lambda turn: (turn[0].shape, turn[0].tobytes()))
    rows, columns = stones.shape
    turned, points = new_board(columns, rows), board_points(columns, rows)
    places = {NULL_POINT: NULL_POINT, PASS: PASS} | dict(zip(origins.ravel().tolist(), points, strict=True))
    placed = zip(stones.ravel().tolist(), points, strict=True)
    play_moves(turned, [(color, point) for color, point in placed if color != EMPTY], [])
    turned.info[KO_POINT], turned.info[KO_COLOR] = places[int(board.info[KO_POINT])], colors[board.info[KO_COLOR]]
    return turned, places, colors


class FightReader:
    """Proves what can be proved of chains on one board, with at most `nodes` positions for each proof.

    The board is copied, and ko bans on it hold.  Without `suicide` no move is suicide.  For threads one at a time.
    All methods raise ValueError for a point without a stone.
    """

    def __init__(self, board: Board, *, suicide: bool = False, nodes: int = NODES) -> None:
        self._board, self._to_turned, self._colors = _turned(board)
        self._to_original: Final = {turned: point for point, turned in self._to_turned.items()}
        self._suicide: Final = int(suicide)
        self._nodes: Final = nodes
        self._work: Final = new_proof_work(int(self._board.info[WIDTH]), int(self._board.info[HEIGHT]), nodes)
        owners = pass_alive_owners(self._board, suicide=suicide)
        self._work.safe[:] = np.where(owners == self._board.color, owners, EMPTY)
        for color in (BLACK, WHITE):
            self._work.counters[SAFE + color] = np.count_nonzero(self._work.safe == color)
        self.nodes = 0
        """Positions opened by all proofs so far."""

    def captures(self, points: int | Sequence[int], first: int, *, retakes: bool = False) -> Proof:
        """Return the proof that one of the chains on `points`, of one colour, is captured if `first` moves first.

        With `retakes` the attacker may retake kos at once and the defender may not, else the other way round.
        """
        return self._prove(points, first, captures=True, retakes=retakes)

    def survives(self, points: int | Sequence[int], first: int, *, retakes: bool = False) -> Proof:
        """Return the proof that all the chains on `points`, of one colour, survive if `first` moves first.

        `retakes` is for their side.
        """
        return self._prove(points, first, captures=False, retakes=retakes)

    def life(self, point: int) -> Life:
        """Return what is proved of the chain on `point`."""
        color = self._colors[self._board.color[self._to_turned[point]]]
        enemy = opponent(color)
        if self.survives(point, enemy).is_proved:
            return Life.ALIVE
        if self.captures(point, enemy).is_proved:
            if self.captures(point, color).is_proved:
                return Life.DEAD
            return Life.UNSETTLED if self.survives(point, color).is_proved else Life.UNKNOWN
        by_ko = self.captures(point, enemy, retakes=True).is_proved and (
            self.survives(point, color, retakes=True).is_proved
        )
        return Life.KO if by_ko else Life.UNKNOWN

    def _prove(self, points: int | Sequence[int], first: int, *, captures: bool, retakes: bool) -> Proof:
        board, work = clone(self._board), self._work
        stones = sorted(self._to_turned[point] for point in ([points] if isinstance(points, int) else points[:TARGETS]))
        work.targets[: len(stones)] = stones
        color = int(board.color[stones[0]])
        if color not in (BLACK, WHITE):
            raise ValueError(problem("no stone on the point that is read", expected="a chain"))
        winner = opponent(color) if captures else color
        obeys = opponent(winner) if retakes else winner
        nodes = 0
        for reserve in RESERVES:
            aim = Aim(len(stones), winner, int(captures), obeys, self._suicide, reserve)
            result = prove(board, work, aim, self._colors[first], self._nodes)
            nodes += int(work.counters[NODES_OPENED])
            if result != 2:
                break
        self.nodes += nodes
        if result != 1:
            return Proof(False, (), nodes, frozenset(), result == -1)
        zone, line = np.zeros(board.color.size, dtype=np.uint8), np.zeros(DEPTH, dtype=np.int32)
        length = read_proof(clone(board), work, aim, self._colors[first], zone, line)
        on_board = np.flatnonzero((zone == 1) & (board.color < WALL)).tolist()
        return Proof(
            True,
            tuple(self._to_original[point] for point in line[:length].tolist()),
            nodes,
            frozenset(self._to_original[point] for point in on_board),
            False,
        )
