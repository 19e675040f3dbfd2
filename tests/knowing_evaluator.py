"""Evaluators for tests of the engine: one that knows what Benson's algorithm proves, one that is slow."""

import time

import numpy as np
from fake_evaluators import UniformEvaluator

from gtp_engine.evaluation.evaluator import Request
from gtp_engine.evaluation.positions import conditions_of_row, view_board
from gtp_engine.go.benson import pass_alive_owners
from gtp_engine.go.board import CAPTURED, Board
from gtp_engine.go.constants import BLACK, EMPTY, WHITE

SURE = 0.97
"""Ownership of proved points; real networks do not return 1 either."""

PRISONER_SIGN = {BLACK: 1, WHITE: -1}


class KnowingEvaluator(UniformEvaluator):
    """Knows pass-alive chains and territory, treats other stones as alive, and counts; its policy is uniform."""

    def evaluate(self, request: Request) -> None:
        """Write the evaluation."""
        super().evaluate(request)
        positions, out = request.positions, request.out
        for row in range(request.rows):
            board, conditions = view_board(positions, row), conditions_of_row(positions, row)
            owners = pass_alive_owners(board, suicide=conditions.suicide)
            stones = np.where(board.color <= WHITE, board.color, EMPTY)
            owners = np.where(owners == EMPTY, stones, owners)
            black = np.select([owners == BLACK, owners == WHITE], [1.0, -1.0], 0.0)
            out.ownership_black[row] = SURE * black
            lead = black.sum() - conditions.komi - (_placed(board) if conditions.territory else 0)
            if conditions.has_free_button:
                lead += 0.5 if positions.to_play[row] == BLACK else -0.5
            out.lead_black[row] = out.score_black[row] = lead
            out.win_black[row] = 0.5 + 0.49 * np.sign(lead)
            out.loss_black[row] = 1.0 - out.win_black[row]


def _placed(board: Board) -> int:
    """Return how many more stones Black has placed than White, captured ones included."""
    on_board = {color: int(np.count_nonzero(board.color == color)) for color in (BLACK, WHITE)}
    return sum(sign * (on_board[c] + int(board.info[CAPTURED + c])) for c, sign in PRISONER_SIGN.items())


class SlowEvaluator(UniformEvaluator):
    """Takes `delay` seconds for every call, as a large network does for a batch."""

    def __init__(self, delay: float, batch: int = 8) -> None:
        super().__init__(batch)
        self.delay = delay

    def evaluate(self, request: Request) -> None:
        """Write the evaluation after `delay` seconds."""
        time.sleep(self.delay)
        super().evaluate(request)
