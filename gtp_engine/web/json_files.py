"""A folder of JSON files that are named by the ids of games, of which the newest are kept."""

import json
import os
import re
from pathlib import Path
from typing import Any, Final

from gtp_engine.errors import TengenError, problem, shown
from gtp_engine.files import replacing

_ID: Final = re.compile(r"[0-9a-f]{16}")


class JsonFileError(TengenError):
    """There is no such file, or it cannot be read or written."""


class JsonFiles:
    """The files in `folder`, which is created with the first one; each holds a `what`, such as "game".

    Methods wait for the disk, so they are not for an event loop.
    """

    def __init__(self, folder: Path, what: str) -> None:
        self._folder: Final = folder
        self._what: Final = what

    def write(self, name: str, values: dict[str, Any]) -> None:
        """Write a file, whole or not at all; raises JsonFileError."""
        path = self._path(name)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with replacing(path) as unfinished:
                unfinished.write_text(json.dumps(values, ensure_ascii=False), encoding="utf-8")
        except OSError as error:
            reason = f"the {self._what} cannot be saved in {self._folder}: {error.strerror or error}"
            raise JsonFileError(reason) from None

    def read(self, name: str) -> dict[str, Any] | None:
        """Return what a file holds, None if there is none; raises JsonFileError."""
        path = self._path(name)
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            raise self.unreadable(name, error) from None
        if not isinstance(values, dict):
            raise self.unreadable(name, "it is not a JSON object")
        return values

    def unreadable(self, name: str, reason: object) -> JsonFileError:
        """Return the error for a file that does not hold what it should."""
        return JsonFileError(f"the {self._what} {name} cannot be read: {reason}")

    def keep(self, most: int) -> None:
        """Remove the files that were written the longest ago, so that `most` are left; raises JsonFileError."""
        files = sorted(self._folder.glob("*.json"), key=_age)
        try:
            for path in files[: max(0, len(files) - most)]:
                path.unlink(missing_ok=True)
        except OSError as error:
            reason = f"the oldest {self._what} cannot be removed from {self._folder}: {error.strerror or error}"
            raise JsonFileError(reason) from None

    def _path(self, name: str) -> Path:
        """Return the file of a game; raises JsonFileError for what is no id, such as a path."""
        if not _ID.fullmatch(name):
            raise JsonFileError(problem(f"game {shown(name)}", expected="16 hexadecimal digits"))
        return self._folder / f"{name}.json"


def _age(path: Path) -> float:
    """Return when a file was last written; 0 if it has just been removed."""
    try:
        return os.path.getmtime(path)
    except OSError:
        return 0.0
