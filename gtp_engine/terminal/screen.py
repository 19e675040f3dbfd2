"""What the terminal shows at one moment, as values; `displays` draws it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gtp_engine.go.constants import NULL_POINT

Ints = NDArray[np.int32]


@dataclass(frozen=True)
class BoardView:
    """A board to draw; `colors` is int32[n] by padded point."""

    width: int
    height: int
    colors: Ints
    last_move: int = NULL_POINT
    dead: frozenset[int] = frozenset()
    """Stones that are drawn as dead."""
    labels: Mapping[int, str] = field(default_factory=dict)
    """A letter for empty points."""
    owners: Ints | None = None
    """The expected owner of each point, int32[n], EMPTY for neither; None: not drawn."""


@dataclass(frozen=True)
class Screen:
    """A board, the facts beside it, a message below and what a typed line is expected to be, "" if none."""

    board: BoardView
    facts: tuple[str, ...]
    message: str
    prompt: str
    takes_points: bool = True
    """Whether the point under a cursor answers the prompt."""
