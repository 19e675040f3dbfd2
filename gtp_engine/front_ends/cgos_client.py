"""CGOS: a configuration of the Python client.

Source: zakki/cgos, client-python/simple.cfg, src/config.py (sections and mandatory names), src/gtpengine.py (the
command is split at blanks, except on Windows).
"""

from collections.abc import Mapping

from gtp_engine.front_ends.changes import Change, whole_file
from gtp_engine.front_ends.engine_command import EngineCommand
from gtp_engine.front_ends.front_end import Place

_FILE = "cgos.cfg"


class Cgos:
    """The Computer Go Server, through its Python client."""

    title = "CGOS"
    engine_options: Mapping[str, str] = {"game.rules": "cgos"}

    def printed(self, command: EngineCommand) -> str:
        """Return the configuration; raises ConfigError for a blank in the command."""
        line = command.shell_line() if command.platform == "win32" else command.plain_line("The client of CGOS")
        return f"""\
Common:
  # Create this file to stop after the current game.
  KillFile = kill.txt

GTPEngine:
  CommandLine = {line}

  # Games on 9x9 are on port 6867, on 19x19 on 6819.
  ServerHost = yss-aya.com
  ServerPort = 6867
  # Letters and digits; the first use of a name sets its password.
  ServerUser = FILL_ME_IN
  ServerPassword = FILL_ME_IN

  NumberOfGames = 1000"""

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the file to write."""
        return [whole_file(place.file_named(_FILE), self.printed(command))]

    def next_steps(self, place: Place) -> str:
        """Return how to start the bot."""
        return (
            "Enter a name and a password, run gtp-engine warmup once, and start the client of CGOS: "
            f"python3 cgosclient.py {place.file_named(_FILE)}"
        )
