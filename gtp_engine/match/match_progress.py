"""The progress of a match: a line for each finished game, and the first engine's score beside the bar."""

from collections.abc import Sequence

from gtp_engine.errors import counted
from gtp_engine.match.records import GameRecord
from gtp_engine.match.settings import Sprt
from gtp_engine.match.statistics import summarize
from gtp_engine.progress import ProgressBar


class MatchProgress:
    """Shows finished games on a bar whose total is the number of games; `finished` were played before."""

    def __init__(self, bar: ProgressBar, finished: Sequence[GameRecord], test: Sprt | None = None) -> None:
        self._bar = bar
        self._records = list(finished)
        self._test = test
        self._update()

    def game_over(self, record: GameRecord) -> None:
        """Show one more finished game."""
        self._records.append(record)
        line = f"game {record.game}: {record.result} ({record.black} black, {counted(record.moves, 'move')})"
        self._bar.log(f"{line} {record.detail}".rstrip())
        self._update()

    def _update(self) -> None:
        self._bar.update(len(self._records), f"{counted(len(self._records), 'game')}, {self._score()}")

    def _score(self) -> str:
        summary = summarize(self._records, self._test)
        low, high = summary.rate_interval
        score = f"first {summary.rate:.0%} [{low:.0%}–{high:.0%}]" if summary.games else "first –"
        return f"{score} LLR {summary.sprt.llr:+.2f}" if summary.sprt is not None else score
