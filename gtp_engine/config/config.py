"""All sections together; TOML files in and out; values set by name."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from os import PathLike
from typing import Any, Final, cast

from gtp_engine.base.errors import ConfigError, of_kind, shown, shown_path, toml_advice
from gtp_engine.base.files import MAX_TEXT_BYTES, read_regular
from gtp_engine.config.human import HumanConfig
from gtp_engine.config.option import Option, Section, Value, section_options
from gtp_engine.config.puct import PuctConfig
from gtp_engine.config.sections import (
    AnalysisConfig,
    GameConfig,
    GtpConfig,
    NetworkConfig,
    PlayConfig,
    SearchConfig,
    TimeConfig,
    VarietyConfig,
)

_HELP_WIDTH: Final = 100
"""Columns of a comment in a TOML file."""


@dataclass(frozen=True)
class Config:
    """The whole configuration; every instance is valid.  All share the sections that have the defaults.

    >>> Config().with_values({"search.visits": 100}).search.visits
    100
    """

    game: GameConfig = field(default_factory=cache(GameConfig))
    search: SearchConfig = field(default_factory=cache(SearchConfig))
    puct: PuctConfig = field(default_factory=cache(PuctConfig))
    human: HumanConfig = field(default_factory=cache(HumanConfig))
    network: NetworkConfig = field(default_factory=cache(NetworkConfig))
    time: TimeConfig = field(default_factory=cache(TimeConfig))
    play: PlayConfig = field(default_factory=cache(PlayConfig))
    variety: VarietyConfig = field(default_factory=cache(VarietyConfig))
    gtp: GtpConfig = field(default_factory=cache(GtpConfig))
    analysis: AnalysisConfig = field(default_factory=cache(AnalysisConfig))

    def __post_init__(self) -> None:
        """Refuse what is not a section, such as a dictionary of options; raises ConfigError."""
        for name, kind in _sections().items():
            section = getattr(self, name)
            if not isinstance(section, kind):
                given, advice = f"section {name} {shown(section)}", "Config().with_values sets options by name"
                raise ConfigError(given, expected=f"a {kind.__name__}", advice=advice)

    @property
    def wants_network(self) -> bool:
        """Whether a network has to be loaded: one is named, or the search needs one."""
        return self.network.model is not None or self.search.search in ("auto", "puct")

    @staticmethod
    def from_toml(path: str | PathLike[str]) -> "Config":
        """Return the defaults with the values of a TOML file; raises ConfigError with the file's name and why."""
        name = shown_path(path)
        try:
            text = read_regular(path, MAX_TEXT_BYTES).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ConfigError(f"config file {name}: byte {error.start}", expected="UTF-8 text") from error
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            raise ConfigError(f"cannot read config file {name}: {getattr(error, 'strerror', error)}") from error
        return Config.from_toml_text(text, source=f"config file {name}")

    @staticmethod
    def from_toml_text(text: str, *, source: str = "configuration") -> "Config":
        """Return the defaults with the values of TOML text; raises ConfigError, its message led by `source`."""
        import tomllib  # here: only a command with a config file needs it

        try:
            return Config()._with_items(_items(tomllib.loads(of_kind(text, str, "TOML"))))
        except ValueError as error:  # a ConfigError, a TOMLDecodeError, or an integer too long for Python
            raise ConfigError(f"{source}: {error}", advice=toml_advice(text)) from None
        except RecursionError:
            raise ConfigError(f"{source}: nested too deeply") from None

    def with_values(self, values: Mapping[str, Value]) -> "Config":
        """Return the configuration with options set by full name, {"search.visits": 100, "search.seed": "7"}.

        Text is parsed as on the command line, other values are used unchanged.

        Raises ConfigError naming the option and what it expects; nothing is set then.
        """
        pairs = ((find_option(key), value) for key, value in of_kind(values, Mapping, "values").items())
        return self._with_items(
            (known, known.parse(value) if isinstance(value, str) else known.check(value)) for known, value in pairs
        )

    def value(self, key: str) -> Value:
        """Return the value of the option with this full name; raises ConfigError for an unknown name."""
        known = find_option(key)
        return cast(Value, getattr(getattr(self, known.section), known.name))

    def shapes_trees_like(self, other: "Config") -> bool:
        """Return whether a search under the other configuration may go on with its trees (`Option.shapes_tree`)."""
        for name, kind in _sections().items():
            ours, theirs = vars(getattr(self, name)), vars(getattr(other, name))
            for known in section_options(kind) if ours is not theirs else ():
                if known.shapes_tree and ours[known.name] != theirs[known.name]:
                    return False
        return True

    @staticmethod
    def options() -> tuple[Option, ...]:
        """Return every option, section by section in the order of declaration."""
        return tuple(_options().values())

    def to_toml(self) -> str:
        """Return the text of a config file with every option, its help and its bounds.

        Options that hold their default are commented out, so that a file written by one version gets the better
        defaults of the next.
        """
        lines = ["# Configuration of the Go engine Tengen.  Remove the # before an option to change it.", ""]
        for name, section in _sections().items():
            lines += [f"[{name}]", *_comment((section.__doc__ or "").split("\n")[0]), ""]
            for known in section_options(section):
                value = self.value(known.key)
                line = f"{known.name} = {known.format(value)}"
                lines += [*_comment(known.help), *_comment(f"Expects {known.expectation}.")]
                lines += [f"# {line}" if value == known.default else line, ""]
        return "\n".join(lines)

    def _with_items(self, items: Iterable[tuple[Option, Value]]) -> "Config":
        """Return the configuration with these options set to values that have been checked."""
        changes: dict[str, dict[str, Value]] = {}
        for known, value in items:
            changes.setdefault(known.section, {})[known.name] = value
        sections: dict[str, Any] = {name: getattr(self, name).changed(values) for name, values in changes.items()}
        return replace(self, **sections)


def find_option(key: str) -> Option:
    """Return the option with this full name ("search.visits"); raises ConfigError with the closest name."""
    if not isinstance(key, str):
        raise ConfigError(f"option {shown(key)}", expected="a name such as search.visits")
    known = _options().get(key)
    if known is not None:
        return known
    section, _, name = key.partition(".")
    if section not in _sections():
        advice = _closest(section, _sections(), others="sections are")
        raise ConfigError(f"section {shown(section)}", expected="a known section", advice=advice)
    homes = [known.key for known in _options().values() if known.name == name]
    if homes:
        advice = f"did you mean {homes[0]}?"
    else:
        names = [known.name for known in section_options(_sections()[section])]
        advice = _closest(name, names, others=f"options of {section} are", prefix=f"{section}.")
    raise ConfigError(f"option {shown(key)}", expected="a known option", advice=advice)


@cache
def _sections() -> Mapping[str, type[Section]]:
    """Return the sections by name in the order of `Config`'s fields."""
    return {entry.name: cast(type[Section], entry.type) for entry in fields(Config)}


@cache
def _options() -> Mapping[str, Option]:
    """Return every option by its full name."""
    return {known.key: known for section in _sections().values() for known in section_options(section)}


def _items(tables: Mapping[str, object]) -> Iterator[tuple[Option, Value]]:
    """Yield the options and values of a parsed TOML file; raises ConfigError for tables, keys and values."""
    for section, table in tables.items():
        if not isinstance(table, dict):
            advice = f"options belong to sections such as [{next(iter(_sections()))}]"
            raise ConfigError(f"option {shown(section)} outside a section", advice=advice)
        if section not in _sections():
            find_option(section)
        for name, value in table.items():
            known = find_option(f"{section}.{name}")
            yield known, known.check(value)


def _closest(word: str, names: Iterable[str], *, others: str, prefix: str = "") -> str:
    """Return advice: the closest of `names` after `prefix`, or else all of them after the words `others`."""
    from difflib import get_close_matches  # here: importing it takes milliseconds, which only a mistake needs

    known = list(names)
    close = get_close_matches(word[:100], known, n=1)
    return f"did you mean {prefix}{close[0]}?" if close else f"{others} {', '.join(known)}"


def _comment(text: str) -> list[str]:
    """Return `text` as comment lines."""
    from textwrap import wrap

    return [f"# {line}" for line in wrap(text, _HELP_WIDTH, break_on_hyphens=False)]
