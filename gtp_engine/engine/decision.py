"""From what a search found to a move: legal under every rule, sensible to a person, and in time a pass or resignation.

A search by results alone plays on when nothing is left (every move wins, or none does) and may then fill its own
territory.  So the engine passes once everything is decided, whoever moves first, and counting confirms what the search
expects; and it never plays inside pass-alive territory, which nothing can change.
"""

from collections.abc import Callable
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
from gtp_engine.search.report import MoveReport, SearchReport

AGREED_WINRATE: Final = 0.8
"""The side that wins by counting must have this winrate in the search; else the counting has overlooked something."""

NEUTRAL_LOSS: Final = 0.1
"""Difference of results in [−1, 1] that two moves show by chance when neither matters."""


@dataclass(frozen=True)
class Choice:
    """The engine's answer to "your move": a point, PASS, or resignation (then `point` is PASS).

    `report` is what the search found, None when no search was needed.
    """

    point: int
    resign: bool = False
    report: SearchReport | None = None


SecondSearch = Callable[[], SearchReport]
"""Searches the same position with the other side to play."""


def choose_move(game: Game, report: SearchReport, second: SecondSearch, *, cleanup: bool = False) -> int:
    """Return the point to play for the side that `report` is about, or PASS.

    `second` is called where everything looks decided.  With `cleanup` (after a dispute about dead stones) there is no
    pass while dead enemy stones are on the board.
    """
    color = report.to_play
    moves = [move for move in report.moves if move.point == PASS or game.is_legal(move.point, color)]
    if not moves:
        return PASS  # the search found only moves that repeat a position
    expected = estimate(game, report.ownership_black)
    if cleanup:
        return _capture_dead(game, [move.point for move in moves], expected, color)
    if _is_agreed(game, report, expected) and _is_confirmed(game, second(), expected):
        return _last_move(game, moves, expected)
    proved = pass_alive_owners(game)
    return next((move.point for move in moves if not _is_wasted(game, move.point, proved, expected, color)), PASS)


def _is_agreed(game: Game, report: SearchReport, expected: Estimate) -> bool:
    """Return whether the players could stop here: all is decided, and counting gives the winner the search expects.

    Never under rules that count every stone left on the board: there the dead ones have to be captured.
    """
    if plays_out(game) or not expected.is_decided:
        return False
    winner = estimated_score(game, expected).winner
    expectation = report.winrate if winner == report.to_play else 1.0 - report.winrate
    return winner != EMPTY and expectation >= AGREED_WINRATE


def _is_confirmed(game: Game, other_side: SearchReport, expected: Estimate) -> bool:
    """Return whether the same stones are dead and the same points owned when the other side moves first.

    If the first move changes something, it must be played, however clear the position looks.
    """
    other = estimate(game, other_side.ownership_black)
    return _is_agreed(game, other_side, other) and (other.dead, other.neutral) == (expected.dead, expected.neutral)


def _last_move(game: Game, moves: list[MoveReport], expected: Estimate) -> int:
    """Return a neutral point, which is worth a point where the rules count area; PASS if there is none to take.

    A neutral point whose result is worse than that of the best move by `NEUTRAL_LOSS` is no longer one.
    """
    if game.rules.scoring is Scoring.TERRITORY:
        return PASS
    near_best = (move for move in moves if abs(moves[0].value_black - move.value_black) < NEUTRAL_LOSS)
    return next((move.point for move in near_best if move.point in expected.neutral), PASS)


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
