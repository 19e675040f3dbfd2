"""Finished games on disk: one JSON line each, written the moment a game ends, so that an interruption loses none.

A match folder holds

    match.json       the settings, the engines' names and versions, the hash of the openings; a second run must agree
    results.jsonl    one GameRecord a line, in the order in which games ended
    games/0001.sgf   the game itself, numbered as in results.jsonl
    logs/            what the engines printed, and the GTP dialogue
    in-use.lock      held by the process that plays the match; others read its games and write nothing
"""

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from gtp_engine.arena.match.settings import SIDES, MatchError, MatchSettings, MatchSide
from gtp_engine.base.errors import shown_path
from gtp_engine.base.files import append, complete_lines, json_of, owning, write_whole, writing
from gtp_engine.base.steps import differences

FORMAT: Final = 1
"""Version of the files in a match folder; other versions are refused."""


Winner = Literal["first", "second", "draw", "none"]
"""The winner; "none" for a void game, which does not count."""

Reason = Literal["score", "resign", "cycle", "time", "illegal", "refused", "failure", "max_moves"]
"""How a game ended: by score or resignation; without result by a long cycle, which is a draw; lost by running out of
time, by an illegal or unreadable move, by refusing a legal move of the opponent, or by an engine that died, hung or
answered `?` to genmove; or stopped."""


@dataclass(frozen=True, kw_only=True)
class GameRecord:
    """One finished game.  Numbers start at 1; times are seconds, measured by the match.

    `result` is the SGF property RE.  `scores` holds the scores of the final position by "referee", "first" and
    "second" (without engines that gave none), in GTP's form.  `think_times` lists every genmove of each side.
    `overruns` counts the moves that took more than the clock allowed, forgiven or not.  Games of equal `digest` have
    the same set-up and moves.
    """

    game: int
    opening: str
    black: MatchSide
    result: str
    winner: Winner
    reason: Reason
    detail: str = ""
    moves: int
    scores: dict[str, str] = field(default_factory=dict)
    think_times: dict[MatchSide, list[float]]
    overruns: dict[MatchSide, int]
    digest: str

    @property
    def points(self) -> float:
        """Return the first engine's points for the game: 1, a half for a draw, or 0 (also for a void game)."""
        return {"first": 1.0, "draw": 0.5}.get(self.winner, 0.0)

    def to_record(self) -> dict[str, Any]:
        """Return a row for a table: plain values, with the seconds of all moves of each side and its overruns."""
        row = {name: value for name, value in vars(self).items() if not isinstance(value, dict)}
        for side in SIDES:
            row |= {f"{side}_seconds": sum(self.think_times[side]), f"{side}_overruns": self.overruns[side]}
        return row | {f"score_{name}": score for name, score in self.scores.items()} | {"points": self.points}


class MatchFolder:
    """The files of one match.  Its methods may be called from several threads.

    Opening an existing folder reads the games it holds; settings that differ from the ones written there,
    unreadable files and another file format raise MatchError.  A match of which no game was finished, because an engine
    did not start, is replaced.  All that is written is written in the block of `playing`.

        table = pandas.DataFrame(MatchFolder(path, settings).to_records())
    """

    def __init__(self, path: Path | str, settings: MatchSettings) -> None:
        self.path = path = Path(path)
        self._lock = threading.Lock()
        self._results = path / "results.jsonl"
        self._header = path / "match.json"
        self._engines: dict[str, dict[str, str]] = {}
        self._openings: str | None = None
        self._settings = settings
        self._records: list[GameRecord] = []
        self._read(cut=False)

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Hold the right to play this match, which one process has at a time; reads its games again.

        Raises MatchError while another process has it, and for what opening the folder raises it.
        """
        with owning(self.path, MatchError):
            self._read(cut=True)
            with writing(self.path, MatchError, "a match to"):
                for folder in ("games", "logs"):
                    (self.path / folder).mkdir(exist_ok=True)
                if not self._records:
                    self._write_header()
            yield

    def _read(self, *, cut: bool) -> None:
        try:
            self._open_header()
            with self._lock:
                self._records = self._read_results(cut=cut)
        except OSError as error:
            raise MatchError(f"cannot use the match folder {self.path}: {error.strerror}") from error

    def records(self) -> list[GameRecord]:
        """Return the finished games, sorted by number."""
        with self._lock:
            return sorted(self._records, key=lambda record: record.game)

    def to_records(self) -> list[dict[str, Any]]:
        """Return a row for each finished game, as tables such as pandas.DataFrame take them."""
        return [record.to_record() for record in self.records()]

    def add(self, record: GameRecord, sgf: str) -> None:
        """Write a finished game to disk; it is synced when this returns."""
        write_whole(self.sgf_path(record.game), sgf)
        with self._lock:
            append(self._results, json.dumps(vars(record), ensure_ascii=False) + "\n")
            self._records.append(record)

    def sgf_path(self, game: int) -> Path:
        """Return the path of a game's SGF record."""
        return self.path / "games" / f"{game:04d}.sgf"

    def check_engine(self, side: MatchSide, description: dict[str, str]) -> None:
        """Record an engine's name and version; raises MatchError if another engine played earlier games."""
        with self._lock:
            known = self._engines.get(side)
            if known is not None and known != description:
                difference = differences(known, description)
                raise MatchError(
                    f"{self.path} was played by another {side} engine ({difference}); choose another --out"
                )
            if known is None:
                self._engines[side] = description
                self._write_header()

    def check_openings(self, digest: str, folder: str) -> None:
        """Record the hash of the openings in a folder; raises MatchError if earlier games were played with others."""
        with self._lock:
            if self._openings not in (None, digest):
                given = f"{self.path} was played with other openings than {shown_path(folder)} holds now"
                raise MatchError(given, advice="restore its .sgf files, or choose another --out")
            if self._openings is None:
                self._openings = digest
                self._write_header()

    def engine_name(self, side: MatchSide) -> str:
        """Return the engine's name from the settings, else its own "name version", else (before its reply) the side."""
        if name := self._settings.name(side):
            return name
        with self._lock:
            engine = self._engines.get(side)
        if not engine:
            return side
        name, version = engine["name"], engine["version"]
        own = re.search(rf"\(({re.escape(name)} [^()]+)\)$", version)  # beside a version of another engine's
        return own[1] if own else f"{name} {version}".strip()

    def _open_header(self) -> None:
        if not self._header.exists():
            if self._results.exists():
                raise MatchError(f"{self.path} holds results without match.json; choose another --out")
            return
        try:
            header: dict[str, Any] = json_of(self._header.read_text(encoding="utf-8"))
            version, old = header["format"], dict(header["settings"])
            self._engines = dict(header["engines"])
            self._openings = header.get("openings")  # earlier versions did not record them
        except (ValueError, KeyError, TypeError) as error:
            raise MatchError(f"{self._header} cannot be read: {error}") from error
        if version != FORMAT:
            raise MatchError(f"{self._header} has format {version}, this program writes {FORMAT}; choose another --out")
        if not self._results.exists():
            self._engines, self._openings = {}, None  # those of a match that `playing` replaces
            return
        began = MatchSettings(first="-", second="-").identity() | old  # earlier versions had fewer settings
        if difference := differences(began, dict.fromkeys(began) | self._settings.identity()):
            raise MatchError(f"{self.path} holds another match ({difference}); choose another --out")

    def _write_header(self) -> None:
        settings = self._settings.identity()
        header = {"format": FORMAT, "settings": settings, "engines": self._engines, "openings": self._openings}
        write_whole(self._header, json.dumps(header, indent=2, ensure_ascii=False) + "\n")

    def _read_results(self, *, cut: bool) -> list[GameRecord]:
        """Return the games on disk without a last line that is incomplete, which is cut off only with `cut`."""
        records: dict[int, GameRecord] = {}
        for number, line in enumerate(complete_lines(self._results, cut=cut), start=1):
            try:
                record = GameRecord(**json_of(line))
            except (ValueError, TypeError) as error:
                raise MatchError(f"{self._results}, line {number}, is not a game: {error}") from error
            if record.game in records:
                given = f"{self._results}, line {number}, holds game {record.game} again, played by another process"
                raise MatchError(given, expected="each game once", advice="remove the line")
            records[record.game] = record
        return list(records.values())
