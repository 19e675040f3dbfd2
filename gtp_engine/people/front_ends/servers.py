"""The servers whose clients run a bot and get a file: OGS, KGS, CGOS."""

import json
import re
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from gtp_engine.people.front_ends.front_end import (
    Change,
    EngineCommand,
    FrontEnd,
    Locations,
    escaped,
    no_place,
    read_settings,
)


class ServerClient(FrontEnd):
    """A client of a server: `file` is its configuration, in which the engine's command stands.

    In `steps`, {warmup} stands for the command that compiles the engine, {file} for the configuration.
    """

    file: str

    @abstractmethod
    def merged(self, old: str, command: EngineCommand, path: Path) -> str:
        """Return the text of a configuration with our command, and all else as it was; raises ConfigError."""

    def change(self, command: EngineCommand, place: Locations) -> Change:
        """Return the file to write; of one that exists and is not empty, only the engine's command changes."""
        path = place.file_named(self.file)
        old = read_settings(path)
        new = self.merged(old, command, path) if old and not old.isspace() else f"{self.printed(command)}\n"
        return Change(path, old, new)

    def next_steps(self, command: EngineCommand, place: Locations) -> str:
        """Return how to start the bot."""
        return self.steps.format(warmup=command.warmup_line(), file=place.file_named(self.file))


_JSON5_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[][{}:,]|[^][{}:,\s"'/]+""", re.DOTALL
)
"""JSON5: comments, texts, punctuation, and numbers or names without quotes."""


class Ogs(ServerClient):
    """The server online-go.com, through gtp2ogs.

    A configuration of gtp2ogs 9.

    Source: online-go/gtp2ogs 9.0.1, src/config.ts and example_config.json5.
    """

    title = "OGS (gtp2ogs 9)"
    file = "gtp2ogs.json5"
    steps = (
        "Enter the bot's key as apikey, compile the engine (once: {warmup}), install gtp2ogs (npm install -g gtp2ogs) "
        "and start it: gtp2ogs -c {file}"
    )
    engine_options: Mapping[str, str] = {"game.rules": "chinese-ogs", "gtp.ogs_chat": "true"}

    def printed(self, command: EngineCommand) -> str:
        """Return the configuration."""
        return f"""\
{{
    // The key of the bot, from its profile on the server, seen when logged in as its operator.
    apikey: "FILL ME IN",

    bot: {{
        command: {_json_list(command)},
        // One process plays all games in turn; "persistent" starts one for each game.
        manager: "pool",
        instances: 1,
    }},

    // gtp2ogs does not tell the engine the rules: accept games under those in the command.
    allowed_board_sizes: [9, 13, 19],
    allowed_time_control_systems: ["fischer", "byoyomi", "simple"],
}}"""

    def merged(self, old: str, command: EngineCommand, path: Path) -> str:
        """Return the text with our command as the list bot.command."""
        keys, key, start = [], "", 0
        for token in _JSON5_TOKEN.finditer(old):
            text = token[0]
            if text in ("{", "["):
                keys.append(key)
                if keys == ["", "bot", "command"]:
                    start = token.start()
                key = ""
            elif text in ("}", "]"):
                if keys == ["", "bot", "command"]:
                    return f"{old[:start]}{_json_list(command)}{old[token.end() :]}"
                key = ""
                del keys[-1:]
            elif text == ",":
                key = ""
            elif text != ":" and not text.startswith(("//", "/*")):
                key = text.strip("\"'")
        raise no_place(path, "no list bot.command")


def _json_list(command: EngineCommand) -> str:
    """Return the list of the command's words."""
    words = ",\n            ".join(json.dumps(word, ensure_ascii=False) for word in command.words)
    return f"[\n            {words}\n        ]"


_KGS_ENGINE = re.compile(
    r"""^[ \t\f]*engine(?:[ \t\f]*[=:]|[ \t\f])[ \t\f]*(?P<value>(?:\\(?:\r\n|.)|[^\\\r\n])*)""",
    re.MULTILINE | re.DOTALL,
)
"""The engine's command; a backslash at the end of a line continues it."""


class Kgs(ServerClient):
    """The server KGS, through kgsGtp.

    Properties of kgsGtp.

    Source: the usage text of kgsGtp 3.5 (names, passwords, modes, rules, times), and Java's format of properties.
    Tried with kgsGtp 3.5.11: it splits the engine's command at blanks and knows neither quotes nor escapes.
    """

    title = "KGS (kgsGtp)"
    file = "kgs.properties"
    steps = (
        "Enter name and password of the bot, compile the engine (once: {warmup}), and start kgsGtp: java -jar "
        "kgsGtp.jar {file}"
    )

    def printed(self, command: EngineCommand) -> str:
        """Return the properties; raises ConfigError for a blank in the command."""
        return f"""\
# The bot's account; ask the administrators of KGS to mark it as a robot.
name=FILL ME IN
password=FILL ME IN
room=Computer Go

engine={_kgs_value(command)}

# Open a game for any opponent; auto pairs by rank, both does either.
mode=custom
rules=chinese
rules.boardSize=19
rules.time=10:00+5x0:20

reconnect=true
undo=false
gameNotes=Tengen
talk=I am the Go engine Tengen."""

    def merged(self, old: str, command: EngineCommand, path: Path) -> str:
        """Return the text with our command as the last engine, which counts."""
        found = list(_KGS_ENGINE.finditer(old))
        if not found:
            return f"{old.rstrip()}\n\nengine={_kgs_value(command)}\n"
        start, end = found[-1].span("value")
        return f"{old[:start]}{_kgs_value(command)}{old[end:]}"


def _kgs_value(command: EngineCommand) -> str:
    return escaped(command.plain_line("kgsGtp"))


_CGOS_SECTION = "GTPEngine"
_CGOS_KEY = "CommandLine"


class Cgos(ServerClient):
    """The Computer Go Server, through its Python client.

    A configuration of the Python client.

    Source: zakki/cgos, client-python/simple.cfg, src/config.py (sections and mandatory names), src/gtpengine.py (the
    command is split at blanks, except on Windows).
    """

    title = "CGOS"
    file = "cgos.cfg"
    steps = (
        "Enter a name and a password, compile the engine (once: {warmup}), and start the client of CGOS: python3 "
        "cgosclient.py {file}"
    )
    engine_options: Mapping[str, str] = {"game.rules": "cgos"}

    def printed(self, command: EngineCommand) -> str:
        """Return the configuration; raises ConfigError for a blank in the command."""
        return f"""\
Common:
  # Create this file to stop after the current game.
  KillFile = kill.txt

GTPEngine:
  CommandLine = {_cgos_line(command)}

  # Games on 9x9 are on port 6867, on 19x19 on 6819.
  ServerHost = yss-aya.com
  ServerPort = 6867
  # Letters and digits; the first use of a name sets its password.
  ServerUser = FILL_ME_IN
  ServerPassword = FILL_ME_IN

  NumberOfGames = 1000"""

    def merged(self, old: str, command: EngineCommand, path: Path) -> str:
        """Return the text with our command: for that of the only engine, or the only one with the same program."""
        lines = old.splitlines(keepends=True)
        places, section = [], ""
        for number, line in enumerate(map(str.strip, lines)):
            if line.endswith(":") and not line.startswith("#"):
                section = line[:-1]
            elif section == _CGOS_SECTION and line.partition("=")[0].strip() == _CGOS_KEY:
                places.append(number)
        places = [number for number in places if command.program in lines[number]] or places
        if len(places) != 1:
            raise no_place(path, f"{len(places)} lines {_CGOS_KEY} in sections {_CGOS_SECTION}")
        (place,) = places
        key, line = lines[place].partition("=")[0], lines[place]
        lines[place] = f"{key}= {_cgos_line(command)}{line[len(line.rstrip()) :]}"
        return "".join(lines)


def _cgos_line(command: EngineCommand) -> str:
    return command.shell_line() if command.platform == "win32" else command.plain_line("The client of CGOS")
