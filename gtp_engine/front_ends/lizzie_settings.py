"""Lizzie: an entry of `engine-command-list` in config.txt, which lies in Lizzie's folder.

Source: featurecat/lizzie, Config.java (the file, in the current folder), analysis/EngineManager.java (the list, after
the first engine), gui/ConfigDialog.java (nine fields), analysis/Leelaz.java (quotes in a command).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gtp_engine.errors import ConfigError, problem, shown_path
from gtp_engine.front_ends.changes import Change
from gtp_engine.front_ends.engine_command import EngineCommand
from gtp_engine.front_ends.front_end import Place
from gtp_engine.front_ends.json_file import checked, json_change, read_object

_LIST = "engine-command-list"
_MOST = 9
"""Engines that the dialogue has fields for."""


class Lizzie:
    """The analysis program Lizzie."""

    title = "Lizzie"
    engine_options: Mapping[str, str] = {}

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter as an engine's command."""
        return f"Engine command: {command.quoted_line()}"

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the settings with our command in the list of further engines, in the place of an older one of it."""
        path = place.file or place.current / "config.txt"
        old, settings = read_object(path)
        if "leelaz" not in settings:
            advice = "start Lizzie once, close it, and name the file: --file /path/to/lizzie/config.txt"
            raise ConfigError(problem(f"{shown_path(path)} holds no settings of Lizzie's", advice=advice))
        section = checked(settings["leelaz"], dict, path, "leelaz")
        commands = _with_command(list(checked(section.get(_LIST, []), list, path, _LIST)), command, path)
        return [json_change(path, old, {**settings, "leelaz": {**section, _LIST: commands}}, indent=2)]

    def next_steps(self, place: Place) -> str:
        """Return how to choose it."""
        return "Start it and choose the engine in the menu Engine."


def _with_command(commands: list[Any], command: EngineCommand, path: Path) -> list[str]:
    """Return the list with our command: for an older line with the same program, in an empty place, or at the end."""
    lines = [checked(line, str, path, f"an entry of {_LIST}") for line in commands]
    places = [number for number, line in enumerate(lines) if command.program in line]
    places += [number for number, line in enumerate(lines) if not line.strip()]
    if places:
        lines[places[0]] = command.quoted_line()
    elif len(lines) < _MOST:
        lines.append(command.quoted_line())
    else:
        raise ConfigError(problem(f"{shown_path(path)} has {_MOST} engines", advice="remove one of them in Lizzie"))
    return lines
