"""What every search offers, whatever it does inside."""

from typing import Protocol

from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits
from gtp_engine.search.report import SearchReport


class Searcher(Protocol):
    """Searches positions of one game after the other, and keeps what it knows of the game between calls.

    `run` is called by one thread at a time; `stop` may be called from any other.
    """

    def run(self, game: Game, limits: Limits, *, to_play: int | None = None) -> SearchReport:
        """Search the position of `game` (not changed) and return what was found.

        `to_play` defaults to the side whose turn it is.  Ends at the limits; a search that was cancelled before it
        began still returns a move.
        """
        ...

    def stop(self) -> None:
        """End a running search soon; without one, do nothing.  Prefer `Limits.cancel`, which cannot come too early."""
        ...

    def clear(self) -> None:
        """Forget everything about the game, and start the random numbers again if they have a seed."""
        ...

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed` (None: differently every time) and forget the game."""
        ...

    def close(self) -> None:
        """End threads; the search cannot be used afterwards."""
        ...
