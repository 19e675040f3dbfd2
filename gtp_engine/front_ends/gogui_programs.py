"""GoGui: an entry of its programs, in the file .gogui-prefs of the home folder, which holds Java properties.

Source: Remi-Coulom/gogui (GoGui 1.6), src/net/sf/gogui/gui/Program.java (keys size, and for each program by its number
label, name, version, command, working-directory), net/infotrek/util/prefs/FilePreferences.java (the file),
util/StringUtil.java (double quotes in a command).  Older versions keep their programs in Java's preferences.
"""

import re
from collections.abc import Mapping

from gtp_engine.errors import ConfigError, problem, shown, shown_path
from gtp_engine.front_ends.changes import Change, read_settings
from gtp_engine.front_ends.engine_command import EngineCommand
from gtp_engine.front_ends.front_end import Place
from gtp_engine.front_ends.java_properties import escaped

_FILE = ".gogui-prefs"
_PREFIX = "net.sf.gogui.gui.program."
_ENTRY = re.compile(rf"{re.escape(_PREFIX)}(?P<key>[^=:\s]+)\s*[=:]?\s*(?P<value>.*)")
_MOST = 1000
"""Programs that are looked through; more are a damaged file."""


class GoGui:
    """The graphical program GoGui."""

    title = "GoGui"
    engine_options: Mapping[str, str] = {}
    unused_options: Mapping[str, str] = {}

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter as a new program."""
        return f"Command: {command.quoted_line()}"

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the file with our program at the end of the list, or in the place of an older one of its name."""
        path = place.file or place.in_home(_FILE)
        old = read_settings(path)
        lines = (old or "").splitlines()
        found = {match["key"]: match["value"] for match in map(_ENTRY.fullmatch, lines) if match}
        size = found.get("size", "0")
        if not size.isdecimal() or int(size) > _MOST:
            given = f"{shown_path(path)}: {_PREFIX}size = {shown(size)}"
            raise ConfigError(problem(given, expected=f"a number up to {_MOST}"))
        label = escaped(command.label)
        number = next((n for n in range(int(size)) if found.get(f"{n}.label") == label), int(size))
        entry = {"label": label, "name": "Tengen", "command": escaped(command.quoted_line())}
        entry |= {key: found.get(f"{number}.{key}", "") for key in ("version", "working-directory")}
        values = {"size": str(max(int(size), number + 1)), **{f"{number}.{key}": entry[key] for key in sorted(entry)}}
        kept = [line for line in lines if not ((match := _ENTRY.fullmatch(line)) and match["key"] in values)]
        new = [*kept, *(f"{_PREFIX}{key}={value}" for key, value in values.items())]
        return [Change(path, old, "\n".join(new) + "\n")]

    def next_steps(self, place: Place) -> str:
        """Return how to play."""
        return "Start it and choose the engine under Program, Attach. Before version 1.6 use --print and New Program."
