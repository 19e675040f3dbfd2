"""The encoder of KataGo's networks, and of all that read positions as they do: inputs version 7.

`katago_planes` and `katago_globals` describe the planes and global values.
"""

from typing import Final

from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.board import IntArray
from gtp_engine.nn.encoder import Inputs
from gtp_engine.nn.katago_globals import GLOBALS
from gtp_engine.nn.katago_planes import PLANES, encode_rows, new_encoder_work
from gtp_engine.nn.metadata import KATAGO_ENCODER
from gtp_engine.nn.symmetry import cell_table


class KatagoV7Encoder:
    """Encodes for boards of one size, on one thread at a time.

    `suicide_area`: the network expects areas computed as if suicide were legal under all rules
    (`NetworkInfo.suicide_area`).
    """

    name: Final = KATAGO_ENCODER
    planes: Final = PLANES
    globals: Final = GLOBALS

    def __init__(self, width: int, height: int, *, suicide_area: bool = False) -> None:
        self._suicide_area = suicide_area
        self._cells = cell_table(width, height)
        self._work = new_encoder_work(width, height)

    def encode(self, positions: Positions, rows: range, symmetries: IntArray, out: Inputs) -> None:
        """Fill rows; see `Encoder`.  Raises ValueError if the planes are not C-contiguous."""
        settings = self._suicide_area, symmetries, self._cells, self._work
        encode_rows(positions, rows.start, rows.stop, *settings, out.planes(), out.globals_)
