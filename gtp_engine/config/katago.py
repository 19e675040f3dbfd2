"""KataGo's names of settings, mapped to our options: front ends written for KataGo send them.

They arrive as parameters of `kata-set-param`, as `overrideSettings` of an analysis query, as `-override-config` and in
KataGo's config files.  An option declares its name in KataGo where it is declared itself.  Facts from KataGo 1.17
(`cpp/program/setup.cpp`, `docs/GTP_Extensions.md`, `docs/Analysis_Engine.md`).  Settings without a counterpart here are
in neither table; callers report them as unknown.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from types import MappingProxyType
from typing import Final

from gtp_engine.config.config import Config
from gtp_engine.config.option import Value
from gtp_engine.errors import ConfigError, problem, shown, shown_json, shown_path

NO_VISITS_LIMIT: Final = 2**50
"""KataGo's maxVisits for no limit; ours is 0."""

NO_TIME_LIMIT: Final = 1e20
"""KataGo's maxTime for no limit, in seconds; ours is "not set"."""

ALL_SYMMETRIES: Final = 8
"""KataGo's rootNumSymmetriesToSample for the average over all of them."""

_COLORS: Final = {"b": "black", "w": "white"}
"""The short names of colours that KataGo accepts too."""


GTP_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {name: known.key for known in Config.options() for name in (known.katago, known.katago_gtp) if name}
)
"""Options by KataGo's name, for GTP."""

ANALYSIS_OPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {name: known.key for known in Config.options() for name in (known.katago, known.katago_analysis) if name}
)
"""The same for `gtp-engine analysis`."""


CONSTANTS: Final[Mapping[str, Value]] = MappingProxyType({"antiMirror": False})
"""KataGo's settings that programs read or send and that cannot be changed here."""


# --- values ---


@dataclass(frozen=True)
class _Form:
    """How KataGo writes the values of an option: `read` converts its text (in lower case), `show` our value."""

    read: Callable[[str], Value]
    show: Callable[[Value], Value]


def _limit(most: float, unlimited: Value) -> _Form:
    """Return the form of a limit: KataGo's values from `most` up mean no limit, which is `unlimited` here."""

    def read(word: str) -> Value:
        try:
            return unlimited if float(word) >= most else word
        except ValueError:
            return word

    return _Form(read, lambda value: most if value == unlimited else value)


_COLOR_FORM: Final = _Form(lambda word: _COLORS.get(word, word), lambda value: str(value).upper())


def _read_symmetries(word: str) -> Value:
    """Return whether a number of symmetries is more than one; our own values stay.  Raises ConfigError."""
    if word in ("true", "false"):
        return word
    if word not in map(str, range(1, ALL_SYMMETRIES + 1)):
        raise ConfigError(problem(shown(word), expected=f"an integer from 1 to {ALL_SYMMETRIES}"))
    return word != "1"


_SYMMETRIES_FORM: Final = _Form(_read_symmetries, lambda value: ALL_SYMMETRIES if value else 1)

_FORMS: Final[Mapping[str, _Form]] = MappingProxyType(
    {
        "search.visits": _limit(NO_VISITS_LIMIT, 0),
        "time.time_per_move": _limit(NO_TIME_LIMIT, None),
        "analysis.analysis_time": _limit(NO_TIME_LIMIT, None),
        "gtp.analysis_perspective": _COLOR_FORM,
        "analysis.perspective": _COLOR_FORM,
        "puct.playout_doubling_advantage_color": _COLOR_FORM,
        "puct.root_average": _SYMMETRIES_FORM,
    }
)
"""The options that KataGo writes differently."""


def shown_as_katago(key: str, value: Value) -> Value:
    """Return the value of an option in KataGo's form."""
    form = _FORMS.get(key)
    return value if form is None else form.show(value)


def read_as_katago(key: str, value: object) -> Value:
    """Return KataGo's value of an option, from text or JSON, as `Config.with_values` takes it; raises ConfigError."""
    if not isinstance(value, bool | int | float | str):
        raise ConfigError(problem(shown_json(value), expected="a number, true, false or a text"))
    form = _FORMS.get(key)
    return value if form is None else form.read(str(value).strip().lower())


def with_katago_settings(config: Config, settings: Mapping[str, object]) -> tuple[Config, tuple[str, ...]]:
    """Return the configuration of an analysis with settings by KataGo's names, and the names without a counterpart.

    Raises ConfigError naming the setting whose value cannot be used; nothing is set then.
    """
    unknown = []
    for name, value in settings.items():
        key = ANALYSIS_OPTIONS.get(name)
        if key is None:
            if name not in CONSTANTS or str(value).lower() != str(CONSTANTS[name]).lower():
                unknown.append(name)
            continue
        try:
            config = config.with_values({key: read_as_katago(key, value)})
        except ConfigError as error:
            raise ConfigError(f"{name}: {error}") from None
    return config, tuple(unknown)


# --- text ---


def parse_overrides(text: str) -> dict[str, str]:
    """Return the settings in "key=value,key=value", the form of KataGo's `-override-config`; raises ConfigError."""
    settings = {}
    for piece in filter(None, (piece.strip() for piece in text.split(","))):
        name, equals, value = piece.partition("=")
        if not equals or not name.strip():
            raise ConfigError(problem(f"override {shown(piece)}", expected="key=value, several joined by commas"))
        settings[name.strip()] = value.strip()
    return settings


def read_katago_config(path: str | PathLike[str]) -> dict[str, str]:
    """Return the settings in a KataGo config file: lines `key = value`, comments after #.

    Raises ConfigError with the file's name when it cannot be read or holds anything else.
    """
    name = shown_path(path)
    try:
        with open(path, encoding="utf-8-sig", errors="replace") as file:
            return _settings_in(file, name)
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"cannot read config file {name}: {getattr(error, 'strerror', error)}") from error


def _settings_in(lines: Iterable[str], name: str) -> dict[str, str]:
    settings = {}
    for number, line in enumerate(lines, start=1):
        content = line.partition("#")[0].strip()
        if not content or content.startswith("@include"):
            continue
        key, equals, value = content.partition("=")
        if not equals or not key.strip():
            given = f"config file {name}, line {number}: {shown(content)}"
            raise ConfigError(problem(given, expected="key = value", advice="a TOML file of ours is named *.toml"))
        settings[key.strip()] = value.strip()
    return settings
