"""The programs whose settings get an entry: Sabaki, GoGui, KaTrain, Lizzie.

Most of these are JSON, of which everything that is not ours is kept.
"""

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gtp_engine.base.errors import ConfigError, shown, shown_path
from gtp_engine.people.front_ends.front_end import (
    Change,
    EngineCommand,
    FrontEnd,
    Locations,
    escaped,
    quoted,
    read_settings,
)

_KINDS: dict[type[Any], str] = {dict: "an object", list: "a list", str: "a text"}


def read_object(path: Path) -> tuple[str | None, dict[str, Any]]:
    """Return the text of a settings file and its JSON object, None and an empty one if there is no file.

    Raises ConfigError if it is anything else, or has a key twice, of which one would get lost.
    """
    text = read_settings(path)
    if text is None:
        return None, {}
    try:
        found = json.loads(text, object_pairs_hook=_without_repetition)
    except (ValueError, RecursionError) as error:
        advice = "start the program once and close it, or move the file away"
        raise ConfigError(f"{shown_path(path)} is not JSON ({error})", advice=advice) from error
    return text, checked(found, dict, path, "the file")


def checked(value: Any, kind: type[Any], path: Path, what: str) -> Any:
    """Return a value of a settings file if it is of this kind; raises ConfigError."""
    if not isinstance(value, kind):
        raise ConfigError(f"{shown_path(path)}: {what}", expected=_KINDS[kind], advice="nothing was changed")
    return value


def json_change(path: Path, old: str | None, settings: dict[str, Any], *, indent: int) -> Change:
    """Return the change of a settings file to `settings`."""
    return Change(path, old, json.dumps(settings, indent=indent, ensure_ascii=False) + "\n")


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


_SABAKI_ENGINES = "engines.list"


class Sabaki(FrontEnd):
    """The graphical program Sabaki.

    An entry of `engines.list` in settings.json.

    Source: SabakiHQ/Sabaki, src/setting.js (the file, in Electron's folder; keys that are missing get defaults),
    src/components/drawers/PreferencesDrawer.js (an entry has name, path, args, commands), src/modules/enginesyncer.js
    (args are split by argv-split, which reads double quotes).
    """

    title = "Sabaki"
    steps = (
        "Start it, choose Engines, Show Engines Sidebar, press the play button there and choose the engine; a right "
        "click on it sets it as a player."
    )

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter under Manage Engines."""
        entry = _entry(command)
        return f"Name:      {entry['name']}\nPath:      {entry['path']}\nArguments: {entry['args']}"

    def change(self, command: EngineCommand, place: Locations) -> Change:
        """Return the settings with our engine first, or in place of an older entry of its name."""
        path = place.file or place.application_data / "Sabaki" / "settings.json"
        if place.file is None and not path.parent.is_dir():
            advice = (
                "start Sabaki once and close it; a portable build and Flatpak keep their settings elsewhere: name the "
                "file with --file FILE, or enter by hand what --print shows"
            )
            raise ConfigError(f"Sabaki has no folder {shown_path(path.parent)}", advice=advice)
        old, settings = read_object(path)
        entries = checked(settings.get(_SABAKI_ENGINES, []), list, path, _SABAKI_ENGINES)
        engines = [checked(each, dict, path, f"an entry of {_SABAKI_ENGINES}") for each in entries]
        same = [number for number, each in enumerate(engines) if each.get("name") == command.label]
        if same:
            engines[same[0]] = {**engines[same[0]], **_entry(command)}
        else:
            engines.insert(0, {**_entry(command), "commands": ""})
        return json_change(path, old, {**settings, _SABAKI_ENGINES: engines}, indent=2)


def _entry(command: EngineCommand) -> dict[str, str]:
    return {"name": command.label, "path": command.program, "args": quoted(command.arguments)}


_GOGUI_FILE = ".gogui-prefs"
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
    steps = "Start it and choose the engine under Program, Attach. Before version 1.6 use --print and New Program."

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter as a new program."""
        return f"Command: {command.quoted_line()}"

    def change(self, command: EngineCommand, place: Locations) -> Change:
        """Return the file with our program at the end of the list, or in place of an older one of its name."""
        path = place.file or place.in_home(_GOGUI_FILE)
        old = read_settings(path)
        lines = (old or "").splitlines()
        found = {match["key"]: match["value"] for match in map(_GOGUI_ENTRY.fullmatch, lines) if match}
        size = found.get("size", "0")
        if not size.isdecimal() or int(size) > _MOST_PROGRAMS:
            given = f"{shown_path(path)}: {_GOGUI_PREFIX}size = {shown(size)}"
            raise ConfigError(given, expected=f"a number up to {_MOST_PROGRAMS}")
        label = escaped(command.label)
        number = next((n for n in range(int(size)) if found.get(f"{n}.label") == label), int(size))
        entry = {"label": label, "name": "Tengen", "command": escaped(command.quoted_line())}
        entry |= {key: found.get(f"{number}.{key}", "") for key in ("version", "working-directory")}
        values = {"size": str(max(int(size), number + 1)), **{f"{number}.{key}": entry[key] for key in sorted(entry)}}
        kept = [line for line in lines if not ((match := _GOGUI_ENTRY.fullmatch(line)) and match["key"] in values)]
        new = [*kept, *(f"{_GOGUI_PREFIX}{key}={value}" for key, value in values.items())]
        return Change(path, old, "\n".join(new) + "\n")


_KATRAIN_PLAY = "KaTrain's AI settings choose how the engine plays"
_KATRAIN_LIMITS = "KaTrain's engine settings limit visits and time"


class KaTrain(FrontEnd):
    """The teaching program KaTrain, which uses the analysis protocol.

    The engine section of ~/.katrain/config.json.

    Source: KaTrain 1.20, katrain/core/base_katrain.py (the file, which KaTrain itself creates, and replaces if it has
    no version), katrain/core/engine.py (`altcommand` is passed to a shell; `backend` "custom" selects it),
    katrain/gui/popups.py (the settings dialogue fills in the tab Local engine only, but saves the tab that is open:  an
    empty command, where Custom command is open).
    """

    title = "KaTrain"
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

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter as the engine's command."""
        return f"Override Engine Command: {_analysis_line(command)}"

    def change(self, command: EngineCommand, place: Locations) -> Change:
        """Return the settings with our command as the custom engine."""
        path = place.file or place.in_home(".katrain", "config.json")
        old, settings = read_object(path)
        if "general" not in settings or "engine" not in settings:
            advice = "start KaTrain once, so that it creates its settings, close it, and try again"
            raise ConfigError(f"{shown_path(path)} does not hold KaTrain's settings", advice=advice)
        engine = checked(settings["engine"], dict, path, "engine")
        engine = {**engine, "backend": "custom", "altcommand": _analysis_line(command)}
        return json_change(path, old, {**settings, "engine": engine}, indent=4)


def _analysis_line(command: EngineCommand) -> str:
    """Return the command line of the analysis engine; exec, so that closing KaTrain ends the engine, not a shell."""
    line = replace(command, arguments=("analysis", *command.arguments)).shell_line()
    return line if command.platform == "win32" else f"exec {line}"


_LIZZIE_FIRST = "engine-command"
_LIZZIE_LIST = "engine-command-list"
_MOST_ENGINES = 9
"""Engines that the dialogue has fields for."""


class Lizzie(FrontEnd):
    """The analysis program Lizzie.

    An entry of `engine-command-list` in config.txt, which lies in Lizzie's folder, or its first engine.

    Source: featurecat/lizzie, Config.java (the file, in the current folder), analysis/EngineManager.java (the list,
    after the first engine, `engine-command`, without which Lizzie does not start), gui/ConfigDialog.java (nine fields),
    analysis/Leelaz.java (quotes in a command).
    """

    title = "Lizzie"
    steps = "Start it. If the engine is not the first, choose it in the menu Engine, which shows only numbers."

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter as an engine's command."""
        return f"Engine command: {command.quoted_line()}"

    def change(self, command: EngineCommand, place: Locations) -> Change:
        """Return the settings with our command.

        It is the first engine if it was before, or if the first one is missing, as in a new Lizzie; else it joins the
        list of further engines, in place of an older line of ours.
        """
        path = place.file or place.current / "config.txt"
        old, settings = read_object(path)
        if "leelaz" not in settings:
            advice = "start Lizzie once, close it, and name the file: --file /path/to/lizzie/config.txt"
            raise ConfigError(f"{shown_path(path)} does not hold Lizzie's settings", advice=advice)
        section = checked(settings["leelaz"], dict, path, "leelaz")
        first = checked(section.get(_LIZZIE_FIRST, ""), str, path, _LIZZIE_FIRST)
        lines = [
            checked(line, str, path, f"an entry of {_LIZZIE_LIST}")
            for line in checked(section.get(_LIZZIE_LIST, []), list, path, _LIZZIE_LIST)
        ]
        if command.program in first or not _can_start(first, path.parent):
            changed: dict[str, Any] = {_LIZZIE_FIRST: command.quoted_line()}
        else:
            changed = {_LIZZIE_LIST: _list_with_command(lines, command, path)}
        return json_change(path, old, {**settings, "leelaz": {**section, **changed}}, indent=2)


def _can_start(line: str, folder: Path) -> bool:
    """Return whether the program of a command line exists, for Lizzie that runs in this folder."""
    match = re.match(r'\s*(?:"(?P<quoted>[^"]+)"|(?P<plain>\S+))', line)
    if match is None:
        return False
    program = match["quoted"] or match["plain"]
    beside = (folder / program, folder / f"{program}.exe")
    return any(path.is_file() for path in beside) or shutil.which(program) is not None


def _list_with_command(lines: list[str], command: EngineCommand, path: Path) -> list[str]:
    """Return the list with our command: for an older line with the same program, in an empty place, or at the end."""
    places = [number for number, line in enumerate(lines) if command.program in line]
    places += [number for number, line in enumerate(lines) if not line.strip()]
    places += [len(lines)] if len(lines) < _MOST_ENGINES else []
    if not places:
        raise ConfigError(f"{shown_path(path)} has {_MOST_ENGINES} engines", advice="remove one of them in Lizzie")
    return [*lines[: places[0]], command.quoted_line(), *lines[places[0] + 1 :]]
