"""Commands that read and change settings of the running engine; names and formats are KataGo's."""

import json
from typing import TYPE_CHECKING

from gtp_engine.errors import problem, shown
from gtp_engine.gtp.args import Args
from gtp_engine.gtp.param_table import format_value, get_value, names, to_options
from gtp_engine.gtp.protocol import GtpError
from gtp_engine.gtp.registry import command

if TYPE_CHECKING:
    from gtp_engine.gtp.server import GtpServer


@command("kata-list-params", "", "The names of all settings, KataGo's and our own.", needs_engine=False)
def kata_list_params(server: "GtpServer", args: Args) -> str:
    """Return the names on one line."""
    return " ".join(names())


@command("kata-get-param", "NAME", "The value of a setting.")
def kata_get_param(server: "GtpServer", args: Args) -> str:
    """Return the value."""
    return format_value(get_value(server.engine.config, args[0]))


@command("kata-get-params", "", "All settings as JSON.")
def kata_get_params(server: "GtpServer", args: Args) -> str:
    """Return one object with every name and value."""
    config = server.engine.config
    return json.dumps({name: get_value(config, name) for name in names()}, separators=(",", ":"))


@command("kata-set-param", "NAME [VALUE]", "Change a setting; without a value, restore its default.", exact=True)
def kata_set_param(server: "GtpServer", args: Args) -> str:
    """Change one setting."""
    server.engine.configure(to_options({args[0]: args[1] if len(args) > 1 else None}))
    return ""


@command("kata-set-params", "JSON...", "Change several settings, all or none, given as a JSON object.")
def kata_set_params(server: "GtpServer", args: Args) -> str:
    """Change settings given as {"maxVisits": 500, "ponderingEnabled": false}."""
    server.engine.configure(to_options(_read_settings(args.text)))
    return ""


def _read_settings(text: str) -> dict[str, str]:
    """Return the settings in a JSON object, values as text, null as "none"; raises GtpError."""
    expected = 'a JSON object such as {"maxVisits": 500}'
    try:
        settings = json.loads(text)
    except (ValueError, RecursionError):
        raise GtpError(problem(f"syntax error: {shown(text)}", expected=expected)) from None
    if not isinstance(settings, dict):
        raise GtpError(problem(f"syntax error: {shown(text)}", expected=expected))
    return {name: _as_text(value) for name, value in settings.items()}


def _as_text(value: object) -> str:
    """Return a JSON value as text; null, as which kata-get-params shows an option that is not set, as "none"."""
    if value is None:
        return format_value(None)
    return value if isinstance(value, str) else json.dumps(value)
