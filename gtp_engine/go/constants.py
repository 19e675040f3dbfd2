"""Colours, reserved points and size limits, used by every other file.

Not here: board geometry (`coords`), anything that varies from game to game.  Kernels freeze these values into
compiled code, which is safe because none of them changes at run time.
"""

from typing import Final, NamedTuple

EMPTY: Final = 0
BLACK: Final = 1
WHITE: Final = 2
WALL: Final = 3
"""Colour of the padding around the board; no stone is ever WALL."""

NULL_POINT: Final = 0
"""Stands for the absence of a point ("no ko", "no last move"); lies in the padding, so it is a safe array index."""
PASS: Final = 1
"""The pass, as a point; lies in the padding as well."""

MIN_SIZE: Final = 2
MAX_SIZE: Final = 25
"""Largest width and height, the limit of GTP 2 (26 letters without I)."""

OCCURRENCES_WITHOUT_RESULT: Final = 3
"""Times that a position occurs without a pass in between before a game under simple ko has no result, as in KataGo."""


def opponent(color: int) -> int:
    """Return WHITE for BLACK and BLACK for WHITE; other values are not checked."""
    return 3 - color


class Move(NamedTuple):
    """A stone of `color` (BLACK or WHITE) on `point`, or a pass of that colour (`point == PASS`)."""

    color: int
    point: int
