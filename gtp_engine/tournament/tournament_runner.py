"""Plays the games of a tournament, several at a time; each worker may have cores of its own.

A worker takes the pairing with the fewest games and plays some games of its match, so that the tables cover all engines
early on.  Matches are stored as those of `gtp-engine match`, and resume like them.  After each game there is a line for
it, the leader stands beside the bar, and the files of the tables are up to date.
"""

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from gtp_engine.errors import TengenError, counted, problem
from gtp_engine.files import replacing
from gtp_engine.match.match_game import load_openings
from gtp_engine.match.records import GameRecord, MatchFolder
from gtp_engine.match.runner import run_match
from gtp_engine.match.settings import MatchError, MatchSettings
from gtp_engine.progress import ProgressBar
from gtp_engine.search.cancellation import CancelToken
from gtp_engine.tournament.standings import page_of, tables_of, to_json
from gtp_engine.tournament.tournament_file import Description, Pairing

GAMES_IN_A_ROW: Final = 10
"""Games of a pairing that a worker plays before it takes another: each time, the engines have to be started again."""

Results = dict[Pairing, list[GameRecord]]


class TournamentRunner:
    """A tournament with its folder `out`; `on_game` is called after each game, one at a time, from any thread.

    Raises MatchError if the folder holds other matches, for openings that cannot be used, and if there are too few
    cores to bind the games to.
    """

    def __init__(
        self, description: Description, out: Path, on_game: Callable[[Pairing, GameRecord], None] = lambda *_: None
    ) -> None:
        self.description: Final = description
        self._out: Final = out
        self._on_game: Final = on_game
        self._cores: Final = _core_sets(description.parallel) if description.bind_to_cores else None
        self._folders: Final = {
            pairing: MatchFolder(out / description.folder(pairing), description.match(pairing))
            for pairing in description.pairings
        }
        self._lock: Final = threading.Lock()
        self._waiting: Final = [pairing for pairing in description.pairings if self._missing(pairing)]
        for pairing in {pairing.condition: pairing for pairing in self._waiting}.values():
            load_openings(self._settings(pairing))  # now rather than when the condition's turn comes
        self._cancel: Final = CancelToken()
        self._error: Exception | None = None

    @property
    def results(self) -> Results:
        """The finished games of each pairing, sorted by number."""
        return {pairing: folder.records() for pairing, folder in self._folders.items()}

    @property
    def other_matches(self) -> list[str]:
        """The names of folders beside those of the pairings that hold games: engines were renamed, moved or removed."""
        known = {folder.path.name for folder in self._folders.values()}
        return sorted(path.parent.name for path in self._out.glob("*/results.jsonl") if path.parent.name not in known)

    def run(self) -> None:
        """Play the missing games; raises MatchError when an engine fails, and any other error that ends a match."""
        workers = [
            threading.Thread(target=self._work, args=(index,), name=f"tournament-{index}")
            for index in range(min(self.description.parallel, len(self._waiting)))
        ]
        for worker in workers:
            worker.start()
        try:
            for worker in workers:
                worker.join()
        finally:
            self._cancel.cancel()
            for worker in workers:
                worker.join()
        if self._error is not None:
            raise self._error

    def _work(self, index: int) -> None:
        """Play matches one after the other; the engines inherit the cores of this thread."""
        if self._cores is not None:
            os.sched_setaffinity(0, self._cores[index])
        while (pairing := self._next()) is not None:
            try:
                self._play(pairing)
            except Exception as error:  # raised again by `run`: an engine that fails, a full disk
                self._fail(pairing, error)
                return
            with self._lock:
                if self._missing(pairing):
                    self._waiting.append(pairing)

    def _next(self) -> Pairing | None:
        """Return the pairing with the fewest games that no other worker plays, None if there is none."""
        with self._lock:
            if self._cancel.is_cancelled or not self._waiting:
                return None
            pairing = min(self._waiting, key=lambda each: len(self._folders[each].records()))
            self._waiting.remove(pairing)
            return pairing

    def _play(self, pairing: Pairing) -> None:
        folder, settings = self._folders[pairing], self._settings(pairing)

        def game_over(record: GameRecord) -> None:
            with self._lock:
                self._on_game(pairing, record)

        until = min(len(folder.records()) + GAMES_IN_A_ROW, settings.games)
        run_match(replace(settings, games=until), folder, game_over, self._cancel)

    def _settings(self, pairing: Pairing) -> MatchSettings:
        """Return the settings of a pairing's match, with the whole path of its openings."""
        return replace(self.description.match(pairing), openings=self.description.openings(pairing))

    def _missing(self, pairing: Pairing) -> bool:
        return len(self._folders[pairing].records()) < self.description.games

    def _fail(self, pairing: Pairing, error: Exception) -> None:
        """Keep the first error, and end all matches."""
        if isinstance(error, (TengenError, OSError)):
            first, second = (self.description.entrants[place].name for place in (pairing.first, pairing.second))
            error = MatchError(f"{first} (first) – {second} (second): {error}")
        with self._lock:
            self._error = self._error or error
        self._cancel.cancel()


def _core_sets(parallel: int) -> list[set[int]]:
    """Return the cores of each worker; raises MatchError where there are too few, or the system cannot bind."""
    if not hasattr(os, "sched_setaffinity"):
        raise MatchError(problem("bind-to-cores", expected="Linux", advice="leave it out on this system"))
    cores = sorted(os.sched_getaffinity(0))
    each = len(cores) // parallel
    if each == 0:
        given = f"parallel = {parallel} with bind-to-cores"
        raise MatchError(problem(given, expected=f"at most this machine's {counted(len(cores), 'core')}"))
    return [set(cores[index * each : (index + 1) * each]) for index in range(parallel)]


class TournamentProgress:
    """Reports games on `bar`, and writes index.html and results.json in `folder` after each of them."""

    def __init__(self, description: Description, folder: Path, title: str, bar: ProgressBar) -> None:
        self._description: Final = description
        self._folder: Final = folder
        self._title: Final = title
        self._bar: Final = bar
        self._results: dict[Pairing, list[GameRecord]] = {}

    def begin(self, results: Mapping[Pairing, Sequence[GameRecord]]) -> None:
        """Show the games that were played before."""
        self._results = {pairing: list(records) for pairing, records in results.items()}
        self._update()

    def game_over(self, pairing: Pairing, record: GameRecord) -> None:
        """Show one more finished game."""
        self._results[pairing].append(record)
        names = [self._description.entrants[place].name for place in (pairing.first, pairing.second)]
        black, white = names if record.black == "first" else reversed(names)
        condition = self._description.conditions[pairing.condition].title
        line = f"{condition}: {black} (B) – {white} (W) {record.result}, {counted(record.moves, 'move')}"
        self._bar.log(f"{line} {record.detail}".rstrip())
        self._update()

    def _update(self) -> None:
        played = sum(len(records) for records in self._results.values())
        tables = tables_of(self._description, self._results)
        leader = self._description.entrants[tables[0].order[0]].name
        self._bar.update(played, counted(played, "game") + (f", {leader} leads" if played else ""))
        files = {
            "index.html": page_of(self._title, self._description, tables),
            "results.json": json.dumps(to_json(self._description, tables, self._results), indent=1) + "\n",
        }
        try:
            for name, text in files.items():
                with replacing(self._folder / name) as path:
                    path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise MatchError(f"cannot write to {self._folder}: {error.strerror}") from error
