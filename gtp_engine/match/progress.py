"""The match on the terminal, on stderr: a line for each finished game and, on a real terminal, a bar."""

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from gtp_engine.match.records import GameRecord
from gtp_engine.match.settings import Sprt
from gtp_engine.match.statistics import summarize


class MatchProgress:
    """A context manager whose `game_over` is called for each finished game; `finished` were played before."""

    def __init__(self, finished: Sequence[GameRecord], *, games: int, test: Sprt | None = None) -> None:
        self._records = list(finished)
        self._test = test
        self._console = Console(stderr=True)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(self._score(), total=games, completed=len(self._records))

    def __enter__(self) -> "MatchProgress":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def game_over(self, record: GameRecord) -> None:
        """Show one more finished game."""
        self._records.append(record)
        line = f"game {record.game}: {record.result} ({record.black} black, {record.moves} moves)"
        self._console.print(f"{line} {record.detail}".rstrip(), markup=False, highlight=False, soft_wrap=True)
        self._bar.update(self._task, advance=1, description=self._score())

    def _score(self) -> str:
        summary = summarize(self._records, self._test)
        low, high = summary.rate_interval
        score = f"first {summary.rate:.0%} [{low:.0%}–{high:.0%}]" if summary.games else "first –"
        return f"{score} LLR {summary.sprt.llr:+.2f}" if summary.sprt is not None else score
