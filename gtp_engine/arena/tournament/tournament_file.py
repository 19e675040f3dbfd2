"""A tournament's description: a TOML file with engines and conditions, and the matches that follow from it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from gtp_engine.arena.match.settings import MatchError, MatchSettings
from gtp_engine.base.errors import TengenError, counted, shown, toml_advice
from gtp_engine.base.files import MAX_TEXT_BYTES, read_regular
from gtp_engine.config.option import Option, Section, option, section_options

FORMATS: Final = ("round-robin", "gauntlet")
"""Who meets whom: each engine every other, or the first engine all others."""

_OF_THE_TOURNAMENT: Final = ("first_name", "second_name", "games", "parallel")
"""Options of a match that a tournament sets for all of them."""


def _keys(options: tuple[Option, ...]) -> dict[str, str]:
    """Return the names of options by their keys in the file, which are those of flags."""
    return {known.flag.removeprefix("--"): known.name for known in options}


@dataclass(frozen=True)
class Entrant:
    """An engine of the tournament: its name in the tables, and its command line."""

    name: str
    command: str


@dataclass(frozen=True)
class Condition:
    """Board, rules and clock of some games: settings of a match without its engines; `title` names it in the tables."""

    title: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Meeting:
    """Two entrants, by their places in the list, that meet under one condition; `first` is White in handicap games."""

    first: int
    second: int
    condition: int


@dataclass(frozen=True, kw_only=True)
class Tournament(Section, name="tournament"):
    """A whole tournament; relative paths of conditions begin at `base`.  Raises ConfigError for invalid values."""

    entrants: tuple[Entrant, ...]
    conditions: tuple[Condition, ...]
    base: Path = Path()
    games: int = option(MatchSettings.games, "Games of each pair under each condition.", low=1)
    format: str = option(FORMATS[0], "Who meets whom.", choices=FORMATS)
    parallel: int = option(MatchSettings.parallel, "Games played at once, of all pairs.", low=1)
    bind_to_cores: bool = option(False, "Give each of these games cores of its own.")

    @property
    def meetings(self) -> list[Meeting]:
        """Return who meets whom under which condition, in the order of the conditions."""
        places = range(len(self.entrants))
        pairs = [pair for pair in combinations(places, 2) if self.format == FORMATS[0] or pair[0] == 0]
        return [Meeting(*pair, condition) for condition in range(len(self.conditions)) for pair in pairs]

    def match(self, meeting: Meeting) -> MatchSettings:
        """Return the settings of a meeting's match, openings as in the file; raises TengenError for invalid values."""
        first, second = self.entrants[meeting.first], self.entrants[meeting.second]
        return MatchSettings(
            first=first.command,
            second=second.command,
            first_name=first.name,
            second_name=second.name,
            games=self.games,
            **self.conditions[meeting.condition].values,
        )

    def folder(self, meeting: Meeting) -> str:
        """Return the name of the folder of a meeting's match."""
        names = (self.entrants[meeting.first].name, self.entrants[meeting.second].name)
        return "-".join([str(meeting.condition + 1), *(re.sub(r"(?:[^\w.]|_)+", "_", name) for name in names)])


def read_description(path: Path) -> Tournament:
    """Return the tournament that a TOML file describes; raises MatchError, naming the file.

    Relative paths begin at the folder of the file, beside which the results are written too.
    """
    try:
        text = read_regular(path, MAX_TEXT_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise MatchError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise MatchError(f"{path} is not TOML: {error}") from error
    try:
        return parse_description(tomllib.loads(text), base=path.parent)
    except tomllib.TOMLDecodeError as error:
        raise MatchError(f"{path} is not TOML: {error}", advice=toml_advice(text)) from error
    except RecursionError:
        raise MatchError(f"{path} is nested too deeply") from None
    except (TengenError, ValueError) as error:  # the second for an integer too long for Python
        raise MatchError(f"{path}: {error}", advice=toml_advice(text)) from error


def parse_description(document: Mapping[str, Any], *, base: Path = Path()) -> Tournament:
    """Return the tournament in a parsed TOML file; raises MatchError and other TengenErrors."""
    known = _keys(section_options(Tournament))
    _check_keys(document, ("engines", "conditions", *known), "the tournament")
    entrants = tuple(_entrant(table) for table in _tables(document, "engines"))
    if len(entrants) < 2:
        raise MatchError(counted(len(entrants), "engine"), expected="two or more tables [[engines]]")
    names = [entrant.name for entrant in entrants]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise MatchError(f"engine name {shown(min(repeated))} twice", advice="give each engine its own name")
    description = Tournament(
        entrants=entrants,
        conditions=tuple(_condition(table) for table in _tables(document, "conditions")),
        base=base,
        **{name: document[key] for key, name in known.items() if key in document},
    )
    if not description.conditions:
        raise MatchError("no conditions", expected="a table [[conditions]] with size, komi and a clock")
    folders = [description.folder(meeting).casefold() for meeting in description.meetings]
    if len(set(folders)) < len(folders):
        advice = "change a letter or a number, since folders are named after them"
        raise MatchError("engine names that differ only in punctuation or capitals", advice=advice)
    for meeting in description.meetings:
        description.match(meeting)
    return description


def _tables(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    tables = document.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise MatchError(f"{key} is not a list of tables", expected=f"[[{key}]] before each of them")
    return tables


def _entrant(table: Mapping[str, Any]) -> Entrant:
    _check_keys(table, ("name", "command"), "an engine")
    values = [table.get(key) for key in ("name", "command")]
    if not all(isinstance(value, str) and value.strip() for value in values):
        raise MatchError(f"engine {shown(str(dict(table)))}", expected="a name and a command, both text")
    return Entrant(str(values[0]), str(values[1]))


def _condition(table: Mapping[str, Any]) -> Condition:
    """Return a condition with the values that it gives, its komi and its clock; raises TengenErrors."""
    known = _keys(section_options(MatchSettings))
    known = {key: name for key, name in known.items() if name not in _OF_THE_TOURNAMENT}
    _check_keys(table, ("title", *known), "a condition")
    given = {name: table[key] for key, name in known.items() if key in table}
    match = MatchSettings(first="-", second="-", **given)
    clock = ("overtime", "overtime_stones") if given.pop("time_per_move", None) is not None else ()
    values = {name: getattr(match, name) for name in (*given, *clock, "komi")}
    return Condition(str(table.get("title", _title(table))), values)


def _title(table: Mapping[str, Any]) -> str:
    size = table.get("size", 19)
    rest = [f"{key} {value}" for key, value in table.items() if key != "size"]
    return ", ".join([f"{size}×{size}", *rest])


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    if unknown := sorted(table.keys() - set(known)):
        raise MatchError(f"unknown key {shown(unknown[0])} of {what}", expected=", ".join(known))
