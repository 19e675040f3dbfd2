"""AlphaGo's policy networks as players of many games at once (`training.selfplay.policy_games`).

    PolicyPlayer     a policy network's probabilities of all moves that fill no own eye; without such a move, it passes
    UniformPlayer    equal probabilities for all moves that leave a liberty
    SwitchedPlayer   one of several players for each row

None of them evaluates positions: the winrate is always one half.

K is the number of rows, A = H·W.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ModelError, shown
from gtp_engine.evaluation.evaluator import BareEvaluator, Evaluator, Request
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import (
    Evaluation,
    FloatArray,
    Positions,
    board_size,
    new_evaluation,
    put_rows,
    take_rows,
)
from gtp_engine.go.constants import PASS
from gtp_engine.go.rules import PRESETS
from gtp_engine.nn.encoders import Inputs
from gtp_engine.nn.network_evaluator import Model
from gtp_engine.nn.symmetry import cell_table
from gtp_engine.search.rollouts.rollout import MOVES_PER_POINT
from gtp_engine.training.alphago.planes import planes_of
from gtp_engine.training.alphago.planes_encoder import NO_GLOBALS, AlphaGoEncoder
from gtp_engine.training.alphago.stages.stage_settings import PolicyGameSettings
from gtp_engine.training.selfplay.plans import GamePlan

_EVEN: Final = 0.5
_BATCH: Final = 64
"""Positions that are evaluated efficiently together; callers have their own numbers of games."""


Logits = Callable[[FloatArray], FloatArray]
"""Returns logits, float32[K, A], for planes, float32[K, 48, H, W]."""


def logits_of(model: Model) -> Logits:
    """Return a policy network file's logits without that of a pass; raises ModelError for another kind of file."""
    info = model.info
    if info.kind != "policy" or info.encoder != "alphago-48":
        raise ModelError(
            f"network {shown(info.name)} is for {info.kind} and takes {info.encoder}", expected="policy and alphago-48"
        )

    def run(planes: FloatArray) -> FloatArray:
        policy = model.run(planes, np.zeros((len(planes), 0), dtype=np.float32)).policy
        assert policy is not None, "checked when the session was made"
        logits: FloatArray = policy[:, 0, : planes.shape[2] * planes.shape[3]]
        return logits

    return run


class _ShownPlanes(NamedTuple):
    """K encoded rows."""

    planes: FloatArray  # [K, 48, H, W]
    cells: NDArray[np.int32]  # [K, A] the cell at which each row's orientation has each point
    points: NDArray[np.int32]  # [A] the points of the board


class _RowEncoder:
    """Encodes rows on boards of one size, each in a symmetry that its key decides."""

    def __init__(self, batch: int, width: int, height: int) -> None:
        self._encoder: Final = AlphaGoEncoder(width, height)
        self._planes: Final = np.zeros((batch, self._encoder.planes, height, width), dtype=np.float32)
        self._cells: Final = cell_table(width, height)
        self._points: Final = np.flatnonzero(self._cells[0] >= 0).astype(np.int32)

    def encode(self, positions: Positions, count: int) -> _ShownPlanes:
        """Return the first `count` rows encoded; valid until the next call."""
        symmetries = (positions.key % np.uint64(len(self._cells))).astype(np.int32)
        self._encoder.encode(positions, range(count), symmetries, Inputs(self._planes, NO_GLOBALS))
        return _ShownPlanes(self._planes[:count], self._cells[symmetries[:count]][:, self._points], self._points)


def _row_encoders() -> Callable[[Positions], _RowEncoder]:
    """Return a function that returns the encoder for given rows; the last one is cached."""
    cached = lru_cache(maxsize=1)(_RowEncoder)
    return lambda positions: cached(len(positions.key), *board_size(positions))


class PolicyPlayer(BareEvaluator):
    """Plays by a policy network: a softmax over the moves that fill no own eye.  It plays rollouts as well."""

    def __init__(self, logits: Logits, name: str) -> None:
        super().__init__(EvaluatorInfo(name, _BATCH, has_score=False, has_ownership=False))
        self._logits: Final = logits
        self._encoder_of: Final = _row_encoders()

    def evaluate(self, request: Request) -> None:
        """Write the policy; see `Evaluator`."""
        rows = self._encoder_of(request.positions).encode(request.positions, request.rows)
        may_play = sensible(rows.planes)
        logits = np.where(may_play, self._logits(rows.planes), -np.inf)
        odds = np.exp(logits - logits.max(axis=1, keepdims=True, initial=np.finfo(np.float32).min))
        _write_policy(odds * may_play, rows, request.out)

    def write_rollout_policy(self, positions: Positions, count: int, policy: FloatArray) -> None:
        """Write the same policy; see `RolloutPolicy`."""
        out = new_evaluation(len(policy), *board_size(positions))
        self.evaluate(Request(positions, count, out))
        policy[:count] = out.policy[:count]


class UniformPlayer(BareEvaluator):
    """Plays any legal move that leaves a liberty, all with equal probability."""

    def __init__(self) -> None:
        super().__init__(EvaluatorInfo("uniform", _BATCH, has_score=False, has_ownership=False))
        self._encoder_of: Final = _row_encoders()

    def evaluate(self, request: Request) -> None:
        """Write the policy; see `Evaluator`."""
        rows = self._encoder_of(request.positions).encode(request.positions, request.rows)
        after = planes_of("liberties after move")
        may_play = rows.planes[:, after.start : after.stop].any(axis=1).reshape(len(rows.planes), -1)
        _write_policy(may_play.astype(np.float32), rows, request.out)


class SwitchedPlayer(BareEvaluator):
    """Evaluates each row with one of several players; `choose` returns their indices, int[K], for the first K rows."""

    def __init__(self, players: Sequence[Evaluator], choose: Callable[[Positions, int], NDArray[np.int64]]) -> None:
        name = " and ".join(player.info.name for player in players)
        super().__init__(EvaluatorInfo(name, _BATCH, has_score=False, has_ownership=False))
        self._players: Final = players
        self._choose: Final = choose

    def evaluate(self, request: Request) -> None:
        """Write the chosen players' evaluations; see `Evaluator`."""
        positions = request.positions
        chosen = self._choose(positions, request.rows)
        for index, player in enumerate(self._players):
            rows = np.flatnonzero(chosen == index)
            if rows.size:
                part = new_evaluation(len(rows), *board_size(positions))
                player.evaluate(Request(take_rows(positions, rows), len(rows), part, request.options))
                put_rows(request.out, rows, part)


def sensible(planes: FloatArray) -> NDArray[np.bool_]:
    """Return from its planes which points the side to move may play without filling an own eye, bool[K, A]."""
    (plane,) = planes_of("sensibleness")
    flags: NDArray[np.bool_] = planes[:, plane].reshape(len(planes), -1) > 0
    return flags


def _write_policy(odds: FloatArray, rows: _ShownPlanes, out: Evaluation) -> None:
    """Write odds [K, A] of the cells of encoded rows as the policy; a row of zeros passes."""
    count, total = len(odds), odds.sum(axis=1, keepdims=True)
    for array in out:
        array[:count] = 0.0
    policy = np.take_along_axis(odds, rows.cells, axis=1) / np.where(total > 0, total, 1)
    out.policy[np.arange(count)[:, None], rows.points] = policy
    out.policy[:count, PASS] = total[:, 0] == 0
    out.win_black[:count] = out.loss_black[:count] = _EVEN


def plan_of(settings: PolicyGameSettings, *, opening_length: int = 0) -> GamePlan:
    """Return the plan of a game; the networks cannot pass, so a game may last as long as a rollout."""
    return GamePlan(PRESETS[settings.rules], settings.komi, opening_length, longest=MOVES_PER_POINT)
