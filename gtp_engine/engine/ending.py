"""Whether a game can end: whether the players can stop here, and what a pass may lose.

A search that follows results alone plays on when nothing is left to win (every move wins, or none does), and may then
fill its own territory.  So the engine passes once searches for both sides and proofs agree that nothing is left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from gtp_engine.engine.game_end import (
    Ownership,
    StatusEstimate,
    chains_of,
    estimate_status,
    goes_in_circles,
    is_useless,
    legal_moves,
    may_be_over,
    opponent_may_atari,
)
from gtp_engine.engine.life_reading import PROOF_NODES, may_pass_safely, read_out
from gtp_engine.engine.searches import Thresholds
from gtp_engine.go.constants import BLACK, EMPTY, PASS, opponent
from gtp_engine.go.coords import board_points
from gtp_engine.go.game import Game
from gtp_engine.go.rules import Scoring
from gtp_engine.search.report import MoveReport, SearchReport, best_of, for_color, winrate_of

AGREED_WINRATE: Final = 0.8
"""If the side to play wins by counting, its winrate must be at least this; else the count has missed something."""

CONCEDED_WINRATE: Final = 0.95
"""If the side to play loses by counting, it stops only if the opponent's winrate is at least this."""

NEUTRAL_LOSS: Final = 0.1
"""Difference of results in [−1, 1] that two moves show by chance when neither matters."""

POINT: Final = 1.0
"""Points that a first move is worth from which it is played in a decided game, too.  In settled positions, two searches
of 8 visits, one for each side, differ by up to 0.7 points, two of 400 by up to 0.5."""

SEARCHED: Final = 0.1
"""Share of a longer search's visits from which it knows what a move is worth; one that saved 22 points had 27%."""

LIKELY_PASS: Final = 0.5
"""Least probability that the network gives to a pass that may be the only move which a search tries.  Of 396 searches
of 8 visits that wanted to pass at the end of games, 11 tried nothing else though it was less likely."""

Confirm = Callable[[int], SearchReport | None]
"""Searches the same position with a new tree and this colour to play; None if no time is left for it."""


@dataclass(frozen=True)
class Ending:
    """What is known of the end of a game after the search that found `report`, for the side that it is about."""

    game: Game
    report: SearchReport
    thresholds: Thresholds
    confirm: Confirm
    look_again: Confirm = lambda color: None
    """Confirms as `confirm` does, with the visits that a pass is worth where it may lose something."""
    nodes: int = PROOF_NODES
    """Positions of each proof about a chain."""

    @property
    def color(self) -> int:
        """The side whose move it is."""
        return self.report.to_play

    @cached_property
    def status(self) -> StatusEstimate:
        """The status of all stones and points by the report."""
        return estimate_status(self.game, self.report.ownership_black)

    @cached_property
    def is_safe(self) -> bool:
        """Whether each living chain that the opponent could put in atari survives, by proof, though it moves first."""
        return may_pass_safely(self.game, self.status, self.color, nodes=self.nodes)

    @cached_property
    def is_proved(self) -> bool:
        """Whether every point is pass-alive or in pass-alive territory, so that no move changes anything."""
        return all(self.status.proved[point] != EMPTY for point in board_points(self.game.width, self.game.height))

    # --- whether the players can stop ---

    def agreed(self) -> StatusEstimate | None:
        """Return the status of all stones if the players could stop here, else None.

        They could if the same stones are dead and the same points neutral whichever side moves first, and both searches
        expect the winner that counting gives.  If the first move changes something, it has to be played, however clear
        the position looks.  What is proved of doubtful chains replaces what the searches expect.
        """
        game, report, status = self.game, self.report, self.status
        if not may_be_over(game):
            return None
        if self.is_proved:
            return status
        if not self._has_samples(report):
            confirmed = self.confirm(report.to_play)
            if confirmed is None:
                return None
            report, status = confirmed, estimate_status(game, confirmed.ownership_black)
        is_pass_near = game.consecutive_passes > 0 or report.best_point == PASS
        if not self._is_agreed(report, status) and (status.is_open or not is_pass_near):
            return None
        other_report = self.confirm(opponent(report.to_play))
        if other_report is None:
            return None
        reports = (report, other_report)
        expected = read_out(game, [each.ownership_black for each in reports], nodes=self.nodes)
        return self._agreed_status(reports, expected)

    def _agreed_status(self, reports: Sequence[SearchReport], ownerships: Sequence[Ownership]) -> StatusEstimate | None:
        """Return the status of all stones if both searches, with these ownerships, agree on it and on the winner.

        Where the last neutral point decides, each expects the side that moves first to win.
        """
        first, second = (estimate_status(self.game, ownership) for ownership in ownerships)
        if (first.dead, first.neutral) != (second.dead, second.neutral):
            return None
        if np.sign(first.margin_black(self.game)) != np.sign(second.margin_black(self.game)):
            return None
        return first if all(map(self._is_agreed, reports, (first, second))) else None

    def _is_agreed(self, report: SearchReport, status: StatusEstimate) -> bool:
        """Return whether everything is decided and counting gives the result that a search expects."""
        if not self._has_samples(report) or not status.is_decided:
            return False
        margin = status.margin_black(self.game)
        if margin == 0:
            return abs(report.winrate - 0.5) <= 1.0 - AGREED_WINRATE
        if (margin > 0) == (report.to_play == BLACK):
            return report.winrate >= AGREED_WINRATE
        return report.winrate <= 1.0 - CONCEDED_WINRATE

    def _has_samples(self, report: SearchReport) -> bool:
        """Return whether the ownership of a report has enough samples to estimate status from it."""
        return report.ownership_samples >= self.thresholds.ownership_samples

    def is_won_repetition(self) -> bool:
        """Return whether the opponent has passed, the game goes in circles, and a pass now is certain to win.

        Otherwise a side this far ahead could keep making threats against living stones: without superko no repetition
        ends the game, and where the rules count area, useless stones cost nothing.
        """
        game = self.game
        return (
            may_be_over(game)
            and game.consecutive_passes > 0
            and goes_in_circles(game)
            and game.rules.scoring is not Scoring.TERRITORY
            and self.report.winrate >= CONCEDED_WINRATE
            and all(map(self._wins_by_passing, (self.color, opponent(self.color))))
        )

    def _wins_by_passing(self, first: int) -> bool:
        """Return whether a search with `first` to play shows a win even if every undecided point is the opponent's."""
        report = self.confirm(first)
        if report is None or not self._has_samples(report):
            return False
        return estimate_status(self.game, report.ownership_black).is_certain_win(self.game, self.color)

    # --- what a pass may lose ---

    @cached_property
    def checked(self) -> SearchReport:
        """What a confirmation for the same side finds; the report, if that has `pass_visits` or no time is left."""
        has_few = self.report.visits < self.thresholds.pass_visits
        return (self.confirm(self.color) if has_few else None) or self.report

    def instead_of_pass(self) -> int:
        """Return the move that a pass would lose something against, PASS if it loses nothing."""
        point = PASS if self.is_proved else self._better_than_pass()
        return self._move_worth_points() if point == PASS and not self.is_proved else point

    def _better_than_pass(self) -> int:
        """Return the best move if a pass is clearly worse, else PASS.

        Where a few visits may not have found the move that a half point depends on, the search is repeated: if
        something is undecided, neutral points are left that count, counting or a move that was tried promises more than
        the pass is worth, a point decides and a chain could be put in atari, or nothing but the pass was tried though
        the network expects another move; also for the side that takes the game for lost.
        """
        for report in (self.report, self.checked):
            if (better := self._if_better_than_pass(report)) != PASS:
                return better
        is_enough = self.is_clear or self.checked.visits >= self.thresholds.pass_visits
        again = None if is_enough else self.look_again(self.color)
        return PASS if again is None or again.visits <= self.checked.visits else self._if_better_than_pass(again)

    @cached_property
    def is_clear(self) -> bool:
        """Whether a pass wins, or all is decided and counted as it expects; and nothing speaks for a move."""
        game, report = self.game, self.checked
        status = estimate_status(game, report.ownership_black)
        counts_neutral = bool(status.neutral) and game.rules.scoring is Scoring.AREA
        passing = next((move for move in report.moves if move.point == PASS), None)
        counted_value = for_color(float(np.sign(status.margin_black(game))), self.color)
        expected = counted_value if passing is None else for_color(passing.value_black, self.color)
        differs = counted_value - expected > NEUTRAL_LOSS and not game.has_free_button
        is_close = abs(status.margin_black(game)) <= POINT
        may_turn = is_close and any(opponent_may_atari(game, status, chain) for chain in chains_of(game))
        is_settled = status.is_decided and not counts_neutral and not differs
        is_won = passing is not None and winrate_of(passing.value_black, self.color) >= CONCEDED_WINRATE
        may_pass = is_won or (is_settled and not self._has_better_move(expected))
        return may_pass and not may_turn and not self._is_pass_unproved() and self.is_safe

    def _has_better_move(self, expected: float) -> bool:
        """Return whether a useful move that was tried, perhaps with fewer visits, is clearly better than `expected`."""
        return any(
            move.point != PASS
            and move.visits >= self.thresholds.tried_visits
            and for_color(move.value_black, self.color) - expected > NEUTRAL_LOSS
            and not is_useless(self.game, move.point, self.status, self.color)
            for move in legal_moves(self.game, self.report)
        )

    def _is_pass_unproved(self) -> bool:
        """Return whether nothing but the pass was tried, though the network expects another move."""
        raw, tried = self.report.raw, [move.point for move in self.report.moves if move.visits > 0]
        return raw is not None and tried == [PASS] and float(raw.policy[PASS]) < LIKELY_PASS

    def _if_better_than_pass(self, report: SearchReport) -> int:
        """Return the best move of a report if it is useful and clearly better than a pass that was tried, else PASS."""
        moves = legal_moves(self.game, report)
        best, passing = best_of(moves), next((move for move in moves if move.point == PASS), None)
        if best is None or passing is None or passing.visits < self.thresholds.tried_visits:
            return PASS
        is_won = winrate_of(passing.value_black, self.color) >= CONCEDED_WINRATE
        is_worse = not is_won and for_color(best.value_black - passing.value_black, self.color) > NEUTRAL_LOSS
        status = estimate_status(self.game, report.ownership_black)
        return best.point if is_worse and not is_useless(self.game, best.point, status, self.color) else PASS

    def _move_worth_points(self) -> int:
        """Return the best other move of a longer search if a pass would cost a point, also where that decides nothing.

        A search in which the opponent moves first shows it; without time for that, PASS unless a chain is in danger.
        """
        game, report = self.game, self.report
        is_moot = not report.has_score or game.has_free_button or not may_be_over(game)
        if is_moot or (self.is_clear and not self._may_cost_a_point()):
            return PASS
        longer = None if report.visits >= self.thresholds.pass_visits else self.look_again(self.color)
        again = report if longer is None or longer.visits < report.visits else longer
        status = estimate_status(game, again.ownership_black)
        searched = [move for move in legal_moves(game, again) if move.visits >= SEARCHED * again.visits]
        useful = [move for move in searched if not is_useless(game, move.point, status, self.color)]
        other = next((move for move in useful if move.point != PASS), None)
        if other is None:
            return PASS
        passed = self.look_again(opponent(self.color))
        if passed is None:
            return PASS if self.is_safe else useful[0].point
        is_denied = self.is_safe and _gain_by_move(again, other, passed, SEARCHED * again.visits) < POINT
        return PASS if is_denied or self._gain(again, passed) < POINT else other.point

    def _may_cost_a_point(self) -> bool:
        """Return whether a pass may cost a point: by a search for the opponent, or by a move that a side has tried."""
        passed, least = self.confirm(opponent(self.color)), self.thresholds.tried_visits
        if passed is None:
            return False
        reports = ((self.report, passed), (self.checked, passed), (passed, self.checked))
        tried = ((report, move, other) for report, other in reports for move in report.moves if move.visits >= least)
        return self._gain(self.checked, passed) >= POINT or any(_gain_by_move(*each) >= POINT for each in tried)

    def _gain(self, report: SearchReport, passed: SearchReport) -> float:
        """Return the points that the side to play gains by moving first, from a search for each side."""
        return for_color(report.lead_black - passed.lead_black, self.color)


def _gain_by_move(report: SearchReport, move: MoveReport, passed: SearchReport, least: float = 1) -> float:
    """Return how many points a move is better than the pass if that has `least` visits, else than a search after it."""
    passing = next((each for each in report.moves if each.point == PASS and each.visits >= least), passed)
    return for_color(move.lead_black - passing.lead_black, report.to_play)
