"""The command line that starts this engine, quoted as each program reads it."""

import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from gtp_engine.errors import ConfigError, problem, shown

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

    def shell_line(self) -> str:
        """Return the line for a shell: /bin/sh, or cmd on Windows."""
        return subprocess.list2cmdline(self.words) if self.platform == "win32" else shlex.join(self.words)

    def quoted_line(self) -> str:
        """Return the line for programs that only know double quotes around words with blanks."""
        return quoted(self.words)

    def plain_line(self, reader: str) -> str:
        """Return the line for `reader`, which splits at blanks and knows no quotes; raises ConfigError for blanks."""
        for word in self.words:
            if not word or any(character.isspace() or character in "\"'" for character in word):
                advice = "install the engine, and put the network, where no folder has a blank or a quote in its name"
                raise ConfigError(problem(f"{reader} cannot pass on {shown(word)}", advice=advice))
        return " ".join(self.words)


def quoted(words: tuple[str, ...]) -> str:
    """Return words on one line, those with blanks in double quotes; raises ConfigError for a double quote in a word."""
    for word in words:
        if '"' in word:
            raise ConfigError(problem(f"argument {shown(word)}", expected="no double quote"))
    return " ".join(f'"{word}"' if not word or any(map(str.isspace, word)) else word for word in words)


def engine_program() -> str:
    """Return the full path of this installation's command; raises ConfigError if there is none."""
    beside = Path(sys.executable).parent
    for folder in (beside, beside / "Scripts"):
        if found := shutil.which(NAME, path=str(folder)):
            return str(Path(found).absolute())
    if found := shutil.which(NAME):
        return str(Path(found).absolute())
    advice = f"install the engine (python -m pip install .), or name it with --command /path/to/{NAME}"
    raise ConfigError(problem(f"no command {NAME} is installed beside {sys.executable}", advice=advice))
