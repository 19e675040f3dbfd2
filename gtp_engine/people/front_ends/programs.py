"""The programs whose settings get an entry, Sabaki, GoGui, KaTrain and Lizzie, and the clients of OGS, KGS and CGOS.

Most settings are JSON, of which everything that is not ours is kept.  The clients run a bot and get a file.
"""

import json
import os
import re
import shutil
import sys
from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gtp_engine.base.errors import ConfigError, shown, shown_path
from gtp_engine.people.front_ends.front_end import EngineCommand, FrontEnd, escaped, in_full, no_place, quoted

_KINDS: dict[type[Any], str] = {dict: "an object", list: "a list", str: "a text"}


class JsonProgram(FrontEnd):
    """A program whose settings are a JSON object with `indent`, which has the keys `needed`, or else `advice` follows.

    Raises ConfigError for settings that are anything else, or have a key twice, of which one would get lost.
    """

    indent: int
    needed: tuple[str, ...] = ()
    advice: str = ""

    @abstractmethod
    def changed(self, settings: dict[str, Any], command: EngineCommand, path: Path) -> dict[str, Any]:
        """Return the values of `settings` that change."""

    def merged(self, old: str | None, command: EngineCommand, path: Path) -> str:
        """Return the settings with our command."""
        try:
            found = {} if old is None else json.loads(old, object_pairs_hook=_without_repetition)
        except (ValueError, RecursionError) as error:
            advice = "start the program once and close it, or move the file away"
            raise ConfigError(f"{shown_path(path)} is not JSON ({error})", advice=advice) from error
        settings = checked(found, dict, path, "the file")
        if not settings.keys() >= set(self.needed):
            raise ConfigError(f"{shown_path(path)} does not hold {self.title}'s settings", advice=self.advice)
        new = {**settings, **self.changed(settings, command, path)}
        return json.dumps(new, indent=self.indent, ensure_ascii=False) + "\n"


def checked(value: Any, kind: type[Any], path: Path, what: str) -> Any:
    """Return a value of a settings file if it is of this kind; raises ConfigError."""
    if not isinstance(value, kind):
        raise ConfigError(f"{shown_path(path)}: {what}", expected=_KINDS[kind], advice="nothing was changed")
    return value


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


_SABAKI_ENGINES = "engines.list"


class Sabaki(JsonProgram):
    """The graphical program Sabaki.

    An entry of `engines.list` in settings.json.

    Source: SabakiHQ/Sabaki, src/setting.js (the file, in Electron's folder; keys that are missing get defaults),
    src/components/drawers/PreferencesDrawer.js (an entry has name, path, args, commands), src/modules/enginesyncer.js
    (args are split by argv-split, which reads double quotes).
    """

    title = "Sabaki"
    entry = "Name:      {command.label}\nPath:      {command.program}\nArguments: {line}"
    steps = (
        "Start it, choose Engines, Show Engines Sidebar, press the play button there and choose the engine; a right "
        "click on it sets it as a player."
    )
    indent = 2

    def line(self, command: EngineCommand) -> str:
        """Return the arguments; the program has a place of its own."""
        return quoted(command.arguments)

    def usual_file(self) -> Path:
        """Return the settings of an installed Sabaki that has been started."""
        path = in_full(f"{_electron_folder()}/Sabaki/settings.json")
        if not path.parent.is_dir():
            advice = (
                "start Sabaki once and close it; a portable build and Flatpak keep their settings elsewhere: name the "
                "file with --file FILE, or enter by hand what --print shows"
            )
            raise ConfigError(f"Sabaki has no folder {shown_path(path.parent)}", advice=advice)
        return path

    def changed(self, settings: dict[str, Any], command: EngineCommand, path: Path) -> dict[str, Any]:
        """Return the engines with ours first, or in place of an older entry of its name."""
        entries = checked(settings.get(_SABAKI_ENGINES, []), list, path, _SABAKI_ENGINES)
        engines = [checked(each, dict, path, f"an entry of {_SABAKI_ENGINES}") for each in entries]
        entry = {"name": command.label, "path": command.program, "args": self.line(command)}
        same = [number for number, each in enumerate(engines) if each.get("name") == command.label]
        if same:
            engines[same[0]] = {**engines[same[0]], **entry}
        else:
            engines.insert(0, {**entry, "commands": ""})
        return {_SABAKI_ENGINES: engines}


def _electron_folder() -> str:
    """Return the folder in which programs made with Electron have theirs, as `in_full` reads it."""
    if sys.platform == "win32":
        return os.environ.get("APPDATA") or "~/AppData/Roaming"
    if sys.platform == "darwin":
        return "~/Library/Application Support"
    return os.environ.get("XDG_CONFIG_HOME") or "~/.config"


_GOGUI_PREFIX = "net.sf.gogui.gui.program."
_GOGUI_ENTRY = re.compile(rf"{re.escape(_GOGUI_PREFIX)}(?P<key>[^=:\s]+)\s*[=:]?\s*(?P<value>.*)")
_MOST_PROGRAMS = 1000
"""Programs that are looked through; more are a damaged file."""


class GoGui(FrontEnd):
    """The graphical program GoGui.

    An entry of its programs, in the file .gogui-prefs of the home folder, which holds Java properties.

    Source: Remi-Coulom/gogui (GoGui 1.6), src/net/sf/gogui/gui/Program.java (keys size, and for each program by its
    number label, name, version, command, working-directory), net/infotrek/util/prefs/FilePreferences.java (the file),
    util/StringUtil.java (double quotes in a command).  Older versions keep their programs in Java's preferences.
    """

    title = "GoGui"
    file = "~/.gogui-prefs"
    entry = "Command: {line}"
    steps = "Start it and choose the engine under Program, Attach. Before version 1.6 use --print and New Program."

    def merged(self, old: str | None, command: EngineCommand, path: Path) -> str:
        """Return the file with our program at the end of the list, or in place of an older one of its name."""
        lines = (old or "").splitlines()
        found = {match["key"]: match["value"] for match in map(_GOGUI_ENTRY.fullmatch, lines) if match}
        size = found.get("size", "0")
        if not size.isdecimal() or int(size) > _MOST_PROGRAMS:
            given = f"{shown_path(path)}: {_GOGUI_PREFIX}size = {shown(size)}"
            raise ConfigError(given, expected=f"a number up to {_MOST_PROGRAMS}")
        label = escaped(command.label)
        number = next((n for n in range(int(size)) if found.get(f"{n}.label") == label), int(size))
        entry = {"label": label, "name": "Tengen", "command": escaped(self.line(command))}
        entry |= {key: found.get(f"{number}.{key}", "") for key in ("version", "working-directory")}
        values = {"size": str(max(int(size), number + 1)), **{f"{number}.{key}": entry[key] for key in sorted(entry)}}
        kept = [line for line in lines if not ((match := _GOGUI_ENTRY.fullmatch(line)) and match["key"] in values)]
        return "\n".join([*kept, *(f"{_GOGUI_PREFIX}{key}={value}" for key, value in values.items())]) + "\n"


_KATRAIN_PLAY = "KaTrain's AI settings choose how the engine plays"
_KATRAIN_LIMITS = "KaTrain's engine settings limit visits and time"


class KaTrain(JsonProgram):
    """The teaching program KaTrain, which uses the analysis protocol.

    The engine section of ~/.katrain/config.json.

    Source: KaTrain 1.20, katrain/core/base_katrain.py (the file, which KaTrain itself creates, and replaces if it has
    no version), katrain/core/engine.py (`altcommand` is passed to a shell; `backend` "custom" selects it),
    katrain/gui/popups.py (the settings dialogue fills in the tab Local engine only, but saves the tab that is open:  an
    empty command, where Custom command is open).
    """

    title = "KaTrain"
    file = "~/.katrain/config.json"
    entry = "Override Engine Command: {line}"
    steps = (
        "Start it and analyse. KaTrain 1.20 forgets the command at Update Settings (General & Engine Settings), as its "
        "tab Custom command does not show it: enter there what gtp-engine setup katrain --print shows, or run "
        "gtp-engine setup katrain again. The tab Local engine leads back to KataGo."
    )
    unused_options: Mapping[str, str] = {
        "play": _KATRAIN_PLAY,
        "time": _KATRAIN_LIMITS,
        "search.visits": _KATRAIN_LIMITS,
    }
    indent = 4
    needed = ("general", "engine")
    advice = "start KaTrain once, so that it creates its settings, close it, and try again"

    def line(self, command: EngineCommand) -> str:
        """Return the line of the analysis engine; exec, so that closing KaTrain ends the engine, not a shell."""
        line = command.shell_line("analysis")
        return line if command.platform == "win32" else f"exec {line}"

    def changed(self, settings: dict[str, Any], command: EngineCommand, path: Path) -> dict[str, Any]:
        """Return the engine's settings with our command as the custom engine."""
        engine = checked(settings["engine"], dict, path, "engine")
        return {"engine": {**engine, "backend": "custom", "altcommand": self.line(command)}}


_LIZZIE_FIRST = "engine-command"
_LIZZIE_LIST = "engine-command-list"
_MOST_ENGINES = 9
"""Engines that the dialogue has fields for."""


class Lizzie(JsonProgram):
    """The analysis program Lizzie.

    An entry of `engine-command-list` in config.txt, which lies in Lizzie's folder, or its first engine.

    Source: featurecat/lizzie, Config.java (the file, in the current folder), analysis/EngineManager.java (the list,
    after the first engine, `engine-command`, without which Lizzie does not start), gui/ConfigDialog.java (nine fields),
    analysis/Leelaz.java (quotes in a command).
    """

    title = "Lizzie"
    file = "config.txt"
    entry = "Engine command: {line}"
    steps = "Start it. If the engine is not the first, choose it in the menu Engine, which shows only numbers."
    indent = 2
    needed = ("leelaz",)
    advice = "start Lizzie once, close it, and name the file: --file /path/to/lizzie/config.txt"

    def changed(self, settings: dict[str, Any], command: EngineCommand, path: Path) -> dict[str, Any]:
        """Return the section of engines with our command.

        It is the first engine if it was before, or if the first one is missing, as in a new Lizzie; else it joins the
        list of further engines, in place of an older line of ours.
        """
        section = checked(settings["leelaz"], dict, path, "leelaz")
        first = checked(section.get(_LIZZIE_FIRST, ""), str, path, _LIZZIE_FIRST)
        lines = [
            checked(line, str, path, f"an entry of {_LIZZIE_LIST}")
            for line in checked(section.get(_LIZZIE_LIST, []), list, path, _LIZZIE_LIST)
        ]
        if command.program in first or not _can_start(first, path.parent):
            return {"leelaz": {**section, _LIZZIE_FIRST: self.line(command)}}
        # For an older line with the same program, in an empty place, or at the end.
        places = [number for number, line in enumerate(lines) if command.program in line]
        places += [number for number, line in enumerate(lines) if not line.strip()]
        places += [len(lines)] if len(lines) < _MOST_ENGINES else []
        if not places:
            raise ConfigError(f"{shown_path(path)} has {_MOST_ENGINES} engines", advice="remove one of them in Lizzie")
        lines[places[0] : places[0] + 1] = [self.line(command)]
        return {"leelaz": {**section, _LIZZIE_LIST: lines}}


def _can_start(line: str, folder: Path) -> bool:
    """Return whether the program of a command line exists, for Lizzie that runs in this folder."""
    match = re.match(r'\s*(?:"(?P<quoted>[^"]+)"|(?P<plain>\S+))', line)
    if match is None:
        return False
    program = match["quoted"] or match["plain"]
    beside = (folder / program, folder / f"{program}.exe")
    return any(path.is_file() for path in beside) or shutil.which(program) is not None


class ServerClient(FrontEnd):
    """A client of a server: `file` is its configuration, in which the engine's command stands."""

    @abstractmethod
    def with_command(self, old: str, command: EngineCommand, path: Path) -> str:
        """Return the text of a configuration with our command, and all else as it was; raises ConfigError."""

    def merged(self, old: str | None, command: EngineCommand, path: Path) -> str:
        """Return the configuration; of one that exists and is not empty, only the engine's command changes."""
        return self.with_command(old, command, path) if old and not old.isspace() else f"{self.printed(command)}\n"


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
    entry = """\
{{
    // The key of the bot, from its profile on the server, seen when logged in as its operator.
    apikey: "FILL ME IN",

    bot: {{
        command: {line},
        // One process plays all games in turn; "persistent" starts one for each game.
        manager: "pool",
        instances: 1,
    }},

    // gtp2ogs neither passes on the rules nor refuses any: games are played by those in the command.
    allowed_board_sizes: [9, 13, 19],
    allowed_time_control_systems: ["fischer", "byoyomi", "simple"],
}}"""

    def line(self, command: EngineCommand) -> str:
        """Return the list of the command's words."""
        words = ",\n            ".join(json.dumps(word, ensure_ascii=False) for word in command.words)
        return f"[\n            {words}\n        ]"

    def with_command(self, old: str, command: EngineCommand, path: Path) -> str:
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
                    return f"{old[:start]}{self.line(command)}{old[token.end() :]}"
                key = ""
                del keys[-1:]
            elif text == ",":
                key = ""
            elif text != ":" and not text.startswith(("//", "/*")):
                key = text.strip("\"'")
        raise no_place(path, "no list bot.command")


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
    entry = """\
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

    def line(self, command: EngineCommand) -> str:
        """Return the value of the property; raises ConfigError for a blank in the command."""
        return escaped(command.plain_line("kgsGtp"))

    def with_command(self, old: str, command: EngineCommand, path: Path) -> str:
        """Return the text with our command as the last engine, which counts."""
        found = list(_KGS_ENGINE.finditer(old))
        if not found:
            return f"{old.rstrip()}\n\nengine={self.line(command)}\n"
        start, end = found[-1].span("value")
        return f"{old[:start]}{self.line(command)}{old[end:]}"


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
    entry = """\
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

    def line(self, command: EngineCommand) -> str:
        """Return the line; raises ConfigError for a blank in the command, except on Windows."""
        return command.shell_line() if command.platform == "win32" else command.plain_line("The client of CGOS")

    def with_command(self, old: str, command: EngineCommand, path: Path) -> str:
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
        lines[place] = f"{key}= {self.line(command)}{line[len(line.rstrip()) :]}"
        return "".join(lines)
