"""What an option is: a dataclass field with type, default, unit, help, bounds and choices, and its text forms.

A section is a frozen dataclass derived from `Section`; each field is declared with `option`:

    @dataclass(frozen=True)
    class SearchConfig(Section, name="search"):
        visits: int = option(0, unit="visits", low=0)
        "Stop a search at this many visits; 0: no limit."

The text below the field is its help for users, read from the source when it is shown; a short one may stand in the
call, after the default.

Types: bool, int, float, str, each with or without `| None`.  None means "not set", and the help describes what happens
then.  Sections check their values when they are created, so every instance is valid.

A setting that KataGo has too declares its name, from which `config.katago` makes its tables and the help its end.
"""

import ast
import inspect
import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from functools import cache, cached_property
from itertools import pairwise
from numbers import Integral, Real
from os import PathLike, fspath
from typing import Any, ClassVar, Final, Self, TypeAlias, TypeVar, cast, get_args

from gtp_engine.base.errors import ConfigError, shown, shown_path
from gtp_engine.base.files import is_special

Value: TypeAlias = bool | int | float | str | None
"""The value of an option."""

T = TypeVar("T")

FILE_UNITS: Final = ("path", "file", "folder")
"""Units of options that name a file to read, or a folder."""

_BOOLEANS: Final = dict.fromkeys(("true", "yes", "on", "1"), True) | dict.fromkeys(("false", "no", "off", "0"), False)
_CONTROL_CHARACTERS: Final = frozenset(map(chr, [*range(32), 127]))
"""Never part of a text: a name with a newline would break the protocol."""

_LARGEST_FLOAT: Final = sys.float_info.max
_LARGEST_INTEGER: Final = 2**63 - 1

_NONE_WORD: Final = "none"
"""The text that unsets an option that may be unset."""

_KIND_NAMES: Final = {bool: "true or false", int: "an integer", float: "a number", str: "a text"}


@dataclass(frozen=True)
class Option:
    """One option: the class of its section and its name, its allowed values, its meaning.

    `kind` is bool, int, float or str; None is allowed too if `optional`.  `low` and `high` are inclusive, in `unit`;
    `choices` lists the only texts allowed; `normalize` returns the usual form of a text, or raises ConfigError.  `text`
    is the help that was given in the call.  `called` is the name in messages, where it is not that of a config file.

    `katago` is KataGo's name of the setting, `katago_gtp` and `katago_analysis` one that only its GTP server, or only
    its analysis server, knows; `katago_start` one that it reads from its config file, and that cannot be changed later.

    `shapes_tree` is False if a search goes on with its tree when the option changes.
    """

    declared_in: type["Section"]
    name: str
    kind: type
    optional: bool
    default: Value
    text: str = ""
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    normalize: Callable[[str], str] | None = None
    katago: str = ""
    katago_gtp: str = ""
    katago_analysis: str = ""
    katago_start: str = ""
    shapes_tree: bool = True
    called: str = ""

    @property
    def section(self) -> str:
        """Return the name of the section, "search"."""
        return self.declared_in.section_name

    @cached_property
    def help(self) -> str:
        """One or more sentences for the user.

        They name KataGo's setting where they say {katago}, {katago_gtp}, {katago_analysis} or {katago_start}; else they
        end with `katago`.
        """
        owners = (each for each in self.declared_in.__mro__ if issubclass(each, Section))
        below = (_texts_below(each.__module__).get((each.__name__, self.name)) for each in owners)
        text = " ".join((self.text or next(filter(None, below))).split())
        if self.katago and "{katago}" not in text:
            text = text.removesuffix(".") + " ({katago})."
        for name in ("katago", "katago_gtp", "katago_analysis", "katago_start"):
            text = text.replace(f"{{{name}}}", getattr(self, name))
        return text

    @cached_property
    def key(self) -> str:
        """Return the full name, "search.visits"."""
        return f"{self.section}.{self.name}"

    @property
    def flag(self) -> str:
        """Return the command line flag, "--visits"; unique over all sections of a configuration."""
        return "--" + self.name.replace("_", "-")

    @property
    def expectation(self) -> str:
        """Return which values are allowed, for messages and help: "an integer from 0 to 1024"."""
        if self.choices:
            text = " or ".join(self.choices)
        else:
            unit = f"({self.unit})" if self.unit else ""
            words = (f"a {self.unit}",) if self.unit in FILE_UNITS else (_KIND_NAMES[self.kind], self._bounds(), unit)
            text = " ".join(word for word in words if word)
        return f"{text}, or {_NONE_WORD}" if self.optional and not self.called else text

    def check(self, value: object) -> Value:
        """Return `value` as the option's type; raises ConfigError naming option, value and bounds.

        An integer is accepted where a number is expected and becomes a float, and "none" where an option may be
        unset (TOML has no null); nothing else is converted.
        """
        if self.optional and (value is None or (isinstance(value, str) and value == _NONE_WORD)):
            return None
        if isinstance(value, Real) and not isinstance(value, bool):  # numpy's too
            value = _to_float(value) if self.kind is float else int(value) if isinstance(value, Integral) else value
        if self.unit in FILE_UNITS and isinstance(value, PathLike):
            value = fspath(value)
        if self.normalize is not None and isinstance(value, str):
            return self.normalize(value)
        # The exact type: True is an int to Python, not to a user.
        if type(value) is not self.kind or not self._allows(value):
            raise self._refused(shown(value))
        if self.unit in FILE_UNITS and is_special(cast(str, value)):  # a pipe is waited for, a device has no end
            raise self._refused(shown_path(str(value)), "a regular file")
        return cast(Value, value)

    def parse(self, text: str) -> Value:
        """Return the value `text` stands for, checked; raises ConfigError.

        "none" unsets an option that may be unset; booleans are true/false, yes/no, on/off or 1/0 in any case.
        """
        word = text.strip()
        if self.optional and word.lower() == _NONE_WORD:
            return None
        if self.kind is str:
            return self.check(text)
        try:
            value = _BOOLEANS[word.lower()] if self.kind is bool else self.kind(word)
        except (LookupError, ValueError):
            raise self._refused(shown(text)) from None
        return self.check(value)

    def format(self, value: Value) -> str:
        """Return `value` in TOML's syntax."""
        if isinstance(value, bool | int | float):
            return json.dumps(value)
        return json.dumps(_NONE_WORD if value is None else value, ensure_ascii=False)

    def _allows(self, value: object) -> bool:
        """Return whether a value of the right type is within bounds and choices; infinity and NaN never are."""
        if isinstance(value, str):
            return value in self.choices if self.choices else not _CONTROL_CHARACTERS.intersection(value)
        largest = _LARGEST_FLOAT if self.kind is float else _LARGEST_INTEGER
        low = -largest if self.low is None else self.low
        high = largest if self.high is None else self.high
        return low <= cast(float, value) <= high

    def _bounds(self) -> str:
        if self.low is not None and self.high is not None:
            return f"from {_bound_text(self.low)} to {_bound_text(self.high)}"
        if self.low is not None:
            return f"of at least {_bound_text(self.low)}"
        return f"of at most {_bound_text(self.high)}" if self.high is not None else ""

    def _refused(self, given: str, expected: str = "") -> ConfigError:
        return ConfigError(f"{self.called or f'option {self.key} ='} {given}", expected=expected or self.expectation)


@cache
def _texts_below(module: str) -> dict[tuple[str, str], str]:
    """Return the texts below the fields in the source of a module, by class and field."""
    found = {}
    for owner in ast.walk(ast.parse(inspect.getsource(sys.modules[module]))):
        if isinstance(owner, ast.ClassDef):
            for entry, text in pairwise(owner.body):
                match entry, text:
                    case ast.AnnAssign(target=ast.Name(name)), ast.Expr(ast.Constant(str(words))):
                        found[owner.name, name] = words
    return found


def option(default: T, text: str = "", *, bounds: tuple[float, float] | None = None, **properties: Any) -> T:
    """Return a dataclass field that declares an option with these properties of `Option`.

    `bounds` are low and high; without a `text` the one below the field is the help.
    """
    if bounds is not None:
        properties |= {"low": bounds[0], "high": bounds[1]}
    return field(default=default, metadata={"text": text, **properties})


class Section:
    """Base of the sections: gives each section its name and checks its values; see the module docstring."""

    section_name: ClassVar[str] = ""
    shapes_trees: ClassVar[bool] = True

    def __init_subclass__(cls, name: str, *, shapes_trees: bool = True) -> None:
        """Set the name of the TOML table, and whether any of its options may be one that `shapes_tree`."""
        cls.section_name, cls.shapes_trees = name, shapes_trees

    def __post_init__(self) -> None:
        """Check every value; raises ConfigError."""
        for declared in section_options(type(self)):
            # The one write to a frozen instance: an integer given for a float becomes a float.
            object.__setattr__(self, declared.name, declared.check(getattr(self, declared.name)))

    def changed(self, values: Mapping[str, Value]) -> Self:
        """Return the section with these values, which have been checked; the others are not checked again."""
        section = object.__new__(type(self))
        vars(section).update({each.name: getattr(self, each.name) for each in fields(cast(Any, self))}, **values)
        return section


_OPTIONS: Final[dict[type[Section], tuple[Option, ...]]] = {}
"""The options of the sections that were asked for."""


def section_options(section: type[Section]) -> tuple[Option, ...]:
    """Return the options of a section in the order of their declaration; other fields of it are none."""
    if section not in _OPTIONS:
        declared = fields(cast(Any, section))
        _OPTIONS[section] = tuple(_option_of(section, each) for each in declared if each.metadata)
    return _OPTIONS[section]


def _option_of(section: type[Section], entry: "Field[Any]") -> Option:
    """Return the option a field declares."""
    kinds = [kind for kind in get_args(entry.type) or (entry.type,) if kind is not type(None)]
    return Option(
        declared_in=section,
        name=entry.name,
        kind=cast(type, kinds[0]),
        optional=type(None) in get_args(entry.type),
        default=cast(Value, entry.default),
        **{"shapes_tree": section.shapes_trees, **entry.metadata},
    )


def _bound_text(bound: float) -> str:
    """Return a bound as a user would write it: "1000000000" also for the float."""
    return str(int(bound)) if bound == int(bound) else str(bound)


def _to_float(value: Real) -> float:
    """Return `value` as a float, infinite where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.inf
