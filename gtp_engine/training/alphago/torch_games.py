"""Games between policy networks that torch runs, side by side, for experience.

TorchLogits   a network as `policy_rows.Logits`
play_versus   games of a learner against an opponent, each colour in half of them
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from gtp_engine.errors import ConfigError, problem, shown
from gtp_engine.evaluation.evaluation import FloatArray
from gtp_engine.evaluation.positions import Positions
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.rules import PRESETS, Rules, Scoring
from gtp_engine.search.rollouts.rollout import MOVES_PER_POINT
from gtp_engine.selfplay.policy_games import GamePlan, PolicyGames
from gtp_engine.selfplay.rows_evaluator import RowsEvaluator
from gtp_engine.training.alphago.experience import Collector
from gtp_engine.training.alphago.nets import PolicyNet
from gtp_engine.training.alphago.play_records import KOMI
from gtp_engine.training.alphago.policy_rows import PolicyRows, SwitchedRows
from gtp_engine.training.core.data_parallel import ParallelThreads, threads_on
from gtp_engine.training.core.devices import Machine

_LEAST_PART: Final = 16
"""Positions for which one more thread pays."""


@dataclass(frozen=True)
class GameSettings:
    """What games are played."""

    komi: float = KOMI
    rules: str = "chinese"
    batch: int = 128
    """Games side by side."""

    def __post_init__(self) -> None:
        """Raise ConfigError for rules under which the area on the board is not the result."""
        if self.rules not in PRESETS or PRESETS[self.rules].scoring is not Scoring.AREA:
            raise ConfigError(
                problem(f"rules {shown(self.rules)}", expected="a rule set that counts area, such as chinese")
            )

    @property
    def rule_set(self) -> Rules:
        """The rules."""
        return PRESETS[self.rules]

    def plan(self, *, opening_length: int = 0) -> GamePlan:
        """Return the plan of a game: who fills the whole board takes longer than who passes, as rollouts do."""
        return GamePlan(self.rule_set, self.komi, opening_length, longest=MOVES_PER_POINT)


class TorchLogits:
    """What a network says about planes; the network may go on learning meanwhile.

    Each core looks at a part of the positions (`training.core.data_parallel`).
    """

    def __init__(self, net: PolicyNet, machine: Machine) -> None:
        self._net: Final = net
        self._machine: Final = machine
        self._threads: Final = ParallelThreads(machine, threads_on(machine))

    def __call__(self, planes: FloatArray) -> FloatArray:
        """Return logits, float32[K, A], for planes, float32[K, 48, H, W]."""
        parts = min(self._threads.count, 1 + len(planes) // _LEAST_PART)
        return np.concatenate(self._threads.map(self._answer, np.array_split(planes, parts)))

    def _answer(self, planes: FloatArray) -> FloatArray:
        machine = self._machine
        with torch.inference_mode(), machine.autocast():
            logits = self._net(machine.as_input(torch.from_numpy(planes).to(machine.device)))
        found: FloatArray = logits.cpu().numpy()
        return found


def player_of(net: PolicyNet, machine: Machine, name: str) -> PolicyRows:
    """Return a network as a player."""
    return PolicyRows(TorchLogits(net, machine), name)


def play_versus(
    learner: RowsEvaluator,
    opponent: RowsEvaluator,
    board: tuple[int, int],
    settings: GameSettings,
    *,
    games: int,
    rng: np.random.Generator,
) -> Collector:
    """Return `games` games of the learner, who has Black in half of them (rounded up) and White in the others."""
    collector = Collector()
    for color, count in ((BLACK, (games + 1) // 2), (WHITE, games // 2)):
        pair = [learner, opponent] if color == BLACK else [opponent, learner]
        if count:
            _play_as(color, SwitchedRows(pair, _by_color), collector, board, settings, games=count, rng=rng)
    return collector


def _by_color(positions: Positions, rows: int) -> NDArray[np.int64]:
    """Return 0 for rows in which Black is to play, and 1 for the others."""
    return (positions.to_play[:rows] - BLACK).astype(np.int64)


def _play_as(
    color: int,
    players: RowsEvaluator,
    collector: Collector,
    board: tuple[int, int],
    settings: GameSettings,
    *,
    games: int,
    rng: np.random.Generator,
) -> None:
    """Play the games in which the learner has `color`."""
    plan = settings.plan()
    table = PolicyGames(
        players, *board, games=games, batch=min(settings.batch, games), rng=rng, planner=lambda *_: plan
    )
    while table.playing:
        table.evaluate()
        for played in table.play():
            collector.complete(played.game, learner=color)
