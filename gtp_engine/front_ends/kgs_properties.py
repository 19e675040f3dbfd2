"""KGS: properties of kgsGtp.

Source: the usage text of kgsGtp 3.5 (names, passwords, modes, rules, times), and Java's format of properties.  Tried
with kgsGtp 3.5.11: it splits the engine's command at blanks and knows neither quotes nor escapes.
"""

from collections.abc import Mapping

from gtp_engine.front_ends.changes import Change, whole_file
from gtp_engine.front_ends.engine_command import EngineCommand
from gtp_engine.front_ends.front_end import Place
from gtp_engine.front_ends.java_properties import escaped

_FILE = "kgs.properties"


class Kgs:
    """The server KGS, through kgsGtp."""

    title = "KGS (kgsGtp)"
    engine_options: Mapping[str, str] = {}

    def printed(self, command: EngineCommand) -> str:
        """Return the properties; raises ConfigError for a blank in the command."""
        line = escaped(command.plain_line("kgsGtp"))
        return f"""\
# The bot's account; ask the administrators of KGS to mark it as a robot.
name=FILL ME IN
password=FILL ME IN
room=Computer Go

engine={line}

# Open a game for any opponent; auto pairs by rank, both does either.
mode=custom
rules=chinese
rules.boardSize=19
rules.time=10:00+5x0:20

reconnect=true
undo=false
gameNotes=Tengen
talk=I am the Go engine Tengen."""

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the file to write."""
        return [whole_file(place.file_named(_FILE), self.printed(command))]

    def next_steps(self, place: Place) -> str:
        """Return how to start the bot."""
        return (
            "Enter name and password of the bot, run gtp-engine warmup once, and start kgsGtp: "
            f"java -jar kgsGtp.jar {place.file_named(_FILE)}"
        )
