"""The encoder of AlphaGo's networks: 48 planes for a policy network, 49 for a value network.

`planes` describes the planes, and the decisions where the paper leaves a choice.
"""

import numpy as np

from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.board import IntArray
from gtp_engine.nn.encoders import Inputs, Rows, new_inputs
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
        self.globals = 0  # there are no inputs beside the planes
        self._board = width, height
        self._work = new_planes_work(width, height, cell_table(width, height))

    def encode(self, positions: Positions, rows: Rows, symmetries: IntArray) -> Inputs:
        """Return the inputs for some rows; see `Encoder`."""
        inputs = new_inputs(self, len(rows), *self._board)
        planes = inputs.spatial.reshape(len(rows), self.planes, -1)
        write_planes(positions, np.asarray(rows, dtype=np.int32), symmetries, self._work, planes)
        return inputs
