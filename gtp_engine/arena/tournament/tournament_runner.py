"""Plays the games of a tournament, several at a time; each worker may have cores of its own.

A worker takes the meeting with the fewest games and plays some games of its match, so that the tables cover all engines
early on.  Matches are stored as those of `gtp-engine match`, and resume like them.  After each game there is a line for
it, the leader stands beside the bar, and the files of the tables are up to date.
"""

import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from gtp_engine.arena.match.match_game import load_openings
from gtp_engine.arena.match.records import GameRecord, MatchFolder
from gtp_engine.arena.match.runner import GamePool, check_programs, run_match, run_threads
from gtp_engine.arena.match.settings import MatchError, MatchSettings
from gtp_engine.arena.tournament.standings import page_of, tables_of, to_json
from gtp_engine.arena.tournament.tournament_file import Meeting, Tournament, parse_description, read_description
from gtp_engine.base.errors import TengenError, counted
from gtp_engine.base.files import owning, write_whole
from gtp_engine.base.progress import ProgressBar
from gtp_engine.search.limits import CancelToken

GAMES_IN_A_ROW: Final = 10
"""Games of a meeting that a worker plays before it takes another: each time, the engines have to be started again."""


def run_tournament(
    description: str | Path | Mapping[str, Any],
    out: str | Path,
    on_game: Callable[[GameRecord], None] = lambda record: None,
    cancel: CancelToken | None = None,
) -> dict[str, Any]:
    """Play the games of a tournament that the folder `out` lacks, unless `cancel` ends it, and return its tables.

    The description is the path of a TOML file or what it says, as docs/strength.md has it; the tables are plain values,
    those of results.json.  `on_game` is called after each game, from any thread but one at a time.  Raises MatchError
    as `run_match` does, and other TengenErrors for a description that is not valid.

        tables = run_tournament("cup.toml", "cup", lambda record: print(record.result))
    """
    folder, given = Path(out), Path(description) if isinstance(description, str) else description
    tournament = read_description(given) if isinstance(given, Path) else parse_description(given)
    with owning(folder, MatchError):
        runner = TournamentRunner(tournament, folder, lambda meeting, record: on_game(record))
        runner.run(cancel)
    return to_json(tournament, tables_of(tournament, runner.results), runner.results)


class TournamentRunner:
    """A tournament with its folder `out`; `on_game` is called after each game, one at a time, from any thread.

    The workers of a `pool`, if there is one, play the games, twice as many at a time as they are, so that none waits.
    Raises MatchError if the folder holds other matches, for openings that cannot be used, and if there are too few
    cores to bind the games to.
    """

    def __init__(
        self,
        description: Tournament,
        out: Path,
        on_game: Callable[[Meeting, GameRecord], None] = lambda *_: None,
        pool: GamePool | None = None,
    ) -> None:
        self.description: Final = description
        self.out: Final = out
        self._on_game: Final = on_game
        self._pool: Final = pool
        self._cores: Final = _core_sets(description.parallel) if description.bind_to_cores else None
        self._folders: Final = {
            meeting: MatchFolder(out / description.folder(meeting), description.match(meeting))
            for meeting in description.meetings
        }
        self._lock: Final = threading.Lock()
        self._waiting: Final = [meeting for meeting in description.meetings if self._missing(meeting)]
        for meeting in {meeting.condition: meeting for meeting in self._waiting}.values():
            load_openings(self._settings(meeting))  # now rather than when the condition's turn comes
        self._cancel: Final = CancelToken()

    @property
    def results(self) -> dict[Meeting, list[GameRecord]]:
        """The finished games of each meeting, sorted by number."""
        return {meeting: folder.records() for meeting, folder in self._folders.items()}

    @property
    def other_matches(self) -> list[str]:
        """The names of folders beside those of the meetings that hold games: engines were renamed, moved or removed."""
        known = {folder.path.name for folder in self._folders.values()}
        return sorted(path.parent.name for path in self.out.glob("*/results.jsonl") if path.parent.name not in known)

    def run(self, cancel: CancelToken | None = None) -> None:
        """Play the missing games, unless `cancel` ends the tournament.

        Raises MatchError when an engine fails, and any other error that ends a match.
        """
        for meeting in self._waiting if self._pool is None else ():
            check_programs(self._settings(meeting))
        count = len(self._waiting) if self._pool else min(self.description.parallel, len(self._waiting))
        with (cancel or CancelToken()).calling(self._cancel.cancel):
            run_threads(self._work, range(count), "tournament", self._cancel.cancel)

    def _work(self, index: int) -> None:
        """Play matches one after the other; the engines inherit the cores of this thread."""
        if self._cores is not None and hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, self._cores[index])
        while (meeting := self._next()) is not None:
            try:
                self._play(meeting)
            except (TengenError, OSError) as error:
                first, second = (self.description.entrants[place].name for place in (meeting.first, meeting.second))
                raise MatchError(f"{first} (first) – {second} (second): {error}") from error
            with self._lock:
                if self._missing(meeting):
                    self._waiting.append(meeting)

    def _next(self) -> Meeting | None:
        """Return the meeting with the fewest games that no other worker plays, None if there is none."""
        with self._lock:
            if self._cancel.is_cancelled or not self._waiting:
                return None
            meeting = min(self._waiting, key=lambda each: len(self._folders[each].records()))
            self._waiting.remove(meeting)
            return meeting

    def _play(self, meeting: Meeting) -> None:
        folder, settings = self._folders[meeting], self._settings(meeting)

        def game_over(record: GameRecord) -> None:
            with self._lock:
                self._on_game(meeting, record)

        parallel = 1 if self._pool is None else -(-2 * self._pool.workers // len(self._folders))
        until = min(len(folder.records()) + max(GAMES_IN_A_ROW, 2 * parallel), settings.games)
        run_match(replace(settings, games=until, parallel=parallel), folder, game_over, self._cancel, self._pool)

    def _settings(self, meeting: Meeting) -> MatchSettings:
        """Return the settings of a meeting's match, with the whole path of its openings."""
        match = self.description.match(meeting)
        return replace(match, openings=str(self.description.base / match.openings)) if match.openings else match

    def _missing(self, meeting: Meeting) -> bool:
        return len(self._folders[meeting].records()) < self.description.games


def _core_sets(parallel: int) -> list[set[int]]:
    """Return the cores of each worker; raises MatchError where there are too few, or the system cannot bind."""
    if not hasattr(os, "sched_getaffinity"):
        raise MatchError("bind-to-cores", expected="Linux", advice="leave it out on this system")
    cores = sorted(os.sched_getaffinity(0))
    each = len(cores) // parallel
    if each == 0:
        given = f"parallel = {parallel} with bind-to-cores"
        raise MatchError(given, expected=f"at most this machine's {counted(len(cores), 'core')}")
    return [set(cores[index * each : (index + 1) * each]) for index in range(parallel)]


def show_games(
    runner: TournamentRunner, title: str, bar: ProgressBar, ended: tuple[Meeting, GameRecord] | None = None
) -> None:
    """Show the finished games on `bar`, a line about one that has ended, and write index.html and results.json."""
    description, folder, results = runner.description, runner.out, runner.results
    if ended is not None:
        meeting, record = ended
        names = [description.entrants[place].name for place in (meeting.first, meeting.second)]
        black, white = names if record.black == "first" else reversed(names)
        condition = description.conditions[meeting.condition].title
        line = f"{condition}: {black} (B) – {white} (W) {record.result}, {counted(record.moves, 'move')}"
        bar.log(f"{line} {record.detail}".rstrip())
    played, tables = sum(map(len, results.values())), tables_of(description, results)
    leader = description.entrants[tables[0].order[0]].name
    bar.update(played, counted(played, "game") + (f", {leader} leads" if played else ""))
    files = {
        "index.html": page_of(title, description, tables, results),
        "results.json": json.dumps(to_json(description, tables, results), indent=1) + "\n",
    }
    try:
        for name, text in files.items():
            write_whole(folder / name, text)
    except OSError as error:
        raise MatchError(f"cannot write to {folder}: {error.strerror}") from error
