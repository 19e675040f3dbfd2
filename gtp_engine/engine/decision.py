"""The move after a search: a pass where the game can end (`Ending`), else what a level draws, or the best useful move.

A move that cannot change anything (`game_end.is_useless`) is never played.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from gtp_engine.engine.ending import NEUTRAL_LOSS, Ending
from gtp_engine.engine.game_end import (
    StatusEstimate,
    chains_of,
    counts_all_stones,
    estimate_status,
    goes_round,
    is_useless,
    legal_moves,
    liberties_of_dead,
    may_be_over,
    useless_points,
)
from gtp_engine.engine.level_play import LevelPlay
from gtp_engine.engine.life_reading import proved_capture, read_out
from gtp_engine.go.constants import PASS, opponent
from gtp_engine.go.phases import is_late, may_stop
from gtp_engine.go.rules import Scoring
from gtp_engine.go.tactics import would_be_self_atari
from gtp_engine.search.report import MoveReport, SearchReport, best_of, for_color


class Decision:
    """A decision about a move, for the side to play of the search that the `ending` is about.

    A `level` draws the move where the game goes on.  The points `left_out`, perhaps PASS, are not played; the search
    has left them out already.  With `fill_dame` neutral points are filled under territory rules, too.
    """

    def __init__(
        self,
        ending: Ending,
        level: LevelPlay | None = None,
        left_out: frozenset[int] = frozenset(),
        *,
        fill_dame: bool = False,
    ) -> None:
        self.ending: Final = ending
        self.game, self.report, self.color = ending.game, ending.report, ending.color
        self.level: Final = level
        self.left_out: Final = left_out
        self.may_pass: Final = PASS not in left_out
        self.fill_dame: Final = fill_dame

    @property
    def status(self) -> StatusEstimate:
        """The status of all stones and points after the search."""
        return self.ending.status

    # --- the steps ---

    def move(self) -> int:
        """Return the point to play, or PASS."""
        point = self._first_choice()
        if self.may_pass and self.level is None and self._ends_play(point):
            better = self.ending.instead_of_pass()
            better = self._capture_that_counts() if better == PASS == point else better
            point = point if better == PASS else better
        return PASS if self.may_pass and goes_round(self.game, self.game.as_move((self.color, point))) else point

    def _ends_play(self, point: int) -> bool:
        """Return whether a move is a pass, or fills a neutral point at the end though a chain may be in danger."""
        if point == PASS:
            return True
        return self.status.is_decided and point in self.status.neutral and not self.ending.is_safe

    def _first_choice(self) -> int:
        """Return the point to play: it may lose something if it is a pass or a neutral point."""
        moves = legal_moves(self.game, self.report)
        if not moves:
            return PASS  # the search found only moves that repeat a position
        if self._is_pass_certain():
            return PASS
        end = self.ending.agreed() if self.may_pass else None
        if end is not None:
            return self._last_move(end)
        if self.may_pass and self.ending.is_won_repetition():
            return PASS
        point = self._useful_move() if self.level is None else self._level_move(self.level)
        return moves[0].point if point == PASS and not self.may_pass else point

    def _is_pass_certain(self) -> bool:
        """Return whether a pass is the network's best move and will be played whatever the end is agreed to be."""
        return (
            self.report.best_point == PASS
            and self.may_pass
            and may_be_over(self.game)
            and self.level is None
            and self.report.raw is not None
            and self.neutral_point(legal_moves(self.game, self.report), self.status) == PASS
        )

    def _last_move(self, end: StatusEstimate) -> int:
        """Return a neutral point to fill before the game ends, or PASS."""
        report = self.report
        if self.level is not None:  # its search may have tried no neutral point
            report = self.ending.confirm(self.color) or report
        moves = legal_moves(self.game, report)
        if self.level is not None:
            moves = [move for move in moves if move.point not in self.left_out]
        return self.neutral_point(moves, end)

    def _level_move(self, level: LevelPlay) -> int:
        """Return the move that a level draws, or PASS.

        Where the rules count dead stones, these are captured before a pass: a level's own search is too small to see
        them.
        """
        point = level.draw(self.game, self.report, self.left_out | useless_points(self.game, self.status, self.color))
        if point != PASS or not counts_all_stones(self.game.rules):
            return point
        report = self.ending.confirm(self.color) or self.report
        return self._capture_of_dead(report, estimate_status(self.game, report.ownership_black))

    def _capture_that_counts(self) -> int:
        """Return a move against dead stones where all stones count, PASS if there are none.

        It is a proved capture.  Where the game is lost without one, as an opponent who is behind passes and hopes for a
        pass, it may also be one that is only expected.
        """
        game, status = self.game, self.status
        if not counts_all_stones(game.rules):
            return PASS
        enemy = opponent(self.color)
        dead = [chain for chain in chains_of(game) if chain[0] in status.dead and game.board.color[chain[0]] == enemy]
        point = proved_capture(game, dead, self.color, nodes=self.ending.nodes)
        if point is not None and point not in self.left_out:
            return point
        wins_by_captures = for_color(status.margin_black(game), self.color) > 0.0
        is_needed = wins_by_captures and game.score().winner != self.color
        return self._capture_of_dead(self.report, status) if is_needed else PASS

    def cleanup_move(self) -> int:
        """Return the point to play after a dispute: a capture of dead enemy stones, if any are on the board."""
        if not legal_moves(self.game, self.report):
            return PASS
        other_report = self.ending.confirm(opponent(self.color))
        reports = [self.report] if other_report is None else [self.report, other_report]
        ownerships = read_out(self.game, [each.ownership_black for each in reports], nodes=self.ending.nodes)
        point = self._capture_of_dead(self.report, estimate_status(self.game, np.mean(ownerships, axis=0)))
        return self.move() if point == PASS else point

    # --- moves by their purpose ---

    def _useful_move(self) -> int:
        """Return the best move that changes something; PASS if there is none.

        Early in the game that is not a pass: in a lost position a pass looks as good as any move, and a search of few
        visits may try nothing else.  Then it is the move to which the network gives the largest probability.
        """
        game, color, status = self.game, self.color, self.status
        may_pass = is_late(game) or (status.is_decided and may_stop(game))
        for move in legal_moves(game, self.report):
            if not is_useless(game, move.point, status, color) and (may_pass or move.point != PASS):
                return move.point
        if may_pass or self.report.raw is None:
            return PASS
        policy = self.report.raw.policy
        excluded = self.left_out | useless_points(game, status, color)
        points = [point for point in game.legal_points(color) if point not in excluded]
        return max(points, key=lambda point: float(policy[point]), default=PASS)

    def neutral_point(self, moves: Sequence[MoveReport], status: StatusEstimate) -> int:
        """Return a neutral point to fill, which is worth a point by area, among `moves`; PASS if there is none.

        It must have been searched enough, must not be self-atari, and must not be worse than the best move by
        `NEUTRAL_LOSS`.  Under territory rules it must also be the best move itself, and only with `fill_dame`.
        """
        best = best_of(moves)
        if best is None:
            return PASS
        if self.game.rules.scoring is Scoring.TERRITORY:
            moves = [best] if self.fill_dame else []
        for move in moves:
            loss = abs(best.value_black - move.value_black)
            if (
                move.point in status.neutral
                and move.visits >= self.ending.thresholds.tried_visits
                and loss < NEUTRAL_LOSS
                and not would_be_self_atari(self.game.board, move.point, self.color)
            ):
                return move.point
        return PASS

    def _capture_of_dead(self, report: SearchReport, status: StatusEstimate) -> int:
        """Return the best move that takes a liberty of a dead enemy stone, without self-atari if possible.

        Where every one of them is self-atari, the best move other than a pass; PASS if there is none, or no dead enemy
        stone.  No target is left out.
        """
        liberties = liberties_of_dead(self.game, status, self.color)
        if not liberties:
            return PASS
        targets = liberties - self.left_out
        order = [move.point for move in legal_moves(self.game, report)]
        order += sorted(point for point in targets if point not in order and self.game.is_legal(point, self.color))
        for point in order:
            if point in targets and not would_be_self_atari(self.game.board, point, self.color):
                return point
        return next((point for point in order if point != PASS), PASS)
