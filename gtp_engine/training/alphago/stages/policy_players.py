"""AlphaGo's policy networks as players of many games at once (`training.selfplay.policy_games`).

    policy_player    by a policy network's probabilities of all moves that fill no own eye; without one, it passes
    uniform_player   by equal probabilities for all moves that leave a liberty
    SwitchedPlayer   one of several players for each row

They are evaluators as of a policy network alone: the winrate is always one half.

K is the number of rows, A = H·W.
"""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.base.errors import ModelError, shown
from gtp_engine.config import NetworkConfig
from gtp_engine.evaluation.evaluator import BareEvaluator, Evaluator, Request, evaluated
from gtp_engine.evaluation.evaluator_info import ANY_BOARD, EvaluatorInfo
from gtp_engine.evaluation.positions import FloatArray, Positions, put_rows, take_rows
from gtp_engine.go.rules import PRESETS
from gtp_engine.nn.metadata import NetworkInfo
from gtp_engine.nn.network_evaluator import Model, NetworkEvaluator, ReadyModel
from gtp_engine.nn.onnx_model import RawOutputs
from gtp_engine.search.rollouts.rollout import MOVES_PER_POINT
from gtp_engine.training.alphago.planes import LIBERTIES_AFTER, MOST, POLICY_PLANES, SENSIBLE
from gtp_engine.training.alphago.stages.stage_settings import PolicyGameSettings, RecordSettings
from gtp_engine.training.selfplay.plans import GamePlan

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


class PlanesModel(ReadyModel):
    """What plays by AlphaGo's planes, as the model of a network (`nn.network_evaluator`).

    `logits` may be −∞ for moves that are not played; a row in which they all are passes.
    """

    batch = _BATCH

    def __init__(self, logits: Logits, name: str) -> None:
        self.info = NetworkInfo("policy", "alphago-48", POLICY_PLANES, 0, ANY_BOARD, name, "float32", "none")
        self.logits = logits

    def run(self, spatial: FloatArray, globals_: FloatArray) -> RawOutputs:
        """Return the policy; see `Model`."""
        return RawOutputs(self.logits(spatial)[:, None], None, None, None)


def _player(logits: Logits, name: str) -> NetworkEvaluator:
    """Return what shows each row in a symmetry that its key decides, and passes where it has no other move."""
    model = PlanesModel(logits, name)
    config = NetworkConfig(cache_positions=0, pass_prior=0.0, symmetry="any")
    return NetworkEvaluator(model, None, rollout=model, config=config)


def policy_player(logits: Logits, name: str) -> NetworkEvaluator:
    """Return a player by a policy network: a softmax over the moves that fill no own eye."""

    def sensible(planes: FloatArray) -> FloatArray:
        return np.where(planes[:, SENSIBLE].reshape(len(planes), -1) > 0, logits(planes), np.float32(-np.inf))

    return _player(sensible, name)


def uniform_player() -> NetworkEvaluator:
    """Return a player of any legal move that leaves a liberty, all with equal probability."""

    def alike(planes: FloatArray) -> FloatArray:
        after = planes[:, LIBERTIES_AFTER : LIBERTIES_AFTER + MOST].any(axis=1).reshape(len(planes), -1)
        return np.where(after, np.float32(0), np.float32(-np.inf))

    return _player(alike, "uniform")


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
                put_rows(request.out, rows, evaluated(player, take_rows(positions, rows), request.options))


def plan_of(settings: PolicyGameSettings | RecordSettings, *, opening_length: int = 0) -> GamePlan:
    """Return the plan of a game; some networks cannot pass, so a game may last as long as a rollout."""
    return GamePlan(PRESETS[settings.rules], settings.komi, opening_length, longest=MOVES_PER_POINT)
