"""What a session needs, beside the SGF record, to continue a game later."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gtp_engine.clock import TimeLeft


@dataclass(frozen=True)
class SessionExtras:
    """The rest of a game, beside its record; the defaults are those of a record from elsewhere."""

    clocks: Mapping[int, Mapping[int, TimeLeft]] = field(default_factory=dict)
    """Both clocks by colour, as they stood after each number of moves; the last is that of the record."""
    resumed_at: int = 0
    """The number of moves after which the players resumed the game from the scoring last; 0 if they have not."""
    dead: frozenset[int] | None = None
    """The stones that count as dead while the game is scored; None before any have been proposed or marked."""
    free_handicap: int = 0
    """The handicap stones that the person places as Black, of which the record has the first; 0 once they stand."""
