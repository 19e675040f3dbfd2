"""Games on disk, one file each, so that a page that is loaded again and a server that is restarted continue them.

A file holds JSON: the record as SGF, and what SGF does not say.  Its name is the game's id, which is random, so that
knowing it is enough to open the game and guessing it is not possible.
"""

import json
import os
import re
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from gtp_engine.errors import TengenError, problem, shown
from gtp_engine.files import replacing

MOST_GAMES: Final = 500
"""Games that are kept; the one that was last played the longest ago makes room for a new one."""

_ID: Final = re.compile(r"[0-9a-f]{16}")


class SavedGameError(TengenError):
    """There is no such game, or its file cannot be read or written."""


@dataclass(frozen=True)
class SavedGame:
    """A game as it is stored; `human` is "black" or "white", `clocks` are the fields of `TimeLeft` by colour."""

    sgf: str
    human: str
    level: str | None
    time: tuple[str, ...]
    """Words of the time settings, as `TimeSettings.parse` takes them."""
    clocks: dict[str, tuple[float, ...]]
    dead: tuple[str, ...]
    """The stones that count as dead while the game is scored."""


class SavedGames:
    """The games in a folder, which is created with the first one."""

    def __init__(self, folder: Path) -> None:
        self._folder: Final = folder

    def new_id(self) -> str:
        """Return an id for a new game; the oldest game is removed if there are too many."""
        games = sorted(self._folder.glob("*.json"), key=_age)
        for path in games[: max(0, len(games) - MOST_GAMES + 1)]:
            path.unlink(missing_ok=True)
        return secrets.token_hex(8)

    def save(self, name: str, game: SavedGame) -> None:
        """Write a game; raises SavedGameError."""
        path = self._path(name)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with replacing(path) as unfinished:
                unfinished.write_text(json.dumps(asdict(game), ensure_ascii=False), encoding="utf-8")
        except OSError as error:
            raise SavedGameError(f"the game cannot be saved in {self._folder}: {error.strerror or error}") from None

    def load(self, name: str) -> SavedGame:
        """Return a game; raises SavedGameError."""
        path = self._path(name)
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            return SavedGame(**{**data, "time": tuple(data["time"]), "dead": tuple(data["dead"])})
        except FileNotFoundError:
            raise SavedGameError(f"there is no game {name}") from None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SavedGameError(f"the game {name} cannot be read: {error}") from None

    def _path(self, name: str) -> Path:
        """Return the file of a game; raises SavedGameError for what is no id, such as a path."""
        if not _ID.fullmatch(name):
            raise SavedGameError(problem(f"game {shown(name)}", expected="16 hexadecimal digits"))
        return self._folder / f"{name}.json"


def _age(path: Path) -> float:
    """Return when a file was last written; 0 if it has just been removed."""
    try:
        return os.path.getmtime(path)
    except OSError:
        return 0.0
