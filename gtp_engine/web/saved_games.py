"""Games on disk, one file each, so that a page that is loaded again and a server that is restarted continue them.

A file holds JSON: the record as SGF, and what SGF does not say.  Its name is the game's id, which is random, so that
knowing it is enough to open the game and guessing it is not possible.
"""

import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from gtp_engine.web.json_files import JsonFileError, JsonFiles

MOST_GAMES: Final = 500
"""Games that are kept; the one that was last played the longest ago makes room for a new one."""


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
    """The games in a folder, which is created with the first one; methods wait for the disk."""

    def __init__(self, folder: Path) -> None:
        self._files: Final = JsonFiles(folder, "game")

    def new_id(self) -> str:
        """Return an id for a new game; the oldest game is removed if there are too many."""
        self._files.keep(MOST_GAMES - 1)
        return secrets.token_hex(8)

    def save(self, name: str, game: SavedGame) -> None:
        """Write a game; raises JsonFileError."""
        self._files.write(name, asdict(game))

    def load(self, name: str) -> SavedGame:
        """Return a game; raises JsonFileError."""
        values = self._files.read(name)
        if values is None:
            raise JsonFileError(f"there is no game {name}")
        try:
            return SavedGame(**{**values, "time": tuple(values["time"]), "dead": tuple(values["dead"])})
        except (TypeError, KeyError) as error:
            raise self._files.unreadable(name, error) from None
