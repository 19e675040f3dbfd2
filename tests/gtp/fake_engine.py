"""A fake engine with the methods that tests of the session need."""

import threading

import numpy as np

from gtp_engine import CancelToken, Game, Score
from gtp_engine.engine.final_score import FinalScore
from gtp_engine.engine.game_end import estimate_status


class FakeEngine:
    """Counts the calls; `clear_cache` fails, `outcome` blocks until its token is cancelled."""

    def __init__(self) -> None:
        self.game = Game(9)
        self.cancelled = 0
        self.searching = threading.Event()
        self.closed = False

    def set_komi(self, komi: float) -> None:
        self.game.komi = komi

    def outcome(self, cancel: CancelToken) -> FinalScore:
        """Play the part of a long search: only a cancellation ends it."""
        ended = threading.Event()
        self.searching.set()
        with cancel.calling(ended.set):
            assert ended.wait(60), "the search was not cancelled"
        self.cancelled += 1
        game = self.game.copy()
        return FinalScore(game, Score(0.0, 0.0), estimate_status(game, np.zeros(len(game.board.color))))

    @property
    def seed(self) -> int:
        return self.cancelled

    def clear_cache(self) -> None:
        raise ZeroDivisionError("a bug\nin two lines")

    def close(self) -> None:
        self.closed = True
