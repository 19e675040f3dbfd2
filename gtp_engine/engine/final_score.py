"""What a position comes to: score and dead stones, estimated by searching for both sides and remembered."""

from gtp_engine.engine.dead_stones import Estimate, estimate, estimated_score, plays_out, score_by_lead, status_map
from gtp_engine.engine.thinker import Thinker
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.scoring import Score
from gtp_engine.search.limits import Limits
from gtp_engine.search.report import SearchReport


class Judge:
    """Judges positions with the searches of `thinker`; the last judgement is kept."""

    def __init__(self, thinker: Thinker) -> None:
        self._thinker = thinker
        self._judgement: tuple[object, Estimate, SearchReport] | None = None

    def forget(self) -> None:
        """Judge the next position anew, whatever it is."""
        self._judgement = None

    def score(self, game: Game) -> Score:
        """Return the score of a position: estimated as a whole by a network while much is open, else counted."""
        expected, report = self._judge(game)
        if report.raw is not None and not expected.is_decided and not game.is_over:
            return score_by_lead(game, report.lead_black)
        return estimated_score(game, expected)

    def statuses(self, game: Game) -> dict[int, str]:
        """Return the status of every point; see `Engine.final_status`."""
        return status_map(game, self.dead_stones(game))

    def dead_stones(self, game: Game) -> frozenset[int]:
        """Return the stones to be taken off at the end of the game, none where the rules count what is left."""
        if game.is_over and plays_out(game):
            return frozenset()
        return self._judge(game)[0].dead

    def _judge(self, game: Game) -> tuple[Estimate, SearchReport]:
        """Return the fate of the stones, and what the search for the side to play found.

        Passes at the end of the game are left out: they decide nothing, but to a network they are moves.
        """
        key = (game.hash, game.to_play, game.rules, game.komi, len(game.moves))
        if self._judgement is None or self._judgement[0] != key:
            without_passes = game.copy()
            without_passes.undo(game.consecutive_passes)
            limits = Limits(self._thinker.effort.estimate_visits)
            reports = {c: self._thinker.search_apart(without_passes, c, limits) for c in (BLACK, WHITE)}
            ownership = (reports[BLACK].ownership_black + reports[WHITE].ownership_black) / 2
            self._judgement = key, estimate(game, ownership), reports[game.to_play]
        return self._judgement[1:]
