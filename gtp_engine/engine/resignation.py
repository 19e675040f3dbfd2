"""When the engine resigns: after several lost moves in a row, but not too early in the game."""

from gtp_engine.config import PlayConfig
from gtp_engine.go.constants import BLACK, WHITE
from gtp_engine.go.game import Game
from gtp_engine.search.report import SearchReport


class Resignation:
    """Counts, for each colour, how many moves in a row were lost."""

    def __init__(self, config: PlayConfig) -> None:
        self.config = config
        self._lost = {BLACK: 0, WHITE: 0}

    def reset(self) -> None:
        """Start a new game."""
        self._lost = {BLACK: 0, WHITE: 0}

    def is_due(self, game: Game, report: SearchReport) -> bool:
        """Return whether the side to play should resign after this search; counts the move."""
        config, color = self.config, report.to_play
        self._lost[color] = self._lost[color] + 1 if report.winrate < config.resign_winrate else 0
        return (
            config.resign
            and self._lost[color] >= config.resign_turns
            and len(game.moves) >= config.resign_min_moves * game.width * game.height
        )
