"""Commands that read and change settings of the running engine: KataGo's names and our own `section.option`.

KataGo's names are those of `config.katago`; the defaults of the search are KataGo's, so most values mean the same.
Board size, komi and rules have commands of their own; the network is fixed when the engine starts.
"""

import json
from collections.abc import Mapping
from typing import Final

from gtp_engine.base.errors import shown
from gtp_engine.config import Config
from gtp_engine.config.human import nearest_profile_line
from gtp_engine.config.katago import CONSTANTS, GTP_OPTIONS, instead_of, read_setting, shown_as_katago
from gtp_engine.config.option import Value
from gtp_engine.protocols.gtp.protocol import Command, GtpError
from gtp_engine.protocols.gtp.server import GtpServer, command

SECTIONS: Final = ("search", "puct", "human", "time", "play", "analysis")
"""Sections whose options may be changed."""

OTHER_OPTIONS: Final = ("gtp.analysis_perspective",)
"""Options of other sections that may be changed."""

SHORT_NAMES: Final[Mapping[str, str]] = {"level": "play.level"}
"""Names without a section, for settings that people change by hand."""

WITHOUT_EFFECT: Final = ("minPlayoutsPerThread", "subtreeValueBiasTableNumShards", "treeReuseCarryOverTimeFactor")
"""KataGo's settings that programs may send, and that have no effect here; `instead_of` says what takes their place."""

OPTION_OF: Final[Mapping[str, str]] = {
    **GTP_OPTIONS,
    **SHORT_NAMES,
    **dict.fromkeys(CONSTANTS, ""),
    **{each.key: each.key for each in Config.options() if each.section in SECTIONS or each.key in OTHER_OPTIONS},
}
"""The option that is changed by the name of every setting, KataGo's names first, then our own; "" for constants."""

_MAX_MEMORY: Final = "search.max_memory"


def get_value(config: Config, name: str) -> Value:
    """Return the value of a setting, in KataGo's form for KataGo's names; raises GtpError for an unknown name."""
    key = _option_of(name)
    if not key:
        return CONSTANTS[name]
    return shown_as_katago(key, config.value(key)) if name in GTP_OPTIONS else config.value(key)


def format_value(value: Value) -> str:
    """Return a value as `kata-get-param` prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else "none" if value is None else str(value)


def to_options(settings: Mapping[str, str | None]) -> dict[str, Value]:
    """Return settings (None: back to the default) as options by full name, without those that have no effect.

    Raises GtpError for an unknown one, ConfigError for a value that cannot be read.
    """
    options: dict[str, Value] = {}
    for name, text in settings.items():
        if name in WITHOUT_EFFECT:
            continue
        key = _option_of(name)
        if text is None:
            options |= {key: Config().value(key)} if key else {}
        else:
            options |= {key: text} if name == key or name in SHORT_NAMES else read_setting(name, text, GTP_OPTIONS)
    return options


def _option_of(name: str) -> str:
    key = OPTION_OF.get(name)
    if key is None:
        raise GtpError(f"unknown parameter {shown(name)}", expected="one that kata-list-params names")
    return key


@command("kata-list-params", "")
def kata_list_params(server: GtpServer, args: Command) -> str:
    """The names of all settings, KataGo's and Tengen's own, on one line."""
    return " ".join(OPTION_OF)


@command("kata-get-param", "NAME")
def kata_get_param(server: GtpServer, args: Command) -> str:
    """The value of a setting."""
    return format_value(get_value(server.engine.config, args[0]))


@command("kata-get-params", "")
def kata_get_params(server: GtpServer, args: Command) -> str:
    """All settings as JSON."""
    config = server.engine.config
    return json.dumps({name: get_value(config, name) for name in OPTION_OF}, separators=(",", ":"))


@command("kata-set-param", "NAME [VALUE]", exact=True)
def kata_set_param(server: GtpServer, args: Command) -> None:
    """Change a setting; without a value, restore its default."""
    _configure(server, {args[0]: args[1] if len(args) > 1 else None})


@command("kata-set-params", "JSON...")
def kata_set_params(server: GtpServer, args: Command) -> None:
    """Change several settings, all or none, given as a JSON object."""
    try:
        settings = json.loads(args.text)
    except (ValueError, RecursionError):
        settings = None
    if not isinstance(settings, dict):
        raise GtpError(f"syntax error: {shown(args.text)}", expected='a JSON object such as {"maxVisits": 500}')
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in settings.items()}
    _configure(server, texts | {name: format_value(None) for name, value in settings.items() if value is None})


def _configure(server: GtpServer, settings: Mapping[str, str | None]) -> None:
    """Change settings, None back to the default; raises GtpError, and what `Engine.configure` raises."""
    options = to_options(settings)
    if _MAX_MEMORY in options and not server.config.gtp.more_memory:
        _check_memory(server.config, options[_MAX_MEMORY])
    server.engine.configure(options)
    for name, value in settings.items():
        if name in WITHOUT_EFFECT:
            server.log(f"{name} has no effect here; instead: {instead_of(name)}")
        if OPTION_OF.get(name) == "human.human_profile" and (line := nearest_profile_line(value)):
            server.log(line)


def _check_memory(config: Config, wanted: Value) -> None:
    """Raise GtpError for a larger search tree than the configuration of the start allows, ConfigError for no size."""
    asked, limit = config.with_values({_MAX_MEMORY: wanted}).search.max_memory, config.search.max_memory
    if limit is not None and (asked is None or asked > limit):
        given = f"option {_MAX_MEMORY} = {format_value(asked)}"
        raise GtpError(given, expected=f"at most {limit} MiB, the limit of this server")
