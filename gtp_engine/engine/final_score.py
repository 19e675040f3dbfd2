"""Score and dead stones of a position, estimated by one search for each side."""

from gtp_engine.engine.dead_stones import (
    StatusEstimate,
    counts_all_stones,
    estimate_status,
    estimated_score,
    score_by_lead,
    status_map,
)
from gtp_engine.engine.thinker import Thinker
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.scoring import Score
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.search.limits import Limits
from gtp_engine.search.report import SearchReport


class Scorer:
    """Scores positions with the searches of `thinker`; caches the estimate for the last position."""

    def __init__(self, thinker: Thinker) -> None:
        self._thinker = thinker
        self._cached: tuple[object, StatusEstimate, SearchReport] | None = None

    def clear(self) -> None:
        """Forget the cached estimate."""
        self._cached = None

    def score(self, game: Game, cancel: CancelToken) -> Score:
        """Return the score: a network's expected lead while much is open, else counted from the estimated status."""
        status, report = self._estimate(game, cancel)
        if report.raw is not None and not status.is_decided and not game.is_over:
            return score_by_lead(game, report.lead_black)
        return estimated_score(game, status)

    def statuses(self, game: Game, cancel: CancelToken) -> dict[int, str]:
        """Return the status of every point; see `Engine.final_status`."""
        return status_map(game, self.dead_stones(game, cancel))

    def dead_stones(self, game: Game, cancel: CancelToken) -> frozenset[int]:
        """Return the stones to remove at the end of the game; none if it is over and the rules count all stones."""
        if game.is_over and counts_all_stones(game):
            return frozenset()
        return self._estimate(game, cancel)[0].dead

    def _estimate(self, game: Game, cancel: CancelToken) -> tuple[StatusEstimate, SearchReport]:
        """Return the status estimate, and the report of the search for the side to play.

        Passes at the end of the game are left out: they decide nothing, but to a network they are moves.
        """
        key = (game.hash, game.to_play, game.rules, game.komi, len(game.moves))
        if self._cached is None or self._cached[0] != key:
            without_passes = game.copy()
            without_passes.undo(game.consecutive_passes)
            limits = Limits(self._thinker.thresholds.status_visits, cancel=cancel)
            reports = {color: self._thinker.search_afresh(without_passes, color, limits) for color in (BLACK, WHITE)}
            ownership = (reports[BLACK].ownership_black + reports[WHITE].ownership_black) / 2
            self._cached = key, estimate_status(game, ownership), reports[game.to_play]
        return self._cached[1:]
