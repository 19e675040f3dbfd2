"""Plays all games of a match, several at a time, stores the finished ones, and shows them on a progress bar.

Each of `parallel` worker threads has its own pair of engine processes, which play several games; a process that has
died is replaced before the next game.  An interrupted match resumes with the missing games.  With a sequential test,
the match ends as soon as the test accepts a hypothesis.  Games still running are then aborted and do not count, so that
the stored games always lead to the same result of the test.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from datetime import date
from typing import Final

from gtp_engine.errors import EngineError, counted
from gtp_engine.match.match_engine import MatchEngine
from gtp_engine.match.match_game import FinishedGame, Referee, load_openings, openings_digest, play_game
from gtp_engine.match.records import GameRecord, MatchFolder
from gtp_engine.match.settings import SIDES, MatchError, MatchSettings, MatchSide, Sprt, other_side
from gtp_engine.match.statistics import run_sprt, summarize
from gtp_engine.progress import ProgressBar
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.sgf import format_sgf

MAX_FAILURES: Final = 3
"""The match is aborted when one engine dies, hangs or refuses a move in this many games in a row."""


def run_match(
    settings: MatchSettings,
    folder: MatchFolder,
    on_game: Callable[[GameRecord], None] = lambda record: None,
    cancel: CancelToken | None = None,
) -> list[GameRecord]:
    """Play the games that `folder` lacks, unless `cancel` ends the match, and return all games, sorted by number.

    `on_game` is called after each game, from any thread but one at a time.  Raises MatchError when the match cannot
    continue, or another process plays it, and propagates KeyboardInterrupt; the finished games are in the folder in all
    cases.
    """
    if not _missing_games(settings, folder):
        return folder.records()
    with folder.playing():
        match = _Match(settings, folder, on_game)
        try:
            with (cancel or CancelToken()).calling(match.stop):
                match.run()
        finally:
            match.close()
    return folder.records()


def _missing_games(settings: MatchSettings, folder: MatchFolder) -> list[int]:
    """Return the numbers of the games that are still to be played."""
    if _has_verdict(settings, folder):
        return []
    finished = {record.game for record in folder.records()}
    return [number for number in range(1, settings.games + 1) if number not in finished]


def _has_verdict(settings: MatchSettings, folder: MatchFolder) -> bool:
    """Return whether there is a sequential test that the finished games decide."""
    test = settings.sprt
    return test is not None and run_sprt(test, folder.records()).verdict != "undecided"


class _Match:
    """The state that the worker threads share."""

    def __init__(self, settings: MatchSettings, folder: MatchFolder, on_game: Callable[[GameRecord], None]) -> None:
        self._settings = settings
        self._folder = folder
        self._on_game = on_game
        folder.check_openings(openings_digest(settings), settings.openings)
        self._openings = load_openings(settings)
        self._referee = Referee(settings)
        self._lock = threading.Lock()
        self._pending = deque(_missing_games(settings, folder))
        self._players: set[MatchEngine] = set()
        self._failures = dict.fromkeys(SIDES, 0)
        self._error: BaseException | None = None
        self._stopping = False

    def run(self) -> None:
        """Play every pending game; raises the error that stopped a worker."""
        count = min(self._settings.parallel, len(self._pending))
        workers = [
            threading.Thread(target=self._work, args=(index,), name=f"match-{index}") for index in range(1, count + 1)
        ]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                worker.join()
        except BaseException:
            self.stop()
            for worker in workers:
                worker.join()
            raise
        if self._error is not None:
            raise self._error

    def close(self) -> None:
        """Close the referee; each worker closes its own engines."""
        self._referee.close()

    def _work(self, index: int) -> None:
        """Play games one after the other with this thread's own pair of engines."""
        pair: dict[MatchSide, MatchEngine] = {}
        try:
            while (number := self._next_game()) is not None:
                for side in SIDES:
                    if side not in pair or not pair[side].is_alive():
                        pair[side] = self._start(side, index, pair.pop(side, None))
                self._finish(self._play(number, pair))
                self._kill_if_stopping()
        except BaseException as error:
            self._fail(error)
        finally:
            for player in pair.values():
                self._close(player)

    def _next_game(self) -> int | None:
        with self._lock:
            return self._pending.popleft() if self._pending and not self._stopping else None

    def _start(self, side: MatchSide, index: int, dead: MatchEngine | None) -> MatchEngine:
        """Return a running engine to replace `dead`; raises MatchError when it cannot be prepared for a game."""
        if dead is not None:
            self._close(dead)
        try:
            player = MatchEngine(side, self._settings, log=self._folder.log_path(f"{side}-{index}"))
        except EngineError as error:
            raise MatchError(str(error)) from error
        with self._lock:
            self._players.add(player)
        self._kill_if_stopping()
        try:
            player.shake_hands()
            self._folder.check_engine(side, player.describe())
        except BaseException as error:
            self._close(player)
            if isinstance(error, EngineError):
                raise MatchError(str(error)) from error
            raise
        return player

    def _close(self, player: MatchEngine) -> None:
        player.close()
        with self._lock:
            self._players.discard(player)

    def _play(self, number: int, pair: dict[MatchSide, MatchEngine]) -> FinishedGame:
        opening = self._openings[self._settings.opening(number) % len(self._openings)]
        return play_game(number, opening, pair, self._settings, self._referee)

    def _sgf(self, played: FinishedGame) -> str:
        black = played.record.black
        return format_sgf(
            played.game,
            black_name=self._folder.engine_name(black),
            white_name=self._folder.engine_name(other_side(black)),
            result=played.record.result,
            date=date.today().isoformat(),
        )

    def _finish(self, played: FinishedGame) -> None:
        """Store a game unless the end of the match aborted it; raises MatchError after too many failures."""
        record = played.record
        with self._lock:
            if self._stopping:
                return
            self._folder.add(record, self._sgf(played))
            self._on_game(record)
            self._stopping = _has_verdict(self._settings, self._folder)
            for side in SIDES:
                failed = record.reason in ("failure", "refused") and record.winner == other_side(side)
                self._failures[side] = self._failures[side] + 1 if failed else 0
                if self._failures[side] == MAX_FAILURES:
                    raise MatchError(f"{side} failed in {MAX_FAILURES} games in a row; the last time: {record.detail}")

    def _fail(self, error: BaseException) -> None:
        """Store the first error and end the match."""
        with self._lock:
            if self._error is None and not self._stopping:
                self._error = error
        self.stop()

    def stop(self) -> None:
        """Abort the running games and play no more; may be called from any thread."""
        with self._lock:
            self._stopping = True
        self._kill_if_stopping()

    def _kill_if_stopping(self) -> None:
        """Kill all engines, and so end every running game, if the match is stopping."""
        with self._lock:
            players = list(self._players) if self._stopping else []
        for player in players:
            player.kill()


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
