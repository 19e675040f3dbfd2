"""When the engine resigns: after several lost moves in a row, not too early, and not while a handicap explains it.

The weaker side of a handicap game starts far behind and catches up over many moves.  It resigns only when it is clearly
behind the schedule of such a game, as KataGo does (`shouldResign` in `cpp/command/gtp.cpp`).
"""

from typing import Final

from gtp_engine.config import PlayConfig
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.go.initial_advantage import initial_advantage_black
from gtp_engine.search.report import SearchReport, completed, for_color
from gtp_engine.search.tree_reuse import is_continued

HANDICAP_ADVANTAGE: Final = 0.9
"""Points that one side is ahead at the start from which a game is a handicap game."""

CATCH_UP_FROM: Final = 0.2
"""Moves of both players for each point of the board before which the weaker side never resigns."""

CATCH_UP_UNTIL: Final = 0.6
"""Moves of both players for each point of the board by which the weaker side should have caught up."""

SCHEDULE_MARGIN: Final = 5.0
"""Points that the weaker side may be behind its schedule, besides `SCHEDULE_SHARE`."""

SCHEDULE_SHARE: Final = 0.15
"""Share of the initial deficit that the weaker side may be behind its schedule.  All five numbers are KataGo's."""


class Resignation:
    """Counts, for each colour, how many moves of a game in a row were lost.

    Some controllers (gtp2ogs with a pool of engines) set up the whole game before each move, so a game is recognised by
    its moves: the count continues while they continue those of the last call, and restarts with any others.
    """

    def __init__(self, config: PlayConfig) -> None:
        self.config = config
        self._lost = {BLACK: 0, WHITE: 0}
        self._last_game: Game | None = None

    def reset(self) -> None:
        """Count from the next move on, after a move was taken back."""
        self._lost = {BLACK: 0, WHITE: 0}

    def is_due(self, game: Game, report: SearchReport) -> bool:
        """Return whether the side to play should resign after this search; counts the move."""
        self._follow(game)
        config, color = self.config, report.to_play
        self._lost[color] = self._lost[color] + 1 if report.winrate < config.resign_winrate else 0
        return (
            config.resign
            and self._lost[color] >= config.resign_turns
            and len(game.moves) >= config.resign_min_moves * game.width * game.height
            and not is_on_schedule(game, color, for_color(completed(report, game).lead_black, color))
        )

    def _follow(self, game: Game) -> None:
        """Reset the counts unless `game` continues the last one."""
        if self._last_game is None or not is_continued(self._last_game, game):
            self.reset()
        self._last_game = game.copy()


def is_on_schedule(game: Game, color: int, lead: float) -> bool:
    """Return whether a handicap explains that `color` is behind by −`lead` points; False in an even game.

    The deficit that a handicap explains shrinks from all of it to none between `CATCH_UP_FROM` and `CATCH_UP_UNTIL`.
    """
    deficit = -for_color(initial_advantage_black(game), color)
    if deficit <= HANDICAP_ADVANTAGE:
        return False
    area, played = game.width * game.height, len(game.moves)
    first = 1 + int(CATCH_UP_FROM * area)
    if played < first:
        return True
    length = max(1.0, CATCH_UP_UNTIL * area - first)
    still_expected = deficit * max(0.0, 1.0 - (played - first) / length)
    return lead > -(still_expected + SCHEDULE_MARGIN + SCHEDULE_SHARE * deficit)
