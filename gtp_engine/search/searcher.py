"""Searcher: what the engine calls, whichever search is behind it."""

from typing import Protocol

from gtp_engine.go.game import Game
from gtp_engine.search.limits import Limits
from gtp_engine.search.report import SearchReport


class Searcher(Protocol):
    """Searches positions of one game after the other, and keeps its tree between calls.

    One thread at a time uses it; any other ends a running search by the cancel token in its limits.
    """

    def run(self, game: Game, limits: Limits, *, to_play: int | None = None) -> SearchReport:
        """Search the position of `game` (not changed) and return what was found.

        `to_play` defaults to the side whose turn it is.  Ends at the limits; a search that was cancelled before it
        began still returns a move.
        """
        ...

    def clear(self) -> None:
        """Forget the game, and start the random numbers again if they have a seed."""
        ...

    def set_seed(self, seed: int | None) -> None:
        """Start the random numbers at `seed` (None: differently every time) and forget the game."""
        ...

    def close(self) -> None:
        """End threads; the search cannot be used afterwards."""
        ...
