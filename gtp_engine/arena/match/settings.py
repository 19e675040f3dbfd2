"""The settings of a match: everything that decides its games, in one value that is stored and compared.

Most are options (`config.option`): flags of `gtp-engine match`, and keys of a tournament's conditions.  A resumed match
must have the same settings (`identity`), except for the number of games, so that a match can be extended, the number of
parallel games, and the engines' names.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from gtp_engine.base.errors import TengenError
from gtp_engine.config.option import Section, option
from gtp_engine.go.clock import TimeSettings
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE
from gtp_engine.go.handicap import HANDICAP_KOMI, fixed_handicap_points
from gtp_engine.go.rules import Rules

MatchSide = Literal["first", "second"]
"""One of the two engines, with either colour."""

SIDES: Final[tuple[MatchSide, MatchSide]] = ("first", "second")

DEFAULT_ERROR: Final = 0.05
"""Probability of each of the two errors of a sequential test, as in Fishtest and cutechess-cli."""

MOST_AT_ONCE: Final = 1024
"""Games that wait for a pool's workers at a time, unless the number of parallel games is given."""

MAX_ELO: Final = 4000.0
"""Largest Elo difference in a test: more than between a beginner and the best engine."""

_NOT_COMPARED: Final = ("games", "parallel", "first_name", "second_name", "time_per_move")

_STORED_NAMES: Final[Mapping[str, str]] = {"size": "board_size", "time_left": "send_time_left"}
"""Names of settings in files, where they are not those of the options."""


class MatchError(TengenError):
    """The match cannot be played or continued with these settings."""


def other_side(side: MatchSide) -> MatchSide:
    """Return the opponent of `side`."""
    return "second" if side == "first" else "first"


@dataclass(frozen=True)
class Sprt:
    """A sequential test of the Elo difference `elo0` against `elo1` (see `arena.match.statistics`); raises MatchError.

    `alpha` is the probability of accepting `elo1` although the difference is `elo0`, `beta` that of the reverse.
    """

    elo0: float
    elo1: float
    alpha: float = DEFAULT_ERROR
    beta: float = DEFAULT_ERROR

    def __post_init__(self) -> None:
        if not -MAX_ELO <= self.elo0 < self.elo1 <= MAX_ELO:
            given = f"Elo differences {self.elo0:g} and {self.elo1:g} of the sequential test"
            raise MatchError(given, expected=f"a smaller and a larger one from {-MAX_ELO:g} to {MAX_ELO:g}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise MatchError(f"{name} {value:g}", expected="a probability above 0 and below 0.5")


@dataclass(frozen=True, kw_only=True)
class MatchSettings(Section, name="match"):
    """Two engine commands and the conditions of their games; the match ends early when `sprt` accepts a hypothesis.

    An instance has a komi, and a time per move is its overtime of one move.  All parts of the clock are zero in a match
    without clocks.  Raises ConfigError, MatchError, HandicapError or RulesError for invalid values.

    >>> MatchSettings(first="gtp-engine --level 3k", second="gnugo --mode gtp", games=20, size=9).rules
    'chinese'
    """

    first: str
    second: str
    sprt: Sprt | None = None
    first_name: str = option("", "Name of the first engine. [default: its own]", unit="name")
    second_name: str = option("", "Name of the second engine. [default: its own]", unit="name")
    games: int = option(10, "Number of games; colours alternate.", low=1)
    parallel: int = option(1, "Games played at once, each with two engine processes of its own.", low=1)
    size: int = option(19, "Board size.", bounds=(MIN_SIZE, MAX_SIZE))
    komi: float | None = option(None, unit="points")
    """Points for White. [default: usual under the rules, but 7 on 9x9 by area rules; 0.5 with a handicap]"""
    rules: str = option("chinese")
    """Rule set: chinese, japanese, aga, tromp-taylor … It is sent to engines that list a command for it."""
    handicap: int = option(0, unit="stones", low=0)
    """Handicap stones of the second engine, on the traditional points; it then is Black in every game."""
    time_per_move: float | None = option(None, unit="seconds", low=0.001)
    """A clock that allows this much for each move."""
    main_time: float = option(0.0, "A clock with this main time; 0: none.", unit="seconds", low=0)
    overtime: float = option(0.0, "Overtime after it …", unit="seconds", low=0)
    overtime_stones: int = option(0, "… for this many moves (Canadian) …", unit="moves", low=0)
    overtime_periods: int = option(0, "… or in this many periods (byo-yomi).", unit="periods", low=0)
    increment: float = option(0.0, "Added to the main time after each move (a Fischer clock).", unit="seconds", low=0)
    time_grace: float = option(0.5, "Tolerance for each move before it loses on time.", unit="seconds", low=0)
    forfeit_on_time: bool = option(True, "A move over time loses the game; otherwise such moves are only counted.")
    time_left: bool = option(False, "Send time_left before each move, as servers do (gogui-twogtp does not).")
    visits: int = option(0, unit="visits", low=0)
    """Set the visits of both engines for each move (kata-set-param maxVisits); 0: leave them unchanged."""
    openings: str = option("", unit="folder")
    """Begin with the .sgf records of this folder, each played twice with colours swapped."""
    random_plies: int = option(0, unit="moves", low=0)
    """Begin with this many random moves, the same for both games of a pair."""
    seed: int = option(1, "Seed of the random moves.")
    # As in gogui-twogtp.
    max_moves: int = option(1000, "Longer games are stopped and do not count.", unit="moves", low=1)
    referee: str = option("players", choices=("players", "estimate", "board"))
    """What scores games: players, the engines if they name the same winner, otherwise Tengen; estimate, always Tengen,
    which finds dead stones; board, the stones as they stand on the board."""
    reply_timeout: float = option(600.0, unit="seconds", low=0.001)
    """An engine that does not reply for this long is killed and loses."""

    def __post_init__(self) -> None:
        """Check values that depend on each other, and set those that follow from others."""
        super().__post_init__()
        if not self.first.strip() or not self.second.strip():
            raise MatchError("a match needs two engine commands")
        if self.komi is None:
            self._set("komi", HANDICAP_KOMI if self.handicap else self.parsed_rules().fair_komi(self.size, self.size))
        self._check_clock()
        self.handicap_points()  # raises HandicapError
        if self.handicap and self.openings:
            raise MatchError("a match has a handicap or a folder of openings; leave out one of them")
        if self.handicap and self.sprt:
            raise MatchError("a sequential test compares pairs of games with exchanged colours; leave out the handicap")
        if self.openings and self.random_plies:
            raise MatchError("a match has a folder of openings or random plies; leave out one of them")
        self.parsed_rules()  # raises RulesError now rather than in the middle of the match

    def _set(self, name: str, value: object) -> None:
        """Set a value while the instance is made."""
        object.__setattr__(self, name, value)

    def _check_clock(self) -> None:
        """Turn a time per move into overtime; raise MatchError for parts of a clock that cannot be combined."""
        if self.time_per_move is not None:
            if self.main_time or self.overtime or self.overtime_stones or self.overtime_periods or self.increment:
                raise MatchError("a time per move is a clock of its own; leave out main time, overtime and increment")
            self._set("overtime", self.time_per_move)
            self._set("overtime_stones", 1)
            self._set("time_per_move", None)
        if (self.overtime > 0) != (self.overtime_stones > 0 or self.overtime_periods > 0):
            raise MatchError("overtime needs both its seconds and its number of stones or periods")
        if self.overtime_stones > 0 and self.overtime_periods > 0:
            raise MatchError("overtime has a number of stones or one of periods; leave out one of them")
        if self.increment > 0 and self.overtime > 0:
            raise MatchError("a clock with an increment has no overtime; leave out one of them")
        if self.increment > 0 and self.main_time == 0:
            raise MatchError("a clock with an increment needs main time for the first move")
        for name in ("time_left", "time_grace", "forfeit_on_time") if self.time_settings() is None else ():
            if getattr(self, name) != getattr(MatchSettings, name):
                raise MatchError(f"{name} without a clock; give a time per move or main time, or leave it out")

    def command(self, side: MatchSide) -> str:
        """Return the command line of one engine."""
        return self.first if side == "first" else self.second

    def name(self, side: MatchSide) -> str:
        """Return the name set for one engine, "" for its own name."""
        return self.first_name if side == "first" else self.second_name

    def handicap_points(self) -> tuple[int, ...]:
        """Return the points of the handicap stones; raises HandicapError."""
        return fixed_handicap_points(self.handicap, self.size, self.size) if self.handicap else ()

    def black(self, game: int) -> MatchSide:
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

    def identity(self) -> dict[str, Any]:
        """Return the settings that two runs must share for their games to belong to one match, by stored name."""
        return stored({name: value for name, value in dataclasses.asdict(self).items() if name not in _NOT_COMPARED})


def stored(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings under the names that they have in files."""
    return {_STORED_NAMES.get(name, name): value for name, value in values.items()}
