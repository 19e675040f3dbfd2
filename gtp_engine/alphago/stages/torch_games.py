"""Many games at once between policy networks that torch runs.

TorchLogits    a network as `policy_rows.Logits`
torch_player   a network as a player
play_versus    games of a learner against an opponent, with each colour in half of them
"""

from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from gtp_engine.alphago.stages.experience import Collector
from gtp_engine.alphago.stages.nets import PolicyNet
from gtp_engine.alphago.stages.policy_rows import PolicyRows, SwitchedRows
from gtp_engine.alphago.stages.stage_settings import PolicyGameSettings
from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.evaluation.evaluator import Evaluator
from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.rules import PRESETS
from gtp_engine.search.rollouts.rollout import MOVES_PER_POINT
from gtp_engine.selfplay.policy_games import GamePlan, PolicyGames
from gtp_engine.training.core.devices import Machine, ParallelThreads, threads_on

_LEAST_PART: Final = 16
"""Fewest positions for which another thread is worthwhile."""


class TorchLogits:
    """A network's logits of planes, always with its current weights.

    Each thread evaluates a share of the positions (`training.core.devices`).
    """

    def __init__(self, net: PolicyNet, machine: Machine) -> None:
        self._net: Final = net
        self._machine: Final = machine
        self._threads: Final = ParallelThreads(machine, threads_on(machine))

    def __call__(self, planes: FloatArray) -> FloatArray:
        """Return logits, float32[K, A], for planes, float32[K, 48, H, W]."""
        parts = min(self._threads.count, 1 + len(planes) // _LEAST_PART)
        return np.concatenate(self._threads.map(self._evaluate, np.array_split(planes, parts)))

    def _evaluate(self, planes: FloatArray) -> FloatArray:
        machine = self._machine
        with torch.inference_mode(), machine.autocast():
            logits = self._net(machine.as_input(torch.from_numpy(planes).to(machine.device)))
        result: FloatArray = logits.cpu().numpy()
        return result


def plan_of(settings: PolicyGameSettings, *, opening_length: int = 0) -> GamePlan:
    """Return the plan of a game; the networks cannot pass, so a game may last as long as a rollout."""
    return GamePlan(PRESETS[settings.rules], settings.komi, opening_length, longest=MOVES_PER_POINT)


def torch_player(net: PolicyNet, machine: Machine, name: str) -> PolicyRows:
    """Return a network as a player."""
    return PolicyRows(TorchLogits(net, machine), name)


def play_versus(
    learner: Evaluator,
    opponent: Evaluator,
    board: tuple[int, int],
    settings: PolicyGameSettings,
    *,
    games: int,
    rng: np.random.Generator,
) -> Collector:
    """Return `games` games of the learner, which plays Black in half of them (rounded up) and White in the rest."""
    collector = Collector()
    for color, count in ((BLACK, (games + 1) // 2), (WHITE, games // 2)):
        pair = [learner, opponent] if color == BLACK else [opponent, learner]
        if count:
            _play_as(color, SwitchedRows(pair, _by_color), collector, board, settings, games=count, rng=rng)
    return collector


def _by_color(positions: Positions, rows: int) -> NDArray[np.int64]:
    """Return 0 for rows with Black to play and 1 for rows with White to play."""
    return (positions.to_play[:rows] - BLACK).astype(np.int64)


def _play_as(
    color: int,
    players: Evaluator,
    collector: Collector,
    board: tuple[int, int],
    settings: PolicyGameSettings,
    *,
    games: int,
    rng: np.random.Generator,
) -> None:
    """Play the games in which the learner has `color`."""
    plan = plan_of(settings)
    running = PolicyGames(
        players, *board, games=games, batch=min(settings.parallel_games, games), rng=rng, planner=lambda *_: plan
    )
    while running.playing:
        running.evaluate()
        for played in running.play():
            collector.complete(played.game, learner=color)
