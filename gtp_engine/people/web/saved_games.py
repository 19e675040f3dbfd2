"""Games on disk, one file each, so that a page that is loaded again and a server that is restarted continue them.

A file holds JSON: the record as SGF, and what SGF does not say.  Its name is the game's id, which is random, so that
knowing it is enough to open the game and guessing it is not possible.  Reviews are kept in such files too.
"""

import contextlib
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

from gtp_engine.base.errors import ModelError, TengenError, shown
from gtp_engine.base.files import PRIVATE_FILE, json_of, make_private, newest_first, replacing, write_whole
from gtp_engine.engine import Engine
from gtp_engine.go.clock import MAX_COUNT, MAX_SECONDS, TimeLeft, parse_time
from gtp_engine.go.coords import format_color, parse_color
from gtp_engine.people.play import GameSession, SessionExtras

_COLORS: Final = ("black", "white")

_ID: Final = re.compile(r"[0-9a-f]{16}")

_NETWORK: Final = "network.txt"

DAMAGED: Final = ".damaged"
"""Suffix of a file that was put aside."""

MOST_GAMES: Final = 5000
"""Games that are kept; the one that was last played the longest ago makes room for a new one."""


T = TypeVar("T")


class JsonFileError(TengenError):
    """There is no such file, or it cannot be read or written."""


class DamagedFileError(JsonFileError):
    """A file does not hold what it should."""


class JsonFiles:
    """The files in `folder`, which is created with the first one; each holds a `what`, such as "game".

    Methods wait for the disk, so they are not for an event loop.
    """

    def __init__(self, folder: Path, what: str) -> None:
        self._folder: Final = folder
        self._what: Final = what

    def write(self, name: str, values: dict[str, Any], *, keeps_age: bool = False) -> None:
        """Write a file, whole or not at all, with `keeps_age` as one as old as before; raises JsonFileError."""
        path = self._path(name)
        try:
            make_private(self._folder)
            with replacing(path) as unfinished:
                unfinished.touch(mode=PRIVATE_FILE)
                unfinished.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8", errors="surrogatepass")
                for _path, written in newest_first([path] if keeps_age else []):
                    os.utime(unfinished, (written, written))
        except OSError as error:
            reason = f"the {self._what} cannot be saved in {self._folder}: {error.strerror or error}"
            raise JsonFileError(reason) from None

    def read(self, name: str, parse: Callable[[dict[str, Any]], T]) -> T | None:
        """Return what `parse` makes of a file, None if there is none.

        Raises JsonFileError, and DamagedFileError for a file that `parse` makes nothing of.
        """
        path = self._path(name)
        try:
            values = json_of(path.read_text(encoding="utf-8", errors="surrogatepass"))
            if not isinstance(values, dict):
                raise TypeError("it is not a JSON object")
            return parse(values)
        except FileNotFoundError:
            return None
        except (OSError, TengenError, TypeError, LookupError, ValueError, AttributeError, ArithmeticError) as error:
            raise self._unreadable(name, error) from None

    def newest(self) -> list[tuple[str, float]]:
        """Return the names of the files, and when they were written, in seconds since 1970; the newest first."""
        files = newest_first(self._folder.glob("*.json"))
        return [(path.stem, written) for path, written in files if _ID.fullmatch(path.stem)]

    def remove(self, name: str) -> None:
        """Remove a file, if it is there; raises JsonFileError."""
        path = self._path(name)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise JsonFileError(f"the {self._what} {name} cannot be removed: {error.strerror or error}") from None

    def put_aside(self, name: str) -> None:
        """Give a damaged file another name, under which it is kept; raises JsonFileError."""
        path = self._path(name)
        try:
            path.replace(path.with_suffix(DAMAGED))
        except OSError as error:
            raise self._unreadable(name, error) from None

    def keep(self, most: int) -> None:
        """Remove the files that were written the longest ago, so that `most` are left; raises JsonFileError."""
        for name, _written in self.newest()[most:]:
            self.remove(name)

    def _unreadable(self, name: str, reason: Exception) -> JsonFileError:
        kind = JsonFileError if isinstance(reason, OSError) else DamagedFileError
        return kind(f"the {self._what} {name} cannot be read: {reason}")

    def _path(self, name: str) -> Path:
        """Return the file of a game; raises JsonFileError for what is not an id, such as a path."""
        if not _ID.fullmatch(name):
            raise JsonFileError(f"game {shown(name)}", expected="16 hexadecimal digits")
        return self._folder / f"{name}.json"


@dataclass(frozen=True, kw_only=True)
class SavedGame(SessionExtras):
    """A game as it is stored: the record, and what continues it."""

    sgf: str
    human: str
    """The person's colour, "black" or "white"."""
    level: str | None
    time: tuple[str, ...]
    """Words of the time settings, as `parse_time` takes them."""
    title: str = ""
    """The name that its owner has given to the game, "" for none."""

    @staticmethod
    def of(session: GameSession, level: str | None, title: str = "") -> "SavedGame":
        """Return the game of a session."""
        return SavedGame(
            sgf=session.to_sgf(),
            human=format_color(session.settings.human),
            level=level,
            time=session.settings.time.words(),
            title=title,
            **vars(session.extras()),
        )

    @staticmethod
    def from_json(values: dict[str, Any]) -> "SavedGame":
        """Return the game in a file; raises TypeError, KeyError, ValueError or AttributeError for anything else."""
        clocks = {
            int(number): {color: _time_left(*left) for color, left in clocks.items()}
            for number, clocks in values["clocks"].items()
        }
        dead = None if values["dead"] is None else tuple(values["dead"])
        notes = tuple(values.get("notes", ()))
        rest = {"clocks": clocks, "time": tuple(values["time"]), "dead": dead, "notes": notes}
        game = SavedGame(**{**values, **rest})
        if any(set(each) != set(_COLORS) for each in clocks.values()):
            raise ValueError("a clock is missing")
        if not all(isinstance(text, str) for text in (*game.time, *(game.dead or ()), *notes)):
            raise TypeError("a value that should be text is not")
        for each in fields(SavedGame):
            kinds = get_args(each.type) or (each.type,)  # `str | None` has two
            if each.name not in rest and type(getattr(game, each.name)) not in kinds:
                raise TypeError(f"{each.name} is not a {kinds[0].__name__}")
        return game

    def session(self, engine: Engine) -> GameSession:
        """Return a session of `engine` that goes on with the game.

        Raises ModelError if the network does not play such a board, DamagedFileError if the game makes no sense.
        """
        try:
            time = parse_time(" ".join(self.time))
            return GameSession.load(engine, self.sgf, human=parse_color(self.human), time=time, extras=self)
        except ModelError:
            raise
        except (TengenError, ValueError, TypeError, LookupError, ArithmeticError, RecursionError) as error:
            raise DamagedFileError(str(error) or type(error).__name__) from error


class SavedGames(JsonFiles):
    """The games in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "game")

    def remember_network(self, name: str) -> None:
        """Keep the name of the network that was chosen; where that is impossible it lasts until the server ends."""
        with contextlib.suppress(OSError):
            make_private(self._folder)
            write_whole(self._folder / _NETWORK, name)

    def remembered_network(self) -> str:
        """Return that name, "" if there is none."""
        try:
            return (self._folder / _NETWORK).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            return ""

    def make_room(self) -> None:
        """Remove the oldest game if there are too many for another one; raises JsonFileError."""
        self.keep(MOST_GAMES - 1)

    def games(self) -> Iterator[tuple[str, float, SavedGame]]:
        """Yield the games with their names and when they were played, the newest first; without damaged ones."""
        for name, written in self.newest():
            with contextlib.suppress(JsonFileError):
                yield name, written, self.load(name)

    def save(self, name: str, game: SavedGame, *, keeps_age: bool = False) -> None:
        """Write a game, with `keeps_age` as one that has not been played since; raises JsonFileError."""
        self.write(name, asdict(game), keeps_age=keeps_age)

    def load(self, name: str) -> SavedGame:
        """Return a game; raises JsonFileError, and DamagedFileError for a file that holds none."""
        game = self.read(name, SavedGame.from_json)
        if game is None:
            raise JsonFileError(f"there is no game {name}")
        return game


def new_id() -> str:
    """Return an id for a new game."""
    return secrets.token_hex(8)


def _time_left(has_time: float, main: float, periods: float, period: float, stones: float) -> TimeLeft:
    """Return a clock from the numbers in a file; raises TypeError, ValueError or OverflowError for anything else."""
    left = TimeLeft(bool(has_time), float(main), int(periods), float(period), int(stones))
    if not (0.0 <= left.main <= MAX_SECONDS and 0.0 <= left.period <= MAX_SECONDS):
        raise ValueError(f"{shown(main)} and {shown(period)} are not seconds")
    if not (0 <= left.periods <= MAX_COUNT and 0 <= left.stones <= MAX_COUNT):
        raise ValueError(f"{shown(periods)} and {shown(stones)} are not numbers of periods and stones")
    return left
