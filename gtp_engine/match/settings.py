"""The settings of a match: everything that decides its games, in one value that is stored and compared.

A resumed match must have the same settings (`identity`), except for the number of games, so that a match can be
extended, the number of parallel games, and the engines' names.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from gtp_engine.clock import TimeSettings
from gtp_engine.errors import TengenError, problem, shown
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE
from gtp_engine.go.handicap import fixed_handicap_points
from gtp_engine.go.rules import Rules

Side = Literal["first", "second"]
"""One of the two engines, with either colour."""

SIDES: Final[tuple[Side, Side]] = ("first", "second")

RefereeMode = Literal["players", "estimate", "board"]
"""How a game that ended with two passes is scored; see `gtp_engine.match.referee`."""

REFEREE_MODES: Final[tuple[RefereeMode, ...]] = get_args(RefereeMode)

DEFAULT_MAX_MOVES: Final = 1000
"""Moves after which a game is stopped and counted as void, as in gogui-twogtp."""

DEFAULT_ERROR: Final = 0.05
"""Probability of each of the two errors of a sequential test, as in Fishtest and cutechess-cli."""

MAX_ELO: Final = 4000.0
"""Largest Elo difference in a test: more than between a beginner and the best engine."""

_CLOCK_PARTS: Final = ("main_time", "overtime", "overtime_stones", "overtime_periods", "increment")

_NOT_COMPARED: Final = ("games", "parallel", "first_name", "second_name")


class MatchError(TengenError):
    """The match cannot be played or continued with these settings."""


def other_side(side: Side) -> Side:
    """Return the opponent of `side`."""
    return "second" if side == "first" else "first"


@dataclass(frozen=True)
class Sprt:
    """A sequential test of the Elo difference `elo0` against `elo1` (see `match.sprt`); raises MatchError.

    `alpha` is the probability of accepting `elo1` although the difference is `elo0`, `beta` that of the reverse.
    """

    elo0: float
    elo1: float
    alpha: float = DEFAULT_ERROR
    beta: float = DEFAULT_ERROR

    def __post_init__(self) -> None:
        if not -MAX_ELO <= self.elo0 < self.elo1 <= MAX_ELO:
            given = f"Elo differences {self.elo0:g} and {self.elo1:g} of the sequential test"
            raise MatchError(problem(given, expected=f"a smaller and a larger one from {-MAX_ELO:g} to {MAX_ELO:g}"))
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise MatchError(problem(f"{name} {value:g}", expected="a probability above 0 and below 0.5"))


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """Two engine commands and the conditions of their games.

    Raises MatchError, HandicapError or RulesError for invalid values.

    With a `handicap` the second engine is Black in every game and begins with so many stones on the traditional points;
    without one, colours alternate.  `main_time`, `overtime` (for `overtime_stones` moves, or each of `overtime_periods`
    byo-yomi periods), `increment` (added after each move: a Fischer clock) and `time_grace` are in seconds; all zero
    means no clock.  `visits` 0 leaves the engines' visits unchanged.  `random_plies` moves are drawn with `seed` for
    each pair of games, or `openings` names a folder of game records.  `first_name` and `second_name` replace the
    engines' own names.  The match ends early when `sprt` accepts a hypothesis.
    """

    first: str
    second: str
    games: int = 10
    board_size: int = 19
    komi: float = 7.5
    rules: str = "chinese"
    handicap: int = 0
    main_time: float = 0.0
    overtime: float = 0.0
    overtime_stones: int = 0
    overtime_periods: int = 0
    increment: float = 0.0
    time_grace: float = 0.5
    forfeit_on_time: bool = True
    send_time_left: bool = False
    visits: int = 0
    openings: str = ""
    random_plies: int = 0
    seed: int = 1
    max_moves: int = DEFAULT_MAX_MOVES
    referee: RefereeMode = "players"
    reply_timeout: float = 600.0
    parallel: int = 1
    first_name: str = ""
    second_name: str = ""
    sprt: Sprt | None = None

    def __post_init__(self) -> None:
        if not self.first.strip() or not self.second.strip():
            raise MatchError("a match needs two engine commands")
        if not MIN_SIZE <= self.board_size <= MAX_SIZE:
            raise MatchError(problem(f"board size {self.board_size}", expected=f"{MIN_SIZE} to {MAX_SIZE}"))
        if not math.isfinite(self.komi):
            raise MatchError(problem(f"komi {self.komi}", expected="a finite number"))
        for name in ("games", "parallel", "max_moves"):
            if getattr(self, name) < 1:
                raise MatchError(problem(f"{name} {getattr(self, name)}", expected="at least 1"))
        for name in (*_CLOCK_PARTS, "time_grace", "visits", "random_plies"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise MatchError(problem(f"{name} {value}", expected="zero or more"))
        self._check_clock()
        self._check_handicap()
        if self.openings and self.random_plies:
            raise MatchError("a match has a folder of openings or random plies; leave out one of them")
        if not self.reply_timeout > 0:
            raise MatchError(problem(f"reply timeout {self.reply_timeout}", expected="more than zero seconds"))
        if self.referee not in REFEREE_MODES:
            raise MatchError(problem(f"referee {shown(self.referee)}", expected=", ".join(REFEREE_MODES)))
        self.parsed_rules()  # raises RulesError now rather than in the middle of the match

    def _check_handicap(self) -> None:
        """Raise MatchError or HandicapError for a handicap that cannot be placed or does not go with the rest."""
        self.handicap_points()
        if self.handicap and self.openings:
            raise MatchError("a match has a handicap or a folder of openings; leave out one of them")
        if self.handicap and self.sprt:
            raise MatchError("a sequential test compares pairs of games with exchanged colours; leave out the handicap")

    def _check_clock(self) -> None:
        """Raise MatchError for parts of a clock that cannot be combined."""
        if (self.overtime > 0) != (self.overtime_stones > 0 or self.overtime_periods > 0):
            raise MatchError("overtime needs both its seconds and its number of stones or periods")
        if self.overtime_stones > 0 and self.overtime_periods > 0:
            raise MatchError("overtime has a number of stones or one of periods; leave out one of them")
        if self.increment > 0 and self.overtime > 0:
            raise MatchError("a clock with an increment has no overtime; leave out one of them")
        if self.increment > 0 and self.main_time == 0:
            raise MatchError("a clock with an increment needs main time for the first move")

    def command(self, side: Side) -> str:
        """Return the command line of one engine."""
        return self.first if side == "first" else self.second

    def name(self, side: Side) -> str:
        """Return the name set for one engine, "" for its own name."""
        return self.first_name if side == "first" else self.second_name

    def handicap_points(self) -> tuple[int, ...]:
        """Return the points of the handicap stones; raises HandicapError."""
        return fixed_handicap_points(self.handicap, self.board_size, self.board_size) if self.handicap else ()

    def black(self, game: int) -> Side:
        """Return who is Black in a game; games are numbered from 1."""
        return "first" if game % 2 and not self.handicap else "second"

    def opening(self, game: int) -> int:
        """Return the number of the opening of a game, from 0: the same for both games with exchanged colours."""
        return game - 1 if self.handicap else (game - 1) // 2

    def parsed_rules(self) -> Rules:
        """Return the rules as a value; raises RulesError."""
        return Rules.parse(self.rules)

    def time_settings(self) -> TimeSettings | None:
        """Return the clock of each engine, or None for a match without clocks."""
        if self.main_time == 0 and self.overtime == 0:
            return None
        if self.increment > 0:
            return TimeSettings.fischer(self.main_time, self.increment)
        if self.overtime_periods > 0:
            return TimeSettings.byoyomi(self.main_time, self.overtime, self.overtime_periods)
        return TimeSettings.canadian(self.main_time, self.overtime, self.overtime_stones)

    def to_json(self) -> dict[str, Any]:
        """Return all settings as a JSON object."""
        return dataclasses.asdict(self)

    def identity(self) -> dict[str, Any]:
        """Return the settings that two runs must share for their games to belong to one match."""
        return {name: value for name, value in self.to_json().items() if name not in _NOT_COMPARED}


def completed(identity: dict[str, Any]) -> dict[str, Any]:
    """Return an identity with defaults added for settings that it lacks, because an earlier version wrote it."""
    fields = [field for field in dataclasses.fields(MatchSettings) if field.name not in _NOT_COMPARED]
    return {field.name: field.default for field in fields if field.default is not dataclasses.MISSING} | identity


def describe_difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Return "komi 7.0 there, 6.5 now" for each differing entry, joined by semicolons; "" if all are equal."""
    names = sorted(old.keys() | new.keys())
    return "; ".join(
        f"{name} {old.get(name)!r} there, {new.get(name)!r} now" for name in names if old.get(name) != new.get(name)
    )
