"""Encoder: turns a batch of positions into the arrays that a network reads.

An encoder is made for one board size (`KatagoV7Encoder(width, height)`) and owns the
work arrays of its kernels, so each thread needs its own; two of them may fill different rows of the same arrays at the
same time.
"""

from typing import NamedTuple, Protocol

import numpy as np

from gtp_engine.errors import problem
from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.board import IntArray


class Inputs(NamedTuple):
    """What a network reads of B positions on boards of H rows by W columns; C-contiguous."""

    spatial: FloatArray  # [B, planes, H, W]
    globals_: FloatArray  # [B, globals]

    def planes(self) -> FloatArray:
        """Return `spatial` as [B, planes, H·W], a view; raises ValueError if it is not C-contiguous."""
        if not self.spatial.flags.c_contiguous:
            raise ValueError(problem(f"planes with strides {self.spatial.strides}", expected="a C-contiguous array"))
        return self.spatial.reshape(*self.spatial.shape[:2], -1)


class Encoder(Protocol):
    """Turns positions into planes and global values.

    `name` is that of the encoding in network files ("katago-v7"), `planes` the number of planes of a position,
    `globals` the number of values beside them (0 if there are none).
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def planes(self) -> int: ...  # noqa: D102

    @property
    def globals(self) -> int: ...  # noqa: D102

    def encode(self, positions: Positions, rows: range, symmetries: IntArray, out: Inputs) -> None:
        """Fill these rows (a range of step 1) of `out` completely, and no other, each under its own conditions.

        `symmetries`, int32[B], are the orientations in which the positions are shown (`nn.symmetry`; 0: as they are;
        4 to 7 only on square boards).  The scratch parts of the boards in `positions` are used and restored.  Does not
        hold the GIL.
        """
        ...


def new_inputs(encoder: Encoder, batch: int, width: int, height: int) -> Inputs:
    """Return arrays of zeros for an encoder of boards of this size."""
    return Inputs(
        spatial=np.zeros((batch, encoder.planes, height, width), dtype=np.float32),
        globals_=np.zeros((batch, encoder.globals), dtype=np.float32),
    )
