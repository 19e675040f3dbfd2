"""What a module about a program has to say."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from gtp_engine.errors import ConfigError, problem
from gtp_engine.front_ends.changes import Change
from gtp_engine.front_ends.engine_command import EngineCommand


def _find_home() -> Path | None:
    """Return the home directory, None for a user without one, such as some containers have."""
    try:
        return Path.home()
    except RuntimeError:
        return None


@dataclass(frozen=True)
class Place:
    """This machine, as far as it decides where programs keep their settings; `file` is the one that the user names.

    `home` is None where there is no home directory.
    """

    platform: str = sys.platform
    home: Path | None = field(default_factory=_find_home)
    current: Path = field(default_factory=Path.cwd)
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    file: Path | None = None

    @property
    def application_data(self) -> Path:
        """The folder in which programs made with Electron have theirs."""
        if self.platform == "win32":
            return Path(self.variables.get("APPDATA") or self.in_home("AppData", "Roaming"))
        if self.platform == "darwin":
            return self.in_home("Library", "Application Support")
        return Path(self.variables.get("XDG_CONFIG_HOME") or self.in_home(".config"))

    def in_home(self, *names: str) -> Path:
        """Return a path in the home directory; raises ConfigError if there is none."""
        if self.home is None:
            raise ConfigError(problem("there is no home directory", advice="name the settings to change: --file FILE"))
        return self.home.joinpath(*names)

    def file_named(self, name: str) -> Path:
        """Return the file that the user names, else one of this name in the current folder."""
        return self.file or self.current / name


class FrontEnd(Protocol):
    """A program or a server's client.

    `title` is its name; `engine_options` are options by full name that it needs, unless the user gives others.
    `unused_options` are options by full name, or whole sections, that change nothing in it, and what to do instead.
    """

    @property
    def title(self) -> str:
        """The program's name."""
        ...

    @property
    def engine_options(self) -> Mapping[str, str]:
        """Options of the engine that this program needs."""
        ...

    @property
    def unused_options(self) -> Mapping[str, str]:
        """Advice for options and sections that change nothing in this program."""
        ...

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter in the program, or its file; raises ConfigError for a command it cannot start."""
        ...

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the files to write; raises ConfigError for files that cannot be merged, and where there is none."""
        ...

    def next_steps(self, place: Place) -> str:
        """Return what the user has to do afterwards."""
        ...
