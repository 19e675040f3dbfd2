"""OGS: a configuration of gtp2ogs 9.

Source: online-go/gtp2ogs 9.0.1, src/config.ts and example_config.json5.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from gtp_engine.front_ends.changes import Change, file_with_command, no_place
from gtp_engine.front_ends.engine_command import EngineCommand
from gtp_engine.front_ends.front_end import Place

_FILE = "gtp2ogs.json5"
_TOKEN = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[][{}:,]|[^][{}:,\s"'/]+""", re.DOTALL)
"""JSON5: comments, texts, punctuation, and numbers or names without quotes."""


class Ogs:
    """The server online-go.com, through gtp2ogs."""

    title = "OGS (gtp2ogs 9)"
    engine_options: Mapping[str, str] = {"game.rules": "chinese-ogs", "gtp.ogs_chat": "true"}
    unused_options: Mapping[str, str] = {}

    def printed(self, command: EngineCommand) -> str:
        """Return the configuration."""
        return f"""\
{{
    // The key of the bot, from its profile on the server, seen when logged in as its operator.
    apikey: "FILL ME IN",

    bot: {{
        command: {_list(command)},
        // One process plays all games in turn; "persistent" starts one for each game.
        manager: "pool",
        instances: 1,
    }},

    // gtp2ogs does not tell the engine the rules: accept games under those in the command.
    allowed_board_sizes: [9, 13, 19],
    allowed_time_control_systems: ["fischer", "byoyomi", "simple"],
}}"""

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the file to write; of one that exists, only the engine's command changes."""
        path = place.file_named(_FILE)
        return [file_with_command(path, self.printed(command), lambda old: _with_command(old, command, path))]

    def next_steps(self, place: Place) -> str:
        """Return how to start the bot."""
        return (
            f"Enter the bot's key as apikey, run gtp-engine warmup once, install gtp2ogs (npm install -g gtp2ogs) and "
            f"start it: gtp2ogs -c {place.file_named(_FILE)}"
        )


def _list(command: EngineCommand) -> str:
    """Return the list of the command's words."""
    words = ",\n            ".join(json.dumps(word, ensure_ascii=False) for word in command.words)
    return f"[\n            {words}\n        ]"


def _with_command(old: str, command: EngineCommand, path: Path) -> str:
    """Return the text with our command, whatever else it holds; raises ConfigError if it has no list for one."""
    keys, key, start = [], "", 0
    for token in _TOKEN.finditer(old):
        text = token[0]
        if text in ("{", "["):
            keys.append(key)
            if keys == ["", "bot", "command"]:
                start = token.start()
            key = ""
        elif text in ("}", "]"):
            if keys == ["", "bot", "command"]:
                return f"{old[:start]}{_list(command)}{old[token.end() :]}"
            key = ""
            del keys[-1:]
        elif text == ",":
            key = ""
        elif text != ":" and not text.startswith(("//", "/*")):
            key = text.strip("\"'")
    raise no_place(path, "no list bot.command")
