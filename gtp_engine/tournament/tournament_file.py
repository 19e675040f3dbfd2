"""A tournament's description: a TOML file with engines and conditions, and the matches that follow from it."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from gtp_engine.errors import TengenError, counted, problem, shown
from gtp_engine.go.handicap import HANDICAP_KOMI
from gtp_engine.go.rules import Rules
from gtp_engine.match.settings import MatchError, MatchSettings

FORMATS: Final = ("round-robin", "gauntlet")
"""Who meets whom: each engine every other, or the first engine all others."""

_CONDITION_KEYS: Final = {
    "size": "board_size",
    "komi": "komi",
    "rules": "rules",
    "handicap": "handicap",
    "main-time": "main_time",
    "overtime": "overtime",
    "overtime-stones": "overtime_stones",
    "overtime-periods": "overtime_periods",
    "increment": "increment",
    "time-grace": "time_grace",
    "time-left": "send_time_left",
    "forfeit-on-time": "forfeit_on_time",
    "visits": "visits",
    "openings": "openings",
    "random-plies": "random_plies",
    "seed": "seed",
    "max-moves": "max_moves",
    "referee": "referee",
    "reply-timeout": "reply_timeout",
}
"""The keys of a condition, named as the options of `gtp-engine match`, and the fields of MatchSettings they set."""

_TIME_PER_MOVE: Final = "time-per-move"

_TYPES: Final = {field.name: field.type for field in fields(MatchSettings)}


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
class Pairing:
    """Two entrants, by their places in the list, that meet under one condition; `first` is White in handicap games."""

    first: int
    second: int
    condition: int


@dataclass(frozen=True)
class Description:
    """A whole tournament.  Every pair plays `games` games under each condition, `parallel` of all games at once.

    With `bind_to_cores` each of these has cores of its own.  Relative paths of conditions begin at `base`.
    """

    entrants: tuple[Entrant, ...]
    conditions: tuple[Condition, ...]
    games: int = 10
    format: str = FORMATS[0]
    parallel: int = 1
    bind_to_cores: bool = False
    base: Path = Path()

    @property
    def pairings(self) -> list[Pairing]:
        """Return who meets whom under which condition, in the order of the conditions."""
        places = range(len(self.entrants))
        pairs = [pair for pair in combinations(places, 2) if self.format == FORMATS[0] or pair[0] == 0]
        return [Pairing(*pair, condition) for condition in range(len(self.conditions)) for pair in pairs]

    def match(self, pairing: Pairing) -> MatchSettings:
        """Return the settings of a pairing's match, openings as in the file; raises TengenError for invalid values."""
        first, second = self.entrants[pairing.first], self.entrants[pairing.second]
        return MatchSettings(
            first=first.command,
            second=second.command,
            first_name=first.name,
            second_name=second.name,
            games=self.games,
            **self.conditions[pairing.condition].values,
        )

    def openings(self, pairing: Pairing) -> str:
        """Return the folder with the openings of a pairing, below `base` if it is relative; "" if it has none."""
        folder = self.conditions[pairing.condition].values.get("openings", "")
        return str(self.base / folder) if folder else ""

    def folder(self, pairing: Pairing) -> str:
        """Return the name of the folder of a pairing's match."""
        names = (self.entrants[pairing.first].name, self.entrants[pairing.second].name)
        return "-".join([str(pairing.condition + 1), *(re.sub(r"(?:[^\w.]|_)+", "_", name) for name in names)])


def read_description(path: Path) -> Description:
    """Return the tournament that a TOML file describes; raises MatchError, naming the file.

    Relative paths begin at the folder of the file, beside which the results are written too.
    """
    try:
        with path.open("rb") as file:
            document = tomllib.load(file)
    except OSError as error:
        raise MatchError(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise MatchError(f"{path} is not TOML: {error}") from error
    try:
        return parse_description(document, base=path.parent)
    except TengenError as error:
        raise MatchError(f"{path}: {error}") from error


def parse_description(document: Mapping[str, Any], *, base: Path = Path()) -> Description:
    """Return the tournament in a parsed TOML file; raises MatchError and other TengenErrors."""
    known = ("engines", "conditions", "games", "format", "parallel", "bind-to-cores")
    _check_keys(document, known, "the tournament")
    entrants = tuple(_entrant(table) for table in _tables(document, "engines"))
    if len(entrants) < 2:
        raise MatchError(problem(counted(len(entrants), "engine"), expected="two or more tables [[engines]]"))
    names = [entrant.name for entrant in entrants]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise MatchError(problem(f"engine name {shown(min(repeated))} twice", advice="give each engine its own name"))
    description = Description(
        entrants,
        tuple(_condition(table) for table in _tables(document, "conditions")),
        games=_number(document, "games", 10),
        format=document.get("format", FORMATS[0]),
        parallel=_number(document, "parallel", 1),
        bind_to_cores=_flag(document, "bind-to-cores"),
        base=base,
    )
    if description.format not in FORMATS:
        raise MatchError(problem(f"format {shown(str(description.format))}", expected=" or ".join(FORMATS)))
    if not description.conditions:
        raise MatchError(problem("no conditions", expected="a table [[conditions]] with size, komi and a clock"))
    folders = [description.folder(pairing).casefold() for pairing in description.pairings]
    if len(set(folders)) < len(folders):
        advice = "change a letter or a number, since folders are named after them"
        raise MatchError(problem("engine names that differ only in punctuation or capitals", advice=advice))
    for pairing in description.pairings:
        description.match(pairing)
    return description


def _tables(document: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    tables = document.get(key, [])
    if not isinstance(tables, list) or not all(isinstance(table, Mapping) for table in tables):
        raise MatchError(problem(f"{key} is not a list of tables", expected=f"[[{key}]] before each of them"))
    return tables


def _entrant(table: Mapping[str, Any]) -> Entrant:
    _check_keys(table, ("name", "command"), "an engine")
    values = [table.get(key) for key in ("name", "command")]
    if not all(isinstance(value, str) and value.strip() for value in values):
        raise MatchError(problem(f"engine {shown(str(dict(table)))}", expected="a name and a command, both text"))
    return Entrant(str(values[0]), str(values[1]))


def _condition(table: Mapping[str, Any]) -> Condition:
    _check_keys(table, ("title", _TIME_PER_MOVE, *_CONDITION_KEYS), "a condition")
    values = {_CONDITION_KEYS[key]: value for key, value in table.items() if key in _CONDITION_KEYS}
    if _TIME_PER_MOVE in table:
        if values.keys() & {"main_time", "overtime", "overtime_stones", "overtime_periods", "increment"}:
            raise MatchError(
                "time-per-move is a clock of its own; leave out main-time, increment and the keys of overtime"
            )
        seconds = table[_TIME_PER_MOVE]
        if type(seconds) not in (int, float) or not seconds > 0:
            raise MatchError(problem(f"{_TIME_PER_MOVE} = {shown(str(seconds))}", expected="a number above 0"))
        values |= {"overtime": seconds, "overtime_stones": 1}
    for name, value in values.items():
        values[name] = _typed(name, value)
    if "komi" not in values:
        rules = Rules.parse(values.get("rules", "chinese"))
        values["komi"] = HANDICAP_KOMI if values.get("handicap") else rules.default_komi()
    return Condition(str(table.get("title", _title(table))), values)


def _title(table: Mapping[str, Any]) -> str:
    size = table.get("size", 19)
    rest = [f"{key} {value}" for key, value in table.items() if key != "size"]
    return ", ".join([f"{size}×{size}", *rest])


def _typed(name: str, value: Any) -> Any:
    """Return a value in the type of its match setting; raises MatchError if it has another type."""
    wanted: Any = _TYPES[name]
    if wanted is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if (wanted in (int, float, bool, str) and type(value) is wanted) or (isinstance(value, str) and name == "referee"):
        return value
    key = next(key for key, setting in _CONDITION_KEYS.items() if setting == name)
    kind = {int: "a whole number", float: "a number", bool: "true or false"}.get(wanted, "text")
    raise MatchError(problem(f"{key} = {shown(str(value))}", expected=kind))


def _number(document: Mapping[str, Any], key: str, default: int) -> int:
    value = document.get(key, default)
    if type(value) is not int or value < 1:
        raise MatchError(problem(f"{key} = {shown(str(value))}", expected="a whole number of at least 1"))
    return value


def _flag(document: Mapping[str, Any], key: str) -> bool:
    value = document.get(key, False)
    if not isinstance(value, bool):
        raise MatchError(problem(f"{key} = {shown(str(value))}", expected="true or false"))
    return value


def _check_keys(table: Mapping[str, Any], known: tuple[str, ...], what: str) -> None:
    if unknown := sorted(table.keys() - set(known)):
        raise MatchError(problem(f"unknown key {shown(unknown[0])} of {what}", expected=", ".join(known)))
