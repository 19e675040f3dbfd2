"""Evaluators of rows for tests of the training data."""

from collections.abc import Sequence

import numpy as np
from fake_evaluators import FakeEvaluator

from gtp_engine.evaluation.evaluation import Evaluation
from gtp_engine.evaluation.positions import Conditions, Positions
from gtp_engine.selfplay.rows_evaluator import GroupedRows


class BlackLeads:
    """Evaluates every position alike: Black wins with 70 %, White with 20 %, Black leads by 4 and owns the top row."""

    name = "black leads"
    WIN, LOSS, SCORE, STDEV, LEAD, OWNERSHIP = 0.7, 0.2, 3.0, 9.0, 4.0, 0.5

    def __init__(self, width: int) -> None:
        self._width = width
        self._fake = GroupedRows(FakeEvaluator())

    def evaluate_rows(self, positions: Positions, conditions: Sequence[Conditions], out: Evaluation) -> None:
        self._fake.evaluate_rows(positions, conditions, out)
        out.win_black[:], out.loss_black[:] = self.WIN, self.LOSS
        out.score_black[:], out.score_stdev[:], out.lead_black[:] = self.SCORE, self.STDEV, self.LEAD
        top = (self._width + 1) + 1 + np.arange(self._width)
        out.ownership_black[:] = 0.0
        out.ownership_black[:, top] = self.OWNERSHIP
