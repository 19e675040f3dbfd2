"""What a game is set up with: the person's colour, board, rules, komi, handicap and clock.

`SessionExtras` is what a session needs, beside the SGF record, to continue a game later.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from gtp_engine.base.errors import TimeSettingsError, of_kind
from gtp_engine.go.clock import TimeKind, TimeLeft, TimeSettings, format_time
from gtp_engine.go.constants import BLACK, WHITE, opponent
from gtp_engine.go.coords import to_color
from gtp_engine.go.game import Game
from gtp_engine.go.handicap import HANDICAP_KOMI, fixed_handicap_points, free_handicap_points
from gtp_engine.go.rules import Rules
from gtp_engine.sgf import SgfRecord

ENGINE_NAME: Final = "Tengen"
"""The engine's name in records."""

HUMAN_NAME: Final = "Human"
"""The person's name where none is given."""


@dataclass(frozen=True)
class GameSettings:
    """The settings of one game; colours are BLACK and WHITE.

    Raises InvalidColorError, and TimeSettingsError for a clock that is out of time before the first move; the values
    that a rule set or a board restricts are checked when a game is set up.
    """

    human: int = BLACK
    """The person's colour; the engine has the other one."""
    width: int = 19
    height: int | None = None
    """Rows; None: as many as columns."""
    rules: str = "chinese"
    """A name or KataGo's JSON, as `Rules.parse` reads it."""
    komi: float | None = None
    """Points White receives; None: the usual komi of the rules, or `HANDICAP_KOMI` with a handicap."""
    handicap: int = 0
    """Handicap stones; 0 and 1 are none. With 1 Black only begins without giving komi: the komi is `HANDICAP_KOMI`."""
    has_free_handicap: bool = False
    """Whether Black chooses where the handicap stones stand."""
    time: TimeSettings = field(default_factory=TimeSettings.none)
    """The clock of both players."""
    human_name: str = HUMAN_NAME
    """The person's name in records."""
    engine_name: str = ENGINE_NAME
    """The engine's name in records; in a game that continues a record, that of its player until the engine moves."""

    def __post_init__(self) -> None:
        """Check the colour and the clock."""
        object.__setattr__(self, "human", to_color(self.human))
        time = of_kind(self.time, TimeSettings, "time")
        if time.kind is not TimeKind.NONE and time.main_time == 0 and not time.has_overtime:
            advice = "give main time, or none for no clock"
            raise TimeSettingsError(f"time {format_time(time)} has none for the first move", advice=advice)

    @property
    def engine(self) -> int:
        """The engine's colour."""
        return opponent(self.human)

    @property
    def stones(self) -> int:
        """The number of handicap stones: 0, or 2 and more."""
        return self.handicap if self.handicap != 1 else 0

    def names(self) -> dict[int, str]:
        """Return the players' names by colour."""
        return {self.human: self.human_name, self.engine: self.engine_name}

    def first_komi(self) -> float:
        """Return the komi of the game; raises RulesError."""
        if self.komi is not None:
            return self.komi
        if self.handicap:
            return HANDICAP_KOMI
        return Rules.parse(self.rules).fair_komi(self.width, self.height or self.width)

    def check_handicap(self) -> None:
        """Raise HandicapError if the board has no room for the handicap stones."""
        points = free_handicap_points if self.has_free_handicap else fixed_handicap_points
        if self.stones:
            points(self.stones, self.width, self.height or self.width)


def settings_of(record: SgfRecord, game: Game, human: int | str | None, time: TimeSettings | None) -> GameSettings:
    """Return the settings of a game that continues `record`, whose moves are on the board of `game`.

    Without `human` the person has the colour that the record does not give to the engine, or else the side to move.
    """
    if human is None:
        human = {record.black_name: WHITE, record.white_name: BLACK}.get(ENGINE_NAME, game.to_play)
    human = to_color(human)
    names = {BLACK: record.black_name, WHITE: record.white_name}
    name = names[human]
    return GameSettings(
        human=human,
        width=game.width,
        height=game.height,
        rules=str(game.rules),
        komi=game.komi,
        handicap=game.handicap,
        time=time or TimeSettings.none(),
        human_name=name if name and name != ENGINE_NAME else HUMAN_NAME,
        engine_name=names[opponent(human)] or ENGINE_NAME,
    )


@dataclass(frozen=True)
class SessionExtras:
    """The rest of a game, beside its record, in JSON's values; the defaults are those of a record from elsewhere."""

    clocks: Mapping[int, Mapping[str, TimeLeft]] = field(default_factory=dict)
    """The clocks of "black" and "white", as they stood after each number of moves; the last is that of the record."""
    resumed_at: int = 0
    """The number of moves after which the players resumed the game from the scoring last; 0 if they have not."""
    dead: tuple[str, ...] | None = None
    """The stones that count as dead while the game is scored, as vertices; None before any are proposed or marked."""
    free_handicap: int = 0
    """The handicap stones that the person places as Black, of which the record has the first; 0 once they stand."""
    may_resign: bool = True
    """Whether the engine may resign; not once it has and the person went on."""
    is_own: bool = False
    """Whether the record is that of a game which began here; any other one keeps its main line, names and result."""
    node: int | None = None
    """The place among the nodes of the record, in the order of the text, where the game goes on; None: at its end."""
    result: str = ""
    """The result of the game there, with a `node`."""
    encoding: str | None = None
    """The encoding in which the record is written, as Python names it; None: its own, or UTF-8 if it is text."""
    notes: tuple[str, ...] = ()
    """What of the file that the game was loaded from first was left out or guessed."""
