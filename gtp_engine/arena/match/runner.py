"""Plays all games of a match, several at a time, stores the finished ones, and shows them on a progress bar.

Each of `parallel` worker threads has its own pair of engine processes, which play several games; a process that has
died is replaced before the next game.  Or the workers of a pool play (`workers`), on the machines of a Ray cluster, and
each thread waits for a game of one of them; a game whose machine is lost is played again elsewhere.

An interrupted match resumes with the missing games.  A game that cannot be played, because of a bug or because it ends
its workers, leaves the others alone; the next run tries it again.  With a sequential test, the match ends as soon as
the test accepts a hypothesis.  Games still running are then aborted and do not count, so that the stored games always
lead to the same result of the test.
"""

import contextlib
import os
import shutil
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import InvalidStateError
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from glob import escape
from pathlib import Path
from typing import Final, NamedTuple

from gtp_engine.arena.match.match_engine import MatchEngine
from gtp_engine.arena.match.match_game import FinishedGame, Opening, Referee, load_openings, play_game
from gtp_engine.arena.match.records import GameRecord, MatchFolder
from gtp_engine.arena.match.settings import SIDES, MatchError, MatchSettings, MatchSide, Sprt, other_side
from gtp_engine.arena.match.statistics import run_sprt, summarize
from gtp_engine.base.errors import EngineError, TaskError, TengenError, counted, of_kind
from gtp_engine.base.progress import ProgressBar
from gtp_engine.base.worker_process import join_command, split_command
from gtp_engine.base.workers.worker_pool import WorkerJob, WorkerPlace, WorkerPool
from gtp_engine.compiled.kernel_cache import cache_root, package_environment
from gtp_engine.nn.named_networks import model_path, shipped_folder, use_as_shipped
from gtp_engine.protocols.client.connection import check_program
from gtp_engine.search.limits import CancelToken
from gtp_engine.sgf import format_sgf

MAX_FAILURES: Final = 3
"""The match is aborted when one engine dies, hangs or refuses a move in this many games in a row."""

OWN_COMMAND: Final = "gtp-engine"
"""The program that machines of a cluster are sent."""

_LOG_BYTES: Final = 1 << 18
"""The end of the log of a game that is sent back."""
_OLD_LOG: Final = 86400.0
"""Seconds after which the log of a worker that has been killed is removed."""

GamePool = WorkerPool["GameTask", "ReturnedGame"]


def run_match(
    settings: MatchSettings,
    folder: MatchFolder,
    on_game: Callable[[GameRecord], None] = lambda record: None,
    cancel: CancelToken | None = None,
    pool: GamePool | None = None,
) -> list[GameRecord]:
    """Play the games that `folder` lacks, unless `cancel` ends the match, and return all games, sorted by number.

    The workers of a `pool`, if there is one, play them (`job_of_games`).  `on_game` is called after each game, from any
    thread but one at a time.  Raises MatchError when the match cannot continue, games could not be played, or another
    process plays it, and propagates KeyboardInterrupt; the finished games are in the folder in all cases.

        records = run_match(settings, MatchFolder("games", settings), lambda record: print(record.winner))
    """
    if not _missing_games(settings, of_kind(folder, MatchFolder, "folder")):
        return folder.records()
    with folder.playing(), contextlib.closing(Referee(settings)) as referee:
        if pool is None:  # else the programs have to be there
            check_programs(settings)
        match = _Match(settings, folder, on_game, pool, referee)
        with (cancel or CancelToken()).calling(match.end.cancel):
            match.run()
    return folder.records()


def check_programs(settings: MatchSettings) -> None:
    """Raise MatchError if the program of an engine is missing, before the other one starts for a minute or two."""
    try:
        for side in SIDES:
            check_program(settings.command(side), side)
    except EngineError as error:
        raise MatchError(str(error)) from error


def run_threads(work: Callable[[int], None], numbers: Iterable[int], name: str, stop: Callable[[], None]) -> None:
    """Do the work with each number in a thread; an error ends all by `stop`, and is raised when they have ended.

    An executor would take no work once the program's main thread has ended, while other threads go on.
    """
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            errors.append(error)
            stop()

    threads = [threading.Thread(target=run, args=(number,), name=f"{name}-{number}") for number in numbers]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    except BaseException:
        stop()
        for thread in filter(threading.Thread.is_alive, threads):
            thread.join()
        raise
    if errors:
        raise errors[0]


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


@dataclass(eq=False)
class EnginePair:
    """Two engine processes of this machine; one that has died is replaced before the next game.

    `on_start` receives the side and the description of each engine when it has started.
    """

    settings: MatchSettings
    referee: Referee
    logs: Mapping[MatchSide, Path]
    on_start: Callable[[MatchSide, dict[str, str]], None]
    _players: dict[MatchSide, MatchEngine] = field(init=False, default_factory=dict)
    _is_killed: bool = field(init=False, default=False)

    def play(self, number: int, opening: Opening) -> FinishedGame:
        """Return a finished game; raises MatchError."""
        for side in SIDES:
            if side not in self._players or not self._players[side].is_alive():
                self._start(side)
        return play_game(number, opening, self._players, self.settings, self.referee)

    def kill(self) -> None:
        """End a game under way, and those to come; safe from any thread."""
        self._is_killed = True
        for player in list(self._players.values()):
            player.kill()

    def close(self) -> None:
        """End both engines."""
        for player in self._players.values():
            player.close()
        self._players.clear()

    def _start(self, side: MatchSide) -> None:
        """Start an engine, in place of one that has died; raises MatchError when it cannot be prepared for a game."""
        if side in self._players:
            self._players.pop(side).close()
        try:
            player = MatchEngine(side, self.settings, log=self.logs[side])
            self._players[side] = player
            if self._is_killed:
                player.kill()
            player.shake_hands()
        except EngineError as error:
            raise MatchError(str(error)) from error
        self.on_start(side, {"name": player.name, "version": player.version})


@dataclass(eq=False)
class _Match:
    """The state that the worker threads share.

    The token `end` ends the games under way, and no more are played.  It may be cancelled while a lock is held: by
    `on_game`, in a tournament beside the locks of other matches.
    """

    settings: MatchSettings
    folder: MatchFolder
    on_game: Callable[[GameRecord], None]
    pool: GamePool | None
    referee: Referee
    end: CancelToken = field(init=False, default_factory=CancelToken)
    _lock: threading.Lock = field(init=False, default_factory=threading.Lock)
    _failures: dict[MatchSide, int] = field(init=False, default_factory=lambda: dict.fromkeys(SIDES, 0))
    _not_played: dict[int, str] = field(init=False, default_factory=dict)
    _openings: Sequence[Opening] = field(init=False)
    _pending: deque[int] = field(init=False)

    def __post_init__(self) -> None:
        """Find what is to be played; raises MatchError."""
        self._openings, digest = load_openings(self.settings)
        self.folder.check_openings(digest, self.settings.openings)
        self._pending = deque(_missing_games(self.settings, self.folder))

    def run(self) -> None:
        """Play every pending game; raises the error that stopped a worker."""
        count = min(self.settings.parallel, len(self._pending))
        run_threads(self._work, range(1, count + 1), "match", self.end.cancel)
        if self._not_played and not self.end.is_cancelled:
            number, reason = min(self._not_played.items())
            games = counted(len(self._not_played), "game")
            raise MatchError(f"{games} could not be played, the first of them game {number}: {reason}")

    def _work(self, index: int) -> None:
        """Play games one after the other, with engines of this thread's own or on the workers of the pool."""
        logs = {side: self.folder.path / "logs" / f"{side}-{index}.log" for side in SIDES}
        engines = EnginePair(self.settings, self.referee, logs, self.folder.check_engine)
        try:
            with self.end.calling(engines.kill):
                while (number := self._next_game()) is not None:
                    opening = self._openings[self.settings.opening(number) % len(self._openings)]
                    try:
                        if self.pool is None:
                            played = engines.play(number, opening)
                        else:
                            played = self._play_in(self.pool, GameTask(self.settings, number, opening), logs)
                    except TaskError as error:
                        self._not_played[number] = str(error)
                    except (TengenError, OSError):
                        raise
                    except Exception as error:  # a bug, which concerns this game
                        self._not_played[number] = f"{type(error).__name__}: {error}"
                        engines.close()
                    else:
                        self._finish(played)
        except BaseException:
            if not self.end.is_cancelled:  # else it failed because it was ended
                self.end.cancel()
                raise
        finally:
            engines.close()

    def _play_in(self, pool: GamePool, task: "GameTask", logs: Mapping[MatchSide, Path]) -> FinishedGame:
        """Have a worker of the pool play a game; raises TaskError if it cannot be played."""
        game = pool.submit(task)

        def stop() -> None:
            if not game.cancel():
                with contextlib.suppress(InvalidStateError):
                    game.set_exception(MatchError("the match has been stopped"))

        with self.end.calling(stop):
            played = game.result()
        for side in SIDES:
            self.folder.check_engine(side, played.engines[side])
            with logs[side].open("ab") as file:
                file.write(played.logs[side])
        return played.game

    def _next_game(self) -> int | None:
        with self._lock:
            return self._pending.popleft() if self._pending and not self.end.is_cancelled else None

    def _finish(self, played: FinishedGame) -> None:
        """Store a game unless the end of the match aborted it; raises MatchError after too many failures."""
        record, names = played.record, self.folder.engine_name
        with self._lock:
            if self.end.is_cancelled:
                return
            sgf = format_sgf(
                played.game,
                black_name=names(record.black),
                white_name=names(other_side(record.black)),
                result=record.result,
                date=date.today().isoformat(),
            )
            self.folder.add(record, sgf)
            self.on_game(record)
            if _has_verdict(self.settings, self.folder):
                self.end.cancel()
            for side in SIDES:
                failed = record.reason in ("failure", "refused") and record.winner == other_side(side)
                self._failures[side] = self._failures[side] + 1 if failed else 0
                if self._failures[side] == MAX_FAILURES:
                    raise MatchError(f"{side} failed in {MAX_FAILURES} games in a row; the last time: {record.detail}")


def show_games(bar: ProgressBar, folder: MatchFolder, test: Sprt | None, ended: GameRecord | None = None) -> None:
    """Show the finished games on a bar whose total is the number of games, and a line about the one that has ended."""
    if ended is not None:
        line = f"game {ended.game}: {ended.result} ({ended.black} black, {counted(ended.moves, 'move')})"
        bar.log(f"{line} {ended.detail}".rstrip())
    records = folder.records()
    summary = summarize(records, test)
    low, high = summary.win_rate_interval
    score = f"first {summary.win_rate:.0%} [{low:.0%}–{high:.0%}]" if summary.games else "first –"
    ratio = f" LLR {summary.sprt.llr:+.2f}" if summary.sprt is not None else ""
    bar.update(len(records), f"{counted(len(records), 'game')}, {score}{ratio}")


# Games on other machines


class GameTask(NamedTuple):
    """A game for a worker of a pool."""

    settings: MatchSettings
    number: int
    opening: Opening


class ReturnedGame(NamedTuple):
    """What it sends back: the game, the engines' names and versions, and what has been added to their logs."""

    game: FinishedGame
    engines: dict[MatchSide, dict[str, str]]
    logs: dict[MatchSide, bytes]


def job_of_games(commands: Iterable[str], *, threads: int) -> WorkerJob:
    """Return the job of workers that play games of engines with these commands, on `threads` cores for each game.

    Machines are sent this package as `gtp-engine`, its networks, and the files that commands of it name; programs of
    others have to be there, under the same command.
    """
    sent = {command: _sent_command(command) for command in commands}
    files = {file for words in sent.values() for word in words if isinstance(word, Path) for file in _with_copies(word)}
    shipped = None
    with contextlib.suppress(TengenError):  # it may have been removed, if another network is named
        shipped = shipped_folder()
        files.add(shipped)
    maker = partial(_GameWorker, commands=sent, shipped=shipped)
    return WorkerJob("match", [maker], sorted(files), threads, calls_kernels=False)


def _sent_command(command: str) -> list[str | Path]:
    """Return the words of a command, files and networks that exist here as paths; as one word if it is another's."""
    words = split_command(command)
    if words[0] != OWN_COMMAND:
        return [command]
    found: list[str | Path] = [OWN_COMMAND]
    for word in words[1:]:
        flag, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        path = model_path(value) if value else Path()
        is_sent = bool(value) and (path.is_file() or (path.is_dir() and any(path.glob("*.onnx"))))
        found += [flag] * bool(equals) + [path.absolute() if is_sent else value] if equals or not flag else [word]
    return found


def _with_copies(path: Path) -> list[Path]:
    """Return a file with those that belong to it, such as a quantized copy and levels, which begin with its name."""
    return sorted(path.parent.glob(f"{escape(path.stem)}*")) if path.suffix == ".onnx" else [path]


def _command_at(words: Sequence[str | Path], place: WorkerPlace) -> str:
    """Return a command of `_sent_command` as it is given at a place."""
    if words[0] != OWN_COMMAND:
        return str(words[0])
    own = [str(place.path(word)) if isinstance(word, Path) else word for word in words[1:]]
    return join_command([sys.executable, "-P", "-m", OWN_COMMAND.replace("-", "_"), *own])


class _GameWorker:
    """Plays games of any matches, one after the other; the engines stay for the next game of the same match.

    `commands` are the words of the engines' commands.
    """

    def __init__(self, place: WorkerPlace, commands: Mapping[str, list[str | Path]], shipped: Path | None) -> None:
        if shipped is not None:
            use_as_shipped(place.path(shipped))
        os.environ["PYTHONPATH"] = package_environment(dict(os.environ))["PYTHONPATH"]  # for `gtp-engine`
        self._commands: Final = {command: _command_at(words, place) for command, words in commands.items()}
        folder = _log_folder()
        self._logs: Final = {side: folder / f"{side}.log" for side in SIDES}
        self._engines: dict[MatchSide, dict[str, str]] = {}
        self._pair: EnginePair | None = None

    def __call__(self, task: GameTask) -> ReturnedGame:
        """Return a game; raises MatchError."""
        first, second = (self._commands[task.settings.command(side)] for side in SIDES)
        here = replace(task.settings, first=first, second=second)
        if self._pair is None or here != self._pair.settings:
            if self._pair is not None:
                self._pair.close()
                self._pair.referee.close()
            self._pair = EnginePair(here, Referee(here), self._logs, self._engines.__setitem__)
        sizes = {side: log.stat().st_size if log.exists() else 0 for side, log in self._logs.items()}
        game = self._pair.play(task.number, task.opening)
        logs = {side: _log_since(log, sizes[side]) for side, log in self._logs.items()}
        return ReturnedGame(game, dict(self._engines), logs)


def _log_since(log: Path, size: int) -> bytes:
    """Return what has been added to a log since it had this size, of much only the end."""
    with log.open("rb") as file:
        file.seek(max(size, log.stat().st_size - _LOG_BYTES))
        return file.read()


def _log_folder() -> Path:
    """Return a new folder for logs; those of workers that have been killed long ago are removed."""
    logs = cache_root() / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    for old in logs.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - old.stat().st_mtime > _OLD_LOG:
                shutil.rmtree(old, ignore_errors=True)
    return Path(tempfile.mkdtemp(dir=logs))
