"""A network with its encoder: rows of positions in, raw outputs out.

Letters as in `decode`: B rows of a batch, of which K are evaluated.
"""

from pathlib import Path
from typing import Final, Protocol

import numpy as np

from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.evaluation.positions import Positions, board_size
from gtp_engine.go.board import IntArray
from gtp_engine.nn.encoder import Encoder, new_inputs
from gtp_engine.nn.katago_encoder import KatagoV7Encoder
from gtp_engine.nn.katago_human_encoder import KatagoHumanEncoder
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.nn.onnx_model import RawOutputs
from gtp_engine.nn.plug_ins import plugged_in_encoder


class Model(Protocol):
    """Runs the network of a file: `OnnxModel`, or anything else with the same inputs and outputs."""

    @property
    def info(self) -> NetworkInfo: ...  # noqa: D102

    @property
    def path(self) -> Path | None:
        """The file, where this process has it."""
        ...

    @property
    def precision(self) -> str:
        """The number format in which it calculates."""
        ...

    @property
    def batch(self) -> int:
        """Positions in one call that it runs most efficiently."""
        ...

    @property
    def position_seconds(self) -> float:
        """Estimated seconds for a position on 19×19; 0 where a full batch takes hardly longer."""
        ...

    def prepare(self, width: int, height: int) -> None:
        """Get ready for boards of this size; raises ModelError."""
        ...

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the outputs for `spatial` [K, planes, H, W] and `globals_` [K, globals]; K ≥ 1."""
        ...

    def close(self) -> None:
        """Free the network."""
        ...


class InputBuffers:
    """An encoder and the arrays it fills, for B rows of boards of one size."""

    def __init__(self, info: NetworkInfo, batch: int, width: int, height: int) -> None:
        self.shape: Final = (batch, width, height)
        self.encoder: Final = new_encoder(info, width, height)
        self.inputs: Final = new_inputs(self.encoder, batch, width, height)


class EncodedNetwork:
    """Runs a model on positions; input arrays are reused as long as board size and number of rows stay the same.

    Raises ModelError if the file's planes are not those of its encoder.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self._buffers: InputBuffers | None = None
        encoder = new_encoder(model.info, 19, 19)
        wanted, found = (encoder.planes, encoder.globals), (model.info.planes, model.info.globals_)
        if found != wanted:
            name = model.info.name if model.path is None else model.path.name
            raise ModelError(
                problem(
                    f"network {shown(name)} takes {found[0]} planes and {found[1]} global values",
                    expected=f"{wanted[0]} and {wanted[1]}, as {encoder.name} has",
                    advice="import or train it again",
                )
            )

    def run(self, positions: Positions, rows: IntArray, symmetries: IntArray) -> RawOutputs:
        """Return the outputs for `rows` [K], ascending; row i of the batch is encoded in symmetry `symmetries[i]` [B].

        Raises ModelError if the model cannot be run.
        """
        buffers = self._buffers_for(positions)
        first = 0
        for last in [*np.flatnonzero(np.diff(rows) != 1), len(rows) - 1]:  # an encoder takes rows without gaps
            part = range(int(rows[first]), int(rows[last]) + 1)
            buffers.encoder.encode(positions, part, symmetries, buffers.inputs)
            first = last + 1
        spatial, globals_ = buffers.inputs
        if len(rows) == rows[-1] + 1:
            return self.model.run(spatial[: len(rows)], globals_[: len(rows)])
        return self.model.run(spatial[rows], globals_[rows])

    def _buffers_for(self, positions: Positions) -> InputBuffers:
        """Return buffers for the boards and the number of rows of `positions`."""
        shape = (positions.to_play.size, *board_size(positions))
        if self._buffers is None or self._buffers.shape != shape:
            self._buffers = InputBuffers(self.model.info, *shape)
        return self._buffers


def new_encoder(info: NetworkInfo, width: int, height: int) -> Encoder:
    """Return the encoder that a network file names, for boards of one size."""
    if info.needs_profile:
        return KatagoHumanEncoder(width, height, suicide_area=info.suicide_area)
    if info.is_katago:
        return KatagoV7Encoder(width, height, suicide_area=info.suicide_area)
    return plugged_in_encoder(info.encoder, width, height)
