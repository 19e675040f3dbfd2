"""OGS: a configuration of gtp2ogs 9.

Source: online-go/gtp2ogs 9.0.1, src/config.ts and example_config.json5.
"""

import json
from collections.abc import Mapping

from gtp_engine.front_ends.changes import Change, whole_file
from gtp_engine.front_ends.engine_command import EngineCommand
from gtp_engine.front_ends.front_end import Place

_FILE = "gtp2ogs.json5"


class Ogs:
    """The server online-go.com, through gtp2ogs."""

    title = "OGS (gtp2ogs 9)"
    engine_options: Mapping[str, str] = {"game.rules": "chinese-ogs", "gtp.ogs_chat": "true"}

    def printed(self, command: EngineCommand) -> str:
        """Return the configuration."""
        words = ",\n            ".join(json.dumps(word, ensure_ascii=False) for word in command.words)
        return f"""\
{{
    // The key of the bot, from its profile on the server, seen when logged in as its operator.
    apikey: "FILL ME IN",

    bot: {{
        command: [
            {words}
        ],
        // One process plays all games in turn; "persistent" starts one for each game.
        manager: "pool",
        instances: 1,
    }},

    // gtp2ogs does not tell the engine the rules: accept games under those in the command.
    allowed_board_sizes: [9, 13, 19],
    allowed_time_control_systems: ["fischer", "byoyomi", "simple"],
}}"""

    def changes(self, command: EngineCommand, place: Place) -> list[Change]:
        """Return the file to write."""
        return [whole_file(place.file_named(_FILE), self.printed(command))]

    def next_steps(self, place: Place) -> str:
        """Return how to start the bot."""
        return (
            f"Enter the bot's key as apikey, run gtp-engine warmup once, install gtp2ogs (npm install -g gtp2ogs) and "
            f"start it: gtp2ogs -c {place.file_named(_FILE)}"
        )
