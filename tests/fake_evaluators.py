"""Evaluators without a network, for tests of their callers and for measuring everything but the network.

EvaluatorBase        what evaluators of the tests have in common
FakeEvaluator        evaluations decided by each position's key: different for each position, always the same
fake_shipped         one in place of a network that ships
RecordingEvaluator   the same, and the conditions of all positions
UniformEvaluator     every legal move alike, both sides win as often
evaluated            what an evaluator finds of games
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from fake_kernels import write_fake_policy, write_fake_results

from gtp_engine import Evaluator, Game
from gtp_engine.engine.level_table import HUMAN_MODEL
from gtp_engine.evaluation.evaluator import BareEvaluator, Request
from gtp_engine.evaluation.evaluator_info import EvaluatorInfo
from gtp_engine.evaluation.from_game import write_game
from gtp_engine.evaluation.positions import (
    Conditions,
    Evaluation,
    Positions,
    conditions_of_row,
    new_evaluation,
    new_positions,
)

SCORE_STDEV: Final = 10.0
"""Standard deviation of fake scores, points; about that of a real network in the opening."""

TIME_LEFT: Final = 30.0
"""Fake variance of the number of moves left."""

SCORE_ERROR: Final = 1.0
"""Fake expected error of the score, points."""

_UNIFORM: Final = -1
"""The seed that makes `write_fake_policy` treat all moves alike."""


def rows_of(games: Sequence[Game]) -> Positions:
    """Return the positions of games on boards of one size, a row for each."""
    positions = new_positions(len(games), games[0].width, games[0].height)
    for row, game in enumerate(games):
        write_game(positions, row, game)
    return positions


def evaluated(evaluator: Evaluator, *games: Game) -> Evaluation:
    """Return what an evaluator finds of games on boards of one size; numbers that it does not write are NaN."""
    out = new_evaluation(len(games), games[0].width, games[0].height)
    for array in out:
        array[:] = np.nan
    evaluator.evaluate(Request(rows_of(games), len(games), out))
    return out


class EvaluatorBase(BareEvaluator):
    """What evaluators of the tests have in common: a description, a count of the calls, nothing to prepare.

    `calls` and `rows` count the calls of `evaluate` and their rows; `facts` are further fields of EvaluatorInfo.
    """

    watch: Callable[[Request], object] | None = None
    """Called with each request before it is evaluated."""

    def __init__(self, name: str, batch: int, **facts: Any) -> None:
        super().__init__(EvaluatorInfo(name, batch, **facts))
        self.calls = 0
        self.rows = 0
        self.is_closed = False

    def evaluate(self, request: Request) -> None:
        """Count the call; classes below write the evaluation."""
        self.calls += 1
        self.rows += request.rows
        if self.watch is not None:
            self.watch(request)

    def close(self) -> None:
        """Note it."""
        self.is_closed = True


class FakeEvaluator(EvaluatorBase):
    """Evaluations from hashes of the positions' keys and `seed`; the same in every run and on every machine."""

    def __init__(self, seed: int = 0, batch: int = 8, name: str = "", **facts: Any) -> None:
        super().__init__(name or f"fake (seed {seed})", batch, **facts)
        self._seed = seed

    def evaluate(self, request: Request) -> None:
        """Write the evaluation; options change nothing."""
        super().evaluate(request)
        positions, count, out = request.positions, request.rows, request.out
        write_fake_policy(positions, count, self._seed, out.policy)
        write_fake_results(positions, count, self._seed, out)
        out.score_stdev[:count] = SCORE_STDEV
        out.time_left[:count] = TIME_LEFT
        out.score_error[:count] = SCORE_ERROR


def fake_shipped(name: str) -> FakeEvaluator:
    """Return a network in place of one that ships, for levels."""
    return FakeEvaluator(seed=len(name), needs_profile=name == HUMAN_MODEL)


class RecordingEvaluator(FakeEvaluator):
    """Keeps the conditions of all positions that it has evaluated."""

    def __init__(self, **facts: Any) -> None:
        super().__init__(**facts)
        self.conditions: list[Conditions] = []

    @property
    def advantages(self) -> set[float]:
        """The playout doubling advantages among them, Black's."""
        return {each.playout_doubling_advantage_black for each in self.conditions}

    def evaluate(self, request: Request) -> None:
        """Write the evaluation and record the conditions."""
        super().evaluate(request)
        self.conditions += [conditions_of_row(request.positions, row) for row in range(request.rows)]


class UniformEvaluator(EvaluatorBase):
    """Every legal move and the pass alike, both sides win as often, the score is 0 and no point has an owner."""

    def __init__(self, batch: int = 8) -> None:
        super().__init__("uniform", batch)

    def evaluate(self, request: Request) -> None:
        """Write the evaluation; options change nothing."""
        super().evaluate(request)
        count, out = request.rows, request.out
        for field in (out.score_black, out.lead_black, out.ownership_black):
            field[:count] = 0.0
        for field in (out.time_left, out.winloss_error, out.score_error):
            field[:count] = -1.0
        out.win_black[:count] = 0.5
        out.loss_black[:count] = 0.5
        out.score_stdev[:count] = SCORE_STDEV
        write_fake_policy(request.positions, count, _UNIFORM, out.policy)
