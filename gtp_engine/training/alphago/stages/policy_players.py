"""AlphaGo's policy networks as players of many games at once (`training.selfplay.policy_games`).

    policy_player    by a policy network's probabilities of all moves that fill no own eye; without one, it passes
    uniform_player   by equal probabilities for all moves that leave a liberty
    SwitchedPlayer   one of several players for each row

None of them evaluates positions: the winrate is always one half.

K is the number of rows, A = H·W.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ModelError, shown
from gtp_engine.evaluation.evaluator import BareEvaluator, Evaluator, Request
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.positions import FloatArray, Positions, board_size, new_evaluation, put_rows, take_rows
from gtp_engine.go.constants import PASS
from gtp_engine.go.rules import PRESETS
from gtp_engine.nn.encoders import Inputs
from gtp_engine.nn.network_evaluator import Model
from gtp_engine.nn.symmetry import cell_table
from gtp_engine.search.rollouts.rollout import MOVES_PER_POINT
from gtp_engine.training.alphago.planes import LIBERTIES_AFTER, MOST, POLICY_PLANES, SENSIBLE
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


class PlanesPlayer(BareEvaluator):
    """Plays by odds that follow from AlphaGo's planes, which show each row in a symmetry that its key decides.

    `odds` returns those of the cells, float32[K, A], for planes, float32[K, 48, H, W]; zeros for a row that passes.
    """

    def __init__(self, odds: Callable[[FloatArray], FloatArray], name: str) -> None:
        super().__init__(EvaluatorInfo(name, _BATCH, has_score=False, has_ownership=False))
        self.odds: Final = odds
        self._encoder_of: Final = lru_cache(maxsize=1)(AlphaGoEncoder)

    def evaluate(self, request: Request) -> None:
        """Write the policy; see `Evaluator`."""
        positions, count, out = request.positions, request.rows, request.out
        width, height = board_size(positions)
        cells = cell_table(width, height)
        points = np.flatnonzero(cells[0] >= 0)
        symmetries = (positions.key % np.uint64(len(cells))).astype(np.int32)
        planes = np.zeros((count, POLICY_PLANES, height, width), dtype=np.float32)
        self._encoder_of(width, height).encode(positions, range(count), symmetries, Inputs(planes, NO_GLOBALS))
        odds = self.odds(planes)
        total = odds.sum(axis=1, keepdims=True)
        for array in out:
            array[:count] = 0.0
        by_point = np.take_along_axis(odds, cells[symmetries[:count]][:, points], axis=1)
        out.policy[np.arange(count)[:, None], points] = by_point / np.where(total > 0, total, 1)
        out.policy[:count, PASS] = total[:, 0] == 0
        out.win_black[:count] = out.loss_black[:count] = _EVEN

    def write_rollout_policy(self, positions: Positions, count: int, policy: FloatArray) -> None:
        """Write the same policy; see `Evaluator`."""
        out = new_evaluation(len(policy), *board_size(positions))
        self.evaluate(Request(positions, count, out))
        policy[:count] = out.policy[:count]


def policy_player(logits: Logits, name: str) -> PlanesPlayer:
    """Return a player by a policy network: a softmax over the moves that fill no own eye."""

    def odds(planes: FloatArray) -> FloatArray:
        may_play = planes[:, SENSIBLE].reshape(len(planes), -1) > 0
        masked = np.where(may_play, logits(planes), -np.inf)
        found: FloatArray = np.exp(masked - masked.max(axis=1, keepdims=True, initial=np.finfo(np.float32).min))
        return found * may_play

    return PlanesPlayer(odds, name)


def uniform_player() -> PlanesPlayer:
    """Return a player of any legal move that leaves a liberty, all with equal probability."""

    def odds(planes: FloatArray) -> FloatArray:
        after = planes[:, LIBERTIES_AFTER : LIBERTIES_AFTER + MOST]
        return np.asarray(after.any(axis=1).reshape(len(planes), -1), dtype=np.float32)

    return PlanesPlayer(odds, "uniform")


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


def plan_of(settings: PolicyGameSettings, *, opening_length: int = 0) -> GamePlan:
    """Return the plan of a game; the networks cannot pass, so a game may last as long as a rollout."""
    return GamePlan(PRESETS[settings.rules], settings.komi, opening_length, longest=MOVES_PER_POINT)
