"""KaTrain: the engine section of ~/.katrain/config.json.

Source: KaTrain 1.20, katrain/core/base_katrain.py (the file, which KaTrain itself creates, and replaces if it has no
version), katrain/core/engine.py (`altcommand` is passed to a shell; `backend` "custom" selects it),
katrain/gui/popups.py (the settings dialogue fills in the tab Local engine only, but saves the tab that is open:
an empty command, where Custom command is open).
"""

from collections.abc import Mapping
from dataclasses import replace

from gtp_engine.errors import ConfigError, problem, shown_path
from gtp_engine.front_ends.changes import Change
from gtp_engine.front_ends.engine_command import EngineCommand
from gtp_engine.front_ends.front_end import Place
from gtp_engine.front_ends.json_file import checked, json_change, read_object

_PLAY = "KaTrain's AI settings choose how the engine plays"
_LIMITS = "KaTrain's engine settings limit visits and time"


class KaTrain:
    """The teaching program KaTrain, which uses the analysis protocol."""

    title = "KaTrain"
    engine_options: Mapping[str, str] = {}
    unused_options: Mapping[str, str] = {"play": _PLAY, "time": _LIMITS, "search.visits": _LIMITS}

    def printed(self, command: EngineCommand) -> str:
        """Return what to enter as the engine's command."""
        return f"Override Engine Command: {_line(command)}"

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the settings with our command as the custom engine."""
        path = place.file or place.in_home(".katrain", "config.json")
        old, settings = read_object(path)
        if "general" not in settings or "engine" not in settings:
            advice = "start KaTrain once, so that it creates its settings, close it, and try again"
            raise ConfigError(problem(f"{shown_path(path)} holds no settings of KaTrain's", advice=advice))
        engine = checked(settings["engine"], dict, path, "engine")
        engine = {**engine, "backend": "custom", "altcommand": _line(command)}
        return [json_change(path, old, {**settings, "engine": engine}, indent=4)]

    def next_steps(self, place: Place) -> str:
        """Return how to use it, and how to go back."""
        return (
            "Start it and analyse. In General & Engine Settings, Update Settings makes KaTrain 1.20 forget the "
            "command, as the tab Custom command does not show it: enter there what gtp-engine setup katrain --print "
            "shows, or run gtp-engine setup katrain again afterwards. The tab Local engine leads back to KataGo."
        )


def _line(command: EngineCommand) -> str:
    """Return the command line of the analysis engine; exec, so that closing KaTrain ends the engine, not a shell."""
    line = replace(command, arguments=("analysis", *command.arguments)).shell_line()
    return line if command.platform == "win32" else f"exec {line}"
