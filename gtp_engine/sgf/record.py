"""A game record as a plain value."""

from collections.abc import Sequence
from dataclasses import dataclass

from gtp_engine.go.constants import BLACK, WHITE, Move
from gtp_engine.go.rules import Rules


@dataclass(frozen=True)
class LaterSetup:
    """A change of the position in the middle of a record, made by AB, AW, AE or PL in a later node."""

    move_index: int
    """Number of moves of the main line before it."""
    stones: tuple[Move, ...]
    """Stones put on the board; they replace other stones."""
    emptied: tuple[int, ...]
    """Points that become empty."""
    player: int | None
    """The colour to play afterwards; None if the record does not set it."""


@dataclass(frozen=True)
class SgfRecord:
    """The main line of one game; points are those of a board of `width` by `height`.

    Optional fields are None if the record lacks them; texts are one line without control characters.  `notes` are
    messages about values that were ignored or guessed.
    """

    width: int
    height: int
    komi: float | None
    """Points for White; Fox's hundredths and counts in stones are already converted."""
    rules: Rules | None
    handicap: int
    """Number of handicap stones, 0 for none; they are in `setup_stones` unless the record plays them as moves."""
    setup_stones: tuple[Move, ...]
    """The stones on the board before the first move."""
    first_player: int
    """The colour that moves first."""
    moves: tuple[Move, ...]
    later_setups: tuple[LaterSetup, ...] = ()
    black_name: str | None = None
    white_name: str | None = None
    result: str | None = None
    """RE as the record has it, for example "B+3.5", "W+R" or "0"."""
    black_rank: str | None = None
    white_rank: str | None = None
    date: str | None = None
    notes: tuple[str, ...] = ()


def usual_first_player(stones: Sequence[Move], moves: Sequence[Move]) -> int:
    """Return the colour that moves first in a record without PL.

    It is the colour of the first move; without moves it is White after a handicap (two or more black stones, no white
    one), else Black.
    """
    if moves:
        return moves[0].color
    is_handicap = len(stones) >= 2 and all(stone.color == BLACK for stone in stones)
    return WHITE if is_handicap else BLACK
