"""KGS: properties of kgsGtp.

Source: the usage text of kgsGtp 3.5 (names, passwords, modes, rules, times), and Java's format of properties.  Tried
with kgsGtp 3.5.11: it splits the engine's command at blanks and knows neither quotes nor escapes.
"""

import re
from collections.abc import Mapping

from gtp_engine.front_ends.changes import Change, file_with_command
from gtp_engine.front_ends.engine_command import EngineCommand
from gtp_engine.front_ends.front_end import Place
from gtp_engine.front_ends.java_properties import escaped

_FILE = "kgs.properties"
_ENGINE = re.compile(
    r"""^[ \t\f]*engine(?:[ \t\f]*[=:]|[ \t\f])[ \t\f]*(?P<value>(?:\\(?:\r\n|.)|[^\\\r\n])*)""",
    re.MULTILINE | re.DOTALL,
)
"""The engine's command; a backslash at the end of a line continues it."""


class Kgs:
    """The server KGS, through kgsGtp."""

    title = "KGS (kgsGtp)"
    engine_options: Mapping[str, str] = {}
    unused_options: Mapping[str, str] = {}

    def printed(self, command: EngineCommand) -> str:
        """Return the properties; raises ConfigError for a blank in the command."""
        return f"""\
# The bot's account; ask the administrators of KGS to mark it as a robot.
name=FILL ME IN
password=FILL ME IN
room=Computer Go

engine={_value(command)}

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
        """Return the file to write; of one that exists, only the engine's command changes."""

        def merged(old: str) -> str:
            found = list(_ENGINE.finditer(old))
            if not found:
                return f"{old.rstrip()}\n\nengine={_value(command)}\n"
            start, end = found[-1].span("value")  # the last one counts
            return f"{old[:start]}{_value(command)}{old[end:]}"

        return [file_with_command(place.file_named(_FILE), self.printed(command), merged)]

    def next_steps(self, place: Place) -> str:
        """Return how to start the bot."""
        return (
            "Enter name and password of the bot, run gtp-engine warmup once, and start kgsGtp: "
            f"java -jar kgsGtp.jar {place.file_named(_FILE)}"
        )


def _value(command: EngineCommand) -> str:
    return escaped(command.plain_line("kgsGtp"))
