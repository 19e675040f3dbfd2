"""What is common to all programs and servers that start the engine.

A `FrontEnd` says what is to be entered in a program, or which file to write.  Here are also the command line that
starts this engine, quoted as each program reads it, and the file to change: its difference, its backup, writing.
"""

import difflib
import filecmp
import json
import re
import shutil
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gtp_engine.base.errors import ConfigError, shown, shown_path
from gtp_engine.base.files import MAX_TEXT_BYTES, PRIVATE_FILE, copy_whole, read_regular, replacing, writing
from gtp_engine.base.worker_process import join_command

NAME = "gtp-engine"
"""The command that an installation creates."""


@dataclass(frozen=True)
class EngineCommand:
    """A program with its path, its arguments, and the name under which front ends list it."""

    program: str
    arguments: tuple[str, ...] = ()
    label: str = "Tengen"
    platform: str = sys.platform

    @property
    def words(self) -> tuple[str, ...]:
        """Program and arguments."""
        return (self.program, *self.arguments)

    def shell_line(self, *first: str) -> str:
        """Return the line for a shell, /bin/sh, or cmd on Windows; `first` stand before the other arguments."""
        return join_command((self.program, *first, *self.arguments), self.platform)

    def plain_line(self, reader: str) -> str:
        """Return the line for `reader`, which splits at blanks and knows no quotes; raises ConfigError for blanks."""
        for word in self.words:
            if not word or any(character.isspace() or character in "\"'" for character in word):
                advice = "install the engine, and put the network, where no folder has a space or a quote in its name"
                raise ConfigError(f"{reader} cannot pass on {shown(word)}", advice=advice)
        return " ".join(self.words)


def quoted(words: tuple[str, ...]) -> str:
    """Return words on one line, those with blanks in double quotes; raises ConfigError for a double quote in a word."""
    for word in words:
        if '"' in word:
            raise ConfigError(f"argument {shown(word)}", expected="no double quote")
    return " ".join(f'"{word}"' if not word or any(map(str.isspace, word)) else word for word in words)


def engine_program() -> str:
    """Return the full path of this installation's command; raises ConfigError if there is none."""
    beside = Path(sys.executable).parent
    for folder in (str(beside), str(beside / "Scripts"), None):  # the last stands for PATH
        if found := shutil.which(NAME, path=folder):
            return str(Path(found).absolute())
    advice = f"install the engine (python -m pip install .), or name it with --command /path/to/{NAME}"
    raise ConfigError(f"no command {NAME} is installed beside {sys.executable}", advice=advice)


_SECRET: Final = re.compile(r"(\w*(?:password|apikey|token)\w*[\"']?(?:\s*[=:]\s*|\s+))\S.*", re.IGNORECASE)
"""A name and its value in properties (a blank may separate them), in JSON, and on command lines."""


@dataclass(frozen=True)
class Change:
    """A file with its text before (None: there is none) and after."""

    path: Path
    old: str | None
    new: str


def read_settings(path: Path) -> str | None:
    """Return the text of a file, None if there is none; raises ConfigError for anything but a readable text file."""
    try:
        return read_regular(path, MAX_TEXT_BYTES).decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise ConfigError(f"settings {shown_path(path)}: byte {error.start}", expected="UTF-8 text") from error
    except OSError as error:
        raise ConfigError(f"cannot read {shown_path(path)}: {error.strerror or error}") from error


def no_place(path: Path, has: str) -> ConfigError:
    """Return the error of a file without one place for our command; `has` is what it has instead."""
    advice = "enter by hand what --print shows, or have another file written: --file FILE"
    return ConfigError(f"{shown_path(path)} has {has}", expected="one engine's command", advice=advice)


def difference(change: Change) -> str:
    """Return what changes, as diff prints it; passwords and keys in a file that exists are left out."""
    before, after = "new file" if change.old is None else str(change.path), str(change.path)
    old = (change.old or "").splitlines()
    lines = difflib.unified_diff(old, change.new.splitlines(), before, after, lineterm="")
    return "\n".join(lines if change.old is None else (_SECRET.sub(r"\1…", line) for line in lines))


def apply(change: Change) -> Path | None:
    """Write the new text, whole or not at all, and return the backup of an older file; raises ConfigError."""
    with writing(change.path, ConfigError, advice=""):
        target = change.path.resolve()  # the file itself, where its name is a link
        target.parent.mkdir(parents=True, exist_ok=True)
        backup = None if change.old is None else _back_up(target)
        with replacing(target) as unfinished:
            if change.old is None and _SECRET.search(change.new):  # the user enters a key or a password there
                unfinished.touch(mode=PRIVATE_FILE)
            unfinished.write_text(change.new, encoding="utf-8", newline="\n")
            if change.old is not None:
                shutil.copymode(target, unfinished)
    return backup


def _back_up(path: Path) -> Path:
    """Copy a file beside itself, over no other file; return the copy, which may be there already."""
    number, copy = 1, path.with_name(f"{path.name}.backup")
    while copy.exists() and not filecmp.cmp(path, copy, shallow=False):
        number += 1
        copy = path.with_name(f"{path.name}.backup{number}")
    if not copy.exists():
        copy_whole(path, copy)
    return copy


def in_full(path: str) -> Path:
    """Return a path in which ~/ stands for the home directory; raises ConfigError if there is none."""
    if not path.startswith("~/"):
        return Path(path)
    try:
        return Path.home() / path[2:]
    except RuntimeError:
        raise ConfigError("there is no home directory", advice="name the settings to change: --file FILE") from None


class FrontEnd(ABC):
    """A program or a server's client.

    `title` is its name, `entry` what is entered in it, or the text of its `file`, where {line} stands for the engine's
    command.  `file` is the one to write unless the user names another (see `in_full`).  `steps` is what the user has to
    do afterwards, where {warmup} stands for the command that compiles the engine, {file} for the file.
    `engine_options` are options by full name that it needs, unless the user gives others, `unused_options` those, or
    whole sections, that change nothing in it, and what to do instead.
    """

    title: str
    file: str
    entry: str
    steps: str
    engine_options: Mapping[str, str] = {}
    unused_options: Mapping[str, str] = {}

    def line(self, command: EngineCommand) -> str:
        """Return the engine's command as the program reads it; raises ConfigError for one that it cannot start."""
        return quoted(command.words)

    def usual_file(self) -> Path:
        """Return `file` in full; raises ConfigError where there is none."""
        return in_full(self.file)

    @abstractmethod
    def merged(self, old: str | None, command: EngineCommand, path: Path) -> str:
        """Return the text of that file with our command, and all else as it was; raises ConfigError if it cannot be."""

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter in the program, or its file; raises ConfigError for a command it cannot start."""
        return self.entry.format(command=command, line=self.line(command))

    def change(self, command: EngineCommand, path: Path) -> Change:
        """Return the file to write; raises ConfigError for one that cannot be merged."""
        old = read_settings(path)
        return Change(path, old, self.merged(old, command, path))

    def next_steps(self, command: EngineCommand, path: Path) -> str:
        """Return `steps` for this command and file."""
        return self.steps.format(warmup=command.shell_line("warmup"), file=path)


def escaped(text: str) -> str:
    """Return a value: backslashes are doubled, and characters outside ASCII become their numbers, as in JSON."""
    return json.dumps(text)[1:-1]
