"""The files that a set-up changes: their difference, backups, writing."""

import difflib
import re
import shutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gtp_engine.errors import ConfigError, problem, shown_path
from gtp_engine.files import replacing

MAX_BYTES = 16 * 2**20
"""Largest file that is read; settings of these programs have some kilobytes."""

_SECRET: Final = re.compile(r"(\w*(?:password|apikey|token)\w*[\"']?(?:\s*[=:]\s*|\s+))\S.*", re.IGNORECASE)
"""A name and its value in properties (a blank may separate them), in JSON, and on command lines."""


@dataclass(frozen=True)
class Change:
    """A file with its text before (None: there is none) and after."""

    path: Path
    old: str | None
    new: str

    @property
    def is_needed(self) -> bool:
        """Whether anything changes."""
        return self.old != self.new


def read_settings(path: Path) -> str | None:
    """Return the text of a file, None if there is none; raises ConfigError for anything but a readable text file."""
    try:
        if not path.exists():
            return None
        if not path.is_file() or path.stat().st_size > MAX_BYTES:
            raise ConfigError(problem(f"settings {shown_path(path)}", expected="a file of at most 16 MiB"))
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ConfigError(problem(f"settings {shown_path(path)}: byte {error.start}", expected="UTF-8 text")) from error
    except OSError as error:
        raise ConfigError(f"cannot read {shown_path(path)}: {error.strerror or error}") from error


def file_with_command(path: Path, new: str, merged: Callable[[str], str]) -> Change:
    """Return the change of a file that the user completes: `new` where there is none or an empty one.

    Else `merged` returns its text with our command and everything else as it is.  Raises ConfigError as `read_settings`
    and `merged` do.
    """
    old = read_settings(path)
    return Change(path, old, merged(old) if old and not old.isspace() else f"{new}\n")


def no_place(path: Path, has: str) -> ConfigError:
    """Return the error of a file without one place for our command; `has` is what it has instead."""
    advice = "enter by hand what --print shows, or have another file written: --file FILE"
    return ConfigError(problem(f"{shown_path(path)} has {has}", expected="one engine's command", advice=advice))


def difference(changes: Iterable[Change]) -> str:
    """Return what changes, as diff prints it; passwords and keys in files that exist are left out."""
    lines: list[str] = []
    for change in changes:
        before, after = "new file" if change.old is None else str(change.path), str(change.path)
        old = (change.old or "").splitlines()
        found = difflib.unified_diff(old, change.new.splitlines(), before, after, lineterm="")
        lines += found if change.old is None else (_SECRET.sub(r"\1…", line) for line in found)
    return "\n".join(lines)


def apply(changes: Iterable[Change]) -> list[Path]:
    """Write the new texts, each whole or not at all, and return the backups of older files; raises ConfigError."""
    backups = []
    for change in changes:
        try:
            target = change.path.resolve()  # the file itself, where its name is a link
            target.parent.mkdir(parents=True, exist_ok=True)
            if change.old is not None:
                backups.append(_back_up(target))
            with replacing(target) as unfinished:
                unfinished.write_text(change.new, encoding="utf-8", newline="\n")
                if change.old is not None:
                    shutil.copymode(target, unfinished)
        except OSError as error:
            raise ConfigError(f"cannot write {shown_path(change.path)}: {error.strerror or error}") from error
    return backups


def _back_up(path: Path) -> Path:
    """Copy a file beside itself, over no other file; return the copy."""
    number, copy = 1, path.with_name(f"{path.name}.backup")
    while copy.exists():
        number += 1
        copy = path.with_name(f"{path.name}.backup{number}")
    shutil.copy2(path, copy)
    return copy
