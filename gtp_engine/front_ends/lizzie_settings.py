"""Lizzie: an entry of `engine-command-list` in config.txt, which lies in Lizzie's folder, or its first engine.

Source: featurecat/lizzie, Config.java (the file, in the current folder), analysis/EngineManager.java (the list, after
the first engine, `engine-command`, without which Lizzie does not start), gui/ConfigDialog.java (nine fields),
analysis/Leelaz.java (quotes in a command).
"""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gtp_engine.errors import ConfigError, problem, shown_path
from gtp_engine.front_ends.changes import Change
from gtp_engine.front_ends.engine_command import EngineCommand
from gtp_engine.front_ends.front_end import Place
from gtp_engine.front_ends.json_file import checked, json_change, read_object

_FIRST = "engine-command"
_LIST = "engine-command-list"
_MOST = 9
"""Engines that the dialogue has fields for."""


class Lizzie:
    """The analysis program Lizzie."""

    title = "Lizzie"
    engine_options: Mapping[str, str] = {}
    unused_options: Mapping[str, str] = {}

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter as an engine's command."""
        return f"Engine command: {command.quoted_line()}"

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the settings with our command.

        It is the first engine if it was before, or if the first one is missing, as in a new Lizzie; else it joins the
        list of further engines, in the place of an older line of ours.
        """
        path = place.file or place.current / "config.txt"
        old, settings = read_object(path)
        if "leelaz" not in settings:
            advice = "start Lizzie once, close it, and name the file: --file /path/to/lizzie/config.txt"
            raise ConfigError(problem(f"{shown_path(path)} holds no settings of Lizzie's", advice=advice))
        section = checked(settings["leelaz"], dict, path, "leelaz")
        first = checked(section.get(_FIRST, ""), str, path, _FIRST)
        lines = [
            checked(line, str, path, f"an entry of {_LIST}")
            for line in checked(section.get(_LIST, []), list, path, _LIST)
        ]
        if command.program in first or not _can_start(first, path.parent):
            changed: dict[str, Any] = {_FIRST: command.quoted_line()}
        else:
            changed = {_LIST: _with_command(lines, command, path)}
        return [json_change(path, old, {**settings, "leelaz": {**section, **changed}}, indent=2)]

    def next_steps(self, place: Place) -> str:
        """Return how to choose it."""
        return "Start it. If the engine is not the first, choose it in the menu Engine, which shows only numbers."


def _can_start(line: str, folder: Path) -> bool:
    """Return whether the program of a command line exists, for Lizzie that runs in this folder."""
    match = re.match(r'\s*(?:"(?P<quoted>[^"]+)"|(?P<plain>\S+))', line)
    if match is None:
        return False
    program = match["quoted"] or match["plain"]
    beside = (folder / program, folder / f"{program}.exe")
    return any(path.is_file() for path in beside) or shutil.which(program) is not None


def _with_command(lines: list[str], command: EngineCommand, path: Path) -> list[str]:
    """Return the list with our command: for an older line with the same program, in an empty place, or at the end."""
    lines = list(lines)
    places = [number for number, line in enumerate(lines) if command.program in line]
    places += [number for number, line in enumerate(lines) if not line.strip()]
    if places:
        lines[places[0]] = command.quoted_line()
    elif len(lines) < _MOST:
        lines.append(command.quoted_line())
    else:
        raise ConfigError(problem(f"{shown_path(path)} has {_MOST} engines", advice="remove one of them in Lizzie"))
    return lines
