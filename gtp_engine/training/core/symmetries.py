"""Arrays of whole groups of positions, rotated and mirrored, for training in every orientation.

Symmetries are those of `nn.symmetry`.  H rows, W columns, A = H·W points.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gtp_engine.nn.symmetry import MIRROR_COLUMNS, MIRROR_ROWS, TRANSPOSE


def turned_boards(boards: NDArray[Any], symmetry: int) -> NDArray[Any]:
    """Return a view of `boards` [..., H, W] in `symmetry`; from 4 on, rows and columns have changed places."""
    if symmetry & MIRROR_ROWS:
        boards = boards[..., ::-1, :]
    if symmetry & MIRROR_COLUMNS:
        boards = boards[..., ::-1]
    return boards.swapaxes(-1, -2) if symmetry & TRANSPOSE else boards


def turned_points(points: NDArray[Any], width: int, height: int, symmetry: int) -> NDArray[Any]:
    """Return `points` [N, A + k] with A values of the board's points, row by row, in `symmetry`; the rest stays."""
    area = width * height
    boards = turned_boards(points[:, :area].reshape(-1, height, width), symmetry)
    return np.concatenate([boards.reshape(len(points), area), points[:, area:]], axis=1)
