"""Solution: first moves of a problem with what is proved or expected of them, as text and as a record."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from gtp_engine.base.languages import _, later
from gtp_engine.go.constants import EMPTY, opponent
from gtp_engine.go.game import Game
from gtp_engine.people.review.problems.frames import Frame
from gtp_engine.search.limits import SearchRequest
from gtp_engine.sgf.game_tree import GameTree

SUCCESS: Final = 0.5
"""Winrate from which a move succeeds."""

AS_GOOD: Final = 0.1
"""A move is as good as the best if its winrate is at most this much below the largest; one that fails is far worse."""

CLEAR: Final = 0.9
"""Winrate from which a move surely succeeds: in 33 of 102 problems one move has it after 500 visits and no other one
succeeds, and all 33 are right (docs/notes/2026-11-30-problems.md)."""

LINE: Final = 12
"""Moves shown of each line."""


class Success(Enum):
    """How a move succeeds, the best way first; the value is what is said about it."""

    SURE = ""
    KO = later("ko")
    """By a ko for which the other side has to find the first threat."""
    KO_WITH_THREATS = later("ko that needs threats")

    def request(self, request: SearchRequest, color: int) -> SearchRequest:
        """Return the request of a search of whether `color` succeeds in this way."""
        return replace(request, retaken=(color, EMPTY, opponent(color))[list(Success).index(self)])


@dataclass(frozen=True)
class SolutionMove:
    """A first move with the continuation, itself first; `winrate` is that of the side that moves first.

    It is 1 or 0 where success or failure `is_proved`.  The line ends where it goes on with a move that a ko forbids.
    """

    point: int
    winrate: float
    line: tuple[int, ...]
    success: Success = Success.SURE
    is_proved: bool = False


@dataclass(frozen=True)
class Solution:
    """What was found in `game`, with `color` to move first: `moves[0]` is the best first move, then come others."""

    game: Game
    color: int
    moves: tuple[SolutionMove, ...]

    @property
    def answer(self) -> str:
        """The vertex of the best first move."""
        return self.game.vertex(self.moves[0].point)

    def to_text(self) -> str:
        """Return the answer and the refutations, one line each; the first line says if no move succeeds."""
        how = {success: _(success.value) if success.value else "" for success in Success}
        lines = [f"{self._described(move, how[move.success])}: {_(self._verdict(move))}" for move in self.moves]
        return "\n".join([_(self._basis), *([] if self.succeeds else [_("No move succeeds.")]), *lines])

    def to_sgf(self) -> str:
        """Return the position as a record: the best line first, then the other first moves with their refutations."""
        tree = GameTree(self.game)
        end = tree.main_line()[-1]
        for move in self.moves:
            verdict = self._verdict(move)
            node = end.add_variation(move.line, self.color)
            node.set("TE" if self.succeeds and verdict != "worse" else "BM", "1")
            node.comment = f"{self._described(move, move.success.value)}: {verdict}"
        end.comment = self._basis if self.succeeds else f"{self._basis} No move succeeds."
        return tree.to_sgf()

    @property
    def is_proved(self) -> bool:
        """Whether the answer is proved, and with it what is said of each other move."""
        return self.moves[0].is_proved

    @property
    def _basis(self) -> str:
        if self.is_proved:
            return later("Proved, with all points far from the fight counted for the surrounding side.")
        return later("Expected by the network, not proved; in brackets: how likely the side to move succeeds.")

    @property
    def succeeds(self) -> bool:
        """Whether any of the moves succeeds."""
        return any(move.winrate >= SUCCESS for move in self.moves)

    @property
    def is_clear(self) -> bool:
        """Whether one of the moves surely succeeds and no other one does."""
        succeeding = [move.winrate for move in self.moves if move.winrate >= SUCCESS]
        return len(succeeding) == 1 and succeeding[0] >= CLEAR

    def _verdict(self, move: SolutionMove) -> str:
        """Return how a move compares with the others."""
        if move is self.moves[0]:
            return later("best")
        return later("as good") if move.winrate >= self._least_good else later("worse")

    def is_right(self, point: int) -> bool:
        """Return whether a first move succeeds, and as well as the best one; no move is right where none succeeds."""
        move = next((move for move in self.moves if move.point == point), None)
        return move is not None and SUCCESS <= move.winrate >= self._least_good

    @property
    def _least_good(self) -> float:
        """The least winrate of a move that is as good as the best of them: any, if none succeeds."""
        best = max(move.winrate for move in self.moves)
        return best - AS_GOOD if best >= SUCCESS else 0.0

    def _described(self, move: SolutionMove, how: str) -> str:
        line = " ".join(map(self.game.vertex, move.line))
        notes = [] if move.is_proved else [f"{move.winrate:.0%}"]
        notes += [how] if how and self.succeeds else []  # else it is only how they were compared
        return f"{line} ({', '.join(notes)})" if notes else line


def first_move(
    frame: Frame, line: Sequence[int], winrate: float, success: Success = Success.SURE, *, is_proved: bool = False
) -> SolutionMove:
    """Return a first move on the original board with its line, `line` being that of the frame.

    The line is cut where it cannot be played, and after two passes in a row.
    """
    points = [frame.outside(each) for each in line[:LINE]]
    played, color, length = frame.original.copy(), frame.color, 0
    while length < len(points) and not played.is_over and played.is_legal(points[length], color):
        played.play(points[length], color)
        length, color = length + 1, opponent(color)
    return SolutionMove(points[0], round(winrate, 4), tuple(points[: max(1, length)]), success, is_proved)
