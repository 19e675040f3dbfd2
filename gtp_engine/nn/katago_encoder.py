"""The encoder of KataGo's networks, and of all that see positions as they do: inputs version 7.

What the planes and global values mean stands in `katago_planes` and `katago_globals`.
"""

from typing import Final

from gtp_engine.errors import problem
from gtp_engine.evaluation.positions import Conditions, Positions
from gtp_engine.go.board import IntArray
from gtp_engine.nn.encoder import FloatArray
from gtp_engine.nn.katago_globals import GLOBALS
from gtp_engine.nn.katago_planes import PLANES, encode_rows, new_encoder_work
from gtp_engine.nn.symmetry import cell_table


class KatagoV7Encoder:
    """Encodes for boards of one size, on one thread at a time.

    `suicide_area`: the network wants areas computed as if suicide were legal whatever the rules are
    (`NetworkInfo.suicide_area`).
    """

    name: Final = "katago-v7"
    planes: Final = PLANES
    globals: Final = GLOBALS

    def __init__(self, width: int, height: int, *, suicide_area: bool = False) -> None:
        self._suicide_area = suicide_area
        self._table = cell_table(width, height)
        self._work = new_encoder_work(width, height)

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
        """Fill rows as the Encoder protocol says; raises ValueError if `spatial` is not C-contiguous."""
        if not spatial.flags.c_contiguous:
            raise ValueError(problem(f"planes with strides {spatial.strides}", expected="a C-contiguous array"))
        planes = spatial.reshape(spatial.shape[0], PLANES, -1)
        encode_rows(
            positions, begin, end, conditions, self._suicide_area, symmetries, self._table, self._work, planes, globals_
        )
