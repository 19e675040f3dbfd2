"""Colours, reserved points, size limits and the numbers that positions are hashed with, as plain numbers.

Not here: board geometry (`coords`, where colours and points print as text), anything that varies from game to game.
Kernels freeze these values into compiled code, which is safe because none of them changes at run time.
"""

import hashlib
import struct
from typing import Final

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

BUTTON_POINTS: Final = 0.5
"""What the button is worth to the side that takes it, where the rules have one."""

OCCURRENCES_WITHOUT_RESULT: Final = 3
"""Times that a position occurs without a pass in between before a game under simple ko has no result, as in KataGo."""

LARGEST_SEKI_EYE: Final = 2
"""Points; the owner can split an eye of three or more into two, so a group with such an eye lives without seki."""

LARGEST_SHARED_AREA: Final = 4
"""Points; both sides of a seki share a small area, a larger neutral one is still to be played."""


def opponent(color: int) -> int:
    """Return WHITE for BLACK and BLACK for WHITE; other values are not checked."""
    return 3 - color


# --- the lists and arrays that points index ---

MAX_POINTS: Final = (MAX_SIZE + 1) * (MAX_SIZE + 2) + 1
"""Length of a padded board array at the largest size."""


def _make_keys() -> tuple[tuple[int, ...], ...]:
    """Return three rows of MAX_POINTS random numbers below 2**64: keys that are not stones, black and white stones."""
    stream = hashlib.shake_256(b"Tengen position hashes, version 1").digest(3 * MAX_POINTS * 8)
    numbers = struct.unpack(f"<{3 * MAX_POINTS}Q", stream)
    return tuple(numbers[row * MAX_POINTS : (row + 1) * MAX_POINTS] for row in range(3))


KEYS: Final = _make_keys()
"""`KEYS[color][point]` for a stone; `KEYS[0][color]` for the side to move (situational superko);
`KEYS[0][4 + size]` and `KEYS[0][32 + size]` for the width and the height of the board."""


def padded_length(width: int, height: int) -> int:
    """Return the length of a list or array that is indexed by points."""
    return (width + 1) * (height + 2) + 1


def size_key(width: int, height: int) -> int:
    """Return the hash of the empty board of this size."""
    return KEYS[0][4 + width] ^ KEYS[0][32 + height]
