"""Evaluators for tests of the training data."""

import numpy as np
from fake_evaluators import FakeEvaluator

from gtp_engine.evaluation.evaluator import Request


class BlackLeads(FakeEvaluator):
    """Evaluates every position alike: Black wins with 70%, White with 20%, Black leads by 4 and owns the top row."""

    WIN, LOSS, SCORE, STDEV, LEAD, OWNERSHIP = 0.7, 0.2, 3.0, 9.0, 4.0, 0.5

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width

    def evaluate(self, request: Request) -> None:
        super().evaluate(request)
        out = request.out
        out.win_black[:], out.loss_black[:] = self.WIN, self.LOSS
        out.score_black[:], out.score_stdev[:], out.lead_black[:] = self.SCORE, self.STDEV, self.LEAD
        top = (self._width + 1) + 1 + np.arange(self._width)
        out.ownership_black[:] = 0.0
        out.ownership_black[:, top] = self.OWNERSHIP
