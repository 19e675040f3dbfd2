"""Sabaki: an entry of `engines.list` in settings.json.

Source: SabakiHQ/Sabaki, src/setting.js (the file, in Electron's folder; keys that are missing get defaults),
src/components/drawers/PreferencesDrawer.js (an entry has name, path, args, commands), src/modules/enginesyncer.js
(args are split by argv-split, which reads double quotes).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gtp_engine.front_ends.changes import Change
from gtp_engine.front_ends.engine_command import EngineCommand, quoted
from gtp_engine.front_ends.front_end import Place
from gtp_engine.front_ends.json_file import checked, json_change, read_object

_ENGINES = "engines.list"


class Sabaki:
    """The graphical program Sabaki."""

    title = "Sabaki"
    engine_options: Mapping[str, str] = {}
    unused_options: Mapping[str, str] = {}

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter under Manage Engines."""
        entry = _entry(command)
        return f"Name:      {entry['name']}\nPath:      {entry['path']}\nArguments: {entry['args']}"

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the settings with our engine first, or in the place of an older entry of its name."""
        path = place.file or place.application_data / "Sabaki" / "settings.json"
        old, settings = read_object(path)
        engines = [checked(each, dict, path, f"an entry of {_ENGINES}") for each in _engines(settings, path)]
        same = [number for number, each in enumerate(engines) if each.get("name") == command.label]
        if same:
            engines[same[0]] = {**engines[same[0]], **_entry(command)}
        else:
            engines.insert(0, {**_entry(command), "commands": ""})
        return [json_change(path, old, {**settings, _ENGINES: engines}, indent=2)]

    def next_steps(self, place: Place) -> str:
        """Return how to play."""
        return (
            "Start it, choose Engines, Show Engines Sidebar, press the play button there and choose the engine; a "
            "right click on it sets it as a player."
        )


def _engines(settings: dict[str, Any], path: Path) -> list[Any]:
    return list(checked(settings.get(_ENGINES, []), list, path, _ENGINES))


def _entry(command: EngineCommand) -> dict[str, str]:
    return {"name": command.label, "path": command.program, "args": quoted(command.arguments)}
