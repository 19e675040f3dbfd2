"""What a match is: everything that decides its games, in one value that can be written down and compared.

Two settings are left out of the comparison on resuming (`identity`): how many games there are, so that a match can
be made longer, and how many run at once.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from gtp_engine.clock import TimeSettings
from gtp_engine.errors import TengenError, problem, shown
from gtp_engine.go.constants import MAX_SIZE, MIN_SIZE
from gtp_engine.go.rules import Rules

Side = Literal["first", "second"]
"""One of the two engines, whatever colour it has."""

SIDES: Final[tuple[Side, Side]] = ("first", "second")

RefereeMode = Literal["estimate", "board", "players"]
"""Who decides a game that ended with two passes; see `gtp_engine.match.referee`."""

REFEREE_MODES: Final[tuple[RefereeMode, ...]] = get_args(RefereeMode)

DEFAULT_MAX_MOVES: Final = 1000
"""Moves after which a game is stopped and counted as void, as gogui-twogtp has it."""

_NOT_COMPARED: Final = ("games", "parallel")


class MatchError(TengenError):
    """The match cannot be played or continued as asked."""


def other_side(side: Side) -> Side:
    """Return the opponent of `side`."""
    return "second" if side == "first" else "first"


@dataclass(frozen=True, kw_only=True)
class MatchSettings:
    """Two engine commands and the conditions they meet under.  Raises MatchError for values that make no match.

    `main_time`, `overtime` (for `overtime_stones` moves) and `time_grace` are in seconds; all zero means no clock.
    `visits` 0 means that nothing is said about visits.  `random_plies` moves are drawn with `seed` for each pair
    of games unless `openings` names a folder of game records.
    """

    first: str
    second: str
    games: int = 10
    board_size: int = 19
    komi: float = 7.5
    rules: str = "chinese"
    main_time: float = 0.0
    overtime: float = 0.0
    overtime_stones: int = 0
    time_grace: float = 0.5
    forfeit_on_time: bool = True
    send_time_left: bool = False
    visits: int = 0
    openings: str = ""
    random_plies: int = 0
    seed: int = 1
    max_moves: int = DEFAULT_MAX_MOVES
    referee: RefereeMode = "estimate"
    reply_timeout: float = 600.0
    parallel: int = 1

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
        for name in ("main_time", "overtime", "overtime_stones", "time_grace", "visits", "random_plies"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise MatchError(problem(f"{name} {value}", expected="zero or more"))
        if (self.overtime > 0) != (self.overtime_stones > 0):
            raise MatchError("overtime needs both its seconds and its number of stones")
        if not self.reply_timeout > 0:
            raise MatchError(problem(f"reply timeout {self.reply_timeout}", expected="more than zero seconds"))
        if self.referee not in REFEREE_MODES:
            raise MatchError(problem(f"referee {shown(self.referee)}", expected=", ".join(REFEREE_MODES)))
        self.parsed_rules()  # raises RulesError now rather than in the middle of the match

    def command(self, side: Side) -> str:
        """Return the command line of one engine."""
        return self.first if side == "first" else self.second

    def parsed_rules(self) -> Rules:
        """Return the rules as a value; raises RulesError."""
        return Rules.parse(self.rules)

    def time_settings(self) -> TimeSettings | None:
        """Return the clock each engine has, or None for a match without clocks."""
        if self.main_time == 0 and self.overtime == 0:
            return None
        return TimeSettings.canadian(self.main_time, self.overtime, self.overtime_stones)

    def to_json(self) -> dict[str, Any]:
        """Return all settings as a JSON object."""
        return dataclasses.asdict(self)

    def identity(self) -> dict[str, Any]:
        """Return the settings that two runs must share for their games to belong to one match."""
        return {name: value for name, value in self.to_json().items() if name not in _NOT_COMPARED}


def describe_difference(old: dict[str, Any], new: dict[str, Any]) -> str:
    """Return "komi 7.0 there, 6.5 now" for each differing entry, joined by semicolons; "" when there is none."""
    names = sorted(old.keys() | new.keys())
    return "; ".join(
        f"{name} {old.get(name)!r} there, {new.get(name)!r} now" for name in names if old.get(name) != new.get(name)
    )
