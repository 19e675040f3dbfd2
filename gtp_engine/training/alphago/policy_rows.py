"""Policy networks of AlphaGo's kind as players of games side by side (`selfplay.policy_games`).

    PolicyRows     a policy network's odds for all moves that fill no own eye; where there is none, it passes
    UniformRows    equal odds for all moves that leave a liberty
    SwitchedRows   one of several players for each row

None of them judges positions: they say that either side wins half of the games.

K is the number of rows, A = H·W.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from gtp_engine.errors import ModelError, problem, shown
from gtp_engine.evaluation.evaluation import Evaluation, FloatArray, new_evaluation, put_rows
from gtp_engine.evaluation.positions import Conditions, Positions, board_size, take_rows
from gtp_engine.go.constants import PASS
from gtp_engine.nn.alphago_encoder import AlphaGoEncoder
from gtp_engine.nn.alphago_planes import planes_of
from gtp_engine.nn.encoder import Inputs
from gtp_engine.nn.symmetry import cell_table
from gtp_engine.selfplay.rows_evaluator import RawModel, RowsEvaluator

_NO_GLOBALS: Final = np.zeros((0, 0), dtype=np.float32)
_EVEN: Final = 0.5


class Logits(Protocol):
    """Returns logits, float32[K, A], for planes, float32[K, 48, H, W]."""

    def __call__(self, planes: FloatArray) -> FloatArray: ...  # noqa: D102


def logits_of(model: RawModel) -> Logits:
    """Return what a policy network file says, passes left out; raises ModelError if the file is of another kind."""
    info = model.info
    if info.kind != "policy" or info.encoder != "alphago-48":
        raise ModelError(
            problem(
                f"network {shown(info.name)} is for {info.kind} and takes {info.encoder}",
                expected="policy and alphago-48",
            )
        )

    def run(planes: FloatArray) -> FloatArray:
        policy = model.run(planes, np.zeros((len(planes), 0), dtype=np.float32)).policy
        assert policy is not None, "checked when the session was made"
        logits: FloatArray = policy[:, 0, : planes.shape[2] * planes.shape[3]]
        return logits

    return run


class _Planes:
    """Encodes rows, each in an orientation that its key decides; keeps the arrays for one shape of them."""

    def __init__(self) -> None:
        self._shape = (0, 0, 0)

    def write(
        self, positions: Positions, conditions: Sequence[Conditions]
    ) -> tuple[FloatArray, NDArray[np.int32], NDArray[np.int32]]:
        """Return planes [K, 48, H, W], the cell at which each row shows each point, [K, A], and these points, [A]."""
        count, shape = len(conditions), (len(positions.key), *board_size(positions))
        if shape != self._shape:
            batch, width, height = self._shape = shape
            self._encoder = AlphaGoEncoder(width, height)
            self._planes = np.zeros((batch, self._encoder.planes, height, width), dtype=np.float32)
            self._cells = cell_table(width, height)
            self._points = np.flatnonzero(self._cells[0] >= 0).astype(np.int32)
        symmetries = (positions.key % np.uint64(len(self._cells))).astype(np.int32)
        begin = 0
        for end in range(1, count + 1):
            if end == count or conditions[end].suicide != conditions[begin].suicide:
                inputs = Inputs(self._planes, _NO_GLOBALS)
                self._encoder.encode(positions, range(begin, end), conditions[begin], symmetries, inputs)
                begin = end
        return self._planes[:count], self._cells[symmetries[:count]][:, self._points], self._points


class PolicyRows:
    """Plays by a policy network; the odds are those of a softmax over the moves that it may choose from."""

    def __init__(self, logits: Logits, name: str) -> None:
        self.name: Final = name
        self._logits: Final = logits
        self._rows: Final = _Planes()

    def evaluate_rows(self, positions: Positions, conditions: Sequence[Conditions], out: Evaluation) -> None:
        """Write the odds; see `RowsEvaluator`."""
        planes, cells, points = self._rows.write(positions, conditions)
        may_play = sensible(planes)
        logits = np.where(may_play, self._logits(planes), -np.inf)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True, initial=np.finfo(np.float32).min))
        _write_odds(odds * may_play, cells, points, out)


class UniformRows:
    """Plays anything that the rules allow and that leaves a liberty, with equal odds."""

    name: Final = "uniform"

    def __init__(self) -> None:
        self._rows: Final = _Planes()

    def evaluate_rows(self, positions: Positions, conditions: Sequence[Conditions], out: Evaluation) -> None:
        """Write the odds; see `RowsEvaluator`."""
        planes, cells, points = self._rows.write(positions, conditions)
        after = planes_of("liberties after move")
        may_play = planes[:, after.start : after.stop].any(axis=1).reshape(len(planes), -1)
        _write_odds(may_play.astype(np.float32), cells, points, out)


class SwitchedRows:
    """Asks one of several players about each row; `choose` returns which, int[K], for the first K rows."""

    def __init__(self, players: Sequence[RowsEvaluator], choose: Callable[[Positions, int], NDArray[np.int64]]) -> None:
        self.name: Final = " and ".join(player.name for player in players)
        self._players: Final = players
        self._choose: Final = choose

    def evaluate_rows(self, positions: Positions, conditions: Sequence[Conditions], out: Evaluation) -> None:
        """Write what the players say; see `RowsEvaluator`."""
        chosen = self._choose(positions, len(conditions))
        for number, player in enumerate(self._players):
            rows = np.flatnonzero(chosen == number)
            if rows.size:
                part = new_evaluation(len(rows), *board_size(positions))
                player.evaluate_rows(take_rows(positions, rows), [conditions[row] for row in rows.tolist()], part)
                put_rows(out, rows, part)


def sensible(planes: FloatArray) -> NDArray[np.bool_]:
    """Return which points the side to move may play without filling an own eye, bool[K, A], from its planes."""
    (plane,) = planes_of("sensibleness")
    flags: NDArray[np.bool_] = planes[:, plane].reshape(len(planes), -1) > 0
    return flags


def _write_odds(odds: FloatArray, cells: NDArray[np.int32], points: NDArray[np.int32], out: Evaluation) -> None:
    """Write odds [K, A] of the places that boards are shown in as the policy; a row of zeros passes."""
    count, total = len(odds), odds.sum(axis=1, keepdims=True)
    for array in out:
        array[:count] = 0.0
    rows = np.arange(count)[:, None]
    out.policy[rows, points] = np.take_along_axis(odds, cells, axis=1) / np.where(total > 0, total, 1)
    out.policy[:count, PASS] = total[:, 0] == 0
    out.win_black[:count] = out.loss_black[:count] = _EVEN
