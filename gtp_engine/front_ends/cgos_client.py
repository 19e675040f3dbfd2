"""CGOS: a configuration of the Python client.

Source: zakki/cgos, client-python/simple.cfg, src/config.py (sections and mandatory names), src/gtpengine.py (the
command is split at blanks, except on Windows).
"""

from collections.abc import Mapping
from pathlib import Path

from gtp_engine.front_ends.changes import Change, file_with_command, no_place
from gtp_engine.front_ends.engine_command import EngineCommand
from gtp_engine.front_ends.front_end import Place

_FILE = "cgos.cfg"
_SECTION = "GTPEngine"
_KEY = "CommandLine"


class Cgos:
    """The Computer Go Server, through its Python client."""

    title = "CGOS"
    engine_options: Mapping[str, str] = {"game.rules": "cgos"}
    unused_options: Mapping[str, str] = {}

    def printed(self, command: EngineCommand) -> str:
        """Return the configuration; raises ConfigError for a blank in the command."""
        return f"""\
Common:
  # Create this file to stop after the current game.
  KillFile = kill.txt

GTPEngine:
  CommandLine = {_line(command)}

  # Games on 9x9 are on port 6867, on 19x19 on 6819.
  ServerHost = yss-aya.com
  ServerPort = 6867
  # Letters and digits; the first use of a name sets its password.
  ServerUser = FILL_ME_IN
  ServerPassword = FILL_ME_IN

  NumberOfGames = 1000"""

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the file to write; of one that exists, only the engine's command changes."""
        path = place.file_named(_FILE)
        return [file_with_command(path, self.printed(command), lambda old: _with_command(old, command, path))]

    def next_steps(self, place: Place) -> str:
        """Return how to start the bot."""
        return (
            "Enter a name and a password, run gtp-engine warmup once, and start the client of CGOS: "
            f"python3 cgosclient.py {place.file_named(_FILE)}"
        )


def _line(command: EngineCommand) -> str:
    return command.shell_line() if command.platform == "win32" else command.plain_line("The client of CGOS")


def _with_command(old: str, command: EngineCommand, path: Path) -> str:
    """Return the text with our command: for that of the only engine, or the only one with the same program."""
    lines = old.splitlines(keepends=True)
    places, section = [], ""
    for number, line in enumerate(map(str.strip, lines)):
        if line.endswith(":") and not line.startswith("#"):
            section = line[:-1]
        elif section == _SECTION and line.partition("=")[0].strip() == _KEY:
            places.append(number)
    places = [number for number in places if command.program in lines[number]] or places
    if len(places) != 1:
        raise no_place(path, f"{len(places)} lines {_KEY} in sections {_SECTION}")
    (place,) = places
    key, line = lines[place].partition("=")[0], lines[place]
    lines[place] = f"{key}= {_line(command)}{line[len(line.rstrip()) :]}"
    return "".join(lines)
