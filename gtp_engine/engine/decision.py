"""From what a search found to a move: legal under every rule, sensible to a person, and in time a pass or resignation.

A search by results alone plays on when nothing is left (every move wins, or none does) and may then fill its own
territory.  So the engine passes once everything is decided, whoever moves first, and counting confirms what the search
expects, or once the game goes in circles, the opponent has passed and what is in doubt cannot cost the game.  It never
plays inside pass-alive territory, which nothing can change.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from gtp_engine.config import PlayConfig
from gtp_engine.engine.dead_stones import Estimate, estimate, plays_out
from gtp_engine.engine.thresholds import Effort
from gtp_engine.go.constants import BLACK, EMPTY, PASS, WHITE, opponent
from gtp_engine.go.coords import format_vertex
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring
from gtp_engine.go.tactics import would_be_self_atari
from gtp_engine.search.report import MoveReport, SearchReport, for_color

AGREED_WINRATE: Final = 0.8
"""The side to play that wins by counting must have this winrate; else the counting has overlooked something."""

CONCEDED_WINRATE: Final = 0.95
"""The side to play stops in a game it loses by counting only if the opponent's winrate is this high."""

NEUTRAL_LOSS: Final = 0.1
"""Difference of results in [−1, 1] that two moves show by chance when neither matters."""

LATE_SHARE: Final = 0.3
"""Share of the points that must hold stones before a game may end by agreement; no person stops earlier."""


@dataclass(frozen=True)
class Choice:
    """The engine's answer to "your move": a point, PASS, or resignation (then `point` is PASS); and what was found."""

    point: int
    report: SearchReport
    resign: bool = False


def describe(game: Game, choice: Choice) -> str:
    """Return what a search found, in one line for the user."""
    report = choice.report

    def show(point: int) -> str:
        return format_vertex(point, width=game.width, height=game.height)

    line = next((found.pv for found in report.moves if found.point == choice.point), ())
    lead = "" if report.raw is None else f"lead {for_color(report.lead_black, report.to_play):+.1f}, "
    rate = report.playouts / max(report.seconds, 1e-6)
    return (
        f"{'resign' if choice.resign else show(choice.point)}: winrate {100 * report.winrate:.1f} %, {lead}"
        f"{report.visits} visits, {rate:.0f} playouts/s, {report.seconds:.2f} s, "
        f"pv {' '.join(map(show, line)) or 'none'}"
    )


FreshSearch = Callable[[int], SearchReport | None]
"""Searches the same position anew with this colour to play; None if there is no time for it."""


def choose_move(game: Game, report: SearchReport, fresh: FreshSearch, effort: Effort, *, cleanup: bool = False) -> int:
    """Return the point to play for the side that `report` is about, or PASS.

    `fresh` is called where everything looks decided; `effort` says how much a search must have seen to be believed.
    With `cleanup` (after a dispute about dead stones) there is no pass while dead enemy stones are on the board.
    """
    color = report.to_play
    moves = [move for move in report.moves if move.point == PASS or game.is_legal(move.point, color)]
    if not moves:
        return PASS  # the search found only moves that repeat a position
    expected = estimate(game, report.ownership_black)
    if cleanup and any(game.board.color[point] == opponent(color) for point in expected.dead):
        return _capture_dead(game, [move.point for move in moves], expected, color)
    is_late = _is_late(game)
    if may_be_over(game):
        agreed = _agreed_end(game, report, expected, fresh, effort)
        if agreed is not None:
            return _last_move(game, moves, agreed, color, effort)
        if game.consecutive_passes and _goes_in_circles(game) and _has_won(game, report, fresh, effort):
            return PASS
    useful = [move.point for move in moves if not _is_wasted(game, move.point, expected, color)]
    if not is_late:  # where all is lost, a pass looks as good as anything
        useful = [point for point in useful if point != PASS]
    return useful[0] if useful else PASS


def may_be_over(game: Game) -> bool:
    """Return whether the players may agree that nothing is left, so that searches to confirm it have to be afforded."""
    return _is_late(game) and not plays_out(game)


def _is_late(game: Game) -> bool:
    """Return whether enough of the board is filled for an end of the game to be thinkable."""
    stones = int(np.count_nonzero((game.board.color == BLACK) | (game.board.color == WHITE)))
    return stones >= LATE_SHARE * game.width * game.height


def _agreed_end(
    game: Game, report: SearchReport, expected: Estimate, fresh: FreshSearch, effort: Effort
) -> Estimate | None:
    """Return the fate of all stones if the players could stop here, else None; `expected` is that after `report`.

    So it is if the same stones are dead and the same points owned whoever moves first, and the searches expect the
    winner that counting gives.  If the first move changes something, it must be played, however clear things look.
    """
    first: SearchReport | None = report
    if report.ownership_samples < effort.judged_samples:
        first = fresh(report.to_play)
        expected = expected if first is None else estimate(game, first.ownership_black)
    if first is None or not _is_agreed(game, first, expected, effort):
        return None
    other_side = fresh(opponent(report.to_play))
    if other_side is None:
        return None
    other = estimate(game, other_side.ownership_black)
    is_same = (other.dead, other.neutral) == (expected.dead, expected.neutral)
    return expected if is_same and _is_agreed(game, other_side, other, effort) else None


def _goes_in_circles(game: Game) -> bool:
    """Return whether the stones stood as they do now before the last stones were played."""
    earlier = game.copy()
    earlier.undo(len(game.moves))
    for number, move in enumerate(game.moves):
        if earlier.hash == game.hash and any(later.point != PASS for later in game.moves[number:]):
            return True
        earlier.play(move, allow_superko=True)
    return False


def _has_won(game: Game, report: SearchReport, fresh: FreshSearch, effort: Effort) -> bool:
    """Return whether the side to play wins if it passes too, even if all that is in doubt should be the opponent's.

    Who is so far ahead could else tease stones that it cannot kill for ever: without superko, no repetition ends it,
    and where the rules count area, stones played in vain cost nothing.
    """
    color = report.to_play
    if game.rules.scoring is Scoring.TERRITORY or report.winrate < CONCEDED_WINRATE:
        return False
    for side in (color, opponent(color)):
        seen = fresh(side)
        if seen is None or seen.ownership_samples < effort.judged_samples:
            return False
        if not estimate(game, seen.ownership_black).wins_whatever_happens(game, color):
            return False
    return True


def _is_agreed(game: Game, report: SearchReport, expected: Estimate, effort: Effort) -> bool:
    """Return whether everything is decided and counting gives the result that the search expects."""
    if report.ownership_samples < effort.judged_samples or not expected.is_decided:
        return False
    margin = expected.area_margin - game.area_komi
    if margin == 0:
        return abs(report.winrate - 0.5) <= 1.0 - AGREED_WINRATE
    if (margin > 0) == (report.to_play == BLACK):
        return report.winrate >= AGREED_WINRATE
    return report.winrate <= 1.0 - CONCEDED_WINRATE


def _last_move(game: Game, moves: list[MoveReport], expected: Estimate, color: int, effort: Effort) -> int:
    """Return a neutral point, which is worth a point where the rules count area; PASS if there is none to take.

    A neutral point that was hardly looked at, is self-atari, or is worse than the best move by `NEUTRAL_LOSS` is none.
    """
    if game.rules.scoring is Scoring.TERRITORY:
        return PASS
    for move in moves:
        loss = abs(moves[0].value_black - move.value_black)
        if (
            move.point in expected.neutral
            and move.visits >= effort.tried_visits
            and loss < NEUTRAL_LOSS
            and not would_be_self_atari(game.board, move.point, color)
        ):
            return move.point
    return PASS


def _is_wasted(game: Game, point: int, expected: Estimate, color: int) -> bool:
    """Return whether a move lies in pass-alive territory and captures nothing that has to be captured there."""
    owner = int(expected.proved[point])
    if point == PASS or owner == EMPTY:
        return False
    captures = plays_out(game) and owner == color
    return not (captures and point in _dead_neighborhood(game, expected, color))


def _dead_neighborhood(game: Game, expected: Estimate, owner: int) -> set[int]:
    """Return the liberties of dead stones of `owner`'s opponent."""
    stones = [point for point in expected.dead if game.board.color[point] == opponent(owner)]
    return {liberty for stone in stones for liberty in game.liberties(stone)}


def _capture_dead(game: Game, legal: list[int], expected: Estimate, color: int) -> int:
    """Return the most visited move that takes a liberty of a dead enemy stone, safely if one can."""
    targets = _dead_neighborhood(game, expected, color)
    order = list(legal)
    order += sorted(point for point in targets if point not in order and game.is_legal(point, color))
    safe = [p for p in order if p in targets and not would_be_self_atari(game.board, p, color)]
    return safe[0] if safe else next((point for point in order if point != PASS), PASS)


class Resignation:
    """Counts how many moves in a row were lost, for each colour, and says when enough is enough."""

    def __init__(self, config: PlayConfig) -> None:
        self.config = config
        self.reset()

    def reset(self) -> None:
        """Start a new game."""
        self._lost = {BLACK: 0, WHITE: 0}

    def is_due(self, game: Game, report: SearchReport) -> bool:
        """Return whether the side to play should resign, given what its search found; counts the move."""
        config, color = self.config, report.to_play
        self._lost[color] = self._lost[color] + 1 if report.winrate < config.resign_winrate else 0
        played = len(game.moves)
        return (
            config.resign
            and self._lost[color] >= config.resign_turns
            and played >= config.resign_min_moves * game.width * game.height
        )
