"""Evaluators of rows that have their own rules and komi.

An `Evaluator` takes positions under one set of conditions, those of one game.  Games that are played side by side
differ in rules and komi, so a network would receive one position at a time.

    RowsEvaluator   the protocol
    GroupedRows     any Evaluator: rows with equal conditions share a call
    NetworkRows     a network of KataGo's kind: all rows in one call

B is the number of rows.
"""

from collections.abc import Sequence
from dataclasses import astuple
from typing import Final, Protocol

import numpy as np

from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.evaluation.evaluation import Evaluation, FloatArray, new_evaluation, put_rows
from gtp_engine.evaluation.evaluator import DEFAULT_OPTIONS, Evaluator
from gtp_engine.evaluation.positions import SIMPLE_KO, Conditions, Positions, board_size, take_rows
from gtp_engine.go.board import IntArray
from gtp_engine.nn import decode
from gtp_engine.nn.encoded_network import InputBuffers
from gtp_engine.nn.metadata import KATAGO_ENCODER, NetworkInfo
from gtp_engine.nn.onnx_model import RawOutputs
from gtp_engine.nn.symmetry import cell_table


class RowsEvaluator(Protocol):
    """Evaluates rows; one thread calls it at a time.  `name` is for people."""

    @property
    def name(self) -> str: ...  # noqa: D102

    def evaluate_rows(self, positions: Positions, conditions: Sequence[Conditions], out: Evaluation) -> None:
        """Write the evaluation of the first rows of `positions` into `out`, each under its own conditions."""
        ...


class GroupedRows:
    """Evaluates rows by `evaluator`, with one call for all rows of equal conditions."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.name: Final = evaluator.info.name
        self._evaluator: Final = evaluator

    def evaluate_rows(self, positions: Positions, conditions: Sequence[Conditions], out: Evaluation) -> None:
        """Write the evaluation of rows; see `RowsEvaluator`."""
        for common in dict.fromkeys(conditions):
            rows = [row for row, of_row in enumerate(conditions) if of_row == common]
            part = new_evaluation(len(rows), *board_size(positions))
            self._evaluator.evaluate(take_rows(positions, rows), len(rows), common, part, DEFAULT_OPTIONS)
            put_rows(out, rows, part)


class RawModel(Protocol):
    """Runs a network: `OnnxModel`, or anything else with the same inputs and outputs."""

    @property
    def info(self) -> NetworkInfo: ...  # noqa: D102

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the outputs for `spatial` [K, planes, H, W] and `globals_` [K, globals]; K ≥ 1."""
        ...


class _Workspace:
    """Input buffers, tables and work arrays for B rows of boards of one size."""

    def __init__(self, info: NetworkInfo, batch: int, width: int, height: int) -> None:
        self.buffers: Final = InputBuffers(info, batch, width, height)
        self.cells: Final = cell_table(width, height)
        self.symmetries: Final = np.zeros(batch, dtype=np.int32)
        self.scratch: Final = np.zeros(self.cells.shape[1], dtype=np.float32)
        self.optimistic: Final = np.zeros((batch, self.cells.shape[1]), dtype=np.float32)


class NetworkRows:
    """Evaluates all rows in one call of a network, each in an orientation chosen by its key.

    `looks` is in how many orientations, in a call each, the network looks at a position; the mean is taken.
    `optimistic` holds the optimistic policy of the rows evaluated last, in the form of `Evaluation.policy`, or None if
    the network has none.

    Nothing is cached: positions of games played side by side hardly ever repeat.  Raises ModelError for a network that
    is not of KataGo's kind, because others lack outputs for score and ownership.
    """

    def __init__(self, model: RawModel, *, looks: int = 1) -> None:
        info = model.info
        if info.encoder != KATAGO_ENCODER or info.kind != "policy+value":
            raise ModelError(
                problem(
                    f"network {shown(info.name)} is for {info.kind} and takes {info.encoder}",
                    expected=f"policy+value and {KATAGO_ENCODER}",
                    advice="use a network imported from KataGo's, or trained like them",
                )
            )
        self.name: Final = info.name
        self.optimistic: FloatArray | None = None
        self._model: Final = model
        self._looks: Final = looks
        self._scales: Final = np.array(astuple(info.scales), dtype=np.float32)
        self._workspaces: Final[dict[tuple[int, int, int], _Workspace]] = {}

    def evaluate_rows(self, positions: Positions, conditions: Sequence[Conditions], out: Evaluation) -> None:
        """Write the evaluation of rows; see `RowsEvaluator`.  Raises ModelError for NaN or infinity."""
        space, count = self._workspace_for(positions), len(conditions)
        encoder, inputs = space.buffers.encoder, space.buffers.inputs
        rows = np.arange(count, dtype=np.int32)
        decode.clear_rows(rows, out)
        space.optimistic[:count] = 0.0
        self.optimistic = None
        for look in range(self._looks):
            space.symmetries[:count] = (positions.key[:count] + np.uint64(look)) % np.uint64(len(space.cells))
            for row, of_row in enumerate(conditions):
                encoder.encode(positions, range(row, row + 1), of_row, space.symmetries, inputs)
            raw = self._model.run(inputs.spatial[:count], inputs.globals_[:count])
            self._decode(space, positions, conditions, raw, out)
        if decode.finish_rows(rows, out):
            raise ModelError(
                problem(f"network {shown(self.name)} returned NaN or infinity", advice="try precision float32")
            )

    def _decode(
        self,
        space: _Workspace,
        positions: Positions,
        conditions: Sequence[Conditions],
        raw: RawOutputs,
        out: Evaluation,
    ) -> None:
        """Add the decoded outputs to `out`; rows whose rules mean the same to a kernel share a call.

        The policy is taken as the network gives it; KataGo's networks have an output for passing.
        """
        assert raw.policy is not None and raw.value is not None, "a network of KataGo's kind has both"
        assert raw.misc is not None and raw.ownership is not None, "and these"
        rows = np.arange(len(conditions), dtype=np.int32)
        encoded = decode.EncodedRows(rows, space.cells, space.symmetries, 1.0 / self._looks, space.scratch)
        if raw.policy.shape[1] > 1:
            self.optimistic = space.optimistic
        for suicide, chosen in _rows_by([of_row.suicide for of_row in conditions]):
            part, options = encoded._replace(rows=chosen), decode.PolicyOptions(suicide)
            decode.decode_policy(positions, part, options, raw.policy[chosen], out.policy)
            if self.optimistic is not None:
                wholly = options._replace(optimism=1.0)
                decode.decode_policy(positions, part, wholly, raw.policy[chosen], self.optimistic)
        version = self._model.info.model_version
        for can_be_void, chosen in _rows_by([of.superko == SIMPLE_KO or of.territory for of in conditions]):
            part, outputs = encoded._replace(rows=chosen), decode.KatagoOutputs(self._scales, version, can_be_void)
            decode.decode_katago_value(positions.to_play, part, outputs, raw.value[chosen], raw.misc[chosen], out)
        decode.decode_ownership(positions.to_play, encoded, raw.ownership, out.ownership_black)

    def _workspace_for(self, positions: Positions) -> _Workspace:
        """Return the workspace for the boards and number of rows of `positions`."""
        shape = (len(positions.key), *board_size(positions))
        if shape not in self._workspaces:
            self._workspaces[shape] = _Workspace(self._model.info, *shape)
        return self._workspaces[shape]


def _rows_by(flags: Sequence[bool]) -> list[tuple[bool, IntArray]]:
    """Return the rows without and with a flag, leaving out a value that no row has."""
    values = np.array(flags)
    split = [(flag, np.flatnonzero(values == flag).astype(np.int32)) for flag in (False, True)]
    return [(flag, rows) for flag, rows in split if rows.size]
