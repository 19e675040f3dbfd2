"""A network with its encoder: rows of positions in, raw outputs out.

Letters as in `decode`: B rows of a batch, of which K are to be looked at.
"""

import numpy as np

from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.evaluation.positions import Conditions, Positions, board_size
from gtp_engine.go.board import IntArray
from gtp_engine.nn.alphago_encoder import AlphaGoEncoder
from gtp_engine.nn.encoder import Encoder
from gtp_engine.nn.katago_encoder import KatagoV7Encoder
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.nn.onnx_model import OnnxModel, RawOutputs


class Network:
    """Runs a model on positions; input arrays are kept as long as board size and number of rows stay the same.

    Raises ModelError if the file's planes are not those of its encoder.
    """

    def __init__(self, model: OnnxModel) -> None:
        self.model = model
        self._shape = (0, 0, 0)
        encoder = new_encoder(model.info, 19, 19)
        wanted, found = (encoder.planes, encoder.globals), (model.info.planes, model.info.globals_)
        if found != wanted:
            raise ModelError(
                problem(
                    f"network {shown(model.path.name)} takes {found[0]} planes and {found[1]} global values",
                    expected=f"{wanted[0]} and {wanted[1]}, as {encoder.name} has",
                    advice="import or train it again",
                )
            )

    def run(self, positions: Positions, rows: IntArray, conditions: Conditions, symmetries: IntArray) -> RawOutputs:
        """Return the outputs for `rows` [K], ascending; row number i is shown in symmetry `symmetries[i]` [B]."""
        self._fit(positions)
        first = 0
        for last in [*np.flatnonzero(np.diff(rows) != 1), len(rows) - 1]:
            begin, end = int(rows[first]), int(rows[last]) + 1
            self._encoder.encode(positions, begin, end, conditions, symmetries, self._spatial, self._globals)
            first = last + 1
        if len(rows) == rows[-1] + 1:
            return self.model.run(self._spatial[: len(rows)], self._globals[: len(rows)])
        return self.model.run(self._spatial[rows], self._globals[rows])

    def _fit(self, positions: Positions) -> None:
        """Make encoder and input arrays for the boards and the number of rows of `positions`."""
        shape = (positions.to_play.size, *board_size(positions))
        if shape != self._shape:
            batch, width, height = shape
            self._encoder = new_encoder(self.model.info, width, height)
            self._spatial = np.zeros((batch, self._encoder.planes, height, width), dtype=np.float32)
            self._globals = np.zeros((batch, self._encoder.globals), dtype=np.float32)
            self._shape = shape


def new_encoder(info: NetworkInfo, width: int, height: int) -> Encoder:
    """Return the encoder that a network names, for boards of one size."""
    if info.encoder == "katago-v7":
        return KatagoV7Encoder(width, height, suicide_area=info.suicide_area)
    return AlphaGoEncoder(width, height, player_color=info.encoder == "alphago-49")
