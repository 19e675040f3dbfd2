"""The encoder of AlphaGo's networks: 48 planes for a policy network, 49 for a value network.

`planes` describes the planes, and the decisions where the paper leaves a choice.
"""

from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.board import IntArray
from gtp_engine.nn.encoders import Inputs
from gtp_engine.nn.symmetry import cell_table
from gtp_engine.training.alphago.planes import POLICY_PLANES, VALUE_PLANES, new_planes_work, write_planes


def new_value_encoder(width: int, height: int) -> "AlphaGoEncoder":
    """Return the encoder of a value network, for boards of this size."""
    return AlphaGoEncoder(width, height, player_color=True)


class AlphaGoEncoder:
    """The encoder of a policy network's 48 planes or, with `player_color`, of a value network's 49."""

    def __init__(self, width: int, height: int, *, player_color: bool = False) -> None:
        self.planes = VALUE_PLANES if player_color else POLICY_PLANES
        self.name = f"alphago-{self.planes}"
        self.globals = 0
        self._work = new_planes_work(width, height, cell_table(width, height))

    def encode(self, positions: Positions, rows: range, symmetries: IntArray, out: Inputs) -> None:
        """Fill rows; see `Encoder`.  Raises ValueError if the planes are not C-contiguous."""
        write_planes(positions, rows.start, rows.stop, symmetries, self._work, out.planes())
