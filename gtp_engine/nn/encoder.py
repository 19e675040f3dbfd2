"""Encoder: whoever turns a batch of positions into the arrays that a network reads.

An encoder is made for one board size (`KatagoV7Encoder(width, height)`, `AlphaGoEncoder(width, height)`) and owns the
work arrays its kernels need, so that each thread has one of its own; two of them may fill different rows of the same
arrays at the same time.
"""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gtp_engine.evaluation.positions import Conditions, Positions
from gtp_engine.go.board import IntArray

FloatArray = NDArray[np.float32]


class Encoder(Protocol):
    """Turns positions into planes.  B rows, boards of H rows by W columns.

    `name` is what network files call the encoding ("katago-v7"), `planes` the number of planes of a position, `globals`
    the number of values beside them (0 if there are none).
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def planes(self) -> int: ...  # noqa: D102

    @property
    def globals(self) -> int: ...  # noqa: D102

    def encode(
        self,
        positions: Positions,
        begin: int,
        end: int,
        conditions: Conditions,
        symmetries: IntArray,
        spatial: FloatArray,
        globals_: FloatArray,
    ) -> None:
        """Fill the rows from `begin` up to, not including, `end`; every value of them is written, no other row.

        `symmetries`, int32[B], says in which of its orientations each position is shown (`nn.symmetry`; 0: as it is;
        those from 4 on only on square boards).  `spatial` is float32[B, planes, H, W], `globals_` float32[B, globals],
        both C-contiguous.  The scratch parts of the boards in `positions` are used and restored.  Holds no GIL.
        """
        ...
