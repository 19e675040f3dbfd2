"""The encoder of AlphaGo's networks: 48 planes for a policy network, 49 for a value network.

What the planes mean, and what was decided where the paper leaves it open, stands in `alphago_planes`.
"""

from gtp_engine.evaluation.positions import Conditions, Positions
from gtp_engine.go.board import IntArray
from gtp_engine.nn.alphago_planes import POLICY_PLANES, VALUE_PLANES, new_planes_work, write_planes
from gtp_engine.nn.encoder import FloatArray
from gtp_engine.nn.symmetry import cell_table


class AlphaGoEncoder:
    """The encoder of a policy network's 48 planes or, with `player_color`, of a value network's 49."""

    def __init__(self, width: int, height: int, *, player_color: bool = False) -> None:
        self.planes = VALUE_PLANES if player_color else POLICY_PLANES
        self.name = f"alphago-{self.planes}"
        self.globals = 0
        self._cells = cell_table(width, height)
        self._work = new_planes_work(width, height)

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
        """Fill rows as the Encoder protocol says; `globals_` is not looked at: these networks have none."""
        planes = spatial.reshape(spatial.shape[0], self.planes, -1)
        write_planes(positions, begin, end, conditions.suicide, symmetries, self._cells, self._work, planes)
