"""From what a search found to a move: legal under every rule, sensible to a person, and in time a pass or resignation.

A search by results alone plays on when nothing is left (every move wins, or none does) and may then fill its own
territory.  So the engine passes once everything is decided and counting confirms what the search expects, and never
plays inside pass-alive territory, which nothing can change.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gtp_engine.config import PlayConfig
from gtp_engine.engine.estimate import Estimate, estimate, estimated_score, pass_alive_owners, plays_out
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring
from gtp_engine.go.tactics import would_be_self_atari
from gtp_engine.search.report import SearchReport

AGREED_WINRATE: Final = 0.8
"""The side that wins by counting must have this winrate in the search; else the counting has overlooked something."""


@dataclass(frozen=True)
class Choice:
    """The engine's answer to "your move": a point, PASS, or resignation (then `point` is PASS).

    `report` is what the search found, None when no search was needed.
    """

    point: int
    resign: bool = False
    report: SearchReport | None = None


def choose_move(game: Game, report: SearchReport, *, cleanup: bool = False) -> int:
    """Return the point to play for the side that `report` is about, or PASS.

    With `cleanup` (after a dispute about dead stones) there is no pass while dead enemy stones are on the board.
    """
    color = report.to_play
    legal = [move.point for move in report.moves if move.point == PASS or game.is_legal(move.point, color)]
    if not legal:
        return PASS  # the search found only moves that repeat a position
    expected = estimate(game, report.ownership_black)
    if cleanup:
        return _capture_dead(game, legal, expected, color)
    if _is_agreed(game, report, expected):
        return _last_move(game, legal, expected)
    proved = pass_alive_owners(game)
    return next((point for point in legal if not _is_wasted(game, point, proved, expected, color)), PASS)


def _is_agreed(game: Game, report: SearchReport, expected: Estimate) -> bool:
    """Return whether the players could stop here: all is decided, and counting gives the winner the search expects.

    Never under rules that count every stone left on the board: there the dead ones have to be captured.
    """
    if plays_out(game) or not expected.is_decided:
        return False
    winner = estimated_score(game, expected).winner
    expectation = report.winrate if winner == report.to_play else 1.0 - report.winrate
    return winner != EMPTY and expectation >= AGREED_WINRATE


def _last_move(game: Game, legal: list[int], expected: Estimate) -> int:
    """Return a neutral point, worth a point where the rules count area; PASS if there is none to take."""
    if game.rules.scoring is Scoring.TERRITORY:
        return PASS
    return next((point for point in legal if point in expected.neutral), PASS)


def _is_wasted(game: Game, point: int, proved: NDArray[np.int32], expected: Estimate, color: int) -> bool:
    """Return whether a move lies in pass-alive territory and captures nothing that has to be captured there."""
    if point == PASS or proved[point] == EMPTY:
        return False
    captures = plays_out(game) and proved[point] == color
    return not (captures and point in _dead_neighborhood(game, expected, color))


def _dead_neighborhood(game: Game, expected: Estimate, owner: int) -> set[int]:
    """Return the liberties of dead stones of `owner`'s opponent."""
    stones = [point for point in expected.dead if game.board.color[point] == opponent(owner)]
    return {liberty for stone in stones for liberty in game.liberties(stone)}


def _capture_dead(game: Game, legal: list[int], expected: Estimate, color: int) -> int:
    """Return the most visited move that takes a liberty of a dead enemy stone safely; PASS when none is left."""
    targets = _dead_neighborhood(game, expected, color)
    if not any(game.board.color[point] == opponent(color) for point in expected.dead):
        return legal[0] if not expected.is_settled else PASS
    order = list(legal)
    order += sorted(point for point in targets if point not in order and game.is_legal(point, color))
    safe = [p for p in order if p in targets and not would_be_self_atari(game.board, p, color)]
    if safe:
        return safe[0]
    return next((point for point in order if point != PASS), PASS)


class Resignation:
    """Counts how many moves in a row were lost, for each colour, and says when enough is enough."""

    def __init__(self, config: PlayConfig) -> None:
        self._config: Final = config
        self.reset()

    def reset(self) -> None:
        """Start a new game."""
        self._lost = {BLACK: 0, WHITE: 0}

    def is_due(self, game: Game, report: SearchReport) -> bool:
        """Return whether the side to play should resign, given what its search found; counts the move."""
        config, color = self._config, report.to_play
        self._lost[color] = self._lost[color] + 1 if report.winrate < config.resign_winrate else 0
        played = len(game.moves)
        return (
            config.resign
            and self._lost[color] >= config.resign_turns
            and played >= config.resign_min_moves * game.width * game.height
        )
