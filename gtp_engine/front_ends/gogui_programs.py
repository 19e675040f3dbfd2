"""GoGui: an entry of its programs, which Java's preferences hold; on Linux these are files, which are written here.

Source: Remi-Coulom/gogui, src/net/sf/gogui/gui/Program.java (the nodes net/sf/gogui/gui/program and, for each program,
its number below; keys size, label, name, version, command, working-directory), util/StringUtil.java (double quotes in a
command).  OpenJDK stores a node as prefs.xml in a folder below ~/.java/.userPrefs.
"""

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from xml.sax.saxutils import quoteattr

from gtp_engine.errors import ConfigError, problem, shown_path
from gtp_engine.front_ends.changes import Change, read_settings
from gtp_engine.front_ends.engine_command import EngineCommand
from gtp_engine.front_ends.front_end import Place

_FOLDER = Path(".java", ".userPrefs", "net", "sf", "gogui", "gui", "program")
_HEAD = """\
<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE map SYSTEM "http://java.sun.com/dtd/preferences.dtd">
"""
_MOST = 1000
"""Programs that are looked through; more are a damaged file."""


class GoGui:
    """The graphical program GoGui."""

    title = "GoGui"
    engine_options: Mapping[str, str] = {}

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter as a new program."""
        return f"Command: {command.quoted_line()}"

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the nodes with our program at the end, or in the place of an older one of its name."""
        if place.platform in ("win32", "darwin"):
            advice = "enter it in GoGui: Program, New Program; --print shows the command"
            raise ConfigError(problem("GoGui keeps its programs in no file of their own here", advice=advice))
        list_file = place.file or place.home / _FOLDER / "prefs.xml"
        folder = list_file.parent
        listed = _read_node(list_file)
        size = _size_of(listed, list_file)
        number = next((n for n in range(size) if _label_of(folder, n) == command.label), size)
        entry_file = folder / str(number) / "prefs.xml"
        entry = {"label": command.label, "name": "Tengen", "version": "", "working-directory": ""}
        entry |= {**_read_node(entry_file), "label": command.label, "command": command.quoted_line()}
        changes = [_node_change(entry_file, entry)]
        if number == size:
            changes.append(_node_change(list_file, {**listed, "size": str(size + 1)}))
        return changes

    def next_steps(self, place: Place) -> str:
        """Return how to play."""
        return "Start it and choose the engine under Program, Attach."


def _read_node(path: Path) -> dict[str, str]:
    """Return the entries of a node, none if there is no file; raises ConfigError for anything else."""
    text = read_settings(path)
    if text is None:
        return {}
    try:
        root = ElementTree.fromstring(text)
        return {entry.attrib["key"]: entry.attrib["value"] for entry in root.iter("entry")}
    except (ElementTree.ParseError, KeyError) as error:
        raise ConfigError(problem(f"{shown_path(path)} is no node of Java's preferences ({error})")) from error


def _size_of(listed: dict[str, str], path: Path) -> int:
    """Return the number of programs; raises ConfigError."""
    text = listed.get("size", "0")
    if not text.isdecimal() or int(text) > _MOST:
        raise ConfigError(problem(f"{shown_path(path)}: size {text}", expected=f"0 to {_MOST}"))
    return int(text)


def _label_of(folder: Path, number: int) -> str | None:
    return _read_node(folder / str(number) / "prefs.xml").get("label")


def _node_change(path: Path, entries: dict[str, str]) -> Change:
    """Return the change of a node to these entries, written as OpenJDK writes it."""
    lines = [f"  <entry key={quoteattr(key)} value={quoteattr(value)}/>" for key, value in sorted(entries.items())]
    text = _HEAD + "\n".join(['<map MAP_XML_VERSION="1.0">', *lines, "</map>"]) + "\n"
    return Change(path, read_settings(path), text)
