"""The encoder of KataGo's human-like networks: the inputs of its other networks, and a profile of the players."""

from typing import Final

from gtp_engine.evaluation.positions import Conditions, Positions
from gtp_engine.go.board import IntArray
from gtp_engine.nn.encoder import Inputs
from gtp_engine.nn.human_inputs import write_profile
from gtp_engine.nn.katago_encoder import KatagoV7Encoder
from gtp_engine.nn.katago_globals import GLOBALS
from gtp_engine.nn.katago_planes import PLANES
from gtp_engine.nn.metadata import HUMAN_ENCODER, PROFILE_INPUTS

_PROFILE: Final = Conditions._fields.index("human_profile")


class KatagoHumanEncoder:
    """Encodes for boards of one size, on one thread at a time; `suicide_area` as in `KatagoV7Encoder`."""

    name: Final = HUMAN_ENCODER
    planes: Final = PLANES
    globals: Final = GLOBALS + PROFILE_INPUTS

    def __init__(self, width: int, height: int, *, suicide_area: bool = False) -> None:
        self._area = width * height
        self._position_encoder = KatagoV7Encoder(width, height, suicide_area=suicide_area)

    def encode(self, positions: Positions, rows: range, symmetries: IntArray, out: Inputs) -> None:
        """Fill rows; see `Encoder`.  Raises ModelError if the conditions of a row hold no profile."""
        self._position_encoder.encode(positions, rows, symmetries, out)
        for row in rows:
            profile, color = int(positions.conditions[row, _PROFILE]), int(positions.to_play[row])
            write_profile(profile, color, self._area, out.globals_[row, GLOBALS:])
