"""Settings that GTP may read and change while the engine runs: KataGo's names and our own `section.option`.

KataGo's names are those of `config.katago`; the defaults of the search are KataGo's, so most values mean the same.
Board size, komi and rules have commands of their own; the network is fixed when the engine starts.
"""

from collections.abc import Mapping
from typing import Final

from gtp_engine.config import Config
from gtp_engine.config.katago import CONSTANTS, GTP_OPTIONS, read_as_katago, shown_as_katago
from gtp_engine.config.option import Value
from gtp_engine.errors import problem, shown
from gtp_engine.gtp.protocol import GtpError

SECTIONS: Final = ("search", "puct", "human", "time", "play", "analysis")
"""Sections whose options may be changed."""

OTHER_OPTIONS: Final = ("gtp.analysis_perspective",)
"""Options of other sections that may be changed."""

SHORT_NAMES: Final[Mapping[str, str]] = {
    "level": "play.level",
}
"""Names without a section, for settings that people change by hand."""


def names() -> list[str]:
    """Return the name of every setting, KataGo's first, then our own."""
    own = [option.key for option in Config.options() if option.section in SECTIONS or option.key in OTHER_OPTIONS]
    return [*GTP_OPTIONS, *SHORT_NAMES, *CONSTANTS, *own]


def get_value(config: Config, name: str) -> Value:
    """Return the value of a setting, in KataGo's form for KataGo's names; raises GtpError for an unknown name."""
    _check(name)
    if name in CONSTANTS:
        return CONSTANTS[name]
    key = GTP_OPTIONS.get(name)
    return config.value(SHORT_NAMES.get(name, name)) if key is None else shown_as_katago(key, config.value(key))


def format_value(value: Value) -> str:
    """Return a value as `kata-get-param` prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.12g}" if isinstance(value, float) else "none" if value is None else str(value)


def to_options(settings: Mapping[str, str | None]) -> dict[str, Value]:
    """Return settings (None: back to the default) as options by full name; raises GtpError for an unknown one."""
    options: dict[str, Value] = {}
    for name, text in settings.items():
        _check(name)
        if name in CONSTANTS:
            _check_constant(name, text)
            continue
        key = GTP_OPTIONS.get(name) or SHORT_NAMES.get(name, name)
        if text is None:
            options[key] = Config().value(key)
        else:
            options[key] = read_as_katago(key, text) if name in GTP_OPTIONS else text
    return options


def _check(name: str) -> None:
    if name not in names():
        raise GtpError(problem(f"unknown parameter {shown(name)}", expected="one that kata-list-params names"))


def _check_constant(name: str, text: str | None) -> None:
    only = format_value(CONSTANTS[name])
    if text is not None and text.lower() != only:
        raise GtpError(problem(f"{name} {shown(text)}", expected=only or "nothing: it is not supported"))
