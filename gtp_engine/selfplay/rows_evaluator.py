"""Evaluators of rows that are each under rules and komi of their own.

An `Evaluator` is asked about positions of one game, and so about one komi.  Games played side by side differ in rules
and komi, and a network would be given one position at a time.

    RowsEvaluator   the protocol
    GroupedRows     any Evaluator: rows of equal conditions share a call
    NetworkRows     a network of KataGo's kind: all rows in one call

B is the number of rows.
"""

from collections.abc import Sequence
from dataclasses import fields
from typing import Final, Protocol

import numpy as np

from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.evaluation.evaluation import Evaluation, FloatArray, new_evaluation, put_rows
from gtp_engine.evaluation.evaluator import DEFAULT_OPTIONS, Evaluator
from gtp_engine.evaluation.positions import SIMPLE_KO, Conditions, Positions, board_size, take_rows
from gtp_engine.go.board import IntArray
from gtp_engine.nn.decode import clear_rows, decode_katago_value, decode_ownership, decode_policy, finish_rows
from gtp_engine.nn.encoded_network import new_encoder
from gtp_engine.nn.encoder import Encoder
from gtp_engine.nn.metadata import NetworkInfo, Scales
from gtp_engine.nn.onnx_model import RawOutputs
from gtp_engine.nn.symmetry import cell_table

_OPTIMISM: Final = 0.0
_TEMPERATURE: Final = 1.0
_NO_PASS_PRIOR: Final = 0.0
"""The policy is taken as the network gives it; KataGo's networks know the pass."""


class RowsEvaluator(Protocol):
    """Judges rows; one thread calls it at a time.  `name` is for people."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def evaluate_rows(self, positions: Positions, conditions: Sequence[Conditions], out: Evaluation) -> None:
        """Write what is to be said about the first rows of `positions` into `out`, each under its own conditions."""
        ...


class GroupedRows:
    """Judges rows by `evaluator`, in one call for each of the conditions among them."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.name: Final = evaluator.info.name
        self._evaluator: Final = evaluator

    def evaluate_rows(self, positions: Positions, conditions: Sequence[Conditions], out: Evaluation) -> None:
        """Write what the evaluator says; see `RowsEvaluator`."""
        for common in dict.fromkeys(conditions):
            rows = [row for row, of_row in enumerate(conditions) if of_row == common]
            part = new_evaluation(len(rows), *board_size(positions))
            self._evaluator.evaluate(take_rows(positions, rows), len(rows), common, part, DEFAULT_OPTIONS)
            put_rows(out, rows, part)


class RawModel(Protocol):
    """What runs a network: `OnnxModel`, or anything else that has the same inputs and outputs."""

    @property
    def info(self) -> NetworkInfo: ...  # noqa: D102

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the outputs for `spatial` [K, planes, H, W] and `globals_` [K, globals]; K ≥ 1."""
        ...


class _Room:
    """Encoder, input arrays and work arrays for B rows on boards of one size."""

    def __init__(self, info: NetworkInfo, batch: int, width: int, height: int) -> None:
        self.encoder: Final[Encoder] = new_encoder(info, width, height)
        self.spatial: Final = np.zeros((batch, self.encoder.planes, height, width), dtype=np.float32)
        self.globals_: Final = np.zeros((batch, self.encoder.globals), dtype=np.float32)
        self.cells: Final = cell_table(width, height)
        self.symmetries: Final = np.zeros(batch, dtype=np.int32)
        self.scratch: Final = np.zeros(self.cells.shape[1], dtype=np.float32)


class NetworkRows:
    """Judges all rows in one call of a network, each in an orientation that its key decides.

    Nothing is remembered: positions of games played side by side hardly ever repeat.  Raises ModelError for a network
    that is not of KataGo's kind: others say nothing about score and ownership.
    """

    def __init__(self, model: RawModel) -> None:
        info = model.info
        if info.encoder != "katago-v7" or info.kind != "policy+value":
            raise ModelError(
                problem(
                    f"network {shown(info.name)} is for {info.kind} and takes {info.encoder}",
                    expected="policy+value and katago-v7",
                    advice="use a network imported from KataGo's, or trained like them",
                )
            )
        self.name: Final = info.name
        self._model: Final = model
        self._scales: Final = np.array([getattr(info.scales, field.name) for field in fields(Scales)], dtype=np.float32)
        self._rooms: Final[dict[tuple[int, int, int], _Room]] = {}

    def evaluate_rows(self, positions: Positions, conditions: Sequence[Conditions], out: Evaluation) -> None:
        """Write what the network says; see `RowsEvaluator`.  Raises ModelError for answers that are no numbers."""
        room, count = self._fit(positions), len(conditions)
        room.symmetries[:count] = positions.key[:count] % np.uint64(len(room.cells))
        for row, of_row in enumerate(conditions):
            room.encoder.encode(positions, row, row + 1, of_row, room.symmetries, room.spatial, room.globals_)
        raw = self._model.run(room.spatial[:count], room.globals_[:count])
        rows = np.arange(count, dtype=np.int32)
        clear_rows(rows, out)
        self._decode(room, positions, conditions, raw, out)
        if finish_rows(rows, out):
            raise ModelError(
                problem(f"network {shown(self.name)} answered with what is no number", advice="try precision float32")
            )

    def _decode(
        self, room: _Room, positions: Positions, conditions: Sequence[Conditions], raw: RawOutputs, out: Evaluation
    ) -> None:
        """Write the raw outputs as answers; rows whose rules mean the same to a kernel share a call."""
        assert raw.policy is not None and raw.value is not None, "a network of KataGo's kind has both"
        assert raw.misc is not None and raw.ownership is not None, "and these"
        for suicide, rows in _rows_by([of_row.suicide for of_row in conditions]):
            decode_policy(
                positions,
                rows,
                suicide,
                raw.policy[rows],
                room.cells,
                room.symmetries,
                _OPTIMISM,
                _TEMPERATURE,
                _NO_PASS_PRIOR,
                False,
                1.0,
                out.policy,
                room.scratch,
            )
        version = self._model.info.model_version
        for can_be_void, rows in _rows_by([of.superko == SIMPLE_KO or of.territory for of in conditions]):
            value, misc = raw.value[rows], raw.misc[rows]
            decode_katago_value(positions.to_play, rows, value, misc, self._scales, version, can_be_void, 1.0, out)
        rows = np.arange(len(conditions), dtype=np.int32)
        decode_ownership(positions.to_play, rows, raw.ownership, room.cells, room.symmetries, 1.0, out.ownership_black)

    def _fit(self, positions: Positions) -> _Room:
        """Return what is kept for the boards and number of rows of `positions`."""
        shape = (len(positions.key), *board_size(positions))
        if shape not in self._rooms:
            self._rooms[shape] = _Room(self._model.info, *shape)
        return self._rooms[shape]


def _rows_by(flags: Sequence[bool]) -> list[tuple[bool, IntArray]]:
    """Return the rows for which a flag is set, and those for which it is not, whichever there are."""
    values = np.array(flags)
    split = [(flag, np.flatnonzero(values == flag).astype(np.int32)) for flag in (False, True)]
    return [(flag, rows) for flag, rows in split if rows.size]
